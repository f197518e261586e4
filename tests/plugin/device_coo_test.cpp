// MatSetPreallocationCOO() and MatSetValuesCOO() with arrays in a device's memory, against PETSc's aij on the host.
#include <petsccompound.h>

#include <algorithm>
#include <cstdlib>

#include "coo_entries.hpp"
#include "device_tests.hpp"
#include "info.hpp"
#include "kinds.hpp"
#include "log_events.hpp"

namespace {

using namespace petsc_test;

/// The values as a vector in the device's memory.
Vector on_device(const std::vector<PetscScalar>& v) {
  Vector d;
  PetscScalar* at;
  PETSC_OK(VecCreate(PETSC_COMM_SELF, d.out()));
  PETSC_OK(VecSetSizes(d, static_cast<PetscInt>(v.size()), PETSC_DECIDE));
  PETSC_OK(VecSetType(d, "seqcuda"));
  PETSC_OK(VecGetArrayWrite(d, &at));
  std::copy(v.begin(), v.end(), at);
  PETSC_OK(VecRestoreArrayWrite(d, &at));
  return d;
}

void set_from_device(Mat A, const std::vector<PetscScalar>& v, InsertMode mode) {
  const auto d = on_device(v);
  const PetscScalar* at;
  PetscMemType type;
  PETSC_OK(VecGetArrayReadAndMemType(d, &at, &type));
  ASSERT_TRUE(v.empty() || PetscMemTypeDevice(type)) << "the vector is not on the device";
  PETSC_OK(MatSetValuesCOO(A, v.empty() ? nullptr : at, mode));
  PETSC_OK(VecRestoreArrayReadAndMemType(d, &at));
}

/// Products on the host and, for matrices made with vectors on the device, there.
struct DeviceCoo : Coo {
  void SetUp() override { SKIP_WITHOUT_DEVICE(); }

  Matrix device_matrix(const Entries& e, const std::string& options = "") const {
    auto A = empty_matrix(tested_type(), options, square());
    PETSC_OK(MatSetVecType(A, "cuda"));
    PETSC_OK(preallocate(A, e));
    return A;
  }
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, DeviceCoo, testing::Values(1, 2, 3, 4));

TEST_P(DeviceCoo, TakesValuesFromTheDevice) {
  const auto e = random_entries(44, square(), 300);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  std::uint64_t seed = 45;
  for (const InsertMode mode : {INSERT_VALUES, ADD_VALUES, INSERT_VALUES}) {
    const auto v = whole_values(++seed, e);

    set_from_device(A, v, mode);
    set(aij, v, mode);

    ASSERT_TRUE(same_matrix(A, aij, seed));
    ASSERT_TRUE(counts_as_ours(A));
  }
}

TEST_P(DeviceCoo, SeesValuesThatChangedOnTheHostInBetween) {
  const auto e = random_entries(50, square(), 300);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  const auto v = whole_values(51, e), w = whole_values(52, e);
  set_from_device(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);
  EXPECT_TRUE(same_matrix(A, aij, 53));
  for (Mat m : {Mat(A), Mat(aij)}) PETSC_OK(MatScale(m, 2.0));
  EXPECT_TRUE(same_matrix(A, aij, 54));
  set(A, w, ADD_VALUES);
  set(aij, w, ADD_VALUES);
  EXPECT_TRUE(same_matrix(A, aij, 55));

  set_from_device(A, v, ADD_VALUES);
  set(aij, v, ADD_VALUES);

  EXPECT_TRUE(same_matrix(A, aij, 56));
}

TEST_P(DeviceCoo, DuplicatesTakeValuesFromTheDevice) {
  const auto e = random_entries(57, square(), 200);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  const auto v = whole_values(58, e);
  set_from_device(A, whole_values(59, e), INSERT_VALUES);
  Matrix copy;
  PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, copy.out()));

  set_from_device(copy, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(copy, aij, 60));
}

/// Indices in the device's memory. Vectors are the one way there that needs no CUDA here: scalars whose bits are
/// indices.
class IndicesOnDevice {
 public:
  explicit IndicesOnDevice(const std::vector<PetscInt>& indices) {
    std::vector<PetscScalar> s(indices.size() * sizeof(PetscInt) / sizeof(PetscScalar) + 1);
    std::copy(indices.begin(), indices.end(), reinterpret_cast<PetscInt*>(s.data()));
    vector_ = on_device(s);
    PetscMemType type;
    PETSC_OK(VecGetArrayAndMemType(vector_, &at_, &type));
  }
  IndicesOnDevice(const IndicesOnDevice&) = delete;
  ~IndicesOnDevice() { PETSC_OK(VecRestoreArrayAndMemType(vector_, &at_)); }
  PetscInt* data() const { return reinterpret_cast<PetscInt*>(at_); }

