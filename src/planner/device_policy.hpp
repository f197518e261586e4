// What the default rule for devices goes by: of each device that it was measured on, a policy. The row of a device that
// is nearest to another one is found by device_tables.hpp.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "plan/schedule.hpp"

namespace compound {

/// A schedule and the layout it is for.
struct Form {
  std::string_view layout;
  Traversal traversal;
  int lanes, unroll, threads, blocks;
};

inline constexpr int any_size = std::numeric_limits<int>::max();
inline constexpr double unlimited = std::numeric_limits<double>::max();

/// What serves blocks of up to a size, kept in up to so many words, in rows of up to a mean length; the first such row
/// of a table is taken. Where `most_lanes` is not the form's own number, as many as rows are too few for.
struct FormRow {
  Form form;
  int most_lanes = form.lanes;
  int size = any_size, words = any_size;
  double mean_row = unlimited;
};

/// `long_ones`: uneven, and so long that a worker with one of them works when all others are done. `lagging`: the same
/// of a single worker with the longest row, while the device reads all the others. `varied`: by a fifth of their
/// length.
enum class RowShape { any, uneven, long_ones, lagging, varied, scattered };

/// A table of forms, and the matrices that it is for: block sizes, numbers of block rows, and how rows are.
struct Case {
  std::span<const FormRow> forms;
  int least_size = 1, most_size = any_size;
  double least_rows = 0, most_rows = unlimited;
  RowShape rows = RowShape::any;
};

/// Forms beside the rule's that may be faster: other lanes (powers of two) and depths of unrolling.
struct Variation {
  std::span<const FormRow> forms;
  int least_lanes, most_lanes, most_unroll;
  int most_size = any_size;
};

/// When a few long rows get a part of their own: where slices then serve the others.
struct PartsRule {
  std::span<const FormRow> forms = {};  ///< for that part; none: never
  double least_entries = 0;             ///< of the matrix: a part is two launches more
  double much_longer = 0;               ///< the longest row over the usual ones
  double most_share = 0;                ///< of all entries, in that part
};

/// The rule for dense blocks, or for the kinds that keep fewer words.
struct FamilyRule {
  std::span<const Case> cases;                  ///< the first that a matrix is of is taken
  std::span<const FormRow> compressed, slices;  ///< where an option asks for this layout and the cases give another
  double workers_wanted = 0;                    ///< lanes share a row while rows have fewer workers than this,
  double entries_of_lane = 1;                   ///< if each then has so many entries
  std::span<const Variation> near;
  PartsRule parts = {};
};

struct DevicePolicy {
  std::string_view device;  ///< as its DeviceTable is called
  /// Beyond so much of matrix and vectors words and columns pass through the second cache: kept, they would push x out.
  double cached_bytes = 0;
  /// What the device reads while one worker goes through an entry of its row.
  double bytes_of_step = 0;
  FamilyRule dense = {}, kinds = {};
};

std::span<const DevicePolicy> device_policies();

}  // namespace compound
