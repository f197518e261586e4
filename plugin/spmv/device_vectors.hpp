// Vectors of a product in a device's memory: their own arrays where those are there, else copies in buffers.
#pragma once

#include <array>

#include "backend/backend.hpp"
#include "petsc/guard.hpp"

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

struct VectorUse {
  Vec v = nullptr;  ///< or none
  Access access = Access::read;
};

/// body(data) with vectors in the device's memory, for as long as it takes; it may throw. `buffers` are for those that
/// are not there, one for each.
template <std::size_t n, std::size_t of_buffers, class Body>
PetscErrorCode with_vectors(Backend& on, const std::array<VectorUse, n>& uses,
                            std::array<Buffer<std::byte>, of_buffers>& buffers, const Body& body) {
  static_assert(n <= of_buffers);
  PetscFunctionBegin;
  std::array<DeviceVector, n> vectors;
  std::array<void*, n> data = {};
  bool enough = true;
  for (std::size_t i = 0; i < n && enough; ++i) {
    if (!uses[i].v) continue;
    PetscCall(vectors[i].take(uses[i].v, uses[i].access, on, buffers[i], &enough));
    data[i] = vectors[i].data();
  }
  PetscErrorCode code = PETSC_SUCCESS;
  if (enough) code = guarded(PETSC_COMM_SELF, [&] { body(data); });
  for (DeviceVector& vector : vectors) PetscCall(vector.give_back(enough && !code));
  PetscCall(code);
  PetscCheck(enough, PETSC_COMM_SELF, PETSC_ERR_MEM, "The device has no memory left for a vector of a solver");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
