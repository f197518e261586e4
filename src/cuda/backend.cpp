#include "cuda/backend.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/diagonal_args.hpp"
#include "backend/layout_work.hpp"
#include "backend/sparse_products.hpp"
#include "backend/value_work.hpp"
#include "base/error.hpp"
#include "cuda/contributions.hpp"
#include "cuda/cycle.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/krylov_graphs.hpp"
#include "cuda/krylov_passes.hpp"
#include "cuda/krylov_systems.hpp"
#include "cuda/multigrid.hpp"
#include "cuda/peers.hpp"
#include "cuda/plan_code.hpp"
#include "cuda/runtime.hpp"
#include "cuda/sparse_product.hpp"
#include "device/code_items.hpp"
#include "device/entry_trial.hpp"
#include "device/first_misfit.hpp"
#include "device/kernels.hpp"
#include "device/order_blocks.hpp"
#include "entry/registry.hpp"
#include "host/backend.hpp"
#include "layout/family.hpp"
#include "plan/library_products.hpp"

namespace compound {

namespace {

using cuda::blocks_for;
using cuda::check;

using cuda::CudaCode;

CudaCode& of(Code* code) { return *static_cast<CudaCode*>(code); }

class CudaBackend final : public Backend,
                          public DeviceControl,
                          public ValueWork,
                          public SparseProducts,
                          public Krylov,
                          public ContributionWork,
                          public MultigridWork,
                          public CycleWork,
                          public LayoutWork,
                          public PeerWork {
 public:
  CudaBackend() : Backend("cuda", Reach::device, {this, this, this, this, this, this, this, this, this}) {}
  DeviceTraits traits() const override {
    const cuda::Device& device = cuda::current_device();
    return {device.multiprocessors, device.second_cache_bytes, device.bandwidth};
  }
  Machine machine() const override { return {cuda::device_name(), cuda::driver_version(), cuda::device_slot()}; }

  void* allocate(std::size_t bytes) override { return cuda::allocate(bytes); }
  void release(void* memory) noexcept override { cuda::release(memory); }
  void clear(void* to, std::size_t bytes) override { check(cudaMemsetAsync(to, 0, bytes, queue_), "clearing memory"); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    constexpr std::size_t most_by_the_driver = std::size_t{64} << 10;  // beyond that pinned memory is faster
    if (bytes > most_by_the_driver) return cuda::Staging::instance().upload(to, from, bytes, queue_);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, queue_), "uploading");
    synchronize();
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, queue_), "downloading");
    synchronize();
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue_), "copying within the device");
  }
  void choose_device(int number) override {
    int count = 0;
    check(cudaGetDeviceCount(&count), "counting devices");
    check(cudaSetDevice(number % std::max(count, 1)), "choosing a device");
  }
  void use_queue(void* stream) override { queue_ = static_cast<cudaStream_t>(stream); }
  void synchronize() override { check(cudaStreamSynchronize(queue_), "waiting for the device"); }

  std::unique_ptr<Code> code_for(const Plan& plan, const Problem& problem) const override {
    if (entry_kind(plan.entry).user_defined) try_entry_here(plan.entry, problem);
    return std::make_unique<CudaCode>(plan, problem, queue_);
  }
  void compile_ahead(std::span<const Plan> plans, const Problem& problem, bool even_rows) override;

  void pack(const PackTask& task) override;
  void pack_sums(const PackedWords& to, const BlockSums& sums) override;
  void unpack(const PackedWords& from, void* blocks, const count32* start, idx rows) override;
  void order_blocks(const OrderTask& task) override;
  std::optional<Buffer<std::byte>> code_items(const CodeTask& task) override;
  void code_chunks(ChunkStep step, const chunk_code_args& args) override {
    launch(cuda::kernel_of(cuda::chunk_step_source(step)), step == ChunkStep::sample ? args.samples : args.count, args);
  }
  std::optional<count32> first_misfit(const FitTask& task) override;
  void multiply(const ProductTask& task) override;
  void multiply_vectors(const ProductTask& task, const VectorsTask& vectors) override;
  void sum(const SumTask& task) override;
  void multiply_sparse(const SparseProductTask& task) override;
  std::optional<ContributionLists> list_contributions(const ContributionsTask& task) override {
    return cuda::list_contributions(*this, task, queue_);
  }
  std::optional<PlacedRows> product_pattern(const PlacedRows& A, const PlacedRows& B, bool with_b) override {
    return compound::product_pattern(*this, multigrid(), A, B, with_b);
  }
  std::optional<PlacedTransposed> transposed(const PlacedRows& A) override {
    return compound::transposed(*this, multigrid(), A);
  }
  bool is_symmetric(const PlacedRows& graph) override { return compound::is_symmetric(*this, multigrid(), graph); }
  PlacedRows strong_edges(const StrengthTask& task) override {
    return compound::strong_edges(*this, multigrid(), task);
  }
  std::vector<idx> roots(const PlacedRows& graph, int distance) override {
    return compound::roots(*this, multigrid(), graph, distance);
  }
  void orthonormalize(ScalarType scalar, const basis_args& args, slot_t nodes) override {
    compound::orthonormalize(*this, multigrid(), scalar, args, nodes);
  }
  void fill_slots(const LayoutFamily& family, const slots_args& args) override {
    launch(cuda::kernel_of(cuda::slots_source(family)), args.workers(), args);
  }
  void smooth(ScalarType scalar, const smooth_args& args) override { cuda::smooth(scalar, args, queue_); }
  void smooth(ScalarType scalar, const smoothing_pass_args& args) override { cuda::smooth(scalar, args, queue_); }
  void multiply_dense(ScalarType scalar, const dense_args& args) override {
    cuda::multiply_dense(scalar, args, queue_);
  }
  std::unique_ptr<Recording> record() override { return cuda::record(queue_); }
  std::shared_ptr<Peers> join(const JoinTask& task) override { return cuda::join(*this, queue_, task); }
  std::unique_ptr<KrylovLoop> krylov_loop(const KrylovProblem& problem) override {
    return cuda::krylov_loop(*this, queue_, problem);
  }
  std::unique_ptr<KrylovSystems> krylov_systems(const KrylovProblem& problem, int systems) override {
    return cuda::krylov_systems(*this, queue_, problem, systems);
  }
  std::unique_ptr<KrylovPasses> krylov_passes(ScalarType scalar, std::span<const VectorPass> passes,
                                              bool hermitian) override {
    return cuda::krylov_passes(*this, queue_, scalar, passes, hermitian);
  }

 protected:
  std::optional<std::string> why_not(const Plan& plan, const Problem& problem) const override {
    const LibraryProduct* const product = find_library_product(plan.schedule.library);
    const auto why = cuda::why_no_kernel(plan, problem);
    return why || !product ? why : cuda::why_no_cusparse(*product);
  }

 private:
  std::optional<count32> first_misfit_on_host(const FitTask& task);
  void try_entry_here(std::string_view entry, const Problem& problem) const;
  void multiply_patches(const ProductTask& task);
  void pack_chunk(const PackTask& task, const void* blocks, slot_t from, slot_t to);
  void pack_from_host(const PackTask& task);
  template <class Use>
  void by_chunks(const void* blocks, slot_t entries, std::size_t each, Use use);
  template <class Argument>
  void launch(const void* kernel, slot_t workers, const Argument& argument) const {
    cuda::launch_workers(kernel, workers, argument, queue_);
  }

  cuda::QueuedMultigridKernels multigrid() const { return cuda::QueuedMultigridKernels(queue_); }

  cudaStream_t queue_ = nullptr;
};

