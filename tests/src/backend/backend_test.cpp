#include "backend/backend.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/errors.hpp"

namespace compound::test {
namespace {

std::string reason(std::string_view line, const Problem& problem) {
  return backend("host").applicable(parse_plan(line, {}), problem).value_or("");
}

constexpr Problem dense_of(int rows, int cols) { return {{rows, cols}, {Field::real, Precision::double_}}; }

TEST(Backend, IsFoundByName) { EXPECT_EQ(backend("host").name(), "host"); }

TEST(Backend, ListsTheNamesThereAre) {
  EXPECT_ERROR(backend("hots"), ErrorKind::argument, "unknown backend 'hots': did you mean host? Choose host, cuda");
}

TEST(Backend, SaysWhyOneIsMissing) {
  for (const BackendRow& row : backends()) {
    if (row.get) continue;
    EXPECT_ERROR(backend(row.name), ErrorKind::unsupported, row.why_missing());
  }
}

TEST(HostBackend, ServesDenseBlocksOfAnyShapeUpToThirtyTwo) {
  EXPECT_EQ(reason("csr", dense_of(1, 1)), "");
  EXPECT_EQ(reason("csr", dense_of(3, 7)), "");
  EXPECT_EQ(reason("csr", dense_of(32, 32)), "");
  EXPECT_EQ(reason("csr", dense_of(33, 2)), "the host backend has dense blocks up to 32x32, the matrix has 33x2");
  EXPECT_EQ(reason("csr", dense_of(2, 33)), "the host backend has dense blocks up to 32x32, the matrix has 2x33");
}

TEST(HostBackend, DoesNotGoByComponents) {
  EXPECT_EQ(reason("csr components", dense_of(3, 3)), "the host backend does not go by components");
}

TEST(HostBackend, HasOneWorkerARow) {
  EXPECT_EQ(reason("csr lanes=2", dense_of(3, 3)), "the host backend has one worker a row: lanes=1");
}

TEST(HostBackend, RefusesSchedulesOfDevicesWithTheReason) {
  EXPECT_EQ(reason("csr threads=128 blocks=8", dense_of(3, 3)),
            "threads=, blocks=, unroll=, static, dynamic, stream and carries=atomic are for devices");
  for (const char* line : {"sell:32 threads=32", "ccoo carries=atomic"})
    EXPECT_EQ(reason(line, dense_of(3, 3)),
              "threads=, blocks=, unroll=, static, dynamic, stream and carries=atomic are for devices");
}

TEST(WhyNot, IsThePlansOwnReasonBeforeTheBackends) {
  const auto why = [](const char* line) {
    return why_not(parse_plan(line, {}), dense_of(3, 3), backend("host")).value_or("");
  };
  EXPECT_EQ(why("csr"), "");
  EXPECT_EQ(why("csr lanes=2"), "the host backend has one worker a row: lanes=1");
  EXPECT_EQ(why("csr lanes=2 presence"), "presence bits are for slices by length, not for layout csr");
}

TEST(HostBackend, AllocatesCacheLines) {
  Backend& host = backend("host");
  const Buffer<char> a(host, 1), b(host, 100);

  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0u);
}

TEST(Buffer, HoldsACopyOfWhatItIsMadeFrom) {
  std::vector<int> from = {3, 1, 4, 1, 5};

  const Buffer<int> buffer(backend("host"), std::span<const int>(from));
  from[0] = 9;

  EXPECT_EQ(buffer.data()[0], 3);
  EXPECT_EQ(buffer.data()[4], 5);
  EXPECT_EQ(buffer.bytes(), 5 * sizeof(int));
}

TEST(Buffer, IsEmptyByDefault) {
  const Buffer<int> buffer;

  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.bytes(), 0u);
}

}  // namespace
}  // namespace compound::test
