// Products of packed matrices on vectors in plain block order, and whether they are right.
#pragma once

#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "dense_reference.hpp"
#include "planner/default_plan.hpp"
#include "storage/packed.hpp"

namespace compound {

inline void PrintTo(const Plan& plan, std::ostream* out) { *out << to_string(plan); }

}  // namespace compound

namespace compound::test {

/// y = op(A) x, y = z + op(A) x with y apart from z, or in place.
enum class Form { assign, add, add_in_place };

constexpr Op ops[] = {Op::none, Op::transpose, Op::hermitian};
constexpr Form forms[] = {Form::assign, Form::add, Form::add_in_place};
constexpr const char* op_names[] = {"A", "A^T", "A^H"};
constexpr const char* form_names[] = {"y = ", "y = z + ", "y += "};

inline std::string product_name(Op op, Form form) {
  return std::string(form_names[static_cast<int>(form)]) + op_names[static_cast<int>(op)] + " x";
}

template <class S>
S not_a_number() {
  return S{std::numeric_limits<real_of<S>>::quiet_NaN()};
}

/// The definition of grouped<G> vectors: word k of block s of n words at (s / G) G n + k G + s % G.
inline std::size_t grouped_place(idx block, int k, int n, idx blocks, idx group) {
  const std::size_t g = group == group_all ? blocks : group, s = block;
  return s / g * g * n + k * g + s % g;
}

/// Plain block order to grouped; what belongs to no block is NaN, so that reading it shows.
template <class S>
std::vector<S> grouped(const std::vector<S>& v, int n, idx group) {
  const idx blocks = static_cast<idx>(v.size() / n);
  const idx whole_groups = group <= 1 ? blocks : (blocks + group - 1) / group * group;
  std::vector<S> to(std::size_t(whole_groups) * n, not_a_number<S>());
  for (idx b = 0; b < blocks; ++b)
    for (int k = 0; k < n; ++k) to[grouped_place(b, k, n, blocks, group)] = v[std::size_t(b) * n + k];
  return to;
}

template <class S>
std::vector<S> plain(const std::vector<S>& v, idx blocks, int n, idx group) {
  std::vector<S> to(std::size_t(blocks) * n);
  for (idx b = 0; b < blocks; ++b)
    for (int k = 0; k < n; ++k) to[std::size_t(b) * n + k] = v[grouped_place(b, k, n, blocks, group)];
  return to;
}

template <class S>
bool same_bits(const std::vector<S>& a, const std::vector<S>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(S)) == 0);
}

/// Without words=1:padded where it is refused, so that it can be crossed with everything else.
inline Plan padded_if_it_can(Plan plan, const Problem& problem) {
  if (plan.layout.padded && applicable(plan, problem)) plan.layout.padded = false;
  return plan;
}

/// Sizes of what op(A) reads and writes.
struct Ends {
  idx in_blocks, out_blocks;
  int in, out;
};

inline Ends ends_of(const Pattern& p, BlockShape b, Op op) {
  return op == Op::none ? Ends{p.cols, p.rows, b.cols, b.rows} : Ends{p.rows, p.cols, b.rows, b.cols};
}

/// A vector in a backend's memory: itself, or a copy that begins so many scalars into an allocation.
template <class S>
class Placed {
 public:
  Placed(Backend& on, std::vector<S>& v, std::size_t shift = 0) : on_(on), v_(v), shift_(shift) {
    if (!on.is_device()) return;
    copy_ = Buffer<S>(on, v.size() + shift);
    if (!v.empty()) on.upload(data(), v.data(), v.size() * sizeof(S));
  }
  S* data() const { return on_.is_device() ? copy_.data() + shift_ : v_.data(); }
  void bring_back() const {
    if (on_.is_device() && !v_.empty()) on_.download(v_.data(), data(), v_.size() * sizeof(S));
  }

 private:
  Backend& on_;
  std::vector<S>& v_;
  std::size_t shift_;
  Buffer<S> copy_;
};

/// By how many scalars the vectors of a product on a device are off the beginning of an allocation.
struct Shifts {
  std::size_t x = 0, z = 0, y = 0;
};

/// The product in plain block order. y begins as NaN unless it is z; x, and z if apart, must come back unchanged.
template <class S>
std::vector<S> multiplied(const PackedMatrix& A, const Ends& ends, Op op, Form form, const std::vector<S>& x,
                          const std::vector<S>& z, Shifts by = {}) {
  const idx group = A.plan().layout.vector_group;
  auto gx = grouped(x, ends.in, group);
  auto gz =
      grouped(form == Form::assign ? std::vector<S>(std::size_t(ends.out_blocks) * ends.out) : z, ends.out, group);
  auto y = form == Form::add_in_place ? gz : std::vector<S>(gz.size(), not_a_number<S>());
  const auto x_before = gx, z_before = gz;
  const Placed<S> px(A.backend(), gx, by.x), pz(A.backend(), gz, by.z), py(A.backend(), y, by.y);
  const S* from = form == Form::assign ? nullptr : form == Form::add ? pz.data() : py.data();
  A.multiply(op, form == Form::assign ? Update::assign : Update::add, px.data(), from, py.data());
  for (const Placed<S>* p : {&px, &pz, &py}) p->bring_back();
  EXPECT_TRUE(same_bits(gx, x_before)) << "x was written";
  EXPECT_TRUE(same_bits(gz, z_before)) << "z was written";
  return plain(y, ends.out_blocks, ends.out, group);
}

