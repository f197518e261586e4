#include "spgemm/block_product_on_device.hpp"

#include "petsc/log.hpp"
#include "spmv/placement.hpp"
#include "spmv/state.hpp"

namespace compound::plugin {

namespace {

constexpr ScalarType scalar = scalar_type_of<Scalar>();

BlockShape result_block(const BlockOperands& o) {
  return {o.is_galerkin ? o.B.block.cols : o.A.block.rows, o.B.block.cols};
}

/// Multiplications of scalars.
double multiplications(const BlockOperands& o, const GalerkinPatterns& patterns) {
  const BlockShape a = o.A.block, b = o.B.block;
  const double fine = block_products(o.A.pattern, o.B.pattern) * a.rows * a.cols * b.cols;
  if (!o.is_galerkin) return fine;
  return fine + block_products(patterns.to_coarse.pattern.view(), patterns.product.view()) * b.cols * a.rows * b.cols;
}

/// Null where the device cannot find the patterns.
std::unique_ptr<PlacedProduct> found_on_device(Backend& on, const BlockOperands& o) {
  auto p = std::make_unique<PlacedProduct>();
  p->A = placed_pattern(on, o.of_A, o.A);
  p->B = placed_pattern(on, o.of_B, o.B);
  if (o.is_galerkin) {
    auto found = PlacedGalerkin::find(on, *p->B, *p->A, *p->B);
    if (!found) return nullptr;
    p->galerkin.emplace(std::move(found->way));
    p->C = std::make_shared<PlacedPattern>(std::move(found->result));
    p->multiplications = p->galerkin->multiplications(*p->A, *p->C);
  } else {
    auto found = product_pattern(on, *p->A, *p->B, false);
    if (!found) return nullptr;
    p->C = std::make_shared<PlacedPattern>(*std::move(found));
    p->multiplications = compound::multiplications(*p->A, *p->C);
  }
  return p;
}

/// A matrix and the owner of its values.
struct ValuesOf {
  Mat matrix;
  SeqState* state;
};
PetscErrorCode values_of(Mat matrix, ValuesOf* of) {
  of->matrix = matrix;
  return seq_state(matrix, &of->state);
}

/// Values travel where the device has them not.
void multiply(Backend& on, const PlacedProduct& p, const ValuesOf& A, const ValuesOf& B, const ValuesOf& C) {
  const auto read = [&](const ValuesOf& of) {
    return const_cast<Scalar*>(of.state->matrix_values.read(of.matrix, on));
  };
  const PlacedBlocks a{*p.A, read(A)}, b{*p.B, read(B)}, c{*p.C, C.state->matrix_values.write(C.matrix, on, false)};
  if (p.galerkin)
    multiply_galerkin(on, scalar, b, a, b, *p.galerkin, c);
  else
    compound::multiply(on, scalar, a, b, c);
}

}  // namespace

std::shared_ptr<const PlacedPattern> placed_pattern(Backend& on, Mat A, const FullBlocks& blocks) {
  PlacedRowsOf& kept = static_cast<SeqState*>(attached_state(A))->placed;
  const bool is_kept = kept.pattern && kept.nonzeros == A->nonzerostate && kept.pattern->block() == blocks.block &&
                       kept.pattern->entries() == blocks.pattern.entries();
  if (!is_kept) kept = {A->nonzerostate, std::make_shared<PlacedPattern>(on, blocks.pattern, blocks.block)};
  return kept.pattern;
}

PetscErrorCode find_patterns_on_device(Mat C, const BlockOperands& o, std::unique_ptr<PlacedProduct>* placed,
                                       Pattern* result) {
  PetscFunctionBegin;
  bool enough;
  Backend& on = *device_backend();
  placed->reset();
  PetscCall(begin_device_work(on));
  PetscCall(guarded_memory(comm_of(C), &enough, [&] {
    auto found = found_on_device(on, o);
    if (!found) return;
    *result = found->C->pattern(on);
    *placed = std::move(found);
  }));
  if (!*placed) PetscCall(PetscInfo(C, "The device cannot find the pattern of a product of matrices: the host does\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode send_patterns(Mat C, const BlockOperands& o, const GalerkinPatterns& patterns,
                             std::unique_ptr<PlacedProduct>* placed) {
  PetscFunctionBegin;
  bool enough;
  Backend& on = *device_backend();
  PetscCall(begin_device_work(on));
  PetscCall(guarded_memory(comm_of(C), &enough, [&] {
    auto p = std::make_unique<PlacedProduct>();
    p->A = placed_pattern(on, o.of_A, o.A);
    p->B = placed_pattern(on, o.of_B, o.B);
    p->C = std::make_shared<PlacedPattern>(on, patterns.result.view(), result_block(o));
    if (o.is_galerkin) p->galerkin.emplace(on, patterns, o.B.block, o.A.block, o.B.block);
    p->multiplications = multiplications(o, patterns);
    *placed = std::move(p);
  }));
  if (*placed) PetscCall(log_upload((*placed)->C->bytes() + ((*placed)->galerkin ? (*placed)->galerkin->bytes() : 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_blocks_on_device(Mat C, std::unique_ptr<PlacedProduct>* placed, bool* done) {
  PetscFunctionBegin;
  ValuesOf of_A, of_B, of_C;
  Backend& on = *device_backend();
  PetscCall(values_of(C->product->A, &of_A));
  PetscCall(values_of(C->product->B, &of_B));
  PetscCall(values_of(C, &of_C));
  PetscCall(begin_device_work(on));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(guarded_memory(comm_of(C), done, [&] { multiply(on, **placed, of_A, of_B, of_C); }));
  PetscCall(PetscLogGpuTimeEnd());
  if (!*done) {
    placed->reset();
    PetscCall(PetscInfo(C, "The device has no memory for a product of two matrices: it runs on the host\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  of_C.state->placed = {C->nonzerostate, (*placed)->C};
  PetscCall(of_C.state->matrix_values.wrote(C));
  PetscCall(guard_values(C));
  const PetscLogDouble flops = 2 * (*placed)->multiplications;
  PetscCall(PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
