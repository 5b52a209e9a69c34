// Batches: what many VPs append in one collective access lies together in a superblock. Streams are read as they were
// written, whatever else writes to them, and damage and faults are told.
#include <filesystem>
#include <random>

#include "group/groups.hpp"
#include "sim/memory_backend.hpp"
#include "support/damage/vp_damage_seal.hpp"
#include "support/files/vp_files.hpp"
#include "support/files/vp_open.hpp"
#include "support/sanitized.hpp"
#include "testing/fault_backend.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/format/batch.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

constexpr std::size_t kOut = ~std::size_t{0};  // length of a VP that takes no part
constexpr const char* kBatches = "shared.dat.batches";
constexpr const char* kFirst = "shared.dat.first";

using Lengths = std::function<std::size_t(std::int64_t vp)>;

std::size_t some_bytes(std::int64_t vp, int step) { return static_cast<std::size_t>(1 + (vp * 7 + step * 5) % 30); }

void put_over(std::string& stream, std::size_t at, const std::string& text) {
  if (text.empty()) return;
  if (stream.size() < at + text.size()) stream.resize(at + text.size());
  stream.replace(at, text.size(), text);
}

class VpBatches : public VpFiles {
 protected:
  static constexpr std::int64_t kVps = 100;
  static constexpr const char* kSmall = "block_bytes=16,superblock_bytes=4096,cache_bytes=0";
  const VpHow small_ = {.shape = {kVps}, .hints = kSmall};

  void SetUp() override {
    VpFiles::SetUp();
    texts_.assign(kVps, "");
  }

  // ---- Writing. `texts_` has what the streams are to hold; each task changes those of its VPs.

  // Writes lengths(vp) bytes of each VP at its position, in one collective access.
  void write_each(tw_vpfile* file, int step, const Lengths& lengths) {
    const std::size_t n = locals(file);
    const Positions at = positions(file);
    Positions each(n), counts(n);
    Flags mask(n, 1);
    std::string packed;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t vp = number(file, i);
      const std::size_t bytes = lengths(vp);
      mask[i] = bytes == kOut ? 0 : 1;
      if (bytes == kOut) continue;
      each[i] = static_cast<std::int64_t>(bytes);
      const std::string text = text_of(static_cast<int>(vp), bytes, step);
      put_over(texts_[static_cast<std::size_t>(vp)], static_cast<std::size_t>(at[i]), text);
      packed += text;
    }
    tw_vpfile_data data = TW_VPFILE_PACKED(packed.data(), 1);
    data.n_each = each.data();
    EXPECT_EQ(tw_vpfile_write_all(file, data, mask.data(), counts.data()), TW_OK) << tw_last_error();
    EXPECT_EQ(counts, each);
  }
  void write_steps(tw_vpfile* file, int begin, int end) {
    for (int step = begin; step < end; ++step)
      write_each(file, step, [&](std::int64_t vp) { return some_bytes(vp, step); });
  }
  static void seek_to_end(tw_vpfile* file) {
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_END, nullptr), TW_OK) << tw_last_error();
  }
  // One VP writes alone.
  void write_alone(tw_vpfile* file, std::int64_t vp, std::size_t at, const std::string& text) {
    EXPECT_EQ(tw_vpfile_seek(file, vp, static_cast<std::int64_t>(at), SEEK_SET), TW_OK) << tw_last_error();
    EXPECT_EQ(put_text(file, vp, text), TW_OK) << tw_last_error();
    put_over(texts_[static_cast<std::size_t>(vp)], at, text);
  }
  void make(int tasks, int steps, const VpHow& how) {
    on_vpfile(tasks, "w", how, [&](tw_vpfile* file, int) { write_steps(file, 0, steps); });
  }

  // ---- Reading

  const std::string& text(std::int64_t vp) const { return texts_[static_cast<std::size_t>(vp)]; }

  void expect_stream(tw_vpfile* file, std::int64_t vp) const {
    ASSERT_EQ(stream_of(file, vp), text(vp)) << "VP " << vp;
  }
  // All local VPs one by one: each as a whole, and parts of it.
  void expect_each(tw_vpfile* file) const {
    for (std::size_t i = 0; i < locals(file) && !HasFailure(); ++i) {
      const std::int64_t vp = number(file, i);
      expect_stream(file, vp);
      for (const std::size_t at : {text(vp).size() * 2 / 3, text(vp).size() / 4, std::size_t{1}}) {
        std::string part(13, '.');
        std::size_t moved = 0;
        EXPECT_EQ(tw_vpfile_seek(file, vp, static_cast<std::int64_t>(at), SEEK_SET), TW_OK);
        EXPECT_EQ(tw_vpfile_read(file, vp, part.data(), part.size(), &moved), TW_OK) << tw_last_error();
        part.resize(moved);
        ASSERT_EQ(part, at < text(vp).size() ? text(vp).substr(at, 13) : "") << "VP " << vp << " from " << at;
      }
    }
  }
  // All at once, in pieces of other sizes than were written.
  void expect_together(tw_vpfile* file) const {
    constexpr std::size_t kLeast = 20, kRoom = 64;
    const std::size_t n = locals(file);
    std::size_t longest = 0;
    for (const std::string& one : texts_) longest = std::max(longest, one.size());
    const tw_vpfile_summary all = summary(file);
    Positions strides(static_cast<std::size_t>(all.n_dims));
    std::int64_t stride = kRoom;
    for (std::size_t i = strides.size(); i-- > 0; stride *= all.box_count[i]) strides[i] = stride;
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    Texts got(n);
    for (std::size_t round = 0; round < longest / kLeast + 1; ++round) {
      Positions each(n), counts(n);
      for (std::size_t i = 0; i < n; ++i)
        each[i] = static_cast<std::int64_t>(kLeast + (static_cast<std::size_t>(number(file, i)) * 7 + round * 11) % 40);
      std::string memory(n * kRoom + 1, '.');
      tw_vpfile_data data = TW_VPFILE_PACKED(memory.data(), 1);
      data.n_each = each.data();
      data.vp_strides = strides.data();
      EXPECT_EQ(tw_vpfile_read_all(file, data, nullptr, counts.data()), TW_OK) << tw_last_error();
      for (std::size_t i = 0; i < n; ++i) got[i] += memory.substr(i * kRoom, static_cast<std::size_t>(counts[i]));
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], text(number(file, i))) << "VP " << number(file, i);
  }
  void expect_read(const std::vector<int>& readers = {1, 2, 3}, const VpHow& how = {}) const {
    for (const int tasks : readers) {
      SCOPED_TRACE("read by " + std::to_string(tasks) + " tasks");
      on_vpfile(tasks, "r", how, [&](tw_vpfile* file, int) {
        expect_together(file);
        expect_each(file);
      });
    }
  }

  // ---- Files

  bool there(const char* name) const { return std::filesystem::exists(path(name)); }
  // The batches that NAME.batches lists.
  std::vector<format::Batch> listed() const {
    const format::VpMeta meta = read_vp_meta(*posix_backend(), path()).value();
    if (meta.batches == 0) return {};
    const std::string file = content(kBatches);
    EXPECT_EQ(file.size(), 64 + 56 * meta.batches);
    return format::parse_batches(std::as_bytes(std::span(file)), meta).value();
  }
  // VPs that have an entry in NAME.first.
  std::vector<std::int64_t> chained() const {
    const format::VpMeta meta = read_vp_meta(*posix_backend(), path()).value();
    const std::uint64_t bytes = format::entry_bytes(meta.geometry.pointers);
    const std::string first = content(kFirst);
    std::vector<std::int64_t> vps;
    for (std::uint64_t at = format::kFirstEntry; at + bytes <= first.size(); at += bytes)
      if (!format::all_zero(std::as_bytes(std::span(first)).subspan(at, bytes)))
        vps.push_back(static_cast<std::int64_t>((at - format::kFirstEntry) / bytes));
    return vps;
  }

  struct Health {
    tw_status status = TW_OK;
    std::string findings;
    tw_health counts{};
  };
  static void take_finding(const char* text, void* user) {
    static_cast<Health*>(user)->findings += text + std::string("\n");
  }
  Health verify() const {
    Health found;
    found.counts.struct_size = sizeof found.counts;
    found.status = tw_vpfile_verify(path().c_str(), take_finding, nullptr, &found, &found.counts);
    return found;
  }
  Health repair() const {
    Health found;
    found.counts.struct_size = sizeof found.counts;
    found.status = tw_vpfile_repair(path().c_str(), 0, nullptr, take_finding, nullptr, &found, &found.counts);
    return found;
  }
  void expect_sound() const {
    const Health found = verify();
    EXPECT_EQ(found.status, TW_OK) << tw_last_error() << "\n" << found.findings;
    std::int64_t bytes = 0;
    for (const std::string& one : texts_) bytes += static_cast<std::int64_t>(one.size());
    EXPECT_EQ(found.counts.logical_bytes, bytes);
    EXPECT_EQ(found.counts.damaged_logical, 0);
  }

  // Each stream is right or refused. Returns the number of refusals.
  std::size_t refused() const {
    tw_vpfile* file = nullptr;
    if (const tw_status opened = try_open(nullptr, "r", {}, &file); opened != TW_OK) {
      EXPECT_EQ(opened, TW_ERR_CORRUPT) << tw_last_error();
      return texts_.size();
    }
    std::size_t count = 0;
    for (std::size_t vp = 0; vp < texts_.size() && !HasFailure(); ++vp) {
      std::string back(texts_[vp].size() + 9, '.');
      std::size_t moved = 0;
      const tw_status status = tw_vpfile_read(file, static_cast<std::int64_t>(vp), back.data(), back.size(), &moved);
      back.resize(moved);
      if (status == TW_OK) {
        EXPECT_EQ(back, texts_[vp]) << "VP " << vp;
        continue;
      }
      EXPECT_EQ(status, TW_ERR_CORRUPT);
      EXPECT_NE(std::string(tw_last_error()).find("shared.dat"), std::string::npos) << tw_last_error();
      ++count;
    }
    close(file);
    return count;
  }

  Texts texts_;
};

