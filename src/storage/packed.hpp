// Packed matrix: one pattern and its values, in the layouts of one plan's parts, in one backend's memory.
#pragma once

#include <cstdint>
#include <limits>

#include "backend/backend.hpp"
#include "device/layout/chunk_words.hpp"
#include "pattern/reblock.hpp"

namespace compound {

/// How a device multiplies by A^T: with the values once more in the order of A^T, or with integers only, reading A's
/// own values out of order.
enum class TransposedValues { copy, shared };

/// The plan that suits the transpose of a part's rows where that is another than the part's own; `problem` is the
/// part's. Which plan suits which pattern is the planner's to know (plan_of_transpose()).
using TransposePlan = std::optional<Plan> (*)(const Plan& part, const PatternView& rows, const PatternView& transposed,
                                              const Problem& problem, std::string_view backend);

/// Whether the caller knows already that blocks are all of the plan's kind of entry (entry_choice.hpp).
enum class Fit { unknown, known };

struct BlockSums;         // backend/value_work.hpp
struct PackedWords;       // the same
struct PlacedRows;        // backend/sparse_products.hpp
struct PlacedTransposed;  // the same
struct LayoutFamily;

struct PackedBytes {
  std::size_t integers = 0, words = 0;
  std::size_t total() const { return integers + words; }
};

/// What a packed matrix takes, and what its products read of it: the papers' count. Equal but for what is borrowed, for
/// what only packing new values needs, and for the last group of words.
struct Footprint {
  slot_t slots = 0;
  PackedBytes read, allocated;
};

/// Of PackedMatrix(the same), counted before it is made, in memory for some integers a row. Throws `too_large`.
Footprint bytes_of(const PatternView& pattern, const Problem& problem, const Plan& plan, const Backend& backend,
                   PatternLifetime lifetime = PatternLifetime::temporary);

/// What products read of a matrix in other blocks: these in the plan, what is left over at its edge by compressed rows.
double read_bytes(const Reblocked& matrix, const Plan& plan, ScalarType scalar, const Backend& backend);

/// Padding of fewer bytes is never too much.
inline constexpr double padding_let_through_bytes = 64e6;
inline constexpr double unlimited_padding = std::numeric_limits<double>::infinity();

/// Whether a plan, or one of its parts, pads to more than `most` slots an entry, and by more than
/// padding_let_through_bytes: then how far, in words, and which layouts pad less; else nothing. Counted as bytes_of()
/// counts.
std::optional<std::string> too_much_padding(const PatternView& pattern, const Problem& problem, const Plan& plan,
                                            double most);

/// What a plan may take that was not asked for in particular.
struct PlanLimits {
  double padding = unlimited_padding;                      ///< slots an entry
  double bytes = std::numeric_limits<double>::infinity();  ///< that its packed copy owns
  PatternLifetime lifetime = PatternLifetime::temporary;   ///< of the pattern: what is borrowed of it is not owned
};

/// Why the packed copy of a plan would own more than `limits.bytes`, in words; nothing where it would not.
std::optional<std::string> too_much_memory(const PatternView& pattern, const Problem& problem, const Plan& plan,
                                           const Backend& backend, const PlanLimits& limits);

/// The first reason of too_much_padding() and too_much_memory().
std::optional<std::string> beyond(const PlanLimits& limits, const PatternView& pattern, const Problem& problem,
                                  const Plan& plan, const Backend& backend);

/// A layout's integers in a backend's memory: on the host as the encoder made them, on a device copied.
class PlacedLayout {
 public:
  PlacedLayout() = default;
  PlacedLayout(Backend& on, Layout layout);
  /// Of an outline (layout.hpp), with the columns of all entries, which lie there already. Queued: `column` must live
  /// until the backend has synchronized.
  PlacedLayout(Backend& on, Layout outline, const LayoutFamily& family, const idx* column);
  const layout_args& args() const { return args_; }
  bool is_reordered() const { return is_reordered_; }
  /// Of a device: the same arrays, which both own.
  PlacedLayout shared() const;
  /// Owned; what is the pattern's costs nothing.
  std::size_t bytes() const;

