// What is done with values before they are packed: another order, codes for equal ones. By the host where its memory is
// in reach, else by the backend's ValueWork.
#pragma once

#include "backend/backend.hpp"
#include "device/chunk_codes.hpp"

namespace compound {

/// Which items are the same, bit by bit.
struct CodeTask {
  const ValueCode& code;
  const void* items = nullptr;  ///< [count], each of `bytes` bytes, a multiple of 4
  slot_t count = 0;
  std::size_t bytes = 0;
  Memory items_in = Memory::host;
  void* codes = nullptr;  ///< [count] each of code.bytes, in the backend's memory
};

/// blocks [entries][cols][rows] <- `values` in the order of rows (ValueOrder::rows).
struct OrderTask {
  const Problem& problem;
  idx rows = 0;  ///< block rows
  count32 entries = 0;
  const count32* start = nullptr;  ///< [rows + 1], in the backend's memory
  const void* values = nullptr;
  Memory values_in = Memory::host;
  void* blocks = nullptr;  ///< in the backend's memory
};

class ValueWork {
 public:
  virtual void order_blocks(const OrderTask& task) = 0;
  /// Of items in the backend's memory; at least one.
  virtual std::optional<Buffer<std::byte>> code_items(const CodeTask& task) = 0;
  virtual void code_chunks(ChunkStep step, const chunk_code_args& args) = 0;

 protected:
  ~ValueWork() = default;
};

/// The one way from one ValueOrder to the other: whatever packs or looks at blocks sees them in order `blocks`.
void order_blocks(Backend& on, const OrderTask& task);

/// Codes for all items. Those that differ [number], by their first places, in the backend's memory; nothing where they
/// are more than the code has.
std::optional<Buffer<std::byte>> code_items(Backend& on, const CodeTask& task);

/// One step of code_chunks() (chunk_codes.hpp), all in the backend's memory.
void code_chunks(Backend& on, ChunkStep step, const chunk_code_args& args);

}  // namespace compound