// ---- Appending and reading

TEST_F(VpBatches, OfAnyTasksAreReadByAnyOthers) {
  for (const char* hints : {kSmall, "block_bytes=64"}) {
    for (const int tasks : {1, 2, 3}) {
      SCOPED_TRACE(std::string(hints) + ", written by " + std::to_string(tasks) + " tasks");
      texts_.assign(kVps, "");
      make(tasks, 9, {.shape = {kVps}, .hints = hints});

      EXPECT_TRUE(there(kBatches));
      EXPECT_GE(listed().size(), 9u);
      EXPECT_TRUE(chained().empty());
      EXPECT_EQ(content(kFirst).size(), 64u);
      expect_read();
      expect_sound();
    }
  }
}

TEST_F(VpBatches, AreReadInAnyOrderOfVps) {
  make(1, 3, {.shape = {kVps}});
  for (const bool backward : {true, false}) {
    tw_vpfile* file = open_vp("r");
    for (std::int64_t i = 0; i < kVps; ++i) expect_stream(file, backward ? kVps - 1 - i : i * 37 % kVps);
    close(file);
  }
}

// The VPs behind the batch have no bytes; those in it are asked for later.
TEST_F(VpBatches, AreFoundAfterAVpBehindThemWasAskedFor) {
  on_vpfile(1, "w", {.shape = {kVps}}, [&](tw_vpfile* file, int) {
    write_each(file, 0, [](std::int64_t vp) { return vp < 40 ? some_bytes(vp, 0) : 0; });
  });
  for (std::int64_t behind = 40; behind < 85; ++behind) {
    tw_vpfile* file = open_vp("r");
    expect_stream(file, behind);
    for (std::int64_t vp = 39; vp >= 0 && !HasFailure(); --vp) expect_stream(file, vp);
    close(file);
    ASSERT_FALSE(HasFailure()) << "after VP " << behind;
  }
}

TEST_F(VpBatches, OfSeveralSessionsFollowEachOther) {
  make(2, 3, small_);
  on_vpfile(3, "a", {.hints = kSmall}, [&](tw_vpfile* file, int) {
    for (int step = 3; step < 6; ++step) {
      const std::size_t n = locals(file);
      Positions each(n);
      std::string packed;
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t vp = number(file, i);
        const std::string more = text_of(static_cast<int>(vp), some_bytes(vp, step), step);
        each[i] = static_cast<std::int64_t>(more.size());
        packed += more;
        texts_[static_cast<std::size_t>(vp)] += more;
      }
      tw_vpfile_data data = TW_VPFILE_PACKED(packed.data(), 1);
      data.n_each = each.data();
      EXPECT_EQ(tw_vpfile_write_all(file, data, nullptr, nullptr), TW_OK) << tw_last_error();
    }
  });
  const std::size_t before = listed().size();
  on_vpfile(1, "r+", {.hints = kSmall}, [](tw_vpfile*, int) {});  // writes nothing
  EXPECT_EQ(listed().size(), before);
  on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
    seek_to_end(file);
    write_steps(file, 6, 9);
    expect_each(file);
  });

  EXPECT_GT(listed().size(), before);
  EXPECT_TRUE(chained().empty());
  expect_read();
  expect_sound();
}

TEST_F(VpBatches, LeaveOutVpsThatTakeNoPart) {
  const auto lengths = [](std::int64_t vp, int step) {
    if (vp < 7 || vp == 50) return kOut;  // never
    if (vp % 5 == 1) return std::size_t{0};
    return (vp + step) % 4 == 0 ? kOut : some_bytes(vp, step);
  };
  for (const int tasks : {1, 2}) {
    texts_.assign(kVps, "");
    on_vpfile(tasks, "w", small_, [&](tw_vpfile* file, int) {
      for (int step = 0; step < 6; ++step) write_each(file, step, [&](std::int64_t vp) { return lengths(vp, step); });
      EXPECT_EQ(errors(file), Flags(locals(file), 0));
    });
    EXPECT_TRUE(text(0).empty() && text(50).empty() && text(51).empty());
    EXPECT_FALSE(listed().empty());
    EXPECT_TRUE(chained().empty());
    expect_read();
    expect_sound();
  }
}

// Each VP is at another place of its stream, also far apart.
TEST_F(VpBatches, BeginAtAnyPlacesOfTheirStreams) {
  on_vpfile(2, "w", small_, [&](tw_vpfile* file, int) {
    for (int step = 0; step < 20; ++step)
      write_each(file, step, [&](std::int64_t vp) {
        return vp % 20 < step / 2 && vp % 20 != 0 ? kOut : some_bytes(vp, step) + 100;
      });
  });
  EXPECT_FALSE(listed().empty());
  EXPECT_TRUE(chained().empty());
  expect_read();
  expect_sound();
}

