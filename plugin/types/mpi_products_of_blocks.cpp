// A process multiplies its rows of A with those rows of B that their columns name: its own, and rows of other
// processes, which are sent to it. Columns of the result are numbered on each process: its own first, then those of
// others
// ("compact"). Rows of P^T A P that others have are sent to them, who add what comes in the order of ranks.
#include <algorithm>
#include <limits>
#include <memory>
#include <span>

#include "copies/given_blocks.hpp"
#include "copies/options.hpp"
#include "copies/packing.hpp"
#include "edge/owned.hpp"
#include "sparse_product.hpp"
#include "types/mpi_state.hpp"
#include "types/products_of_blocks.hpp"
#include "types/row_traffic.hpp"

namespace compound::plugin {

namespace {

constexpr const char* container_name = "petsc-compound product of blocks on several processes";

/// A part in blocks.
struct Part {
  BlockArrays arrays;
  std::vector<PetscInt> start, column;
  Pattern copied;

  PatternView pattern() { return pattern_of(arrays, copied); }
  FullBlocks blocks() { return {pattern(), arrays.block, arrays.values}; }
};

struct Operand {
  BlockShape block;
  Part diagonal, off;
  std::vector<PetscInt> ghosts;  ///< the global block column of each of off's
};

/// The result's rows of this process, in blocks.
struct Rows {
  std::vector<PetscInt> diagonal_start{0}, diagonal_column;  ///< local columns
  std::vector<PetscInt> off_start{0}, off_column;            ///< global ones
  bool operator==(const Rows&) const = default;

  PetscInt rows() const { return static_cast<PetscInt>(diagonal_start.size()) - 1; }
  /// k where a column is the k-th of the row's diagonal part, ~k where of the other.
  PetscInt place(PetscInt row, PetscInt column, PetscInt first, PetscInt columns) const {
    const bool is_own = column >= first && column < first + columns;
    const auto& start = is_own ? diagonal_start : off_start;
    const auto from = (is_own ? diagonal_column : off_column).begin();
    const auto begin = from + start[static_cast<std::size_t>(row)],
               end = from + start[static_cast<std::size_t>(row) + 1];
    const PetscInt k = static_cast<PetscInt>(std::lower_bound(begin, end, is_own ? column - first : column) - begin);
    return is_own ? k : ~k;
  }
};

/// All that depends on the patterns. Hangs on the product.
struct MpiProduct {
  explicit MpiProduct(const BlockProductKind& of) : kind(of) {}

  const BlockProductKind& kind;
  PatternKey of_A, of_B;
  Operand A, B;
  PetscInt first = 0;            ///< global block column that is this process's first
  idx columns = 0;               ///< how many it has
  std::vector<PetscInt> ghosts;  ///< global block columns of others
  Pattern own_rows, other_rows;  ///< of B; the latter in the order of A.ghosts
  RowTraffic rows_of_B, rows_of_result;
  Pattern local;  ///< of the product: rows of A, or compact columns of B
  Rows result;
  std::vector<PetscInt> own_place, came_place;  ///< in the result of entries of `local`, and of those that come

