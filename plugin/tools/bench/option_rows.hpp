// Tables of options: a row says what an option is called, what it is for, and how its text is read.
#pragma once

#include <petscsys.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "text.hpp"

namespace compound::bench {

template <class Asked>
struct OptionRow {
  const char* name;  ///< with the dash
  const char* help;
  const char* shown_default;
  void (*read)(Asked&, const std::string& value);
  bool may_be_bare = false;  ///< given without a value: the text is empty
};

/// Empty unless the option was given. Throws usage_error where it lacks its value.
std::optional<std::string> given(const char* name, const char* help, bool may_be_bare);

template <class Asked, class Rows>
void read_rows(const Rows& rows, Asked& to) {
  for (const auto& row : rows)
    if (const auto value = given(row.name, row.help, row.may_be_bare)) row.read(to, *value);
}

template <class Rows>
PetscErrorCode show_rows(MPI_Comm comm, const Rows& rows) {
  PetscFunctionBegin;
  for (const auto& row : rows) PetscCall(PetscPrintf(comm, "  %s <%s>: %s\n", row.name, row.shown_default, row.help));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

/// Without the dashes.
using OptionNames = std::vector<std::string_view>;
template <class Rows>
void add_names(const Rows& rows, OptionNames& to) {
  for (const auto& row : rows) to.push_back(row.name + 1);
}

/// The one of a program's own options whose name is nearest, " (did you mean -n?)"; empty if none is near.
std::string did_you_mean(std::string_view name, const OptionNames& own);

/// Throws usage_error for words on the command line that PETSc would silently drop: neither an option nor its value.
void check_words(int argc, const char* const* argv);

/// Throws usage_error for options that nothing has asked for. `early`: before the matrices exist, which read options of
/// their own; then only names that none of PETSc's can be.
void check_unused_options(bool early, const OptionNames& own);

// What rows read their texts by.

[[noreturn]] inline void refuse(const std::string& option, const std::string& found, const std::string& allowed) {
  throw usage_error(option + " '" + found + "': " + allowed);
}

template <class Number>
Number number(const char* option, const std::string& text, Number least, Number most, const std::string& allowed) {
  const auto value = parse_number<Number>(trimmed(text));
  if (!value || !(*value >= least && *value <= most)) refuse(option, text, allowed);
  return *value;
}

/// The parts of a list of numbers, of which none may be missing.
inline std::vector<std::string> parts_of(const char* option, const std::string& text, char separator,
                                         const std::string& allowed) {
  const std::vector<std::string> parts = split(text, separator);
  if (parts.empty() || std::ranges::any_of(parts, &std::string::empty)) refuse(option, text, allowed);
  return parts;
}

/// A list whose parts may not be empty.
inline std::vector<std::string> names(const char* option, const std::string& text, char separator, const char* what) {
  const std::vector<std::string> all = split(text, separator);
  if (all.empty() || std::ranges::any_of(all, &std::string::empty))
    refuse(option, text, std::string("expected ") + what + " separated by '" + separator + "'");
  return all;
}

inline bool yes(const char* option, const std::string& text) {
  for (const char* word : {"", "1", "true", "yes", "on"})
    if (text == word) return true;
  for (const char* word : {"0", "false", "no", "off"})
    if (text == word) return false;
  refuse(option, text, "expected true or false");
}

/// The row of a table of names.
template <class Table>
const auto& named(const Table& table, const char* option, const std::string& v, const std::string& what) {
  std::string known;
  for (const auto& row : table) {
    if (row.name == v) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  refuse(option, v, what + "choose " + known);
}

}  // namespace compound::bench
