// Plan: entry, layout and schedule as one comparable value and one printable line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/layout/columns.hpp"
#include "entry/kinds.hpp"
#include "layout/layout_spec.hpp"
#include "pattern/pattern.hpp"
#include "plan/codes.hpp"
#include "plan/schedule.hpp"

namespace compound {

/// width=auto: as many entries as the rule of Bell and Garland says (partition.hpp).
inline constexpr idx width_by_rule = 0;

/// For what the parts of a plan before it leave.
struct PlanPart {
  LayoutSpec layout;
  Schedule schedule;
  idx longest = any_number;
  idx width = any_number;
  bool operator==(const PlanPart&) const = default;
};

/// Of matrices that are equal to their transpose, or to their Hermitian transpose: that entries on the diagonal and
/// above are stored, and stand for those below it, too.
enum class Half { none, symmetric, hermitian };

struct Plan {
  std::string_view entry = "dense";
  LayoutSpec layout;
  Precision values = Precision::double_;  ///< of the stored matrix words
  std::string_view codes = "none";        ///< value_codes.hpp
  Half half = Half::none;
  Schedule schedule;
  idx longest = any_number;     ///< longer rows go whole to the parts after this one
  idx width = any_number;       ///< of each row what comes after so many entries does
  std::vector<PlanPart> later;  ///< they add to what the first part assigns, in their order
  bool operator==(const Plan&) const = default;
};

/// Each part as a plan of its own, which is all that backends are told; of a plan of one part itself.
std::vector<Plan> parts(const Plan& plan);

/// "entry=dense sell:32 words=32:column vectors=1 values=double columns=32 rows lanes=1".
///
/// codes=scalars8|chunks8|blocks0|blocks1|blocks8|blocks16: values as codes into a dictionary (the usual `none` is not
/// printed); of blocks0 all blocks are one, of blocks1 one of two.
///
/// half=symmetric|hermitian: of square matrices that are, the upper triangle of blocks (the usual, all, is not
/// printed): on the host by csr, on a device by sell:32:T columns=patch threads=T, which it brings.
///
/// words=G[:row|:column]: matrix words in groups of G (a power of two, or `all`); words=1[:row|:column]:padded: each
/// entry's up to a multiple of 16 bytes; words=rows: a block row's scalar rows one after the other, read where the
/// caller has them (ValueOrder::rows). Flags, the usual one not printed:
/// `lengths` or `presence`; `allrows` or `rowlist`; `simd` or `plain` (the plain kernel, whatever the machine has);
/// `xnear` or `xahead` (x is fetched ahead of its use). On devices also unroll=, threads=, blocks= (of threads on a
/// multiprocessor) and `grid`, `static` or `dynamic` (how they come to their rows), `cached` or `stream` (how words are
/// read), and `cusparse:bsr-row` and its kin: products of csr by a library (library_products.hpp), where it can.
///
/// "<part> longest=N + <part>": rows of more than N entries go whole to the next part, the last takes what is left.
/// "<part> width=N + <part>": of each row the entries after the first N go there (width=auto: N by a rule).
/// entry=, values=, codes= and vectors= are the whole plan's and stand in the first; later parts name a layout each,
/// and list their rows.
std::string to_string(const Plan& plan);

/// Reads such a line. Words may come in any order and be left out; what is left out comes from `base`, but a layout
/// brings its own slice, sigma and word group. Throws `argument` naming the word and what is allowed. Parts are the
/// line's alone.
Plan parse_plan(std::string_view text, const Plan& base);

/// A matrix's diagonal and off-diagonal plan: "<plan> off: <plan>"; without `off:` the second is not set.
struct PlanText {
  std::string_view diagonal;
  std::optional<std::string_view> off_diagonal;
};
PlanText split_off_diagonal(std::string_view text);

/// What the plan is asked to serve.
struct Problem {
  BlockShape block;
  ScalarType scalar;
  ValueOrder order = ValueOrder::blocks;  ///< of the values that are given
  bool repeatable = false;  ///< a library's product must give the same bits each time, as our own kernels do
  bool upper = false;       ///< the pattern and its values are those of the diagonal and above, of a plan with `half`
};

/// Empty if the plan can serve; else the reason in words, to be shown to the user. What a backend adds is its own
/// (Backend::applicable).
std::optional<std::string> applicable(const Plan& plan, const Problem& problem);

/// Shape of one entry of the plan: for dense the block's own.
EntryShape entry_shape(const Plan& plan, const Problem& problem);

/// Bytes from one entry's words to the next one's where they are in groups of 1, padding included.
std::size_t bytes_of_entry(const Plan& plan, const Problem& problem);

/// Where matrix words of so many slots lie.
word_map<dynamic> matrix_word_map(const Plan& plan, const Problem& problem, slot_t slots);

/// Of one stored word, and of one full block in the precision of the vectors.
std::size_t bytes_of_word(const Plan& plan, const Problem& problem);
inline std::size_t bytes_of_block(const Problem& problem) {
  return scalars_in(problem.block) * bytes_of(problem.scalar);
}

/// Whether slots hold entries of the pattern in its order, and all of their scalars. `upper`: the pattern is an upper
/// triangle.
bool is_of_full_blocks(const Plan& plan, bool upper = false);

/// Whether packed words are the values as they are given, in the problem's order: nothing needs to be packed. Parts are
/// asked one by one.
bool words_are_blocks(const Plan& plan, const Problem& problem);

/// words=rows
inline constexpr std::string_view words_in_rows = "rows";
void set_words_in_rows(LayoutSpec& layout);

/// Segments of rows in a patch (columns=patch), unless a line says another number.
inline constexpr idx usual_segments_of_patch = 256;
/// Of a block that multiplies a patch.
inline int threads_of_patch(const Plan& plan) { return plan.layout.sigma * plan.schedule.lanes; }
/// Why the layout and lanes of a plan make no patches. Patches are sorting windows of whole slices.
std::optional<std::string> why_not_patches(const Plan& plan);
/// Gives a device's plan with patches the schedule that goes with them, with so many workers for a block row.
void go_by_patches(Plan& plan, int lanes);

/// Gives a plan a layout as users name it, with the word group that suits it; the rest of the plan stays.
void set_layout(Plan& plan, std::string_view layout);

/// Gives a plan another kind of entry. Entries other than dense need all their words for each scalar row: they go by
/// rows.
void set_entry(Plan& plan, std::string_view entry);

/// The layout that the first part of a plan's line names; empty where it names none.
std::string_view layout_in(std::string_view line);

}  // namespace compound
