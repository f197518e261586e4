#include "cuda/kernel_source.hpp"

#include <algorithm>
#include <bit>

#include "device/prolongator.hpp"
#include "device/wide.hpp"
#include "entry/registry.hpp"
#include "layout/column_codes.hpp"
#include "layout/family.hpp"

namespace compound::cuda {

namespace {

std::string text(slot_t v) { return std::to_string(v); }

std::string group_text(idx group) { return group == group_all ? "all_items" : std::to_string(group); }

template <class Enum, std::size_t n>
std::string named(Enum value, const char* const (&names)[n]) {
  return names[static_cast<int>(value)];
}

std::string op_text(Op op) { return named(op, {"Op::none", "Op::transpose", "Op::hermitian"}); }

std::string traversal_text(Traversal traversal) {
  return named(traversal, {"Traversal::rows", "Traversal::components", "Traversal::slots"});
}

std::string update_text(Update update) {
  return named(update, {"Update::assign", "Update::add", "Update::smooth", "Update::correct"});
}

std::string follow_text(Follow follow) {
  return named(follow, {"Follow::nothing", "Follow::stoppable", "Follow::dot", "Follow::bilinear"});
}

std::string balance_text(Balance balance) {
  return named(balance, {"Balance::grid", "Balance::fixed", "Balance::counted"});
}

/// What each word of an entry is stored as.
std::string stored_name(const Plan& plan, const Problem& problem) {
  const bool real = entry_shape(plan, problem).real_words;
  return scalar_name({real ? Field::real : problem.scalar.field, plan.values});
}

std::string cache_text(Cache cache) { return cache == Cache::stream ? "Cache::stream" : "Cache::keep"; }

/// What lies in the slots of a layout, as types of the device text.
struct SlotWords {
  std::string entry, stored, words_code;
  slot_t padding;  ///< words after those of an entry
};

/// As products see them. `chunk`: its slots, where the layout has chunks.
SlotWords words_of_products(const Plan& plan, const Problem& problem, Cache cache,
                            const std::string& chunk = "dynamic") {
  SlotWords w{entry_name(plan.entry, problem), stored_name(plan, problem), "plain_words<" + cache_text(cache) + ">",
              matrix_word_map(plan, problem, 0).padding};
  const ValueCode& code = value_code(plan.codes);
  if (code.of == CodeOf::words)
    w.words_code = "table_words<" + w.stored + ", " + cache_text(cache) + ">";
  else if (code.of == CodeOf::chunks)
    w.words_code = "chunk_words<" + w.stored + ", " + chunk + ", " + cache_text(cache) + ">";
  else
    return w;
  w.stored = code.type;
  return w;
}

/// As they are packed and copied: of blocks that are coded the codes.
SlotWords words_of_slots(const Plan& plan, const Problem& problem) {
  SlotWords w = words_of_products(plan, problem, Cache::keep);
  w.words_code = "plain_words<>";
  const ValueCode& code = value_code(plan.codes);
  if (code.of != CodeOf::blocks) return w;
  w.stored = code.type;
  w.entry = "coded_block<" + w.stored + ">";
  if (code.in_columns()) {
    w.stored = "count32";
    w.words_code = "bit_words";
  }
  return w;
}

/// Lines of a form.
class FormText {
 public:
  void line(const std::string& what) { text_ += "  " + what + ";\n"; }
  void constant(const std::string& type, const std::string& name, const std::string& value) {
    line("static constexpr " + type + " " + name + " = " + value);
  }
  void constant(const std::string& name, bool value) { constant("bool", name, value ? "true" : "false"); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// What is in a slot, and where its words lie.
std::string words_form(const Plan& plan, const SlotWords& words) {
  const LayoutSpec& l = plan.layout;
  FormText t;
  t.line("using entry = " + words.entry);
  t.line("using stored = " + words.stored);
  t.line("using words_code = " + words.words_code);
  t.constant("slot_t", "word_group", group_text(l.word_group));
  t.constant("slot_t", "word_padding", text(words.padding));
  t.constant("WordOrder", "word_order", l.word_order == WordOrder::row ? "WordOrder::row" : "WordOrder::column");
  return t.take();
}

/// What every kernel of a plan knows. How words are read matters to products alone: others take `keep`, so that plans
/// share them.
std::string common_form(const Plan& plan, const SlotWords& words, bool reordered = false, Cache cache = Cache::keep) {
  const LayoutSpec& l = plan.layout;
  FormText t;
  const std::string_view columns = value_code(plan.codes).in_columns() ? "columns31" : column_code(l.columns).type;
  t.line("using layout = " + family_of(l).decoder(l, reordered ? "RowOrder::listed" : "RowOrder::kept",
                                                  std::string(columns) + "<" + cache_text(cache) + ">"));
  t.constant("Cache", "cache", cache_text(cache));
  return words_form(plan, words) + t.take();
}

/// Which words a product reads for a slot.
std::string value_index(const Plan& plan, bool shares_values, Cache cache) {
  const std::string listed = shares_values ? "listed_values<count32>" : "own_values";
  const ValueCode& code = value_code(plan.codes);
  if (code.of != CodeOf::blocks) return listed;
  if (code.in == CodesIn::nowhere) return "one_value";
  if (code.in_columns()) return "values_by_bit<" + listed + ", " + cache_text(cache) + ">";
  return "coded_values<" + std::string(code.type) + ", " + listed + ", " + cache_text(cache) + ">";
}

/// A user's kind has its text before the kernel.
std::string text_before(std::string_view entry) {
  const std::string* const text = entry_text(entry);
  return (text ? *text : "") + "using namespace compound;\n";
}

std::string whole_source(std::string_view entry, const std::string& form, const std::string& bounds,
                         const std::string& call, const std::string& arguments) {
  return "#include \"kernels.hpp\"\n" + text_before(entry) + "struct form {\n" + form +
         "};\nextern \"C\" __global__ void __launch_bounds__(" + bounds + ") " + kernel_name +
         "(const __grid_constant__ " + arguments + " a) { " + call + "<form>(a); }\n";
}

/// A kernel of thread blocks of 128; `body` names its arguments `a`.
std::string kernel_text(std::string_view entry, const std::string& header, const std::string& arguments,
                        const std::string& body) {
  return "#include \"entry/entries.hpp\"\n#include \"" + header + "\"\n" + text_before(entry) +
         "extern \"C\" __global__ void __launch_bounds__(128) " + kernel_name + "(const __grid_constant__ " +
         arguments + " a) {\n" + body + "}\n";
}

/// The beginning of a body: one worker for each of a.`workers`.
std::string worker_text(const std::string& workers) {
  return "  const slot_t worker = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;\n  if (worker < a." + workers + ") ";
}

/// The layout is known at run time: one kernel for all plans of a family.
std::string diagonal_kernel(const std::string& function, const Plan& plan, const Problem& problem) {
  const SlotWords words = words_of_products(plan, problem, Cache::keep);
  return kernel_text(plan.entry, "kernels.hpp", "DiagonalArgs",
                     "  for_each_diagonal<" + words.entry + ", " + words.stored + ", " +
                         std::string(family_of(plan.layout).any_decoder) + ", " +
                         value_index(plan, false, Cache::keep) + ", " + words.words_code +
                         ">(a, [](const auto& d, idx position) { " + function + "(d, position); });\n");
}

}  // namespace

std::string diagonal_source(const Plan& plan, const Problem& problem) {
  return diagonal_kernel("write_diagonal", plan, problem);
}

std::string inverse_source(const Plan& plan, const Problem& problem) {
  return diagonal_kernel("invert_diagonal", plan, problem);
}

std::string symmetry_source(const Plan& plan, const Problem& problem) {
  return kernel_text(
      "dense", "symmetry.hpp", "symmetry_args",
      "  const slot_t worker = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;\n  compare_with_mirrored<" +
          scalar_name(problem.scalar) + ", " + std::to_string(problem.block.rows) + ", " +
          (plan.half == Half::hermitian ? "true" : "false") + ">(a, worker);\n");
}

std::string note_items_source() {
  return kernel_text("dense", "code_items.hpp", "code_args", worker_text("count") + "note_item(a, worker);\n");
}

std::string write_codes_source(const ValueCode& code) {
  return kernel_text("dense", "code_items.hpp", "code_args",
                     worker_text("count") + "write_code<" + std::string(code.type) + ">(a, worker);\n");
}

std::string gather_items_source() {
  return kernel_text("dense", "code_items.hpp", "gather_args", worker_text("count") + "gather_word(a, worker);\n");
}

std::string chunk_step_source(ChunkStep step) {
  constexpr const char* names[] = {"sample_word", "note_word", "write_word"};
  return kernel_text(
      "dense", "chunk_codes.hpp", "chunk_code_args",
      worker_text(step == ChunkStep::sample ? "samples" : "count") + names[static_cast<int>(step)] + "(a, worker);\n");
}

std::string order_source(ScalarType scalar) {
  return kernel_text("dense", "order_blocks.hpp", "order_args",
                     worker_text("workers()") + "order_blocks<" + scalar_name(scalar) + ">(a, worker);\n");
}

std::string sum_source(ScalarType scalar, Update update, int side) {
  const std::string known = std::to_string(side);
  return kernel_text("dense", "sum_lists.hpp", "SumArgs",
                     worker_text("sums * (" + known + " * " + known + ")") + "sum_list<" + scalar_name(scalar) + ", " +
                         update_text(update) + ", " + known + ">(a, worker);\n");
}

bool by_contributions(ContributionStep step) {
  return step == ContributionStep::count || step == ContributionStep::put;
}

std::string contribution_source(ContributionStep step, int index_bytes) {
  constexpr const char* names[] = {"count_contribution", "put_contribution", "sort_contributions",
                                   "list_contributions"};
  const std::string name = names[static_cast<int>(step)];
  const bool by_rows = !by_contributions(step);
  const std::string call = by_rows ? name : name + (index_bytes == 8 ? "<long long>" : "<int>");
  return kernel_text("dense", "contributions.hpp", "contribution_args",
                     worker_text(by_rows ? "rows * slot_t(32)" : "count") + call + "(a, worker);\n");
}

namespace {

/// A warp each of the argument's `rows`.
std::string row_kernel_text(const std::string& header, const std::string& arguments, const std::string& rows,
                            const std::string& call) {
  return kernel_text("dense", header, arguments, worker_text(rows + " * slot_t(32)") + call + "(a, worker);\n");
}

/// A kernel of blocks of threads, one call of `call` each.
std::string block_kernel_text(const std::string& header, const std::string& form, int threads,
                              const std::string& arguments, const std::string& call) {
  return "#include \"" + header + "\"\nusing namespace compound;\n" + form +
         "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) + ") " + kernel_name +
         "(const __grid_constant__ " + arguments + " a) { " + call + "; }\n";
}

}  // namespace

std::string graph_source(GraphStep step) {
  return row_kernel_text(
      "aggregates.hpp", "aggregate_args", "nodes",
      named(step, {"begin_states", "find_nearest", "decide", "join_neighbours", "join_the_rest", "check_symmetry"}));
}

std::string strength_source(StrengthStep step, ScalarType scalar, int size) {
  const std::string of_blocks = "<" + scalar_name(scalar) + ", " + std::to_string(size) + ">";
  return row_kernel_text(
      "aggregates.hpp", "strength_args", "nodes",
      named(step, {"weigh_edges", "count_kept", "write_kept"}) + (step == StrengthStep::weigh_edges ? of_blocks : ""));
}

std::string smooth_source(ScalarType scalar) {
  return row_kernel_text("prolongator.hpp", "smooth_args", "rows", "smooth_rows<" + scalar_name(scalar) + ">");
}

std::string basis_source(ScalarType scalar) {
  return block_kernel_text("prolongator.hpp", "", threads_of_basis, "basis_args",
                           "orthonormalize<" + scalar_name(scalar) + ">(a, blockIdx.x)");
}

std::string smoothing_pass_source(ScalarType scalar) {
  return kernel_text("dense", "cycle.hpp", "smoothing_pass_args",
                     worker_text("scalars") + "smooth_scalar<" + scalar_name(scalar) + ">(a, worker);\n");
}

std::string dense_source(ScalarType scalar) {
  return row_kernel_text("cycle.hpp", "dense_args", "rows", "multiply_dense<" + scalar_name(scalar) + ">");
}

std::string product_pattern_source(const ColumnTable& table, int inner) {
  FormText t;
  t.constant("int", "lanes", std::to_string(table.lanes));
  t.constant("int", "groups", std::to_string(table.groups));
  t.constant("int", "slots", std::to_string(table.slots));
  t.constant("int", "inner", std::to_string(inner));
  return block_kernel_text("product_pattern.hpp", "struct form {\n" + t.take() + "};\n", table.threads(),
                           "product_pattern_args", "collect_columns<form>(a)");
}

std::string transpose_source(TransposeStep step) {
  if (step == TransposeStep::sort)
    return block_kernel_text("product_pattern.hpp", "", threads_of_transposed_row, "transpose_args",
                             "sort_transposed<" + std::to_string(threads_of_transposed_row) + ">(a)");
  return kernel_text(
      "dense", "product_pattern.hpp", "transpose_args",
      worker_text("rows") + (step == TransposeStep::count ? "count" : "put") + "_transposed(a, worker);\n");
}

std::string slots_source(const LayoutFamily& family) {
  return kernel_text("dense", "kernels.hpp", "slots_args",
                     worker_text("workers()") + "fill_slots<" + std::string(family.any_decoder) + ">(a, worker);\n");
}

namespace {

/// What a method's kernels know of it.
struct MethodText {
  const char *name, *header;
};
constexpr MethodText methods[] = {{"cg", "cg.hpp"}, {"bcgs", "bcgs.hpp"}};

/// Scalars, and which inner product is theirs.
FormText inner_form(ScalarType scalar, bool hermitian) {
  FormText t;
  t.line("using scalar = " + scalar_name(scalar));
  t.constant("hermitian", hermitian);
  return t;
}

FormText krylov_form(const KrylovProblem& p) {
  constexpr const char* norms[] = {"preconditioned", "unpreconditioned", "natural", "none"};
  FormText t = inner_form(p.scalar, p.hermitian);
  t.line(std::string("using state = ") + methods[static_cast<int>(p.method)].name + "_state<scalar>");
  t.constant("int", "columns", text(p.columns));
  t.constant("KrylovNorm", "norm", std::string("KrylovNorm::") + norms[static_cast<int>(p.norm)]);
  t.constant("int", "null_vectors", std::to_string(p.null_space.size()));
  t.constant("null_constant", p.null_space.constant);
  return t;
}

std::string loop_kernel(const std::string& header, const std::string& form, const std::string& arguments,
                        const std::string& body) {
  return "#include \"" + header + "\"\nusing namespace compound;\nstruct form {\n" + form +
         "};\nextern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads_of_krylov) + ") " +
         kernel_name + "(const __grid_constant__ " + arguments + " a) { " + body + " }\n";
}

std::string krylov_kernel(const KrylovProblem& p, const std::string& arguments, const std::string& body) {
  return loop_kernel(methods[static_cast<int>(p.method)].header, krylov_form(p).take(), arguments, body);
}

}  // namespace

std::string krylov_stage_source(const KrylovProblem& p, const std::string& stage, StageSums sums) {
  constexpr const char* grids[] = {"queued_kernels", "kernels_of_peers", "kernels_before_gathering",
                                   "kernels_after_gathering"};
  return krylov_kernel(
      p, "krylov_args",
      std::string(grids[static_cast<int>(sums)]) + " grid; " + stage + "<form>(a, state_of<form>(a), grid);");
}

std::string exchange_source(ScalarType scalar, ExchangeStep step) {
  constexpr const char* bodies[] = {"put_values<form::scalar>(a);", "take_values<form::scalar, false>(a);",
                                    "take_values<form::scalar, true>(a);"};
  FormText form;
  form.line("using scalar = " + scalar_name(scalar));
  return loop_kernel("peers.hpp", form.take(), "exchange_args", bodies[static_cast<int>(step)]);
}

std::string krylov_systems_source(const KrylovProblem& p, const std::string& stage) {
  FormText form = krylov_form(p);
  form.constant("of_systems", true);
  return loop_kernel("cg.hpp", form.take(), "systems_args",
                     "const krylov_args one = at_place<form::scalar>(a, int(blockIdx.x)); kernels_of_systems grid; " +
                         stage + "<form>(one, state_of<form>(one), grid);");
}

std::string krylov_source(const KrylovProblem& p, const std::string& kernel, const std::string& arguments) {
  return krylov_kernel(p, arguments, kernel + "<form>(a);");
}

std::string pass_source(ScalarType scalar, bool hermitian, bool diagonal, const std::string& pass) {
  FormText form = inner_form(scalar, hermitian);
  form.constant("diagonal", diagonal);
  return loop_kernel("vector_passes.hpp", form.take(), "pass_args", "run_pass<" + pass + "<form>, form::scalar>(a);");
}

std::string scalar_name(ScalarType s) {
  const std::string real = s.precision == Precision::single ? "float" : "double";
  return s.field == Field::complex ? "complex_number<" + real + ">" : real;
}

std::string entry_name(std::string_view entry, const Problem& problem) {
  const EntryKind& kind = entry_kind(entry);
  const int sizes[] = {problem.block.rows, problem.block.cols};
  // A user's template is in no namespace, and may be named like something in ours.
  std::string name = (kind.user_defined ? "::" : "") + std::string(kind.type) + "<" + scalar_name(problem.scalar);
  for (int i = 0; i < kind.sizes; ++i) name += ", " + std::to_string(sizes[i]);
  return name + ">";
}

std::string fit_source(std::string_view entry, const Problem& problem) {
  const std::string shape = std::to_string(problem.block.rows) + ", " + std::to_string(problem.block.cols);
  return kernel_text(entry, "first_misfit.hpp", "fit_args",
                     "  check_tile<" + entry_name(entry, problem) + ", " + shape + ">(a);\n");
}

std::string entry_trial_source(std::string_view entry, const Problem& problem) {
  return kernel_text(entry, "entry_trial.hpp", "trial_args",
                     "  if (threadIdx.x == 0) *a.found = try_entry(" + entry_name(entry, problem) + "::of(" +
                         std::to_string(problem.block.rows) + ", " + std::to_string(problem.block.cols) + "));\n");
}

namespace {

std::string product_form(const Plan& plan, const Problem& problem, Op op, Update update, bool shares_values,
                         bool reordered, bool aligned, Follow follow) {
  const Schedule& s = plan.schedule;
  const std::string chunk = std::to_string(slots_of_chunk(plan.layout));
  FormText t;
  t.constant("slot_t", "vector_group", group_text(plan.layout.vector_group));
  t.constant("int", "vector_access", text(aligned ? vector_access(plan, problem) : 0));
  t.constant("Op", "op", op_text(op));
  t.constant("Update", "update", update_text(update));
  t.constant("Traversal", "traversal", traversal_text(s.traversal));
  t.constant("int", "lanes", text(slot_t{s.lanes}));
  t.constant("int", "at_once", text(slot_t{s.unroll}));
  t.constant("Balance", "balance", balance_text(s.balance));
  if (s.traversal == Traversal::slots)
    t.constant("Carries", "carries", s.carries == Carries::atomic ? "Carries::atomic" : "Carries::ordered");
  if (goes_by_patches(plan)) t.constant("hermitian_half", plan.half == Half::hermitian);
  if (follow != Follow::nothing) t.constant("Follow", "follow", follow_text(follow));
  t.line("using value_index = " + value_index(plan, shares_values, s.cache));
  return common_form(plan, words_of_products(plan, problem, s.cache, chunk), reordered, s.cache) + t.take();
}

}  // namespace

/// Workers that share a block read it scalar by scalar.
int vector_access(const Plan& plan, const Problem& problem) {
  const bool by_scalars = plan.schedule.traversal == Traversal::components || goes_by_patches(plan);
  if (by_scalars || plan.layout.vector_group != 1) return 0;
  const slot_t scalar = bytes_of(problem.scalar);
  const int access = std::min(widest_access(problem.block.rows * scalar), widest_access(problem.block.cols * scalar));
  return access > static_cast<int>(bytes_of(problem.scalar.precision)) ? access : 0;
}

std::string product_source(const Plan& plan, const Problem& problem, Op op, Update update, bool shares_values,
                           bool reordered, bool aligned, Follow follow) {
  if (goes_by_patches(plan))  // whose sums are those of all rows, in their order
    return whole_source(plan.entry, product_form(plan, problem, Op::none, update, false, false, false, follow), "128",
                        "add_all_patches", "product_args");
  return whole_source(plan.entry, product_form(plan, problem, op, update, shares_values, reordered, aligned, follow),
                      std::to_string(plan.schedule.threads) + ", " + std::to_string(plan.schedule.blocks),
                      "multiply_all", "product_args");
}

std::string patches_source(const Plan& plan, const Problem& problem, Op op, bool reordered, Follow follow) {
  if (follow != Follow::nothing) follow = Follow::stoppable;  // what follows does so in the second kernel
  return whole_source(plan.entry, product_form(plan, problem, op, Update::assign, false, reordered, false, follow),
                      std::to_string(plan.schedule.threads) + ", " + std::to_string(plan.schedule.blocks),
                      "multiply_all_patches", "product_args");
}

namespace {

/// Of a worker, for one vector.
slot_t bytes_of_sums(const Plan& plan, const Problem& problem, Op op) {
  const int rows = op == Op::none ? problem.block.rows : problem.block.cols;
  return (plan.schedule.traversal == Traversal::rows ? rows : 1) * slot_t(bytes_of(problem.scalar));
}

}  // namespace

int most_vectors(const Plan& plan, const Problem& problem, Op op) {
  constexpr slot_t most_bytes = 384;  // of sums: 96 registers
  const Schedule& s = plan.schedule;
  const bool has_kernels = s.traversal != Traversal::slots && s.library.empty() && !adds_always(plan) &&
                           !goes_by_patches(plan) && family_of(plan.layout).visited_rows < 0;
  const slot_t vectors = std::min<slot_t>(most_vectors_at_once, most_bytes / bytes_of_sums(plan, problem, op));
  return has_kernels ? static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max<slot_t>(vectors, 1)))) : 1;
}

