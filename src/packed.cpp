#include "packed.hpp"

#include "error.hpp"

namespace compound {

namespace {

/// Whether the pattern's own arrays are this layout's integers already.
bool is_pattern(const LayoutSpec& l) { return l.slice == 1 && !l.row_list; }

}  // namespace

PackedMatrix::PackedMatrix(const PatternView& pattern, const Problem& problem, const Plan& plan, Backend& backend,
                           PatternLifetime lifetime)
    : plan_(plan),
      problem_(problem),
      backend_(&backend),
      rows_(pattern.rows),
      cols_(pattern.cols),
      entries_(pattern.entries()) {
  auto reason = applicable(plan, problem);
  if (!reason) reason = backend.applicable(plan, problem);
  if (reason) throw error(ErrorKind::argument, "plan '" + to_string(plan) + "' is not applicable: " + *reason);
  take_layout(pattern, lifetime);
  const LayoutSpec& l = plan.layout;
  lies_on_blocks_ = plan.entry == "dense" && l.slice == 1 && l.word_group == 1 && l.word_order == WordOrder::column &&
                    plan.values == problem.scalar.precision && backend.name() == "host";
  if (!lies_on_blocks_) reserve_values();
}

void PackedMatrix::take_layout(const PatternView& pattern, PatternLifetime lifetime) {
  if (is_pattern(plan_.layout) && lifetime == PatternLifetime::outlives && backend_->name() == "host") {
    arrays_ = {.positions = rows_, .slots = entries_, .start = pattern.start.data(), .column = pattern.column.data()};
    return;
  }
  Layout l = encode(pattern, plan_.layout);
  arrays_ = {.height = l.height, .positions = l.positions, .slots = l.slots()};
  arrays_.start = start_.take(*backend_, l.start);
  arrays_.length = length_.take(*backend_, l.length);
  arrays_.column = column_.take(*backend_, l.column);
  arrays_.presence = presence_.take(*backend_, l.presence);
  arrays_.row_of = row_of_.take(*backend_, l.row_of);
  arrays_.first_entry = first_entry_.take(*backend_, l.first_entry);
}

void PackedMatrix::reserve_values() {
  const EntryShape shape = entry_shape(plan_, problem_);
  const bool complex_words = problem_.scalar.field == Field::complex && !shape.real_words;
  const idx group = plan_.layout.word_group;
  const slot_t items = group <= 1 ? arrays_.slots : (arrays_.slots + group - 1) / group * group;
  const std::size_t bytes = items * shape.words * bytes_of(plan_.values) * (complex_words ? 2 : 1);
  values_ = Buffer<std::byte>(*backend_, bytes);
}

void PackedMatrix::update_values(const void* blocks, Memory in) {
  if (lies_on_blocks_) {
    words_ = blocks;
    return;
  }
  const PackTask task{plan_, problem_, arrays_, blocks, values_.data(), in};
  if (const auto misfit = backend_->first_misfit(task, entries_))
    throw error(ErrorKind::argument, "block " + std::to_string(*misfit) + " of the matrix is not of entry kind '" +
                                         std::string(plan_.entry) + "'; use entry=dense");
  backend_->pack(task);
  words_ = values_.data();
}

void PackedMatrix::multiply(Op op, Update update, const void* x, const void* z, void* y) const {
  if (!words_ && entries_ != 0) throw error(ErrorKind::argument, "product with a packed matrix that has no values yet");
  backend_->multiply({plan_, problem_, arrays_, rows_, cols_, words_, nullptr, false, op, update, x, z, y});
}

void PackedMatrix::prepare_transposed(const PatternView&, TransposedValues) {}

bool PackedMatrix::has_transposed() const { return false; }

void PackedMatrix::diagonal(void* to) const { backend_->diagonal({plan_, problem_, arrays_, rows_, words_, to}); }

std::optional<idx> PackedMatrix::invert_diagonal(void* to) const {
  return backend_->invert_diagonal({plan_, problem_, arrays_, rows_, words_, to});
}

PackedBytes PackedMatrix::bytes() const {
  return {
      start_.bytes() + length_.bytes() + column_.bytes() + presence_.bytes() + row_of_.bytes() + first_entry_.bytes(),
      values_.bytes()};
}

}  // namespace compound
