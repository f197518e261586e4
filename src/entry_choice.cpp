#include "entry_choice.hpp"

#include <algorithm>
#include <vector>

namespace compound {

namespace {

struct Candidate {
  std::string_view entry;
  std::size_t bytes;  ///< of one entry
};

std::size_t entry_bytes(const EntryShape& shape, ScalarType scalar) {
  return shape.words * (shape.real_words ? bytes_of(scalar.precision) : bytes_of(scalar));
}

/// Cheaper than dense, the cheapest first.
std::vector<Candidate> candidates(const Problem& p) {
  std::vector<Candidate> all;
  const std::size_t dense = entry_bytes(entry_kind("dense").shape(p.scalar.field, p.block), p.scalar);
  for (const EntryKind& kind : entry_kinds()) {
    const EntryShape shape = kind.shape(p.scalar.field, p.block);
    const std::size_t bytes = entry_bytes(shape, p.scalar);
    if (shape.words != 0 && bytes < dense && !kind.approximate && !kind.user_defined) all.push_back({kind.name, bytes});
  }
  std::ranges::stable_sort(all, {}, &Candidate::bytes);
  return all;
}

/// Blocks that are looked at before the next kind's turn: they stay in a core's first cache. A device looks at all.
constexpr std::size_t chunk_bytes = 16384;

}  // namespace

std::string_view cheapest_entry(const Problem& problem, Backend& backend, const void* blocks, count32 entries,
                                Memory in) {
  if (entries == 0) return "dense";
  std::vector<Candidate> left = candidates(problem);
  const std::size_t each = std::size_t{1} * problem.block.rows * problem.block.cols * bytes_of(problem.scalar);
  const std::size_t in_chunk = in == Memory::host ? std::max<std::size_t>(1, chunk_bytes / each) : entries;
  for (std::size_t from = 0; from < entries && !left.empty(); from += in_chunk) {
    const void* const first = static_cast<const char*>(blocks) + from * each;
    const auto count = static_cast<count32>(std::min<std::size_t>(in_chunk, entries - from));
    std::erase_if(left, [&](const Candidate& c) {
      return backend.first_misfit({c.entry, problem, first, count, in}).has_value();
    });
  }
  return left.empty() ? "dense" : left.front().entry;
}

}  // namespace compound
