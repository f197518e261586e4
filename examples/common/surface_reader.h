/* What the readers of surface meshes share; for surface_*.c alone */
#pragma once

#include <petscsys.h>

/* A file in memory, and how far it has been read.  A zero byte follows the last, so text functions stop there. */
typedef struct {
  const char* path;
  char *data, *end, *at;
  PetscInt line;
} Source;

typedef struct {
  PetscInt n, room;
  double* a;
} Numbers;

/* What the readers fill */
typedef struct {
  Numbers xyz, corner, uv; /* corner: vertices of the triangles, uv: their texture coordinates */
  Numbers file_uv;         /* texture coordinates as the file lists them */
  PetscBool has_uv;
} Parts;

typedef struct {
  PetscInt vertex;
  PetscBool has_uv;
  double uv[2];
} Corner;

/* Ends with a message that names the file and the line unless the condition holds */
#define CheckSource(condition, s, format, ...)                                                                        \
  PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s, line %" PetscInt_FMT ": " format, (s)->path, \
             (s)->line, __VA_ARGS__)

/* Appends n numbers. */
PetscErrorCode Push(Numbers* list, PetscInt n, const double x[]);

/* Corner i of a polygon; from the third on each makes a triangle with the first and the one before, kept in `last`. */
PetscErrorCode PushCorner(Parts* parts, PetscInt i, const Corner* corner, Corner last[2]);

/* The next line that is neither empty nor a comment, without blanks around it, ended by a zero; NULL at the end of the
   file. */
char* NextLine(Source* s);

/* Reads n numbers (`what`: "a vertex") from *text on, and moves it behind them. */
PetscErrorCode ParseReals(Source* s, char** text, PetscInt n, const char what[], double x[]);

/* The same for one integer: the whole of a word, or of an OBJ corner's part before a slash. */
PetscErrorCode ParseInt(Source* s, char** text, const char what[], PetscInt* n);

/* Fill `parts` from a whole file. */
PetscErrorCode ReadObj(Source* s, Parts* parts);
PetscErrorCode ReadOff(Source* s, Parts* parts);
PetscErrorCode ReadPly(Source* s, Parts* parts);
