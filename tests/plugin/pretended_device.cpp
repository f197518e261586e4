// A device that the host pretends to be, behind the plugin, in place of the CUDA backend. Its memory is the host's, and
// its products go by their definition. It has no loops of solvers (an error), and neither multigrid nor coordinates,
// peers and libraries (which the host has).
//
// COMPOUND_CUDA_FAIL_ALLOCATION=n makes the n-th allocation from now on fail, as on a GPU.
#include <cstdlib>
#include <cstring>
#include <string>

#include "../src/support/blocks.hpp"
#include "../src/support/device_forms.hpp"
#include "../src/support/recording_backend.hpp"
#include "backend/krylov_loop.hpp"
#include "backend/sparse_products.hpp"
#include "base/error.hpp"
#include "device/pack_sums.hpp"
#include "ksp/host_passes.hpp"
#include "layout/family.hpp"
#include "storage/sparse_product.hpp"

// Of fake_cuda.cpp, where that is loaded: PETSc's vectors copy to and from this memory.
extern "C" {
[[gnu::weak]] void fake_cuda_take(const void* memory, std::size_t bytes);
[[gnu::weak]] void fake_cuda_leave(const void* memory);
}

namespace compound {

namespace {

using test::AnyLayout;
using test::with_scalar;
using Words = matrix_words<dynamic, WordOrder::any>;
template <class S>
using Dense = dense<S, dynamic, dynamic>;

Words words_of(const LayoutSpec& spec, slot_t slots) { return {word_map_of(spec.word_group, slots), spec.word_order}; }

/// f(entry, Stored{}) with the kind of a plan's entries and the type of their words.
template <class F>
void with_entry(const Plan& plan, const Problem& problem, const F& f) {
  with_scalar(problem.scalar, [&]<class S>(S) {
    for_each_kind<S>([&]<class Kind, class Entry>() {
      if (plan.entry != Entry::name) return;
      const bool is_real = !is_complex<typename Entry::word>;
      with_scalar({is_real ? Field::real : Field::complex, plan.values}, [&]<class Stored>(Stored) {
        if constexpr (is_complex<typename Entry::word> == is_complex<Stored>)
          f(Entry::of(problem.block.rows, problem.block.cols), Stored{});
      });
    });
  });
}

/// The host's, for the same words.
Plan on_host(Plan plan) {
  plan.schedule = {};
  return plan;
}

class PretendedCode final : public Code {
 public:
  PretendedCode(Backend& on, const Plan& of, const Problem& problem)
      : plan(on_host(of)),
        host(on.code_for(plan, problem)),
        words_(entry_shape(of, problem).words),
        each_(bytes_of_word(of, problem)) {}
  std::string_view name() const override { return "pretended"; }
  void diagonal(const DiagonalTask& t) override {
    host->diagonal({plan, t.problem, t.layout, t.values, t.codes, t.table, t.to, t.inverted});
  }
  void regroup(const RegroupTask& t) override {
    const Words to = words_of(plan.layout, t.slots), from = words_of(t.from.layout, t.value_slots);
    const auto at = [&](const Words& words, slot_t slot, int word) {
      return (words.map.first(slot, words_) + word * words.map.stride) * each_;
    };
    for (slot_t s = 0; s < t.slots; ++s)
      for (int w = 0; w < words_; ++w)
        std::memcpy(static_cast<std::byte*>(t.to) + at(to, s, w),
                    static_cast<const std::byte*>(t.values) + at(from, t.value_slot[s], w), each_);
  }

  const Plan plan;
  const std::unique_ptr<Code> host;

 private:
  const int words_;
  const std::size_t each_;  ///< bytes of a word
};

class PretendedPasses final : public KrylovPasses {
 public:
  PretendedPasses(Backend& on, bool hermitian) : hermitian_(hermitian), partials_(on, 1) {}
  void run(VectorPass pass, const Arguments& a, void* sums) override {
    plugin::HostPass on_host{pass, hermitian_, a.diagonal, a.scalars, {}, a.vectors};
    std::memcpy(on_host.numbers.data(), a.numbers, sizeof(on_host.numbers));
    const plugin::PassSums of_all = plugin::run_on_host(on_host);
    std::memcpy(sums, of_all.data(), sizeof(of_all));
  }

