#include "planner/candidates.hpp"

#include <limits>
#include <span>
#include <string>
#include <unordered_set>

#include "base/error.hpp"
#include "layout/family.hpp"
#include "plan/library_products.hpp"
#include "planner/default_plan.hpp"
#include "storage/packed.hpp"

namespace compound {

namespace {

/// What one place of a plan line may say; an empty text leaves it as it is.
using Axis = std::vector<std::string_view>;
/// One text of each axis.
using Product = std::vector<Axis>;

// The papers' threads and blocks of them, 2^i and 3 2^i: those that fit a multiprocessor are 60 pairs.
const Axis all_threads = {"threads=32",  "threads=64",  "threads=96",  "threads=128", "threads=192",
                          "threads=256", "threads=384", "threads=512", "threads=768", "threads=1024"};
const Axis all_blocks = {"blocks=1", "blocks=2",  "blocks=3",  "blocks=4",  "blocks=6",
                         "blocks=8", "blocks=12", "blocks=16", "blocks=24", "blocks=32"};

// On the host: every layout, sorted in windows or not, with the inner orders that there are.
const std::vector<Product> host_products = {
    {{"csr", "ellr", "sell:4", "sell:8", "sell:16", "sell:32", "sell:8:64", "sell:8:256", "sell:8:4096", "sell:8:all",
      "sell:32:256", "sell:32:all"},
     {"", "words=1:column", "words=1:row", "words=all:column"},
     {"", "presence"},
     {"", "plain"},
     {"", "xahead"}},
    {{"csr", "sell:4", "sell:8", "sell:16", "sell:32"}, {"columns=16", "columns=8"}, {"", "xahead"}},
    {{"hdia:32", "hdia:256", "dia", "ccoo:128:2"}},
};

/// Structures of arrays or arrays of structures, a worker a row, in chunks.
const Product product_of_2019 = {{"csr", "ellr", "sell:16", "sell:32"},
                                 {"words=1:row", "words=all:row"},
                                 {"rows lanes=1 unroll=1 cached"},
                                 all_threads,
                                 all_blocks,
                                 {"static", "dynamic"}};

// On devices beside that: layouts, sorting windows, lanes.
const std::vector<Product> device_products = {
    {{"sell:32", "sell:32:256", "sell:32:4096", "bellpack:32", "bellpack:256"},
     {"rows", "components"},
     {"lanes=1", "lanes=2", "lanes=4"},
     {"unroll=1", "unroll=2", "unroll=4"},
     {"threads=128 blocks=4", "threads=128 blocks=8", "threads=128 blocks=16"}},
    {{"csr"},
     {"rows", "components"},
     {"lanes=4", "lanes=8", "lanes=16", "lanes=32"},
     {"unroll=1", "unroll=2"},
     {"threads=128 blocks=8", "threads=128 blocks=12"}},
    {{"csr", "sell:32"}, {"columns=16", "columns=8"}},
    {{"hdia:32", "hdia:256", "dia", "ccoo:128:1", "ccoo:128:2", "ccoo:256:1"}},
};
const Axis device_vectors = {"vectors=1", "vectors=all"};

// Beside the rule's plan, whose sorting windows and heights it does not choose itself; diagonals come first: on grids
// that a cache holds they are the fastest by far (docs/tuning.md), elsewhere left out.
const std::vector<Product> near_host = {{{"hdia:32", "dia"}},
                                        {{"sell:4", "sell:8", "sell:16", "sell:32", "sell:8:256"}, {"", "xahead"}},
                                        {{"csr", "csr words=rows"}, {"", "xahead", "plain"}}};
// What was the fastest of all on several matrices (docs/reproduction/tuning-study.py): with these and the rule's plan
// the fastest is left out by 1 % at the mean.
const std::vector<Product> near_device = {
    {{"bellpack:32", "bellpack:256"},
     {"rows lanes=2 unroll=2 threads=128 blocks=4", "rows lanes=1 unroll=2 threads=128 blocks=8",
      "rows lanes=1 unroll=1 threads=128 blocks=4", "rows lanes=1 unroll=4 threads=128 blocks=8",
      "components lanes=2 unroll=1 threads=128 blocks=8"}},
    {{"bellpack:32"}, {"rows lanes=4 unroll=2 threads=128 blocks=4", "rows lanes=4 unroll=4 threads=128 blocks=4"}},
    {{"sell:32", "sell:32:256", "sell:32:4096"}, {"rows lanes=2 unroll=2 threads=128 blocks=4"}},
    {{"hdia:32"}, {"components lanes=1 unroll=2 threads=128 blocks=8", "rows lanes=1 unroll=1 threads=128 blocks=8"}},
    {{"ccoo:128:1", "ccoo:128"}},
    {{"sell:32 words=1:row rows lanes=1 unroll=1 static"}, {"threads=192 blocks=6", "threads=384 blocks=2"}},
    // Where words nearly fit the second cache.
    {{"", "bellpack:32 rows lanes=2 unroll=2 threads=128 blocks=4",
      "sell:32 rows lanes=1 unroll=2 threads=128 blocks=8"},
     {"cached", "stream"}},
};

// Entries of several words would spill their sums: 16 blocks leave a thread 32 registers.
const std::vector<Product> near_device_of_scalars = {{{"hdia:32 rows lanes=1 unroll=2 threads=128 blocks=16"}}};

const std::vector<Product> host_schedules = {{{"simd", "plain"}, {"xnear", "xahead"}}};
/// The places of a device's schedule: `near` changes one of them at a time.
const Product device_schedules = {{"rows", "components"},
                                  {"lanes=1", "lanes=2", "lanes=4", "lanes=8", "lanes=16", "lanes=32"},
                                  {"unroll=1", "unroll=2", "unroll=3", "unroll=4"},
                                  {"grid", "static", "dynamic"},
                                  {"cached", "stream"}};

/// Of the rule's plan, whose packed copy serves them all, one place at a time: with 128 threads a block these are 256
/// to 2,048 threads on a multiprocessor, the search that Mueller-Roemer 2020 (outlook) wants.
const Product rule_schedules = {{"unroll=1", "unroll=2", "unroll=3", "unroll=4"},
                                {"blocks=2", "blocks=4", "blocks=8", "blocks=12", "blocks=16"},
                                {"cached", "stream"}};

// Where a few rows are much longer than the rest, which they would keep waiting or pad: parts for the rest and for
// them.
struct PartsRow {
  std::string_view usual, long_ones;
};
constexpr PartsRow parts_host[] = {{"sell:32", "ccoo"}, {"sell:8", "csr"}};
constexpr PartsRow parts_device[] = {
    {"sell:32 rows lanes=1 unroll=2 threads=128 blocks=8", "ccoo slots threads=128 blocks=8"},
    {"bellpack:32 rows lanes=2 unroll=2 threads=128 blocks=4", "ccoo slots threads=128 blocks=8"},
    {"sell:32 rows lanes=1 unroll=2 threads=128 blocks=8", "csr rows lanes=32 unroll=1 threads=128 blocks=8"}};

/// With another axis before that at `place`.
Product with_axis(const Product& product, std::size_t place, const Axis& axis) {
  Product longer;
  for (std::size_t k = 0; k <= product.size(); ++k) {
    if (k == place) longer.push_back(axis);
    if (k < product.size()) longer.push_back(product[k]);
  }
  return longer;
}

/// f(line) for each line of a product, the last axis first: schedules of one layout follow each other.
template <class F>
void for_each_line(const Product& product, const F& f) {
  std::vector<std::size_t> at(product.size(), 0);
  for (;;) {
    std::string line;
    for (std::size_t a = 0; a < product.size(); ++a) line.append(" ").append(product[a][at[a]]);
    f(line);
    std::size_t axis = product.size();
    while (axis > 0 && ++at[axis - 1] == product[axis - 1].size()) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// Applicable plans, each once.
class Plans {
 public:
  Plans(const Problem& problem, const Backend& backend) : problem_(problem), backend_(backend) {}
  /// With this one first, whatever it is.
  Plans(const Plan& first, const Problem& problem, const Backend& backend) : Plans(problem, backend) { keep(first); }

  void add(const Plan& plan) {
    if (why_not(plan, problem_, backend_)) return;
    // Without vector code the flag changes nothing.
    if (!plan.schedule.simd && !plan.schedule.of_device()) {
      Plan same = plan;
      same.schedule.simd = true;
      if (backend_.code_for(same, problem_)->name() == backend_.code_for(plan, problem_)->name()) return;
    }
    keep(plan);
  }
  void add(const Product& product, const Plan& base) {
    for_each_line(product, [&](const std::string& line) { add(parse_plan(line, base)); });
  }
  void add(const std::vector<Product>& products, const Plan& base) {
    for (const Product& product : products) add(product, base);
  }
  std::vector<Plan> take() { return std::move(all_); }

 private:
  void keep(const Plan& plan) {
    if (known_.insert(to_string(plan)).second) all_.push_back(plan);
  }
  const Problem& problem_;
  const Backend& backend_;
  std::vector<Plan> all_;
  std::unordered_set<std::string> known_;
};

bool is_host(const Plan& plan) { return !plan.schedule.of_device(); }

/// Where they may be worth it.
void add_parts(Plans& plans, const Plan& base, const PatternStatistics& s) {
  constexpr idx much_longer = 4;
  if (!s.is_uneven() || s.usual_row < 1 || s.longest_row < much_longer * s.usual_row) return;
  const std::string longest = " longest=" + std::to_string(s.usual_row) + " + ";
  for (const PartsRow& row : is_host(base) ? std::span<const PartsRow>(parts_host) : parts_device)
    plans.add(parse_plan(std::string(row.usual) + longest + std::string(row.long_ones), base));
}

/// f(plan) for each product of a library, with what the rule gives csr for what our kernels have to do.
template <class F>
void for_each_library_plan(std::string_view library, const Plan& base, const PatternStatistics& s,
                           const Problem& problem, const Backend& backend, const F& f) {
  for (const LibraryProduct& product : library_products())
    if (product.library() == library)
      f(plan_for_line(product.word, base, s, problem, backend.name(), base.entry, base.values));
}

}  // namespace

std::string why_no_library_plan(std::string_view library, const Plan& base, const PatternStatistics& s,
                                const Problem& problem, const Backend& backend) {
  // Of a product that would suit the matrix what the backend says tells more than that others do not suit it.
  std::optional<std::string> of_plans, of_backend;
  bool has_one = false;
  for_each_library_plan(library, base, s, problem, backend, [&](const Plan& plan) {
    const auto why = applicable(plan, problem);
    const auto why_here = why ? std::nullopt : backend.applicable(plan, problem);
    if (why && !of_plans) of_plans = why;
    if (why_here && !of_backend) of_backend = why_here;
    has_one |= !why && !why_here;
  });
  if (has_one) return "";
  return of_backend ? *of_backend : of_plans.value_or("");
}

std::vector<Plan> candidates(Search search, const Plan& base, const PatternStatistics& s, const Problem& problem,
                             const Backend& backend, VectorOrder vectors, std::string_view library) {
  Plans plans(base, problem, backend);
  const std::vector<Plan> near = near_plans(s, problem, backend.name(), base.entry, base.values);
  const Plan& rule = near.front();
  plans.add(rule);
  if (!rule.later.empty()) plans.add(default_plan(s, problem, backend.name(), base.entry, base.values, Parts::one));
  for_each_library_plan(library, rule, s, problem, backend, [&](const Plan& plan) { plans.add(plan); });
  plans.add(is_host(rule) ? near_host : near_device, rule);  // where time is short the last are not tried
  if (!is_host(rule) && entry_shape(rule, problem).words == 1) plans.add(near_device_of_scalars, rule);
  add_parts(plans, rule, s);
  if (search == Search::few) return plans.take();
  if (!is_host(rule))
    for (const Axis& axis : rule_schedules) plans.add(Product{axis}, rule);
  for (const Plan& plan : near) plans.add(plan);
  if (search == Search::near) return plans.take();
  if (!is_host(rule))
    for (const Plan& plan : search_of_2019(rule, problem, backend, vectors)) plans.add(plan);
  for (const Product& product : is_host(rule) ? host_products : device_products)
    plans.add(vectors == VectorOrder::any ? with_axis(product, 1, device_vectors) : product, rule);
  return plans.take();
}

std::vector<Plan> search_of_2019(const Plan& base, const Problem& problem, const Backend& backend,
                                 VectorOrder vectors) {
  Plans plans(problem, backend);
  plans.add(vectors == VectorOrder::any ? with_axis(product_of_2019, 2, device_vectors) : product_of_2019, base);
  return plans.take();
}

std::vector<Plan> schedules(Search search, const Plan& given, const Problem& problem, const Backend& backend) {
  Plans plans(given, problem, backend);
  if (is_host(given)) {
    plans.add(host_schedules, given);
    return plans.take();
  }
  for (const Axis& axis : device_schedules) plans.add(Product{axis}, given);
  const bool own_threads = family_of(given.layout).threads != nullptr;
  const Axis near_blocks = {"blocks=2", "blocks=4", "blocks=8", "blocks=12", "blocks=16"},
             near_threads = {"threads=64", "threads=128", "threads=256", "threads=512"};
  const bool near = search != Search::all;
  Product bounds = {near ? near_blocks : all_blocks};
  if (!own_threads) bounds.push_back(near ? near_threads : all_threads);
  if (!near) bounds.push_back({"grid", "static", "dynamic"});
  plans.add(bounds, given);
  return plans.take();
}

std::vector<LargePlan> leave_out_large(std::vector<Plan>& plans, const PatternView& pattern, const Problem& problem,
                                       const Backend& backend, const PlanLimits& limits, Search search) {
  const double too_much_more = search == Search::all ? std::numeric_limits<double>::infinity() : 4.0 / 3;
  if (plans.empty()) return {};
  const auto bytes = [&](const Plan& plan) {
    try {
      return double(bytes_of(pattern, problem, plan, backend).read.total());
    } catch (const error&) {  // more slots than can be counted
      return std::numeric_limits<double>::infinity();
    }
  };
  const double first = bytes(plans.front());
  const auto large_of = [&](const Plan& plan) -> LargePlan {
    if (auto pads = too_much_padding(pattern, problem, plan, limits.padding)) return {plan, *pads};
    if (bytes(plan) > too_much_more * first)
      return {plan, "not tried: its products read a third more than the default plan's"};
    const auto owns = too_much_memory(pattern, problem, plan, backend, limits);
    return {plan, owns.value_or(""), owns.has_value()};
  };
  // Schedules share what is counted of their layout.
  const Plan* counted = nullptr;
  LargePlan of_layout;
  std::vector<Plan> kept = {plans.front()};
  std::vector<LargePlan> large;
  for (const Plan& plan : std::span(plans).subspan(1)) {
    if (!counted || !is_laid_out_alike(*counted, plan)) {
      counted = &plan;
      of_layout = large_of(plan);
    }
    if (of_layout.why.empty())
      kept.push_back(plan);
    else
      large.push_back({plan, of_layout.why, of_layout.by_memory});
  }
  plans = std::move(kept);
  return large;
}

}  // namespace compound
