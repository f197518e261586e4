#include "petsc/guard.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::argument:
      return PETSC_ERR_ARG_WRONG;
    case ErrorKind::unsupported:
      return PETSC_ERR_SUP;
    case ErrorKind::too_large:
      return PETSC_ERR_ARG_OUTOFRANGE;
    case ErrorKind::device:
      return PETSC_ERR_GPU;
  }
  return PETSC_ERR_PLIB;
}

}  // namespace

/// Allocates nothing: memory may be lacking still.
PetscErrorCode translate_exception(MPI_Comm comm) {
  PetscFunctionBegin;
  try {
    throw;
  } catch (const error& e) {
    SETERRQ(comm, code_of(e.kind()), "petsc-compound: %s", e.what());
  } catch (const std::bad_alloc&) {
    SETERRQ(comm, PETSC_ERR_MEM,
            "petsc-compound: out of memory for a packed matrix; use -mat_compound_layout csr (no second copy) or more "
            "processes");
  } catch (const std::exception& e) {
    SETERRQ(comm, PETSC_ERR_PLIB, "petsc-compound: %s", e.what());
  }
  PetscFunctionReturn(PETSC_ERR_PLIB);
}

}  // namespace compound::plugin
