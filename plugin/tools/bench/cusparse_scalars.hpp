// The scalars of cuSPARSE's products, and PETSc's as such.
#pragma once

#include <cusparse.h>

#include <complex>
#include <type_traits>
#include <vector>

#include "failure.hpp"
#include "parent_matrix.hpp"

namespace compound::bench {

/// What a scalar is called by cuSPARSE, and its legacy product.
template <class Real, class NativeScalar, cudaDataType Type, auto Bsrmv>
struct TraitsOf {
  static constexpr bool single = sizeof(Real) == sizeof(float);
  static constexpr cudaDataType type = Type;
  using Native = NativeScalar;
  static constexpr auto bsrmv = Bsrmv;
};
template <class Scalar>
struct Traits;
template <>
struct Traits<float> : TraitsOf<float, float, CUDA_R_32F, cusparseSbsrmv> {};
template <>
struct Traits<double> : TraitsOf<double, double, CUDA_R_64F, cusparseDbsrmv> {};
template <>
struct Traits<std::complex<float>> : TraitsOf<float, cuComplex, CUDA_C_32F, cusparseCbsrmv> {};
template <>
struct Traits<std::complex<double>> : TraitsOf<double, cuDoubleComplex, CUDA_C_64F, cusparseZbsrmv> {};

/// Whether two of PETSc's scalars are one of these.
template <class Scalar>
inline constexpr bool of_pairs = !std::is_arithmetic_v<Scalar> && std::is_arithmetic_v<PetscScalar>;

template <class Scalar>
std::vector<Scalar> converted(const PetscScalar* from, std::size_t count) {
  if constexpr (of_pairs<Scalar>) {
    std::vector<Scalar> to(count / 2);
    using Part = typename Scalar::value_type;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = {Part(from[2 * i]), Part(from[2 * i + 1])};
    return to;
  } else {
    return {from, from + count};
  }
}

template <class Scalar>
std::vector<PetscScalar> converted_back(const std::vector<Scalar>& from) {
  if constexpr (of_pairs<Scalar>) {
    std::vector<PetscScalar> to;
    to.reserve(2 * from.size());
    for (const Scalar& v : from) to.insert(to.end(), {PetscScalar(v.real()), PetscScalar(v.imag())});
    return to;
  } else {
    return {from.begin(), from.end()};
  }
}

/// First columns of 2x2 blocks, which the second ones must follow from.
template <class Scalar>
std::vector<Scalar> complex_values(const BlockArrays& b) {
  std::vector<Scalar> to;
  to.reserve(static_cast<std::size_t>(b.entries()));
  for (const PetscScalar* v = b.values; v != b.values + 4 * b.entries(); v += 4) {
    if (v[3] != v[0] || v[2] != -v[1]) throw left_out("the 2x2 blocks are not all complex numbers; add -entry complex");
    to.push_back(converted<Scalar>(v, 2).front());
  }
  return to;
}

}  // namespace compound::bench
