// Assembly from coordinates.
#include <petsccompound.h>

#include <algorithm>
#include <cstring>

#include "device.hpp"
#include "dominant_rows.hpp"
#include "failure.hpp"
#include "report.hpp"
#include "run_case.hpp"
#include "solve.hpp"

namespace compound::bench {

namespace {

struct Coordinates {
  const char* of;
  std::vector<PetscInt> row, column;
  std::vector<PetscScalar> value;
};

/// f(row, column, scalars of the block by columns) of this rank's blocks.
template <class F>
void for_each_block(const BlockRows& rows, int side, const F& f) {
  for (std::size_t r = 1; r < rows.start.size(); ++r)
    for (PetscInt k = rows.start[r - 1]; k < rows.start[r]; ++k)
      f(static_cast<PetscInt>(rows.first) + static_cast<PetscInt>(r - 1), rows.column[static_cast<std::size_t>(k)],
        rows.values.data() + std::ptrdiff_t{k} * side * side);
}

/// The scalars of a block by columns.
Coordinates scalars_of(const BlockRows& rows, int side) {
  Coordinates all = {"scalars", {}, {}, {}};
  for_each_block(rows, side, [&](PetscInt row, PetscInt column, const PetscScalar* v) {
    for (PetscInt word = 0; word < side * side; ++word) {
      all.row.push_back(row * side + word % side);
      all.column.push_back(column * side + word / side);
    }
    all.value.insert(all.value.end(), v, v + side * side);
  });
  return all;
}

/// The scalars of a block by rows.
Coordinates blocks_of(const BlockRows& rows, int side) {
  Coordinates all = {"blocks", {}, {}, {}};
  for_each_block(rows, side, [&](PetscInt row, PetscInt column, const PetscScalar* v) {
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

/// |A x - (parent + shift) x| over |(parent + shift) x|, by largest components.
double error_of(Mat A, const CaseMatrix& c, double shift) {
  Vector x, y, wanted, wanted_x;
  must(MatCreateVecs(A, x.out(), y.out()));
  must(MatCreateVecs(c.parent, wanted_x.out(), wanted.out()));
  must(VecSet(x, 1.0));
  must(VecSet(wanted_x, 1.0));
  must(MatMult(A, x, y));
  must(MatMult(c.parent, wanted_x, wanted));
  must(VecAXPY(wanted, shift, wanted_x));  // rows as many as columns: of one layout
  must(VecCopy(y, wanted_x));
  PetscReal scale, difference;
  must(VecNorm(wanted, NORM_INFINITY, &scale));
  must(VecAXPY(wanted, -1.0, wanted_x));
  must(VecNorm(wanted, NORM_INFINITY, &difference));
  return scale > 0 ? difference / scale : difference;
}

/// PETSc's host types read values on the host alone.
bool takes_device_values(const std::string& type) {
  return is_ours(type) || type.find("cusparse") != std::string::npos;
}

void preallocate(Mat A, const Coordinates& c, bool by_blocks) {
  const auto n = static_cast<PetscCount>(c.row.size());
  if (by_blocks) return must(MatCompoundSetPreallocationCOO(A, n, c.row.data(), c.column.data()));
  must(MatSetPreallocationCOO(A, n, const_cast<PetscInt*>(c.row.data()), const_cast<PetscInt*>(c.column.data())));
}

/// A matrix with coordinates that takes values from one memory.
struct Assembled {
  std::string type;
  const char* place;
  const PetscScalar* values;
  Mat A;
  Record row;
  Vector x = {}, y = {};
  std::unique_ptr<Solve> solve = {};
  std::vector<double> values_s = {}, with_product_s = {}, with_solve_s = {};

  void set() { must(MatSetValuesCOO(A, values, INSERT_VALUES)); }
  void set_and_multiply() {
    set();
    must(MatMult(A, x, y));
  }
  void set_and_solve() {
    set();
    if (const KSPConvergedReason reason = solve->run(); reason <= 0)
      throw usage_error("-types " + type + "/coo: a solve ended with " + KSPConvergedReasons[reason] +
                        "; choose another preconditioner by -pc_type");
  }
};

/// On several processes the inverses of aij's diagonal blocks are not numbers in PETSc 3.18 after MatSetValuesCOO().
constexpr const char* preconditioner = PETSC_VERSION_GE(3, 19, 0) ? PCPBJACOBI : PCJACOBI;

/// What -ksp_rtol and -pc_type may change.
void by_point_blocks(KSP ksp) {
  PC pc;
  must(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  must(KSPGetPC(ksp, &pc));
  must(PCSetType(pc, preconditioner));
}

/// A matrix of a type with its coordinates, and a row for each memory that it takes values from.
void prepare(MPI_Comm comm, const CaseMatrix& c, const std::string& type, const CooInput& in, bool by_blocks,
             std::vector<Matrix>* matrices, std::vector<Assembled>* rows) {
  Matrix A = empty_like(c.parent, type);
  Coordinates mine = in.on_host;  // PETSc may change them
  const double preallocation_s = timed(comm, [&] { preallocate(A, mine, by_blocks); });
  const auto* const there = static_cast<const PetscScalar*>(takes_device_values(type) ? in.on_device.get() : nullptr);
  const std::pair<const char*, const PetscScalar*> places[] = {{"host", in.on_host.value.data()}, {"device", there}};
  for (const auto& [place, values] : places) {
    if (!values) continue;
    Assembled& r = rows->emplace_back(Assembled{type, place, values, A, {}});
    r.row = {{"type", type}, {"coordinates", mine.of}, {"values_on", place}, {"preallocation_s", preallocation_s}};
    must(MatCreateVecs(A, r.x.out(), r.y.out()));
    must(VecSet(r.x, 1.0));
    r.solve = std::make_unique<Solve>(A, is_ours(type) ? "cgcompound" : KSPCG, by_point_blocks);
    r.set_and_multiply();  // what is prepared at first is not counted
    r.set_and_solve();
  }
  matrices->push_back(std::move(A));
}

/// Rows take turns. Values are set once before a row is timed: another row of its matrix took them from another memory.
void time_values(MPI_Comm comm, const Options& o, std::vector<Assembled>& rows, Progress& progress) {
  for (int round = 0; round < o.rounds; ++round) {
    progress.say("assembling from coordinates, round " + std::to_string(round + 1));
    for (Assembled& r : rows) {
      r.set_and_multiply();
      r.values_s.push_back(timed(comm, [&] { r.set(); }));
      r.with_product_s.push_back(timed(comm, [&] { r.set_and_multiply(); }));
      r.with_solve_s.push_back(timed(comm, [&] { r.set_and_solve(); }));
    }
  }
}

}  // namespace

Record time_coo(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress) {
  if (!c.parent || c.block_rows != c.block_columns)
    throw usage_error("-types TYPE/coo takes square matrices of square blocks only");
  const double shift = dominant_diagonal(c.parent);
  const BlockRows by_rows = with_diagonal(c, shift);
  const CooInput scalars = input_of(scalars_of(by_rows, c.block.rows)),
                 blocks = input_of(blocks_of(by_rows, c.block.rows));
  double bytes = static_cast<double>(scalars.on_host.value.size() * sizeof(PetscScalar));
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm);
  std::vector<Matrix> matrices;
  std::vector<Assembled> rows;
  for (const std::string& type : o.assembled) try {
      progress.say("preparing " + type + " for values by coordinates");
      prepare(comm, c, type, scalars, false, &matrices, &rows);
      if (is_ours(type)) prepare(comm, c, type, blocks, true, &matrices, &rows);
    } catch (const petsc_error& e) {
      throw petsc_error("-types " + type + "/coo: " + e.what());
    }
  time_values(comm, o, rows, progress);
  Record r = {{"coo_bytes", bytes}, {"coo", Record::array()}};
  for (Assembled& a : rows) {
    const Statistics s = statistics_of(a.values_s);
    a.row.update({{"median_s", s.median},
                  {"spread", s.spread},
                  {"samples_s", a.values_s},
                  {"times_first", paired_ratio(rows.front().values_s, a.values_s)},
                  {"with_product_median_s", statistics_of(a.with_product_s).median},
                  {"with_solve_median_s", statistics_of(a.with_solve_s).median},
                  {"iterations", a.solve->iterations()},
                  {"gbs", bytes / s.median / 1e9},
                  {"error", error_of(a.A, c, shift)}});
    r["coo"].push_back(a.row);
  }
  return r;
}

}  // namespace compound::bench
