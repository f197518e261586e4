#include "coo/structure.hpp"

#include <petscdevice.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "options/options.hpp"
#include "petsc/agree.hpp"
#include "spmv/state.hpp"
#include "spmv/vec_types.hpp"

namespace compound::plugin {

namespace {

/// The caller's coordinates; those of a device are copied to `kept`.
PetscErrorCode take(Mat A, const CooInput& in, std::vector<PetscInt> (*kept)[2], Coordinates* to) {
  PetscFunctionBegin;
  const PetscInt* from[] = {in.rows, in.columns};
  std::span<const PetscInt>* into[] = {&to->row, &to->column};
  const auto n = static_cast<std::size_t>(in.count);
  for (int k = 0; k < 2 && n > 0; ++k) {
    PetscMemType type;
    Backend* on;
    PetscCall(backend_of(A, from[k], &type, &on));
    *into[k] = {from[k], n};
    if (!on->is_device()) continue;
    PetscCall(guarded(comm_of(A), [&] {
      (*kept)[k].resize(n);
      on->download((*kept)[k].data(), from[k], n * sizeof(PetscInt));
    }));
    *into[k] = (*kept)[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows and columns in units of contributions.
struct Extent {
  PetscInt first_row, end_row, all_rows, all_columns;
  bool has(PetscInt row) const { return row >= first_row && row < end_row; }
};

Extent extent_of(Mat A, PetscInt side) {
  return {A->rmap->rstart / side, A->rmap->rend / side, A->rmap->N / side, A->cmap->N / side};
}

/// Contribution n, which cannot be. Scalars that form blocks are told of by the first scalar of the block.
std::string mistake_at(Mat A, const CooInput& in, const Contributions& c, std::size_t n) {
  const PetscInt side = in.are_blocks ? 1 : c.side;
  const Extent e = extent_of(A, c.side / side);
  const slot_t entry = in.are_blocks ? static_cast<slot_t>(n) : c.first_of(n);
  const std::string block = in.are_blocks ? "block " : "";
  const PetscInt row = c.row[n] * side, column = c.column[n] * side;
  const std::string which = std::string(in.function) + ": " + (in.are_blocks ? "block " : "entry ") +
                            std::to_string(entry) + " on process " + std::to_string(PetscGlobalRank) + " is at " +
                            block + "row " + std::to_string(row) + ", " + block + "column " + std::to_string(column) +
                            "; ";
  if (row >= e.all_rows || column >= e.all_columns)
    return which + "the matrix has " + std::to_string(e.all_rows) + " " + block + "rows and " +
           std::to_string(e.all_columns) + " " + block + "columns (entries with a negative index are ignored)";
  return which + "that row is another process's, but MAT_NO_OFF_PROC_ENTRIES is set";
}

/// The first contribution that cannot be; empty if all can.
std::string mistake_in(Mat A, const CooInput& in, const Contributions& c) {
  const Extent e = extent_of(A, c.side);
  for (std::size_t n = 0; n < c.size(); ++n) {
    if (c.row[n] < 0) continue;
    const bool is_beyond = c.row[n] >= e.all_rows || c.column[n] >= e.all_columns;
    if (is_beyond || (A->nooffprocentries && !e.has(c.row[n]))) return mistake_at(A, in, c, n);
  }
  return "";
}

/// Coordinates of scalars are kept as blocks if all processes find that they are. Collective.
PetscErrorCode contributions_to(Mat A, const CooInput& in, const Coordinates& coordinates, Contributions* c) {
  PetscFunctionBegin;
  PetscInt rows, columns;
  std::optional<Contributions> blocks;
  PetscCall(MatGetBlockSizes(A, &rows, &columns));
  const bool search = !in.are_blocks && rows == columns && rows > 1;
  if (search) PetscCall(together(comm_of(A), [&] { blocks = find_blocks(coordinates, rows); }));
  int everywhere = blocks ? 1 : 0;
  if (search) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, comm_of(A)));
  PetscCall(together(comm_of(A), [&] {
    *c = everywhere ? std::move(*blocks) : contributions_of(coordinates, in.are_blocks ? rows : 1);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Contributions for other processes, sorted by process.
struct Outgoing {
  std::vector<PetscInt> row, column;
  std::vector<PetscMPIInt> processes;
  std::vector<PetscInt> counts_and_offsets;  ///< two of each process
};

/// Takes what is another process's out of `own`.
PetscErrorCode take_outgoing(Mat A, Contributions* own, CooStructure* s, Outgoing* out) {
  PetscFunctionBegin;
  const Extent e = extent_of(A, own->side);
  std::vector<std::pair<PetscMPIInt, std::size_t>> to;
  std::vector<std::size_t> sent;
  for (std::size_t n = 0; n < own->size(); ++n) {
    if (own->row[n] < 0 || e.has(own->row[n])) continue;
    PetscMPIInt owner;
    PetscCall(PetscLayoutFindOwner(A->rmap, own->row[n] * own->side, &owner));
    to.emplace_back(owner, n);
  }
  std::sort(to.begin(), to.end());
  for (const auto& [process, n] : to) {
    if (out->processes.empty() || out->processes.back() != process) {
      out->processes.push_back(process);
      out->counts_and_offsets.insert(out->counts_and_offsets.end(), {0, static_cast<PetscInt>(sent.size())});
    }
    ++out->counts_and_offsets[out->counts_and_offsets.size() - 2];
    out->row.push_back(std::exchange(own->row[n], -1));
    out->column.push_back(own->column[n]);
    sent.push_back(n);
  }
  PetscCall(guarded(comm_of(A), [&] { s->sent = copies_of(*own, sent); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Which processes send here, and which places of their lists: by process, so that the order of additions is always the
/// same.
PetscErrorCode find_incoming(Mat A, const Outgoing& out, std::vector<PetscSFNode>* from) {
  PetscFunctionBegin;
  PetscMPIInt senders, *process;
  PetscInt* counts_and_offsets;
  PetscCall(PetscCommBuildTwoSided(comm_of(A), 2, MPIU_INT, static_cast<PetscMPIInt>(out.processes.size()),
                                   out.processes.data(), out.counts_and_offsets.data(), &senders, &process,
                                   static_cast<void*>(&counts_and_offsets)));
  const PetscErrorCode code = together(comm_of(A), [&] {
    std::vector<PetscMPIInt> order(static_cast<std::size_t>(senders));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](PetscMPIInt a, PetscMPIInt b) { return process[a] < process[b]; });
    for (const PetscMPIInt k : order)
      for (PetscInt n = 0; n < counts_and_offsets[2 * k]; ++n)
        from->push_back({process[k], counts_and_offsets[2 * k + 1] + n});
  });
  PetscCall(PetscFree(process));
  PetscCall(PetscFree(counts_and_offsets));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode send(PetscSF sf, const std::vector<PetscInt>& from, std::vector<PetscInt>* to) {
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, from.data(), to->data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, from.data(), to->data(), MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is another process's goes there, now as coordinates and later as values.
PetscErrorCode exchange(Mat A, Contributions* own, Contributions* others, CooStructure* s) {
  PetscFunctionBegin;
  const bool ignore = ignores_others_rows(A);
  const Extent e = extent_of(A, own->side);
  for (PetscInt& row : own->row)
    if (ignore && !e.has(row)) row = -1;
  Outgoing out;
  std::vector<PetscSFNode> from;
  PetscCall(together(comm_of(A), [&] { return take_outgoing(A, own, s, &out); }));
  PetscCall(find_incoming(A, out, &from));
  s->received = static_cast<slot_t>(from.size());
  PetscCall(PetscSFCreate(comm_of(A), &s->sf));
  PetscCall(PetscSFSetGraph(s->sf, static_cast<PetscInt>(s->sent.sums()), static_cast<PetscInt>(from.size()), nullptr,
                            PETSC_COPY_VALUES, from.data(), PETSC_COPY_VALUES));
  std::vector<PetscInt> row, column;
  PetscCall(together(comm_of(A), [&] {
    row.resize(from.size());
    column.resize(from.size());
  }));
  PetscCall(send(s->sf, out.row, &row));
  PetscCall(send(s->sf, out.column, &column));
  PetscCallMPI(MPI_Type_contiguous(static_cast<PetscMPIInt>(own->words()), MPIU_SCALAR, &s->block));
  PetscCallMPI(MPI_Type_commit(&s->block));
  PetscCall(together(comm_of(A), [&] { *others = contributions_of({row, column}, own->side); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode preallocate_blocks(Mat A, const CooInput& in, PetscInt bs, const BlockRows& b) {
  PetscFunctionBegin;
  const bool fits = b.column.size() <= static_cast<std::size_t>(std::numeric_limits<PetscInt>::max());
  PetscCall(agree_on(A, PETSC_ERR_ARG_OUTOFRANGE,
                     fits ? ""
                          : std::string(in.function) +
                                ": more blocks on one process than a PetscInt counts; use more processes or a PETSc "
                                "with 64-bit indices"));
  PetscCall(preallocate(A, bs, b.start.data(), b.column.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Contributions where they lie.
struct Placed {
  const PetscInt *row, *column;
  std::size_t count;
  const Contributions& of;  ///< all but rows and columns
  bool on_device;           ///< rows and columns
};

/// Whether a device is to sort the coordinates of a matrix: it will multiply, or has them already. Of one process:
/// where contributions travel, the host sorts.
PetscErrorCode sorts_on_device(Mat A, const CooInput& in, bool* on_device, bool* yes) {
  PetscFunctionBegin;
  State* st;
  PetscMemType of_rows, of_columns;
  Backend *has_rows, *has_columns;
  *yes = *on_device = false;
  if (is_mpi_compound(A) || in.count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(backend_of(A, in.rows, &of_rows, &has_rows));
  PetscCall(backend_of(A, in.columns, &of_columns, &has_columns));
  *on_device = has_rows->is_device() && has_columns->is_device();
  if (has_rows != has_columns || !device_backend() || is_bound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(state_of(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(expects_device_vectors(A, st->settings, yes));
  *yes = (*yes || *on_device) && device_backend()->extensions().contributions;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::optional<ContributionLists> list(Backend& on, const Placed& p, const ContributionsTask& form) {
  ContributionsTask task = form;
  Buffer<PetscInt> row, column;
  const Contributions& c = p.of;
  task.row = p.row;
  task.column = p.column;
  if (!p.on_device) {
    task.row = (row = Buffer<PetscInt>(on, std::span(p.row, p.count))).data();
    task.column = (column = Buffer<PetscInt>(on, std::span(p.column, p.count))).data();
  }
  const Buffer<slot_t> scalar = c.first.empty() ? Buffer<slot_t>() : Buffer<slot_t>(on, std::span(c.first));
  const Buffer<unsigned char> shape =
      c.shape.empty() ? Buffer<unsigned char>() : Buffer<unsigned char>(on, std::span(c.shape));
  task.scalar = scalar.data();
  task.shape = shape.data();
  return on.extensions().contributions->list_contributions(task);
}

/// The lists and the blocks of A by its device. `done` is false, and nothing has happened, where that cannot sort them:
/// a coordinate is wrong, a row too long, memory full.
PetscErrorCode build_on_device(Mat A, const CooInput& in, const Placed& p, CooStructure* s, bool* done) {
  PetscFunctionBegin;
  Backend& on = *device_backend();
  const PetscInt side = p.of.side, of_base = type_of_matrix(A).base_type->block_size(A);
  const PetscInt rows = A->rmap->n / side, cols = A->cmap->n / side;
  constexpr PetscInt most = std::numeric_limits<idx>::max();
  const bool in_rows = side > of_base;
  BlockRows blocks;
  *done = false;
  if (side < of_base || rows >= most || cols >= most) PetscFunctionReturn(PETSC_SUCCESS);
  const ContributionsTask form = {.count = static_cast<slot_t>(p.count),
                                  .index_bytes = sizeof(PetscInt),
                                  .side = static_cast<int>(side),
                                  .rows = static_cast<idx>(rows),
                                  .cols = static_cast<idx>(cols),
                                  .by_rows = in_rows};
  PetscCall(begin_device_work(on));
  PetscCall(guarded_memory(comm_of(A), done, [&] {
    auto lists = list(on, p, form);
    if (!lists) return;
    blocks.start.assign(lists->start.begin(), lists->start.end());
    blocks.column.assign(lists->column.begin(), lists->column.end());
    ListsIn placed(on, *std::move(lists), side, offsets_of(p.of, in_rows));
    s->in_device = std::make_unique<CooMemory>(on, *s, std::move(placed));
  }));
  if (!*done) PetscCall(PetscInfo(A, "Coordinates are sorted on the host: the device has no memory left\n"));
  *done = *done && s->in_device;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  s->lists_are_on_device = true;
  if (in_rows) PetscCall(guarded(comm_of(A), [&] { blocks = in_scalars(blocks, side); }));
  PetscCall(preallocate_blocks(A, in, of_base, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

bool CooStructure::Part::fits(const PartArrays& part) {
  constexpr std::size_t most = 8;
  const PartArrays::Key key = part.key();
  if (std::ranges::find(seen, key) != seen.end()) return true;
  if (part.pattern() != pattern) return false;
  if (seen.size() == most) seen.erase(seen.begin());
  seen.push_back(key);
  return true;
}

CooMemory::CooMemory(Backend& backend, const CooStructure& s, ListsIn lists)
    : on(backend), sent(on, s.sent), to_send(on, 0), received(on, 0) {
  parts.push_back({std::move(lists), {on, SumLists{}}, {}});
}

CooMemory::CooMemory(Backend& backend, const CooStructure& s)
    : on(backend),
      sent(on, s.sent),
      to_send(on, static_cast<std::size_t>(s.sent.sums() * s.sent.words())),
      received(on, static_cast<std::size_t>(s.received * s.sent.words())) {
  for (const CooStructure::Part& p : s.parts) {
    const PartLists& l = p.lists;
    parts.push_back({{on, l.own}, {on, l.others}, {}});
    if (on.is_device() && !l.other.empty()) parts.back().other = Buffer<int>(on, std::span<const int>(l.other));
  }
}

PetscErrorCode backend_of(Mat A, const void* array, PetscMemType* type, Backend** on) {
  PetscFunctionBegin;
  *type = PETSC_MEMTYPE_HOST;
  if (array) PetscCall(PetscGetMemType(array, type));
  PetscCall(guarded(comm_of(A), [&] { *on = &backend(PetscMemTypeDevice(*type) ? "cuda" : "host"); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode build_on_host(Mat A, const CooInput& in, Contributions* own, CooStructure* s) {
  PetscFunctionBegin;
  Contributions others;
  const BaseType& base_type = *type_of_matrix(A).base_type;
  if (is_mpi_compound(A)) PetscCall(exchange(A, own, &others, s));
  const PartsShape shape = {base_type.block_size(A), A->rmap->rstart, A->rmap->n,
                            is_mpi_compound(A),      A->cmap->rstart, A->cmap->rend};
  std::optional<Assembly> assembly;  // an empty one has memory, too
  PetscCall(together(comm_of(A), [&] {
    assembly = assembly_of(*own, others, shape);
    for (PartLists& lists : assembly->parts) s->parts.push_back({std::move(lists)});
  }));
  PetscCall(preallocate_blocks(A, in, shape.block_size, assembly->blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode build(Mat A, const CooInput& in, CooStructure* s) {
  PetscFunctionBegin;
  PetscInt rows_of_block, of_columns;
  std::vector<PetscInt> kept[2];
  Coordinates coordinates;
  Contributions own;
  bool on_device, sorts_there, done = false;
  PetscCall(MatGetBlockSizes(A, &rows_of_block, &of_columns));
  PetscCheck(!(type_of_matrix(A).base_type->keeps_blocks || in.are_blocks) || rows_of_block == of_columns, comm_of(A),
             PETSC_ERR_SUP,
             "%s: blocks of %" PetscInt_FMT " x %" PetscInt_FMT
             "; matrices of type %s that are assembled by coordinates of %s have square blocks: MatSetBlockSize(A, bs)",
             in.function, rows_of_block, of_columns, type_of(A), in.are_blocks ? "blocks" : "scalars");
  PetscCall(sorts_on_device(A, in, &on_device, &sorts_there));
  s->are_blocks = in.are_blocks;
  s->given = in.are_blocks ? in.count * rows_of_block * rows_of_block : in.count;
  PetscInt side = rows_of_block;
  if (sorts_there && in.are_blocks) {
    const Contributions form = contributions_of({}, side);  // blocks follow one another
    const auto n = static_cast<std::size_t>(in.count);
    PetscCall(build_on_device(A, in, {in.rows, in.columns, n, form, on_device}, s, &done));
  }
  if (!done) {
    PetscCall(together(comm_of(A), [&] { return take(A, in, &kept, &coordinates); }));
    PetscCall(contributions_to(A, in, coordinates, &own));
    PetscCall(agree_on(A, PETSC_ERR_ARG_OUTOFRANGE, mistake_in(A, in, own)));
    side = own.side;
    if (sorts_there && !in.are_blocks)
      PetscCall(build_on_device(A, in, {own.row.data(), own.column.data(), own.size(), own, false}, s, &done));
  }
  if (!done) PetscCall(build_on_host(A, in, &own, s));
  PetscCall(PetscInfo(A,
                      "%" PetscCount_FMT " values by coordinates are kept as blocks of %" PetscInt_FMT
                      " x %" PetscInt_FMT ", sorted on the %s\n",
                      s->given, side, side, done ? "device" : "host"));
  PetscCall(together(comm_of(A), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    std::vector<PartArrays> parts;
    PetscCall(parts_of(A, &parts));
    s->parts.resize(parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) s->parts[k].pattern = parts[k].pattern();
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
