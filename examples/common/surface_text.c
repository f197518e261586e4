/* OBJ and OFF */
#include <stdlib.h>
#include <string.h>

#include "surface_reader.h"

/* OBJ counts from 1, or back from the last (-1) */
static PetscErrorCode ParseObjIndex(Source* s, char** text, const char what[], PetscInt have, PetscInt* index) {
  PetscFunctionBeginUser;
  PetscCall(ParseInt(s, text, what, index));
  CheckSource(*index != 0 && *index >= -have, s,
              "%s %" PetscInt_FMT
              "; numbers are 1, 2, ... from the first, or -1, -2, ... back from the last of %" PetscInt_FMT,
              what, *index, have);
  *index += *index < 0 ? have : -1;
  PetscFunctionReturn(0);
}

static PetscErrorCode ParseObjFace(Source* s, char* text, Parts* parts) {
  const Numbers* vt = &parts->file_uv;
  Corner last[2];
  PetscInt n = 0, index;

  PetscFunctionBeginUser;
  for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) { /* v, v/vt, v//vn or v/vt/vn */
    Corner corner = {0, PETSC_FALSE, {0, 0}};

    PetscCall(ParseObjIndex(s, &text, "vertex", parts->xyz.n / 3, &corner.vertex));
    if (text[0] == '/' && text[1] && strchr("-0123456789", text[1])) {
      text++;
      PetscCall(ParseObjIndex(s, &text, "texture coordinate", vt->n / 2, &index));
      CheckSource(index < vt->n / 2, s,
                  "texture coordinate %" PetscInt_FMT "; the file has %" PetscInt_FMT " before this line", index + 1,
                  vt->n / 2);
      corner.has_uv = PETSC_TRUE;
      corner.uv[0] = vt->a[2 * index];
      corner.uv[1] = vt->a[2 * index + 1];
    }
    text += strcspn(text, " \t"); /* the normal is not used */
    PetscCall(PushCorner(parts, n++, &corner, last));
  }
  CheckSource(n >= 3, s, "a face of %" PetscInt_FMT " corners; three or more are wanted", n);
  PetscFunctionReturn(0);
}

PetscErrorCode ReadObj(Source* s, Parts* parts) {
  double x[3];
  char* text;

  PetscFunctionBeginUser;
  while ((text = NextLine(s))) {
    const size_t length = strcspn(text, " \t");
    char* rest = text + length;

    if (length == 1 && *text == 'v') {
      PetscCall(ParseReals(s, &rest, 3, "a vertex", x));
      PetscCall(Push(&parts->xyz, 3, x));
    } else if (length == 2 && !strncmp(text, "vt", 2)) {
      PetscCall(ParseReals(s, &rest, 2, "a texture coordinate", x));
      PetscCall(Push(&parts->file_uv, 2, x));
    } else if (length == 1 && *text == 'f') {
      PetscCall(ParseObjFace(s, rest, parts));
    }
  }
  PetscFunctionReturn(0);
}

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
