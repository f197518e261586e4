#include "mat/solver_packages.hpp"

#include <cstring>
#include <iterator>
#include <utility>

#include "values/guards.hpp"

namespace compound::plugin {

namespace {

using Factor = PetscErrorCode (*)(Mat, MatFactorType, Mat*);

constexpr const char* packages[] = {"petsc", "mumps",     "superlu", "superlu_dist", "umfpack",      "cholmod", "klu",
                                    "spqr",  "strumpack", "pastix",  "mkl_pardiso",  "mkl_cpardiso", "bas"};
constexpr std::size_t kinds_of_factor = MAT_FACTOR_QR + 1;

/// A parent's type: base_types[k / 2], on one process or on several.
constexpr std::size_t parent_types = 2 * std::size(base_types);
MatType parent_type(std::size_t k) { return base_types[k / 2]->types(k % 2 != 0).parent; }

Factor originals[std::size(packages)][parent_types][kinds_of_factor];

/// MUMPS knows BAIJ by its exact name.
bool wants_parents_name(std::size_t package, Mat A) {
  return std::strcmp(packages[package], "mumps") == 0 && is_seq_compound(A) && type_of_matrix(A).base_type == &baij;
}

/// The package's own. What it makes reads A's arrays at each numeric factorization, and asks for nothing.
template <std::size_t package, std::size_t parent>
PetscErrorCode factor_by(Mat A, MatFactorType type, Mat* factor) {
  PetscFunctionBegin;
  const Factor original = originals[package][parent][type];
  PetscCall(keep_host_values(A));
  if (wants_parents_name(package, A))
    PetscCall(under_type_name(A, parent_type(parent), [&] { return original(A, type, factor); }));
  else
    PetscCall(original(A, type, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t package, std::size_t parent>
PetscErrorCode wrap() {
  PetscFunctionBegin;
  for (int type = MAT_FACTOR_LU; type < static_cast<int>(kinds_of_factor); ++type) {
    const auto kind = static_cast<MatFactorType>(type);
    PetscBool has_package, has_type_name;
    Factor found = nullptr;
    PetscCall(MatSolverTypeGet(packages[package], parent_type(parent), kind, &has_package, &has_type_name, &found));
    if (!found || found == factor_by<package, parent>) continue;
    originals[package][parent][type] = found;
    PetscCall(MatSolverTypeRegister(packages[package], parent_type(parent), kind, factor_by<package, parent>));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t... all>
PetscErrorCode wrap_all(std::index_sequence<all...>) {
  PetscErrorCode code = PETSC_SUCCESS;
  ((code = code ? code : wrap<all / parent_types, all % parent_types>()), ...);
  return code;
}

}  // namespace

PetscErrorCode wrap_solver_packages() {
  return wrap_all(std::make_index_sequence<std::size(packages) * parent_types>{});
}

}  // namespace compound::plugin