  PetscInt global(idx column) const {
    return column < columns ? first + column : ghosts[static_cast<std::size_t>(column - columns)];
  }
  idx compact(PetscInt column) const {
    if (column >= first && column < first + columns) return static_cast<idx>(column - first);
    return columns + static_cast<idx>(std::ranges::lower_bound(ghosts, column) - ghosts.begin());
  }
  BlockShape block() const { return {kind.is_galerkin ? B.block.cols : A.block.rows, B.block.cols}; }
  /// A process's entries: scalars of a block of B.
  PetscInt64 scalars_of_B() const { return static_cast<PetscInt64>(scalars_in(B.block)); }
};

PetscErrorCode take_part(Mat part, BlockShape block, Part* p, bool* full) {
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
PetscErrorCode take_operand(Mat A, Operand* o, bool* full) {
  PetscFunctionBegin;
  const Kinship k = kinship(A);
  MpiState* st;
  *full = false;
  if (!k.is_ours || !k.is_mpi || k.family != &aij || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mpi_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  o->block = own_block(A);
  const bool is_told = st->settings.block_size == "auto" && o->block != BlockShape{1, 1};
  if (!is_told || st->settings.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
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

/// Both operands; `fit`: whether all processes have full blocks that fit each other. Collective.
PetscErrorCode take_operands(Mat C, MpiProduct* p, bool* fit) {
  PetscFunctionBegin;
  bool full_A, full_B;
  Mat const A = C->product->A, B = C->product->B;
  PetscCall(take_operand(A, &p->A, &full_A));
  PetscCall(take_operand(B, &p->B, &full_B));
  const BlockShape a = p->A.block, b = p->B.block;
  int all = full_A && full_B && a.cols == b.rows && (!p->kind.is_galerkin || a.rows == b.rows);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_of(C)));
  *fit = all != 0;
  PetscCall(key_of(A, &p->of_A));
  PetscCall(key_of(B, &p->of_B));
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

/// Rows of B as they lie together: of each, the diagonal part's entries, then the other's.
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
  const PetscInt rows = p.kind.is_galerkin ? p.columns : local.rows;
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

/// Operands are taken. Collective.
PetscErrorCode find_pattern(Mat C, MpiProduct* p) {
  PetscFunctionBegin;
  PetscCall(trade_rows_of_B(C, p));
  PetscCall(guarded(comm_of(C), [&] {
    const Term<PatternView> sum[] = {{p->A.diagonal.pattern(), p->own_rows.view()},
                                     {p->A.off.pattern(), p->other_rows.view()}};
    p->local = p->kind.is_galerkin ? galerkin_pattern(p->own_rows.view(), sum) : product_pattern(sum);
  }));
  if (p->kind.is_galerkin) PetscCall(trade_rows_of_result(C, p));
  PetscCall(guarded(comm_of(C), [&] { find_result(*p); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode attached(Mat C, MpiProduct** p) {
  PetscFunctionBegin;
  PetscCall(composed(reinterpret_cast<PetscObject>(C), container_name, p));
  PetscCheck(*p, comm_of(C), PETSC_ERR_PLIB, "A product of blocks has lost its pattern");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For other operands than those of the symbolic phase, or changed ones, which must give the same pattern. Collective.
PetscErrorCode check_operands(Mat C, MpiProduct* p) {
  PetscFunctionBegin;
  PatternKey of_A, of_B;
  PetscCall(key_of(C->product->A, &of_A));
  PetscCall(key_of(C->product->B, &of_B));
  int same = of_A == p->of_A && of_B == p->of_B;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm_of(C)));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  const Rows before = p->result;
  bool fit;
  PetscCall(take_operands(C, p, &fit));
  if (fit) PetscCall(find_pattern(C, p));
  same = fit && p->result == before;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm_of(C)));
  if (!same) {
    p->of_A = {};  // asked again, it looks again
    PetscCall(refuse_other_pattern(C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_values(Mat A, Operand* o) {
  PetscFunctionBegin;
  Mat parts[2];
  PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (const auto& [mat, part] : {std::pair(parts[0], &o->diagonal), std::pair(parts[1], &o->off)}) {
    BlockArrays now;
    PetscCall(arrays_with_values(mat, &now));
    part->arrays.values = now.values;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of B's own rows, as own_rows_of() has their entries.
std::vector<PetscScalar> values_of_own_rows(Operand& B) {
  std::vector<PetscScalar> to;
  const PatternView d = B.diagonal.pattern(), o = B.off.pattern();
  const slot_t each = static_cast<slot_t>(scalars_in(B.block));
  to.reserve((d.column.size() + o.column.size()) * scalars_in(B.block));
  for (idx row = 0; row < d.rows; ++row)
    for (int i = 0; i < B.block.rows; ++i)
      for (const auto& [p, part] : {std::pair(&d, &B.diagonal), std::pair(&o, &B.off)}) {
        const slot_t length = slot_t{p->length(row)} * B.block.cols;
        const PetscScalar* const from = part->arrays.values + p->start[row] * each + i * length;
        to.insert(to.end(), from, from + length);
      }
  return to;
}

/// The result's values, in its two parts.
struct ResultArrays {
  Mat diagonal, off;
  PetscScalar *in_diagonal, *in_off;
};

/// Adds the blocks of a row, of which `place` tells where they are in row `to`.
void add_row(const Rows& result, const ResultArrays& arrays, BlockShape block, PetscInt to, PetscInt entries,
             const PetscScalar* values, const PetscInt* place) {
  const auto at = static_cast<std::size_t>(to);
  const PetscInt64 each = static_cast<PetscInt64>(scalars_in(block)), length = PetscInt64{entries} * block.cols;
  for (PetscInt k = 0; k < entries; ++k) {
    const bool is_own = place[k] >= 0;
    const auto& start = is_own ? result.diagonal_start : result.off_start;
    const PetscInt64 stride = PetscInt64{start[at + 1] - start[at]} * block.cols;
    PetscScalar* const first = (is_own ? arrays.in_diagonal : arrays.in_off) + start[at] * each +
                               PetscInt64{is_own ? place[k] : ~place[k]} * block.cols;
    for (int i = 0; i < block.rows; ++i)
      for (int j = 0; j < block.cols; ++j) first[i * stride + j] += values[i * length + k * block.cols + j];
  }
}

void add_all(const MpiProduct& p, const ResultArrays& arrays, const std::vector<PetscScalar>& own,
             const std::vector<PetscScalar>& came) {
  const BlockShape block = p.block();
  const PetscInt64 each = static_cast<PetscInt64>(scalars_in(block));
  const PatternView local = p.local.view();
  for (PetscInt row = 0; row < p.result.rows(); ++row)
    add_row(p.result, arrays, block, row, local.length(static_cast<idx>(row)), own.data() + local.start[row] * each,
            p.own_place.data() + local.start[row]);
  const PetscScalar* values = came.data();
  const PetscInt* place = p.came_place.data();
  for (const ForeignRows& f : p.rows_of_result.from())
    for (std::size_t k = 0; k < f.row.size(); ++k) {
      const PetscInt entries = f.start[k + 1] - f.start[k];
      add_row(p.result, arrays, block, f.row[k] - p.first, entries, values, place);
      values += entries * each;
      place += entries;
    }
}

PetscErrorCode write_result(Mat C, const MpiProduct& p, const std::vector<PetscScalar>& own,
                            const std::vector<PetscScalar>& came) {
  PetscFunctionBegin;
  ResultArrays a;
  BlockArrays d, o;
  const PetscInt64 each = static_cast<PetscInt64>(scalars_in(p.block()));
  PetscCall(mpi_parts(C, &a.diagonal, &a.off, nullptr));
  PetscCall(block_arrays(a.diagonal, &d));
  PetscCall(block_arrays(a.off, &o));
  const PetscInt64 in_diagonal = p.result.diagonal_start.back() * each, in_off = p.result.off_start.back() * each;
  PetscCheck(d.entries() == in_diagonal && o.entries() == in_off, comm_of(C), PETSC_ERR_ARG_WRONGSTATE,
             "Product with MAT_REUSE_MATRIX: the result has another pattern than MAT_INITIAL_MATRIX gave it");
  PetscCall(MatSeqAIJGetArrayWrite(a.diagonal, &a.in_diagonal));
  PetscCall(MatSeqAIJGetArrayWrite(a.off, &a.in_off));
  std::fill_n(a.in_diagonal, in_diagonal, PetscScalar(0));
  std::fill_n(a.in_off, in_off, PetscScalar(0));
  add_all(p, a, own, came);
  PetscCall(MatSeqAIJRestoreArrayWrite(a.diagonal, &a.in_diagonal));
  PetscCall(MatSeqAIJRestoreArrayWrite(a.off, &a.in_off));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric(Mat C) {
  PetscFunctionBegin;
  const MPI_Comm comm = comm_of(C);
  MpiProduct* p;
  PetscLogDouble products = 0;
  std::vector<PetscScalar> own_rows, other_rows, own, came;
  PetscCall(attached(C, &p));
  PetscCall(check_operands(C, p));
  PetscCall(refresh_values(C->product->A, &p->A));
  PetscCall(refresh_values(C->product->B, &p->B));
  PetscCall(guarded(comm, [&] {
    own_rows = values_of_own_rows(p->B);
    other_rows.resize(p->other_rows.column.size() * scalars_in(p->B.block));
  }));
  PetscCall(p->rows_of_B.send_values(comm, p->own_rows.view(), p->scalars_of_B(), own_rows.data(), other_rows.data()));
  const std::size_t each = scalars_in(p->block());
  PetscCall(guarded(comm, [&] {
    const FullBlocks own_of_B{p->own_rows.view(), p->B.block, own_rows.data()},
        other_of_B{p->other_rows.view(), p->B.block, other_rows.data()};
    const Term<FullBlocks> sum[] = {{p->A.diagonal.blocks(), own_of_B}, {p->A.off.blocks(), other_of_B}};
    constexpr ScalarType scalar = scalar_type_of<Scalar>();
    own.resize(p->local.column.size() * each);
    came.resize(static_cast<std::size_t>(p->rows_of_result.entries_from_others()) * each);
    products = p->kind.is_galerkin ? multiply_galerkin(own_of_B, sum, scalar, p->local.view(), own.data())
                                   : multiply(sum, scalar, p->local.view(), own.data());
  }));
  if (p->kind.is_galerkin)
    PetscCall(
        p->rows_of_result.send_values(comm, p->local.view(), static_cast<PetscInt64>(each), own.data(), came.data()));
  PetscCall(write_result(C, *p, own, came));
  PetscCall(PetscLogFlops(2 * products + static_cast<PetscLogDouble>(came.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The result's scalar rows, in global columns.
void scalar_rows_of(const MpiProduct& p, std::vector<PetscInt>* start, std::vector<PetscInt>* column) {
  const BlockShape block = p.block();
  const Rows& r = p.result;
  const auto add = [&](PetscInt of_block) {
    for (int j = 0; j < block.cols; ++j) column->push_back(of_block * block.cols + j);
  };
  start->assign(1, 0);
  for (std::size_t row = 0; row + 1 < r.diagonal_start.size(); ++row)
    for (int i = 0; i < block.rows; ++i) {
      PetscInt e = r.off_start[row];
      const auto add_off = [&](PetscInt below) {
        for (; e < r.off_start[row + 1] && r.off_column[static_cast<std::size_t>(e)] < below; ++e)
          add(r.off_column[static_cast<std::size_t>(e)]);
      };
      add_off(p.first);
      for (PetscInt d = r.diagonal_start[row]; d < r.diagonal_start[row + 1]; ++d)
        add(p.first + r.diagonal_column[static_cast<std::size_t>(d)]);
      add_off(std::numeric_limits<PetscInt>::max());
      start->push_back(static_cast<PetscInt>(column->size()));
    }
}

PetscErrorCode symbolic(Mat C) {
  PetscFunctionBegin;
  MpiProduct* p;
  bool fit;
  std::vector<PetscInt> start, column;
  Mat const A = C->product->A, B = C->product->B;
  PetscCall(attached(C, &p));
  PetscCall(take_operands(C, p, &fit));
  PetscCheck(fit, comm_of(C), PETSC_ERR_ARG_WRONGSTATE,
             "The operands of a product have other blocks than when MatProductSetFromOptions() looked at them; call it "
             "again");
  PetscCall(find_pattern(C, p));
  const BlockShape block = p->block();
  const PetscInt64 entries =
      (PetscInt64{p->result.diagonal_start.back()} + p->result.off_start.back()) * PetscInt64(scalars_in(block));
  int fits = entries <= std::numeric_limits<PetscInt>::max();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, comm_of(C)));
  PetscCheck(fits, comm_of(C), PETSC_ERR_SUP,
             "The product of two sparse matrices has more scalars on one process than this PETSc's integers can count; "
             "use more processes or a PETSc with 64-bit indices");
  PetscCall(guarded(comm_of(C), [&] { scalar_rows_of(*p, &start, &column); }));
  const PetscLayout rows = p->kind.is_galerkin ? B->cmap : A->rmap;
  PetscCall(MatSetSizes(C, rows->n, B->cmap->n, rows->N, B->cmap->N));
  PetscCall(MatSetBlockSizes(C, block.rows, block.cols));
  PetscCall(MatSetType(C, reinterpret_cast<PetscObject>(A)->type_name));
  PetscCall(MatMPIAIJSetPreallocationCSR(C, start.data(), column.data(), nullptr));
  C->ops->productnumeric = numeric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode mpi_product_set_from_options(Mat C) {
  PetscFunctionBegin;
  const BlockProductKind* kind;
  PetscCall(ask_parent(C, &kind));
  if (!kind) PetscFunctionReturn(PETSC_SUCCESS);
  auto p = std::make_unique<MpiProduct>(*kind);
  bool fit;
  PetscCall(take_operands(C, p.get(), &fit));
  if (!fit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(compose_owned(reinterpret_cast<PetscObject>(C), container_name, std::move(p)));
  C->ops->productsymbolic = symbolic;
  PetscCall(PetscInfo(C, "The product of two matrices runs in blocks on the host, on all of its processes\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
