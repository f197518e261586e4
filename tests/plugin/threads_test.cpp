// A program has threads of its own beside PETSc's calls; the plugin starts and ends some within a call. The thread
// sanitizer looks at both (preset tsan).
#include "compare.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>

namespace {

using namespace petsc_test;

/// Four threads take memory, read the environment and print numbers until they are told to end.
class OwnThreads {
 public:
  OwnThreads() {
    for (int n = 0; n < 4; ++n) threads_.emplace_back([this](const std::stop_token& end) { work(end); });
  }
  bool end_well() {
    threads_.clear();
    return well_ == 4;
  }

 private:
  void work(const std::stop_token& end) {
    bool well = true;
    do {
      std::vector<double> numbers(10000);
      std::iota(numbers.begin(), numbers.end(), 1.0);
      std::ranges::reverse(numbers);
      const std::string sum = std::to_string(std::accumulate(numbers.begin(), numbers.end(), 0.0));
      well = well && sum.starts_with("50005000.") && std::getenv("PATH");
    } while (!end.stop_requested());
    well_ += well;
  }
  std::atomic<int> well_ = 0;
  std::vector<std::jthread> threads_;
};

Matrix filled_half(const std::string& type, const std::string& options, const Problem& problem) {
  auto A = empty_matrix(type, options, problem.shape);
  const int bs = problem.shape.bs, most = problem.shape.block_cols();
  PETSC_OK(MatSeqSBAIJSetPreallocation(A, bs, most, nullptr));
  PETSC_OK(MatMPISBAIJSetPreallocation(A, bs, most, nullptr, most, nullptr));
  insert_blocks(A, problem, problem.seed, INSERT_VALUES);
  assemble(A);
  return A;
}

TEST(Threads, OfTheProgramGoOn) {
  OwnThreads threads;
  const Problem small = random_problem(121, spread(3, 20, 20));
  // So many scalars that several threads of the plugin mirror them. Diagonal blocks would have to be symmetric.
  Problem large = random_problem(122, spread(3, 300, 300), 0.8);
  std::erase_if(large.blocks, [](const Block& b) { return b.row >= b.col; });

  for (const char* options : {"", "-mat_compound_layout csr", "-mat_compound_tune measure -mat_compound_wisdom none"})
    EXPECT_TRUE(
        same_products(filled_matrix(tested_type(), options, small), filled_matrix(parent_type(), "", small), 123))
        << options;
  const auto halves = filled_half(MATSBAIJCOMPOUND, "-mat_compound_layout sell", large),
             plain = filled_half(MATSBAIJ, "", large);
  EXPECT_LT(relative_difference(halves, plain, 124), 2e-14);
  insert_blocks(halves, large, 127, INSERT_VALUES);
  insert_blocks(plain, large, 127, INSERT_VALUES);
  assemble(halves);
  assemble(plain);
  EXPECT_LT(relative_difference(halves, plain, 126), 2e-14);

  EXPECT_TRUE(all_ranks(threads.end_well()));
}

}  // namespace