 private:
  layout_args args_;
  bool is_reordered_ = false;
  Layout kept_;
  std::array<std::shared_ptr<const Buffer<std::byte>>, most_layout_arrays> copied_;
};

/// Which entries a part of a matrix has, for a backend.
class PlacedRuns {
 public:
  PlacedRuns() = default;
  PlacedRuns(Backend& on, EntryRuns runs);
  const EntryRuns& on_host() const { return kept_; }
  const entry_runs& args() const { return args_; }
  std::size_t bytes() const {
    return copied_first_.bytes() + copied_of_whole_.bytes() + (in_place_ ? kept_.bytes() : 0);
  }

 private:
  entry_runs args_;
  EntryRuns kept_;
  bool in_place_ = true;
  Buffer<count32> copied_first_, copied_of_whole_;
};

/// Movable, not copyable. Products are const and touch nothing but y.
class PackedMatrix {
 public:
  /// Encodes the pattern; values come by update_values(). Throws `argument` with the reason if the plan is not
  /// applicable, `too_large`, std::bad_alloc. `there`: the pattern in the memory of a device, which then needs no copy.
  PackedMatrix(const PatternView& pattern, const Problem& problem, const Plan& plan, Backend& backend,
               PatternLifetime lifetime = PatternLifetime::temporary, const PlacedRows* there = nullptr);

  /// The same in single precision on a device, with the same integers, which both own, and no values yet. Nothing where
  /// that cannot be: words that are narrow already, codes, blocks of a kind, plans of several parts.
  std::optional<PackedMatrix> narrowed() const;

  /// A schedule with its code.
  struct Scheduled {
    Schedule schedule;
    std::unique_ptr<Code> code;
  };
  /// Another schedule for the same packed words (of the plan's first part, where it has several), its code compiled.
  /// Throws `argument` if it is not applicable.
  Scheduled scheduled(const Schedule& schedule) const;
  /// Goes by that one from now on; what it went by is in `other` then.
  void swap(Scheduled& other);

  /// Compiles what products by A need, which the first of them would otherwise do.
  void compile();
  /// The same of multiply_vectors() with so many vectors, each of the numbers.
  void compile_vectors(std::span<const int> counts, Follow follow) const;

  /// Takes new values: all scalars of the entries, in the problem's order (plan.hpp). Integers stay as they are.
  ///
  /// When lies_on_blocks(), only the pointer is kept: `values` must live and are read at each product. Throws
  /// `argument` naming the first block that the plan's kind of entry cannot hold; the old values stay. Likewise where
  /// more values differ than the plan's code has.
  void update_values(const void* values, Memory in = Memory::host);

  /// The same for blocks that may be of another kind: the index of the first that is, or empty once they are taken.
  std::optional<count32> try_update_values(const void* values, Memory in = Memory::host, Fit fit = Fit::unknown);

  /// Whether update_sums() can take values, as lists of blocks of side x side: on a device, where words are scalars.
  bool takes_sums(int side) const;
  /// Takes new values that are sums by lists: no block is written but as words. Queued like a product.
  void update_sums(const BlockSums& sums);
  /// Where takes_sums(): the values, as update_values() would be given them, to the backend's memory. Queued likewise.
  void unpack(void* values) const;

  /// Whether the words are the caller's own values: compressed rows in the problem's order, nothing converted.
  bool lies_on_blocks() const { return lies_on_blocks_; }

  /// Makes ready what a product by A^T or A^H needs on this backend; nothing on the host, which scatters. The pattern
  /// must be the one that was packed. `plan_for` is asked part by part; what it gives is taken where it can serve. With
  /// TransposedValues::copy the values are held twice from then on. Where A^T has too_much_padding() nothing is done,
  /// and that is returned.
  std::optional<std::string> prepare_transposed(const PatternView& pattern, TransposePlan plan_for,
                                                TransposedValues values = TransposedValues::copy,
                                                double most_padding = unlimited_padding,
                                                const PlacedRows* there = nullptr);
  bool has_transposed() const { return !backend_->is_device() || stores_half() || parts_.front().transposed; }

