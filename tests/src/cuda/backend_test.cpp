// The CUDA backend on a device: packing, transposes, diagonals, sums, chunks, memory that is full.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/on_device.hpp"
#include "cuda/runtime.hpp"
#include "planner/default_plan.hpp"
#include "planner/entry_choice.hpp"
#include "planner/tuner.hpp"
#include "support/block_lists.hpp"
#include "support/entry_cases.hpp"
#include "support/failing_in_turn.hpp"
#include "support/fenced.hpp"
#include "support/problems.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

class CudaBackend : public OnDevice {};

TEST_F(CudaBackend, HasTraitsByItsName) {
  EXPECT_GT(device_traits("cuda").multiprocessors, 0);
  EXPECT_GT(device_traits("cuda").bandwidth, 0);
  EXPECT_EQ(device_traits("host").multiprocessors, 0);
}

/// A wide access to any of them would end the context. Which kernel it was shows in no bit of y.
TEST_F(CudaBackend, MultipliesVectorsThatBeginAnywhere) {
  const Pattern pattern = random_pattern(500, 500, 20, 11);
  for (const char* line : {"entry=quaternion csr rows lanes=8", "entry=quaternion sell:32 words=1 rows unroll=2",
                           "sell:32 rows", "ccoo:64 slots"}) {
    Random random;
    const Operands<double> operands(pattern, "quaternion", {4, 4}, random);
    const PackedMatrix A = packed(operands, plan_on_device(line), device());
    for (const Op op : {Op::none, Op::transpose})
      for (const Form form : forms) {
        const auto wanted = multiplied(A, operands, op, form);
        for (const Shifts by : {Shifts{1, 0, 0}, Shifts{0, 1, 0}, Shifts{0, 0, 1}, Shifts{2, 2, 2}, Shifts{3, 1, 1}})
          EXPECT_TRUE(same_bits(wanted, multiplied(A, operands, op, form, by)))
              << line << ", " << product_name(op, form);
      }
  }
}

/// Prolongators, whose transposes have another layout, schedule and order of words than they have.
TEST_F(CudaBackend, TransposesByThePlanOfTheTransposesRows) {
  std::vector<std::vector<idx>> rows;
  for (idx r = 0; r < 20000; ++r) rows.push_back({r / 200, 100 + r / 200});
  const Pattern pattern = pattern_of(200, rows), t = transposed(pattern.view()).pattern;
  for (const BlockShape shape : {BlockShape{1, 1}, BlockShape{3, 3}, BlockShape{3, 6}, BlockShape{6, 3}}) {
    Random random;
    const Operands<double> operands(pattern, "dense", shape, random);
    const auto rule = [&](const Pattern& p, BlockShape block) {
      return default_plan(statistics(p.view()), {block, {}}, "cuda", "dense", {}, Parts::one);
    };
    const Plan whole = rule(pattern, shape);
    EXPECT_NE(whole, rule(t, {shape.cols, shape.rows}));
    for (const TransposedValues values : {TransposedValues::copy, TransposedValues::shared}) {
      const PackedMatrix A = packed(operands, whole, device(), values);
      for (const Op op : ops)
        for (const Form form : forms)
          EXPECT_TRUE(agrees(multiplied(A, operands, op, form), reference_product(operands, whole.values, op, form)))
              << text_of(shape) << ", " << product_name(op, form);
    }
  }
}

TEST_F(CudaBackend, RepeatsProductsBitByBit) {
  const Pattern pattern = random_pattern(5000, 5000, 40, 3);
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  for (const char* line :
       {"csr components lanes=32 unroll=4", "sell:32 rows dynamic", "sell:32 components lanes=4 static",
        "sell:32:256 rows stream unroll=3", "ccoo:32", "ccoo:128:2 dynamic", "ccoo:64:4",
        "sell:32 longest=10 + csr lanes=8 longest=30 + ccoo", "ellr rows width=12 + ccoo"}) {
    const PackedMatrix A = packed(operands, plan_on_device(line), device());
    for (const Op op : {Op::none, Op::transpose}) {
      const auto first = multiplied(A, operands, op, Form::add);
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(same_bits(first, multiplied(A, operands, op, Form::add))) << line;
    }
  }
}

