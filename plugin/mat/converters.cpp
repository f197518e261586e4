#include "mat/converters.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include "mat/attach.hpp"
#include "options/options.hpp"
#include "petsc/parts.hpp"
#include "petsc/scoped.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

namespace {

/// Under which PETSc looks for a converter from one type to another. Without memory of its own: a matrix is destroyed
/// by these, too.
class ConverterName {
 public:
  ConverterName(const char* from, const char* to, const char* end_of_to = "") {
    std::snprintf(text_, sizeof(text_), "MatConvert_%s_%s%s_C", from, to, end_of_to);
  }
  const char* text() const { return text_; }

 private:
  char text_[128];
};

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
      PetscCall(query(A, ConverterName(k.base_type->types(k.is_mpi).base, prefix, newtype.c_str()).text(), converter));
  PetscCheck(*converter, comm_of(A), PETSC_ERR_PLIB, "The base type has lost its converter to %s", newtype.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A new matrix, or another in the place of A.
PetscErrorCode convert_anew(Mat A, Converter converter, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(A);
  ScopedMat copy;
  Mat from = A;
  if (PETSC_VERSION_LT(3, 26, 0) && k.is_mpi && k.base_type->keeps_blocks) {
    // PETSc's inserts the off-diagonal part anew: without new locations where these are ignored, and with other
    // options of insertion (seen in 3.18).
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));
    if (copy) from = copy;
    PetscCall(MatSetOption(from, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  }
  PetscCall(converter(from, newtype, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether PETSc's converters bring values of A into B, which was made of A. Collective.
PetscErrorCode can_convert_again(Mat A, Mat B, bool* yes) {
  PetscFunctionBegin;
  const TypeOfMatrix from = type_of_matrix(A), to = type_of_matrix(B);
  *yes = !from.base_type->keeps_upper;  // else they break B's rows
  if (*yes && from.is_mpi && from.base_type->keeps_blocks && to.is_mpi && !to.base_type->keeps_blocks)
    PetscCall(have_same_columns(A, B, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those of PETSc that serve any descendant: they read the base type's arrays.
PetscErrorCode convert_as_base(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  Converter converter;
  bool fits = false, same = false;
  PetscCall(need_host_values(A));
  PetscCall(base_converter(A, newtype, &converter));
  if (reuse != MAT_REUSE_MATRIX) {
    PetscCall(convert_anew(A, converter, newtype, reuse, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(can_convert_again(A, *B, &fits));
  if (fits) {
    PetscCall(converter(A, newtype, reuse, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ScopedMat C;
  PetscCall(convert_anew(A, converter, newtype, MAT_INITIAL_MATRIX, C.out()));
  if (type_of_matrix(*B).base_type) PetscCall(have_same_pattern(C, *B, &same));
  // B's pattern stays what it is where it can, as products that have B know it.
  PetscCall(MatCopy(C, *B, same ? SAME_NONZERO_PATTERN : DIFFERENT_NONZERO_PATTERN));
  PetscCall(C.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For converters of PETSc that ask the parts of a matrix of exactly the base type ("is", "hypre").
PetscErrorCode convert_under_base_name(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  if (reuse == MAT_INPLACE_MATRIX) {  // would exchange the name while it is lent
    ScopedMat C;
    PetscCall(convert_under_base_name(A, newtype, MAT_INITIAL_MATRIX, C.out()));
    PetscCall(MatHeaderReplace(A, C.out()));
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
  if (reuse == MAT_INPLACE_MATRIX) {
    PetscCall(release(*B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(finish_or_destroy(B, [&] { return release(*B); }));
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
  ScopedMat base;
  const TypeOfMatrix k = type_of_matrix(A);
  PetscCall(MatConvert(A, k.base_type->types(k.is_mpi).base, MAT_INITIAL_MATRIX, base.out()));
  PetscCall(MatConvert(base, newtype, reuse, B));
  PetscCall(finish_or_keep(reuse, B, [&] { return base.reset(); }));
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
  ScopedMat anew;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, anew.out()));
  if (is_compound(B)) {
    Settings* settings;
    PetscCall(settings_of(B, &settings));
    PetscCall(adopt(anew, *settings));
  } else if (is_compound(anew)) {
    PetscCall(release(anew));
  }
  PetscCall(MatHeaderReplace(B, anew.out()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Of ours, in the layout that the name pins.
PetscErrorCode become(Mat B, const TypeName& name) {
  PetscFunctionBegin;
  Settings* settings;
  if (!is_compound(B)) PetscCall(adopt(B, Settings{}));
  if (name.layout.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(settings_of(B, &settings));
  set(*settings, "layout", name.layout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode convert_to_compound(Mat A, MatType newtype, MatReuse reuse, Mat* B) {
  PetscFunctionBegin;
  const TypeName name = read_name(newtype);
  const TypeOfMatrix from = type_of_matrix(A);
  if (from.is_ours && from.base_type == name.base_type) {
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    if (reuse == MAT_REUSE_MATRIX) PetscCall(take_from(*B, A));
  } else if (!(reuse == MAT_INPLACE_MATRIX && is_base(from) && from.base_type == name.base_type)) {
    PetscCall(convert_to_base_of(A, *name.base_type, newtype, reuse, B));
  }
  const auto become_named = [&] { return become(*B, name); };
  PetscCall(reuse == MAT_INITIAL_MATRIX ? finish_or_destroy(B, become_named) : become_named());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose_converters(Mat A, const TypePair& of) {
  PetscFunctionBegin;
  for (const char* target : of.converters) {
    void (*inherited)(void) = nullptr;
    PetscCall(query(A, ConverterName(of.base, target).text(), &inherited));
    if (inherited && wants_base_name(target))
      PetscCall(compose(A, ConverterName(of.ours, target).text(), for_petsc<convert_under_base_name>));
    else if (inherited)
      PetscCall(compose(A, ConverterName(of.ours, target).text(), for_petsc<convert_as_base>));
  }
  for (const char* sibling : of.siblings) {
    void (*inherited)(void) = nullptr;
    PetscCall(query(A, ConverterName(of.base, sibling).text(), &inherited));
    if (inherited) PetscCall(compose(A, ConverterName(of.ours, sibling).text(), for_petsc<convert_through_base>));
  }
  PetscCall(compose(A, ConverterName(of.ours, of.base).text(), for_petsc<convert_from_compound_to_base>));
  for (const Preset& p : presets())
    PetscCall(compose(A, ConverterName(of.ours, of.ours, p.name.data()).text(), for_petsc<convert_to_compound>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_converters(Mat A, const TypePair& of) {
  PetscFunctionBegin;
  for (const auto& targets : {of.converters, of.siblings})
    for (const char* target : targets) PetscCall(compose(A, ConverterName(of.ours, target).text(), nullptr));
  PetscCall(compose(A, ConverterName(of.ours, of.base).text(), nullptr));
  for (const Preset& p : presets())
    PetscCall(compose(A, ConverterName(of.ours, of.ours, p.name.data()).text(), nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
