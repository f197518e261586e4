// Lists and values that go from process to process, of which the receivers do not know beforehand.
#pragma once

#include <vector>

#include "petsc/guard.hpp"

namespace compound::plugin {

template <class T>
struct Message {
  PetscMPIInt rank = 0;  ///< where it goes to, or comes from
  std::vector<T> data;
};

/// Sends each of `to`, one at most to a process and none empty; `from`: what came, by rank. Collective.
PetscErrorCode exchange(MPI_Comm comm, const std::vector<Message<PetscInt>>& to, std::vector<Message<PetscInt>>* from);

/// Scalars whose count both sides know.
struct Scalars {
  PetscMPIInt rank;
  PetscScalar* values;
  PetscInt64 count;
};

/// Sends and receives all of these; returns when all are there.
PetscErrorCode exchange(MPI_Comm comm, const std::vector<Scalars>& to, const std::vector<Scalars>& from);

}  // namespace compound::plugin
