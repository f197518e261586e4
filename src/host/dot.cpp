#include "dot.hpp"

namespace compound::host {

namespace {

/// Several sums, which do not wait for each other.
template <class S, Follow follow>
void dot_of(const void* of_w, const void* of_y, slot_t n, void* result) {
  constexpr slot_t lanes = 8;
  const S *const w = static_cast<const S*>(of_w), *const y = static_cast<const S*>(of_y);
  const auto product = [&](slot_t i) { return (follow == Follow::dot ? conjugate(w[i]) : w[i]) * y[i]; };
  S sum[lanes] = {};
  slot_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (slot_t lane = 0; lane < lanes; ++lane) sum[lane] += product(i + lane);
  for (; i < n; ++i) sum[0] += product(i);
  for (slot_t step = lanes / 2; step > 0; step /= 2)
    for (slot_t lane = 0; lane < step; ++lane) sum[lane] += sum[lane + step];
  *static_cast<S*>(result) = sum[0];
}

struct DotRow {
  ScalarType scalar;
  void (*dot)(const void*, const void*, slot_t, void*);
  void (*bilinear)(const void*, const void*, slot_t, void*);
};

template <class S>
constexpr DotRow dot_row() {
  return {scalar_type_of<S>(), dot_of<S, Follow::dot>, dot_of<S, Follow::bilinear>};
}

constexpr DotRow dot_rows[] = {dot_row<float>(), dot_row<double>(), dot_row<complex_number<float>>(),
                               dot_row<complex_number<double>>()};

}  // namespace

void dot(const ProductDot& dot, ScalarType scalar, slot_t scalars, const void* y) {
  for (const DotRow& row : dot_rows)
    if (row.scalar == scalar) (dot.kind == Follow::dot ? row.dot : row.bilinear)(dot.w, y, scalars, dot.result);
}

}  // namespace compound::host
