#include "backend/value_work.hpp"

#include "plan/value_order.hpp"

namespace compound {

void order_blocks(Backend& on, const OrderTask& t) {
  if (ValueWork* const work = on.extensions().values) return work->order_blocks(t);
  to_blocks({t.rows, 0, {t.start, static_cast<std::size_t>(t.rows) + 1}, {}}, t.problem, t.values, t.blocks, 0, t.rows);
}

std::optional<Buffer<std::byte>> code_items(Backend& on, const CodeTask& t) {
  ValueWork* const work = on.extensions().values;
  if (work && t.items_in == Memory::backend && t.count > 0) return work->code_items(t);
  std::vector<std::byte> codes(t.count * t.code.bytes);
  const auto distinct = code_items(t.code, t.items, t.count, t.bytes, codes.data());
  if (!distinct) return {};
  if (!codes.empty()) on.upload(t.codes, codes.data(), codes.size());
  return Buffer<std::byte>(on, std::span<const std::byte>(*distinct));
}

void code_chunks(Backend& on, ChunkStep step, const chunk_code_args& a) {
  if (ValueWork* const work = on.extensions().values) return work->code_chunks(step, a);
  constexpr void (*steps[])(const chunk_code_args&, slot_t) = {sample_word, note_word, write_word};
  const slot_t workers = step == ChunkStep::sample ? a.samples : a.count;
  for (slot_t worker = 0; worker < workers; ++worker) steps[static_cast<int>(step)](a, worker);
}

}  // namespace compound
