// Files left by a process that died, after a repair and later sessions.
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include "support/files/vp_files.hpp"

namespace thalweg::test {
namespace {

class VpUnclosed : public VpFiles {
 protected:
  // One task that dies after `body`.
  void dies(const char* mode, const VpHow& how, const std::function<void(tw_vpfile*)>& body) const {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      tw_vpfile* file = nullptr;
      if (try_open(nullptr, mode, how, &file) != TW_OK) ::_exit(1);
      body(file);
      ::_exit(HasFailure() ? 1 : 0);
    }
    int how_it_ended = 0;
    ASSERT_EQ(::waitpid(child, &how_it_ended, 0), child);
    EXPECT_EQ(how_it_ended, 0);
  }

  static void append(tw_vpfile* file, std::int64_t vp, const std::string& text) {
    EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_END), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_write(file, vp, text.data(), text.size(), nullptr), TW_OK) << tw_last_error();
  }

  struct Findings {
    std::string text;  // one line per message
    tw_health health{};
  };
  tw_status repair(Findings& found) const {
    found.health.struct_size = sizeof found.health;
    const auto take = [](const char* text, void* user) {
      static_cast<Findings*>(user)->text += text + std::string("\n");
    };
    return tw_vpfile_repair(path().c_str(), 0, 0, nullptr, take, nullptr, &found, &found.health);
  }
  tw_status repair() const {
    Findings found;
    return repair(found);
  }
  tw_status verify() const { return tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr); }
  bool there(const char* name) const { return std::filesystem::exists(path(name)); }
};

// ---- Arrays without NAME.meta

constexpr const char* kArray = "aaabbbcccAAABBBCCC";

TEST_F(VpUnclosed, AnArrayWithTheRecordGivenIsMarked) {
  put(kArray);
  dies("r+", {.shape = {3}, .hints = "record_bytes=3"}, [](tw_vpfile* file) {
    append(file, 1, "and more");
    EXPECT_EQ(tw_vpfile_flush(file, 1), TW_OK);
  });
  tw_vpfile* file = nullptr;
  EXPECT_EQ(try_open(nullptr, "r", {.shape = {3}}, &file), TW_ERR_NOT_CLOSED);

  EXPECT_EQ(repair(), TW_OK) << tw_last_error();

  EXPECT_EQ(streams(), (Texts{"aaaAAA", "bbbBBBand more", "cccCCC"}));
}

TEST_F(VpUnclosed, AnArrayIsMarkedOnceItsRecordIsKnown) {
  put(kArray);
  dies("r+", {.shape = {3}}, [&](tw_vpfile* file) {
    EXPECT_FALSE(there("shared.dat.meta"));
    char bytes[9];
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 3), nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_TRUE(there("shared.dat.meta"));
    append(file, 2, "and more");
    EXPECT_EQ(tw_vpfile_flush(file, 2), TW_OK);
  });
  tw_vpfile* file = nullptr;
  EXPECT_EQ(try_open(nullptr, "r", {.shape = {3}}, &file), TW_ERR_NOT_CLOSED);

  EXPECT_EQ(repair(), TW_OK) << tw_last_error();

  EXPECT_EQ(streams(), (Texts{"aaaAAA", "bbbBBB", "cccCCCand more"}));
}

TEST_F(VpUnclosed, AnArrayWhoseRecordNobodyToldIsLeftAsItIs) {
  put(kArray);
  dies("r+", {.shape = {3}},
       [](tw_vpfile* file) { EXPECT_EQ(tw_vpfile_write(file, 0, "x", 1, nullptr), TW_ERR_INVALID); });
  EXPECT_FALSE(there("shared.dat.meta"));
  EXPECT_EQ(streams({.shape = {3}, .hints = "record_bytes=6"}), (Texts{"aaabbb", "cccAAA", "BBBCCC"}));
}

// ---- Side files of before

