// Becoming a matrix of ours, and ceasing to be one.
#pragma once

#include <functional>

#include "spmv/attached.hpp"

namespace compound::plugin {

/// What makes a seq or an mpi matrix of a base type one of ours. Operations call for it (a duplicate becomes ours) and
/// are listed in it: the rows are in operations.cpp, which knows them all, and this side asks for a row.
struct TypeTable {
  State* (*make_state)(const BaseType&);
  PetscErrorCode (*install)(Mat);    ///< our operations before the base type's, wherever they are not
  PetscErrorCode (*uninstall)(Mat);  ///< the base type's again
  PetscErrorCode (*compose)(Mat);    ///< the functions that PETSc looks up by name
  PetscErrorCode (*remove)(Mat);
  PetscErrorCode (*destroy)(Mat);  ///< the operation
};
const TypeTable& table_of(const BaseType& base_type, bool is_mpi);

/// The way back from adopt(): all operations and functions are the base type's again, of its parts too.
PetscErrorCode release(Mat A);

/// Calls `f` while A and its parts, where they are of ours, are what release() makes of them: for what asks for the
/// base type's exact name and multiplies meanwhile. They come back with their packed copies, also if `f` fails.
PetscErrorCode as_base_type(Mat A, const std::function<PetscErrorCode()>& f);

/// Whether values are gathered in a table until the first assembly ends (3.19 and newer). PETSc has put operations of
/// its own in their place until then, and ours, which it keeps, come back by themselves.
bool gathers_values(Mat A);

/// Our operations again, after something of the base type's that puts its own.
PetscErrorCode install_again(Mat A);

/// For the operation `destroy`.
PetscErrorCode drop_state(Mat A, const TypeTable& table);

}  // namespace compound::plugin
