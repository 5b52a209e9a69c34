// The modes of accesses of all VPs, the reasons for them, and the resulting mode of the file.
#include <filesystem>
#include <fstream>

#include "support/files/vp_files.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kNone = "all take part with the same number of bytes, packed in memory";
constexpr const char* kMasked = "some take no part";
constexpr const char* kRagged = "numbers of bytes differ";
constexpr const char* kScattered = "positions differ";
constexpr const char* kStrided = "memory is not packed";
constexpr const char* kSize = "another number of bytes than the first write";
constexpr const char* kBetween = "the position is within a record";
constexpr const char* kBefore = "an earlier access decided";

class VpModes : public VpFiles {
 protected:
  static constexpr int kTasks[] = {1, 2, 3};

  // Writes `bytes` bytes of every VP.
  static void write(tw_vpfile* file, std::size_t bytes, const std::uint8_t* mask = nullptr) {
    const std::string data(locals(file) * bytes, 'w');
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data.data(), bytes), mask, nullptr), TW_OK) << tw_last_error();
  }
  static void read(tw_vpfile* file, std::size_t bytes, const std::uint8_t* mask = nullptr) {
    std::string data(locals(file) * bytes, 'r');
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(data.data(), bytes), mask, nullptr), TW_OK) << tw_last_error();
  }
  static void seek(tw_vpfile* file, std::int64_t offset) {
    EXPECT_EQ(tw_vpfile_seek_all(file, offset, nullptr, SEEK_SET, nullptr), TW_OK) << tw_last_error();
  }
  static void write_apart(tw_vpfile* file, std::size_t gap) {
    const std::string data(locals(file) * (4 + gap) + 1, 'w');
    const std::int64_t stride[] = {static_cast<std::int64_t>(4 + gap)};
    tw_vpfile_data what = TW_VPFILE_PACKED(data.data(), 4);
    what.vp_strides = stride;
    EXPECT_EQ(tw_vpfile_write_all(file, what, nullptr, nullptr), TW_OK) << tw_last_error();
  }
  static void expect_last(tw_vpfile* file, std::int32_t mode, const char* why) {
    EXPECT_EQ(last_mode(file), mode);
    EXPECT_EQ(cause(file), why);
  }
  static void expect_change(tw_vpfile* file, std::size_t i, std::int64_t access, std::int32_t from, std::int32_t to,
                            const char* why) {
    ASSERT_GT(summary(file).n_transitions, static_cast<std::int64_t>(i));
    const tw_vpfile_transition change = summary(file).transitions[i];
    EXPECT_EQ(change.access, access);
    EXPECT_EQ(change.from, from);
    EXPECT_EQ(change.to, to);
    EXPECT_STREQ(change.cause, why);
  }
  static void expect_no_change(tw_vpfile* file, std::size_t i) {
    EXPECT_EQ(summary(file).n_transitions, static_cast<std::int64_t>(i));
  }
  void each(const std::function<void(tw_vpfile*)>& body) const {
    for (const int tasks : kTasks) on_vpfile(tasks, "w+", {.shape = {6}}, [&](tw_vpfile* file, int) { body(file); });
  }
};

TEST_F(VpModes, AlikeIsNb) {
  each([](tw_vpfile* file) {
    expect_last(file, TW_VPFILE_NB, kNone);
    write(file, 4);
    write_apart(file, 0);
    expect_last(file, TW_VPFILE_NB, kNone);
    seek(file, 4);
    read(file, 4);
    expect_last(file, TW_VPFILE_NB, kNone);
    seek(file, 80);
    write(file, 4);
    expect_last(file, TW_VPFILE_NB, kNone);
    EXPECT_EQ(summary(file).mode, TW_VPFILE_NB);
    EXPECT_EQ(summary(file).nb_record, 4);
    EXPECT_EQ(summary(file).nb_bytes, 84);
    EXPECT_EQ(summary(file).cb_round, 0);
    EXPECT_EQ(summary(file).block_bytes, 0);
    expect_no_change(file, 0);
  });
}

