// Assembly from coordinates.
#include <petsccompound.h>

#include <algorithm>
#include <cstring>

#include "device.hpp"
#include "failure.hpp"
#include "report.hpp"
#include "run_case.hpp"

namespace compound::bench {

namespace {

struct Coordinates {
  const char* of;
  std::vector<PetscInt> row, column;
  std::vector<PetscScalar> value;
};

/// f(row, column, scalars of the block by columns) of this rank's blocks, as they lie.
template <class F>
void for_each_block(const CaseMatrix& c, const F& f) {
  PetscInt first;
  must(MatGetOwnershipRange(c.parent, &first, nullptr));
  const PetscInt side = c.block.rows;
  for (const BlockArrays& part : c.arrays())
    for (PetscInt r = 0; r < part.rows; ++r)
      for (PetscInt k = part.start[r]; k < part.start[r + 1]; ++k)
        f(first / side + r, static_cast<PetscInt>(part.global(part.column[k])), part.values + k * side * side);
}

/// The scalars of a block by columns.
Coordinates scalars_of(const CaseMatrix& c) {
  Coordinates all = {"scalars", {}, {}, {}};
  const PetscInt side = c.block.rows;
  for_each_block(c, [&](PetscInt row, PetscInt column, const PetscScalar* v) {
    for (PetscInt word = 0; word < side * side; ++word) {
      all.row.push_back(row * side + word % side);
      all.column.push_back(column * side + word / side);
    }
    all.value.insert(all.value.end(), v, v + side * side);
  });
  return all;
}

/// The scalars of a block by rows.
Coordinates blocks_of(const CaseMatrix& c) {
  Coordinates all = {"blocks", {}, {}, {}};
  const PetscInt side = c.block.rows;
  for_each_block(c, [&](PetscInt row, PetscInt column, const PetscScalar* v) {
    all.row.push_back(row);
    all.column.push_back(column);
    for (PetscInt i = 0; i < side; ++i)
      for (PetscInt j = 0; j < side; ++j) all.value.push_back(v[i + j * side]);
  });
  return all;
}

/// Coordinates, and where their values are; null where there is no device.
struct CooInput {
  Coordinates on_host;
  std::shared_ptr<void> on_device;
};

CooInput input_of(Coordinates c) {
  CooInput in = {std::move(c), {}};
  if (Device* const device = used_device())
    in.on_device = device->uploaded(in.on_host.value.data(), in.on_host.value.size() * sizeof(PetscScalar));
  return in;
}

Matrix empty_matrix(MPI_Comm comm, const CaseMatrix& c, const char* type) {
  PetscInt rows, columns, all_rows, all_columns;
  must(MatGetLocalSize(c.parent, &rows, &columns));
  must(MatGetSize(c.parent, &all_rows, &all_columns));
  Matrix A;
  must(MatCreate(comm, A.out()));
  must(MatSetSizes(A, rows, columns, all_rows, all_columns));
  must(MatSetBlockSize(A, c.block.rows));
  must(MatSetType(A, type));
  if (is_ours(type)) multiply_on_device(A);
  return A;
}

/// |A x - parent x| over |parent x|, by largest components.
double error_of(Mat A, const CaseMatrix& c) {
  Vector x, y, wanted, wanted_x;
  must(MatCreateVecs(A, x.out(), y.out()));
  must(MatCreateVecs(c.parent, wanted_x.out(), wanted.out()));
  must(VecSet(x, 1.0));
  must(VecSet(wanted_x, 1.0));
  must(MatMult(A, x, y));
  must(MatMult(c.parent, wanted_x, wanted));
  must(VecCopy(y, wanted_x));  // rows as many as columns: of one layout
  PetscReal scale, difference;
  must(VecNorm(wanted, NORM_INFINITY, &scale));
  must(VecAXPY(wanted, -1.0, wanted_x));
  must(VecNorm(wanted, NORM_INFINITY, &difference));
  return scale > 0 ? difference / scale : difference;
}

Record timed_values(MPI_Comm comm, Mat A, const PetscScalar* values, const Options& o) {
  std::vector<double> values_s, with_product_s;
  Vector x, y;
  must(MatCreateVecs(A, x.out(), y.out()));
  must(VecSet(x, 1.0));
  const auto set = [&] { must(MatSetValuesCOO(A, values, INSERT_VALUES)); };
  const auto multiply = [&] {
    set();
    must(MatMult(A, x, y));
  };
  multiply();  // what is prepared at first is not counted
  for (int round = 0; round < o.rounds; ++round) {
    values_s.push_back(timed(comm, set));
    with_product_s.push_back(timed(comm, multiply));
  }
  return {{"median_s", statistics_of(values_s).median},
          {"samples_s", values_s},
          {"with_product_median_s", statistics_of(with_product_s).median}};
}

/// PETSc's host types read values on the host alone.
bool takes_device_values(const std::string& type) {
  return is_ours(type) || type.find("cusparse") != std::string::npos;
}

bool takes_blocks(const std::string& type) { return is_ours(type); }

void preallocate(Mat A, const Coordinates& c, bool by_blocks) {
  const auto n = static_cast<PetscCount>(c.row.size());
  if (by_blocks) return must(MatCompoundSetPreallocationCOO(A, n, c.row.data(), c.column.data()));
  must(MatSetPreallocationCOO(A, n, const_cast<PetscInt*>(c.row.data()), const_cast<PetscInt*>(c.column.data())));
}

void time_type(MPI_Comm comm, const CaseMatrix& c, const Options& o, const std::string& type, const CooInput& in,
               bool by_blocks, Record& r) {
  Matrix A = empty_matrix(comm, c, type.c_str());
  Coordinates mine = in.on_host;  // PETSc may change them
  const double preallocation_s = timed(comm, [&] { preallocate(A, mine, by_blocks); });
  const auto* const there = static_cast<const PetscScalar*>(takes_device_values(type) ? in.on_device.get() : nullptr);
  const std::pair<const char*, const PetscScalar*> places[] = {{"host", in.on_host.value.data()}, {"device", there}};
  for (const auto& [place, values] : places) {
    if (!values) continue;
    Record row = {{"type", type}, {"coordinates", mine.of}, {"values_on", place}, {"preallocation_s", preallocation_s}};
    row.update(timed_values(comm, A, values, o));
    row["gbs"] = r["coo_bytes"].get<double>() / row["median_s"].get<double>() / 1e9;
    row["error"] = error_of(A, c);
    r["coo"].push_back(row);
  }
}

}  // namespace

Record time_coo(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress) {
  if (!c.parent || c.block_rows != c.block_columns)
    throw usage_error("-types TYPE/coo takes square matrices of square blocks only");
  const CooInput scalars = input_of(scalars_of(c)), blocks = input_of(blocks_of(c));
  double bytes = static_cast<double>(scalars.on_host.value.size() * sizeof(PetscScalar));
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm);
  Record r = {{"coo_bytes", bytes}};
  for (const std::string& type : o.assembled) try {
      progress.say("assembling " + type + " from coordinates");
      time_type(comm, c, o, type, scalars, false, r);
      if (takes_blocks(type)) time_type(comm, c, o, type, blocks, true, r);
    } catch (const petsc_error& e) {
      throw petsc_error("-types " + type + "/coo: " + e.what());
    }
  return r;
}

}  // namespace compound::bench
