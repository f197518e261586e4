// Wisdom files merged, and shown.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace compound::bench::tune {

/// Throws usage_error where a file could not be added to.
void check_wisdom(const std::string& file);

/// Adds the entries of these files to another one, in this order: of one key the last counts. How many there were.
/// Throws usage_error where a file cannot be used or written.
std::size_t merge_wisdom(const std::vector<std::string>& files, const std::string& to);

/// The oldest first. Throws usage_error where the file cannot be used.
void print_wisdom(std::ostream& out, const std::string& file);

}  // namespace compound::bench::tune
