#include "spmv/refresh.hpp"

#include <cstdio>

#include "petsc/log.hpp"
#include "planner/default_plan.hpp"
#include "spmv/choices.hpp"
#include "spmv/input_blocks.hpp"

namespace compound::plugin {

namespace {

void pack_pattern(Packing& p) {
  Pattern copied;
  BlockShape block;
  PackedCopy& copy = p.copy;
  const PatternView given = pattern_of(p.b, copied);
  copy.packed.reset();
  copy.other_blocks.reset();
  p.regrouped.clear();
  p.st.statistics = statistics(given);
  p.st.given_block = p.b.block;
  const PatternView pattern = packed_pattern(p, given, &block);
  copy.problem = {block, scalar_type_of<Scalar>(), copy.other_blocks ? ValueOrder::blocks : p.b.order,
                  p.st.settings.reproducible};
  check_entry_asked_for(p);
  const Plan plan = choose_plan(p, pattern, copy.other_blocks ? statistics(pattern) : p.st.statistics);
  copy.left_out = why_left_out(p, pattern, plan);
  if (!copy.left_out.empty()) return;
  copy.refused = why_refused(p, pattern, plan);
  if (!copy.refused.empty()) return;
  try {
    copy.packed.emplace(pattern, copy.problem, plan, backend(row_of(p.place).backend),
                        same_index_width || copy.other_blocks ? PatternLifetime::outlives : PatternLifetime::temporary);
  } catch (const error& e) {
    throw error(e.kind(), e.what() + option_of_plan(p));
  }
  pack_edges(p);
  make_group_vectors(copy);
  ++p.st.counts.pattern_packs;
}

/// The first block that is not of the copy's kind of entry, if there is one: the old values then stay.
std::optional<count32> pack_values(Packing& p) {
  PackedCopy& copy = p.copy;
  const Fit fit = p.fits ? Fit::known : Fit::unknown;
  const Scalar* const there = values_on_device(p);
  const auto misfit = there ? copy.packed->try_update_values(there, Memory::backend, fit)
                            : copy.packed->try_update_values(packed_values(p), Memory::host, fit);
  if (copy.packed->lies_on_blocks() && copy.other_blocks) copy.other_blocks->values = std::move(p.regrouped);
  if (!misfit) update_edges(p);
  return misfit;
}

/// The pattern that is packed, once more; why not, where it pads too much.
std::optional<std::string> pack_transposed(Packing& p) {
  transpose_edges(p);
  Pattern copied;
  const PatternView pattern = p.copy.other_blocks ? p.copy.other_blocks->shape.pattern.view() : pattern_of(p.b, copied);
  const Settings& s = p.st.settings;
  return p.copy.packed->prepare_transposed(pattern, plan_of_transpose, s.transpose, s.most_padding);
}

/// Packs by `body`; on a device that has no memory left the copy is given up.
template <class Body>
PetscErrorCode within_memory(const Packing& p, const char* wanted, const Body& body) {
  PetscFunctionBegin;
  if (!p.on_device()) {
    PetscCall(guarded(comm_of(p.A), body));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool enough;
  PetscCall(guarded_memory(comm_of(p.A), &enough, body));
  if (!enough) PetscCall(leave_device(p.A, &p.st, no_memory(wanted)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f us", 1e6 * seconds);
  return text;
}

/// What -info tells of a copy that was just made, or was not.
PetscErrorCode tell_of_pattern(const Packing& p) {
  PetscFunctionBegin;
  if (!p.copy.refused.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (!p.copy.packed) {
    PetscCall(PetscInfo(p.A, "Products are left to %s: %s\n", row_of(p.place).next, p.copy.left_out.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PatternStatistics& s = p.st.statistics;
  PetscBool told;
  PetscCall(PetscInfoEnabled(MAT_CLASSID, &told));
  const bool looks = told && !p.st.off_diagonal && !p.copy.other_blocks;  // it takes many products' time
  const std::string hint = looks ? block_size_hint(p.st.settings, p.st.family, p.b) : "";
  if (!hint.empty()) PetscCall(PetscInfo(p.A, "Hint: %s\n", hint.c_str()));
  if (p.st.settings.tune != Effort::rule) PetscCall(PetscInfo(p.A, "Plan: %s\n", p.copy.origin.c_str()));
  for (const Measured& m : p.copy.measured.all)
    PetscCall(PetscInfo(p.A, "Measured: %s %s%s\n", to_string(m.plan).c_str(),
                        m.is_timed() ? microseconds(m.seconds).c_str() : "", m.failure.c_str()));
  if (p.copy.finds_entry)
    PetscCall(PetscInfo(p.A, "Kind of entry found: %s, in %s\n", std::string(p.copy.packed->plan().entry).c_str(),
                        microseconds(p.copy.seconds_of_finding).c_str()));
  PetscCall(PetscInfo(p.A, "%d x %d blocks of %s, %u stored: plan '%s'\n", s.rows, s.cols, text_of(p.b.block).c_str(),
                      s.entries, to_string(p.copy.packed->plan()).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a device needs beside a copy's integers: they have travelled, and code for the plan.
PetscErrorCode follow_to_device(const Packing& p) {
  PetscFunctionBegin;
  if (!p.on_device() || !p.copy.packed) PetscFunctionReturn(PETSC_SUCCESS);
  PackedMatrix& packed = *p.copy.packed;
  PetscCall(log_upload(packed.bytes().integers));
  PetscCall(logged(Event::compile, p.A, [&] {
    return within_memory(p, "for code", [&] {
      packed.compile();
      compile_edges(p.copy);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_pattern(Packing& p) {
  PetscFunctionBegin;
  const BlockArrays& b = p.b;
  PackedCopy& copy = p.copy;
  const PackedCopy::PatternKey key{p.A->nonzerostate, b.entries(), b.start, b.column, b.block, p.st.settings.version};
  if ((copy.packed || !copy.left_out.empty() || !copy.refused.empty()) && key == copy.pattern_key)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      logged(Event::pack, p.A, [&] { return within_memory(p, "for a packed pattern", [&] { pack_pattern(p); }); }));
  copy.pattern_key = key;
  copy.values_version = -1;
  copy.misfit.reset();
  PetscCall(follow_to_device(p));
  PetscCall(tell_of_pattern(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values are no more of the kind of entry that was found: finds the cheapest again and packs the pattern for it.
PetscErrorCode widen(Packing& p, count32 misfit) {
  PetscFunctionBegin;
  PetscCall(PetscInfo(p.A, "Values have changed: entry %u is not of kind %s, which was found before\n", misfit,
                      std::string(p.copy.packed->plan().entry).c_str()));
  p.copy.pattern_key = {};
  PetscCall(refresh_pattern(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values that a plan has no room for (codes=) are refused, not an error at once: other processes may have such that
/// fit.
void pack_values_or_refuse(Packing& p, std::optional<count32>* misfit) {
  try {
    *misfit = pack_values(p);
  } catch (const error& e) {
    if (e.kind() != ErrorKind::argument) throw;
    p.copy.refused = e.what();
  }
}

/// New values for the copy as it is; `misfit` where they are not of its kind of entry.
PetscErrorCode take_values(Packing& p, std::optional<count32>* misfit) {
  PetscFunctionBegin;
  PackedCopy& copy = p.copy;
  const auto pack = [&] { return within_memory(p, "for packed values", [&] { pack_values_or_refuse(p, misfit); }); };
  if (copy.packed->lies_on_blocks() && !copy.other_blocks) {
    PetscCall(pack());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(logged(p.on_device() ? Event::upload : Event::pack, p.A, pack));
  if (*misfit || !copy.refused.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  ++p.st.counts.value_packs;
  if (p.on_device() && copy.packed && !values_on_device(p))
    PetscCall(log_upload(copy.packed->entries() * scalars_in(copy.problem.block) * sizeof(Scalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `take`(misfit) takes values for the copy as it is; where they are not of the kind of entry that was found, once more
/// for another kind.
template <class Take>
PetscErrorCode take_widening(Packing& p, std::optional<count32>* misfit, const Take& take) {
  PetscFunctionBegin;
  PetscCall(take(misfit));
  if (!*misfit || !p.copy.finds_entry) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(widen(p, **misfit));
  misfit->reset();
  PetscCall(take(misfit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// No error where values are not what was asked for: the copy's `misfit` or `refused` tells of it.
PetscErrorCode refresh_values(Packing& p) {
  PetscFunctionBegin;
  PackedCopy& copy = p.copy;
  std::optional<count32> misfit;
  const PetscInt64 version = p.st.matrix_values.version(p.A);
  if (!copy.packed || version == copy.values_version) PetscFunctionReturn(PETSC_SUCCESS);
  copy.refused.clear();
  PetscCall(take_widening(p, &misfit, [&](auto* at) { return copy.packed ? take_values(p, at) : PETSC_SUCCESS; }));
  copy.misfit.reset();
  if (misfit) PetscCall(guarded(comm_of(p.A), [&] { copy.misfit = misfit_at(p, *misfit); }));
  copy.values_version = copy.must_not_be_used() ? -1 : version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_transposed(Packing& p, Op op) {
  PetscFunctionBegin;
  if (op == Op::none || !p.on_device() || !p.copy.packed || p.copy.packed->has_transposed())
    PetscFunctionReturn(PETSC_SUCCESS);
  std::optional<std::string> padding;
  PetscCall(logged(Event::pack, p.A,
                   [&] { return within_memory(p, "for the transpose", [&] { padding = pack_transposed(p); }); }));
  if (padding) PetscCall(leave_device(p.A, &p.st, "of the transpose, " + *padding));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode leave_device(Mat A, SeqState* st, const std::string& why) {
  PetscFunctionBegin;
  PackedCopy& copy = st->copy(Place::device);
  copy.packed.reset();
  copy.other_blocks.reset();
  st->buffers = {};
  copy.left_out = why;
  PetscCall(PetscInfo(A, "Products run on the host: %s\n", copy.left_out.c_str()));
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "petsc-compound: products of a matrix of %" PetscInt_FMT
                         " local rows run on the host from now on: %s\n",
                         A->rmap->n, copy.left_out.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh(Mat A, SeqState* st, Place place, Op op) {
  PetscFunctionBegin;
  BlockArrays b;
  if (is_current(A, *st, st->copy(place), op)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(given_values(A, *st, &b));
  Packing p{A, *st, place, b};
  if (p.on_device()) PetscCall(begin_device_work(backend(row_of(place).backend)));
  PetscCall(refresh_pattern(p));
  PetscCall(refresh_values(p));
  PetscCall(refresh_transposed(p, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_one(Mat A, SeqState* st, Op op, Place* place) {
  PetscFunctionBegin;
  PetscCall(refresh(A, st, *place, op));
  if (*place == Place::host || st->copy(*place).packed) PetscFunctionReturn(PETSC_SUCCESS);
  *place = Place::host;
  PetscCall(refresh(A, st, *place, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