// Entries of streams that no superblock ever held.
TEST_F(VpUnclosed, EntriesOfASessionThatStoredNoBlockAreForgotten) {
  constexpr std::int64_t kVps = 2000;
  const std::string records(kVps * 16, 'a');
  on_vpfile(1, "w", {.shape = {kVps}}, [&](tw_vpfile* file, int) {
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(records.data(), 16), nullptr, nullptr), TW_OK);
  });
  dies("r+", {.hints = "cache_bytes=0"}, [](tw_vpfile* file) {
    for (std::int64_t vp = 0; vp < kVps; ++vp) append(file, vp, "lost");
  });
  EXPECT_TRUE(there("shared.dat.first"));

  EXPECT_EQ(repair(), TW_OK) << tw_last_error();

  EXPECT_FALSE(there("shared.dat.first"));
  EXPECT_FALSE(there("shared.dat.dir"));
  on_vpfile(2, "r+", {}, [](tw_vpfile* file, int task) { append(file, task == 0 ? 5 : kVps - 1, "new"); });
  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
  const Texts all = streams();
  for (std::size_t vp = 0; vp < kVps; ++vp)
    ASSERT_EQ(all[vp], std::string(16, 'a') + (vp == 5 || vp == kVps - 1 ? "new" : "")) << vp;
}

// As after a session whose superblocks were all lost, and one more that closed.
TEST_F(VpUnclosed, SideFilesBesideAFileWithoutBlocksAreForgotten) {
  for (const bool has_meta : {false, true}) {
    put_streams({"a", "bb", "ccc", ""});
    const std::string first = content("shared.dat.first");
    const std::string overflow = content("shared.dat.dir");
    std::filesystem::remove(path("shared.dat.meta"));
    std::filesystem::remove(path("shared.dat.first"));
    std::filesystem::remove(path("shared.dat.dir"));
    put("aabbccdd");
    const VpHow how{.shape = {4}, .hints = "record_bytes=2"};
    if (has_meta) on_vpfile(1, "r+", how, [](tw_vpfile*, int) {});
    EXPECT_EQ(there("shared.dat.meta"), has_meta);
    put(first, "shared.dat.first");
    put(overflow, "shared.dat.dir");

    for (const int tasks : {1, 3})
      on_vpfile(tasks, "r+", how, [](tw_vpfile* file, int task) {
        if (task == 0) append(file, 0, "new");
      });

    EXPECT_EQ(verify(), TW_OK) << tw_last_error();
    EXPECT_EQ(streams(), (Texts{"aanewnew", "bb", "cc", "dd"}));
  }
}

// ---- Streams that are shorter than they were

// The superblocks state the lattice with the row that was never stored: NAME.meta must not state a shorter one.
TEST_F(VpUnclosed, ARowThatWasNotStoredBesideBlocksIsNoDamage) {
  for (const bool seeks_back : {false, true}) {
    on_team(2, [&](tw_group* group, int task) {
      tw_vpfile* file = open_vp(group, "w", {.shape = {4}, .hints = "superblock_bytes=4096,round_bytes=5000"});
      const std::string bytes(2 * 5000, 'c');
      for (const std::size_t n : {4, 5000, 4})  // a record, a round, a part of a round
        EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(bytes.data(), n), nullptr, nullptr), TW_OK);
      const std::int64_t first = number(file, 0);
      if (seeks_back) {
        EXPECT_EQ(tw_vpfile_write(file, first, "behind", 6, nullptr), TW_OK);
        EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
        EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(bytes.data(), 2), nullptr, nullptr), TW_OK);
      } else if (task == 0) {
        EXPECT_EQ(tw_vpfile_write(file, first, "behind", 6, nullptr), TW_OK);
      }
      EXPECT_EQ(tw_group_barrier(group), TW_OK);
      EXPECT_EQ(tw_vpfile_abandon(&file), TW_OK);
    });

    EXPECT_EQ(repair(), TW_OK) << tw_last_error() << (seeks_back ? " after a seek back" : "");

    EXPECT_EQ(verify(), TW_OK) << tw_last_error();
    EXPECT_EQ(streams()[0].substr(5008), "behind");
  }
}

// Whole rows are written from where they lie, past the row in the buffer.
TEST_F(VpUnclosed, WholeRowsLeaveNoOtherRowUnstored) {
  on_team(2, [&](tw_group* group, int) {
    tw_vpfile* file = open_vp(group, "w", {.shape = {4}, .hints = "round_bytes=256"});
    const std::string bytes(2 * 256, 'c');
    const auto write = [&](std::size_t n) {
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(bytes.data(), n), nullptr, nullptr), TW_OK);
    };
    const auto seek = [&](std::int64_t at) {
      EXPECT_EQ(tw_vpfile_seek_all(file, at, nullptr, SEEK_SET, nullptr), TW_OK);
    };
    for (const std::size_t n : {16, 256}) write(n);
    seek(16);
    write(8);  // a part of the first round
    seek(16 + 256);
    for (int i = 0; i < 5; ++i) write(256);
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    EXPECT_EQ(tw_vpfile_abandon(&file), TW_OK);
  });

  EXPECT_EQ(repair(), TW_OK) << tw_last_error();

  for (const std::string& stream : streams()) EXPECT_EQ(stream.size(), 16U + 6 * 256);
}

