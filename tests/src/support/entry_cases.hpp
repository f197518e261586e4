// The kinds of entry that covering sets go through, and the scalars they do it in.
#pragma once

#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace compound::test {

/// A kind and the blocks it is tried on in each field; where it does not exist the plan is not applicable.
struct EntryCase {
  std::string_view entry;
  BlockShape real, complex;
  BlockShape in(Field field) const { return field == Field::real ? real : complex; }
};

constexpr EntryCase entry_of(std::string_view entry, int rows, int cols) { return {entry, {rows, cols}, {rows, cols}}; }

inline std::vector<EntryCase> square_entry_cases() {
  std::vector<EntryCase> all;
  for (const EntryKind& k : entry_kinds()) {
    if (k.user_defined) continue;
    const EntryShape &real = k.in_real.words ? k.in_real : k.in_complex,
                     &complex = k.in_complex.words ? k.in_complex : real;
    if (k.sizes == 0) all.push_back({k.name, {real.rows, real.cols}, {complex.rows, complex.cols}});
    if (k.sizes == 1)
      for (const int n : {3, 7, 12}) all.push_back(entry_of(k.name, n, n));
    if (k.sizes == 2)
      for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12}) all.push_back(entry_of(k.name, n, n));
  }
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
