#include "petsc/agree.hpp"

#include <limits>

namespace compound::plugin {

PetscErrorCode agree_on(Mat A, PetscErrorCode code, const std::string& reason) {
  PetscFunctionBegin;
  PetscMPIInt rank, first, mine;
  PetscCallMPI(MPI_Comm_rank(comm_of(A), &rank));
  mine = reason.empty() ? std::numeric_limits<PetscMPIInt>::max() : rank;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm_of(A)));
  if (first == std::numeric_limits<PetscMPIInt>::max()) PetscFunctionReturn(PETSC_SUCCESS);
  char text[512] = {};
  reason.copy(text, sizeof(text) - 1);
  PetscCallMPI(MPI_Bcast(text, sizeof(text), MPI_CHAR, first, comm_of(A)));
  SETERRQ(comm_of(A), code, "petsc-compound: %s", text);
}

PetscErrorCode share_error(MPI_Comm comm, PetscErrorCode here, bool* flag) {
  PetscFunctionBegin;
  PetscErrorCode anywhere;
  PetscCall(error_and_flag(comm, here, &anywhere, flag));
  PetscCall(report_error(comm, here, anywhere));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode error_and_flag(MPI_Comm comm, PetscErrorCode here, PetscErrorCode* anywhere, bool* flag) {
  PetscFunctionBegin;
  int of_all[2] = {static_cast<int>(here), *flag};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, of_all, 2, MPI_INT, MPI_MAX, comm));
  *anywhere = static_cast<PetscErrorCode>(of_all[0]);
  *flag = of_all[1] != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode report_error(MPI_Comm comm, PetscErrorCode here, PetscErrorCode anywhere) {
  PetscFunctionBegin;
  PetscCall(here);
  PetscCheck(anywhere != PETSC_ERR_MEM, comm, PETSC_ERR_MEM, "petsc-compound: another process has no memory left");
  PetscCheck(!anywhere, comm, anywhere, "petsc-compound: another process has an error, which it prints");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode on_all(Mat A, bool here, bool* all) {
  PetscFunctionBegin;
  int yes = here;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_INT, MPI_MIN, comm_of(A)));
  *all = yes != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
