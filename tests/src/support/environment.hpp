// Variables of the environment, for a while.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace compound::test {

/// A variable, which has a value (or none) until this ends, and then what it had before.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) const {
    value ? setenv(name_, value->c_str(), 1) : unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace compound::test
