#include <stdlib.h>

#include "elasticity_device.h"

/* Arrays on the GPU */
struct DeviceElements {
  int nv, parts;
  long long nelem;
  int* elem;
  PetscReal *xyz, h[3];
  unsigned char* clamped;
  Material material;
  PetscReal* values;
};

/* A thread block each element, a thread each of its blocks. Threads share the gradients at all points. */
__global__ void ComputeElements(DeviceElements e) {
  __shared__ PetscReal X[8][3], G[8][8][3], w[8];
  const int nv = e.nv, points = GradientPoints(nv), thread = threadIdx.x, a = thread / nv, b = thread % nv;
  const int* nodes = e.elem + (long long)blockIdx.x * nv;
  PetscReal K[9] = {0};

  if (thread < nv)
    for (int d = 0; d < 3; d++) X[thread][d] = (e.xyz[3 * nodes[thread] + d] - e.xyz[3 * nodes[0] + d]) * e.h[d];
  __syncthreads();
  if (thread < points) w[thread] = ElementGradients(nv, X, thread, G[thread]);
  __syncthreads();
  for (int p = 0; p < points; p++) AddStiffness(e.material, w[p], G[p][a], G[p][b], K);
  if (e.clamped[nodes[a]] || e.clamped[nodes[b]]) {
    const PetscReal mean = a == b ? (K[0] + K[4] + K[8]) / 3 : 0;

    for (int k = 0; k < 9; k++) K[k] = k % 4 == 0 ? mean : 0;
  }
  PetscReal* to = e.values + ((long long)blockIdx.x * nv * nv + thread) * 9 * e.parts;

  for (int k = 0; k < 9; k++) {
    to[k * e.parts] = K[k];
    for (int part = 1; part < e.parts; part++) to[k * e.parts + part] = 0;
  }
}

static cudaError_t ToDevice(void** to, const void* from, size_t bytes) {
  const cudaError_t error = cudaMalloc(to, bytes);

  return error || !from ? error : cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice);
}

const char* DeviceElementsCreate(const ElementInput* in, DeviceElements** elements) {
  const size_t nodes = (size_t)in->nnode, corners = (size_t)in->nelem * in->nv;
  DeviceElements* e = (DeviceElements*)calloc(1, sizeof(DeviceElements));
  cudaError_t error;

  if (!e) return "no memory";
  e->nv = in->nv;
  e->parts = in->parts;
  e->nelem = in->nelem;
  e->material = in->material;
  for (int k = 0; k < 3; k++) e->h[k] = in->h[k];
  error = ToDevice((void**)&e->elem, in->elem, corners * sizeof(int));
  if (!error) error = ToDevice((void**)&e->xyz, in->xyz, 3 * nodes * sizeof(PetscReal));
  if (!error) error = ToDevice((void**)&e->clamped, in->clamped, nodes);
  if (!error) error = ToDevice((void**)&e->values, NULL, corners * in->nv * 9 * in->parts * sizeof(PetscReal));
  *elements = e;
  return error ? cudaGetErrorString(error) : NULL;
}

const char* DeviceElementsCompute(DeviceElements* e) {
  cudaError_t error = cudaSuccess;

  if (e->nelem > 0) ComputeElements<<<(unsigned)e->nelem, e->nv * e->nv>>>(*e);
  error = cudaGetLastError();
  if (!error) error = cudaDeviceSynchronize();
  return error ? cudaGetErrorString(error) : NULL;
}

void* DeviceElementsValues(const DeviceElements* e) { return e->values; }

void DeviceElementsDestroy(DeviceElements* e) {
  if (!e) return;
  cudaFree(e->elem);
  cudaFree(e->xyz);
  cudaFree(e->clamped);
  cudaFree(e->values);
  free(e);
}
