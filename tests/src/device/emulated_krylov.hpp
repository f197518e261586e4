// Krylov loops in one kernel, emulated: systems, what a loop has in memory, and its runs. To be included within a
// namespace, after emulated_block.hpp and device/krylov_whole.hpp.
#pragma once

namespace {

using namespace compound;

/// Of the basis of a null space: whether the constant is in it, and how many vectors beside.
struct Nulls {
  bool constant = false;
  int vectors = 0;
};

/// Three blocks of 2x2 a row, by rows with two lanes (or a scalar row each).
template <class S, KrylovNorm which, int columns_of_m, bool two, bool cg, bool is_hermitian, Traversal by,
          Nulls nulls = {}>
struct Form {
  using scalar = S;
  using state = std::conditional_t<cg, cg_state<S>, bcgs_state<S>>;
  using entry = dense<S, 2, 2>;
  using stored = S;
  using layout = compressed_rows<RowOrder::kept, columns32<>>;
  using words_code = plain_words<>;
  using value_index = own_values;
  static constexpr bool hermitian = is_hermitian, two_grid_syncs = two, diagonal = columns_of_m == 1;
  static constexpr bool keeps_words = by == Traversal::rows;
  static constexpr int columns = columns_of_m;
  static constexpr KrylovNorm norm = which;
  static constexpr int null_vectors = nulls.vectors + nulls.constant;
  static constexpr bool null_constant = nulls.constant;
  static constexpr slot_t word_group = 1, word_padding = 0, vector_group = 1;
  static constexpr int vector_access = 0;
  static constexpr WordOrder word_order = WordOrder::column;
  static constexpr Cache cache = Cache::keep;
  static constexpr Op op = Op::none;
  static constexpr Update update = Update::assign;
  static constexpr Traversal traversal = by;
  static constexpr int lanes = 2, at_once = 2;
  static constexpr Balance balance = Balance::grid;
  static constexpr Follow follow = !cg ? Follow::nothing : is_hermitian ? Follow::dot : Follow::bilinear;
};

template <class S>
S number(double re, double im) {
  if constexpr (is_complex<S>)
    return {re, im};
  else
    return re;
}
template <class S>
std::complex<double> value(S s) {
  if constexpr (is_complex<S>)
    return {s.re, s.im};
  else
    return s;
}

constexpr int rows = 45, scalars = 2 * rows, ring = 16, threads = 64;

/// A chain: Hermitian (or complex symmetric), and with a large diagonal.
template <class S>
struct System {
  std::vector<count32> start{0};
  std::vector<idx> column;
  std::vector<S> values, b, factors;
  std::vector<S> null_space;                             ///< vectors one after the other
  std::vector<std::vector<std::complex<double>>> basis;  ///< the same, after the constant if that is in it

  explicit System(bool hermitian) {
    for (int i = 0; i < rows; ++i) {
      for (int j = std::max(0, i - 1); j <= std::min(rows - 1, i + 1); ++j) {
        column.push_back(j);
        const double sign = hermitian ? (j > i) - (j < i) : 1;
        for (int c = 0; c < 2; ++c)
          for (int r = 0; r < 2; ++r)
            values.push_back(i != j   ? number<S>(-1 + 0.1 * (r + c), 0.05 * sign)
                             : r == c ? number<S>(6 + 0.05 * (i % 5) + 0.3 * r, 0)
                                      : number<S>(0.3, hermitian ? 0.1 * (c - r) : 0.02));
      }
      start.push_back(count32(column.size()));
    }
    for (int i = 0; i < scalars; ++i) {
      b.push_back(number<S>(std::sin(0.7 * i) + 0.3, 0.05 * std::cos(1.3 * i)));
      factors.push_back(number<S>(1 / (6 + 0.05 * (i / 2 % 5) + 0.3 * (i % 2)), 0));
    }
  }

  using Values = std::vector<std::complex<double>>;

  /// Two springs side by side that nothing holds, G L G^H for a graph's Laplacian L of each: the null space is that of
  /// both, in one basis or another. G is 1 where the constant is in it.
  explicit System(const Nulls& nulls) : System(true) {
    const auto g = [&](int i) {
      return nulls.constant ? 1 : std::polar(1 + 0.1 * (i % 3), is_complex<S> ? 0.4 * (i % 7) : 0);
    };
    for (int i = 0; i < rows; ++i)
      for (count32 e = start[i]; e < start[i + 1]; ++e)
        for (int k = 0; k < 4; ++k) {
          const int j = column[e];
          const double neighbours = (i > 0) + (i < rows - 1);
          const std::complex<double> v = g(i) * (i == j ? neighbours : -1.0) * std::conj(g(j));
          values[4 * e + k] = k == 0 || k == 3 ? number<S>(v.real(), v.imag()) : S{};
        }
    if (nulls.constant) basis.push_back(Values(scalars, 1 / std::sqrt(double(scalars))));
    for (int k = 0; k < nulls.vectors; ++k) {
      Values q(scalars);
      for (int i = 0; i < scalars; ++i)
        q[i] = nulls.constant ? (i % 2 ? -1 : 1) : i % 2 == k ? 1.0 / std::conj(g(i / 2)) : 0;
      double square = 0;
      for (const auto& v : q) square += std::norm(v);
      for (auto& v : q) v /= std::sqrt(square);
      for (const auto& v : q) null_space.push_back(number<S>(v.real(), v.imag()));
      basis.push_back(q);
    }
    Values of_b;
    for (const S& v : b) of_b.push_back(value(v));
    remove_null_space(of_b);
    for (int i = 0; i < scalars; ++i) b[i] = number<S>(of_b[i].real(), of_b[i].imag());
  }
  void remove_null_space(Values& v) const {
    for (const auto& q : basis) {
      std::complex<double> part = 0;
      for (int i = 0; i < scalars; ++i) part += std::conj(q[i]) * v[i];
      for (int i = 0; i < scalars; ++i) v[i] -= part * q[i];
    }
  }
  std::vector<S> zeros() const { return std::vector<S>(2 * (start.size() - 1), S{}); }
  int block_rows() const { return int(start.size()) - 1; }
  Values times(const Values& x) const {
    Values y(scalars);
    for (int i = 0; i < rows; ++i)
      for (count32 e = start[i]; e < start[i + 1]; ++e)
        for (int c = 0; c < 2; ++c)
          for (int r = 0; r < 2; ++r) y[2 * i + r] += value(values[4 * e + 2 * c + r]) * x[2 * column[e] + c];
    return y;
  }
  Values preconditioned(const Values& r, int columns) const {
    Values z = r;
    for (int i = 0; i < scalars; ++i)
      if (columns) z[i] *= value(factors[i]);
    remove_null_space(z);
    return z;
  }
};

struct Ran {
  std::vector<double> norms, inverse_steps, growths;
  std::vector<std::complex<double>> x;
  int stop = 0;
};

/// A loop in one kernel, and what it has in memory.
template <class F>
struct Loop {
  using S = typename F::scalar;

