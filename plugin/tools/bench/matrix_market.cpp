#include "matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace compound::bench {

namespace {

enum class FileValues { pattern, integer, real, complex };
enum class Symmetry { general, symmetric, hermitian, skew };

struct ValuesName {
  std::string_view name;
  FileValues values;
};
constexpr ValuesName value_names[] = {{"real", FileValues::real},
                                      {"integer", FileValues::integer},
                                      {"complex", FileValues::complex},
                                      {"pattern", FileValues::pattern}};

struct SymmetryName {
  std::string_view name;
  Symmetry symmetry;
};
constexpr SymmetryName symmetry_names[] = {{"general", Symmetry::general},
                                           {"symmetric", Symmetry::symmetric},
                                           {"hermitian", Symmetry::hermitian},
                                           {"skew-symmetric", Symmetry::skew}};

constexpr std::string_view blanks = " \t\r\v\f";

class Reader {
 public:
  /// `unread`: characters of the file behind the text.
  Reader(std::string_view text, const std::string& name, std::int64_t unread = 0)
      : rest_(text), unread_(unread), name_(name) {}

  CoordinateSize size() {
    read_header();
    read_sizes();
    CoordinateSize s{result_.rows, result_.columns, stored_};
    if (symmetry_ == Symmetry::skew) s.entries = 2 * stored_;
    // Only the diagonal is not given twice.
    else if (symmetry_ != Symmetry::general)
      s.entries = std::max(stored_, 2 * stored_ - result_.rows);
    return s;
  }

  CoordinateMatrix read() {
    read_header();
    read_sizes();
    result_.entries.reserve(static_cast<std::size_t>(symmetry_ == Symmetry::general ? stored_ : 2 * stored_));
    for (std::int64_t i = 0; i < stored_; ++i) {
      if (!next_content_line())
        fail("the file ends after " + std::to_string(i) + " of " + std::to_string(stored_) + " entries");
      read_entry();
    }
    if (next_content_line()) fail("text after the last of " + std::to_string(stored_) + " entries");
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(name_ + ":" + std::to_string(line_number_) + ": " + what);
  }

  bool next_line() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_number_;
    return true;
  }

  /// Neither a comment nor blank.
  bool next_content_line() {
    while (next_line())
      if (line_.find_first_not_of(blanks) != std::string_view::npos && !line_.starts_with('%')) return true;
    return false;
  }

  std::string_view next_word() {
    const std::size_t from = std::min(line_.find_first_not_of(blanks), line_.size());
    const std::size_t to = std::min(line_.find_first_of(blanks, from), line_.size());
    const std::string_view word = line_.substr(from, to - from);
    line_.remove_prefix(to);
    return word;
  }

  std::string next_lower_word() {
    std::string word(next_word());
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return word;
  }

  template <class Row, std::size_t size>
  const Row& choose(const Row (&rows)[size], const char* what) {
    const std::string word = next_lower_word();
    std::string names;
    for (const Row& r : rows) {
      if (r.name == word) return r;
      names += (names.empty() ? "" : ", ") + std::string(r.name);
    }
    fail(std::string("unknown ") + what + " '" + word + "' in the header; known are " + names);
  }

  void read_header() {
    if (!next_line() || next_lower_word() != "%%matrixmarket")
      fail("not a Matrix Market file: the first line must begin with %%MatrixMarket");
    if (const auto object = next_lower_word(); object != "matrix")
      fail("the object is '" + object + "'; only 'matrix' can be read");
    if (const auto format = next_lower_word(); format != "coordinate")
      fail("the format is '" + format + "'; only 'coordinate' (sparse) can be read");
    values_ = choose(value_names, "kind of values").values;
    symmetry_ = choose(symmetry_names, "symmetry").symmetry;
    if (symmetry_ == Symmetry::hermitian && values_ != FileValues::complex) fail("hermitian needs complex values");
    result_.complex = values_ == FileValues::complex;
  }

  void read_sizes() {
    if (!next_content_line()) fail("the file ends before the line of sizes");
    result_.rows = next_integer("number of rows", 0, INT64_MAX);
    result_.columns = next_integer("number of columns", 0, INT64_MAX);
    stored_ = next_integer("number of entries", 0, INT64_MAX);
    end_of_line();
    if (symmetry_ != Symmetry::general && result_.rows != result_.columns)
      fail("a symmetric matrix must be square, not " + std::to_string(result_.rows) + " x " +
           std::to_string(result_.columns));
    // An entry needs four characters: a wrong number must not ask for more memory than the file could fill.
    if (const auto rest = static_cast<std::int64_t>(rest_.size()) + unread_; stored_ > (rest + 1) / 4)
      fail(std::to_string(stored_) + " entries are announced, but the rest of the file has only " +
           std::to_string(rest) + " characters");
  }

