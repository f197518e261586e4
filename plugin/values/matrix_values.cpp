#include "values/matrix_values.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "petsc/log.hpp"
#include "petsc/parts.hpp"

namespace compound::plugin {

namespace {

/// In code that throws: PETSc has reported the error already.
void check_petsc(PetscErrorCode code) {
  if (code) throw std::runtime_error("PETSc failed to hand out the values of a matrix");
}

}  // namespace

void MatrixValues::follow(PetscObjectState state) {
  state_ = state;
  if (guarded_) return;
  mask_ = PETSC_OFFLOAD_CPU;
  ++version_;
}

Scalar* MatrixValues::array(Mat A, std::size_t* count) const {
  PartArrays part;
  check_petsc(family_.arrays(A, &part.blocks));
  *count = part.blocks.values ? part.scalars() : 0;
  return reinterpret_cast<Scalar*>(const_cast<PetscScalar*>(part.blocks.values));
}

/// Room for `count` scalars; none is left where there is no memory for it.
void MatrixValues::reserve(Backend& device, std::size_t count) {
  if (device_ == &device && buffer_.bytes() == count * sizeof(Scalar)) return;
  mask_ = PETSC_OFFLOAD_CPU;
  unpack_ = nullptr;
  buffer_ = {};
  device_ = &device;
  buffer_ = Buffer<Scalar>(device, count);
}

bool MatrixValues::has_buffer(Mat A, const Backend& device) const {
  std::size_t count = 0;
  static_cast<void>(array(A, &count));
  return device_ == &device && count > 0 && buffer_.bytes() == count * sizeof(Scalar);
}

void MatrixValues::unpack() {
  if (unpack_) unpack_(buffer_.data());
  unpack_ = nullptr;
}

const Scalar* MatrixValues::read(Mat A) {
  std::size_t count = 0;
  Scalar* const to = array(A, &count);
  if (are_on_host(A)) return to;
  if (buffer_.bytes() != count * sizeof(Scalar))
    throw std::logic_error("a matrix has other arrays than when its values were set on the device");
  unpack();
  if (count > 0) device_->download(to, buffer_.data(), buffer_.bytes());
  mask_ = PETSC_OFFLOAD_BOTH;
  check_petsc(log_download(device_->is_device() ? buffer_.bytes() : 0));
  check_petsc(PetscInfo(A, "Values of the device are copied to the host, which asks for them\n"));
  return to;
}

const Scalar* MatrixValues::read(Mat A, Backend& device) {
  if (are_on_device(A) && device_ == &device) {
    unpack();
    return buffer_.data();
  }
  std::size_t count = 0;
  const Scalar* const from = read(A);
  static_cast<void>(array(A, &count));
  reserve(device, count);
  if (count > 0) device.upload(buffer_.data(), from, buffer_.bytes());
  mask_ = PETSC_OFFLOAD_BOTH;
  check_petsc(log_upload(device.is_device() ? buffer_.bytes() : 0));
  check_petsc(PetscInfo(A, "Values of the host are copied to the device, which asks for them\n"));
  return buffer_.data();
}

void MatrixValues::read_first(Mat A, std::size_t count, Scalar* to) {
  std::size_t all = 0;
  const Scalar* const from = array(A, &all);
  count = std::min(count, all);
  if (count == 0) return;
  if (are_on_host(A)) {
    std::copy_n(from, count, to);
    return;
  }
  unpack();
  device_->download(to, buffer_.data(), count * sizeof(Scalar));
  check_petsc(log_download(device_->is_device() ? count * sizeof(Scalar) : 0));
}

Scalar* MatrixValues::write(Mat A, Backend& device, bool keep) {
  if (keep) {
    static_cast<void>(read(A, device));
  } else {
    std::size_t count = 0;
    static_cast<void>(array(A, &count));
    reserve(device, count);
  }
  unpack_ = nullptr;
  return buffer_.data();
}

PetscErrorCode MatrixValues::packed(Mat A, std::function<void(Scalar*)> unpack) {
  PetscFunctionBegin;
  PetscCall(wrote(A));
  unpack_ = std::move(unpack);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixValues::wrote(Mat A) {
  PetscFunctionBegin;
  unpack_ = nullptr;
  PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(A)));
  state_ = reinterpret_cast<PetscObject>(A)->state;
  mask_ = PETSC_OFFLOAD_GPU;
  ++version_;
  guarded_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatrixValues::as_vector(Mat A, Vec* v) {
  PetscFunctionBegin;
  PetscCall(guarded(comm_of(A), [&] { unpack(); }));
  const std::size_t count = buffer_.bytes() / sizeof(Scalar);
  auto* const values = reinterpret_cast<PetscScalar*>(buffer_.data());
  PetscCheck(count <= static_cast<std::size_t>(std::numeric_limits<PetscInt>::max()), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A matrix has more scalars than a PetscInt counts");
#if PetscDefined(HAVE_CUDA)
  if (device_->is_device()) {
    PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, static_cast<PetscInt>(count), values, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, static_cast<PetscInt>(count), values, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatrixValues::leave_to_host(Mat A) {
  state_ = reinterpret_cast<PetscObject>(A)->state;
  unpack_ = nullptr;
  mask_ = PETSC_OFFLOAD_CPU;
  ++version_;
  guarded_ = false;
}

void MatrixValues::discard() {
  unpack_ = nullptr;
  buffer_ = {};
  mask_ = PETSC_OFFLOAD_CPU;
  ++version_;
  guarded_ = false;
}

}  // namespace compound::plugin
