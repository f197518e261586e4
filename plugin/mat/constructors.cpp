#include "mat/constructors.hpp"

#include <iterator>
#include <string>
#include <utility>

#include "mat/attach.hpp"
#include "options/options.hpp"
#include "petsc/agree.hpp"
#include "petsc/late_setup.hpp"

namespace compound::plugin {

namespace {

/// PETSc calls a constructor without the name that was asked for: there is one for each base type, each layout that
/// names pin (row preset_count pins none), and each of seq and mpi.
template <std::size_t base_type, std::size_t row, bool is_mpi>
PetscErrorCode create(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatSetType(A, base_types[base_type]->types(is_mpi).base));
  PetscCall(together(comm_of(A), [&] {
    Settings settings;
    if (row < preset_count) set(settings, "layout", std::string(presets()[row].name));
    return adopt(A, settings);
  }));
  begin_late_set_up(A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t base_type, std::size_t row>
PetscErrorCode register_names() {
  PetscFunctionBegin;
  const BaseType& f = *base_types[base_type];
  const std::string suffix(row < preset_count ? presets()[row].name : "");
  const std::string root = f.root + suffix, seq = f.seq.ours + suffix, mpi = f.mpi.ours + suffix;
  PetscCall(MatRegister(seq.c_str(), for_petsc<create<base_type, row, false>>));
  PetscCall(MatRegister(mpi.c_str(), for_petsc<create<base_type, row, true>>));
  PetscCall(MatRegisterRootName(root.c_str(), seq.c_str(), mpi.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr std::size_t rows = preset_count + 1;

template <std::size_t... all>
PetscErrorCode register_all(std::index_sequence<all...>) {
  PetscErrorCode code = PETSC_SUCCESS;
  ((code = code ? code : register_names<all / rows, all % rows>()), ...);
  return code;
}

}  // namespace

PetscErrorCode register_types() { return register_all(std::make_index_sequence<std::size(base_types) * rows>{}); }

}  // namespace compound::plugin
