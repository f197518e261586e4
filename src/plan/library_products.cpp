#include "plan/library_products.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace compound {

namespace {

// `repeats_bits` is what NVIDIA's manual of cuSPARSE says: the second algorithm of CSR and that of BSR are
// deterministic, the one that CSR has by itself is not; the older calls are under its general promise (Result
// Reproducibility), that a call without a transpose gives the same bits for the same arguments. Formats that would want
// the scalars of blocks spread over rows, slices of the library's own or a row of each entry are left out: they would
// be second copies.
constexpr LibraryProduct products[] = {
    {"cusparse:bsr-row", LibraryForm::blocks, WordOrder::row, LibraryCall::automatic, true},
    {"cusparse:bsr-column", LibraryForm::blocks, WordOrder::column, LibraryCall::automatic, true},
    {"cusparse:bsrmv-row", LibraryForm::blocks, WordOrder::row, LibraryCall::older, true},
    {"cusparse:bsrmv-column", LibraryForm::blocks, WordOrder::column, LibraryCall::older, true},
    {"cusparse:csr", LibraryForm::scalars, WordOrder::column, LibraryCall::automatic, false},
    {"cusparse:csr-alg2", LibraryForm::scalars, WordOrder::column, LibraryCall::second, true},
};

std::string text_of(WordOrder order) { return order == WordOrder::row ? "words=1:row" : "words=1:column"; }

/// Of the entries, which must be what the library calls a block or a scalar.
std::optional<std::string> why_not_of_form(const LibraryProduct& product, const Plan& p, const Problem& problem) {
  const std::string word(product.word);
  const bool dense = p.entry == "dense", one = scalars_in(problem.block) == 1;
  if (product.form == LibraryForm::scalars) {
    if ((dense && one) || p.entry == "complex") return {};
    return word + " multiplies scalars (1x1 blocks, or entry=complex), not blocks of " + text_of(problem.block) +
           " with entry=" + std::string(p.entry) +
           "; for full square blocks take cusparse:bsr-row or cusparse:bsr-column";
  }
  if (!dense) return word + " multiplies full blocks: entry=dense, not entry=" + std::string(p.entry);
  if (problem.block.rows != problem.block.cols)
    return word + " multiplies square blocks, not " + text_of(problem.block) +
           "; take the kernels of this plugin (csr)";
  if (one) return word + " multiplies blocks, and these are scalars; take cusparse:csr-alg2";
  return {};
}

}  // namespace

std::span<const LibraryProduct> library_products() { return products; }

std::string library_names() {
  std::string names;
  std::string_view last;
  for (const LibraryProduct& product : products) {
    if (product.library() == last) continue;
    last = product.library();
    names += (names.empty() ? "" : ", ") + std::string(last);
  }
  return names;
}

bool is_library(std::string_view name) {
  return std::ranges::any_of(products, [&](const LibraryProduct& product) { return product.library() == name; });
}

const LibraryProduct* find_library_product(std::string_view word) {
  const auto found = std::ranges::find(products, word, &LibraryProduct::word);
  return found == std::end(products) ? nullptr : &*found;
}

std::string_view library_of(const Plan& plan) {
  const LibraryProduct* const product = find_library_product(plan.schedule.library);
  return product ? product->library() : std::string_view();
}

const LibraryProduct* library_product_in(std::span<const std::string_view> words) {
  const LibraryProduct* found = nullptr;
  for (const auto word : words) {
    const LibraryProduct* const named = find_library_product(word);
    if (named && found && named != found)
      throw error(ErrorKind::argument, "a plan names two products of libraries, " + std::string(found->word) + " and " +
                                           std::string(word) + "; name one");
    if (named) found = named;
  }
  return found;
}

void set_library_product(Plan& plan, const LibraryProduct& product) {
  plan.schedule.library = product.word;
  plan.layout.word_group = 1;
  plan.layout.word_order = product.order;
  plan.layout.padded = false;
  plan.layout.row_list = false;
  plan.layout.columns = LayoutSpec{}.columns;
}

std::optional<std::string> why_not_by_library(const Plan& p, const Problem& problem) {
  const LibraryProduct* const product = find_library_product(p.schedule.library);
  if (!product) return {};
  const LayoutSpec& l = p.layout;
  const std::string word(product->word), values = "values=" + std::string(name_of(problem.scalar.precision));
  const auto only_with = [&](std::string_view what, const std::string& found) {
    return word + " goes with " + std::string(what) + " alone, not with " + found;
  };
  if (l.preset != "csr") return only_with("layout csr", std::string(l.preset));
  if (l.row_list) return only_with("allrows", "rowlist");
  if (l.columns != LayoutSpec{}.columns) return only_with("columns=32", "columns=" + std::string(l.columns));
  if (value_code(p.codes).of != CodeOf::nothing) return only_with("codes=none", "codes=" + std::string(p.codes));
  if (l.vector_group != 1) return only_with("vectors=1", "vectors=" + word_group_text(l.vector_group));
  if (p.values != problem.scalar.precision) return only_with(values, "values=" + std::string(name_of(p.values)));
  if (const auto why = why_not_of_form(*product, p, problem)) return why;
  if (l.word_group != 1 || l.padded || l.word_order != product->order)
    return only_with(text_of(product->order), "other values of words=; leave words= out");
  if (problem.repeatable && !product->repeats_bits)
    return word +
           " may give other bits each time; take cusparse:csr-alg2, or let such products in "
           "(-mat_compound_reproducible 0)";
  return {};
}

}  // namespace compound