TEST_F(VpUnclosed, AWholeRowThatFailsLeavesTheRowThatItWasToReplace) {
  const auto limit_files_to = [](rlim_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  };
  ASSERT_NE(::signal(SIGXFSZ, SIG_IGN), SIG_ERR);
  tw_vpfile* file = open_vp(nullptr, "w", {.shape = {64}, .hints = "round_bytes=256"});
  const std::string bytes(64 * 256, 'c'), later(64 * 256, 'd');
  const auto write = [&](const std::string& from, std::size_t n) {
    return tw_vpfile_write_all(file, TW_VPFILE_PACKED(from.data(), n), nullptr, nullptr);
  };
  EXPECT_EQ(write(bytes, 8), TW_OK);
  EXPECT_EQ(write(bytes, 16), TW_OK);  // in the buffer
  EXPECT_EQ(tw_vpfile_seek_all(file, 8, nullptr, SEEK_SET, nullptr), TW_OK);
  limit_files_to(64 * 8);
  EXPECT_NE(write(later, 256), TW_OK);
  limit_files_to(RLIM_INFINITY);
  EXPECT_EQ(tw_vpfile_close(&file), TW_OK) << tw_last_error();

  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
  for (const std::string& stream : streams()) EXPECT_EQ(stream.substr(0, 24), std::string(24, 'c'));
}

TEST_F(VpUnclosed, RecordsThatWereCutOffAreToldByRepair) {
  for (const bool closed : {true, false}) {
    const std::string records = "aabbccAABBCC";
    on_vpfile(1, "w", {.shape = {3}}, [&](tw_vpfile* file, int) {
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(records.data(), 2), nullptr, nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(records.data() + 6, 2), nullptr, nullptr), TW_OK);
    });
    if (!closed) dies("r+", {}, [](tw_vpfile*) {});
    put(records.substr(0, 11));
    Findings found;

    EXPECT_EQ(repair(found), TW_ERR_CORRUPT);

    EXPECT_EQ(found.health.damaged_logical, 3);
    EXPECT_EQ(found.health.repaired, 1);
    EXPECT_NE(found.text.find("has 11 bytes"), std::string::npos) << found.text;
    EXPECT_EQ(verify(), TW_OK) << tw_last_error();
    EXPECT_EQ(streams(), (Texts{"aa", "bb", "cc"}));
    EXPECT_EQ(content(), "aabbcc");
  }
}

// The intact directory has their lengths.
TEST_F(VpUnclosed, StreamsWhoseSuperblocksAreGoneAreToldByRepair) {
  Texts texts{"a few", text_of(1, 9000), text_of(2, 9000), "some", ""};
  tw_vpfile* file = open_vp("w", {.shape = {5}, .hints = "superblock_bytes=4096"});
  for (const std::int64_t vp : {0, 1, 3, 2}) append(file, vp, texts[static_cast<std::size_t>(vp)]);
  close(file);
  const std::string bytes = content();
  put(bytes.substr(0, bytes.size() - 8192));  // all of it belonged to VP 2
  Findings found;

  EXPECT_EQ(repair(found), TW_ERR_CORRUPT);

  EXPECT_EQ(found.health.damaged_logical, 1);
  EXPECT_EQ(found.health.closed, 1);
  EXPECT_EQ(found.health.repaired, 1);
  EXPECT_NE(found.text.find("virtual processor 2"), std::string::npos) << found.text;
  EXPECT_EQ(verify(), TW_OK) << tw_last_error();
  const Texts left = streams();
  EXPECT_LT(left[2].size(), texts[2].size());
  texts[2].resize(left[2].size());
  EXPECT_EQ(left, texts);
}

// Without a directory no stream is missed, and the rebuilt one is right.
TEST_F(VpUnclosed, ADirectoryThatIsGoneIsNoLossOfStreams) {
  put_streams({"a", "bb", "ccc"});
  std::filesystem::remove(path("shared.dat.dir"));
  EXPECT_EQ(repair(), TW_OK) << tw_last_error();
  EXPECT_EQ(streams(), (Texts{"a", "bb", "ccc"}));
}

}  // namespace
}  // namespace thalweg::test
