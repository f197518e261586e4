#include <limits>
#include <memory>

#include "petsc/agree.hpp"
#include "spgemm/mpi_product_pattern.hpp"
#include "spgemm/product_results.hpp"
#include "spgemm/products_of_matrices.hpp"

namespace compound::plugin {

namespace {

/// Of several processes, on their hosts.
class MpiBlockProduct final : public BlockProduct {
 public:
  explicit MpiBlockProduct(const BlockProductKind& of) : BlockProduct(of), product_(of.is_galerkin) {}

 protected:
  PetscErrorCode take_operands(Mat C, bool* fit) override { return compound::plugin::take_operands(C, &product_, fit); }
  PetscErrorCode find_pattern(Mat C, bool at_first, bool* same) override {
    PetscFunctionBegin;
    const ResultRows before = product_.result;
    PetscCall(compound::plugin::find_pattern(C, &product_));
    *same = at_first || product_.result == before;
    if (!*same) product_.result = before;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode make_result(Mat C) override;
  PetscErrorCode multiply(Mat C) override;
  const char* where() const override { return "on the host, on all of its processes"; }

 private:
  MpiProduct product_;
};

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
  PetscCheck(d.entries() == in_diagonal && o.entries() == in_off, comm_of(C), PETSC_ERR_PLIB,
             "A product of blocks has another pattern than it was given");
  PetscCall(MatSeqAIJGetArrayWrite(a.diagonal, &a.in_diagonal));
  PetscCall(MatSeqAIJGetArrayWrite(a.off, &a.in_off));
  std::fill_n(a.in_diagonal, in_diagonal, PetscScalar(0));
  std::fill_n(a.in_off, in_off, PetscScalar(0));
  add_all(p, a, own, came);
  PetscCall(MatSeqAIJRestoreArrayWrite(a.diagonal, &a.in_diagonal));
  PetscCall(MatSeqAIJRestoreArrayWrite(a.off, &a.in_off));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MpiBlockProduct::multiply(Mat C) {
  PetscFunctionBegin;
  const MPI_Comm comm = comm_of(C);
  MpiProduct* const p = &product_;
  PetscLogDouble products = 0;
  std::vector<PetscScalar> own_rows, other_rows, own, came;
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
    products = p->is_galerkin ? multiply_galerkin(own_of_B, sum, scalar, p->local.view(), own.data())
                              : compound::multiply(sum, scalar, p->local.view(), own.data());
  }));
  if (p->is_galerkin)
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

PetscErrorCode MpiBlockProduct::make_result(Mat C) {
  PetscFunctionBegin;
  MpiProduct* const p = &product_;
  std::vector<PetscInt> start, column;
  Mat const A = C->product->A, B = C->product->B;
  const BlockShape block = p->block();
  const PetscInt64 entries =
      (PetscInt64{p->result.diagonal_start.back()} + p->result.off_start.back()) * PetscInt64(scalars_in(block));
  bool fits = false;
  PetscCall(on_all(C, entries <= std::numeric_limits<PetscInt>::max(), &fits));
  PetscCheck(fits, comm_of(C), PETSC_ERR_SUP,
             "The product of two sparse matrices has more scalars on one process than this PETSc's integers can count; "
             "use more processes or a PETSc with 64-bit indices");
  PetscCall(guarded(comm_of(C), [&] { scalar_rows_of(*p, &start, &column); }));
  const PetscLayout rows = p->is_galerkin ? B->cmap : A->rmap;
  PetscCall(MatSetSizes(C, rows->n, B->cmap->n, rows->N, B->cmap->N));
  PetscCall(MatSetBlockSizes(C, block.rows, block.cols));
  PetscCall(MatSetType(C, reinterpret_cast<PetscObject>(A)->type_name));
  PetscCall(MatMPIAIJSetPreallocationCSR(C, start.data(), column.data(), nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode mpi_product_set_from_options(Mat C) {
  PetscFunctionBegin;
  const BlockProductKind* kind;
  bool taken = false;
  PetscCall(ask_base_type(C, &kind));
  if (kind) PetscCall(take_block_product(C, std::make_unique<MpiBlockProduct>(*kind), &taken));
  if (!taken) PetscCall(keep_values_of_operands(C));
  PetscCall(follow_operands(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
