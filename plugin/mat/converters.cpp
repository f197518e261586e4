#include "mat/converters.hpp"

#include <cstring>
#include <string>

#include "mat/attach.hpp"
#include "options/options.hpp"
#include "petsc/parts.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

namespace {

std::string converter_name(std::string_view from, std::string_view to) {
  return "MatConvert_" + std::string(from) + "_" + std::string(to) + "_C";
}

/// What a name of ours says: the base type, and the layout it pins.
struct TypeName {
  const BaseType* base_type = nullptr;
  std::string layout;
};

TypeName read_name(std::string_view type) {
  for (const BaseType* base_type : base_types)
    for (const std::string_view name : {base_type->root, base_type->seq.ours, base_type->mpi.ours}) {
      if (!type.starts_with(name)) continue;
      for (const Preset& p : presets())
        if (p.name == type.substr(name.size())) return {base_type, std::string(p.name)};
      return {base_type, ""};
    }
  return {};
}

bool is_mpi_name(const char* type) { return type && std::strncmp(type, "mpi", 3) == 0; }

bool is_parent(const TypeOfMatrix& k) { return k.base_type && !k.is_ours; }

/// A copy or conversion of A in the parent type that fits `newtype`.
PetscErrorCode convert_to_parent_of(Mat A, const BaseType& base_type, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(comm_of(A), &size));
  const bool mpi = is_mpi_name(newtype) || is_mpi_name(reinterpret_cast<PetscObject>(A)->type_name) || size > 1;
  const MatType parent = base_type.types(mpi).parent;
  if (reuse == MAT_REUSE_MATRIX && has_type(A, parent))
    PetscCall(take_from(*B, A));
  else
    PetscCall(MatConvert(A, parent, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Converter = PetscErrorCode (*)(Mat, MatType, MatReuse, Mat*);

/// The parent's, to a type by its name as MatConvert() takes it.
PetscErrorCode parents_converter(Mat A, const std::string& newtype, Converter* converter) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(A);
  *converter = nullptr;
  for (const char* prefix : {"seq", "mpi", ""})
    if (!*converter)
      PetscCall(query(A, converter_name(k.base_type->types(k.is_mpi).parent, prefix + newtype).c_str(), converter));
  PetscCheck(*converter, comm_of(A), PETSC_ERR_PLIB, "The parent has lost its converter to %s", newtype.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those of PETSc that serve any descendant: they read the parent's arrays.
PetscErrorCode convert_as_parent(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  Converter converter;
  PetscCall(need_host_values(A));
  PetscCall(parents_converter(A, newtype, &converter));
  PetscCall(converter(A, newtype, reuse, B));
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
  Converter converter;
  const TypeOfMatrix k = type_of_matrix(A);
  const MatType parent = k.base_type->types(k.is_mpi).parent;
  PetscCall(need_host_values(A));
  PetscCall(parents_converter(A, newtype, &converter));
  PetscCall(under_type_name(A, parent, [&] { return converter(A, newtype, reuse, B); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool wants_parent_name(std::string_view target) { return target == MATIS || target == MATHYPRE; }

PetscErrorCode convert_from_compound_to_parent(Mat A, MatType, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(take_from(*B, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(need_host_values(A));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(release(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// To a type that hangs its own things on a matrix where ours are.
PetscErrorCode convert_through_parent(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  if (reuse == MAT_INPLACE_MATRIX) {
    PetscCall(release(*B));
    PetscCall(MatConvert(*B, newtype, MAT_INPLACE_MATRIX, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Mat parent;
  const TypeOfMatrix k = type_of_matrix(A);
  PetscCall(MatConvert(A, k.base_type->types(k.is_mpi).parent, MAT_INITIAL_MATRIX, &parent));
  PetscCall(MatConvert(parent, newtype, reuse, B));
  PetscCall(MatDestroy(&parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode take_from(Mat B, Mat A) {
  PetscFunctionBegin;
  bool same = true;
  if (type_of_matrix(B).base_type) PetscCall(have_same_pattern(A, B, &same));
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
  const TypeName name = read_name(newtype);
  const TypeOfMatrix from = type_of_matrix(A);
  if (from.is_ours && from.base_type == name.base_type) {
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    if (reuse == MAT_REUSE_MATRIX) PetscCall(take_from(*B, A));
  } else {
    if (!(reuse == MAT_INPLACE_MATRIX && is_parent(from) && from.base_type == name.base_type))
      PetscCall(convert_to_parent_of(A, *name.base_type, newtype, reuse, B));
    if (!is_compound(*B)) PetscCall(adopt(*B, Settings{}));
  }
  if (!name.layout.empty()) {
    Settings* settings;
    PetscCall(settings_of(*B, &settings));
    set(*settings, "layout", name.layout);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose_converters(Mat A, const TypePair& of) {
  PetscFunctionBegin;
  for (const char* target : of.converters) {
    void (*inherited)(void) = nullptr;
    PetscCall(query(A, converter_name(of.parent, target).c_str(), &inherited));
    if (inherited && wants_parent_name(target))
      PetscCall(compose(A, converter_name(of.ours, target).c_str(), convert_under_parent_name));
    else if (inherited)
      PetscCall(compose(A, converter_name(of.ours, target).c_str(), convert_as_parent));
  }
  for (const char* sibling : of.siblings) {
    void (*inherited)(void) = nullptr;
    PetscCall(query(A, converter_name(of.parent, sibling).c_str(), &inherited));
    if (inherited) PetscCall(compose(A, converter_name(of.ours, sibling).c_str(), convert_through_parent));
  }
  PetscCall(compose(A, converter_name(of.ours, of.parent).c_str(), convert_from_compound_to_parent));
  for (const Preset& p : presets())
    PetscCall(compose(A, converter_name(of.ours, of.ours + std::string(p.name)).c_str(), convert_to_compound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_converters(Mat A, const TypePair& of) {
  PetscFunctionBegin;
  for (const auto& targets : {of.converters, of.siblings})
    for (const char* target : targets) PetscCall(compose(A, converter_name(of.ours, target).c_str(), nullptr));
  PetscCall(compose(A, converter_name(of.ours, of.parent).c_str(), nullptr));
  for (const Preset& p : presets())
    PetscCall(compose(A, converter_name(of.ours, of.ours + std::string(p.name)).c_str(), nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
