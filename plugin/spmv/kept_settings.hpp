// What matrices have beside their data, while PETSc replaces the header.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "options/settings.hpp"

namespace compound::plugin {

/// The base type's products, which it picks by block size, at preallocation, or by options.
struct BaseProducts {
  PetscErrorCode (*mult)(Mat, Vec, Vec) = nullptr;
  PetscErrorCode (*multadd)(Mat, Vec, Vec, Vec) = nullptr;
};

/// MatHeaderMerge(A, &C) destroys A's data and moves C's in, spptr included, but keeps A's operations: what the user
/// asked of A (a pinned layout, say) would be lost with MatAXPY() of another pattern or an in-place MatTranspose(). It
/// calls A's destroy operation with a null type name, which no other call does: then the settings are kept here until
/// the matrix is next used or destroyed, and with them the way to compose our functions again, which are C's now, and
/// the operations behind the guards, and behind our products, that stand among A's.
class KeptSettings {
 public:
  struct Kept {
    Settings settings;
    PetscErrorCode (*compose)(Mat);
    std::unique_ptr<_MatOps> unguarded;
    BaseProducts base_products;
  };
  using Place = std::map<Mat, Kept>::node_type;
  /// Made beforehand: a matrix is destroyed without memory, too.
  static Place place() {
    std::map<Mat, Kept> one;
    one.try_emplace(nullptr);
    return one.extract(one.begin());
  }
  bool empty() const { return kept_.empty(); }  ///< nearly always, and asked for at each product
  /// What is kept of A stays: it was not used since, and what comes now is the first C's.
  void keep(Mat A, Place&& in, Kept&& what) noexcept {
    if (kept_.contains(A)) return;
    in.key() = A;
    in.mapped() = std::move(what);
    kept_.insert(std::move(in));
  }
  void forget(Mat A) { kept_.erase(A); }
  /// Gives A's back, if there are any, and calls `take`(kept).
  template <class Take>
  PetscErrorCode give_back(Mat A, const Take& take) {
    const auto found = kept_.find(A);
    if (found == kept_.end()) return PETSC_SUCCESS;
    Kept kept = std::move(found->second);
    kept_.erase(found);
    return take(kept);
  }

 private:
  std::map<Mat, Kept> kept_;
};

inline KeptSettings kept_settings;

/// Whether a destroy operation is called by MatHeaderMerge().
inline bool header_is_merging(Mat A) { return reinterpret_cast<PetscObject>(A)->type_name == nullptr; }

}  // namespace compound::plugin
