#include "cuda/default_kernels.hpp"

#include <algorithm>

#include "cuda/kernel_source.hpp"
#include "entry_choice.hpp"

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

/// Rows that are listed add to what was set before; the transposed pattern of such a plan has all its rows.
void add_products(Sources& to, Op op, const std::vector<Plan>& plans, const Problem& problem) {
  for (const Plan& plan : plans)
    for (const bool aligned : {true, false}) {
      // Vectors begin at whole scalars: where an access is of one, they are aligned.
      if (!aligned && vector_access(plan, problem) <= static_cast<int>(bytes_of(problem.scalar))) continue;
      if (plan.layout.row_list && op == Op::none)
        to.add(product_source(plan, problem, op, Update::add, false, true, aligned));
      else
        for (const Update update : {Update::assign, Update::add})
          to.add(product_source(plan, problem, op, update, false, false, aligned));
    }
}

void add_kernels_of_values(Sources& to, const std::vector<Plan>& plans, const Problem& problem) {
  for (const Plan& plan : plans)
    if (!words_are_blocks(plan, problem)) to.add(pack_source(plan, problem));
  for (const Plan& plan : plans) to.add(regroup_source(plan, problem));
  for (const Plan& plan : plans) to.add(diagonal_source(plan, problem));
  for (const Plan& plan : plans) to.add(inverse_source(plan, problem));
}

}  // namespace

std::vector<std::string> default_sources(ScalarType scalar) {
  Sources sources;
  for (const Update update : {Update::assign, Update::add}) sources.add(sum_source(scalar, update));
  sources.add(order_source(scalar));
  for (int size = 1; size <= largest_default_block; ++size) {
    const Problem problem{{size, size}, scalar};
    for (const std::string_view entry : entries_to_find(problem)) {
      const std::vector<Plan> plans = default_cuda_plans(problem, entry);
      for (const Op op : {Op::none, Op::transpose, Op::hermitian})
        if (op != Op::hermitian || scalar.field == Field::complex)  // in real matrices that is the transpose
          add_products(sources, op, plans, problem);
      add_kernels_of_values(sources, plans, problem);
      if (entry != "dense") sources.add(fit_source(entry, problem));
    }
  }
  return sources.take();
}

}  // namespace compound::cuda