TEST_F(VpBatches, FollowRecordsAndRounds) {
  for (const int tasks : {1, 2, 3}) {
    texts_.assign(kVps, "");
    on_vpfile(tasks, "w+", small_, [&](tw_vpfile* file, int) {
      write_each(file, 0, [](std::int64_t) { return 8; });
      write_each(file, 1, [](std::int64_t) { return 11; });
      write_steps(file, 2, 5);
      // A part of it lies in the lattice, and for some VPs the rest goes beyond the end.
      EXPECT_EQ(tw_vpfile_seek_all(file, 3, nullptr, SEEK_SET, nullptr), TW_OK);
      write_each(file, 5, [&](std::int64_t vp) { return 10 + static_cast<std::size_t>(vp) * 2; });
      seek_to_end(file);
      write_steps(file, 6, 8);
      expect_each(file);
    });
    EXPECT_FALSE(listed().empty());
    expect_read();
    expect_sound();
  }
}

// The first bytes of the access end the lattice, the others begin the streams behind it.
TEST_F(VpBatches, BeginWithinTheLattice) {
  on_vpfile(2, "w", small_, [&](tw_vpfile* file, int) {
    write_each(file, 0, [](std::int64_t) { return 40; });
    EXPECT_EQ(tw_vpfile_seek_all(file, 33, nullptr, SEEK_SET, nullptr), TW_OK);
    write_each(file, 1, [](std::int64_t vp) { return some_bytes(vp, 3); });
  });
  EXPECT_FALSE(listed().empty());
  EXPECT_TRUE(chained().empty());
  expect_read();
  expect_sound();
}

// ---- Where there are no batches

TEST_F(VpBatches, OfFewVpsAreNone) {
  for (const std::int64_t vps : {5, 15}) {
    for (const int tasks : {1, 2}) {
      texts_.assign(static_cast<std::size_t>(vps), "");
      make(tasks, 4, {.shape = {vps}, .hints = kSmall});
      EXPECT_FALSE(there(kBatches));
      EXPECT_EQ(chained().size(), static_cast<std::size_t>(vps));
      expect_read();
      expect_sound();
    }
  }
}

TEST_F(VpBatches, OfFewVpsInARowAreNone) {
  on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) {
    for (int step = 0; step < 4; ++step)
      write_each(file, step, [&](std::int64_t vp) { return vp % 3 == 0 ? some_bytes(vp, step) : kOut; });
  });
  EXPECT_FALSE(there(kBatches));
  expect_read();
  expect_sound();
}

TEST_F(VpBatches, OfLongPiecesAreNone) {
  on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) {
    write_each(file, 0, [&](std::int64_t vp) { return 257 + static_cast<std::size_t>(vp) % 3; });
  });
  EXPECT_FALSE(there(kBatches));
  expect_read();
  expect_sound();
}

TEST_F(VpBatches, ThatWereNoLongerListedAreGoneAfterATruncation) {
  make(2, 3, small_);
  ASSERT_TRUE(there(kBatches));
  texts_.assign(kVps, "");
  for (const bool has_blocks : {false, true}) {
    on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) {
      if (has_blocks) write_alone(file, 5, 0, "alone");
    });
    EXPECT_FALSE(there(kBatches));
    expect_read();
    expect_sound();
  }
}

// ---- Pieces of any size

TEST_F(VpBatches, HavePiecesOfAnySize) {
  constexpr std::size_t kSizes[] = {0, 1, 15, 16, 17, 63, 64, 65, 255, 256, 257, 300, 5000};
  for (const char* hints : {kSmall, "block_bytes=64,superblock_bytes=4096,cache_bytes=0"}) {
    for (const int tasks : {1, 3}) {
      SCOPED_TRACE(hints);
      texts_.assign(kVps, "");
      on_vpfile(tasks, "w", {.shape = {kVps}, .hints = hints}, [&](tw_vpfile* file, int) {
        for (int step = 0; step < 5; ++step)
          write_each(file, step, [&](std::int64_t vp) {
            const auto at = static_cast<std::size_t>(vp * vp + step * 5);
            return step < 3 ? kSizes[at % 10] : kSizes[at % std::size(kSizes)];
          });
      });
      EXPECT_FALSE(listed().empty());
      expect_read();
      expect_sound();
    }
  }
}

TEST_F(VpBatches, TakeTheLargestPiecesAndNoLargerOnes) {
  on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) {
    write_each(file, 0, [](std::int64_t vp) { return vp == 60 ? std::size_t{257} : 256 - (vp == 3 ? 1 : 0); });
  });
  EXPECT_FALSE(listed().empty());
  EXPECT_EQ(chained(), (std::vector<std::int64_t>{60}));
  expect_read();
  expect_sound();
}

// ---- Memory and shapes

TEST_F(VpBatches, TakeStridedItems) {
  constexpr std::size_t kItem = 4, kStride = 7, kRoom = 90;
  const std::int64_t stride[] = {kRoom};
  on_vpfile(2, "w", small_, [&](tw_vpfile* file, int) {
    for (int step = 0; step < 4; ++step) {
      const std::size_t n = locals(file);
      std::string memory(n * kRoom, '#');
      Positions each(n);
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t vp = number(file, i);
        each[i] = (vp + step) % 12;
        const std::string one = text_of(static_cast<int>(vp), kItem * static_cast<std::size_t>(each[i]), step);
        for (std::size_t k = 0; k < one.size(); ++k) memory[i * kRoom + k / kItem * kStride + k % kItem] = one[k];
        texts_[static_cast<std::size_t>(vp)] += one;
      }
      tw_vpfile_data data{memory.data(), kItem, 0, each.data(), kStride, stride};
      EXPECT_EQ(tw_vpfile_write_all(file, data, nullptr, nullptr), TW_OK) << tw_last_error();
    }
  });
  EXPECT_FALSE(listed().empty());
  EXPECT_TRUE(chained().empty());
  expect_read();
  expect_sound();
}

// Boxes are columns: the numbers of their VPs are in runs, with VPs of other tasks between them.
TEST_F(VpBatches, OfBoxesWithShortRuns) {
  constexpr std::int64_t kRows = 8;
  for (const std::int64_t columns : {12, 44, 70}) {
    for (const std::int64_t cut : {std::int64_t{5}, columns / 2, columns - 4}) {
      SCOPED_TRACE(std::to_string(columns) + " columns, cut at " + std::to_string(cut));
      texts_.assign(static_cast<std::size_t>(kRows * columns), "");
      on_team(2, [&](tw_group* group, int task) {
        const VpHow how{.shape = {kRows, columns},
                        .hints = kSmall,
                        .start = {0, task == 0 ? 0 : cut},
                        .count = {kRows, task == 0 ? cut : columns - cut}};
        tw_vpfile* file = open_vp(group, "w", how);
        write_steps(file, 0, 4);
        write_each(file, 4, [](std::int64_t vp) { return vp % 6 == 0 ? kOut : some_bytes(vp, 4); });
        close(file);
      });
      expect_read();
      expect_sound();
    }
  }
}

// ---- Other writes to the same streams

