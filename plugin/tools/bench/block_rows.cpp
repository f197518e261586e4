#include "block_rows.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "entry_list.hpp"

namespace compound::bench {

namespace {

PetscInt checked(std::int64_t value) {
  if (value > std::numeric_limits<PetscInt>::max())
    throw std::invalid_argument(
        "a rank would have more entries or block columns than PETSc's 32-bit indices count; use more ranks, a smaller "
        "case, or a PETSc with 64-bit indices");
  return static_cast<PetscInt>(value);
}

#if defined(PETSC_USE_COMPLEX)
using CoreScalar = complex_number<PetscReal>;
#else
using CoreScalar = PetscReal;
#endif

/// In [-1, 1).
double random_number(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
}

/// A complex number is two reals.
template <class T>
constexpr std::size_t reals_of = sizeof(T) / sizeof(PetscReal);

void fill_random(std::uint64_t state, PetscReal* reals, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) reals[i] = static_cast<PetscReal>(random_number(state));
}

std::size_t area_of(BlockShape b) { return static_cast<std::size_t>(b.rows) * static_cast<std::size_t>(b.cols); }

void write_identity(std::uint64_t, BlockShape shape, PetscScalar* block) {
  std::fill_n(block, area_of(shape), PetscScalar(0.0));
  for (int i = 0; i < std::min(shape.rows, shape.cols); ++i) block[i * shape.rows + i] = 1.0;
}

/// The block of random words; a dense block is its words.
template <class Entry>
void write_random(std::uint64_t state, BlockShape shape, PetscScalar* block) {
  if constexpr (!requires { Entry::word_count; }) {
    fill_random(state, reinterpret_cast<PetscReal*>(block), area_of(shape) * reals_of<CoreScalar>);
  } else {
    using Word = typename Entry::word;
    Word words[Entry::word_count];
    const Entry entry = Entry::of(shape.rows, shape.cols);
    fill_random(state, reinterpret_cast<PetscReal*>(words), static_cast<std::size_t>(entry.words()) * reals_of<Word>);
    if constexpr (requires { Entry::word_of(words[0]); })
      for (Word& w : words) w = Entry::word_of(w);
    for (int j = 0; j < shape.cols; ++j)
      for (int i = 0; i < shape.rows; ++i) {
        const CoreScalar value = entry.block([&](int k, int) { return words[k]; }, i, j);
        std::memcpy(static_cast<void*>(block + j * shape.rows + i), &value, sizeof(value));
      }
  }
}

}  // namespace

BlockRows grid_rows(const Grid& grid, const Shuffle& shuffle, std::int64_t first, std::int64_t rows) {
  BlockRows b;
  b.first = first;
  b.all_rows = b.all_columns = grid.rows();
  checked(b.all_columns);
  b.start.reserve(static_cast<std::size_t>(rows) + 1);
  b.column.reserve(static_cast<std::size_t>(rows) * grid.kind->steps.size());
  std::vector<std::int64_t> neighbours;
  for (std::int64_t row = first; row < first + rows; ++row) {
    grid.neighbours(shuffle.node_of(row), neighbours);
    for (std::int64_t& n : neighbours) n = shuffle.number_of(n);
    std::sort(neighbours.begin(), neighbours.end());
    b.column.insert(b.column.end(), neighbours.begin(), neighbours.end());
    b.start.push_back(checked(static_cast<std::int64_t>(b.column.size())));
  }
  return b;
}

namespace {

PetscScalar scalar_of(std::complex<double> value) {
#if defined(PETSC_USE_COMPLEX)
  return PetscScalar(value.real(), value.imag());
#else
  return value.real();
#endif
}

void check_blocks(const CoordinateMatrix& m, int block_size) {
  if (m.complex && !is_complex<CoreScalar>)
    throw std::invalid_argument(
        "the file's values are complex, this PETSc's scalars are real; use a compound-bench "
        "built for a complex PETSc");
  if (m.rows % block_size != 0 || m.columns % block_size != 0)
    throw std::invalid_argument("-block_size " + std::to_string(block_size) + " does not divide the file's " +
                                std::to_string(m.rows) + " x " + std::to_string(m.columns) +
                                " rows and columns; choose a common divisor");
}

}  // namespace

