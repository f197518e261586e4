// The one owner of a matrix's values: which memory has them, and how they get to the other.
#pragma once

#include <functional>

#include "backend/backend.hpp"
#include "petsc/base_types.hpp"

namespace compound::plugin {

/// The values of a seq matrix of ours: its scalars in the base type's order, in the base type's array on the host and,
/// once something there wants them, in a buffer of a device's memory. mask() says which has them as they are now.
///
/// Changes on the host are seen by the object's state, as everywhere in PETSc. Values that were written on a device
/// alone are guarded: whatever of PETSc reads or writes the array asks first (values/guards.hpp), so that until then a
/// raise of the state means nothing. Sums of contributions go straight to the packed copy where that can take them
/// (packed() below): the buffer then follows when it is asked for.
class MatrixValues {
 public:
  explicit MatrixValues(const BaseType& base_type) : family_(base_type) {}

  /// Another number whenever values may have changed, wherever that was.
  PetscInt64 version(Mat A) {
    const PetscObjectState state = reinterpret_cast<PetscObject>(A)->state;
    if (state != state_) follow(state);
    return version_;
  }
  /// Where they are as they are now: CPU, GPU, or BOTH.
  PetscOffloadMask mask(Mat A) {
    static_cast<void>(version(A));
    return mask_;
  }
  /// Whether they were last written on a device: nothing on the host changes them unasked.
  bool are_guarded() const { return guarded_; }
  bool are_on_device(Mat A) { return mask(A) & PETSC_OFFLOAD_GPU; }
  bool are_on_host(Mat A) { return mask(A) & PETSC_OFFLOAD_CPU; }
  /// That has the buffer, where there is one.
  Backend& device() const { return *device_; }
  std::size_t device_bytes() const { return buffer_.bytes(); }

  /// To read, where they lie; they travel if they are not there. Throws what the backend throws.
  const Scalar* read(Mat A);
  const Scalar* read(Mat A, Backend& device);
  /// The first `count` of them, on the host; no more travels than these.
  void read_first(Mat A, std::size_t count, Scalar* to);

  /// To write all of them there (what is there before is undefined), or, where `keep`, to change them; then wrote().
  /// Between the two nothing else may be asked of the matrix. Throws what the backend throws.
  Scalar* write(Mat A, Backend& device, bool keep);
  /// The device has the values now, and the host has not; raises the state. For guard_values() (values/guards.hpp).
  PetscErrorCode wrote(Mat A);

  /// The same where a packed copy alone has the values: `unpack`(buffer) writes them there when that is asked for.
  /// Needs has_buffer().
  PetscErrorCode packed(Mat A, std::function<void(Scalar*)> unpack);
  /// Before the packed copy that has them is given up or changed.
  void unpack();
  /// Whether the buffer is of this device and of the size of the values.
  bool has_buffer(Mat A, const Backend& device) const;

  /// After wrote(): the host's array has the same values, too.
  void host_has_them() { mask_ = PETSC_OFFLOAD_BOTH; }

  /// A vector that lies on the device's buffer, which has the values as they are now. To be destroyed by the caller.
  PetscErrorCode as_vector(Mat A, Vec* values);

  /// What the host's array has, or is about to be given, counts from now on.
  void leave_to_host(Mat A);
  /// The base type has other arrays.
  void discard();

 private:
  void follow(PetscObjectState state);
  Scalar* array(Mat A, std::size_t* count) const;
  void reserve(Backend& device, std::size_t count);

  const BaseType& family_;
  Backend* device_ = nullptr;  ///< that has `buffer_`
  Buffer<Scalar> buffer_;
  std::function<void(Scalar*)> unpack_;  ///< from the packed copy that alone has the values of the device
  PetscOffloadMask mask_ = PETSC_OFFLOAD_CPU;
  bool guarded_ = false;
  PetscObjectState state_ = -1;
  PetscInt64 version_ = 0;
};

}  // namespace compound::plugin
