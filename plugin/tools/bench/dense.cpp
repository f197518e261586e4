// Products with dense matrices: several vectors at once.
#include <algorithm>
#include <cstring>

#include "dense.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "report.hpp"
#include "run_case.hpp"

namespace compound::bench {

namespace {

PetscScalar number(PetscInt row, PetscInt column) { return static_cast<PetscReal>((5 * row + 11 * column) % 17 - 8); }

}  // namespace

Matrix dense_for(Mat A, bool transposed, PetscInt columns) {
  Matrix B;
  PetscInt rows, first;
  must(MatGetLocalSize(A, transposed ? &rows : nullptr, transposed ? nullptr : &rows));
  must(MatCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), B.out()));
  must(MatSetSizes(B, rows, PETSC_DECIDE, PETSC_DETERMINE, columns));
  must(MatSetType(B, used_device() ? "densecuda" : MATDENSE));
  must(MatSetUp(B));
  must(MatGetOwnershipRange(B, &first, nullptr));
  for (PetscInt n = 0; n < columns; ++n) {
    Vec column;
    PetscScalar* to;
    must(MatDenseGetColumnVecWrite(B, n, &column));
    must(VecGetArrayWrite(column, &to));
    for (PetscInt i = 0; i < rows; ++i) to[i] = number(first + i, n);
    must(VecRestoreArrayWrite(column, &to));
    must(MatDenseRestoreColumnVecWrite(B, n, &column));
  }
  must(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  return B;
}

namespace {

/// A type's product with one vector, and with dense matrices of so many columns; or its transpose's.
struct Products {
  std::string type;
  bool transposed;
  Matrix A;
  Vector x, y;
  std::vector<PetscInt> columns;
  std::vector<Matrix> B, C;

  Products(const CaseMatrix& c, const std::string& of_type, bool transposes, const std::vector<int>& counts)
      : type(of_type), transposed(transposes) {
    must(MatConvert(c.parent, type.c_str(), MAT_INITIAL_MATRIX, A.out()));
    if (is_ours(type)) must(MatSetFromOptions(A));
    must(transposed ? MatCreateVecs(A, y.out(), x.out()) : MatCreateVecs(A, x.out(), y.out()));
    must(VecSet(x, 1.0));
    multiply(x);
    for (const int count : counts) {
      columns.push_back(count);
      B.push_back(dense_for(A, transposed, count));
      multiply(B.back(), MAT_INITIAL_MATRIX, C.emplace_back().out());
    }
  }
  void multiply(Vec by) { must((transposed ? MatMultTranspose : MatMult)(A, by, y)); }
  void multiply(Mat by, MatReuse reuse, Mat* to) {
    must((transposed ? MatTransposeMatMult : MatMatMult)(A, by, reuse, PETSC_DEFAULT, to));
  }
  void multiply(std::size_t k) { multiply(B[k], MAT_REUSE_MATRIX, C[k].in_place()); }

  /// Of the last column: the largest difference from the product with one vector, over the largest component.
  double error(std::size_t k) {
    Vec column;
    PetscReal scale, difference;
    must(MatDenseGetColumnVecRead(B[k], columns[k] - 1, &column));
    multiply(column);
    must(MatDenseRestoreColumnVecRead(B[k], columns[k] - 1, &column));
    must(VecNorm(y, NORM_INFINITY, &scale));
    must(MatDenseGetColumnVecRead(C[k], columns[k] - 1, &column));
    must(VecAXPY(y, -1.0, column));
    must(MatDenseRestoreColumnVecRead(C[k], columns[k] - 1, &column));
    must(VecNorm(y, NORM_INFINITY, &difference));
    return scale > 0 ? difference / scale : difference;
  }
};

}  // namespace

Record time_dense(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress) {
  if (!c.parent) throw usage_error("-types TYPE/dense takes square blocks only");
  std::vector<std::unique_ptr<Products>> all;
  std::vector<Runner> runners;
  for (const std::string& type : o.of_dense) try {
      progress.say("preparing " + type + " for products with dense matrices");
      const bool transposed = o.operation == Operation::transpose;
      Products& p = *all.emplace_back(std::make_unique<Products>(c, type, transposed, o.columns));
      runners.push_back({type, [&p] { p.multiply(p.x); }});
      for (std::size_t k = 0; k < p.columns.size(); ++k)
        runners.push_back({type + " x " + std::to_string(p.columns[k]), [&p, k] { p.multiply(k); }});
    } catch (const petsc_error& e) {
      throw petsc_error("-types " + type + "/dense: " + e.what());
    }
  const std::vector<Record> samples = measure(comm, runners, o, progress);
  Record rows = Record::array();
  for (std::size_t t = 0, n = 0; t < all.size(); ++t) {
    const Record& one = samples[n++];
    for (std::size_t k = 0; k < o.columns.size(); ++k, ++n) {
      Record row = samples[n];
      const Record& first = samples[1 + k];
      row.update({{"type", all[t]->type},
                  {"columns", o.columns[k]},
                  {"products", 1 / paired_ratio(samples_of(one), samples_of(row))},
                  {"times_first", paired_ratio(samples_of(first), samples_of(row))},
                  {"error", all[t]->error(k)}});
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace compound::bench
