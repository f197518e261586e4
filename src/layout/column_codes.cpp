#include "column_codes.hpp"

#include <string>

#include "../error.hpp"

namespace compound {

namespace {

void keep_columns(Layout& layout, int first, IntegerArray columns) { layout.arrays[first] = std::move(columns); }

constexpr ColumnCode table[] = {{"32", "columns32", keep_columns}};

}  // namespace

std::span<const ColumnCode> column_codes() { return table; }

const ColumnCode& column_code(std::string_view word) {
  std::string names;
  for (const ColumnCode& c : table) {
    if (c.word == word) return c;
    names += (names.empty() ? "" : ", ") + std::string(c.word);
  }
  throw error(ErrorKind::argument, "columns=" + std::string(word) + "; choose " + names);
}

}  // namespace compound
