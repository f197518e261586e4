// Ownership of PETSc objects, for programs of this project.
#pragma once

#include <petscsys.h>

#include <utility>

namespace compound {

/// Owns one PETSc object.
template <class T, PetscErrorCode (*Destroy)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T raw) : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() { reset(); }

  operator T() const { return raw_; }
  /// For calls that make a new object.
  T* out() {
    reset();
    return &raw_;
  }
  /// For calls that may exchange the object for another.
  T* in_place() { return &raw_; }
  void reset() {
    if (raw_) (void)Destroy(&raw_);
  }

 private:
  T raw_ = nullptr;
};

}  // namespace compound
