#include "types.hpp"

#include <utility>

#include "mat_mpi.hpp"
#include "mat_seq.hpp"
#include "patterns.hpp"

namespace compound::plugin {

namespace {

std::string converter_name(std::string_view from, std::string_view to) {
  return "MatConvert_" + std::string(from) + "_" + std::string(to) + "_C";
}

/// Layout that a type name pins: what follows "baijcompound".
std::string pinned_layout(std::string_view type) {
  const std::string_view root = MATBAIJCOMPOUND;
  const std::size_t at = type.find(root);
  const std::string_view suffix = at == std::string_view::npos ? "" : type.substr(at + root.size());
  for (const Preset& p : presets())
    if (p.constructor == suffix) return std::string(p.name);
  return "";
}

bool is_mpi_name(const char* type) { return type && std::strncmp(type, "mpi", 3) == 0; }

bool is_compound(Mat A) { return is_seq_compound(A) || is_mpi_compound(A); }

PetscErrorCode adopt(Mat A, const Settings& settings) {
  return has_type(A, MATMPIBAIJ) || is_mpi_compound(A) ? adopt_mpi(A, settings) : adopt_seq(A, settings);
}

bool is_parent(Mat A) { return has_type(A, MATSEQBAIJ) || has_type(A, MATMPIBAIJ); }

PetscErrorCode release(Mat A) { return is_mpi_compound(A) ? release_mpi(A) : release_seq(A); }

/// A copy or conversion of A in the parent type that fits `newtype`.
PetscErrorCode convert_to_parent_of(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(comm_of(A), &size));
  const bool mpi = is_mpi_name(newtype) || is_mpi_name(reinterpret_cast<PetscObject>(A)->type_name) || size > 1;
  const MatType parent = mpi ? MATMPIBAIJ : MATSEQBAIJ;
  if (reuse == MAT_REUSE_MATRIX && has_type(A, parent))
    PetscCall(take_from(*B, A));
  else
    PetscCall(MatConvert(A, parent, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For converters of PETSc that ask the parts of a matrix of exactly the parent's type ("is", "hypre").
PetscErrorCode convert_under_parent_name(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  if (reuse == MAT_INPLACE_MATRIX) {  // would exchange the name while it is lent
    Mat C;
    PetscCall(convert_under_parent_name(A, newtype, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatHeaderReplace(A, &C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode (*converter)(Mat, MatType, MatReuse, Mat*) = nullptr;
  const bool mpi = is_mpi_compound(A);
  PetscCall(query(A, converter_name(mpi ? MATMPIBAIJ : MATSEQBAIJ, newtype).c_str(), &converter));
  const auto convert = [&] { return converter(A, newtype, reuse, B); };
  PetscCall(mpi ? under_type_name(A, MATMPIBAIJ, convert) : under_type_name(A, MATSEQBAIJ, convert));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool wants_parent_name(std::string_view target) { return target == MATIS || target == MATHYPRE; }

PetscErrorCode convert_from_compound_to_parent(Mat A, MatType, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(take_from(*B, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(release(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t row>
PetscErrorCode create(Mat A, bool mpi) {
  PetscFunctionBegin;
  PetscCall(MatSetType(A, mpi ? MATMPIBAIJ : MATSEQBAIJ));
  Settings settings;
  if (row < preset_count) set(settings, "layout", std::string(presets()[row].name));
  PetscCall(adopt(A, settings));
  begin_late_set_up(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Registers the root name, its seq and its mpi constructor for one preset; row preset_count pins none.
template <std::size_t row>
PetscErrorCode register_row() {
  PetscFunctionBegin;
  const std::string suffix(row < preset_count ? presets()[row].constructor : "");
  const std::string root = MATBAIJCOMPOUND + suffix, seq = MATSEQBAIJCOMPOUND + suffix,
                    mpi = MATMPIBAIJCOMPOUND + suffix;
  PetscCall(MatRegister(seq.c_str(), [](Mat A) { return create<row>(A, false); }));
  PetscCall(MatRegister(mpi.c_str(), [](Mat A) { return create<row>(A, true); }));
  PetscCall(MatRegisterRootName(root.c_str(), seq.c_str(), mpi.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t... rows>
PetscErrorCode register_rows(std::index_sequence<rows...>) {
  PetscErrorCode code = PETSC_SUCCESS;
  ((code = code ? code : register_row<rows>()), ...);
  return code;
}

}  // namespace

PetscErrorCode take_from(Mat B, Mat A) {
  PetscFunctionBegin;
  bool same = true;
  if (is_compound(B) || is_parent(B)) PetscCall(have_same_pattern(A, B, &same));
  if (same) {
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Mat anew;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &anew));
  if (is_compound(B)) {
    Settings* settings;
    PetscCall(settings_of(B, &settings));
    PetscCall(adopt(anew, *settings));
  } else if (is_compound(anew)) {
    PetscCall(release(anew));
  }
  PetscCall(MatHeaderReplace(B, &anew));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert_to_compound(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  const std::string layout = pinned_layout(newtype);
  if (is_compound(A)) {
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    if (reuse == MAT_REUSE_MATRIX) PetscCall(take_from(*B, A));
  } else {
    if (!(reuse == MAT_INPLACE_MATRIX && is_parent(A))) PetscCall(convert_to_parent_of(A, newtype, reuse, B));
    if (!is_compound(*B)) PetscCall(adopt(*B, Settings{}));
  }
  if (!layout.empty()) {
    Settings* settings;
    PetscCall(settings_of(*B, &settings));
    set(*settings, "layout", layout);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose_converters(Mat A, MatType parent, MatType type, std::span<const char* const> parent_targets) {
  PetscFunctionBegin;
  for (const char* target : parent_targets) {
    void (*inherited)(void) = nullptr;
    PetscCall(query(A, converter_name(parent, target).c_str(), &inherited));
    if (inherited && wants_parent_name(target))
      PetscCall(compose(A, converter_name(type, target).c_str(), convert_under_parent_name));
    else if (inherited)
      PetscCall(compose(A, converter_name(type, target).c_str(), inherited));
  }
  PetscCall(compose(A, converter_name(type, parent).c_str(), convert_from_compound_to_parent));
  for (const Preset& p : presets())
    PetscCall(compose(A, converter_name(type, type + std::string(p.constructor)).c_str(), convert_to_compound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_converters(Mat A, MatType type, std::span<const char* const> parent_targets) {
  PetscFunctionBegin;
  for (const char* target : parent_targets) PetscCall(compose(A, converter_name(type, target).c_str(), nullptr));
  const MatType parent = is_mpi_name(type) ? MATMPIBAIJ : MATSEQBAIJ;
  PetscCall(compose(A, converter_name(type, parent).c_str(), nullptr));
  for (const Preset& p : presets())
    PetscCall(compose(A, converter_name(type, type + std::string(p.constructor)).c_str(), nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode settings_of(Mat A, Settings** settings) {
  PetscFunctionBegin;
  PetscCheck(is_compound(A), comm_of(A), PETSC_ERR_ARG_WRONG,
             "The matrix has type %s; MatCompound functions are for " MATBAIJCOMPOUND " (-mat_type " MATBAIJCOMPOUND
             ")",
             reinterpret_cast<PetscObject>(A)->type_name ? reinterpret_cast<PetscObject>(A)->type_name : "(none yet)");
  if (is_mpi_compound(A)) {
    MpiState* st;
    PetscCall(mpi_state(A, &st));
    *settings = &st->settings;
  } else {
    SeqState* st;
    PetscCall(seq_state(A, &st));
    *settings = &st->settings;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode register_types() { return register_rows(std::make_index_sequence<preset_count + 1>{}); }

}  // namespace compound::plugin
