// Multifiles in the tiers of nodes, and their way to the shared file system: docs/howto/node_local.md.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "storage/hold_file.hpp"
#include "support/crash/process_small_disk.hpp"
#include "support/engine/busy_storage.hpp"
#include "support/files/in_folder.hpp"
#include "support/files/open_options.hpp"
#include "support/files/tiers.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

using Drain = MultifileOptions::Drain;

class Tiers : public InFolder {
 protected:
  void SetUp() override {
    InFolder::SetUp();
    std::filesystem::create_directory(folder() / "tier");
    std::filesystem::create_directory(folder() / "shared");
    checkpoint_.path = path("shared/c.tw");
    checkpoint_.tier = path("tier");
  }
  void TearDown() override {
    (void)await_drains().ok();
    InFolder::TearDown();
  }

  std::size_t names_in_shared() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder() / "shared"), {}));
  }
  void expect_drained(int version, std::size_t physical_files) {
    EXPECT_EQ(checkpoint_.read(), version);
    EXPECT_TRUE(checkpoint_.is_whole());
    EXPECT_EQ(names_in_shared(), physical_files);
    EXPECT_TRUE(checkpoint_.in_tier().empty());
  }
  // A checkpoint of both nodes, not drained; the copies of their parts lie in another tier, that of their partners.
  std::string write_with_copies_elsewhere() {
    checkpoint_.options.drain = Drain::leave;
    checkpoint_.options.partner = true;
    EXPECT_EQ(checkpoint_.write(1).message(), "ok");
    std::filesystem::create_directory(folder() / "partners");
    for (const auto& copy : checkpoint_.in_tier(".copy"))
      std::filesystem::rename(copy, folder() / "partners" / copy.filename());
    return path("partners");
  }
  void empty_shared() {
    std::filesystem::remove_all(folder() / "shared");
    std::filesystem::create_directory(folder() / "shared");
  }

  Checkpoint checkpoint_;
};

// A drain in a thread of its own, and what it returns; a caller who may hold locks goes on after a while.
class OtherDrain {
 public:
  void begin(const std::string& tier, bool lost = false) {
    running_ = std::async(std::launch::async, [tier, lost] { return drained(tier, lost); });
    running_.wait_for(std::chrono::milliseconds(300));
  }
  Status end() { return running_.valid() ? running_.get() : Status{}; }

 private:
  std::future<Status> running_;
};

bool may_overlap(const Status& drained) {
  return drained.ok() || drained.code() == Code::unsafe || drained.code() == Code::not_closed;
}

TEST_F(Tiers, AClosedMultifileHasItsNameWhereTheCloseWaits) {
  checkpoint_.options.drain = Drain::wait;

  EXPECT_EQ(checkpoint_.write(1).message(), "ok");

  expect_drained(1, 2);
}

TEST_F(Tiers, OfOneNodeThreeAndAllMappings) {
  checkpoint_.options.drain = Drain::wait;
  for (const std::int64_t nodes : {1, 3}) {
    for (const std::uint32_t files : {1U, 4U, kOnePerNode}) {
      checkpoint_.nodes = nodes;
      checkpoint_.options.physical_files = files;
      checkpoint_.options.partner = files == 4;

      EXPECT_EQ(checkpoint_.write(2).message(), "ok");

      expect_drained(2, std::min<std::size_t>(files == kOnePerNode ? static_cast<std::size_t>(nodes) : files, 6));
      empty_shared();
    }
  }
}

TEST_F(Tiers, AThreadDrainsBehindTheClose) {
  EXPECT_TRUE(checkpoint_.write(1).ok());
  EXPECT_TRUE(checkpoint_.write(2).ok());

  EXPECT_TRUE(await_drains().ok());

  expect_drained(2, 2);
}

TEST_F(Tiers, AnOpenForReadingWaitsForTheThread) {
  EXPECT_TRUE(checkpoint_.write(3).ok());

  EXPECT_EQ(checkpoint_.read(true), 3);
}

