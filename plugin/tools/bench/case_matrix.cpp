#include <algorithm>
#include <complex>
#include <limits>

#include "candidate.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "plan/plan.hpp"

namespace compound::bench {

namespace {

MPI_Comm comm_of(Vec v) { return PetscObjectComm(reinterpret_cast<PetscObject>(v)); }

/// Components depend on their place and the seed alone, not on the number of ranks.
void fill_random(Vec v, std::uint64_t seed) {
  PetscInt first, last;
  PetscScalar* values;
  must(VecGetOwnershipRange(v, &first, &last));
  must(VecGetArrayWrite(v, &values));
  for (PetscInt i = first; i < last; ++i) {
    const auto bits = static_cast<std::int64_t>(mixed(seed + static_cast<std::uint64_t>(i)));
    values[i - first] = static_cast<double>(bits) * 0x1p-63;
  }
  must(VecRestoreArrayWrite(v, &values));
}

std::int64_t reduced(MPI_Comm comm, std::int64_t mine, MPI_Op op) {
  std::int64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, op, comm);
  return all;
}

void count(CaseMatrix& c) {
  const auto parts = c.arrays();
  std::int64_t entries = 0, longest = 0, bytes = 0;
  for (const BlockArrays& p : parts) {
    entries += p.entries();
    bytes += p.entries() * (c.area() * std::int64_t{sizeof(PetscScalar)} + std::int64_t{sizeof(PetscInt)});
  }
  for (PetscInt r = 0; r < parts[0].rows; ++r) {
    std::int64_t length = 0;
    for (const BlockArrays& p : parts) length += p.start[r + 1] - p.start[r];
    longest = std::max(longest, length);
  }
  c.read_bytes = bytes;
  c.entries = reduced(comm_of(c.x), entries, MPI_SUM);
  c.longest_row = reduced(comm_of(c.x), longest, MPI_MAX);
}

/// With vectors of their sizes.
void complete(CaseMatrix& c, std::uint64_t seed) {
  count(c);
  must(VecDuplicate(c.y, c.z.out()));
  fill_random(c.x, mixed(seed));
  fill_random(c.z, mixed(seed + 1));
  must(VecSet(c.y, 0.0));  // touches its memory before anything is timed
  must(VecNorm(c.x, NORM_INFINITY, &c.x_norm));
}

/// f(scalar row, scalar column, value) of every scalar of a matrix that is this rank's alone.
template <class F>
void each_scalar(const CaseMatrix& c, const F& f) {
  const BlockArrays a = c.arrays().front();
  const PetscScalar* value = a.values;
  for (std::size_t r = 0; r < static_cast<std::size_t>(a.rows); ++r)
    for (PetscInt k = a.start[r]; k < a.start[r + 1]; ++k)
      for (int j = 0; j < c.block.cols; ++j)
        for (int i = 0; i < c.block.rows; ++i)
          f(r * static_cast<std::size_t>(c.block.rows) + static_cast<std::size_t>(i),
            static_cast<std::size_t>(a.column[k]) * static_cast<std::size_t>(c.block.cols) +
                static_cast<std::size_t>(j),
            *value++);
}

/// The largest sum of sizes over a row of op(A).
double largest_sum(const CaseMatrix& c) {
  const bool transposed = c.operation == Operation::transpose;
  std::vector<double> sums(
      static_cast<std::size_t>(transposed ? c.block_columns * c.block.cols : c.block_rows * c.block.rows));
  each_scalar(c, [&](std::size_t i, std::size_t j, PetscScalar a) { sums[transposed ? j : i] += std::abs(a); });
  return sums.empty() ? 0 : *std::ranges::max_element(sums);
}

std::vector<PetscScalar> copied(Vec v) {
  PetscInt size;
  const PetscScalar* values;
  must(VecGetLocalSize(v, &size));
  must(VecGetArrayRead(v, &values));
  std::vector<PetscScalar> copy(values, values + size);
  must(VecRestoreArrayRead(v, &values));
  return copy;
}

}  // namespace

std::vector<BlockArrays> CaseMatrix::arrays() const {
  if (parent) return block_arrays(parent);
  BlockArrays b;
  b.rows = static_cast<PetscInt>(own.rows());
  b.columns = static_cast<PetscInt>(own.all_columns);
  b.start = own.start.data();
  b.column = own.column.data();
  b.values = const_cast<PetscScalar*>(own.values.data());  // only BAIJ's arrays are ever written to
  return {b};
}

CaseMatrix make_case(Matrix parent, Operation operation, std::uint64_t seed) {
  CaseMatrix c;
  c.parent = std::move(parent);
  c.operation = operation;
  PetscInt block_size, rows, columns;
  must(MatGetBlockSize(c.parent, &block_size));
  must(MatGetSize(c.parent, &rows, &columns));
  c.block = {static_cast<int>(block_size), static_cast<int>(block_size)};
  c.block_rows = rows / block_size;
  c.block_columns = columns / block_size;
  if (operation == Operation::transpose)
    must(MatCreateVecs(c.parent, c.y.out(), c.x.out()));
  else
    must(MatCreateVecs(c.parent, c.x.out(), c.y.out()));
  complete(c, seed);
  must(MatNorm(c.parent, operation == Operation::transpose ? NORM_1 : NORM_INFINITY, &c.norm));
  return c;
}

