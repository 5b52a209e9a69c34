// Opening a vpfile: modes, shapes, boxes, hints, plain arrays, and files written by other numbers of tasks.
#include <filesystem>

#include "support/files/vp_files.hpp"

namespace thalweg::test {
namespace {

class VpOpening : public VpFiles {
 protected:
  // The status of an open, which must be equal on all tasks.
  tw_status told(int tasks, const char* mode, const std::function<VpHow(int)>& how) const {
    std::vector<tw_status> heard(static_cast<std::size_t>(tasks));
    on_team(tasks, [&](tw_group* group, int task) {
      tw_vpfile* file = nullptr;
      heard[static_cast<std::size_t>(task)] = try_open(group, mode, how(task), &file);
      EXPECT_EQ(file != nullptr, heard[static_cast<std::size_t>(task)] == TW_OK);
      if (file != nullptr) close(file);
    });
    for (const tw_status status : heard) EXPECT_EQ(status, heard[0]);
    return heard[0];
  }
  tw_status told(const char* mode, const VpHow& how) const {
    const tw_status one = told(1, mode, [&](int) { return how; });
    EXPECT_EQ(told(3, mode, [&](int) { return how; }), one);
    return one;
  }
};

TEST_F(VpOpening, ModesAreThoseOfFopen) {
  EXPECT_EQ(told("r", {.shape = {3}}), TW_ERR_NOT_FOUND);
  EXPECT_EQ(told("r+", {.shape = {3}}), TW_ERR_NOT_FOUND);
  EXPECT_EQ(told("r", {}), TW_ERR_NOT_FOUND);
  EXPECT_EQ(told("r+", {}), TW_ERR_NOT_FOUND);
  EXPECT_FALSE(std::filesystem::exists(path()));
  for (const char* mode : {"", "x", "rw", "R", "w,", "+", "wx"}) EXPECT_EQ(told(mode, {.shape = {3}}), TW_ERR_INVALID);
  EXPECT_EQ(told("a", {}), TW_ERR_INVALID);
  EXPECT_EQ(told("w", {}), TW_ERR_INVALID);
  EXPECT_EQ(told("a", {.shape = {3}}), TW_OK);
  for (const char* mode : {"w", "wb", "w+", "wb+", "w+b", "a", "a+b", "r+", "rb", "r"})
    EXPECT_EQ(told(mode, {.shape = {3}}), TW_OK) << mode;
}

TEST_F(VpOpening, NewOnesTakeTheOldOnesAway) {
  put_streams({"a", "bb", "ccc"});
  EXPECT_TRUE(std::filesystem::exists(path("shared.dat.first")));

  on_vpfile(2, "w", {.shape = {2}}, [](tw_vpfile*, int) {});

  EXPECT_FALSE(std::filesystem::exists(path("shared.dat.first")));
  EXPECT_EQ(streams(), (Texts{"", ""}));
}

// Arguments are checked before anything is removed.
TEST_F(VpOpening, AnOpenThatFailsLeavesTheOldOne) {
  put_streams({"a", "bb", "ccc"});
  const auto heard = [&](const VpHow& how) { return told("w", how); };
  EXPECT_EQ(heard({.shape = {3}, .hints = "block_bytes=1MiB,superblock_bytes=4096"}), TW_ERR_INVALID);
  EXPECT_EQ(heard({.shape = {3}, .hints = "block_bytes=24"}), TW_ERR_INVALID);
  EXPECT_EQ(heard({.shape = {3}, .hints = "aggregators=banana"}), TW_ERR_UNKNOWN_HINT);
  EXPECT_EQ(heard({.shape = {3}, .start = {0}, .count = {2}}), TW_ERR_INVALID);
  EXPECT_EQ(heard({.shape = {3}, .start = {2}, .count = {2}}), TW_ERR_INVALID);
  EXPECT_EQ(streams(), (Texts{"a", "bb", "ccc"}));
}

TEST_F(VpOpening, AWriterKeepsOtherWritersAndRepairAway) {
  on_vpfile(2, "w", {.shape = {2}}, [&](tw_vpfile* file, int task) {
    EXPECT_EQ(tw_vpfile_write(file, task, "abc", 3, nullptr), TW_OK);
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK);
    if (task != 0) return;
    for (const char* mode : {"w", "r+", "a"}) {
      tw_vpfile* other = nullptr;
      EXPECT_EQ(try_open(nullptr, mode, {.shape = {2}}, &other), TW_ERR_UNSAFE) << mode;
    }
    EXPECT_EQ(tw_vpfile_repair(path().c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr), TW_ERR_UNSAFE);
  });

