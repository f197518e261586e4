/* Mesh files: OBJ, OFF and PLY are read, OBJ is written */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "surface_mesh.h"
#include "surface_reader.h"

PetscErrorCode Push(Numbers* list, PetscInt n, const double x[]) {
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

PetscErrorCode PushCorner(Parts* parts, PetscInt i, const Corner* corner, Corner last[2]) {
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

char* NextLine(Source* s) {
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

PetscErrorCode ParseReals(Source* s, char** text, PetscInt n, const char what[], double x[]) {
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

PetscErrorCode ParseInt(Source* s, char** text, const char what[], PetscInt* n) {
  char* stop;
  long value = strtol(*text, &stop, 10);

  PetscFunctionBeginUser;
  CheckSource(stop > *text && strchr("/ \t", *stop) && value > -0x7fffffff && value < 0x7fffffff, s,
              "%s: found \"%.20s\", an integer is wanted, of 32 bits", what, *text);
  *text = stop;
  *n = (PetscInt)value;
  PetscFunctionReturn(0);
}

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
  Parts parts = {{0, 0, NULL}, {0, 0, NULL}, {0, 0, NULL}, {0, 0, NULL}, PETSC_TRUE};
  const char* dot = strrchr(path, '.');
  PetscErrorCode code;
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
  code = formats[f].read(&s, &parts);
  PetscCall(PetscFree(s.data));
  PetscCall(PetscFree(parts.file_uv.a));
  if (code) {
    PetscCall(PetscFree(parts.xyz.a));
    PetscCall(PetscFree(parts.corner.a));
    PetscCall(PetscFree(parts.uv.a));
  }
  PetscCall(code);
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
