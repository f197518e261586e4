/* Mesh files: OBJ, OFF and PLY are read, OBJ is written */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "surface_mesh.h"

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
  PetscBool has_uv;
} Parts;

typedef struct {
  PetscInt vertex;
  PetscBool has_uv;
  double uv[2];
} Corner;

#define CheckSource(condition, s, format, ...)                                                                        \
  PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s, line %" PetscInt_FMT ": " format, (s)->path, \
             (s)->line, __VA_ARGS__)

static PetscErrorCode Push(Numbers* list, PetscInt n, const double x[]) {
  PetscFunctionBeginUser;
  if (list->n + n > list->room) {
    list->room = 2 * list->room + 1024;
    PetscCall(PetscRealloc(list->room * sizeof(double), &list->a));
  }
  for (PetscInt i = 0; i < n; i++) list->a[list->n++] = x[i];
  PetscFunctionReturn(0);
}

static PetscErrorCode PushTriangle(Parts* parts, const Corner* a, const Corner* b, const Corner* c) {
  const Corner* corner[] = {a, b, c};

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; i++) {
    const double vertex = (double)corner[i]->vertex;

    PetscCall(Push(&parts->corner, 1, &vertex));
    PetscCall(Push(&parts->uv, 2, corner[i]->uv));
    if (!corner[i]->has_uv) parts->has_uv = PETSC_FALSE;
  }
  PetscFunctionReturn(0);
}

/* The next corner of a polygon; from the third on each makes a triangle with the first and the one before */
static PetscErrorCode PushCorner(Parts* parts, PetscInt i, const Corner* corner, Corner last[2]) {
  PetscFunctionBeginUser;
  if (i > 1) PetscCall(PushTriangle(parts, &last[0], &last[1], corner));
  last[i > 0] = *corner;
  PetscFunctionReturn(0);
}

static PetscErrorCode SourceOpen(const char path[], Source* s) {
  PetscBool found;
  FILE* file;
  long size;

  PetscFunctionBeginUser;
  PetscCall(PetscTestFile(path, 'r', &found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN,
             "-mesh: cannot read the file %s; check the path and its permissions", path);
  file = fopen(path, "rb");
  PetscCheck(file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET),
             PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-mesh: cannot read the file %s", path);
  PetscCheck(size < 0x7fffffff, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-mesh: %s has %ld bytes; this example reads files below 2 GB", path, size);
  PetscCall(PetscMalloc1(size + 1, &s->data));
  PetscCheck(fread(s->data, 1, (size_t)size, file) == (size_t)size, PETSC_COMM_SELF, PETSC_ERR_FILE_READ,
             "-mesh: reading %s failed", path);
  fclose(file);
  s->path = path;
  s->line = 0;
  s->at = s->data;
  s->end = s->data + size;
  *s->end = 0;
  if (size >= 3 && !memcmp(s->data, "\xef\xbb\xbf", 3)) s->at += 3; /* UTF-8's byte order mark */
  PetscFunctionReturn(0);
}

/* The next line that is neither empty nor a comment, without blanks around it, ended by a zero; NULL at the end of the
 * file */
static char* NextLine(Source* s) {
  while (s->at < s->end) {
    char *line = s->at, *stop = memchr(line, '\n', (size_t)(s->end - line));

    s->at = stop ? stop + 1 : s->end;
    s->line++;
    *(stop ? stop : s->end) = 0;
    line += strspn(line, " \t\r");
    line[strcspn(line, "\r#")] = 0;
    stop = line + strlen(line);
    while (stop > line && strchr(" \t", stop[-1])) *--stop = 0;
    if (*line) return line;
  }
  return NULL;
}

static PetscErrorCode ParseReals(Source* s, char** text, PetscInt n, const char what[], double x[]) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) {
    char* stop;

    x[i] = strtod(*text, &stop);
    CheckSource(stop > *text, s, "found %" PetscInt_FMT " of the %" PetscInt_FMT " numbers of %s, then \"%.20s\"", i, n,
                what, *text);
    *text = stop;
  }
  PetscFunctionReturn(0);
}

/* The whole of a word, or of an OBJ corner's part before a slash */
static PetscErrorCode ParseInt(Source* s, char** text, const char what[], PetscInt* n) {
  char* stop;
  long value = strtol(*text, &stop, 10);

  PetscFunctionBeginUser;
  CheckSource(stop > *text && strchr("/ \t", *stop) && value > -0x7fffffff && value < 0x7fffffff, s,
              "%s: found \"%.20s\", an integer is wanted, of 32 bits", what, *text);
  *text = stop;
  *n = (PetscInt)value;
  PetscFunctionReturn(0);
}

