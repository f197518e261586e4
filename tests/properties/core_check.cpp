// Properties of packed matrices of the core.
#include <setjmp.h>
#include <signal.h>

#include <gtest/gtest-spi.h>

#include <memory>
#include <sstream>

#include "base/error.hpp"
#include "check.hpp"
#include "host/instruction_set.hpp"
#include "planner/default_plan.hpp"
#include "support/fenced.hpp"
#include "support/row_words.hpp"

namespace compound::test {

namespace {

template <class S>
class CoreCheck {
 public:
  CoreCheck(const Case& c, bool broken)
      : case_(c),
        broken_(broken && c.pattern.column.size() > 3),
        plan_(parse_plan(c.plan, {})),
        on_(backend(c.backend)),
        o_(operands_of<S>(c, plan_, c.seed)),
        A_(made(o_)) {}

  using Message = std::string;  ///< empty: the property holds
  struct Property {
    const char* name;
    Message (CoreCheck::*holds)();
  };
  static constexpr Property properties[] = {
      {"agrees with the definition", &CoreCheck::definition},
      {"repeats bit by bit", &CoreCheck::repeats},
      {"is linear", &CoreCheck::linear},
      {"leaks nothing", &CoreCheck::leaks_nothing},
      {"transposes twice to itself", &CoreCheck::transposes},
      {"has the diagonals of the definition", &CoreCheck::diagonals},
      {"takes new values", &CoreCheck::takes_new_values},
  };
  Message holds(const Property& p) { return (this->*p.holds)(); }

 private:
  struct Made {
    std::vector<S> values;  ///< in the order of the case
    std::unique_ptr<Fenced<S>> fenced;
    PackedMatrix A;
    const S* data() const { return fenced ? fenced->data() : values.data(); }
  };

  Made made(const Operands<S>& o) const { return made(o, plan_); }
  Made made(const Operands<S>& o, const Plan& plan) const {
    const Problem problem{o.shape, case_.scalar, case_.order};
    Made m{case_.order == ValueOrder::rows ? in_rows(o.pattern, o.shape, o.blocks) : o.blocks,
           nullptr,
           {o.pattern.view(), problem, plan, on_}};
    if (case_.fenced) m.fenced = std::make_unique<Fenced<S>>(m.values);
    m.A.prepare_transposed(o.pattern.view(), plan_of_transpose, case_.transposed);
    m.A.update_values(m.data());
    return m;
  }

  std::vector<S> product(const Made& m, const Operands<S>& o, Op op, Form form, const std::vector<S>& x) const {
    const Ends ends = ends_of(o.pattern, o.shape, op);
    auto y = case_.fenced ? within_fences(m.A, ends, op, form, x, o.z(op))
                          : multiplied(m.A, ends, op, form, x, o.z(op), shifts());
    if (broken_ && !y.empty()) y.back() += S(1);
    return y;
  }
  std::vector<S> product(const Made& m, const Operands<S>& o, Op op, Form form) const {
    return product(m, o, op, form, o.x(op));
  }
  Shifts shifts() const {
    const std::size_t n = static_cast<std::size_t>(case_.shift);
    return {n, n, n};
  }

  static std::vector<S> within_fences(const PackedMatrix& A, const Ends& ends, Op op, Form form,
                                      const std::vector<S>& x, const std::vector<S>& z) {
    const idx group = A.plan().layout.vector_group;
    const Fenced<S> in(grouped(x, ends.in, group)), add(grouped(z, ends.out, group));
    const std::vector<S> before = grouped(z, ends.out, group);
    const Fenced<S> out(form == Form::add_in_place ? before : std::vector<S>(before.size(), not_a_number<S>()));
    const S* from = form == Form::assign ? nullptr : form == Form::add ? add.data() : out.data();
    A.multiply(op, form == Form::assign ? Update::assign : Update::add, in.data(), from, out.data());
    return plain(std::vector<S>(out.data(), out.data() + before.size()), ends.out_blocks, ends.out, group);
  }

  /// Sums in an order that hangs on chance.
  bool repeats_bits() const {
    for (const Plan& part : parts(plan_))
      if (part.schedule.carries == Carries::atomic) return false;
    return true;
  }

  Reference<S> reference(const Operands<S>& o, Op op, Form form) const {
    return reference_product(o, plan_.values, op, form);
  }

  /// f(op, form) until it has a message.
  template <class F>
  Message first_of(const F& f) const {
    Message first;
    for_each_product(case_, [&](Op op, Form form) {
      if (!first.empty()) return;
      first = f(op, form);
      if (!first.empty()) first = product_name(op, form) + ": " + first;
    });
    return first;
  }
  static Message message_of(const testing::AssertionResult& result) { return result ? "" : result.message(); }
  /// The same bits; of sums by chance as near as rounding is.
  Message same(const std::vector<S>& y, const std::vector<S>& again, const Reference<S>& r, const char* what) const {
    if (repeats_bits()) return same_bits(y, again) ? "" : what;
    return message_of(agrees(again, r));
  }

