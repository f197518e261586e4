#include "storage/device_product.hpp"

namespace compound {

namespace {

/// What C is told, of a product with B.
sparse_product_args args_of(const PlacedBlocks& B, const PlacedBlocks& C) {
  sparse_product_args args;
  args.b = B.args();
  args.rows = C.rows();
  args.c_start = C.args().start;
  args.c_column = C.args().column;
  args.c = C.values();
  return args;
}

}  // namespace

PlacedBlocks::PlacedBlocks(Backend& on, ScalarType scalar, const FullBlocks& from)
    : rows_(from.pattern.rows),
      block_(from.block),
      start_(on, from.pattern.start),
      column_(on, from.pattern.column),
      values_(on, from.pattern.entries() * scalars_in(from.block) * bytes_of(scalar)) {
  if (from.values && values_.bytes() > 0) on.upload_large(values_.data(), from.values, values_.bytes());
}

void multiply(Backend& on, ScalarType scalar, const PlacedBlocks& A, const PlacedBlocks& B, const PlacedBlocks& C) {
  sparse_product_args args = args_of(B, C);
  args.a = A.args();
  on.multiply_sparse({scalar, A.block(), B.block().cols, false, args});
}

void multiply_galerkin(Backend& on, ScalarType scalar, const PlacedBlocks& Q, const PlacedBlocks& A,
                       const PlacedBlocks& P, const GalerkinPatterns& of, const PlacedBlocks& C) {
  const PlacedBlocks fine(on, scalar, {of.product.view(), {A.block().rows, P.block().cols}});
  multiply(on, scalar, A, P, fine);
  const PatternView to_coarse = of.to_coarse.pattern.view();
  const Buffer<count32> start(on, to_coarse.start), entry_of(on, std::span<const count32>(of.to_coarse.entry_of));
  const Buffer<idx> column(on, to_coarse.column);
  sparse_product_args args = args_of(fine, C);
  args.a = {start.data(), column.data(), Q.values()};
  args.entry_of = entry_of.data();
  args.start_of = Q.args().start;
  on.multiply_sparse({scalar, {Q.block().cols, Q.block().rows}, P.block().cols, true, args});
  on.synchronize();  // before what it reads is released
}

}  // namespace compound
