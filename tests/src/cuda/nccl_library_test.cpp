// Whether NCCL opens, and what is said where it does not. No device is needed.
#include <gtest/gtest.h>

#include <iostream>

#include "cuda/nccl.hpp"
#include "support/environment.hpp"

namespace compound::test {
namespace {

/// Before any other test opens the library, which then stays open.
TEST(Nccl, SaysWhatItTriedWhereNoneOpens) {
  const Variable named("COMPOUND_NCCL", "/no/such/folder/libnccl.so");

  const bool opens = cuda::nccl_if_any() != nullptr;
  const std::string version = cuda::nccl_version(), why = cuda::why_no_nccl_opens();

  EXPECT_FALSE(opens);
  EXPECT_EQ(version, "");
  EXPECT_NE(why.find("none of these opens: /no/such/folder/libnccl.so; install it"), std::string::npos) << why;
}

TEST(Nccl, HasAVersionWhereItOpens) {
  if (!cuda::nccl_if_any()) {
    std::cout << "skipped: NCCL is not on this machine: " << cuda::why_no_nccl_opens() << std::endl;
    GTEST_SKIP();
  }
  EXPECT_EQ(cuda::nccl_version().substr(0, 2), "2.");
}

}  // namespace
}  // namespace compound::test