  Message definition() {
    return first_of(
        [&](Op op, Form form) { return message_of(agrees(product(A_, o_, op, form), reference(o_, op, form))); });
  }

  Message repeats() {
    if (!repeats_bits()) return {};
    const Made again = made(o_);
    return first_of([&](Op op, Form form) -> Message {
      const auto y = product(A_, o_, op, form);
      if (!same_bits(y, product(A_, o_, op, form))) return "the second product has other bits";
      return same_bits(y, product(again, o_, op, form)) ? "" : "another packed copy gives other bits";
    });
  }

  Message linear() {
    Random random(case_.seed + 1);
    return first_of([&](Op op, Form) -> Message {
      auto other = o_;
      auto& v = op == Op::none ? other.cols_vector : other.rows_vector;
      v = random_vector<S>(v.size(), random);
      auto sum = o_, twice = o_;
      auto& u = op == Op::none ? sum.cols_vector : sum.rows_vector;
      u = combined(o_.x(op), v);
      for (S& s : op == Op::none ? twice.cols_vector : twice.rows_vector) s = S(2) * s;
      const auto y = product(A_, o_, op, Form::assign), of_v = product(A_, other, op, Form::assign);
      auto of_sum = product(A_, sum, op, Form::assign);
      const Reference<S> y_is = reference(o_, op, Form::assign), v_is = reference(other, op, Form::assign),
                         sum_is = reference(sum, op, Form::assign);
      if (auto why = why_not_linear(y, y_is, of_v, v_is, of_sum, sum_is); !why.empty()) return why;
      if (broken_ || !repeats_bits()) return {};
      const auto doubled = product(A_, twice, op, Form::assign);
      for (std::size_t i = 0; i < y.size(); ++i)
        if (!(doubled[i] == S(2) * y[i])) return "A (2 x) is not 2 A x, bit by bit, in scalar " + std::to_string(i);
      return {};
    });
  }

  Message leaks_nothing() {
    Random random(case_.seed + 2);
    if (auto why = first_of([&](Op op, Form form) {
          auto spoilt = o_;
          spoil_what_is_not_read(spoilt, op);
          return same(product(A_, o_, op, form), product(A_, spoilt, op, form), reference(o_, op, form),
                      "NaN in x where no entry reads changes bits");
        });
        !why.empty())
      return why;
    if (auto why = first_of([&](Op op, Form form) { return reaches_of_x(op, form, random); }); !why.empty()) return why;
    return reaches_of_values(random);
  }

  Message reaches_of_x(Op op, Form form, Random& random) {
    const Ends ends = ends_of(o_.pattern, o_.shape, op);
    if (ends.in_blocks == 0) return {};
    using R = real_of<S>;
    const idx drawn[] = {0, ends.in_blocks - 1, random.below(ends.in_blocks), random.below(ends.in_blocks)};
    const idx at = drawn[random.below(4)];
    const int k = random.below(ends.in);
    const bool infinite = random.below(2);
    auto x = o_.x(op);
    x[std::size_t(at) * ends.in + k] =
        S{infinite ? std::numeric_limits<R>::infinity() : std::numeric_limits<R>::quiet_NaN()};
    const Message found = beyond(reach_of_x(o_, op, at, k), product(A_, o_, op, form, x));
    return found.empty() ? ""
                         : std::string(infinite ? "infinity" : "NaN") + " in scalar " + std::to_string(k) +
                               " of block " + std::to_string(at) + " of x: " + found;
  }

  /// A block with NaN is of no kind but dense, and codes have room for it where they are more than two. One such block
  /// is not symmetric.
  Message reaches_of_values(Random& random) {
    const ValueCode& code = value_code(plan_.codes);
    if (plan_.entry != "dense" || plan_.half != Half::none || o_.blocks.empty() ||
        (code.of != CodeOf::nothing && code.most <= 2))
      return {};
    auto spoilt = o_;
    const int words = scalars_in(o_.shape);
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(o_.blocks.size())));
    spoilt.blocks[at] = not_a_number<S>();
    const count32 e = static_cast<count32>(at / words);
    const int i = static_cast<int>(at) % words % o_.shape.rows, j = static_cast<int>(at) % words / o_.shape.rows;
    const auto& start = o_.pattern.start;
    const idx row = static_cast<idx>(std::ranges::upper_bound(start, e) - start.begin()) - 1;
    const Made m = made(spoilt);
    return first_of([&](Op op, Form form) {
      Reach reach{std::vector<bool>(o_.z(op).size()), {}};
      const std::size_t to =
          op == Op::none ? std::size_t(row) * o_.shape.rows + i : std::size_t(o_.pattern.column[e]) * o_.shape.cols + j;
      reach.must[to] = true;
      reach.may = reach.must;
      const Message found = beyond(reach, product(m, o_, op, form));
      return found.empty() ? ""
                           : "NaN in scalar (" + std::to_string(i) + "," + std::to_string(j) + ") of entry " +
                                 std::to_string(e) + ": " + found;
    });
  }