TEST_F(Tiers, NothingHasTheNameBeforeTheDrain) {
  checkpoint_.options.drain = Drain::leave;

  EXPECT_TRUE(checkpoint_.write(1).ok());

  EXPECT_EQ(names_in_shared(), 0U);
  EXPECT_EQ(checkpoint_.in_tier().size(), 2U);
  std::string lines;
  EXPECT_TRUE(drained(checkpoint_.tier, false, &lines).ok());
  EXPECT_EQ(lines, "'" + checkpoint_.path + "': drained\n");
  expect_drained(1, 2);
}

TEST_F(Tiers, EveryLossOfOneNodeLeavesWhatWasClosedWithPartners) {
  checkpoint_.options.drain = Drain::leave;
  checkpoint_.options.partner = true;
  checkpoint_.nodes = 3;
  for (std::int64_t node = 0; node < 3; ++node) {
    EXPECT_TRUE(checkpoint_.write(1).ok());
    EXPECT_EQ(checkpoint_.in_tier().size(), 6U);
    checkpoint_.lose_node(node);

    std::string lines;
    EXPECT_EQ(drained(checkpoint_.tier, false, &lines).code(), Code::not_closed);
    EXPECT_EQ(checkpoint_.read(), -1);
    EXPECT_NE(lines.find("of 3 node parts these are missing: " + std::to_string(node) + ";"), std::string::npos)
        << lines;
    EXPECT_TRUE(drained(checkpoint_.tier, true).ok());

    expect_drained(1, 3);
    empty_shared();
  }
}

TEST_F(Tiers, WithoutPartnersTheLossOfANodeCertifiesNothing) {
  checkpoint_.options.drain = Drain::leave;
  EXPECT_TRUE(checkpoint_.write(1).ok());
  checkpoint_.lose_node(1);

  EXPECT_EQ(drained(checkpoint_.tier, true).code(), Code::not_closed);

  EXPECT_EQ(checkpoint_.read(), -1);
  for (const auto& entry : std::filesystem::directory_iterator(folder() / "shared")) {
    CheckResult found;
    EXPECT_FALSE(verify_multifile(posix_backend(), entry.path(), {}, found).ok()) << entry.path();
  }
}

TEST_F(Tiers, ARestartReadsTheNewestWholeOne) {
  checkpoint_.options.drain = Drain::wait;
  EXPECT_TRUE(checkpoint_.write(1).ok());
  checkpoint_.options.drain = Drain::leave;
  EXPECT_TRUE(checkpoint_.write(2).ok());

  EXPECT_EQ(checkpoint_.read(false), 1);
  EXPECT_EQ(checkpoint_.read(true), 2);

  expect_drained(2, 2);
}

TEST_F(Tiers, ARestartUsesTheCopyOfALostNode) {
  checkpoint_.options.partner = true;
  checkpoint_.options.drain = Drain::leave;
  EXPECT_TRUE(checkpoint_.write(2).ok());
  checkpoint_.lose_node(0);

  EXPECT_EQ(checkpoint_.read(true), 2);

  expect_drained(2, 2);
}

TEST_F(Tiers, ARestartReadsTheOlderOneWhereANodePartIsLost) {
  checkpoint_.options.drain = Drain::wait;
  EXPECT_TRUE(checkpoint_.write(1).ok());
  checkpoint_.options.drain = Drain::leave;
  EXPECT_TRUE(checkpoint_.write(2).ok());
  checkpoint_.lose_node(0);

  testing::internal::CaptureStderr();
  EXPECT_EQ(checkpoint_.read(true), 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("of 2 node parts these are missing: 0;"), std::string::npos);
}

TEST_F(Tiers, WhatWasFlushedIsRepaired) {
  checkpoint_.closes = false;
  EXPECT_TRUE(checkpoint_.write(1).ok());

  EXPECT_EQ(drained(checkpoint_.tier).message(), "ok");

  expect_drained(1, 2);
}

