#include "spgemm/dense_product.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "petsc/agree.hpp"
#include "petsc/base_types.hpp"
#include "spmv/attached.hpp"
#include "spmv/operator.hpp"

namespace compound::plugin {

namespace {

/// Columns of a dense matrix, each `apart` scalars behind the one before.
struct DenseColumns {
  PetscInt count = 0, rows = 0, apart = 0;
  PetscInt all_rows = 0;  ///< on all processes
};

DenseColumns columns_of(Mat dense, PetscInt apart) { return {dense->cmap->N, dense->rmap->n, apart, dense->rmap->N}; }

PetscErrorCode multiply_by_columns(Mat A, Op op, Mat B, Mat C) {
  PetscFunctionBegin;
  for (PetscInt n = 0; n < B->cmap->N; ++n) {
    Vec x, y;
    PetscCall(MatDenseGetColumnVecRead(B, n, &x));
    PetscCall(MatDenseGetColumnVecWrite(C, n, &y));
    PetscCall(multiply(A, op, Update::assign, x, nullptr, y));
    PetscCall(MatDenseRestoreColumnVecWrite(C, n, &y));
    PetscCall(MatDenseRestoreColumnVecRead(B, n, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns of B that are exchanged and multiplied at once.
class Batch {
 public:
  Batch(const Operator& a, Mat A, const DenseColumns& x, const DenseColumns& y)
      : a_(a), A_(A), x_(x), y_(y), size_(size_of(x)) {}

  PetscErrorCode multiply_all(const PetscScalar* x, PetscScalar* y) {
    PetscFunctionBegin;
    if (a_.ghosts()) PetscCall(make_ghosts());
    for (PetscInt first = 0; first < x_.count; first += size_) {
      const PetscInt count = std::min(size_, x_.count - first);
      PetscCall(multiply_some(x, y, first, count));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  /// The same on all processes; a PetscInt counts their scalars.
  static PetscInt size_of(const DenseColumns& x) {
    constexpr PetscInt most = 32;  // more would save few messages
    const PetscInt countable = std::numeric_limits<PetscInt>::max() / std::max<PetscInt>(x.all_rows, 1);
    return std::max<PetscInt>(1, std::min({x.count, most, countable}));
  }
  PetscErrorCode make_ghosts() {
    PetscFunctionBegin;
    MpiState* st;
    PetscCall(mpi_state(A_, &st));
    PetscCall(make_ghosts_of_several(A_, size_, st->ghosts));
    ghosts_ = &st->ghosts;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  VectorsTask task(PetscInt count, PetscInt x_apart) const {
    return {static_cast<int>(count), static_cast<slot_t>(x_apart), static_cast<slot_t>(y_.apart),
            static_cast<slot_t>(y_.apart)};
  }

  /// Columns [first, first + count).
  PetscErrorCode multiply_some(const PetscScalar* all_x, PetscScalar* all_y, PetscInt first, PetscInt count) {
    PetscFunctionBegin;
    const PetscScalar *const x = all_x + first * x_.apart, *sent = nullptr;
    PetscScalar* const y = all_y + first * y_.apart;
    PetscScalar* const received = ghosts_ ? ghosts_->of_several.data() : nullptr;
    if (ghosts_) PetscCall(to_send(all_x, first, &sent));
    if (ghosts_) PetscCall(PetscSFBcastBegin(ghosts_->scatter_several, MPIU_SCALAR, sent, received, MPI_REPLACE));
    PetscCall(a_.run_vectors(Operator::diagonal, Update::assign, task(count, x_.apart), x, nullptr, y));
    if (!ghosts_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSFBcastEnd(ghosts_->scatter_several, MPIU_SCALAR, sent, received, MPI_REPLACE));
    const auto of_one = static_cast<PetscInt>(ghosts_->of_several.size()) / size_;
    const PetscInt before = size_ - count;  // of the last exchange, columns that were exchanged already
    PetscCall(
        a_.run_vectors(Operator::off_diagonal, Update::add, task(count, of_one), received + before * of_one, y, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// x of `size_` columns without gaps, those of the last exchange with some before them: all are of one size.
  PetscErrorCode to_send(const PetscScalar* all_x, PetscInt first, const PetscScalar** sent) {
    PetscFunctionBegin;
    const PetscScalar* const x = all_x + std::min(first, x_.count - size_) * x_.apart;
    *sent = x;
    if (x_.apart == x_.rows) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(guarded(comm_of(A_), [&] { copy_.resize(static_cast<std::size_t>(size_ * x_.rows)); }));
    for (PetscInt n = 0; n < size_; ++n) std::copy_n(x + n * x_.apart, x_.rows, copy_.data() + n * x_.rows);
    *sent = copy_.data();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const Operator& a_;
  Mat A_;
  const DenseColumns x_, y_;
  const PetscInt size_;
  Ghosts* ghosts_ = nullptr;
  std::vector<PetscScalar> copy_;
};

/// run_vectors() counts those of parts.
PetscErrorCode count_products(Mat A, PetscInt products) {
  PetscFunctionBegin;
  State* st;
  PetscCall(any_state(A, &st));
  if (st->is_mpi) static_cast<MpiState*>(st)->products += products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Arrays of dense matrices where products run: f(x, y). `done` is false where they are somewhere else.
template <class F>
PetscErrorCode with_arrays(bool on_device, Mat B, Mat C, bool* done, const F& f) {
  PetscFunctionBegin;
  const PetscScalar* x;
  PetscScalar* y;
#if PetscDefined(HAVE_CUDA) && PETSC_VERSION_GE(3, 26, 0)
  PetscMemType of_x, of_y;
  PetscCall(MatDenseGetArrayReadAndMemType(B, &x, &of_x));
  PetscCall(MatDenseGetArrayWriteAndMemType(C, &y, &of_y));
  *done = PetscMemTypeDevice(of_x) == on_device && PetscMemTypeDevice(of_y) == on_device;
  if (*done) PetscCall(f(x, y));
  PetscCall(MatDenseRestoreArrayWriteAndMemType(C, &y));
  PetscCall(MatDenseRestoreArrayReadAndMemType(B, &x));
#else
  *done = !on_device;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDenseGetArrayRead(B, &x));
  PetscCall(MatDenseGetArrayWrite(C, &y));
  PetscCall(f(x, y));
  PetscCall(MatDenseRestoreArrayWrite(C, &y));
  PetscCall(MatDenseRestoreArrayRead(B, &x));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_at_once(const Operator& a, Mat A, Mat B, Mat C, bool* done) {
  PetscFunctionBegin;
  PetscInt x_apart, y_apart;
  PetscCall(MatDenseGetLDA(B, &x_apart));
  PetscCall(MatDenseGetLDA(C, &y_apart));
  PetscCall(with_arrays(a.on_device(), B, C, done, [&](const PetscScalar* x, PetscScalar* y) {
    return Batch(a, A, columns_of(B, x_apart), columns_of(C, y_apart)).multiply_all(x, y);
  }));
  if (*done) PetscCall(count_products(A, B->cmap->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_dense(Mat A, Op op, Mat B, Mat C) {
  PetscFunctionBegin;
  if (B->cmap->N > 0) {
    Operator a;
    Vec x;
    bool at_once = false, done = false;
    PetscCall(MatDenseGetColumnVecRead(B, 0, &x));
    PetscCall(a.prepare(A, op, x, 0));
    PetscCall(MatDenseRestoreColumnVecRead(B, 0, &x));
    PetscCall(on_all(A, a.takes_vectors(), &at_once));  // values of x are exchanged together then
    if (at_once) PetscCall(multiply_at_once(a, A, B, C, &done));
    if (!done) PetscCall(multiply_by_columns(A, op, B, C));
  }
  PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric_of(Mat A, Mat B, Mat C) { return multiply_dense(A, Op::none, B, C); }

Op op_of(const Mat_Product& product) { return product.type == MATPRODUCT_AtB ? Op::transpose : Op::none; }

PetscErrorCode numeric(Mat C) { return multiply_dense(C->product->A, op_of(*C->product), C->product->B, C); }

PetscErrorCode symbolic(Mat C) {
  PetscFunctionBegin;
  Mat const A = C->product->A, B = C->product->B;
  PetscBool dense;
  const bool transposes = op_of(*C->product) == Op::transpose;
  const PetscLayout rows = transposes ? A->cmap : A->rmap;
  PetscCall(MatSetSizes(C, rows->n, B->cmap->n, rows->N, B->cmap->N));
  PetscCall(MatSetBlockSizes(C, rows->bs, B->cmap->bs));
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(C), &dense, MATSEQDENSE, MATMPIDENSE,
                                      MATSEQDENSECUDA, ""));
  if (!dense) PetscCall(MatSetType(C, reinterpret_cast<PetscObject>(B)->type_name));
  PetscCall(MatSetUp(C));
  C->ops->productnumeric = numeric;
  if (!transposes) C->ops->matmultnumeric = numeric_of;  // PETSc's A (B C) calls that
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode take_dense_product(Mat C, bool* taken) {
  PetscFunctionBegin;
  const Mat_Product* const p = C->product;
  const TypeOfMatrix k = type_of_matrix(p->A);
  PetscBool dense, device_dense;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(p->B), &dense, MATSEQDENSE, MATMPIDENSE, ""));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(p->B), MATSEQDENSECUDA, &device_dense));
  // Scalars of AIJ alone are multiplied by AIJ itself, on the host.
  const bool has_blocks = k.is_ours && (k.base_type->keeps_blocks || p->A->rmap->bs > 1);
  const bool on_host = p->type == MATPRODUCT_AB && dense && has_blocks;
  const bool on_device = (p->type == MATPRODUCT_AB || p->type == MATPRODUCT_AtB) && device_dense;
  *taken = k.is_ours && (on_host || on_device);
  if (*taken) C->ops->productsymbolic = symbolic;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