 private:
  Vector vector_;
  PetscScalar* at_ = nullptr;
};

TEST_P(DeviceCoo, TakesCoordinatesFromTheDevice) {
  if (sizeof(PetscScalar) % sizeof(PetscInt) != 0) GTEST_SKIP() << "skipped: no whole number of indices in a scalar";
  const auto e = random_entries(61, square(), 300);
  const auto v = whole_values(62, e);
  const auto aij = made_of(MATAIJ, square(), e);
  const auto A = empty_matrix(tested_type(), "", square());

  PETSC_OK(MatSetPreallocationCOO(A, e.size(), IndicesOnDevice(e.row).data(), IndicesOnDevice(e.column).data()));
  set(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(A, aij, 63));
}

TEST_P(DeviceCoo, TakesBlocksFromTheDevice) {
  if (!tested_is_compound()) GTEST_SKIP() << "PETSc's types take no coordinates of blocks";
  if (sizeof(PetscScalar) % sizeof(PetscInt) != 0) GTEST_SKIP() << "skipped: no whole number of indices in a scalar";
  const auto blocks = random_blocks(161, square(), 150);
  const auto e = scalars_of(blocks, GetParam());
  const auto aij = made_of(MATAIJ, square(), e);
  const auto A = empty_matrix(tested_type(), "", square());
  PETSC_OK(MatSetVecType(A, "cuda"));

  PETSC_OK(MatCompoundSetPreallocationCOO(A, blocks.size(), IndicesOnDevice(blocks.row).data(),
                                          IndicesOnDevice(blocks.column).data()));
  std::uint64_t seed = 162;
  for (const InsertMode mode : {INSERT_VALUES, ADD_VALUES, INSERT_VALUES}) {
    const auto v = whole_values(++seed, e);
    set_from_device(A, v, mode);
    set(aij, v, mode);

    ASSERT_TRUE(same_matrix(A, aij, seed));
    ASSERT_TRUE(counts_as_ours(A));
  }
}

TEST_P(DeviceCoo, TakesValuesOfElementMatricesFromTheDevice) {
  for (const Order& order : orders) {
    SCOPED_TRACE(order.name);
    const auto e = elements(170, square(), order);
    const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
    const auto v = whole_values(171, e);

    set_from_device(A, v, INSERT_VALUES);
    set(aij, v, INSERT_VALUES);

    EXPECT_TRUE(same_matrix(A, aij, 172));
  }
}

/// A vector on the device whose values are there already.
Vector device_vector(Mat A, std::uint64_t seed) {
  auto v = right_vector(A, seed);
  PETSC_OK(VecScale(v, 2.0));
  return v;
}

/// After an assembly on the device the first product packs its values there: none is sent. A process that gives no
/// values assembles on the host.
TEST_P(DeviceCoo, ValuesAreNotSentAgainToTheFirstProduct) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  if (tested_is_of_scalars() && GetParam() == 1)
    GTEST_SKIP() << "blocks of 5 are found, with gaps: the host fills them";
  PETSC_OK(PetscLogDefaultBegin());
  const auto e = random_entries(64, square(), 300);
  const auto A = device_matrix(e);
  for (std::uint64_t seed = 65; seed < 68; ++seed) {
    set_from_device(A, whole_values(seed, e), seed == 66 ? ADD_VALUES : INSERT_VALUES);
    const auto x = device_vector(A, seed), y = device_vector(A, seed);
    [[maybe_unused]] const auto uploads = event("MatCompoundUpload");
    [[maybe_unused]] const auto products = event("MatMult");

    PETSC_OK(MatMult(A, x, y));

#if PetscDefined(HAVE_DEVICE)
    EXPECT_TRUE(all_ranks(e.size() == 0 || event("MatCompoundUpload").CpuToGpuSize == uploads.CpuToGpuSize)) << seed;
    const bool packs_pattern = seed == 65;
    EXPECT_TRUE(size() > 1 || packs_pattern || event("MatMult").CpuToGpuCount == products.CpuToGpuCount) << seed;
#endif
    EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0));
  }
}

