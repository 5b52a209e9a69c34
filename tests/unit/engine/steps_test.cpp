// Steps: for any lists and rules, the steps of a task have each of its bytes once, in file order, and steps that bypass
// the page cache are aligned.
#include "engine/transfer/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <random>
#include <vector>

#include "sim/memory_backend.hpp"
#include "support/sanitized.hpp"

namespace thalweg {
namespace {

using test::tries_less;
constexpr std::uint64_t kBlock = 4096;

struct Setting {
  bool pack, sieve, direct, aligned_memory;
  Direction direction;
  std::uint64_t seed;
};
std::ostream& operator<<(std::ostream& out, const Setting& what) {
  return out << "seed " << what.seed << (what.pack ? ", packed" : "") << (what.sieve ? ", sieved" : "")
             << (what.direct ? ", direct" : "") << (what.direction == Direction::read ? ", read" : ", write");
}

// Lists of one or several tasks; all memory is one arena, so that an index identifies a byte.
class Steps : public testing::Test {
 protected:
  Steps() : arena_(4 << 20) {
    file_.stored = make_memory_backend()->open("f", OpenMode::create).value();
    file_.direct_alignment = file_.stored->direct_alignment();
    file_.strategy.transfer_bytes = std::uint64_t{64} << 10;
    file_.strategy.staging_bytes = 4 * kBlock;
  }

  void draw_lists(const Setting& what) {
    std::mt19937_64 random(what.seed);
    lists_.clear();
    extents_.assign(1 + random() % 3, {});
    const auto base = reinterpret_cast<std::uintptr_t>(arena_.data());
    std::uint64_t at = what.aligned_memory ? (kBlock - base % kBlock) % kBlock : 1;
    std::uint64_t offset = random() % (3 * kBlock);
    const std::uint64_t n = 1 + random() % 60;
    const std::uint64_t most = random() % 2 == 0 ? 100 : 5 * kBlock;
    for (std::uint64_t i = 0; i < n; ++i) {
      std::uint64_t bytes = 1 + random() % most;
      if (what.aligned_memory) bytes = (bytes + kBlock - 1) / kBlock * kBlock;
      extents_[random() % extents_.size()].push_back({arena_.data() + at, bytes, offset});
      at += bytes + (what.aligned_memory ? kBlock : random() % 3);
      offset += bytes + random() % 3 * (random() % 50);
    }
    ASSERT_LE(at, arena_.size());
    for (const auto& list : extents_) lists_.push_back(ExtentList::of(list).value());
    pointers_.clear();
    for (const ExtentList& list : lists_) pointers_.push_back(&list);
  }

  TransferTask task_of(const Setting& what) {
    TransferTask task;
    task.file = &file_;
    task.direction = what.direction;
    task.lists = pointers_;
    task.domain = {0, kEverything};
    task.pack = what.pack;
    task.sieve = what.sieve;
    task.direct = what.direct;
    return task;
  }

  // Arena index that each byte of the file is moved to or from.
  using Moves = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  Moves wanted() const {
    Moves moves;
    for (const auto& list : extents_)
      for (const Extent& extent : list)
        for (std::uint64_t i = 0; i < extent.bytes; ++i)
          moves.emplace_back(extent.offset + i, place(extent.memory) + i);
    std::sort(moves.begin(), moves.end());
    return moves;
  }
  std::uint64_t place(const std::byte* memory) const { return static_cast<std::uint64_t>(memory - arena_.data()); }

  void add_moves(const Step& step, Moves& moves) const {
    std::uint64_t offset = step.range.begin;
    for (std::size_t i = 0; i < step.pieces.size(); ++i) {
      if (step.sieved) offset = step.places[i];
      for (std::uint64_t k = 0; k < step.pieces[i].bytes; ++k)
        moves.emplace_back(offset++, place(step.pieces[i].memory) + k);
      EXPECT_LE(offset, step.range.end);
    }
    if (!step.sieved) {
      EXPECT_EQ(offset, step.range.end);
    }
  }

