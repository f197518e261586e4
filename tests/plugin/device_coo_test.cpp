// MatSetPreallocationCOO() and MatSetValuesCOO() with arrays in a device's memory, against PETSc's aij on the host.
#include <petsccompound.h>

#include <algorithm>

#include "coo_entries.hpp"
#include "device_tests.hpp"
#include "info.hpp"
#include "kinds.hpp"
#include "log_events.hpp"
#include "operations.hpp"

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

/// Where the coordinates of blocks were sorted, as -info tells.
std::string sorted_on(const Matrix& A, const Entries& blocks, bool from_device) {
  const auto text = own_info_during("device_coo_test", [&] {
    if (from_device)
      PETSC_OK(MatCompoundSetPreallocationCOO(A, blocks.size(), IndicesOnDevice(blocks.row).data(),
                                              IndicesOnDevice(blocks.column).data()));
    else
      PETSC_OK(MatCompoundSetPreallocationCOO(A, blocks.size(), blocks.row.data(), blocks.column.data()));
  });
  const std::size_t at = text.find("sorted on the ");
  return at == std::string::npos ? text : text.substr(at + 14, text.find('\n', at) - at - 14);
}

/// Of one process; contributions to a block are added in the order in which they are given, as on the host.
TEST_P(DeviceCoo, SortsCoordinatesOnTheDevice) {
  if (!tested_is_compound()) GTEST_SKIP() << "PETSc's types take no coordinates of blocks";
  if (sizeof(PetscScalar) % sizeof(PetscInt) != 0) GTEST_SKIP() << "skipped: no whole number of indices in a scalar";
  for (const bool from_device : {false, true})
    for (const int count : {1, 150, 1000}) {
      SCOPED_TRACE(count);
      const auto blocks = random_blocks(200 + static_cast<std::uint64_t>(count), square(), count);
      const auto e = scalars_of(blocks, GetParam());
      const auto aij = made_of(MATAIJ, square(), e);
      const auto A = empty_matrix(tested_type(), "", square());
      PETSC_OK(MatSetVecType(A, "cuda"));
      const auto v = whole_values(201, e);

      const auto where = sorted_on(A, blocks, from_device);
      if (rank() == 0) {  // which alone tells
        EXPECT_EQ(where, size() == 1 && blocks.size() > 0 ? "device" : "host");
      }
      set(A, v, INSERT_VALUES);
      set(aij, v, INSERT_VALUES);

      EXPECT_TRUE(same_matrix(A, aij, 202));
      PETSC_OK(MatBindToCPU(A, PETSC_TRUE));
      set(A, v, ADD_VALUES);  // by the same lists, on the host
      set(aij, v, ADD_VALUES);
      EXPECT_TRUE(same_matrix(A, aij, 203));
    }
}

