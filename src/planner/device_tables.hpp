// A row for each device: what it takes for what products do, as a line of text, built in or of a user's file; and of
// those built in the policy of the default rule, by the same name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "planner/device_policy.hpp"

namespace compound {

/// Fitted to recorded times, of a study (docs/reproduction/fit-model.py) or of compound-tune -calibrate.
struct DeviceTable {
  std::string name;                                      ///< as the device calls itself
  double multiprocessors = 0, cache = 0, bandwidth = 0;  ///< bytes of the second cache; a second, from memory
  /// Bytes of matrix and vectors of which the second cache keeps all, or nothing, to the next product.
  double kept_all = 0, kept_none = 0, streamed_all = 0, streamed_none = 0;
  // Seconds:
  /// An entry of the longest row of a worker that waits for nothing else, times the square root of the words it has of
  /// each: a product takes no less.
  double alone_s = 0;
  double launch_s = 0;
  double memory_s = 0, cache_s = 0;  ///< a byte of the matrix, x or y, from memory or the second cache
  double gather_s = 0;               ///< a byte of x in sectors for blocks that are not near those of the row above
  double step_s = 0;                 ///< a worker's next entries, times the square root of the words it has of each
  double diagonal_step_s = 0;        ///< the same of diagonals
  double longest_s = 0;              ///< an entry of the longest row
  double shared_row_s = 0;           ///< adding up, a worker of those that share a row
  double chunk_entry_s = 0;          ///< an entry in chunks of coordinates
  double rows_of_words_s = 0;        ///< a byte more where each block's words lie side by side
  bool operator==(const DeviceTable&) const = default;

  DeviceTraits traits() const;
};

/// A number of a table by its name in a line.
struct DeviceField {
  std::string_view name;
  double DeviceTable::*value;
  bool may_be_zero = false;
};
/// Those that are seconds and added up, in the order of a product's work (model.hpp).
inline constexpr DeviceField seconds_fields[] = {{"launch", &DeviceTable::launch_s, true},
                                                 {"memory", &DeviceTable::memory_s, true},
                                                 {"second_cache", &DeviceTable::cache_s, true},
                                                 {"gather", &DeviceTable::gather_s, true},
                                                 {"step", &DeviceTable::step_s, true},
                                                 {"diagonal_step", &DeviceTable::diagonal_step_s, true},
                                                 {"longest", &DeviceTable::longest_s, true},
                                                 {"shared_row", &DeviceTable::shared_row_s, true},
                                                 {"chunk_entry", &DeviceTable::chunk_entry_s, true},
                                                 {"rows_of_words", &DeviceTable::rows_of_words_s, true}};

/// `device1 name="NVIDIA H200" multiprocessors=132 ...`.
std::string to_string(const DeviceTable& table);

/// The tables of a text, in its order; empty lines and those that begin with # say nothing. Throws `argument` with the
/// line, what is wrong in it and what is allowed; `source` is what the text is called.
std::vector<DeviceTable> parse_device_tables(std::string_view text, const std::string& source);

struct DeviceTables {
  std::vector<DeviceTable> all;
  std::string problem;  ///< why the file that COMPOUND_DEVICES names is not among them, in words
};

/// Those built in, then those of the file that COMPOUND_DEVICES names.
DeviceTables device_tables();

/// The last one of this name, else that of the device that is most like this one. There must be one.
const DeviceTable& table_for(const std::vector<DeviceTable>& all, std::string_view name, const DeviceTraits& device);

/// That of the default rule for this device: of the row that is most like it among those built in that have one. What
/// users' files have plays no part, so that default plans are the same for all.
const DevicePolicy& policy_for(const DeviceTraits& device);

/// Throws what add_device_table() would.
void check_file_of_devices(const std::string& file);

/// Adds a table to a file, which may be missing, in the place of others of its name, while `file`.lock is locked.
/// Throws `argument` where what is there is no file of tables, or where it cannot be written.
void add_device_table(const std::string& file, const DeviceTable& table);

}  // namespace compound
