// Where a product runs: on the host or on a device, as its vectors and the user's wishes have it.
#pragma once

#include <array>
#include <string_view>

#include "backend/backend.hpp"
#include "options/settings.hpp"

namespace compound::plugin {

/// A matrix is packed for each of them on its own. Fallback order of products: the device, the host, the base type.
enum class MemorySpace { host, device };

struct MemorySpaceRow {
  MemorySpace space;
  std::string_view backend;
  const char* next;  ///< to whom products are left
};
constexpr std::array<MemorySpaceRow, 2> memory_spaces = {
    {{MemorySpace::host, "host", "the base type"}, {MemorySpace::device, "cuda", "the host"}}};
constexpr const MemorySpaceRow& row_of(MemorySpace space) { return memory_spaces[static_cast<int>(space)]; }

/// Null where there is none: not built, no driver, no device. Initialises nothing.
Backend* device_backend();

/// Collective, at registration: tells the backend which of a node's devices is this process's, unless PETSc does.
PetscErrorCode choose_device();

/// Before any work on a device: PETSc's device is up where PETSc has one, and work goes to its current stream.
PetscErrorCode begin_device_work(Backend& device);

/// Whether MatBindToCPU() holds. PETSc makes every matrix bound; types that can use a device unbind theirs.
bool is_bound(Mat A);
void set_bound(Mat A, bool bound);

/// Whether a vector's array is to be used in the device's memory. Asks for the memory type: a vector of a device type
/// may be bound to the host.
PetscErrorCode is_on_device(Vec v, bool* yes);

/// Where a product with `x` is to run: `auto` follows x, and no device is touched for a vector on the host.
PetscErrorCode space_of_product(Mat A, const Settings& settings, Vec x, MemorySpace* space);

}  // namespace compound::plugin
