#include "input.h"

#include <stdio.h>

PetscErrorCode RequireValues(PetscInt n, const char* const names[]) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) {
    char text[8] = "";
    PetscBool given;

    PetscCall(PetscOptionsGetString(NULL, NULL, names[i], text, sizeof(text), &given));
    CheckInput(!given || text[0], "%s: found no value; it needs a value (-help says which), or leave the option out",
               names[i]);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ParseExtents(const char name[], const char text[], PetscInt n, const char wanted[], const char example[],
                            PetscInt extent[]) {
  int c[4] = {0, 0, 0, 0}, at = 0, length = 0;
  PetscInt found = 0;

  PetscFunctionBeginUser;
  while (found < n && sscanf(text + at, found ? ",%9d%n" : "%9d%n", &c[found], &length) == 1 && c[found] > 0) {
    extent[found] = c[found];
    found++;
    at += length;
  }
  CheckInput(found == n && !text[at], "%s: found \"%s\"; give %s below 10^9, such as %s %s", name, text, wanted, name,
             example);
  PetscFunctionReturn(0);
}

PetscErrorCode CheckIndexRange(const char name[], PetscInt n, const PetscInt extent[], PetscReal count,
                               const char what[]) {
  char text[80] = "", number[24];

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < n; d++) {
    PetscCall(PetscSNPrintf(number, sizeof(number), "%s%" PetscInt_FMT, d ? "," : "", extent[d]));
    PetscCall(PetscStrlcat(text, number, sizeof(text)));
  }
  CheckInput(count < PETSC_MAX_INT,
             "%s %s: these are %g %s, more than the %g that PETSc's integers of %d bits can number; give smaller "
             "numbers, or use a PETSc with 64-bit indices",
             name, text, (double)count, what, (double)PETSC_MAX_INT, (int)(8 * sizeof(PetscInt)));
  PetscFunctionReturn(0);
}

PetscErrorCode GetReals(const char name[], const char what[], PetscBool positive, PetscInt n, PetscReal value[],
                        PetscBool* given) {
  PetscReal number[4]; /* room for one too many, which PETSc would drop */
  PetscInt count = n + 1;
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, name, &found));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, name, number, &count, NULL));
  CheckInput(!found || count == n, "%s: found %" PetscInt_FMT " numbers%s; give %" PetscInt_FMT ": %s", name, count,
             count > n ? " or more" : "", n, what);
  for (PetscInt i = 0; i < n; i++) {
    if (found) value[i] = number[i];
    CheckInput(!PetscIsInfOrNanReal(value[i]) && (value[i] > 0 || !positive),
               "%s: number %" PetscInt_FMT " is %g; it must be finite%s: %s", name, i + 1, (double)value[i],
               positive ? " and positive" : "", what);
  }
  if (given) *given = found;
  PetscFunctionReturn(0);
}

PetscErrorCode GetCount(const char name[], PetscInt* value) {
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, name, value, NULL));
  CheckInput(*value >= 0, "%s: %" PetscInt_FMT " is out of range; give an integer of 0 or more", name, *value);
  PetscFunctionReturn(0);
}

PetscErrorCode GetChoice(const char name[], PetscInt n, const char* const choices[], PetscInt* which) {
  char text[32] = "", list[128] = "";
  PetscBool given, found = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, name, text, sizeof(text), &given));
  if (given) PetscCall(PetscEListFind(n, choices, text, which, &found));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(PetscStrlcat(list, i ? (n > 2 ? ", " : " or ") : (n > 2 ? "one of " : ""), sizeof(list)));
    PetscCall(PetscStrlcat(list, choices[i], sizeof(list)));
  }
  CheckInput(found && (text[0] || !given), "%s: found \"%s\"; give %s", name, text, list);
  PetscFunctionReturn(0);
}

PetscErrorCode GetOutputPath(const char name[], char path[], size_t size) {
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, name, path, size, &given));
  CheckInput(!given || path[0], "%s: found no name of a file; give %s FILE", name, name);
  PetscCall(CheckWritable(name, path));
  PetscFunctionReturn(0);
}

PetscErrorCode CheckWritable(const char name[], const char path[]) {
  PetscMPIInt rank, ok = 1;

  PetscFunctionBeginUser;
  if (!path[0]) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    FILE* file = fopen(path, "a");

    ok = file != NULL;
    if (file) fclose(file);
  }
  PetscCallMPI(MPI_Bcast(&ok, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(ok, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN,
             "%s: cannot write the file %s; its folder must exist and be writable", name, path);
  PetscFunctionReturn(0);
}