  Message transposes() {
    if (auto why = transposed_twice(); !why.empty()) return why;
    const auto y = product(A_, o_, Op::none, Form::assign);
    const Reference<S> y_is = reference(o_, Op::none, Form::assign);
    for (const Op op : {Op::transpose, Op::hermitian}) {
      const auto t = product(A_, o_, op, Form::assign);
      const Reference<S> t_is = reference(o_, op, Form::assign);
      wide_of<S> left{}, right{};
      long double bound = 0;
      const auto conjugated = [&](S s) { return widened(op == Op::hermitian ? conjugate(s) : s); };
      for (std::size_t i = 0; i < y.size(); ++i) {
        left += conjugated(o_.rows_vector[i]) * widened(y[i]);
        bound += magnitude(o_.rows_vector[i]) * (y_is.bound[i] * 2 + 1e-18L * magnitude(y[i]));
      }
      for (std::size_t j = 0; j < t.size(); ++j) {
        right += conjugated(t[j]) * widened(o_.cols_vector[j]);
        bound += magnitude(o_.cols_vector[j]) * (t_is.bound[j] * 2 + 1e-18L * magnitude(t[j]));
      }
      left -= right;
      if (!(magnitude(left) <= bound + 1e-15L * (y.size() + t.size())))
        return "<w, A x> is not <" + std::string(op_names[static_cast<int>(op)]) + " w, x>";
    }
    return by_transposed_pattern();
  }

  /// Patterns: columns sorted, entries of one column in their order.
  Message transposed_twice() const {
    const Transposed t = transposed(o_.pattern.view()), twice = transposed(t.pattern.view());
    const Pattern& p = o_.pattern;
    if (twice.pattern.start != p.start || twice.pattern.rows != p.rows || twice.pattern.cols != p.cols)
      return "the pattern of (A^T)^T has other rows";
    for (idx row = 0; row < p.rows; ++row) {
      std::vector<count32> entries;
      for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) entries.push_back(e);
      std::ranges::stable_sort(entries, {}, [&](count32 e) { return p.column[e]; });
      for (std::size_t k = 0; k < entries.size(); ++k) {
        const count32 at = p.start[row] + static_cast<count32>(k);
        if (twice.pattern.column[at] != p.column[entries[k]] || t.entry_of[twice.entry_of[at]] != entries[k])
          return "(A^T)^T has other entries in row " + std::to_string(row);
      }
    }
    return {};
  }

  /// A^T as a matrix of its own, of dense blocks.
  Message by_transposed_pattern() const {
    const Transposed t = transposed(o_.pattern.view());
    const BlockShape b{o_.shape.cols, o_.shape.rows};
    Random random(case_.seed);
    Operands<S> T(t.pattern, "dense", b, random);
    for (std::size_t e = 0; e < t.entry_of.size(); ++e)
      for (int i = 0; i < b.rows; ++i)
        for (int j = 0; j < b.cols; ++j)
          T.blocks[(e * b.cols + j) * b.rows + i] = o_.blocks[(std::size_t(t.entry_of[e]) * b.rows + i) * b.cols + j];
    Plan plan = plan_;
    plan.entry = "dense";
    plan.codes = "none";
    const Problem problem{b, case_.scalar, case_.order};
    plan = padded_if_it_can(plan, problem);
    if (why_not(plan, problem, on_)) return {};
    T.cols_vector = o_.rows_vector;
    const auto y = product(made(T, plan), T, Op::none, Form::assign);
    const Message why =
        message_of(agrees(y, reference_product(o_.pattern.view(), o_.shape, as_stored(o_.blocks, plan.values),
                                               Op::transpose, o_.rows_vector, {})));
    return why.empty() ? "" : "the transposed pattern with transposed blocks: " + why;
  }

  Message diagonals() {
    const int n = o_.shape.rows;
    if (n != o_.shape.cols || o_.pattern.rows != o_.pattern.cols || entry_kind(o_.entry).approximate) return {};
    const auto blocks = as_stored(o_.blocks, plan_.values);
    const std::size_t size = std::size_t(n) * n, rows = o_.pattern.rows;
    std::vector<S> wanted(rows * size), found(rows * n, not_a_number<S>()), inverses(rows * size, not_a_number<S>());
    std::vector<int> times(rows);
    for (idx row = 0; row < o_.pattern.rows; ++row)
      for (count32 e = o_.pattern.start[row]; e < o_.pattern.start[row + 1]; ++e)
        if (o_.pattern.column[e] == row) {
          ++times[row];
          for (std::size_t k = 0; k < size; ++k) wanted[row * size + k] += blocks[e * size + k];
        }
    const Placed<S> to(on_, found);
    A_.A.diagonal(to.data());
    to.bring_back();
    for (std::size_t row = 0; row < rows; ++row)
      for (int i = 0; i < n; ++i)
        if (!(found[row * n + i] == wanted[row * size + i * (n + 1)]))
          return "scalar " + std::to_string(row * n + i) + " of the diagonal is another";
    if (case_.values != Values::regular) return {};
    const Placed<S> inverse(on_, inverses);
    const auto bad = A_.A.invert_diagonal(inverse.data());
    inverse.bring_back();
    std::optional<idx> missing;
    for (std::size_t row = 0; row < rows; ++row) {
      if (times[row] == 0 && !missing) missing = static_cast<idx>(row);
      const long double off = times[row] ? off_inverse(&wanted[row * size], &inverses[row * size], n)
                                         : largest(&inverses[row * size], size);
      if (!(off <= (times[row] ? 16 * n * std::numeric_limits<real_of<S>>::epsilon() : 0)))
        return "the inverse of diagonal block " + std::to_string(row) + " is another";
    }
    return bad == missing ? "" : "the first row without a diagonal block is another";
  }
  static long double largest(const S* a, std::size_t count) {
    long double most = 0;
    for (std::size_t k = 0; k < count; ++k) most = magnitude(a[k]) <= most ? most : magnitude(a[k]);
    return most;
  }
  /// |a b - 1|, the largest of its scalars.
  static long double off_inverse(const S* a, const S* b, int n) {
    long double most = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        wide_of<S> sum = widened(S(i == j ? -1 : 0));
        for (int k = 0; k < n; ++k) sum += widened(a[i + k * n]) * widened(b[k + j * n]);
        if (!(magnitude(sum) <= most)) most = magnitude(sum);
      }
    return most;
  }

  Message takes_new_values() {
    const Operands<S> other = operands_of<S>(case_, plan_, case_.seed + 3);
    Made changed = made(o_);
    const Made fresh = made(other);
    changed.A.update_values(fresh.data());
    return first_of([&](Op op, Form form) -> Message {
      const auto y = product(changed, other, op, form);
      if (auto why = message_of(agrees(y, reference(other, op, form))); !why.empty()) return why;
      return same(y, product(fresh, other, op, form), reference(other, op, form),
                  "a matrix packed from them has other bits");
    });
  }

  const Case& case_;
  bool broken_;
  Plan plan_;
  Backend& on_;
  Operands<S> o_;
  Made A_;
};