  /// to: [rows][block rows] scalars of the diagonal; 0 where a row has no diagonal block. Throws `argument` unless
  /// blocks are square.
  void diagonal(void* to) const;
  /// to: [rows][cols][rows] inverses of the diagonal blocks. The first row whose block is missing or singular; empty if
  /// none is.
  std::optional<idx> invert_diagonal(void* to) const;

  /// y = op(A) x, or y = z + op(A) x; z may be y. Vectors: blocks in grouped<vector_group> order, in the backend's
  /// memory. On a device products by A^T and A^H need prepare_transposed(). `dot` follows in the same kernel.
  void multiply(Op op, Update update, const void* x, const void* z, void* y, const ProductDot& dot = {}) const;

  /// The same of several vectors, of which x, z, y and `dot` are the first; each has the bits of multiply().
  void multiply_vectors(Op op, Update update, const VectorsTask& vectors, const void* x, const void* z, void* y,
                        const ProductDot& dot = {}) const;

  /// Whether smooth() can be called: on a device, by a plan of one part whose kernel writes each row of a square matrix
  /// once, in single precision or not.
  bool smooths() const;
  /// y = the step of `x` that reads b - A x, in the kernel that multiplies. y is not x; it may be b or `step.before`.
  void smooth(const smoothing_args& step, const void* x, const void* b, void* y) const;
  /// Whether correct() can be called: on a device, by a plan of one part that goes by rows.
  bool corrects() const;
  /// y, a step so far, with what A x adds to it: of a matrix of several processes the other columns' part.
  void correct(const smoothing_args& step, const void* x, void* y) const;

  /// y = A x on a device as one task, where it is one: by a plan of one part.
  std::optional<ProductTask> task(const void* x, void* y) const;

  /// Another number wherever products by A, queued once and kept, would have to be queued anew: another matrix, code,
  /// or place of its values. No two matrices have the same.
  std::uint64_t stamp() const { return stamp_; }

  const Plan& plan() const { return plan_; }
  /// That of what is packed: order `rows` where it lies on such values, else `blocks` whatever was given.
  const Problem& problem() const { return problem_; }
  Backend& backend() const { return *backend_; }
  /// For people: Code::name().
  std::string_view code() const { return parts_.front().code->name(); }
  /// For people: Code::remark().
  std::string remark() const { return parts_.front().code->remark(parts_.front().plan, problem_); }
  count32 entries() const { return entries_; }
  idx rows() const { return rows_; }
  slot_t slots() const;
  /// Slots that hold no entry.
  slot_t padding() const {
    return slots() - (mirrored_.empty() ? slot_t{entries_} : static_cast<slot_t>(mirrored_.size()));
  }
  /// Bytes owned: what the caller's arrays serve costs nothing.
  PackedBytes bytes() const;

 private:
  PackedMatrix(const PackedMatrix& from, const Plan& plan);

  /// A device's way to multiply by A^T: a layout of its pattern, and for each slot the one of A it stands for.
  struct TransposedLayout {
    Plan plan;
    std::unique_ptr<Code> code;
    PlacedLayout layout;
    TransposedValues held;                              ///< copy: in `values`; shared: A's own are read
    std::shared_ptr<const Buffer<count32>> value_slot;  ///< none where no code tells one slot's values from another's
    Buffer<std::byte> values;
    const count32* slots_of_a() const { return value_slot ? value_slot->data() : nullptr; }
    std::size_t bytes_of_integers() const { return layout.bytes() + (value_slot ? value_slot->bytes() : 0); }
  };

