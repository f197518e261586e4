// What cases have met: how often each value of each factor.
#pragma once

#include <map>
#include <string>

#include "case.hpp"

namespace compound::test {

class Tally {
 public:
  void add(const Case& c);
  /// "words: 1:column 17, 32:row 4", a line each.
  std::string text() const;
  /// As one text, and back: to add those of all ranks.
  std::string packed() const;
  void add(const std::string& packed);

 private:
  void count(const std::string& factor, const std::string& value, long times = 1) { counts_[factor][value] += times; }
  std::map<std::string, std::map<std::string, long>> counts_;
};

}  // namespace compound::test
