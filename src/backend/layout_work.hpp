// Layouts that are filled where they are used.
#pragma once

#include "device/fill_slots.hpp"
#include "layout/family.hpp"

namespace compound {

class LayoutWork {
 public:
  /// All arrays are in the backend's memory. Queued like a product.
  virtual void fill_slots(const LayoutFamily& family, const slots_args& args) = 0;

 protected:
  ~LayoutWork() = default;
};

}  // namespace compound
