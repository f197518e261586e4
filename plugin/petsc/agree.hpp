// What all processes must know of each other: errors that not all would see, and what holds on all.
#pragma once

#include <string>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// The same error on all processes where one has a reason; none where all are empty. Collective.
PetscErrorCode agree_on(Mat A, PetscErrorCode code, const std::string& reason);

/// The same error on all processes where one has one, and `flag` where one has set it. What the error says is printed
/// where it arose. Collective.
PetscErrorCode share_error(MPI_Comm comm, PetscErrorCode here, bool* flag);
inline PetscErrorCode share_error(MPI_Comm comm, PetscErrorCode here) {
  bool no_flag = false;
  return share_error(comm, here, &no_flag);
}
/// The largest error of all processes, and whether `flag` is set on one of them. Collective.
PetscErrorCode error_and_flag(MPI_Comm comm, PetscErrorCode here, PetscErrorCode* anywhere, bool* flag);
/// As share_error(), where `anywhere` is known, the largest of them.
PetscErrorCode report_error(MPI_Comm comm, PetscErrorCode here, PetscErrorCode anywhere);

/// Runs `body` on each process: what throws or fails on one is an error on all. Collective, but `body` is not: nothing
/// in it waits for others.
template <class Body>
PetscErrorCode together(MPI_Comm comm, const Body& body) {
  return share_error(comm, guarded(PETSC_COMM_SELF, body));
}

/// Whether something holds on all processes. Collective.
PetscErrorCode on_all(Mat A, bool here, bool* all);

}  // namespace compound::plugin
