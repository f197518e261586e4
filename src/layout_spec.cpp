#include "layout_spec.hpp"

#include <charconv>
#include <limits>
#include <vector>

#include "error.hpp"

namespace compound {

namespace {

constexpr Preset table[] = {
    {"csr", "compressed block rows", 1, 1, 1, "csr"},
    {"ellr", "all rows in one slice, with row lengths (ELLPACK-R, ELL-G)", whole, whole, whole, "ellr"},
    {"sell", "slices of C rows, with row lengths (sliced ELLPACK, HLL)", 32, 2, 256, "sell"},
};

static_assert(std::size(table) == preset_count);

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0;;) {
    const std::size_t at = text.find(by, from);
    parts.push_back(text.substr(from, at - from));
    if (at == std::string_view::npos) return parts;
    from = at + 1;
  }
}

}  // namespace

std::span<const Preset> presets() { return table; }

std::string preset_names() {
  std::string names;
  for (const Preset& p : table) names += (names.empty() ? "" : ", ") + std::string(p.name);
  return names;
}

const Preset& preset(std::string_view name) {
  for (const Preset& p : table)
    if (p.name == name) return p;
  throw error(ErrorKind::argument, "unknown layout '" + std::string(name) + "'; choose " + preset_names());
}

idx parse_number(std::string_view text, idx least, idx most, std::string_view what) {
  idx value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    const std::string upper = most == std::numeric_limits<idx>::max() ? " or more" : " to " + std::to_string(most);
    throw error(ErrorKind::argument,
                std::string(what) + " '" + std::string(text) + "' must be a number, " + std::to_string(least) + upper);
  }
  return value;
}

LayoutSpec parse_layout(std::string_view text) {
  const auto parts = split(text, ':');
  const Preset& p = preset(parts[0]);
  LayoutSpec spec{.preset = p.name, .slice = p.slice};
  const std::size_t numbers = parts.size() - 1;
  if (numbers > (p.slice_least == p.slice_most ? 0u : 2u))
    throw error(ErrorKind::argument, "layout '" + std::string(text) + "' has too many numbers; write " +
                                         (p.slice_least == p.slice_most
                                              ? std::string(p.name)
                                              : std::string(p.name) + ":C or " + std::string(p.name) + ":C:sigma"));
  if (numbers >= 1)
    spec.slice = parse_number(parts[1], p.slice_least, p.slice_most, "slice height of layout " + std::string(p.name));
  if (numbers == 2)
    spec.sigma = parts[2] == "all" ? whole
                                   : parse_number(parts[2], 1, std::numeric_limits<idx>::max(),
                                                  "sorting window (or 'all') of layout " + std::string(p.name));
  if (const auto misfit = misfit_of_window(spec))
    throw error(ErrorKind::argument, "layout '" + std::string(text) + "': " + *misfit);
  return spec;
}

std::optional<std::string> misfit_of_window(const LayoutSpec& s) {
  if (s.slice == 1 && s.sigma != 1) return "compressed rows keep their order: a sorting window needs slices";
  if (s.slice > 1 && s.sigma > 1 && s.sigma % s.slice != 0)
    return "the sorting window " + std::to_string(s.sigma) + " must be a multiple of the slice height " +
           std::to_string(s.slice);
  return {};
}

std::string layout_name(const LayoutSpec& s) {
  const Preset& p = preset(s.preset);
  std::string name(p.name);
  if (p.slice_least != p.slice_most) name += ":" + std::to_string(s.slice);
  if (s.sigma != 1) name += ":" + (s.sigma == whole ? "all" : std::to_string(s.sigma));
  return name;
}

}  // namespace compound