std::string vectors_source(const Plan& plan, const Problem& problem, Op op, Update update, bool reordered, bool aligned,
                           int vectors, Follow follow) {
  // Of a multiprocessor: 128 registers each, 160 for sums that take most of them.
  const int threads_at_once = vectors * bytes_of_sums(plan, problem, op) > 256 ? 384 : 512;
  const int threads = plan.schedule.threads;
  const std::string form = product_form(plan, problem, op, update, false, reordered, aligned, follow) +
                           "  static constexpr int vectors = " + std::to_string(vectors) + ";\n";
  return whole_source(plan.entry, form,
                      std::to_string(threads) + ", " + std::to_string(std::max(1, threads_at_once / threads)),
                      "multiply_all_vectors", "vectors_args");
}

std::string whole_loop_source(const KrylovProblem& p, const LoopProduct& product, const LoopProduct* by_ghosts,
                              WholeForm whole) {
  const Follow follow = p.method != KrylovMethod::cg ? Follow::nothing : p.hermitian ? Follow::dot : Follow::bilinear;
  const auto form_of = [&](const LoopProduct& l) {
    return product_form(l.plan, l.problem, Op::none, Update::assign, false, l.reordered, l.aligned, follow);
  };
  FormText form = krylov_form(p);
  form.constant("two_grid_syncs", whole.two_grid_syncs);
  form.constant("keeps_words", whole.keeps_words);
  if (p.peers) {
    form.constant("of_peers", true);
    form.constant("has_ghosts", by_ghosts != nullptr);
  }
  const std::string of_ghosts = by_ghosts ? "  struct of_ghosts {\n" + form_of(*by_ghosts) + "  };\n" : "";
  const bool has_other_text = by_ghosts && by_ghosts->plan.entry != product.plan.entry;
  return "#include \"krylov_whole.hpp\"\n" + (has_other_text ? text_before(by_ghosts->plan.entry) : "") +
         whole_source(product.plan.entry, form.take() + form_of(product) + of_ghosts,
                      std::to_string(threads_of_whole_loop) + ", 1", "krylov_whole", "whole_args");
}

