// Run-time names of the scalars of src/device/scalar.hpp.
#pragma once

#include <cstddef>
#include <string_view>

#include "device/scalar.hpp"

namespace compound {

enum class Field { real, complex };
enum class Precision { single, double_ };

/// The scalar of vectors and of full blocks.
struct ScalarType {
  Field field = Field::real;
  Precision precision = Precision::double_;
  bool operator==(const ScalarType&) const = default;
};

constexpr std::size_t bytes_of(Precision p) { return p == Precision::single ? 4 : 8; }
constexpr std::size_t bytes_of(ScalarType s) { return bytes_of(s.precision) * (s.field == Field::complex ? 2 : 1); }

constexpr std::string_view name_of(Precision p) { return p == Precision::single ? "float" : "double"; }

template <class S>
constexpr ScalarType scalar_type_of() {
  return {is_complex<S> ? Field::complex : Field::real,
          sizeof(real_of<S>) == 4 ? Precision::single : Precision::double_};
}

}  // namespace compound
