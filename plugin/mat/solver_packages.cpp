#include "mat/solver_packages.hpp"

#include <iterator>
#include <utility>

#include "values/guards.hpp"

namespace compound::plugin {

namespace {

using Factor = PetscErrorCode (*)(Mat, MatFactorType, Mat*);

constexpr const char* packages[] = {"petsc", "mumps",     "superlu", "superlu_dist", "umfpack",      "cholmod", "klu",
                                    "spqr",  "strumpack", "pastix",  "mkl_pardiso",  "mkl_cpardiso", "bas"};
constexpr std::size_t kinds_of_factor = MAT_FACTOR_QR + 1;

/// A base type: base_types[k / 2], on one process or on several.
constexpr std::size_t base_type_count = 2 * std::size(base_types);
MatType base_name(std::size_t k) { return base_types[k / 2]->types(k % 2 != 0).base; }

Factor originals[std::size(packages)][base_type_count][kinds_of_factor];

/// The package's own. MUMPS and MKL's know some types by their exact names. What it makes reads A's arrays at each
/// numeric factorization, and asks for nothing.
template <std::size_t package, std::size_t base>
PetscErrorCode factor_by(Mat A, MatFactorType type, Mat* factor) {
  PetscFunctionBegin;
  const Factor original = originals[package][base][type];
  PetscCall(keep_host_values(A));
  if (is_compound(A))
    PetscCall(under_type_name(A, base_name(base), [&] { return original(A, type, factor); }));
  else
    PetscCall(original(A, type, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t package, std::size_t base>
PetscErrorCode wrap() {
  PetscFunctionBegin;
  for (int type = MAT_FACTOR_LU; type < static_cast<int>(kinds_of_factor); ++type) {
    const auto kind = static_cast<MatFactorType>(type);
    PetscBool has_package, has_type_name;
    Factor found = nullptr;
    PetscCall(MatSolverTypeGet(packages[package], base_name(base), kind, &has_package, &has_type_name, &found));
    if (!found || found == for_petsc<factor_by<package, base>>) continue;
    originals[package][base][type] = found;
    PetscCall(MatSolverTypeRegister(packages[package], base_name(base), kind, for_petsc<factor_by<package, base>>));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t... all>
PetscErrorCode wrap_all(std::index_sequence<all...>) {
  PetscErrorCode code = PETSC_SUCCESS;
  ((code = code ? code : wrap<all / base_type_count, all % base_type_count>()), ...);
  return code;
}

}  // namespace

PetscErrorCode wrap_solver_packages() {
  return wrap_all(std::make_index_sequence<std::size(packages) * base_type_count>{});
}

}  // namespace compound::plugin
