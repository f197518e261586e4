#include "spgemm/products_of_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "options/options.hpp"
#include "petsc/owned.hpp"
#include "spgemm/block_product_on_device.hpp"
#include "spgemm/new_entries.hpp"
#include "spgemm/product_on_device.hpp"
#include "spgemm/product_results.hpp"
#include "spmv/input_blocks.hpp"
#include "spmv/packing.hpp"
#include "storage/sparse_product.hpp"

namespace compound::plugin {

namespace {

constexpr const char* container_name = "petsc-compound product of blocks";

constexpr BlockProductKind kinds[] = {{MATPRODUCT_AB, "-matmatmult_via", false},
                                      {MATPRODUCT_PtAP, "-matptap_via", true}};

/// An operand in its blocks.
struct Operand {
  BlockArrays arrays;
  Pattern copied;

  FullBlocks blocks() { return {pattern_of(arrays, copied), arrays.block, arrays.values}; }
};

/// Hangs on the product.
struct BlockProduct {
  BlockProduct(const BlockProductKind& of, bool device) : kind(of), on_device(device) {}

  const BlockProductKind& kind;
  bool on_device;  ///< numbers; patterns are the host's
  Operand A, B;
  PatternKey of_A, of_B;
  GalerkinPatterns patterns;              ///< of the result; on a device those on the way there, too
  std::unique_ptr<PlacedProduct> placed;  ///< the same on a device, once a product ran there
};

bool do_fit(const BlockProductKind& kind, const Operand& A, const Operand& B) {
  const BlockShape a = A.arrays.block, b = B.arrays.block;
  return a.cols == b.rows && (!kind.is_galerkin || a.rows == b.rows);
}

GalerkinPatterns patterns_of(BlockProduct& p) {
  const PatternView A = p.A.blocks().pattern, B = p.B.blocks().pattern;
  const Term<PatternView> sum[] = {{A, B}};
  if (p.kind.is_galerkin && p.on_device) return galerkin_patterns(B, sum[0]);
  return {{}, {}, p.kind.is_galerkin ? galerkin_pattern(B, sum) : product_pattern(sum)};
}

bool are_equal(const Pattern& a, const Pattern& b) {
  return a.rows == b.rows && a.cols == b.cols && a.start == b.start && a.column == b.column;
}

BlockShape result_block(const BlockProduct& p) {
  const BlockShape a = p.A.arrays.block, b = p.B.arrays.block;
  return {p.kind.is_galerkin ? b.cols : a.rows, b.cols};
}

PetscErrorCode attached(Mat C, BlockProduct** p) {
  PetscFunctionBegin;
  PetscCall(composed(reinterpret_cast<PetscObject>(C), container_name, p));
  PetscCheck(*p, comm_of(C), PETSC_ERR_PLIB, "A product of blocks has lost its pattern");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For other operands than those of the symbolic phase, or changed ones, which must give the same pattern.
PetscErrorCode check_operands(Mat C, BlockProduct* p) {
  PetscFunctionBegin;
  bool full_A, full_B, same = false;
  PatternKey of_A, of_B;
  PetscCall(full_blocks_of(C->product->A, &p->A.arrays, &full_A));
  PetscCall(full_blocks_of(C->product->B, &p->B.arrays, &full_B));
  PetscCall(key_of(C->product->A, &of_A));
  PetscCall(key_of(C->product->B, &of_B));
  if (of_A == p->of_A && of_B == p->of_B && full_A && full_B) PetscFunctionReturn(PETSC_SUCCESS);
  if (full_A && full_B && do_fit(p->kind, p->A, p->B))
    PetscCall(guarded(comm_of(C), [&] {
      GalerkinPatterns now = patterns_of(*p);
      same = are_equal(now.result, p->patterns.result);
      if (same) p->patterns = std::move(now);
      p->placed.reset();
    }));
  if (!same) PetscCall(refuse_other_pattern(C));
  p->of_A = of_A;
  p->of_B = of_B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_on_host(Mat C, BlockProduct* p) {
  PetscFunctionBegin;
  PetscScalar* to;
  PetscLogDouble products = 0;
  for (Mat operand : {C->product->A, C->product->B}) PetscCall(need_host_values(operand));
  PetscCall(MatSeqAIJGetArrayWrite(C, &to));
  PetscCall(guarded(comm_of(C), [&] {
    const FullBlocks A = p->A.blocks(), B = p->B.blocks();
    constexpr ScalarType scalar = scalar_type_of<Scalar>();
    const PatternView pattern = p->patterns.result.view();
    const Term<FullBlocks> sum[] = {{A, B}};
    products =
        p->kind.is_galerkin ? multiply_galerkin(B, sum, scalar, pattern, to) : multiply(sum, scalar, pattern, to);
  }));
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &to));
  PetscCall(PetscLogFlops(2 * products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric(Mat C) {
  PetscFunctionBegin;
  BlockProduct* p;
  bool done = false;
  PetscCall(attached(C, &p));
  PetscCall(check_operands(C, p));
  if (p->on_device)
    PetscCall(multiply_blocks_on_device(
        C, {C->product->A, C->product->B, p->A.blocks(), p->B.blocks(), p->kind.is_galerkin, p->patterns}, &p->placed,
        &done));
  if (!done) PetscCall(multiply_on_host(C, p));
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat C) {
  PetscFunctionBegin;
  BlockProduct* p;
  bool full_A, full_B;
  PetscCall(attached(C, &p));
  Mat const A = C->product->A, B = C->product->B;
  PetscCall(full_blocks_of(A, &p->A.arrays, &full_A));
  PetscCall(full_blocks_of(B, &p->B.arrays, &full_B));
  PetscCheck(full_A && full_B && do_fit(p->kind, p->A, p->B), comm_of(C), PETSC_ERR_ARG_WRONGSTATE,
             "The operands of a product have other blocks than when MatProductSetFromOptions() looked at them; call it "
             "again");
  PetscCall(key_of(A, &p->of_A));
  PetscCall(key_of(B, &p->of_B));
  PetscCall(guarded(comm_of(C), [&] { p->patterns = patterns_of(*p); }));
  PetscCall(make_of_pattern(C, reinterpret_cast<PetscObject>(A)->type_name, p->patterns.result, result_block(*p)));
  C->ops->productnumeric = numeric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_product_of_blocks(Mat C, const BlockProductKind& kind, bool on_device, bool* taken) {
  PetscFunctionBegin;
  const Mat_Product* const product = C->product;
  auto p = std::make_unique<BlockProduct>(kind, on_device);
  bool full;
  *taken = false;
  PetscCall(full_blocks_of(product->A, &p->A.arrays, &full));
  if (full) PetscCall(full_blocks_of(product->B, &p->B.arrays, &full));
  if (!full || !do_fit(kind, p->A, p->B)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(compose_owned(reinterpret_cast<PetscObject>(C), container_name, std::move(p)));
  C->ops->productsymbolic = symbolic;
  *taken = true;
  PetscCall(PetscInfo(C, "The product of two matrices runs in blocks on the %s\n", on_device ? "device" : "host"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode full_blocks_of(Mat A, BlockArrays* b, bool* full) {
  PetscFunctionBegin;
  SeqState* st;
  *full = false;
  if (!is_seq_compound(A) || kinship(A).family != &aij || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(seq_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  if (st->settings.parent_only()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(given_values(A, *st, b));
  *full = b->order == ValueOrder::rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ask_parent(Mat C, const BlockProductKind** kind) {
  PetscFunctionBegin;
  const Mat_Product* const product = C->product;
  const auto* const found = std::ranges::find(kinds, product->type, &BlockProductKind::type);
  const _MatOps* parent;
  PetscBool nobody_asked, by_option;
  PetscCall(PetscStrcmp(product->alg, MATPRODUCTALGORITHMDEFAULT, &nobody_asked));
  PetscCall(parent_ops(product->A, &parent));
  PetscCall(parent->productsetfromoptions(C));
  *kind = nullptr;
  if (!C->ops->productsymbolic || found == std::end(kinds) || !nobody_asked) PetscFunctionReturn(PETSC_SUCCESS);
  const char* const option = product->api_user ? found->option : "-mat_product_algorithm";
  const auto* const object = reinterpret_cast<PetscObject>(C);
  PetscCall(PetscOptionsHasName(object->options, object->prefix, option, &by_option));
  if (!by_option && !C->structure_only) *kind = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode key_of(Mat A, PatternKey* key) {
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(A), &key->id));
  key->nonzeros = A->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode refuse_other_pattern(Mat C) {
  PetscFunctionBegin;
  SETERRQ(comm_of(C), PETSC_ERR_ARG_WRONGSTATE,
          "Product with MAT_REUSE_MATRIX: an operand has another pattern than with MAT_INITIAL_MATRIX, so that the "
          "pattern of the result is another; call it with MAT_INITIAL_MATRIX again");
}

PetscErrorCode seq_product_set_from_options(Mat C) {
  PetscFunctionBegin;
  const BlockProductKind* kind;
  bool on_device = false, taken = false;
  PetscCall(ask_parent(C, &kind));
#if PetscDefined(HAVE_CUDA)
  PetscCall(is_product_on_device(C, &on_device));
#endif
  if (kind) PetscCall(take_product_of_blocks(C, *kind, on_device, &taken));
#if PetscDefined(HAVE_CUDA)
  if (on_device && !taken) PetscCall(take_product_on_device(C, &taken));
#endif
  if (!taken) PetscCall(keep_values_of_operands(C));
  PetscCall(follow_operands(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