  static void expect_fit(const Step& step, const StepMaker& steps, const Setting& what) {
    if (step.staged) {
      EXPECT_LE(step.bytes(), steps.staging_bytes()) << what;
    } else {
      EXPECT_LE(step.pieces.size(), static_cast<std::size_t>(IOV_MAX)) << what;
    }
    if (!step.direct) return;
    EXPECT_TRUE(what.direct) << what;
    EXPECT_EQ(step.range.begin % kBlock, 0u) << what;
    EXPECT_EQ(step.range.end % kBlock, 0u) << what;
    for (const Piece& piece : step.pieces) {
      const bool aligned = reinterpret_cast<std::uintptr_t>(piece.memory) % 512 == 0 && piece.bytes % 512 == 0;
      EXPECT_TRUE(step.staged || aligned) << what;
    }
  }

  SharedFile file_;
  std::vector<std::byte> arena_;
  std::vector<std::vector<Extent>> extents_;
  std::vector<ExtentList> lists_;
  std::vector<const ExtentList*> pointers_;
};

TEST_F(Steps, AreTheBytesOfTheListsEachOnceInFileOrder) {
  std::uint64_t n_direct = 0;
  std::uint64_t n_sieved = 0;
  for (std::uint64_t seed = 1; seed <= (tries_less() ? 15 : 150); ++seed) {
    const Setting what{
        seed % 2 == 0, seed % 3 == 0, seed % 5 < 3, seed % 7 < 3, seed % 11 < 5 ? Direction::read : Direction::write,
        seed};
    draw_lists(what);
    const TransferTask task = task_of(what);
    StepMaker steps(task);
    Moves moves;
    std::uint64_t last = 0;
    for (Step step; steps.next(step);) {
      EXPECT_GE(step.range.begin, last) << what;
      last = step.range.end;
      expect_fit(step, steps, what);
      add_moves(step, moves);
      n_direct += step.direct ? 1 : 0;
      n_sieved += step.sieved ? 1 : 0;
    }
    std::sort(moves.begin(), moves.end());
    ASSERT_TRUE(moves == wanted()) << what;
    ASSERT_FALSE(HasFailure()) << what;
  }
  const std::uint64_t few = tries_less() ? 1 : 10;
  EXPECT_GT(n_direct, few);
  EXPECT_GT(n_sieved, few);
}

// Two workers with adjacent domains move all bytes together.
TEST_F(Steps, OfTwoDomainsAreAllBytesTogether) {
  for (std::uint64_t seed = 1; seed <= (tries_less() ? 5 : 50); ++seed) {
    const Setting what{seed % 2 == 0, seed % 3 == 0, seed % 5 < 3, seed % 7 < 3, Direction::write, seed};
    draw_lists(what);
    Moves moves;
    const std::uint64_t border = wanted()[wanted().size() / 2].first;
    for (const FileDomain domain : {FileDomain{0, border}, FileDomain{border, kEverything}}) {
      TransferTask task = task_of(what);
      task.domain = domain;
      StepMaker steps(task);
      for (Step step; steps.next(step);) {
        EXPECT_TRUE(step.range.begin >= domain.begin && step.range.end <= domain.end) << what;
        add_moves(step, moves);
      }
    }
    std::sort(moves.begin(), moves.end());
    ASSERT_TRUE(moves == wanted()) << what;
  }
}

TEST_F(Steps, StagingHoldsWhatMemoryHas) {
  for (std::uint64_t seed = 3; seed <= (tries_less() ? 3 : 24); seed += 3) {
    const Setting what{false, true, false, false, Direction::write, seed};
    draw_lists(what);
    for (std::size_t i = 0; i < arena_.size(); ++i) arena_[i] = static_cast<std::byte>(i * 31 + i / 256);
    const TransferTask task = task_of(what);
    StepMaker steps(task);
    for (Step step; steps.next(step);) {
      std::vector<std::byte> staging(step.bytes());
      gather_into(staging.data(), step);
      const std::vector<std::byte> before = arena_;
      for (const Piece& piece : step.pieces) std::fill_n(piece.memory, piece.bytes, std::byte{0});
      scatter_from(staging.data(), step, step.bytes());
      ASSERT_TRUE(arena_ == before) << what;
      const std::uint64_t half = step.bytes() / 2;  // the file ended there
      for (const Piece& piece : step.pieces) std::fill_n(piece.memory, piece.bytes, std::byte{0});
      scatter_from(staging.data(), step, half);
      Moves moves;
      add_moves(step, moves);
      for (const auto& [offset, at] : moves)
        ASSERT_EQ(arena_[at], offset - step.range.begin < half ? before[at] : std::byte{0}) << what;
      arena_ = before;
    }
  }
}

}  // namespace
}  // namespace thalweg