TEST_F(VpModes, StridedMemoryIsCbAndStaysCb) {
  each([](tw_vpfile* file) {
    write(file, 4);
    write_apart(file, 1);
    expect_last(file, TW_VPFILE_CB, kStrided);
    EXPECT_EQ(summary(file).mode, TW_VPFILE_CB);
    expect_change(file, 0, 1, TW_VPFILE_NB, TW_VPFILE_CB, kStrided);
    write(file, 4);
    expect_last(file, TW_VPFILE_CB, kBefore);
    seek(file, 0);
    read(file, 4);
    expect_last(file, TW_VPFILE_NB, kNone);
    read(file, 4);
    expect_last(file, TW_VPFILE_CB, kSize);
    expect_no_change(file, 1);
  });
}

TEST_F(VpModes, AnotherSizeIsCb) {
  each([](tw_vpfile* file) {
    write(file, 4);
    write(file, 8);
    expect_last(file, TW_VPFILE_CB, kSize);
    expect_change(file, 0, 1, TW_VPFILE_NB, TW_VPFILE_CB, kSize);
    EXPECT_EQ(summary(file).nb_bytes, 4);
    EXPECT_EQ(summary(file).cb_bytes, 8);
    EXPECT_EQ(summary(file).cb_round, 264);
    seek(file, 0);
    read(file, 2);
    expect_last(file, TW_VPFILE_CB, kSize);
  });
}

// A row is worth a write of its own, so it need not gather small accesses; both sizes have room in it.
TEST_F(VpModes, RoundsOfVeryManyVpsAreShort) {
  on_vpfile(1, "w", {.shape = {1 << 16}}, [](tw_vpfile* file, int) {
    write(file, 8);
    write(file, 56);
    EXPECT_EQ(summary(file).cb_round, 64);
  });
}

TEST_F(VpModes, APositionWithinARecordIsCb) {
  each([](tw_vpfile* file) {
    write(file, 4);
    seek(file, 2);
    write(file, 4);
    expect_last(file, TW_VPFILE_CB, kBetween);
    expect_change(file, 0, 1, TW_VPFILE_NB, TW_VPFILE_CB, kBetween);
  });
}

TEST_F(VpModes, AMaskIsIbUntilASeekBack) {
  each([](tw_vpfile* file) {
    write(file, 4);
    write(file, 8);
    std::vector<std::uint8_t> mask(6, 1);
    if (number(file, 0) == 0) mask[0] = 0;
    write(file, 4, mask.data());
    expect_last(file, TW_VPFILE_IB, kMasked);
    seek(file, 100);
    write(file, 4);
    expect_last(file, TW_VPFILE_IB, kBefore);
    seek(file, 0);
    write(file, 4);
    expect_last(file, TW_VPFILE_NB, kNone);  // over a record
    write(file, 4);
    expect_last(file, TW_VPFILE_CB, kSize);  // over a part of a round
    expect_change(file, 0, 1, TW_VPFILE_NB, TW_VPFILE_CB, kSize);
    expect_change(file, 1, 2, TW_VPFILE_CB, TW_VPFILE_IB, kMasked);
    expect_no_change(file, 2);
    EXPECT_EQ(summary(file).mode, TW_VPFILE_IB);
    EXPECT_EQ(summary(file).block_bytes, 64);
    seek(file, 0);
    read(file, 4);
    expect_last(file, TW_VPFILE_NB, kNone);
    read(file, 4, mask.data());
    expect_last(file, TW_VPFILE_IB, kMasked);
    seek(file, 100);
    read(file, 4);
    expect_last(file, TW_VPFILE_IB, kBefore);
  });
}