CaseMatrix make_case(BlockRows blocks, BlockShape shape, Operation operation, std::uint64_t seed) {
  CaseMatrix c;
  c.own = std::move(blocks);
  c.operation = operation;
  c.block = shape;
  c.block_rows = c.own.all_rows;
  c.block_columns = c.own.all_columns;
  const auto rows = static_cast<PetscInt>(c.block_rows * shape.rows);
  const auto columns = static_cast<PetscInt>(c.block_columns * shape.cols);
  const bool transposed = operation == Operation::transpose;
  must(VecCreateSeq(PETSC_COMM_SELF, transposed ? rows : columns, c.x.out()));
  must(VecCreateSeq(PETSC_COMM_SELF, transposed ? columns : rows, c.y.out()));
  complete(c, seed);
  c.norm = largest_sum(c);
  return c;
}

std::vector<PetscScalar> plain_product(const CaseMatrix& c) {
  const std::vector<PetscScalar> x = copied(c.x);
  std::vector<PetscScalar> y = copied(c.operation == Operation::multadd ? c.z : c.y);
  if (c.operation != Operation::multadd) std::ranges::fill(y, PetscScalar(0.0));
  const bool transposed = c.operation == Operation::transpose;
  each_scalar(c, [&](std::size_t i, std::size_t j, PetscScalar a) {
    if (transposed)
      y[j] += a * x[i];
    else
      y[i] += a * x[j];
  });
  return y;
}

Storage storage_of(const Candidate& candidate, const CaseMatrix& m) {
  Storage s;
  constexpr std::size_t parts = sizeof(PetscScalar) / sizeof(double);  // 2 if complex
  s.block_bytes = static_cast<double>(m.area()) * sizeof(PetscScalar);
  s.vector_bytes = candidate.float_vectors() ? 4 * parts : sizeof(PetscScalar);
  s.single = candidate.float_vectors();
  const std::string line = candidate.plan();
  if (candidate.words() > 0) s.block_bytes = candidate.words() * s.vector_bytes;
  if (line.empty()) return s;
  const Plan plan = parse_plan(split_off_diagonal(line).diagonal, Plan{});
  const Field field = parts == 2 ? Field::complex : Field::real;
  const EntryShape shape = entry_shape(plan, {m.block, {field, plan.values}});
  s.single = s.single || plan.values == Precision::single;
  s.block_bytes = shape.words * static_cast<double>(bytes_of(plan.values)) * (shape.real_words ? 1 : parts);
  return s;
}

double compulsory_bytes(const CaseMatrix& m, const Storage& s) {
  const bool transposed = m.operation == Operation::transpose;
  const auto entries = static_cast<double>(m.entries), rows = static_cast<double>(m.block_rows),
             columns = static_cast<double>(m.block_columns);
  const double above = rows * m.block.rows, below = columns * m.block.cols;
  const double outputs = (transposed ? below : above) * (m.operation == Operation::multadd ? 2 : 1);
  const double inputs = transposed ? above : below;
  return entries * (s.block_bytes + 4) + 4 * (rows + 1) + (inputs + outputs) * s.vector_bytes;
}

namespace {

/// The least number that so many of all ranks' do not exceed; `mine` ascends.
std::int64_t least_above(MPI_Comm comm, const std::vector<std::int64_t>& mine, std::int64_t wanted, std::int64_t least,
                         std::int64_t most) {
  while (least < most) {
    const std::int64_t middle = least + (most - least) / 2;
    const std::int64_t here = std::ranges::upper_bound(mine, middle) - mine.begin();
    if (reduced(comm, here, MPI_SUM) >= wanted)
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

}  // namespace

Record quartiles(MPI_Comm comm, std::vector<std::int64_t> numbers) {
  std::ranges::sort(numbers);
  const std::int64_t all = reduced(comm, static_cast<std::int64_t>(numbers.size()), MPI_SUM);
  if (all == 0) return {{"least", 0}, {"lower", 0}, {"median", 0}, {"upper", 0}, {"most", 0}};
  const std::int64_t least = reduced(comm, numbers.empty() ? INT64_MAX : numbers.front(), MPI_MIN);
  const std::int64_t most = reduced(comm, numbers.empty() ? INT64_MIN : numbers.back(), MPI_MAX);
  const auto part = [&](std::int64_t quarters) {
    return least_above(comm, numbers, (quarters * all + 3) / 4, least, most);
  };
  return {{"least", least}, {"lower", part(1)}, {"median", part(2)}, {"upper", part(3)}, {"most", most}};
}

Record row_quartiles(MPI_Comm comm, const std::vector<BlockArrays>& parts) {
  const auto rows = static_cast<std::size_t>(parts.front().rows);
  std::vector<std::int64_t> lengths(rows, 0), first(rows, INT64_MAX), last(rows, INT64_MIN);
  for (const BlockArrays& p : parts)
    for (std::size_t r = 0; r < rows; ++r) {
      lengths[r] += p.start[r + 1] - p.start[r];
      for (PetscInt k = p.start[r]; k < p.start[r + 1]; ++k) {
        first[r] = std::min(first[r], p.global(p.column[k]));
        last[r] = std::max(last[r], p.global(p.column[k]));
      }
    }
  for (std::size_t r = 0; r < rows; ++r) last[r] = lengths[r] > 0 ? last[r] - first[r] : 0;
  return {{"row_lengths", quartiles(comm, std::move(lengths))}, {"row_bandwidths", quartiles(comm, std::move(last))}};
}

double timed(MPI_Comm comm, const std::function<void()>& body) {
  const bool several = ranks_of(comm) > 1;
  wait_for_device();
  if (several) MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  body();
  wait_for_device();
  double seconds = MPI_Wtime() - begin;
  if (several) MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

}  // namespace compound::bench
