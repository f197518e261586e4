// A pattern encoded in a layout: its sizes, and named arrays of integers. What they mean is between an encoder
// (src/layout/<family>.cpp) and its decoder (src/device/layout); code that keeps, uploads or counts them need not know.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "../device/layout/layout_args.hpp"
#include "base/huge_pages.hpp"
#include "layout_spec.hpp"
#include "pattern/pattern.hpp"

namespace compound {

/// An array of integers, the encoder's own or one of the pattern's that is borrowed. Nothing where it has no name.
class IntegerArray {
 public:
  IntegerArray() = default;
  template <class T>
  IntegerArray(std::string_view name, std::vector<T> own) : name_(name), own_(std::move(own)) {}
  IntegerArray(std::string_view name, LargeVector<idx> own) : name_(name), own_(std::move(own)) {}
  template <class T>
  static IntegerArray borrowed(std::string_view name, std::span<const T> from) {
    IntegerArray array;
    array.name_ = name;
    array.borrowed_ = std::as_bytes(from);
    return array;
  }

  std::string_view name() const { return name_; }
  bool is_borrowed() const { return borrowed_.data() != nullptr; }
  std::span<const std::byte> bytes() const {
    if (is_borrowed()) return borrowed_;
    return std::visit([](const auto& own) { return std::as_bytes(std::span(own)); }, own_);
  }
  template <class T>
  std::span<const T> as() const {
    const auto all = bytes();
    return {reinterpret_cast<const T*>(all.data()), all.size() / sizeof(T)};
  }

 private:
  std::string_view name_;
  std::variant<std::vector<idx>, std::vector<count32>, std::vector<slot_t>, LargeVector<idx>> own_;
  std::span<const std::byte> borrowed_;
};

/// Whether the pattern's arrays live as long as what is made of it, so that a layout may lie on them.
enum class PatternLifetime { temporary, outlives };

/// An array of the pattern's as it is.
template <class T>
IntegerArray pattern_array(std::string_view name, std::span<const T> from, PatternLifetime lifetime) {
  if (lifetime == PatternLifetime::outlives) return IntegerArray::borrowed(name, from);
  return {name, std::vector<T>(from.begin(), from.end())};
}

struct Layout {
  idx positions = 0;
  idx height = 1;             ///< of slices or chunks
  idx patch = 0, widest = 0;  ///< positions of a patch, and its block columns at most: columns=patch alone
  slot_t slots = 0;
  slot_t partials = 0;                                  ///< block columns of all patches
  std::array<IntegerArray, most_layout_arrays> arrays;  ///< in the order of the decoder's enumeration

  bool is_reordered() const { return !arrays[common_arrays::row_of].name().empty(); }
  /// For decoders on the host, as long as this lives.
  layout_args args() const;
  /// Of its own arrays, or of the one of this name: 0 where there is none.
  std::size_t bytes() const;
  std::size_t bytes(std::string_view array) const;
};

/// A layout that is not made: what it would take, in slots and in bytes of integers.
struct LayoutCount {
  slot_t slots = 0;
  std::size_t read = 0;       ///< by a product
  std::size_t allocated = 0;  ///< by encode(): what is borrowed costs nothing

  /// So many integers that products read,
  void add(std::size_t integers, bool borrowed = false) {
    read += integers * sizeof(idx);
    if (!borrowed) allocated += integers * sizeof(idx);
  }
  /// and that only packing reads.
  void add_for_packing(std::size_t integers) { allocated += integers * sizeof(idx); }
};

/// Of one that is made.
LayoutCount count_of(const Layout& layout);

/// From the lengths of rows (diagonals: from their columns), in memory for some integers a row. Where integers are
/// coded only making them tells how long they are: coordinates, and columns of other than 32 bits. Throws as encode().
LayoutCount count(const PatternView& pattern, const LayoutSpec& spec,
                  PatternLifetime lifetime = PatternLifetime::temporary);

/// Throws `too_large` where positions or slots outgrow 32 bits, std::bad_alloc where padding outgrows memory (ellr with
/// one very long row: use sell); count() tells of that before.
Layout encode(const PatternView& pattern, const LayoutSpec& spec,
              PatternLifetime lifetime = PatternLifetime::temporary);

/// The same without the columns, from the lengths of rows alone: device/fill_slots.hpp puts them in. Nothing where
/// columns are coded, or where a layout depends on them otherwise.
std::optional<Layout> outline(const PatternView& pattern, const LayoutSpec& spec);
bool has_outline(const LayoutSpec& spec);

/// Where each entry of the pattern lies in its layout: [entries]. Throws `too_large` beyond 2^32 slots.
std::vector<count32> slots_of_entries(const PatternView& pattern, const LayoutSpec& spec, const Layout& layout);

}  // namespace compound
