/* Options of the examples, and what is said where they are wrong */
#pragma once

#include <petscsys.h>

/* Ends all ranks with PETSC_ERR_USER_INPUT and a message unless the condition, the same on all, holds */
#define CheckInput(condition, ...) PetscCheck(condition, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, __VA_ARGS__)

/* Refuses each of n options that is given without a value: PETSc takes it as not given. */
PetscErrorCode RequireValues(PetscInt n, const char* const names[]);

/* Parses n <= 4 positive integers below 10^9 from the text given with an option: "10,10,10".
   `wanted` and `example` go into the message: "three positive integers", "10,10,10". */
PetscErrorCode ParseExtents(const char name[], const char text[], PetscInt n, const char wanted[], const char example[],
                            PetscInt extent[]);

/* Refuses n extents that make more numbers (`what`: "unknowns") than a PetscInt can count. */
PetscErrorCode CheckIndexRange(const char name[], PetscInt n, const PetscInt extent[], PetscReal count,
                               const char what[]);

/* Reads exactly n <= 3 finite numbers, positive ones if asked for; `value` holds the defaults, `what` says what they
   are, with their unit.  `given` may be NULL. */
PetscErrorCode GetReals(const char name[], const char what[], PetscBool positive, PetscInt n, PetscReal value[],
                        PetscBool* given);

/* Reads an integer of 0 or more; `value` holds the default. */
PetscErrorCode GetCount(const char name[], PetscInt* value);

/* Reads one of n names; `which` holds the default's number. */
PetscErrorCode GetChoice(const char name[], PetscInt n, const char* const choices[], PetscInt* which);

/* Reads the path of a file to be written; "" if the option is not given. */
PetscErrorCode GetOutputPath(const char name[], char path[], size_t size);

/* Refuses a file that rank 0 cannot write, before the work whose result goes there; what it holds stays.  "" passes. */
PetscErrorCode CheckWritable(const char name[], const char path[]);
