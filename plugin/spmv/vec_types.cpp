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
#include <iterator>
#include <string>

#include <petscdevice.h>
#include <petscdm.h>

#include "petsc/overrides.hpp"

namespace compound::plugin {

namespace {

PetscObject object(Mat A) { return reinterpret_cast<PetscObject>(A); }

/// Vector types that may be on a device. Where a vector is, its memory type says.
constexpr VecType device_types[] = {VECCUDA, VECKOKKOS};

/// The one of these that a type such as "seqcuda" belongs to; null for all others.
VecType device_type_of(const char* vec_type) {
  const auto* const found = std::ranges::find_if(
      device_types, [&](VecType type) { return vec_type && std::strstr(vec_type, type) != nullptr; });
  return found == std::end(device_types) ? nullptr : *found;
}

/// By backend, by -vec_type (with the matrix's prefix, else as the program's vectors have it), or by the vector type of
/// the matrix's DM. Null: none.
PetscErrorCode find_device_type(Mat A, const Settings& settings, VecType* type) {
  PetscFunctionBegin;
  char text[64];
  PetscBool given = PETSC_FALSE;
  DM dm;
  VecType of_dm = nullptr;
  for (const char* prefix : {static_cast<const char*>(object(A)->prefix), static_cast<const char*>(nullptr)})
    if (!given) PetscCall(PetscOptionsGetString(object(A)->options, prefix, "-vec_type", text, sizeof(text), &given));
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetVecType(dm, &of_dm));
  *type = device_type_of(given ? text : nullptr);
  if (!*type) *type = device_type_of(of_dm);
  if (!*type && settings.backend == BackendChoice::cuda) *type = VECCUDA;
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

PetscErrorCode has_device_vectors(Mat A, bool* yes) {
  PetscFunctionBegin;
  VecType type;
  PetscCall(MatGetVecType(A, &type));
  *yes = device_type_of(type) != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode decide_vec_type(Mat A, const Settings& settings, Moment moment) {
  PetscFunctionBegin;
  bool set = false;
  VecType wanted = nullptr;
  PetscCall(is_vec_type_set(A, &set));
  if (set || is_bound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(find_device_type(A, settings, &wanted));
  if (!wanted && moment == Moment::making_vectors && settings.backend == BackendChoice::automatic &&
      PetscDeviceInitialized(PETSC_DEVICE_CUDA))
    wanted = VECCUDA;
  if (wanted && device_backend()) PetscCall(MatSetVecType(A, wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode expects_device_vectors(Mat A, const Settings& settings, bool* yes) {
  PetscFunctionBegin;
  *yes = false;
  if (!settings.may_use_device() || is_bound(A) || !device_backend()) PetscFunctionReturn(PETSC_SUCCESS);
  VecType asked = nullptr;
  PetscCall(has_device_vectors(A, yes));
  PetscCall(find_device_type(A, settings, &asked));
  *yes = *yes || asked;
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
  bool device = false;
  PetscCall(has_device_vectors(A, &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
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
  bool device = false;
  PetscCall(has_device_vectors(A, &device));
  if (bound && device) PetscCall(MatSetVecType(A, VECSTANDARD));
  if (!bound) PetscCall(decide_vec_type(A, settings, Moment::making_vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin

#endif
