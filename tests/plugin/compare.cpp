#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace petsc_test {

namespace {

/// The same verdict everywhere, the message only where there is something to say.
testing::AssertionResult agreed(bool mine, const std::string& message) {
  if (all_ranks(mine)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (mine ? "another process failed" : message);
}

struct Bounds {
  std::vector<double> size, length;  // |A||x| and row length, of this process's rows
};

/// Row by row without communication, since x is known by its formula; columns meet in one reduction.
Bounds bounds_of(Mat A, bool transposed, std::uint64_t seed) {
  PetscInt first = 0, last = 0, first_col = 0, last_col = 0, cols = 0;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(MatGetOwnershipRangeColumn(A, &first_col, &last_col));
  PETSC_OK(MatGetSize(A, nullptr, &cols));
  const auto n = static_cast<std::size_t>(transposed ? cols : last - first);
  std::vector<double> sums(2 * n, 0.0);
  for (PetscInt row = first; row < last; ++row) {
    PetscInt entries = 0;
    const PetscInt* col = nullptr;
    const PetscScalar* words = nullptr;
    PETSC_OK(MatGetRow(A, row, &entries, &col, &words));
    const double x_row = transposed ? PetscAbsScalar(value(seed, row)) : 0;
    for (PetscInt k = 0; k < entries; ++k) {
      const auto at = static_cast<std::size_t>(transposed ? col[k] : row - first);
      sums[at] += PetscAbsScalar(words[k]) * (transposed ? x_row : PetscAbsScalar(value(seed, col[k])));
      sums[n + at] += 1;
    }
    PETSC_OK(MatRestoreRow(A, row, &entries, &col, &words));
  }
  // The diagonal block's communicator is the process itself.
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A));
  if (!transposed) return {{sums.begin(), sums.begin() + n}, {sums.begin() + n, sums.end()}};

  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(2 * n), MPI_DOUBLE, MPI_SUM, comm);
  const auto part = [&sums](std::size_t from, std::size_t to) {
    return std::vector<double>(sums.begin() + static_cast<std::ptrdiff_t>(from),
                               sums.begin() + static_cast<std::ptrdiff_t>(to));
  };
  const auto begin = static_cast<std::size_t>(first_col), end = static_cast<std::size_t>(last_col);
  return {part(begin, end), part(n + begin, n + end)};
}

class Reading {
 public:
  explicit Reading(Vec v) : vector_(v) {
    PETSC_OK(VecGetLocalSize(v, &n));
    PETSC_OK(VecGetArrayRead(v, &at));
  }
  ~Reading() { (void)VecRestoreArrayRead(vector_, &at); }
  const PetscScalar* at = nullptr;
  PetscInt n = 0;

 private:
  Vec vector_;
};

}  // namespace

const std::vector<Product>& all_products() {
  static const std::vector<Product> products = {
      {"MatMult", MatMult, nullptr},
      {"MatMultAdd", nullptr, MatMultAdd},
      {"MatMultAdd in place", nullptr, MatMultAdd, false, true},
      {"MatMultTranspose", MatMultTranspose, nullptr, true},
      {"MatMultTransposeAdd", nullptr, MatMultTransposeAdd, true},
      {"MatMultTransposeAdd in place", nullptr, MatMultTransposeAdd, true, true},
      {"MatMultHermitianTranspose", MatMultHermitianTranspose, nullptr, true, false, true},
      {"MatMultHermitianTransposeAdd", nullptr, MatMultHermitianTransposeAdd, true, false, true},
      {"MatMultHermitianTransposeAdd in place", nullptr, MatMultHermitianTransposeAdd, true, true, true},
  };
  return products;
}

void fill(Vec v, std::uint64_t seed) {
  PetscInt first = 0, last = 0;
  PETSC_OK(VecGetOwnershipRange(v, &first, &last));
  PetscScalar* at = nullptr;
  PETSC_OK(VecGetArrayWrite(v, &at));
  for (PetscInt i = first; i < last; ++i) at[i - first] = value(seed, i);
  PETSC_OK(VecRestoreArrayWrite(v, &at));
}

Vector right_vector(Mat A, std::uint64_t seed) {
  Vector v;
  PETSC_OK(MatCreateVecs(A, v.out(), nullptr));
  fill(v, seed);
  return v;
}

