// The calls of vpfile.h: bytes moved, results, and no change by a failed call.
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>

#include "support/files/vp_files.hpp"
#include "support/models/mixed_calls.hpp"

namespace thalweg::test {
namespace {

class VpCalls : public VpFiles {};

// ---- All VPs: data

TEST_F(VpCalls, VpsThatAreAlikeArePassedByAndGapsSkipped) {
  constexpr std::int64_t kVps = 1'000'000;
  tw_vpfile* file = open_vp("w", {.shape = {kVps}});
  EXPECT_EQ(tw_vpfile_write(file, 7, "seven", 5, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_seek(file, 7, std::int64_t{1} << 50, SEEK_SET), TW_OK);
  EXPECT_EQ(tw_vpfile_write(file, 7, "far", 3, nullptr), TW_OK);
  std::int64_t last = -1, skipped = -1;
  EXPECT_EQ(tw_vpfile_alike(file, 0, &last), TW_ERR_MODE);
  EXPECT_EQ(tw_vpfile_skip_gap(file, 0, &skipped), TW_ERR_MODE);
  close(file);
  file = open_vp("r");

  EXPECT_EQ(tw_vpfile_alike(file, 500'000, &last), TW_OK);
  EXPECT_EQ(last, kVps - 1);
  EXPECT_EQ(tw_vpfile_alike(file, 7, &last), TW_OK);
  EXPECT_EQ(last, 7);
  EXPECT_EQ(tw_vpfile_alike(file, 7, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_seek(file, 7, 1000, SEEK_SET), TW_OK);
  EXPECT_EQ(tw_vpfile_skip_gap(file, 7, &skipped), TW_OK);
  EXPECT_EQ(skipped, (std::int64_t{1} << 50) - 1000);
  char text[4] = {};
  EXPECT_EQ(tw_vpfile_read(file, 7, text, 3, nullptr), TW_OK);
  EXPECT_STREQ(text, "far");
  close(file);
}

TEST_F(VpCalls, PackedRecordsOfAllAreThePlainArray) {
  on_vpfile(3, "w", {.shape = {3, 2}}, [](tw_vpfile* file, int task) {
    const std::string mine =
        std::string(4, static_cast<char>('a' + 2 * task)) + std::string(4, static_cast<char>('b' + 2 * task));
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(mine.data(), 4), nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(last_mode(file), TW_VPFILE_NB);
  });

  EXPECT_EQ(content(), "aaaabbbbccccddddeeeeffff");
}

TEST_F(VpCalls, ItemsOfAVpLieApart) {
  tw_vpfile* file = open_vp("w+", {.shape = {2}});
  const std::string memory = "a.b.c.d.";
  tw_vpfile_data data{const_cast<char*>(memory.data()), 1, 2, nullptr, 2, nullptr};
  const std::int64_t back_to_front[] = {-4};
  data.base = const_cast<char*>(memory.data()) + 4;
  data.vp_strides = back_to_front;

  EXPECT_EQ(tw_vpfile_write_all(file, data, nullptr, nullptr), TW_OK) << tw_last_error();

  EXPECT_EQ(cause(file), "memory is not packed");
  EXPECT_EQ(stream_of(file, 0), "cd");
  EXPECT_EQ(stream_of(file, 1), "ab");
  std::string read(8, '.');
  data.base = read.data() + 4;
  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_read_all(file, data, nullptr, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(read, memory);
  close(file);
}

TEST_F(VpCalls, ABoxOfAnArrayWithGhostCells) {
  on_team(2, [&](tw_group* group, int task) {
    tw_vpfile* file = open_vp(group, "w+", {.shape = {2, 3}});
    std::vector<int> field(5 * 3, -1);
    for (int i = 0; i < 3; ++i) field[static_cast<std::size_t>(5 + 1 + i)] = 10 * task + i;
    const std::int64_t strides[] = {5 * sizeof(int), sizeof(int)};
    const tw_vpfile_data data{field.data() + 6, sizeof(int), 1, nullptr, 0, strides};

    EXPECT_EQ(tw_vpfile_write_all(file, data, nullptr, nullptr), TW_OK) << tw_last_error();

    EXPECT_EQ(last_mode(file), TW_VPFILE_NB);  // one row of one record
    std::vector<int> back(15, -1);
    const tw_vpfile_data into{back.data() + 6, sizeof(int), 1, nullptr, 0, strides};
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    EXPECT_EQ(tw_vpfile_read_all(file, into, nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(back, field);
    close(file);
  });
}

TEST_F(VpCalls, RaggedDataLieOneBehindTheOther) {
  on_vpfile(2, "w+", {.shape = {6}}, [](tw_vpfile* file, int task) {
    const std::int64_t each[] = {2, 0, 3};
    const std::string text = task == 0 ? "aaccc" : "ddfff";
    tw_vpfile_data data{const_cast<char*>(text.data()), 1, 0, each, 0, nullptr};
    std::int64_t counts[3] = {9, 9, 9};

    EXPECT_EQ(tw_vpfile_write_all(file, data, nullptr, counts), TW_OK) << tw_last_error();

    EXPECT_EQ(counts[0] * 100 + counts[1] * 10 + counts[2], 203u);
    EXPECT_EQ(cause(file), "numbers of bytes differ");
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    std::string back(15, '.');
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(back.data(), 5), nullptr, counts), TW_OK) << tw_last_error();
    EXPECT_EQ(counts[0] + counts[1] + counts[2], 0u);  // no whole item of 5 bytes
    EXPECT_EQ(positions(file), (Positions{2, 0, 3}));
    EXPECT_EQ(eofs(file), (Flags{1, 1, 1}));
  });

  EXPECT_EQ(streams(), (Texts{"aa", "", "ccc", "dd", "", "fff"}));
}

TEST_F(VpCalls, MaskedDataHaveNoRoomWherePackedAndRoomWhereStrided) {
  on_vpfile(2, "w", {.shape = {6}}, [](tw_vpfile* file, int task) {
    const std::uint8_t mask[] = {1, 0, 1};
    const std::string text = task == 0 ? "aac" : "ddf";
    const std::int64_t each[] = {2, 77, 1};
    tw_vpfile_data data{const_cast<char*>(text.data()), 1, 0, each, 0, nullptr};
    std::int64_t counts[3] = {9, 9, 9};
    EXPECT_EQ(tw_vpfile_write_all(file, data, mask, counts), TW_OK) << tw_last_error();
    EXPECT_EQ(counts[0] * 100 + counts[1] * 10 + counts[2], 201u);
    EXPECT_EQ(cause(file), "some take no part");

    const std::string room = "x.y";
    const std::int64_t stride[] = {1};
    data = {const_cast<char*>(room.data()), 1, 1, nullptr, 0, stride};
    EXPECT_EQ(tw_vpfile_write_all(file, data, mask, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(positions(file), (Positions{3, 0, 2}));
  });

  EXPECT_EQ(streams(), (Texts{"aax", "", "cy", "ddx", "", "fy"}));
}

TEST_F(VpCalls, AMaskOfOneTaskAloneIsEnough) {
  on_processes(3, 2, [&](tw_group* group, int task) {
    tw_vpfile* file = open_vp(group, "w", {.shape = {6}});
    const char byte = static_cast<char>('a' + task);
    const std::uint8_t mask = task == 4 ? 0 : 1;
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(&byte, 1), task == 4 ? &mask : nullptr, nullptr), TW_OK);
    EXPECT_EQ(cause(file), "some take no part");
    close(file);
  });

  EXPECT_EQ(streams(), (Texts{"a", "b", "c", "d", "", "f"}));
}

TEST_F(VpCalls, NothingIsMovedWhereAllAreMaskedOrMoveNothing) {
  on_vpfile(2, "w+", {.shape = {4}}, [](tw_vpfile* file, int) {
    const std::uint8_t none[] = {0, 0};
    const std::int64_t zero[] = {0, 0};
    char byte = 'x';
    std::int64_t counts[2] = {5, 5};
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(&byte, 1), none, counts), TW_OK) << tw_last_error();
    EXPECT_EQ(counts[0] + counts[1], 0);
    EXPECT_EQ(tw_vpfile_write_all(file, {&byte, 1, 0, zero, 0, nullptr}, nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_write_all(file, {nullptr, 1, 0, nullptr, 0, nullptr}, nullptr, nullptr), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(&byte, 1), none, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(eofs(file), (Flags{0, 0}));
    EXPECT_EQ(summary(file).mode, TW_VPFILE_NB);
  });

  EXPECT_EQ(streams(), (Texts{"", "", "", ""}));
}

TEST_F(VpCalls, StreamsEndInTheMiddleOfARead) {
  put_streams({"12345", "12", "", "1234567"});

  for (const int tasks : {1, 2, 3}) {
    on_team(tasks, [&](tw_group* group, int) {
      tw_vpfile* file = open_vp(group, "r");
      const std::size_t n = locals(file);
      std::vector<char> bytes(6 * n, '.');
      std::vector<std::int64_t> counts(n + 1);
      const std::int64_t stride[] = {6};
      const tw_vpfile_data data{bytes.data(), 2, 3, nullptr, 0, stride};
      EXPECT_EQ(tw_vpfile_read_all(file, data, nullptr, counts.data()), TW_OK) << tw_last_error();
      for (std::size_t i = 0; i < n; ++i) {
        const auto vp = static_cast<std::size_t>(number(file, i));
        static const std::int64_t whole[] = {2, 1, 0, 3};
        static const char* const there[] = {"12345.", "12....", "......", "123456"};
        static const std::uint8_t eof[] = {1, 1, 1, 0};
        EXPECT_EQ(counts[i], whole[vp]);
        EXPECT_EQ(std::string(&bytes[6 * i], 6), there[vp]);
        EXPECT_EQ(eofs(file)[i], eof[vp]);
      }
      close(file);
    });
  }
}

TEST_F(VpCalls, WhatIsWrongOnOneTaskIsHeardByAll) {
  on_vpfile(3, "w+", {.shape = {3}}, [](tw_vpfile* file, int task) {
    char byte = 'x';
    const bool bad = task == 1;
    const auto wrong = [&](tw_vpfile_data data) {
      std::int64_t count = 7;
      EXPECT_EQ(tw_vpfile_write_all(file, bad ? data : TW_VPFILE_PACKED(&byte, 1), nullptr, &count), TW_ERR_INVALID);
      EXPECT_EQ(count, 0);
      EXPECT_EQ(tw_vpfile_read_all(file, bad ? data : TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr), TW_ERR_INVALID);
    };
    wrong({&byte, 0, 1, nullptr, 0, nullptr});
    wrong({nullptr, 1, 1, nullptr, 0, nullptr});
    EXPECT_EQ(tw_vpfile_write_all(file,
                                  bad ? tw_vpfile_data{&byte, 8, SIZE_MAX / 4, nullptr, 0, nullptr}
                                      : tw_vpfile_data{&byte, 1, 1, nullptr, 0, nullptr},
                                  nullptr, nullptr),
              TW_ERR_RANGE);
    EXPECT_EQ(task == 2 ? tw_vpfile_read_all(file, TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr)
                        : tw_vpfile_write_all(file, TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr),
              TW_ERR_INVALID);
    EXPECT_EQ(positions(file), (Positions{0}));
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr), TW_OK) << tw_last_error();
  });

  EXPECT_EQ(content(), "xxx");
}

TEST_F(VpCalls, AStreamMustNotGetTooLong) {
  on_vpfile(2, "w+", {.shape = {2}}, [](tw_vpfile* file, int task) {
    char byte = 'x';
    EXPECT_EQ(tw_vpfile_seek_all(file, INT64_MAX - 1, nullptr, SEEK_SET, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr), TW_ERR_RANGE);
    EXPECT_EQ(tw_vpfile_write(file, task, &byte, 1, nullptr), TW_ERR_RANGE);
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(eofs(file), (Flags{1}));
    EXPECT_EQ(tw_vpfile_seek_all(file, 2, nullptr, SEEK_CUR, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(positions(file), (Positions{INT64_MAX - 1}));
  });
  EXPECT_EQ(streams(), (Texts{"", ""}));
}

TEST_F(VpCalls, MoreTasksThanVps) {
  for (const char* hints : {"", "assume_nb=on"}) {
    on_vpfile(5, "w+", {.shape = {2}, .hints = hints}, [](tw_vpfile* file, int task) {
      const std::string mine = task < 2 ? std::string(3, static_cast<char>('a' + task)) : "";
      std::string back(mine.size(), '.');
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(mine.data(), 3), nullptr, nullptr), TW_OK)
          << tw_last_error();
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(mine.data(), 3), nullptr, nullptr), TW_OK)
          << tw_last_error();
      EXPECT_EQ(tw_vpfile_seek_all(file, 3, nullptr, SEEK_SET, nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(back.data(), 3), nullptr, nullptr), TW_OK) << tw_last_error();
      EXPECT_EQ(back, mine);
    });

    EXPECT_EQ(content(), "aaabbbaaabbb");
  }
}

// ---- All VPs: positions and flags

TEST_F(VpCalls, SeekOfAllInEveryForm) {
  put_streams({"0123456789", "012345678", "01234567"});
  tw_vpfile* file = open_vp("r");

  EXPECT_EQ(tw_vpfile_seek_all(file, 4, nullptr, SEEK_SET, nullptr), TW_OK);
  EXPECT_EQ(positions(file), (Positions{4, 4, 4}));
  EXPECT_EQ(tw_vpfile_seek_all(file, -1, nullptr, SEEK_CUR, nullptr), TW_OK);
  EXPECT_EQ(positions(file), (Positions{3, 3, 3}));
  EXPECT_EQ(tw_vpfile_seek_all(file, -1, nullptr, SEEK_END, nullptr), TW_OK);
  EXPECT_EQ(positions(file), (Positions{9, 8, 7}));
  const std::int64_t offsets[] = {1, 2, 3};
  const std::uint8_t mask[] = {1, 0, 1};
  EXPECT_EQ(tw_vpfile_seek_all(file, 99, offsets, SEEK_SET, mask), TW_OK);
  EXPECT_EQ(positions(file), (Positions{1, 8, 3}));
  EXPECT_EQ(tw_vpfile_seek_all(file, 2, nullptr, SEEK_CUR, mask), TW_OK);
  EXPECT_EQ(positions(file), (Positions{3, 8, 5}));
  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, mask), TW_OK);
  EXPECT_EQ(positions(file), (Positions{0, 8, 0}));
  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
  EXPECT_EQ(positions(file), (Positions{0, 0, 0}));
  close(file);
}

TEST_F(VpCalls, FailedSeeksChangeNothing) {
  put_streams({"0123456789", "012"});
  tw_vpfile* file = open_vp("r");
  const std::int64_t offsets[] = {2, -1};
  char bytes[8];
  EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 4), nullptr, nullptr), TW_OK);
  const auto expect_unchanged = [&] {
    EXPECT_EQ(positions(file), (Positions{4, 3}));
    EXPECT_EQ(eofs(file), (Flags{0, 1}));
  };
  expect_unchanged();

  EXPECT_EQ(tw_vpfile_seek_all(file, 0, offsets, SEEK_SET, nullptr), TW_ERR_INVALID);
  expect_unchanged();
  EXPECT_EQ(tw_vpfile_seek_all(file, -4, nullptr, SEEK_CUR, nullptr), TW_ERR_INVALID);
  expect_unchanged();
  EXPECT_EQ(tw_vpfile_seek_all(file, -4, nullptr, SEEK_END, nullptr), TW_ERR_INVALID);
  expect_unchanged();
  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, 77, nullptr), TW_ERR_INVALID);
  expect_unchanged();
  EXPECT_EQ(tw_vpfile_seek_all(file, INT64_MAX, nullptr, SEEK_CUR, nullptr), TW_ERR_INVALID);
  expect_unchanged();
  EXPECT_EQ(tw_vpfile_seek(file, 1, -4, SEEK_END), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_seek(file, 1, -1, SEEK_SET), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_seek(file, 1, 0, -1), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_seek(file, 2, 0, SEEK_SET), TW_ERR_INVALID);
  expect_unchanged();
  close(file);
}