  explicit Loop(const System<S>& s) : system(s), vectors(most_krylov_vectors, s.zeros()), other(s.zeros()) {
    a.loop.state = &state;
    a.loop.factors = s.factors.data();
    a.loop.null_space = s.null_space.data();
    a.loop.of_constant = 1 / std::sqrt(double(scalars));
    for (int v = 0; v < most_krylov_vectors; ++v) a.loop.vectors[v] = vectors[v].data();
    a.loop.scalars = slot_t(other.size());
    a.loop.sum = {partials.data(), tickets.data()};
    a.loop.report = &report;
    a.loop.news = news.data();
    a.loop.ring = ring;
    a.product = product_of(s, s.block_rows());
    a.syncs = &syncs;
    a.places = places.data();
    a.other = other.data();
  }
  Loop(const Loop&) = delete;

  static product_args product_of(const System<S>& s, idx columns) {
    product_args product;
    product.layout.positions = s.block_rows();
    product.layout.slots = slot_t(s.column.size());
    product.layout.array[compressed_rows_arrays::start] = s.start.data();
    product.layout.array[compressed_rows_arrays::columns] = s.column.data();
    product.x_blocks = columns;
    product.y_blocks = s.block_rows();
    product.value_slots = slot_t(s.column.size());
    product.values = s.values.data();
    return product;
  }

  /// From 0, by the stages as kernels. Vectors from the given one on begin as the right-hand side does.
  void start(int first_vector) {
    vectors[cg_vectors::r] = system.b;
    for (int v = first_vector; v < most_krylov_vectors; ++v) vectors[v] = system.b;
    state.below = -1;
    state.above = INFINITY;
    state.most = 1 << 30;
    const auto stage = [&](auto work) {
      launch(1, threads, [&] {
        queued_kernels g;
        work(g);
      });
    };
    if constexpr (requires { state.curvature; }) {
      stage([&](auto& g) { cg_step<F>(a.loop, state, g); });
      if constexpr (F::null_vectors > 0) stage([&](auto& g) { cg_project<F>(a.loop, state, g); });
      stage([&](auto& g) { cg_turn<F>(a.loop, state, g); });
    } else {
      stage([&](auto& g) { bcgs_step<F>(a.loop, state, g); });
      stage([&](auto& g) { bcgs_turn<F>(a.loop, state, g); });
    }
    hear();
  }
  /// Runs of at most `at_once` iterations each, as the host would start them.
  void go_on(double below, int at_once, int most) {
    do {
      state.stop = 0;
      state.below = below;
      state.most = std::min(state.norms + at_once, most + 1);
      launch(1, threads, [&] { krylov_whole<F>(a); });
      hear();
    } while (state.stop == int(KrylovStop::iterations) && state.norms <= most);
    made.stop = state.stop;
    made.x.clear();
    for (const S& x : vectors[cg_vectors::x]) made.x.push_back(value(x));
  }
  void hear() {
    for (int i = int(made.norms.size()); i < state.norms; ++i) {
      made.norms.push_back(news[i % ring].norm);
      made.inverse_steps.push_back(news[i % ring].inverse_step);
      made.growths.push_back(news[i % ring].growth);
    }
  }

  const System<S>& system;
  std::vector<std::vector<S>> vectors;
  std::vector<S> other, partials = std::vector<S>(most_krylov_sums * partials_of(1));
  std::vector<krylov_news> news = std::vector<krylov_news>(ring);
  signal syncs = 0;
  std::vector<signal> places = std::vector<signal>(signals_of_places(1));
  std::vector<unsigned> tickets = std::vector<unsigned>(tickets_of(1));
  typename F::state state{};
  krylov_report report;
  whole_args a;
  Ran made;
};

template <class F>
Ran run(const System<typename F::scalar>& s, int first_vector, double below, int at_once, int most) {
  Loop<F> loop(s);
  loop.start(first_vector);
  loop.go_on(below, at_once, most);
  return loop.made;
}

}  // namespace
