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
double multiplications(const BlockOperands& o) {
  const BlockShape a = o.A.block, b = o.B.block;
  const double fine = block_products(o.A.pattern, o.B.pattern) * a.rows * a.cols * b.cols;
  if (!o.is_galerkin) return fine;
  return fine +
         block_products(o.patterns.to_coarse.pattern.view(), o.patterns.product.view()) * b.cols * a.rows * b.cols;
}

PetscErrorCode place(Backend& on, const BlockOperands& o, std::unique_ptr<PlacedProduct>* placed, bool* enough) {
  PetscFunctionBegin;
  *enough = true;
  if (*placed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded_memory(PETSC_COMM_SELF, enough, [&] { *placed = std::make_unique<PlacedProduct>(on, o); }));
  if (!*enough) PetscFunctionReturn(PETSC_SUCCESS);
  const PlacedProduct& p = **placed;
  PetscCall(log_upload(p.A.bytes() + p.B.bytes() + p.C.bytes() + (p.galerkin ? p.galerkin->bytes() : 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values travel where the device has them not.
void multiply(Backend& on, const BlockOperands& o, const PlacedProduct& p, MatrixValues& A, MatrixValues& B, Mat of_C,
              MatrixValues& C) {
  const auto read = [&](MatrixValues& values, Mat of) { return const_cast<Scalar*>(values.read(of, on)); };
  const PlacedBlocks a{p.A, read(A, o.of_A)}, b{p.B, read(B, o.of_B)}, c{p.C, C.write(of_C, on, false)};
  if (p.galerkin)
    multiply_galerkin(on, scalar, b, a, b, *p.galerkin, c);
  else
    compound::multiply(on, scalar, a, b, c);
}

}  // namespace

PlacedProduct::PlacedProduct(Backend& on, const BlockOperands& o)
    : A(on, o.A.pattern, o.A.block), B(on, o.B.pattern, o.B.block), C(on, o.patterns.result.view(), result_block(o)) {
  if (o.is_galerkin) galerkin.emplace(on, o.patterns, o.B.block, o.A.block, o.B.block);
}

PetscErrorCode multiply_blocks_on_device(Mat C, const BlockOperands& o, std::unique_ptr<PlacedProduct>* placed,
                                         bool* done) {
  PetscFunctionBegin;
  SeqState *of_A, *of_B, *of_C;
  Backend& on = *device_backend();
  PetscCall(seq_state(o.of_A, &of_A));
  PetscCall(seq_state(o.of_B, &of_B));
  PetscCall(seq_state(C, &of_C));
  PetscCall(begin_device_work(on));
  PetscCall(place(on, o, placed, done));
  if (*done) {
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(guarded_memory(comm_of(C), done, [&] {
      multiply(on, o, **placed, of_A->matrix_values, of_B->matrix_values, C, of_C->matrix_values);
    }));
    PetscCall(PetscLogGpuTimeEnd());
  }
  if (!*done) {
    placed->reset();
    PetscCall(PetscInfo(C, "The device has no memory for a product of two matrices: it runs on the host\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(of_C->matrix_values.wrote(C));
  PetscCall(guard_values(C));
  const PetscLogDouble flops = 2 * multiplications(o);
  PetscCall(PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
