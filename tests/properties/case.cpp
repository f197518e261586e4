#include "case.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/error.hpp"
#include "host/instruction_set.hpp"
#include "patterns.hpp"
#include "storage/symmetry.hpp"

namespace compound::test {

namespace {

[[noreturn]] void refuse(std::string_view what) { throw error(ErrorKind::argument, "no case: " + std::string(what)); }

template <class Integer>
Integer number_of(std::string_view text) {
  Integer n{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (code != std::errc{} || end != text.data() + text.size()) refuse(text);
  return n;
}

template <class Enumeration, std::size_t n>
Enumeration word_of(std::string_view text, const char* const (&names)[n]) {
  const auto found = std::ranges::find(names, text);
  if (found == std::end(names)) refuse(text);
  return static_cast<Enumeration>(found - names);
}

constexpr const char *value_names[] = {"random", "regular", "ones"}, *order_names[] = {"blocks", "rows"},
                     *transposed_names[] = {"copy", "shared"}, *bool_names[] = {"no", "yes"},
                     *scalar_names[] = {"float", "double", "complex_float", "complex_double"};

std::string text_of(const std::vector<int>& list) {
  std::string text;
  for (const int n : list) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

std::vector<int> list_of(std::string_view text) {
  std::vector<int> list;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(','));
    list.push_back(number_of<int>(word));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return list;
}

/// "A,A^T+": the product's operator, and "+" for an addition, "+=" in place.
constexpr const char* form_texts[] = {"", "+", "+="};

std::string products_text(const Case& c) {
  if (c.products == all_products) return "all";
  std::string text;
  for_each_product(c, [&](Op op, Form form) {
    text +=
        (text.empty() ? "" : ",") + std::string(op_names[static_cast<int>(op)]) + form_texts[static_cast<int>(form)];
  });
  return text;
}

void read_products(Case& c, std::string_view text) {
  c.products = text == "all" ? all_products : 0;
  while (text != "all" && !text.empty()) {
    const auto word = text.substr(0, text.find(','));
    for (const Op op : ops)
      for (const Form form : forms)
        if (word == std::string(op_names[static_cast<int>(op)]) + form_texts[static_cast<int>(form)])
          c.products |= product_bit(op, form);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  if (!c.products) refuse("it has no products");
}

/// A word "name=value" of the line.
struct CaseField {
  std::string_view name;
  enum Of { both, core, petsc } of;
  std::string (*text)(const Case&);
  void (*read)(Case&, std::string_view);
};

constexpr CaseField fields[] = {
    {"type", CaseField::petsc, [](const Case& c) { return c.type; }, [](Case& c, std::string_view v) { c.type = v; }},
    {"row_parts", CaseField::petsc, [](const Case& c) { return text_of(c.row_parts); },
     [](Case& c, std::string_view v) { c.row_parts = list_of(v); }},
    {"col_parts", CaseField::petsc, [](const Case& c) { return text_of(c.col_parts); },
     [](Case& c, std::string_view v) { c.col_parts = list_of(v); }},
    {"backend", CaseField::both, [](const Case& c) { return c.backend; },
     [](Case& c, std::string_view v) { c.backend = v; }},
    {"simd", CaseField::core, [](const Case& c) { return c.simd; }, [](Case& c, std::string_view v) { c.simd = v; }},
    {"fenced", CaseField::core, [](const Case& c) { return std::string(bool_names[c.fenced]); },
     [](Case& c, std::string_view v) { c.fenced = word_of<int>(v, bool_names); }},
    {"shift", CaseField::core, [](const Case& c) { return std::to_string(c.shift); },
     [](Case& c, std::string_view v) { c.shift = number_of<int>(v); }},
    {"transposed", CaseField::core,
     [](const Case& c) { return std::string(transposed_names[c.transposed == TransposedValues::shared]); },
     [](Case& c, std::string_view v) {
       c.transposed = word_of<int>(v, transposed_names) ? TransposedValues::shared : TransposedValues::copy;
     }},
    {"order", CaseField::core, [](const Case& c) { return std::string(order_names[static_cast<int>(c.order)]); },
     [](Case& c, std::string_view v) { c.order = word_of<ValueOrder>(v, order_names); }},
    {"block", CaseField::both,
     [](const Case& c) { return std::to_string(c.block.rows) + "x" + std::to_string(c.block.cols); },
     [](Case& c, std::string_view v) {
       const auto by = v.find('x');
       if (by == v.npos) refuse(v);
       c.block = {number_of<int>(v.substr(0, by)), number_of<int>(v.substr(by + 1))};
     }},
    {"scalar", CaseField::both,
     [](const Case& c) {
       return std::string(
           scalar_names[2 * (c.scalar.field == Field::complex) + (c.scalar.precision == Precision::double_)]);
     },
     [](Case& c, std::string_view v) {
       const int n = word_of<int>(v, scalar_names);
       c.scalar = {n >= 2 ? Field::complex : Field::real, n % 2 ? Precision::double_ : Precision::single};
     }},
    {"kind", CaseField::both, [](const Case& c) { return c.kind; }, [](Case& c, std::string_view v) { c.kind = v; }},
    {"values", CaseField::both, [](const Case& c) { return std::string(value_names[static_cast<int>(c.values)]); },
     [](Case& c, std::string_view v) { c.values = word_of<Values>(v, value_names); }},
    {"seed", CaseField::both, [](const Case& c) { return std::to_string(c.seed); },
     [](Case& c, std::string_view v) { c.seed = number_of<std::uint64_t>(v); }},
    {"products", CaseField::both, products_text, read_products},
    {"pattern", CaseField::both, [](const Case& c) { return c.pattern_text; },
     [](Case& c, std::string_view v) { c.pattern = pattern_of_text(v), c.pattern_text = v; }},
};

constexpr std::string_view plan_mark = "plan=";  // the line's rest

}  // namespace

void Case::set_pattern(Pattern p) {
  pattern = std::move(p);
  pattern_text = test::text_of(pattern);
}

std::string text_of(const Case& c) {
  std::string line;
  for (const CaseField& f : fields)
    if (f.of == CaseField::both || (f.of == CaseField::petsc) == c.of_petsc())
      line += std::string(f.name) + "=" + f.text(c) + " ";
  return line + std::string(plan_mark) + c.plan;
}

Case case_of_text(std::string_view text) {
  Case c;
  while (!text.starts_with(plan_mark)) {
    const auto word = text.substr(0, text.find(' '));
    const auto name = word.substr(0, word.find('='));
    const auto field = std::ranges::find(fields, name, &CaseField::name);
    if (field == std::end(fields) || name.size() == word.size()) refuse("unknown word '" + std::string(word) + "'");
    field->read(c, word.substr(name.size() + 1));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (text.empty()) refuse("it has no plan");
  }
  c.plan = text.substr(plan_mark.size());
  c.order = c.type.starts_with("aij") ? ValueOrder::rows : c.order;
  return c;
}

std::optional<std::string> why_not(const Case& c) try {
  if (const auto why = entry_kind(c.kind).why_not(c.scalar.field, c.block); !why.empty()) return why;
  if (c.values == Values::ones && c.kind != "dense") return "blocks of ones are dense";
  if (c.type.starts_with("aij") && scalars_in(c.block) == 1)  // others than the plan is for, not full ones
    return "aijcompound finds the blocks of single scalars";
  if (c.of_petsc()) {
    const auto sum = [](const std::vector<int>& v) { return std::accumulate(v.begin(), v.end(), 0); };
    if (sum(c.row_parts) != c.pattern.rows || sum(c.col_parts) != c.pattern.cols || c.row_parts.empty() ||
        c.row_parts.size() != c.col_parts.size())
      return "the ranks' rows or columns do not add up to the matrix's";
  } else if (c.backend == "host") {
    const auto set = host::instruction_set(c.simd);
    if (!set || *set > host::best_instruction_set()) return "instruction set " + c.simd + " is not here";
  }
  const PlanText lines = split_off_diagonal(c.plan);
  for (const auto line : {lines.diagonal, lines.off_diagonal.value_or(lines.diagonal)}) {
    const Plan plan = parse_plan(line, {});
    if (plan.half != Half::none) {
      if (c.kind != "dense") return "blocks of " + c.kind + " are not symmetric";
      static_cast<void>(mirrored_entries(c.pattern.view()));  // throws where the pattern is not symmetric
    }
    if (plan.entry != "dense" && plan.entry != c.kind)
      return "blocks of " + c.kind + " are not " + std::string(plan.entry);
    if (const auto why = c.of_petsc() ? applicable(plan, c.problem()) : why_not(plan, c.problem(), backend(c.backend)))
      return why;
  }
  return {};
} catch (const error& e) {
  return e.what();
}

}  // namespace compound::test
