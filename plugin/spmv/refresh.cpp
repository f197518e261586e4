#include "spmv/refresh.hpp"

#include <algorithm>
#include <cstdio>

#include "options/options.hpp"
#include "petsc/log.hpp"
#include "petsc/warnings.hpp"
#include "planner/default_plan.hpp"
#include "spmv/choices.hpp"
#include "spmv/input_blocks.hpp"

namespace compound::plugin {

/// One copy while it is brought up to date.
class CopyRefresh {
 public:
  CopyRefresh(Mat A, SeqState& st, MemorySpace space, const BlockArrays& b)
      : in_{A, st, space, b}, copy_(st.copy(space)) {}

  PetscErrorCode pattern();
  /// No error where values are not what was asked for: the copy's misfit() or refused() tells of it.
  PetscErrorCode values();
  PetscErrorCode transposed(Op op);

  static PetscErrorCode take_sums(Mat A, SeqState& st, const BlockSums& sums);
  static PetscErrorCode narrow(Mat A, SeqState& st, bool* done);
  static void leave_out(SeqState& st, MemorySpace space, const std::string& why);

 private:
  template <class Body>
  PetscErrorCode within_memory(const char* wanted, const Body& body);
  void pack_pattern();
  void pack_values();
  const PlacedRows* placed_rows() const;
  PetscErrorCode pack_pattern_anew();
  PetscErrorCode follow_to_device();
  PetscErrorCode report_block_size() const;
  PetscErrorCode report_pattern() const;
  PetscErrorCode take_values();
  PetscErrorCode widen();

