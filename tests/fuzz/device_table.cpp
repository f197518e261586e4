// Tables of devices that a text has print lines that have the same tables.
#include "planner/device_tables.hpp"

#include "base/error.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace compound;
  std::vector<DeviceTable> tables;
  try {
    tables = parse_device_tables(fuzz::text_of(data, size), "a text");
  } catch (const error&) {
    return 0;
  }
  for (const DeviceTable& table : tables) {
    const std::string line = to_string(table);
    try {
      fuzz::require(parse_device_tables(line, "a line") == std::vector{table}, "'" + line + "' has the table");
    } catch (const error& e) {
      fuzz::require(false, "'" + line + "' is a table: " + e.what());
    }
  }
  return 0;
}