TEST_F(Tiers, WhatWasOnlyFlushedDoesNotReplaceAWholeOne) {
  checkpoint_.options.drain = Drain::wait;
  EXPECT_TRUE(checkpoint_.write(1).ok());
  checkpoint_.closes = false;
  EXPECT_TRUE(checkpoint_.write(2).ok());

  std::string lines;
  EXPECT_TRUE(drained(checkpoint_.tier, false, &lines).ok());

  EXPECT_EQ(checkpoint_.read(), 1);
  EXPECT_TRUE(checkpoint_.in_tier().empty());
  EXPECT_EQ(names_in_shared(), 4U);
  const std::size_t name_begins = lines.find("': '") + 2;
  Checkpoint aside = checkpoint_;
  for (const auto& entry : std::filesystem::directory_iterator(folder() / "shared"))
    if (entry.path().string().find(".draining-") != std::string::npos && entry.path().extension() != ".000001")
      aside.path = entry.path();
  EXPECT_NE(lines.find(aside.path, name_begins), std::string::npos) << lines;
  EXPECT_EQ(aside.read(), 2);
}

TEST_F(Tiers, AnOlderOneThatWasLeftBehindIsDropped) {
  checkpoint_.options.drain = Drain::leave;
  EXPECT_TRUE(checkpoint_.write(1).ok());
  const auto folders = checkpoint_.in_tier();
  std::filesystem::create_directory(folder() / "kept");
  for (const auto& one : folders) std::filesystem::rename(one, folder() / "kept" / one.filename());
  ::sleep(2);  // times of creation are whole seconds
  checkpoint_.options.drain = Drain::wait;
  EXPECT_TRUE(checkpoint_.write(2).ok());
  for (const auto& one : folders) std::filesystem::rename(folder() / "kept" / one.filename(), one);

  EXPECT_TRUE(drained(checkpoint_.tier).ok());

  expect_drained(2, 2);
}

// The first one begins at the end of a second, and its header is written in the next one.
TEST_F(Tiers, TheLaterOfTwoWithinASecondStays) {
  using std::chrono::milliseconds;
  const auto in_second = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<milliseconds>(now) % 1000;
  };
  checkpoint_.options.drain = Drain::wait;
  checkpoint_.backend =
      std::make_shared<BusyStorage>(3, [] { std::this_thread::sleep_for(milliseconds(150)); });  // where it is named
  while (in_second() < milliseconds(900)) std::this_thread::sleep_for(milliseconds(1));

  EXPECT_TRUE(checkpoint_.write(1).ok());
  checkpoint_.backend = posix_backend();
  EXPECT_TRUE(checkpoint_.write(2).ok());

  expect_drained(2, 2);
}

TEST_F(Tiers, OneWithoutATierWithinTheSecondIsReplaced) {
  checkpoint_.options.drain = Drain::wait;
  Checkpoint plain = checkpoint_;
  plain.tier.clear();
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(plain.write(1).ok());

    EXPECT_TRUE(checkpoint_.write(2).ok());

    expect_drained(2, 2);
  }
}

TEST_F(Tiers, AFailureInTheBackgroundIsReportedAndNothingIsLost) {
  checkpoint_.nodes = 1;  // the close of a second node in this process may report the failure of the first one
  checkpoint_.before_close = [this] { std::filesystem::remove_all(folder() / "shared"); };
  testing::internal::CaptureStderr();
  EXPECT_EQ(checkpoint_.write(1).message(), "ok");

  const Status waited = await_drains();

  EXPECT_EQ(waited.code(), Code::not_found);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("'" + checkpoint_.path + "' is not drained: "),
            std::string::npos);
  EXPECT_TRUE(await_drains().ok()) << "it is reported once";
  EXPECT_EQ(checkpoint_.in_tier().size(), 1U);
  std::filesystem::create_directory(folder() / "shared");
  EXPECT_TRUE(drained(checkpoint_.tier).ok());
  expect_drained(1, 1);
}

TEST_F(Tiers, ADrainThatFailsIsTheFailureOfACloseThatWaits) {
  checkpoint_.options.drain = Drain::wait;
  checkpoint_.before_close = [this] { std::filesystem::remove_all(folder() / "shared"); };

  EXPECT_EQ(checkpoint_.write(1).code(), Code::not_found);

  EXPECT_EQ(checkpoint_.in_tier().size(), 2U);
}

