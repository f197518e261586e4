// Wisdom of damaged lines: what is read is written again, and each entry is found by its key, in the lines and without.
#include "planner/wisdom.hpp"

#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace compound;
  const std::string_view text = fuzz::text_of(data, size);
  Wisdom wisdom, again;
  static_cast<void>(is_wisdom(text));
  wisdom.add_lines(text);
  const std::string lines = wisdom.lines();
  again.add_lines(lines);
  fuzz::require(again.lines() == lines, "lines that were written are read: " + lines);
  fuzz::require(again.entries() == wisdom.entries(), "entries are the same: " + lines);
  for (const WisdomEntry& entry : wisdom.entries()) {
    const auto found = wisdom.find(entry.key);
    fuzz::require(found && found->match == WisdomMatch::pattern && found->entry == entry,
                  "an entry is found by its key");
    fuzz::require(find_in_lines(text, entry.key) == found, "it is found in the text as well: " + entry.plan);
  }
  return 0;
}
