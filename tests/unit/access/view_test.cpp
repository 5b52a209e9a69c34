// Views: random trees compared with lists of all their bytes, larger views, and invalid views.
#include "access/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "access/view_node.hpp"
#include "support/models/view_model.hpp"

namespace thalweg {
namespace {

constexpr std::uint64_t kMost = View::kMost;

View bytes(std::uint64_t n) { return View::bytes(n).value(); }

model::Draw draw_from(std::mt19937_64& random) {
  return [&random](std::uint64_t limit) { return random() % limit; };
}

TEST(View, HasTheBytesOfItsDescription) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const model::Draw draw = draw_from(random);

    const model::BothViews both = model::draw_view(draw, static_cast<int>(draw(5)));

    ASSERT_EQ(model::difference(both, draw), "") << "seed " << seed;
    if (both.naive.offsets.empty()) continue;
    const model::BothViews repeated = model::repeated(both, draw);
    ASSERT_GE(repeated.view.size(), repeated.naive.offsets.size()) << "seed " << seed;
    ASSERT_EQ(model::difference(repeated.view, repeated.naive, draw), "") << "repeated, seed " << seed;
  }
}

// Memory and file are views of any kind: nested, out of order, overlapping; the file is repeated.
TEST(View, IsPlacedThroughAnotherOne) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const model::Draw draw = draw_from(random);
    const model::BothViews file = model::draw_view(draw, static_cast<int>(draw(4)));
    const model::BothViews memory = model::draw_view(draw, static_cast<int>(draw(4)));
    ASSERT_EQ(model::placed_difference(file, memory, draw), "") << "seed " << seed;
  }
}

TEST(View, OfNothingHasNoBytes) {
  const View nothing;
  const IndexedBlock block{4, 5};
  const View* const no_element = &nothing;
  for (const View& view :
       {nothing, bytes(0), View::strided(0, 3, 9, bytes(4)).value(), View::strided(3, 0, 9, bytes(4)).value(),
        View::indexed({}, bytes(4)).value(), View::contiguous(1000, nothing).value(), View::structure({}, {}).value(),
        View::structure({&block, 1}, {&no_element, 1}).value(), nothing.repeated_from(77).value()}) {
    EXPECT_EQ(view.size(), 0u);
    EXPECT_EQ(view.order(), ViewOrder::in_order);
    EXPECT_EQ(view.bytes_below(kMost), 0u);
    EXPECT_TRUE(model::runs_of(view, 0, 0).empty());
  }
}