  Packing in_;
  PackedCopy& copy_;
  ChosenPlan chosen_;
  std::optional<count32> misfit_;  ///< the first block that is not of the copy's kind of entry
};

void CopyRefresh::leave_out(SeqState& st, MemorySpace space, const std::string& why) {
  PackedCopy& copy = st.copy(space);
  copy.packed_.reset();
  copy.other_blocks_.reset();
  copy.left_out_ = why;
}

/// Packs by `body`; on a device that has no memory left the copy is given up.
template <class Body>
PetscErrorCode CopyRefresh::within_memory(const char* wanted, const Body& body) {
  PetscFunctionBegin;
  if (!in_.on_device()) {
    PetscCall(guarded(comm_of(in_.A), body));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool enough;
  PetscCall(guarded_memory(comm_of(in_.A), &enough, body));
  if (!enough) PetscCall(leave_device(in_.A, &in_.st, no_memory(wanted)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The pattern, where products of matrices have it on the device.
const PlacedRows* CopyRefresh::placed_rows() const {
  const PlacedRowsOf& kept = in_.st.placed;
  const bool is_it = in_.on_device() && !copy_.other_blocks_ && kept.pattern && kept.nonzeros == in_.A->nonzerostate &&
                     kept.pattern->block() == in_.b.block &&
                     kept.pattern->entries() == static_cast<std::size_t>(in_.b.entries());
  return is_it ? &kept.pattern->rows() : nullptr;
}

namespace {

/// Of the matrix whose upper triangle has these.
PatternStatistics statistics_of_both(PatternStatistics s, const PatternView& given) {
  const MirroredCounts counts = count_mirrored(given);
  s.entries = counts.entries;
  s.empty_rows = counts.empty_rows;
  return s;
}

}  // namespace

void CopyRefresh::pack_pattern() {
  Pattern copied;
  SeqState& st = in_.st;
  st.matrix_values.unpack();
  copy_.packed_.reset();
  copy_.other_blocks_.reset();
  copy_.both_triangles_.reset();
  copy_.values_of_both_ = {};
  in_.mirrored.clear();
  in_.regrouped.clear();
  if (st.base_type.keeps_upper && !reads_upper(in_)) copy_.both_triangles_ = mirrored(pattern_of(in_.b, copied));
  const PatternView given = in_.given_pattern(copied);
  const PatternStatistics of_given = statistics(given);
  st.statistics = in_.problem().upper ? statistics_of_both(of_given, given) : of_given;
  st.input_block = in_.b.block;
  if (auto other = in_other_blocks(in_, given)) copy_.other_blocks_.emplace(*std::move(other));
  const bool is_given = !copy_.other_blocks_;
  const PatternView pattern = is_given ? given : copy_.other_blocks_->shape().pattern.view();
  check_entry_asked_for(in_);
  const PatternStatistics numbers = is_given ? of_given : statistics(pattern);
  chosen_ = choose_plan(in_, pattern, numbers);
  copy_.origin_ = chosen_.origin;
  copy_.finds_entry_ = chosen_.finds_entry;
  copy_.left_out_ = why_left_out(in_, pattern, chosen_.plan);
  if (!copy_.left_out_.empty()) return;
  const bool is_lasting = same_index_width || !is_given || copy_.both_triangles();
  copy_.refused_ = why_refused(in_, pattern, chosen_.plan);
  if (!copy_.refused_.empty()) return;
  try {
    copy_.packed_.emplace(pattern, in_.problem(), chosen_.plan, in_.backend(),
                          is_lasting ? PatternLifetime::outlives : PatternLifetime::temporary, placed_rows());
  } catch (const error& e) {
    throw error(e.kind(), e.what() + option_of_plan(in_));
  }
  copy_.hint_ = layout_hint(in_, pattern, numbers, chosen_.plan);
  if (!is_given) copy_.other_blocks_->pack(in_.problem().scalar, in_.backend());
  ++st.counts.pattern_packs;
}

namespace {

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f us", 1e6 * seconds);
  return text;
}

}  // namespace

namespace {

/// Whether many of some neighbouring rows have the same columns, as rows of a block have. Takes microseconds.
bool may_have_blocks(const BlockArrays& b) {
  constexpr PetscInt looks = 1024;
  constexpr double enough = 0.25;
  const PetscInt pairs = b.rows - 1, step = std::max<PetscInt>(1, pairs / looks);
  PetscInt seen = 0, same = 0;
  // Neighbouring steps begin at another place within a block.
  for (PetscInt row = 0; row < pairs; row += step + seen % 2, ++seen) {
    const PetscInt *const first = b.column + b.start[row], *const next = b.column + b.start[row + 1];
    if (std::equal(first, next, next, b.column + b.start[row + 2])) ++same;
  }
  return static_cast<double>(same) > enough * static_cast<double>(seen);
}

}  // namespace

/// Looking for blocks takes the time of many products. Without -info it is done only for matrices that seem to have
/// some. A base type of scalars is packed in blocks that are found: nothing is lost.
PetscErrorCode CopyRefresh::report_block_size() const {
  PetscFunctionBegin;
  PetscBool reports;
  const SeqState& st = in_.st;
  if (st.off_diagonal || copy_.other_blocks_ || st.base_type.keeps_upper) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfoEnabled(MAT_CLASSID, &reports));
  const bool warns = st.settings.warn && st.base_type.keeps_blocks && !was_said(Once::block_size) &&
                     is_first_process() && warnings_are_on() && may_have_blocks(in_.b);
  if (!reports && !warns) PetscFunctionReturn(PETSC_SUCCESS);
  const std::string hint = block_size_hint(st.settings, st.base_type, in_.b);
  if (hint.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(in_.A, "Hint: %s\n", hint.c_str()));
  if (warns) PetscCall(warn_once(Once::block_size, hint));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What -info says of a copy that was just made, or was not.
PetscErrorCode CopyRefresh::report_pattern() const {
  PetscFunctionBegin;
  Mat const A = in_.A;
  if (!copy_.refused_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!copy_.packed_) {
    PetscCall(PetscInfo(A, "Products are left to %s: %s\n", row_of(in_.space).next, copy_.left_out_.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PatternStatistics& s = in_.st.statistics;
  PetscCall(report_block_size());
  if (in_.st.settings.tune != Effort::rule) PetscCall(PetscInfo(A, "Plan: %s\n", copy_.origin_.c_str()));
  if (!chosen_.problem_with_wisdom.empty())
    PetscCall(PetscInfo(A, "Wisdom file not used: %s\n", chosen_.problem_with_wisdom.c_str()));
  for (const Measured& m : chosen_.measured)
    PetscCall(PetscInfo(A, "Measured: %s %s%s\n", to_string(m.plan).c_str(),
                        m.is_timed() ? microseconds(m.seconds).c_str() : "", m.failure.c_str()));
  if (copy_.finds_entry_)
    PetscCall(PetscInfo(A, "Block format found: %s, in %s\n", std::string(copy_.packed_->plan().entry).c_str(),
                        microseconds(chosen_.seconds_of_finding).c_str()));
  PetscCall(PetscInfo(A, "%d x %d blocks of %s, %u stored: plan '%s'\n", s.rows, s.cols, text_of(in_.b.block).c_str(),
                      s.entries, to_string(copy_.packed_->plan()).c_str()));
  for (const std::string& hint : {copy_.packed_->remark(), copy_.hint_})
    if (!hint.empty()) PetscCall(PetscInfo(A, "Hint: %s\n", hint.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a device needs beside a copy's integers: they have travelled, and code for the plan.
PetscErrorCode CopyRefresh::follow_to_device() {
  PetscFunctionBegin;
  if (!in_.on_device() || !copy_.packed_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(log_upload(copy_.packed_->bytes().integers));
  PetscCall(logged(Event::compile, in_.A, [&] {
    return within_memory("for code", [&] {
      copy_.packed_->compile();
      if (copy_.other_blocks_) copy_.other_blocks_->compile();
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyRefresh::pack_pattern_anew() {
  PetscFunctionBegin;
  PetscCall(logged(Event::pack, in_.A, [&] { return within_memory("for a packed pattern", [&] { pack_pattern(); }); }));
  copy_.values_version_ = -1;
  copy_.misfit_.reset();
  PetscCall(follow_to_device());
  PetscCall(report_pattern());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyRefresh::pattern() {
  PetscFunctionBegin;
  const BlockArrays& b = in_.b;
  const int settings_version = in_.st.settings.version;
  const PackedCopy::PatternKey key{in_.A->nonzerostate, b.entries(), b.start, b.column, b.block, settings_version};
  const bool was_looked_at = copy_.packed_ || !copy_.left_out_.empty() || !copy_.refused_.empty();
  if (was_looked_at && key == copy_.key_) PetscFunctionReturn(PETSC_SUCCESS);
  copy_.key_ = {};
  PetscCall(pack_pattern_anew());
  copy_.key_ = key;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where a block is not of the copy's kind of entry the old values stay. Values that a plan has no room for (codes=)
/// are refused, not an error at once: other processes may have such that fit.
void CopyRefresh::pack_values() try {
  const Fit fit = chosen_.fits ? Fit::known : Fit::unknown;
  const Scalar* const there = in_.values_on_device();
  misfit_ = there ? copy_.packed_->try_update_values(there, Memory::backend, fit)
                  : copy_.packed_->try_update_values(in_.values(), Memory::host, fit);
  const bool lies = copy_.packed_->lies_on_blocks();
  if (!copy_.other_blocks_) {
    if (lies) copy_.values_of_both_ = std::move(in_.mirrored);
    return;
  }
  if (lies) copy_.other_blocks_->keep(std::move(in_.regrouped));
  if (!misfit_) copy_.other_blocks_->take_values(in_.given_values());
} catch (const error& e) {
  if (e.kind() != ErrorKind::argument) throw;
  copy_.refused_ = e.what();
}

/// New values for the copy as it is.
PetscErrorCode CopyRefresh::take_values() {
  PetscFunctionBegin;
  misfit_.reset();
  if (!copy_.packed_) PetscFunctionReturn(PETSC_SUCCESS);
  const auto pack = [&] { return within_memory("for packed values", [&] { pack_values(); }); };
  if (copy_.packed_->lies_on_blocks() && !copy_.other_blocks_ && !copy_.both_triangles_) {
    PetscCall(pack());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(logged(in_.on_device() ? Event::upload : Event::pack, in_.A, pack));
  if (misfit_ || !copy_.refused_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  ++in_.st.counts.value_packs;
  if (in_.on_device() && copy_.packed_ && !in_.values_on_device())
    PetscCall(log_upload(copy_.packed_->entries() * bytes_of_block(copy_.packed_->problem())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// If new values no longer fit the detected format, the next product detects again and repacks; it never switches to a
/// smaller format by itself.
PetscErrorCode CopyRefresh::widen() {
  PetscFunctionBegin;
  PetscCall(PetscInfo(in_.A,
                      "Values have changed: entry %u does not fit the block format %s that was found before; the "
                      "matrix is packed again\n",
                      *misfit_, std::string(copy_.packed_->plan().entry).c_str()));
  PetscCall(pack_pattern_anew());
  PetscCall(take_values());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyRefresh::values() {
  PetscFunctionBegin;
  const PetscInt64 version = in_.st.matrix_values.version(in_.A);
  if (!copy_.packed_ || version == copy_.values_version_) PetscFunctionReturn(PETSC_SUCCESS);
  copy_.refused_.clear();
  PetscCall(take_values());
  if (misfit_ && copy_.finds_entry_) PetscCall(widen());
  copy_.misfit_.reset();
  if (misfit_) PetscCall(guarded(comm_of(in_.A), [&] { copy_.misfit_ = misfit_at(in_, *misfit_); }));
  copy_.values_version_ = copy_.must_not_be_used() ? -1 : version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A transposed pattern that pads too much is not packed: products then leave the device.
PetscErrorCode CopyRefresh::transposed(Op op) {
  PetscFunctionBegin;
  if (op == Op::none || !in_.on_device() || !copy_.packed_ || copy_.packed_->has_transposed())
    PetscFunctionReturn(PETSC_SUCCESS);
  std::optional<std::string> padding;
  const auto pack = [&] {
    Pattern copied;
    const Settings& s = in_.st.settings;
    if (copy_.other_blocks_) copy_.other_blocks_->prepare_transposed(s.transpose);
    padding = copy_.packed_->prepare_transposed(in_.pattern(copied), plan_of_transpose, s.transpose, s.most_padding,
                                                placed_rows());
  };
  PetscCall(logged(Event::pack, in_.A, [&] { return within_memory("for the transpose", pack); }));
  if (padding) PetscCall(leave_device(in_.A, &in_.st, "of the transpose, " + *padding));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyRefresh::take_sums(Mat A, SeqState& st, const BlockSums& sums) {
  PetscFunctionBegin;
  PackedCopy& copy = st.copy(MemorySpace::device);
  PackedMatrix* const packed = &*copy.packed_;
  PetscCall(PetscInfo(A, "Values by coordinates are packed as they are made\n"));
  PetscCall(guarded(comm_of(A), [&] { packed->update_sums(sums); }));
  PetscCall(st.matrix_values.packed(A, [packed](Scalar* to) { packed->unpack(to); }));
  copy.values_version_ = st.matrix_values.version(A);
  ++st.counts.value_packs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Integers stay: nothing is encoded again.
PetscErrorCode CopyRefresh::narrow(Mat A, SeqState& st, bool* done) {
  PetscFunctionBegin;
  PackedCopy& copy = st.copy(MemorySpace::device);
  std::optional<PackedMatrix> narrow;
  bool enough;
  PetscCall(guarded_memory(comm_of(A), &enough, [&] {
    narrow = copy.packed_->narrowed();
    if (narrow) st.matrix_values.unpack();
  }));
  *done = enough && narrow;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  copy.packed_ = std::move(narrow);
  copy.values_version_ = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode narrow_device_copy(Mat A, bool* done) {
  PetscFunctionBegin;
  SeqState* st;
  const PackedMatrix* packed;
  *done = false;
  PetscCall(device_copy(A, &packed));
  if (!packed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(A, &st));
  PetscCall(CopyRefresh::narrow(A, *st, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode widen_device_copy(Mat A) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  ++st->settings.version;  // is packed again
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool takes_sums(Mat A, SeqState& st, const SumTask& lists) {
  const PackedCopy& copy = st.copy(MemorySpace::device);
  return is_current(A, st, Op::none, MemorySpace::device) && !copy.other_blocks() && !copy.must_not_be_used() &&
         copy.packed()->takes_sums(lists.side) && slot_t{copy.packed()->entries()} == lists.sums &&
         st.matrix_values.has_buffer(A, copy.backend());
}

PetscErrorCode pack_sums(Mat A, SeqState* st, const BlockSums& sums) { return CopyRefresh::take_sums(A, *st, sums); }

PetscErrorCode leave_device(Mat A, SeqState* st, const std::string& why) {
  PetscFunctionBegin;
  PetscCall(guarded(comm_of(A), [&] { st->matrix_values.unpack(); }));
  CopyRefresh::leave_out(*st, MemorySpace::device, why);
  st->buffers = {};
  PetscCall(PetscInfo(A, "Products run on the host: %s\n", why.c_str()));
  if (st->settings.warn)
    PetscCall(warn("products of a matrix of " + std::to_string(A->rmap->n) +
                   " local rows run on the host from now on: " + why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode refresh(Mat A, SeqState* st, Op op, MemorySpace space) {
  PetscFunctionBegin;
  BlockArrays b;
  if (is_current(A, *st, op, space)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(input_values(A, *st, &b));
  CopyRefresh copy(A, *st, space, b);
  if (space == MemorySpace::device) PetscCall(begin_device_work(backend(row_of(space).backend)));
  PetscCall(copy.pattern());
  PetscCall(copy.values());
  PetscCall(copy.transposed(op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode refresh_one(Mat A, SeqState* st, Op op, MemorySpace* space) {
  PetscFunctionBegin;
  PetscCall(refresh(A, st, op, *space));
  if (*space == MemorySpace::host || st->copy(*space).packed()) PetscFunctionReturn(PETSC_SUCCESS);
  *space = MemorySpace::host;
  PetscCall(refresh(A, st, op, *space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode device_copy(Mat A, const PackedMatrix** packed) {
  PetscFunctionBegin;
  SeqState* st;
  *packed = nullptr;
  if (!is_seq_compound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  if (!st->settings.may_use_device() || is_bound(A) || !device_backend()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(refresh(A, st, Op::none, MemorySpace::device));
  const PackedCopy& copy = st->copy(MemorySpace::device);
  if (!copy.other_blocks() && !copy.must_not_be_used()) *packed = copy.packed();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
