#include "spgemm/dense_product.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "petsc/agree.hpp"
#include "petsc/base_types.hpp"
#include "spgemm/dense_arrays.hpp"
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
    PetscCall(
        with_column_vectors(B, C, n, [&](Vec x, Vec y) { return multiply(A, op, Update::assign, x, nullptr, y); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Columns of B that are exchanged and multiplied at once.
class Batch {
 public:
  Batch(const Operator& a, Mat A, const DenseColumns& x, const DenseColumns& y)
      : a_(a), A_(A), x_(x), y_(y), size_(size_of(x)) {}

  /// Before all processes exchange.
  void make_room() {
    if (!a_.ghosts() || x_.apart == x_.rows) return;
    const auto scalars = static_cast<std::size_t>(size_ * x_.rows);
    if (a_.on_device())
      copy_there_ = Buffer<PetscScalar>(*device_backend(), scalars);
    else
      copy_.resize(scalars);
  }

  /// After make_room(). Others wait for this process, whatever its products say.
  PetscErrorCode multiply_all(const PetscScalar* x, PetscScalar* y) {
    PetscFunctionBegin;
    PetscErrorCode code = PETSC_SUCCESS;
    if (a_.ghosts()) PetscCall(make_ghosts());
    for (PetscInt first = 0; first < x_.count; first += size_) {
      const PetscInt count = std::min(size_, x_.count - first);
      PetscCall(multiply_some(x, y, first, count, &code));
    }
    if (st_ && a_.are_most(*st_, size_)) code = share_error(comm_of(A_), code);
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  /// The same on all processes; a PetscInt counts their scalars.
  static PetscInt size_of(const DenseColumns& x) {
    constexpr PetscInt most = 32;  // more would save few messages
    const PetscInt countable = std::numeric_limits<PetscInt>::max() / std::max<PetscInt>(x.all_rows, 1);
    return std::max<PetscInt>(1, std::min({x.count, most, countable}));
  }
  /// Of a column; columns may have more scalars than a PetscInt counts.
  static std::ptrdiff_t begin_of(PetscInt column, const DenseColumns& x) { return std::ptrdiff_t{column} * x.apart; }
  PetscErrorCode make_ghosts() {
    PetscFunctionBegin;
    PetscCall(mpi_state(A_, &st_));
    PetscCall(make_ghosts_of_several(A_, size_, a_.on_device() ? device_backend() : nullptr, st_->ghosts));
    Ghosts& ghosts = st_->ghosts;
    received_ = a_.on_device() ? ghosts.of_several_there.data() : ghosts.of_several.data();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  VectorsTask task(PetscInt count, PetscInt x_apart) const {
    return {static_cast<int>(count), static_cast<slot_t>(x_apart), static_cast<slot_t>(y_.apart),
            static_cast<slot_t>(y_.apart)};
  }

  /// Columns [first, first + count), unless there is an error, which is then these products'.
  PetscErrorCode multiply_some(const PetscScalar* all_x, PetscScalar* all_y, PetscInt first, PetscInt count,
                               PetscErrorCode* code) {
    PetscFunctionBegin;
    const PetscScalar *const x = all_x + begin_of(first, x_), *sent = nullptr;
    PetscScalar* const y = all_y + begin_of(first, y_);
    const PetscMemType memory = a_.on_device() ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
    if (st_) {
      PetscCall(to_send(all_x, first, &sent));
      PetscCall(PetscSFBcastWithMemTypeBegin(st_->ghosts.scatter_several, MPIU_SCALAR, memory, sent, memory, received_,
                                             MPI_REPLACE));
    }
    if (!*code) *code = a_.run_vectors(Operator::diagonal, Update::assign, task(count, x_.apart), x, nullptr, y);
    if (!st_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSFBcastEnd(st_->ghosts.scatter_several, MPIU_SCALAR, sent, received_, MPI_REPLACE));
    const auto of_one = static_cast<PetscInt>(st_->ghosts.of_several.size()) / size_;
    const PetscInt before = size_ - count;  // of the last exchange, columns that were exchanged already
    if (!*code)
      *code =
          a_.run_vectors(Operator::off_diagonal, Update::add, task(count, of_one), received_ + before * of_one, y, y);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// x of `size_` columns without gaps, those of the last exchange with some before them: all are of one size.
  PetscErrorCode to_send(const PetscScalar* all_x, PetscInt first, const PetscScalar** sent) {
    PetscFunctionBegin;
    const PetscScalar* const x = all_x + begin_of(std::min(first, x_.count - size_), x_);
    *sent = x;
    if (x_.apart == x_.rows) PetscFunctionReturn(PETSC_SUCCESS);
    if (a_.on_device()) {
      PetscCall(begin_device_work(*device_backend()));
      PetscCall(guarded(comm_of(A_), [&] {
        Backend& on = *device_backend();
        for (PetscInt n = 0; n < size_; ++n)
          on.copy(copy_there_.data() + n * x_.rows, x + begin_of(n, x_),
                  static_cast<std::size_t>(x_.rows) * sizeof(PetscScalar));
      }));
      *sent = copy_there_.data();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    for (PetscInt n = 0; n < size_; ++n) std::copy_n(x + begin_of(n, x_), x_.rows, copy_.data() + n * x_.rows);
    *sent = copy_.data();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const Operator& a_;
  Mat A_;
  const DenseColumns x_, y_;
  const PetscInt size_;
  MpiState* st_ = nullptr;           ///< where ghosts are exchanged
  PetscScalar* received_ = nullptr;  ///< where the ghosts arrive
  std::vector<PetscScalar> copy_;
  Buffer<PetscScalar> copy_there_;
};

/// run_vectors() counts those of parts.
PetscErrorCode count_products(Mat A, PetscInt products) {
  PetscFunctionBegin;
  State* st;
  PetscCall(any_state(A, &st));
  if (st->is_mpi) static_cast<MpiState*>(st)->products += products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `done` is false, on all processes, where one has its part of the matrices in another memory than A's.
PetscErrorCode multiply_at_once(const Operator& a, Mat A, Mat B, Mat C, bool* done) {
  PetscFunctionBegin;
  PetscInt x_apart, y_apart;
  PetscCall(MatDenseGetLDA(B, &x_apart));
  PetscCall(MatDenseGetLDA(C, &y_apart));
  PetscCall(with_arrays(a.on_device(), B, C, [&](bool there, const PetscScalar* x, PetscScalar* y) -> PetscErrorCode {
    PetscFunctionBegin;
    Batch batch(a, A, columns_of(B, x_apart), columns_of(C, y_apart));
    bool elsewhere = !there;
    const PetscErrorCode here = guarded(PETSC_COMM_SELF, [&] {
      if (there) batch.make_room();
    });
    PetscCall(share_error(comm_of(A), here, &elsewhere));
    *done = !elsewhere;
    if (*done) PetscCall(batch.multiply_all(x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (*done) PetscCall(count_products(A, B->cmap->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode multiply_dense(Mat A, Op op, Mat B, Mat C) {
  PetscFunctionBegin;
  if (B->cmap->N > 0) {
    Operator a;
    bool at_once = false, done = false;
    PetscCall(with_column_to_read(B, 0, [&](Vec x) { return a.prepare(A, op, x, 0); }));
    PetscCall(on_all(A, a.takes_vectors(), &at_once));  // values of x are exchanged together then
    if (at_once) PetscCall(multiply_at_once(a, A, B, C, &done));
    if (!done) PetscCall(multiply_by_columns(A, op, B, C));
  }
  PetscCall(MatSetOption(C, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode numeric_of(Mat A, Mat B, Mat C) { return multiply_dense(A, Op::none, B, C); }

Op op_of(const Mat_Product& product) { return product.type == MATPRODUCT_AtB ? Op::transpose : Op::none; }

/// B, or B^T made anew where the product is A B^T.
PetscErrorCode right_operand(const Mat_Product& product, Mat* right) {
  PetscFunctionBegin;
  *right = product.B;
  if (product.type != MATPRODUCT_ABt) PetscFunctionReturn(PETSC_SUCCESS);
  *right = static_cast<Mat>(product.data);
  PetscCall(MatTransposeSetPrecursor(product.B, *right));  // another B than at first, perhaps
  PetscCall(MatTranspose(product.B, MAT_REUSE_MATRIX, right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric(Mat C) {
  PetscFunctionBegin;
  Mat right;
  PetscCall(right_operand(*C->product, &right));
  PetscCall(multiply_dense(C->product->A, op_of(*C->product), right, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat C) {
  PetscFunctionBegin;
  Mat const A = C->product->A, B = C->product->B;
  PetscBool dense;
  const bool by_transposed = C->product->type == MATPRODUCT_ABt, transposes = op_of(*C->product) == Op::transpose;
  const PetscLayout rows = transposes ? A->cmap : A->rmap, columns = by_transposed ? B->rmap : B->cmap;
  PetscCall(MatSetSizes(C, rows->n, columns->n, rows->N, columns->N));
  PetscCall(MatSetBlockSizes(C, rows->bs, columns->bs));
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(C), &dense, MATSEQDENSE, MATMPIDENSE,
                                      MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
  if (!dense) PetscCall(MatSetType(C, reinterpret_cast<PetscObject>(B)->type_name));
  PetscCall(MatSetUp(C));
  C->ops->productnumeric = for_petsc<numeric>;
  if (!transposes && !by_transposed) C->ops->matmultnumeric = for_petsc<numeric_of>;  // PETSc's A (B C) calls that
  if (!by_transposed) PetscFunctionReturn(PETSC_SUCCESS);
  Mat transposed;
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &transposed));
  C->product->data = transposed;
  C->product->destroy = [](auto context) -> PetscErrorCode {
    PetscFunctionBegin;
    // Later releases give the address of the data, as void** from 3.23 and void* from 3.25 on.
    void* const data = PETSC_VERSION_LT(3, 23, 0) ? context : *reinterpret_cast<void**>(context);
    auto matrix = static_cast<Mat>(data);
    PetscCall(MatDestroy(&matrix));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode take_dense_product(Mat C, bool* taken) {
  PetscFunctionBegin;
  const Mat_Product* const p = C->product;
  const TypeOfMatrix k = type_of_matrix(p->A);
  PetscBool dense, device_dense;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(p->B), &dense, MATSEQDENSE, MATMPIDENSE, ""));
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(p->B), &device_dense, MATSEQDENSECUDA,
                                      MATMPIDENSECUDA, ""));
  // Scalars of AIJ alone are multiplied by AIJ itself, on the host.
  const bool has_blocks = k.is_ours && (k.base_type->keeps_blocks || p->A->rmap->bs > 1);
  const bool of_one_process = !k.is_mpi, AB = p->type == MATPRODUCT_AB;
  const bool ABt = p->type == MATPRODUCT_ABt && of_one_process, AtB = p->type == MATPRODUCT_AtB && of_one_process;
  const bool on_host = (AB || ABt) && dense && has_blocks;
  const bool on_device = (AB || ABt || AtB) && device_dense;
  *taken = k.is_ours && (on_host || on_device);
  if (*taken) C->ops->productsymbolic = for_petsc<symbolic>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
