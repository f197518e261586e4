// Products by cuSPARSE on a device: that they are right and repeat their bits, and that our kernels make those that it
// does not.
#include "cuda/cusparse.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "cuda/library_cases.hpp"
#include "cuda/on_device.hpp"
#include "cuda/runtime.hpp"
#include "planner/candidates.hpp"
#include "planner/default_plan.hpp"
#include "planner/tuner.hpp"
#include "support/dots.hpp"
#include "support/failing_in_turn.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

class CusparseProducts : public OnDevice, public testing::WithParamInterface<LibraryCase> {
 protected:
  /// Products of the library that f() queues.
  template <class F>
  static int made_by(const F& f) {
    const int before = cuda::cusparse_product_count();
    f();
    return cuda::cusparse_product_count() - before;
  }
  /// f(operands, packed matrix) in the case's scalars.
  template <class F>
  static void with_matrix(const Pattern& pattern, const F& f, bool transposed = false) {
    const LibraryCase& c = GetParam();
    with_scalar(c.scalar, [&]<class S>(S) {
      Random random;
      Operands<S> operands(pattern, c.entry, c.block, random);
      PackedMatrix A(pattern.view(), operands.problem(), c.plan(), device());
      if (transposed) A.prepare_transposed(pattern.view(), plan_of_transpose, TransposedValues::copy);
      A.update_values(operands.blocks.data());
      f(operands, A);
    });
  }
  /// Whether our kernels are compiled for the case, too.
  static bool has_ours() { return is_usual(GetParam().scalar) && GetParam().block.rows <= 4; }
  template <class S>
  static void expect_right(const PackedMatrix& A, const Operands<S>& operands, Op op, Form form, Shifts by = {}) {
    EXPECT_TRUE(agrees(multiplied(A, operands, op, form, by), reference_product(operands, A.plan().values, op, form)))
        << product_name(op, form);
  }
};

/// Where nothing can run, one case tells why.
std::vector<LibraryCase> library_cases_for_device() {
  std::vector<LibraryCase> all = library_cases();
  if (!why_no_cuda().empty()) all.resize(1);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, CusparseProducts, testing::ValuesIn(library_cases_for_device()),
                         [](const auto& instance) { return "case_" + std::to_string(instance.index); });

/// On every pattern of the zoo.
TEST_P(CusparseProducts, AreThoseOfTheDefinition) {
  for (const ZooPattern& z : zoo()) {
    SCOPED_TRACE(std::string(z.name) + ", " + seed_text());
    with_matrix(z.pattern, [&](const auto& operands, const PackedMatrix& A) {
      for (const Form form : forms) {
        const int made = made_by([&] { expect_right(A, operands, Op::none, form); });
        EXPECT_EQ(made, z.pattern.view().entries() > 0 ? 1 : 0) << product_name(Op::none, form);
      }
    });
  }
}

TEST_P(CusparseProducts, AreOursByTheTranspose) {
  if (!has_ours()) return;
  const Pattern pattern = random_pattern(300, 280, 12, 5);
  const auto expect = [&](const auto& operands, const PackedMatrix& A) {
    for (const Op op : {Op::transpose, Op::hermitian})
      for (const Form form : forms) EXPECT_EQ(made_by([&] { expect_right(A, operands, op, form); }), 0);
  };
  with_matrix(pattern, expect, true);
}

/// Preparing looks at the pattern alone.
TEST_P(CusparseProducts, TakeNewValues) {
  const Pattern pattern = random_pattern(300, 280, 12, 5);
  with_matrix(pattern, [&]<class S>(Operands<S>& operands, PackedMatrix& A) {
    expect_right(A, operands, Op::none, Form::assign);
    Random random(7);
    operands.blocks = random_blocks<S>(operands.entry, operands.shape, pattern.view().entries(), random);

    A.update_values(operands.blocks.data());

    expect_right(A, operands, Op::none, Form::add);
    const Placed<S> there(device(), operands.blocks);
    A.update_values(there.data(), Memory::backend);
    expect_right(A, operands, Op::none, Form::assign);
  });
}

TEST_P(CusparseProducts, AreOursWhereADotProductFollows) {
  if (!has_ours()) return;
  const Pattern pattern = random_pattern(300, 300, 12, 5);
  with_matrix(pattern, [&]<class S>(const Operands<S>& operands, const PackedMatrix& A) {
    Random random(9);
    const auto w = random_vector<S>(operands.z(Op::none).size(), random);
    for (const Form form : forms) {
      WithDot<S> found;

      EXPECT_EQ(made_by([&] { found = multiplied_with_dot(A, operands, Op::none, form, Follow::dot, w); }), 0);

      EXPECT_TRUE(agrees(found.y, reference_product(operands, A.plan().values, Op::none, form)));
    }
  });
}

TEST_P(CusparseProducts, AreOursWhereVectorsBeginOffAWholeAccess) {
  if (!has_ours()) return;
  const Pattern pattern = random_pattern(200, 200, 12, 5);
  with_matrix(pattern, [&](const auto& operands, const PackedMatrix& A) {
    for (const Form form : {Form::assign, Form::add_in_place})
      for (const Shifts by : {Shifts{1, 0, 0}, Shifts{0, 0, 1}})
        EXPECT_EQ(made_by([&] { expect_right(A, operands, Op::none, form, by); }), 0);
  });
}