class VpBatchesChanged : public VpBatches {
 protected:
  // Every kind of write to some VPs.
  void change(tw_vpfile* file, int round) {
    const std::string over = "OVER" + std::to_string(round);
    for (std::size_t i = 0; i < locals(file); ++i) {
      const std::int64_t vp = number(file, i);
      const std::size_t size = text(vp).size();
      switch (vp % 23) {
        case 1:
          write_alone(file, vp, size / 2, over);
          break;
        case 3:
          write_alone(file, vp, size + 100 + static_cast<std::size_t>(vp), over);
          break;  // a gap
        case 4:
          write_alone(file, vp, size + 1, over);
          break;
        case 5:
          write_alone(file, vp, size, std::string(70, 'A'));
          break;
        case 7:
          write_alone(file, vp, 0, std::string(size + 5, 'B'));
          break;
        case 9:
          write_alone(file, vp, size == 0 ? 0 : size - 1, over);
          break;
        default:
          break;
      }
    }
  }
  // Where too few VPs in a row go on in batches, others have chains, too.
  void expect_chains() const {
    const std::vector<std::int64_t> all = chained();
    for (std::int64_t vp = 0; vp < kVps; ++vp) EXPECT_TRUE(!is_changed(vp) || std::ranges::count(all, vp) == 1) << vp;
  }
  static bool is_changed(std::int64_t vp) {
    return vp % 23 == 1 || vp % 23 == 3 || vp % 23 == 4 || vp % 23 == 5 || vp % 23 == 7 || vp % 23 == 9;
  }
};

TEST_F(VpBatchesChanged, InTheSameSession) {
  for (const char* hints : {kSmall, "block_bytes=64"}) {
    for (const int tasks : {1, 2}) {
      texts_.assign(kVps, "");
      on_vpfile(tasks, "w+", {.shape = {kVps}, .hints = hints}, [&](tw_vpfile* file, int) {
        write_steps(file, 0, 4);
        expect_each(file);
        change(file, 0);
        expect_each(file);
        seek_to_end(file);
        write_steps(file, 4, 7);
        expect_each(file);
        change(file, 1);
        EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
        change(file, 2);
        seek_to_end(file);
        write_steps(file, 7, 8);
        expect_together(file);
        expect_each(file);
      });
      expect_chains();
      expect_read();
      expect_sound();
    }
  }
}

TEST_F(VpBatchesChanged, InLaterSessionsOfOtherTasks) {
  for (const bool syncs : {false, true}) {
    texts_.assign(kVps, "");
    make(2, 4, small_);
    int round = 0;
    for (const int tasks : {3, 1, 2}) {
      on_vpfile(tasks, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
        if (syncs) {
          EXPECT_EQ(tw_vpfile_sync_all(file), TW_OK) << tw_last_error();
        }
        change(file, round);
        expect_each(file);
        seek_to_end(file);
        write_steps(file, 10 + 2 * round, 12 + 2 * round);
        expect_each(file);
      });
      ++round;
      expect_chains();
      expect_read({1, 2});
      expect_sound();
    }
    std::filesystem::remove(path(kFirst));
    EXPECT_EQ(verify().status, TW_ERR_CORRUPT);
    EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
    expect_read({2});
    expect_sound();
  }
}

TEST_F(VpBatchesChanged, ByAppendsAloneOfModeA) {
  make(3, 3, small_);
  on_vpfile(2, "a+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
    for (int round = 0; round < 2; ++round)
      for (std::size_t i = 0; i < locals(file); i += 3) {
        const std::int64_t vp = number(file, i);
        EXPECT_EQ(put_text(file, vp, "alone"), TW_OK) << tw_last_error();
        texts_[static_cast<std::size_t>(vp)] += "alone";
      }
    expect_each(file);
  });
  expect_read();
  expect_sound();
}

// Blocks of a stream, more superblocks than stay in memory, lie between two parts of one piece.
TEST_F(VpBatchesChanged, BetweenTwoPartsOfAPiece) {
  constexpr std::int64_t kVp = 20;
  on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) {
    write_each(file, 0, [](std::int64_t vp) { return 240 + static_cast<std::size_t>(vp) % 7; });
  });
  for (int session = 0; session < 13; ++session)
    on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
      const auto at = static_cast<std::size_t>(16 * (session + 1));
      write_alone(file, kVp, at, std::string(16, static_cast<char>('A' + session)));
    });
  expect_read({1}, {.hints = kSmall});
  on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
    expect_each(file);
    write_alone(file, kVp, 1, std::string(230, 'Z'));
    expect_each(file);
  });
  expect_read({1}, {.hints = kSmall});
  expect_sound();
}

// Reading a stream that begins in a batch and goes on in many superblocks, then other VPs of the batch.
TEST_F(VpBatchesChanged, ByMuchMoreOfOneVp) {
  constexpr std::int64_t kVp = 20;
  make(1, 1, small_);
  on_vpfile(1, "r+", {.hints = kSmall},
            [&](tw_vpfile* file, int) { write_alone(file, kVp, text(kVp).size(), text_of(1, 40000, 3)); });
  for (std::int64_t first : {kVp, std::int64_t{0}}) {
    tw_vpfile* file = open_vp("r", {.hints = kSmall});
    if (first == 0)
      for (std::int64_t vp = 0; vp < kVps; ++vp) expect_stream(file, vp);
    expect_stream(file, kVp);
    for (std::int64_t vp = 0; vp < kVps; ++vp) expect_stream(file, vp);
    close(file);
  }
  expect_sound();
}

// A VP is overwritten, which may need a new superblock, and its neighbour is read from the batch.
TEST_F(VpBatchesChanged, WhileOthersAreRead) {
  for (const bool later : {false, true}) {
    texts_.assign(kVps, "");
    const auto begin = [&](tw_vpfile* file) {
      write_each(file, 0, [](std::int64_t vp) { return 30 + static_cast<std::size_t>(vp) % 5; });
    };
    const auto go_on = [&](tw_vpfile* file) {
      for (int round = 0; round < 3; ++round)
        for (std::int64_t vp = 0; vp + 1 < kVps && !HasFailure(); vp += 2) {
          write_alone(file, vp, static_cast<std::size_t>(3 + round), text_of(7, 20, round));
          expect_stream(file, vp + 1);
          expect_stream(file, vp);
        }
      expect_each(file);
    };
    if (later) {
      on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) { begin(file); });
      on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) { go_on(file); });
    } else {
      on_vpfile(1, "w+", small_, [&](tw_vpfile* file, int) {
        begin(file);
        go_on(file);
      });
    }
    expect_read({1, 2}, {.hints = kSmall});
    expect_sound();
  }
}

TEST_F(VpBatchesChanged, ByAnyProgram) {
  const unsigned most = tries_less() ? 6 : 25;
  for (unsigned seed = 1; seed <= most && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return std::size_t{random()} % n; };
    texts_.assign(kVps, "");
    const char* hints = seed % 2 == 0 ? kSmall : "block_bytes=64,superblock_bytes=4096,cache_bytes=0";
    for (int session = 0; session < 4; ++session) {
      on_vpfile(1, session == 0 ? "w+" : "r+", {.shape = {kVps}, .hints = hints}, [&](tw_vpfile* file, int) {
        for (int step = 0; step < 25 && !HasFailure(); ++step) {
          const auto vp = static_cast<std::int64_t>(below(kVps));
          const std::size_t size = text(vp).size();
          switch (below(6)) {
            case 0:
            case 1: {
              seek_to_end(file);
              const std::size_t none = 2 + below(30), scale = 1 + below(90);
              write_each(file, step, [&](std::int64_t) { return below(none) == 0 ? kOut : below(scale); });
              break;
            }
            case 2:
              write_alone(file, vp, below(size + 1), text_of(3, 1 + below(60), step));
              break;
            case 3:
              write_alone(file, vp, size + below(100), text_of(4, 1 + below(200), step));
              break;
            case 4:
              for (int i = 0; i < 10; ++i) expect_stream(file, static_cast<std::int64_t>(below(kVps)));
              break;
            default:
              if (below(3) == 0) {
                EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
              }
          }
        }
        expect_each(file);
      });
      expect_read({1 + session % 3}, {.hints = hints});
      expect_sound();
    }
    std::filesystem::remove(path(kFirst));
    EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
    expect_read({2}, {.hints = hints});
    expect_sound();
  }
}

