// The device text of products of sparse matrices, compiled for the host: the threads of a block are contexts that take
// turns, and meet as they do on a device. In a namespace of its own, so that no function of it can be the one that the
// rest of the program links to.
#include "emulated_sparse_products.hpp"

#include <sched.h>
#include <ucontext.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace emulated {

#include "emulated_block.hpp"

#include "device/sparse_product.hpp"

#include "emulated_text_end.hpp"

namespace {

using namespace compound;

template <class S, int Rows, int Inner, int Width, bool Transposed, int Tile>
struct Form {
  using scalar = S;
  static constexpr int rows = Rows, inner = Inner, width = Width;
  static constexpr bool transposed = Transposed;
  static constexpr int lanes = Transposed ? 96 : 32, groups = Transposed ? 1 : 3, tile = Tile;
};

template <class F>
void run(const void* from) {
  sparse_product_args args;
  std::memcpy(&args, from, sizeof(args));
  launch(unsigned((args.rows + F::groups - 1) / F::groups), F::lanes * F::groups,
         [&] { multiply_block_rows<F>(args); });
}

/// What some rows have, and others not.
constexpr int some = 100;

template <class S, int rows, int inner, int width>
bool run_as(const SparseProduct& p) {
  if (p.rows != rows || p.inner != inner || p.width != width) return false;
  if (p.transposed)
    p.sums_at_hand ? run<Form<S, rows, inner, width, true, some>>(p.args)
                   : run<Form<S, rows, inner, width, true, 0>>(p.args);
  else
    p.sums_at_hand ? run<Form<S, rows, inner, width, false, some>>(p.args)
                   : run<Form<S, rows, inner, width, false, 0>>(p.args);
  return true;
}

/// A B and Q^T B of multigrid: of blocks of n, and n rigid-body modes of m.
template <class S>
bool run_any(const SparseProduct& p) {
  return run_as<S, 1, 1, 1>(p) || run_as<S, 2, 2, 2>(p) || run_as<S, 3, 3, 3>(p) || run_as<S, 2, 2, 3>(p) ||
         run_as<S, 3, 2, 3>(p) || run_as<S, 3, 3, 6>(p) || run_as<S, 6, 3, 6>(p) || run_as<S, 6, 6, 6>(p) ||
         run_as<S, 6, 6, 3>(p) || run_as<S, 3, 6, 3>(p) || run_as<S, 2, 5, 1>(p);
}

}  // namespace

bool multiply_sparse(const SparseProduct& p) {
  return p.is_double ? run_any<double>(p) : run_any<complex_number<float>>(p);
}

}  // namespace emulated