/* ------------------------------------------- OBJ ------------------------------------------- */

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

static PetscErrorCode ReadObj(Source* s, Parts* parts) {
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

/* ------------------------------------------- OFF ------------------------------------------- */

static PetscErrorCode ReadOff(Source* s, Parts* parts) {
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

/* ------------------------------------------- PLY ------------------------------------------- */

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

/* The corners of a face, or a list nobody asked for */
static PetscErrorCode ReadPlyList(Source* s, int format, const PlyProperty* p, const Numbers* vertex_uv, Parts* parts) {
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

static PetscErrorCode ReadPly(Source* s, Parts* parts) {
  PlyElement elements[MOST + 1];
  PetscInt nelement;
  Numbers uv = {0, 0, NULL};
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
          PetscCall(ReadPlyList(s, format, p, &uv, parts));
        else
          PetscCall(ReadPlyNumber(s, format, p->type, &value[p->role]));
      }
      if (seen[X]) PetscCall(Push(&parts->xyz, 3, &value[X]));
      if (seen[U] && seen[V]) PetscCall(Push(&uv, 2, &value[U]));
    }
  }
  PetscCall(PetscFree(uv.a));
  PetscFunctionReturn(0);
}

/* ------------------------------------------------------------------------------------------- */

static PetscErrorCode TakeReals(Numbers* list, PetscReal** reals) {
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(list->n, reals));
  for (PetscInt i = 0; i < list->n; i++) (*reals)[i] = (PetscReal)list->a[i];
  PetscCall(PetscFree(list->a));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceMeshRead(const char path[], SurfaceMesh* m) {
  static const struct {
    const char* ending;
    PetscErrorCode (*read)(Source*, Parts*);
  } formats[] = {{".obj", ReadObj}, {".off", ReadOff}, {".ply", ReadPly}};
  Parts parts = {{0, 0, NULL}, {0, 0, NULL}, {0, 0, NULL}, PETSC_TRUE};
  const char* dot = strrchr(path, '.');
  PetscBool same;
  PetscInt f;
  Source s;

  PetscFunctionBeginUser;
  for (f = 0; f < 3; f++) {
    PetscCall(PetscStrcasecmp(dot ? dot : "", formats[f].ending, &same));
    if (same) break;
  }
  PetscCheck(f < 3, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "-mesh: %s; the name must end in .obj, .off or .ply, and the file be of that format", path);
  PetscCall(SourceOpen(path, &s));
  PetscCall(formats[f].read(&s, &parts));
  PetscCall(PetscFree(s.data));
  m->nvertex = parts.xyz.n / 3;
  m->nface = parts.corner.n / 3;
  PetscCall(PetscMalloc1(parts.corner.n, &m->face));
  for (PetscInt i = 0; i < parts.corner.n; i++) m->face[i] = (PetscInt)parts.corner.a[i];
  PetscCall(PetscFree(parts.corner.a));
  PetscCall(TakeReals(&parts.xyz, &m->xyz));
  PetscCall(TakeReals(&parts.uv, &m->uv));
  if (!parts.has_uv) PetscCall(PetscFree(m->uv));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceMeshWrite(const SurfaceMesh* m, const PetscReal xyz[], const char path[]) {
  PetscInt* place;
  FILE* file = fopen(path, "w");

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN,
             "-obj: cannot write the file %s; its folder must exist and be writable", path);
  PetscCall(PetscMalloc1(m->nvertex, &place));
  for (PetscInt i = 0; i < m->nvertex; i++) { /* the i-th vertex of the file that was read */
    const PetscInt v = m->order ? m->order[i] : i;

    place[v] = i;
    fprintf(file, "v %.15g %.15g %.15g\n", (double)xyz[3 * v], (double)xyz[3 * v + 1], (double)xyz[3 * v + 2]);
  }
  for (PetscInt f = 0; f < m->nface; f++) {
    fprintf(file, "f");
    for (PetscInt i = 0; i < 3; i++) fprintf(file, " %" PetscInt_FMT, place[m->face[3 * f + i]] + 1);
    fprintf(file, "\n");
  }
  PetscCheck(!ferror(file) && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
             "-obj: writing %s failed; is the disk full?", path);
  PetscCall(PetscFree(place));
  PetscFunctionReturn(0);
}
