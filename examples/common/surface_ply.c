#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "surface_reader.h"

enum { TEXT = 0, LITTLE, BIG };
enum { OTHER = 0, X, Y, Z, U, V, CORNERS, ROLES }; /* what a property is to us */

typedef struct {
  const char *names[2], kind; /* i, u, f: signed, unsigned, floating */
  int size;
} PlyType;

static const PlyType ply_types[] = {{{"char", "int8"}, 'i', 1},     {{"uchar", "uint8"}, 'u', 1},
                                    {{"short", "int16"}, 'i', 2},   {{"ushort", "uint16"}, 'u', 2},
                                    {{"int", "int32"}, 'i', 4},     {{"uint", "uint32"}, 'u', 4},
                                    {{"float", "float32"}, 'f', 4}, {{"double", "float64"}, 'f', 8}};

static const char* const ply_roles[ROLES][3] = {
    [X] = {"x", "x", "x"},         [Y] = {"y", "y", "y"},
    [Z] = {"z", "z", "z"},         [U] = {"u", "s", "texture_u"},
    [V] = {"v", "t", "texture_v"}, [CORNERS] = {"vertex_indices", "vertex_index", "vertex_indices"}};

enum { MOST = 32 }; /* properties of an element, elements of a file */

typedef struct {
  const PlyType *type, *count; /* count: of a list, else NULL */
  int role;
} PlyProperty;

typedef struct {
  char name[32];
  PetscInt n, nproperty;
  PlyProperty property[MOST];
} PlyElement;

static PetscErrorCode FindPlyType(Source* s, const char name[], const PlyType** type) {
  PetscFunctionBeginUser;
  *type = NULL;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(ply_types); i++)
    if (!strcmp(name, ply_types[i].names[0]) || !strcmp(name, ply_types[i].names[1])) *type = &ply_types[i];
  CheckSource(*type, s, "unknown type \"%s\"; PLY has char, uchar, short, ushort, int, uint, float and double", name);
  PetscFunctionReturn(0);
}