/// A matrix of random blocks, and the vectors of all its products.
template <class S>
struct Operands {
  const Pattern& pattern;
  std::string_view entry;
  BlockShape shape;
  std::vector<S> blocks, rows_vector, cols_vector, rows_z, cols_z;

  Operands(const Pattern& p, std::string_view kind, BlockShape b, Random& random)
      : pattern(p),
        entry(kind),
        shape(b),
        blocks(random_blocks<S>(kind, b, p.view().entries(), random)),
        rows_vector(random_vector<S>(std::size_t(p.rows) * b.rows, random)),
        cols_vector(random_vector<S>(std::size_t(p.cols) * b.cols, random)),
        rows_z(random_vector<S>(rows_vector.size(), random)),
        cols_z(random_vector<S>(cols_vector.size(), random)) {}

  static constexpr std::size_t few_scalars = 97;

  /// With as few different values as the plan's code has room for, if it has one.
  Operands&& for_codes_of(const Plan& plan) && {
    const ValueCode& code = value_code(plan.codes);
    const std::size_t size = std::size_t(shape.rows) * shape.cols;
    const std::size_t words = std::max(1, entry_shape(plan, problem()).words);
    std::size_t period = blocks.size();
    if (code.of == CodeOf::blocks) period = (code.most > 2 ? code.most - 1 : code.most) * size;
    if (code.of == CodeOf::words)
      period = entry == "dense" ? few_scalars : std::max<std::size_t>(1, 200 / words) * size;
    if (code.of == CodeOf::chunks) period = std::min(period, 20 * size);
    // Chunks that have codes come first, those that have none after them.
    const std::size_t end = code.of == CodeOf::chunks ? blocks.size() / size / 2 * size : blocks.size();
    // One or two large blocks have few scalars, too: another part of the matrix may have codes of scalars.
    if (code.of == CodeOf::blocks && code.most <= 2 && entry == "dense")
      for (std::size_t n = few_scalars; n < std::min(period, end); ++n) blocks[n] = blocks[n - few_scalars];
    for (std::size_t n = period; n < end; ++n) blocks[n] = blocks[n - period];
    return std::move(*this);
  }

  Problem problem() const { return {shape, scalar_type_of<S>()}; }
  const std::vector<S>& x(Op op) const { return op == Op::none ? cols_vector : rows_vector; }
  const std::vector<S>& z(Op op) const { return op == Op::none ? rows_z : cols_z; }
};

template <class S>
PackedMatrix packed(const Operands<S>& o, const Plan& plan, Backend& on = backend("host"),
                    TransposedValues transposed = TransposedValues::copy) {
  PackedMatrix A(o.pattern.view(), o.problem(), plan, on);
  A.prepare_transposed(o.pattern.view(), plan_of_transpose, transposed);
  A.update_values(o.blocks.data());
  return A;
}

template <class S>
std::vector<S> multiplied(const PackedMatrix& A, const Operands<S>& o, Op op, Form form, Shifts by = {}) {
  return multiplied(A, ends_of(o.pattern, o.shape, op), op, form, o.x(op), o.z(op), by);
}

/// NaN wherever in x no entry of op(A) reads: a product that changes has multiplied padding.
template <class S>
void spoil_what_is_not_read(Operands<S>& o, Op op) {
  const Pattern& p = o.pattern;
  std::vector<bool> read(op == Op::none ? p.cols : p.rows);
  for (idx row = 0; row < p.rows; ++row)
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) read[op == Op::none ? p.column[e] : row] = true;
  auto& x = op == Op::none ? o.cols_vector : o.rows_vector;
  const std::size_t n = op == Op::none ? o.shape.cols : o.shape.rows;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!read[i / n]) x[i] = not_a_number<S>();
}

/// What op(A) x is, with A's values as the plan stores them; of approximate entries as far as those are right.
template <class S>
Reference<S> reference_product(const Operands<S>& o, Precision stored, Op op, Form form) {
  const bool approximate = entry_kind(o.entry).approximate;
  const long double eps =
      stored == Precision::single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  return reference_product(o.pattern.view(), o.shape, approximate ? o.blocks : as_stored(o.blocks, stored), op, o.x(op),
                           form == Form::assign ? std::vector<S>{} : o.z(op), approximate ? 8 * eps : 0);
}

}  // namespace compound::test