TEST_F(VpModes, RaggedIsIb) {
  each([](tw_vpfile* file) {
    std::vector<std::int64_t> lengths(locals(file), 3);
    const std::string data(4 * 6, 'w');
    const tw_vpfile_data what{const_cast<char*>(data.data()), 1, 0, lengths.data(), 0, nullptr};
    EXPECT_EQ(tw_vpfile_write_all(file, what, nullptr, nullptr), TW_OK);
    expect_last(file, TW_VPFILE_NB, kNone);  // all equal, though passed one by one
    if (number(file, 0) == 0) lengths[0] = 4;
    EXPECT_EQ(tw_vpfile_write_all(file, what, nullptr, nullptr), TW_OK);
    expect_last(file, TW_VPFILE_IB, kRagged);
    expect_change(file, 0, 1, TW_VPFILE_NB, TW_VPFILE_IB, kRagged);
  });
}

TEST_F(VpModes, ScatteredIsIbUntilAllMeetAgain) {
  each([](tw_vpfile* file) {
    write(file, 4);
    write(file, 4);
    if (number(file, 0) == 0) {
      EXPECT_EQ(tw_vpfile_seek(file, 0, 4, SEEK_SET), TW_OK);
    }
    read(file, 4);
    expect_last(file, TW_VPFILE_IB, kScattered);
    seek(file, 0);
    read(file, 4);
    expect_last(file, TW_VPFILE_NB, kNone);
    if (number(file, 0) == 0) {
      EXPECT_EQ(tw_vpfile_seek(file, 0, 0, SEEK_SET), TW_OK);
      EXPECT_EQ(tw_vpfile_seek(file, 0, 4, SEEK_CUR), TW_OK);
    }
    write(file, 4);
    expect_last(file, TW_VPFILE_NB, kNone);
    if (number(file, 0) == 0) {
      EXPECT_EQ(tw_vpfile_seek(file, 0, 4, SEEK_SET), TW_OK);
    }
    write(file, 4);
    expect_last(file, TW_VPFILE_IB, kScattered);
    expect_change(file, 0, 5, TW_VPFILE_NB, TW_VPFILE_IB, kScattered);
  });
}

TEST_F(VpModes, OneVpThatWritesBehindTheLatticeMakesTheFileIb) {
  each([](tw_vpfile* file) {
    write(file, 4);
    if (number(file, 0) == 0) {
      EXPECT_EQ(tw_vpfile_write(file, 0, "within and behind", 17, nullptr), TW_OK) << tw_last_error();
    }
    seek(file, 4);
    write(file, 4);
    expect_last(file, TW_VPFILE_IB, kBefore);
    expect_change(file, 0, 1, TW_VPFILE_NB, TW_VPFILE_IB, kBefore);
  });
}

// Appends to streams of different lengths.
TEST_F(VpModes, AppendingGoesOnAsTheFileIs) {
  for (const int tasks : kTasks) {
    on_vpfile(tasks, "w", {.shape = {6}}, [](tw_vpfile* file, int) { write(file, 4); });
    on_vpfile(tasks, "a+", {}, [](tw_vpfile* file, int) {
      EXPECT_EQ(positions(file), Positions(locals(file), 0));
      read(file, 4);
      seek(file, 1);
      write(file, 4);
      expect_last(file, TW_VPFILE_NB, kNone);
      EXPECT_EQ(positions(file), Positions(locals(file), 8));
      if (number(file, 0) == 0) {
        EXPECT_EQ(put_text(file, 0, "more"), TW_OK);
        EXPECT_EQ(stream_of(file, 0), "wwwwwwwwmore");
      }
    });
    on_vpfile(tasks, "a", {}, [](tw_vpfile* file, int) {
      write(file, 2);
      expect_last(file, TW_VPFILE_IB, kScattered);
    });
    const auto all = streams();
    EXPECT_EQ(all[0], "wwwwwwwwmoreww");
    EXPECT_EQ(all[5], "wwwwwwwwww");
  }
}

TEST_F(VpModes, AssumeNbDoesNotAsk) {
  for (const int tasks : kTasks) {
    on_vpfile(tasks, "w+", {.shape = {6}, .hints = "assume_nb=on"}, [](tw_vpfile* file, int) {
      for (int i = 0; i < 3; ++i) write(file, 4);
      expect_last(file, TW_VPFILE_NB, kNone);
      seek(file, 4);
      read(file, 4);
      expect_last(file, TW_VPFILE_NB, kNone);
      seek(file, 12);
      read(file, 4);
      EXPECT_EQ(eofs(file), Flags(locals(file), 1));
    });
    EXPECT_EQ(content(), std::string(72, 'w'));
  }
}