void CudaBackend::compile_ahead(std::span<const Plan> plans, const Problem& problem, bool even_rows) {
  std::vector<std::string> sources;
  for (const Plan& plan : plans) {
    if (compound::why_not(plan, problem, *this)) continue;
    Update update = Update::assign;
    for (const Plan& part : parts(plan)) {
      if (!plan.later.empty())
        sources.push_back(cuda::pack_part_source(part, problem));
      else if (!words_are_blocks(part, problem))
        sources.push_back(cuda::pack_source(part, problem));
      const bool keeps_order = even_rows && !cuda::goes_by_patches(part);
      if (part.schedule.library.empty()) sources.push_back(cuda::plain_source(part, problem, update, keeps_order));
      if (cuda::goes_by_patches(part))
        sources.push_back(cuda::patches_source(part, problem, Op::none, may_reorder(part.layout), Follow::nothing));
      update = Update::add;
    }
  }
  cuda::compile_ahead(sources);
}

/// Once for each text and problem: a kind that breaks its promises would give wrong products without a word.
void CudaBackend::try_entry_here(std::string_view entry, const Problem& p) const {
  static std::set<std::string, std::less<>> passed;
  const std::string source = cuda::entry_trial_source(entry, p);
  if (passed.contains(source)) return;
  const cuda::Pinned memory(sizeof(trial_found));
  auto* const found = static_cast<trial_found*>(memory.data());
  launch(cuda::kernel_of(source), 1, trial_args{found});
  check(cudaStreamSynchronize(queue_), "trying a block format");
  check_trial("entry " + std::string(entry) + " (-mat_compound_entry_file)", *found, p.block.rows, p.scalar.field);
  passed.insert(source);
}

