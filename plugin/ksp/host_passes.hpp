// What an iteration of conjugate gradients does with vectors on the host, in as few passes over memory as there can be.
#pragma once

#include <array>
#include <cstddef>

#include "edge/petsc_guard.hpp"

namespace compound::plugin::passes {

/// Sums that do not wait for each other, so that compilers make vector instructions of them; always in one order.
constexpr std::size_t lanes = 8;

/// work(i, sums of lane) for i in [0, n): `count` sums.
template <std::size_t count, class Work>
std::array<Scalar, count> summed(std::size_t n, const Work& work) {
  Scalar sum[count][lanes] = {};
  std::size_t i = 0;
  const auto at = [&](std::size_t k, std::size_t lane) {
    const std::array<Scalar, count> of_k = work(k);
    for (std::size_t c = 0; c < count; ++c) sum[c][lane] += of_k[c];
  };
  for (; i + lanes <= n; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) at(i + lane, lane);
  for (; i < n; ++i) at(i, 0);
  std::array<Scalar, count> total = {};
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t lane = 0; lane < lanes; ++lane) total[c] += sum[c][lane];
  return total;
}

template <bool hermitian>
Scalar product(Scalar a, Scalar b) {
  return (hermitian ? conjugate(a) : a) * b;
}
inline Scalar square(Scalar a) { return conjugate(a) * a; }

/// [0] p^H w
template <bool hermitian>
std::array<Scalar, 1> dot(std::size_t n, const Scalar* p, const Scalar* w) {
  return summed<1>(n, [=](std::size_t i) { return std::array{product<hermitian>(p[i], w[i])}; });
}

/// [0] r^H z, [1] |z|^2
template <bool hermitian>
std::array<Scalar, 2> dot_and_norm(std::size_t n, const Scalar* r, const Scalar* z) {
  return summed<2>(n, [=](std::size_t i) { return std::array{product<hermitian>(r[i], z[i]), square(z[i])}; });
}

/// r -= alpha w; [0] |r|^2
inline std::array<Scalar, 1> step(std::size_t n, Scalar alpha, const Scalar* w, Scalar* r) {
  return summed<1>(n, [=](std::size_t i) {
    r[i] -= alpha * w[i];
    return std::array{square(r[i])};
  });
}

/// The same, and z = d r, which may be where w is: [0] r^H z, [1] |z|^2, [2] |r|^2
template <bool hermitian>
std::array<Scalar, 3> step_with_diagonal(std::size_t n, Scalar alpha, const Scalar* d, Scalar* w_then_z, Scalar* r) {
  return summed<3>(n, [=](std::size_t i) {
    r[i] -= alpha * w_then_z[i];
    const Scalar z = d[i] * r[i];
    w_then_z[i] = z;
    return std::array{product<hermitian>(r[i], z), square(z), square(r[i])};
  });
}

/// x += alpha p; p = z + beta p
inline void turn(std::size_t n, Scalar alpha, Scalar beta, const Scalar* z, Scalar* x, Scalar* p) {
  for (std::size_t i = 0; i < n; ++i) {
    const Scalar of_p = p[i];
    Scalar next = z[i];
    x[i] += alpha * of_p;
    next += beta * of_p;
    p[i] = next;
  }
}

}  // namespace compound::plugin::passes
