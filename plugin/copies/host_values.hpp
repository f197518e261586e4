// -mat_compound_host_values never: values that are on a device alone, and how they come to the parent's arrays when
// something there asks for them.
#pragma once

#include <memory>

#include "copies/state.hpp"

namespace compound::plugin {

/// Whether values that come in the memory of `on` are to stay there. Of a matrix, or a part of one with the settings of
/// the whole.
bool stays_apart(const State& of_whole, const State& of_part, const Backend& on);

/// The parent's array is filled with NaN until need_host_values(); `st.apart` has the values.
PetscErrorCode leave_out_host_values(Mat seq, SeqState& st);

/// Nobody has written to the parent's array up to now, nor will until the matrix's state has been raised so often.
PetscErrorCode note_state(Mat seq, SeqState& st, int raises = 0);

/// Before anything that reads or writes the parent's arrays: of a seq matrix, or of both parts of an mpi one. Nothing
/// for matrices that are not of ours, or miss nothing. Not collective.
PetscErrorCode need_host_values(Mat A);

/// The same, and each assembly to come brings them: for what will read the arrays again and not ask.
PetscErrorCode keep_host_values(Mat A);

/// At the end of an assembly after which the state of A is raised `raises` times yet: puts need_host_values() before
/// the operations that need them, until one of them is called.
PetscErrorCode guard_host_values(Mat A, int raises);

/// A's operations as they were.
void unguard_host_values(Mat A, State& st);

/// Whether the device has values that the parent's array has not, and nobody has written there since. It is an error if
/// somebody has, but not to all of it.
PetscErrorCode are_host_values_missing(Mat seq, SeqState& st, bool* missing);

/// A matrix's operations while they are guarded, where they are another's for some time.
class Unguarded {
 public:
  Unguarded(Mat A, State& st) : A_(A), st_(st), was_(st.unguarded != nullptr) { unguard_host_values(A, st); }
  Unguarded(const Unguarded&) = delete;
  PetscErrorCode guard_again() { return was_ ? guard_host_values(A_, 0) : PETSC_SUCCESS; }

 private:
  Mat A_;
  State& st_;
  bool was_;
};

}  // namespace compound::plugin
