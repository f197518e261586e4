#include "gmsh_file.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"

typedef struct {
  int type, dim, nodes;
} ElementType;

/* Of Gmsh's numbers; the vertices are the first nodes */
static const ElementType element_types[] = {
    {15, 0, 1},  {1, 1, 2},   {8, 1, 3},   {26, 1, 4},  {27, 1, 5},  {28, 1, 6},   {2, 2, 3},    {9, 2, 6},
    {20, 2, 9},  {21, 2, 10}, {22, 2, 12}, {23, 2, 15}, {24, 2, 15}, {25, 2, 21},  {3, 2, 4},    {10, 2, 9},
    {16, 2, 8},  {36, 2, 16}, {37, 2, 25}, {38, 2, 36}, {4, 3, 4},   {11, 3, 10},  {29, 3, 20},  {30, 3, 35},
    {31, 3, 56}, {5, 3, 8},   {12, 3, 27}, {17, 3, 20}, {92, 3, 64}, {93, 3, 125}, {6, 3, 6},    {13, 3, 18},
    {18, 3, 15}, {90, 3, 40}, {91, 3, 75}, {7, 3, 5},   {14, 3, 14}, {19, 3, 13},  {118, 3, 30}, {119, 3, 55}};

static const int tetrahedra[] = {4, 11, 29, 30, 31}, triangles[] = {2, 9, 20, 21, 22, 23, 24, 25};

enum { MOST_TAGS = 16 }; /* of an entity */

typedef long long Number; /* tags of files have 64 bits */

typedef struct {
  PetscSegBuffer items;
  PetscInt n;
} List;

/* A file in memory, and how far it has been read.  The first thing that is wrong is kept in `message`, and nothing is
   read after it. */
typedef struct {
  const char* path;
  char *data, *at, *end;
  PetscBool binary, swap;
  int version; /* 22 or 41; 0 before it is known */
  PetscBool has_nodes, has_elements;
  PetscInt dim, others; /* the largest dimension of elements; those of dimension 3 that are no tetrahedra */
  List tag, xyz, cell, face, key, pair, surface; /* as the file has them, by tags of nodes */
  char message[PETSC_MAX_PATH_LEN + 512];
} Reader;

static PetscBool Good(const Reader* r) { return (PetscBool)!r->message[0]; }

/* Says what is wrong, and where, unless the whole file has been read */
static void Fail(Reader* r, const char format[], ...) {
  char text[400];
  va_list arguments;

  if (!Good(r)) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (r->at < r->end)
    snprintf(r->message, sizeof(r->message), "%s, byte %lld: %s", r->path, (Number)(r->at - r->data), text);
  else
    snprintf(r->message, sizeof(r->message), "%s: %s", r->path, text);
}

static void SkipBlanks(Reader* r) {
  while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
}

/* The characters up to the next blank, and that: binary numbers begin after it.  Empty at the end of the file. */
static void Token(Reader* r, char token[64]) {
  size_t length = 0;

  SkipBlanks(r);
  while (r->at < r->end && !isspace((unsigned char)*r->at) && length < 63) token[length++] = *r->at++;
  token[length] = 0;
  if (length == 63) Fail(r, "\"%.20s...\" is longer than 62 characters", token);
  if (r->at < r->end) r->at++;
}

static void Bytes(Reader* r, void* to, size_t n) {
  memset(to, 0, n);
  if ((size_t)(r->end - r->at) < n) {
    Fail(r, "the file ends too soon; write it once more");
    return;
  }
  for (size_t i = 0; i < n; i++) ((char*)to)[r->swap ? n - 1 - i : i] = r->at[i];
  r->at += n;
}

/* An integer as text */
static Number TextInteger(Reader* r, const char what[]) {
  char token[64], *stop;
  Number value;

  Token(r, token);
  value = strtoll(token, &stop, 10);
  if (!token[0] || *stop) Fail(r, "found \"%.20s\", a whole number is wanted: %s", token, what);
  return Good(r) ? value : 0;
}

/* An integer of 4 bytes */
static int Integer(Reader* r, const char what[]) {
  Number value;
  int bits;

  if (r->binary) {
    Bytes(r, &bits, 4);
    return bits;
  }
  value = TextInteger(r, what);
  if (value < -0x7fffffff || value > 0x7fffffff) Fail(r, "%s is %lld, which has more than 32 bits", what, value);
  return Good(r) ? (int)value : 0;
}