sigjmp_buf after_fault;

/// Memory beyond a fence ends the check, not the program. Sanitizers say more about it.
class FaultsAreCaught {
 public:
  FaultsAreCaught() {
    struct sigaction action = {};
    action.sa_handler = [](int) { siglongjmp(after_fault, 1); };
    action.sa_flags = SA_NODEFER;
    for (int i = 0; i < count; ++i) sigaction(signals[i], &action, &before_[i]);
  }
  ~FaultsAreCaught() {
    for (int i = 0; i < count; ++i) sigaction(signals[i], &before_[i], nullptr);
  }

 private:
#if defined(__SANITIZE_ADDRESS__)
  static constexpr int count = 0;
#else
  static constexpr int count = 2;
#endif
  static constexpr int signals[] = {SIGSEGV, SIGBUS};
  struct sigaction before_[2];
};

template <class S>
void check(const Case& c, bool broken, Verdict& verdict) {
  CoreCheck<S> of(c, broken);
  for (const auto& property : CoreCheck<S>::properties) {
    ++verdict.checked;
    testing::TestPartResultArray written;
    std::string why;
    {
      testing::ScopedFakeTestPartResultReporter reporter(&written);
      why = of.holds(property);
    }
    if (!why.empty()) verdict.failures.push_back({property.name, why});
    if (written.size() > 0 && !verdict.of(property_of_memory))
      verdict.failures.push_back({property_of_memory, written.GetTestPartResult(0).message()});
  }
}

}  // namespace

Verdict check_core(const Case& c, bool broken) {
  static Verdict verdict;  // outlives a jump
  verdict = {};
  const FaultsAreCaught guard;
  if (sigsetjmp(after_fault, 1)) {
    verdict.failures.push_back({property_of_memory, "memory that is not its own was read or written"});
    return verdict;
  }
  try {
    host::use_instruction_set(*host::instruction_set(c.simd));
    with_scalar(c.scalar, [&]<class S>(S) { check<S>(c, broken, verdict); });
  } catch (const std::exception& e) {
    verdict.failures.push_back({property_of_errors, e.what()});
  }
  return verdict;
}

}  // namespace compound::test