/// The blocks of the matrix' entries [from, to); of a part its own among them.
void CudaBackend::pack_chunk(const PackTask& t, const void* blocks, slot_t from, slot_t to) {
  const bool by_entries = of(t.code).family().slots_are_entries;
  const pack_args args{t.layout, blocks, t.values, from, to, t.start, t.rows};
  if (t.runs.runs == 0) return launch(of(t.code).pack(), by_entries ? to - from : slot_t{t.layout.positions}, args);
  const slot_t first = t.part->first_from(from), last = t.part->first_from(to);
  launch(of(t.code).pack_part(), by_entries ? last - first : slot_t{t.layout.positions},
         pack_part_args{args, t.runs, first, last});
}

/// The host's blocks, of `each` bytes, through pinned chunks to a buffer of the device's: `use`(buffer, from, to) for
/// each chunk's blocks in turn, until it is false.
template <class Use>
void CudaBackend::by_chunks(const void* blocks, slot_t entries, std::size_t each, Use use) {
  const slot_t in_chunk = std::max<slot_t>(1, static_cast<slot_t>(cuda::Staging::chunk_bytes / each));
  const Buffer<std::byte> buffer(*this, std::min(in_chunk, entries) * each);
  CopyTeam team = cuda::Staging::team_for(entries * each);
  for (slot_t from = 0; from < entries; from += in_chunk) {
    const slot_t to = std::min(from + in_chunk, entries);
    cuda::Staging::instance().upload(team, buffer.data(), static_cast<const char*>(blocks) + from * each,
                                     (to - from) * each, queue_);
    if (!use(buffer.data(), from, to)) break;
  }
  synchronize();
}

/// Whether the words are the matrix' blocks as they are.
bool lie_as_blocks(const PackTask& t) { return t.runs.runs == 0 && words_are_blocks(t.plan, t.problem); }

/// Entries of the matrix among which all of a layout's are.
struct EntryRange {
  slot_t first, last;
};
EntryRange range_of(const PackTask& t) {
  if (t.runs.runs == 0) return {0, t.entries};
  const EntryRuns& runs = *t.part;
  return {runs.of_whole.front(), runs.of_whole.back() + runs.entries - runs.first.back()};
}

void CudaBackend::pack_from_host(const PackTask& t) {
  const std::size_t each = bytes_of_block(t.problem);
  if (lie_as_blocks(t)) return cuda::Staging::instance().upload(t.values, t.blocks, t.entries * each, queue_);
  const EntryRange range = range_of(t);
  const auto* const first = static_cast<const std::byte*>(t.blocks) + range.first * each;
  by_chunks(first, range.last - range.first, each, [&](const void* blocks, slot_t from, slot_t to) {
    pack_chunk(t, blocks, range.first + from, range.first + to);
    return true;
  });
}

/// Of x and y of the widest patch.
std::size_t shared_bytes_of_patches(const layout_args& layout, const Problem& problem) {
  return std::size_t{2} * layout.widest * problem.block.rows * bytes_of(problem.scalar);
}

/// Before there are values: a product could no longer say it.
void require_room_for_patches(const PackTask& t) {
  const std::size_t bytes = shared_bytes_of_patches(t.layout, t.problem), most = cuda::current_device().shared_bytes;
  if (bytes <= most) return;
  const idx smaller = std::max(32, t.plan.layout.sigma / 2);
  throw error(ErrorKind::argument,
              "a patch of " + std::to_string(t.layout.patch) + " segments has " + std::to_string(t.layout.widest) +
                  " block columns, whose x and y take " + std::to_string(bytes) +
                  " bytes of shared memory, and the device has " + std::to_string(most) +
                  "; use smaller patches (sell:32:" + std::to_string(smaller) + "), or leave half= out");
}

