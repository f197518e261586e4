// Faults that a build with sanitizers must find: `leak`, memory that nothing points to any more; `race`, two threads
// that write the same place.
#include <string_view>
#include <thread>

namespace {

[[gnu::noinline]] void leak() {
  [[maybe_unused]] static volatile int* lost;
  lost = new int[100]();
  lost = nullptr;
}

int race() {
  int sum = 0;
  std::thread other([&] { ++sum; });
  ++sum;
  other.join();
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view fault = count > 1 ? arguments[1] : "";
  if (fault == "leak") leak();
  if (fault == "race") return race();
}
