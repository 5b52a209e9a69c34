// Batches: what many VPs append in one collective access lies together in a superblock. Streams are read as they were
// written, whatever else writes to them.
#include <random>

#include "support/files/vp_batches.hpp"
#include "support/sanitized.hpp"
#include "vpfile/check/check_vpfile.hpp"

namespace thalweg::test {
namespace {

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

// The position of the first VP has passed the lattice already when the others are asked whether they append, too.
TEST_F(VpBatches, BeginBehindALatticeThatIsWrittenAgain) {
  for (const std::size_t lattice : {std::size_t{200}, std::size_t{300}}) {
    SCOPED_TRACE(lattice);
    texts_.assign(kVps, "");
    on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) {
      write_each(file, 0, [&](std::int64_t) { return lattice; });
      EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
      write_each(file, 1, [&](std::int64_t vp) { return lattice + 20 + static_cast<std::size_t>(vp % 3); });
    });
    EXPECT_FALSE(listed().empty());
    EXPECT_TRUE(chained().empty());
    expect_read({1});
    expect_sound();
  }
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

}  // namespace
}  // namespace thalweg::test
