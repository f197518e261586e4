#include "instruction_set.hpp"

#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace compound::host {

namespace {

struct Row {
  InstructionSet set;
  bool (*here)();
  SimdTable (*table)();
};

constexpr Row rows[] = {
    {InstructionSet::plain, [] { return true; }, [] { return SimdTable{}; }},
#if defined(COMPOUND_SIMD_avx2)
    {InstructionSet::avx2, [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); },
     [] {
       return SimdTable{avx2_of_doubles(), avx2_of_floats(), avx2_sparse()};
     }},
#endif
#if defined(COMPOUND_SIMD_avx512)
    {InstructionSet::avx512,
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
     },
     [] {
       return SimdTable{avx512_of_doubles(), avx512_of_floats(), avx512_sparse()};
     }},
#endif
};

void check_here(InstructionSet set, std::string_view asked) {
  if (set <= best_instruction_set()) return;
  throw error(ErrorKind::argument, "instruction set " + std::string(asked) +
                                       " is not there: this machine and build have " +
                                       std::string(name_of(best_instruction_set())) + " at most");
}

InstructionSet from_environment() {
  const char* const asked = std::getenv("COMPOUND_HOST_SIMD");
  if (!asked || !*asked) return best_instruction_set();
  const auto set = instruction_set(asked);
  if (!set) {
    std::string names;
    for (const Row& r : rows) names += (names.empty() ? "" : ", ") + std::string(name_of(r.set));
    throw error(ErrorKind::argument,
                "unknown instruction set COMPOUND_HOST_SIMD=" + std::string(asked) + "; choose " + names);
  }
  check_here(*set, asked);
  return *set;
}

InstructionSet& in_use() {
  static InstructionSet set = from_environment();
  return set;
}

}  // namespace

std::string_view name_of(InstructionSet set) {
  constexpr std::string_view names[] = {"plain", "avx2", "avx512"};
  return names[static_cast<int>(set)];
}

std::optional<InstructionSet> instruction_set(std::string_view name) {
  for (const InstructionSet set : {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512})
    if (name_of(set) == name) return set;
  return {};
}

InstructionSet best_instruction_set() {
  InstructionSet best = InstructionSet::plain;
  for (const Row& r : rows)
    if (r.here()) best = r.set;
  return best;
}

InstructionSet instruction_set_in_use() { return in_use(); }

void use_instruction_set(InstructionSet set) {
  check_here(set, name_of(set));
  in_use() = set;
}

SimdTable simd_table(InstructionSet set) {
  for (const Row& r : rows)
    if (r.set == set) return r.table();
  return {};
}

}  // namespace compound::host
