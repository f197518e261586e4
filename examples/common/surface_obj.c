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

static PetscErrorCode ParseObjFace(Source* s, char* text, const Numbers* vt, Parts* parts) {
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
  Numbers vt = {0, 0, NULL};
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
      PetscCall(Push(&vt, 2, x));
    } else if (length == 1 && *text == 'f') {
      PetscCall(ParseObjFace(s, rest, &vt, parts));
    }
  }
  PetscCall(PetscFree(vt.a));
  PetscFunctionReturn(0);
}
