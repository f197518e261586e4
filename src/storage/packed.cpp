#include "storage/packed.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "backend/layout_work.hpp"
#include "backend/sparse_products.hpp"
#include "backend/value_work.hpp"
#include "base/error.hpp"
#include "layout/family.hpp"
#include "pattern/mirrored.hpp"
#include "plan/value_order.hpp"
#include "storage/chunk_codes.hpp"
#include "storage/packed_sizes.hpp"
#include "storage/symmetry.hpp"

namespace compound {

namespace {

void require_applicable(const Plan& plan, const Problem& problem, const Backend& backend) {
  if (const auto reason = why_not(plan, problem, backend))
    throw error(ErrorKind::argument, "plan '" + to_string(plan) + "' is not applicable: " + *reason);
}

std::uint64_t new_stamp() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

PackedMatrix::PackedMatrix(const PatternView& pattern, const Problem& problem, const Plan& plan, Backend& backend,
                           PatternLifetime lifetime, const PlacedRows* there)
    : plan_(plan),
      problem_(problem),
      backend_(&backend),
      rows_(pattern.rows),
      cols_(pattern.cols),
      entries_(pattern.entries()),
      stamp_(new_stamp()) {
  require_applicable(plan, problem, backend);
  if (problem.upper)
    check_upper(pattern);
  else if (stores_half())
    mirrored_ = mirrored_entries(pattern);
  std::size_t bytes = 0;
  for (PatternPart& of : parts_of(pattern, plan, problem.upper)) {
    lies_on_blocks_ = compound::lies_on_blocks(of, problem, backend);
    Part& part = parts_.emplace_back();
    part.plan = of.plan;
    part.is_first = of.number == 0;
    part.code = backend.code_for(part.plan, problem_);
    part.layout = placed_layout(of, pattern, lifetime_for(of, lifetime), there);
    if (!mirrored_.empty() && backend.is_device()) stored_rows_ = encode(of.view(pattern), LayoutSpec{});
    part.runs = PlacedRuns(backend, std::move(of.entries));
    part.from = begin_of_words(bytes);
    bytes = part.from + bytes_of_words(part.plan, problem, part.slots());
  }
  if (!lies_on_blocks_) {
    if (needs_order(problem)) start_of_rows_ = std::make_shared<const Buffer<count32>>(backend, pattern.start);
    problem_.order = ValueOrder::blocks;
  }
  const bool is_sized_by_values = value_code(plan.codes).of == CodeOf::chunks;
  if (!lies_on_blocks_ && !is_sized_by_values) values_ = Buffer<std::byte>(backend, bytes);
  // Kernels on the host look up the codes of slots beyond the last row with those of the rows before them.
  if (value_code(plan_.codes).of == CodeOf::blocks && values_.data()) backend.clear(values_.data(), values_.bytes());
}

PackedMatrix::PackedMatrix(const PackedMatrix& from, const Plan& plan)
    : plan_(plan),
      problem_(from.problem_),
      backend_(from.backend_),
      rows_(from.rows_),
      cols_(from.cols_),
      entries_(from.entries_),
      start_of_rows_(from.start_of_rows_),
      stamp_(new_stamp()) {
  const auto precision = plan.values;
  for (const Part& of : from.parts_) {
    Part& part = parts_.emplace_back();
    part.plan = of.plan;
    part.plan.values = precision;
    part.is_first = of.is_first;
    part.layout = of.layout.shared();
    part.runs = PlacedRuns(*backend_, of.runs.on_host());
    part.code = backend_->code_for(part.plan, problem_);
    values_ = Buffer<std::byte>(*backend_, bytes_of_words(part.plan, problem_, part.slots()));
    if (!of.transposed) continue;
    const TransposedLayout& t = *of.transposed;
    part.transposed = std::make_unique<TransposedLayout>();
    part.transposed->plan = t.plan;
    part.transposed->plan.values = precision;
    part.transposed->code = backend_->code_for(part.transposed->plan, problem_);
    part.transposed->layout = t.layout.shared();
    part.transposed->held = t.held;
    part.transposed->value_slot = t.value_slot;
    if (t.held == TransposedValues::copy)
      part.transposed->values =
          Buffer<std::byte>(*backend_, bytes_of_words(part.transposed->plan, problem_, t.layout.args().slots));
  }
}

std::optional<PackedMatrix> PackedMatrix::narrowed() const {
  Plan plan = plan_;
  plan.values = Precision::single;
  const bool can_be = backend_->is_device() && parts_.size() == 1 && plan_.later.empty() && plan_.entry == "dense" &&
                      plan_.values == Precision::double_ && value_code(plan_.codes).of == CodeOf::nothing &&
                      plan_.schedule.library.empty() && !why_not(plan, problem_, *backend_);
  if (!can_be) return {};
  return PackedMatrix(*this, plan);
}

/// Slices are filled by a device, which takes less time than sending their padding. Compressed rows have the pattern's
/// columns.
PlacedLayout PackedMatrix::placed_layout(const PatternPart& of, const PatternView& pattern, PatternLifetime lifetime,
                                         const PlacedRows* there) const {
  const PatternView rows = of.view(pattern);
  const LayoutSpec& spec = of.plan.layout;
  const LayoutFamily& family = family_of(spec);
  const bool has_columns = there && of.has_all();
  if (backend_->extensions().layouts && (has_columns || family.interleaved))
    if (auto outlined = outline(rows, spec)) {
      const Buffer<idx> sent = has_columns ? Buffer<idx>() : Buffer<idx>(*backend_, rows.column);
      PlacedLayout made(*backend_, *std::move(outlined), family, has_columns ? there->column.data() : sent.data());
      backend_->synchronize();  // before what it reads is released
      return made;
    }
  return PlacedLayout(*backend_, encode(rows, spec, backend_->is_device() ? PatternLifetime::outlives : lifetime));
}

void PackedMatrix::compile() {
  for (const Part& part : parts_) part.code->prepare(update_of(part), part.runs.args().runs > 0);
}

void PackedMatrix::compile_vectors(std::span<const int> counts, Follow follow) const {
  for (const Part& part : parts_)
    part.code->prepare_vectors(counts, update_of(part), part.layout.is_reordered(), follow);
}

slot_t PackedMatrix::slots() const {
  slot_t sum = 0;
  for (const Part& part : parts_) sum += part.slots();
  return sum;
}

PackedMatrix::Scheduled PackedMatrix::scheduled(const Schedule& schedule) const {
  Plan plan = plan_;
  plan.schedule = schedule;
  require_applicable(plan, problem_, *backend_);
  Scheduled made{schedule, backend_->code_for(compound::parts(plan).front(), problem_)};
  made.code->prepare(Update::assign, parts_.front().runs.args().runs > 0);
  return made;
}

void PackedMatrix::swap(Scheduled& other) {
  std::swap(plan_.schedule, other.schedule);
  stamp_ = new_stamp();
  Part& first = parts_.front();
  if (!first.is_first) return;  // which has no rows here
  first.plan.schedule = plan_.schedule;
  std::swap(first.code, other.code);
}

PlacedLayout::PlacedLayout(Backend& on, Layout layout) : is_reordered_(layout.is_reordered()) {
  if (on.reads_in_place()) {
    kept_ = std::move(layout);
    args_ = kept_.args();
    return;
  }
  args_ = layout.args();
  for (int a = 0; a < most_layout_arrays; ++a) {
    const std::span<const std::byte> from = layout.arrays[a].bytes();
    if (from.empty()) continue;
    copied_[a] = std::make_shared<const Buffer<std::byte>>(on, from);
    args_.array[a] = copied_[a]->data();
  }
}

PlacedLayout::PlacedLayout(Backend& on, Layout outline, const LayoutFamily& family, const idx* column)
    : PlacedLayout(on, std::move(outline)) {
  if (args_.slots == 0) return;
  const auto all = std::make_shared<const Buffer<std::byte>>(on, static_cast<std::size_t>(args_.slots) * sizeof(idx));
  auto* const to = reinterpret_cast<idx*>(all->data());
  copied_[family.columns] = all;
  args_.array[family.columns] = to;
  on.extensions().layouts->fill_slots(
      family, {.layout = args_, .interleaved = family.interleaved, .column = column, .to_column = to});
}

std::size_t PlacedLayout::bytes() const {
  std::size_t sum = kept_.bytes();
  for (const auto& array : copied_) sum += array ? array->bytes() : 0;
  return sum;
}

PlacedLayout PlacedLayout::shared() const {
  PlacedLayout same;
  same.args_ = args_;
  same.is_reordered_ = is_reordered_;
  same.copied_ = copied_;
  return same;
}

PlacedRuns::PlacedRuns(Backend& on, EntryRuns runs) : kept_(std::move(runs)), in_place_(on.reads_in_place()) {
  args_ = kept_.args();
  if (in_place_ || kept_.empty()) return;
  copied_first_ = Buffer<count32>(on, std::span<const count32>(kept_.first));
  copied_of_whole_ = Buffer<count32>(on, std::span<const count32>(kept_.of_whole));
  args_.first = copied_first_.data();
  args_.of_whole = copied_of_whole_.data();
}

void PackedMatrix::update_values(const void* values, Memory in) {
  if (const auto misfit = try_update_values(values, in))
    throw error(ErrorKind::argument, "block " + std::to_string(*misfit) + " of the matrix is not of block format '" +
                                         std::string(plan_.entry) + "'; use entry=dense");
}

Buffer<std::byte> PackedMatrix::in_blocks(const void* values, Memory in) const {
  Buffer<std::byte> blocks(*backend_, entries_ * bytes_of_block(problem_));
  const Problem given{problem_.block, problem_.scalar, ValueOrder::rows};
  order_blocks(*backend_, {given, rows_, entries_, start_of_rows(), values, in, blocks.data()});
  return blocks;
}

std::optional<count32> PackedMatrix::try_update_values(const void* values, Memory in, Fit fit) {
  if (lies_on_blocks_) {
    if (words_ != values) stamp_ = new_stamp();
    words_ = values;
    return {};
  }
  if (!start_of_rows() || entries_ == 0) return take_blocks(values, in, fit);
  const bool is_fit = fit == Fit::known || plan_.entry == "dense";
  const bool is_packed_alone = is_fit && value_code(plan_.codes).of == CodeOf::nothing && !stores_half();
  if (in == Memory::backend && backend_->is_device() && is_packed_alone) {
    pack_parts(values, in, start_of_rows());
    take_packed();
    return {};
  }
  const Buffer<std::byte> blocks = in_blocks(values, in);
  const auto misfit = take_blocks(blocks.data(), Memory::backend, fit);
  backend_->synchronize();  // before the blocks are released
  return misfit;
}

std::optional<count32> PackedMatrix::take_blocks(const void* blocks, Memory in, Fit fit) {
  if (fit == Fit::unknown)
    if (const auto misfit = backend_->first_misfit({plan_.entry, problem_, blocks, entries_, in})) return misfit;
  if (!mirrored_.empty()) check_stored_half(blocks, in);
  pack_values(blocks, in);
  take_packed();
  return {};
}

/// Blocks of a device are compared there; where they may differ, a copy of them on the host.
void PackedMatrix::check_stored_half(const void* blocks, Memory in) {
  const Part& part = parts_.front();
  if (!backend_->is_device())
    return check_symmetry(plan_, problem_, part.layout.args(), part.runs.on_host(), mirrored_, rows_, blocks);
  if (in == Memory::backend) {
    if (!mirrored_there_.data() && !mirrored_.empty()) {
      mirrored_there_ = Buffer<count32>(*backend_, std::span<const count32>(mirrored_));
      const std::vector<count32> diagonal = diagonal_entries(family_of({}), stored_rows_.args(), mirrored_, rows_);
      diagonal_there_ = Buffer<count32>(*backend_, std::span<const count32>(diagonal));
    }
    if (part.code->is_symmetric(
            {part.layout.args(), part.runs.args(), blocks, mirrored_there_.data(), diagonal_there_.data()}))
      return;
  }
  Plan plan = plan_;
  plan.layout = LayoutSpec{};  // of stored_rows_
  std::vector<std::byte> copied(in == Memory::backend ? entries_ * bytes_of_block(problem_) : 0);
  if (!copied.empty()) backend_->download(copied.data(), blocks, copied.size());
  check_symmetry(plan, problem_, stored_rows_.args(), part.runs.on_host(), mirrored_, rows_,
                 copied.empty() ? blocks : copied.data());
}

void PackedMatrix::take_packed() {
  words_ = values_.data();
  for (const Part& part : parts_)
    if (part.transposed) regroup(part);
}

void PackedMatrix::pack_values(const void* blocks, Memory in) {
  switch (value_code(plan_.codes).of) {
    case CodeOf::nothing:
      return pack_parts(blocks, in);
    case CodeOf::blocks:
      return code_blocks(blocks, in);
    case CodeOf::words:
      return code_words(blocks, in);
    case CodeOf::chunks:
      return code_chunks(blocks, in);
  }
}

void PackedMatrix::pack_parts(const void* blocks, Memory in, const count32* start) {
  const ValueCode& code = value_code(plan_.codes);
  if (code.in == CodesIn::nowhere) return;
  for (const Part& part : parts_) {
    void* const to = code.in_columns() ? columns_of(part) : values_.data() + part.from;
    backend_->pack({part.plan, problem_, part.layout.args(), blocks, to, in, part.code.get(), entries_,
                    &part.runs.on_host(), part.runs.args(), start, rows_});
  }
}

bool PackedMatrix::takes_sums(int side) const {
  const auto has_scalars = [&](const Part& part) {
    return part.plan.entry == "dense" && part.plan.values == problem_.scalar.precision;
  };
  return backend_->is_device() && !lies_on_blocks_ && !stores_half() && side * side <= most_scalars_of_sums &&
         problem_.block == BlockShape{side, side} && value_code(plan_.codes).of == CodeOf::nothing &&
         std::ranges::all_of(parts_, has_scalars);
}

PackedWords PackedMatrix::packed_words(const Part& part) const {
  return {part.plan,       problem_, part.layout.args(), values_.data() + part.from,
          part.code.get(), entries_, part.runs.args()};
}

void PackedMatrix::update_sums(const BlockSums& sums) {
  for (const Part& part : parts_) backend_->extensions().values->pack_sums(packed_words(part), sums);
  take_packed();
}

void PackedMatrix::unpack(void* values) const {
  for (const Part& part : parts_)
    backend_->extensions().values->unpack(packed_words(part), values, start_of_rows(), rows_);
}

/// Which are the part's own where they have a bit beside them.
void* PackedMatrix::columns_of(const Part& part) const {
  return const_cast<void*>(part.layout.args().array[family_of(part.plan.layout).columns]);
}

void PackedMatrix::code_blocks(const void* blocks, Memory in) {
  const ValueCode& code = value_code(plan_.codes);
  const std::size_t each = bytes_of_block(problem_);
  const Buffer<std::byte> codes(*backend_, entries_ * code.bytes);
  auto items = code_items(*backend_, {code, blocks, entries_, each, in, codes.data()});
  if (!items) throw_too_many_values(code);
  const auto number = static_cast<idx>(items->bytes() / each);
  std::vector<count32> start(number + 1);
  std::iota(start.begin(), start.end(), count32{0});
  const std::vector<idx> column(number, 0);
  Plan plan = compound::parts(plan_).front();
  set_layout(plan, "csr");
  plan.layout.row_list = false;
  plan.layout.columns = LayoutSpec{}.columns;
  plan.codes = "none";
  auto packed = std::make_unique<PackedMatrix>(PatternView{number, 1, start, column}, problem_, plan, *backend_);
  packed->try_update_values(items->data(), Memory::backend, Fit::known);
  pack_parts(codes.data(), Memory::backend);
  backend_->synchronize();  // before the codes by entries are released
  dictionary_ = {*std::move(items), std::move(packed), {}};
  stamp_ = new_stamp();
}

/// So many words as they are packed without a code; what no entry's word is, is 0.
Buffer<std::byte> PackedMatrix::plain_words(const void* blocks, Memory in, std::size_t count) const {
  const std::size_t each = bytes_of_word(plan_, problem_);
  Buffer<std::byte> words(*backend_, count * each);
  backend_->clear(words.data(), words.bytes());
  std::vector<std::unique_ptr<Code>> plain;  // until all is done
  for (const Part& part : parts_) {
    Plan plan = part.plan;
    plan.codes = "none";
    plain.push_back(backend_->code_for(plan, problem_));
    backend_->pack({plan, problem_, part.layout.args(), blocks, words.data() + part.from * each, in, plain.back().get(),
                    entries_, &part.runs.on_host(), part.runs.args()});
  }
  backend_->synchronize();
  return words;
}

void PackedMatrix::code_words(const void* blocks, Memory in) {
  const ValueCode& code = value_code(plan_.codes);
  const Buffer<std::byte> words = plain_words(blocks, in, values_.bytes());
  auto items = code_items(*backend_, {code, words.data(), static_cast<slot_t>(values_.bytes()),
                                      bytes_of_word(plan_, problem_), Memory::backend, values_.data()});
  if (!items) throw_too_many_values(code);
  backend_->synchronize();
  dictionary_ = {*std::move(items), nullptr, {}};
  stamp_ = new_stamp();
}

/// Of a plan of one part: how many bytes there are is known with the values.
void PackedMatrix::code_chunks(const void* blocks, Memory in) {
  const Part& part = parts_.front();
  const std::size_t each = bytes_of_word(plan_, problem_);
  const Buffer<std::byte> words = plain_words(blocks, in, bytes_of_words(part.plan, problem_, part.slots()) / each);
  ChunkedValues made =
      compound::code_chunks(*backend_, {words.data(), part.slots(), entry_shape(part.plan, problem_).words,
                                        part.plan.layout.word_group, each, slots_of_chunk(part.plan.layout)});
  dictionary_ = {std::move(made.table), nullptr, std::move(made.places)};
  values_ = std::move(made.values);
  stamp_ = new_stamp();
}

template <class Task>
void PackedMatrix::set_values(Task& task, const Part& part, const void* in_slots) const {
  task.values = in_slots;
  if (dictionary_.blocks) {
    task.values = dictionary_.blocks->words_;
    task.codes = value_code(plan_.codes).in_columns() ? columns_of(part) : in_slots;
  } else {
    task.table = dictionary_.items.data();
    task.codes = dictionary_.places.data();
  }
}

void PackedMatrix::check_ready(Op op) const {
  if (!words_ && entries_ != 0) throw error(ErrorKind::argument, "product with a packed matrix that has no values yet");
  if (op != Op::none && !has_transposed())
    throw error(ErrorKind::argument, "transposed product on a device without prepare_transposed()");
}

/// f(part, what it does, z of it, what follows): the parts after the first add to y.
template <class F>
void PackedMatrix::for_parts(Op op, Update update, const void* z, void* y, const ProductDot& dot, const F& f) const {
  check_ready(op);
  if (has_dot(dot.kind) && !backend_->is_device())
    throw error(ErrorKind::unsupported, "a dot product that follows a product on the host");
  ProductDot follows = dot;
  for (const Part& part : parts_) {
    f(part, update, z, follows);
    update = Update::add;
    z = y;
    follows.adds = true;
  }
}

void PackedMatrix::multiply_vectors(Op op, Update update, const VectorsTask& vectors, const void* x, const void* z,
                                    void* y, const ProductDot& dot) const {
  VectorsTask of_part = vectors;
  for_parts(op, update, z, y, dot, [&](const Part& part, Update how, const void* added, const ProductDot& follows) {
    if (&part != &parts_.front()) of_part.z_apart = vectors.y_apart;
    backend_->multiply_vectors(task(part, op, how, x, added, y, follows), of_part);
  });
}

void PackedMatrix::multiply(Op op, Update update, const void* x, const void* z, void* y, const ProductDot& dot) const {
  for_parts(op, update, z, y, dot, [&](const Part& part, Update how, const void* added, const ProductDot& follows) {
    backend_->multiply(task(part, op, how, x, added, y, follows));
  });
}

bool PackedMatrix::smooths() const {
  const bool is_square = rows_ == cols_ && problem_.block.rows == problem_.block.cols;
  if (!backend_->is_device() || !is_square || parts_.size() != 1 || entries_ == 0) return false;
  const Part& part = parts_.front();
  return part.plan.schedule.traversal != Traversal::slots && part.plan.schedule.carries != Carries::atomic &&
         visits_all_rows(family_of(part.plan.layout), part.plan.layout.row_list, part.layout.args());
}

void PackedMatrix::smooth(const smoothing_args& step, const void* x, const void* b, void* y) const {
  check_ready(Op::none);
  ProductTask t = task(parts_.front(), Op::none, Update::smooth, x, b, y, {});
  t.smoothing = step;
  backend_->multiply(t);
}

bool PackedMatrix::corrects() const {
  return backend_->is_device() && parts_.size() == 1 && parts_.front().plan.schedule.traversal != Traversal::slots;
}

void PackedMatrix::correct(const smoothing_args& step, const void* x, void* y) const {
  check_ready(Op::none);
  ProductTask t = task(parts_.front(), Op::none, Update::correct, x, y, y, {});
  t.smoothing = step;
  backend_->multiply(t);
}

std::optional<ProductTask> PackedMatrix::task(const void* x, void* y) const {
  if (parts_.size() != 1 || !words_ || entries_ == 0) return {};
  return task(parts_.front(), Op::none, Update::assign, x, nullptr, y, {});
}

ProductTask PackedMatrix::task(const Part& part, Op op, Update update, const void* x, const void* z, void* y,
                               const ProductDot& dot) const {
  const bool transposed = op != Op::none && backend_->is_device() && !stores_half();
  const PlacedLayout& over = transposed ? part.transposed->layout : part.layout;
  const bool shared = transposed && part.transposed->held == TransposedValues::shared;
  ProductTask task{.plan = transposed ? part.transposed->plan : part.plan,
                   .problem = problem_,
                   .layout = over.args(),
                   .reordered = over.is_reordered(),
                   .rows = rows_,
                   .cols = cols_,
                   .value_slot = shared ? part.transposed->slots_of_a() : nullptr,
                   .value_slots = shared ? part.slots() : over.args().slots,
                   .op = op,
                   .update = update,
                   .x = x,
                   .z = z,
                   .y = y,
                   .dot = dot,
                   .code = transposed ? part.transposed->code.get() : part.code.get()};
  set_values(task, part, transposed && !shared ? part.transposed->values.data() : words_of(part));
  return task;
}

void PackedMatrix::diagonal(void* to, std::size_t scalars_a_row, unsigned char* inverted) const {
  const BlockShape& b = problem_.block;
  if (b.rows != b.cols)
    throw error(ErrorKind::argument, "diagonal blocks of a matrix with blocks of " + std::to_string(b.rows) + "x" +
                                         std::to_string(b.cols) + "; only square blocks have a diagonal");
  if (rows_ == 0) return;
  backend_->clear(to, rows_ * scalars_a_row * bytes_of(problem_.scalar));
  if (inverted) backend_->clear(inverted, rows_);
  for (const Part& part : parts_) {
    DiagonalTask task{
        .plan = part.plan, .problem = problem_, .layout = part.layout.args(), .to = to, .inverted = inverted};
    set_values(task, part, words_of(part));
    part.code->diagonal(task);
  }
}

void PackedMatrix::diagonal(void* to) const { diagonal(to, problem_.block.rows, nullptr); }

std::optional<idx> PackedMatrix::invert_diagonal(void* to) const {
  const Buffer<unsigned char> inverted(*backend_, rows_);
  diagonal(to, std::size_t{1} * problem_.block.rows * problem_.block.cols, inverted.data());
  std::vector<unsigned char> flags(rows_);
  if (rows_ > 0) backend_->download(flags.data(), inverted.data(), flags.size());
  const auto first = std::ranges::find(flags, 0);
  if (first == flags.end()) return {};
  return static_cast<idx>(first - flags.begin());
}

PackedBytes PackedMatrix::bytes() const {
  // A device's own values are compared there, those of the host on the host.
  const std::size_t of_mirrored =
      backend_->is_device() ? mirrored_there_.bytes() + diagonal_there_.bytes() : mirrored_.size() * sizeof(count32);
  PackedBytes b{(start_of_rows_ ? start_of_rows_->bytes() : 0) + of_mirrored, values_.bytes()};
  for (const Part& part : parts_) {
    b.integers += part.layout.bytes() + part.runs.bytes();
    b.words += part.code->bytes();
    if (!part.transposed) continue;
    b.integers += part.transposed->bytes_of_integers();
    b.words += part.transposed->values.bytes();
  }
  b.words += dictionary_.items.bytes() + dictionary_.places.bytes();
  if (dictionary_.blocks) b.words += dictionary_.blocks->bytes().words;
  return b;
}

}  // namespace compound
