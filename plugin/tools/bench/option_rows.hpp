// Tables of options: a row says what an option is called, what it is for, and how its text is read.
#pragma once

#include <petscsys.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "options/option_values.hpp"
#include "text.hpp"

namespace compound::bench {

template <class Settings>
struct OptionRow {
  const char* name;  ///< with the dash
  const char* help;
  const char* shown_default;
  OptionValue<Settings> value;
  bool may_be_bare = false;  ///< given without a value: the text is empty
};

/// Empty unless the option was given. Throws usage_error where it lacks its value.
std::optional<std::string> given(const char* name, const char* help, bool may_be_bare);

/// What is expected instead of a value; the message names both.
class wrong_value : public usage_error {
  using usage_error::usage_error;
};

template <class Rows, class Settings>
void read_rows(const Rows& rows, Settings& to) {
  for (const auto& row : rows) {
    const auto text = given(row.name, row.help, row.may_be_bare);
    if (text) try {
        row.value.parse(to, *text);
      } catch (const wrong_value& e) {
        throw usage_error(std::string(row.name) + " '" + *text + "': " + e.what());
      } catch (const error& e) {
        throw usage_error(std::string(row.name) + ": " + e.what());
      }
  }
}

template <class Rows>
PetscErrorCode show_rows(MPI_Comm comm, const Rows& rows) {
  PetscFunctionBegin;
  for (const auto& row : rows) PetscCall(PetscPrintf(comm, "  %s <%s>: %s\n", row.name, row.shown_default, row.help));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

/// Without the dashes.
using OptionNames = std::vector<std::string_view>;
template <class... Rows>
OptionNames names_of(const Rows&... tables) {
  OptionNames all;
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) all.push_back(row.name + 1);
  };
  (add(tables), ...);
  return all;
}

/// Throws usage_error for words on the command line that PETSc would silently drop: neither an option nor its value.
void check_words(int argc, const char* const* argv);

/// Throws usage_error for options that nothing has asked for, with the one of `own` whose name is nearest. `early`:
/// before the matrices exist, which read options of their own; then only names that none of PETSc's can be.
void check_unused_options(bool early, const OptionNames& own);

// How rows read their texts, beside what the plugin's options have (options/option_values.hpp).

template <class Number>
Number number(std::string_view text, Number least, Number most, const std::string& expected) {
  const auto value = parse_number<Number>(trimmed(text));
  if (!value || !(*value >= least && *value <= most)) throw wrong_value("expected " + expected);
  return *value;
}

/// A number from `least` to `most`, times `factor`.
template <class Settings, class Number>
OptionValue<Settings> number_option(Number Settings::*member, Number least, Number most, std::string expected,
                                    Number factor = 1) {
  return {[=](Settings& s, const std::string& text) { s.*member = factor * number(text, least, most, expected); }};
}

template <class Settings>
OptionValue<Settings> integer_option(int Settings::*member, int least, int most) {
  return number_option(member, least, most, "an integer from " + std::to_string(least) + " to " + std::to_string(most));
}

/// A list whose parts may not be empty.
inline std::vector<std::string> listed(std::string_view text, char separator, const std::string& expected) {
  const std::vector<std::string> parts = split(text, separator);
  if (parts.empty() || std::ranges::any_of(parts, &std::string::empty)) throw wrong_value("expected " + expected);
  return parts;
}

template <class Settings>
OptionValue<Settings> list_option(std::vector<std::string> Settings::*member, char separator, const char* what) {
  const std::string expected = std::string(what) + " separated by '" + separator + "'";
  return {[=](Settings& s, const std::string& text) { s.*member = listed(text, separator, expected); }};
}

/// True or false; without a value it says that it is as its name has it.
template <class Settings>
OptionValue<Settings> flag_option(bool Settings::*member, bool meaning = true) {
  return {[=](Settings& s, const std::string& text) {
    constexpr std::string_view yes[] = {"", "1", "true", "yes", "on"}, no[] = {"0", "false", "no", "off"};
    const bool is_yes = std::ranges::find(yes, text) != std::end(yes);
    if (!is_yes && std::ranges::find(no, text) == std::end(no)) throw wrong_value("expected true or false");
    s.*member = is_yes == meaning;
  }};
}

}  // namespace compound::bench
