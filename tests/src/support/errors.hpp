// Errors as a test sees them: kind, and what the message says.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace compound::test {

template <class F>
testing::AssertionResult throws(const F& f, ErrorKind kind, std::string_view part) {
  try {
    f();
  } catch (const error& e) {
    const std::string message = e.what();
    if (e.kind() != kind)
      return testing::AssertionFailure() << "kind " << static_cast<int>(e.kind()) << " thrown: " << message;
    if (message.find(part) == std::string::npos)
      return testing::AssertionFailure() << "message '" << message << "' lacks '" << part << "'";
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "nothing thrown; expected '" << part << "'";
}

}  // namespace compound::test

#define EXPECT_ERROR(statement, kind, part) \
  EXPECT_TRUE(::compound::test::throws([&] { static_cast<void>(statement); }, kind, part))
