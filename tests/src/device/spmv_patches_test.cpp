// Products of a half by patches, whose threads take turns, without a device; and what the encoder makes of patterns.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "device/emulated_patches.hpp"
#include "device/layout/slices.hpp"
#include "device/symmetry.hpp"
#include "layout/patches.hpp"
#include "plan/partition.hpp"
#include "storage/symmetry.hpp"
#include "support/errors.hpp"
#include "support/symmetric.hpp"

namespace compound::test {
namespace {

Plan plan_of(idx segments_of_patch, Half half = Half::symmetric) {
  Plan base;
  base.schedule.threads = 128;
  base.schedule.blocks = 4;
  return parse_plan("sell:32:" + std::to_string(segments_of_patch) +
                        (half == Half::symmetric ? " half=symmetric" : " half=hermitian"),
                    base);
}

/// Rows of a few entries, of many, and of none; one that has all columns.
std::vector<Pattern> patterns() {
  std::vector<Pattern> all;
  for (const idx rows : {1, 31, 32, 33, 64, 150}) all.push_back(symmetric_pattern(rows, 5, true, test_seed()));
  all.push_back(symmetric_pattern(200, 1, false, test_seed()));
  std::vector<std::vector<idx>> arrow(100), none(70), diagonal(70);
  for (idx r = 0; r < 100; ++r) arrow[r] = r == 99 ? std::vector<idx>() : std::vector<idx>{r, 99};
  for (idx r = 0; r < 100; ++r) arrow[99].push_back(r);
  for (idx r = 0; r < 70; ++r) diagonal[r] = {r};
  all.push_back(pattern_of(100, arrow));
  all.push_back(pattern_of(70, none));
  all.push_back(pattern_of(70, diagonal));
  return all;
}

struct Stored {
  std::vector<PatternPart> parts;
  Pattern upper;
  Layout layout;

  Stored(const Pattern& p, const Plan& plan)
      : parts(parts_of(p.view(), plan)),
        upper(parts.front().has_all() ? p : parts.front().rows),
        layout(encode(upper.view(), plan.layout)) {}
};

using Decoder = slices<dynamic, Occupancy::any, RowOrder::any, any_columns>;
using Places = slices<dynamic, Occupancy::any, RowOrder::any, patch_columns<>>;

/// Turns of what is added to each place of each patch in each step.
class Turns {
 public:
  void add(idx patch, idx step, count32 word) {
    std::vector<int>& turns = turns_[{patch, step, place_in_patch(word)}];
    turns.push_back(turn_in_patch(word));
  }
  /// None twice, and none left out.
  void expect_all() {
    for (auto& [at, turns] : turns_) {
      std::ranges::sort(turns);
      std::vector<int> all(turns.size());
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(turns, all);
    }
  }