/// More contributions to a row than a warp sorts, and coordinates beyond the matrix.
TEST_P(DeviceCoo, LeavesToTheHostWhatItDoesNotSort) {
  if (!tested_is_compound()) GTEST_SKIP() << "PETSc's types take no coordinates of blocks";
  if (sizeof(PetscScalar) % sizeof(PetscInt) != 0) GTEST_SKIP() << "skipped: no whole number of indices in a scalar";
  for (const bool from_device : {false, true}) {
    Entries blocks;
    blocks.row.assign(1025, rank() == 0 ? 0 : -1);
    for (int k = 0; k < 1025; ++k) blocks.column.push_back(k % square().block_cols());
    const auto e = scalars_of(blocks, GetParam());
    const auto aij = made_of(MATAIJ, square(), e);
    const auto A = empty_matrix(tested_type(), "", square());
    PETSC_OK(MatSetVecType(A, "cuda"));
    const auto v = whole_values(204, e);

    const auto where = sorted_on(A, blocks, from_device);
    if (rank() == 0) {
      EXPECT_EQ(where, "host");
    }
    set(A, v, INSERT_VALUES);
    set(aij, v, INSERT_VALUES);
    EXPECT_TRUE(same_matrix(A, aij, 205));

    blocks.column[3] = square().block_cols();
    const auto B = empty_matrix(tested_type(), "", square());
    PETSC_OK(MatSetVecType(B, "cuda"));
    const auto found = catch_error([&] {
      return from_device ? MatCompoundSetPreallocationCOO(B, 5, IndicesOnDevice(blocks.row).data(),
                                                          IndicesOnDevice(blocks.column).data())
                         : MatCompoundSetPreallocationCOO(B, 5, blocks.row.data(), blocks.column.data());
    });
    EXPECT_TRUE(all_ranks(found.code == PETSC_ERR_ARG_OUTOFRANGE));
    EXPECT_NE(found.message.find("block 3 on process 0 is at block row 0"), std::string::npos) << found.message;
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

/// Once a product has packed the matrix, sums of blocks are packed as they are made. All else that asks for values gets
/// them from there.
TEST_P(DeviceCoo, PacksSumsOfBlocksAsTheyAreMade) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto blocks = random_blocks(180, square(), 200);
  const auto e = scalars_of(blocks, GetParam());
  const auto aij = made_of(MATAIJ, square(), e);
  const auto A = empty_matrix(tested_type(), "", square());
  PETSC_OK(MatSetVecType(A, "cuda"));
  PETSC_OK(MatCompoundSetPreallocationCOO(A, blocks.size(), blocks.row.data(), blocks.column.data()));
  const auto set_both = [&](std::uint64_t seed, InsertMode mode, bool from_device) {
    const auto v = whole_values(seed, e);
    const auto text =
        own_info_during("device_coo_test", [&] { from_device ? set_from_device(A, v, mode) : set(A, v, mode); });
    set(aij, v, mode);
    return text.find("are packed as they are made") != std::string::npos;
  };
  const auto multiply_both = [&](std::uint64_t seed) {
    const auto x = device_vector(A, seed), y = device_vector(A, seed);
    const auto other_x = right_vector(aij, seed), other_y = left_vector(aij, seed);
    PetscReal wanted, found;
    PETSC_OK(VecScale(other_x, 2.0));
    PETSC_OK(MatMult(A, x, y));
    PETSC_OK(MatMult(aij, other_x, other_y));
    PETSC_OK(VecNorm(other_y, NORM_2, &wanted));
    PETSC_OK(VecNorm(y, NORM_2, &found));
    EXPECT_NEAR(found, wanted, 1e-10 * (1 + wanted)) << seed;
  };
  // Of several processes, one has no values and assembles on the host first.
  const auto expect = [&](bool wanted, bool packed, const char* what) {
    if (size() == 1) {
      EXPECT_EQ(packed, wanted) << what;
    }
  };
  expect(false, set_both(181, INSERT_VALUES, true), "before the first product");
  multiply_both(182);

  expect(true, set_both(183, INSERT_VALUES, true), "after it");
  multiply_both(184);
  expect(true, set_both(185, INSERT_VALUES, true), "twice without a product");
  EXPECT_TRUE(same_matrix(A, aij, 186)) << "the host asks";
  multiply_both(187);
  expect(true, set_both(188, INSERT_VALUES, true), "after the host has asked");
  expect(false, set_both(189, ADD_VALUES, true), "old values are needed");
  multiply_both(190);
  expect(true, set_both(191, INSERT_VALUES, true), "after that");
  for (Mat m : {Mat(A), Mat(aij)}) PETSC_OK(MatScale(m, 2.0));
  multiply_both(192);
  expect(true, set_both(193, INSERT_VALUES, false), "from the host");
  PETSC_OK(MatCompoundSetPlan(A, "csr rows"));
  multiply_both(194);
  EXPECT_TRUE(same_matrix(A, aij, 195)) << "another plan";
  multiply_both(196);
  expect(true, set_both(197, INSERT_VALUES, false), "by another plan");
  Matrix copy;
  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));
  EXPECT_TRUE(same_matrix(copy, aij, 198));
  EXPECT_TRUE(same_matrix(A, aij, 199));
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

    // Blocks are found, which the host fills; for complex scalars they are not worth it.
    const bool has_gaps = tested_is_of_scalars() && GetParam() == 1 && !PetscDefined(USE_COMPLEX);
    const bool copies = text.find("are copied to the host") != std::string::npos;
    // Of several processes, some find none, or those of another size than the matrix was made of.
    if (size() == 1 || !tested_is_of_scalars()) {
      EXPECT_EQ(copies, has_gaps) << seed;
    }
#if PetscDefined(HAVE_DEVICE)  // on several processes ghosts cross
    EXPECT_TRUE(size() > 1 || has_gaps || seed == 91 || crossed() == before)
        << seed << ": " << crossed() - before << " bytes";
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

/// The others insert nothing, and make their off-diagonal parts anew all the same.
TEST_P(DeviceCoo, KeepsValuesWhereAnotherProcessInsertsNewBlocks) {
  const auto e = random_entries(112, square(), 40);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  const auto v = whole_values(113, e);
  set_from_device(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);
  ASSERT_TRUE(same_mult(A, aij, 114));
  Matrix copy;
  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));

  for (Mat m : {Mat(A), Mat(copy), Mat(aij)}) {
    allow_new_nonzeros(m);
    PetscInt row = 0, cols;
    PETSC_OK(MatGetSize(m, nullptr, &cols));
    for (PetscInt col = 0; col < cols && rank() == 0; ++col)
      PETSC_OK(MatSetValue(m, row, col, static_cast<PetscReal>(col), ADD_VALUES));
    assemble(m);
  }

  EXPECT_TRUE(same_matrix(A, aij, 115));
  EXPECT_TRUE(same_matrix(copy, aij, 116));
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
    const auto fails = failing_allocation(n);
    const auto text = own_info_during("device_coo_test", [&] {
      const auto A = device_matrix(e);
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
  EXPECT_FALSE(failed) << "there is no end of failures";
  EXPECT_TRUE(on_host) << "no allocation of the assembly failed";
  EXPECT_GT(n, 3) << "no allocation failed: does the backend read COMPOUND_CUDA_FAIL_ALLOCATION?";
}

}  // namespace
