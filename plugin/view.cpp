#include "view.hpp"

#include <algorithm>

#include "mat_mpi.hpp"
#include "types.hpp"

namespace compound::plugin {

namespace {

/// The copy that multiplies where matrix and vectors are as they were: the device's before the host's. Null if none is.
const PackedCopy* copy_in_use(const SeqState& st) {
  for (const Place place : {Place::device, Place::host})
    if (st.copy(place).packed) return &st.copy(place);
  return nullptr;
}

PetscErrorCode add_part(Mat part, MatCompoundInfo* info) {
  PetscFunctionBegin;
  BlockArrays b;
  SeqState* st;
  PetscCall(block_arrays(part, &b));
  info->parent_bytes += parent_bytes(b);
  info->stored_blocks += b.entries();
  if (!is_seq_compound(part)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(part, &st));
  info->pattern_packs += st->counts.pattern_packs;
  info->value_packs += st->counts.value_packs;
  info->products += st->counts.products;
  for (const PackedCopy& copy : st->copies) {
    if (!copy.packed) continue;
    info->packed_bytes += static_cast<PetscInt64>(copy.bytes());
    info->padding_blocks += copy.packed->slots() - copy.packed->entries();
  }
  if (st->copy(Place::device).packed)
    info->device_bytes += static_cast<PetscInt64>(st->copy(Place::device).packed->bytes().total());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode plan_of_part(Mat part, std::string* line) {
  PetscFunctionBegin;
  if (is_seq_compound(part)) {
    SeqState* st;
    PetscCall(seq_state(part, &st));
    if (const PackedCopy* copy = copy_in_use(*st)) *line = to_string(copy->packed->plan());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the plan came from, in the user's terms.
std::string origin(const Settings& s) {
  if (!s.plan.empty()) return "asked for as a plan";
  if (s.layout != "auto") return "asked for as layout " + s.layout;
  return s.tune == "measure" ? "by measurement" : "by rule";
}

}  // namespace

PetscErrorCode collect_info(Mat A, MatCompoundInfo* info) {
  PetscFunctionBegin;
  *info = {};
  if (!A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_mpi_compound(A)) {
    MpiState* st;
    Mat diagonal, off;
    PetscCall(mpi_state(A, &st));
    PetscCall(mpi_parts(A, &diagonal, &off, nullptr));
    PetscCall(add_part(diagonal, info));
    PetscCall(add_part(off, info));
    info->products = st->products;
  } else {
    PetscCall(add_part(A, info));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode plan_line(Mat A, std::string* line) {
  PetscFunctionBegin;
  line->clear();
  if (!is_mpi_compound(A)) {
    PetscCall(plan_of_part(A, line));
  } else if (A->assembled) {
    Mat diagonal, off;
    std::string second;
    PetscCall(mpi_parts(A, &diagonal, &off, nullptr));
    PetscCall(plan_of_part(diagonal, line));
    PetscCall(plan_of_part(off, &second));
    if (!second.empty()) *line += " off: " + second;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Where products have run; before the first, where they will with vectors that A makes.
PetscErrorCode place_of_view(Mat A, Mat part, Place* place) {
  PetscFunctionBegin;
  SeqState* st;
  VecType vectors;
  PetscCall(seq_state(part, &st));
  PetscCall(MatGetVecType(A, &vectors));
  const std::string& backend = st->settings.backend;
  const bool follows = backend == "auto" && std::string_view(vectors).find("cuda") != std::string_view::npos;
  const bool may = (follows || backend == row_of(Place::device).backend) && !is_bound(A) && device_backend();
  *place = may || st->copy(Place::device).packed ? Place::device : Place::host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode prepare_part(Mat A, Mat part, Place* place) {
  PetscFunctionBegin;
  PetscCall(place_of_view(A, part, place));
  PetscCall(seq_prepare(part, Op::none, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Brings packed copies up to date, so that a view tells of the plan that products will use.
PetscErrorCode prepare(Mat A, const Settings& settings) {
  PetscFunctionBegin;
  Place place, place_of_off;
  if (!A->assembled || settings.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_mpi_compound(A)) {
    MpiState* st;
    Mat diagonal, off;
    PetscCall(mpi_state(A, &st));
    PetscCall(compound_parts(A, st, &diagonal, &off));
    PetscCall(prepare_part(A, diagonal, &place));
    PetscCall(prepare_part(A, off, &place_of_off));
    PetscCall(check_parts(A, st, {{diagonal, place}, {off, place_of_off}}));
  } else {
    PetscCall(prepare_part(A, A, &place));
    PetscCall(check_entries(A, {{A, place}}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The state of the matrix or of its diagonal part; null where there is none yet.
PetscErrorCode diagonal_state(Mat A, SeqState** st) {
  PetscFunctionBegin;
  Mat part = A;
  *st = nullptr;
  if (A->assembled && is_mpi_compound(A)) PetscCall(mpi_parts(A, &part, nullptr, nullptr));
  if (is_seq_compound(part)) PetscCall(seq_state(part, st));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_left_to_parent(const Settings& settings, const SeqState* st) {
  return settings.parent_only() || (st && !copy_in_use(*st) && !st->copy(Place::host).left_out.empty());
}

/// What multiplies: "host, avx512", "cuda, ...; host, ..." where the matrix is packed for both, or "petsc" where the
/// parent does.
std::string backend_text(const Settings& settings, const SeqState* st) {
  std::string text;
  for (const Place place : {Place::device, Place::host}) {
    const PackedCopy* copy = st ? &st->copy(place) : nullptr;
    if (copy && copy->packed)
      text +=
          (text.empty() ? "" : "; ") + std::string(row_of(place).backend) + ", " + std::string(copy->packed->code());
  }
  if (text.empty())
    text = is_left_to_parent(settings, st) ? "petsc" : settings.backend == "auto" ? "host" : settings.backend;
  if (settings.backend == "auto") text += " (auto)";
  if (st && !st->copy(Place::device).left_out.empty())
    text += "; not " + std::string(row_of(Place::device).backend) + ": " + st->copy(Place::device).left_out;
  return text;
}

/// One more line where packed blocks are not of the matrix's size. Collective.
PetscErrorCode print_other_blocks(Mat A, int block_size, PetscViewer viewer) {
  PetscFunctionBegin;
  Mat parts[2] = {A, nullptr};
  PetscInt64 scalars[2] = {};  // given, stored
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts) {
    if (!part || !is_seq_compound(part)) continue;
    SeqState* st;
    PetscCall(seq_state(part, &st));
    const PackedCopy* copy = copy_in_use(*st);
    if (!copy || !copy->other_blocks) continue;
    const Reblocked& r = copy->other_blocks->shape;
    scalars[0] += PetscInt64{st->statistics.entries} * r.from * r.from;
    scalars[1] += PetscInt64{copy->packed->entries()} * r.to * r.to;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, scalars, 2, MPIU_INT64, MPI_SUM, comm_of(A)));
  if (scalars[1] > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  compound blocks: of %d packed from blocks of %" PetscInt_FMT ", %.0f %% filled\n", block_size,
        A->rmap->bs, 100.0 * static_cast<double>(scalars[0]) / static_cast<double>(scalars[1])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How many processes have a part of each kind of entry, in the order of entry_kinds(): found, and asked for.
using EntryCounts = std::vector<PetscInt>;

/// Parts without blocks do not count. Collective on A.
PetscErrorCode count_entries(Mat A, Mat part, EntryCounts* counts) {
  PetscFunctionBegin;
  const auto& kinds = entry_kinds();
  auto all = static_cast<PetscInt>(kinds.size());  // a user's kind may be known to some processes alone
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPIU_INT, MPI_MAX, comm_of(A)));
  counts->assign(2 * static_cast<std::size_t>(all), 0);
  if (is_seq_compound(part)) {
    SeqState* st;
    PetscCall(seq_state(part, &st));
    const PackedCopy* const copy = copy_in_use(*st);
    for (std::size_t k = 0; k < kinds.size() && copy && copy->packed->entries() > 0; ++k)
      if (kinds[k].name == copy->packed->plan().entry) ++(*counts)[2 * k + (copy->finds_entry ? 0 : 1)];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts->data(), static_cast<PetscMPIInt>(counts->size()), MPIU_INT, MPI_SUM,
                             comm_of(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// "quaternion (4 of 16 scalars kept; found)", of several such "dense (found) on 2 processes, ...".
std::string entry_text(const EntryCounts& counts, int block_size) {
  const Field field = scalar_type_of<Scalar>().field;
  const bool several = std::ranges::count_if(counts, [](PetscInt n) { return n > 0; }) > 1;
  std::string text;
  for (std::size_t k = 0; k < counts.size() && k / 2 < entry_kinds().size(); ++k) {
    if (counts[k] == 0) continue;
    const EntryKind& kind = entry_kinds()[k / 2];
    const EntryShape shape = kind.shape(field, {block_size, block_size});
    const int all = block_size * block_size * (shape.real_words ? 2 : 1);
    text += (text.empty() ? "" : ", ") + std::string(kind.name) + " (";
    if (shape.words < all)
      text += std::to_string(shape.words) + " of " + std::to_string(all) +
              (shape.real_words ? " real numbers kept; " : " scalars kept; ");
    text += k % 2 == 0 ? "found)" : "asked for)";
    if (several) text += " on " + std::to_string(counts[k]) + (counts[k] == 1 ? " process" : " processes");
  }
  return text;
}

/// The line that says what an entry is, where the matrix is packed. Collective.
PetscErrorCode print_entry(Mat A, int block_size, PetscViewer viewer) {
  PetscFunctionBegin;
  Mat diagonal = A, off = nullptr;
  EntryCounts of_diagonal, of_off;
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &diagonal, &off, nullptr));
  PetscCall(count_entries(A, diagonal, &of_diagonal));
  if (off) PetscCall(count_entries(A, off, &of_off));
  std::string text = entry_text(of_diagonal, block_size);
  const std::string text_of_off = entry_text(of_off, block_size);
  if (!text_of_off.empty() && text_of_off != text)
    text += (text.empty() ? "off-diagonal: " : "; off-diagonal: ") + text_of_off;
  if (!text.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  compound entry: %s\n", text.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode print_info(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  MatCompoundInfo mine, all;
  Settings* settings;
  SeqState* st;
  std::string plan;
  PetscCall(settings_of(A, &settings));
  PetscCall(read_options_once(A, *settings));
  PetscCall(prepare(A, *settings));
  PetscCall(collect_info(A, &mine));
  PetscCall(plan_line(A, &plan));
  PetscCallMPI(MPI_Allreduce(&mine, &all, sizeof(mine) / sizeof(PetscInt64), MPIU_INT64, MPI_SUM, comm_of(A)));
  const auto mb = [](PetscInt64 bytes) { return static_cast<double>(bytes) / 1e6; };
  PetscCall(diagonal_state(A, &st));
  if (settings->parent_only())
    plan = "none: products are left to the parent type";
  else if (is_left_to_parent(*settings, st))
    plan = "none: products are left to the parent type, since " + st->copy(Place::host).left_out;
  else if (plan.empty())
    plan = "none yet: the matrix is not assembled";
  else
    plan += " (" + origin(*settings) + ")";
  PetscCall(PetscViewerASCIIPrintf(viewer, "  compound plan: %s\n", plan.c_str()));
  const int size = A->assembled ? settings->packed_block_size(static_cast<int>(A->rmap->bs)) : 1;
  if (A->assembled && !settings->parent_only()) PetscCall(print_entry(A, size, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  compound backend: %s\n", backend_text(*settings, st).c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  compound memory: %" PetscInt64_FMT " blocks stored, %" PetscInt64_FMT
                                   " padding; parent %.3f MB, packed copies %.3f MB\n",
                                   all.stored_blocks, all.padding_blocks, mb(all.parent_bytes), mb(all.packed_bytes)));
  if (A->assembled) PetscCall(print_other_blocks(A, size, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode view_info(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool ascii;
  PetscViewerFormat format;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscCall(print_info(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_once(Mat A, Settings& settings) {
  PetscFunctionBegin;
  if (!settings.view || settings.viewed) PetscFunctionReturn(PETSC_SUCCESS);
  settings.viewed = true;
  PetscCall(print_info(A, PETSC_VIEWER_STDOUT_(comm_of(A))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
