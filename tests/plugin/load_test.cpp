// MatLoad() of PETSc's binary files: damaged ones are errors, or matrices whose products are those of their numbers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>

#include "compare.hpp"

namespace {

using namespace petsc_test;

using Bytes = std::string;

/// A file of the run, removed at its end.
class File {
 public:
  explicit File(const std::string& name) : name_(file_of_run(name, ".bin")) {}
  ~File() {
    MPI_Barrier(PETSC_COMM_WORLD);
    if (rank() == 0)
      for (const char* end : {"", ".info"}) std::remove((name_ + end).c_str());
  }
  const char* name() const { return name_.c_str(); }
  void write(const Bytes& bytes) const {
    if (rank() == 0) std::ofstream(name_, std::ios::binary) << bytes;
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  Bytes bytes() const {
    std::ifstream in(name_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string name_;
};

template <class T>
void put(Bytes* to, T value) {
  const auto* const bytes = reinterpret_cast<const char*>(&value);
  if constexpr (std::endian::native == std::endian::little)
    to->append(std::make_reverse_iterator(bytes + sizeof(T)), std::make_reverse_iterator(bytes));
  else
    to->append(bytes, sizeof(T));
}

template <class T>
T taken(const Bytes& from, std::size_t at) {
  Bytes text = from.substr(at, sizeof(T));
  if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(text);
  T value;
  std::memcpy(&value, text.data(), sizeof(T));
  return value;
}

/// A matrix in compressed rows, as a file has it.
struct Rows {
  PetscInt rows = 0, columns = 0;
  std::vector<PetscInt> length = {}, column = {};
  std::vector<PetscReal> value = {};  ///< of complex scalars both parts
};

constexpr int parts_of_scalar = sizeof(PetscScalar) / sizeof(PetscReal);

Bytes bytes_of(const Rows& m, std::optional<PetscInt> entries = {}) {
  Bytes b;
  for (const PetscInt head : {static_cast<PetscInt>(MAT_FILE_CLASSID), m.rows, m.columns,
                              entries.value_or(static_cast<PetscInt>(m.column.size()))})
    put(&b, head);
  for (const PetscInt n : m.length) put(&b, n);
  for (const PetscInt c : m.column) put(&b, c);
  for (const PetscReal v : m.value) put(&b, v);
  return b;
}

/// Entries of a header that stand for more than PetscInt can count; lengths of rows say then how many there are.
constexpr PetscInt more = std::numeric_limits<PetscInt>::max();
bool reads_more() { return parent_type() == "aij" && size() > 1; }

/// What the bytes say, if their numbers fit together.
std::optional<Rows> rows_of(const Bytes& b) {
  constexpr std::size_t integer = sizeof(PetscInt);
  if (b.size() < 4 * integer || taken<PetscInt>(b, 0) != MAT_FILE_CLASSID) return {};
  Rows m{.rows = taken<PetscInt>(b, integer), .columns = taken<PetscInt>(b, 2 * integer)};
  PetscInt64 entries = taken<PetscInt>(b, 3 * integer), sum = 0;
  std::size_t at = 4 * integer;
  if (m.rows < 0 || m.columns < 0 || entries < 0) return {};
  const auto follow = [&](std::size_t bytes) { return at + bytes <= b.size(); };
  for (PetscInt i = 0; i < m.rows && follow(integer); ++i, at += integer) m.length.push_back(taken<PetscInt>(b, at));
  for (const PetscInt n : m.length) {
    if (n < 0) return {};
    sum += n;
  }
  if (entries == more && reads_more()) entries = sum;
  for (PetscInt64 i = 0; i < entries && follow(integer); ++i, at += integer) m.column.push_back(taken<PetscInt>(b, at));
  for (PetscInt64 i = 0; i < entries * parts_of_scalar && follow(sizeof(PetscReal)); ++i, at += sizeof(PetscReal))
    m.value.push_back(taken<PetscReal>(b, at));
  const bool is_whole = static_cast<PetscInt>(m.length.size()) == m.rows && sum == entries &&
                        m.column.size() == static_cast<std::size_t>(entries) &&
                        m.value.size() == static_cast<std::size_t>(entries) * parts_of_scalar;
  for (const PetscInt c : m.column)
    if (c < 0 || c >= m.columns) return {};
  return is_whole ? std::optional(m) : std::nullopt;
}

PetscScalar scalar_of(const Rows& m, std::size_t k) {
#if defined(PETSC_USE_COMPLEX)
  return {m.value[2 * k], m.value[2 * k + 1]};
#else
  return m.value[k];
#endif
}

/// 6 x 6 blocks of bs x bs, full; some block rows are short and one is empty.
Rows some_rows(PetscInt bs) {
  Rows m{.rows = 6 * bs, .columns = 6 * bs};
  for (PetscInt i = 0; i < m.rows; ++i) {
    const PetscInt block = i / bs;
    PetscInt length = 0;
    for (PetscInt j = 0; j < m.columns; ++j) {
      const PetscInt distance = block - j / bs;
      if (block == 4 || distance * distance > 1 + 3 * (block % 2)) continue;
      ++length;
      m.column.push_back(j);
      for (int part = 0; part < parts_of_scalar; ++part)
        m.value.push_back(1 + static_cast<PetscReal>((7 * i + 3 * j + part) % 11));
    }
    m.length.push_back(length);
  }
  return m;
}

using Prepare = PetscErrorCode (*)(PetscViewer);
PetscErrorCode as_it_is(PetscViewer) { return PETSC_SUCCESS; }
PetscErrorCode by_mpi_io(PetscViewer viewer) { return PetscViewerBinarySetUseMPIIO(viewer, PETSC_TRUE); }

caught load(const char* file, PetscInt bs, Matrix* A, Prepare prepare = as_it_is,
            const std::string& type = tested_type()) {
  return catch_error([&] {
    PetscFunctionBegin;
    Viewer viewer;
    PetscCall(PetscViewerCreate(PETSC_COMM_WORLD, viewer.out()));
    PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
    PetscCall(PetscViewerFileSetMode(viewer, FILE_MODE_READ));
    PetscCall(prepare(viewer));
    PetscCall(PetscViewerFileSetName(viewer, file));
    PetscCall(MatCreate(PETSC_COMM_WORLD, A->out()));
    PetscCall(MatSetType(*A, type.c_str()));
    PetscCall(MatSetBlockSize(*A, bs));
    PetscCall(MatLoad(*A, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

/// The largest difference between A x and the sums of the numbers, where x[j] = 1 + j; NaN equals NaN.
double error_of(Mat A, const Rows& m) {
  Vector x, y;
  PetscInt first, last;
  const PetscScalar* found;
  PETSC_OK(MatCreateVecs(A, x.out(), y.out()));
  PETSC_OK(VecGetOwnershipRange(x, &first, &last));
  for (PetscInt j = first; j < last; ++j) PETSC_OK(VecSetValue(x, j, static_cast<PetscReal>(1 + j), INSERT_VALUES));
  PETSC_OK(VecAssemblyBegin(x));
  PETSC_OK(VecAssemblyEnd(x));
  PETSC_OK(MatMult(A, x, y));
  PETSC_OK(VecGetOwnershipRange(y, &first, &last));
  PETSC_OK(VecGetArrayRead(y, &found));
  double worst = 0;
  std::size_t k = 0;
  for (PetscInt i = 0; i < last; ++i) {
    PetscScalar sum = 0;
    PetscReal size = 0;
    for (PetscInt n = 0; n < m.length[static_cast<std::size_t>(i)]; ++n, ++k) {
      const PetscScalar term = scalar_of(m, k) * static_cast<PetscReal>(1 + m.column[k]);
      sum += term;
      size += PetscAbsScalar(term);
    }
    if (i < first || PetscIsInfOrNanReal(size)) continue;
    const double difference = PetscAbsScalar(found[i - first] - sum);
    worst = std::max(worst, std::isfinite(difference) ? (size > 0 ? difference / size : difference) : 1);
  }
  PETSC_OK(VecRestoreArrayRead(y, &found));
  return max_over_ranks(worst);
}

/// Sizes that one bit can make: vectors of more would be a test of the machine's memory.
bool fits_here(const Rows& m) { return m.rows < 1000000 && m.columns < 1000000; }

/// One bit changed, the end cut off, or a length, a column or a number of the header replaced.
Bytes damaged(Bytes b, std::uint64_t seed, const Rows& m) {
  Random random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random.below(static_cast<int>(n))); };
  const PetscInt extremes[] = {-1, 0, 1, 7, 1 << 20, more, PETSC_MIN_INT, -1000};
  const std::size_t integers = 4 + m.length.size() + m.column.size();
  switch (below(3)) {
    case 0: {
      const std::size_t at = below(below(2) ? b.size() : integers * sizeof(PetscInt));
      b[at] = static_cast<char>(b[at] ^ (1 << below(8)));
      break;
    }
    case 1:
      b.resize(below(b.size()));
      break;
    default: {
      Bytes number;
      put(&number, extremes[below(std::size(extremes))]);
      b.replace(below(integers) * sizeof(PetscInt), number.size(), number);
    }
  }
  return b;
}

struct Loading : testing::TestWithParam<int> {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "PETSc's BAIJ crashes, its AIJ multiplies by what it was given";
  }
  int bs() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, Loading, testing::Values(1, 2, 3));

TEST_P(Loading, GivesTheNumbersOfTheFile) {
  const File file("load");
  const Rows m = some_rows(bs());
  Matrix A;
  file.write(bytes_of(m) + "and something else behind it");

  ASSERT_EQ(load(file.name(), bs(), &A).code, 0);

  EXPECT_TRUE(is_tested_type(A));
  EXPECT_LT(error_of(A, m), 1e-14);
}

/// PETSc 3.26 writes such a header for AIJ on several processes, 3.18 does not read it.
TEST_P(Loading, TakesMoreEntriesThanAHeaderCanCountAsItsParentDoes) {
  const File file("load_more");
  const Rows m = some_rows(bs());
  Matrix A, parent;
  file.write(bytes_of(m, more));

  const caught found = load(file.name(), bs(), &A), wanted = load(file.name(), bs(), &parent, as_it_is, parent_type());

  EXPECT_EQ(found.code, wanted.code) << found.message;
  if (found.code == 0) {
    EXPECT_LT(error_of(A, m), 1e-14);
  }
}

TEST_P(Loading, ReadsByMpiIo) {
  const File file("load_mpi_io");
  const Rows m = some_rows(bs());
  Rows beyond = m;
  beyond.column[0] = m.columns;
  Matrix A;

  file.write(bytes_of(m));
  ASSERT_EQ(load(file.name(), bs(), &A, by_mpi_io).code, 0);
  EXPECT_LT(error_of(A, m), 1e-14);

  file.write(bytes_of(beyond));
  EXPECT_EQ(load(file.name(), bs(), &A, by_mpi_io).code, PETSC_ERR_FILE_UNEXPECTED);
}

TEST_P(Loading, ReadsMatricesOneAfterTheOther) {
  const File file("load_two");
  const Rows m = some_rows(bs());
  Rows beyond = m;
  beyond.column[0] = m.columns;
  file.write(bytes_of(m) + bytes_of(m) + bytes_of(beyond));
  Viewer viewer;
  PETSC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.name(), FILE_MODE_READ, viewer.out()));
  const auto next = [&](Matrix* A) {
    PETSC_OK(MatCreate(PETSC_COMM_WORLD, A->out()));
    PETSC_OK(MatSetType(*A, tested_type().c_str()));
    PETSC_OK(MatSetBlockSize(*A, bs()));
    return catch_error([&] { return MatLoad(*A, viewer); });
  };
  for (int k = 0; k < 2; ++k) {
    Matrix A;
    ASSERT_EQ(next(&A).code, 0);
    EXPECT_LT(error_of(A, m), 1e-14);
  }
  Matrix A;
  EXPECT_NE(next(&A).message.find("the matrix at byte " + std::to_string(2 * bytes_of(m).size())), std::string::npos);
}

TEST_P(Loading, RefusesDamagedFilesOrGivesTheirNumbers) {
  const File file("load_damaged");
  const Rows m = some_rows(bs());
  int accepted = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= (whole_tier() ? 1000u : 120u); ++seed) {
    const Bytes bytes = damaged(bytes_of(m), seed, m);
    const auto numbers = rows_of(bytes);
    if (numbers && !fits_here(*numbers)) continue;
    Matrix A;
    file.write(bytes);

    const caught found = load(file.name(), bs(), &A, seed % 2 ? as_it_is : by_mpi_io);

    if (found.code) {
      ++refused;
      continue;
    }
    ++accepted;
    ASSERT_TRUE(numbers) << "seed " << seed << ": loaded from numbers that do not fit together";
    ASSERT_LT(error_of(A, *numbers), 1e-14) << "seed " << seed;
  }
  if (rank() == 0) std::cout << accepted << " accepted, " << refused << " refused" << std::endl;
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, accepted);
}

struct LoadMistakes : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "messages of our own";
  }
  static void expect(const Bytes& bytes, const std::string& text) {
    const File file("load_mistake");
    file.write(bytes);
    for (const Prepare prepare : {as_it_is, by_mpi_io}) {
      Matrix A;

      const caught found = load(file.name(), 1, &A, prepare);

      EXPECT_EQ(found.code, PETSC_ERR_FILE_UNEXPECTED);
      EXPECT_NE(found.message.find(text), std::string::npos) << found.message;
      EXPECT_NE(found.message.find(file.name()), std::string::npos) << found.message;
    }
  }
  const Rows m = some_rows(1);
};