Vector left_vector(Mat A, std::uint64_t seed) {
  Vector v;
  PETSC_OK(MatCreateVecs(A, nullptr, v.out()));
  fill(v, seed);
  return v;
}

Vector product_of(Mat A, const Product& product, std::uint64_t seed) {
  const auto x = product.transposed ? left_vector(A, seed) : right_vector(A, seed);
  auto z = product.transposed ? right_vector(A, seed + 1) : left_vector(A, seed + 1);
  if (product.in_place) {
    PETSC_OK(product.add(A, x, z, z));
    return z;
  }
  Vector y;
  PETSC_OK(VecDuplicate(z, y.out()));
  // What was in y before must not matter (plain BAIJ keeps it in empty rows now and then).
  if (tested_is_compound()) PETSC_OK(VecSet(y, 1e30));
  PETSC_OK(product.adds() ? product.add(A, x, z, y) : product.assign(A, x, y));
  return y;
}

Vector reference_product(Mat plain, const Product& product, std::uint64_t seed) {
  const auto x = product.transposed ? left_vector(plain, seed) : right_vector(plain, seed);
  const auto z = product.transposed ? right_vector(plain, seed + 1) : left_vector(plain, seed + 1);
  Vector y;
  PETSC_OK(VecDuplicate(z, y.out()));
  PETSC_OK(VecZeroEntries(y));
  if (product.hermitian) PETSC_OK(VecConjugate(x));
  PETSC_OK(product.transposed ? MatMultTranspose(plain, x, y) : MatMult(plain, x, y));
  if (product.hermitian) PETSC_OK(VecConjugate(y));
  if (product.adds()) PETSC_OK(VecAXPY(y, 1.0, z));
  return y;
}

PetscReal relative_difference(Mat tested, Mat plain, std::uint64_t seed) {
  const Product& mult = all_products().front();
  const auto got = product_of(tested, mult, seed), wanted = product_of(plain, mult, seed);
  PetscReal difference, norm;
  PETSC_OK(VecNorm(wanted, NORM_INFINITY, &norm));
  PETSC_OK(VecAXPY(got, -1.0, wanted));
  PETSC_OK(VecNorm(got, NORM_INFINITY, &difference));
  return difference / norm;
}

testing::AssertionResult are_close(Vec found, Vec wanted, PetscReal tolerance, NormType norm) {
  PetscReal off, size;
  Vector difference;
  PETSC_OK(VecDuplicate(found, difference.out()));
  PETSC_OK(VecWAXPY(difference, -1.0, wanted, found));
  PETSC_OK(VecNorm(wanted, norm, &size));
  PETSC_OK(VecNorm(difference, norm, &off));
  if (off <= tolerance * size) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "vectors differ by " << off << " of " << size;
}

testing::AssertionResult differs_as_single(Mat tested, Mat plain, std::uint64_t seed) {
  const PetscReal difference = relative_difference(tested, plain, seed);
  if (difference > 0.0 && difference < 64 * 6e-8) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the products differ by " << difference << " of the largest component";
}

testing::AssertionResult same_product(Mat tested, Mat plain, const Product& product, std::uint64_t seed) {
  if (product.hermitian && !tested_is_compound()) return testing::AssertionSuccess();
  const auto got = product_of(tested, product, seed), wanted = reference_product(plain, product, seed);
  const auto bounds = bounds_of(plain, product.transposed, seed);
  const Reading a(got), b(wanted);
  PetscInt first = 0;
  PETSC_OK(VecGetOwnershipRange(wanted, &first, nullptr));

  std::ostringstream message;
  message.precision(17);
  bool good = a.n == b.n;
  for (PetscInt i = 0; i < b.n && good; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double z = product.adds() ? PetscAbsScalar(value(seed + 1, first + i)) : 0;
    const double bound = 8 * PETSC_MACHINE_EPSILON * (bounds.length[at] + 1) * (bounds.size[at] + z);
    const double error = PetscAbsScalar(a.at[i] - b.at[i]);
    good = error <= bound;
    if (!good)
      message << product.name << ": entry " << first + i << " is " << a.at[i] << ", not " << b.at[i] << "; error "
              << error << ", bound " << bound << ", seed " << seed;
  }
  return agreed(good, message.str());
}

testing::AssertionResult same_mult(Mat tested, Mat plain, std::uint64_t seed) {
  return same_product(tested, plain, all_products().front(), seed);
}

