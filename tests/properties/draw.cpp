#include "draw.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.hpp"
#include "host/instruction_set.hpp"
#include "layout/column_codes.hpp"
#include "layout/family.hpp"
#include "patterns.hpp"
#include "plan/partition.hpp"

namespace compound::test {

namespace {

template <class List>
const auto& one_of(const List& list, Random& random) {
  return *(std::begin(list) + random.below(static_cast<int>(std::size(list))));
}
std::string word(std::initializer_list<const char*> list, Random& random) { return one_of(list, random); }

/// Once in so many cases; else nothing, which is the usual.
std::string now_and_then(int once_in, Random& random, const std::function<std::string()>& words) {
  return random.below(once_in) == 0 ? " " + words() : "";
}
std::string now_and_then(int once_in, Random& random, const char* word) {
  return random.below(once_in) == 0 ? std::string(" ") + word : "";
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// One of those that may stand in a layout's name; small ones are met more often. Windows hold whole slices, chunks
/// whole warps.
std::string layout_number(const PresetNumber& n, idx before, Random& random) {
  if (n.all && random.below(3) == 0) return "all";
  const idx most = std::clamp<idx>(random.below(4) ? 2 * n.usual + 2 : 2000, n.least, n.most);
  const idx of = n.letter == "sigma" ? before : n.least == 32 ? 32 : 1;
  if (of > 1) return std::to_string(of * (1 + random.below(std::max(1, most / of))));
  return std::to_string(n.least + random.below(most - n.least + 1));
}

/// "sell:8:64": any name with any of its numbers.
std::string draw_layout(Random& random) {
  const Preset& p = one_of(presets(), random);
  std::string text(p.name);
  idx before = 1;
  for (const PresetNumber* n : {&p.slice, &p.sigma, &p.each}) {
    if (n->is_fixed()) continue;
    if (random.below(3) == 0) break;
    const std::string drawn = layout_number(*n, before, random);
    before = drawn == "all" ? 1 : std::stoi(drawn);
    text += ":" + drawn;
  }
  return text;
}

/// Of a part's layout and schedule. Every table of words is drawn from as it is: what is added to it comes in.
std::string draw_part(bool device, bool vectors, Random& random) {
  std::string line = draw_layout(random);
  line += now_and_then(2, random, [&] {
    const std::string group = word({"1", "1", "1", "2", "4", "8", "32", "all"}, random);
    return "words=" + group + word({"", ":row", ":column"}, random) +
           (group == "1" ? word({"", ":padded"}, random) : "");
  });
  if (vectors) line += now_and_then(4, random, [&] { return "vectors=" + word({"2", "32", "all"}, random); });
  line += now_and_then(3, random, [&] { return "columns=" + std::string(one_of(column_codes(), random).word); });
  line += now_and_then(4, random, "presence");
  line += now_and_then(4, random, "rowlist");
  if (!device) {
    line += now_and_then(5, random, "plain");
    line += now_and_then(5, random, "xahead");
    return line;
  }
  line += " " + std::string(one_of(traversals, random).name);
  line +=
      " lanes=" + word({"1", "2", "4", "8", "16", "32"}, random) + " unroll=" + word({"1", "2", "3"}, random) + " " +
      word({"threads=128 blocks=8", "threads=32 blocks=16", "threads=256 blocks=4", "threads=1024 blocks=1"}, random) +
      " " + word({"grid", "static", "dynamic"}, random) + " " + word({"cached", "stream"}, random);
  return line + now_and_then(8, random, "carries=atomic");
}

std::string draw_plan(bool device, bool vectors, bool several, Random& random) {
  std::string line = draw_part(device, vectors, random);
  line += now_and_then(3, random, [&] { return "codes=" + std::string(one_of(value_codes(), random).word); });
  int longest = 0;
  while (several && random.below(4) == 0) {
    longest += 1 + random.below(4);
    const bool cuts = random.below(3) == 0;
    line += cuts ? " width=" + std::to_string(1 + random.below(5)) : " longest=" + std::to_string(longest);
    line += " + " + draw_part(device, false, random);
  }
  return line;
}

/// As device plans are made: chunks are for so many threads, and padding where there is something to pad.
Plan fitted(Plan plan, const Problem& problem) {
  if (const auto threads = family_of(plan.layout).threads; threads && plan.schedule.of_device()) {
    plan.schedule.threads = threads(plan.layout);
    plan.schedule.blocks = std::min(plan.schedule.blocks, most_threads / plan.schedule.threads);
  }
  return padded_if_it_can(plan, problem);
}

BlockShape draw_block(const EntryKind& kind, Field field, bool square, Random& random) {
  const EntryShape& own = field == Field::real ? kind.in_real : kind.in_complex;
  if (kind.sizes == 0) return {own.rows, own.cols};
  const auto side = [&] { return 1 + random.below(random.below(12) == 0 ? 32 : random.below(3) ? 5 : 12); };
  const int rows = side();
  return {rows, kind.sizes == 1 || square || random.below(3) ? rows : side()};
}

/// Blocks, their kind, scalars and a plan that goes with them.
void draw_plan_of(Case& c, bool petsc, Random& random) {
  const Backend& on = backend(c.backend);
  const bool baij = c.type.starts_with("baij");
  for (;;) {
    if (!petsc)
      c.scalar = {random.below(3) ? Field::real : Field::complex,
                  random.below(4) ? Precision::double_ : Precision::single};
    const EntryKind& kind = random.below(2) ? entry_kind("dense") : one_of(entry_kinds(), random);
    if (kind.user_defined || (petsc && kind.approximate)) continue;
    c.block = draw_block(kind, c.scalar.field, baij, random);
    if (!kind.why_not(c.scalar.field, c.block).empty() || (baij && c.block.rows != c.block.cols)) continue;
    c.kind = kind.name;
    break;
  }
  c.order = petsc             ? (baij ? ValueOrder::blocks : ValueOrder::rows)
            : random.below(4) ? ValueOrder::blocks
                              : ValueOrder::rows;
  const auto line_for_part = [&] {
    for (;;) {
      std::string line = "entry=" + (random.below(4) ? c.kind : std::string("dense")) + " ";
      line += c.scalar.precision == Precision::single || random.below(4) == 0 ? "values=float " : "values=double ";
      if (c.order == ValueOrder::rows && random.below(3) == 0)
        line += "csr words=rows" + now_and_then(3, random, "rowlist") + now_and_then(3, random, "xahead") +
                now_and_then(3, random, "plain");
      else if (!petsc && !on.is_device() && c.kind == "dense" && random.below(8) == 0)
        line += word({"csr half=symmetric", "csr half=hermitian"}, random) + now_and_then(3, random, "rowlist") +
                now_and_then(3, random, "plain") + now_and_then(4, random, "columns=16") +
                now_and_then(4, random, "vectors=2");
      else
        line += draw_plan(on.is_device(), !petsc, true, random);
      try {
        const Plan plan = fitted(parse_plan(line, {}), c.problem());
        if (!why_not(plan, c.problem(), on)) return to_string(plan);
      } catch (const error&) {  // numbers that do not go together
      }
    }
  };
  c.plan = line_for_part();
  if (petsc && random.below(3)) c.plan += " off: " + line_for_part();
}

void draw_values(Case& c, Random& random) {
  c.seed = mixed(c.seed, static_cast<std::uint64_t>(random.below(1 << 30)));
  const bool multiples = entry_kind(c.kind).multiples != Multiples::none && !entry_kind(c.kind).approximate;
  c.values = multiples && c.block.rows == c.block.cols && random.below(3) == 0 ? Values::regular : Values::random;
  c.products =
      product_bit(one_of(ops, random), one_of(forms, random)) | product_bit(one_of(ops, random), one_of(forms, random));
  if (random.below(8) == 0) c.products = all_products;
}

/// Block rows of each rank; some have none.
std::vector<int> draw_parts(int ranks, int all, Random& random) {
  std::vector<int> parts(ranks, 0);
  for (int left = all, r = 0; r < ranks; left -= parts[r++])
    parts[r] = r + 1 == ranks ? left : random.below(6) == 0 ? 0 : random.below(left + 1);
  return parts;
}

/// As PETSc keeps them: each column of a row once, sorted.
Pattern each_once_sorted(const Pattern& p) {
  Pattern once{p.rows, p.cols, {0}, {}};
  for (idx row = 0; row < p.rows; ++row) {
    const std::set<idx> columns(p.column.begin() + p.start[row], p.column.begin() + p.start[row + 1]);
    once.column.insert(once.column.end(), columns.begin(), columns.end());
    once.start.push_back(static_cast<count32>(once.column.size()));
  }
  return once;
}

/// Too many scalars to meet thousands of cases in a minute: of the matrix, of what its layout pads it to, of vectors.
bool takes_long(const Case& c) {
  const std::size_t most = 30000, scalars = c.pattern.column.size() * scalars_in(c.block);
  const std::size_t sides = std::size_t(c.pattern.rows) * c.block.rows + std::size_t(c.pattern.cols) * c.block.cols;
  if (scalars > most || (sides > most && c.block.cols > 2)) return true;
  const PlanText lines = split_off_diagonal(c.plan);
  for (const auto line : {lines.diagonal, lines.off_diagonal.value_or(lines.diagonal)})
    if (bytes_of(c.pattern.view(), c.problem(), parse_plan(line, {}), backend(c.backend)).allocated.words > 20 * most)
      return true;
  return false;
}

}  // namespace

Case draw_core_case(std::uint64_t seed, std::uint64_t number, std::string_view on) {
  Case c;
  c.backend = on;
  const bool device = backend(on).is_device();
  Random random(mixed(seed, 2 * number)), of_plan(mixed(seed, 2 * (device ? number / same_plan : number) + 1));
  c.seed = seed;
  const auto best = static_cast<int>(host::best_instruction_set());
  c.simd = host::name_of(static_cast<host::InstructionSet>(random.below(best + 1)));
  draw_plan_of(c, false, of_plan);
  do {
    c.pattern_text = draw_pattern_text(random);
    c.pattern = pattern_of_text(c.pattern_text);
  } while (takes_long(c) || why_not(c));
  draw_values(c, random);
  c.transposed = random.below(2) ? TransposedValues::copy : TransposedValues::shared;
  if (device)
    c.shift = random.below(2);
  else
    c.fenced = random.below(4) == 0;
  return c;
}

Case draw_petsc_case(std::uint64_t seed, std::uint64_t number, int ranks, ScalarType scalar, std::string_view on) {
  Case c;
  c.backend = on;
  c.scalar = scalar;
  Random random(mixed(seed ^ 0x5a5a, number));
  c.seed = seed;
  c.type = random.below(2) ? "baijcompound" : "aijcompound";
  do {
    c.set_pattern(each_once_sorted(pattern_of_text(draw_pattern_text(random))));
  } while (c.pattern.column.size() > 600 || c.pattern.cols > 300);
  const int here = 1 + random.below(ranks);
  c.row_parts = draw_parts(here, c.pattern.rows, random);
  c.col_parts =
      c.pattern.rows == c.pattern.cols && random.below(4) ? c.row_parts : draw_parts(here, c.pattern.cols, random);
  do {
    draw_plan_of(c, true, random);
  } while (why_not(c) || takes_long(c));
  draw_values(c, random);
  return c;
}

}  // namespace compound::test
