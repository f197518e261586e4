// What a matrix was asked to do: by options, by a pinned type name, or through the C API.
#pragma once

#include <string>

#include "packed.hpp"
#include "petsc_guard.hpp"

namespace compound::plugin {

struct Settings {
  std::string backend = "auto";
  std::string block_size = "auto";
  std::string entry = "auto";
  std::string entry_file;
  std::string layout = "auto";
  std::string plan;
  std::string precision = "double";
  std::string transpose = "copy";
  std::string tune = "off";
  bool view = false;  ///< print the plan once, when first packed
  bool viewed = false;

  std::string printed_plan;  ///< what MatCompoundGetPlan() lends
  bool options_read = false;
  int version = 0;  ///< rises with every change, so that packed copies know when they are of old settings

  /// Whether products are left to the parent type.
  bool parent_only() const { return is_backend("petsc"); }
  /// Asked for at each product: by lengths first, which strings and literals do not compare.
  bool is_backend(std::string_view name) const { return name == backend; }
  /// The plan line that was given for one part; empty where there is none.
  std::string_view plan_of_part(bool off_diagonal) const;
  /// Whether the kind of entry of a part is to be found: nobody named one, and a plan that was given for it would mean
  /// dense.
  bool finds_entry(bool off_diagonal) const;
  /// Whether a kind of entry that blocks may not be of was asked for, for any part.
  bool names_entry() const;
  /// Of packed blocks, where the matrix's are of size `given`.
  int packed_block_size(int given) const;
  TransposedValues transposed_values() const {
    return transpose == "shared" ? TransposedValues::shared : TransposedValues::copy;
  }
};

/// Sets one option by its name without the prefix `-mat_compound_`; throws `argument` listing what is allowed.
void set(Settings& settings, std::string_view option, const std::string& value);

/// The plan for one part of a matrix on one backend; `found` is the kind of entry where none was asked for. Throws
/// `argument` when what was asked for does not fit it.
Plan choose_plan(const Settings& settings, std::string_view backend, bool off_diagonal,
                 const PatternStatistics& statistics, const Problem& problem, std::string_view found);

/// Reads -<prefix>mat_compound_* into `settings` and lists them under -help.
PetscErrorCode read_options(Mat A, Settings& settings);

/// read_options() unless it was done: programs that never call MatSetFromOptions() get their options at first use.
inline PetscErrorCode read_options_once(Mat A, Settings& settings) {
  return settings.options_read ? PETSC_SUCCESS : read_options(A, settings);
}

}  // namespace compound::plugin