testing::AssertionResult same_products(Mat tested, Mat plain, std::uint64_t seed) {
  for (const auto& product : all_products())
    if (auto result = same_product(tested, plain, product, seed); !result) return result;
  return testing::AssertionSuccess();
}

testing::AssertionResult same_values(Mat tested, Mat plain) {
  PetscInt first = 0, last = 0;
  PETSC_OK(MatGetOwnershipRange(plain, &first, &last));
  bool good = true;
  std::ostringstream message;
  for (PetscInt row = first; row < last && good; ++row) {
    PetscInt n[2];
    const PetscInt* col[2];
    const PetscScalar* words[2];
    PETSC_OK(MatGetRow(tested, row, &n[0], &col[0], &words[0]));
    PETSC_OK(MatGetRow(plain, row, &n[1], &col[1], &words[1]));
    const auto entries = static_cast<std::size_t>(n[1]);
    good = n[0] == n[1] && std::equal(col[0], col[0] + entries, col[1]);  // null pointers for empty rows
    good = good && std::equal(words[0], words[0] + entries, words[1]);
    if (!good) message << "row " << row << " holds other entries: " << n[0] << " and " << n[1];
    PETSC_OK(MatRestoreRow(plain, row, &n[1], &col[1], &words[1]));
    PETSC_OK(MatRestoreRow(tested, row, &n[0], &col[0], &words[0]));
  }
  return agreed(good, message.str());
}

testing::AssertionResult same_bits(Vec a, Vec b) {
  const Reading left(a), right(b);
  const bool good =
      left.n == right.n &&
      (left.n == 0 || std::memcmp(left.at, right.at, static_cast<std::size_t>(left.n) * sizeof(PetscScalar)) == 0);
  return agreed(good, "the bits differ");
}

testing::AssertionResult same_finite_places(Vec a, Vec b) {
  const Reading left(a), right(b);
  PetscInt differ = -1;
  for (PetscInt i = 0; i < right.n && differ < 0; ++i)
    if (PetscIsInfOrNanScalar(left.at[i]) != PetscIsInfOrNanScalar(right.at[i])) differ = i;
  return agreed(differ < 0, "local entry " + std::to_string(differ) + " is finite in one answer only");
}

testing::AssertionResult is_tested_type(Mat A) {
  MatType type = nullptr;
  PETSC_OK(MatGetType(A, &type));
  const std::string name = type ? type : "no type";
  const bool good = name == "seq" + tested_type() || name == "mpi" + tested_type();
  return agreed(good, "the type is " + name);
}

MatCompoundInfo info_of(Mat A) {
  MatCompoundInfo info = {};
  if (tested_is_compound()) PETSC_OK(MatCompoundGetInfo(A, &info));
  return info;
}

std::string plan_of(Mat A) {
  const char* plan = "";
  if (tested_is_compound()) PETSC_OK(MatCompoundGetPlan(A, &plan));
  return plan;
}

testing::AssertionResult counts_as_ours(Mat A) {
  if (!tested_is_compound()) return testing::AssertionSuccess();
  const auto before = info_of(A);
  const auto y = product_of(A, all_products().front(), 5);
  const auto after = info_of(A);
  const auto rise = after.products - before.products;
  PetscMPIInt processes = 1;
  MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &processes);
  // Blocks that are not full, or none, are the parent's to multiply (aij_test.cpp has those that are not).
  const bool is_left = tested_is_of_scalars() && plan_of(A).empty();
  const bool good = is_left || (processes == 1 ? rise == 1 : (after.stored_blocks > 0 ? rise >= 1 : rise >= 0));
  return agreed(good, "the counter of own products rose by " + std::to_string(rise) + " during one MatMult");
}

testing::AssertionResult still_twins(const Twins& twins, std::uint64_t seed) {
  if (auto result = is_tested_type(twins.tested); !result) return result;
  if (auto result = same_values(twins.tested, twins.plain); !result) return result;
  if (auto result = same_products(twins.tested, twins.plain, seed); !result) return result;
  if (auto result = counts_as_ours(twins.tested); !result) return result;
  const auto plan = plan_of(twins.tested);
  const auto& wanted = twins.tested.variant.plan;
  return agreed(plan.find(wanted) != std::string::npos,
                "the plan is '" + plan + "' though " + wanted + " was asked for");
}

}  // namespace petsc_test
