// Whether cuSPARSE opens, and what is said where it does not. No device is needed.
#include <gtest/gtest.h>

#include <iostream>

#include "cuda/cusparse.hpp"
#include "support/environment.hpp"

namespace compound::test {
namespace {

const LibraryProduct& product_named(std::string_view word) { return *find_library_product(word); }

/// Before any other test opens the library, which then stays open.
TEST(Cusparse, SaysWhatItTriedWhereNoneOpens) {
  const Variable named("COMPOUND_CUSPARSE", "/no/such/folder/libcusparse.so");

  const auto why = cuda::why_no_cusparse(product_named("cusparse:bsr-row"));

  ASSERT_TRUE(why);
  const bool is_built = why->find("this build does not know it") == std::string::npos;
  EXPECT_TRUE(!is_built ||
              why->find("none of these opens: /no/such/folder/libcusparse.so; install it") != std::string::npos)
      << *why;
}

TEST(Cusparse, HasAVersionAndAllProductsWhereItOpens) {
  const auto why = cuda::why_no_cusparse(product_named("cusparse:csr"));
  if (why) {
    std::cout << "skipped: cuSPARSE is not on this machine: " << *why << std::endl;
    GTEST_SKIP() << *why;
  }

  EXPECT_NE(cuda::cusparse_version().value_or(""), "");
  for (const LibraryProduct& product : library_products())
    EXPECT_EQ(cuda::why_no_cusparse(product), std::nullopt) << product.word;
}

}  // namespace
}  // namespace compound::test
