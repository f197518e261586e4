#include "cuda/sparse_product.hpp"

#include "cuda/kernel_source.hpp"

namespace compound::cuda {

namespace {

/// The lanes that make a block row of a product, and the bytes of it that are summed in shared memory: longer rows are
/// where they lie. Small enough for all the threads that a multiprocessor holds.
struct Group {
  int lanes, groups, tile_bytes;
};
constexpr Group of_rows{32, 4, 4 << 10}, of_long_rows{256, 1, 24 << 10};

}  // namespace

SparseProductKernel sparse_product_kernel(ScalarType scalar, BlockShape a, int width, bool transposed) {
  const Group& g = transposed ? of_long_rows : of_rows;
  std::string form;
  const auto constant = [&](const char* name, int value) {
    form += "  static constexpr int " + std::string(name) + " = " + std::to_string(value) + ";\n";
  };
  constant("rows", a.rows);
  constant("inner", a.cols);
  constant("width", width);
  constant("lanes", g.lanes);
  constant("groups", g.groups);
  constant("tile", g.tile_bytes / static_cast<int>(bytes_of(scalar)));
  const int threads = g.lanes * g.groups;
  return {"#include \"sparse_product.hpp\"\nusing namespace compound;\nstruct form {\n  using scalar = " +
              scalar_name(scalar) + ";\n  static constexpr bool transposed = " + (transposed ? "true" : "false") +
              ";\n" + form + "};\nextern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) + ") " +
              kernel_name + "(const __grid_constant__ sparse_product_args a) { multiply_block_rows<form>(a); }\n",
          g.groups, threads};
}

}  // namespace compound::cuda
