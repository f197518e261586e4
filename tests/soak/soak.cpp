// Repeats what a long job does, and says what grew after the first tenth:
//
//     mpirun -n 2 soak -dll_append libpetsccompound.so -soak values -soak_seconds 60
//
// One row of config/soak.sh's table; status 1 where memory, handles or times grew. -soak_list names the scenarios,
// -soak_types the matrix types. -soak_leak memory|petsc|file|communicator|time leaks that on purpose.
#include <dlfcn.h>
#include <petscksp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "../plugin/allocated.hpp"
#include "block_matrix.hpp"

namespace {

constexpr PetscInt bs = 3, rows_of_a_process = 30;  ///< block rows

int communicators = 0;  ///< made and not freed, by whomever
int counted(int code, const MPI_Comm* made) {
  communicators += code == MPI_SUCCESS && *made != MPI_COMM_NULL;
  return code;
}

}  // namespace

// In place of MPI's own, for PETSc and the plugin, too.
extern "C" {
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) { return counted(PMPI_Comm_dup(comm, made), made); }
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return counted(PMPI_Comm_create(comm, group, made), made);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return counted(PMPI_Comm_split(comm, color, key, made), made);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return counted(PMPI_Comm_split_type(comm, type, key, info, made), made);
}
int MPI_Comm_free(MPI_Comm* comm) {
  --communicators;
  return PMPI_Comm_free(comm);
}
}

namespace {

// Matrices.

/// Those that -soak_types names, else these.
std::vector<std::string> asked_or(std::vector<std::string> otherwise) {
  char asked[1000] = "";
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscOptionsGetString(nullptr, nullptr, "-soak_types", asked, sizeof(asked), nullptr));
  if (asked[0]) otherwise.clear();
  for (char* name = std::strtok(asked, ","); name; name = std::strtok(nullptr, ",")) otherwise.emplace_back(name);
  return otherwise;
}

std::vector<std::string> types() {
  std::vector<std::string> all;
  for (const char* base : {"baij", "aij", "sbaij"})
    for (const char* layout : {"", "csr", "ellr", "sell", "bellpack", "dia", "hdia", "ccoo"})
      all.push_back(std::string(base) + "compound" + layout);
  return asked_or(all);
}

std::vector<std::string> families() { return asked_or({"baijcompound", "aijcompound", "sbaijcompound"}); }

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
bool is_symmetric(const std::string& type) { return has(type, "sbaij"); }