  EXPECT_EQ(streams(), (Texts{"abc", "abc"}));
}

TEST_F(VpOpening, ARowThatNoTaskCanKeepIsReadInParts) {
  constexpr std::size_t kRecord = std::size_t{80} << 20;
  put("");
  std::filesystem::resize_file(path(), 2 * kRecord);

  on_vpfile(1, "r", {.shape = {2}, .hints = "record_bytes=80MiB"}, [&](tw_vpfile* file, int) {
    char bytes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 4), nullptr, nullptr), TW_OK);
    EXPECT_EQ(std::string(bytes, 8), std::string(8, '\0'));
    EXPECT_EQ(last_mode(file), TW_VPFILE_IB);
  });
}

TEST_F(VpOpening, ShapesAreLegalOrRefused) {
  EXPECT_EQ(told("w", {.shape = {0}}), TW_ERR_INVALID);
  EXPECT_EQ(told("w", {.shape = {3, -1}}), TW_ERR_INVALID);
  EXPECT_EQ(told("w", {.shape = {std::int64_t{1} << 40, 2}}), TW_ERR_INVALID);
  EXPECT_EQ(told("w", {.shape = {INT64_MAX, INT64_MAX, INT64_MAX}}), TW_ERR_INVALID);
  EXPECT_EQ(told("w", {.shape = std::vector<std::int64_t>(65, 1)}), TW_ERR_INVALID);
  EXPECT_EQ(told(3, "w", [](int task) { return VpHow{.shape = {task == 1 ? 4 : 3}}; }), TW_ERR_INVALID);
  EXPECT_FALSE(std::filesystem::exists(path()));
  std::vector<std::int64_t> many(64, 1);
  many[63] = 2;
  many[5] = 3;
  EXPECT_EQ(told("w", {.shape = many}), TW_OK);
  EXPECT_EQ(told("r", {.shape = many}), TW_OK);
  many[5] = 2;
  EXPECT_EQ(told("r", {.shape = many}), TW_ERR_INVALID);
  EXPECT_EQ(told("r", {.shape = {6}}), TW_ERR_INVALID);
  EXPECT_EQ(told("a", {.shape = {6}}), TW_ERR_INVALID);
  EXPECT_EQ(told("r", {}), TW_OK);
}

TEST_F(VpOpening, BoxesCoverTheShapeOnce) {
  const auto boxes = [&](std::int64_t start, std::int64_t count, std::int64_t second) {
    return told(2, "w", [&](int task) {
      VpHow how{.shape = {4, 3}};
      how.start = {task == 0 ? 0 : start, 0};
      how.count = {task == 0 ? 2 : count, task == 0 ? 3 : second};
      return how;
    });
  };
  EXPECT_EQ(boxes(1, 2, 3), TW_ERR_INVALID);  // one VP twice, one not at all
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(boxes(2, 2, 3), TW_OK);
  EXPECT_EQ(boxes(1, 3, 3), TW_ERR_INVALID);
  EXPECT_EQ(boxes(3, 1, 3), TW_ERR_INVALID);
  EXPECT_EQ(boxes(0, 2, 3), TW_ERR_INVALID);
  EXPECT_EQ(boxes(2, 2, 2), TW_ERR_INVALID);
  EXPECT_EQ(boxes(2, 3, 3), TW_ERR_INVALID);  // outside
  EXPECT_EQ(boxes(-1, 2, 3), TW_ERR_INVALID);
  EXPECT_EQ(boxes(2, -2, 3), TW_ERR_INVALID);
  EXPECT_EQ(boxes(INT64_MAX, INT64_MAX, 3), TW_ERR_INVALID);
  EXPECT_EQ(told(3, "w",
                 [](int task) {
                   return VpHow{{4}, nullptr, {task == 1 ? 0 : 4}, {task == 1 ? 4 : 0}};
                 }),
            TW_OK)
      << "tasks may have none";

  tw_vpfile* file = nullptr;
  constexpr std::int32_t kNewFlags = TW_CREATE | TW_TRUNCATE;
  EXPECT_EQ(tw_vpfile_open(nullptr, path().c_str(), kNewFlags, OpenWith().shape({2, 2}).box({0}, {4}), &file),
            TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_open(nullptr, path().c_str(), TW_READ, OpenWith().box({0}, {4}), &file), TW_ERR_INVALID);
}

