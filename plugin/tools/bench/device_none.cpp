// What a build without a CUDA PETSc has instead of a device and cuSPARSE.
#include "candidate.hpp"
#include "device.hpp"
#include "failure.hpp"

namespace compound::bench {

Device* find_device() { return nullptr; }

std::string why_no_device() {
#if defined(PETSC_HAVE_CUDA)
  return "this program was built without the CUDA toolkit's cudart and cuSPARSE, or its core without CUDA";
#else
  return "this PETSc has no CUDA; use a program built for a PETSc that was configured with CUDA";
#endif
}

std::shared_ptr<CusparseSource> make_cusparse_source(const CaseMatrix&, bool, CusparseScalars) {
  throw usage_error("-cusparse: " + why_no_device());
}

std::unique_ptr<Candidate> make_cusparse_candidate(const std::shared_ptr<CusparseSource>&, const CusparseKind&) {
  throw usage_error("-cusparse: " + why_no_device());
}

}  // namespace compound::bench
