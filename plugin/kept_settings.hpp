// Settings of matrices whose header PETSc is replacing.
#pragma once

#include <map>
#include <optional>

#include "settings.hpp"

namespace compound::plugin {

/// MatHeaderMerge(A, &C) destroys A's data and moves C's in, spptr included, but keeps A's operations: what the user
/// asked of A (a pinned layout, say) would be lost with MatAXPY() of another pattern or an in-place MatTranspose(). It
/// calls A's destroy operation with a null type name, which nobody else does: then the settings are kept here until the
/// matrix is next used or destroyed.
class KeptSettings {
 public:
  void keep(Mat A, const Settings& s) { kept_[A] = s; }
  void forget(Mat A) { kept_.erase(A); }
  std::optional<Settings> take(Mat A) {
    if (kept_.empty()) return {};  // nearly always, and asked for at each product
    const auto found = kept_.find(A);
    if (found == kept_.end()) return {};
    std::optional<Settings> s(std::move(found->second));
    kept_.erase(found);
    return s;
  }

 private:
  std::map<Mat, Settings> kept_;
};

KeptSettings& kept_settings();

/// Whether a destroy operation is called by MatHeaderMerge().
inline bool header_is_merging(Mat A) { return reinterpret_cast<PetscObject>(A)->type_name == nullptr; }

/// What every destroy operation of ours does with the settings.
inline void keep_or_forget(Mat A, const Settings& s) {
  if (header_is_merging(A))
    kept_settings().keep(A, s);
  else
    kept_settings().forget(A);
}

}  // namespace compound::plugin
