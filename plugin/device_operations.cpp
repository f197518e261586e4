#include "device_operations.hpp"

#if PetscDefined(HAVE_CUDA)

#include <algorithm>
#include <cstring>
#include <vector>

#include <petscdevice.h>
#include <petscdm.h>

#include "types.hpp"

namespace compound::plugin {

namespace {

PetscObject object(Mat A) { return reinterpret_cast<PetscObject>(A); }

bool is_cuda(const char* vec_type) { return vec_type && std::strstr(vec_type, "cuda"); }

/// By backend, by -vec_type, or by the vector type of the matrix's DM.
PetscErrorCode is_asked_for(Mat A, const Settings& settings, bool* asked) {
  PetscFunctionBegin;
  char text[64];
  PetscBool given;
  DM dm;
  VecType of_dm = nullptr;
  PetscCall(PetscOptionsGetString(object(A)->options, object(A)->prefix, "-vec_type", text, sizeof(text), &given));
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetVecType(dm, &of_dm));
  *asked = settings.backend == row_of(Place::device).backend || (given && is_cuda(text)) || is_cuda(of_dm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the user named a type, or somebody set one before.
PetscErrorCode is_vec_type_set(Mat A, bool* set) {
  PetscFunctionBegin;
  VecType type;
  PetscBool given;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscOptionsHasName(object(A)->options, object(A)->prefix, "-mat_vec_type", &given));
  *set = given || std::strcmp(type, VECSTANDARD) != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode has_cuda_vectors(Mat A, bool* yes) {
  PetscFunctionBegin;
  VecType type;
  PetscCall(MatGetVecType(A, &type));
  *yes = is_cuda(type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The copy on the device, made ready, if it can tell the diagonal in full precision; else null.
PetscErrorCode copy_for_diagonal(Mat A, SeqState* st, Vec diagonal, PackedMatrix** packed) {
  PetscFunctionBegin;
  Place place;
  *packed = nullptr;
  PetscCall(place_of_product(A, st->settings, diagonal, &place));
  if (place == Place::host || A->rmap->n != A->cmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_prepare(A, Op::none, &place));
  PackedCopy& copy = st->copy(Place::device);
  if (place == Place::device && !copy.misfit && copy.packed->plan().values == copy.problem.scalar.precision)
    *packed = &*copy.packed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode insert_diagonal_blocks(const BlockArrays& b, Mat blocks) {
  PetscFunctionBegin;
  const PetscInt words = b.block_size * b.block_size;
  const std::vector<PetscScalar> missing(static_cast<std::size_t>(words), 0.0);
  std::vector<PetscInt> rows(static_cast<std::size_t>(b.block_size));
  for (PetscInt i = 0; i < b.rows; ++i) {
    const PetscInt* const end = b.column + b.start[i + 1];
    const PetscInt* const at = std::find(b.column + b.start[i], end, i);
    const PetscScalar* const block = at == end ? missing.data() : b.values + (at - b.column) * words;
    for (PetscInt k = 0; k < b.block_size; ++k) rows[static_cast<std::size_t>(k)] = i * b.block_size + k;
    PetscCall(MatSetValues(blocks, b.block_size, rows.data(), b.block_size, rows.data(), block, INSERT_VALUES));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

decltype(_MatOps::sor) parent_sor = nullptr;

PetscErrorCode sor(Mat A, Vec b, PetscReal omega, MatSORType type, PetscReal shift, PetscInt its, PetscInt local_its,
                   Vec x) {
  PetscFunctionBegin;
  PetscCall(parent_sor(A, b, omega, type, shift, its, local_its, x));
  PetscCall(tell_of_host_work(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

void follow_sor(Mat A) {
  if (!A->ops->sor || A->ops->sor == sor) return;
  parent_sor = A->ops->sor;
  A->ops->sor = sor;
}

void leave_sor(Mat A) {
  if (A->ops->sor == sor) A->ops->sor = parent_sor;
}

PetscErrorCode decide_vec_type(Mat A, const Settings& settings, Moment moment) {
  PetscFunctionBegin;
  bool set = false, wanted = false;
  PetscCall(is_vec_type_set(A, &set));
  if (set || is_bound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(is_asked_for(A, settings, &wanted));
  if (moment == Moment::making_vectors && settings.backend == "auto")
    wanted = wanted || PetscDeviceInitialized(PETSC_DEVICE_CUDA);
  if (wanted && device_backend()) PetscCall(MatSetVecType(A, VECCUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_vecs(Mat A, Vec* right, Vec* left) {
  PetscFunctionBegin;
  const auto ours = A->ops->getvecs;
  A->ops->getvecs = nullptr;
  const PetscErrorCode code = MatCreateVecs(A, right, left);
  A->ops->getvecs = ours;
  PetscCall(code);
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

PetscErrorCode seq_get_diagonal(Mat A, Vec v) {
  PetscFunctionBegin;
  SeqState* st;
  PackedMatrix* packed;
  bool done = false;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(seq_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(copy_for_diagonal(A, st, v, &packed));
  if (packed) {
    DeviceVector to;
    PetscCall(to.take(v, Access::write, packed->backend(), st->buffers[2], &done));
    if (done) PetscCall(guarded_memory(comm_of(A), &done, [&] { packed->diagonal(to.data()); }));
    PetscCall(to.give_back(done));
  }
  if (!done) PetscCall(parent->ops.getdiagonal(A, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode tell_of_host_work(Mat A) {
  PetscFunctionBegin;
  SeqState* st;
  bool device = false;
  PetscCall(seq_state(A, &st));
  if (st->told_of_host_work || is_bound(A) || !device_backend()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(has_cuda_vectors(A, &device));
  // Preconditioners may come before the first product, which makes the copy.
  device = device || st->copy(Place::device).packed || st->settings.backend == row_of(Place::device).backend;
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  st->told_of_host_work = true;
  PetscCall(PetscInfo(A,
                      "A preconditioner works on the host under a matrix whose products run on the device: "
                      "-pc_type jacobi and " PCPBJACOBICOMPOUND " stay on the device\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_diagonal(Mat A, const Settings& settings, Mat part, Mat* blocks) {
  PetscFunctionBegin;
  bool cuda = false;
  SeqState* st;
  *blocks = nullptr;
  PetscCall(decide_vec_type(A, settings, Moment::before));
  PetscCall(has_cuda_vectors(A, &cuda));
  PetscCall(seq_state(part, &st));
  if (is_bound(A) || (!cuda && !st->copy(Place::device).packed) || !device_backend())
    PetscFunctionReturn(PETSC_SUCCESS);
  BlockArrays b;
  PetscCall(block_arrays(part, &b));
  const PetscInt n = b.rows * b.block_size;
  PetscCall(MatCreate(PETSC_COMM_SELF, blocks));
  PetscCall(MatSetSizes(*blocks, n, n, n, n));
  PetscCall(MatSetBlockSize(*blocks, b.block_size));
  PetscCall(MatSetType(*blocks, MATSEQAIJCUSPARSE));
  PetscCall(MatSeqAIJSetPreallocation(*blocks, b.block_size, nullptr));
  PetscCall(MatSetOption(*blocks, MAT_ROW_ORIENTED, PETSC_FALSE));
  PetscCall(insert_diagonal_blocks(b, *blocks));
  PetscCall(MatAssemblyBegin(*blocks, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*blocks, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*blocks, MAT_ROW_ORIENTED, PETSC_TRUE));  // MatInvertBlockDiagonal() takes it to be so
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin

#endif