// The part of task 1 of 2 of an array of 10^4 x 10^5 x 2 elements of 4 bytes has a billion pieces.
TEST(View, OfABillionPiecesIsNeverExpanded) {
  const std::array<DistributedDimension, 3> dimensions = {
      {{10'000, Distribution::none, 0, 1}, {100'000, Distribution::none, 0, 1}, {2, Distribution::block, 0, 2}}};
  const View view = View::distributed(dimensions, 1, ArrayOrder::row_major, bytes(4)).value();
  EXPECT_EQ(view.size(), 4'000'000'000u);
  EXPECT_EQ(view.runs(0, view.size()), 1'000'000'000u);
  EXPECT_EQ(view.order(), ViewOrder::in_order);

  constexpr std::uint64_t kPosition = 4 * 765'432'100ull + 2;
  EXPECT_EQ(view.locate(kPosition), 8 * 765'432'100ull + 4 + 2);
  const auto runs = model::runs_of(view, kPosition, 40);
  ASSERT_EQ(runs.size(), 11u);
  EXPECT_EQ(runs.front(), (ViewRun{8 * 765'432'100ull + 6, 2}));
  for (std::uint64_t i = 1; i < 10; ++i) EXPECT_EQ(runs[i], (ViewRun{8 * (765'432'100 + i) + 4, 4}));
  EXPECT_EQ(runs.back(), (ViewRun{8 * 765'432'110ull + 4, 2}));
  EXPECT_EQ(view.bytes_below(8 * 500'000'000ull), 4 * 500'000'000ull);
}

// Blocks of blocks of blocks: each level multiplies the pieces by 1000.
TEST(View, OfNestedListsIsNeverExpanded) {
  std::vector<IndexedBlock> blocks;
  for (std::uint64_t i = 0; i < 1000; ++i) blocks.push_back({0, 1});
  View view = bytes(1);
  for (int depth = 0; depth < 5; ++depth) {
    for (std::uint64_t i = 0; i < 1000; ++i) blocks[i].displacement = (2 * i + i % 2) * view.extent();
    view = View::indexed(blocks, view).value();
  }
  EXPECT_EQ(view.size(), 1'000'000'000'000'000u);
  EXPECT_EQ(view.order(), ViewOrder::in_order);

  const std::uint64_t middle = view.size() / 2 + 123'456'789;
  const std::uint64_t offset = view.locate(middle);
  EXPECT_EQ(view.bytes_below(offset), middle);
  EXPECT_EQ(model::runs_of(view, middle, 1000).front().offset, offset);
}

TEST(View, OfDifferentElementsHasThemInTheirOrder) {
  const View comb = View::strided(2, 1, 3, bytes(1)).value(), word = bytes(4);
  const std::array<IndexedBlock, 4> blocks = {{{20, 2}, {100, 1}, {0, 1}, {7, 0}}};
  const std::array<const View*, 4> elements = {&comb, &word, &word, &comb};

  const View view = View::structure(blocks, elements).value();

  EXPECT_EQ(view.size(), 12u);
  EXPECT_EQ(view.extent(), 104u);
  EXPECT_EQ(view.order(), ViewOrder::unordered);
  EXPECT_EQ(model::runs_of(view, 0, 12), (std::vector<ViewRun>{{20, 1}, {23, 2}, {27, 1}, {100, 4}, {0, 4}}));
  EXPECT_EQ(model::runs_of(view, 3, 6), (std::vector<ViewRun>{{27, 1}, {100, 4}, {0, 1}}));
}

// Two large vectors in turn, a thousand times: 2 * 10^12 pieces.
TEST(View, OfManyLargeElementsIsNeverExpanded) {
  const View a = View::strided(1'000'000'000, 1, 2, bytes(1)).value();
  const View b = View::strided(1'000'000'000, 1, 3, bytes(1)).value();
  constexpr std::uint64_t kEach = 4'000'000'000, kBytes = 1'000'000'000;
  std::vector<IndexedBlock> blocks;
  std::vector<const View*> elements;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    blocks.push_back({(i ^ 1) * kEach, 1});
    elements.push_back(i % 2 == 0 ? &a : &b);
  }
  const View view = View::structure(blocks, elements).value();
  EXPECT_EQ(view.size(), 2000 * kBytes);
  EXPECT_EQ(view.runs(0, view.size()), 2000 * kBytes);
  EXPECT_EQ(view.order(), ViewOrder::unordered);
  for (std::uint64_t i = 0; i < 2000; i += 7)
    EXPECT_EQ(view.locate(i * kBytes + 12'345), (i ^ 1) * kEach + (2 + i % 2) * 12'345) << i;
}

TEST(View, IsRepeatedUpToTheLastOffset) {
  const View view = View::strided(3, 1, 10, bytes(4)).value().resized(30).value().repeated_from(1000).value();
  EXPECT_EQ(view.locate(12), 1030u);
  const std::uint64_t last = view.size() - 1;
  EXPECT_LT(view.locate(last), kMost);
  EXPECT_GE(view.locate(last), kMost - 30);

  const View all = bytes(1).repeated_from(7).value();
  EXPECT_EQ(all.runs(0, all.size()), 1u);
  EXPECT_EQ(all.size(), kMost - 7);
  EXPECT_EQ(all.locate(5), 12u);
  EXPECT_EQ(bytes(1).repeated_from(kMost - 1).value().size(), 1u);
  EXPECT_EQ(bytes(1).repeated_from(kMost).status().code(), Code::out_of_range);
  EXPECT_EQ(bytes(8).resized(0).value().repeated_from(5).value().locate(8 * 1000 + 3), 8u) << "all copies in one place";
}

// Repeated bytes are found where that is cheap; interleaved parts are not.
TEST(View, KnowsWhetherItOverlapsItself) {
  const auto indexed = [](std::vector<IndexedBlock> blocks, const View& inner) {
    return View::indexed(blocks, inner).value();
  };
  const View comb = View::strided(10, 1, 4, bytes(2)).value();
  EXPECT_EQ(View::strided(3, 1, 7, bytes(8)).value().order(), ViewOrder::overlapping);
  EXPECT_EQ(View::strided(2, 1, 1, comb).value().order(), ViewOrder::overlapping);
  EXPECT_EQ(View::strided(2, 1, 2, comb).value().order(), ViewOrder::unordered);
  EXPECT_EQ(View::strided(3, 1, 2, comb).value().order(), ViewOrder::overlapping) << "more bytes than room";
  EXPECT_EQ(indexed({{20, 5}, {0, 5}}, bytes(1)).order(), ViewOrder::unordered);
  EXPECT_EQ(indexed({{20, 5}, {0, 5}, {24, 1}}, bytes(1)).order(), ViewOrder::overlapping);
  EXPECT_EQ(indexed({{0, 1}, {2, 1}}, comb).order(), ViewOrder::unordered);
  EXPECT_EQ(indexed({{0, 1}, {1, 1}}, comb).order(), ViewOrder::overlapping);
  EXPECT_EQ(indexed({{0, 1}, {38, 1}}, comb).order(), ViewOrder::in_order);

  const View byte = bytes(1);
  const auto pair = [&](std::uint64_t at, std::uint64_t of_bytes) {
    const std::array<IndexedBlock, 2> blocks = {{{at, 1}, {of_bytes, 2}}};
    return View::structure(blocks, std::array{&comb, &byte}).value().order();
  };
  EXPECT_EQ(pair(0, 38), ViewOrder::in_order);
  EXPECT_EQ(pair(0, 2), ViewOrder::unordered);
  EXPECT_EQ(pair(2, 0), ViewOrder::unordered);
  EXPECT_EQ(pair(0, 1), ViewOrder::overlapping);
  EXPECT_EQ(pair(1, 0), ViewOrder::overlapping);
}

TEST(View, RefusesWhatHasNoOffsets) {
  const View large = bytes(std::uint64_t{1} << 62);
  const auto code = [](const Result<View>& made) { return made.status().code(); };
  const std::array<IndexedBlock, 2> far = {{{kMost, 1}, {0, 1}}};
  const std::array<IndexedBlock, 1> beyond = {{{kMost + 1, 1}}};
  const std::array<SubarrayDimension, 2> wide = {{{1ull << 32, 1, 0}, {1ull << 32, 1, 0}}};
  const std::array<DistributedDimension, 2> spread = {
      {{1ull << 32, Distribution::block, 0, 4}, {1ull << 32, Distribution::cyclic, 0, 4}}};

  EXPECT_EQ(code(View::bytes(kMost + 1)), Code::out_of_range);
  EXPECT_EQ(code(View::bytes(~std::uint64_t{0})), Code::out_of_range);
  EXPECT_EQ(code(View::contiguous(2, large)), Code::out_of_range);
  EXPECT_EQ(code(View::contiguous(~std::uint64_t{0}, bytes(1))), Code::out_of_range);
  EXPECT_EQ(code(View::strided(2, 1, kMost, bytes(1))), Code::out_of_range);
  EXPECT_EQ(code(View::strided(1ull << 32, 1, 1ull << 32, bytes(1))), Code::out_of_range);
  EXPECT_EQ(code(View::strided(4, 1, 0, large)), Code::out_of_range) << "in one place, but too many";
  EXPECT_EQ(code(View::indexed(far, bytes(1))), Code::out_of_range);
  EXPECT_EQ(code(View::indexed(beyond, bytes(0))), Code::out_of_range);
  EXPECT_EQ(code(View::subarray(wide, ArrayOrder::row_major, bytes(1))), Code::out_of_range);
  EXPECT_EQ(code(View::distributed(spread, 0, ArrayOrder::row_major, bytes(1))), Code::out_of_range);
  const View byte = bytes(1), half = large, comb = View::strided(2, 1, 2, byte).value();
  const auto both = [&](IndexedBlock first, const View& of_first, IndexedBlock second, const View& of_second) {
    return code(View::structure(std::array{first, second}, std::array{&of_first, &of_second}));
  };
  EXPECT_EQ(both({1, 1}, half, {kMost / 2 + 1, kMost / 2}, byte), Code::ok);
  EXPECT_EQ(both({0, 1}, half, {0, 2}, half), Code::out_of_range);
  EXPECT_EQ(both({0, 1}, half.resized(0).value(), {0, 1}, View::strided(2, 1, 0, bytes(1ull << 61)).value()),
            Code::out_of_range)
      << "in one place, but too many";
  EXPECT_EQ(both({0, 1}, comb, {kMost - 1, 1}, byte), Code::ok);
  EXPECT_EQ(both({0, 1}, comb, {kMost, 1}, byte), Code::out_of_range);
  EXPECT_EQ(both({0, 1}, comb, {~std::uint64_t{0}, 1}, byte), Code::out_of_range);
  EXPECT_EQ(both({0, 1}, comb, {0, ~std::uint64_t{0}}, byte), Code::out_of_range);
  EXPECT_EQ(both({kMost - 2, 1}, comb, {0, 1}, byte), Code::out_of_range);
  EXPECT_EQ(code(bytes(1).resized(kMost + 1)), Code::out_of_range);
  EXPECT_EQ(code(large.repeated_from((1ull << 62) - 1)), Code::ok);
  EXPECT_EQ(code(large.repeated_from(1ull << 62)), Code::out_of_range);
  EXPECT_EQ(code(large.repeated_from(kMost)), Code::out_of_range);
  // A view may have bytes beyond its extent.
  const View reaching = large.resized(1).value();
  const std::array<SubarrayDimension, 1> shifted = {{{kMost, 1, kMost - 1}}};
  EXPECT_EQ(code(View::subarray(shifted, ArrayOrder::row_major, reaching)), Code::out_of_range);
}

TEST(View, RefusesArraysThatAreNone) {
  const auto code = [](const Result<View>& made) { return made.status().code(); };
  const auto part = [&](SubarrayDimension dimension) {
    return code(View::subarray({&dimension, 1}, ArrayOrder::row_major, bytes(1)));
  };
  const auto dealt = [&](DistributedDimension dimension, std::uint64_t rank) {
    return code(View::distributed({&dimension, 1}, rank, ArrayOrder::row_major, bytes(1)));
  };
  EXPECT_EQ(code(View::subarray({}, ArrayOrder::row_major, bytes(1))), Code::invalid_argument);
  EXPECT_EQ(code(View::distributed({}, 0, ArrayOrder::row_major, bytes(1))), Code::invalid_argument);
  EXPECT_EQ(part({10, 11, 0}), Code::invalid_argument);
  EXPECT_EQ(part({10, 5, 6}), Code::invalid_argument);
  EXPECT_EQ(part({10, 5, ~std::uint64_t{0}}), Code::invalid_argument);
  EXPECT_EQ(part({10, 5, 5}), Code::ok);
  EXPECT_EQ(part({10, 0, 10}), Code::ok);
  EXPECT_EQ(dealt({10, Distribution::block, 0, 0}, 0), Code::invalid_argument);
  EXPECT_EQ(dealt({10, Distribution::none, 0, 2}, 0), Code::invalid_argument);
  EXPECT_EQ(dealt({10, Distribution::block, 3, 3}, 0), Code::invalid_argument);
  EXPECT_EQ(dealt({10, Distribution::block, 0, 3}, 3), Code::invalid_argument);
  EXPECT_EQ(dealt({10, Distribution::block, 4, 3}, 2), Code::ok);
  EXPECT_EQ(dealt({10, Distribution::cyclic, kMost, kMost}, kMost - 1), Code::ok);
}

// A level that adds no bytes adds no node, which bounds the recursion of walking and freeing.
TEST(View, IsNoDeeperThanItsSizeAllows) {
  View view = View::strided(2, 1, 9, bytes(4)).value();
  for (int i = 0; i < 100'000; ++i) {
    const IndexedBlock once{1, 1};
    view = View::indexed({&once, 1}, View::contiguous(1, view).value()).value();
  }
  EXPECT_EQ(view.locate(5), 100'000u + 10);
}

int depth_of(const ViewNode* node) {
  return node == nullptr ? 0 : 1 + std::max(depth_of(node->inner.get()), depth_of(node->second.get()));
}

// Each level adds parts on either side of a heavy one, and now and then the view is doubled.
TEST(View, OfPairsHasThemBalanced) {
  const PlacedNode byte = bytes_node(1), comb = repeat_node(3, 2, byte).value();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    PlacedNode all = comb;
    for (int i = 0; i < 4000; ++i) {
      std::vector<PlacedNode> parts(random() % 3, random() % 2 == 0 ? byte : comb);
      parts.push_back(all);
      parts.insert(parts.end(), 1 + random() % 3, random() % 2 == 0 ? byte : comb);
      for (PlacedNode& part : parts) part.shift = random() % 1'000'000'000;
      all = join_nodes(parts).value();
      if (i % 100 == 99) all = repeat_node(2, 1, all).value();
    }
    EXPECT_LE(depth_of(all.node.get()), 200) << "seed " << seed;
  }
}

// Each level adds a byte before the others or behind them; 45 levels double the view.
TEST(View, OfNestedStructuresIsNoDeeperThanItsSizeAllows) {
  const View byte = bytes(1);
  for (const bool behind : {true, false}) {
    View view = View::strided(2, 1, 9, bytes(4)).value();
    std::uint64_t position = 0;  // of the byte that was the first one
    for (std::uint64_t i = 0; i < 19'800; ++i) {
      const IndexedBlock old{3, 1}, added{0, 1};
      const auto blocks = behind ? std::array{old, added} : std::array{added, old};
      const auto elements = behind ? std::array{&std::as_const(view), &byte} : std::array{&byte, &std::as_const(view)};
      view = View::structure(blocks, elements).value();
      position += behind ? 0 : 1;
      if (i % 440 == 0) view = View::strided(2, 1, 0, view).value();
    }
    EXPECT_EQ(view.locate(position), 3 * 19'800u);
    EXPECT_EQ(model::runs_of(view, position, 5), (std::vector<ViewRun>{{3 * 19'800, 4}, {3 * 19'800 + 9, 1}}));
  }
}

class Placing : public testing::Test {
 protected:
  std::array<std::byte, 64> memory_{};
  std::vector<Extent> placed_;
  View view_ = View::strided(10, 1, 10, bytes(4)).value();
};

TEST_F(Placing, CutsMemoryAndRunsWhereEitherEnds) {
  std::byte* at = memory_.data();
  const std::array<Extent, 4> memory = {{{at, 3, 99}, {nullptr, 0, 99}, {at + 10, 6, 99}, {at + 30, 1, 99}}};

  ASSERT_TRUE(place_in_view(view_, 2, memory, placed_).ok());

  const std::vector<Extent> expected = {
      {at, 2, 2}, {at + 2, 1, 10}, {at + 10, 3, 11}, {at + 13, 3, 20}, {at + 30, 1, 23}};
  EXPECT_EQ(placed_, expected);
}

TEST_F(Placing, MergesRunsThatTouch) {
  const View dense = View::strided(4, 1, 8, bytes(8)).value();
  const Extent all{memory_.data(), 20, 0};
  ASSERT_TRUE(place_in_view(dense, 5, {&all, 1}, placed_).ok());
  EXPECT_EQ(placed_, (std::vector<Extent>{{memory_.data(), 20, 5}}));
}

// Rows of 3 of 4 columns, from memory with a column more on each side: a piece for each row, one where memory is dense
// too.
TEST_F(Placing, JoinsWhatLiesTogetherInTheFileAndInMemory) {
  std::byte* at = memory_.data();
  const View rows =
      View::subarray(std::vector<SubarrayDimension>{{5, 2, 1}, {4, 3, 1}}, ArrayOrder::row_major, bytes(2)).value();
  const View halo =
      View::subarray(std::vector<SubarrayDimension>{{2, 2, 0}, {5, 3, 1}}, ArrayOrder::row_major, bytes(2)).value();
  const View dense = bytes(12);

  const auto placed = [&](const View& file, std::uint64_t displacement, const View& memory) {
    EXPECT_TRUE(place_memory(file.repeated_from(displacement).value(), 0, memory, at, placed_).ok());
    return placed_;
  };

  EXPECT_EQ(placed(rows, 100, halo), (std::vector<Extent>{{at + 2, 6, 110}, {at + 12, 6, 118}}));
  EXPECT_EQ(placed(rows, 0, dense), (std::vector<Extent>{{at, 6, 10}, {at + 6, 6, 18}}));
  EXPECT_EQ(placed(dense, 7, halo), (std::vector<Extent>{{at + 2, 6, 7}, {at + 12, 6, 13}}));
  EXPECT_EQ(placed(dense, 7, dense), (std::vector<Extent>{{at, 12, 7}}));
  EXPECT_TRUE(placed(rows, 7, View()).empty());
}

TEST_F(Placing, RefusesMemoryThatTheFileHasNoRoomFor) {
  std::byte* at = memory_.data();
  const View comb = View::strided(4, 1, 2, bytes(1)).value();
  const auto code = [&](const View& file, std::uint64_t position, const View& memory, std::byte* data) {
    return place_memory(file, position, memory, data, placed_).code();
  };
  EXPECT_EQ(code(view_, 36, comb, at), Code::ok);
  EXPECT_EQ(code(view_, 37, comb, at), Code::out_of_range);
  EXPECT_EQ(code(view_, kMost, comb, at), Code::out_of_range);
  EXPECT_EQ(code(bytes(kMost), kMost - 4, comb, at), Code::ok);
  EXPECT_EQ(code(bytes(kMost), kMost - 3, comb, at), Code::out_of_range);
  EXPECT_EQ(code(view_, 0, comb, nullptr), Code::invalid_argument);
  EXPECT_EQ(code(view_, kMost, View(), nullptr), Code::ok) << "no bytes have no place";
  const View fine = View::strided(kMost / 4, 1, 2, bytes(1)).value();
  EXPECT_EQ(code(fine, 0, bytes(kMost / 4), at), Code::no_memory);
  EXPECT_EQ(code(bytes(kMost), 0, fine, at), Code::no_memory);
}

TEST_F(Placing, RefusesWhatTheViewOrMemoryDoesNotHave) {
  std::byte* at = memory_.data();
  const auto code = [&](std::uint64_t position, std::vector<Extent> memory) {
    return place_in_view(view_, position, memory, placed_).code();
  };
  EXPECT_EQ(code(0, {{at, 40, 0}}), Code::ok);
  EXPECT_EQ(code(0, {{at, 41, 0}}), Code::out_of_range);
  EXPECT_EQ(code(39, {{at, 1, 0}, {at, 1, 0}}), Code::out_of_range);
  EXPECT_EQ(code(kMost, {{at, 1, 0}}), Code::out_of_range);
  EXPECT_EQ(code(0, {{at, kMost, 0}, {at, kMost, 0}}), Code::out_of_range);
  EXPECT_EQ(code(0, {{nullptr, 1, 0}}), Code::invalid_argument);
  EXPECT_EQ(code(kMost, {{nullptr, 0, 0}}), Code::ok) << "no bytes have no place";
  const View fine = View::strided(2, 1, 2, bytes(1)).value().repeated_from(0).value();
  EXPECT_EQ(place_in_view(fine, 0, std::vector<Extent>{{at, kMost / 2, 0}}, placed_).code(), Code::no_memory);
}

}  // namespace
}  // namespace thalweg
