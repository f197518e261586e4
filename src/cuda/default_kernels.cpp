#include "cuda/default_kernels.hpp"

#include <algorithm>

#include "cuda/kernel_source.hpp"
#include "cuda/krylov_passes.hpp"
#include "cuda/sparse_product.hpp"
#include "layout/family.hpp"
#include "planner/default_plan.hpp"
#include "planner/entry_choice.hpp"

namespace compound::cuda {

namespace {

/// In the order they come, each once.
class Sources {
 public:
  void add(const std::string& source) {
    if (std::ranges::find(all_, source) == all_.end()) all_.push_back(source);
  }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::vector<std::string> all_;
};

/// Rows that are listed add to what was set before; the transposed pattern of such a plan has all its rows. Rows that
/// are sorted may have been in order.
void add_products(Sources& to, Op op, const Plan& plan, const Problem& problem) {
  const bool is_square = problem.block.rows == problem.block.cols;
  const bool listed = plan.layout.row_list && op == Op::none, sorted = plan.layout.sigma != 1;
  for (const bool aligned : {true, false}) {
    // Vectors begin at whole scalars: where an access is of one, they are aligned.
    if (!aligned && vector_access(plan, problem) <= static_cast<int>(bytes_of(problem.scalar))) continue;
    if (!aligned && !is_square) continue;  // prolongators' vectors are whole ones
    for (const bool reordered : {false, true})
      for (const Update update : {Update::assign, Update::add})
        if (listed ? reordered && update == Update::add : sorted || !reordered)
          to.add(product_source(plan, problem, op, update, false, reordered, aligned));
  }
  if (plan.schedule.traversal == Traversal::slots)
    to.add(carries_source(plan, problem, op));
  else if (op == Op::none && is_square && plan.entry == "dense")
    for (const bool reordered : {false, true})  // on vectors of multigrid's own
      if (listed ? reordered : sorted || !reordered)
        to.add(product_source(plan, problem, op, listed ? Update::correct : Update::smooth, false, reordered, true));
}

/// Those of one part, and parts of the others.
struct DefaultPlans {
  DefaultPlans(const Problem& problem, std::string_view entry) {
    const BlockShape block = problem.block, of_transpose = {block.cols, block.rows};
    for (const BlockShape shape : {block, of_transpose})
      for (const Plan& plan : default_cuda_plans({shape, problem.scalar}, entry))
        for (const Plan& part : parts(plan)) {
          add(all, part);
          if (!plan.later.empty()) add(of_several, part);
        }
    for (const Plan& plan : all)
      if (std::ranges::none_of(of_words, [&](const Plan& p) { return have_same_words(p.layout, plan.layout); }))
        of_words.push_back(plan);
  }
  static void add(std::vector<Plan>& to, const Plan& part) {
    if (std::ranges::find(to, part) == to.end()) to.push_back(part);
  }
  std::vector<Plan> all, of_several, of_words;  ///< `of_words`: one for each order of words
};

void add_kernels_of_values(Sources& to, const DefaultPlans& plans, const Problem& problem) {
  for (const Plan& plan : plans.all)
    if (!words_are_blocks(plan, problem)) to.add(pack_source(plan, problem));
  for (const Plan& plan : plans.of_several) to.add(pack_part_source(plan, problem));
  for (const Plan& plan : plans.all) {
    if (plan.entry != "dense") continue;
    to.add(pack_sums_source(plan, problem));
    to.add(unpack_source(plan, problem));
  }
  for (const Plan& from : plans.of_words)
    for (const Plan& plan : plans.of_words) to.add(regroup_source(from, plan, problem));
  for (const Plan& plan : plans.all) to.add(diagonal_source(plan, problem));
  for (const Plan& plan : plans.all) to.add(inverse_source(plan, problem));
}

/// Products by prolongators and their transposes, and values for them.
void add_prolongators(Sources& to, ScalarType scalar) {
  for (const BlockShape block : {BlockShape{2, 3}, BlockShape{3, 6}}) {
    const Problem problem{block, scalar};
    const DefaultPlans plans(problem, "dense");
    for (const Op op : {Op::none, Op::transpose})
      for (const Plan& plan : plans.all) add_products(to, op, plan, problem);
    for (const Plan& plan : plans.all)
      if (!words_are_blocks(plan, problem)) to.add(pack_source(plan, problem));
    for (const Plan& from : plans.of_words)
      for (const Plan& plan : plans.of_words) to.add(regroup_source(from, plan, problem));
  }
}

/// Multigrid's, of n unknowns a node and m vectors of a near null space: A P and P^T A P of the finest level, and of
/// those above.
void add_sparse_products(Sources& to, ScalarType scalar) {
  struct Level {
    int n, m;
  };
  for (const auto& [n, m] : {Level{2, 2}, {2, 3}, {3, 3}, {3, 6}, {6, 6}}) {
    to.add(sparse_product_kernel(scalar, {n, n}, m, false).source);
    to.add(sparse_product_kernel(scalar, {m, n}, m, true).source);
  }
}

/// The set-up of multigrid.
void add_multigrid(Sources& to, ScalarType scalar) {
  for (const ColumnTable& table : column_tables)
    for (const int inner : inner_lanes) to.add(product_pattern_source(table, inner));
  for (const TransposeStep step : transpose_steps) to.add(transpose_source(step));
  for (const LayoutFamily* const family : {&compressed_rows_family, &slices_family}) to.add(slots_source(*family));
  for (const GraphStep step : graph_steps) to.add(graph_source(step));
  for (const StrengthStep step : strength_steps)
    for (int size = 1; size <= largest_default_block && scalar.field == Field::real; ++size)
      to.add(strength_source(step, scalar, size));
  to.add(smooth_source(scalar));
  to.add(basis_source(scalar));
  to.add(smoothing_pass_source(scalar));
  to.add(dense_source(scalar));
}

}  // namespace

std::vector<std::string> default_sources(ScalarType scalar) {
  Sources sources;
  for (const Update update : {Update::assign, Update::add})
    for (int side = 1; side <= largest_default_block; ++side) sources.add(sum_source(scalar, update, side));
  sources.add(order_source(scalar));
  for (const int index_bytes : {4, 8})
    for (const ContributionStep step : contribution_steps) sources.add(contribution_source(step, index_bytes));
  add_sparse_products(sources, scalar);
  add_multigrid(sources, scalar);
  add_prolongators(sources, scalar);
  for (const std::string& source : pass_sources(scalar)) sources.add(source);
  for (const ExchangeStep step : exchange_steps) sources.add(exchange_source(scalar, step));
  for (int size = 1; size <= largest_default_block; ++size) {
    const Problem problem{{size, size}, scalar};
    for (const std::string_view entry : entries_to_find(problem)) {
      const DefaultPlans plans(problem, entry);
      for (const Op op : {Op::none, Op::transpose, Op::hermitian})
        if (op != Op::hermitian || scalar.field == Field::complex)  // in real matrices that is the transpose
          for (const Plan& plan : plans.all) add_products(sources, op, plan, problem);
      add_kernels_of_values(sources, plans, problem);
      if (entry != "dense") sources.add(fit_source(entry, problem));
    }
  }
  return sources.take();
}

}  // namespace compound::cuda
