// What JSON files of all programs here have alike. Builds with nlohmann-json only.
#pragma once

#include <nlohmann/json.hpp>

#include "report.hpp"

namespace compound::bench {

/// Program, date, command line, machine, versions and device.
nlohmann::ordered_json json_of(const Circumstances& circumstances);
nlohmann::ordered_json json_of(const Quartiles& quartiles);
nlohmann::ordered_json json_of(const Yardstick& yardstick);

/// Appears complete or not at all. Throws std::runtime_error, naming the option. `indent`: -1 is one line.
void write_json_file(const std::string& file, const nlohmann::ordered_json& content,
                     const std::string& option = "-json", int indent = 2);

}  // namespace compound::bench
