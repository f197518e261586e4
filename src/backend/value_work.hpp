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

/// Of each entry of the matrix a list whose sum is its block, and for some entries one whose sum is added to that.
struct BlockSums {
  SumTask own, others;         ///< `to` is not read; places and strides are those of full blocks
  const int* other = nullptr;  ///< [entries] which list of `others`, or -1; null: none
  bool by_rows = false;        ///< the order of a block's scalars in the lists' offsets; else by columns
};

/// Of a block: a worker holds them.
inline constexpr int most_scalars_of_sums = 64;

/// A part of a packed matrix whose words are its blocks' scalars.
struct PackedWords {
  const Plan& plan;
  const Problem& problem;
  const layout_args& layout;
  void* values = nullptr;
  Code* code = nullptr;
  slot_t entries = 0;  ///< of the matrix
  entry_runs runs = {};
};

class ValueWork {
 public:
  /// The words of all entries <- sums, all in the backend's memory, queued like a product. Padding stays as it is.
  virtual void pack_sums(const PackedWords& to, const BlockSums& sums) = 0;
  /// blocks <- words: full blocks in pattern order, or, where `start` ([rows + 1] entries) is given, in the order of
  /// rows.
  virtual void unpack(const PackedWords& from, void* blocks, const count32* start, idx rows) = 0;
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
