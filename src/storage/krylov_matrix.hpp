// A packed matrix as loops of Krylov methods take it.
#pragma once

#include "backend/krylov_loop.hpp"
#include "storage/packed.hpp"

namespace compound {

/// For as long as A lives.
inline KrylovLoop::Matrix krylov_matrix(const PackedMatrix& A) {
  return {
      [&A](const void* p, void* w, const ProductDot& dot) { A.multiply(Op::none, Update::assign, p, nullptr, w, dot); },
      A.stamp(), [&A](const void* p, void* w) { return A.task(p, w); }, A.bytes().total()};
}

}  // namespace compound
