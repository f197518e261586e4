#include "packed.hpp"

#include <atomic>
#include <cstdio>
#include <numeric>

#include "error.hpp"
#include "layout/family.hpp"

namespace compound {

namespace {

void require_applicable(const Plan& plan, const Problem& problem, const Backend& backend) {
  auto reason = applicable(plan, problem);
  if (!reason) reason = backend.applicable(plan, problem);
  if (reason) throw error(ErrorKind::argument, "plan '" + to_string(plan) + "' is not applicable: " + *reason);
}

/// Without what else a dictionary takes.
std::size_t bytes_of_slot(const Plan& plan, const Problem& problem) {
  const ValueCode& code = value_code(plan.codes);
  if (code.of == CodeOf::blocks) return code.bytes;
  if (code.of == CodeOf::words) return entry_shape(plan, problem).words * code.bytes;
  return bytes_of_entry(plan, problem);
}

/// Groups of words are whole.
std::size_t bytes_of_words(const Plan& plan, const Problem& problem, slot_t slots) {
  const idx group = plan.layout.word_group;
  const slot_t items = group <= 1 ? slots : (slots + group - 1) / group * group;
  return items * bytes_of_slot(plan, problem);
}

std::uint64_t new_stamp() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

bool lies_on_blocks(const Plan& plan, const Problem& problem, const Backend& backend) {
  return words_are_blocks(plan, problem) && backend.reads_in_place();
}

}  // namespace

Footprint bytes_of(const PatternView& pattern, const Problem& problem, const Plan& plan, const Backend& backend,
                   PatternLifetime lifetime) {
  const LayoutCount l = count(pattern, plan.layout, backend.reads_in_place() ? lifetime : PatternLifetime::temporary);
  const bool allocates = !lies_on_blocks(plan, problem, backend);
  return {l.slots,
          {l.read, l.slots * bytes_of_slot(plan, problem)},
          {l.allocated, allocates ? bytes_of_words(plan, problem, l.slots) : 0}};
}

double read_bytes(const Reblocked& matrix, const Plan& plan, ScalarType scalar, const Backend& backend) {
  const auto bytes = [&](const Pattern& p, BlockShape block, const Plan& of) {
    return double(bytes_of(p.view(), {block, scalar}, of, backend).read.total());
  };
  double sum = bytes(matrix.pattern, matrix.block(), plan);
  for (const auto* edge : {&matrix.beside, &matrix.below})
    if (*edge) sum += bytes((*edge)->pattern, {1, 1}, Plan{});
  return sum;
}

std::optional<std::string> too_much_padding(const PatternView& pattern, const Problem& problem, const Plan& plan,
                                            double most) {
  if (most == unlimited_padding || family_of(plan.layout).slots_are_entries) return {};
  LayoutSpec spec = plan.layout;
  spec.columns =
      LayoutSpec{}.columns;  // how wide they are does not matter here, and is not counted without making them
  const slot_t slots = count(pattern, spec).slots, entries = pattern.entries();
  const double bytes = double(slots - entries) * double(bytes_of_slot(plan, problem) + sizeof(idx));
  if (bytes <= padding_let_through_bytes || double(slots) <= most * double(entries)) return {};
  char text[256];
  std::snprintf(text, sizeof(text),
                "layout %s would have %lld slots for %lld entries, %.3g for each, and %.3g GB of padding, where up to "
                "%.3g for each are allowed; csr has no padding, sell, bellpack and hdia have less",
                layout_name(plan.layout).c_str(), static_cast<long long>(slots), static_cast<long long>(entries),
                double(slots) / double(entries), bytes / 1e9, most);
  return text;
}

PackedMatrix::PackedMatrix(const PatternView& pattern, const Problem& problem, const Plan& plan, Backend& backend,
                           PatternLifetime lifetime)
    : plan_(plan),
      problem_(problem),
      backend_(&backend),
      rows_(pattern.rows),
      cols_(pattern.cols),
      entries_(pattern.entries()),
      stamp_(new_stamp()) {
  require_applicable(plan, problem, backend);
  code_ = backend.code_for(plan_, problem_);
  layout_ = PlacedLayout(backend, encode(pattern, plan.layout, lifetime));
  lies_on_blocks_ = compound::lies_on_blocks(plan, problem, backend);
  if (!lies_on_blocks_) values_ = Buffer<std::byte>(backend, bytes_of_words(plan, problem, slots()));
}

PackedMatrix::Scheduled PackedMatrix::scheduled(const Schedule& schedule) const {
  Plan plan = plan_;
  plan.schedule = schedule;
  require_applicable(plan, problem_, *backend_);
  Scheduled made{schedule, backend_->code_for(plan, problem_)};
  if (made.code) backend_->compile(*made.code);
  return made;
}

void PackedMatrix::swap(Scheduled& other) {
  std::swap(plan_.schedule, other.schedule);
  std::swap(code_, other.code);
  stamp_ = new_stamp();
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
    if (!from.empty()) args_.array[a] = (copied_[a] = Buffer<std::byte>(on, from)).data();
  }
}

