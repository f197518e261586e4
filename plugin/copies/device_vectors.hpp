// Vectors of a product in a device's memory: their own arrays where those are there, else copies in buffers.
#pragma once

#include <array>

#include "backend.hpp"
#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// For x, z and y of a product; kept by the matrix, since vectors on the host come again.
using DeviceBuffers = std::array<Buffer<std::byte>, 3>;

enum class Access { read, write, read_write };

/// One vector between take() and give_back().
class DeviceVector {
 public:
  /// `enough` tells whether the device had memory for a copy. give_back() must follow either way.
  PetscErrorCode take(Vec v, Access access, Backend& on, Buffer<std::byte>& buffer, bool* enough);
  /// Copies what was `written` to the host if the vector lives there.
  PetscErrorCode give_back(bool written);
  void* data() const { return data_; }
  bool is_copy() const { return is_copy_; }

 private:
  PetscErrorCode copy_in(Buffer<std::byte>& buffer, bool* enough);

  Vec vec_ = nullptr;
  Access access_ = Access::read;
  Backend* on_ = nullptr;
  std::size_t bytes_ = 0;
  PetscScalar* array_ = nullptr;
  bool is_copy_ = false;
  void* data_ = nullptr;
};

}  // namespace compound::plugin
