#include "block_rows.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "device/entry/complex.hpp"
#include "device/entry/quaternion.hpp"

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

void write_dense(std::uint64_t state, int block_size, PetscScalar* block) {
  // A complex number is two reals.
  auto* reals = reinterpret_cast<PetscReal*>(block);
  const std::size_t count = static_cast<std::size_t>(block_size * block_size) * sizeof(PetscScalar) / sizeof(PetscReal);
  for (std::size_t i = 0; i < count; ++i) reals[i] = random_number(state);
}

void write_identity(std::uint64_t state, int block_size, PetscScalar* block) {
  const double multiple = random_number(state);
  for (int i = 0; i < block_size * block_size; ++i) block[i] = i % (block_size + 1) == 0 ? multiple : 0.0;
}

template <class Kind>
void write_structured(std::uint64_t state, int, PetscScalar* block) {
  PetscReal words[Kind::word_count];
  for (PetscReal& w : words) w = random_number(state);
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

/// One kind of block that a generated matrix may be made of; block size 0: any.
struct BlockKind {
  std::string_view name;
  int block_size;
  void (*write)(std::uint64_t, int, PetscScalar*);
};

constexpr BlockKind block_kinds[] = {
    {"dense", 0, write_dense},
    {"identity", 0, write_identity},
#if !defined(PETSC_USE_COMPLEX)
    {"complex", 2, write_structured<complex_entry<CoreScalar>>},
#endif
    {"quaternion", quaternion<CoreScalar>::block_rows, write_structured<quaternion<CoreScalar>>},
};

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

ValueRule::ValueRule(std::string_view entry, int block_size, std::uint64_t seed)
    : block_size_(block_size), seed_(mixed(seed)), write_(nullptr) {
  std::string names;
  for (const BlockKind& k : block_kinds) {
    names += (names.empty() ? "" : ", ") + std::string(k.name);
    if (k.name != entry) continue;
    if (k.block_size != 0 && k.block_size != block_size)
      throw std::invalid_argument("-entry " + std::string(entry) + " needs -block_size " +
                                  std::to_string(k.block_size) + ", not " + std::to_string(block_size));
    write_ = k.write;
  }
  if (!write_) throw std::invalid_argument("unknown -entry '" + std::string(entry) + "'; choose " + names);
}

void ValueRule::write(std::int64_t row, std::int64_t column, std::int64_t row_length, PetscScalar* block) const {
  const std::uint64_t state =
      mixed(seed_ ^ mixed(static_cast<std::uint64_t>(row) * 0x100000001b3u + static_cast<std::uint64_t>(column)));
  write_(state, block_size_, block);
  if (row != column) return;
  const double dominant = 2.0 * block_size_ * static_cast<double>(row_length);
  for (int i = 0; i < block_size_; ++i) block[i * block_size_ + i] += dominant;
}

}  // namespace compound::bench
