#include "value_rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>
#include <string>

#include "base/nearest.hpp"
#include "entry/list.hpp"

namespace compound::bench {

namespace {

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

void fill_random(std::uint64_t state, int parts, PetscReal* reals, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const double any = random_number(state);
    reals[i] = static_cast<PetscReal>(parts == 0 ? any : (std::floor(any * parts) + 0.5) / parts);
  }
}

std::size_t area_of(BlockShape b) { return static_cast<std::size_t>(b.rows) * static_cast<std::size_t>(b.cols); }

void write_zero(std::uint64_t, int, BlockShape shape, PetscScalar* block) {
  std::fill_n(block, area_of(shape), PetscScalar(0.0));
}

void write_identity(std::uint64_t, int, BlockShape shape, PetscScalar* block) {
  write_zero(0, 0, shape, block);
  for (int i = 0; i < std::min(shape.rows, shape.cols); ++i) block[i * shape.rows + i] = 1.0;
}

/// The block of random words; a dense block is its words.
template <class Entry>
void write_random(std::uint64_t state, int parts, BlockShape shape, PetscScalar* block) {
  if constexpr (!requires { Entry::word_count; }) {
    fill_random(state, parts, reinterpret_cast<PetscReal*>(block), area_of(shape) * reals_of<CoreScalar>);
  } else {
    using Word = typename Entry::word;
    Word words[Entry::word_count];
    const Entry entry = Entry::of(shape.rows, shape.cols);
    fill_random(state, parts, reinterpret_cast<PetscReal*>(words),
                static_cast<std::size_t>(entry.words()) * reals_of<Word>);
    if constexpr (requires { Entry::word_of(words[0]); })
      for (Word& w : words) w = Entry::word_of(w);
    for (int j = 0; j < shape.cols; ++j)
      for (int i = 0; i < shape.rows; ++i) {
        const CoreScalar value = entry.block([&](int k, int) { return words[k]; }, i, j);
        std::memcpy(static_cast<void*>(block + j * shape.rows + i), &value, sizeof(value));
      }
  }
}

bool along_an_axis(const Step& s) { return std::abs(s.x) + std::abs(s.y) + std::abs(s.z) <= 1; }

/// Scalars of a stencil are few enough for tables of 256: 32 odd parts of 1/32, and those on the diagonal.
constexpr int few_parts = 16;

}  // namespace

double convection_coefficient(const Step& step, const Grid& grid) {
  constexpr double diffusion = 1.0 / 80, convection = 1 / std::numbers::sqrt3;
  if (step == Step{0, 0, 0}) return 2 * diffusion * grid.kind->dimensions;
  const double h = 1.0 / static_cast<double>(std::max({grid.sides.x, grid.sides.y, grid.sides.z}) + 1);
  return -diffusion + (step.x + step.y + step.z) * convection * h / 2;
}

ValueRule::ValueRule(std::string_view entry, BlockShape block, std::uint64_t seed) : block_(block), seed_(mixed(seed)) {
  const auto kind = std::ranges::find(entry_kinds(), entry, &EntryKind::name);
  if (kind == entry_kinds().end()) {
    std::vector<std::string_view> names;
    for (const EntryKind& k : entry_kinds()) names.push_back(k.name);
    throw std::invalid_argument(unknown_name("-entry", entry, names));
  }
  const Field field = is_complex<CoreScalar> ? Field::complex : Field::real;
  if (const std::string why = kind->why_not(field, block); !why.empty())
    throw std::invalid_argument("-entry and -block_size: " + why);
  for_each_kind<CoreScalar>([&]<class, class Entry>() {
    if (entry == Entry::name) write_ = write_random<Entry>;
  });
  dominant_ = kind->multiples != Multiples::none;
}

ValueRule::ValueRule(std::string_view entry, BlockShape block, std::uint64_t seed, Values values,
                     const Generated* matrix)
    : ValueRule(entry, block, seed) {
  values_ = values;
  matrix_ = matrix;
  if (values == Values::symmetric && (entry != "dense" || block.rows != block.cols))
    throw std::invalid_argument(
        "-values symmetric has square dense blocks, whose transposes are such; leave -entry out");
  if (values != Values::convection) return;
  const std::span<const Step> steps = matrix->grid.kind->steps;
  if (steps.empty() || matrix->grid.kind->periodic || !std::ranges::all_of(steps, along_an_axis))
    throw std::invalid_argument("-values convection has coefficients for steps along the axes, not for -grid " +
                                std::string(matrix->grid.kind->name) + "; choose -grid 5 or 7");
  if (matrix->longer.count > 0)
    throw std::invalid_argument("-values convection has no coefficients for the entries of -long_rows; leave one out");
  if (!dominant_)
    throw std::invalid_argument("-values convection: blocks are multiples of the identity, which -entry " +
                                std::string(entry) + " does not hold; choose another");
  write_ = write_zero;
}

ValueRule ValueRule::identity(BlockShape block) { return {block, write_identity}; }

bool ValueRule::is_symmetric() const { return values_ == Values::symmetric || write_ == write_identity; }

void ValueRule::add_to_diagonal(double value, PetscScalar* block) const {
  for (int i = 0; i < std::min(block_.rows, block_.cols); ++i) block[i * block_.rows + i] += value;
}

namespace {

/// The transpose in its place.
void transpose(int side, PetscScalar* block) {
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < j; ++i) std::swap(block[j * side + i], block[i * side + j]);
}

}  // namespace

void ValueRule::write(std::int64_t row, std::int64_t column, std::int64_t row_length, PetscScalar* block) const {
  if (values_ == Values::symmetric && row > column) {
    write(column, row, row_length, block);
    return transpose(block_.rows, block);
  }
  const bool repeated = values_ == Values::stencil || values_ == Values::convection;
  const std::uint64_t place =
      repeated ? static_cast<std::uint64_t>(matrix_->relation(row, column))
               : static_cast<std::uint64_t>(row) * 0x100000001b3u + static_cast<std::uint64_t>(column);
  write_(mixed(seed_ ^ mixed(place)), repeated ? few_parts : 0, block_, block);
  if (values_ == Values::convection)
    return add_to_diagonal(convection_coefficient(matrix_->step(row, column), matrix_->grid), block);
  if (row != column || !dominant_) return;
  if (values_ == Values::symmetric)
    for (int j = 0; j < block_.cols; ++j)
      for (int i = 0; i < j; ++i) block[j * block_.rows + i] = block[i * block_.rows + j];
  const std::int64_t added = repeated ? matrix_->grid.entries() / matrix_->rows() + 1 : row_length;
  add_to_diagonal(2.0 * block_.cols * static_cast<double>(added), block);
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
