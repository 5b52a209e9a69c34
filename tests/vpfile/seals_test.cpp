// A closed vpfile with lost or outdated pages: each stream reads as it was closed, or an error names the file and the
// remedy. No stream reads short.
#include <atomic>
#include <filesystem>

#include "group/groups.hpp"
#include "sim/memory_backend.hpp"
#include "support/crash/vp_crash_check.hpp"
#include "support/files/vp_files.hpp"
#include "support/files/vp_open.hpp"
#include "testing/fault_backend.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

constexpr std::size_t kPage = 4096;

class VpSeals : public VpFiles {
 protected:
  static constexpr std::int64_t kRows = 30, kColumns = 60, kVps = kRows * kColumns;
  const std::vector<const char*> kSides = {"shared.dat.meta", "shared.dat.first", "shared.dat.dir"};

  // Columns of the shape: the entries of three tasks alternate.
  static VpHow columns(int task, int tasks) {
    const std::int64_t begin = kColumns * task / tasks;
    const std::int64_t end = kColumns * (task + 1) / tasks;
    return {.shape = {kRows, kColumns},
            .hints = "block_bytes=16,superblock_bytes=4KiB,directory_pointers=1,cache_bytes=0",
            .start = {0, begin},
            .count = {kRows, end - begin}};
  }

  // Runs `body` on tasks that have opened columns of the file; returns whether open and close succeeded.
  bool session(int tasks, const char* mode, const std::function<void(tw_vpfile*)>& body) const {
    std::atomic<bool> whole = true;
    on_team(tasks, [&](tw_group* group, int task) {
      tw_vpfile* file = nullptr;
      if (try_open(group, mode, columns(task, tasks), &file) != TW_OK) {
        whole = false;
        return;
      }
      body(file);
      if (tw_vpfile_close(&file) != TW_OK) whole = false;
    });
    return whole;
  }

  static tw_status put_each(tw_vpfile* file, int round) {
    for (std::size_t i = 0; i < locals(file); ++i) {
      const std::int64_t vp = number(file, i);
      const std::string text = text_of(static_cast<int>(vp), 10 + static_cast<std::size_t>(vp) % 50, round);
      const tw_status status = tw_vpfile_seek(file, vp, 0, SEEK_END);
      if (status != TW_OK) return status;
      if (const tw_status wrote = put_text(file, vp, text); wrote != TW_OK) return wrote;
    }
    return TW_OK;
  }

