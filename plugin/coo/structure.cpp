#include "coo/structure.hpp"

#include <petscdevice.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "petsc/agree.hpp"
#include "spmv/state.hpp"

namespace compound::plugin {

namespace {

std::string at(PetscInt row, PetscInt column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

/// Coordinates in host memory; those with a negative index do not count.
PetscErrorCode copy(Mat A, PetscCount n, const PetscInt* rows, const PetscInt* columns, Coordinates* to) {
  PetscFunctionBegin;
  to->row.resize(static_cast<std::size_t>(n));
  to->column.resize(static_cast<std::size_t>(n));
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt* from[] = {rows, columns};
  std::vector<PetscInt>* into[] = {&to->row, &to->column};
  for (int k = 0; k < 2; ++k) {
    PetscMemType type;
    Backend* on;
    PetscCall(backend_of(A, from[k], &type, &on));
    PetscCall(guarded(comm_of(A), [&] { on->download(into[k]->data(), from[k], into[k]->size() * sizeof(PetscInt)); }));
  }
  for (std::size_t k = 0; k < to->row.size(); ++k)
    if (to->column[k] < 0) to->row[k] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_here(Mat A, PetscInt row) { return row >= A->rmap->rstart && row < A->rmap->rend; }

std::string mistake_at(Mat A, const Coordinates& c, std::size_t k) {
  const std::string which = "MatSetPreallocationCOO(): entry " + std::to_string(k) + " on process " +
                            std::to_string(PetscGlobalRank) + " is at " + at(c.row[k], c.column[k]) + "; ";
  if (c.row[k] >= A->rmap->N || c.column[k] >= A->cmap->N)
    return which + "the matrix has " + std::to_string(A->rmap->N) + " rows and " + std::to_string(A->cmap->N) +
           " columns (entries with a negative index are ignored)";
  return which + "that row is another process's, but MAT_NO_OFF_PROC_ENTRIES is set";
}

/// The first coordinate that cannot be; empty if all can.
std::string mistake_in(Mat A, const Coordinates& c) {
  for (std::size_t k = 0; k < c.row.size(); ++k) {
    if (c.row[k] < 0) continue;
    const bool is_beyond = c.row[k] >= A->rmap->N || c.column[k] >= A->cmap->N;
    if (is_beyond || (A->nooffprocentries && !is_here(A, c.row[k]))) return mistake_at(A, c, k);
  }
  return "";
}

/// Entries for other processes, sorted by process.
struct Outgoing {
  Coordinates coordinates;
  std::vector<PetscMPIInt> processes;
  std::vector<PetscInt> counts_and_offsets;  ///< two of each process
};

/// Takes what is another process's out of `own`.
PetscErrorCode take_outgoing(Mat A, Coordinates* own, CooStructure* s, Outgoing* out) {
  PetscFunctionBegin;
  std::vector<std::pair<PetscMPIInt, std::size_t>> to;
  for (std::size_t k = 0; k < own->row.size(); ++k) {
    if (own->row[k] < 0 || is_here(A, own->row[k])) continue;
    PetscMPIInt owner;
    PetscCall(PetscLayoutFindOwner(A->rmap, own->row[k], &owner));
    to.emplace_back(owner, k);
  }
  std::sort(to.begin(), to.end());
  for (const auto& [process, k] : to) {
    if (out->processes.empty() || out->processes.back() != process) {
      out->processes.push_back(process);
      out->counts_and_offsets.insert(out->counts_and_offsets.end(), {0, static_cast<PetscInt>(s->sent.sums())});
    }
    ++out->counts_and_offsets[out->counts_and_offsets.size() - 2];
    out->coordinates.row.push_back(std::exchange(own->row[k], -1));
    out->coordinates.column.push_back(own->column[k]);
    s->sent.index.push_back(static_cast<slot_t>(k));
    s->sent.first.push_back(static_cast<slot_t>(s->sent.index.size()));
  }
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
  std::vector<PetscMPIInt> order(static_cast<std::size_t>(senders));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](PetscMPIInt a, PetscMPIInt b) { return process[a] < process[b]; });
  for (const PetscMPIInt k : order)
    for (PetscInt n = 0; n < counts_and_offsets[2 * k]; ++n)
      from->push_back({process[k], counts_and_offsets[2 * k + 1] + n});
  PetscCall(PetscFree(process));
  PetscCall(PetscFree(counts_and_offsets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode send(PetscSF sf, const std::vector<PetscInt>& from, std::vector<PetscInt>* to) {
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, from.data(), to->data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, from.data(), to->data(), MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What is another process's goes there, now as coordinates and later as values.
PetscErrorCode exchange(Mat A, Coordinates* own, Coordinates* others, CooStructure* s) {
  PetscFunctionBegin;
  const bool ignore = ignores_others_rows(A);
  for (PetscInt& row : own->row)
    if (ignore && !is_here(A, row)) row = -1;
  Outgoing out;
  std::vector<PetscSFNode> from;
  PetscCall(take_outgoing(A, own, s, &out));
  PetscCall(find_incoming(A, out, &from));
  s->received = static_cast<slot_t>(from.size());
  PetscCall(PetscSFCreate(comm_of(A), &s->sf));
  PetscCall(PetscSFSetGraph(s->sf, static_cast<PetscInt>(s->sent.sums()), static_cast<PetscInt>(from.size()), nullptr,
                            PETSC_COPY_VALUES, from.data(), PETSC_COPY_VALUES));
  others->row.resize(from.size());
  others->column.resize(from.size());
  PetscCall(send(s->sf, out.coordinates.row, &others->row));
  PetscCall(send(s->sf, out.coordinates.column, &others->column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode preallocate(Mat A, PetscInt bs, const BlockRows& b) {
  PetscFunctionBegin;
  const bool fits = b.column.size() <= static_cast<std::size_t>(std::numeric_limits<PetscInt>::max());
  PetscCall(agree_on(A, PETSC_ERR_ARG_OUTOFRANGE,
                     fits ? ""
                          : "MatSetPreallocationCOO(): more blocks on one process than a PetscInt counts; use more "
                            "processes or a PETSc with 64-bit indices"));
  PetscCall(type_of_matrix(A).base_type->preallocate(A, bs, b.start.data(), b.column.data()));
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

CooMemory::CooMemory(Backend& backend, const CooStructure& s)
    : on(backend),
      sent(on, s.sent),
      to_send(on, static_cast<std::size_t>(s.sent.sums())),
      received(on, static_cast<std::size_t>(s.received)) {
  for (const CooStructure::Part& p : s.parts) parts.push_back({{on, p.own}, {on, p.others}});
}

PetscErrorCode backend_of(Mat A, const void* array, PetscMemType* type, Backend** on) {
  PetscFunctionBegin;
  *type = PETSC_MEMTYPE_HOST;
  if (array) PetscCall(PetscGetMemType(array, type));
  PetscCall(guarded(comm_of(A), [&] { *on = &backend(PetscMemTypeDevice(*type) ? "cuda" : "host"); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode build(Mat A, PetscCount n, const PetscInt* rows, const PetscInt* columns, CooStructure* s) {
  PetscFunctionBegin;
  PetscInt rows_of_block, of_columns;
  Coordinates own, others;
  const BaseType& base_type = *type_of_matrix(A).base_type;
  const PetscInt bs = base_type.block_size(A);
  PetscCall(MatGetBlockSizes(A, &rows_of_block, &of_columns));
  PetscCheck(!base_type.keeps_blocks || rows_of_block == of_columns, comm_of(A), PETSC_ERR_SUP,
             "MatSetPreallocationCOO(): blocks of %" PetscInt_FMT " x %" PetscInt_FMT
             "; a matrix of type %s has square blocks: MatSetBlockSize(A, bs)",
             rows_of_block, of_columns, type_of(A));
  s->given = n;
  PetscCall(copy(A, n, rows, columns, &own));
  PetscCall(agree_on(A, PETSC_ERR_ARG_OUTOFRANGE, mistake_in(A, own)));
  if (is_mpi_compound(A)) PetscCall(exchange(A, &own, &others, s));
  PetscCall(preallocate(A, bs, block_rows_of({&own, &others}, A->rmap->rstart, A->rmap->n, bs)));
  std::vector<PartArrays> parts;
  PetscCall(parts_of(A, &parts));
  for (const PartArrays& p : parts)
    s->parts.push_back({lists_of(p, own), without_empty(lists_of(p, others)), p.pattern()});
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