/// Rows that end within a thread, a warp, a chunk, the next, and after hundreds of chunks; some are empty.
TEST_F(CudaBackend, AddsUpRowsWhereverChunksEnd) {
  std::vector<std::vector<idx>> rows;
  for (const idx length : {1, 2, 3, 0, 31, 32, 33, 1, 127, 1, 129, 700, 0, 0, 5, 1024, 4097, 1, 1, 20000, 2, 64})
    for (int times = 0; times < 2; ++times) {
      rows.emplace_back(length);
      for (idx k = 0; k < length; ++k) rows.back()[k] = (k * 7 + times) % 300;
    }
  for (const bool has_empty_rows : {true, false}) {
    if (!has_empty_rows) std::erase_if(rows, [](const auto& row) { return row.empty(); });
    const Pattern pattern = pattern_of(300, rows);
    Random random;
    const Operands<double> operands(pattern, "dense", {3, 2}, random);
    for (const char* layout :
         {"ccoo:32", "ccoo:32:2", "ccoo:32:4", "ccoo:96", "ccoo:256", "ccoo:256:4", "ccoo:64:8", "ccoo:1024:2"})
      for (const char* words : {"", " static", " dynamic", " carries=atomic", " static carries=atomic"}) {
        const PackedMatrix A = packed(operands, plan_on_device(std::string(layout) + words), device());
        for (const Op op : ops)
          for (const Form form : forms)
            EXPECT_TRUE(
                agrees(multiplied(A, operands, op, form), reference_product(operands, Precision::double_, op, form)))
                << layout << words << product_name(op, form) << has_empty_rows;
      }
  }
}

TEST(CudaPlans, SayWhatDoesNotGoWithChunks) {
  const auto why = [](std::string_view line) {
    return cuda::why_no_kernel(parse_plan(line, parse_plan("csr threads=128 blocks=8", {})), real_3x3).value_or("");
  };
  EXPECT_EQ(why("ccoo:64"), "");
  EXPECT_EQ(why("ccoo:64 threads=128"),
            "threads=128 with layout ccoo:64, whose chunks are made for blocks of 64 threads: leave threads= out, or "
            "choose another layout");
  EXPECT_EQ(why("ccoo:64 unroll=2"), "layouts that go by slots say how many a worker has: lanes=1 unroll=1");
  EXPECT_THROW(why("sell:32 carries=atomic"), error);  // the line itself is refused
}

/// Two chunks of staging memory and a part of a third.
TEST_F(CudaBackend, PacksMoreThanItsStagingMemoryHolds) {
  const Pattern pattern = random_pattern(25000, 25000, 100, 5);
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  ASSERT_GT(operands.blocks.size() * sizeof(double), 2 * cuda::Staging::chunk_bytes);
  const PackedMatrix host = packed(operands, Plan{});
  const auto wanted = multiplied(host, operands, Op::none, Form::assign);
  for (const char* line :
       {"csr components lanes=32", "csr words=32:row rows", "sell:32:256 rows", "ellr rows values=float",
        "hdia:32 rows", "ccoo:64 slots", "sell:32 longest=50 + csr rows lanes=8 longest=98 + ccoo",
        "csr words=1 rows longest=20 + hdia:32 rows longest=99 + sell:2 rows",
        "ccoo values=float longest=98 + csr rows", "ellr rows width=40 + ccoo"}) {
    const PackedMatrix A = packed(operands, plan_on_device(line), device());
    const auto y = multiplied(A, operands, Op::none, Form::assign);
    EXPECT_TRUE(agrees(y, reference_product(operands, A.plan().values, Op::none, Form::assign))) << line;
  }
}

/// A layout after another reads from its own first entry to its last.
TEST_F(CudaBackend, ReadsNoValuesBeyondTheLast) {
  Random random;
  const Pattern pattern = random_pattern(300, 300, 20, 9);
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  const Fenced<double> values(operands.blocks);
  for (const char* line : {"csr", "sell:32", "ellr rows width=8 + ccoo", "sell:32 longest=8 + csr longest=20 + ccoo"}) {
    PackedMatrix A(pattern.view(), real_3x3, plan_on_device(line), device());
    A.update_values(values.data());
    EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                       reference_product(operands, Precision::double_, Op::none, Form::assign)))
        << line;
  }
}

