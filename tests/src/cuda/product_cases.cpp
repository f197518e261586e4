#include "cuda/product_cases.hpp"

#include <algorithm>

#include "cuda/kernel_source.hpp"
#include "layout/family.hpp"
#include "plan/partition.hpp"
#include "support/entry_cases.hpp"

namespace compound::test::cuda_cases {

namespace {

const std::vector<EntryCase> entries = entry_cases(33);
const std::vector<std::string> layouts = {"csr",      "ellr",      "sell:2",      "sell:8",        "sell:32",
                                          "sell:33",  "sell:8:64", "sell:32:256", "bellpack:1024", "hdia:32",
                                          "hdia:256", "dia",       "ccoo:32:4",   "ccoo:256:1"};
const std::vector<std::string> words = {" words=1:row:padded", " words=1:column", " words=4:row",
                                        " words=32:column",    " words=all:row",  " words=all:column"};
const std::vector<std::string> vectors = {" vectors=1", " vectors=32", " vectors=all"};
const std::vector<std::string> occupancies = {"", " presence"};
const std::vector<std::string> row_lists = {"", " rowlist"};
const std::vector<std::string> columns = {"", " columns=16", " columns=8"};
const std::vector<std::string> codes = {
    "", " codes=scalars8", " codes=chunks8", " codes=blocks8", " codes=blocks16", " codes=blocks0", " codes=blocks1"};
const std::vector<std::string> traversals = {" rows", " components", " slots"};
const std::vector<std::string> lanes = {" lanes=1", " lanes=2", " lanes=4", " lanes=8", " lanes=16", " lanes=32"};
const std::vector<std::string> unrolls = {" unroll=1", " unroll=2", " unroll=3"};
const std::vector<std::string> bounds = {" threads=128 blocks=8", " threads=32 blocks=16", " threads=256 blocks=4",
                                         " threads=1024 blocks=1"};
const std::vector<std::string> balances = {" grid", " static", " dynamic"};
const std::vector<std::string> caches = {" cached", " stream"};
const std::vector<std::string> carries = {"", " carries=atomic"};

/// What follows the first part.
const std::vector<std::string> later_parts = {
    "", " longest=2 + ccoo:32 slots threads=32 blocks=8", " width=2 + ccoo:32 slots threads=32 blocks=8",
    " longest=1 + sell:2 rows threads=64 blocks=8 longest=4 + csr rows lanes=8 unroll=2 threads=128 blocks=4"};

const std::vector<ScalarCase>& scalars = scalar_cases();

/// The textual factors of a plan, in the order of their places in a choice.
const std::vector<const std::vector<std::string>*> texts = {
    &layouts, &words,    &vectors, &occupancies, &row_lists, &traversals, &lanes,      &unrolls,
    &bounds,  &balances, &caches,  &columns,     &codes,     &carries,    &later_parts};
enum Factor { of_pattern, of_entry, of_scalar, of_op, of_form, of_transposed, of_alignment, of_text };

int place_of(const std::vector<std::string>& text) {
  return of_text + static_cast<int>(std::ranges::find(texts, &text) - texts.begin());
}

Problem problem_in(const Choice& c) {
  const ScalarType s = scalars[c[of_scalar]].vectors;
  return {entries[c[of_entry]].in(s.field), s};
}

/// Chunks are made for so many threads: nothing else would be allowed with them, nor any other factor in the set.
Plan with_threads_of_layout(Plan plan) {
  if (const auto threads = family_of(plan.layout).threads) {
    plan.schedule.threads = threads(plan.layout);
    plan.schedule.blocks = std::min(plan.schedule.blocks, most_threads / plan.schedule.threads);
  }
  return plan;
}

Plan plan_in(const Choice& c) {
  std::string line =
      "entry=" + std::string(entries[c[of_entry]].entry) + " " + scalars[c[of_scalar]].values + std::string(" ");
  for (std::size_t t = 0; t < texts.size(); ++t) line += (*texts[t])[c[of_text + t]];
  return padded_if_it_can(with_threads_of_layout(parse_plan(line, {})), problem_in(c));
}

/// A line that names carries where nothing is carried is refused before it is a plan.
bool is_a_plan(const Choice& c) {
  return c[place_of(carries)] == 0 || layouts[c[place_of(layouts)]].starts_with("ccoo");
}

bool is_allowed(const Choice& c) {
  if (!is_a_plan(c)) return false;
  const Plan plan = plan_in(c);
  return !applicable(plan, problem_in(c)) &&
         !first_of_parts(plan, [&](const Plan& part) { return cuda::why_no_kernel(part, problem_in(c)); });
}

Space whole_space() {
  const auto count = [](const auto& values) { return static_cast<int>(values.size()); };
  Space s{{count(zoo()), count(entries), count(scalars), 3, 3, 2, 2},
          is_allowed,
          {of_entry, of_scalar, of_text, of_text + 3, of_text + 5, of_text + 11, of_text + 12}};
  for (const auto* text : texts) s.sizes.push_back(count(*text));
  return s;
}

}  // namespace

const std::vector<Choice>& choices() {
#if defined(__SANITIZE_ADDRESS__)  // minutes to find, and NVRTC takes three times as long: of our own code alone
  static const std::vector<Choice> set = random_set(whole_space(), 32, 1);
#else
  static const std::vector<Choice> set = covering_set(whole_space(), 1).choices;
#endif
  return set;
}

const Space& few_space() {
  static const Space space = [] {
    Space s = whole_space();
    s.meeting = {of_op, place_of(layouts), place_of(traversals), place_of(columns), place_of(codes)};
    return s;
  }();
  return space;
}

const CoveringSet& few_choices() {
  static const CoveringSet set = covering_set(few_space(), 1);
  return set;
}

Case case_of(const Choice& c) {
  const ZooPattern& p = zoo()[c[of_pattern]];
  Case made{"",
            p.pattern,
            entries[c[of_entry]].entry,
            problem_in(c),
            plan_in(c),
            ops[c[of_op]],
            forms[c[of_form]],
            c[of_transposed] ? TransposedValues::shared : TransposedValues::copy,
            c[of_alignment] == 0};
  made.name = std::string(p.name) + ", blocks " + std::to_string(made.problem.block.rows) + " x " +
              std::to_string(made.problem.block.cols) +
              (made.problem.scalar.field == Field::complex ? ", complex " : ", ") +
              std::string(name_of(made.problem.scalar.precision)) + " vectors, " + to_string(made.plan) + ": " +
              product_name(made.op, made.form) + (c[of_transposed] ? ", shared values" : "") +
              (made.aligned ? "" : ", misaligned vectors");
  return made;
}

}  // namespace compound::test::cuda_cases