std::size_t PlacedLayout::bytes() const {
  std::size_t sum = kept_.bytes();
  for (const auto& array : copied_) sum += array.bytes();
  return sum;
}

void PackedMatrix::update_values(const void* blocks, Memory in) {
  if (const auto misfit = try_update_values(blocks, in))
    throw error(ErrorKind::argument, "block " + std::to_string(*misfit) + " of the matrix is not of entry kind '" +
                                         std::string(plan_.entry) + "'; use entry=dense");
}

std::optional<count32> PackedMatrix::try_update_values(const void* blocks, Memory in, Fit fit) {
  if (lies_on_blocks_) {
    if (words_ != blocks) stamp_ = new_stamp();
    words_ = blocks;
    return {};
  }
  if (fit == Fit::unknown)
    if (const auto misfit = backend_->first_misfit({plan_.entry, problem_, blocks, entries_, in})) return misfit;
  pack_values(blocks, in);
  words_ = values_.data();
  if (transposed_) regroup();
  return {};
}

void PackedMatrix::pack_values(const void* blocks, Memory in) {
  switch (value_code(plan_.codes).of) {
    case CodeOf::nothing:
      return backend_->pack({plan_, problem_, layout_.args(), blocks, values_.data(), in, code_.get(), entries_});
    case CodeOf::blocks:
      return code_blocks(blocks, in);
    case CodeOf::words:
      return code_words(blocks, in);
  }
}

void PackedMatrix::code_blocks(const void* blocks, Memory in) {
  const ValueCode& code = value_code(plan_.codes);
  const Buffer<std::byte> codes(*backend_, entries_ * code.bytes);
  const std::size_t each = bytes_of_block(problem_);
  auto items = backend_->code_items({code, blocks, entries_, each, in, codes.data()});
  if (!items) throw_too_many_values(code);
  const auto number = static_cast<idx>(items->bytes() / each);
  std::vector<count32> start(number + 1);
  std::iota(start.begin(), start.end(), count32{0});
  const std::vector<idx> column(number, 0);
  Plan plan = plan_;
  set_layout(plan, "csr");
  plan.layout.row_list = false;
  plan.layout.columns = LayoutSpec{}.columns;
  plan.codes = "none";
  auto packed = std::make_unique<PackedMatrix>(PatternView{number, 1, start, column}, problem_, plan, *backend_);
  packed->try_update_values(items->data(), Memory::backend, Fit::known);
  backend_->pack(
      {plan_, problem_, layout_.args(), codes.data(), values_.data(), Memory::backend, code_.get(), entries_});
  backend_->synchronize();  // before the codes by entries are released
  dictionary_ = {*std::move(items), std::move(packed)};
  stamp_ = new_stamp();
}

/// Of words as they are packed without a code; what no entry's word is, is 0.
void PackedMatrix::code_words(const void* blocks, Memory in) {
  const ValueCode& code = value_code(plan_.codes);
  const std::size_t each = bytes_of_word(plan_, problem_);
  Plan plan = plan_;
  plan.codes = "none";
  const Buffer<std::byte> words(*backend_, values_.bytes() * each);
  backend_->clear(words.data(), words.bytes());
  const std::unique_ptr<Code> plain = backend_->code_for(plan, problem_);
  backend_->pack({plan, problem_, layout_.args(), blocks, words.data(), in, plain.get(), entries_});
  auto items = backend_->code_items(
      {code, words.data(), static_cast<slot_t>(values_.bytes()), each, Memory::backend, values_.data()});
  if (!items) throw_too_many_values(code);
  backend_->synchronize();
  dictionary_ = {*std::move(items), nullptr};
  stamp_ = new_stamp();
}