TEST_F(Tiers, RefusesWhatCannotWork) {
  checkpoint_.options.drain = Drain::wait;
  Checkpoint missing = checkpoint_;
  missing.tier = path("no");
  EXPECT_EQ(missing.write(1).code(), Code::not_found);
  Checkpoint nowhere = checkpoint_;
  nowhere.path = path("no/c.tw");
  EXPECT_EQ(nowhere.write(1).code(), Code::not_found);
  std::ofstream(checkpoint_.path) << "\211HDF\r\n\032\n a file of another format";
  EXPECT_EQ(checkpoint_.write(1).code(), Code::unsafe);
  EXPECT_TRUE(checkpoint_.in_tier().empty());
  EXPECT_EQ(names_in_shared(), 1U);
}

// Before each call of a drain, another one begins, and ends where it can: of the copies of the same parts.
TEST_F(Tiers, DrainsOfAPartAndOfItsCopyMayOverlap) {
  bool acted = true;
  for (std::uint64_t at = 1; acted || !std::exchange(checkpoint_.exclusive, true); ++at) {
    if (!acted) at = 1;
    const std::string partners = write_with_copies_elsewhere();
    OtherDrain second;
    const auto storage = std::make_shared<BusyStorage>(at, [&] { second.begin(partners, true); });

    const Status mine = drained(checkpoint_.tier, false, nullptr, storage);
    const Status other = second.end();

    acted = storage->has_acted();
    EXPECT_TRUE(may_overlap(mine)) << "at call " << at << ": " << mine.message();
    EXPECT_TRUE(may_overlap(other)) << "at call " << at << ": " << other.message();
    EXPECT_TRUE(mine.ok() || other.ok()) << "at call " << at << ": " << mine.message() << ", " << other.message();
    EXPECT_TRUE(drained(checkpoint_.tier).ok()) << "at call " << at;
    EXPECT_TRUE(drained(partners, true).ok()) << "at call " << at;
    expect_drained(1, 2);
    EXPECT_TRUE(std::filesystem::is_empty(partners)) << "at call " << at;
    if (HasFailure()) FAIL() << "at call " << at;
    empty_shared();
  }
}

TEST_F(Tiers, NobodyWaitsForAPartThatHasArrived) {
  const std::string partners = write_with_copies_elsewhere();
  checkpoint_.lose_node(1);
  for (const auto& copy : std::filesystem::directory_iterator(partners))
    if (copy.path().string().ends_with(".000001.copy")) std::filesystem::remove_all(copy.path());
  EXPECT_EQ(drained(checkpoint_.tier).code(), Code::not_closed);
  bool acted = true;
  for (std::uint64_t at = 1; acted; ++at) {
    OtherDrain second;
    const auto storage = std::make_shared<BusyStorage>(at, [&] { second.begin(partners, true); });

    EXPECT_EQ(drained(checkpoint_.tier, false, nullptr, storage).code(), Code::not_closed) << "at call " << at;

    acted = storage->has_acted();
    EXPECT_EQ(second.end().code(), acted ? Code::not_closed : Code::ok) << "at call " << at;
  }
}

TEST_F(Tiers, DrainsOfATierMayOverlap) {
  checkpoint_.options.drain = Drain::leave;
  bool acted = true;
  for (std::uint64_t at = 1; acted; ++at) {
    EXPECT_TRUE(checkpoint_.write(1).ok());
    OtherDrain second;
    const auto storage = std::make_shared<BusyStorage>(at, [&] { second.begin(checkpoint_.tier); });

    const Status mine = drained(checkpoint_.tier, false, nullptr, storage);
    const Status other = second.end();

    acted = storage->has_acted();
    EXPECT_TRUE(may_overlap(mine) && may_overlap(other)) << mine.message() << ", " << other.message();
    EXPECT_TRUE(mine.ok() || other.ok()) << "at call " << at << ": " << mine.message() << ", " << other.message();
    EXPECT_TRUE(drained(checkpoint_.tier).ok()) << "at call " << at;
    expect_drained(1, 2);
    if (HasFailure()) FAIL() << "at call " << at;
    empty_shared();
  }
}