// ---- Sessions that were not closed

TEST_F(VpBatches, ThatWereFlushedComeBackWithARepair) {
  for (const int tasks : {1, 2, 3}) {
    SCOPED_TRACE(tasks);
    clear();
    texts_.assign(kVps, "");
    std::map<std::string, std::string> left;
    Texts flushed;
    const auto session = [&](const char* mode, int begin) {
      on_team(tasks, [&](tw_group* group, int task) {
        tw_vpfile* file = open_vp(group, mode, small_);
        seek_to_end(file);
        write_steps(file, begin, begin + 3);
        write_alone(file, number(file, 0), 2, "alone");
        EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_group_barrier(group), TW_OK);
        if (task == 0) {
          left = files();
          flushed = texts_;
        }
        EXPECT_EQ(tw_group_barrier(group), TW_OK);
        seek_to_end(file);
        write_steps(file, begin + 3, begin + 4);
        close(file);
      });
      clear();
      for (const auto& [name, bytes] : left) put(bytes, name);
      texts_ = flushed;
      tw_vpfile* file = nullptr;
      EXPECT_EQ(try_open(nullptr, "r", {}, &file), TW_ERR_NOT_CLOSED);
      EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
      EXPECT_TRUE(there(kBatches));
      EXPECT_FALSE(listed().empty());
      expect_read();
      expect_sound();
    };
    session("w", 0);
    session("r+", 10);
    session("r+", 20);
  }
}

TEST_F(VpBatches, OfTasksThatGaveUpAreWhole) {
  on_team(2, [&](tw_group* group, int) {
    tw_vpfile* file = open_vp(group, "w", small_);
    write_steps(file, 0, 6);
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    EXPECT_EQ(tw_vpfile_abandon(&file), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
  EXPECT_TRUE(there(kBatches));
  expect_read();
  expect_sound();
}

// ---- Damage

class VpBatchesDamaged : public VpBatches {
 protected:
  void expect_refused_and_found() const {
    EXPECT_EQ(refused(), texts_.size());
    EXPECT_EQ(verify().status, TW_ERR_CORRUPT);
  }
  void expect_repaired() const {
    EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
    EXPECT_TRUE(there(kBatches));
    expect_read({2});
    expect_sound();
  }
  // Some VPs have chains, too.
  void make_some(int steps) {
    on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) {
      write_steps(file, 0, steps);
      before_ = text(12);
      write_alone(file, 12, 1, "alone");
      write_alone(file, 13, text(13).size() + 50, "alone");
    });
  }

  std::string before_;  // VP 12 before it was overwritten
};

TEST_F(VpBatchesDamaged, ByTheLossOfTheList) {
  make_some(5);
  const std::string whole = content(kBatches);
  std::filesystem::remove(path(kBatches));
  expect_refused_and_found();
  EXPECT_NE(std::string(tw_last_error()).find("shared.dat"), std::string::npos) << tw_last_error();
  expect_repaired();
  EXPECT_EQ(content(kBatches), whole);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{63}, std::size_t{64}, whole.size() - 56, whole.size() - 1}) {
    SCOPED_TRACE(size);
    put(whole.substr(0, size), kBatches);
    expect_refused_and_found();
    expect_repaired();
    EXPECT_EQ(content(kBatches), whole);
  }
}

TEST_F(VpBatchesDamaged, ByAnyByteOfTheList) {
  make_some(5);
  const std::string whole = content(kBatches);
  for (std::size_t i = 0; i < whole.size() && !HasFailure(); i += 7) {
    SCOPED_TRACE(i);
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    put(damaged, kBatches);
    expect_refused_and_found();
    if (i % 5 == 0) expect_repaired();
  }
}

// A list of an earlier session, or of another file.
TEST_F(VpBatchesDamaged, ByAnotherList) {
  make_some(3);
  const std::string before = content(kBatches);
  on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
    seek_to_end(file);
    write_steps(file, 3, 6);
  });
  put(before, kBatches);
  expect_refused_and_found();
  expect_repaired();
  const auto files_before = files();
  const Texts texts_before = texts_;
  clear();
  texts_.assign(kVps, "");
  make_some(3);
  const std::string other = content(kBatches);
  clear();
  for (const auto& [name, bytes] : files_before) put(name == kBatches ? other : bytes, name);
  texts_ = texts_before;
  expect_refused_and_found();
  expect_repaired();
}

TEST_F(VpBatchesDamaged, ByAnyByteOfASuperblock) {
  make_some(1);
  const std::vector<format::Batch> batches = listed();
  ASSERT_FALSE(batches.empty());
  const format::VpGeometry geometry = read_vp_meta(*posix_backend(), path()).value().geometry;
  const std::string whole = content();
  for (const format::Batch& batch : batches) {
    const std::uint64_t begin = batch.superblock * 4096 + format::block_offset(geometry, batch.first_block);
    for (std::uint64_t i = begin; i < begin + batch.blocks * 16 && !HasFailure(); i += 5) {
      SCOPED_TRACE(i);
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
      put(damaged);
      EXPECT_EQ(verify().status, TW_ERR_CORRUPT);
      EXPECT_GT(refused(), 0u);
    }
  }
  for (std::size_t i = 0; i < whole.size() && !HasFailure(); i += 11) {  // header, seals and rows, too
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    put(damaged);
    (void)refused();
  }
}

