#include "storage/device_matrix.hpp"

namespace compound {

void DeviceMatrix::multiply(Op op, Update update, const void* x, const void* z, void* y, const ProductDot& dot) const {
  if (!exchange) {
    diagonal->multiply(op, update, x, z, y, dot);
  } else if (op == Op::none) {
    exchange->put(x, dot.stop);
    diagonal->multiply(op, update, x, z, y, dot);
    exchange->take(ghosts, dot.stop);
    ProductDot of_others = dot;
    of_others.adds = true;
    if (has_ghosts()) off_diagonal->multiply(op, Update::add, ghosts, y, y, of_others);
  } else {
    if (has_ghosts()) off_diagonal->multiply(op, Update::assign, x, nullptr, ghosts);
    exchange->put_back(ghosts);
    diagonal->multiply(op, update, x, z, y);
    exchange->add(y);
  }
}

bool DeviceMatrix::smooths() const { return diagonal->smooths() && (!has_ghosts() || off_diagonal->corrects()); }

void DeviceMatrix::smooth(const smoothing_args& step, const void* x, const void* b, void* y) const {
  if (exchange) exchange->put(x);
  diagonal->smooth(step, x, b, y);
  if (exchange) exchange->take(ghosts);
  if (has_ghosts()) off_diagonal->correct(step, ghosts, y);
}

}  // namespace compound
