#include "petsc/warnings.hpp"

#include "petsc/quiet.hpp"

namespace compound::plugin {

namespace {

bool said[static_cast<int>(Once::device_tables) + 1];

}  // namespace

bool warnings_are_on() {
  PetscBool on = PETSC_TRUE;
  // The matrix that reads it says what is wrong.
  (void)quietly([&] { return PetscOptionsGetBool(nullptr, nullptr, "-mat_compound_warn", &on, nullptr); });
  return on == PETSC_TRUE;
}

bool is_first_process() {
  PetscMPIInt rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank == 0;
}

PetscErrorCode warn(const std::string& text) {
  PetscFunctionBegin;
  if (warnings_are_on()) PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "petsc-compound: %s\n", text.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool was_said(Once topic) { return said[static_cast<int>(topic)]; }

PetscErrorCode warn_once(Once topic, const std::string& text) {
  PetscFunctionBegin;
  if (was_said(topic) || !is_first_process()) PetscFunctionReturn(PETSC_SUCCESS);
  said[static_cast<int>(topic)] = true;
  PetscCall(warn(text + " (-mat_compound_warn false: no warnings)"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void forget_warnings() {
  for (bool& topic : said) topic = false;
}

}  // namespace compound::plugin