  void first_session() const {
    EXPECT_TRUE(session(2, "w", [](tw_vpfile* file) {
      const std::string records(locals(file) * 8, 'n');
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(records.data(), 8), nullptr, nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_puts_all(file, "collective", nullptr, nullptr), TW_OK);
      for (int round = 0; round < 2; ++round) EXPECT_EQ(put_each(file, round), TW_OK) << tw_last_error();
    }));
  }
  void second_session() const {
    EXPECT_TRUE(session(3, "r+", [](tw_vpfile* file) {
      EXPECT_EQ(put_each(file, 2), TW_OK) << tw_last_error();
      for (std::size_t i = 0; i < locals(file); i += 3) {
        const std::int64_t vp = number(file, i);
        EXPECT_EQ(tw_vpfile_seek(file, vp, 25, SEEK_SET), TW_OK);
        EXPECT_EQ(tw_vpfile_write(file, vp, "over", 4, nullptr), TW_OK) << tw_last_error();
      }
    }));
  }

  // Checks that each stream is right or refused; returns the number of refusals.
  std::size_t refused(const Texts& texts) const {
    tw_vpfile* file = nullptr;
    if (const tw_status opened = try_open(nullptr, "r", {}, &file); opened != TW_OK) {
      expect_named(opened);
      return texts.size();
    }
    std::size_t count = 0;
    for (std::size_t vp = 0; vp < texts.size() && !HasFailure(); ++vp) {
      std::string back(texts[vp].size() + 9, '.');
      std::size_t moved = 0;
      const tw_status status = tw_vpfile_read(file, static_cast<std::int64_t>(vp), back.data(), back.size(), &moved);
      back.resize(moved);
      if (status == TW_OK) {
        EXPECT_EQ(back, texts[vp]) << "VP " << vp;
      } else {
        expect_named(status);
        ++count;
      }
    }
    close(file);
    return count;
  }
  static void expect_named(tw_status status) {
    EXPECT_TRUE(status == TW_ERR_CORRUPT || status == TW_ERR_NOT_CLOSED) << status;
    const std::string said = tw_last_error();
    EXPECT_NE(said.find("shared.dat"), std::string::npos) << said;
    EXPECT_NE(said.find("thalweg repair"), std::string::npos) << said;
  }

  void expect_repaired(const Texts& texts) const {
    EXPECT_EQ(tw_vpfile_repair(path().c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr), TW_OK)
        << tw_last_error();
    EXPECT_EQ(refused(texts), 0u);
  }

  // Appends one session of three tasks: all data is right afterwards, or an error is returned.
  void expect_append_right_or_refused(const Texts& texts) const {
    std::atomic<bool> wrote = true;
    const bool whole = session(3, "r+", [&](tw_vpfile* file) {
      if (put_each(file, 7) != TW_OK) wrote = false;
    });
    if (!whole || !wrote) return;
    Texts longer = texts;
    for (std::size_t vp = 0; vp < texts.size(); ++vp) longer[vp] += text_of(static_cast<int>(vp), 10 + vp % 50, 7);
    EXPECT_EQ(streams(), longer);
  }

  std::vector<std::string> all_files() const {
    std::vector<std::string> all{content()};
    for (const char* side : kSides) all.push_back(content(side));
    return all;
  }
  void put_all_files(const std::vector<std::string>& all) const {
    put(all[0]);
    for (std::size_t i = 0; i < kSides.size(); ++i) put(all[i + 1], kSides[i]);
  }

  // Replaces each page of each side file in turn by `change` of it; returns the number of detected changes.
  using Change = std::function<std::string(const std::string& whole, const char* side, std::size_t at)>;
  std::size_t damage_each_page(const Texts& texts, const Change& change, bool appends = false) const {
    const std::vector<std::string> all = all_files();
    std::size_t missed = 0;
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      const std::string& whole = all[i + 1];
      for (std::size_t at = 0; at < whole.size() && !HasFailure(); at += kPage) {
        SCOPED_TRACE(std::string(kSides[i]) + ", page at " + std::to_string(at));
        const std::string damaged = change(whole, kSides[i], at);
        if (damaged == whole) continue;
        put(damaged, kSides[i]);
        if (refused(texts) > 0) ++missed;
        if (appends) {
          expect_append_right_or_refused(texts);
          put_all_files(all);
        } else {
          put(whole, kSides[i]);
        }
      }
    }
    return missed;
  }
};

std::string zero_page(const std::string& whole, const char* /*side*/, std::size_t at) {
  std::string damaged = whole;
  const std::size_t n = std::min(kPage, whole.size() - at);
  damaged.replace(at, n, std::string(n, '\0'));
  return damaged;
}

TEST_F(VpSeals, APageOfZerosInASideFileIsRefused) {
  first_session();
  second_session();
  const Texts texts = streams();
  ASSERT_EQ(refused(texts), 0u);

  EXPECT_GT(damage_each_page(texts, zero_page), 50u);

  EXPECT_EQ(refused(texts), 0u);
}

TEST_F(VpSeals, APageThatFellBackToTheSessionBeforeIsRefused) {
  first_session();
  const std::vector<std::string> before = all_files();
  second_session();
  const Texts texts = streams();
  const auto fall_back = [&](const std::string& whole, const char* side, std::size_t at) {
    const auto which = static_cast<std::size_t>(std::ranges::find(kSides, std::string(side)) - kSides.begin());
    const std::string old = before[which + 1].size() > at ? before[which + 1].substr(at, kPage) : "";
    std::string damaged = whole;
    const std::size_t n = std::min(kPage, whole.size() - at);
    std::string page = old.substr(0, n);
    page.resize(n);
    return damaged.replace(at, n, page);
  };

  EXPECT_GT(damage_each_page(texts, fall_back), 50u);

  EXPECT_EQ(refused(texts), 0u);
}