template <class Task>
void PackedMatrix::set_values(Task& task, const void* in_slots) const {
  task.values = in_slots;
  if (dictionary_.blocks) {
    task.values = dictionary_.blocks->words_;
    task.codes = in_slots;
  } else {
    task.table = dictionary_.items.data();
  }
}

std::optional<std::string> PackedMatrix::prepare_transposed(const PatternView& pattern, TransposedValues values,
                                                            double most_padding) {
  if (!backend_->is_device() || (transposed_ && transposed_->held == values)) return {};
  transposed_.reset();
  const Transposed t = transposed(pattern);
  Plan plan = plan_;
  LayoutSpec& spec = plan.layout;
  spec.row_list = false;  // rows without an entry are set to 0 or z as they come
  if (auto why = too_much_padding(t.pattern.view(), problem_, plan, most_padding)) return why;
  Layout l = encode(t.pattern.view(), spec);
  const std::vector<count32> to = slots_of_entries(t.pattern.view(), spec, l),
                             from = slots_of_entries(pattern, plan_.layout, encode(pattern, plan_.layout));
  std::vector<count32> value_slot(l.slots, from.empty() ? 0 : from.front());
  for (std::size_t e = 0; e < to.size(); ++e) value_slot[to[e]] = from[t.entry_of[e]];
  auto made = std::make_unique<TransposedLayout>();
  made->layout = PlacedLayout(*backend_, std::move(l));
  made->value_slot = Buffer<count32>(*backend_, std::span<const count32>(value_slot));
  made->held = values;
  if (values == TransposedValues::copy)
    made->values = Buffer<std::byte>(*backend_, bytes_of_words(plan_, problem_, made->layout.args().slots));
  transposed_ = std::move(made);
  if (words_) regroup();
  return {};
}

/// Padding takes the words of the first entry, which are there: they are never read.
void PackedMatrix::regroup() const {
  if (transposed_->held == TransposedValues::shared || slots() == 0) return;
  backend_->regroup({transposed_->layout.args().slots, slots(), transposed_->value_slot.data(), words_,
                     transposed_->values.data(), code_.get()});
}

void PackedMatrix::multiply(Op op, Update update, const void* x, const void* z, void* y, const ProductDot& dot) const {
  if (!words_ && entries_ != 0) throw error(ErrorKind::argument, "product with a packed matrix that has no values yet");
  const bool transposed = op != Op::none && backend_->is_device();
  if (transposed && !transposed_)
    throw error(ErrorKind::argument, "transposed product on a device without prepare_transposed()");
  const PlacedLayout& over = transposed ? transposed_->layout : layout_;
  const bool shared = transposed && transposed_->held == TransposedValues::shared;
  ProductTask task{.plan = plan_,
                   .problem = problem_,
                   .layout = over.args(),
                   .reordered = over.is_reordered(),
                   .rows = rows_,
                   .cols = cols_,
                   .value_slot = shared ? transposed_->value_slot.data() : nullptr,
                   .value_slots = shared ? slots() : over.args().slots,
                   .op = op,
                   .update = update,
                   .x = x,
                   .z = z,
                   .y = y,
                   .dot = dot,
                   .code = code_.get()};
  set_values(task, transposed && !shared ? transposed_->values.data() : words_);
  backend_->multiply(task);
}

DiagonalTask PackedMatrix::diagonal_task(void* to) const {
  DiagonalTask task{
      .plan = plan_, .problem = problem_, .layout = layout_.args(), .rows = rows_, .to = to, .code = code_.get()};
  set_values(task, words_);
  return task;
}

void PackedMatrix::diagonal(void* to) const { backend_->diagonal(diagonal_task(to)); }

std::optional<idx> PackedMatrix::invert_diagonal(void* to) const {
  return backend_->invert_diagonal(diagonal_task(to));
}

PackedBytes PackedMatrix::bytes() const {
  PackedBytes b{layout_.bytes(), values_.bytes()};
  if (transposed_) {
    b.integers += transposed_->layout.bytes() + transposed_->value_slot.bytes();
    b.words += transposed_->values.bytes();
  }
  b.words += dictionary_.items.bytes();
  if (dictionary_.blocks) b.words += dictionary_.blocks->bytes().words;
  return b;
}

}  // namespace compound
