// Kinds of entry of a user's own: registered for the host, asked for by name, from a file for devices.
#include <petsccompound/register_entry.hpp>

#include <cstdio>
#include <fstream>

#include "../../examples/custom_entry/symmetric.hpp"
#include "device.hpp"
#include "of_kinds.hpp"
#include "without_file.hpp"

namespace {

using namespace petsc_test;

const std::string test = "custom_entry_test";

/// Blocks of 3 on a ring, coupled to both neighbours; symmetric but for what `odd` adds to one scalar beside a
/// diagonal.
void fill(Mat A, PetscReal odd = 0) {
  PetscInt first, end, rows;
  PETSC_OK(MatGetOwnershipRange(A, &first, &end));
  PETSC_OK(MatGetSize(A, &rows, nullptr));
  const PetscInt n = rows / 3;
  for (PetscInt r = first / 3; r < end / 3; ++r)
    for (const PetscInt step : {n - 1, PetscInt{0}, PetscInt{1}}) {
      const PetscInt c = (r + step) % n;
      PetscScalar block[9];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          block[3 * i + j] = PetscReal(1 + i * j + (r * 7 + c * 3) % 5) / 4 + (i == j && r == c ? 8 : 0);
      if (r == 2 && c == 2) block[1] += odd;
      PETSC_OK(MatSetValuesBlocked(A, 1, &r, 1, &c, block, INSERT_VALUES));
    }
  assemble(A);
}

Matrix unfilled(const char* type) {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 36, 36));
  PETSC_OK(MatSetBlockSize(A, 3));
  PETSC_OK(MatSetType(A, type));
  return A;
}

/// The code of MatSetFromOptions(); the options are gone after it.
PetscErrorCode take(Mat A, const std::string& options) {
  PETSC_OK(PetscOptionsInsertString(nullptr, options.c_str()));
  const PetscErrorCode code = MatSetFromOptions(A);
  for (const char* option : {"entry", "entry_file", "layout", "precision", "backend"})
    (void)PetscOptionsClearValue(nullptr, ("-mat_compound_" + std::string(option)).c_str());
  return code;
}

Matrix ring(const char* type, const std::string& options, PetscReal odd = 0) {
  auto A = unfilled(type);
  PETSC_OK(take(A, options));
  PETSC_OK(MatSetUp(A));
  fill(A, odd);
  return A;
}

struct CustomEntry : ForCompound {
  void SetUp() override {
    ForCompound::SetUp();
    if (!IsSkipped()) PETSC_OK(MatCompoundRegisterEntry<symmetric>());
  }
};

TEST_F(CustomEntry, MultipliesInEveryLayout) {
  const auto plain = ring(MATBAIJ, "");
  for (const std::string layout : {"auto", "csr", "ellr", "sell", "sell:3", "sell:8:64"}) {
    const auto A = ring(MATBAIJCOMPOUND, "-mat_compound_entry symmetric -mat_compound_layout " + layout);

    EXPECT_TRUE(same_products(A, plain, 401)) << layout;
    EXPECT_TRUE(entry_is(test, A, "symmetric (6 of 9 scalars kept; asked for)")) << layout;
  }
}

TEST_F(CustomEntry, IsNotChosenUnasked) {
  const auto A = ring(MATBAIJCOMPOUND, "");

  EXPECT_TRUE(same_products(A, ring(MATBAIJ, ""), 407));
  EXPECT_TRUE(entry_is(test, A, "dense (found)"));
}

TEST_F(CustomEntry, ThatABlockIsNotOfIsAnErrorWithItsPlace) {
  const auto A = ring(MATBAIJCOMPOUND, "-mat_compound_entry symmetric", 0.5), plain = ring(MATBAIJ, "");
  const auto x = right_vector(A, 402), y = left_vector(A, 403);

  const auto found = catch_error([&] { return MatMult(A, x, y); });
  EXPECT_TRUE(says(found.message,
                   "block row 2 and block column 2 does not fit the block format that was asked for, symmetric"));

  fill(A);
  EXPECT_TRUE(same_products(A, plain, 404));
}

