// Dot products that follow products: what they are held against.
#pragma once

#include <complex>

#include "support/products.hpp"

namespace compound::test {

/// w^H v or w^T v in quadruple-like care: by long double parts.
template <class S>
S reference_dot(Follow kind, const std::vector<S>& w, const std::vector<S>& v) {
  std::complex<long double> sum = 0;
  const auto part = [](const S& s) {
    if constexpr (is_complex<S>)
      return std::complex<long double>(s.re, s.im);
    else
      return std::complex<long double>(s);
  };
  for (std::size_t i = 0; i < w.size(); ++i)
    sum += (kind == Follow::dot ? std::conj(part(w[i])) : part(w[i])) * part(v[i]);
  using R = real_of<S>;
  if constexpr (is_complex<S>)
    return S{R(sum.real()), R(sum.imag())};
  else
    return R(sum.real());
}

/// Sizes of the terms, to which errors of rounding are in proportion.
template <class S>
double size_of_terms(const std::vector<S>& w, const std::vector<S>& v) {
  double sum = 0;
  const auto size = [](const S& s) {
    if constexpr (is_complex<S>)
      return std::hypot(double(s.re), double(s.im));
    else
      return std::abs(double(s));
  };
  for (std::size_t i = 0; i < w.size(); ++i) sum += size(w[i]) * size(v[i]);
  return sum;
}

/// The product and its dot, vectors=1; w has the size of y.
template <class S>
struct WithDot {
  std::vector<S> y;
  S dot;
};

template <class S>
WithDot<S> multiplied_with_dot(const PackedMatrix& A, const Operands<S>& o, Op op, Form form, Follow kind,
                               const std::vector<S>& w, const int* stop = nullptr) {
  auto x = o.x(op), z = o.z(op), of_w = w;
  std::vector<S> y = form == Form::add_in_place ? z : std::vector<S>(z.size(), not_a_number<S>()), result(1);
  const Placed<S> px(A.backend(), x, 0), pz(A.backend(), z, 0), py(A.backend(), y, 0), pw(A.backend(), of_w, 0),
      pd(A.backend(), result, 0);
  const S* from = form == Form::assign ? nullptr : form == Form::add ? pz.data() : py.data();
  A.multiply(op, form == Form::assign ? Update::assign : Update::add, px.data(), from, py.data(),
             {kind, pw.data(), pd.data(), stop});
  py.bring_back();
  pd.bring_back();
  return {y, result[0]};
}

}  // namespace compound::test
