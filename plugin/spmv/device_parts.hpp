// What a matrix has on the device, for code that queues its products itself.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "petsc/guard.hpp"
#include "spmv/peers.hpp"
#include "storage/device_matrix.hpp"

namespace compound::plugin {

/// A matrix whose products are on the device, and of several processes those that exchange.
struct DeviceParts : DeviceMatrix {
  std::shared_ptr<const PeerGroup> group;

  std::shared_ptr<Peers> peers() const { return group ? group->peers : nullptr; }
};

/// This process's parts of a matrix of several processes, ready for y = op(A) x with an x like this one; or why there
/// are none, which other processes may not say (agree_on_reason()). Collective.
PetscErrorCode parts_on_device(Mat A, Op op, Vec x, DeviceParts* parts, std::string* why_not);

inline constexpr std::string_view reason_of_another = "another process cannot";

/// For agree_on_reason(): after the error `here`.
PetscErrorCode share_reason(Mat A, std::string* why_not, PetscErrorCode here);

/// find(), which may write a reason; then all processes of the matrix have one where one has, and an error where one
/// has that. Collective.
template <class Find>
PetscErrorCode agree_on_reason(Mat A, std::string* why_not, const Find& find) {
  return share_reason(A, why_not, guarded(PETSC_COMM_SELF, [&]() -> PetscErrorCode {
                        why_not->reserve(reason_of_another.size());
                        return find();
                      }));
}

inline constexpr const char* no_packed_storage =
    "the matrix has no packed storage on the device in blocks of its own size";

}  // namespace compound::plugin
