// The one exception of src/. plugin/ translates its kind to a PETSc error code.
#pragma once

#include <stdexcept>
#include <string>

namespace compound {

enum class ErrorKind {
  argument,     ///< what the caller gave is wrong
  unsupported,  ///< right in itself, but this build or backend cannot do it
  too_large,    ///< beyond the range of 32-bit block columns or slot counts
  device,       ///< a device failed at what it was asked to do
};

/// A message says what, where, found, allowed, remedy.
class error : public std::runtime_error {
 public:
  error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace compound
