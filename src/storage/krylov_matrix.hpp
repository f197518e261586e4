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

inline KrylovSystems::Matrix krylov_matrix_of_systems(const PackedMatrix& A) {
  return {[&A](const VectorsTask& vectors, const void* p, void* w, const ProductDot& dot) {
            A.multiply_vectors(Op::none, Update::assign, vectors, p, nullptr, w, dot);
          },
          A.stamp(), [&A](std::span<const int> counts, Follow follow) { A.compile_vectors(counts, follow); }};
}

}  // namespace compound
