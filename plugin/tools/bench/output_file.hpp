// Files of results: rewritten whole after each case, by a rename.
#pragma once

#include <string>

namespace compound::bench {

/// The regular file that is to be written: a link stays and its target is written. Throws usage_error, naming the
/// option, where no such file can be.
std::string output_file(const std::string& option, const std::string& given);

/// The file appears complete or not at all. Throws std::runtime_error if it cannot be written.
void write_output(const std::string& option, const std::string& file, const std::string& text);

}  // namespace compound::bench