// The checksums match, so the table of the batch is looked at.
TEST_F(VpBatchesDamaged, ByATableThatIsWrong) {
  make_some(2);
  const format::VpGeometry geometry = read_vp_meta(*posix_backend(), path()).value().geometry;
  const std::string whole = content();
  for (const format::Batch& batch : listed()) {
    const std::uint64_t superblock = batch.superblock * 4096;
    const std::uint64_t end = superblock + format::block_offset(geometry, batch.first_block) + batch.blocks * 16;
    for (std::uint64_t i = end - 8 * batch.n; i < end; i += 3) {
      VpBytes bytes(whole.size());
      std::memcpy(bytes.data(), whole.data(), whole.size());
      bytes[i] ^= std::byte{0x80};
      seal_superblock(std::span(bytes).subspan(superblock), superblock);
      put(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      EXPECT_EQ(verify().status, TW_ERR_CORRUPT) << "byte " << i;
      tw_vpfile* file = nullptr;
      if (try_open(nullptr, "r", {}, &file) != TW_OK) continue;
      for (std::int64_t vp = 0; vp < kVps; ++vp) {
        std::string back(4000, '.');
        const tw_status status = tw_vpfile_read(file, vp, back.data(), back.size(), nullptr);
        EXPECT_TRUE(status == TW_OK || status == TW_ERR_CORRUPT) << tw_last_error();
      }
      close(file);
    }
  }
}

// Each superblock in turn is overwritten with zeros.
TEST_F(VpBatchesDamaged, ByTheLossOfASuperblock) {
  make_some(8);
  const auto all = files();
  const std::uint64_t n = content().size() / 4096;
  ASSERT_GE(n, 4u);
  for (std::uint64_t lost = 0; lost < n && !HasFailure(); ++lost) {
    SCOPED_TRACE(lost);
    std::string damaged = all.at("shared.dat");
    if (damaged.compare(lost * 4096, 8, "TWFRAME1") != 0) continue;
    damaged.replace(lost * 4096, 4096, std::string(4096, '\0'));
    put(damaged);
    EXPECT_EQ(verify().status, TW_ERR_CORRUPT);
    EXPECT_GT(refused(), 0u);

    EXPECT_EQ(repair().status, TW_ERR_CORRUPT) << "a superblock is missing";
    // Bytes behind the lost pieces are unchanged or refused. A stream that ends with lost pieces is shorter, or has its
    // bytes from before the lost writes; repair reported both.
    tw_vpfile* file = open_vp("r");
    std::size_t refusals = 0, shorter = 0;
    for (std::int64_t vp = 0; vp < kVps && !HasFailure(); ++vp) {
      std::int64_t size = -1;
      if (tw_vpfile_size(file, vp, &size) != TW_OK) {
        ++refusals;
        continue;
      }
      EXPECT_LE(size, static_cast<std::int64_t>(text(vp).size()));
      if (size < static_cast<std::int64_t>(text(vp).size())) ++shorter;
      for (std::int64_t at = 0; at < size && !HasFailure(); ++at) {
        char byte = 0;
        EXPECT_EQ(tw_vpfile_seek(file, vp, at, SEEK_SET), TW_OK);
        const tw_status status = tw_vpfile_read(file, vp, &byte, 1, nullptr);
        if (status == TW_OK) {
          const auto place = static_cast<std::size_t>(at);
          EXPECT_TRUE(byte == text(vp)[place] || (vp == 12 && byte == before_[place]))
              << "VP " << vp << ", byte " << at;
        } else {
          EXPECT_EQ(status, TW_ERR_CORRUPT);
          ++refusals;
        }
      }
    }
    close(file);
    EXPECT_GT(refusals + shorter, 0u);
    clear();
    for (const auto& [name, bytes] : all) put(bytes, name);
  }
  EXPECT_EQ(refused(), 0u);
}

TEST_F(VpBatchesDamaged, ByAFileOfAnotherKindThatHasTheNameOfTheList) {
  put("{\"author\": \"somebody else\"}", kBatches);
  for (const char* mode : {"w", "w+", "a"}) {
    tw_vpfile* file = nullptr;
    EXPECT_EQ(try_open(nullptr, mode, small_, &file), TW_ERR_UNSAFE) << mode;
    EXPECT_EQ(content(kBatches), "{\"author\": \"somebody else\"}");
    if (file != nullptr) (void)tw_vpfile_close(&file);
  }
  std::filesystem::remove(path(kBatches));
  texts_.assign(3, "a");
  put_streams(texts_);
  put("{\"author\": \"somebody else\"}", kBatches);
  tw_vpfile* file = nullptr;
  EXPECT_EQ(try_open(nullptr, "r+", {}, &file), TW_ERR_UNSAFE);
  EXPECT_EQ(content(kBatches), "{\"author\": \"somebody else\"}");
  if (file != nullptr) (void)tw_vpfile_close(&file);
  expect_read({1});  // a reader has no use for it
}

TEST_F(VpBatchesDamaged, ByTheRemovalOfTheListWhileTheFileIsOpen) {
  make_some(3);
  tw_vpfile* file = open_vp("r+", {.hints = kSmall});
  write_alone(file, 20, 0, "alone");
  std::filesystem::remove(path(kBatches));
  const tw_status closed = tw_vpfile_close(&file);
  EXPECT_TRUE(closed == TW_ERR_NOT_FOUND || there(kBatches)) << "closed, and the list of batches is missing";
  if (closed != TW_OK) {
    EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
  }
  expect_read({1});
}

// ---- Tools

TEST_F(VpBatches, AreFlattened) {
  make(2, 4, small_);
  on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
    write_alone(file, 33, text(33).size() + 300, "behind a gap");
    write_alone(file, 34, 3, "over");
  });
  std::size_t longest = 0;
  for (const std::string& one : texts_) longest = std::max(longest, one.size());
  for (const std::size_t record : {std::size_t{0}, std::size_t{64}, longest + 5}) {
    for (const char fill : {'\0', '*'}) {
      SCOPED_TRACE(record);
      std::filesystem::remove(path("flat"));
      std::filesystem::remove(path("flat.meta"));
      const Status status =
          flatten_vpfile(posix_backend(), path(), path("flat"), record, static_cast<std::byte>(fill), {});
      ASSERT_TRUE(status.ok()) << status.message();
      const std::size_t bytes = record == 0 ? longest : record;
      const std::string flat = content("flat");
      ASSERT_EQ(flat.size(), bytes * texts_.size());
      for (std::size_t vp = 0; vp < texts_.size(); ++vp) {
        std::string expected = texts_[vp];
        expected.resize(bytes, fill);
        ASSERT_EQ(flat.substr(vp * bytes, bytes), expected) << "VP " << vp;
      }
    }
  }
}

TEST_F(VpBatches, AreRegionsOfTheirVps) {
  make(2, 4, small_);
  const std::vector<format::Batch> batches = listed();
  std::uint64_t at = 0;
  std::size_t seen = 0;
  const Status walked = walk_vp_regions(*posix_backend(), path(), [&](const VpRegion& region) {
    EXPECT_EQ(region.offset, at);
    EXPECT_GT(region.bytes, 0u);
    at += region.bytes;
    if (region.kind != VpRegionKind::blocks) return true;
    const bool known = std::ranges::any_of(batches, [&](const format::Batch& batch) {
      return region.superblock == static_cast<std::int64_t>(batch.superblock) && region.bytes == batch.blocks * 16 &&
             region.first_vp == static_cast<std::int64_t>(batch.vp) &&
             region.last_vp == static_cast<std::int64_t>(batch.vp + batch.n - 1);
    });
    EXPECT_TRUE(known) << "region at " << region.offset;
    ++seen;
    return true;
  });
  EXPECT_TRUE(walked.ok()) << walked.message();
  EXPECT_EQ(at, content().size());
  EXPECT_EQ(seen, batches.size());
}