/// Where that is promised, it is so; of the others it is told what they do.
TEST_P(CusparseProducts, RepeatTheirBits) {
  constexpr int times = 50;
  const int size = GetParam().block.rows;
  const idx many = size <= 4 ? 20000 : size <= 8 ? 4000 : 600;
  std::vector<std::vector<idx>> rows(many);
  Random random(3);
  for (idx r = 0; r < many; ++r)  // twenty are long
    for (idx k = 0, length = r % (many / 20) == 0 ? many / 4 : 1 + random.below(24); k < length; ++k)
      rows[r].push_back(random.below(many));
  const Pattern pattern = pattern_of(many, rows);
  with_matrix(pattern, [&](const auto& operands, const PackedMatrix& A) {
    const auto first = multiplied(A, operands, Op::none, Form::add);
    int same = 0;

    for (int i = 0; i < times; ++i) same += same_bits(first, multiplied(A, operands, Op::none, Form::add));

    std::cout << "repeated bits: " << testing::PrintToString(GetParam()) << ": " << same << " of " << times
              << (GetParam().product->repeats_bits ? "" : " (not promised)") << std::endl;
    EXPECT_TRUE(same == times || !GetParam().product->repeats_bits);
  });
}

class CusparseBackend : public OnDevice {
 protected:
  static Plan plan(std::string_view line) {
    return plan_for_line(line, default_plan(PatternStatistics{}, scalars, "cuda"), PatternStatistics{}, scalars,
                         "cuda");
  }
  static constexpr Problem scalars{{1, 1}, {Field::real, Precision::double_}};
  const Pattern pattern = random_pattern(3000, 3000, 30, 11);
};

TEST_F(CusparseBackend, CountsWhatTheLibraryWorksIn) {
  Random random;
  const Operands<double> operands(pattern, "dense", {1, 1}, random);
  const PackedMatrix A = packed(operands, plan("cusparse:csr-alg2"), device());
  const std::size_t before = A.bytes().total();

  (void)multiplied(A, operands, Op::none, Form::assign);

  EXPECT_EQ(A.code(), "cusparse");
  EXPECT_GT(A.bytes().total(), before) << "the manual says that all algorithms of CSR take some";
}

TEST_F(CusparseBackend, FollowsTheQueue) {
  Random random;
  const Operands<double> operands(pattern, "dense", {1, 1}, random);
  const PackedMatrix A = packed(operands, plan("cusparse:csr-alg2"), device());
  const auto wanted = multiplied(A, operands, Op::none, Form::assign);
  cudaStream_t queue = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&queue, cudaStreamNonBlocking), cudaSuccess);

  device().extensions().control->use_queue(queue);
  const auto found = multiplied(A, operands, Op::none, Form::assign);
  device().extensions().control->use_queue(nullptr);

  EXPECT_TRUE(same_bits(found, wanted));
  EXPECT_TRUE(same_bits(multiplied(A, operands, Op::none, Form::assign), wanted));
  cudaStreamDestroy(queue);
}

/// A product after it allocates what the caller's vectors take.
TEST_F(CusparseBackend, TakesMemoryInItsFirstProductAlone) {
  Random random;
  const Operands<double> operands(pattern, "dense", {1, 1}, random);
  const auto allocations_of_second = [&](std::string_view line) {
    const PackedMatrix A = packed(operands, plan(line), device());
    const auto multiply = [&] { (void)multiplied(A, operands, Op::none, Form::assign); };
    multiply();
    return failures_in_turn(cuda::fail_allocation, multiply);
  };
  EXPECT_EQ(allocations_of_second("cusparse:csr-alg2"), allocations_of_second("csr"));
}

/// Its own memory, too: an error each time, and right results from the first try that gets what it asks for.
TEST_F(CusparseBackend, ReportsEveryAllocationThatFails) {
  Random random;
  const Operands<double> operands(pattern, "dense", {1, 1}, random);
  std::vector<double> y;
  const int failures = failures_in_turn(cuda::fail_allocation, [&] {
    const PackedMatrix A = packed(operands, plan("cusparse:csr-alg2"), device());
    y = multiplied(A, operands, Op::none, Form::add);
  });
  EXPECT_TRUE(agrees(y, reference_product(operands, Precision::double_, Op::none, Form::add)));
  EXPECT_GT(failures, 3);
}

TEST_F(CusparseBackend, IsMeasuredBesideTheRulesPlan) {
  Random random;
  const Operands<double> operands(pattern, "dense", {1, 1}, random);
  const PatternStatistics s = statistics(pattern.view());
  const auto plans =
      candidates(Search::near, default_plan(s, scalars, "cuda"), s, scalars, device(), VectorOrder::petsc, "cusparse");

  const auto measured = measure(pattern.view(), scalars, plans, device(), operands.blocks.data()).all;

  int timed = 0;
  for (const Measured& m : measured)
    if (!m.plan.schedule.library.empty()) {
      EXPECT_TRUE(m.is_timed() || m.failure.find("not tried") != std::string::npos) << to_string(m.plan) << m.failure;
      timed += m.is_timed();
    }
  EXPECT_EQ(timed, 2);
}

}  // namespace
}  // namespace compound::test
