// What stands between PETSc and arrays on the host whose values are on a device: every operation, and every function
// that hands an array out, asks here first.
#pragma once

#include <memory>

#include "values/matrix_values.hpp"

namespace compound::plugin {

/// Whether MatSetValuesCOO() has set values, which may be on a device since. It assembles next, without a new block.
enum class SetByCoordinates { never, assembled_next, before };

/// What a matrix of ours has on Mat::spptr, as far as values are concerned.
struct HasValues {
  HasValues(const BaseType& of, bool on_several) : base_type(of), is_mpi(on_several) {}
  HasValues(const HasValues&) = delete;
  virtual ~HasValues() = default;
  virtual MatrixValues* values() { return nullptr; }  ///< of a seq matrix
  virtual PetscErrorCode recall(Mat) = 0;             ///< what was kept of this matrix while PETSc replaced its header

  const BaseType& base_type;
  const bool is_mpi;
  bool is_read_unasked = false;                                   ///< the host's array always has the values, too
  SetByCoordinates set_by_coordinates = SetByCoordinates::never;  ///< the same on all processes
  std::unique_ptr<_MatOps> unguarded = {};  ///< the operations as they are without guards; null where none stand
};

/// Null where PETSc moved the header away from it.
inline HasValues* has_values(Mat A) { return static_cast<HasValues*>(A->spptr); }

/// After MatrixValues::wrote() of a seq matrix, or of the parts of an mpi one: the values stay on the device until
/// something on the host asks for them. Where that cannot be seen the host gets them now.
PetscErrorCode guard_values(Mat A);

/// Before anything that reads the host's arrays: of a seq matrix, or of both parts of an mpi one. Nothing for matrices
/// that are not of ours. Not collective.
PetscErrorCode need_host_values(Mat A);

/// The same before anything that writes them; guards are taken off. Where all are written nothing is copied.
PetscErrorCode take_host_values(Mat A);
PetscErrorCode overwrite_host_values(Mat A);

/// The same as need_host_values(), and the host gets all values to come at once: for what will read the arrays again
/// and not ask.
PetscErrorCode keep_host_values(Mat A);

/// A's operations without guards.
void unguard(Mat A, HasValues& of);

/// The base type's array to write to, without asking for what is in it. Its values count from then on.
PetscErrorCode begin_host_write(Mat seq, Scalar** values);
/// Raises the state.
PetscErrorCode end_host_write(Mat seq, Scalar** values);

/// A matrix's operations while they are another's for some time: without guards.
class Unguarded {
 public:
  Unguarded(Mat A, HasValues& of) : A_(A), was_(of.unguarded != nullptr) { unguard(A, of); }
  Unguarded(const Unguarded&) = delete;
  PetscErrorCode guard_again() { return was_ ? guard_values(A_) : PETSC_SUCCESS; }

 private:
  Mat A_;
  bool was_;
};

}  // namespace compound::plugin