TEST_F(CudaBackend, TakesBlocksFromItsOwnMemory) {
  const Pattern pattern = random_pattern(300, 300, 20, 7);
  Random random;
  Operands<double> operands(pattern, "dense", {3, 3}, random);
  for (const char* line : {"csr components lanes=32", "sell:32 rows",
                           "sell:32 rows longest=10 + csr rows longest=15 + ccoo", "ellr rows width=9 + ccoo"}) {
    PackedMatrix A = packed(operands, plan_on_device(line), device());
    Operands<double> others = operands;
    for (double& v : others.blocks) v += 1;
    const Placed<double> blocks(device(), others.blocks);
    A.update_values(blocks.data(), Memory::backend);
    for (const Op op : {Op::none, Op::transpose})
      EXPECT_TRUE(agrees(multiplied(A, others, op, Form::assign),
                         reference_product(others, Precision::double_, op, Form::assign)))
          << line;
  }
}

/// One block is broken, then another before it.
TEST_F(CudaBackend, FindsTheFirstMisfitAmongBlocksInItsOwnMemory) {
  constexpr count32 entries = 1000;
  for (const ScalarCase& c : scalar_cases())
    for (const EntryCase& e : square_entry_cases()) {
      const Problem problem{e.in(c.vectors.field), c.vectors};
      if (e.entry == "dense" || entry_kind(e.entry).shape(c.vectors.field, problem.block).words == 0) continue;
      with_scalar(c.vectors, [&]<class S>(S) {
        Random random;
        auto blocks = random_blocks<S>(e.entry, problem.block, entries, random);
        const auto misfit = [&] {
          const Placed<S> placed(device(), blocks);
          return device().first_misfit({e.entry, problem, placed.data(), entries, Memory::backend});
        };
        const std::size_t size = blocks.size() / entries;
        SCOPED_TRACE(std::string(e.entry) + ", " + seed_text());

        EXPECT_EQ(misfit(), std::nullopt);
        blocks[entries * size - size + 1] += S(1);  // beside the diagonal
        EXPECT_EQ(misfit(), entries - 1);
        blocks[389 * size + 1] += S(1);
        EXPECT_EQ(misfit(), 389u);
      });
    }
}

TEST_F(CudaBackend, PacksEveryKindFromItsOwnMemoryAndChoosesIt) {
  const Pattern pattern = random_pattern(300, 300, 20, 7);
  for (const EntryCase& e : square_entry_cases()) {
    Random random;
    const Operands<double> operands(pattern, e.entry, e.real, random);
    auto blocks = operands.blocks;
    const Placed<double> placed(device(), blocks);
    const count32 entries = pattern.view().entries();
    for (const char* line : {"csr rows lanes=8", "sell:32 rows unroll=2"}) {
      Plan with_entry = plan_on_device(line);
      set_entry(with_entry, e.entry);
      PackedMatrix A(pattern.view(), operands.problem(), with_entry, device());
      A.update_values(placed.data(), Memory::backend);
      EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                         reference_product(operands, Precision::double_, Op::none, Form::assign)))
          << e.entry << ", " << line;
    }
    const std::string_view wanted = entry_kind(e.entry).approximate ? "quaternion" : e.entry;
    EXPECT_EQ(cheapest_entry(operands.problem(), device(), placed.data(), entries, Memory::backend), wanted);
  }
}

/// A diagonal block in every row but one.
Pattern with_diagonal(idx rows) {
  std::vector<std::vector<idx>> columns(rows);
  for (idx r = 0; r < rows; ++r) {
    if (r != rows / 2) columns[r].push_back(r);
    columns[r].push_back((r + 1) % rows);
  }
  return pattern_of(rows, columns);
}