/// Each block of a process's rows; a symmetric type has those above the diagonal alone.
template <class Visit>
PetscErrorCode each_block(Mat A, int pattern, const Visit& visit) {
  PetscInt first, last, all;
  MatType type;
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatGetSize(A, &all, nullptr));
  PetscCall(MatGetType(A, &type));
  for (PetscInt i = first / bs; i < last / bs; ++i)
    for (const PetscInt offset : {-9, -1 - pattern, 0, 1 + pattern, 9}) {
      const PetscInt j = i + offset;
      if (j >= (is_symmetric(type) ? i : 0) && j < all / bs) PetscCall(visit(i, j));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Symmetric and positive definite.
std::array<PetscScalar, bs * bs> block(PetscInt i, PetscInt j, PetscReal factor) {
  std::array<PetscScalar, bs * bs> values;
  for (PetscInt k = 0; k < bs * bs; ++k)
    values[k] = factor * (i != j ? -0.5 / (1 + k % 4) : k % 4 == 0 ? 8 + PetscReal(i % 3) : 0.25);
  return values;
}

PetscErrorCode fill(Mat A, int pattern, PetscReal factor) {
  PetscFunctionBeginUser;
  PetscCall(each_block(A, pattern, [&](PetscInt i, PetscInt j) {
    return MatSetValuesBlocked(A, 1, &i, 1, &j, block(std::min(i, j), std::max(i, j), factor).data(), INSERT_VALUES);
  }));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode preallocate(Mat A) { return preallocate_block_matrix(A, bs, rows_of_a_process); }

/// Of a type, without entries; `-soak_` is its prefix of options.
PetscErrorCode make(const std::string& type, Mat* A) {
  return make_block_matrix(type, "soak_", bs, rows_of_a_process, A);
}

PetscErrorCode make_filled(const std::string& type, Mat* A) {
  PetscFunctionBeginUser;
  PetscCall(make(type, A));
  PetscCall(preallocate(*A));
  PetscCall(fill(*A, 0, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ends with a number for the host, as a solve does: memory of vectors that PETSc frees on a device comes back when
/// something waits for it (docs/trust.md).
PetscErrorCode multiply(Mat A) {
  Vec x, y;
  PetscReal norm;
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultAdd(A, x, y, y));
  PetscCall(MatMultTranspose(A, y, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What scenarios keep from one round to the next, by their own names.
struct Kept {
  std::map<std::string, Mat> matrices;
  std::map<std::string, KSP> solvers;

  PetscErrorCode matrix(const std::string& type, Mat* A) {
    PetscFunctionBeginUser;
    if (!matrices.contains(type)) PetscCall(make_filled(type, &matrices[type]));
    *A = matrices[type];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode destroy() {
    PetscFunctionBeginUser;
    for (auto& [name, ksp] : solvers) PetscCall(KSPDestroy(&ksp));
    for (auto& [name, A] : matrices) PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// Scenarios: a round of each ends with the state that it began with.

PetscErrorCode values(Kept& kept) {
  Mat A;
  PetscFunctionBeginUser;
  for (const std::string& type : types()) {
    PetscCall(kept.matrix(type, &A));
    for (const PetscReal factor : {2.0, 1.0}) {
      PetscCall(fill(A, 0, factor));
      PetscCall(multiply(A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode patterns(Kept& kept) {
  Mat A;
  PetscFunctionBeginUser;
  for (const std::string& type : types()) {
    PetscCall(kept.matrix(type, &A));
    for (const int pattern : {1, 0}) {
      PetscCall(preallocate(A));
      PetscCall(fill(A, pattern, 1));
      PetscCall(multiply(A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By coordinates of scalars, each twice, and some that are left out.
PetscErrorCode coordinates(Kept& kept) {
  PetscFunctionBeginUser;
  for (const std::string& type : types()) {
    Mat A;
    std::vector<PetscInt> i, j;
    PetscCall(kept.matrix(type, &A));
    PetscCall(each_block(A, 0, [&](PetscInt row, PetscInt col) {
      for (PetscInt k = 0; k < bs * bs; ++k)
        for (int twice = 0; twice < 2; ++twice) {
          if (is_symmetric(type) && row == col && k / bs > k % bs) continue;
          i.push_back(row % 7 == 3 && twice ? -1 : bs * row + k / bs);
          j.push_back(bs * col + k % bs);
        }
      return PetscErrorCode(PETSC_SUCCESS);
    }));
    PetscCall(MatSetPreallocationCOO(A, static_cast<PetscCount>(i.size()), i.data(), j.data()));
    const std::vector<PetscScalar> v(i.size(), 0.5);
    for (const InsertMode mode : {ADD_VALUES, INSERT_VALUES}) {
      PetscCall(MatSetValuesCOO(A, v.data(), mode));
      PetscCall(multiply(A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode duplicates(Kept& kept) {
  Mat A, copy;
  PetscFunctionBeginUser;
  for (const std::string& type : types()) {
    PetscCall(kept.matrix(type, &A));
    for (const MatDuplicateOption how : {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN}) {
      PetscCall(MatDuplicate(A, how, &copy));
      PetscCall(MatCopy(A, copy, SAME_NONZERO_PATTERN));
      PetscCall(multiply(copy));
      PetscCall(MatDestroy(&copy));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All but the last rows, on the first process: of all rows on one process PETSc gives the matrix itself.
PetscErrorCode submatrices(Kept& kept) {
  Mat A, part;
  IS most;
  PetscInt n;
  int rank;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (const std::string& type : types()) {
    PetscCall(kept.matrix(type, &A));
    PetscCall(MatGetSize(A, &n, nullptr));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, rank == 0 ? n - bs : 0, 0, 1, &most));
    PetscCall(ISSetBlockSize(most, bs));
    PetscCall(MatCreateSubMatrix(A, most, most, MAT_INITIAL_MATRIX, &part));
    PetscCall(multiply(part));
    PetscCall(MatDestroy(&part));
    PetscCall(ISDestroy(&most));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_and_destroy(Kept&) {
  Mat A;
  PetscFunctionBeginUser;
  for (const std::string& type : types()) {
    PetscCall(make_filled(type, &A));
    PetscCall(multiply(A));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// To another type in place and back, and from the base type and to it.
PetscErrorCode conversions(Kept&) {
  Mat A, other;
  PetscFunctionBeginUser;
  for (const std::string& type : types()) {
    const std::string base = type.substr(0, type.find("compound"));
    PetscCall(make_filled(base, &A));
    PetscCall(MatConvert(A, type.c_str(), MAT_INITIAL_MATRIX, &other));
    PetscCall(multiply(other));
    PetscCall(MatConvert(A, type.c_str(), MAT_INPLACE_MATRIX, &A));
    PetscCall(multiply(A));
    PetscCall(MatConvert(A, base.c_str(), MAT_INPLACE_MATRIX, &A));
    PetscCall(multiply(A));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&other));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix that is given option after option.
PetscErrorCode with_options(Mat A, const char* option, const std::vector<std::string>& texts) {
  PetscFunctionBeginUser;
  for (const std::string& text : texts) {
    PetscCall(PetscOptionsSetValue(nullptr, option, text.c_str()));
    PetscCall(MatSetFromOptions(A));
    PetscCall(multiply(A));
  }
  PetscCall(PetscOptionsClearValue(nullptr, option));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode plans(Kept& kept) {
  Mat A;
  PetscFunctionBeginUser;
  for (const std::string& type : families()) {
    PetscCall(kept.matrix(type, &A));
    PetscCall(with_options(A, "-soak_mat_compound_plan",
                           {"entry=dense sell:8:64", "entry=dense csr columns=16", "entry=dense ellr width=auto + ccoo",
                            "entry=dense hdia", "entry=dense csr"}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode tuning(Kept&) {
  Mat A;
  PetscFunctionBeginUser;
  for (const std::string& type : families()) {
    PetscCall(make_filled(type, &A));
    PetscCall(with_options(A, "-soak_mat_compound_tune", {"measure", "wisdom", "off"}));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values, solved by a solver that is kept and by one that is made anew. For each multigrid that is made PETSc
/// gives all objects room for one more number: those are kept.
PetscErrorCode solve(Kept& kept, KSPType type, PCType pc, const std::vector<std::string>& of) {
  PetscFunctionBeginUser;
  for (const std::string& mat_type : of) {
    Mat A;
    Vec b, x;
    KSP& ksp = kept.solvers[mat_type];
    PetscCall(kept.matrix(mat_type, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    for (const PetscReal factor : {2.0, 1.0}) {
      PetscCall(fill(A, 0, factor));
      PetscCall(VecSet(b, factor));
      KSP once = nullptr;
      for (KSP* solver : {&ksp, &once}) {
        if (solver == &once && !std::strcmp(pc, PCGAMG)) continue;
        if (!*solver) {
          PetscCall(KSPCreate(PETSC_COMM_WORLD, solver));
          PetscCall(KSPSetType(*solver, type));
          PC its;
          PetscCall(KSPGetPC(*solver, &its));
          PetscCall(PCSetType(its, pc));
        }
        PetscCall(KSPSetOperators(*solver, A, A));
        PetscCall(KSPSolve(*solver, b, x));
        KSPConvergedReason reason;
        PetscCall(KSPGetConvergedReason(*solver, &reason));
        PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_CONV_FAILED, "%s on %s ended with %s", type,
                   mat_type.c_str(), KSPConvergedReasons[reason]);
      }
      PetscCall(KSPDestroy(&once));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Scenario {
  const char* name;
  PetscErrorCode (*round)(Kept&);
};
const Scenario scenarios[] = {
    {"values", values},
    {"patterns", patterns},
    {"coordinates", coordinates},
    {"duplicates", duplicates},
    {"submatrices", submatrices},
    {"create", create_and_destroy},
    {"conversions", conversions},
    {"plans", plans},
    {"tuning", tuning},
    {"cg", [](Kept& kept) { return solve(kept, KSPCG, PCJACOBI, families()); }},
    {"bcgs", [](Kept& kept) { return solve(kept, KSPBCGS, PCJACOBI, families()); }},
    {"gamg", [](Kept& kept) { return solve(kept, KSPCG, PCGAMG, asked_or({"aijcompound"})); }},
    {"cgcompound", [](Kept& kept) { return solve(kept, "cgcompound", PCJACOBI, families()); }},
    {"bcgscompound", [](Kept& kept) { return solve(kept, "bcgscompound", PCJACOBI, families()); }},
};

// Instruments.

/// Of a device that PETSc uses; 0 where it uses none.
double device_bytes() {
  using MemGetInfo = int (*)(std::size_t*, std::size_t*);
  static const auto get = reinterpret_cast<MemGetInfo>(dlsym(RTLD_DEFAULT, "cudaMemGetInfo"));
  std::size_t free = 0, all = 0;
  return get && get(&free, &all) == 0 ? static_cast<double>(all - free) : 0;
}

double open_files() {
  double n = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) n += !file.path().empty();
  return n;
}

double resident() {
  PetscLogDouble bytes = 0;
  PetscCallAbort(PETSC_COMM_SELF, PetscMemoryGetCurrentUsage(&bytes));
  return bytes;
}
double of_petsc() {
  PetscLogDouble bytes = 0;
  PetscCallAbort(PETSC_COMM_SELF, PetscMallocGetCurrentUsage(&bytes));
  return bytes;
}

struct Instrument {
  const char* name;
  double (*read)();
  double unit;
};
constexpr Instrument instruments[] = {
    {"RSS", resident, 1e6},         {"malloc", [] { return double(petsc_test::allocated()); }, 1e6},
    {"PetscMalloc", of_petsc, 1e6}, {"device memory", device_bytes, 1e6},
    {"open files", open_files, 1},  {"communicators", [] { return double(communicators); }, 1}};
constexpr std::size_t count = std::size(instruments);
using Readings = std::array<double, count>;

Readings read_all() {
  Readings r;
  for (std::size_t k = 0; k < count; ++k) r[k] = instruments[k].read();
  return r;
}

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What the processor takes for the same work every time: other programs change its speed.
double reference_seconds() {
  static std::array<unsigned, 2000> numbers;
  const double before = processor_seconds();
  unsigned next = 1;
  for (unsigned& n : numbers) n = next = 1664525 * next + 1013904223;
  std::sort(numbers.begin(), numbers.end());
  return processor_seconds() - before;
}

/// The times of the rounds of a tenth, in memory that does not grow.
class Times {
 public:
  void add(double seconds) {
    if (size_ < seconds_.size()) seconds_[size_++] = seconds;
  }
  double median() {
    const auto middle = seconds_.begin() + static_cast<std::ptrdiff_t>(size_ / 2);
    std::nth_element(seconds_.begin(), middle, seconds_.begin() + static_cast<std::ptrdiff_t>(size_));
    return *middle;
  }
  void begin_anew() { size_ = 0; }

 private:
  std::array<double, 1 << 14> seconds_ = {};
  std::size_t size_ = 0;
};
Times times, of_reference;

/// A mistake, for the test that these are found.
PetscErrorCode leak(const char* what, int round) {
  PetscFunctionBeginUser;
  if (!std::strcmp(what, "memory")) std::memset(std::malloc(20000), 1, 20000);
  if (!std::strcmp(what, "file")) (void)!std::fopen("/dev/null", "r");
  if (!std::strcmp(what, "petsc")) {
    void* lost;
    PetscCall(PetscMalloc(20000, &lost));
  }
  if (!std::strcmp(what, "communicator")) {
    MPI_Comm lost;
    PetscCallMPI(MPI_Comm_dup(PETSC_COMM_WORLD, &lost));
  }
  if (!std::strcmp(what, "time"))
    for (const double end = processor_seconds() + 1e-7 * round; processor_seconds() < end;) {
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr int tenths = 10;

struct Run {
  int rounds = 0;  ///< of a tenth
  Readings first, last;
  std::array<double, tenths> seconds;  ///< of a round in each tenth, in those of the reference
  double of_reference;
};

/// The first tenth takes its time; the others have as many rounds. A round before them compiles kernels and tunes.
PetscErrorCode repeat(const Scenario& scenario, double seconds, const char* leaks, Run* run) {
  Kept kept;
  int n = 0;
  PetscFunctionBeginUser;
  PetscCall(scenario.round(kept));
  const double end = MPI_Wtime() + seconds / tenths;
  for (int tenth = 0; tenth < tenths; ++tenth) {
    times.begin_anew();
    of_reference.begin_anew();
    for (int is_over = 0, k = 1; !is_over; ++k) {
      const double before = processor_seconds();
      PetscCall(scenario.round(kept));
      PetscCall(leak(leaks, n++));
      const double took = processor_seconds() - before, reference = reference_seconds();
      times.add(took / reference);
      of_reference.add(reference);
      is_over = tenth ? k >= run->rounds : k >= 3 && MPI_Wtime() > end;
      if (!tenth) PetscCallMPI(MPI_Bcast(&is_over, 1, MPI_INT, 0, PETSC_COMM_WORLD));
      if (!tenth) run->rounds = k;
    }
    run->seconds[tenth] = times.median();
    (tenth ? run->last : run->first) = read_all();
    if (tenth == 1) run->of_reference = of_reference.median();
  }
  PetscCall(kept.destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints a row; whether nothing grew, on any process. Of each number that of the process where it grew most.
PetscErrorCode report(const char* name, Run& run, bool* is_steady) {
  int size;
  std::string grew;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %5d %8d", name, size, tenths * run.rounds));
  const auto add = [&](const char* what, double first, double last, double most) {
    char text[100];
    if (last > first * most) {
      std::snprintf(text, sizeof(text), "%s%s by %.1f %%", grew.empty() ? "" : ", ", what,
                    100 * (last / std::max(first, 1e-9) - 1));
      grew += text;
    }
  };
  for (std::size_t k = 0; k < count; ++k) {
    struct {
      double ratio;
      int rank;
    } mine = {run.last[k] / std::max(run.first[k], 1.0), 0}, most;
    double pair[2] = {run.first[k], run.last[k]};
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &mine.rank));
    PetscCallMPI(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, PETSC_COMM_WORLD));
    PetscCallMPI(MPI_Bcast(pair, 2, MPI_DOUBLE, most.rank, PETSC_COMM_WORLD));
    const double unit = instruments[k].unit;
    PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, unit > 1 ? " %7.2f %7.2f" : " %3.0f %3.0f", pair[0] / unit, pair[1] / unit));
    add(instruments[k].name, pair[0], pair[1], 1.01);
  }
  // Of the first process. Times have grown where both of the last tenths took longer than both that follow the first.
  PetscCallMPI(MPI_Bcast(run.seconds.data(), tenths, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
  const auto& t = run.seconds;
  const double ms = 1e3 * run.of_reference;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %8.2f %8.2f", ms * t[1], ms * t[tenths - 1]));
  // Of a few rounds, or of less than a second, they say little.
  if (run.rounds >= 20 && ms * t[1] * run.rounds > 1000)
    add("time", std::max(t[1], t[2]), std::min(t[tenths - 2], t[tenths - 1]), 1.05);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s%s\n", grew.empty() ? "steady" : "grew: ", grew.c_str()));
  *is_steady = grew.empty();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode soak(bool* is_steady) {
  char name[100] = "", leaks[100] = "";
  PetscReal seconds = 10;
  PetscBool list = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-soak", name, sizeof(name), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-soak_leak", leaks, sizeof(leaks), nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-soak_seconds", &seconds, nullptr));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-soak_list", &list));
  if (list) {
    for (const Scenario& s : scenarios) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", s.name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto* const found =
      std::ranges::find_if(scenarios, [&](const Scenario& s) { return !std::strcmp(s.name, name); });
  PetscCheck(found != std::end(scenarios), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-soak '%s' is no scenario; -soak_list names them", name);
  // As a program that always has some object: else PETSc duplicates the communicator for each, for which MPI takes more
  // and more memory.
  MPI_Comm kept;
  Run run;
  PetscCall(PetscCommDuplicate(PETSC_COMM_WORLD, &kept, nullptr));
  PetscCall(repeat(*found, seconds, leaks, &run));
  PetscCall(PetscCommDestroy(&kept));
  PetscCall(report(name, run, is_steady));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  bool is_steady = true;
  PetscCall(PetscOptionsSetValue(nullptr, "-malloc_dump", nullptr));  // PetscMalloc counts
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(soak(&is_steady));
  PetscCall(PetscFinalize());
  return is_steady ? 0 : 1;
}