void CudaBackend::pack(const PackTask& t) {
  if (cuda::goes_by_patches(t.plan)) require_room_for_patches(t);
  if (t.blocks_in == Memory::host) return pack_from_host(t);
  if (!lie_as_blocks(t)) return pack_chunk(t, t.blocks, 0, t.entries);
  const auto entries = static_cast<count32>(t.entries);
  if (t.start) return order_blocks({t.problem, t.rows, entries, t.start, t.blocks, Memory::backend, t.values});
  copy(t.values, t.blocks, t.entries * bytes_of_block(t.problem));
}

/// Workers of a kernel over the slots of a part.
slot_t workers_of_slots(const PackedWords& p) {
  if (of(p.code).family().slots_are_entries) return p.layout.slots;
  return blocks_for(p.layout.positions, 32) * 32 * shares_of_positions;
}

/// Where words are the blocks as they are, workers share a block: their reads and writes lie together.
void CudaBackend::pack_sums(const PackedWords& to, const BlockSums& sums) {
  if (to.runs.runs > 0 || !words_are_blocks(to.plan, to.problem) || sums.by_rows)
    return launch(
        of(to.code).pack_sums(), workers_of_slots(to),
        pack_sums_args{
            to.layout, {sum_args(sums.own), sum_args(sums.others), sums.other, sums.by_rows}, to.values, to.runs});
  SumTask own = sums.own, others = sums.others;
  own.to = others.to = to.values;
  own.update = Update::assign;
  others.update = Update::add;
  sum(own);
  if (others.sums > 0) sum(others);
}

void CudaBackend::unpack(const PackedWords& from, void* blocks, const count32* start, idx rows) {
  launch(of(from.code).unpack(), workers_of_slots(from),
         pack_part_args{{from.layout, blocks, from.values, 0, from.entries, start, rows}, from.runs});
}

void CudaBackend::order_blocks(const OrderTask& t) {
  Buffer<std::byte> there;
  const void* from = t.values;
  if (t.values_in == Memory::host) {
    there = Buffer<std::byte>(*this, t.entries * bytes_of_block(t.problem));
    cuda::Staging::instance().upload(there.data(), t.values, there.bytes(), queue_);
    from = there.data();
  }
  const order_args args{t.start, t.rows, t.problem.block.rows, t.problem.block.cols, from, t.blocks};
  launch(cuda::kernel_of(cuda::order_source(t.problem.scalar)), args.workers(), args);
  if (t.values_in == Memory::host) synchronize();  // before what it reads is released
}

/// Places come as the hash has it: the host, which numbers the distinct items in their order, sees the table alone.
std::optional<Buffer<std::byte>> CudaBackend::code_items(const CodeTask& t) {
  check_items(t.count);
  const count32 places = places_of(static_cast<slot_t>(t.code.most));
  const Buffer<count32> first(*this, places), distinct(*this, 1);
  check(cudaMemsetAsync(first.data(), 0xff, first.bytes(), queue_), "preparing a dictionary");
  clear(distinct.data(), distinct.bytes());
  code_args args;
  args.table = {static_cast<const bits32*>(t.items), static_cast<int>(t.bytes / sizeof(bits32)), first.data(),
                places - 1};
  args.count = t.count;
  args.most = static_cast<count32>(t.code.most);
  args.distinct = distinct.data();
  launch(cuda::kernel_of(cuda::note_items_source()), t.count, args);
  count32 number = 0;
  download(&number, distinct.data(), sizeof number);
  if (number > t.code.most) return {};
  std::vector<count32> first_at(places), code_at(places, 0), found;
  download(first_at.data(), first.data(), first.bytes());
  std::ranges::copy_if(first_at, std::back_inserter(found), [](count32 item) { return item != no_item; });
  std::ranges::sort(found);
  for (count32 place = 0; place < places; ++place)
    if (first_at[place] != no_item)
      code_at[place] = static_cast<count32>(std::ranges::lower_bound(found, first_at[place]) - found.begin());
  const Buffer<count32> code(*this, std::span<const count32>(code_at)), from(*this, std::span<const count32>(found));
  args.code = code.data();
  args.codes = t.codes;
  launch(cuda::kernel_of(cuda::write_codes_source(t.code)), t.count, args);
  Buffer<std::byte> items(*this, found.size() * t.bytes);
  const slot_t words = static_cast<slot_t>(found.size()) * args.table.words;
  launch(cuda::kernel_of(cuda::gather_items_source()), words,
         gather_args{args.table, words, from.data(), reinterpret_cast<bits32*>(items.data())});
  synchronize();  // before what it reads is released
  return items;
}

