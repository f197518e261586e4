// The keywords of plan lines as a table: what each sets, and what it combines with.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace compound {

struct LayoutFamily;

/// Whose products a keyword is for.
enum class MemorySpace { any, host, device };

struct Keyword {
  std::string_view name;     ///< "lanes=" where a value follows, "presence" where it stands alone
  std::string_view decides;  ///< of keywords that decide one thing a part of a plan names one
  void (*set)(Plan&, std::string_view value);
  MemorySpace space = MemorySpace::any;
  /// Layouts that it is for, and why for no others; null: all. Of keywords that leave nothing in a plan where they do
  /// not matter: applicable() sees the others.
  bool (*is_for)(const LayoutFamily&) = nullptr;
  std::string_view why = {};

  bool has_value() const { return name.ends_with('='); }
};

/// Those of lines, but for layouts and products of libraries.
std::span<const Keyword> plan_keywords();

/// Null for a word that is none.
const Keyword* find_keyword(std::string_view word);

using Words = std::span<const std::string_view>;
std::vector<std::string_view> words_of_line(std::string_view line);
/// The words up to the next "+", which `all` then begins behind. Whether there was one.
bool take_part(Words& all, Words& part);

bool names_layout(std::string_view word);

/// "unknown plan keyword 'csrr': did you mean csr? Choose a layout (csr, ...), entry=, ...".
std::string unknown_keyword(std::string_view word);

/// Which words of a part exclude each other, in words; empty if none do.
std::optional<std::string> why_not_together(Words part);

/// Which words of a part say nothing of its layout.
std::optional<std::string> why_not_for(Words part, const LayoutSpec& layout);

/// Which words of a line are not for products in that memory space, or not for the layouts of its plan.
std::optional<std::string> why_not_in(std::string_view line, const Plan& plan, MemorySpace space);

/// half=
std::string_view name_of(Half half);

/// codes=
void set_codes(Plan& plan, std::string_view value);

}  // namespace compound
