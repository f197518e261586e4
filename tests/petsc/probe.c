/*
   Linked into each of PETSc's programs: tells which matrix types were really used, and whether our own products ran.

   It stands before PETSc's functions of the same names and calls them. What it counted goes to the file that the
   environment variable COMPOUND_PROBE names, one line a fact, when the process ends by itself:

     type NAME COUNT         a matrix became of this type (PETSc's block types), or was destroyed as one (ours)
     products COUNT          by our kernels, of matrices that were destroyed; of a parallel one, those of its parts too
     device_bytes COUNT      of packed copies on a device, the most of any matrix
     prefix mat|dm PREFIX    a matrix or DM read its options with this prefix (- for none)
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <petsccompound.h>
#include <petscdm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { max_facts = 256, fact_length = 160 };
static char fact[max_facts][fact_length];
static long long times[max_facts];
static int facts;
static long long products, device_bytes;

static void* next(const char* name) {
  void* function = dlsym(RTLD_NEXT, name);
  if (!function) {
    fprintf(stderr, "probe: PETSc has no %s\n", name);
    abort();
  }
  return function;
}

static void note(const char* kind, const char* name) {
  char line[fact_length];
  int i;
  snprintf(line, sizeof(line), "%s %s", kind, name && *name ? name : "-");
  for (i = 0; i < facts && strcmp(fact[i], line); ++i)
    ;
  if (i == max_facts) return;
  if (i == facts) strcpy(fact[facts++], line);
  ++times[i];
}

PetscErrorCode PetscObjectChangeTypeName(PetscObject object, const char type[]) {
  static PetscErrorCode (*parent)(PetscObject, const char[]);
  if (!parent) parent = (PetscErrorCode(*)(PetscObject, const char[]))next("PetscObjectChangeTypeName");
  if (type && strstr(type, "aij")) note("type", type);
  return parent(object, type);
}

static void note_prefix(const char* kind, PetscObject object) {
  const char* prefix = NULL;
  if (object && !PetscObjectGetOptionsPrefix(object, &prefix)) note(kind, prefix);
}

PetscErrorCode MatSetFromOptions(Mat A) {
  static PetscErrorCode (*parent)(Mat);
  if (!parent) parent = (PetscErrorCode(*)(Mat))next("MatSetFromOptions");
  note_prefix("prefix mat", (PetscObject)A);
  return parent(A);
}

PetscErrorCode DMSetFromOptions(DM dm) {
  static PetscErrorCode (*parent)(DM);
  if (!parent) parent = (PetscErrorCode(*)(DM))next("DMSetFromOptions");
  note_prefix("prefix dm", (PetscObject)dm);
  return parent(dm);
}

static void count_products(Mat A) {
  PetscErrorCode (*get_info)(Mat, MatCompoundInfo*, size_t) =
      (PetscErrorCode(*)(Mat, MatCompoundInfo*, size_t))dlsym(RTLD_DEFAULT, "MatCompoundGetInfoSized");
  PetscInt references;
  const char* type;
  MatCompoundInfo info;
  if (!get_info || PetscObjectGetReference((PetscObject)A, &references) || references != 1) return;
  if (PetscObjectGetType((PetscObject)A, &type) || !type || !strstr(type, "aijcompound")) return;
  note("type", type);
  if (get_info(A, &info, sizeof(info))) return;
  products += info.products;
  if (info.device_bytes > device_bytes) device_bytes = info.device_bytes;
}

PetscErrorCode MatDestroy(Mat* A) {
  static PetscErrorCode (*parent)(Mat*);
  if (!parent) parent = (PetscErrorCode(*)(Mat*))next("MatDestroy");
  if (A && *A) count_products(*A);
  return parent(A);
}

__attribute__((destructor)) static void tell(void) {
  static char text[(max_facts + 2) * (fact_length + 24)];
  const char* path = getenv("COMPOUND_PROBE");
  size_t length = 0;
  int file;
  if (!path || (file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644)) < 0) return;
  for (int i = 0; i < facts; ++i) length += (size_t)sprintf(text + length, "%s %lld\n", fact[i], times[i]);
  length += (size_t)sprintf(text + length, "products %lld\ndevice_bytes %lld\n", products, device_bytes);
  if (write(file, text, length) < 0) perror("probe"); /* one write: lines of ranks do not mix */
  close(file);
}
