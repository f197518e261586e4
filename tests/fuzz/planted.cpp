// A reader with a fault: the count before its numbers is compared with nothing. The fuzzer must find it; no corpus.
#include <cstdlib>
#include <vector>

#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::vector<std::uint8_t> numbers(data + 1, data + size);
  int sum = 0;
  for (std::size_t k = 0; k < data[0]; ++k) sum += numbers.data()[k];
  return sum < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
