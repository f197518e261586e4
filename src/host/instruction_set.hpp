// Which instruction set the host's products use: the best of the machine's that was compiled, or less by request.
#pragma once

#include <optional>
#include <string_view>

#include "simd/task.hpp"

namespace compound::host {

/// In rising order; each includes those before it.
enum class InstructionSet { plain, avx2, avx512 };

std::string_view name_of(InstructionSet set);
std::optional<InstructionSet> instruction_set(std::string_view name);

/// The best that this machine has and this build has code for.
InstructionSet best_instruction_set();

/// What products use: the best, or what the environment variable COMPOUND_HOST_SIMD (plain, avx2, avx512) asks for if
/// the machine has it; a set that it lacks, or an unknown name, throws `argument` with the names there are.
InstructionSet instruction_set_in_use();

/// For tests and benchmarks; matrices that are packed stay with theirs. Throws `argument` if the machine lacks it.
void use_instruction_set(InstructionSet set);

/// Traversals compiled for a set; empty for `plain`.
SimdTable simd_table(InstructionSet set);

}  // namespace compound::host
