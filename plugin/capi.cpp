#include "petsccompound.h"

#include <algorithm>

#include "coo/coo.hpp"
#include "entry/registry.hpp"
#include "mat/attach.hpp"
#include "options/options.hpp"
#include "petsccompound/register_entry.hpp"
#include "spmv/mpi_state.hpp"
#include "view/figures.hpp"

using namespace compound::plugin;

namespace {

/// Options first, so that what the program asks for later counts.
PetscErrorCode ask(Mat A, const char* option, const char* value) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  Settings* settings;
  PetscCall(settings_of(A, &settings));
  PetscCall(read_options_once(A, *settings));
  PetscCall(guarded(comm_of(A), [&] { set(*settings, option, value ? value : ""); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_plan(Mat A, const char* plan[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  Settings* settings;
  PetscCall(settings_of(A, &settings));
  PetscCall(plan_line(A, &settings->printed_plan));
  *plan = settings->printed_plan.c_str();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_seq_baij(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt* columns[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  Mat own_diagonal, own_off_diagonal;
  MpiState* st;
  PetscCheck(has_type(A, MATMPIBAIJCOMPOUND), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "MatCompoundGetSeqBAIJ() is for " MATMPIBAIJCOMPOUND ", the matrix has type %s (a " MATSEQBAIJCOMPOUND
             " is its own part)",
             reinterpret_cast<PetscObject>(A)->type_name ? reinterpret_cast<PetscObject>(A)->type_name : "(none yet)");
  PetscCheck(A->assembled, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "MatCompoundGetSeqBAIJ(): the matrix has no parts before it is assembled; call MatAssemblyEnd() first");
  PetscCall(mpi_state(A, &st));
  PetscCall(compound_parts(A, st, &own_diagonal, &own_off_diagonal));
  PetscCall(mpi_parts(A, diagonal, off_diagonal, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_preallocation_coo(Mat A, PetscCount n, const PetscInt i[], const PetscInt j[]) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(coo_set_block_preallocation(A, n, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_values_coo(Mat A, const PetscScalar v[], InsertMode mode) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(coo_set_block_values(A, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_info(Mat A, MatCompoundInfo* info, size_t bytes) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  Settings* settings;
  MatCompoundInfo known;
  PetscCall(settings_of(A, &settings));
  PetscCall(collect_info(A, &known));
  PetscCall(PetscMemzero(info, bytes));
  PetscCall(PetscMemcpy(info, &known, std::min(bytes, sizeof(known))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode MatCompoundSetPlan(Mat A, const char plan[]) {
  const bool is_default = plan && std::string_view(plan) == "auto";
  return for_petsc<ask>(A, "plan", is_default ? nullptr : plan);
}

PetscErrorCode MatCompoundSetLayout(Mat A, const char layout[]) {
  return for_petsc<ask>(A, "layout", layout ? layout : "auto");
}

PetscErrorCode MatCompoundSetEntry(Mat A, const char entry[]) {
  return for_petsc<ask>(A, "entry", entry ? entry : "auto");
}

PetscErrorCode MatCompoundSetBackend(Mat A, const char backend[]) {
  return for_petsc<ask>(A, "backend", backend ? backend : "auto");
}

PetscErrorCode MatCompoundTune(Mat A, const char effort[]) {
  return for_petsc<ask>(A, "tune", effort ? effort : "off");
}

PetscErrorCode MatCompoundGetPlan(Mat A, const char* plan[]) { return for_petsc<get_plan>(A, plan); }

PetscErrorCode MatCompoundGetSeqBAIJ(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt* columns[]) {
  return for_petsc<get_seq_baij>(A, diagonal, off_diagonal, columns);
}

PetscErrorCode MatCompoundSetPreallocationCOO(Mat A, PetscCount n, const PetscInt i[], const PetscInt j[]) {
  return for_petsc<set_preallocation_coo>(A, n, i, j);
}

PetscErrorCode MatCompoundSetValuesCOO(Mat A, const PetscScalar v[], InsertMode mode) {
  return for_petsc<set_values_coo>(A, v, mode);
}

PetscErrorCode MatCompoundGetInfoSized(Mat A, MatCompoundInfo* info, size_t bytes) {
  return for_petsc<get_info>(A, info, bytes);
}

PetscErrorCode MatCompoundRegisterHostEntry(const compound::host_entry* entry) {
  PetscFunctionBegin;
  PetscCheck(entry, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "No entry to register");
  PetscCall(guarded(PETSC_COMM_SELF, [&] { compound::register_host_entry(*entry); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
