#include <limits>
#include <memory>

#include "petsc/owned.hpp"
#include "spgemm/mpi_product_pattern.hpp"
#include "spgemm/product_results.hpp"

namespace compound::plugin {

namespace {

constexpr const char* container_name = "petsc-compound product of blocks on several processes";

PetscErrorCode attached(Mat C, MpiProduct** p) {
  PetscFunctionBegin;
  PetscCall(composed(reinterpret_cast<PetscObject>(C), container_name, p));
  PetscCheck(*p, comm_of(C), PETSC_ERR_PLIB, "A product of blocks has lost its pattern");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the operands' patterns are still those that were taken. Collective.
PetscErrorCode are_as_taken(Mat C, const MpiProduct& p, bool* same) {
  PetscFunctionBegin;
  PatternKey of_A, of_B;
  PetscCall(key_of(C->product->A, &of_A));
  PetscCall(key_of(C->product->B, &of_B));
  int all = of_A == p.of_A && of_B == p.of_B;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_of(C)));
  *same = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For other operands than those of the symbolic phase, or changed ones, which must give the same pattern. Collective.
PetscErrorCode check_operands(Mat C, MpiProduct* p) {
  PetscFunctionBegin;
  bool as_taken;
  PetscCall(are_as_taken(C, *p, &as_taken));
  if (as_taken) PetscFunctionReturn(PETSC_SUCCESS);
  const ResultRows before = p->result;
  bool fit;
  PetscCall(take_operands(C, p, &fit));
  if (fit) PetscCall(find_pattern(C, p));
  int same = fit && p->result == before;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm_of(C)));
  if (!same) {
    p->of_A = {};  // asked again, it looks again
    p->result = before;
    PetscCall(refuse_other_pattern(C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refresh_values(Mat A, MpiOperand* o) {
  PetscFunctionBegin;
  Mat parts[2];
  PetscCall(need_host_values(A));
  PetscCall(mpi_parts(A, &parts[0], &parts[1], nullptr));
  for (const auto& [mat, part] : {std::pair(parts[0], &o->diagonal), std::pair(parts[1], &o->off)}) {
    BlockArrays now;
    PetscCall(arrays_with_values(mat, &now));
    part->arrays.values = now.values;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of B's own rows, as own_rows_of() has their entries.
std::vector<PetscScalar> values_of_own_rows(MpiOperand& B) {
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
void add_row(const ResultRows& result, const ResultArrays& arrays, BlockShape block, PetscInt to, PetscInt entries,
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
  const ResultRows& r = p.result;
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
  bool fit;  // set_from_options() has seen that they do
  std::vector<PetscInt> start, column;
  Mat const A = C->product->A, B = C->product->B;
  PetscCall(attached(C, &p));
  PetscCall(are_as_taken(C, *p, &fit));
  if (!fit) PetscCall(take_operands(C, p, &fit));
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

PetscErrorCode take_product_of_blocks(Mat C, const BlockProductKind& kind, bool* taken) {
  PetscFunctionBegin;
  auto p = std::make_unique<MpiProduct>(kind);
  PetscCall(take_operands(C, p.get(), taken));
  if (!*taken) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(compose_owned(reinterpret_cast<PetscObject>(C), container_name, std::move(p)));
  C->ops->productsymbolic = symbolic;
  PetscCall(PetscInfo(C, "The product of two matrices runs in blocks on the host, on all of its processes\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode mpi_product_set_from_options(Mat C) {
  PetscFunctionBegin;
  const BlockProductKind* kind;
  bool taken = false;
  PetscCall(ask_parent(C, &kind));
  if (kind) PetscCall(take_product_of_blocks(C, *kind, &taken));
  if (!taken) PetscCall(keep_values_of_operands(C));
  PetscCall(follow_operands(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
