// Blocks and scalars that many tests take.
#pragma once

#include "plan/plan.hpp"

namespace compound::test {

inline constexpr Problem real_1x1{{1, 1}, {Field::real, Precision::double_}},
    real_2x2{{2, 2}, {Field::real, Precision::double_}}, real_3x3{{3, 3}, {Field::real, Precision::double_}},
    real_4x3{{4, 3}, {Field::real, Precision::double_}}, real_4x4{{4, 4}, {Field::real, Precision::double_}},
    float_2x2{{2, 2}, {Field::real, Precision::single}}, float_3x3{{3, 3}, {Field::real, Precision::single}},
    float_4x4{{4, 4}, {Field::real, Precision::single}}, complex_1x1{{1, 1}, {Field::complex, Precision::double_}},
    complex_2x2{{2, 2}, {Field::complex, Precision::double_}},
    complex_3x3{{3, 3}, {Field::complex, Precision::double_}};

}  // namespace compound::test
