#include "layout_spec.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "family.hpp"

namespace compound {

namespace {

constexpr PresetNumber one{1, 1, 1}, all_rows{whole, whole, whole}, window{1, 1, any_number, true, "sigma"};

// Of two names for one layout, the first is its own.
constexpr Preset table[] = {
    {"csr", "compressed block rows", &compressed_rows_family, one, one},
    {"ellr", "all rows in one slice, with row lengths (ELLPACK-R, ELL-G)", &slices_family, all_rows, one},
    {"bellpack",
     "slices of R rows, all rows sorted by length (BELLPACK)",
     &slices_family,
     {32, 2, 1024, false, "R"},
     all_rows},
    {"sell",
     "slices of C rows, sorted in windows of sigma rows, with row lengths (sliced ELLPACK, HLL)",
     &slices_family,
     {32, 2, 1024, true, "C"},
     window},
    {"dia", "all rows by their diagonals, without columns (DIA)", &diagonal_slices_family, all_rows, one},
    {"hdia",
     "slices of C rows by their diagonals, without columns (HDIA)",
     &diagonal_slices_family,
     {32, 32, 256, true, "C"},
     one},
    {"ccoo",
     "coordinates in chunks of B threads of K entries, each compressed by itself (compressed COO)",
     &coordinates_family,
     {128, 32, 1024, false, "B"},
     one,
     {2, 1, 8, false, "K"}},
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

/// A place in a layout's name where a number may stand.
struct Place {
  std::string_view what;  ///< for messages; the first is what the family says
  PresetNumber Preset::*number;
  idx LayoutSpec::*value;
};
constexpr Place places[] = {{"", &Preset::slice, &LayoutSpec::slice},
                            {"sorting window", &Preset::sigma, &LayoutSpec::sigma},
                            {"entries of a thread", &Preset::each, &LayoutSpec::each}};

/// Those that the preset leaves open.
std::vector<Place> open_places(const Preset& p) {
  std::vector<Place> open;
  for (const Place& place : places)
    if (!(p.*place.number).is_fixed()) open.push_back(place);
  return open;
}

/// With the numbers that may follow.
std::string form_of(const Preset& p) {
  std::string form(p.name), brackets;
  for (const Place& place : open_places(p)) {
    form += "[:" + std::string((p.*place.number).letter);
    brackets += "]";
  }
  return form + brackets;
}

bool admits(const PresetNumber& number, idx value) {
  return (number.all && value == whole) || (value >= number.least && value <= number.most);
}

/// "sell:32:all" is bellpack:32.
std::string_view name_of(const LayoutSpec& spec, const LayoutFamily* family) {
  return std::ranges::find_if(table,
                              [&](const Preset& p) {
                                return p.family == family && std::ranges::all_of(places, [&](const Place& place) {
                                         return admits(p.*place.number, spec.*place.value);
                                       });
                              })
      ->name;
}

std::string number_text(idx number) { return number == whole ? "all" : std::to_string(number); }

idx read(std::string_view text, const Place& place, const Preset& p) {
  const PresetNumber& number = p.*place.number;
  if (number.all && text == "all") return whole;
  const std::string what(place.what.empty() ? p.family->number : place.what);
  return parse_number(text, number.least, number.most,
                      what + (number.all ? " (or 'all')" : "") + " of layout " + std::string(p.name));
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
  std::vector<std::string_view> names;
  for (const Preset& p : table) names.push_back(p.name);
  throw error(ErrorKind::argument, unknown_name("layout", name, names));
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
  LayoutSpec spec{.preset = p.name};
  for (const Place& place : places) spec.*place.value = (p.*place.number).usual;
  const auto open = open_places(p);
  if (parts.size() - 1 > open.size())
    throw error(ErrorKind::argument, "layout '" + std::string(text) + "' has too many numbers; write " + form_of(p));
  for (std::size_t n = 1; n < parts.size(); ++n) spec.*open[n - 1].value = read(parts[n], open[n - 1], p);
  if (const auto misfit = p.family->why_not(spec))
    throw error(ErrorKind::argument, "layout '" + std::string(text) + "': " + *misfit);
  spec.preset = name_of(spec, p.family);
  return spec;
}

std::string layout_name(const LayoutSpec& s) {
  const Preset& p = preset(s.preset);
  std::string name(p.name), usual;  // the first number is always there; others up to the last that is not the usual one
  for (const Place& place : open_places(p)) {
    const idx value = s.*place.value;
    usual.append(":").append(number_text(value));
    if (place.number == &Preset::slice || value != (p.*place.number).usual) name += std::exchange(usual, "");
  }
  return name;
}

const LayoutFamily& family_of(const LayoutSpec& s) { return *preset(s.preset).family; }

idx words_of_slices(const LayoutSpec& s) {
  return s.slice == whole ? 32 : static_cast<idx>(std::bit_floor(static_cast<unsigned>(s.slice)));
}

}  // namespace compound
