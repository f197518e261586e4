// Which kind of entry a matrix' blocks are of.
#pragma once

#include <vector>

#include "backend/backend.hpp"

namespace compound {

/// What cheapest_entry() may give for such blocks, dense among them.
std::vector<std::string_view> entries_to_find(const Problem& problem);

/// The kind with the fewest words whose block equals (==) every one of `blocks` ([entries][cols][rows]); "dense" where
/// none of fewer words does. Approximate kinds are left out.
///
/// `blocks` are such whatever problem.order says. On the host one pass over the blocks, left as soon as no kind is
/// left; `backend` is where the blocks lie if `in` says so. No blocks: dense.
std::string_view cheapest_entry(const Problem& problem, Backend& backend, const void* blocks, count32 entries,
                                Memory in = Memory::host);

/// The same of values in problem.order: those in the order of rows are looked at in blocks, block row by block row.
std::string_view cheapest_entry(const PatternView& pattern, const Problem& problem, Backend& backend,
                                const void* values, Memory in = Memory::host);

}  // namespace compound