TEST_F(VpCalls, FlagsAreClearedBySeeking) {
  put_streams({"a", "b", "c"});
  tw_vpfile* file = open_vp("r");
  const std::uint8_t first[] = {1, 0, 0};
  const std::uint8_t last[] = {0, 0, 1};
  char bytes[6];
  EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 2), nullptr, nullptr), TW_OK);
  EXPECT_EQ(eofs(file), (Flags{1, 1, 1}));

  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_CUR, first), TW_OK);
  EXPECT_EQ(eofs(file), (Flags{0, 1, 1}));
  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, last), TW_OK);
  EXPECT_EQ(eofs(file), (Flags{0, 1, 0}));
  EXPECT_EQ(tw_vpfile_seek(file, 1, 0, SEEK_CUR), TW_OK);
  EXPECT_EQ(eofs(file), (Flags{0, 0, 0}));
  EXPECT_EQ(positions(file), (Positions{1, 1, 0}));
  EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 2), nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_CUR, nullptr), TW_OK);
  EXPECT_EQ(eofs(file), (Flags{0, 0, 0}));
  EXPECT_EQ(errors(file), (Flags{0, 0, 0}));
  EXPECT_EQ(tw_vpfile_tell_all(file, nullptr, nullptr, nullptr), TW_OK);
  close(file);
}