// The program, from the open on, and its thread lock the records that `thalweg drain --lost` meets.
TEST_F(Tiers, ADrainLeavesFoldersOfARunningProgramAlone) {
  checkpoint_.options.partner = true;
  bool acted = true;
  for (std::uint64_t at = 1; acted; ++at) {
    OtherDrain second;
    const auto storage = std::make_shared<BusyStorage>(at, [&] { second.begin(checkpoint_.tier, true); });
    checkpoint_.backend = storage;

    EXPECT_EQ(checkpoint_.write(1).message(), "ok") << "at call " << at;
    EXPECT_EQ(await_drains().message(), "ok") << "at call " << at;
    const Status other = second.end();

    checkpoint_.backend = posix_backend();
    acted = storage->has_acted();
    EXPECT_TRUE(may_overlap(other)) << "at call " << at << ": " << other.message();
    expect_drained(1, 2);
    if (HasFailure()) FAIL() << "at call " << at;
    empty_shared();
  }
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<TierRecord> record_in(const std::filesystem::path& folder) {
  const std::string bytes = bytes_of(folder.string() + kRecordName);
  return decode_record(std::as_bytes(std::span(bytes)), folder);
}

// Another program makes a file of that name before a call of the drain: it keeps what it has. What is created under the
// name later writes to no drained file.
TEST_F(Tiers, AnExclusiveCreationReplacesNoFile) {
  Checkpoint newer;
  newer.path = path("newer");
  newer.nodes = 1;
  newer.options.uuid[0] = 1;
  newer.options.created_seconds = std::uint64_t{1} << 33;  // in the 23rd century
  ASSERT_EQ(newer.write(3).message(), "ok");
  std::ofstream(path("text")) << "another";
  Checkpoint later = checkpoint_;
  later.tier.clear();
  later.options.overwrite_foreign = true;
  later.options.physical_files = 2;
  checkpoint_.options.drain = Drain::leave;
  checkpoint_.exclusive = true;
  bool acted = true;
  for (const auto& [end, other] : {std::pair("", "text"), std::pair("", "newer"), std::pair(".000001", "text")}) {
    std::uint64_t at = 1;
    for (acted = true; acted; ++at) {
      EXPECT_TRUE(checkpoint_.write(1).ok());
      const std::string name = checkpoint_.path + end;
      bool made = false;
      const auto storage = std::make_shared<BusyStorage>(at, [&] {
        made = !std::filesystem::exists(name);
        if (made) std::filesystem::copy_file(path(other), name);
      });

      const Status mine = drained(checkpoint_.tier, false, nullptr, storage);

      acted = storage->has_acted();
      EXPECT_EQ(mine.code(), made ? Code::already_exists : Code::ok) << "at call " << at << ": " << mine.message();
      if (made) {
        EXPECT_TRUE(bytes_of(name) == bytes_of(path(other))) << "at call " << at;
        if (name == checkpoint_.path) {
          EXPECT_FALSE(std::filesystem::exists(name + ".000001")) << "at call " << at;
          EXPECT_EQ(later.write(2).message(), "ok") << "at call " << at;
        }
        for (const char* each : {"", ".000001"}) std::filesystem::remove(checkpoint_.path + each);
      }
      EXPECT_EQ(drained(checkpoint_.tier).message(), "ok") << "at call " << at;
      expect_drained(1, 2);
      if (HasFailure()) FAIL() << "at call " << at << " another " << other << " at '" << end << "'";
      empty_shared();
    }
    EXPECT_GT(at, 10U);
  }
}

// The name of physical file 1 is made, and there is no room for that of number 0.
TEST_F(Tiers, AnExclusiveCreationIsNotRenamedWhereALinkFails) {
  const SmallDisk disk(4);
  if (!disk.refused().empty()) GTEST_SKIP() << disk.refused();
  const auto allow_names = [&](int n) {
    const std::string options = "nr_inodes=" + std::to_string(n + 1);
    ASSERT_EQ(::mount("tmpfs", disk.folder().c_str(), "tmpfs", MS_REMOUNT, options.c_str()), 0);
  };
  checkpoint_.path = disk.path("c.tw");
  checkpoint_.options.drain = Drain::leave;
  checkpoint_.exclusive = true;
  ASSERT_EQ(checkpoint_.write(1).message(), "ok");
  allow_names(5);  // two of physical files, two of the parts, and that of physical file 1

  EXPECT_EQ(drained(checkpoint_.tier).code(), Code::no_space);

  EXPECT_FALSE(std::filesystem::exists(checkpoint_.path));
  EXPECT_FALSE(std::filesystem::exists(checkpoint_.path + ".000001"));
  allow_names(100);
  EXPECT_EQ(drained(checkpoint_.tier).message(), "ok");
  EXPECT_EQ(checkpoint_.read(), 1);
  EXPECT_TRUE(checkpoint_.is_whole());
}

TEST_F(Tiers, TheCloseThatFindsDuplicatesDrains) {
  for (const Drain drain : {Drain::wait, Drain::async, Drain::leave}) {
    checkpoint_.name.clear();
    checkpoint_.options.refuses_duplicates = true;
    checkpoint_.options.drain = Drain::wait;
    EXPECT_TRUE(checkpoint_.write(1).ok()) << "files without names are no duplicates";
    checkpoint_.name = "twice";
    checkpoint_.options.drain = drain;
    checkpoint_.options.partner = drain == Drain::leave;

    const Status closed = checkpoint_.write(2);

    EXPECT_EQ(closed.code(), Code::already_exists);
    EXPECT_NE(closed.message().find("are both named 'twice'"), std::string::npos) << closed.message();
    EXPECT_TRUE(await_drains().ok());
    if (drain == Drain::leave) {
      EXPECT_EQ(checkpoint_.in_tier(".copy").size(), 2U);
      EXPECT_TRUE(drained(checkpoint_.tier).ok());
    }
    expect_drained(2, 2);
    if (HasFailure()) FAIL() << "drain " << static_cast<int>(drain);
  }
}

// The file system, on which a test hears of each open first, and may let it fail.
class OpensTold final : public Backend {
 public:
  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    TW_RETURN_IF_ERROR(on_open(path, options));
    return posix_backend()->open(path, options);
  }
  Status remove(const std::string& path) override { return posix_backend()->remove(path); }
  Result<bool> exists(const std::string& path) override { return posix_backend()->exists(path); }
  Status sync_directory_of(const std::string& path) override { return posix_backend()->sync_directory_of(path); }
  Result<StorageInfo> describe(const std::string& path) override { return posix_backend()->describe(path); }
  const char* name() const override { return "told"; }

  std::function<Status(const std::string&, const OpenOptions&)> on_open;
};

