// Every product of a library in every scalar, in doubles on blocks of many sizes.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "plan/library_products.hpp"
#include "planner/default_plan.hpp"

namespace compound::test {

/// A product and what it multiplies.
struct LibraryCase {
  const LibraryProduct* product;
  ScalarType scalar;
  std::string_view entry;
  BlockShape block;

  Problem problem() const { return {block, scalar}; }
  Plan plan() const {
    const Plan base = default_plan(PatternStatistics{}, problem(), "cuda", entry);
    return plan_for_line("entry=" + std::string(entry) + " " + std::string(product->word), base, PatternStatistics{},
                         problem(), "cuda", entry);
  }
};

inline void PrintTo(const LibraryCase& c, std::ostream* out) {
  *out << c.product->word << ", " << c.entry << " " << text_of(c.block)
       << (c.scalar.field == Field::complex ? " complex " : " real ") << name_of(c.scalar.precision);
}

inline bool is_usual(ScalarType scalar) {
  return scalar.field == Field::real && scalar.precision == Precision::double_;
}

/// Most kernels that these want beside the library's are compiled for each anew: so few are of all scalars.
inline std::vector<LibraryCase> library_cases() {
  std::vector<LibraryCase> all;
  for (const LibraryProduct& product : library_products())
    for (const Field field : {Field::real, Field::complex})
      for (const Precision precision : {Precision::double_, Precision::single}) {
        for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 17, 32})
          if (n <= 4 || is_usual({field, precision})) all.push_back({&product, {field, precision}, "dense", {n, n}});
        if (field == Field::real) all.push_back({&product, {field, precision}, "complex", {2, 2}});
      }
  std::erase_if(all, [](const LibraryCase& c) { return applicable(c.plan(), c.problem()).has_value(); });
  return all;
}

}  // namespace compound::test
