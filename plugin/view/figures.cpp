#include "view/figures.hpp"

#include "spmv/attached.hpp"
#include "spmv/input_blocks.hpp"
#include "spmv/mpi_state.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode add_part(Mat part, MatCompoundInfo* info) {
  PetscFunctionBegin;
  BlockArrays b;
  SeqState* st;
  PetscCall(block_arrays(part, &b));
  info->base_bytes += b.bytes();
  if (!is_seq_compound(part)) {
    info->stored_blocks += b.entries();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(seq_state(part, &st));
  if (copy_in_use(*st)) PetscCall(input_blocks(part, *st, &b));  // which it has found then
  info->stored_blocks += b.entries();
  info->pattern_packs += st->counts.pattern_packs;
  info->value_packs += st->counts.value_packs;
  info->products += st->counts.products;
  info->packed_bytes += st->input.bytes() + static_cast<PetscInt64>(st->matrix_values.device_bytes());
  info->device_bytes += static_cast<PetscInt64>(st->matrix_values.device_bytes());
  for (const PackedCopy& copy : st->copies) {
    if (!copy.packed()) continue;
    info->packed_bytes += static_cast<PetscInt64>(copy.bytes());
    info->padding_blocks += copy.packed()->padding();
  }
  if (const PackedMatrix* const on_device = st->copy(MemorySpace::device).packed())
    info->device_bytes += static_cast<PetscInt64>(on_device->bytes().total());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode plan_of_part(Mat part, std::string* line) {
  PetscFunctionBegin;
  if (is_seq_compound(part)) {
    SeqState* st;
    PetscCall(seq_state(part, &st));
    if (const PackedCopy* copy = copy_in_use(*st)) *line = to_string(copy->packed()->plan());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

const PackedCopy* copy_in_use(const SeqState& st) {
  for (const MemorySpace space : {MemorySpace::device, MemorySpace::host})
    if (st.copy(space).packed()) return &st.copy(space);
  return nullptr;
}

PetscErrorCode collect_info(Mat A, MatCompoundInfo* info) {
  PetscFunctionBegin;
  *info = {};
  if (!A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_mpi_compound(A)) {
    MpiState* st;
    Mat diagonal, off;
    PetscCall(mpi_state(A, &st));
    PetscCall(mpi_parts(A, &diagonal, &off, nullptr));
    PetscCall(add_part(diagonal, info));
    PetscCall(add_part(off, info));
    info->products = st->products;
  } else {
    PetscCall(add_part(A, info));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode plan_line(Mat A, std::string* line) {
  PetscFunctionBegin;
  line->clear();
  if (!is_mpi_compound(A)) {
    PetscCall(plan_of_part(A, line));
  } else if (A->assembled) {
    Mat diagonal, off;
    std::string second;
    PetscCall(mpi_parts(A, &diagonal, &off, nullptr));
    PetscCall(plan_of_part(diagonal, line));
    PetscCall(plan_of_part(off, &second));
    if (!second.empty()) *line += " off: " + second;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