// ---- All VPs: characters and text

TEST_F(VpCalls, CharactersOfAll) {
  on_vpfile(2, "w+", {.shape = {4}}, [](tw_vpfile* file, int task) {
    const int own[] = {'a' + 2 * task, 'b' + 2 * task};
    const std::uint8_t second[] = {0, 1};
    EXPECT_EQ(tw_vpfile_putc_all(file, '-', nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_putc_all(file, '-', own, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(last_mode(file), TW_VPFILE_NB);
    EXPECT_EQ(tw_vpfile_putc_all(file, '+', nullptr, second), TW_OK) << tw_last_error();

    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    int bytes[2] = {7, 7};
    EXPECT_EQ(tw_vpfile_getc_all(file, bytes, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(bytes[0] * 1000 + bytes[1], '-' * 1000 + '-');
    EXPECT_EQ(tw_vpfile_getc_all(file, bytes, second), TW_OK) << tw_last_error();
    EXPECT_EQ(bytes[0], -1);
    EXPECT_EQ(bytes[1], own[1]);
    EXPECT_EQ(tw_vpfile_getc_all(file, bytes, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(bytes[0], own[0]);
    EXPECT_EQ(bytes[1], '+');
    EXPECT_EQ(tw_vpfile_getc_all(file, bytes, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(bytes[0], -1);
    EXPECT_EQ(eofs(file), (Flags{1, 1}));
    EXPECT_EQ(tw_vpfile_getc_all(file, task == 0 ? nullptr : bytes, nullptr), TW_ERR_INVALID);
  });
}

TEST_F(VpCalls, WhatIsPushedBackIsReadFirstByAll) {
  put_streams({"abc", "ABC"});
  tw_vpfile* file = open_vp("r");
  char bytes[6];
  const int own[] = {'x', 'y'};
  EXPECT_EQ(tw_vpfile_ungetc_all(file, 'z', nullptr, nullptr), TW_ERR_INVALID);  // at position 0
  EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 2), nullptr, nullptr), TW_OK);

  EXPECT_EQ(tw_vpfile_ungetc_all(file, 'z', nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_ungetc_all(file, 0, own, nullptr), TW_OK);

  EXPECT_EQ(positions(file), (Positions{0, 0}));
  EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 3), nullptr, nullptr), TW_OK);
  EXPECT_EQ(std::string(bytes, 6), "xzcyzC");
  EXPECT_EQ(positions(file), (Positions{3, 3}));
  close(file);
}

// As with ungetc(3): pushing back EOF has no effect.
TEST_F(VpCalls, PushingBackTheEndHasNoEffect) {
  put_streams({"a", "AB"});
  tw_vpfile* file = open_vp("r");
  int bytes[2] = {};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(tw_vpfile_getc_all(file, bytes, nullptr), TW_OK);
  EXPECT_EQ(bytes[0], -1);
  EXPECT_EQ(bytes[1], 'B');

  EXPECT_EQ(tw_vpfile_ungetc_all(file, 0, bytes, nullptr), TW_OK) << tw_last_error();

  EXPECT_EQ(positions(file), (Positions{1, 1}));
  EXPECT_EQ(eofs(file), (Flags{1, 0}));
  EXPECT_EQ(tw_vpfile_getc_all(file, bytes, nullptr), TW_OK);
  EXPECT_EQ(bytes[0], -1);
  EXPECT_EQ(bytes[1], 'B');
  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_ungetc_all(file, -1, nullptr, nullptr), TW_OK) << "also at the beginning";
  close(file);
}

TEST_F(VpCalls, SeekAndRewindOfAllTakeBackWhatWasPushedBack) {
  for (const int way : {0, 1, 2, 3}) {
    put_streams({"abc", "abc"});
    tw_vpfile* file = open_vp("r");
    char bytes[4];
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 2), nullptr, nullptr), TW_OK);
    EXPECT_EQ(tw_vpfile_ungetc_all(file, 'z', nullptr, nullptr), TW_OK);
    if (way == 0) {
      EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    }
    if (way == 1) {
      EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    }
    if (way == 2) {
      EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_CUR, nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_seek_all(file, -1, nullptr, SEEK_CUR, nullptr), TW_OK);
    }
    if (way == 3) {
      EXPECT_EQ(tw_vpfile_seek(file, 0, 0, SEEK_SET), TW_OK);
      EXPECT_EQ(tw_vpfile_seek(file, 1, 0, SEEK_SET), TW_OK);
    }
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 2), nullptr, nullptr), TW_OK);
    EXPECT_EQ(std::string(bytes, 4), "abab") << way;
    close(file);
  }
}