 private:
  const bool hermitian_;
  const Buffer<double> partials_;  ///< as kernels have it: memory that may be missing
};

/// Blocks in the order of rows: scalar (i, j) of a block.
template <class S>
struct BlocksByRows {
  const block_rows_args of;
  const BlockShape block;
  S& at(idx row, slot_t entry, int i, int j) const {
    const slot_t first = of.start[row], count = of.start[row + 1] - first;
    return static_cast<S*>(
        const_cast<void*>(of.values))[(first * block.rows + i * count + entry - first) * block.cols + j];
  }
};

class PretendedDevice final : public test::RecordingBackend,
                              public DeviceControl,
                              public ValueWork,
                              public SparseProducts,
                              public Krylov {
 public:
  PretendedDevice()
      : RecordingBackend("cuda", Reach::device,
                         {.control = this, .values = this, .sparse_products = this, .krylov = this}) {}

  DeviceTraits traits() const override { return {132, std::size_t{60} << 20, 4.8e12}; }
  Machine machine() const override { return {"pretended device", ""}; }
  void choose_device(int) override {}
  void use_queue(void*) override {}
  void compile_ahead(std::span<const Plan>, const Problem&, bool) override {}

  /// What is read before it was written shows. Nothing is noted: tests count what a call allocates.
  void* allocate(std::size_t bytes) override {
    const char* const text = std::getenv("COMPOUND_CUDA_FAIL_ALLOCATION");
    const std::string now = text ? text : "";
    if (now != failing_) to_fail = std::atoi(now.c_str());
    failing_ = now;
    fail_in_turn();
    void* const memory = std::memset(host_.allocate(bytes), 0xff, bytes);
    if (fake_cuda_take) fake_cuda_take(memory, bytes);
    return memory;
  }
  void release(void* memory) noexcept override {
    if (memory && fake_cuda_leave) fake_cuda_leave(memory);
    host_.release(memory);
  }
  std::unique_ptr<Code> code_for(const Plan& plan, const Problem& problem) const override {
    return std::make_unique<PretendedCode>(host_, plan, problem);
  }
  void pack(const PackTask& t) override {
    const auto& code = static_cast<const PretendedCode&>(*t.code);
    RecordingBackend::pack({code.plan, t.problem, t.layout, t.blocks, t.values, Memory::host, code.host.get(),
                            t.entries, t.part, t.runs, t.start, t.rows});
  }
  void multiply(const ProductTask& t) override {
    if (t.dot.kind != Follow::nothing || t.update == Update::smooth || t.update == Update::correct)
      throw error(ErrorKind::unsupported, "the pretended device multiplies alone");
    with_entry(t.plan, t.problem, [&]<class Stored>(const auto& entry, Stored) { multiply<Stored>(t, entry); });
  }

  std::optional<PlacedRows> product_pattern(const PlacedRows& A, const PlacedRows& B, bool with_b) override {
    if (with_b) throw without("multigrid");
    const Term<PatternView> term[] = {{view_of(A), view_of(B)}};
    return placed(compound::product_pattern(term), block_products(view_of(A), view_of(B)));
  }
  std::optional<PlacedTransposed> transposed(const PlacedRows& A) override {
    const Transposed found = compound::transposed(view_of(A));
    return PlacedTransposed{placed(found.pattern), {*this, std::span<const count32>(found.entry_of)}};
  }
  void multiply_sparse(const SparseProductTask& t) override {
    with_scalar(t.scalar, [&]<class S>(S) { multiply_rows<S>(t); });
  }

  // Both of dense blocks alone, with words in the precision of the scalars (PackedMatrix::takes_sums()).
  void pack_sums(const PackedWords& to, const BlockSums& sums) override {
    with_scalar(to.problem.scalar, [&]<class S>(S) {
      const sum_packing<Dense<S>, S, Words> p{Dense<S>::of(to.problem.block.rows, to.problem.block.cols),
                                              words_of(to.plan.layout, to.layout.slots),
                                              {lists_of(sums.own), lists_of(sums.others), sums.other, sums.by_rows},
                                              static_cast<S*>(to.values)};
      for_each_entry(to, [&](slot_t slot, slot_t e) { pack_slot(p, slot, e); });
    });
  }
  void unpack(const PackedWords& from, void* blocks, const count32* start, idx rows) override {
    with_scalar(from.problem.scalar, [&]<class S>(S) {
      const packing<Dense<S>, S, Words> p{Dense<S>::of(from.problem.block.rows, from.problem.block.cols),
                                          words_of(from.plan.layout, from.layout.slots),
                                          static_cast<const S*>(blocks),
                                          static_cast<S*>(from.values),
                                          0,
                                          start,
                                          rows};
      for_each_entry(from, [&](slot_t slot, slot_t e) { unpack_slot(p, slot, e, p.row_of(e)); });
    });
  }
  void order_blocks(const OrderTask& t) override { compound::order_blocks(host_, t); }
  std::optional<Buffer<std::byte>> code_items(const CodeTask&) override { throw without("codes"); }
  void code_chunks(ChunkStep, const chunk_code_args&) override { throw without("codes"); }

  std::unique_ptr<KrylovLoop> krylov_loop(const KrylovProblem&) override { throw without("solvers"); }
  std::unique_ptr<KrylovSystems> krylov_systems(const KrylovProblem&, int) override { throw without("solvers"); }
  std::unique_ptr<KrylovPasses> krylov_passes(ScalarType, std::span<const VectorPass>, bool hermitian) override {
    return std::make_unique<PretendedPasses>(*this, hermitian);
  }

 protected:
  std::optional<std::string> why_not(const Plan& plan, const Problem& problem) const override {
    const bool is_plain = !entry_kind(plan.entry).user_defined && plan.codes == "none" && plan.half == Half::none &&
                          plan.layout.columns == LayoutSpec{}.columns && plan.layout.vector_group == 1 &&
                          !plan.layout.padded && plan.schedule.library.empty();
    if (!is_plain) return "the pretended device has no entries of users, codes, halves, grouped vectors, libraries";
    return host_.applicable(on_host(plan), problem);
  }

 private:
  static error without(const std::string& what) {
    return error(ErrorKind::unsupported, "the pretended device is without " + what);
  }
  static SumArgs lists_of(const SumTask& t) {
    return {.first = t.first, .index = t.index, .from = t.from, .offset = t.offset, .shape = t.shape};
  }

  /// f(slot, entry of the matrix).
  template <class F>
  static void for_each_entry(const PackedWords& words, const F& f) {
    for_each_slot_lists(family_of(words.plan.layout), words.layout, [&](const slot_lists& l) {
      for (slot_t n = 0; n < l.slots; ++n)
        if (const slot_t e = l.entry[n]; e >= 0) f(l.slot[n], words.runs.runs ? e + words.runs.shift(e) : e);
    });
  }

  template <class Stored, class Entry>
  static void multiply(const ProductTask& t, const Entry& entry) {
    using S = typename Entry::scalar;
    const AnyLayout l(t.plan.layout, t.layout);
    const Words words = words_of(t.plan.layout, t.value_slots);
    const bool is_plain = t.op == Op::none;
    const int in = is_plain ? entry.cols() : entry.rows(), out = is_plain ? entry.rows() : entry.cols();
    const auto *x = static_cast<const S*>(t.x), *z = static_cast<const S*>(t.z);
    auto* const y = static_cast<S*>(t.y);
    const slot_t scalars = slot_t{is_plain ? t.rows : t.cols} * out;
    for (slot_t i = 0; i < scalars; ++i) y[i] = t.update == Update::add ? z[i] : S{};
    for (idx p = 0; p < l.positions; p = l.next(p))
      for (idx k = 0; k < l.count(p); ++k) {
        const slot_t slot = l.first(p) + k * l.apart();
        if (!l.present(slot)) continue;
        const auto w = words.at(entry, static_cast<const Stored*>(t.values), t.value_slot ? t.value_slot[slot] : slot);
        const S* const of_x = x + slot_t{l.columns_of(p).at(slot)} * in;
        S* const of_y = y + slot_t{l.row(p)} * out;
        if (t.op == Op::none) entry.template madd<Op::none>(w, of_x, of_y);
        if (t.op == Op::transpose) entry.template madd<Op::transpose>(w, of_x, of_y);
        if (t.op == Op::hermitian) entry.template madd<Op::hermitian>(w, of_x, of_y);
      }
  }

  static PatternView view_of(const PlacedRows& rows) {
    return {rows.rows,
            rows.cols,
            {rows.start.data(), std::size_t(rows.rows) + 1},
            {rows.column.data(), rows.column.bytes() / sizeof(idx)}};
  }
  PlacedRows placed(const Pattern& p, double products = 0) {
    return {
        p.rows, p.cols, {*this, std::span<const count32>(p.start)}, {*this, std::span<const idx>(p.column)}, products};
  }

  /// C = A B, or Q^T B, in the order in which sums are written down.
  template <class S>
  static void multiply_rows(const SparseProductTask& t) {
    const sparse_product_args& a = t.args;
    const BlocksByRows<S> B{a.b, {t.a.cols, t.width}}, C{{a.c_start, a.c_column, a.c}, {t.a.rows, t.width}};
    const BlocksByRows<S> A{a.a, t.a}, Q{{a.start_of, nullptr, a.a.values}, {t.a.cols, t.a.rows}};
    for (idx row = 0; row < a.rows; ++row) {
      const auto for_each_scalar_of_c = [&](slot_t e, const auto& f) {
        for (int i = 0; i < t.a.rows; ++i)
          for (int j = 0; j < t.width; ++j) f(C.at(row, e, i, j), i, j);
      };
      for (slot_t e = a.c_start[row]; e < a.c_start[row + 1]; ++e)
        for_each_scalar_of_c(e, [](S& c, int, int) { c = S{}; });
      for (slot_t l = a.a.start[row]; l < a.a.start[row + 1]; ++l) {
        const idx k = a.a.column[l];
        for (slot_t r = a.b.start[k]; r < a.b.start[k + 1]; ++r) {
          const slot_t first = a.c_start[row];
          const int entries = static_cast<int>(a.c_start[row + 1] - a.c_start[row]);
          const slot_t e = first + place_of_column(a.c_column + first, entries, a.b.column[r]);
          for_each_scalar_of_c(e, [&](S& c, int i, int j) {
            for (int m = 0; m < t.a.cols; ++m)
              c += (t.transposed ? Q.at(k, a.entry_of[l], m, i) : A.at(row, l, i, m)) * B.at(k, r, m, j);
          });
        }
      }
    }
  }

  std::string failing_;
};

}  // namespace

Backend* cuda_backend() {
  static PretendedDevice device;
  return &device;
}

std::string why_no_cuda() { return {}; }

}  // namespace compound
