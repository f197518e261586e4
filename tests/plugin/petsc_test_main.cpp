// main() of every plugin test: MPI and PETSc around GoogleTest. The plugin comes in by -dll_append, as for users.
#include "petsc_test.hpp"

#include <cstdio>
#include <string>

namespace petsc_test {

int rank() {
  PetscMPIInt r = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &r);
  return r;
}

int size() {
  PetscMPIInt s = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &s);
  return s;
}

double max_over_ranks(double v) {
  double all = v;
  MPI_Allreduce(&v, &all, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return all;
}

bool all_ranks(bool v) {
  int mine = v ? 1 : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  return all == 1;
}

namespace {
std::string first_message;

PetscErrorCode remember(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type,
                        const char *message, void *) {
  if (type == PETSC_ERROR_INITIAL && first_message.empty() && message) first_message = message;
  return code;
}
}  // namespace

caught begin_catching() {
  first_message.clear();
  PetscPushErrorHandler(remember, nullptr);
  return {};
}

caught end_catching(int code) {
  PetscPopErrorHandler();
  return {code, first_message};
}

}  // namespace petsc_test

namespace {

/// Output of process 0 only, but failures of every process.
class QuietOnOthers : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult &r) override {
    if (r.failed()) {
      std::printf("[%d] %s:%d: %s\n", petsc_test::rank(), r.file_name() ? r.file_name() : "?", r.line_number(),
                  r.message());
      std::fflush(stdout);
    }
  }
};

}  // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 2;
  if (petsc_test::rank() != 0) {
    auto &listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new QuietOnOthers);
  }
  const int failed = RUN_ALL_TESTS() != 0 ? 1 : 0;
  const bool all_passed = petsc_test::all_ranks(failed == 0);
  if (PetscFinalize()) return 2;
  return all_passed ? 0 : 1;
}