TEST_F(VpOpening, HintsAreGoodOrRefused) {
  for (const char* hints :
       {"record_bytes=8", "record_bytes=auto", "round_bytes=1", "round_bytes=1GiB", "block_bytes=16",
        "block_bytes=1MiB,superblock_bytes=8MiB", "superblock_bytes=4KiB", "directory_pointers=1",
        "directory_pointers=64", "cache_bytes=0", "assume_nb=off", "io=buffered,block_bytes=32", ",", ""})
    EXPECT_EQ(told("w", {.shape = {3}, .hints = hints}), TW_OK) << hints << ": " << tw_last_error();
  for (const char* hints :
       {"block_bytes=24", "block_bytes=8", "block_bytes=2MiB", "superblock_bytes=5000", "superblock_bytes=32MiB",
        "block_bytes=1MiB,superblock_bytes=4MiB", "directory_pointers=0", "directory_pointers=65", "round_bytes=0",
        "round_bytes=2GiB", "assume_nb=perhaps", "record_bytes=0", "cache_bytes=-1"}) {
    const tw_status status = told("w", {.shape = {3}, .hints = hints});
    EXPECT_TRUE(status == TW_ERR_INVALID || status == TW_ERR_UNKNOWN_HINT || status == TW_ERR_RANGE) << hints << status;
  }
  for (const char* hints : {"block_byte=64", "block_bytes", "chunk_bytes=1MiB", "=3"})
    EXPECT_EQ(told("w", {.shape = {3}, .hints = hints}), TW_ERR_UNKNOWN_HINT) << hints;
}

TEST_F(VpOpening, RoundsOfAllStreamsFitIntoAFile) {
  EXPECT_EQ(told("w", {.shape = {std::int64_t{1} << 32}, .hints = "round_bytes=1GiB"}), TW_ERR_INVALID);
  EXPECT_NE(std::string(tw_last_error()).find("round_bytes"), std::string::npos) << tw_last_error();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(VpOpening, ArgumentsOfOneTaskAreHeardByAll) {
  on_team(3, [&](tw_group* group, int task) {
    tw_vpfile* file = nullptr;
    const std::string name = path();
    const bool bad = task == 2;
    constexpr std::int32_t kWrite = TW_CREATE | TW_TRUNCATE;
    using Shape = std::vector<std::int64_t>;
    OpenWith good;
    good.shape({3});
    const auto refused = [&](const char* given, std::int32_t flags, const tw_options* options, tw_vpfile** out) {
      EXPECT_EQ(tw_vpfile_open(group, given, flags, options, out), TW_ERR_INVALID);
    };
    refused(bad ? nullptr : name.c_str(), kWrite, good, &file);
    refused(bad ? "" : name.c_str(), kWrite, good, &file);
    refused(name.c_str(), bad ? 0 : kWrite, good, &file);
    refused(name.c_str(), bad ? kWrite | TW_READ : kWrite, good, &file);
    refused(name.c_str(), kWrite, OpenWith().shape(bad ? Shape{} : Shape{3}), &file);
    refused(name.c_str(), kWrite, OpenWith().shape({bad ? -1 : 3}), &file);
    OpenWith wrong;
    wrong.shape({3}).permissions(0600);
    refused(name.c_str(), kWrite, bad ? wrong : good, &file);
    refused(name.c_str(), kWrite, good, bad ? nullptr : &file);
    EXPECT_EQ(file, nullptr);
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// ---- Arrays without NAME.meta

TEST_F(VpOpening, AnArrayOfAnyOriginHasTheRecordsOfTheFirstAccess) {
  put("aaabbbcccAAABBBCCC");
  for (const int tasks : {1, 2, 3, 5}) {
    on_vpfile(tasks, "r", {.shape = {3}}, [](tw_vpfile* file, int) {
      EXPECT_EQ(summary(file).nb_record, 0);
      EXPECT_EQ(summary(file).nb_bytes, 6);
      std::vector<char> bytes(3 * locals(file));
      EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes.data(), 3), nullptr, nullptr), TW_OK)
          << tw_last_error();
      EXPECT_EQ(last_mode(file), TW_VPFILE_NB);
      EXPECT_EQ(summary(file).nb_record, 3);
      for (std::size_t i = 0; i < locals(file); ++i)
        EXPECT_EQ(stream_of(file, number(file, i)), std::string(3, static_cast<char>('a' + number(file, i))) +
                                                        std::string(3, static_cast<char>('A' + number(file, i))));
    });
  }
  EXPECT_FALSE(std::filesystem::exists(path("shared.dat.meta")));
}

TEST_F(VpOpening, OfAnArrayTheHintMayTellTheRecord) {
  put("aaabbbcccAAABBBCCC");
  EXPECT_EQ(streams({.shape = {3}, .hints = "record_bytes=3"}), (Texts{"aaaAAA", "bbbBBB", "cccCCC"}));
  EXPECT_EQ(streams({.shape = {3}, .hints = "record_bytes=6"}), (Texts{"aaabbb", "cccAAA", "BBBCCC"}));
  EXPECT_EQ(told("r", {.shape = {3}, .hints = "record_bytes=4"}), TW_ERR_INVALID);
  EXPECT_EQ(told("r", {.shape = {4}}), TW_ERR_INVALID);  // 18 bytes do not divide
  EXPECT_EQ(told("r", {}), TW_ERR_INVALID);              // the shape is unknown
}

TEST_F(VpOpening, OfAnArrayOneVpCannotTellTheRecord) {
  put("aaabbbcccAAABBBCCC");
  for (const char* mode : {"r", "r+"}) {
    on_vpfile(2, mode, {.shape = {3}}, [&](tw_vpfile* file, int) {
      char bytes[40];
      int byte = 0;
      const std::int64_t vp = number(file, 0);
      EXPECT_EQ(tw_vpfile_read(file, vp, bytes, 1, nullptr), TW_ERR_INVALID);
      EXPECT_NE(std::string(tw_last_error()).find("record_bytes"), std::string::npos) << tw_last_error();
      EXPECT_EQ(get_byte(file, vp, &byte), TW_ERR_INVALID);
      EXPECT_EQ(tw_vpfile_gets_all(file, bytes, 10, nullptr, nullptr), TW_ERR_INVALID);
      EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_END), TW_OK);
      EXPECT_EQ(tw_vpfile_write(file, vp, "x", 1, nullptr),
                *mode == 'r' && mode[1] == 0 ? TW_ERR_MODE : TW_ERR_INVALID);
      EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 4), nullptr, nullptr), TW_ERR_INVALID);
      std::uint8_t mask[3] = {0, 1, 1};
      EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 3), mask, nullptr), TW_ERR_INVALID);
    });
  }
  EXPECT_EQ(content(), "aaabbbcccAAABBBCCC");
}

