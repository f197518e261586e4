#include "layout_spec.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <vector>

#include "../error.hpp"
#include "family.hpp"

namespace compound {

namespace {

constexpr PresetNumber one{1, 1, 1}, all_rows{whole, whole, whole}, window{1, 1, any_number, true};

// Of two names for one layout, the first is its own.
constexpr Preset table[] = {
    {"csr", "compressed block rows", &compressed_rows_family, one, one},
    {"ellr", "all rows in one slice, with row lengths (ELLPACK-R, ELL-G)", &slices_family, all_rows, one},
    {"bellpack", "slices of R rows, all rows sorted by length (BELLPACK)", &slices_family, {32, 2, 1024}, all_rows},
    {"sell",
     "slices of C rows, sorted in windows of sigma rows, with row lengths (sliced ELLPACK, HLL)",
     &slices_family,
     {32, 2, 1024, true},
     window},
    {"dia", "all rows by their diagonals, without columns (DIA)", &diagonal_slices_family, all_rows, one},
    {"hdia",
     "slices of C rows by their diagonals, without columns (HDIA)",
     &diagonal_slices_family,
     {32, 32, 256, true},
     one},
    {"coo", "coordinates in chunks of C entries, as many for each warp", &coordinates_family, {128, 32, 1024}, one},
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

/// With the numbers that may follow.
std::string form_of(const Preset& p) {
  const std::string height = p.sigma.is_fixed() && p.sigma.usual == whole ? "R" : "C";
  return std::string(p.name) + (p.slice.is_fixed()   ? ""
                                : p.sigma.is_fixed() ? "[:" + height + "]"
                                                     : "[:" + height + "[:sigma]]");
}

bool admits(const PresetNumber& number, idx value) {
  return (number.all && value == whole) || (value >= number.least && value <= number.most);
}

/// "sell:32:all" is bellpack:32.
std::string_view name_of(const LayoutSpec& spec, const LayoutFamily* family) {
  return std::ranges::find_if(table,
                              [&](const Preset& p) {
                                return p.family == family && admits(p.slice, spec.slice) && admits(p.sigma, spec.sigma);
                              })
      ->name;
}

std::string number_text(idx number) { return number == whole ? "all" : std::to_string(number); }

/// A number of a layout's name.
struct Place {
  std::string_view what;
  PresetNumber number;
  idx* to;
};

void read(std::string_view text, const Place& place, std::string_view layout) {
  const std::string or_all = place.number.all ? " (or 'all')" : "";
  if (place.number.all && text == "all")
    *place.to = whole;
  else
    *place.to = parse_number(text, place.number.least, place.number.most,
                             std::string(place.what) + or_all + " of layout " + std::string(layout));
}

}  // namespace

std::span<const Preset> presets() { return table; }

std::string preset_names() {
  std::string names;
  for (const Preset& p : table) names += (names.empty() ? "" : ", ") + std::string(p.name);
  return names;
}

std::string preset_forms() {
  std::string forms;
  for (const Preset& p : table) forms += (forms.empty() ? "" : ", ") + form_of(p);
  return forms;
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
  LayoutSpec spec{.preset = p.name, .slice = p.slice.usual, .sigma = p.sigma.usual};
  std::vector<Place> places;
  for (const Place& place :
       {Place{p.family->number, p.slice, &spec.slice}, Place{"sorting window", p.sigma, &spec.sigma}})
    if (!place.number.is_fixed()) places.push_back(place);
  if (parts.size() - 1 > places.size())
    throw error(ErrorKind::argument, "layout '" + std::string(text) + "' has too many numbers; write " + form_of(p));
  for (std::size_t n = 1; n < parts.size(); ++n) read(parts[n], places[n - 1], p.name);
  if (const auto misfit = p.family->why_not(spec))
    throw error(ErrorKind::argument, "layout '" + std::string(text) + "': " + *misfit);
  spec.preset = name_of(spec, p.family);
  return spec;
}

std::string layout_name(const LayoutSpec& s) {
  const Preset& p = preset(s.preset);
  std::string name(p.name);
  if (!p.slice.is_fixed()) name += ":" + number_text(s.slice);
  if (!p.sigma.is_fixed() && s.sigma != p.sigma.usual) name += ":" + number_text(s.sigma);
  return name;
}

const LayoutFamily& family_of(const LayoutSpec& s) { return *preset(s.preset).family; }

idx words_of_slices(const LayoutSpec& s) {
  return s.slice == whole ? 32 : static_cast<idx>(std::bit_floor(static_cast<unsigned>(s.slice)));
}

}  // namespace compound
