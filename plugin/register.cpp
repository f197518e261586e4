// What PETSc calls when it loads the library: the check that both fit each other, then types and events.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "ksp/solver.hpp"
#include "mat/colorings.hpp"
#include "mat/constructors.hpp"
#include "mat/solver_packages.hpp"
#include "options/options.hpp"
#include "options/unused_options.hpp"
#include "pc/exact_names.hpp"
#include "pc/pbjacobi.hpp"
#include "petsc/log.hpp"
#include "petsc/warnings.hpp"
#include "petsccompound.h"
#include "spmv/placement.hpp"

namespace compound::plugin {

namespace {

/// One thing a plugin and the PETSc it is loaded into must agree on.
struct RequiredMatch {
  const char* what;
  std::string built_for, found;
};

std::string text_of(PetscDataType type) {
  const char* const* names = PetscDataTypes;
  return names[type];
}

PetscErrorCode check_fit(const RequiredMatch& f) {
  PetscFunctionBegin;
  PetscCheck(f.built_for == f.found, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "petsc-compound does not fit this PETSc: it was built for %s %s, this program runs with %s; "
             "build the plugin for this PETSc (cmake --preset host, host-complex or host-64, or with PETSC_DIR set)",
             f.what, f.built_for.c_str(), f.found.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Room for a PetscInt of either width, written by a PETSc whose width is not known; small and not negative once
/// written.
class VersionNumber {
 public:
  PetscInt* room() { return reinterpret_cast<PetscInt*>(halves_); }
  std::string text() const {
    PetscInt value;
    std::memcpy(&value, halves_, sizeof(value));
    return std::to_string(value);
  }
  /// A narrow integer leaves one half as it was.
  std::size_t bytes() const { return halves_[0] == -1 || halves_[1] == -1 ? 4 : 8; }

 private:
  alignas(PetscInt64) std::int32_t halves_[2] = {-1, -1};
};

std::string text_of_width(std::size_t bytes) { return std::to_string(8 * bytes) + " bit"; }

/// struct _p_Mat and the scalar and index types differ between configurations, and nothing else would notice.
PetscErrorCode check_petsc() {
  PetscFunctionBegin;
  VersionNumber major, minor, subminor, release;
  PetscDataType scalar = PETSC_SCALAR;
  PetscBool found, has_cuda = PETSC_FALSE;
  PetscCall(PetscGetVersionNumber(major.room(), minor.room(), subminor.room(), release.room()));
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCall(PetscHasExternalPackage("cuda", &has_cuda));
  const RequiredMatch all[] = {
      {"index width", text_of_width(sizeof(PetscInt)), text_of_width(major.bytes())},
      {"release", std::to_string(PETSC_VERSION_MAJOR) + "." + std::to_string(PETSC_VERSION_MINOR),
       major.text() + "." + minor.text()},
      {"scalar type", text_of(PETSC_SCALAR), text_of(found ? scalar : PETSC_SCALAR)},
      {"device support", PetscDefined(HAVE_CUDA) ? "cuda" : "none", has_cuda ? "cuda" : "none"},
  };
  for (const RequiredMatch& match : all) PetscCall(check_fit(match));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

}  // namespace compound::plugin

namespace {

/// Registered types are forgotten by PetscFinalize().
bool initialized = false;

PetscErrorCode forget() {
  PetscFunctionBegin;
  initialized = false;
  PetscCall(compound::plugin::report_unused_options(compound::plugin::option_names()));
  compound::plugin::forget_warnings();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode initialize() {
  using namespace compound::plugin;
  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);  // on one process alone, too: the rest is collective
  PetscCall(check_petsc());
  PetscCall(MatInitializePackage());
  PetscCall(register_log_events());
  PetscCall(register_types());
  PetscCall(register_preconditioners());
  PetscCall(wrap_preconditioners_by_name());
  PetscCall(register_solvers());
  PetscCall(wrap_solver_packages());
  PetscCall(wrap_colorings());
  PetscCall(choose_device());
  PetscCall(PetscRegisterFinalize(for_petsc<forget>));
  initialized = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode PetscCompoundInitialize(void) { return compound::plugin::for_petsc<initialize>(); }

/// The symbol -dll_append looks for: PetscDLLibraryRegister_<file name without lib and .so>.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petsccompound(void) { return PetscCompoundInitialize(); }