TEST_F(VpSeals, ASideFileThatEndsEarlyIsRefused) {
  first_session();
  second_session();
  const Texts texts = streams();
  for (const char* side : kSides) {
    const std::string whole = content(side);
    for (std::size_t size = 0; size < whole.size() && !HasFailure(); size += kPage / 2 + 8) {
      SCOPED_TRACE(std::string(side) + " of " + std::to_string(size));
      put(whole.substr(0, size), side);
      static_cast<void>(refused(texts));
    }
    put(whole, side);
  }
  EXPECT_EQ(refused(texts), 0u);
}

TEST_F(VpSeals, RepairBringsBackWhatWasLostInASideFile) {
  first_session();
  second_session();
  const Texts texts = streams();
  for (const char* side : {"shared.dat.first", "shared.dat.dir"}) {
    const std::string whole = content(side);
    const std::size_t half = whole.size() / 2 / kPage * kPage;
    put(whole.substr(0, half) + std::string(whole.size() - half, '\0'), side);
    EXPECT_GT(refused(texts), 0u) << side;
    EXPECT_EQ(tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT) << side;

    expect_repaired(texts);
  }
}

TEST_F(VpSeals, AnAppendToADamagedFileIsRefusedOrRight) {
  first_session();
  second_session();
  const Texts texts = streams();

  damage_each_page(texts, zero_page, true);
}

TEST_F(VpSeals, AnAppendToAFileThatFellBackIsRefusedOrRight) {
  first_session();
  const std::vector<std::string> before = all_files();
  second_session();
  const Texts texts = streams();
  const std::vector<std::string> all = all_files();
  for (std::size_t i = 0; i < kSides.size(); ++i) {
    SCOPED_TRACE(kSides[i]);
    put(before[i + 1], kSides[i]);
    expect_append_right_or_refused(texts);
    put_all_files(all);
  }
}

TEST_F(VpSeals, SessionsOfOtherBoxesKeepTheSealsRight) {
  first_session();
  Texts texts = streams();
  for (int round = 3; round < 7; ++round) {
    EXPECT_TRUE(
        session(round - 2, "r+", [&](tw_vpfile* file) { EXPECT_EQ(put_each(file, round), TW_OK) << tw_last_error(); }));
    for (std::size_t vp = 0; vp < texts.size(); ++vp) texts[vp] += text_of(static_cast<int>(vp), 10 + vp % 50, round);
    EXPECT_EQ(refused(texts), 0u);
    EXPECT_EQ(tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    if (round == 4) {
      put("", "shared.dat.dir");
      expect_repaired(texts);
    }
  }
}

// Pages of entries are evicted all the time and reloaded while other tasks store entries of them.
TEST_F(VpSeals, TasksLoadPagesThatOthersAreWriting) {
  constexpr std::int64_t kMany = 32, kEach = 640;
  const int rounds = tries_less() ? 2 : 4;
  const auto text = [](std::int64_t vp, int round) { return text_of(static_cast<int>(vp), 20, round); };
  for (int round = 0; round < rounds; ++round) {
    on_team(4, [&](tw_group* group, int task) {
      const VpHow how{.shape = {kMany, kEach},
                      .hints = "block_bytes=16,superblock_bytes=4KiB,directory_pointers=1,cache_bytes=0",
                      .start = {0, task * kEach / 4},
                      .count = {kMany, kEach / 4}};
      tw_vpfile* file = open_vp(group, round == 0 ? "w" : "r+", how);
      ASSERT_NE(file, nullptr);
      for (std::size_t i = 0; i < locals(file); ++i) {
        const std::int64_t vp = number(file, i);
        ASSERT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_END), TW_OK) << tw_last_error();
        ASSERT_EQ(put_text(file, vp, text(vp, round)), TW_OK) << tw_last_error();
      }
      close(file);
    });
  }
  const Texts all = streams();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kMany * kEach));
  for (std::int64_t vp = 0; vp < kMany * kEach && !HasFailure(); ++vp) {
    std::string expected;
    for (int round = 0; round < rounds; ++round) expected += text(vp, round);
    EXPECT_EQ(all[static_cast<std::size_t>(vp)], expected) << vp;
  }
}