std::string carries_source(const Plan& plan, const Problem& problem, Op op, Follow follow) {
  return whole_source(plan.entry, product_form(plan, problem, op, Update::add, false, false, false, follow), "128",
                      "add_all_carries", "product_args");
}

namespace {

std::string packing_source(Plan plan, const Problem& problem, const std::string& call, const std::string& arguments) {
  const CodeOf coded = value_code(plan.codes).of;
  if (coded == CodeOf::words || coded == CodeOf::chunks) plan.codes = "none";  // words are packed before they are coded
  return whole_source(plan.entry, common_form(plan, words_of_slots(plan, problem)), "128", call, arguments);
}

}  // namespace

std::string pack_source(const Plan& plan, const Problem& problem) {
  return packing_source(plan, problem, "pack_all", "pack_args");
}

std::string pack_part_source(const Plan& plan, const Problem& problem) {
  return packing_source(plan, problem, "pack_part", "pack_part_args");
}

std::string pack_sums_source(const Plan& plan, const Problem& problem) {
  return packing_source(plan, problem, "pack_sums", "pack_sums_args");
}

std::string unpack_source(const Plan& plan, const Problem& problem) {
  return packing_source(plan, problem, "unpack", "pack_part_args");
}

std::string regroup_source(const Plan& from, const Plan& to, const Problem& problem) {
  const std::string form = "  struct from {\n" + words_form(from, words_of_slots(from, problem)) + "  };\n";
  return whole_source(to.entry, form + words_form(to, words_of_slots(to, problem)), "128", "regroup_all",
                      "regroup_args");
}

}  // namespace compound::cuda