bool locks_record(const std::string& path, const OpenOptions& options) {
  return options.takes_lock && path.ends_with(kRecordName);
}

TEST_F(Tiers, ARestartLocksTheFoldersOfItsMultifileOnly) {
  checkpoint_.options.drain = Drain::leave;
  Checkpoint another = checkpoint_;
  another.path = path("shared/another.tw");
  EXPECT_TRUE(another.write(2).ok());
  std::vector<std::string> wanted;
  const auto of_others = another.in_tier();
  EXPECT_TRUE(checkpoint_.write(1).ok());
  for (const auto& one : checkpoint_.in_tier())
    if (std::ranges::count(of_others, one) == 0) wanted.push_back(one.string() + kRecordName);
  std::filesystem::create_directory(folder() / "tier" / "thalweg-being-made.000000");
  std::ofstream(folder() / "tier" / "thalweg-being-made.000000" / ".tier-record");
  const auto storage = std::make_shared<OpensTold>();
  std::vector<std::string> locked;
  storage->on_open = [&](const std::string& path, const OpenOptions& options) {
    if (locks_record(path, options)) locked.push_back(path);
    return Status();
  };

  EXPECT_TRUE(drain_tier(storage, {checkpoint_.tier, checkpoint_.path, false, {}}).ok());

  std::ranges::sort(locked);
  std::ranges::sort(wanted);
  EXPECT_EQ(locked, wanted);
  EXPECT_EQ(checkpoint_.read(), 1);
  locked.clear();
  EXPECT_TRUE(drain_tier(storage, {checkpoint_.tier, "", false, {}}).ok());
  EXPECT_EQ(locked.size(), 2U) << "a folder without a record may be in the making";
  EXPECT_EQ(another.read(), 2);
}

