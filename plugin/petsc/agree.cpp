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

PetscErrorCode on_all(Mat A, bool here, bool* all) {
  PetscFunctionBegin;
  int yes = here;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &yes, 1, MPI_INT, MPI_MIN, comm_of(A)));
  *all = yes != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