TEST_F(VpBatches, EndTheRunsOfVpsWithoutBytes) {
  constexpr std::int64_t kMany = 3000;
  texts_.assign(kMany, "");
  on_vpfile(1, "w", {.shape = {kMany}, .hints = kSmall}, [&](tw_vpfile* file, int) {
    write_each(file, 0, [](std::int64_t vp) { return vp >= 100 && vp < 180 ? some_bytes(vp, 0) : kOut; });
    write_each(file, 1, [](std::int64_t vp) { return vp >= 1500 && vp < 1600 ? some_bytes(vp, 1) : kOut; });
    write_each(file, 2, [](std::int64_t vp) { return vp >= 2100 && vp < 2140 ? some_bytes(vp, 2) : kOut; });
    write_alone(file, 2120, 500, "behind a gap");
    write_alone(file, 2500, 1000, "behind a gap");
  });
  const auto group = make_self_group();
  VpOpen how;
  how.path = path();
  const auto file = run(VpFile::open(*group, posix_backend(), std::move(how))).value();
  for (const bool again : {false, true}) {
    std::uint64_t vp = 0;
    std::size_t with_bytes = 0;
    while (vp < kMany) {
      const std::uint64_t end = file->stream(vp).end_of_alike().value();
      ASSERT_GT(end, vp) << again;
      for (std::uint64_t i = vp; i < end; ++i) {
        const std::string& expected = texts_[i];
        EXPECT_EQ(file->stream(i).size().value(), expected.size()) << i;
        if (!expected.empty()) {
          EXPECT_EQ(end, vp + 1) << i;
          ++with_bytes;
        }
      }
      vp = end;
    }
    EXPECT_EQ(with_bytes, 221u);
  }
  EXPECT_EQ(file->stream(0).end_of_alike().value(), 100u);
  EXPECT_EQ(file->stream(100).end_of_alike().value(), 101u);
  EXPECT_EQ(file->stream(180).end_of_alike().value(), 1500u);

  // The bytes of the piece are no gap, those behind it are.
  const std::size_t piece = some_bytes(2120, 2);
  EXPECT_EQ(file->stream(2120).skip_gap().value(), 0u);
  EXPECT_TRUE(file->stream(2120).seek(static_cast<std::int64_t>(piece) + 3, SEEK_SET).ok());
  EXPECT_EQ(file->stream(2120).skip_gap().value(), 496 - piece - 3);  // up to the block of the text
  EXPECT_EQ(file->stream(2500).skip_gap().value(), 992u);
  EXPECT_EQ(file->stream(2121).skip_gap().value(), 0u);
  EXPECT_TRUE(run(file->close()).ok());
  expect_read({1, 2});
}

// ---- Faults

class VpBatchFaults : public SharedFiles {
 protected:
  static constexpr std::uint64_t kVps = 100;
  static constexpr int kSteps = 8;

  static VpOpen how(const char* mode) {
    VpOpen open;
    open.path = "f";
    open_as(open, mode);
    open.shape = {kVps};
    open.hints.block_bytes = 16;
    open.hints.superblock_bytes = 4096;
    open.hints.cache_bytes = 0;
    return open;
  }

  // Appends of all VPs; `texts` gets what was counted as written.
  Status write_step(VpFile& file, int step) {
    const std::uint64_t n = file.vps().count();
    std::string packed;
    std::vector<std::uint64_t> each(n), moved(n), before(n);
    for (std::uint64_t local = 0; local < n; ++local) {
      const auto vp = static_cast<std::int64_t>(file.vps().number(local));
      each[local] = some_bytes(vp, step) + 10;
      packed += text_of(static_cast<int>(vp), each[local], step);
      before[local] = file.stream(local).position();
      file.stream(local).clear();
    }
    VpTransfer what;
    what.direction = Direction::write;
    what.base = reinterpret_cast<std::byte*>(packed.data());
    what.each = each.data();
    what.moved = moved.data();
    Status status = run(file.transfer(what));
    std::size_t at = 0;
    bool short_here = false, flagged = false;
    for (std::uint64_t local = 0; local < n; at += each[local++]) {
      EXPECT_TRUE(moved[local] == 0 || moved[local] == each[local]);
      EXPECT_EQ(file.stream(local).position(), before[local] + moved[local]);
      texts_[file.vps().number(local)] += packed.substr(at, moved[local]);
      short_here = short_here || moved[local] != each[local];
      flagged = flagged || file.stream(local).failed();
      if (file.stream(local).failed()) {
        EXPECT_EQ(moved[local], 0u);
      }
    }
    EXPECT_EQ(short_here, flagged);
    if (short_here) {
      EXPECT_FALSE(status.ok());
    }
    return status;
  }

  // One session under the script, which is lifted before the last flush.
  void play(TaskRank tasks, const FaultScript& script, Code code, const std::shared_ptr<Backend>& memory,
            std::uint64_t* writes, bool* failed) {
    texts_.assign(kVps, "");
    const auto faulty = make_fault_backend(memory);
    *failed = false;
    run_on_team(tasks, [&](Group& group) {
      auto file = run(VpFile::open(group, faulty, how("w+"))).value();
      EXPECT_TRUE(run(group.barrier()).ok());
      if (group.rank() == 0) faulty->restart(script);
      EXPECT_TRUE(run(group.barrier()).ok());
      for (int step = 0; step < kSteps; ++step) {
        Status status = write_step(*file, step);
        if (status.ok() && step == 4) status = run(file->flush());
        if (status.ok()) continue;
        EXPECT_EQ(status.code(), code) << status.message();
        if (group.rank() == 0) *failed = true;
      }
      EXPECT_TRUE(run(group.barrier()).ok());
      if (group.rank() == 0) {
        *writes = faulty->calls(CallKind::write);
        faulty->restart({});
      }
      EXPECT_TRUE(run(group.barrier()).ok());
      Status status = write_step(*file, kSteps);
      EXPECT_TRUE(status.ok()) << status.message();
      expect_streams(*file);
      status = run(file->flush());
      EXPECT_TRUE(status.ok()) << status.message();
      status = run(file->close());
      EXPECT_TRUE(status.ok()) << status.message();
    });
    run_on_team(2, [&](Group& group) {
      auto file = run(VpFile::open(group, memory, how("r")));
      ASSERT_TRUE(file.has_value()) << file.error().message();
      expect_streams(*file.value());
      EXPECT_TRUE(run(file.value()->close()).ok());
    });
    expect_sound(*memory);
  }

  void expect_sound(Backend& storage) const {
    CheckResult health;
    std::string findings;
    const Watch watch{[&](const std::string& text) { findings += text + "\n"; }, [](auto, auto) { return true; }};
    const Status verified = verify_vpfile(storage, "f", watch, health);
    EXPECT_TRUE(verified.ok()) << verified.message() << "\n" << findings;
    std::uint64_t bytes = 0;
    for (const std::string& one : texts_) bytes += one.size();
    EXPECT_EQ(health.logical_bytes, bytes);
  }

  void expect_streams(VpFile& file) const {
    for (std::uint64_t local = 0; local < file.vps().count(); ++local) {
      const std::string& right = texts_[file.vps().number(local)];
      std::string text(right.size() + 1, '.');
      EXPECT_TRUE(file.stream(local).seek(0, SEEK_SET).ok());
      const auto got = file.stream(local).read(std::as_writable_bytes(std::span(text)));
      ASSERT_TRUE(got.has_value()) << got.error().message();
      text.resize(got.value());
      ASSERT_EQ(text, right) << "VP " << file.vps().number(local);
    }
  }

  std::vector<std::string> texts_;
};

TEST_F(VpBatchFaults, AWriteThatFailsLosesNothingElse) {
  for (const TaskRank tasks : {1, 2}) {
    std::uint64_t writes = 0;
    bool failed = false;
    auto memory = make_memory_backend();
    play(tasks, {}, Code::ok, memory, &writes, &failed);
    EXPECT_FALSE(failed);
    EXPECT_TRUE(memory->exists("f.batches").value());
    const std::uint64_t most = writes, stride = tries_less() ? 5 : 1;
    ASSERT_GT(most, 10u);
    bool any = false;
    for (std::uint64_t n = 1; n <= most && !HasFailure(); n += stride) {
      SCOPED_TRACE(std::to_string(tasks) + " tasks, write " + std::to_string(n));
      for (const bool lasting : {false, true}) {
        FaultScript script;
        script.rules.push_back({.kind = CallKind::write, .at = n, .lasting = lasting, .partial = true});
        play(tasks, script, Code::io_error, make_memory_backend(), &writes, &failed);
        any = any || failed;
      }
    }
    EXPECT_TRUE(any);
  }
}