BlockRows coordinate_rows(const CoordinateMatrix& m, int block_size, std::int64_t first, std::int64_t rows) {
  check_blocks(m, block_size);
  const auto row_of = [&](const Coordinate& c) { return c.row / block_size; };
  const auto column_of = [&](const Coordinate& c) { return c.column / block_size; };
  std::vector<Coordinate> mine;
  for (const Coordinate& c : m.entries)
    if (row_of(c) >= first && row_of(c) < first + rows) mine.push_back(c);
  std::stable_sort(mine.begin(), mine.end(), [&](const Coordinate& a, const Coordinate& b) {
    return row_of(a) != row_of(b) ? row_of(a) < row_of(b) : column_of(a) < column_of(b);
  });
  BlockRows b;
  b.first = first;
  b.all_rows = m.rows / block_size;
  b.all_columns = checked(m.columns / block_size);
  b.start.assign(static_cast<std::size_t>(rows) + 1, 0);
  const std::size_t words = static_cast<std::size_t>(block_size) * static_cast<std::size_t>(block_size);
  const Coordinate* previous = nullptr;
  for (const Coordinate& c : mine) {
    if (!previous || row_of(*previous) != row_of(c) || column_of(*previous) != column_of(c)) {
      b.column.push_back(static_cast<PetscInt>(column_of(c)));
      b.values.resize(b.values.size() + words, PetscScalar(0.0));
      b.start[static_cast<std::size_t>(row_of(c) - first) + 1] = checked(static_cast<std::int64_t>(b.column.size()));
    }
    const auto in_block = static_cast<std::size_t>(c.column % block_size * block_size + c.row % block_size);
    b.values[b.values.size() - words + in_block] += scalar_of(c.value);
    previous = &c;
  }
  for (std::size_t r = 1; r < b.start.size(); ++r) b.start[r] = std::max(b.start[r], b.start[r - 1]);
  return b;
}

ValueRule::ValueRule(std::string_view entry, BlockShape block, std::uint64_t seed) : block_(block), seed_(mixed(seed)) {
  const auto kind = std::ranges::find(entry_kinds(), entry, &EntryKind::name);
  if (kind == entry_kinds().end())
    throw std::invalid_argument("unknown -entry '" + std::string(entry) + "'; choose " + entry_kind_names());
  const Field field = is_complex<CoreScalar> ? Field::complex : Field::real;
  if (const std::string why = kind->why_not(field, block); !why.empty())
    throw std::invalid_argument("-entry and -block_size: " + why);
  for_each_kind<CoreScalar>([&]<class, class Entry>() {
    if (entry == Entry::name) write_ = write_random<Entry>;
  });
  dominant_ = kind->multiples != Multiples::none;
}

ValueRule ValueRule::identity(BlockShape block) { return {block, write_identity}; }

void ValueRule::write(std::int64_t row, std::int64_t column, std::int64_t row_length, PetscScalar* block) const {
  const std::uint64_t state =
      mixed(seed_ ^ mixed(static_cast<std::uint64_t>(row) * 0x100000001b3u + static_cast<std::uint64_t>(column)));
  write_(state, block_, block);
  if (row != column || !dominant_) return;
  const double dominant = 2.0 * block_.cols * static_cast<double>(row_length);
  for (int i = 0; i < std::min(block_.rows, block_.cols); ++i) block[i * block_.rows + i] += dominant;
}

std::vector<PetscScalar> ValueRule::values(const BlockRows& rows) const {
  std::vector<PetscScalar> all(rows.column.size() * area_of(block_));
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    const auto first = rows.start[static_cast<std::size_t>(r)], last = rows.start[static_cast<std::size_t>(r) + 1];
    for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k)
      write(rows.first + r, rows.column[k], last - first, all.data() + k * area_of(block_));
  }
  return all;
}

}  // namespace compound::bench
