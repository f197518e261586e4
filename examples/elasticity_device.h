/* Element matrices that a kernel computes in the memory of a GPU */
#pragma once

#include "elasticity_element.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Arrays of the host's. */
typedef struct {
  int nv; /* nodes of an element: 4 or 8 */
  long long nelem;
  const int* elem; /* [nelem][nv] nodes */
  int nnode;
  const PetscReal* xyz; /* [nnode][3], in units of h */
  PetscReal h[3];
  const unsigned char* clamped; /* [nnode] */
  Material material;
  int parts; /* reals of a PetscScalar: 1 or 2 */
} ElementInput;

typedef struct DeviceElements DeviceElements;

/* Each gives NULL, or what went wrong. */
const char* DeviceElementsCreate(const ElementInput* input, DeviceElements** elements);
/* Computes all element matrices: blocks [nelem][nv][nv] of 3 x 3 scalars by rows, with clamped nodes eliminated. */
const char* DeviceElementsCompute(DeviceElements* elements);
/* They are there, in the memory of the GPU. */
void* DeviceElementsValues(const DeviceElements* elements);
void DeviceElementsDestroy(DeviceElements* elements);

#if defined(__cplusplus)
}
#endif
