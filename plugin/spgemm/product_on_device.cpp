#include "spgemm/product_on_device.hpp"

#if PetscDefined(HAVE_CUDA)

#include <algorithm>
#include <array>

#include "options/options.hpp"
#include "petsc/base_types.hpp"
#include "petsc/owned.hpp"
#include "spgemm/new_entries.hpp"
#include "spmv/attached.hpp"
#include "spmv/placement.hpp"
#include "spmv/state.hpp"
#include "spmv/vec_types.hpp"

namespace compound::plugin {

namespace {

/// Products of fewer scalars are done before a device has begun.
constexpr PetscInt fewest_scalars = 20000;

/// cuSPARSE's algorithm counts products of scalars in 32 bits, and fails for lack of "resources" beyond.
constexpr double most_products = 2147483647;

constexpr const char* container_name = "petsc-compound product on a device";

/// An operand: PETSc's type for the device over the arrays of the original.
struct OnDevice {
  Mat copy = nullptr;
  BlockArrays of;           ///< that it lies on
  PetscInt64 version = -1;  ///< of the original's values, which it has
};

/// Hangs on the product.
struct DeviceProduct {
  std::array<OnDevice, 2> operands;
  Mat result = nullptr;
  bool is_in_order = true;  ///< columns of the result ascend in each row, as those of the product
  bool is_new = true;       ///< the values are of the symbolic phase