static PetscErrorCode ParsePlyProperty(Source* s, const char text[], PlyElement* element) {
  char words[3][32] = {"", "", ""};
  PlyProperty* p;
  PetscBool list;

  PetscFunctionBeginUser;
  CheckSource(element && element->nproperty < MOST, s, "a property before any element, or more than %d of one", MOST);
  list = (PetscBool)(sscanf(text, "list %31s %31s %31s", words[0], words[1], words[2]) == 3);
  if (!list)
    CheckSource(sscanf(text, "%31s %31s", words[1], words[2]) == 2, s, "found \"%s\"; a type and a name are wanted",
                text);
  p = &element->property[element->nproperty++];
  PetscCall(FindPlyType(s, words[1], &p->type));
  p->count = NULL;
  if (list) PetscCall(FindPlyType(s, words[0], &p->count));
  p->role = OTHER;
  for (int role = X; role < ROLES; role++) {
    const PetscBool fits =
        (PetscBool)(!strcmp(element->name, role == CORNERS ? "face" : "vertex") && list == (role == CORNERS));

    for (int i = 0; i < 3; i++)
      if (fits && !strcmp(words[2], ply_roles[role][i])) p->role = role;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadPlyHeader(Source* s, int* format, PetscInt* nelement, PlyElement elements[]) {
  static const char* const formats[] = {
      [TEXT] = "ascii", [LITTLE] = "binary_little_endian", [BIG] = "binary_big_endian"};
  char *text = NextLine(s), *rest, word[32];
  int at;

  PetscFunctionBeginUser;
  CheckSource(text && !strcmp(text, "ply"), s, "%s", "a PLY file begins with the line \"ply\"");
  *format = -1;
  *nelement = 0;
  while ((text = NextLine(s)) && strcmp(text, "end_header")) {
    PlyElement* element = &elements[*nelement];

    if (sscanf(text, "format %31s", word) == 1) {
      for (int f = TEXT; f <= BIG; f++)
        if (!strcmp(word, formats[f])) *format = f;
      CheckSource(*format >= 0, s, "format %s; choose %s, %s or %s", word, formats[0], formats[1], formats[2]);
    } else if (!strncmp(text, "element ", 8)) {
      CheckSource(*nelement < MOST && sscanf(text + 8, "%31s%n", element->name, &at) == 1, s,
                  "found \"%s\"; a name and a number are wanted, of %d elements at most", text, MOST);
      rest = text + 8 + at;
      PetscCall(ParseInt(s, &rest, "number of an element", &element->n));
      CheckSource(element->n >= 0 && !*rest, s, "found \"%s\"; a name and a number are wanted", text);
      element->nproperty = 0;
      ++*nelement;
    } else if (!strncmp(text, "property ", 9)) {
      PetscCall(ParsePlyProperty(s, text + 9, *nelement ? &elements[*nelement - 1] : NULL));
    }
  }
  CheckSource(text && *format >= 0, s, "%s", "the header ends without format or end_header");
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadPlyNumber(Source* s, int format, const PlyType* type, double* value) {
  const long at = (long)(s->at - s->data);
  uint64_t bits = 0;
  uint32_t half;
  float single;
  char* stop;

  PetscFunctionBeginUser;
  if (format == TEXT) {
    *value = strtod(s->at, &stop);
    PetscCheck(stop > s->at, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s: found \"%.20s\" at byte %ld, a number is wanted", s->path, s->at, at);
    s->at = stop;
    PetscFunctionReturn(0);
  }
  PetscCheck(s->end - s->at >= type->size, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s: the file ends early, at byte %ld", s->path, at);
  for (int i = 0; i < type->size; i++) bits = bits << 8 | (unsigned char)s->at[format == BIG ? i : type->size - 1 - i];
  s->at += type->size;
  half = (uint32_t)bits;
  memcpy(&single, &half, sizeof(single));
  if (type->kind == 'f' && type->size == 8)
    memcpy(value, &bits, sizeof(*value));
  else if (type->kind == 'f')
    *value = single;
  else
    *value = (double)bits -
             (type->kind == 'i' && bits >> (8 * type->size - 1) ? (double)((uint64_t)1 << 8 * type->size) : 0);
  PetscFunctionReturn(0);
}

/* The corners of a face, or a list that this program does not use */
static PetscErrorCode ReadPlyList(Source* s, int format, const PlyProperty* p, Parts* parts) {
  const Numbers* vertex_uv = &parts->file_uv;
  double count, number;
  Corner last[2];

  PetscFunctionBeginUser;
  PetscCall(ReadPlyNumber(s, format, p->count, &count));
  PetscCheck(count >= (p->role == CORNERS ? 3 : 0) && count == floor(count), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s: a list of %g near byte %ld; its length must be an integer, and a face has three corners or more",
             s->path, count, (long)(s->at - s->data));
  for (PetscInt i = 0; i < count; i++) {
    Corner corner = {0, PETSC_FALSE, {0, 0}};

    PetscCall(ReadPlyNumber(s, format, p->type, &number));
    if (p->role != CORNERS) continue;
    PetscCheck(number == floor(number), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s: vertex %g of a face near byte %ld; vertices are integers from 0", s->path, number,
               (long)(s->at - s->data));
    corner.vertex = number >= 0 && number < 0x7fffffff ? (PetscInt)number : -1; /* refused later */
    corner.has_uv = (PetscBool)(corner.vertex >= 0 && corner.vertex < vertex_uv->n / 2);
    for (PetscInt d = 0; d < 2 && corner.has_uv; d++) corner.uv[d] = vertex_uv->a[2 * corner.vertex + d];
    PetscCall(PushCorner(parts, i, &corner, last));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ReadPly(Source* s, Parts* parts) {
  PlyElement elements[MOST + 1];
  PetscInt nelement;
  int format;

  PetscFunctionBeginUser;
  PetscCall(ReadPlyHeader(s, &format, &nelement, elements));
  for (PetscInt e = 0; e < nelement; e++) {
    const PlyElement* element = &elements[e];
    PetscInt seen[ROLES] = {0};

    for (PetscInt k = 0; k < element->nproperty; k++) seen[element->property[k].role] = 1;
    PetscCheck(strcmp(element->name, "vertex") || (seen[X] && seen[Y] && seen[Z]), PETSC_COMM_SELF,
               PETSC_ERR_FILE_UNEXPECTED, "%s: the element vertex lacks one of the properties x, y, z", s->path);
    for (PetscInt i = 0; i < element->n && element->nproperty; i++) {
      double value[ROLES] = {0};

      for (PetscInt k = 0; k < element->nproperty; k++) {
        const PlyProperty* p = &element->property[k];

        if (p->count)
          PetscCall(ReadPlyList(s, format, p, parts));
        else
          PetscCall(ReadPlyNumber(s, format, p->type, &value[p->role]));
      }
      if (seen[X]) PetscCall(Push(&parts->xyz, 3, &value[X]));
      if (seen[U] && seen[V]) PetscCall(Push(&parts->file_uv, 2, &value[U]));
    }
  }
  PetscFunctionReturn(0);
}
