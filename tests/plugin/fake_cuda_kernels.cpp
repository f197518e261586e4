// Kernels of PETSc 3.26.1's vectors, run on the host. Comments have their arguments in parentheses.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "fake_cuda.hpp"

namespace fake_cuda {

namespace {

struct Launch {
  const std::string& name;
  void** arguments;

  template <class T>
  T argument(int i) const {
    return *static_cast<const T*>(arguments[i]);
  }
  /// A pointer to so many T of the device.
  template <class T>
  T* memory(int i, std::size_t count) const {
    return checked(argument<T*>(i), count > 0, name.c_str());
  }
  /// Or null.
  const int* list(int i) const { return checked(argument<const int*>(i), argument<const int*>(i), name.c_str()); }
  bool says(std::string_view word) const { return name.find(word) != std::string::npos; }
};

/// fill(count, {where, value})
void fill(const Launch& l) {
  struct Filled {
    Scalar* where;
    alignas(sizeof(Scalar)) Scalar value;
  };
  const auto count = l.argument<std::size_t>(0);
  const auto filled = l.argument<Filled>(1);
  std::fill_n(checked(filled.where, count > 0, "fill"), count, filled.value);
}

/// Sums of (from, sum, count, operator, first).
void sum(const Launch& l) {
  const std::size_t count = l.argument<unsigned>(2);
  const auto* const from = l.memory<const Scalar>(0, count);
  auto total = l.argument<Scalar>(4);
  for (std::size_t i = 0; i < count; ++i) total += from[i];
  *l.memory<Scalar>(1, 1) = total;
}

/// Of the sizes of (from, largest, count); NaN where one is.
void largest_size(const Launch& l) {
  const std::size_t count = l.argument<unsigned>(2);
  const auto* const from = l.memory<const Scalar>(0, count);
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const double size = std::abs(from[i]); !std::isnan(largest) && !(size <= largest)) largest = size;
  *l.memory<double>(1, 1) = largest;
}

/// s^H t and t^H t of ({s, t}, both sums, count).
void sums_of_two(const Launch& l) {
  const std::size_t count = l.argument<unsigned>(2);
  const auto operands = l.argument<std::array<const Scalar*, 2>>(0);
  auto* const sums = l.memory<Scalar>(1, 2);
  for (const Scalar* operand : operands) checked(operand, count > 0, "dotnorm2");
  sums[0] = sums[1] = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sums[0] += operands[0][i] * conjugate(operands[1][i]);
    sums[1] += operands[1][i] * conjugate(operands[1][i]);
  }
}

/// Of (count, items of a thread, operator, to, from).
template <class F>
void each_of_one(const Launch& l, const F& f) {
  const std::size_t count = l.argument<int>(0);
  auto* const to = l.memory<Scalar>(3, count);
  const auto* const from = l.memory<const Scalar>(4, count);
  for (std::size_t i = 0; i < count; ++i) to[i] = f(from[i]);
}
template <class F>
void each_of_two(const Launch& l, const F& f) {
  const std::size_t count = l.argument<int>(0);
  auto* const to = l.memory<Scalar>(3, count);
  const Scalar *const a = l.memory<const Scalar>(4, count), *const b = l.memory<const Scalar>(5, count);
  for (std::size_t i = 0; i < count; ++i) to[i] = f(a[i], b[i]);
}

void shift(const Launch& l) {
  each_of_one(l, [by = l.argument<Scalar>(2)](Scalar s) { return s + by; });
}
void invert(const Launch& l) {
  each_of_one(l, [](Scalar s) { return s == Scalar(0) ? s : Scalar(1) / s; });
}
void take_sizes(const Launch& l) {
  each_of_one(l, [](Scalar s) { return Scalar(std::abs(s)); });
}
void take_roots(const Launch& l) {
  each_of_one(l, [](Scalar s) { return Scalar(std::sqrt(std::abs(s))); });
}
void take_conjugates(const Launch& l) {
  each_of_one(l, [](Scalar s) { return conjugate(s); });
}
void multiply(const Launch& l) {
  each_of_two(l, [](Scalar a, Scalar b) { return a * b; });
}

/// Of a kernel for several vectors, which are its last arguments.
int vectors_of(const Launch& l) {
  const std::string types = l.name.substr(l.name.find('<'), l.name.find(">(") - l.name.find('<'));
  return static_cast<int>(std::count(types.begin(), types.end(), '*'));
}
constexpr int blocks_of_dots = 128;

/// Parts of inner products by the blocks of threads of (x, count, parts, y...); here the first has all.
void parts_of_dots(const Launch& l) {
  const std::size_t count = l.argument<int>(1);
  const auto* const x = l.memory<const Scalar>(0, count);
  auto* parts = l.memory<Scalar>(2, 1);
  for (int k = 0; k < vectors_of(l); ++k, parts += blocks_of_dots) {
    const auto* const y = l.memory<const Scalar>(3 + k, count);
    std::fill_n(parts, blocks_of_dots, Scalar(0));
    for (std::size_t i = 0; i < count; ++i) *parts += x[i] * y[i];
  }
}

/// (count, parts): inner products take the place of the first parts.
void dots_of_parts(const Launch& l) {
  auto* const parts = l.memory<Scalar>(1, 1);
  for (int k = 0; k < l.argument<int>(0); ++k) {
    Scalar total = 0;
    for (int i = 0; i < blocks_of_dots; ++i) total += parts[k * blocks_of_dots + i];
    parts[k] = total;
  }
}