// A truncated data file: its streams are not read as zeros.
TEST_F(VpSeals, ADataFileThatEndsEarlyIsRefused) {
  for (const bool independent : {false, true}) {
    EXPECT_TRUE(session(2, "w", [&](tw_vpfile* file) {
      const std::string records(locals(file) * 8, 'n');
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(records.data(), 8), nullptr, nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_puts_all(file, "collective", nullptr, nullptr), TW_OK);
      if (independent) {
        EXPECT_EQ(put_each(file, 1), TW_OK);
      }
    }));
    const Texts texts = streams();
    const std::string whole = content();
    for (std::size_t part = 1; part < 40 && !HasFailure(); ++part) {
      const std::size_t size = whole.size() * part / 40;
      SCOPED_TRACE(size);
      put(whole.substr(0, size));
      EXPECT_EQ(refused(texts), texts.size());
      EXPECT_EQ(tw_vpfile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT);
    }
    put(whole);
    EXPECT_EQ(refused(texts), 0u);
  }
}

// A truncated round is lost for all streams and does not read as zeros.
TEST_F(VpSeals, RoundsThatWereCutOffAreToldByRepair) {
  EXPECT_TRUE(session(2, "w", [&](tw_vpfile* file) {
    const std::string records(locals(file) * 8, 'n');
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(records.data(), 8), nullptr, nullptr), TW_OK);
    for (int i = 0; i < 60; ++i) EXPECT_EQ(tw_vpfile_puts_all(file, "collective", nullptr, nullptr), TW_OK);
  }));
  Texts texts = streams();
  put(content().substr(0, content().size() - kPage));

  tw_health health{};
  health.struct_size = sizeof health;
  EXPECT_EQ(tw_vpfile_repair(path().c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, &health), TW_ERR_CORRUPT);

  EXPECT_EQ(health.damaged_logical, kVps);
  const Texts left = streams();
  ASSERT_EQ(left.size(), texts.size());
  EXPECT_LT(left[0].size(), texts[0].size());
  EXPECT_GT(left[0].size(), 8u);
  for (std::string& text : texts) text.resize(left[0].size());
  EXPECT_EQ(left, texts);
}

// For any read: a side file that seems to end early has no empty streams.
TEST_F(VpSeals, AReadThatEndsEarlyOnceIsAnError) {
  const auto group = make_self_group();
  const auto storage = make_memory_backend();
  const auto open = [&](const std::shared_ptr<Backend>& backend, const char* mode) {
    VpOpen how;
    how.path = "shared.dat";
    open_as(how, mode);
    how.shape = {1000};
    how.hints.directory_pointers = 1;
    return run(VpFile::open(*group, backend, std::move(how)));
  };
  auto file = open(storage, "w").value();
  for (std::uint64_t vp = 0; vp < 2000; ++vp) {
    const std::string text = text_of(static_cast<int>(vp % 1000), 70, static_cast<int>(vp / 1000));
    EXPECT_TRUE(file->stream(vp % 1000).write(std::as_bytes(std::span(text))).has_value());
  }
  EXPECT_TRUE(run(file->close()).ok());
  for (const char* side : {".meta", ".first", ".dir"}) {
    bool reached = true;
    for (std::uint64_t at = 1; reached && !HasFailure(); ++at) {
      SCOPED_TRACE(std::string(side) + ", read " + std::to_string(at));
      FaultRule rule;
      rule.kind = CallKind::read;
      rule.at = at;
      rule.short_read = true;
      rule.path_part = std::string("shared.dat") + side;
      FaultScript script;
      script.rules = {rule};
      script.record = true;
      const auto faulty = make_fault_backend(storage, script);
      auto reader = open(faulty, "r");
      for (std::uint64_t vp = 0; reader.has_value() && vp < 1000; ++vp) {
        std::string text(200, '.');
        const auto got = reader.value()->stream(vp).read(std::as_writable_bytes(std::span(text)));
        if (!got.has_value()) continue;
        text.resize(got.value());
        EXPECT_EQ(text, text_of(static_cast<int>(vp), 70, 0) + text_of(static_cast<int>(vp), 70, 1)) << vp;
      }
      if (reader.has_value()) {
        EXPECT_TRUE(run(reader.value()->close()).ok());
      }
      std::uint64_t reads = 0;
      for (const CallRecord& call : faulty->records())
        if (call.kind == CallKind::read && call.path.find(rule.path_part) != std::string::npos) ++reads;
      reached = reads >= at;
    }
  }
}

