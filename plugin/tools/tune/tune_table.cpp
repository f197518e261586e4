#include <algorithm>
#include <cmath>
#include <ostream>

#include "text.hpp"
#include "tune_case.hpp"

namespace compound::bench::tune {

namespace {

constexpr std::size_t shown_blocks = 4;

double number(const Record& r, const char* member) { return r.value(member, 0.0); }
std::string word(const Record& r, const char* member) { return r.value(member, ""); }

void print_matrix(std::ostream& out, const Record& r) {
  const Record& a = r.at("analysis");
  const auto n = [&](const char* member) { return number(a, member); };
  const auto length = [&](const char* quartile) { return number(a.at("row_lengths"), quartile); };
  out << "\n"
      << word(r, "description") << ", blocks of " << word(r, "block") << "\n"
      << text("  block rows %.0f, block columns %.0f, blocks %.0f, empty rows %.0f\n", n("block_rows"),
              n("block_columns"), n("blocks"), n("empty_rows"))
      << text("  row lengths: shortest %.0f, quartiles %.0f %.0f %.0f, longest %.0f; mean %.1f, deviation %.1f\n",
              length("least"), length("lower"), length("median"), length("upper"), length("most"), n("mean_row"),
              n("row_deviation"))
      << text("  scattered blocks %.0f %%, bandwidth %.0f\n", 100 * n("scattered"), n("bandwidth"));
  const Record& all = a.at("block_sizes");
  if (all.empty()) return;
  out << "  block sizes (fill, bytes over those as given):";
  for (std::size_t i = 0; i < all.size(); ++i)  // the fewest bytes, and the given size
    if (i < shown_blocks || all[i].at("block") == r.at("block"))
      out << " " << word(all[i], "block")
          << text(" %.0f %% %.2f;", 100 * number(all[i], "fill"), number(all[i], "bytes_of_given"));
  out << " fewest bytes by " << word(all.front(), "block") << "\n";
}

void print_layouts(std::ostream& out, const Record& layouts) {
  out << "  MB by layout (padding):";
  for (const Record& l : layouts)
    if (!l.contains("why"))
      out << " " << word(l, "layout") << text(" %.3f (%.2f)", number(l, "bytes") / 1e6, number(l, "padding"));
  out << "\n";
  for (const Record& l : layouts)
    if (l.contains("why")) out << "  " << word(l, "layout") << ": " << word(l, "why") << "\n";
}

const std::vector<Column> time_columns = {{"ms", 10, "seconds", "%.4f", 1e3},
                                          {"25 %", 9, "lower_s", "%.4f", 1e3},
                                          {"75 %", 9, "upper_s", "%.4f", 1e3},
                                          {"GB/s", 7, "gbs", "%.2f"},
                                          {"model ms", 9, "predicted_s", "%.4f", 1e3, nullptr, true},
                                          {"choi ms", 9, "choi_s", "%.4f", 1e3, nullptr, true},
                                          {"% copy", 6, "share_of_copy", "%.1f", 100, nullptr, true},
                                          {"% read", 6, "share_of_read", "%.1f", 100},
                                          {"MB", 9, "copy_bytes", "%.3f", 1e-6},
                                          {"padding", 7, "padding", "%.2f"},
                                          {"pack ms", 8, "packing_s", "%.2f", 1e3},
                                          {"pays off", 8, "products_to_pay_off", "%.0f"},
                                          {"x default", 9, "times_rule", "%.2f"},
                                          {" plan", 0, "shown"}};

bool is_rule(const Record& r, const Record& plan) { return plan.at("plan") == r.at("analysis").at("rule"); }

/// The plan that the model predicts to be the fastest; null where it predicts nothing, as of the host.
const Record* predicted_fastest(const Record& r) {
  const Record* best = nullptr;
  for (const Record& p : r.at("plans"))
    if (p.contains("predicted_s") && (!best || p.at("predicted_s") < best->at("predicted_s"))) best = &p;
  return best;
}

const Record& best_plan(const Record& r) {
  return *std::ranges::find_if(r.at("plans"), [&](const Record& p) { return p.at("plan") == r.at("best"); });
}

/// Behind a plan: whether it is the one to take, shows no difference from that, or is the default one.
std::string mark(const Record& r, const Record& plan) {
  std::string marks;
  const auto add = [&](const char* text) { marks += (marks.empty() ? "  (" : ", ") + std::string(text); };
  if (is_rule(r, plan)) add("default");
  if (plan.at("plan") == r.at("best")) add("best");
  if (plan.value("no_difference", false)) add("no difference");
  return marks.empty() ? "" : marks + ")";
}

/// The fastest, and wherever they are the best and the rule's.
void print_times(std::ostream& out, const Record& r, const TuneOptions& o) {
  Record rows = Record::array();
  const std::size_t all = r.at("plans").size(), shown = std::min(all, static_cast<std::size_t>(o.top));
  for (std::size_t i = 0; i < all; ++i) {
    Record row = r.at("plans")[i];
    if (i >= shown && row.at("plan") != r.at("best") && !is_rule(r, row)) continue;
    if (row.contains("pays_off_after")) row["products_to_pay_off"] = std::ceil(number(row, "pays_off_after"));
    if (row.contains("quartiles_s")) {
      row["lower_s"] = row.at("quartiles_s")[0];
      row["upper_s"] = row.at("quartiles_s")[1];
    }
    row["shown"] = " " + word(row, "plan") + mark(r, row);
    rows.push_back(row);
  }
  print_rows(out, time_columns, rows);
  if (shown < all) out << text("%zu more plans were timed; -top shows more\n", all - shown);
}

/// Plans of one reason together: the first, and how many more.
void print_without(std::ostream& out, const Record& without) {
  std::vector<std::pair<const Record*, std::size_t>> reasons;
  for (const Record& l : without) {
    const auto same =
        std::ranges::find_if(reasons, [&](const auto& seen) { return seen.first->at("why") == l.at("why"); });
    if (same == reasons.end())
      reasons.emplace_back(&l, 0);
    else
      ++same->second;
  }
  if (!reasons.empty()) out << "without a time:\n";
  for (const auto& [first, more] : reasons)
    out << "  " << word(*first, "plan") << (more ? text(" and %zu more", more) : "") << ": " << word(*first, "why")
        << "\n";
}

/// Those that no other one beats in time and in bytes of its copy, the fastest first, as all are.
void print_pareto(std::ostream& out, const Record& plans) {
  out << "no other plan is both faster and smaller:\n";
  double least = INFINITY;
  for (const Record& p : plans) {
    const double bytes = number(p, "copy_bytes");
    if (bytes >= least) continue;
    least = bytes;
    out << text("  %.4f ms, %.3f MB, %.2f x default: ", 1e3 * number(p, "seconds"), bytes / 1e6,
                number(p, "times_rule"))
        << word(p, "plan") << "\n";
  }
}

/// "1.62 times the speed and 2.10 times the bytes": of a plan, beside the rule's.
std::string compared_with_rule(const Record& r, const Record& plan) {
  const auto rule = std::ranges::find_if(r.at("plans"), [&](const Record& p) { return is_rule(r, p); });
  const double bytes = rule != r.at("plans").end() ? number(*rule, "copy_bytes") : 0, own = number(plan, "copy_bytes");
  return text("%.2f times the speed and ", number(plan, "times_rule")) +
         (bytes > 0 ? text("%.2f times the bytes", own / bytes) : text("%.3f MB instead of none", own / 1e6));
}

bool is_for_petsc(const Record& plan) { return word(plan, "plan").find(" vectors=1 ") != std::string::npos; }

/// How programs name the plan, or the fastest of those that they can have.
void print_plan(std::ostream& out, const Record& r, const Record& best) {
  const Record* plan = &best;
  if (!is_for_petsc(best)) {
    out << "  " << word(best, "plan") << "\n  which PETSc's matrices refuse, whose vectors are vectors=1; ";
    const auto found = std::ranges::find_if(r.at("plans"), is_for_petsc);
    if (found == r.at("plans").end()) {
      out << "no such plan has a time\n";
      return;
    }
    plan = &*found;
    out << text("of these, %.2f times the speed:\n", number(*plan, "times_rule"));
  }
  out << "  -mat_compound_plan \"" << word(*plan, "plan") << "\"\n";
}

void print_advice(std::ostream& out, const Record& r, const TuneOptions& o) {
  const Record& best = best_plan(r);
  if (o.memory_weight > 0 && is_rule(r, best)) {
    out << text("what to do: nothing; by time and memory (-score bytes:%g) no plan is better than the default one\n",
                o.memory_weight);
    if (&best != &r.at("plans").front())
      out << "  the fastest, for " << compared_with_rule(r, r.at("plans").front()) << ": "
          << word(r.at("plans").front(), "plan") << "\n";
  } else if (is_rule(r, best)) {
    out << "what to do: nothing; no plan shows a difference from the default one\n";
  } else if (o.memory_weight > 0) {
    out << "what to do, for " << compared_with_rule(r, best) << ":\n";
  } else {
    const Record& quartiles = r.at("gain_quartiles");
    out << text("what to do, for %.2f times the speed (quartiles %.2f to %.2f):\n", number(r, "gain"),
                quartiles[0].get<double>(), quartiles[1].get<double>());
  }
  print_plan(out, r, best);
  if (r.contains("wisdom")) out << "  " << word(r, "wisdom") << "\n";
}

void print_study(std::ostream& out, const Record& s) {
  out << text("%zu plans screened, %zu timed again, %zu once more, from which these are:\n", s.at("screened").size(),
              s.at("again").size(), s.at("finals").size());
  for (const Record& t : s.at("tested"))
    out << "  by " << (word(t, "by") == "rule" ? "the default heuristic" : word(t, "by"))
        << text(": %.3f times as long as the fastest: ", number(t, "of_best")) << word(t, "plan") << "\n";
}

}  // namespace

void print_block_sizes(std::ostream& out, const Record& sizes) {
  if (sizes.empty()) out << "  blocks are not square, or there are none: no other sizes are tried\n";
  print_rows(out,
             {{"  block", 9, "block"}, {"fill %", 8, "fill", "%.1f", 100}, {"x bytes", 10, "bytes_of_given", "%.3f"}},
             sizes);
}

void print_counted(std::ostream& out, const Record& r, const TuneOptions&) {
  print_matrix(out, r);
  Record rows = Record::array();
  for (const Record& p : r.at("counted"))
    if (!p.contains("why")) rows.push_back(p);
  print_rows(out,
             {{"bytes read", 16, "bytes", "%.0f"},
              {"allocated", 14, "allocated_bytes", "%.0f"},
              {"padding", 8, "padding", "%.2f"},
              {"plan", 0, "plan"}},
             rows);
  for (const Record& p : r.at("counted"))
    if (p.contains("why")) out << "  " << word(p, "asked") << ": " << word(p, "why") << "\n";
  out.flush();
}

void print_result(std::ostream& out, const Record& r, const TuneOptions& o) {
  print_matrix(out, r);
  print_layouts(out, r.at("analysis").at("layouts"));
  out << "  default: " << word(r.at("analysis"), "rule") << "\n";
  if (const Record* const p = predicted_fastest(r))
    out << "  by model: " << word(*p, "plan") << text(", predicted to take %.4f ms", 1e3 * number(*p, "predicted_s"))
        << "\n";
  out << "\n";
  print_times(out, r, o);
  out << text("%zu plans timed in %.2f s (%.0f products of the default plan), packed in %.2f s\n", r.at("plans").size(),
              number(r, "timing_s"), number(r, "products"), number(r, "packing_s"));
  print_without(out, r.at("without"));
  if (o.pareto) print_pareto(out, r.at("plans"));
  if (r.contains("study")) print_study(out, r.at("study"));
  print_advice(out, r, o);
  out.flush();
}

}  // namespace compound::bench::tune