// A checkpoint on the shared file system, and one with the next version in the tier.
void write_two(Checkpoint& checkpoint) {
  checkpoint.nodes = 1;
  checkpoint.options.drain = Drain::wait;
  EXPECT_EQ(checkpoint.write(1).message(), "ok");
  checkpoint.options.drain = Drain::leave;
  EXPECT_EQ(checkpoint.write(2).message(), "ok");
}

// Locks a file until some time later.
class HeldForAWhile {
 public:
  explicit HeldForAWhile(const std::string& path, OpenMode mode = OpenMode::read_write) {
    auto held = hold_opened(path, [&] { return open_to_lock(*posix_backend(), path, mode); });
    EXPECT_EQ(held.status().message(), "ok");
    if (held.has_value()) held_ = std::move(*held);
  }
  void end_later() {
    ended_ = std::async(std::launch::async, [this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      held_.reset();
    });
  }

 private:
  std::unique_ptr<StoredFile> held_;
  std::future<void> ended_;
};

TEST_F(Tiers, ARestartDoesNotReadAnOlderOneWhileItsOwnIsDrained) {
  write_two(checkpoint_);
  const std::string part = checkpoint_.in_tier()[0].string();
  HeldForAWhile other(part + kRecordName);

  const Status refused = drain_tier(
      posix_backend(),
      {.tier = checkpoint_.tier, .only = checkpoint_.path, .tell = {}, .patience = std::chrono::milliseconds(2000)});
  EXPECT_EQ(refused.code(), Code::unsafe);
  for (const std::string& text : {"'" + checkpoint_.path + "'", "drains it from '" + part + "'",
                                  std::string("for 2 seconds; open it again when that program has ended")})
    EXPECT_NE(refused.message().find(text), std::string::npos) << refused.message();
  const Status all = drained(checkpoint_.tier);
  EXPECT_EQ(all.code(), Code::unsafe);
  EXPECT_NE(all.message().find("'" + checkpoint_.path + "': another program writes or drains it in"), std::string::npos)
      << all.message();
  other.end_later();
  EXPECT_EQ(checkpoint_.read(true), 2);

  expect_drained(2, 1);
}

