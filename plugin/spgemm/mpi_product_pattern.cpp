#include "spgemm/mpi_product_pattern.hpp"

#include <limits>
#include <span>

#include "options/options.hpp"
#include "spmv/input_blocks.hpp"
#include "spmv/mpi_state.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode take_part(Mat part, BlockShape block, OperandPart* p, bool* full) {
  PetscFunctionBegin;
  PetscCall(arrays_with_values(part, &p->arrays));
  PetscCall(guarded(comm_of(part), [&] { *full = are_full_blocks(p->arrays, block, &p->start, &p->column); }));
  BlockArrays& b = p->arrays;
  b.rows /= block.rows;
  b.cols /= block.cols;
  b.block = block;
  b.order = ValueOrder::rows;
  b.start = p->start.data();
  b.column = p->column.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The block columns of scalar ones, if these come in whole blocks.
bool take_ghosts(std::span<const PetscInt> scalars, PetscInt width, std::vector<PetscInt>* ghosts) {
  ghosts->clear();
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    const PetscInt j = static_cast<PetscInt>(k) % width;
    if (j == 0) ghosts->push_back(scalars[k] / width);
    if (scalars[k] != ghosts->back() * width + j) return false;
  }
  return true;
}

/// `full`: whether this process's scalars come in full blocks of more than one, of the size that the matrix tells.
PetscErrorCode take_operand(Mat A, MpiOperand* o, bool* full) {
  PetscFunctionBegin;
  const TypeOfMatrix k = type_of_matrix(A);
  MpiState* st;
  *full = false;
  if (!k.is_ours || !k.is_mpi || k.base_type != &aij || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mpi_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  o->block = own_block(A);
  const bool has_own_size = st->settings.block_size.way == BlockSize::of_matrix && o->block != BlockShape{1, 1};
  if (!has_own_size || st->settings.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
  Mat diagonal, off;
  const PetscInt* columns;
  bool full_off, whole = false;
  PetscCall(mpi_parts(A, &diagonal, &off, &columns));
  PetscCall(take_part(diagonal, o->block, &o->diagonal, full));
  PetscCall(take_part(off, o->block, &o->off, &full_off));
  PetscCall(guarded(comm_of(A), [&] {
    whole = take_ghosts({columns, static_cast<std::size_t>(off->cmap->n)}, o->block.cols, &o->ghosts);
  }));
  *full = *full && full_off && whole;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Numbers that ascend, by the process that has them in a layout of blocks of `size`.
template <class F>
PetscErrorCode for_each_owner(PetscLayout layout, PetscInt size, std::span<const PetscInt> numbers, const F& f) {
  PetscFunctionBegin;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    PetscMPIInt owner;
    PetscCall(PetscLayoutFindOwner(layout, numbers[k] * size, &owner));
    f(k, owner);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// ResultRows of B as they lie together: of each, the diagonal part's entries, then the other's.
Pattern own_rows_of(MpiProduct& p) {
  const PatternView d = p.B.diagonal.pattern(), o = p.B.off.pattern();
  Pattern to{d.rows, static_cast<idx>(d.cols + o.cols), {0}, {}};
  for (idx row = 0; row < d.rows; ++row) {
    to.column.insert(to.column.end(), d.column.begin() + d.start[row], d.column.begin() + d.start[row + 1]);
    for (count32 e = o.start[row]; e < o.start[row + 1]; ++e) to.column.push_back(d.cols + o.column[e]);
    to.start.push_back(static_cast<count32>(to.column.size()));
  }
  return to;
}

/// The rows of others that came, with columns of this process's numbering; and that numbering.
void number_columns(MpiProduct& p) {
  p.ghosts = p.B.ghosts;
  for (const ForeignRows& f : p.rows_of_B.from())
    std::ranges::copy_if(f.column, std::back_inserter(p.ghosts),
                         [&](PetscInt c) { return c < p.first || c >= p.first + p.columns; });
  std::ranges::sort(p.ghosts);
  p.ghosts.erase(std::unique(p.ghosts.begin(), p.ghosts.end()), p.ghosts.end());
  if (p.ghosts.size() + static_cast<std::size_t>(p.columns) >= std::size_t{std::numeric_limits<idx>::max()})
    throw error(ErrorKind::too_large, "a product of sparse matrices has " + std::to_string(p.ghosts.size()) +
                                          " block columns of others on one process; use more processes");
  const idx all = p.columns + static_cast<idx>(p.ghosts.size());
  p.own_rows.cols = all;
  for (idx& column : p.own_rows.column)
    if (column >= p.columns) column = p.compact(p.B.ghosts[static_cast<std::size_t>(column - p.columns)]);
  p.other_rows = {0, all, {0}, {}};
  for (const ForeignRows& f : p.rows_of_B.from()) {
    for (const PetscInt end : std::span(f.start).subspan(1))
      p.other_rows.start.push_back(static_cast<count32>(p.other_rows.column.size()) + static_cast<count32>(end));
    for (const PetscInt column : f.column) p.other_rows.column.push_back(p.compact(column));
    p.other_rows.rows += static_cast<idx>(f.row.size());
  }
}

/// Sends the rows of B that others ask for, and takes those that this process asks for.
PetscErrorCode trade_rows_of_B(Mat C, MpiProduct* p) {
  PetscFunctionBegin;
  const MPI_Comm comm = comm_of(C);
  Mat const B = C->product->B;
  std::vector<Message<PetscInt>> wanted, asked;
  std::vector<RowsFor> to;
  PetscCall(for_each_owner(B->rmap, p->B.block.rows, p->A.ghosts, [&](std::size_t k, PetscMPIInt owner) {
    if (wanted.empty() || wanted.back().rank != owner) wanted.push_back({owner, {}});
    wanted.back().data.push_back(p->A.ghosts[k]);
  }));
  PetscCall(exchange(comm, wanted, &asked));
  const PetscInt first_row = B->rmap->rstart / p->B.block.rows;
  for (const auto& m : asked) {
    to.push_back({m.rank, {}});
    for (const PetscInt row : m.data) to.back().row.push_back(static_cast<idx>(row - first_row));
  }
  p->first = B->cmap->rstart / p->B.block.cols;
  p->columns = static_cast<idx>(B->cmap->n / p->B.block.cols);
  p->ghosts = p->B.ghosts;
  PetscCall(guarded(comm, [&] { p->own_rows = own_rows_of(*p); }));
  PetscCall(p->rows_of_B.send_pattern(
      comm, std::move(to), p->own_rows.view(), [&](idx row) { return first_row + row; },
      [&](idx column) { return p->global(column); }));
  PetscCall(guarded(comm, [&] { number_columns(*p); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sends the rows of P^T A P that are others'.
PetscErrorCode trade_rows_of_result(Mat C, MpiProduct* p) {
  PetscFunctionBegin;
  std::vector<RowsFor> to;
  const PatternView local = p->local.view();
  PetscCall(for_each_owner(C->product->B->cmap, p->B.block.cols, p->ghosts, [&](std::size_t k, PetscMPIInt owner) {
    const idx row = p->columns + static_cast<idx>(k);
    if (local.length(row) == 0) return;
    if (to.empty() || to.back().rank != owner) to.push_back({owner, {}});
    to.back().row.push_back(row);
  }));
  const auto global = [&](idx column) { return p->global(column); };
  PetscCall(p->rows_of_result.send_pattern(comm_of(C), std::move(to), local, global, global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A row that came: of which message, and the how-manieth.
struct CameRow {
  PetscInt row;
  std::size_t message, at;
};

std::vector<CameRow> rows_that_came(const MpiProduct& p) {
  std::vector<CameRow> all;
  const auto& from = p.rows_of_result.from();
  for (std::size_t m = 0; m < from.size(); ++m)
    for (std::size_t k = 0; k < from[m].row.size(); ++k) all.push_back({from[m].row[k] - p.first, m, k});
  std::ranges::stable_sort(all, {}, &CameRow::row);
  return all;
}

void find_result(MpiProduct& p) {
  const auto& from = p.rows_of_result.from();
  const std::vector<CameRow> came = rows_that_came(p);
  const PatternView local = p.local.view();
  const PetscInt rows = p.is_galerkin ? p.columns : local.rows;
  p.result = {};
  std::vector<PetscInt> columns;
  auto next = came.begin();
  for (PetscInt row = 0; row < rows; ++row) {
    columns.clear();
    for (count32 e = local.start[row]; e < local.start[row + 1]; ++e) columns.push_back(p.global(local.column[e]));
    for (; next != came.end() && next->row == row; ++next) {
      const ForeignRows& f = from[next->message];
      columns.insert(columns.end(), f.column.begin() + f.start[next->at], f.column.begin() + f.start[next->at + 1]);
    }
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const PetscInt c : columns) {
      const bool is_own = c >= p.first && c < p.first + p.columns;
      is_own ? p.result.diagonal_column.push_back(c - p.first) : p.result.off_column.push_back(c);
    }
    p.result.diagonal_start.push_back(static_cast<PetscInt>(p.result.diagonal_column.size()));
    p.result.off_start.push_back(static_cast<PetscInt>(p.result.off_column.size()));
  }
  p.own_place.clear();
  for (PetscInt row = 0; row < rows; ++row)
    for (count32 e = local.start[row]; e < local.start[row + 1]; ++e)
      p.own_place.push_back(p.result.place(row, p.global(local.column[e]), p.first, p.columns));
  p.came_place.clear();
  for (const ForeignRows& f : from)
    for (std::size_t k = 0; k < f.row.size(); ++k)
      for (PetscInt e = f.start[k]; e < f.start[k + 1]; ++e)
        p.came_place.push_back(
            p.result.place(f.row[k] - p.first, f.column[static_cast<std::size_t>(e)], p.first, p.columns));
}

}  // namespace

PetscErrorCode take_operands(Mat C, MpiProduct* p, bool* fit) {
  PetscFunctionBegin;
  bool full_A, full_B;
  Mat const A = C->product->A, B = C->product->B;
  PetscCall(take_operand(A, &p->A, &full_A));
  PetscCall(take_operand(B, &p->B, &full_B));
  const BlockShape a = p->A.block, b = p->B.block;
  *fit = full_A && full_B && a.cols == b.rows && (!p->is_galerkin || a.rows == b.rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_pattern(Mat C, MpiProduct* p) {
  PetscFunctionBegin;
  PetscCall(trade_rows_of_B(C, p));
  PetscCall(guarded(comm_of(C), [&] {
    const Term<PatternView> sum[] = {{p->A.diagonal.pattern(), p->own_rows.view()},
                                     {p->A.off.pattern(), p->other_rows.view()}};
    p->local = p->is_galerkin ? galerkin_pattern(p->own_rows.view(), sum) : product_pattern(sum);
  }));
  if (p->is_galerkin) PetscCall(trade_rows_of_result(C, p));
  PetscCall(guarded(comm_of(C), [&] { find_result(*p); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
