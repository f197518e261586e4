#include "device.hpp"

namespace compound::bench {

namespace {

Device* used = nullptr;

}  // namespace

void use_device(Device* device) { used = device; }

Device* used_device() { return used; }

void wait_for_device() {
  if (used) used->wait();
}

}  // namespace compound::bench
