// Products of a half by patches, whose threads take turns, without a device; and what the encoder makes of patterns.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "device/emulated_patches.hpp"
#include "device/layout/slices.hpp"
#include "layout/patches.hpp"
#include "plan/partition.hpp"
#include "support/errors.hpp"
#include "support/symmetric.hpp"

namespace compound::test {
namespace {

Plan plan_of(idx rows_of_patch, Half half = Half::symmetric) {
  Plan base;
  base.schedule.threads = 128;
  base.schedule.blocks = 4;
  return parse_plan(
      "sell:32:" + std::to_string(rows_of_patch) + (half == Half::symmetric ? " half=symmetric" : " half=hermitian"),
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

TEST(Patches, HaveTheColumnsOfTheUpperTriangleAndTurnsThatNeverMeet) {
  SCOPED_TRACE(seed_text());
  for (const Pattern& p : patterns())
    for (const idx rows_of_patch : {32, 64}) {
      const Plan plan = plan_of(rows_of_patch);
      const Stored s(p, plan);
      const layout_args args = s.layout.args();
      const Decoder decoder(args);
      const Places places(args);
      ASSERT_EQ(args.patch, rows_of_patch);
      std::vector<std::vector<slot_t>> partials(p.rows);  // of each row, by patch
      idx widest = 0;
      for (idx patch = 0; patch * rows_of_patch < p.rows; ++patch) {
        const auto columns = places.columns.of_patch(patch);
        widest = std::max(widest, idx(columns.places()));
        for (int place = 0; place < columns.places(); ++place)
          partials.at(columns.column(place)).push_back(columns.first_partial + place);
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
      // By patch, step, place and turn: how many.
      std::map<std::tuple<idx, idx, int, int>, int> met;
      std::map<std::tuple<idx, idx, int>, int> last_turn, number;
      std::vector<int> stored(p.rows, 0);
      for (idx position = 0; position < args.positions; ++position) {
        const idx row = decoder.row(position), patch = position / rows_of_patch;
        ++stored[row];
        ASSERT_EQ(decoder.count(position), s.upper.view().length(row));
        if (position % rows_of_patch > 0) {
          EXPECT_LE(decoder.count(position), decoder.count(position - 1));
        }
        for (idx k = 0; k < decoder.count(position); ++k) {
          const slot_t slot = decoder.first(position) + k * decoder.apart();
          const idx column = s.upper.column[s.upper.start[row] + k];
          ASSERT_EQ(decoder.columns_of(position).at(slot), column);
          const count32 word = places.columns_of(position).word(slot);
          if (column == row) {
            EXPECT_EQ(turn_in_patch(word), no_turn);
            continue;
          }
          const std::tuple at{patch, k / entries_of_step, place_in_patch(word)};
          EXPECT_EQ(++met[std::tuple_cat(at, std::tuple{turn_in_patch(word)})], 1);
          last_turn[at] = std::max(last_turn[at], turn_in_patch(word));
          ++number[at];
        }
      }
      EXPECT_EQ(stored, std::vector<int>(p.rows, 1));
      for (const auto& [at, turn] : last_turn) EXPECT_EQ(turn + 1, number[at]);  // none is left out
    }
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
    const Stored s(p, plan_of(64));
    return double(s.layout.partials) / p.rows;
  };
  EXPECT_TRUE(std::ranges::is_sorted(patch_order(Stored(square(true), plan_of(64)).upper.view(), 64), {},
                                     [](idx row) { return row / 64; }));
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
  emulated::HalfTask t{&args, s.layout.is_reordered(), plan.schedule.threads, values.data()};
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
    for (const idx rows_of_patch : {32, 96})
      for (const Op op : ops)
        for (const Form form : forms) {
          // A^T and A^H of a square matrix read and write what A does.
          auto swapped = o;
          swapped.rows_vector = o.cols_vector;
          swapped.cols_z = o.rows_z;
          EXPECT_TRUE(agrees(product(o, plan_of(rows_of_patch, half), op, form, multiply),
                             reference_product(swapped, Precision::double_, op, form)))
              << p.rows << " rows, patches of " << rows_of_patch << ": " << product_name(op, form);
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

TEST(Patches, AreWhatHalfOnADeviceBrings) {
  const Problem problem{{3, 3}, {}};
  const Plan base = default_plan(PatternStatistics{}, problem, "cuda");
  const Plan plan = parse_plan("half=symmetric", base);
  EXPECT_EQ(layout_name(plan.layout), "sell:32:256");
  EXPECT_EQ(plan.layout.columns, columns_by_patches);
  EXPECT_EQ(plan.schedule.threads, 512);
  EXPECT_EQ(parse_plan(to_string(plan), base), plan);
  EXPECT_EQ(parse_plan("half=symmetric sell:32:512", base).schedule.threads, 1024);
  EXPECT_EQ(parse_plan("half=symmetric lanes=2", base).schedule.threads, 1024);
  const Problem large{{6, 6}, {}};
  EXPECT_EQ(plan_for_line("half=symmetric", base, {}, large, "cuda", "dense", {}).schedule.lanes, 4);
  const auto why = [&](std::string_view line) { return applicable(parse_plan(line, base), problem).value_or(""); };
  EXPECT_EQ(why("half=symmetric"), "");
  EXPECT_NE(why("half=symmetric sell:16:256").find("sell:32:T"), std::string::npos);
  EXPECT_NE(why("half=symmetric sell:32").find("not of sell:32; use sell:32:256"), std::string::npos);
  EXPECT_NE(why("half=symmetric presence").find("lengths"), std::string::npos);
  EXPECT_NE(why("sell:32:256 columns=patch").find("half=symmetric"), std::string::npos);
  EXPECT_NE(why("half=symmetric codes=scalars8").find("codes=none alone"), std::string::npos);
}

}  // namespace
}  // namespace compound::test