// The task that detects it reports to all: none waits for a task in another call.
TEST_F(VpModes, APromiseThatIsNotKeptFailsOnAllTasks) {
  for (const int tasks : kTasks) {
    on_vpfile(tasks, "w+", {.shape = {6}, .hints = "assume_nb=on"}, [tasks](tw_vpfile* file, int task) {
      for (int i = 0; i < 3; ++i) write(file, 4);
      const std::string text(locals(file) * 8, 'x');
      std::string back(text.size(), '.');
      const std::vector<std::uint8_t> some(locals(file), 0);
      const std::int64_t stride = 8;
      tw_vpfile_data strided = TW_VPFILE_PACKED(text.data(), 4);
      strided.vp_strides = &stride;
      const auto fails = [&](tw_status status) { EXPECT_EQ(status, TW_ERR_INVALID) << tw_last_error(); };
      const std::uint8_t* mask = task == tasks - 1 ? some.data() : nullptr;
      fails(tw_vpfile_write_all(file, TW_VPFILE_PACKED(text.data(), 4), mask, nullptr));
      fails(tw_vpfile_write_all(file, task == 0 ? strided : TW_VPFILE_PACKED(text.data(), 4), nullptr, nullptr));
      fails(tw_vpfile_write_all(file, TW_VPFILE_PACKED(text.data(), 5), nullptr, nullptr));
      fails(tw_vpfile_write_all(file, TW_VPFILE_PACKED(task == 0 ? nullptr : text.data(), 4), nullptr, nullptr));
      seek(file, 2);
      fails(tw_vpfile_read_all(file, TW_VPFILE_PACKED(back.data(), 4), nullptr, nullptr));
      seek(file, 0);
      fails(tw_vpfile_read_all(file, TW_VPFILE_PACKED(back.data(), 8), nullptr, nullptr));
      read(file, 4);
    });
    EXPECT_EQ(content(), std::string(72, 'w'));
  }
}

TEST_F(VpModes, APromiseOnFilesThatHaveNoRecordYetOrBlocks) {
  on_vpfile(2, "w+", {.shape = {6}, .hints = "assume_nb=on"}, [](tw_vpfile* file, int) {
    const std::vector<std::uint8_t> none(locals(file), 0);
    std::string text(locals(file) * 4, 'x');
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(text.data(), 4), none.data(), nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(text.data(), 4), nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(text.data(), 4), none.data(), nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_CUR, nullptr), TW_OK);
    for (std::size_t i = 0; i < locals(file); ++i) EXPECT_EQ(put_text(file, number(file, i), "more"), TW_OK);
    seek(file, 0);
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(text.data(), 4), nullptr, nullptr), TW_ERR_INVALID);
  });
  EXPECT_EQ(streams()[5], "more");
  put(std::string(48, 'a'));
  for (const char* name : {"shared.dat.meta", "shared.dat.first", "shared.dat.dir"})
    std::filesystem::remove(path(name));
  on_vpfile(2, "r", {.shape = {6}, .hints = "assume_nb=on"}, [](tw_vpfile* file, int) {
    std::string text(locals(file) * 8, '.');
    tw_vpfile_data nothing = TW_VPFILE_PACKED(text.data(), 1);
    nothing.n_items = 0;
    EXPECT_EQ(tw_vpfile_read_all(file, nothing, nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(text.data(), 8), nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(text, std::string(text.size(), 'a'));
  });
}

// The other tasks do not know of its blocks, and cutting off a failed write must spare them.
TEST_F(VpModes, ABrokenPromiseLeavesTheBlocksOfOneTask) {
  on_vpfile(2, "w+", {.shape = {6}, .hints = "assume_nb=on"}, [](tw_vpfile* file, int task) {
    write(file, 4);
    if (task == 1) {
      EXPECT_EQ(tw_vpfile_seek(file, number(file, 0), 4, SEEK_SET), TW_OK);
      EXPECT_EQ(put_text(file, number(file, 0), "kept"), TW_OK);
      EXPECT_EQ(tw_vpfile_flush(file, number(file, 0)), TW_OK);
    }
    const std::string text(locals(file) * 4, 'x');
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(text.data(), 4), nullptr, nullptr), TW_ERR_INVALID);
  });
  EXPECT_EQ(streams(), (Texts{"wwww", "wwww", "wwww", "wwwwkept", "wwww", "wwww"}));
}

