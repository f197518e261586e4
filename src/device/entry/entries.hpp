// Every kind of entry there is: a kind is its header, and a row of `built_in_kinds`.
#pragma once

#include "complex.hpp"
#include "dense.hpp"
#include "diagonal.hpp"
#include "dual_quaternion.hpp"
#include "quaternion.hpp"
#include "scaled_identity.hpp"
#include "unit_quaternion.hpp"

namespace compound {

/// A kind with one shape in matrices of the same scalars; of square blocks of any size; of blocks of any shape.
/// `sizes`: what its template takes beside the scalar.
template <template <class> class Kind>
struct one_shape {
  static constexpr int sizes = 0;
  template <class S, slot_t = dynamic>
  using entry = Kind<S>;
};
template <template <class, slot_t> class Kind>
struct any_square {
  static constexpr int sizes = 1;
  template <class S, slot_t N = dynamic>
  using entry = Kind<S, N>;
};
template <template <class, slot_t, slot_t> class Kind>
struct any_shape {
  static constexpr int sizes = 2;
  template <class S, slot_t N = dynamic>
  using entry = Kind<S, N, N>;
};

template <class... Kinds>
struct kind_list {};

/// Of kinds with as many words the first is chosen.
using built_in_kinds = kind_list<  //
    any_shape<dense>,              //
    one_shape<complex_entry>,      //
    one_shape<quaternion>,         //
    one_shape<dual_quaternion>,    //
    any_square<diagonal_entry>,    //
    any_square<scaled_identity>,   //
    one_shape<unit_quaternion>>;

}  // namespace compound