// Missing parts of the data file are not read as zeros, by any kind of read.
TEST_F(VpSeals, AReadOfTheLatticeThatEndsEarlyOnceIsAnError) {
  constexpr std::uint64_t kFew = 100, kRecord = 96;
  const auto group = make_self_group();
  const auto storage = make_memory_backend();
  const auto open = [&](const std::shared_ptr<Backend>& backend, const char* mode) {
    VpOpen how;
    how.path = "shared.dat";
    open_as(how, mode);
    how.shape = {kFew};
    how.hints.round_bytes = 64;
    return run(VpFile::open(*group, backend, std::move(how)));
  };
  std::string records(kFew * kRecord, 'n');
  const auto move = [&](VpFile& file, Direction direction, std::uint64_t bytes, std::uint8_t* mask) {
    VpTransfer what;
    what.direction = direction;
    what.base = reinterpret_cast<std::byte*>(records.data());
    what.bytes = bytes;
    what.mask = mask;
    return run(file.transfer(what));
  };
  auto file = open(storage, "w").value();
  for (const std::uint64_t bytes : {kRecord, kRecord, kRecord / 2, kRecord / 2})
    EXPECT_TRUE(move(*file, Direction::write, bytes, nullptr).ok());
  EXPECT_TRUE(run(file->close()).ok());

  for (const std::uint64_t bytes : {kRecord, kRecord / 3, std::uint64_t{0}}) {  // whole records, parts, one VP
    for (const bool apart : {false, true}) {
      std::size_t failed = 0;
      bool reached = true;
      for (std::uint64_t at = 1; reached && !HasFailure(); ++at) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes, read " + std::to_string(at));
        FaultScript script;
        script.rules = {{.kind = CallKind::read, .at = at, .short_read = true}};
        const auto faulty = make_fault_backend(storage, script);
        auto reader = open(faulty, "r");
        std::vector<std::uint8_t> mask(kFew, 1);
        mask[3] = apart ? 0 : 1;
        for (std::uint64_t done = 0; reader.has_value() && done < 3 * kRecord; done += bytes == 0 ? kRecord : bytes) {
          std::fill(records.begin(), records.end(), 'n');
          std::string one(kRecord, 'n');
          Status status;
          if (bytes == 0)
            status = reader.value()->stream(5).read(std::as_writable_bytes(std::span(one))).status();
          else
            status = move(*reader.value(), Direction::read, bytes, mask.data());
          if (!status.ok()) {
            ++failed;
            EXPECT_EQ(status.code(), Code::corrupt_file) << status.message();
            break;
          }
          EXPECT_EQ(records, std::string(kFew * kRecord, 'n'));
          EXPECT_EQ(one, std::string(kRecord, 'n'));
        }
        if (reader.has_value()) {
          EXPECT_TRUE(run(reader.value()->close()).ok());
        }
        reached = faulty->calls(CallKind::read) >= at;
      }
      EXPECT_GE(failed, 3u);
    }
  }
}

}  // namespace
}  // namespace thalweg::test
