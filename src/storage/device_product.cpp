#include "storage/device_product.hpp"

#include "backend/sparse_products.hpp"
#include "base/error.hpp"

namespace compound {

namespace {

/// Of a product with B, but for its left operand.
sparse_product_args args_of(const PlacedBlocks& B, const PlacedBlocks& C) {
  sparse_product_args args;
  const block_rows_args c = C.pattern.with(nullptr);
  args.b = B.pattern.with(B.values);
  args.rows = C.pattern.rows();
  args.c_start = c.start;
  args.c_column = c.column;
  args.c = C.values;
  return args;
}

SparseProducts& products_of(Backend& on) {
  if (SparseProducts* const products = on.extensions().sparse_products) return *products;
  throw error(ErrorKind::unsupported,
              "products of sparse matrices in the memory of backend " + std::string(on.name()) + "; use multiply()");
}

}  // namespace

PlacedPattern::PlacedPattern(Backend& on, const PatternView& from, BlockShape block)
    : rows_(from.rows), entries_(from.entries()), block_(block), start_(on, from.start), column_(on, from.column) {}

void multiply(Backend& on, ScalarType scalar, const PlacedBlocks& A, const PlacedBlocks& B, const PlacedBlocks& C) {
  sparse_product_args args = args_of(B, C);
  args.a = A.pattern.with(A.values);
  products_of(on).multiply_sparse({scalar, A.pattern.block(), B.pattern.block().cols, false, args});
}

PlacedGalerkin::PlacedGalerkin(Backend& on, const GalerkinPatterns& of, BlockShape Q, BlockShape A, BlockShape P)
    : product_(on, of.product.view(), {A.rows, P.cols}),
      to_coarse_(on, of.to_coarse.pattern.view(), {Q.cols, Q.rows}),
      entry_of_(on, std::span<const count32>(of.to_coarse.entry_of)) {}

void multiply_galerkin(Backend& on, ScalarType scalar, const PlacedBlocks& Q, const PlacedBlocks& A,
                       const PlacedBlocks& P, const PlacedGalerkin& of, const PlacedBlocks& C) {
  const Buffer<std::byte> values(on, of.product_.scalars() * bytes_of(scalar));
  const PlacedBlocks fine{of.product_, values.data()};
  multiply(on, scalar, A, P, fine);
  sparse_product_args args = args_of(fine, C);
  args.a = of.to_coarse_.with(Q.values);
  args.entry_of = of.entry_of_.data();
  args.start_of = Q.pattern.with(nullptr).start;
  products_of(on).multiply_sparse({scalar, of.to_coarse_.block(), P.pattern.block().cols, true, args});
  on.synchronize();  // before what it reads is released
}

}  // namespace compound
