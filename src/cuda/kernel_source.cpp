#include "cuda/kernel_source.hpp"

#include <algorithm>

#include "entry_registry.hpp"

namespace compound::cuda {

namespace {

std::string text(bool v) { return v ? "true" : "false"; }
std::string text(slot_t v) { return std::to_string(v); }

std::string group_text(idx group) { return group == group_all ? "all_items" : std::to_string(group); }

std::string op_text(Op op) {
  constexpr const char* names[] = {"Op::none", "Op::transpose", "Op::hermitian"};
  return names[static_cast<int>(op)];
}

std::string update_text(Update update) { return update == Update::add ? "Update::add" : "Update::assign"; }

std::string balance_text(Balance balance) {
  constexpr const char* names[] = {"Balance::grid", "Balance::fixed", "Balance::counted"};
  return names[static_cast<int>(balance)];
}

/// What each word of an entry is stored as.
std::string stored_name(const Plan& plan, const Problem& problem) {
  const bool real = entry_shape(plan, problem).real_words;
  return scalar_name({real ? Field::real : problem.scalar.field, plan.values});
}

/// Slices of all rows have a height that only the matrix knows.
std::string height_text(idx slice) { return slice == whole ? "dynamic" : std::to_string(slice); }

/// What every kernel of a plan knows. How words are read matters to products alone: others take `keep`, so that plans
/// share them.
std::string common_form(const Plan& plan, const Problem& problem, Cache cache = Cache::keep) {
  const LayoutSpec& l = plan.layout;
  std::string t;
  const auto line = [&](const std::string& what) { t += "  " + what + ";\n"; };
  const auto constant = [&](const std::string& type, const std::string& name, const std::string& value) {
    line("static constexpr " + type + " " + name + " = " + value);
  };
  line("using entry = " + entry_name(plan.entry, problem));
  line("using stored = " + stored_name(plan, problem));
  constant("slot_t", "height", height_text(l.slice));
  constant("Occupancy", "occupancy", l.occupancy == Occupancy::presence ? "Occupancy::presence" : "Occupancy::lengths");
  constant("slot_t", "word_group", group_text(l.word_group));
  constant("WordOrder", "word_order", l.word_order == WordOrder::row ? "WordOrder::row" : "WordOrder::column");
  constant("Cache", "cache", cache == Cache::stream ? "Cache::stream" : "Cache::keep");
  return t;
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

/// A kernel whose workers each call `function(a, worker)` while worker < a.`workers`.
std::string worker_source(std::string_view entry, const std::string& header, const std::string& arguments,
                          const std::string& workers, const std::string& function) {
  return kernel_text(entry, header, arguments,
                     "  const slot_t worker = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;\n  if (worker < a." +
                         workers + ") " + function + "(a, worker);\n");
}

/// The functions of device/diagonal.hpp take a layout and word map that are known at run time.
std::string diagonal_function(const std::string& name, const Plan& plan, const Problem& problem) {
  return name + "<" + entry_name(plan.entry, problem) + ", " + stored_name(plan, problem) +
         ", slices<dynamic, Occupancy::any>, matrix_words<dynamic, WordOrder::any>>";
}

}  // namespace

std::optional<std::string> why_no_kernel(const Plan& plan, const Problem& problem) {
  const Schedule& s = plan.schedule;
  if (!s.of_device() || s.blocks < 1) return "a device's schedule needs threads= and blocks=";
  if (!entry_text(plan.entry))
    return "entry " + std::string(plan.entry) + " has no text for devices: name its file (-mat_compound_entry_file)";
  if (s.traversal == Traversal::components && plan.entry != "dense")
    return "components are of dense blocks; entry " + std::string(plan.entry) + " goes by rows";
  if (s.threads * s.blocks > 2048)
    return "threads=" + std::to_string(s.threads) + " x blocks=" + std::to_string(s.blocks) +
           " are more than the 2048 threads of a multiprocessor";
  constexpr int most = 32;
  if (s.traversal == Traversal::rows && std::max(problem.block.rows, problem.block.cols) > most)
    return "blocks of " + std::to_string(problem.block.rows) + "x" + std::to_string(problem.block.cols) +
           " are too large for one worker a row (32x32 at most); use components";
  return {};
}

std::string diagonal_source(const Plan& plan, const Problem& problem) {
  return worker_source(plan.entry, "diagonal.hpp", "DiagonalArgs", "positions",
                       diagonal_function("write_diagonal", plan, problem));
}

std::string inverse_source(const Plan& plan, const Problem& problem) {
  return worker_source(plan.entry, "diagonal.hpp", "DiagonalArgs", "positions",
                       diagonal_function("invert_diagonal", plan, problem));
}

std::string sum_source(ScalarType scalar, Update update) {
  return worker_source("dense", "sum_lists.hpp", "SumArgs", "sums",
                       "sum_list<" + scalar_name(scalar) + ", " + update_text(update) + ">");
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

std::string product_source(const Plan& plan, const Problem& problem, Op op, Update update, bool shares_values,
                           bool reordered) {
  const Schedule& s = plan.schedule;
  std::string form = common_form(plan, problem, s.cache);
  const auto constant = [&](const std::string& type, const std::string& name, const std::string& value) {
    form += "  static constexpr " + type + " " + name + " = " + value + ";\n";
  };
  constant("slot_t", "vector_group", group_text(plan.layout.vector_group));
  constant("Op", "op", op_text(op));
  constant("Update", "update", update_text(update));
  constant("bool", "by_component", text(s.traversal == Traversal::components));
  constant("int", "lanes", text(slot_t{s.lanes}));
  constant("int", "at_once", text(slot_t{s.unroll}));
  constant("Balance", "balance", balance_text(s.balance));
  constant("bool", "shares_values", text(shares_values));
  constant("bool", "reordered", text(reordered));
  return whole_source(plan.entry, form, std::to_string(s.threads) + ", " + std::to_string(s.blocks), "multiply_all",
                      "product_args");
}

std::string pack_source(const Plan& plan, const Problem& problem) {
  return whole_source(plan.entry, common_form(plan, problem) + "  static constexpr bool reordered = false;\n", "128",
                      "pack_all", "pack_args");
}

std::string regroup_source(const Plan& plan, const Problem& problem) {
  return whole_source(plan.entry, common_form(plan, problem), "128", "regroup_all", "regroup_args");
}

slot_t workers_of(const Plan& plan, const Problem& problem, Op op, idx positions) {
  const int rows_a_warp = 32 / plan.schedule.lanes;
  const slot_t warps = (slot_t{positions} + rows_a_warp - 1) / rows_a_warp;
  const bool by_scalar_row = plan.schedule.traversal == Traversal::components && plan.layout.slice != 1;
  const EntryShape shape = entry_shape(plan, problem);
  return 32 * warps * (by_scalar_row ? (op == Op::none ? shape.rows : shape.cols) : 1);
}

}  // namespace compound::cuda