  DeviceProduct() = default;
  DeviceProduct(const DeviceProduct&) = delete;
  ~DeviceProduct() {
    static_cast<void>(MatDestroy(&result));
    for (OnDevice& o : operands) static_cast<void>(MatDestroy(&o.copy));
  }
};

PetscErrorCode attached(Mat C, DeviceProduct** p) {
  PetscFunctionBegin;
  PetscCall(composed(reinterpret_cast<PetscObject>(C), container_name, p));
  PetscCheck(*p, comm_of(C), PETSC_ERR_PLIB, "A product on a device has lost its copies");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode values_of(Mat A, MatrixValues** values) {
  PetscFunctionBegin;
  SeqState* st;
  PetscCall(seq_state(A, &st));
  *values = &st->matrix_values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values that the copy has not: within the device's memory where they are there.
PetscErrorCode give_values(Mat A, OnDevice* o) {
  PetscFunctionBegin;
  MatrixValues* values;
  PetscScalar* to;
  Backend& on = *device_backend();
  PetscCall(values_of(A, &values));
  const PetscInt64 version = values->version(A);
  if (version == o->version) PetscFunctionReturn(PETSC_SUCCESS);
  if (values->are_on_device(A)) {
    PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(o->copy, &to));
    PetscCall(guarded(comm_of(A), [&] { on.copy(to, values->read(A, on), values->device_bytes()); }));
    PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(o->copy, &to));
  } else {
    PetscCall(MatSeqAIJGetArrayWrite(o->copy, &to));  // and back: the device's values are the old ones
    PetscCall(MatSeqAIJRestoreArrayWrite(o->copy, &to));
  }
  o->version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Not a copy on the host: its arrays are the original's.
PetscErrorCode make_copy(Mat A, OnDevice* o) {
  PetscFunctionBegin;
  PetscCall(arrays_with_values(A, &o->of));
  const BlockArrays& b = o->of;
  MatrixValues* values;
  PetscCall(values_of(A, &values));
  PetscCall(MatDestroy(&o->copy));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, b.rows, b.cols, const_cast<PetscInt*>(b.start),
                                      const_cast<PetscInt*>(b.column), const_cast<PetscScalar*>(b.values), &o->copy));
  PetscCall(MatSetBlockSizes(o->copy, PetscAbs(A->rmap->bs), PetscAbs(A->cmap->bs)));
  PetscCall(MatConvert(o->copy, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &o->copy));
  const PetscScalar* there;
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(o->copy, &there));  // its memory is allocated by the first transfer alone
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(o->copy, &there));
  if (!values->are_on_device(A)) o->version = values->version(A);
  PetscCall(give_values(A, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode update_copy(Mat A, OnDevice* o) {
  PetscFunctionBegin;
  BlockArrays b;
  PetscCall(arrays_with_values(A, &b));
  PetscCheck(
      b.start == o->of.start && b.column == o->of.column && b.values == o->of.values && b.entries() == o->of.entries(),
      comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
      "Product with MAT_REUSE_MATRIX: an operand has other arrays than with MAT_INITIAL_MATRIX, so that the "
      "pattern of the result may be another; call it with MAT_INITIAL_MATRIX again");
  PetscCall(give_values(A, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The result's values to the product, which has its pattern, within the device's memory. `done` is false where they
/// are on the host, or the device has no memory for them once more.
PetscErrorCode take_on_device(Mat C, Mat result, bool* done) {
  PetscFunctionBegin;
  MatrixValues* values;
  PetscScalar* from;
  PetscMemType memory;
  Backend& on = *device_backend();
  PetscCall(values_of(C, &values));
  PetscCall(MatSeqAIJGetCSRAndMemType(result, nullptr, nullptr, &from, &memory));
  *done = PetscMemTypeCUDA(memory);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(begin_device_work(on));
  PetscCall(guarded_memory(comm_of(C), done, [&] {
    Scalar* const to = values->write(C, on, false);
    on.copy(to, from, values->device_bytes());
  }));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(values->wrote(C));
  PetscCall(guard_values(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The pattern and values of the result, from the host.
PetscErrorCode set_from_host(Mat C, Mat result, bool* is_in_order) {
  PetscFunctionBegin;
  const PetscInt *start, *column;
  PetscInt rows;
  PetscBool done;
  const PetscScalar* values;
  PetscCall(MatGetRowIJ(result, 0, PETSC_FALSE, PETSC_FALSE, &rows, &start, &column, &done));
  PetscCheck(done, comm_of(C), PETSC_ERR_PLIB, "A product on a device has no rows");
  PetscCall(MatSeqAIJGetArrayRead(result, &values));
  PetscCall(set_entries(C, start, column, values, is_in_order));
  PetscCall(MatSeqAIJRestoreArrayRead(result, &values));
  PetscCall(MatRestoreRowIJ(result, 0, PETSC_FALSE, PETSC_FALSE, &rows, &start, &column, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric(Mat C) {
  PetscFunctionBegin;
  DeviceProduct* p;
  bool done = false;
  PetscCall(attached(C, &p));
  if (p->is_new) {
    p->is_new = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(update_copy(C->product->A, &p->operands[0]));
  if (p->operands[1].copy) PetscCall(update_copy(C->product->B, &p->operands[1]));
  PetscCall(MatProductNumeric(p->result));
  if (p->is_in_order) PetscCall(take_on_device(C, p->result, &done));
  if (!done) PetscCall(set_from_host(C, p->result, &p->is_in_order));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix of ours with the pattern and values of the result.
PetscErrorCode take_result(Mat C, DeviceProduct* p) {
  PetscFunctionBegin;
  Mat const result = p->result;
  PetscInt row_block, column_block;
  PetscCall(MatGetBlockSizes(result, &row_block, &column_block));
  PetscCall(MatSetSizes(C, result->rmap->n, result->cmap->n, result->rmap->N, result->cmap->N));
  PetscCall(MatSetBlockSizes(C, row_block, column_block));
  PetscCall(MatSetType(C, reinterpret_cast<PetscObject>(C->product->A)->type_name));
  PetscCall(set_from_host(C, result, &p->is_in_order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat C) {
  PetscFunctionBegin;
  DeviceProduct* p;
  Mat_Product* const product = C->product;
  PetscCall(attached(C, &p));
  PetscCall(make_copy(product->A, &p->operands[0]));
  if (product->B != product->A) PetscCall(make_copy(product->B, &p->operands[1]));
  Mat const A = p->operands[0].copy, B = product->B == product->A ? A : p->operands[1].copy;
  PetscCall(MatProductCreate(A, B, nullptr, &p->result));
  PetscCall(MatProductSetType(p->result, product->type));
  PetscCall(MatProductSetFill(p->result, product->fill));
  PetscCall(MatProductSetFromOptions(p->result));
  PetscCall(MatProductSymbolic(p->result));
  PetscCall(MatProductNumeric(p->result));
  PetscCall(take_result(C, p));
  p->is_new = true;
  C->ops->productnumeric = for_petsc<numeric>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What speaks for a product on the device: that A can be there, and is large enough for that to pay; that vectors of A
/// are there, as far as this is known before the product.
struct OfDevice {
  bool may_be = false, is_expected = false;
};
PetscErrorCode ask_operand(Mat A, OfDevice* of) {
  PetscFunctionBegin;
  Settings* settings;
  BlockArrays b;
  if (!is_seq_compound(A) || type_of_matrix(A).base_type != &aij || !A->assembled || is_bound(A) || !device_backend())
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(block_arrays(A, &b));
  PetscCall(settings_of(A, &settings));
  PetscCall(read_options_once(A, *settings));
  if (b.entries() < fewest_scalars || !settings->may_use_device()) PetscFunctionReturn(PETSC_SUCCESS);
  of->may_be = true;
  PetscCall(expects_device_vectors(A, *settings, &of->is_expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A's scalars times the rows of B that they meet; of A^T B those of B that they stand beside.
PetscErrorCode count(const Mat_Product* product, double* products) {
  PetscFunctionBegin;
  BlockArrays a, b;
  PetscCall(block_arrays(product->A, &a));
  PetscCall(block_arrays(product->B, &b));
  *products = 0;
  if (product->type == MATPRODUCT_AtB)
    for (PetscInt row = 0; row < a.rows; ++row)
      *products += static_cast<double>(a.start[row + 1] - a.start[row]) * (b.start[row + 1] - b.start[row]);
  else
    for (PetscInt e = 0; e < a.entries(); ++e) *products += b.start[a.column[e] + 1] - b.start[a.column[e]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode is_product_on_device(Mat C, bool* yes) {
  PetscFunctionBegin;
  const Mat_Product* const product = C->product;
  *yes = false;
  const bool is_known =
      product->type == MATPRODUCT_AB || product->type == MATPRODUCT_AtB || product->type == MATPRODUCT_PtAP;
  if (!C->ops->productsymbolic || !is_known) PetscFunctionReturn(PETSC_SUCCESS);
  OfDevice A, B;
  PetscCall(ask_operand(product->A, &A));
  if (A.may_be) PetscCall(ask_operand(product->B, &B));
  *yes = A.may_be && B.may_be && (A.is_expected || B.is_expected);  // multigrid's first prolongators know no vectors
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode why_no_device(Mat A, const char** why) {
  PetscFunctionBegin;
  OfDevice of;
  BlockArrays b;
  PetscCall(ask_operand(A, &of));
  *why = of.may_be && of.is_expected ? nullptr : "its products with vectors run on the host";
  if (!*why || !is_seq_compound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(block_arrays(A, &b));
  if (b.entries() < fewest_scalars) *why = "the matrix is small";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_product_on_device(Mat C, bool* taken) {
  PetscFunctionBegin;
  double products = 0;
  PetscCall(count(C->product, &products));
  *taken = products <= most_products;
  if (!*taken) {
    PetscCall(PetscInfo(
        C,
        "The product of two matrices has %g products of scalars, more than cuSPARSE can count: it runs on the host\n",
        products));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(compose_owned(reinterpret_cast<PetscObject>(C), container_name, std::make_unique<DeviceProduct>()));
  C->ops->productsymbolic = for_petsc<symbolic>;
  PetscCall(PetscInfo(C, "The product of two matrices runs on the device (cuSPARSE)\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin

#endif
