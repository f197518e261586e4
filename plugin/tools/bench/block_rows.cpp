#include "block_rows.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "device/entry/entries.hpp"

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

/// Scalars are filled real by real: a complex number is two reals.
void fill_random(std::uint64_t& state, PetscScalar* scalars, std::size_t count) {
  auto* reals = reinterpret_cast<PetscReal*>(scalars);
  for (std::size_t i = 0; i < count * sizeof(PetscScalar) / sizeof(PetscReal); ++i) reals[i] = random_number(state);
}

std::size_t area_of(BlockShape b) { return static_cast<std::size_t>(b.rows) * static_cast<std::size_t>(b.cols); }

void write_dense(std::uint64_t state, BlockShape shape, PetscScalar* block) {
  fill_random(state, block, area_of(shape));
}

/// `value(i)`: the block's scalar (i, i).
template <class Value>
void write_diagonal(BlockShape shape, PetscScalar* block, const Value& value) {
  std::fill_n(block, area_of(shape), PetscScalar(0.0));
  for (int i = 0; i < std::min(shape.rows, shape.cols); ++i) block[i * shape.rows + i] = value(i);
}

void write_any_diagonal(std::uint64_t state, BlockShape shape, PetscScalar* block) {
  PetscScalar value;
  write_diagonal(shape, block, [&](int) {
    fill_random(state, &value, 1);
    return value;
  });
}

void write_scaled_identity(std::uint64_t state, BlockShape shape, PetscScalar* block) {
  PetscScalar multiple;
  fill_random(state, &multiple, 1);
  write_diagonal(shape, block, [&](int) { return multiple; });
}

void write_identity(std::uint64_t, BlockShape shape, PetscScalar* block) {
  write_diagonal(shape, block, [](int) { return PetscScalar(1.0); });
}

template <class Kind>
void write_words(const PetscReal* words, PetscScalar* block) {
  for (int j = 0; j < Kind::block_cols; ++j)
    for (int i = 0; i < Kind::block_rows; ++i) {
      CoreScalar value{};
      for (int k = 0; k < Kind::word_count; ++k) {
        const unit u = Kind::structure(i, j, k);
        if constexpr (is_complex<CoreScalar>)
          value += CoreScalar{u.re * words[k], u.im * words[k]};
        else
          value += u.re * words[k];
      }
      std::memcpy(static_cast<void*>(block + j * Kind::block_rows + i), &value, sizeof(value));
    }
}

template <class Kind>
void write_structured(std::uint64_t state, BlockShape, PetscScalar* block) {
  PetscReal words[Kind::word_count];
  for (PetscReal& w : words) w = random_number(state);
  write_words<Kind>(words, block);
}

void write_unit_quaternion(std::uint64_t state, BlockShape, PetscScalar* block) {
  PetscReal words[4], squares = 0;
  for (PetscReal& w : words) {
    w = random_number(state);
    squares += w * w;
  }
  for (PetscReal& w : words) w /= std::sqrt(squares);
  write_words<quaternion<CoreScalar>>(words, block);
}

/// How a kind of entry's blocks are made; those on the diagonal dominate unless that would change their kind.
struct BlockKind {
  std::string_view name;
  void (*write)(std::uint64_t, BlockShape, PetscScalar*);
  bool dominant = true;
};

constexpr BlockKind block_kinds[] = {
    {"dense", write_dense},
#if !defined(PETSC_USE_COMPLEX)
    {"complex", write_structured<complex_entry<CoreScalar>>},
#endif
    {"quaternion", write_structured<quaternion<CoreScalar>>},
    {"dual_quaternion", write_structured<dual_quaternion<CoreScalar>>},
    {"diagonal", write_any_diagonal},
    {"scaled_identity", write_scaled_identity},
    {"unit_quaternion", write_unit_quaternion, false},
};

std::string block_kind_names() {
  std::string names;
  for (const BlockKind& k : block_kinds) names += (names.empty() ? "" : ", ") + std::string(k.name);
  return names;
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
  const auto kind = std::ranges::find(block_kinds, entry, &BlockKind::name);
  if (kind == std::end(block_kinds))
    throw std::invalid_argument("unknown -entry '" + std::string(entry) + "'; choose " + block_kind_names());
  const Field field = is_complex<CoreScalar> ? Field::complex : Field::real;
  if (const std::string why = entry_kind(entry).why_not(field, block); !why.empty())
    throw std::invalid_argument("-entry and -block_size: " + why);
  write_ = kind->write;
  dominant_ = kind->dominant;
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
