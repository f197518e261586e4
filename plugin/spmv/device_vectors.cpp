#include "spmv/device_vectors.hpp"

#include "petsc/log.hpp"

namespace compound::plugin {

PetscErrorCode DeviceVector::take(Vec v, Access access, Backend& on, Buffer<std::byte>& buffer, bool* enough) {
  PetscFunctionBegin;
  PetscMemType memory;
  PetscInt n;
  PetscCall(VecGetLocalSize(v, &n));
  *enough = true;
  access_ = access;
  on_ = &on;
  bytes_ = static_cast<std::size_t>(n) * sizeof(PetscScalar);
  if (access == Access::read)
    PetscCall(VecGetArrayReadAndMemType(v, const_cast<const PetscScalar**>(&array_), &memory));
  else if (access == Access::write)
    PetscCall(VecGetArrayWriteAndMemType(v, &array_, &memory));
  else
    PetscCall(VecGetArrayAndMemType(v, &array_, &memory));
  vec_ = v;
  is_copy_ = !PetscMemTypeDevice(memory);
  data_ = array_;
  if (is_copy_) PetscCall(copy_in(buffer, enough));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceVector::copy_in(Buffer<std::byte>& buffer, bool* enough) {
  PetscFunctionBegin;
  const bool reads = access_ != Access::write && bytes_ > 0;
  PetscCall(guarded_memory(PETSC_COMM_SELF, enough, [&] {
    if (buffer.bytes() < bytes_) {
      buffer = {};
      buffer = Buffer<std::byte>(*on_, bytes_);
    }
    if (reads) on_->upload(buffer.data(), array_, bytes_);
  }));
  data_ = buffer.data();
  if (reads && *enough) PetscCall(log_upload(bytes_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceVector::give_back(bool written) {
  PetscFunctionBegin;
  if (!vec_) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_copy_ && written && access_ != Access::read && bytes_ > 0) {
    PetscCall(guarded(PETSC_COMM_SELF, [&] { on_->download(array_, data_, bytes_); }));
    PetscCall(log_download(bytes_));
  }
  if (access_ == Access::read)
    PetscCall(VecRestoreArrayReadAndMemType(vec_, const_cast<const PetscScalar**>(&array_)));
  else if (access_ == Access::write)
    PetscCall(VecRestoreArrayWriteAndMemType(vec_, &array_));
  else
    PetscCall(VecRestoreArrayAndMemType(vec_, &array_));
  vec_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