TEST_F(CudaBackend, GivesDiagonalsAndInversesAsTheHostDoes) {
  const Pattern pattern = with_diagonal(200);
  for (const int size : {1, 2, 3, 4, 7, 8, 13}) {
    Random random;
    const Operands<double> operands(pattern, "dense", {size, size}, random);
    const PackedMatrix host = packed(operands, Plan{});
    const std::size_t scalars = std::size_t(pattern.rows) * size;
    std::vector<double> wanted(scalars), inverses(scalars * size);
    host.diagonal(wanted.data());
    const auto missing = host.invert_diagonal(inverses.data());
    for (const char* line : {"csr components lanes=32", "sell:32 components", "sell:32:64 components rowlist",
                             "hdia:32 components", "ccoo:32 slots", "hdia:32 rows longest=1 + sell:32 rows",
                             "csr rows longest=1 + ccoo", "ellr rows width=1 + ccoo"}) {
      const PackedMatrix A = packed(operands, plan_on_device(line), device());
      std::vector<double> y(scalars), inv(inverses.size());
      const Placed<double> py(device(), y), pi(device(), inv);
      A.diagonal(py.data());
      EXPECT_EQ(A.invert_diagonal(pi.data()), missing) << line;
      py.bring_back();
      pi.bring_back();
      EXPECT_TRUE(same_bits(y, wanted)) << line;
      for (std::size_t i = 0; i < inv.size(); ++i)
        ASSERT_NEAR(inv[i], inverses[i], 1e-9 * (1 + std::abs(inverses[i]))) << line << ", blocks of " << size;
    }
  }
}

TEST_F(CudaBackend, AddsUpListsAsTheHostDoes) {
  std::vector<slot_t> first = {0, 0, 3, 4, 9}, index = {5, 1, 1, 0, 2, 3, 4, 5, 0}, place = {3, 1, 0, 2};
  std::vector<double> from = {1, 2.5, -3, 1e-3, 7, 11}, to = {100, 200, 300, 400}, wanted = to;
  SumTask task{{}, 4, first.data(), index.data(), place.data(), from.data(), wanted.data(), Update::add};
  backend("host").sum(task);
  const Placed<slot_t> pf(device(), first), pi(device(), index), pp(device(), place);
  const Placed<double> px(device(), from), py(device(), to);
  device().sum({{}, 4, pf.data(), pi.data(), pp.data(), px.data(), py.data(), Update::add});
  py.bring_back();
  EXPECT_TRUE(same_bits(to, wanted));
}

TEST_F(CudaBackend, AddsUpBlocksAsTheHostDoes) {
  Random random;
  for (const int side : {1, 2, 3, 6, 7}) {
    const int words = side * side, sums = 200;
    std::vector<slot_t> first = {0}, index, place;
    std::vector<unsigned char> shape;
    std::vector<int> offset, stride;
    for (slot_t s = 0; s < sums; ++s) {
      for (int left = random.below(6); left > 0; --left) {
        index.push_back(random.below(1000));
        shape.push_back(static_cast<unsigned char>(random.below(2)));
      }
      first.push_back(static_cast<slot_t>(index.size()));
      place.push_back((7 * s + 3) % sums * 2 * words);
      stride.push_back(side + random.below(side + 1));
    }
    for (int w = 0; w < 2 * words; ++w) offset.push_back(w < words ? words - 1 - w : 3 * (w - words));
    auto from = random_vector<double>(1000 + 3 * words, random);
    const auto before = random_vector<double>(2 * sums * words, random);
    const Placed<slot_t> pf(device(), first), pi(device(), index), pp(device(), place);
    const Placed<unsigned char> psh(device(), shape);
    const Placed<int> po(device(), offset), pst(device(), stride);
    const Placed<double> px(device(), from);
    for (const bool apart : {false, true})
      for (const Update update : {Update::assign, Update::add}) {
        auto to = before, wanted = before;
        const Placed<double> py(device(), to);
        backend("host").sum({{},
                             sums,
                             first.data(),
                             index.data(),
                             apart ? place.data() : nullptr,
                             from.data(),
                             wanted.data(),
                             update,
                             side,
                             offset.data(),
                             shape.data(),
                             apart ? stride.data() : nullptr});
        device().sum({{},
                      sums,
                      pf.data(),
                      pi.data(),
                      apart ? pp.data() : nullptr,
                      px.data(),
                      py.data(),
                      update,
                      side,
                      po.data(),
                      psh.data(),
                      apart ? pst.data() : nullptr});
        py.bring_back();
        EXPECT_TRUE(same_bits(to, wanted)) << side << (apart ? ", lines apart" : "");
      }
  }
}