TEST_F(VpModes, AReadOfARecordSeesAPartThatWasWritten) {
  for (const int tasks : kTasks) {
    on_vpfile(tasks, "w+", {.shape = {6}}, [](tw_vpfile* file, int) {
      for (int i = 0; i < 3; ++i) write(file, 8);
      seek(file, 8);
      const std::string part(locals(file) * 3, 'p');
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(part.data(), 3), nullptr, nullptr), TW_OK);
      seek(file, 8);
      std::string back(locals(file) * 8, '.');
      EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(back.data(), 8), nullptr, nullptr), TW_OK);
      for (std::size_t i = 0; i < locals(file); ++i) EXPECT_EQ(back.substr(i * 8, 8), "pppwwwww");
    });
    EXPECT_EQ(streams()[5], "wwwwwwwwpppwwwwwwwwwwwww");
  }
}

TEST_F(VpModes, TheModeOfAFileIsFoundAgain) {
  on_vpfile(2, "w", {.shape = {4}}, [](tw_vpfile* file, int) { write(file, 4); });
  on_vpfile(3, "r", {}, [](tw_vpfile* file, int) { EXPECT_EQ(summary(file).mode, TW_VPFILE_NB); });
  on_vpfile(3, "a", {}, [](tw_vpfile* file, int) { write(file, 5); });
  on_vpfile(2, "r", {}, [](tw_vpfile* file, int) { EXPECT_EQ(summary(file).mode, TW_VPFILE_CB); });
  on_vpfile(1, "a", {}, [](tw_vpfile* file, int) { EXPECT_EQ(put_text(file, 2, "x"), TW_OK); });
  on_vpfile(3, "r", {}, [](tw_vpfile* file, int) { EXPECT_EQ(summary(file).mode, TW_VPFILE_IB); });
  EXPECT_EQ(streams(), (Texts{"wwwwwwwww", "wwwwwwwww", "wwwwwwwwwx", "wwwwwwwww"}));
}

// Streams of all lengths grow at their ends. The first superblock that is read back makes the cache grow; from then on
// the superblocks with their last blocks stay in memory.
TEST_F(VpModes, AppendsReadOneSuperblockBack) {
  constexpr std::int64_t kVps = 4096;
  constexpr std::int64_t kSuperblock = 256 << 10;
  const auto was_read = [] {
    std::ifstream file("/proc/self/io");
    std::string name;
    std::int64_t bytes = -1;
    file >> name >> bytes;
    return name == "rchar:" ? bytes : -1;
  };
  if (was_read() < 0) GTEST_SKIP() << "/proc/self/io cannot be read";
  on_vpfile(1, "w", {.shape = {kVps}, .hints = "directory_pointers=14"}, [&](tw_vpfile* file, int) {
    const std::int64_t before = was_read();
    for (std::int64_t step = 0; step < 16; ++step) {
      std::vector<std::int64_t> each;
      for (std::int64_t vp = 0; vp < kVps; ++vp) each.push_back((vp * 2654435761 + step * 40503) / 128 % 16);
      const std::string text(kVps * 16 * 8, 'x');
      tw_vpfile_data data = TW_VPFILE_PACKED(text.data(), 8);
      data.n_each = each.data();
      EXPECT_EQ(tw_vpfile_write_all(file, data, nullptr, nullptr), TW_OK) << tw_last_error();
    }
    EXPECT_LT(was_read() - before, 2 * kSuperblock);
  });
}

}  // namespace
}  // namespace thalweg::test
