#include <algorithm>
#include <complex>
#include <limits>

#include "candidate.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "plan.hpp"

namespace compound::bench {

namespace {

MPI_Comm comm_of(Mat A) { return PetscObjectComm(reinterpret_cast<PetscObject>(A)); }

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
  const auto parts = block_arrays(c.parent);
  std::int64_t entries = 0, longest = 0, bytes = 0;
  for (const BlockArrays& p : parts) {
    entries += p.entries();
    bytes += p.entries() * (std::int64_t{c.block_size} * c.block_size * std::int64_t{sizeof(PetscScalar)} +
                            std::int64_t{sizeof(PetscInt)});
  }
  for (PetscInt r = 0; r < parts[0].rows; ++r) {
    std::int64_t length = 0;
    for (const BlockArrays& p : parts) length += p.start[r + 1] - p.start[r];
    longest = std::max(longest, length);
  }
  c.read_bytes = bytes;
  c.entries = reduced(comm_of(c.parent), entries, MPI_SUM);
  c.longest_row = reduced(comm_of(c.parent), longest, MPI_MAX);
}

}  // namespace

CaseMatrix make_case(Matrix parent, Operation operation, std::uint64_t seed) {
  CaseMatrix c;
  c.parent = std::move(parent);
  c.operation = operation;
  PetscInt block_size, rows, columns;
  must(MatGetBlockSize(c.parent, &block_size));
  must(MatGetSize(c.parent, &rows, &columns));
  c.block_size = static_cast<int>(block_size);
  c.block_rows = rows / block_size;
  c.block_columns = columns / block_size;
  count(c);
  if (operation == Operation::transpose)
    must(MatCreateVecs(c.parent, c.y.out(), c.x.out()));
  else
    must(MatCreateVecs(c.parent, c.x.out(), c.y.out()));
  must(VecDuplicate(c.y, c.z.out()));
  fill_random(c.x, mixed(seed));
  fill_random(c.z, mixed(seed + 1));
  must(VecSet(c.y, 0.0));  // touches its memory before anything is timed
  must(MatNorm(c.parent, operation == Operation::transpose ? NORM_1 : NORM_INFINITY, &c.norm));
  must(VecNorm(c.x, NORM_INFINITY, &c.x_norm));
  return c;
}

Storage storage_of(const Candidate& candidate, const CaseMatrix& m) {
  Storage s;
  const double area = static_cast<double>(m.block_size) * m.block_size;
  const double parts = sizeof(PetscScalar) / sizeof(double);  // 2 if complex
  s.block_bytes = area * sizeof(PetscScalar);
  s.vector_bytes = candidate.float_vectors() ? 4 * parts : sizeof(PetscScalar);
  s.single = candidate.float_vectors();
  const std::string line = candidate.plan();
  if (line.empty()) return s;
  const Plan plan = parse_plan(split_off_diagonal(line).diagonal, Plan{});
  const Field field = parts == 2 ? Field::complex : Field::real;
  const EntryShape shape = entry_shape(plan, {{m.block_size, m.block_size}, {field, plan.values}});
  s.single = s.single || plan.values == Precision::single;
  s.block_bytes = shape.words * static_cast<double>(bytes_of(plan.values)) * (shape.real_words ? 1 : parts);
  return s;
}

double compulsory_bytes(const CaseMatrix& m, const Storage& s) {
  const bool transposed = m.operation == Operation::transpose;
  const auto entries = static_cast<double>(m.entries), rows = static_cast<double>(m.block_rows),
             columns = static_cast<double>(m.block_columns);
  const double outputs = (transposed ? columns : rows) * (m.operation == Operation::multadd ? 2 : 1);
  const double inputs = transposed ? rows : columns;
  return entries * (s.block_bytes + 4) + 4 * (rows + 1) + (inputs + outputs) * m.block_size * s.vector_bytes;
}

double timed(MPI_Comm comm, const std::function<void()>& body) {
  int size;
  MPI_Comm_size(comm, &size);
  wait_for_device();
  if (size > 1) MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  body();
  wait_for_device();
  double seconds = MPI_Wtime() - begin;
  if (size > 1) MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

}  // namespace compound::bench