/// The same in a device's memory.
struct PlacedLists {
  PlacedLists(Backend& on, BlockLists::Lists& l)
      : first(on, l.first), index(on, l.index), shape(on, l.shape), values(on, l.values) {}
  SumTask task(SumTask of_host, const int* offset, const slot_t* place, const int* stride) const {
    of_host.first = first.data();
    of_host.index = index.data();
    of_host.shape = shape.data();
    of_host.from = values.data();
    of_host.offset = offset;
    of_host.place = place;
    of_host.stride = stride;
    return of_host;
  }
  Placed<slot_t> first, index;
  Placed<unsigned char> shape;
  Placed<double> values;
};

/// As values by coordinates go to the packed copy and come back: all bits are those of sums that are packed after.
TEST_F(CudaBackend, PacksSumsAsTheyAreMade) {
  for (const int side : {1, 2, 3, 6, 8}) {
    const Pattern pattern = random_pattern(700, 500, 30, 12);
    Random random;
    const Operands<double> x(pattern, "dense", {side, side}, random);
    for (const bool by_rows : {false, true}) {
      BlockLists lists(pattern, side, by_rows, 13);
      std::vector<double> values = lists.summed(), back(values.size(), 7);
      const PlacedLists own(device(), lists.own), others(device(), lists.others);
      const Placed<int> offset(device(), lists.offset), other(device(), lists.other), stride(device(), lists.stride),
          others_stride(device(), lists.others_stride);
      const Placed<slot_t> place(device(), lists.place), of_others(device(), lists.of_others);
      const Placed<double> given(device(), values), taken(device(), back);
      const BlockSums sums = {
          own.task(lists.task(lists.own, lists.place, lists.stride, Update::assign, nullptr), offset.data(),
                   place.data(), stride.data()),
          others.task(lists.task(lists.others, lists.of_others, lists.others_stride, Update::add, nullptr),
                      offset.data(), of_others.data(), others_stride.data()),
          other.data(), by_rows};
      const Problem problem{{side, side}, {}, by_rows ? ValueOrder::rows : ValueOrder::blocks};
      for (const char* line :
           {"csr", "bellpack:32", "ellr", "sell:32:64 rows dynamic", "sell:8", "hdia:32", "ccoo:64",
            "csr words=32 rows", "sell:32 longest=8 + csr longest=20 + ccoo", "ellr rows width=8 + ccoo"}) {
        PackedMatrix summed(pattern.view(), problem, plan_on_device(line), device()),
            packed(pattern.view(), problem, plan_on_device(line), device());
        for (PackedMatrix* A : {&summed, &packed})
          A->prepare_transposed(pattern.view(), plan_of_transpose, TransposedValues::copy);
        packed.update_values(given.data(), Memory::backend);

        ASSERT_TRUE(summed.takes_sums(side)) << line;
        summed.update_sums(sums);
        summed.unpack(taken.data());
        taken.bring_back();

        EXPECT_TRUE(same_bits(back, values)) << line << ", " << side << ", by rows " << by_rows;
        for (const Op op : {Op::none, Op::transpose})
          EXPECT_TRUE(same_bits(multiplied(summed, x, op, Form::add), multiplied(packed, x, op, Form::add)))
              << line << ", " << side << ", by rows " << by_rows;
      }
      for (const char* line : {"csr values=float", "sell:32 codes=blocks8"})
        EXPECT_FALSE(PackedMatrix(pattern.view(), problem, plan_on_device(line), device()).takes_sums(side)) << line;
    }
  }
}

