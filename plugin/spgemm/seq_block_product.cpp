#include <memory>
#include <optional>

#include "options/options.hpp"
#include "petsc/owned.hpp"
#include "spgemm/block_product.hpp"
#include "spgemm/block_product_on_device.hpp"
#include "spgemm/new_entries.hpp"
#include "spgemm/product_on_device.hpp"
#include "spgemm/product_results.hpp"
#include "spgemm/products_of_matrices.hpp"
#include "spmv/input_blocks.hpp"
#include "spmv/packing.hpp"
#include "storage/sparse_product.hpp"

namespace compound::plugin {

namespace {

/// An operand in its blocks.
struct Operand {
  BlockArrays arrays;
  Pattern copied;

  FullBlocks blocks() { return {pattern_of(arrays, copied), arrays.block, arrays.values}; }
};

bool are_equal(const Pattern& a, const Pattern& b) {
  return a.rows == b.rows && a.cols == b.cols && a.start == b.start && a.column == b.column;
}

/// Of one process: numbers on the host or on a device, patterns on the host.
class SeqBlockProduct final : public BlockProduct {
 public:
  SeqBlockProduct(const BlockProductKind& of, bool on_device) : BlockProduct(of), on_device_(on_device) {}

 protected:
  PetscErrorCode take_operands(Mat C, bool* fit) override;
  PetscErrorCode find_pattern(Mat C, bool at_first, bool* same) override;
  PetscErrorCode make_result(Mat C) override;
  PetscErrorCode multiply(Mat C) override;
  const char* where() const override { return on_device_ ? "on the device" : "on the host"; }

 private:
  GalerkinPatterns patterns_by_host();
  BlockOperands operands(Mat C);
  BlockShape result_block() const;
  PetscErrorCode multiply_on_host(Mat C);

  const bool on_device_;
  Operand A_, B_;
  BlockShape of_A_{0, 0}, of_B_{0, 0};     ///< blocks that the patterns are of
  Pattern pattern_;                        ///< of the result
  std::unique_ptr<PlacedProduct> placed_;  ///< the patterns on the device; null where the host multiplies
};

PetscErrorCode SeqBlockProduct::take_operands(Mat C, bool* fit) {
  PetscFunctionBegin;
  PetscCall(full_blocks_of(C->product->A, &A_.arrays, fit));
  if (*fit) PetscCall(full_blocks_of(C->product->B, &B_.arrays, fit));
  const BlockShape a = A_.arrays.block, b = B_.arrays.block;
  *fit = *fit && a.cols == b.rows && (!kind.is_galerkin || a.rows == b.rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

GalerkinPatterns SeqBlockProduct::patterns_by_host() {
  const PatternView A = A_.blocks().pattern, B = B_.blocks().pattern;
  const Term<PatternView> sum[] = {{A, B}};
  if (kind.is_galerkin && on_device_) return galerkin_patterns(B, sum[0]);
  return {{}, {}, kind.is_galerkin ? galerkin_pattern(B, sum) : product_pattern(sum)};
}

BlockOperands SeqBlockProduct::operands(Mat C) {
  return {C->product->A, C->product->B, A_.blocks(), B_.blocks(), kind.is_galerkin};
}

BlockShape SeqBlockProduct::result_block() const {
  const BlockShape a = A_.arrays.block, b = B_.arrays.block;
  return {kind.is_galerkin ? b.cols : a.rows, b.cols};
}

PetscErrorCode SeqBlockProduct::find_pattern(Mat C, bool at_first, bool* same) {
  PetscFunctionBegin;
  Pattern now;
  std::optional<BlockOperands> on_device;
  placed_.reset();
  PetscCall(guarded(comm_of(C), [&] {
    if (on_device_) on_device = operands(C);
  }));
  if (on_device) PetscCall(find_patterns_on_device(C, *on_device, &placed_, &now));
  if (!placed_) {
    GalerkinPatterns by_host;
    PetscCall(guarded(comm_of(C), [&] { by_host = patterns_by_host(); }));
    if (on_device) PetscCall(send_patterns(C, *on_device, by_host, &placed_));
    now = std::move(by_host.result);
  }
  *same = at_first || are_equal(now, pattern_);
  if (*same) pattern_ = std::move(now);
  of_A_ = A_.arrays.block;
  of_B_ = B_.arrays.block;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SeqBlockProduct::make_result(Mat C) {
  return make_of_pattern(C, reinterpret_cast<PetscObject>(C->product->A)->type_name, pattern_, result_block());
}

PetscErrorCode SeqBlockProduct::multiply_on_host(Mat C) {
  PetscFunctionBegin;
  PetscScalar* to;
  PetscLogDouble products = 0;
  for (Mat operand : {C->product->A, C->product->B}) PetscCall(need_host_values(operand));
  PetscCall(MatSeqAIJGetArrayWrite(C, &to));
  PetscCall(guarded(comm_of(C), [&] {
    const FullBlocks A = A_.blocks(), B = B_.blocks();
    constexpr ScalarType scalar = scalar_type_of<Scalar>();
    const PatternView pattern = pattern_.view();
    const Term<FullBlocks> sum[] = {{A, B}};
    products = kind.is_galerkin ? multiply_galerkin(B, sum, scalar, pattern, to)
                                : compound::multiply(sum, scalar, pattern, to);
  }));
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &to));
  PetscCall(PetscLogFlops(2 * products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The operands' arrays may be others than at the time before, with the same pattern.
PetscErrorCode SeqBlockProduct::multiply(Mat C) {
  PetscFunctionBegin;
  bool fit, done = false;
  PetscCall(take_operands(C, &fit));
  PetscCheck(fit && A_.arrays.block == of_A_ && B_.arrays.block == of_B_, comm_of(C), PETSC_ERR_ARG_WRONGSTATE,
             "Product with MAT_REUSE_MATRIX: an operand is in other blocks than with MAT_INITIAL_MATRIX; call it with "
             "MAT_INITIAL_MATRIX again");
  if (placed_) PetscCall(multiply_blocks_on_device(C, &placed_, &done));
  if (!done) PetscCall(multiply_on_host(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode full_blocks_of(Mat A, BlockArrays* b, bool* full) {
  PetscFunctionBegin;
  SeqState* st;
  *full = false;
  if (!is_seq_compound(A) || type_of_matrix(A).base_type != &aij || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  if (st->settings.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(input_values(A, *st, b));
  *full = b->order == ValueOrder::rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_product_set_from_options(Mat C) {
  PetscFunctionBegin;
  const BlockProductKind* kind;
  bool on_device = false, taken = false;
  PetscCall(ask_base_type(C, &kind));
#if PetscDefined(HAVE_CUDA)
  PetscCall(is_product_on_device(C, &on_device));
#endif
  if (kind) PetscCall(take_block_product(C, std::make_unique<SeqBlockProduct>(*kind, on_device), &taken));
#if PetscDefined(HAVE_CUDA)
  if (on_device && !taken) PetscCall(take_product_on_device(C, &taken));
#endif
  if (!taken) PetscCall(keep_values_of_operands(C));
  PetscCall(follow_operands(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
