// main() of every plugin test: MPI and PETSc around GoogleTest. The plugin comes in by -dll_append, as for users.
#include <petscdevice.h>

#include <cstdio>
#include <cstdlib>

#include "petsc_test.hpp"

namespace {

/// Output of process 0 only, but failures of every process.
class FailuresOnly : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& r) override {
    if (r.failed()) {
      std::printf("[%d] %s:%d: %s\n", petsc_test::rank(), r.file_name() ? r.file_name() : "?", r.line_number(),
                  r.message());
      std::fflush(stdout);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 2;
#if PetscDefined(HAVE_CUDA)
  // Of a device that is not there: without fake_cuda.cpp PETSc has an error.
  if (std::getenv("COMPOUND_TEST_VECTORS") && PetscDeviceInitialize(PETSC_DEVICE_CUDA)) return 2;
#endif
  (void)petsc_test::push_error_handler();
  if (petsc_test::rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  const int failed = RUN_ALL_TESTS() != 0 ? 1 : 0;
  const bool all_passed = petsc_test::all_ranks(failed == 0);
  (void)PetscPopErrorHandler();
  if (PetscFinalize()) return 2;
  return all_passed ? 0 : 1;
}
