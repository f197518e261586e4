#include <string.h>

#include "surface_reader.h"

PetscErrorCode ReadOff(Source* s, Parts* parts) {
  char *text = NextLine(s), *word;
  PetscInt n[2], corners;
  double x[3];

  PetscFunctionBeginUser;
  if (text && (word = strstr(text, "OFF"))) { /* also COFF, NOFF: more numbers a vertex, not read */
    CheckSource(!strstr(text, "BINARY") && !strstr(text, "4OFF") && !strstr(text, "nOFF"), s,
                "found \"%s\"; this example reads text in three dimensions; convert to PLY or OBJ", text);
    text = word + 3;
    if (!text[strspn(text, " \t")]) text = NextLine(s);
  }
  CheckSource(text, s, "%s", "the file ends before the numbers of vertices and faces");
  for (PetscInt i = 0; i < 2; i++) {
    PetscCall(ParseInt(s, &text, "number of vertices or faces", &n[i]));
    CheckSource(n[i] >= 0, s, "number of vertices or faces %" PetscInt_FMT, n[i]);
  }
  for (PetscInt i = 0; i < n[0]; i++) {
    text = NextLine(s);
    CheckSource(text, s, "the file ends after %" PetscInt_FMT " of %" PetscInt_FMT " vertices", i, n[0]);
    PetscCall(ParseReals(s, &text, 3, "a vertex", x));
    PetscCall(Push(&parts->xyz, 3, x));
  }
  for (PetscInt i = 0; i < n[1]; i++) {
    Corner corner = {0, PETSC_FALSE, {0, 0}}, last[2];

    text = NextLine(s);
    CheckSource(text, s, "the file ends after %" PetscInt_FMT " of %" PetscInt_FMT " faces", i, n[1]);
    PetscCall(ParseInt(s, &text, "number of corners", &corners));
    CheckSource(corners >= 3, s, "a face of %" PetscInt_FMT " corners; three or more are wanted", corners);
    for (PetscInt k = 0; k < corners; k++) {
      PetscCall(ParseInt(s, &text, "vertex of a face", &corner.vertex));
      PetscCall(PushCorner(parts, k, &corner, last));
    }
  }
  PetscFunctionReturn(0);
}