/// By the host's kernels; a user's kind that has none is checked on the device, chunk by chunk.
std::optional<count32> CudaBackend::first_misfit_on_host(const FitTask& t) {
  if (!entry_kind(t.entry).user_defined) return host_backend()->first_misfit(t);
  std::optional<count32> found;
  by_chunks(t.blocks, t.entries, bytes_of_block(t.problem), [&](const void* blocks, slot_t from, slot_t to) {
    found = first_misfit({t.entry, t.problem, blocks, static_cast<count32>(to - from), Memory::backend});
    if (found) *found += static_cast<count32>(from);
    return !found;
  });
  return found;
}

std::optional<count32> CudaBackend::first_misfit(const FitTask& t) {
  if (t.entry == "dense" || t.entries == 0) return {};
  if (t.blocks_in == Memory::host) return first_misfit_on_host(t);
  const Buffer<count32> first(*this, 1);
  check(cudaMemsetAsync(first.data(), 0xff, sizeof(count32), queue_), "preparing a check");
  const fit_args args{t.blocks, t.entries, first.data()};
  const slot_t tile = blocks_of_tile(static_cast<slot_t>(bytes_of_block(t.problem)));
  cuda::launch(cuda::kernel_of(cuda::fit_source(t.entry, t.problem)), (t.entries + tile - 1) / tile, threads_of_tile,
               args, queue_);
  count32 found;
  download(&found, first.data(), sizeof(found));
  if (found == ~count32{0}) return {};
  return found;
}

void set_dot(dot_args& to, const ProductDot& dot, const grid_sum_args& sum) {
  to.w = dot.w;
  to.result = dot.result;
  to.sum = sum;
  to.adds = dot.adds;
}

/// Both kernels; what follows and what is added to is for the second.
void CudaBackend::multiply_patches(const ProductTask& t) {
  CudaCode& code = of(t.code);
  const int n = t.problem.block.rows;
  product_args args = cuda::args_of(t);
  args.carries = code.carries(t.layout.partials * n);
  args.dot.stop = t.dot.stop;
  const std::size_t shared = shared_bytes_of_patches(t.layout, t.problem);
  const void* const first = code.patches(t.op, t.reordered, t.dot.kind != Follow::nothing);
  cuda::launch(first, blocks_for(t.layout.positions, t.layout.patch), t.plan.schedule.threads, args, queue_, shared);
  const slot_t blocks = blocks_for(slot_t{t.rows} * n, cuda::threads_without_schedule);
  if (has_dot(t.dot.kind)) {
    if (blocks == 0 && !t.dot.adds) clear(t.dot.result, bytes_of(t.problem.scalar));
    set_dot(args.dot, t.dot, code.sums(blocks, blocks, queue_));
  }
  cuda::launch(code.product(Op::none, t.update, false, false, false, t.dot.kind), blocks,
               cuda::threads_without_schedule, args, queue_);
}

void CudaBackend::multiply(const ProductTask& t) {
  if (cuda::goes_by_patches(t.plan)) return multiply_patches(t);
  const Schedule& s = t.plan.schedule;
  const EntryShape shape = entry_shape(t.plan, t.problem);
  const bool gathers = t.op == Op::none;
  CudaCode& code = of(t.code);
  if (code.is_by_library(t)) return code.library_matrix().multiply(t, queue_);
  Update update = t.update;
  const void* z = t.z;
  // Rows that are not visited are 0 or z, the others add to that. A layout of A^T's pattern has no row list.
  const bool row_list = t.plan.layout.row_list && gathers;
  if (s.carries == Carries::atomic || !visits_all_rows(code.family(), row_list, t.layout)) {
    const std::size_t bytes = bytes_of_y(t);
    if (update == Update::assign)
      clear(t.y, bytes);
    else if (t.z != t.y)
      copy(t.y, t.z, bytes);
    if (update == Update::assign) update = Update::add;
    z = t.y;
  }
  product_args args = cuda::args_of(t);
  args.z = z;
  args.counter = code.counter(queue_);
  const bool has_carries = s.traversal == Traversal::slots && s.carries == Carries::ordered;
  const slot_t chunks = has_carries ? blocks_for(t.layout.slots, t.layout.height) : 0;
  args.carries = code.carries(chunks * (gathers ? shape.rows : shape.cols));
  const slot_t shares = blocks_for(cuda::workers_of(t.plan, t.problem, t.op, t.layout), s.threads);  // of a block each
  slot_t blocks = shares;
  if (s.balance != Balance::grid)
    blocks = std::min<slot_t>(shares, slot_t{1} * cuda::current_device().multiprocessors * s.blocks);
  const bool aligned = code.is_aligned(t.x) && code.is_aligned(z) && code.is_aligned(t.y) &&
                       code.is_aligned(t.smoothing.before) && code.is_aligned(t.smoothing.inverse);
  const slot_t carry_blocks = chunks <= 1 ? 0 : blocks_for(chunks, cuda::threads_without_schedule);
  args.dot.stop = t.dot.stop;
  if (has_dot(t.dot.kind)) {
    if (blocks == 0 && !t.dot.adds) clear(t.dot.result, bytes_of(t.problem.scalar));
    set_dot(args.dot, t.dot, code.sums(shares + carry_blocks, std::max(shares, carry_blocks), queue_));
    args.dot.goes_on = carry_blocks != 0;
  }
  const void* const kernel = code.product(t.op, update, t.value_slot != nullptr, t.reordered, aligned, t.dot.kind);
  cuda::launch(kernel, blocks, s.threads, args, queue_);
  if (carry_blocks == 0) return;
  args.z = t.y;
  args.dot.first = shares;
  args.dot.goes_on = false;
  launch(code.carries_kernel(t.op, t.dot.kind), chunks, args);
}

