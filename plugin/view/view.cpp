#include "view/view.hpp"

#include <algorithm>

#include "options/options.hpp"
#include "spmv/attached.hpp"
#include "spmv/choices.hpp"
#include "spmv/input_blocks.hpp"
#include "spmv/mpi_state.hpp"
#include "spmv/vec_types.hpp"
#include "view/figures.hpp"

namespace compound::plugin {

namespace {

/// A plan as it is printed, or "none" and why, and where it comes from.
struct ShownPlan {
  std::string plan, origin, hint;
  BlockShape block = {1, 1};        ///< that is packed
  bool has_blocks = false;          ///< of this process's diagonal part
  BlockShape full_blocks = {0, 0};  ///< of single scalars' rows, where they are full
};

std::string left_to_base_type(const std::string& reason) {
  return "none: products are left to the base type" + (reason.empty() ? "" : ", since " + reason);
}

/// Where products will run, as far as this is known before the first one.
PetscErrorCode space_of_view(Mat A, const Settings& settings, MemorySpace* space) {
  PetscFunctionBegin;
  bool device;
  PetscCall(expects_device_vectors(A, settings, &device));
  const bool by_name = settings.backend == BackendChoice::cuda && !is_bound(A) && device_backend();
  *space = device || by_name ? MemorySpace::device : MemorySpace::host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Why the plan that was asked for is an error, as the first product has found.
std::string why_none(const SeqState* st) {
  if (!st) return "";
  for (const PackedCopy& copy : st->copies)
    if (!copy.refused().empty()) return copy.refused();
  return "";
}

bool is_left_to_base_type(const Settings& settings, const SeqState* st) {
  return settings.parent_only() || (st && !copy_in_use(*st) && !st->copy(MemorySpace::host).left_out().empty());
}

/// What multiplies: "host, avx512", "cuda, ...; host, ..." where the matrix is packed for both, or "petsc" where the
/// base type does; before the first product what is expected to.
std::string backend_text(const Settings& settings, const SeqState* st, MemorySpace expected) {
  std::string text;
  for (const MemorySpace space : {MemorySpace::device, MemorySpace::host}) {
    const PackedCopy* copy = st ? &st->copy(space) : nullptr;
    if (!copy || !copy->packed()) continue;
    text +=
        (text.empty() ? "" : "; ") + std::string(row_of(space).backend) + ", " + std::string(copy->packed()->code());
    if (const std::string remark = copy->packed()->remark(); !remark.empty()) text += " (" + remark + ")";
  }
  if (text.empty()) text = is_left_to_base_type(settings, st) ? "petsc" : std::string(row_of(expected).backend);
  if (settings.backend == BackendChoice::automatic) text += " (auto)";
  return text;
}

/// In rows and columns, of all processes. Collective.
PetscErrorCode largest_block(Mat A, BlockShape* block) {
  PetscFunctionBegin;
  int largest[] = {block->rows, block->cols};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_INT, MPI_MAX, comm_of(A)));
  *block = {largest[0], largest[1]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One more line where packed blocks are not of the matrix's size: of the diagonal part, or of the other one alone.
/// Collective.
PetscErrorCode print_other_blocks(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  Mat parts[2] = {A, nullptr};
  double scalars[2] = {0, 0};
  BlockShape block;
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts) {
    if (!part || !is_seq_compound(part)) continue;
    SeqState* st;
    PetscCall(seq_state(part, &st));
    const PackedCopy* copy = copy_in_use(*st);
    if (!copy || !copy->other_blocks()) continue;
    const Reblocked& r = copy->other_blocks()->shape();
    scalars[0] += double(st->statistics.entries) * r.from * r.from;
    scalars[1] += r.stored();
    if (block.rows == 0) block = r.block();
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, scalars, 2, MPI_DOUBLE, MPI_SUM, comm_of(A)));
  PetscCall(largest_block(A, &block));
  if (scalars[1] > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  compound blocks: of %s packed from blocks of %" PetscInt_FMT ", %.0f %% filled\n",
        text_of(block).c_str(), type_of_matrix(A).base_type->block_size(A), 100.0 * scalars[0] / scalars[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One line where the base type keeps single scalars whose rows are full blocks. Collective.
PetscErrorCode print_full_blocks(Mat A, const ShownPlan& shown, PetscViewer viewer) {
  PetscFunctionBegin;
  BlockShape block = shown.full_blocks;
  PetscCall(largest_block(A, &block));
  if (block.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  compound blocks: full ones of %s (%s)\n", text_of(block).c_str(),
                                   own_block(A) == block ? "the matrix's block sizes" : "found"));
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
    for (std::size_t k = 0; k < kinds.size() && copy && copy->packed()->entries() > 0; ++k)
      if (kinds[k].name == copy->packed()->plan().entry) ++(*counts)[2 * k + (copy->finds_entry() ? 0 : 1)];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts->data(), static_cast<PetscMPIInt>(counts->size()), MPIU_INT, MPI_SUM,
                             comm_of(A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// "quaternion (4 of 16 scalars kept; found)", of several such "dense (found) on 2 processes, ...".
std::string entry_text(const EntryCounts& counts, BlockShape block) {
  const Field field = scalar_type_of<Scalar>().field;
  const bool several = std::ranges::count_if(counts, [](PetscInt n) { return n > 0; }) > 1;
  std::string text;
  for (std::size_t k = 0; k < counts.size() && k / 2 < entry_kinds().size(); ++k) {
    if (counts[k] == 0) continue;
    const EntryKind& kind = entry_kinds()[k / 2];
    const EntryShape shape = kind.shape(field, block);
    const int all = block.rows * block.cols * (shape.real_words ? 2 : 1);
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
PetscErrorCode print_entry(Mat A, BlockShape block, PetscViewer viewer) {
  PetscFunctionBegin;
  Mat diagonal = A, off = nullptr;
  EntryCounts of_diagonal, of_off;
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &diagonal, &off, nullptr));
  PetscCall(count_entries(A, diagonal, &of_diagonal));
  if (off) PetscCall(count_entries(A, off, &of_off));
  std::string text = entry_text(of_diagonal, block);
  const std::string text_of_off = entry_text(of_off, block);
  if (!text_of_off.empty() && text_of_off != text)
    text += (text.empty() ? "off-diagonal: " : "; off-diagonal: ") + text_of_off;
  if (!text.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  compound entry: %s\n", text.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Parts are tuned each by itself: where the off-diagonal one's plan comes from, if from elsewhere.
PetscErrorCode add_origin_of_off(Mat A, std::string* origin) {
  PetscFunctionBegin;
  Mat diagonal, off = nullptr;
  SeqState* st;
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &diagonal, &off, nullptr));
  if (!off || !is_seq_compound(off)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(off, &st));
  const PackedCopy* const copy = copy_in_use(*st);
  if (copy && copy->packed()->entries() > 0 && copy->origin() != *origin)
    *origin += "; off-diagonal: " + copy->origin();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode describe_plan(Mat A, const Settings& settings, const SeqState* st, ShownPlan* text) {
  PetscFunctionBegin;
  const PackedCopy* const copy = st ? copy_in_use(*st) : nullptr;
  if (A->assembled)
    text->block =
        copy ? copy->packed()->problem().block : settings.packed_block(static_cast<int>(PetscAbs(A->rmap->bs)));
  text->has_blocks = copy && copy->packed()->entries() > 0;
  if (copy && st->input.are_full) text->full_blocks = st->input.wanted;
  if (settings.parent_only()) {
    text->plan = left_to_base_type("");
  } else if (!A->assembled) {
    text->plan = "none yet: the matrix is not assembled";
  } else if (copy) {
    PetscCall(plan_line(A, &text->plan));
    text->origin = copy->origin();
    text->hint = copy->hint();
    PetscCall(add_origin_of_off(A, &text->origin));
  } else if (is_left_to_base_type(settings, st)) {
    text->plan = left_to_base_type(st->copy(MemorySpace::host).left_out());
  } else if (const std::string why = why_none(st); !why.empty()) {
    text->plan = "none: " + why;
  } else {
    text->plan = "none yet: the first product packs the matrix, and -mat_compound_view prints the plan then";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The text of one process on all.
PetscErrorCode share(MPI_Comm comm, PetscMPIInt root, std::string* text) {
  PetscFunctionBegin;
  auto length = static_cast<PetscMPIInt>(text->size());
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, root, comm));
  text->resize(static_cast<std::size_t>(length));
  PetscCallMPI(MPI_Bcast(text->data(), length, MPI_CHAR, root, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first of the processes where this holds; their number where it does nowhere. Collective.
PetscErrorCode find_first_process(Mat A, bool holds, PetscMPIInt* first) {
  PetscFunctionBegin;
  PetscMPIInt rank, size, root;
  PetscCallMPI(MPI_Comm_rank(comm_of(A), &rank));
  PetscCallMPI(MPI_Comm_size(comm_of(A), &size));
  const PetscMPIInt mine = holds ? rank : size;
  PetscCallMPI(MPI_Allreduce(&mine, &root, 1, MPI_INT, MPI_MIN, comm_of(A)));
  *first = root;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Why products are not on a device: of the first process where a part is not. Collective.
PetscErrorCode add_why_not_on_device(Mat A, std::string* backend) {
  PetscFunctionBegin;
  Mat parts[2] = {A, nullptr};
  std::string why;
  PetscMPIInt size, number, first;
  PetscCallMPI(MPI_Comm_size(comm_of(A), &size));
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (Mat part : parts) {
    if (!part || !is_seq_compound(part) || !why.empty()) continue;
    SeqState* st;
    PetscCall(seq_state(part, &st));
    why = st->copy(MemorySpace::device).left_out();
  }
  const PetscMPIInt is_one = why.empty() ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(&is_one, &number, 1, MPI_INT, MPI_SUM, comm_of(A)));
  if (number == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(find_first_process(A, is_one, &first));
  PetscCall(share(comm_of(A), first, &why));
  const std::string of_all =
      size > 1 ? " on " + std::to_string(number) + " of " + std::to_string(size) + " processes" : "";
  *backend += "; not " + std::string(row_of(MemorySpace::device).backend) + of_all + ": " + why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is shown is the plan of the first process whose diagonal part has blocks. Collective.
PetscErrorCode choose_shown_plan(Mat A, ShownPlan* text) {
  PetscFunctionBegin;
  PetscMPIInt size, root;
  PetscCallMPI(MPI_Comm_size(comm_of(A), &size));
  PetscCall(find_first_process(A, text->has_blocks, &root));
  root = root < size ? root : 0;
  PetscCall(share(comm_of(A), root, &text->plan));
  PetscCall(share(comm_of(A), root, &text->origin));
  PetscCall(share(comm_of(A), root, &text->hint));
  int size_of_block[] = {text->block.rows, text->block.cols};
  PetscCallMPI(MPI_Bcast(size_of_block, 2, MPI_INT, root, comm_of(A)));
  text->block = {size_of_block[0], size_of_block[1]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A forgotten block size costs the whole gain. From a sample of rows.
PetscErrorCode print_hint(Mat A, const Settings& settings, PetscViewer viewer) {
  PetscFunctionBegin;
  BlockArrays b;
  Mat diagonal = A;
  if (!A->assembled || own_block(A) != BlockShape{1, 1}) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_mpi_compound(A)) PetscCall(mpi_parts(A, &diagonal, nullptr, nullptr));
  PetscCall(block_arrays(diagonal, &b));
  const std::string hint = block_size_hint(settings, *type_of_matrix(A).base_type, b);
  if (!hint.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  compound hint: %s\n", hint.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How ghosts go from process to process, once a product has asked for vectors on devices.
PetscErrorCode print_exchange(Mat A, const Settings& settings, PetscViewer viewer) {
  PetscFunctionBegin;
  MpiState* st;
  if (!is_mpi_compound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mpi_state(A, &st));
  if (!st->ghosts.group) PetscFunctionReturn(PETSC_SUCCESS);
  const std::string why = why_not_by_devices(st->ghosts, settings.exchange);
  const std::string library = why.empty() ? st->ghosts.group->peers->library() : "";
  const std::string way = why.empty() ? library.empty() ? "by devices" : "by " + library : "by PETSc: " + why;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  compound exchange: %s\n", way.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode print_info(Mat A, PetscViewer viewer) {
  PetscFunctionBegin;
  MatCompoundInfo mine, all;
  Settings* settings;
  SeqState* st;
  ShownPlan text;
  MemorySpace space = MemorySpace::host;
  PetscCall(settings_of(A, &settings));
  PetscCall(read_options_once(A, *settings));
  PetscCall(collect_info(A, &mine));
  PetscCallMPI(MPI_Allreduce(&mine, &all, sizeof(mine) / sizeof(PetscInt64), MPIU_INT64, MPI_SUM, comm_of(A)));
  const auto mb = [](PetscInt64 bytes) { return static_cast<double>(bytes) / 1e6; };
  PetscCall(diagonal_state(A, &st));
  PetscCall(describe_plan(A, *settings, st, &text));
  PetscCall(choose_shown_plan(A, &text));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  compound plan: %s\n", text.plan.c_str()));
  if (!text.origin.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  compound plan origin: %s\n", text.origin.c_str()));
  if (A->assembled && !settings->parent_only()) PetscCall(print_entry(A, text.block, viewer));
  PetscCall(space_of_view(A, *settings, &space));
  std::string backend = backend_text(*settings, st, space);
  if (A->assembled) PetscCall(add_why_not_on_device(A, &backend));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  compound backend: %s\n", backend.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  compound memory: %" PetscInt64_FMT " blocks stored, %" PetscInt64_FMT
                                   " padding; base type %.3f MB, packed storage %.3f MB\n",
                                   all.stored_blocks, all.padding_blocks, mb(all.base_bytes), mb(all.packed_bytes)));
  if (A->assembled) PetscCall(print_exchange(A, *settings, viewer));
  if (A->assembled) PetscCall(print_other_blocks(A, viewer));
  if (A->assembled) PetscCall(print_full_blocks(A, text, viewer));
  PetscCall(print_hint(A, *settings, viewer));
  if (!text.hint.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  compound hint: %s\n", text.hint.c_str()));
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
