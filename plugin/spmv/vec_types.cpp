#include "spmv/vec_types.hpp"

#if !PetscDefined(HAVE_CUDA)

namespace compound::plugin {

PetscErrorCode expects_device_vectors(Mat, const Settings&, bool* yes) {
  *yes = false;
  return PETSC_SUCCESS;
}

}  // namespace compound::plugin

#else

#include <algorithm>
#include <cstring>
#include <string>

#include <petscdevice.h>
#include <petscdm.h>

#include "petsc/overrides.hpp"

namespace compound::plugin {

namespace {

PetscObject object(Mat A) { return reinterpret_cast<PetscObject>(A); }

bool is_cuda(const char* vec_type) { return vec_type && std::strstr(vec_type, "cuda"); }

/// By backend, by -vec_type (with the matrix's prefix, else as the program's vectors have it), or by the vector type of
/// the matrix's DM.
PetscErrorCode is_asked_for(Mat A, const Settings& settings, bool* asked) {
  PetscFunctionBegin;
  char text[64];
  PetscBool given = PETSC_FALSE;
  DM dm;
  VecType of_dm = nullptr;
  for (const char* prefix : {static_cast<const char*>(object(A)->prefix), static_cast<const char*>(nullptr)})
    if (!given) PetscCall(PetscOptionsGetString(object(A)->options, prefix, "-vec_type", text, sizeof(text), &given));
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetVecType(dm, &of_dm));
  *asked = settings.backend == BackendChoice::cuda || (given && is_cuda(text)) || is_cuda(of_dm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a vector type was set, by an option or by the program.
PetscErrorCode is_vec_type_set(Mat A, bool* set) {
  PetscFunctionBegin;
  VecType type;
  PetscBool given;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscOptionsHasName(object(A)->options, object(A)->prefix, "-mat_vec_type", &given));
  *set = given || std::strcmp(type, VECSTANDARD) != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode has_cuda_vectors(Mat A, bool* yes) {
  PetscFunctionBegin;
  VecType type;
  PetscCall(MatGetVecType(A, &type));
  *yes = is_cuda(type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode decide_vec_type(Mat A, const Settings& settings, Moment moment) {
  PetscFunctionBegin;
  bool set = false, wanted = false;
  PetscCall(is_vec_type_set(A, &set));
  if (set || is_bound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(is_asked_for(A, settings, &wanted));
  if (moment == Moment::making_vectors && settings.backend == BackendChoice::automatic)
    wanted = wanted || PetscDeviceInitialized(PETSC_DEVICE_CUDA);
  if (wanted && device_backend()) PetscCall(MatSetVecType(A, VECCUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode expects_device_vectors(Mat A, const Settings& settings, bool* yes) {
  PetscFunctionBegin;
  *yes = false;
  if (!settings.may_use_device() || is_bound(A) || !device_backend()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(has_cuda_vectors(A, yes));
  if (!*yes) PetscCall(is_asked_for(A, settings, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_vecs(Mat A, Vec* right, Vec* left) {
  PetscFunctionBegin;
  PetscCall(with_operation<&_MatOps::getvecs>(A, nullptr, [&] { return MatCreateVecs(A, right, left); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode keep_coloring_on_host(Mat A, MatFDColoring coloring) {
  PetscFunctionBegin;
  VecType type;
  bool cuda;
  PetscCall(has_cuda_vectors(A, &cuda));
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroy(&coloring->w1));
  PetscCall(VecDestroy(&coloring->w2));
  PetscCall(MatGetVecType(A, &type));
  const std::string kept = type;
  PetscCall(MatSetVecType(A, VECSTANDARD));
  PetscCall(create_vecs(A, nullptr, &coloring->w1));
  PetscCall(MatSetVecType(A, kept.c_str()));
  PetscCall(VecDuplicate(coloring->w1, &coloring->w2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bind_to_cpu(Mat A, const Settings& settings, PetscBool bound) {
  PetscFunctionBegin;
  bool cuda = false;
  PetscCall(has_cuda_vectors(A, &cuda));
  if (bound && cuda) PetscCall(MatSetVecType(A, VECSTANDARD));
  if (!bound) PetscCall(decide_vec_type(A, settings, Moment::making_vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin

#endif