/// As many vectors at once as there are kernels for: powers of two.
void CudaBackend::multiply_vectors(const ProductTask& t, const VectorsTask& vectors) {
  const Schedule& s = t.plan.schedule;
  const slot_t scalar = bytes_of(t.problem.scalar);
  CudaCode& code = of(t.code);
  const int most = t.value_slot == nullptr ? code.most_vectors(t.op) : 1;
  const slot_t shares = blocks_for(cuda::workers_of(t.plan, t.problem, t.op, t.layout), s.threads);
  const slot_t at_once = slot_t{1} * cuda::current_device().multiprocessors * s.blocks;
  bool apart_is_aligned = true;
  for (const slot_t apart : {vectors.x_apart, vectors.z_apart, vectors.y_apart})
    apart_is_aligned &= code.is_aligned(static_cast<std::uintptr_t>(apart * scalar));
  ProductTask some = t;
  for (int left = vectors.count; left > 0;) {
    const int kernels = (left + most - 1) / most, count = (left + kernels - 1) / kernels;
    if (count == 1) {
      multiply(some);
    } else {
      vectors_args args{cuda::args_of(some),
                        {vectors.x_apart, vectors.z_apart, vectors.y_apart, vectors.w_apart},
                        vectors.results_apart};
      args.product.counter = code.counter(queue_);
      if (has_dot(some.dot.kind))
        set_dot(args.product.dot, some.dot, code.sums(count * partials_of(shares), shares, queue_));
      const bool aligned =
          apart_is_aligned && code.is_aligned(some.x) && code.is_aligned(some.z) && code.is_aligned(some.y);
      cuda::launch(code.several(count, t.op, t.update, t.reordered, aligned, t.dot.kind),
                   s.balance == Balance::grid ? shares : std::min(shares, at_once), s.threads, args, queue_);
    }
    left -= count;
    some.x = static_cast<const std::byte*>(some.x) + count * vectors.x_apart * scalar;
    if (some.z) some.z = static_cast<const std::byte*>(some.z) + count * vectors.z_apart * scalar;
    some.y = static_cast<std::byte*>(some.y) + count * vectors.y_apart * scalar;
    if (!some.dot.w) continue;
    some.dot.w = static_cast<const std::byte*>(some.dot.w) + count * vectors.w_apart * scalar;
    some.dot.result = static_cast<std::byte*>(some.dot.result) + count * vectors.results_apart;
  }
}

void CudaBackend::sum(const SumTask& t) {
  launch(cuda::kernel_of(cuda::sum_source(t.scalar, t.update, t.side)), t.sums * t.side * t.side, sum_args(t));
}

void CudaBackend::multiply_sparse(const SparseProductTask& t) {
  const cuda::SparseProductKernel k = cuda::sparse_product_kernel(t.scalar, t.a, t.width, t.transposed);
  cuda::launch(cuda::kernel_of(k.source), blocks_for(t.args.rows, k.rows_a_block), k.threads, t.args, queue_);
}

}  // namespace

Backend* cuda_backend() {
  static CudaBackend backend;
  static const bool usable = cuda::why_no_device().empty();
  return usable ? &backend : nullptr;
}

std::string why_no_cuda() { return cuda::why_no_device(); }

}  // namespace compound