TEST_F(VpCalls, WritingTakesBackWhatWasPushedBack) {
  put_streams({"abc", "abc"});
  tw_vpfile* file = open_vp("r+");
  char bytes[4];
  EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(bytes, 2), nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_ungetc_all(file, 'z', nullptr, nullptr), TW_OK);

  EXPECT_EQ(tw_vpfile_putc_all(file, '!', nullptr, nullptr), TW_OK);

  EXPECT_EQ(stream_of(file, 0), "a!c");
  EXPECT_EQ(stream_of(file, 1), "a!c");
  close(file);
}

TEST_F(VpCalls, TextOfAll) {
  on_vpfile(2, "w+", {.shape = {4}}, [](tw_vpfile* file, int task) {
    const char* const own[] = {task == 0 ? "one\n" : "three\n", task == 0 ? "two, long\n" : ""};
    EXPECT_EQ(tw_vpfile_puts_all(file, "same\n", nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(last_mode(file), TW_VPFILE_NB);
    EXPECT_EQ(tw_vpfile_puts_all(file, nullptr, own, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_puts_all(file, task == 1 ? nullptr : "x", nullptr, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);

    char lines[2][8];
    std::size_t got[2] = {99, 99};
    EXPECT_EQ(tw_vpfile_gets_all(file, lines[0], 8, got, nullptr), TW_OK) << tw_last_error();
    EXPECT_STREQ(lines[0], "same\n");
    EXPECT_STREQ(lines[1], "same\n");
    EXPECT_EQ(got[0] + got[1], 10u);
    EXPECT_EQ(tw_vpfile_gets_all(file, lines[0], 8, got, nullptr), TW_OK) << tw_last_error();
    EXPECT_STREQ(lines[0], task == 0 ? "one\n" : "three\n");
    EXPECT_STREQ(lines[1], task == 0 ? "two, lo" : "");
    const std::uint8_t second[] = {0, 1};
    std::strcpy(lines[0], "kept");
    EXPECT_EQ(tw_vpfile_gets_all(file, lines[0], 8, got, second), TW_OK) << tw_last_error();
    EXPECT_STREQ(lines[0], "kept");
    EXPECT_EQ(got[0], 0u);
    EXPECT_STREQ(lines[1], task == 0 ? "ng\n" : "");
    EXPECT_EQ(tw_vpfile_gets_all(file, lines[0], task == 1 ? 0 : 8, nullptr, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_gets_all(file, task == 1 ? nullptr : lines[0], 8, nullptr, nullptr), TW_ERR_INVALID);
  });
}

TEST_F(VpCalls, PrintfAndScanfOfAll) {
  on_vpfile(2, "w+", {.shape = {4}}, [](tw_vpfile* file, int task) {
    int number[] = {10 * task, 10 * task + 1};
    long big[] = {1L << 40, -5};
    double real = 0.5;
    const char* name[] = {"left", "right"};
    const tw_vpfile_argument out[] = {{number, sizeof(int)}, {big, sizeof(long)}, {&real, 0}, {name, sizeof(char*)}};
    std::size_t counts[2];
    EXPECT_EQ(tw_vpfile_printf_all(file, "%d %ld %g%% %s\n", out, 4, counts, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(counts[0], std::to_string(number[0]).size() + 25);
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);

    int n[2] = {};
    long l[2] = {};
    double d[2] = {};
    char s[2][10] = {};
    std::int64_t done[2] = {};
    const tw_vpfile_argument in[] = {{n, sizeof(int)}, {l, sizeof(long)}, {d, sizeof(double)}, {s, 10}};
    EXPECT_EQ(tw_vpfile_scanf_all(file, "%d %ld %lf%% %9s", in, 4, done, nullptr), TW_OK) << tw_last_error();
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(done[i], 4);
      EXPECT_EQ(n[i], number[i]);
      EXPECT_EQ(l[i], big[i]);
      EXPECT_EQ(d[i], 0.5);
      EXPECT_STREQ(s[i], name[i]);
    }
    EXPECT_EQ(tw_vpfile_scanf_all(file, " %d", in, 1, done, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(done[0], -1);
    EXPECT_EQ(eofs(file), (Flags{1, 1}));
  });
  const auto all = streams();
  EXPECT_EQ(all[0], "0 1099511627776 0.5% left\n");
  EXPECT_EQ(all[3], "11 -5 0.5% right\n");
}

TEST_F(VpCalls, EveryConversionIsThatOfPrintf) {
  tw_vpfile* file = open_vp("w+", {.shape = {1}});
  std::string expected;
  char text[200];
  const auto both = [&](const char* format, auto value) {
    const tw_vpfile_argument argument{&value, 0};
    EXPECT_EQ(tw_vpfile_printf_all(file, format, &argument, 1, nullptr, nullptr), TW_OK) << format << tw_last_error();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    std::snprintf(text, sizeof text, format, value);
#pragma GCC diagnostic pop
    expected += text;
  };
  both("%+5d|", 7);
  both("%hd|", 70000);
  both("%hhi|", 300);
  both("%lld|", -(1LL << 60));
  both("%jd|", std::intmax_t{-3});
  both("%td|", std::ptrdiff_t{4});
  both("%zu|", std::size_t{5});
  both("%#o|", 8u);
  both("%lx|", 1UL << 36);
  both("%llX|", 255ULL);
  both("%-8.3f|", 3.14159);
  both("%Le|", 2.5L);
  both("%G|", 1e-10);
  both("%a|", 1.0);
  both("%c|", static_cast<int>('q'));
  both("%.2s|", static_cast<const char*>("abc"));
  both("%p|", static_cast<const void*>(file));
  EXPECT_EQ(stream_of(file, 0), expected);
  close(file);
}

TEST_F(VpCalls, FormatsAndArgumentsThatDoNotFitAreRefusedOnAll) {
  on_vpfile(2, "w+", {.shape = {2}}, [](tw_vpfile* file, int task) {
    int value = 0;
    const tw_vpfile_argument argument{&value, 0};
    const tw_vpfile_argument null{nullptr, 0};
    const auto print = [&](const char* format, const tw_vpfile_argument* arguments, std::size_t n) {
      return task == 0 ? tw_vpfile_printf_all(file, "%d", &argument, 1, nullptr, nullptr)
                       : tw_vpfile_printf_all(file, format, arguments, n, nullptr, nullptr);
    };
    const auto scan = [&](const char* format, const tw_vpfile_argument* arguments, std::size_t n) {
      return task == 0 ? tw_vpfile_scanf_all(file, "%d", &argument, 1, nullptr, nullptr)
                       : tw_vpfile_scanf_all(file, format, arguments, n, nullptr, nullptr);
    };
    for (const char* format : {"%n", "%*d", "%", "%5", "%y", "%d%d", "", "%1$d"})
      EXPECT_EQ(print(format, &argument, 1), TW_ERR_INVALID) << format;
    for (const char* format : {"%n", "%", "%5", "%y", "%d%d", "", "%*d", "%[a", "%ms"})
      EXPECT_EQ(scan(format, &argument, 1), TW_ERR_INVALID) << format;
    EXPECT_EQ(print(nullptr, &argument, 1), TW_ERR_INVALID);
    EXPECT_EQ(print("%d", nullptr, 1), TW_ERR_INVALID);
    EXPECT_EQ(print("%d", &null, 1), TW_ERR_INVALID);
    EXPECT_EQ(print("%d", nullptr, 0), TW_ERR_INVALID);
    EXPECT_EQ(scan(nullptr, &argument, 1), TW_ERR_INVALID);
    EXPECT_EQ(scan("%d", &null, 1), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_printf_all(file, "no argument, 100%%", nullptr, 0, nullptr, nullptr), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(streams(), (Texts{"no argument, 100%", "no argument, 100%"}));
}

TEST_F(VpCalls, ScanfTakesWhatItsFormatSays) {
  put_streams({"7;x=8,rest", "9;y=8,rest", "7;x="});
  tw_vpfile* file = open_vp("r");
  int first[3] = {};
  int second[3] = {};
  std::int64_t done[3] = {};
  const tw_vpfile_argument in[] = {{first, sizeof(int)}, {second, sizeof(int)}};
  EXPECT_EQ(tw_vpfile_scanf_all(file, "%d;x=%d,%*[rs]", in, 2, done, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(done[0], 2);
  EXPECT_EQ(done[1], 1);
  EXPECT_EQ(done[2], 1);
  EXPECT_EQ(positions(file), (Positions{7, 2, 4}));
  close(file);
}

// ---- Flush and sync

TEST_F(VpCalls, FlushAndSyncOfAll) {
  on_vpfile(2, "w+", {.shape = {4}}, [](tw_vpfile* file, int) {
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_puts_all(file, "ab", nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_puts_all(file, "c", nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(last_mode(file), TW_VPFILE_CB);
    EXPECT_EQ(tw_vpfile_sync_all(file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_write(file, number(file, 1), "defg", 4, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_flush(file, number(file, 1)), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_sync_all(file), TW_OK) << tw_last_error();
    EXPECT_EQ(put_text(file, number(file, 1), "h"), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(streams(), (Texts{"abc", "abcdefgh", "abc", "abcdefgh"}));

  tw_vpfile* file = open_vp("r");
  EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK);
  EXPECT_EQ(tw_vpfile_sync_all(file), TW_OK);
  EXPECT_EQ(tw_vpfile_flush(file, 0), TW_OK);
  close(file);
}

// ---- One VP

TEST_F(VpCalls, OneVpReadsAndWrites) {
  tw_vpfile* file = open_vp("w+", {.shape = {2, 2}});
  std::size_t moved = 9;
  std::int64_t at = -1;
  EXPECT_EQ(tw_vpfile_write(file, 3, "hello", 5, &moved), TW_OK) << tw_last_error();
  EXPECT_EQ(moved, 5u);
  EXPECT_EQ(tw_vpfile_write(file, 3, nullptr, 0, &moved), TW_OK);
  EXPECT_EQ(moved, 0u);
  EXPECT_EQ(tw_vpfile_tell(file, 3, &at, nullptr, nullptr), TW_OK);
  EXPECT_EQ(at, 5);
  EXPECT_EQ(tw_vpfile_seek(file, 3, -3, SEEK_END), TW_OK);
  char bytes[10] = "";
  EXPECT_EQ(tw_vpfile_read(file, 3, bytes, 10, &moved), TW_OK) << tw_last_error();
  EXPECT_EQ(std::string(bytes, moved), "llo");
  int eof = 0;
  int error = 1;
  EXPECT_EQ(tw_vpfile_tell(file, 3, nullptr, &eof, &error), TW_OK);
  EXPECT_EQ(eof, 1);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(tw_vpfile_seek(file, 3, 0, SEEK_CUR), TW_OK);
  EXPECT_EQ(tw_vpfile_tell(file, 3, nullptr, &eof, nullptr), TW_OK);
  EXPECT_EQ(eof, 0);
  EXPECT_EQ(tw_vpfile_tell(file, 0, nullptr, &eof, nullptr), TW_OK);
  EXPECT_EQ(eof, 0);
  EXPECT_EQ(tw_vpfile_tell(file, 0, nullptr, nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_seek(file, 3, 8, SEEK_SET), TW_OK);
  EXPECT_EQ(put_text(file, 3, "!"), TW_OK);
  EXPECT_EQ(stream_of(file, 3), std::string("hello\0\0\0!", 9));
  EXPECT_EQ(stream_of(file, 2), "");
  close(file);
  EXPECT_EQ(streams(), (Texts{"", "", "", std::string("hello\0\0\0!", 9)}));
}

// ---- FILE* of one VP

TEST_F(VpCalls, AFileOfOneVpReadsAndWritesText) {
  tw_vpfile* file = open_vp("w+", {.shape = {2}});
  FILE* stream = open_stdio(file, 1, "w+");
  EXPECT_EQ(std::fputs("first\nsecond", stream), 1);
  EXPECT_EQ(std::fprintf(stream, " %d %s\n", 42, "end"), 8);
  std::rewind(stream);
  EXPECT_EQ(std::getc(stream), 'f');
  EXPECT_EQ(std::ungetc('F', stream), 'F');
  char line[100];
  EXPECT_STREQ(std::fgets(line, sizeof line, stream), "First\n");
  int number = 0;
  char word[10] = "";
  EXPECT_EQ(std::fscanf(stream, "second %d %9s", &number, word), 2);
  EXPECT_EQ(number, 42);
  EXPECT_STREQ(word, "end");
  EXPECT_EQ(std::getc(stream), '\n');
  EXPECT_EQ(std::getc(stream), EOF);
  EXPECT_NE(std::feof(stream), 0);
  EXPECT_EQ(std::fseek(stream, -4, SEEK_END), 0);
  EXPECT_EQ(std::fputs("END", stream), 1);
  EXPECT_EQ(std::fclose(stream), 0);
  EXPECT_EQ(positions(file), (Positions{0, 19}));
  EXPECT_EQ(stream_of(file, 1), "first\nsecond 42 END\n");
  EXPECT_EQ(stream_of(file, 0), "");
  close(file);
}

TEST_F(VpCalls, AFileOfOneVpAppends) {
  put_streams({"one", "two"});
  tw_vpfile* file = open_vp("r+");
  FILE* stream = open_stdio(file, 0, "a");
  EXPECT_EQ(std::ftell(stream), 3);
  EXPECT_EQ(tw_vpfile_seek(file, 0, 0, SEEK_END), TW_OK);
  EXPECT_EQ(put_text(file, 0, " more"), TW_OK);
  EXPECT_EQ(std::fputs("!", stream), 1);
  EXPECT_EQ(std::fclose(stream), 0);
  EXPECT_EQ(stream_of(file, 0), "one more!");
  close(file);
}

TEST_F(VpCalls, AFileOfOneVpReadsTheLattice) {
  tw_vpfile* file = open_vp("w+", {.shape = {3}});
  EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED("aaabbbccc", 3), nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED("AABBCC", 2), nullptr, nullptr),
            TW_OK);  // in the buffer of a round
  FILE* stream = open_stdio(file, 1, "r+");
  EXPECT_EQ(std::ftell(stream), 5);
  std::rewind(stream);
  char text[10] = "";
  EXPECT_EQ(std::fread(text, 1, sizeof text, stream), 5u);
  EXPECT_STREQ(text, "bbbBB");
  EXPECT_EQ(std::fseek(stream, 4, SEEK_SET), 0);
  EXPECT_EQ(std::fputs("x", stream), 1);
  EXPECT_EQ(std::fclose(stream), 0);
  close(file);
  EXPECT_EQ(streams(), (Texts{"aaaAA", "bbbBx", "cccCC"}));
}

MixedCalls mixed_calls_of(tw_vpfile* file, std::int64_t vp, bool reads, bool writes) {
  MixedCalls calls;
  if (writes)
    calls.write = [=](const std::string& data) {
      EXPECT_EQ(tw_vpfile_write(file, vp, data.data(), data.size(), nullptr), TW_OK) << tw_last_error();
    };
  if (reads)
    calls.read = [=](std::size_t n) {
      std::string got(n, '?');
      EXPECT_EQ(tw_vpfile_read(file, vp, got.data(), n, &n), TW_OK) << tw_last_error();
      return got.substr(0, n);
    };
  calls.seek = [=](std::size_t to) {
    EXPECT_EQ(tw_vpfile_seek(file, vp, static_cast<std::int64_t>(to), SEEK_SET), TW_OK) << tw_last_error();
  };
  calls.tell = [=] {
    std::int64_t at = -1;
    EXPECT_EQ(tw_vpfile_tell(file, vp, &at, nullptr, nullptr), TW_OK) << tw_last_error();
    return at;
  };
  calls.size = [=] {
    std::int64_t bytes = -1;
    EXPECT_EQ(tw_vpfile_size(file, vp, &bytes), TW_OK) << tw_last_error();
    return bytes;
  };
  return calls;
}

TEST_F(VpCalls, AFileAndTheCallsOfTheHandleShareOnePosition) {
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    MixedModel model;
    tw_vpfile* file = open_vp("w+", {.shape = {3}});
    if (seed % 2 == 0) {  // begins with bytes in the lattice
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED("aaabbbccc", 3), nullptr, nullptr), TW_OK);
      model.write("bbb");
    }
    FILE* stream = open_stdio(file, 1, "r+");
    const MixedCalls calls = mixed_calls_of(file, 1, true, true);
    MixedProgram(seed, calls, stream, model).run(300);
    if (seed % 3 == 0) {
      EXPECT_EQ(std::fclose(std::exchange(stream, nullptr)), 0);
    }
    if (seed % 3 > 0) {
      EXPECT_EQ(calls.tell(), static_cast<std::int64_t>(model.position));
    }
    close(file);
    if (stream != nullptr) std::fclose(stream);
    ASSERT_TRUE(streams()[1] == model.bytes);

    file = open_vp("r");
    model.position = 0;
    stream = open_stdio(file, 1, "r");
    const MixedCalls reading = mixed_calls_of(file, 1, true, false);
    MixedProgram(seed, reading, stream, model).run(300);
    EXPECT_EQ(std::fclose(stream), 0);
    EXPECT_EQ(reading.tell(), static_cast<std::int64_t>(model.position)) << "what stdio had read ahead is given back";
    close(file);
  }
}

TEST_F(VpCalls, ACallOfAllVpsFollowsWhatFilesHaveGathered) {
  tw_vpfile* file = open_vp("w+", {.shape = {2}});
  FILE* stream = open_stdio(file, 1, "w+");
  EXPECT_EQ(std::fputs("in stdio ", stream), 1);
  EXPECT_EQ(tw_vpfile_puts_all(file, "of all", nullptr, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(positions(file), (Positions{6, 15}));
  EXPECT_EQ(tw_vpfile_seek_all(file, 3, nullptr, SEEK_SET, nullptr), TW_OK);
  EXPECT_EQ(std::getc(stream), 's');
  EXPECT_EQ(positions(file), (Positions{3, 4})) << "not where stdio has read to";
  EXPECT_EQ(std::ungetc('S', stream), 'S');
  int bytes[2] = {};
  EXPECT_EQ(tw_vpfile_getc_all(file, bytes, nullptr), TW_OK);
  EXPECT_EQ(bytes[1], 's') << "a byte that is not of the file is dropped";
  EXPECT_EQ(std::fputs("", stream), 1);
  EXPECT_EQ(std::fclose(stream), 0);
  EXPECT_EQ(stream_of(file, 1), "in stdio of all");
  close(file);
}

TEST_F(VpCalls, AFileThatCannotBeWrittenFailsTheFlushAndTheClose) {
  for (const bool moves : {false, true}) {
    tw_vpfile* file = open_vp("w+", {.shape = {2}});
    FILE* stream = open_stdio(file, 1, "w");
    EXPECT_EQ(fseeko(stream, (off_t{1} << 61) - 4, SEEK_SET), 0);
    EXPECT_EQ(std::fputs("0123456789", stream), 1);
    if (moves) {
      EXPECT_EQ(tw_vpfile_seek(file, 1, 0, SEEK_SET), TW_ERR_RANGE);
    }
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_ERR_RANGE);
    EXPECT_NE(std::ferror(stream), 0);
    EXPECT_EQ(put_text(file, 0, "kept"), TW_OK);
    EXPECT_EQ(tw_vpfile_sync_all(file), TW_ERR_RANGE);
    EXPECT_EQ(std::fclose(stream), EOF);
    EXPECT_EQ(tw_vpfile_close(&file), TW_ERR_RANGE);
  }
}

TEST_F(VpCalls, AFileThatIsLeftOpenIsFlushedByTheClose) {
  tw_vpfile* file = open_vp("w", {.shape = {2}});
  FILE* stream = open_stdio(file, 1, "w");
  EXPECT_EQ(std::fputs("flushed", stream), 1);
  close(file);
  EXPECT_EQ(std::fputs("too late", stream), 1);
  EXPECT_EQ(std::fflush(stream), EOF);
  EXPECT_EQ(errno, EBADF);
  EXPECT_NE(std::string(tw_last_error()).find("tw_vpfile_close"), std::string::npos) << tw_last_error();
  std::fclose(stream);
  EXPECT_EQ(streams(), (Texts{"", "flushed"}));
}

TEST_F(VpCalls, AFileIsRefusedAsTheModeSays) {
  put_streams({"text"});
  FILE* stream = nullptr;
  tw_vpfile* file = open_vp("r");
  for (const char* mode : {"w", "a", "r+", "w+", "a+", "x", ""}) {
    EXPECT_EQ(tw_vpfile_fopen(file, 0, mode, &stream), TW_ERR_MODE) << mode;
    EXPECT_EQ(stream, nullptr);
  }
  EXPECT_EQ(tw_vpfile_fopen(file, 1, "r", &stream), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_fopen(file, 0, nullptr, &stream), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_fopen(file, 0, "r", nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_fopen(nullptr, 0, "r", &stream), TW_ERR_INVALID);
  close(file);
  file = open_vp("w", {.shape = {1}});
  for (const char* mode : {"r", "r+", "w+", "a+"}) EXPECT_EQ(tw_vpfile_fopen(file, 0, mode, &stream), TW_ERR_MODE);
  close(file);
}

// EOF is set by reading beyond the end, not by reading up to it.
TEST_F(VpCalls, TextThatEndsWithTheStreamIsNotBeyondIt) {
  put_streams({"line\n", "12", "12\n"});
  tw_vpfile* file = open_vp("r");
  std::string lines(3 * 100, '.');
  EXPECT_EQ(tw_vpfile_gets_all(file, lines.data(), 100, nullptr, nullptr), TW_OK);
  EXPECT_EQ(eofs(file), (Flags{0, 1, 0}));
  const tw_vpfile_argument in[] = {{lines.data(), 100}};
  EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_scanf_all(file, "%2c", in, 1, nullptr, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(eofs(file), (Flags{0, 0, 0}));
  int numbers[3] = {};
  const tw_vpfile_argument number[] = {{numbers, sizeof(int)}};
  EXPECT_EQ(tw_vpfile_seek_all(file, -1, nullptr, SEEK_CUR, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_scanf_all(file, "%d", number, 1, nullptr, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(eofs(file), (Flags{0, 1, 0}));
  close(file);
}

TEST_F(VpCalls, ScanfAfterPushingBack) {
  put_streams({"x123 456"});
  tw_vpfile* file = open_vp("r");
  int byte = 0;
  int number = 0;
  const tw_vpfile_argument argument[] = {{&number, 0}};
  EXPECT_EQ(tw_vpfile_seek(file, 0, 2, SEEK_SET), TW_OK);
  EXPECT_EQ(tw_vpfile_ungetc_all(file, '9', nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_ungetc_all(file, '8', nullptr, nullptr), TW_OK);
  EXPECT_EQ(tw_vpfile_scanf_all(file, "%1d", argument, 1, nullptr, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(number, 8);
  EXPECT_EQ(get_byte(file, 0, &byte), TW_OK);
  EXPECT_EQ(byte, '9');
  EXPECT_EQ(tw_vpfile_scanf_all(file, "%d", argument, 1, nullptr, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(number, 23);
  close(file);
}

TEST_F(VpCalls, LongLinesAndTexts) {
  const std::string text = text_of(3, 5000);
  put_streams({text + "\n" + text});
  tw_vpfile* file = open_vp("r");
  std::string line(6000, '.');
  std::size_t got = 0;
  EXPECT_EQ(tw_vpfile_gets_all(file, line.data(), line.size(), &got, nullptr), TW_OK);
  EXPECT_EQ(line.substr(0, got), text + "\n");
  std::string word(6000, '.');
  const tw_vpfile_argument argument[] = {{word.data(), 0}};
  EXPECT_EQ(tw_vpfile_scanf_all(file, "%5999s", argument, 1, nullptr, nullptr), TW_OK);
  EXPECT_EQ(std::string(word.c_str()), text);
  close(file);
}

// ---- Numbers

TEST_F(VpCalls, NumbersOfVpsOnSeveralTasks) {
  std::mutex mutex;
  std::set<std::int64_t> all;
  on_processes(2, 2, [&](tw_group* group, int task) {
    VpHow how{.shape = {2, 6}};
    how.start = {task / 2, task % 2 * 3};
    how.count = {1, 3};
    tw_vpfile* file = open_vp(group, "w", how);
    const auto told = summary(file);
    EXPECT_EQ(told.n_dims, 2);
    EXPECT_EQ(told.shape[0] * 10 + told.shape[1], 26);
    EXPECT_EQ(told.box_start[0] * 10 + told.box_start[1], task / 2 * 10 + task % 2 * 3);
    EXPECT_EQ(told.box_count[0] * 10 + told.box_count[1], 13);
    EXPECT_EQ(told.n_vps, 12);
    EXPECT_EQ(told.n_local, 3);
    for (std::int64_t vp = -1; vp <= 12; ++vp) {
      std::int64_t local = -7;
      const tw_status status = tw_vpfile_local(file, vp, &local);
      const bool here = vp >= 0 && vp < 12 && vp / 6 == task / 2 && vp % 6 / 3 == task % 2;
      EXPECT_EQ(status, here ? TW_OK : vp < 0 || vp > 11 ? TW_ERR_INVALID : TW_ERR_NOT_FOUND) << vp;
      EXPECT_EQ(local, here ? vp % 3 : -7);
      if (!here) continue;
      EXPECT_EQ(number(file, static_cast<std::size_t>(local)), vp);
      const std::lock_guard lock(mutex);
      all.insert(vp);
    }
    std::int64_t vp = 0;
    EXPECT_EQ(tw_vpfile_number(file, -1, &vp), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_number(file, 3, &vp), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_number(file, 0, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_local(file, 0, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(put_text(file, (number(file, 0) + 3) % 12, "x"), TW_ERR_INVALID);
    EXPECT_NE(std::string(tw_last_error()).find("another task's"), std::string::npos) << tw_last_error();
    close(file);
  });
  EXPECT_EQ(all.size(), 12u);
}

// ---- What a handle is not open for, and arguments that are missing

TEST_F(VpCalls, AHandleIsOpenForWhatItsModeSays) {
  on_vpfile(2, "w", {.shape = {2}}, [](tw_vpfile* file, int task) {
    char byte = 'a';
    int value = 0;
    const tw_vpfile_argument argument{&value, 0};
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr), TW_OK);
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_getc_all(file, &value, nullptr), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_gets_all(file, &byte, 2, nullptr, nullptr), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_scanf_all(file, "%d", &argument, 1, nullptr, nullptr), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_read(file, task, &byte, 1, nullptr), TW_ERR_MODE);
    EXPECT_EQ(get_byte(file, task, &value), TW_ERR_MODE);
  });
  on_vpfile(2, "r", {}, [](tw_vpfile* file, int task) {
    char byte = 'b';
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(&byte, 1), nullptr, nullptr), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_putc_all(file, 'x', nullptr, nullptr), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_puts_all(file, "x", nullptr, nullptr), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_printf_all(file, "x", nullptr, 0, nullptr, nullptr), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_write(file, task, &byte, 1, nullptr), TW_ERR_MODE);
    EXPECT_EQ(put_text(file, task, "x"), TW_ERR_MODE);
    EXPECT_EQ(put_text(file, task, "x"), TW_ERR_MODE);
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK);
  });
  EXPECT_EQ(content(), "aa");
}

TEST_F(VpCalls, NullHandlesAndArgumentsAreInvalid) {
  const tw_vpfile_data data = TW_VPFILE_PACKED(nullptr, 1);
  char byte;
  EXPECT_EQ(tw_vpfile_close(nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_summarize(nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_number(nullptr, 0, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_local(nullptr, 0, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_read_all(nullptr, data, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_write_all(nullptr, data, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_seek_all(nullptr, 0, nullptr, 0, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_tell_all(nullptr, nullptr, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_seek_all(nullptr, 0, nullptr, SEEK_CUR, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_seek_all(nullptr, 0, nullptr, SEEK_SET, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_getc_all(nullptr, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_putc_all(nullptr, 0, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_ungetc_all(nullptr, 0, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_gets_all(nullptr, nullptr, 1, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_puts_all(nullptr, "", nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_printf_all(nullptr, "", nullptr, 0, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_scanf_all(nullptr, "", nullptr, 0, nullptr, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_flush_all(nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_sync_all(nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_read(nullptr, 0, &byte, 1, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_write(nullptr, 0, &byte, 1, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_flush(nullptr, 0), TW_ERR_INVALID);

  tw_vpfile* file = open_vp("w+", {.shape = {1}});
  EXPECT_EQ(tw_vpfile_summarize(file, nullptr), TW_ERR_INVALID);
  tw_vpfile_summary unset{};
  EXPECT_EQ(tw_vpfile_summarize(file, &unset), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_size(file, 0, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_read(file, 0, nullptr, 1, nullptr), TW_ERR_INVALID);
  EXPECT_EQ(tw_vpfile_write(file, 0, nullptr, 1, nullptr), TW_ERR_INVALID);
  for (const std::int64_t vp : {std::int64_t{-1}, std::int64_t{1}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(tw_vpfile_write(file, vp, &byte, 1, nullptr), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_SET), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_CUR), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_tell(file, vp, nullptr, nullptr, nullptr), TW_ERR_INVALID);
  }
  close(file);
}

}  // namespace
}  // namespace thalweg::test
