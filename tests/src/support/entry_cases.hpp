// The kinds of entry that covering sets go through, and the scalars they do it in.
#pragma once

#include <string_view>
#include <vector>

#include "plan.hpp"

namespace compound::test {

/// A kind and the blocks it is tried on in each field; where it does not exist the plan is not applicable.
struct EntryCase {
  std::string_view entry;
  BlockShape real, complex;
  BlockShape in(Field field) const { return field == Field::real ? real : complex; }
};

constexpr EntryCase entry_of(std::string_view entry, int rows, int cols) { return {entry, {rows, cols}, {rows, cols}}; }

inline const std::vector<EntryCase>& square_entry_cases() {
  static const std::vector<EntryCase> all = {
      entry_of("dense", 1, 1),
      entry_of("dense", 2, 2),
      entry_of("dense", 3, 3),
      entry_of("dense", 4, 4),
      entry_of("dense", 5, 5),
      entry_of("dense", 6, 6),
      entry_of("dense", 7, 7),
      entry_of("dense", 8, 8),
      entry_of("dense", 12, 12),
      entry_of("complex", 2, 2),
      {"quaternion", {4, 4}, {2, 2}},
      {"dual_quaternion", {8, 8}, {4, 4}},
      {"unit_quaternion", {4, 4}, {2, 2}},
      entry_of("diagonal", 3, 3),
      entry_of("diagonal", 7, 7),
      entry_of("scaled_identity", 3, 3),
      entry_of("scaled_identity", 12, 12),
  };
  return all;
}

/// With rectangular blocks of up to `most` scalars a side.
inline std::vector<EntryCase> entry_cases(int most) {
  std::vector<EntryCase> all = square_entry_cases();
  for (const EntryCase& c :
       {entry_of("dense", 3, 2), entry_of("dense", 2, 5), entry_of("dense", 1, most), entry_of("dense", most, 1)})
    all.push_back(c);
  return all;
}

struct ScalarCase {
  ScalarType vectors;
  const char* values;
};

inline const std::vector<ScalarCase>& scalar_cases() {
  static const std::vector<ScalarCase> all = {
      {{Field::real, Precision::double_}, " values=double"},    {{Field::real, Precision::double_}, " values=float"},
      {{Field::complex, Precision::double_}, " values=double"}, {{Field::real, Precision::single}, " values=float"},
      {{Field::complex, Precision::double_}, " values=float"},  {{Field::complex, Precision::single}, " values=float"},
  };
  return all;
}

}  // namespace compound::test