TEST_F(VpOpening, AnArrayBecomesMoreWhenMoreIsAdded) {
  put("aaabbbcccAAABBBCCC");
  on_vpfile(2, "r+", {.shape = {3}}, [](tw_vpfile* file, int) {
    std::string bytes(3 * locals(file), 'x');
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(bytes.data(), 3), nullptr, nullptr), TW_OK) << tw_last_error();
    const std::int64_t vp = number(file, 0);
    EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_END), TW_OK);
    EXPECT_EQ(put_text(file, vp, "and more"), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(streams(), (Texts{"xxxAAAand more", "xxxBBB", "xxxCCCand more"}));
}

TEST_F(VpOpening, AnEmptyFileIsAnArrayOfNothing) {
  put("");
  EXPECT_EQ(streams({.shape = {3}}), (Texts{"", "", ""}));
  on_vpfile(2, "a", {.shape = {3}}, [](tw_vpfile* file, int) {
    EXPECT_EQ(tw_vpfile_puts_all(file, "new", nullptr, nullptr), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(streams(), (Texts{"new", "new", "new"}));
}

// ---- Other tasks, other types

TEST_F(VpOpening, AnyNumberOfTasksReadsWhatAnyOtherWrote) {
  for (const int writers : {1, 2, 3, 5}) {
    on_vpfile(writers, "w", {.shape = {2, 3}}, [](tw_vpfile* file, int) {
      for (std::size_t i = 0; i < locals(file); ++i) {
        const std::int64_t vp = number(file, i);
        const std::string text = text_of(static_cast<int>(vp), static_cast<std::size_t>(40 * vp));
        EXPECT_EQ(tw_vpfile_write(file, vp, text.data(), text.size(), nullptr), TW_OK) << tw_last_error();
      }
    });
    for (const int readers : {1, 2, 3, 5}) {
      on_vpfile(readers, "r", {.shape = {2, 3}}, [](tw_vpfile* file, int) {
        for (std::size_t i = 0; i < locals(file); ++i) {
          const std::int64_t vp = number(file, i);
          EXPECT_EQ(stream_of(file, vp), text_of(static_cast<int>(vp), static_cast<std::size_t>(40 * vp)));
        }
      });
    }
  }
}

TEST_F(VpOpening, BytesAreReadAsWhatTheReaderLikes) {
  on_vpfile(2, "w", {.shape = {4}}, [](tw_vpfile* file, int) {
    std::vector<std::uint64_t> values(locals(file), 0x0807060504030201);
    EXPECT_EQ(tw_vpfile_write_all(file, {values.data(), 8, 1, nullptr, 0, nullptr}, nullptr, nullptr), TW_OK);
  });
  on_vpfile(1, "r", {}, [](tw_vpfile* file, int) {
    std::vector<std::uint16_t> values(4 * 3);
    std::vector<std::int64_t> counts(4);
    EXPECT_EQ(tw_vpfile_read_all(file, {values.data(), 2, 3, nullptr, 0, nullptr}, nullptr, counts.data()), TW_OK);
    EXPECT_EQ(values[2], 0x0605);
    EXPECT_EQ(counts[3], 3u);
    EXPECT_EQ(tw_vpfile_read_all(file, {values.data(), 2, 3, nullptr, 0, nullptr}, nullptr, counts.data()), TW_OK);
    EXPECT_EQ(counts[3], 1u);
    EXPECT_EQ(eofs(file), (Flags{1, 1, 1, 1}));
  });
}

}  // namespace
}  // namespace thalweg::test
