#include "storage/device_product.hpp"

#include "base/error.hpp"

namespace compound {

namespace {

/// Of a product with B, but for its left operand.
sparse_product_args args_of(const PlacedBlocks& B, const PlacedBlocks& C) {
  sparse_product_args args;
  const block_rows_args c = C.pattern.with(nullptr);
  args.b = B.pattern.with(B.values);
  args.rows = C.pattern.rows().rows;
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
    : rows_{from.rows, from.cols, {on, from.start}, {on, from.column}}, block_(block) {}

Pattern PlacedPattern::pattern(Backend& on) const {
  Pattern p{rows_.rows, rows_.cols, std::vector<count32>(rows_.start.bytes() / sizeof(count32)),
            std::vector<idx>(entries())};
  on.download(p.start.data(), rows_.start.data(), rows_.start.bytes());
  if (entries() > 0) on.download(p.column.data(), rows_.column.data(), rows_.column.bytes());
  return p;
}

std::optional<PlacedPattern> product_pattern(Backend& on, const PlacedPattern& A, const PlacedPattern& B, bool with_b) {
  auto rows = products_of(on).product_pattern(A.rows(), B.rows(), with_b);
  if (!rows) return {};
  return PlacedPattern(*std::move(rows), {A.block().rows, B.block().cols});
}

void multiply(Backend& on, ScalarType scalar, const PlacedBlocks& A, const PlacedBlocks& B, const PlacedBlocks& C) {
  sparse_product_args args = args_of(B, C);
  args.a = A.pattern.with(A.values);
  products_of(on).multiply_sparse({scalar, A.pattern.block(), B.pattern.block().cols, false, args});
}

double multiplications(const PlacedPattern& A, const PlacedPattern& product) {
  return product.rows().products * static_cast<double>(scalars_in(A.block())) * product.block().cols;
}

double PlacedGalerkin::multiplications(const PlacedPattern& A, const PlacedPattern& result) const {
  return compound::multiplications(A, product_) + compound::multiplications(to_coarse_, result);
}

PlacedGalerkin::PlacedGalerkin(Backend& on, const GalerkinPatterns& of, BlockShape Q, BlockShape A, BlockShape P)
    : product_(on, of.product.view(), {A.rows, P.cols}),
      to_coarse_(on, of.to_coarse.pattern.view(), {Q.cols, Q.rows}),
      entry_of_(on, std::span<const count32>(of.to_coarse.entry_of)) {}

std::optional<PlacedGalerkin::Found> PlacedGalerkin::find(Backend& on, const PlacedPattern& Q, const PlacedPattern& A,
                                                          const PlacedPattern& P) {
  auto fine = product_pattern(on, A, P, false);
  auto to_coarse = products_of(on).transposed(Q.rows());
  if (!fine || !to_coarse) return {};
  PlacedGalerkin way(*std::move(fine), *std::move(to_coarse), Q.block());
  auto result = product_pattern(on, way.to_coarse_, way.product_, false);
  if (!result) return {};
  return Found{std::move(way), *std::move(result)};
}

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
