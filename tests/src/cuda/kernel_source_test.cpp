// Every kernel of the covering set compiles by NVRTC, on machines without a GPU too.
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/default_kernels.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/krylov_passes.hpp"
#include "cuda/plan_code.hpp"
#include "cuda/product_cases.hpp"
#include "cuda/sparse_product.hpp"
#include "planner/default_plan.hpp"
#include "planner/entry_choice.hpp"
#include "support/compiles.hpp"
#include "support/problems.hpp"

namespace compound::test {
namespace {

using cuda_cases::Case;

class ProductKernels : public ByNvrtc, public testing::WithParamInterface<Choice> {};
class OtherKernels : public ByNvrtc, public testing::WithParamInterface<Choice> {};
class CodingKernels : public ByNvrtc {};

std::vector<Choice> every(std::size_t step, const std::vector<Choice>& all) {
  std::vector<Choice> part;
  for (std::size_t i = 0; i < all.size(); i += step) part.push_back(all[i]);
  return part;
}

/// In the tier quick a twelfth of those that cover every pair.
std::vector<Choice> compiled_choices() {
  return all_kernels_compile() ? cuda_cases::choices() : every(12, cuda_cases::few_choices().choices);
}

/// For kernels that know no schedule: entries, layouts and scalars meet in a part of the covering set, too.
std::vector<Choice> some_choices() { return every(all_kernels_compile() ? 8 : 4, compiled_choices()); }

constexpr auto name_of = [](const testing::TestParamInfo<Choice>& info) {
  return "case_" + std::to_string(info.index);
};
INSTANTIATE_TEST_SUITE_P(Pairwise, ProductKernels, testing::ValuesIn(compiled_choices()), name_of);
INSTANTIATE_TEST_SUITE_P(Pairwise, OtherKernels, testing::ValuesIn(some_choices()), name_of);

/// More would take too long.
TEST(CoveringSetOfProducts, IsSmall) {
  if (all_kernels_compile()) {
    EXPECT_LE(cuda_cases::choices().size(), 400u);
  }
  EXPECT_LE(cuda_cases::few_choices().choices.size(), 130u);
}

TEST(CoveringSetOfProducts, HasEveryPairOfTraversalLayoutCodesAndOperation) {
  const CoveringSet& few = cuda_cases::few_choices();

  EXPECT_EQ(missing_pairs(few.pairs, few.choices).size(), 0u);
  for (const Choice& c : few.choices) EXPECT_TRUE(cuda_cases::few_space().allowed(c)) << cuda_cases::case_of(c).name;
}

TEST_P(ProductKernels, Compile) {
  const Case c = cuda_cases::case_of(GetParam());
  SCOPED_TRACE(c.name);
  const bool shared = c.op != Op::none && c.transposed == TransposedValues::shared;
  Update update = c.form == Form::assign ? Update::assign : Update::add;

  for (const Plan& part : parts(c.plan)) {
    const bool reordered = part.layout.sigma != 1 || part.layout.row_list;
    expect_compiles(cuda::product_source(part, c.problem, c.op, update, shared, reordered, c.aligned));
    update = Update::add;
  }
}

TEST_P(OtherKernels, Compile) {
  const Case c = cuda_cases::case_of(GetParam());
  SCOPED_TRACE(c.name);
  if (c.plan.schedule.traversal != Traversal::slots && c.problem.block.rows == c.problem.block.cols) {
    const bool reordered = c.plan.layout.sigma != 1 || c.plan.layout.row_list;
    const Plan part = parts(c.plan).front();
    const Update update = c.plan.layout.row_list ? Update::correct : Update::smooth;
    expect_third_compiles(cuda::product_source(part, c.problem, Op::none, update, false, reordered, c.aligned));
  }
  for (const Op op : {Op::none, c.op})
    if (const int vectors = cuda::most_vectors(parts(c.plan).front(), c.problem, op); vectors > 1) {
      const Plan part = parts(c.plan).front();
      expect_third_compiles(cuda::vectors_source(part, c.problem, op, Update::add, part.layout.sigma != 1, c.aligned,
                                                 vectors, op == Op::none ? Follow::dot : Follow::nothing));
    }
  expect_third_compiles(cuda::pack_source(c.plan, c.problem));
  expect_third_compiles(cuda::pack_part_source(c.plan, c.problem));
  expect_third_compiles(cuda::regroup_source(c.plan, c.plan, c.problem));
  expect_third_compiles(cuda::sum_source(c.problem.scalar, Update::add, c.problem.block.rows));
  expect_third_compiles(cuda::order_source(c.problem.scalar));
  if (c.plan.schedule.traversal == Traversal::slots)
    expect_third_compiles(cuda::carries_source(c.plan, c.problem, c.op));
  if (c.problem.block.rows != c.problem.block.cols) return;
  expect_third_compiles(cuda::diagonal_source(c.plan, c.problem));
  expect_third_compiles(cuda::inverse_source(c.plan, c.problem));
}

TEST_F(CodingKernels, Compile) {
  for (const ChunkStep step : {ChunkStep::sample, ChunkStep::note, ChunkStep::write})
    expect_compiles(cuda::chunk_step_source(step));
  expect_compiles(cuda::note_items_source());
  expect_compiles(cuda::gather_items_source());
  for (const ValueCode& code : value_codes())
    if (code.of != CodeOf::nothing) expect_compiles(cuda::write_codes_source(code));
}

class HalfKernels : public ByNvrtc {};

TEST_F(HalfKernels, Compile) {
  struct Form {
    const char *entry, *line;
    int size;
    Field field;
    Op op;
  };
  for (const Form& f : {Form{"dense", "half=symmetric", 3, Field::real, Op::none},
                        Form{"dense", "half=symmetric stream values=float", 7, Field::real, Op::transpose},
                        Form{"dense", "half=hermitian sell:32:64 words=1 vectors=32", 2, Field::complex, Op::transpose},
                        Form{"dense", "half=symmetric sell:32:64 lanes=8", 12, Field::real, Op::none},
                        Form{"quaternion", "half=symmetric sell:32:512", 4, Field::real, Op::none}}) {
    SCOPED_TRACE(f.line);
    const Problem problem{{f.size, f.size}, {f.field, Precision::double_}};
    const Plan plan = parse_plan(f.line, default_plan(PatternStatistics{}, problem, "cuda", f.entry));
    EXPECT_EQ(applicable(plan, problem).value_or(""), "");
    EXPECT_EQ(cuda::why_no_kernel(plan, problem).value_or(""), "");
    for (const bool reordered : {false, true})
      expect_third_compiles(cuda::patches_source(plan, problem, f.op, reordered, Follow::nothing));
    expect_third_compiles(cuda::product_source(plan, problem, f.op, Update::assign, false, true, true, Follow::dot));
    expect_third_compiles(cuda::product_source(plan, problem, f.op, Update::smooth, false, true, true));
    expect_third_compiles(cuda::pack_part_source(plan, problem));
    expect_third_compiles(cuda::diagonal_source(plan, problem));
    expect_third_compiles(cuda::symmetry_source(plan, problem));
    EXPECT_EQ(cuda::most_vectors(plan, problem), 1);
  }
}

class AssemblyKernels : public ByNvrtc {};

TEST_F(AssemblyKernels, Compile) {
  struct Form {
    const char* line;
    Field field;
  };
  for (const Form& f : {Form{"csr rows", Field::complex}, Form{"bellpack:32 rows", Field::complex},
                        Form{"hdia:32 rows", Field::real}, Form{"ccoo:64 slots", Field::real}}) {
    SCOPED_TRACE(f.line);
    const Plan plan = parse_plan(f.line, {});
    const Problem problem{{3, 3}, {f.field, Precision::double_}};
    expect_compiles(cuda::pack_sums_source(plan, problem));
    expect_compiles(cuda::unpack_source(plan, problem));
  }
  for (const int index_bytes : {4, 8})
    for (const cuda::ContributionStep step : cuda::contribution_steps)
      expect_compiles(cuda::contribution_source(step, index_bytes));
}

TEST(Multigrid, KernelsCompile) {
  for (const ColumnTable& table : column_tables)
    for (const int inner : inner_lanes) expect_compiles(cuda::product_pattern_source(table, inner));
  for (const TransposeStep step : cuda::transpose_steps) expect_compiles(cuda::transpose_source(step));
  for (const LayoutFamily* const family : {&compressed_rows_family, &slices_family})
    expect_compiles(cuda::slots_source(*family));
  for (const GraphStep step : cuda::graph_steps) expect_compiles(cuda::graph_source(step));
  for (const Precision precision : {Precision::double_, Precision::single})
    for (const StrengthStep step : cuda::strength_steps)
      for (const int size : {1, 3}) expect_compiles(cuda::strength_source(step, {Field::real, precision}, size));
  for (const Field field : {Field::real, Field::complex}) {
    expect_compiles(cuda::smoothing_pass_source({field, Precision::double_}));
    expect_compiles(cuda::dense_source({field, Precision::double_}));
    expect_compiles(cuda::basis_source({field, Precision::double_}));
    expect_compiles(cuda::smooth_source({field, Precision::double_}));
  }
}

int access_of(std::string_view line, const Problem& problem) {
  return cuda::vector_access(parse_plan(line, {}), problem);
}

TEST(VectorAccess, IsTheWidestThatBlocksOfXAndYAllow) {
  EXPECT_EQ(access_of("sell:32 rows", real_4x4), 16);
  EXPECT_EQ(access_of("ccoo:32 slots", real_4x4), 16);
  EXPECT_EQ(access_of("csr rows", float_2x2), 8);
  EXPECT_EQ(access_of("csr rows", complex_1x1), 16);
  EXPECT_EQ(access_of("sell:32 rows", real_3x3), 0);
  EXPECT_EQ(access_of("sell:32 rows", real_4x3), 0);
  EXPECT_EQ(access_of("sell:32 rows vectors=32", real_4x4), 0);
  EXPECT_EQ(access_of("sell:32 components", real_4x4), 0);
}

std::string source_of(const Plan& plan, const Problem& problem, bool aligned) {
  const bool listed = plan.layout.row_list;
  return cuda::product_source(plan, problem, Op::none, listed ? Update::add : Update::assign, false, listed, aligned);
}

TEST(ProductSource, OfAlignedVectorsIsAnotherOneOnlyWhereItReadsThemSo) {
  for (const char* line : {"sell:32 rows", "csr components lanes=32", "sell:32 words=1:padded rows"})
    EXPECT_EQ(source_of(parse_plan(line, {}), real_3x3, true), source_of(parse_plan(line, {}), real_3x3, false))
        << line;
  const Plan plan = parse_plan("entry=quaternion sell:32 rows", {});
  EXPECT_NE(source_of(plan, real_4x4, true), source_of(plan, real_4x4, false));
  EXPECT_NE(source_of(plan, real_4x4, true).find("vector_access = 16"), std::string::npos);
}

TEST(ProductSource, KnowsThePaddingOfEntries) {
  const Plan plan = parse_plan("sell:32 words=1:padded values=float rows", {});

  EXPECT_NE(source_of(plan, real_3x3, true).find("word_padding = 3;"), std::string::npos);
  EXPECT_NE(cuda::pack_source(plan, real_3x3).find("word_padding = 3;"), std::string::npos);
}

/// What is compiled ahead is what runs: rows that are sorted or listed may have been in order.
TEST(PlainProduct, KnowsWhetherRowsAreListed) {
  const auto pattern_of = [](count32 entries_of_first) {  // and of the others three
    Pattern p{40, 40, {0}, {}};
    for (idx row = 0; row < p.rows; ++row) {
      const count32 entries = row == 0 ? entries_of_first : 3;
      for (count32 k = 0; k < entries; ++k) p.column.push_back(static_cast<idx>(k));
      p.start.push_back(p.start.back() + entries);
    }
    return p;
  };
  const Pattern even = pattern_of(3), uneven = pattern_of(0);
  for (const char* line : {"csr", "csr rowlist", "sell:32", "sell:8:32", "bellpack:16", "hdia:32", "ccoo:32"})
    for (const Pattern* const p : {&even, &uneven}) {
      const Plan plan = parse_plan(line, {});
      const cuda::PlainProduct plain(plan, Update::assign, has_even_rows(p->view()));
      EXPECT_EQ(plain.reordered, encode(p->view(), plan.layout).is_reordered()) << line;
    }
}

bool has(const std::vector<std::string>& sources, const std::string& source) {
  return std::ranges::find(sources, source) != sources.end();
}

/// What products, and packing of the host's values, ask for.
TEST(DefaultSources, AreAllThatDefaultPlansRun) {
  const auto all = cuda::default_sources(real_3x3.scalar);
  for (int size = 1; size <= cuda::largest_default_block; ++size) {
    const Problem problem{{size, size}, real_3x3.scalar};
    for (const std::string_view entry : entries_to_find(problem))
      for (const Plan& plan : default_cuda_plans(problem, entry))
        for (const Plan& part : parts(plan)) {
          SCOPED_TRACE(std::to_string(size) + ": " + to_string(part));
          std::vector<std::string> wanted;
          for (const Update update : {Update::assign, Update::add})
            wanted.push_back(cuda::plain_source(part, problem, update));
          if (part.schedule.traversal == Traversal::slots)
            wanted.push_back(cuda::carries_source(part, problem, Op::none));
          else if (entry == "dense")
            wanted.push_back(cuda::product_source(part, problem, Op::none,
                                                  part.layout.row_list ? Update::correct : Update::smooth, false,
                                                  may_reorder(part.layout), true));
          if (!plan.later.empty()) wanted.push_back(cuda::pack_part_source(part, problem));
          if (entry == "dense") wanted.push_back(cuda::pack_sums_source(part, problem));
          for (const std::string& source : wanted) EXPECT_TRUE(has(all, source)) << source;
        }
  }
}

/// Rigid bodies in space have six modes.
TEST(DefaultSources, AreThoseOfMultigridOfElasticity) {
  const auto all = cuda::default_sources(real_3x3.scalar);
  for (const int size : {3, 6}) {
    EXPECT_TRUE(has(all, cuda::sparse_product_kernel(real_3x3.scalar, {size, size}, 6, false).source)) << size;
    EXPECT_TRUE(has(all, cuda::sparse_product_kernel(real_3x3.scalar, {6, size}, 6, true).source)) << size;
  }
  for (const std::string& source : cuda::pass_sources(real_3x3.scalar)) EXPECT_TRUE(has(all, source)) << source;
  const Problem prolongator{{3, 6}, real_3x3.scalar};
  for (const Plan& plan : default_cuda_plans(prolongator, "dense"))
    for (const Update update : {Update::assign, Update::add})
      for (const Plan& part : parts(plan))
        EXPECT_TRUE(has(all, cuda::plain_source(part, prolongator, update))) << to_string(part);
}

/// VecGetSubVector() gives vectors that begin at any scalar.
TEST(DefaultSources, AreForVectorsThatBeginAtAnyScalar) {
  const auto real = cuda::default_sources(real_4x4.scalar), complex = cuda::default_sources(complex_1x1.scalar);
  for (const std::string_view entry : {"dense", "quaternion"})
    for (const Plan& plan : default_cuda_plans(real_4x4, entry))
      for (const bool aligned : {true, false})
        EXPECT_TRUE(has(real, source_of(plan, real_4x4, aligned))) << to_string(plan) << ", " << aligned;
  for (const Plan& plan : default_cuda_plans(complex_1x1, "dense")) {
    EXPECT_TRUE(has(complex, source_of(plan, complex_1x1, true))) << to_string(plan);
    const bool one = cuda::vector_access(plan, complex_1x1) == 0;
    EXPECT_EQ(has(complex, source_of(plan, complex_1x1, false)), one) << to_string(plan) << ": 16 bytes are one scalar";
  }
}

}  // namespace
}  // namespace compound::test
