// Cases at random: the same from the same seed and number everywhere.
#pragma once

#include "case.hpp"

namespace compound::test {

/// Of the core. On a device neighbours share plan and entry, which a device compiles: `same_plan` cases each.
Case draw_core_case(std::uint64_t seed, std::uint64_t number, std::string_view backend);
inline constexpr std::uint64_t same_plan = 40;

/// Of PETSc's matrices on 1 to `ranks` ranks.
Case draw_petsc_case(std::uint64_t seed, std::uint64_t number, int ranks, ScalarType scalar, std::string_view backend);

}  // namespace compound::test
