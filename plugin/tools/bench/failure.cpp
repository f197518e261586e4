#include "failure.hpp"

#include <mpi.h>

#include <climits>
#include <new>

namespace compound::bench {

namespace {

std::string first_message, name_of_program;

}  // namespace

void set_program_name(const std::string& name) { name_of_program = name; }
const std::string& program_name() { return name_of_program; }

PetscErrorCode remember_error(MPI_Comm, int, const char* function, const char*, PetscErrorCode code,
                              PetscErrorType type, const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL) {
    first_message = message && *message ? message : "PETSc error " + std::to_string(static_cast<int>(code));
    if (function) first_message += std::string(" [") + function + "()]";
  }
  return code;
}

void must(PetscErrorCode code) {
  if (static_cast<int>(code) == 0) return;
  std::string message = "PETSc error " + std::to_string(static_cast<int>(code));
  if (!first_message.empty()) message = first_message;
  first_message.clear();
  throw petsc_error(message);
}

int rank_of(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks_of(MPI_Comm comm) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

void collectively(MPI_Comm comm, const std::function<void()>& body) {
  std::string message;
  bool failed = true;
  try {
    body();
    failed = false;
  } catch (const std::bad_alloc&) {
    message = "out of memory; choose a smaller case or fewer candidates";
  } catch (const std::exception& e) {
    message = e.what();
  }
  int lowest;
  const int mine = failed ? rank_of(comm) : INT_MAX;
  MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm);
  if (lowest == INT_MAX) return;
  int length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, lowest, comm);
  message.resize(static_cast<std::size_t>(length));
  MPI_Bcast(message.data(), length, MPI_CHAR, lowest, comm);
  throw usage_error(message);
}

}  // namespace compound::bench