/// x += alpha y + ... of (count, x, alphas, y...).
void add_multiples(const Launch& l) {
  const std::size_t count = l.argument<int>(0);
  auto* const x = l.memory<Scalar>(1, count);
  const auto* const alphas = static_cast<const Scalar*>(l.arguments[2]);
  for (int k = 0; k < vectors_of(l); ++k) {
    const auto* const y = l.memory<const Scalar>(3 + k, count);
    for (std::size_t i = 0; i < count; ++i) x[i] += alphas[k] * y[i];
  }
}

/// Where item i is of a star forest's side that has no list: boxes of a grid (PetscSFPackOpt), or one after the other.
int place_in_boxes(const int* boxes, int first, int i) {
  if (!boxes) return first + i;
  const int count = boxes[0];
  const int *const offset = boxes + 1, *const start = offset + count + 1, *const dx = start + count,
                   *const dy = dx + count, *const X = dy + 2 * count, *const Y = X + count;
  int box = 0;
  while (box < count && i >= offset[box + 1]) ++box;
  const int of_box = i - offset[box], plane = dx[box] * dy[box];
  const int z = of_box / plane, y = of_box % plane / dx[box], x = of_box % plane % dx[box];
  return start[box] + (z * Y[box] + y) * X[box] + x;
}

void unpack(const Launch& l, Scalar& to, Scalar from) {
  if (l.says("::Add<") || l.says("AtomicAdd<"))
    to += from;
  else if (l.says("::Insert<") || l.says("AtomicInsert<"))
    to = from;
  else
    stop("no such operation: " + l.name);
}

/// (scalars of an item, items, first, boxes, list, data, buffer)
void pack_or_unpack(const Launch& l) {
  const int size = l.argument<int>(0), count = l.argument<int>(1), first = l.argument<int>(2);
  const auto *const boxes = l.list(3), *const list = l.list(4);
  Scalar *const data = l.memory<Scalar>(5, count), *const buffer = l.memory<Scalar>(6, count);
  const bool packs = l.says("::d_Pack<");
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < size; ++k) {
      Scalar& of_data = data[(list ? list[i] : place_in_boxes(boxes, first, i)) * size + k];
      Scalar& of_buffer = buffer[i * size + k];
      if (packs)
        of_buffer = of_data;
      else
        unpack(l, of_data, of_buffer);
    }
}

/// (scalars of an item, items, then of both sides: dx, dy, X, Y, first, list, data)
void scatter(const Launch& l) {
  const int size = l.argument<int>(0), count = l.argument<int>(1);
  const auto place = [&l](int side, int i) {
    if (const auto* const list = l.list(side + 5)) return list[i];
    const int dx = l.argument<int>(side), dy = l.argument<int>(side + 1);
    const int X = l.argument<int>(side + 2), Y = l.argument<int>(side + 3);
    const int z = i / (dx * dy), y = i % (dx * dy) / dx, x = i % (dx * dy) % dx;
    return l.argument<int>(side + 4) + (z * Y + y) * X + x;
  };
  constexpr int from = 2, to = 9, data = 6;  // sides, and what they end with
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < size; ++k)
      unpack(l, l.memory<Scalar>(to + data, count)[place(to, i) * size + k],
             l.memory<const Scalar>(from + data, count)[place(from, i) * size + k]);
}

struct KernelRow {
  std::string_view words[2];  ///< that its name has
  void (*run)(const Launch&);
};
constexpr KernelRow kernels[] = {
    {{"__fill::functor<", ""}, fill},
    {{"DeviceReduceSingleTileKernel<", "dotnorm2_mult"}, sums_of_two},
    {{"DeviceReduceSingleTileKernel<", "detail::NormMax"}, largest_size},
    {{"DeviceReduceSingleTileKernel<", "plus<"}, sum},
    {{"transform_kernel<", "functors::plus_equals<"}, shift},
    {{"transform_kernel<", "detail::Reciprocal,"}, invert},
    {{"transform_kernel<", "detail::AbsoluteValue,"}, take_sizes},
    {{"transform_kernel<", "detail::SquareRootAbsoluteValue,"}, take_roots},
    {{"transform_kernel<", "detail::conjugate,"}, take_conjugates},
    {{"transform_kernel<", "detail::multiplies,"}, multiply},
    {{"::MDot_kernel<", ""}, parts_of_dots},
    {{"::sum_kernel(", ""}, dots_of_parts},
    {{"::MAXPY_kernel<", ""}, add_multiples},
    {{"sf::cupm::kernels::d_Pack<", ""}, pack_or_unpack},
    {{"sf::cupm::kernels::d_UnpackAndOp<", ""}, pack_or_unpack},
    {{"sf::cupm::kernels::d_ScatterAndOp<", ""}, scatter},
};

}  // namespace

void run_kernel(const std::string& name, void** arguments) {
  const Launch l{name, arguments};
  const auto* const row = std::find_if(std::begin(kernels), std::end(kernels),
                                       [&l](const KernelRow& k) { return l.says(k.words[0]) && l.says(k.words[1]); });
  if (row == std::end(kernels)) stop("no row for the kernel " + name);
  row->run(l);
}

}  // namespace fake_cuda
