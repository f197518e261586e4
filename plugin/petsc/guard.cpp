#include "petsc/guard.hpp"

#include <string>

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

PetscErrorCode translate_exception(MPI_Comm comm) {
  PetscFunctionBegin;
  std::string what;
  PetscErrorCode code;
  try {
    throw;
  } catch (const error& e) {
    what = e.what();
    code = code_of(e.kind());
  } catch (const std::bad_alloc&) {
    what = "out of memory for a packed matrix; use -mat_compound_layout csr (no second copy) or more processes";
    code = PETSC_ERR_MEM;
  } catch (const std::exception& e) {
    what = e.what();
    code = PETSC_ERR_PLIB;
  }
  SETERRQ(comm, code, "petsc-compound: %s", what.c_str());
}

}  // namespace compound::plugin
