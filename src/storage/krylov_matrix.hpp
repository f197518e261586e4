// A packed matrix as loops of Krylov methods take it.
#pragma once

#include "backend/krylov_loop.hpp"
#include "storage/device_matrix.hpp"

namespace compound {

/// For as long as A lives.
inline KrylovLoop::Matrix krylov_matrix(const PackedMatrix& A) {
  return {
      [&A](const void* p, void* w, const ProductDot& dot) { A.multiply(Op::none, Update::assign, p, nullptr, w, dot); },
      A.stamp(), [&A](const void* p, void* w) { return A.task(p, w); }, A.bytes().total()};
}

/// Of several processes. For as long as all that it names lives.
inline KrylovLoop::Matrix krylov_matrix_of_peers(const DeviceMatrix& A) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // no stamps that occur together give one number twice
  const PackedMatrix &diagonal = *A.diagonal, &off_diagonal = *A.off_diagonal;
  const PeerExchange& exchange = *A.exchange;
  return {
      [A](const void* p, void* w, const ProductDot& dot) { A.multiply(Op::none, Update::assign, p, nullptr, w, dot); },
      (diagonal.stamp() * odd + off_diagonal.stamp()) * odd + exchange.stamp(),
      [&diagonal](const void* p, void* w) { return diagonal.task(p, w); },
      diagonal.bytes().total() + off_diagonal.bytes().total(),
      off_diagonal.entries() == 0 ? std::function<std::optional<ProductTask>(const void*, void*)>{}
                                  : [&off_diagonal](const void* g, void* y) { return off_diagonal.task(g, y); },
      &exchange};
}

inline KrylovSystems::Matrix krylov_matrix_of_systems(const PackedMatrix& A) {
  return {[&A](const VectorsTask& vectors, const void* p, void* w, const ProductDot& dot) {
            A.multiply_vectors(Op::none, Update::assign, vectors, p, nullptr, w, dot);
          },
          A.stamp(), [&A](std::span<const int> counts, Follow follow) { A.compile_vectors(counts, follow); }};
}

}  // namespace compound