/// Every allocation fails in turn: an error each time, and right results from the first try that gets what it asks for.
TEST_F(CudaBackend, ReportsEveryAllocationThatFails) {
  const Pattern pattern = random_pattern(300, 300, 20, 9);
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  std::vector<double> y;
  const int failures = failures_in_turn(cuda::fail_allocation, [&] {
    const PackedMatrix A = packed(operands, plan_on_device("sell:32:64 rows dynamic"), device());
    y = multiplied(A, operands, Op::transpose, Form::add);
  });
  EXPECT_TRUE(agrees(y, reference_product(operands, Precision::double_, Op::transpose, Form::add)));
  EXPECT_GT(failures, 10);
}

/// The test above fails what is counted, and would not miss the rest.
TEST_F(CudaBackend, CountsAllocationsOfEveryKind) {
  const auto failures = [](const auto& work) { return failures_in_turn(cuda::fail_allocation, work); };
  EXPECT_EQ(failures([] { const Buffer<int> memory(device(), 10); }), 1);
  EXPECT_EQ(failures([] { const cuda::Pinned memory(10); }), 1);
  EXPECT_EQ(failures([] { const cuda::Stream stream; }), 1);
  cudaStream_t queue = nullptr;
  EXPECT_EQ(failures([&] { cuda::GraphRecorder(queue).finish(); }), 2) << "a stream and a graph";
}

/// Also where recording is not finished.
TEST_F(CudaBackend, DestroysGraphsThatItRecorded) {
  static std::atomic<int> destroyed;  // outlasts a call that comes late
  destroyed = 0;
  const auto count_it = [](void* to) { ++*static_cast<std::atomic<int>*>(to); };
  cudaStream_t queue = nullptr;
  for (const bool finishes : {true, false}) {
    cuda::GraphRecorder recorder(queue);
    cudaStreamCaptureStatus status;
    cudaGraph_t graph = nullptr;
    cudaUserObject_t object;
    ASSERT_EQ(cudaStreamGetCaptureInfo(queue, &status, nullptr, &graph), cudaSuccess);
    ASSERT_EQ(cudaUserObjectCreate(&object, &destroyed, count_it, 1, cudaUserObjectNoDestructorSync), cudaSuccess);
    ASSERT_EQ(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove), cudaSuccess);
    if (finishes) (void)recorder.finish();
  }
  for (int tenths = 0; destroyed < 2 && tenths < 100; ++tenths)  // a thread of the driver's tells it
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(destroyed, 2);
}

/// Values of float, codes and parts are left as they are.
TEST_F(CudaBackend, NarrowsPlainValuesOfOneLayout) {
  Random random;
  const Pattern pattern = random_pattern(300, 300, 20, 9);
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  for (const char* line : {"csr lanes=8", "sell:32 rows"}) {
    const PackedMatrix A = packed(operands, plan_on_device(line), device());
    auto narrow = A.narrowed();
    ASSERT_TRUE(narrow) << line;
    narrow->update_values(operands.blocks.data());
    EXPECT_TRUE(agrees(multiplied(*narrow, operands, Op::none, Form::assign),
                       reference_product(operands, Precision::single, Op::none, Form::assign)))
        << line;
  }
  for (const char* line : {"csr lanes=8 values=float", "sell:32 codes=blocks8", "ellr rows width=12 + ccoo"})
    EXPECT_FALSE(PackedMatrix(pattern.view(), real_3x3, plan_on_device(line), device()).narrowed()) << line;
}

TEST_F(CudaBackend, TunerMeasuresTheNearPlans) {
  const Pattern pattern = random_pattern(3000, 3000, 30, 11);
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  auto plans = near_plans(statistics(pattern.view()), real_3x3, "cuda");
  ASSERT_GT(plans.size(), 3u);
  plans.push_back(plans[0]);
  plans.back().schedule.threads = 1024;  // x blocks: too many
  plans.back().schedule.blocks = 32;

  const auto measured = measure(pattern.view(), real_3x3, plans, device(), operands.blocks.data()).all;

  ASSERT_EQ(measured.size(), plans.size());
  EXPECT_GT(measured.front().seconds, 0);
  EXPECT_LE(measured.front().seconds, measured[1].seconds);
  EXPECT_NE(measured.back().failure.find("2048"), std::string::npos);
}

}  // namespace
}  // namespace compound::test
