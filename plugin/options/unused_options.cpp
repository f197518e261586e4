#include "options/unused_options.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.hpp"
#include "petsc/warnings.hpp"

namespace compound::plugin {

namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view of_matrices = "mat_compound_";
constexpr std::string_view of_solvers[] = {"ksp_compound_loop", "ksp_cgcompound_reductions", "pc_gamg_compound_set_up",
                                           "pc_mg_compound_cycle", "pc_mg_compound_precision"};

std::set<std::string> reported, prefixes;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// An option in its parts: "fluid_" and "mat_compound_layout".
struct Name {
  std::string prefix, own;
  bool of_solver = false;
};

Name split_at(const std::string& name, std::size_t at, bool of_solver) {
  return {name.substr(0, at), lower(name.substr(at)), of_solver};
}

/// Empty where the option is not meant to be one of ours: no `mat_compound_`, no `ksp_...compound`, no
/// `pc_...compound`.
Name own_name(const std::string& name) {
  const std::string text = lower(name);
  if (const auto at = text.rfind(of_matrices); at != std::string::npos) return split_at(name, at, false);
  for (const std::string_view object : {"ksp_", "pc_"}) {
    const auto at = text.rfind(object);
    if (at != std::string::npos && text.find("compound", at) != std::string::npos) return split_at(name, at, true);
  }
  return {};
}

/// "mat_compuond_layout": near enough to one of ours that PETSc hardly has such an option.
Name nearly_own_name(const std::string& name, Names of_options) {
  constexpr std::string_view ours[] = {"compound"};
  const std::string text = lower(name);
  const auto at = text.rfind("mat_");
  if (at == std::string::npos) return {};
  const auto word = at + std::string_view("mat_").size(), end = text.find('_', word);
  if (end == std::string::npos || nearest(text.substr(word, end - word), ours).empty()) return {};
  const bool names_option = !nearest(std::string(of_matrices) + text.substr(end + 1), of_options).empty();
  return names_option ? split_at(name, at, false) : Name{};
}

bool is_known(const Name& name, Names of_options) {
  const Names names = name.of_solver ? Names(of_solvers) : of_options;
  return std::ranges::find(names, name.own) != names.end();
}

std::string unknown(const std::string& option, const Name& name, Names of_options) {
  const std::string_view meant = nearest(name.own, name.of_solver ? Names(of_solvers) : of_options);
  const std::string begin = "unknown option -" + option;
  if (!meant.empty()) return begin + ": did you mean -" + name.prefix + std::string(meant) + "?";
  return begin + "; -help lists those of a matrix of type baijcompound or aijcompound, and of a solver cgcompound";
}

/// "no matrix of type baijcompound, aijcompound or sbaijcompound with the prefix 'fluid_' has read it".
std::string why_unread(const Name& name) {
  const std::string with_prefix = name.prefix.empty() ? " without a prefix" : " with the prefix '" + name.prefix + "'";
  if (name.of_solver)
    return (name.own.starts_with("pc_") ? "no preconditioner of type gamg"
                                        : "no solver of type cgcompound or bcgscompound") +
           with_prefix + " has read it";
  const std::string nothing =
      "no matrix of type baijcompound, aijcompound or sbaijcompound" + with_prefix + " has read it";
  if (prefixes.empty()) return nothing + ", since there was no such matrix (-mat_type baijcompound makes one)";
  constexpr int most = 3;
  std::string meant;
  for (int n = 0; const std::string& prefix : prefixes)
    if (n++ < most) meant += (meant.empty() ? "-" : " or -") + prefix + name.own;
  return nothing + "; did you mean " + meant + "?";
}

PetscErrorCode report(const std::string& option, const std::string& text) {
  PetscFunctionBegin;
  if (reported.insert(option).second) PetscCall(warn(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// f(option without its dash) for each that nothing has read.
template <class F>
PetscErrorCode for_each_unread(PetscOptions options, const F& f) {
  PetscFunctionBegin;
  PetscInt count;
  char **names, **values;
  std::vector<std::string> unread;
  PetscCall(PetscOptionsLeftGet(options, &count, &names, &values));
  unread.assign(names, names + count);
  PetscCall(PetscOptionsLeftRestore(options, &count, &names, &values));
  for (const std::string& option : unread) PetscCall(f(option));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::span<const std::string_view> solver_option_names() { return of_solvers; }

void note_prefix(const char* prefix) { prefixes.insert(prefix ? prefix : ""); }

PetscErrorCode report_unknown_options(PetscOptions options, std::span<const std::string_view> of_options) {
  PetscFunctionBegin;
  if (!is_first_process()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(for_each_unread(options, [of_options](const std::string& option) -> PetscErrorCode {
    PetscFunctionBegin;
    const Name name = own_name(option);
    if (!name.own.empty() && !is_known(name, of_options)) PetscCall(report(option, unknown(option, name, of_options)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode report_unused_options(std::span<const std::string_view> of_options) {
  PetscFunctionBegin;
  const bool on = is_first_process() && warnings_are_on();
  if (on)
    PetscCall(for_each_unread(nullptr, [of_options](const std::string& option) -> PetscErrorCode {
      PetscFunctionBegin;
      Name name = own_name(option);
      if (name.own.empty()) name = nearly_own_name(option, of_options);
      if (name.own.empty()) PetscFunctionReturn(PETSC_SUCCESS);
      const bool known = is_known(name, of_options);
      PetscCall(report(option, known ? "option -" + option + " has no effect: " + why_unread(name)
                                     : unknown(option, name, of_options)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  reported.clear();
  prefixes.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