/* A count or a tag: of 8 bytes in format 4.1, of 4 in 2.2 */
static Number Size(Reader* r, const char what[]) {
  Number value;

  if (!r->binary) {
    value = TextInteger(r, what);
  } else if (r->version == 41) {
    Bytes(r, &value, 8);
  } else {
    value = Integer(r, what);
  }
  if (value < 0) Fail(r, "%s is %lld; 0 or more is wanted", what, value);
  return Good(r) ? value : 0;
}

static double Real(Reader* r, const char what[]) {
  char token[64], *stop;
  double value;

  if (r->binary) {
    Bytes(r, &value, 8);
  } else {
    Token(r, token);
    value = strtod(token, &stop);
    if (!token[0] || *stop) Fail(r, "found \"%.20s\", a number is wanted: %s", token, what);
  }
  if (!isfinite(value)) Fail(r, "%s is not finite", what);
  return Good(r) ? value : 0;
}

/* Room for n more items */
static PetscErrorCode Extend(List* list, PetscInt n, void* to) {
  PetscFunctionBeginUser;
  PetscCheck(n < PETSC_MAX_INT - list->n, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-mesh: the file has more numbers than PETSc's integers count; use a PETSc with 64-bit indices");
  PetscCall(PetscSegBufferGet(list->items, n, to));
  list->n += n;
  PetscFunctionReturn(0);
}

static PetscErrorCode PushNumbers(List* list, PetscInt n, const Number x[]) {
  Number* to;

  PetscFunctionBeginUser;
  PetscCall(Extend(list, n, &to));
  PetscCall(PetscArraycpy(to, x, n));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadFormat(Reader* r) {
  char token[64];
  Number kind, size;
  int one;

  PetscFunctionBeginUser;
  Token(r, token);
  r->version = !strcmp(token, "2.2") ? 22 : !strcmp(token, "4.1") ? 41 : 0;
  if (!r->version)
    Fail(r, "the format is %.20s; 2.2 and 4.1 are read: write the mesh with gmsh -format msh41 -save", token);
  kind = TextInteger(r, "0 for text, 1 for binary");
  size = TextInteger(r, "bytes of a number");
  if (kind != 0 && kind != 1) Fail(r, "the kind of file is %lld; 0 is text, 1 is binary", kind);
  if (size != 8) Fail(r, "numbers have %lld bytes; 8 are read", size);
  if (kind == 1 && Good(r)) {
    r->binary = PETSC_TRUE;
    Bytes(r, &one, 4);
    if (one != 1) {
      r->at -= 4;
      r->swap = PETSC_TRUE;
      Bytes(r, &one, 4);
    }
    if (one != 1) Fail(r, "the number that tells the order of bytes is not 1");
  }
  PetscFunctionReturn(0);
}

/* Names are text in binary files, too: dimension, number, name in quotes, to the end of the line */
static PetscErrorCode ReadNames(Reader* r) {
  const Number n = TextInteger(r, "the number of names");

  PetscFunctionBeginUser;
  for (Number i = 0; i < n && Good(r); i++) {
    const Number dim = TextInteger(r, "the dimension of a name"), number = TextInteger(r, "the number of a name");
    char* line = r->at;
    char* stop = memchr(line, '\n', (size_t)(r->end - line));
    GmshSurface* s;

    stop = stop ? stop : r->end;
    while (line < stop && *line != '"') line++;
    while (stop > line && *stop != '"') stop--;
    if (line == stop || stop - line > 128 || number < 0 || number > 0x7fffffff)
      Fail(r, "name %lld is wrong: a dimension, a number of 0 or more and up to 127 characters in quotes are wanted",
           i);
    if (!Good(r)) break;
    r->at = stop + 1;
    if (dim != 2) continue;
    PetscCall(Extend(&r->surface, 1, &s));
    PetscCall(PetscMemzero(s, sizeof(*s)));
    s->number = (int)number;
    PetscCall(PetscMemcpy(s->name, line + 1, (size_t)(stop - line - 1)));
  }
  PetscFunctionReturn(0);
}

/* Which physical surfaces the surfaces of the geometry belong to */
static PetscErrorCode ReadEntities(Reader* r) {
  Number count[4];

  PetscFunctionBeginUser;
  if (r->version != 41) Fail(r, "there are $Entities, which format 2.2 does not have");
  for (int dim = 0; dim < 4; dim++) count[dim] = Size(r, "the number of entities");
  for (int dim = 0; dim < 4; dim++)
    for (Number i = 0; i < count[dim] && Good(r); i++) {
      Number pair[2] = {Integer(r, "the tag of an entity"), 0}, n;

      for (int d = 0; d < (dim ? 6 : 3); d++) (void)Real(r, "a bound of an entity");
      n = Size(r, "the number of physical tags");
      if (n > MOST_TAGS) Fail(r, "an entity has %lld physical tags; at most %d are read", n, MOST_TAGS);
      for (Number k = 0; k < n && Good(r); k++) {
        pair[1] = Integer(r, "a physical tag");
        if (dim == 2) PetscCall(PushNumbers(&r->pair, 2, pair));
      }
      n = dim ? Size(r, "the number of bounding entities") : 0;
      for (Number k = 0; k < n && Good(r); k++) (void)Integer(r, "a bounding entity");
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode PushCoordinates(Reader* r) {
  double* x;

  PetscFunctionBeginUser;
  PetscCall(Extend(&r->xyz, 3, &x));
  for (int d = 0; d < 3; d++) x[d] = Real(r, "a coordinate");
  PetscFunctionReturn(0);
}

/* All tags of a block of 4.1, then all its coordinates */
static PetscErrorCode ReadNodeBlock(Reader* r, Number* found) {
  const int dim = Integer(r, "the dimension of a block"), entity = Integer(r, "the entity of a block"),
            parametric = Integer(r, "whether coordinates have parameters");
  const Number n = Size(r, "the number of nodes in a block");

  PetscFunctionBeginUser;
  (void)entity;
  if (dim < 0 || dim > 3 || parametric < 0 || parametric > 1)
    Fail(r, "a block of nodes has dimension %d and parameters %d; 0 to 3 and 0 or 1 are wanted", dim, parametric);
  for (Number i = 0; i < n && Good(r); i++) {
    const Number tag = Size(r, "the tag of a node");

    PetscCall(PushNumbers(&r->tag, 1, &tag));
  }
  for (Number i = 0; i < n && Good(r); i++) {
    PetscCall(PushCoordinates(r));
    for (int d = 0; d < (parametric ? dim : 0); d++) (void)Real(r, "a parameter of a node");
  }
  *found += Good(r) ? n : 0;
  PetscFunctionReturn(0);
}

/* Sizes that begin a section of blocks: blocks, what they have in all, the smallest and the largest tag */
static void ReadSizes(Reader* r, Number size[4]) {
  for (int i = 0; i < 4; i++) size[i] = Size(r, "a number that begins a section");
}

static PetscErrorCode ReadNodes(Reader* r) {
  Number size[4], found = 0;

  PetscFunctionBeginUser;
  if (r->has_nodes) Fail(r, "there are $Nodes a second time");
  r->has_nodes = PETSC_TRUE;
  if (r->version == 41) {
    ReadSizes(r, size);
    for (Number b = 0; b < size[0] && Good(r); b++) PetscCall(ReadNodeBlock(r, &found));
    if (found != size[1]) Fail(r, "%lld nodes are announced, the blocks have %lld", size[1], found);
    PetscFunctionReturn(0);
  }
  size[1] = TextInteger(r, "the number of nodes");
  for (; found < size[1] && Good(r); found++) {
    const Number tag = Size(r, "the tag of a node");

    PetscCall(PushNumbers(&r->tag, 1, &tag));
    PetscCall(PushCoordinates(r));
  }
  PetscFunctionReturn(0);
}

static PetscBool IsOneOf(const int list[], size_t n, int type) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == type) return PETSC_TRUE;
  return PETSC_FALSE;
}

static const ElementType* FindType(Reader* r, int type) {
  for (size_t i = 0; i < sizeof(element_types) / sizeof(*element_types); i++)
    if (element_types[i].type == type) return &element_types[i];
  Fail(r, "elements of type %d are not read; tetrahedra, triangles, lines and points are", type);
  return &element_types[0];
}

/* The nodes of an element.  Of triangles `key` is kept: the physical surface, or in format 4.1 the surface. */
static PetscErrorCode ReadElement(Reader* r, const ElementType* type, Number key) {
  Number node[128] = {0};

  PetscFunctionBeginUser;
  for (int i = 0; i < type->nodes && Good(r); i++) node[i] = Size(r, "the tag of an element's node");
  if (!Good(r)) PetscFunctionReturn(0);
  r->dim = PetscMax(r->dim, type->dim);
  if (IsOneOf(tetrahedra, sizeof(tetrahedra) / sizeof(int), type->type)) {
    PetscCall(PushNumbers(&r->cell, 4, node));
  } else if (type->dim == 3) {
    r->others++;
  } else if (IsOneOf(triangles, sizeof(triangles) / sizeof(int), type->type)) {
    PetscCall(PushNumbers(&r->face, 3, node));
    PetscCall(PushNumbers(&r->key, 1, &key));
  }
  PetscFunctionReturn(0);
}

/* Elements of 2.2 that follow a header: number, tags, of which the first is the physical one, and nodes */
static PetscErrorCode ReadElementsOfHeader(Reader* r, const ElementType* type, Number n, int tags) {
  PetscFunctionBeginUser;
  for (Number i = 0; i < n && Good(r); i++) {
    Number key = 0;

    if (r->binary) (void)Integer(r, "the number of an element");
    for (int t = 0; t < tags && Good(r); t++) {
      const int tag = Integer(r, "a tag of an element");

      if (t == 0) key = tag;
    }
    PetscCall(ReadElement(r, type, key));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadElements(Reader* r) {
  Number size[4], found = 0;

  PetscFunctionBeginUser;
  if (r->has_elements) Fail(r, "there are $Elements a second time");
  r->has_elements = PETSC_TRUE;
  if (r->version == 41) {
    ReadSizes(r, size);
    for (Number b = 0; b < size[0] && Good(r); b++) {
      const int dim = Integer(r, "the dimension of a block"), entity = Integer(r, "the entity of a block");
      const ElementType* type = FindType(r, Integer(r, "the type of elements"));
      const Number n = Size(r, "the number of elements in a block");

      (void)dim; /* the type says it, too */
      for (Number i = 0; i < n && Good(r); i++) {
        (void)Size(r, "the tag of an element");
        PetscCall(ReadElement(r, type, entity));
        found++;
      }
    }
  } else {
    size[1] = TextInteger(r, "the number of elements");
    while (found < size[1] && Good(r)) {
      const int first = Integer(r, "the number or the type of elements");
      const int second = Integer(r, "the type or the number of elements");
      const int tags = Integer(r, "the number of tags");
      const Number n = r->binary ? second : 1;

      if (n < 1 || n > size[1] - found || tags < 0)
        Fail(r, "%lld elements with %d tags follow, where %lld are left; 1 or more and 0 or more are wanted", n, tags,
             size[1] - found);
      PetscCall(ReadElementsOfHeader(r, FindType(r, r->binary ? first : second), n, tags));
      found += n;
    }
  }
  if (found != size[1]) Fail(r, "%lld elements are announced, %lld found", size[1], found);
  PetscFunctionReturn(0);
}

/* Behind the end of a section that is not read */
static void SkipSection(Reader* r, const char end[]) {
  const size_t length = strlen(end);

  while (r->at < r->end) {
    char* mark = memchr(r->at, '$', (size_t)(r->end - r->at));

    if (!mark) break;
    r->at = mark + 1;
    if ((size_t)(r->end - mark) < length || memcmp(mark, end, length)) continue;
    r->at = mark + length;
    return;
  }
  Fail(r, "%s does not follow", end);
}

static PetscErrorCode ReadSections(Reader* r) {
  static const struct {
    const char* name;
    PetscErrorCode (*read)(Reader*);
  } sections[] = {{"$MeshFormat", ReadFormat},
                  {"$PhysicalNames", ReadNames},
                  {"$Entities", ReadEntities},
                  {"$Nodes", ReadNodes},
                  {"$Elements", ReadElements}};
  char token[64], end[80], found[64];

  PetscFunctionBeginUser;
  for (Token(r, token); token[0] && Good(r); Token(r, token)) {
    int s = 0;

    while (s < 5 && strcmp(token, sections[s].name)) s++;
    if (token[0] != '$' || (s != 0) != (r->version != 0))
      Fail(r, "found \"%.20s\" where a section begins; $MeshFormat comes first, and once", token);
    if (!Good(r)) break;
    snprintf(end, sizeof(end), "$End%s", token + 1);
    if (s == 5) {
      SkipSection(r, end);
      continue;
    }
    PetscCall((*sections[s].read)(r));
    if (Good(r)) Token(r, found);
    if (Good(r) && strcmp(found, end)) Fail(r, "found \"%.20s\", %s is wanted", found, end);
  }
  if (!r->version) Fail(r, "this is no Gmsh file, which begins with $MeshFormat");
  if (!r->has_nodes || !r->has_elements) Fail(r, "the file has no $%s", r->has_nodes ? "Elements" : "Nodes");
  PetscFunctionReturn(0);
}

typedef struct {
  Number tag;
  PetscInt node;
} NodeTag;

static int CompareTags(const void* a, const void* b) {
  const Number x = ((const NodeTag*)a)->tag, y = ((const NodeTag*)b)->tag;

  return (x > y) - (x < y);
}

/* Numbers of nodes in the place of their tags; each of `per` that belong together is another one */
static PetscErrorCode Resolve(Reader* r, const NodeTag sorted[], PetscInt nnode, const Number tag[], PetscInt n,
                              PetscInt per, const char what[], PetscInt to[]) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n && Good(r); i++) {
    const NodeTag wanted = {tag[i], 0};
    const NodeTag* found = nnode ? bsearch(&wanted, sorted, (size_t)nnode, sizeof(NodeTag), CompareTags) : NULL;

    if (!found) {
      Fail(r, "%s %" PetscInt_FMT " has the node %lld, which is not among the nodes", what, i / per, tag[i]);
      break;
    }
    to[i] = found->node;
    for (PetscInt k = i - i % per; k < i; k++)
      if (to[k] == to[i]) Fail(r, "%s %" PetscInt_FMT " has the node %lld twice", what, i / per, tag[i]);
  }
  PetscFunctionReturn(0);
}

static int CompareFaces(const void* a, const void* b) {
  const PetscInt *x = (const PetscInt*)a, *y = (const PetscInt*)b;

  for (int k = 0; k < 3; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

static PetscErrorCode SortedFace(const PetscInt node[3], PetscInt face[3]) {
  PetscFunctionBeginUser;
  PetscCall(PetscArraycpy(face, node, 3));
  PetscCall(PetscSortInt(3, face));
  PetscFunctionReturn(0);
}

/* A face is in one tetrahedron or two, which are not the same; a triangle of a surface is a face */
static PetscErrorCode CheckFaces(Reader* r, const GmshMesh* m) {
  static const int without[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  const size_t n = 4 * (size_t)m->ncell, size = 4 * sizeof(PetscInt);
  PetscInt(*faces)[4]; /* three nodes, and the fourth of the tetrahedron */

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(PetscMax(n, 1) * size, &faces));
  for (size_t f = 0; f < n; f++) {
    const PetscInt* cell = m->cell + f / 4 * 4;
    const PetscInt node[] = {cell[without[f % 4][0]], cell[without[f % 4][1]], cell[without[f % 4][2]]};

    PetscCall(SortedFace(node, faces[f]));
    faces[f][3] = cell[f % 4];
  }
  qsort(faces, n, size, CompareFaces);
  for (size_t f = 1; f < n && Good(r); f++) {
    if (CompareFaces(faces[f - 1], faces[f])) continue;
    if (faces[f - 1][3] == faces[f][3]) Fail(r, "two tetrahedra have the same nodes");
    if (f > 1 && !CompareFaces(faces[f - 2], faces[f])) Fail(r, "three tetrahedra have a face in common");
  }
  for (PetscInt i = 0; i < m->nface && Good(r); i++) {
    PetscInt face[3];

    PetscCall(SortedFace(m->face + 3 * i, face));
    if (!n || !bsearch(face, faces, n, size, CompareFaces))
      Fail(r, "a triangle of physical surface %d is no face of a tetrahedron", m->face_surface[i]);
  }
  PetscCall(PetscFree(faces));
  PetscFunctionReturn(0);
}

/* Drops nodes that no tetrahedron has */
static PetscErrorCode RemoveUnused(GmshMesh* m) {
  PetscInt *number, n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(m->nnode, &number));
  for (PetscInt i = 0; i < 4 * m->ncell; i++) number[m->cell[i]] = 1;
  for (PetscInt i = 0; i < m->nnode; i++) {
    if (!number[i]) continue;
    PetscCall(PetscArraymove(m->xyz + 3 * n, m->xyz + 3 * i, 3));
    number[i] = n++;
  }
  m->nnode = n;
  for (PetscInt i = 0; i < 4 * m->ncell; i++) m->cell[i] = number[m->cell[i]];
  for (PetscInt i = 0; i < 3 * m->nface; i++) m->face[i] = number[m->face[i]];
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

static PetscErrorCode Take(List* list, size_t bytes, PetscInt* n, void* array) {
  PetscFunctionBeginUser;
  *n = list->n;
  PetscCall(PetscMalloc((size_t)PetscMax(list->n, 1) * bytes, array));
  PetscCall(PetscSegBufferExtractTo(list->items, *(void**)array));
  PetscFunctionReturn(0);
}

static int ComparePairs(const void* a, const void* b) {
  const Number x = *(const Number*)a, y = *(const Number*)b;

  return (x > y) - (x < y);
}

/* The first of n ascending pairs that does not begin with less */
static PetscInt LowerBound(const Number pair[], PetscInt n, Number key) {
  PetscInt begin = 0;

  while (begin < n) {
    const PetscInt middle = begin + (n - begin) / 2;

    if (pair[2 * middle] < key)
      begin = middle + 1;
    else
      n = middle;
  }
  return begin;
}

/* Triangles with the number of each physical surface that they are in */
static PetscErrorCode PlaceOnSurfaces(Reader* r, const PetscInt node[], const Number key[], PetscInt n, GmshMesh* m) {
  Number* pair;
  PetscInt pairs;
  List face = {NULL, 0}, surface = {NULL, 0};

  PetscFunctionBeginUser;
  PetscCall(Take(&r->pair, sizeof(Number), &pairs, &pair));
  qsort(pair, (size_t)pairs / 2, 2 * sizeof(Number), ComparePairs);
  PetscCall(PetscSegBufferCreate(sizeof(PetscInt), 1024, &face.items));
  PetscCall(PetscSegBufferCreate(sizeof(int), 1024, &surface.items));
  for (PetscInt i = 0; i < n; i++) {
    const Number own[] = {key[i], key[i]}, *of = r->version == 22 ? own : pair;
    const PetscInt count = r->version == 22 ? 1 : pairs / 2;

    for (PetscInt p = LowerBound(of, count, key[i]); p < count && of[2 * p] == key[i]; p++) {
      PetscInt* to;
      int* number;

      if (!of[2 * p + 1]) continue; /* none */
      PetscCall(Extend(&face, 3, &to));
      PetscCall(PetscArraycpy(to, node + 3 * i, 3));
      PetscCall(Extend(&surface, 1, &number));
      *number = (int)of[2 * p + 1];
    }
  }
  PetscCall(Take(&face, sizeof(PetscInt), &m->nface, &m->face));
  PetscCall(Take(&surface, sizeof(int), &m->nface, &m->face_surface));
  PetscCall(PetscSegBufferDestroy(&face.items));
  PetscCall(PetscSegBufferDestroy(&surface.items));
  PetscCall(PetscFree(pair));
  PetscFunctionReturn(0);
}

static PetscErrorCode Join(Reader* r, GmshMesh* m) {
  Number *tag, *cell, *face, *key;
  PetscInt numbers, ncell, nface, *node;
  double* xyz;
  NodeTag* sorted;

  PetscFunctionBeginUser;
  PetscCall(Take(&r->tag, sizeof(Number), &m->nnode, &tag));
  PetscCall(Take(&r->xyz, sizeof(double), &numbers, &xyz));
  PetscCall(Take(&r->cell, sizeof(Number), &ncell, &cell));
  PetscCall(Take(&r->face, sizeof(Number), &nface, &face));
  PetscCall(Take(&r->key, sizeof(Number), &numbers, &key));
  PetscCall(Take(&r->surface, sizeof(GmshSurface), &m->nsurface, &m->surface));
  PetscCall(PetscMalloc1(m->nnode, &sorted));
  PetscCall(PetscMalloc1(3 * m->nnode, &m->xyz));
  for (PetscInt i = 0; i < m->nnode; i++) sorted[i] = (NodeTag){tag[i], i};
  for (PetscInt i = 0; i < 3 * m->nnode; i++) m->xyz[i] = (PetscReal)xyz[i];
  if (m->nnode) qsort(sorted, (size_t)m->nnode, sizeof(NodeTag), CompareTags);
  for (PetscInt i = 1; i < m->nnode; i++)
    if (sorted[i].tag == sorted[i - 1].tag) Fail(r, "two nodes have the tag %lld", sorted[i].tag);
  m->ncell = ncell / 4;
  PetscCall(PetscMalloc1(ncell, &m->cell));
  PetscCall(PetscMalloc1(nface, &node));
  PetscCall(Resolve(r, sorted, m->nnode, cell, ncell, 4, "tetrahedron", m->cell));
  PetscCall(Resolve(r, sorted, m->nnode, face, nface, 3, "triangle", node));
  if (Good(r)) PetscCall(PlaceOnSurfaces(r, node, key, nface / 3, m));
  if (Good(r)) PetscCall(CheckFaces(r, m));
  if (Good(r)) PetscCall(RemoveUnused(m));
  PetscCall(PetscFree(tag));
  PetscCall(PetscFree(xyz));
  PetscCall(PetscFree(cell));
  PetscCall(PetscFree(face));
  PetscCall(PetscFree(key));
  PetscCall(PetscFree(sorted));
  PetscCall(PetscFree(node));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadFile(Reader* r) {
  PetscBool found;
  FILE* file;
  long size = -1;

  PetscFunctionBeginUser;
  PetscCall(PetscTestFile(r->path, 'r', &found));
  file = found ? fopen(r->path, "rb") : NULL;
  if (file && !fseek(file, 0, SEEK_END)) size = ftell(file);
  PetscCall(PetscMalloc1((size_t)PetscMax(size, 0) + 1, &r->data));
  r->at = r->data;
  if (size < 0 || fseek(file, 0, SEEK_SET) || fread(r->data, 1, (size_t)size, file) != (size_t)size) {
    size = 0;
    snprintf(r->message, sizeof(r->message), "cannot read the file %s; check the path and its permissions", r->path);
  }
  r->end = r->data + size;
  if (file) fclose(file);
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOnThisRank(Reader* r, GmshMesh* m) {
  const struct {
    List* list;
    size_t bytes;
  } lists[] = {{&r->tag, sizeof(Number)},         {&r->xyz, sizeof(double)}, {&r->cell, sizeof(Number)},
               {&r->face, sizeof(Number)},        {&r->key, sizeof(Number)}, {&r->pair, sizeof(Number)},
               {&r->surface, sizeof(GmshSurface)}};

  PetscFunctionBeginUser;
  for (int i = 0; i < 7; i++) PetscCall(PetscSegBufferCreate(lists[i].bytes, 1024, &lists[i].list->items));
  PetscCall(ReadFile(r));
  if (Good(r)) PetscCall(ReadSections(r));
  if (r->others)
    Fail(r, "%" PetscInt_FMT " cells are not tetrahedra; mesh with gmsh -3 and without Recombine", r->others);
  if (r->dim < 3)
    Fail(r,
         "the cells have dimension %" PetscInt_FMT
         ", not 3; mesh the volume with gmsh -3 and save its elements (Physical Volume)",
         r->dim);
  if (Good(r)) PetscCall(Join(r, m));
  for (int i = 0; i < 7; i++) PetscCall(PetscSegBufferDestroy(&lists[i].list->items));
  PetscCall(PetscFree(r->data));
  PetscFunctionReturn(0);
}

PetscErrorCode GmshMeshRead(const char path[], GmshMesh* m) {
  Reader r;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(m, sizeof(*m)));
  PetscCall(PetscMemzero(&r, sizeof(r)));
  r.path = path;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(ReadOnThisRank(&r, m));
  PetscCallMPI(MPI_Bcast(r.message, sizeof(r.message), MPI_CHAR, 0, PETSC_COMM_WORLD));
  if (r.message[0]) PetscCall(GmshMeshDestroy(m));
  CheckInput(!r.message[0], "-mesh: %s", r.message);
  PetscFunctionReturn(0);
}

PetscErrorCode GmshMeshDestroy(GmshMesh* m) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(m->xyz));
  PetscCall(PetscFree(m->cell));
  PetscCall(PetscFree(m->face));
  PetscCall(PetscFree(m->face_surface));
  PetscCall(PetscFree(m->surface));
  PetscCall(PetscMemzero(m, sizeof(*m)));
  PetscFunctionReturn(0);
}
