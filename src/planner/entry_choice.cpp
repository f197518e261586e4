#include "planner/entry_choice.hpp"

#include <algorithm>

#include "backend/value_work.hpp"
#include "host/backend.hpp"
#include "plan/value_order.hpp"

namespace compound {

namespace {

struct Candidate {
  std::string_view entry;
  std::size_t bytes;     ///< of one entry
  bool holds_multiples;  ///< every multiple of the identity is of this kind
};

constexpr std::string_view multiples_of_identity = "scaled_identity";

/// Cheaper than dense, the cheapest first.
std::vector<Candidate> candidates(const Problem& p) {
  std::vector<Candidate> all;
  const std::size_t dense = bytes_of(entry_kind("dense").shape(p.scalar.field, p.block), p.scalar);
  for (const EntryKind& kind : entry_kinds()) {
    const EntryShape shape = kind.shape(p.scalar.field, p.block);
    const std::size_t bytes = bytes_of(shape, p.scalar);
    if (shape.words != 0 && bytes < dense && !kind.approximate && !kind.user_defined)
      all.push_back(
          {kind.name, bytes,
           kind.multiples == Multiples::all || (kind.multiples == Multiples::real && p.scalar.field == Field::real)});
  }
  std::ranges::stable_sort(all, {}, &Candidate::bytes);
  return all;
}

/// Drops those that one of these blocks is not of. What is a multiple of the identity need not be looked at for each of
/// the kinds that hold those.
void drop_misfits(std::vector<Candidate>& left, Backend& backend, FitTask task) {
  bool multiples = false;
  std::erase_if(left, [&](const Candidate& c) {
    if (multiples && c.holds_multiples) return false;
    task.entry = c.entry;
    const bool misfits = backend.first_misfit(task).has_value();
    if (c.entry == multiples_of_identity) multiples = !misfits;
    return misfits;
  });
}

/// Blocks that are looked at before the next kind's turn: they stay in a core's first cache. Where one kind is left,
/// all are looked at. Of blocks on a device the host looks at the first, which leaves few kinds to compile kernels for.
constexpr std::size_t chunk_bytes = 16384;

}  // namespace

std::vector<std::string_view> entries_to_find(const Problem& problem) {
  std::vector<std::string_view> names = {"dense"};
  for (const Candidate& c : candidates(problem)) names.push_back(c.entry);
  return names;
}

std::string_view cheapest_entry(const Problem& problem, Backend& backend, const void* blocks, count32 entries,
                                Memory in) {
  if (entries == 0) return "dense";
  std::vector<Candidate> left = candidates(problem);
  const std::size_t each = std::size_t{1} * problem.block.rows * problem.block.cols * bytes_of(problem.scalar);
  const std::size_t chunk = std::max<std::size_t>(1, chunk_bytes / each);
  if (in == Memory::backend) {
    std::vector<char> sample(std::min<std::size_t>(chunk, entries) * each);
    backend.download(sample.data(), blocks, sample.size());
    drop_misfits(left, *host_backend(),
                 {{}, problem, sample.data(), static_cast<count32>(sample.size() / each), Memory::host});
  }
  for (std::size_t from = 0, count; from < entries && !left.empty(); from += count) {
    const bool at_once = in == Memory::backend || left.size() == 1;
    count = at_once ? entries - from : std::min<std::size_t>(chunk, entries - from);
    const void* const first = static_cast<const char*>(blocks) + from * each;
    drop_misfits(left, backend, {{}, problem, first, static_cast<count32>(count), in});
  }
  return left.empty() ? "dense" : left.front().entry;
}

namespace {

/// The first block row from which on there are `entries` more, or the end.
idx row_after(const PatternView& p, idx row, std::size_t entries) {
  const auto end = std::ranges::lower_bound(p.start, p.start[row] + entries);
  return std::min(p.rows, std::max(row + 1, static_cast<idx>(end - p.start.begin())));
}

/// The first `rows` block rows of values in the order of rows, in the host's memory.
void drop_misfits_in_rows(std::vector<Candidate>& left, const PatternView& p, const Problem& problem,
                          const void* values, idx rows) {
  const std::size_t each = bytes_of_block(problem), chunk = std::max<std::size_t>(1, chunk_bytes / each);
  std::vector<std::byte> blocks;
  for (idx row = 0, end; row < rows && !left.empty(); row = end) {
    end = std::min(rows, row_after(p, row, chunk));
    const count32 entries = p.start[end] - p.start[row];
    blocks.resize(entries * each);
    to_blocks(p, problem, values, blocks.data(), row, end);
    drop_misfits(left, *host_backend(), {{}, problem, blocks.data(), entries, Memory::host});
  }
}

}  // namespace

std::string_view cheapest_entry(const PatternView& p, const Problem& problem, Backend& backend, const void* values,
                                Memory in) {
  const count32 entries = p.entries();
  if (!needs_order(problem) || entries == 0) return cheapest_entry(problem, backend, values, entries, in);
  std::vector<Candidate> left = candidates(problem);
  if (in == Memory::host) {
    drop_misfits_in_rows(left, p, problem, values, p.rows);
    return left.empty() ? "dense" : left.front().entry;
  }
  const std::size_t each = bytes_of_block(problem);
  const idx few = row_after(p, 0, std::max<std::size_t>(1, chunk_bytes / each));
  std::vector<std::byte> sample(p.start[few] * each);
  backend.download(sample.data(), values, sample.size());
  drop_misfits_in_rows(left, p, problem, sample.data(), few);
  if (left.empty()) return "dense";
  const Buffer<count32> start(backend, p.start);
  const Buffer<std::byte> blocks(backend, entries * each);
  order_blocks(backend, {problem, p.rows, entries, start.data(), values, Memory::backend, blocks.data()});
  drop_misfits(left, backend, {{}, problem, blocks.data(), entries, Memory::backend});
  backend.synchronize();  // before the blocks are released
  return left.empty() ? "dense" : left.front().entry;
}

}  // namespace compound
