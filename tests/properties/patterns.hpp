// Patterns by a line of text: one of the shapes that are drawn, or all of its entries.
#pragma once

#include <string>
#include <string_view>

#include "support/random.hpp"
#include "support/zoo.hpp"

namespace compound::test {

/// Names of shapes: "random", "long_row", ...
const std::vector<std::string_view>& pattern_shapes();

/// "long_row:40x33:17" (the seed last), of any of the shapes.
std::string draw_pattern_text(Random& random);

/// Such a line, or "3x4:0,2||1,1": the columns of each row. Throws `argument`.
Pattern pattern_of_text(std::string_view text);

/// All of its entries: what pattern_of_text() reads.
std::string text_of(const Pattern& pattern);

}  // namespace compound::test
