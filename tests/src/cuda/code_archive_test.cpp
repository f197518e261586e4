// Archives of machine code: what is put in comes back by its key, and nothing else does.
#include "cuda/code_archive.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace compound::cuda {
namespace {

/// More than a block of them, alike and of different sizes; one is empty.
std::vector<NamedCode> codes(std::size_t count) {
  std::vector<NamedCode> all;
  for (std::size_t i = 0; i < count; ++i) {
    std::string code = std::string(37 * i, 'a') + std::to_string(i) + std::string(1000, '\0');
    if (i == 3) code.clear();
    all.push_back({std::to_string(1000 * i) + "-sm90", code});
  }
  return all;
}

/// As it lies in the library.
struct Placed {
  explicit Placed(const std::string& bytes) : memory((bytes.size() + 15) / 16), size(bytes.size()) {
    if (size > 0) std::memcpy(memory.data(), bytes.data(), size);
  }
  CodeArchive archive() const { return CodeArchive({reinterpret_cast<const char*>(memory.data()), size}); }
  struct alignas(16) Unit {
    char bytes[16];
  };
  std::vector<Unit> memory;
  std::size_t size;
};

TEST(CodeArchive, GivesEveryCodeByItsKey) {
  for (const std::size_t count : {0u, 1u, 15u, 16u, 17u, 50u}) {
    const auto all = codes(count);
    const Placed bytes(archive_of(all));
    const CodeArchive archive = bytes.archive();

    EXPECT_EQ(archive.keys().size(), count);
    for (const NamedCode& c : all) EXPECT_EQ(archive.code(c.key), c.code) << c.key;
  }
}

TEST(CodeArchive, HasNothingOfAnotherKey) {
  const Placed bytes(archive_of(codes(20)));
  for (const char* key : {"", "1000-sm9", "1000-sm900", "000-sm90", "99-sm90"}) {
    EXPECT_FALSE(bytes.archive().holds(key)) << key;
    EXPECT_EQ(bytes.archive().code(key), std::nullopt) << key;
  }
}

TEST(CodeArchive, IsSmallerThanWhatIsInIt) {
  std::size_t size = 0;
  for (const NamedCode& c : codes(50)) size += c.code.size();
  EXPECT_LT(archive_of(codes(50)).size(), size / 4);
}

TEST(CodeArchive, ThatIsNotWholeHoldsNothing) {
  const std::string good = archive_of(codes(20));
  for (const std::string& bad : {std::string(), good.substr(0, 20), good.substr(0, good.size() - 1), good + "x",
                                 "another file " + good.substr(13)})
    EXPECT_TRUE(Placed(bad).archive().keys().empty()) << bad.size() << " bytes of " << good.size();
}

}  // namespace
}  // namespace compound::cuda
