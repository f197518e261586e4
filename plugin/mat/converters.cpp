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

bool is_base(const TypeOfMatrix& k) { return k.base_type && !k.is_ours; }

/// A copy or conversion of A in the base type that fits `newtype`.
PetscErrorCode convert_to_base_of(Mat A, const BaseType& base_type, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(comm_of(A), &size));
  const bool mpi = is_mpi_name(newtype) || is_mpi_name(reinterpret_cast<PetscObject>(A)->type_name) || size > 1;
  const MatType base = base_type.types(mpi).base;
  if (reuse == MAT_REUSE_MATRIX && has_type(A, base))
    PetscCall(take_from(*B, A));
  else
    PetscCall(MatConvert(A, base, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Converter = PetscErrorCode (*)(Mat, MatType, MatReuse, Mat*);

/// The base type's, to a type by its name as MatConvert() takes it.
PetscErrorCode base_converter(Mat A, const std::string& newtype, Converter* converter) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(A);
  *converter = nullptr;
  for (const char* prefix : {"seq", "mpi", ""})
    if (!*converter)
      PetscCall(query(A, converter_name(k.base_type->types(k.is_mpi).base, prefix + newtype).c_str(), converter));
  PetscCheck(*converter, comm_of(A), PETSC_ERR_PLIB, "The base type has lost its converter to %s", newtype.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those of PETSc that serve any descendant: they read the base type's arrays.
PetscErrorCode convert_as_base(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  Converter converter;
  PetscCall(need_host_values(A));
  PetscCall(base_converter(A, newtype, &converter));
  if (reuse == MAT_REUSE_MATRIX && type_of_matrix(A).base_type->keeps_upper) {  // PETSc's breaks B's rows
    Mat C;
    PetscCall(converter(A, newtype, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatCopy(C, *B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(converter(A, newtype, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For converters of PETSc that ask the parts of a matrix of exactly the base type ("is", "hypre").
PetscErrorCode convert_under_base_name(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  if (reuse == MAT_INPLACE_MATRIX) {  // would exchange the name while it is lent
    Mat C;
    PetscCall(convert_under_base_name(A, newtype, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatHeaderReplace(A, &C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Converter converter;
  const TypeOfMatrix k = type_of_matrix(A);
  const MatType base = k.base_type->types(k.is_mpi).base;
  PetscCall(need_host_values(A));
  PetscCall(base_converter(A, newtype, &converter));
  PetscCall(under_type_name(A, base, [&] { return converter(A, newtype, reuse, B); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool wants_base_name(std::string_view target) { return target == MATIS || target == MATHYPRE; }

PetscErrorCode convert_from_compound_to_base(Mat A, MatType, MatReuse reuse, Mat* B) {
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
PetscErrorCode convert_through_base(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  if (reuse == MAT_INPLACE_MATRIX) {
    PetscCall(release(*B));
    PetscCall(MatConvert(*B, newtype, MAT_INPLACE_MATRIX, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Mat base;
  const TypeOfMatrix k = type_of_matrix(A);
  PetscCall(MatConvert(A, k.base_type->types(k.is_mpi).base, MAT_INITIAL_MATRIX, &base));
  PetscCall(MatConvert(base, newtype, reuse, B));
  PetscCall(MatDestroy(&base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode take_from(Mat B, Mat A) {
  PetscFunctionBegin;
  bool same = true;
  if (type_of_matrix(B).base_type) PetscCall(have_same_pattern(A, B, &same));
  if (same) {
    const auto copies = [&] { return MatCopy(A, B, SAME_NONZERO_PATTERN); };
    PetscCall(is_compound(A) ? copies() : under_upper_name(B, copies));  // ours lends the name itself
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
    if (!(reuse == MAT_INPLACE_MATRIX && is_base(from) && from.base_type == name.base_type))
      PetscCall(convert_to_base_of(A, *name.base_type, newtype, reuse, B));
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
    PetscCall(query(A, converter_name(of.base, target).c_str(), &inherited));
    if (inherited && wants_base_name(target))
      PetscCall(compose(A, converter_name(of.ours, target).c_str(), convert_under_base_name));
    else if (inherited)
      PetscCall(compose(A, converter_name(of.ours, target).c_str(), convert_as_base));
  }
  for (const char* sibling : of.siblings) {
    void (*inherited)(void) = nullptr;
    PetscCall(query(A, converter_name(of.base, sibling).c_str(), &inherited));
    if (inherited) PetscCall(compose(A, converter_name(of.ours, sibling).c_str(), convert_through_base));
  }
  PetscCall(compose(A, converter_name(of.ours, of.base).c_str(), convert_from_compound_to_base));
  for (const Preset& p : presets())
    PetscCall(compose(A, converter_name(of.ours, of.ours + std::string(p.name)).c_str(), convert_to_compound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_converters(Mat A, const TypePair& of) {
  PetscFunctionBegin;
  for (const auto& targets : {of.converters, of.siblings})
    for (const char* target : targets) PetscCall(compose(A, converter_name(of.ours, target).c_str(), nullptr));
  PetscCall(compose(A, converter_name(of.ours, of.base).c_str(), nullptr));
  for (const Preset& p : presets())
    PetscCall(compose(A, converter_name(of.ours, of.ours + std::string(p.name)).c_str(), nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
