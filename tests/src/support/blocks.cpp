#include "blocks.hpp"

namespace compound::test {

double rounded_to_float(double v) { return static_cast<float>(v); }

}  // namespace compound::test
