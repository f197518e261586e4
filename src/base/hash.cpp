#include "base/hash.hpp"

#include <cstdio>

namespace compound {

std::string TextHash::hex() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(state_ >> 64),
                static_cast<unsigned long long>(state_));
  return text;
}

std::string hash_of(std::string_view text) {
  TextHash hash;
  hash.add(text);
  return hash.hex();
}

}  // namespace compound
