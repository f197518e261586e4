#include "types/block_product_on_device.hpp"

#include <optional>

#include "copies/device_copy.hpp"
#include "copies/placement.hpp"
#include "edge/log.hpp"
#include "storage/device_product.hpp"

namespace compound::plugin {

namespace {

constexpr ScalarType scalar = scalar_type_of<Scalar>();

/// What is on the device while a product is made. No more is kept: values are large, and patterns are little beside.
struct Placed {
  std::optional<PlacedBlocks> A, B, C;

  void place(Backend& on, const BlockOperands& o) {
    const BlockShape block{o.is_galerkin ? o.B.block.cols : o.A.block.rows, o.B.block.cols};
    A.emplace(on, scalar, o.A);
    B.emplace(on, scalar, o.B);
    C.emplace(on, scalar, FullBlocks{o.patterns.result.view(), block});
  }
  void multiply(Backend& on, const BlockOperands& o) const {
    if (o.is_galerkin)
      multiply_galerkin(on, scalar, *B, *A, *B, o.patterns, *C);
    else
      compound::multiply(on, scalar, *A, *B, *C);
  }
};

/// Multiplications of scalars.
double multiplications(const BlockOperands& o) {
  const BlockShape a = o.A.block, b = o.B.block;
  const double fine = block_products(o.A.pattern, o.B.pattern) * a.rows * a.cols * b.cols;
  if (!o.is_galerkin) return fine;
  return fine +
         block_products(o.patterns.to_coarse.pattern.view(), o.patterns.product.view()) * b.cols * a.rows * b.cols;
}

}  // namespace

PetscErrorCode multiply_blocks_on_device(Mat C, const BlockOperands& o, bool has_copy, bool* done) {
  PetscFunctionBegin;
  Placed placed;
  PetscScalar* to;
  Backend& on = *device_backend();
  PetscCall(begin_device_work(on));
  PetscCall(guarded_memory(comm_of(C), done, [&] { placed.place(on, o); }));
  if (*done) {
    PetscCall(log_upload(placed.A->bytes() + placed.B->bytes()));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(guarded_memory(comm_of(C), done, [&] { placed.multiply(on, o); }));
    PetscCall(PetscLogGpuTimeEnd());
  }
  if (!*done) {
    PetscCall(PetscInfo(C, "The device has no memory for a product of two matrices: it runs on the host\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetArrayWrite(C, &to));
  PetscCall(guarded(comm_of(C), [&] { placed.C->download_values(on, to); }));
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &to));
  const PetscLogDouble flops = 2 * multiplications(o);
  PetscCall(PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscCall(log_download(placed.C->value_bytes()));
  if (has_copy) PetscCall(fill_device_copy(C, placed.C->values()));
  PetscCall(refresh_device_copy(o.of_A, placed.A->values()));
  PetscCall(refresh_device_copy(o.of_B, placed.B->values()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