TEST_F(LoadMistakes, LengthsOfRows) {
  Rows longer = m, negative = m;
  longer.length[1] = 7;
  negative.length[2] = -3;
  expect(bytes_of(longer), "row 1 has 7 entries (byte " + std::to_string(5 * sizeof(PetscInt)) + "); a row has 0 to 6");
  expect(bytes_of(negative), "row 2 has -3 entries");
}

TEST_F(LoadMistakes, SumsOfLengths) {
  Rows less = m;
  --less.length[0];
  const auto all = static_cast<PetscInt>(m.column.size());
  expect(bytes_of(less),
         "its rows have " + std::to_string(all - 1) + " entries in all, its header says " + std::to_string(all));
}

TEST_F(LoadMistakes, Columns) {
  Rows beyond = m, negative = m, twice = m;
  beyond.column[0] = 6;
  negative.column[1] = -2;
  twice.column[1] = twice.column[0];
  expect(bytes_of(beyond), "row 0 has an entry in column 6; columns are 0 to 5");
  expect(bytes_of(negative), "has an entry in column -2");
  expect(bytes_of(twice), "row 0 has column 0 twice");
}

TEST_F(LoadMistakes, FilesThatEndTooSoon) {
  const Bytes whole = bytes_of(m);
  constexpr std::size_t header = 4 * sizeof(PetscInt);
  expect("", "its header takes " + std::to_string(header) + " bytes; 0 are left");
  expect(whole.substr(0, header - 1), "bytes; " + std::to_string(header - 1) + " are left");
  expect(whole.substr(0, whole.size() - 1), "bytes; ");
  expect(bytes_of(m, reads_more() ? more - 1 : more), "follow its header");
}

TEST_F(LoadMistakes, ColumnsMayBeInAnyOrder) {
  const File file("load_order");
  Rows turned = m;
  std::swap(turned.column[0], turned.column[1]);
  Matrix A;
  file.write(bytes_of(turned));

  ASSERT_EQ(load(file.name(), 1, &A).code, 0);

  EXPECT_LT(error_of(A, turned), 1e-14);
}

}  // namespace