TEST_F(CustomEntry, IsAskedForByTheProgram) {
  const auto A = ring(MATBAIJCOMPOUND, ""), plain = ring(MATBAIJ, "");
  EXPECT_TRUE(same_products(A, plain, 408));

  PETSC_OK(MatCompoundSetEntry(A, "symmetric"));
  EXPECT_TRUE(same_products(A, plain, 409));
  EXPECT_TRUE(entry_is(test, A, "symmetric (6 of 9 scalars kept; asked for)"));

  PETSC_OK(MatCompoundSetEntry(A, nullptr));
  EXPECT_TRUE(same_products(A, plain, 410));
  EXPECT_TRUE(entry_is(test, A, "dense (found)"));
  const auto found = catch_error([&] { return MatCompoundSetEntry(A, "octonion"); });
  EXPECT_TRUE(says(found.message, "unknown entry 'octonion'; choose auto, dense, complex"));
}

TEST_F(CustomEntry, IsRegisteredAgainWithoutHarm) {
  const auto A = ring(MATBAIJCOMPOUND, "-mat_compound_entry symmetric"), plain = ring(MATBAIJ, "");
  EXPECT_TRUE(same_products(A, plain, 405));

  PETSC_OK(MatCompoundRegisterEntry<symmetric>());

  EXPECT_TRUE(same_products(A, plain, 406));
}

TEST_F(CustomEntry, FromAFileThatIsNotThereIsAnError) {
  const auto A = unfilled(MATBAIJCOMPOUND);

  const auto found = catch_error([&] { return take(A, "-mat_compound_entry_file /nowhere/kind.hpp"); });

  EXPECT_TRUE(says(found.message, "/nowhere/kind.hpp"));
  EXPECT_TRUE(says(found.message, "-mat_compound_entry_file"));
}

TEST_F(CustomEntry, FromAFileThatIsNotThereIsAnErrorOfAKnownKind) {
  const auto A = unfilled(MATBAIJCOMPOUND);

  const auto found = catch_error([&] { return take(A, "-mat_compound_entry_file /nowhere/symmetric.hpp"); });

#if defined(COMPOUND_HAVE_CUDA)
  EXPECT_TRUE(says(found.message, "/nowhere/symmetric.hpp"));
#else
  EXPECT_EQ(found.message, "") << "nothing here reads such files";
#endif
}

/// The file of a kind that no test registers for the host, each process' own; gone at the end. `more`: of its body.
class FileAlone {
 public:
  explicit FileAlone(const std::string& kind, const std::string& more = "") : kind_(kind) {
    const std::string mine = name_on(rank());
    std::ofstream(mine + ".hpp")
        << "#include <petsccompound/entry.hpp>\ntemplate <class S> struct " << mine << " : compound::custom_entry<"
        << mine
        << "<S>, S, 3, 3, 9> {\n"
           "  template <class W> COMPOUND_FN static S block(const W& w, int i, int j) { return w(3 * i + j, 0); }\n"
           "  template <class B, class P> COMPOUND_FN static void from_block(const B& b, const P& put) {\n"
           "    for (int k = 0; k < 9; ++k) put(k, 0, b(k / 3, k % 3));\n  }\n"
        << more << "};\n";
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  FileAlone(const FileAlone&) = delete;
  FileAlone& operator=(const FileAlone&) = delete;
  ~FileAlone() {
    MPI_Barrier(PETSC_COMM_WORLD);
    std::remove((name_on(rank()) + ".hpp").c_str());
  }
  std::string name() const { return name_on(0); }
  std::string options() const { return "-mat_compound_entry_file " + name() + ".hpp -mat_compound_entry " + name(); }

 private:
  std::string name_on(int process) const { return kind_ + "_" + std::to_string(size()) + std::to_string(process); }
  std::string kind_;
};

/// The parent multiplies where the host has no kernels: the file's kind is for devices alone.
TEST_F(CustomEntry, FromAFileAloneLeavesTheHostToTheParent) {
  const FileAlone file("full");
  const auto A = unfilled(MATBAIJCOMPOUND);
  const auto found = catch_error([&] { return take(A, file.options()); });
  if (!found.message.empty()) {  // without a compiler for devices
    EXPECT_TRUE(says(found.message, "CUDA") || says(found.message, "NVRTC"));
    return;
  }
  PETSC_OK(MatSetUp(A));
  fill(A);

  EXPECT_TRUE(same_products(A, ring(MATBAIJ, ""), 407));
  EXPECT_TRUE(says(view_of(test, A), "entry " + file.name() + " has no host kernels"));
}

const std::string from_file = "-mat_compound_entry symmetric -mat_compound_entry_file " COMPOUND_SOURCE_DIR
                              "/examples/custom_entry/symmetric.hpp ";

struct CustomEntryOnDevice : DeviceTest {
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped()) PETSC_OK(MatCompoundRegisterEntry<symmetric>());
  }
};