  std::int64_t next_integer(const char* what, std::int64_t least, std::int64_t most) {
    const std::string_view word = next_word();
    if (word.empty()) fail(std::string("the ") + what + " is missing");
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size())
      fail(std::string("the ") + what + " is '" + std::string(word) + "'; expected an integer");
    if (value < least || value > most)
      fail(std::string("the ") + what + " is " + std::to_string(value) + "; expected " + std::to_string(least) +
           " to " + std::to_string(most));
    return value;
  }

  double next_real(const char* what) {
    std::string_view word = next_word();
    if (word.empty()) fail(std::string("the ") + what + " is missing");
    if (word.starts_with('+')) word.remove_prefix(1);  // Fortran writes it, from_chars does not read it
    double value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size())
      fail(std::string("the ") + what + " is '" + std::string(word) + "'; expected a number in double precision");
    if (values_ == FileValues::integer && !(std::isfinite(value) && value == std::floor(value)))
      fail(std::string("the ") + what + " is '" + std::string(word) + "'; expected an integer, as the header says");
    return value;
  }

  void end_of_line() {
    if (const auto word = next_word(); !word.empty()) fail("unexpected '" + std::string(word) + "' at the line's end");
  }

  /// Of a symmetry the format stores the lower triangle; a pair given twice would add up.
  void check_triangle(const Coordinate& e) const {
    if (symmetry_ == Symmetry::general || e.row > e.column) return;
    const std::string where = "the entry " + std::to_string(e.row + 1) + " " + std::to_string(e.column + 1);
    if (e.row < e.column)
      fail(where + " lies above the diagonal, but of a " + name_of_symmetry() +
           " matrix a file has the lower triangle alone; give row and column the other way round, or all entries of a "
           "general one");
    if (symmetry_ == Symmetry::skew)
      fail(where + " lies on the diagonal, which is zero in a skew-symmetric matrix and not stored; leave it out");
  }

  std::string name_of_symmetry() const {
    return std::string(std::ranges::find(symmetry_names, symmetry_, &SymmetryName::symmetry)->name);
  }

  void read_entry() {
    Coordinate e{};
    e.row = next_integer("row", 1, result_.rows) - 1;
    e.column = next_integer("column", 1, result_.columns) - 1;
    check_triangle(e);
    if (values_ == FileValues::pattern) e.value = 1.0;
    if (values_ == FileValues::real || values_ == FileValues::integer) e.value = next_real("value");
    if (values_ == FileValues::complex) {
      const double re = next_real("real part");
      e.value = {re, next_real("imaginary part")};
    }
    end_of_line();
    result_.entries.push_back(e);
    if (symmetry_ == Symmetry::general || e.row == e.column) return;
    std::swap(e.row, e.column);
    if (symmetry_ == Symmetry::skew) e.value = -e.value;
    if (symmetry_ == Symmetry::hermitian) e.value = std::conj(e.value);
    result_.entries.push_back(e);
  }

  std::string_view rest_, line_;
  std::int64_t unread_ = 0;
  std::string name_;
  std::int64_t line_number_ = 0, stored_ = 0;
  FileValues values_ = FileValues::real;
  Symmetry symmetry_ = Symmetry::general;
  CoordinateMatrix result_;
};

}  // namespace

CoordinateSize matrix_market_size(std::string_view head, std::int64_t characters, const std::string& name) {
  return Reader(head, name, std::max<std::int64_t>(0, characters - static_cast<std::int64_t>(head.size()))).size();
}

CoordinateMatrix parse_matrix_market(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

CoordinateMatrix real_blocks(const CoordinateMatrix& m, const std::string& name) {
  if (!m.complex) throw std::runtime_error(name + ": -complex blocks: the values are real; leave it out");
  CoordinateMatrix to{2 * m.rows, 2 * m.columns, false, {}};
  to.entries.reserve(4 * m.entries.size());
  for (const Coordinate& c : m.entries) {
    const std::int64_t row = 2 * c.row, column = 2 * c.column;
    const double a = c.value.real(), b = c.value.imag();
    to.entries.insert(to.entries.end(),
                      {{row, column, a}, {row + 1, column, b}, {row, column + 1, -b}, {row + 1, column + 1, a}});
  }
  return to;
}

}  // namespace compound::bench