  /// A part of the plan that has entries: its rows in a layout and by code of their own.
  struct Part {
    Plan plan;             ///< as of a plan of one part
    bool is_first = true;  ///< of the plan
    PlacedLayout layout;
    PlacedRuns runs;       ///< none where it has all entries
    std::size_t from = 0;  ///< its words among all, in bytes
    std::unique_ptr<Code> code;
    std::unique_ptr<TransposedLayout> transposed;
    slot_t slots() const { return layout.args().slots; }
  };

  /// The different blocks, or words, of values that are coded.
  struct Dictionary {
    Buffer<std::byte> items;
    std::unique_ptr<PackedMatrix> blocks;  ///< of blocks: packed, a row each
    Buffer<chunk_place> places;            ///< of chunks: where their words lie
  };

  /// The first part to run sets y, the others add to it.
  bool stores_half() const { return plan_.half != Half::none; }
  Update update_of(const Part& part) const { return &part == &parts_.front() ? Update::assign : Update::add; }
  const void* words_of(const Part& part) const { return static_cast<const std::byte*>(words_) + part.from; }
  Plan plan_of_transposed(const Part& part, const std::optional<Plan>& own, TransposedValues values) const;
  std::unique_ptr<TransposedLayout> transposed_of(const Part& part, const Plan& plan, const PatternView& rows,
                                                  const Transposed& t, TransposedValues values) const;
  std::unique_ptr<TransposedLayout> transposed_there(const Part& part, const Plan& plan, Layout outline,
                                                     const PlacedTransposed& t, TransposedValues values) const;
  PlacedLayout placed_layout(const PatternPart& of, const PatternView& pattern, PatternLifetime lifetime,
                             const PlacedRows* there) const;
  void regroup(const Part& part) const;
  void check_ready(Op op) const;
  template <class F>
  void for_parts(Op op, Update update, const void* z, void* y, const ProductDot& dot, const F& f) const;
  Buffer<std::byte> in_blocks(const void* values, Memory in) const;
  std::optional<count32> take_blocks(const void* blocks, Memory in, Fit fit);
  void check_stored_half(const void* blocks, Memory in);
  void take_packed();
  void pack_values(const void* blocks, Memory in);
  void pack_parts(const void* blocks, Memory in, const count32* start = nullptr);
  PackedWords packed_words(const Part& part) const;
  const count32* start_of_rows() const { return start_of_rows_ ? start_of_rows_->data() : nullptr; }
  void* columns_of(const Part& part) const;
  void code_blocks(const void* blocks, Memory in);
  Buffer<std::byte> plain_words(const void* blocks, Memory in, std::size_t count) const;
  void code_words(const void* blocks, Memory in);
  void code_chunks(const void* blocks, Memory in);
  ProductTask task(const Part& part, Op op, Update update, const void* x, const void* z, void* y,
                   const ProductDot& dot) const;
  /// `scalars_a_row` of them are 0 where there is no block.
  void diagonal(void* to, std::size_t scalars_a_row, unsigned char* inverted) const;
  /// What is coded, and the dictionary in a task.
  template <class Task>
  void set_values(Task& task, const Part& part, const void* in_slots) const;

  Plan plan_;
  Problem problem_;
  Backend* backend_;
  idx rows_, cols_;
  count32 entries_;
  bool lies_on_blocks_ = false;
  std::shared_ptr<const Buffer<count32>>
      start_of_rows_;              ///< of the pattern, where values come in the order of rows and are packed as blocks
  std::vector<Part> parts_;        ///< in the plan's order; at least one
  std::vector<count32> mirrored_;  ///< of a plan that stores a half: mirrored_entries()
  Layout stored_rows_;             ///< the same entries as compressed rows on the host, where the backend is a device
  Buffer<count32> mirrored_there_, diagonal_there_;  ///< mirrored_ and diagonal_entries(), where a device compares
  Buffer<std::byte> values_;
  const void* words_ = nullptr;  ///< in the order of the slots, part after part: words, or codes
  Dictionary dictionary_;
  std::uint64_t stamp_;
};

}  // namespace compound