TEST_F(CustomEntryOnDevice, MultipliesInEveryLayout) {
  const auto plain = ring(MATBAIJ, "");
  for (const std::string layout : {"auto", "csr", "ellr", "sell", "sell:3", "sell:8:64"}) {
    SCOPED_TRACE(layout);
    const auto A = ring(MATBAIJCOMPOUND, from_file + "-mat_compound_layout " + layout);

    EXPECT_TRUE(same_everywhere(A, plain, 410));
    EXPECT_TRUE(entry_is(test, A, "symmetric (6 of 9 scalars kept; asked for)"));
    EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0));
  }
}

TEST_F(CustomEntryOnDevice, ThatABlockIsNotOfIsAnErrorWithItsPlace) {
  const auto A = ring(MATBAIJCOMPOUND, from_file, 0.5), plain = ring(MATBAIJ, "");
  const auto x = on_side(right_vector(A, 411), true), y = on_side(left_vector(A, 412), true);

  const auto found = catch_error([&] { return MatMult(A, x, y); });
  EXPECT_TRUE(says(found.message,
                   "block row 2 and block column 2 does not fit the block format that was asked for, symmetric"));

  fill(A);
  EXPECT_TRUE(same_everywhere(A, plain, 413));
}

TEST_F(CustomEntryOnDevice, FromAFileAloneMultipliesVectorsThere) {
  const FileAlone file("full");
  const auto A = ring(MATBAIJCOMPOUND, file.options()), plain = ring(MATBAIJ, "");

  EXPECT_TRUE(same_everywhere(A, plain, 414));

  EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0));
}

TEST_F(CustomEntryOnDevice, ThatMultipliesWronglyIsAnError) {
  const FileAlone file(
      "wrong",
      "  template <compound::Op op, class W> COMPOUND_FN static void madd(const W& w, const S* x, S* out) {\n"
      "    for (int i = 0; i < 3; ++i) out[i] += w(4 * i, 0) * x[i];\n  }\n");
  const auto A = ring(MATBAIJCOMPOUND, file.options());
  const auto x = on_side(right_vector(A, 416), true), y = on_side(left_vector(A, 417), true);

  const auto found = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_TRUE(
      says(found.message, "entry " + file.name() + " (-mat_compound_entry_file): madd() does not add the product"));
  EXPECT_TRUE(says(found.message, "component 0 of y + A x is"));
}

TEST_F(CustomEntryOnDevice, WithoutItsFileIsMultipliedByTheHost) {
  PETSC_OK(MatCompoundRegisterEntry<without_file>());
  const auto A = ring(MATBAIJCOMPOUND, "-mat_compound_entry without_file"), plain = ring(MATBAIJ, "");

  EXPECT_TRUE(same_everywhere(A, plain, 415));

  EXPECT_EQ(info_of(A).device_bytes, 0);
  EXPECT_TRUE(says(view_of(test, A), "name its file (-mat_compound_entry_file)"));
}

}  // namespace