/// Coordinates of a matrix full of blocks of a kind, and the values of process-independent blocks.
struct OfKind {
  Entries entries;
  std::vector<PetscScalar> values;

  OfKind(const std::string& kind, const Shape& shape) {
    for (int row = 0; row < shape.block_rows(); ++row)
      for (int col = 0; col < shape.block_cols(); col += 2) {
        if (!shape.owns_row(row)) continue;
        const auto block = block_of(kind, shape.bs, static_cast<std::uint64_t>(row * 100 + col));
        for (int k = 0; k < shape.bs * shape.bs; ++k) {
          entries.row.push_back(row * shape.bs + k / shape.bs);
          entries.column.push_back(col * shape.bs + k % shape.bs);
        }
        values.insert(values.end(), block.begin(), block.end());
      }
  }
};

/// The kind is found from the blocks on the device; values of no kind make the copy dense, with no product wrong and
/// nothing sent again.
TEST_P(DeviceCoo, FindsTheKindOfEntryAndLeavesItWithTheValues) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  PETSC_OK(PetscLogDefaultBegin());
  for (const Kind& kind : kinds()) {
    if (!kind.exists(GetParam())) continue;
    SCOPED_TRACE(kind.name);
    const OfKind given(kind.name, square());
    const auto A = device_matrix(given.entries), aij = made_of(MATAIJ, square(), given.entries);
    const auto multiplied = [&](const std::string& entry, std::uint64_t seed) {
      [[maybe_unused]] const auto uploads = event("MatCompoundUpload");
      const auto x = device_vector(A, seed), y = device_vector(A, seed);
      PETSC_OK(MatMult(A, x, y));
#if PetscDefined(HAVE_DEVICE)
      EXPECT_TRUE(all_ranks(event("MatCompoundUpload").CpuToGpuSize == uploads.CpuToGpuSize)) << "sent again";
#endif
      EXPECT_TRUE(same_matrix(A, aij, seed));
      EXPECT_TRUE(all_ranks(plan_of(A).find("entry=" + entry + " ") == 0)) << plan_of(A);
    };
    set_from_device(A, given.values, INSERT_VALUES);
    set(aij, given.values, INSERT_VALUES);
    multiplied(kind.name, 80);

    set_from_device(A, given.values, ADD_VALUES);
    set(aij, given.values, ADD_VALUES);
    multiplied(kind.name, 81);

    const auto others = whole_values(82, given.entries);
    set_from_device(A, others, ADD_VALUES);
    set(aij, others, ADD_VALUES);
    multiplied("dense", 83);

    set_from_device(A, given.values, INSERT_VALUES);
    set(aij, given.values, INSERT_VALUES);
    multiplied("dense", 84);
  }
}

/// The error is the product's, on all processes; good values mend it.
TEST_P(DeviceCoo, RefusesValuesThatAreNotOfTheKindAskedFor) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const std::string kind = some_kind(GetParam());
  if (kind.empty()) GTEST_SKIP() << "no kind of this size";
  const OfKind given(kind, square());
  auto A = empty_matrix(tested_type(), "-mat_compound_entry " + kind, square());
  PETSC_OK(MatSetVecType(A, "cuda"));
  PETSC_OK(preallocate(A, given.entries));
  const auto aij = made_of(MATAIJ, square(), given.entries);
  set(aij, given.values, INSERT_VALUES);
  auto bad = given.values;
  if (rank() == 0) bad[1] += 123.5;
  set_from_device(A, bad, INSERT_VALUES);
  const auto x = device_vector(A, 85), y = device_vector(A, 86);

  const auto found = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_TRUE(all_ranks(found.code == PETSC_ERR_ARG_WRONG));
  const char* const where =
      tested_is_of_scalars() ? "block that begins at row 0 and column 0" : "block at block row 0 and block column 0";
  EXPECT_NE(found.message.find(std::string(where) + " does not fit the block format"), std::string::npos)
      << found.message;
  set_from_device(A, given.values, INSERT_VALUES);
  EXPECT_TRUE(same_matrix(A, aij, 87));
  EXPECT_TRUE(all_ranks(plan_of(A).find("entry=" + kind + " ") == 0)) << plan_of(A);
}