// For longer than its patience, in which another node makes steps.
TEST_F(Tiers, ARestartWaitsAsLongAsADrainGoesOn) {
  write_two(checkpoint_);
  const std::string part = checkpoint_.in_tier()[0].string();
  auto record = record_in(part);
  ASSERT_TRUE(record.has_value());
  std::optional<HeldForAWhile> other(std::in_place, part + kRecordName);
  const auto state = posix_backend()->open(record->part_path(0), OpenMode::create).value();
  auto going_on = std::async(std::launch::async, [&] {
    for (std::uint64_t step = 1; step <= 16; ++step) {
      const std::uint64_t head[] = {0, step};
      EXPECT_TRUE(state->write(0, std::as_bytes(std::span(head))).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
    other.reset();
  });

  const Status drained =
      drain_tier(posix_backend(),
                 {.tier = checkpoint_.tier, .only = checkpoint_.path, .tell = {}, .patience = std::chrono::seconds(3)});

  EXPECT_EQ(drained.message(), "ok");
  going_on.get();
  expect_drained(2, 1);
}

TEST_F(Tiers, ARestartReadsTheWholeOneWhileANewOneIsWritten) {
  checkpoint_.closes = true;
  write_two(checkpoint_);
  EXPECT_TRUE(drained(checkpoint_.tier).ok());
  checkpoint_.closes = false;
  EXPECT_EQ(checkpoint_.write(3).message(), "ok");
  const HeldForAWhile program(checkpoint_.in_tier()[0].string() + kRecordName);

  EXPECT_EQ(checkpoint_.read(true), 2);

  EXPECT_EQ(checkpoint_.in_tier().size(), 1U);
}

TEST_F(Tiers, ARestartReportsAFolderThatItCannotLock) {
  write_two(checkpoint_);
  const auto storage = std::make_shared<OpensTold>();
  const TierDrain restart{checkpoint_.tier, checkpoint_.path, false, {}};
  storage->on_open = [](const std::string& path, const OpenOptions& options) {
    return locks_record(path, options) ? os_error(EIO, "open") : Status();
  };
  EXPECT_EQ(drain_tier(storage, restart).code(), Code::io_error);
  storage->on_open = [](const std::string& path, const OpenOptions& options) {  // it is there a moment later
    return locks_record(path, options) ? os_error(ENOENT, "open") : Status();
  };
  EXPECT_EQ(drain_tier(storage, restart).message(), "ok");
  EXPECT_EQ(checkpoint_.in_tier().size(), 1U);
}

TEST_F(Tiers, AProgramWaitsForAnotherDrainOfItsPart) {
  for (const Drain drain : {Drain::wait, Drain::async}) {
    std::unique_ptr<HeldForAWhile> other;
    checkpoint_.options.drain = drain;
    checkpoint_.before_close = [&] {
      auto record = record_in(checkpoint_.in_tier(".000001")[0]);
      ASSERT_TRUE(record.has_value());
      other = std::make_unique<HeldForAWhile>(record->part_path(1), OpenMode::create_keep);
      other->end_later();
    };

    EXPECT_EQ(checkpoint_.write(1).message(), "ok");
    EXPECT_EQ(await_drains().message(), "ok");

    expect_drained(1, 2);
    empty_shared();
  }
}

TEST_F(Tiers, ACloseOfWhichASystemCallFailsIsNone) {
  checkpoint_.nodes = 1;
  checkpoint_.options.drain = Drain::leave;
  checkpoint_.options.refuses_duplicates = true;
  bool failed = true;
  int at = 1;
  for (; failed; ++at) {
    int calls = 0;
    failed = false;
    const auto storage = std::make_shared<OpensTold>();
    storage->on_open = [&](const std::string&, const OpenOptions&) {
      failed = failed || (calls > 0 && --calls == 0);
      return failed ? os_error(EEXIST, "open") : Status();
    };
    checkpoint_.backend = storage;
    checkpoint_.before_close = [&] { calls = at; };

    const Status closed = checkpoint_.write(1);

    EXPECT_EQ(closed.code(), failed ? Code::already_exists : Code::ok) << "at call " << at << ": " << closed.message();
    auto record = record_in(checkpoint_.in_tier()[0]);
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->closed, !failed) << "at call " << at;
    std::filesystem::remove_all(checkpoint_.in_tier()[0]);
  }
  EXPECT_GT(at, 2);
}

// Through the C API, by one task.
TEST_F(Tiers, OfOneTask) {
  OpenWith with;
  with.hints("partner=1,drain=wait,tier=" + checkpoint_.tier);
  tw_multifile* file = nullptr;
  ASSERT_EQ(tw_multifile_open(nullptr, checkpoint_.path.c_str(), TW_CREATE, with, &file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_write(file, "abc", 3), TW_OK);
  EXPECT_EQ(tw_multifile_drain(checkpoint_.tier.c_str(), 0, nullptr, nullptr), TW_ERR_UNSAFE) << "it is being written";
  EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_open(nullptr, checkpoint_.path.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
  char text[4] = {};
  size_t got = 0;
  EXPECT_EQ(tw_multifile_read(file, text, 4, &got), TW_OK);
  EXPECT_EQ(std::string(text, got), "abc");
  EXPECT_EQ(tw_multifile_close(&file), TW_OK);
  EXPECT_EQ(tw_multifile_open(nullptr, checkpoint_.path.c_str(), TW_APPEND, with, &file), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_open(nullptr, checkpoint_.path.c_str(), TW_CREATE | TW_EXCLUSIVE, with, &file), TW_ERR_EXISTS);
  EXPECT_TRUE(checkpoint_.in_tier().empty());
}

}  // namespace
}  // namespace thalweg::test
