// Sizes and places of what a packed matrix has of each part of a plan: counted before it is made, and made.
#pragma once

#include "backend/backend.hpp"
#include "plan/partition.hpp"

namespace compound {

/// Without what else a dictionary takes; at most, where the values tell.
inline std::size_t bytes_of_slot(const Plan& plan, const Problem& problem) {
  const ValueCode& code = value_code(plan.codes);
  if (code.of == CodeOf::blocks) return code.in_values() ? code.bytes : 0;
  if (code.of == CodeOf::words) return entry_shape(plan, problem).words * code.bytes;
  return bytes_of_entry(plan, problem);
}

/// Groups of words are whole.
inline std::size_t bytes_of_words(const Plan& plan, const Problem& problem, slot_t slots) {
  const idx group = plan.layout.word_group;
  const slot_t items = group <= 1 ? slots : (slots + group - 1) / group * group;
  return items * bytes_of_slot(plan, problem);
}

/// The words of each part begin where the widest access may, whatever a word has been coded as.
inline std::size_t begin_of_words(std::size_t after) {
  constexpr std::size_t items = 256;
  return (after + items - 1) / items * items;
}

/// Columns that have a bit of their own beside them belong to one part alone.
inline PatternLifetime lifetime_for(const PatternPart& part, PatternLifetime given) {
  const bool may_borrow = part.has_all() && !value_code(part.plan.codes).in_columns();
  return may_borrow ? given : PatternLifetime::temporary;
}

inline bool lies_on_blocks(const PatternPart& part, const Problem& problem, const Backend& backend) {
  return part.has_all() && words_are_blocks(part.plan, problem) && backend.reads_in_place();
}

}  // namespace compound