/// Neither assembly nor product sends values to the host, but the few in which a kind of entry is looked for first.
TEST_P(DeviceCoo, ValuesApartDoNotCrossToTheHost) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  PETSC_OK(PetscLogDefaultBegin());
  const auto e = random_entries(90, square(), 300);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  for (std::uint64_t seed = 91; seed < 96; ++seed) {
    const auto v = whole_values(seed, e);
    const InsertMode mode = seed % 2 == 0 ? ADD_VALUES : INSERT_VALUES;
    const auto x = right_vector(A, seed), y = left_vector(A, seed), other_y = left_vector(aij, seed);
    const auto other_x = right_vector(aij, seed);
#if PetscDefined(HAVE_DEVICE)
    const auto crossed = [] {
      return event("MatSetValuesCOO").GpuToCpuSize + event("MatAssemblyEnd").GpuToCpuSize +
             event("MatMult").GpuToCpuSize;
    };
    const auto before = crossed();
#endif

    const auto text = own_info_during("device_coo_test", [&] {
      set_from_device(A, v, mode);
      PETSC_OK(MatMult(A, x, y));
    });
    set(aij, v, mode);
    PETSC_OK(MatMult(aij, other_x, other_y));

    const bool has_gaps = tested_is_of_scalars() && GetParam() == 1;  // blocks are found, which the host fills
    EXPECT_EQ(text.find("are copied to the host") != std::string::npos, has_gaps) << seed;
#if PetscDefined(HAVE_DEVICE)  // on several processes ghosts cross
    EXPECT_TRUE(size() > 1 || seed == 91 || crossed() == before) << seed << ": " << crossed() - before << " bytes";
#endif
    PetscReal wanted, found;
    PETSC_OK(VecNorm(other_y, NORM_2, &wanted));
    PETSC_OK(VecNorm(y, NORM_2, &found));
    EXPECT_NEAR(found, wanted, 1e-10 * (1 + wanted)) << seed;
  }
  EXPECT_TRUE(same_matrix(A, aij, 97));  // on the host too
  EXPECT_TRUE(counts_as_ours(A));
}

TEST_P(DeviceCoo, ValuesApartAreBroughtToWhateverNeedsThem) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto e = random_entries(100, square(), 300);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  std::uint64_t seed = 101;
  for (const InsertMode mode : {INSERT_VALUES, INSERT_VALUES, ADD_VALUES, INSERT_VALUES}) {
    const auto v = whole_values(++seed, e);
    set_from_device(A, v, mode);
    set(aij, v, mode);
    for (Mat m : {Mat(A), Mat(aij)}) PETSC_OK(MatScale(m, 2.0));

    EXPECT_TRUE(same_matrix(A, aij, seed)) << seed;
  }
  Matrix copy;
  const auto v = whole_values(110, e);
  set_from_device(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));

  EXPECT_TRUE(same_matrix(copy, aij, 111));
}

/// COMPOUND_CUDA_FAIL_ALLOCATION=n makes the n-th allocation on the device from now on fail.
TEST_P(DeviceCoo, AddsUpOnTheHostWhereverMemoryRunsOut) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto e = random_entries(68, square(), 300);
  const auto aij = made_of(MATAIJ, square(), e);
  bool failed = true, on_host = false;
  int n = 0;
  while (failed && ++n < 200) {
    SCOPED_TRACE("allocation " + std::to_string(n) + " fails");
    setenv("COMPOUND_CUDA_FAIL_ALLOCATION", std::to_string(n).c_str(), 1);
    const auto A = device_matrix(e);
    const auto text = own_info_during("device_coo_test", [&] {
      std::uint64_t seed = 69;
      for (const InsertMode mode : {INSERT_VALUES, ADD_VALUES}) {
        const auto v = whole_values(++seed, e);
        set_from_device(A, v, mode);
        set(aij, v, mode);
        EXPECT_TRUE(same_matrix(A, aij, seed));
      }
    });
    failed = !all_ranks(text.find("no memory left") == std::string::npos);
    on_host = on_host || !all_ranks(text.find("added up on the host") == std::string::npos);
  }
  unsetenv("COMPOUND_CUDA_FAIL_ALLOCATION");
  EXPECT_FALSE(failed) << "there is no end of failures";
  EXPECT_TRUE(on_host) << "no allocation of the assembly failed";
  EXPECT_GT(n, 3) << "no allocation failed: does the backend read COMPOUND_CUDA_FAIL_ALLOCATION?";
}

}  // namespace
