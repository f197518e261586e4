// What a matrix was asked to do: by options, by a pinned type name, or through the C API.
#pragma once

#include <string>

#include "petsc/guard.hpp"
#include "planner/search.hpp"
#include "storage/packed.hpp"

namespace compound::plugin {

/// "3" or "3x2"; throws `argument`.
BlockShape block_of(const std::string& text);
/// Slots over entries: "4" or "none"; throws `argument`.
double padding_limit_of(const std::string& text);
/// "10" or "none"; throws `argument`.
double seconds_of(const std::string& text);
/// Bytes: "100" (megabytes) or "none"; throws `argument`.
double memory_limit_of(const std::string& text);
/// "1000" or "unknown"; throws `argument`.
double products_of(const std::string& text);

/// Weight of memory: "time" (0) or "bytes:W", W from 0 to 1; throws `argument`.
double memory_weight_of(const std::string& text);

struct Settings {
  std::string backend = "auto";
  std::string block_size = "auto";
  std::string entry = "auto";
  std::string entry_file;
  std::string layout = "auto";
  std::string memory_limit = "none";
  std::string padding_limit = "4";
  std::string plan;
  std::string precision = "double";
  std::string transpose = "copy";
  std::string tune = "off";
  std::string wisdom = "auto";
  std::string tune_seconds = "10";
  std::string tune_score = "time";
  std::string tune_libraries = "none";
  std::string expected_products = "unknown";
  bool reproducible = true;   ///< products of libraries must give the same bits each time
  bool tune_monitor = false;  ///< print the best plan so far while tuning
  bool view = false;          ///< print the plan once, when first packed
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
  /// Whether a layout that may be refused was asked for.
  bool names_layout() const { return layout != "auto" || !plan.empty(); }
  /// Slots over entries.
  double most_padding() const { return padding_limit_of(padding_limit); }
  /// Of plans that are packed on the matrix's own arrays where the core's integers are as wide as PETSc's.
  PlanLimits limits() const;
  SearchOptions search_options() const;
  bool finds_block() const { return block_size == "find"; }
  /// Of packed blocks, where the matrix's are of size `given`; that, where the size is to be found.
  BlockShape packed_block(int given) const;
  TransposedValues transposed_values() const {
    return transpose == "shared" ? TransposedValues::shared : TransposedValues::copy;
  }
};

}  // namespace compound::plugin