TEST_F(VpBatchFaults, AFullDiskLosesNothingElse) {
  for (const TaskRank tasks : {1, 2}) {
    for (std::uint64_t space = 0; space <= 9; ++space) {
      SCOPED_TRACE(std::to_string(tasks) + " tasks, blocks " + std::to_string(space));
      FaultScript script;
      script.space_bytes = space * 4096;
      std::uint64_t writes = 0;
      bool failed = false;
      play(tasks, script, Code::no_space, make_memory_backend(), &writes, &failed);
      EXPECT_TRUE(failed || space > 0);
    }
  }
}

// One VP overwrites, or writes behind a gap: its stream stays as it was, and so do the others.
TEST_F(VpBatchFaults, AWriteAloneThatFailsLeavesThePieces) {
  for (std::size_t filled = 3; filled < 250; filled += tries_less() ? 17 : 1) {  // blocks of the superblock
    for (const std::uint64_t at : {2, 30, 5000}) {
      SCOPED_TRACE(std::to_string(filled) + " blocks, from " + std::to_string(at));
      texts_.assign(kVps, "");
      const auto memory = make_memory_backend();
      const auto faulty = make_fault_backend(memory);
      run_on_team(1, [&](Group& group) {
        auto file = run(VpFile::open(group, faulty, how("w+"))).value();
        for (int step = 0; step < 3; ++step) EXPECT_TRUE(write_step(*file, step).ok());
        const std::string more(filled * 16, 'm');
        EXPECT_TRUE(file->stream(50).write(std::as_bytes(std::span(more))).has_value());
        texts_[50] += more;
        if (filled % 3 != 2) {
          EXPECT_TRUE(run(filled % 3 == 0 ? file->sync() : file->flush()).ok());
        }
        FaultScript script;
        script.rules.push_back({.kind = CallKind::write, .lasting = true});
        faulty->restart(script);
        const std::string text(20000, 'x');
        EXPECT_TRUE(file->stream(5).seek(static_cast<std::int64_t>(at), SEEK_SET).ok());
        EXPECT_FALSE(file->stream(5).write(std::as_bytes(std::span(text))).has_value());
        EXPECT_TRUE(file->stream(5).failed());
        faulty->restart({});
        // A write that fails in part may leave some of its bytes.
        std::string& stream = texts_[5];
        const std::uint64_t size = file->stream(5).size().value();
        std::string now(size, '.');
        EXPECT_TRUE(file->stream(5).seek(0, SEEK_SET).ok());
        EXPECT_EQ(file->stream(5).read(std::as_writable_bytes(std::span(now))).value(), size);
        EXPECT_EQ(now.substr(0, std::min<std::uint64_t>(at, stream.size())),
                  stream.substr(0, std::min<std::uint64_t>(at, stream.size())));
        for (std::size_t i = at; i < size; ++i)
          EXPECT_TRUE(now[i] == 'x' || (i < stream.size() && now[i] == stream[i]));
        stream = now;
        if (filled / 3 % 2 == 0) {
          EXPECT_TRUE(file->stream(5).seek(0, SEEK_END).ok());
          EXPECT_TRUE(write_step(*file, 7).ok());
        }
        EXPECT_TRUE(run(file->close()).ok());
      });
      run_on_team(2, [&](Group& group) {
        auto file = run(VpFile::open(group, memory, how("r"))).value();
        expect_streams(*file);
        EXPECT_TRUE(run(file->close()).ok());
      });
      expect_sound(*memory);
      const auto first = memory->open("f.first", OpenMode::read_write).value();
      EXPECT_TRUE(first->truncate(0).ok());
      CheckResult health;
      const Status repaired = repair_vpfile(*memory, "f", {}, {}, health);
      EXPECT_TRUE(repaired.ok()) << repaired.message();
      run_on_team(1, [&](Group& group) {
        auto file = run(VpFile::open(group, memory, how("r"))).value();
        // Zeros behind the pieces, of a gap whose write failed before its first block, are in no row.
        if (const std::size_t end = texts_[5].find_last_not_of('\0') + 1;
            file->stream(5).size().value() < texts_[5].size())
          texts_[5].resize(end);
        expect_streams(*file);
        EXPECT_TRUE(run(file->close()).ok());
      });
    }
  }
}

// The close fails while the list is stored: the file stays not closed, and repair brings all back.
TEST_F(VpBatchFaults, ACloseThatFailsLeavesAFileForRepair) {
  bool reached = true;
  for (std::uint64_t n = 1; reached; ++n) {
    SCOPED_TRACE(n);
    texts_.assign(kVps, "");
    const auto memory = make_memory_backend();
    const auto faulty = make_fault_backend(memory);
    bool closed = true;
    run_on_team(2, [&](Group& group) {
      auto file = run(VpFile::open(group, faulty, how("w"))).value();
      for (int step = 0; step < 3; ++step) EXPECT_TRUE(write_step(*file, step).ok());
      EXPECT_TRUE(run(file->flush()).ok());
      EXPECT_TRUE(run(group.barrier()).ok());
      if (group.rank() == 0) {
        FaultScript script;
        script.rules.push_back({.at = n, .path_part = "f.batches"});
        script.record = true;
        faulty->restart(script);
      }
      EXPECT_TRUE(run(group.barrier()).ok());
      const Status status = run(file->close());
      if (group.rank() == 0) closed = status.ok();
    });
    std::uint64_t calls = 0;
    for (const CallRecord& call : faulty->records())
      if (call.path.find("f.batches") != std::string::npos) ++calls;
    reached = calls >= n;
    if (!closed) {
      CheckResult health;
      EXPECT_EQ(verify_vpfile(*memory, "f", {}, health).code(), Code::not_closed);
      const Status repaired = repair_vpfile(*memory, "f", {}, {}, health);
      EXPECT_TRUE(repaired.ok()) << repaired.message();
    }
    EXPECT_TRUE(!closed || !reached);
    run_on_team(1, [&](Group& group) {
      auto file = run(VpFile::open(group, memory, how("r"))).value();
      expect_streams(*file);
      EXPECT_TRUE(run(file->close()).ok());
    });
    ASSERT_LT(n, 20u);
  }
}

// The list is read short, or not at all: nothing is read as shorter streams.
TEST_F(VpBatchFaults, AListThatCannotBeReadIsAnError) {
  texts_.assign(kVps, "");
  const auto memory = make_memory_backend();
  run_on_team(1, [&](Group& group) {
    auto file = run(VpFile::open(group, memory, how("w"))).value();
    for (int step = 0; step < 3; ++step) EXPECT_TRUE(write_step(*file, step).ok());
    EXPECT_TRUE(run(file->close()).ok());
  });
  for (const bool is_short : {false, true}) {
    FaultScript script;
    script.rules.push_back({.kind = CallKind::read, .at = 1, .path_part = "f.batches", .short_read = is_short});
    const auto faulty = make_fault_backend(memory, script);
    run_on_team(1, [&](Group& group) {
      auto file = run(VpFile::open(group, faulty, how("r")));
      if (!file.has_value()) return;
      std::string text(500, '.');
      const auto got = file.value()->stream(5).read(std::as_writable_bytes(std::span(text)));
      ASSERT_FALSE(got.has_value());
      EXPECT_EQ(got.error().code(), is_short ? Code::corrupt_file : Code::io_error);
      expect_streams(*file.value());  // a later read succeeds
      EXPECT_TRUE(run(file.value()->close()).ok());
    });
  }
}

}  // namespace
}  // namespace thalweg::test