 private:
  std::map<std::tuple<idx, idx, int>, std::vector<int>> turns_;
};

TEST(Patches, HaveTheColumnsOfTheUpperTriangleAndTurnsThatNeverMeet) {
  SCOPED_TRACE(seed_text());
  for (const Pattern& p : patterns())
    for (const idx segments_of_patch : {32, 64}) {
      const Stored s(p, plan_of(segments_of_patch));
      const layout_args args = s.layout.args();
      const Decoder decoder(args);
      const Places places(args);
      ASSERT_EQ(args.patch, segments_of_patch);
      std::vector<std::vector<slot_t>> partials(p.rows);  // of each row, by patch
      idx widest = 0;
      for (idx patch = 0; patch * segments_of_patch < args.positions; ++patch) {
        const auto columns = places.columns.of_patch(patch);
        widest = std::max(widest, idx(columns.places));
        for (int place = 0; place < columns.places; ++place) {
          partials.at(columns.column(place)).push_back(columns.first_partial + place);
          if (place > 0) {
            EXPECT_LT(columns.column(place - 1), columns.column(place));
          }
        }
      }
      EXPECT_EQ(args.widest, widest);
      slot_t all = 0;
      for (const auto& of_row : partials) all += slot_t(of_row.size());
      EXPECT_EQ(args.partials, all);
      // What is added up for a row: the partials of all patches that have it, in their order.
      for (idx row = 0; row < p.rows; ++row) {
        std::vector<slot_t> summed;
        for (count32 at = places.columns.partial_start[row]; at < places.columns.partial_start[row + 1]; ++at)
          summed.push_back(places.columns.partial[at]);
        EXPECT_EQ(summed, partials[row]) << row;
      }
      Turns products, sums;
      std::vector<int> stored(s.upper.column.size(), 0);
      std::vector<bool> has_position(p.rows, false);
      for (idx position = 0; position < args.positions; ++position) {
        const idx row = decoder.row(position), patch = position / segments_of_patch;
        has_position[row] = true;
        if (position % segments_of_patch > 0) {
          EXPECT_LE(decoder.count(position), decoder.count(position - 1));
        }
        const auto columns = places.columns_of(position);
        const count32 row_word = places.columns.row_words[position];
        EXPECT_EQ(columns.column(place_in_patch(row_word)), row);
        sums.add(patch, 0, row_word);
        for (idx k = 0; k < decoder.count(position); ++k) {
          const slot_t slot = decoder.first(position) + k * decoder.apart();
          const auto entry = std::size_t(decoder.entry(slot, position, k));
          ++stored.at(entry);
          ASSERT_GE(entry, s.upper.start[row]);
          ASSERT_LT(entry, s.upper.start[row + 1]);
          const idx column = s.upper.column[entry];
          ASSERT_EQ(decoder.columns_of(position).at(slot), column);
          const count32 word = columns.word(slot);
          if (column != row)
            products.add(patch, k, word);
          else
            EXPECT_EQ(turn_in_patch(word), no_turn);
        }
      }
      EXPECT_EQ(stored, std::vector<int>(stored.size(), 1));
      EXPECT_EQ(has_position, std::vector<bool>(p.rows, true));
      products.expect_all();
      sums.expect_all();
    }
}

TEST(Patches, DivideLongRows) {
  const idx rows = 400;
  std::vector<std::vector<idx>> star(rows);
  for (idx r = 0; r < rows; ++r) {
    if (r > 0) star[r] = {0};
    for (idx c = r == 0 ? 0 : r; c < (r == 0 ? rows : std::min(rows, r + 4)); ++c) star[r].push_back(c);
    for (idx c = std::max(1, r - 3); c < r; ++c) star[r].push_back(c);
    std::ranges::sort(star[r]);
  }
  const Stored s(pattern_of(rows, star), plan_of(64));
  const layout_args args = s.layout.args();
  const Decoder decoder(args);
  idx longest = 0, of_first_row = 0;
  for (idx position = 0; position < args.positions; ++position) {
    longest = std::max(longest, decoder.count(position));
    of_first_row += decoder.row(position) == 0;
  }
  EXPECT_EQ(longest, 5);  // as rows have at the mean
  EXPECT_EQ(of_first_row, rows / 5);
}

/// A square of 64 x 64 rows with their neighbours, numbered along its lines or at random.
Pattern square(bool in_order) {
  constexpr idx side = 64;
  std::vector<idx> number(side * side);
  std::iota(number.begin(), number.end(), 0);
  if (!in_order) std::shuffle(number.begin(), number.end(), std::mt19937(1));
  std::vector<std::vector<idx>> rows(number.size());
  for (idx y = 0; y < side; ++y)
    for (idx x = 0; x < side; ++x) {
      std::vector<idx>& row = rows[number[y * side + x]];
      for (idx v = std::max(0, y - 1); v <= std::min(side - 1, y + 1); ++v)
        for (idx u = std::max(0, x - 1); u <= std::min(side - 1, x + 1); ++u) row.push_back(number[v * side + u]);
      std::ranges::sort(row);
    }
  return pattern_of(side * side, rows);
}

TEST(Patches, GrowAlongTheEntriesWhereRowsAreInNoOrder) {
  const auto columns_a_row = [](const Pattern& p) {
    const Stored s(p, plan_of(128));
    return double(s.layout.partials) / p.rows;
  };
  // In order: patches have rows after those of the patches before them, but for one that two of them share.
  const std::vector<idx> rows = segments_of_patches(Stored(square(true), plan_of(128)).upper.view(), 128).row;
  for (std::size_t from = 128; from + 128 < rows.size(); from += 128)
    EXPECT_LE(*std::max_element(rows.begin() + from - 128, rows.begin() + from),
              *std::min_element(rows.begin() + from, rows.begin() + from + 128));
  EXPECT_LE(columns_a_row(square(true)), 2.1);   // a line and the next one
  EXPECT_LE(columns_a_row(square(false)), 1.7);  // squares of 8 x 8 have 1.6 at most; ranges of rows 5
}

/// What the backend does around the kernels.
template <class S>
std::vector<S> product(const Operands<S>& o, const Plan& plan, Op op, Form form,
                       void (*multiply)(const emulated::HalfTask&)) {
  const Stored s(o.pattern, plan);
  const layout_args args = s.layout.args();
  const int n = o.shape.rows;
  std::vector<S> values(std::size_t(args.slots) * n * n, not_a_number<S>());
  const EntryRuns& runs = s.parts.front().entries;
  const Decoder decoder(args);
  for (idx position = 0; position < args.positions; ++position)
    for (idx k = 0; k < decoder.count(position); ++k) {
      const slot_t slot = decoder.first(position) + k * decoder.apart();
      slot_t entry = decoder.entry(slot, position, k);
      if (!runs.empty()) entry += runs.args().shift(entry);
      for (int w = 0; w < n * n; ++w) values[(slot / 32 * n * n + w) * 32 + slot % 32] = o.blocks[entry * n * n + w];
    }
  std::vector<S> y(o.rows_z.size(), not_a_number<S>()), z = o.rows_z;
  std::vector<S> partials(std::size_t(args.partials) * n, not_a_number<S>());
  std::vector<S> shared(std::size_t(2) * args.widest * n, not_a_number<S>());
  if (form == Form::add_in_place) y = z;
  emulated::HalfTask t{&args, s.layout.is_reordered(), plan.schedule.threads, o.pattern.rows, values.data()};
  t.x = o.cols_vector.data();
  t.adds = form != Form::assign;
  t.z = form == Form::add ? z.data() : y.data();
  t.y = y.data();
  t.partials = partials.data();
  t.shared = reinterpret_cast<unsigned char*>(shared.data());
  t.op = static_cast<int>(op);
  multiply(t);
  return y;
}

template <class S>
void expect_products(int n, Half half, void (*multiply)(const emulated::HalfTask&)) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer does not follow threads' contexts";
#endif
  SCOPED_TRACE(seed_text());
  Random random;
  for (const Pattern& p : patterns()) {
    const auto o = symmetric_operands<S>(p, "dense", {n, n}, half, random);
    for (const idx segments_of_patch : {32, 96})
      for (const Op op : ops)
        for (const Form form : forms) {
          // A^T and A^H of a square matrix read and write what A does.
          auto swapped = o;
          swapped.rows_vector = o.cols_vector;
          swapped.cols_z = o.rows_z;
          EXPECT_TRUE(agrees(product(o, plan_of(segments_of_patch, half), op, form, multiply),
                             reference_product(swapped, Precision::double_, op, form)))
              << p.rows << " rows, patches of " << segments_of_patch << ": " << product_name(op, form);
        }
  }
}

TEST(Patches, MultiplySymmetricMatrices) {
  expect_products<double>(3, Half::symmetric, emulated::multiply_symmetric_3x3);
  expect_products<double>(3, Half::symmetric, emulated::multiply_symmetric_3x3_by_two);
  expect_products<complex_number<double>>(2, Half::symmetric, emulated::multiply_symmetric_complex_2x2);
}

TEST(Patches, MultiplyHermitianMatrices) {
  expect_products<complex_number<double>>(2, Half::hermitian, emulated::multiply_hermitian_2x2);
  expect_products<complex_number<double>>(2, Half::hermitian, emulated::multiply_hermitian_2x2_by_two);
}

/// Blocks of 2x2 as a device compares them.
template <class S, bool hermitian>
bool surely_symmetric(const Operands<S>& o) {
  const Stored s(o.pattern, plan_of(32, hermitian ? Half::hermitian : Half::symmetric));
  const std::vector<count32> mirrored = mirrored_entries(o.pattern.view());
  const Layout rows = encode(s.upper.view(), LayoutSpec{});
  const std::vector<count32> diagonal = diagonal_entries(family_of({}), rows.args(), mirrored, o.pattern.rows);
  unsigned may_differ = 0;
  const symmetry_args args{
      s.layout.args(), s.parts.front().entries.args(), o.blocks.data(), mirrored.data(), diagonal.data(), &may_differ};
  for (slot_t worker = 0; worker < workers_of_symmetry(s.layout.positions); ++worker)
    compare_with_mirrored<S, 2, hermitian>(args, worker);
  return may_differ == 0;
}

/// Of an entry above the diagonal and of its mirrored one, scalar (0, 1) and (1, 0).
template <class S>
std::pair<S*, S*> pair_of(Operands<S>& o) {
  const std::vector<count32> mirrored = mirrored_entries(o.pattern.view());
  const Stored s(o.pattern, plan_of(32));
  for (idx row = 0; row < o.pattern.rows; ++row)
    for (count32 e = s.upper.start[row]; e < s.upper.start[row + 1]; ++e)
      if (s.upper.column[e] != row && row % 5 != 2 && s.upper.column[e] % 5 != 2) {  // both have diagonal blocks
        const count32 there = mirrored[e];
        const auto begin = o.pattern.column.begin();
        const auto here = std::size_t(
            std::find(begin + o.pattern.start[row], begin + o.pattern.start[row + 1], s.upper.column[e]) - begin);
        return {&o.blocks[here * 4 + 2], &o.blocks[std::size_t(there) * 4 + 1]};
      }
  return {};
}

TEST(Patches, AreComparedWithMirroredBlocksOnADevice) {
  SCOPED_TRACE(seed_text());
  constexpr double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  Random random;
  for (const Pattern& p : {symmetric_pattern(150, 5, true, test_seed()), patterns().back()}) {
    auto o = symmetric_operands<double>(p, "dense", {2, 2}, Half::symmetric, random);
    EXPECT_TRUE((surely_symmetric<double, false>(o)));
  }
  const Pattern p = symmetric_pattern(150, 5, true, test_seed());
  auto o = symmetric_operands<double>(p, "dense", {2, 2}, Half::symmetric, random);
  const auto [above, below] = pair_of(o);
  const double value = *above;
  const auto with = [&, above = above, below = below](double a, double b) {
    *above = a;
    *below = b;
    return surely_symmetric<double, false>(o);
  };
  EXPECT_TRUE(with(value, value * (1 + 0x1p-44)));
  EXPECT_TRUE(with(1e-30, -1e-30)) << "beside the diagonal blocks";
  EXPECT_FALSE(with(value, value * (1 + 0x1p-30)));
  EXPECT_TRUE(with(infinite, infinite));
  EXPECT_TRUE(with(none, none));
  EXPECT_FALSE(with(infinite, value));
  EXPECT_FALSE(with(infinite, -infinite));
  EXPECT_FALSE(with(value, none));
  EXPECT_FALSE(with(1e308, -1e308));
  for (double& scalar : o.blocks) scalar *= 0x1p-10;
  EXPECT_TRUE(with(0.5, 0.5 * (1 + 0x1p-44))) << "beside diagonal blocks that are smaller";
}

TEST(Patches, AreComparedWithConjugatedBlocksWhereTheyAreHermitian) {
  using S = complex_number<double>;
  Random random;
  const Pattern p = symmetric_pattern(150, 5, true, test_seed());
  auto o = symmetric_operands<S>(p, "dense", {2, 2}, Half::hermitian, random);
  EXPECT_TRUE((surely_symmetric<S, true>(o)));
  EXPECT_FALSE((surely_symmetric<S, false>(o)));
  const auto [above, below] = pair_of(o);
  *above = {1, 2};
  *below = {1, -2};
  EXPECT_TRUE((surely_symmetric<S, true>(o)));
  *below = {1, 2};
  EXPECT_FALSE((surely_symmetric<S, true>(o)));
}

TEST(Patches, AreWhatHalfOnADeviceBrings) {
  const Problem problem{{3, 3}, {}};
  const Plan base = default_plan(PatternStatistics{}, problem, "cuda");
  const Plan plan = parse_plan("half=symmetric", base);
  EXPECT_EQ(layout_name(plan.layout), "sell:32:256");
  EXPECT_EQ(plan.layout.columns, columns_by_patches);
  EXPECT_EQ(plan.schedule.threads, 256);
  EXPECT_EQ(parse_plan(to_string(plan), base), plan);
  EXPECT_EQ(parse_plan("half=symmetric sell:32:512", base).schedule.threads, 512);
  EXPECT_EQ(parse_plan("half=symmetric lanes=2", base).schedule.threads, 512);
  struct Suited {
    int size, lanes;
    idx segments;
  };
  for (const Suited& s : {Suited{1, 1, 256}, Suited{3, 1, 256}, Suited{4, 2, 256}, Suited{6, 4, 128}, Suited{8, 8, 64},
                          Suited{12, 16, 64}}) {
    const Plan suited = plan_for_line("half=symmetric", base, {}, {{s.size, s.size}, {}}, "cuda", "dense", {});
    EXPECT_EQ(suited.schedule.lanes, s.lanes) << s.size;
    EXPECT_EQ(suited.layout.sigma, s.segments) << s.size;
    EXPECT_EQ(suited.schedule.threads, s.segments * s.lanes) << s.size;
  }
  const Plan wide = plan_for_line("half=symmetric sell:32:512", base, {}, {{8, 8}, {}}, "cuda", "dense", {});
  EXPECT_EQ(wide.schedule.lanes, 2) << "as many as a block of threads has for such a patch";
  EXPECT_EQ(wide.schedule.threads, 1024);
  const auto why = [&](std::string_view line) { return applicable(parse_plan(line, base), problem).value_or(""); };
  EXPECT_EQ(why("half=symmetric"), "");
  EXPECT_ERROR(parse_plan("half=symmetric sell:16:256", base), ErrorKind::argument, "sell:32:T");
  EXPECT_ERROR(parse_plan("half=symmetric sell:32", base), ErrorKind::argument, "not of sell:32; use sell:32:256");
  EXPECT_NE(why("half=symmetric presence").find("lengths"), std::string::npos);
  EXPECT_NE(why("sell:32:256 columns=patch").find("half=symmetric"), std::string::npos);
  EXPECT_NE(why("half=symmetric codes=scalars8").find("codes=none alone"), std::string::npos);
}

}  // namespace
}  // namespace compound::test
