// Physical files that are made when they are needed: small data stay one file, large data use all, and a file that was
// never made differs from one that is lost.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <mutex>
#include <numeric>

#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "multifile/write/create_files.hpp"
#include "sim/memory_backend.hpp"
#include "support/engine/busy_storage.hpp"
#include "support/files/in_folder.hpp"
#include "support/groups/run_on.hpp"
#include "support/models/multifile_model.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class LaterFiles : public testing::Test {
 protected:
  OpenRequest request(MultifileMode access, std::uint64_t first_bytes = 4 * kMiB) const {
    OpenRequest request;
    request.backend = backend_;
    request.path = path_;
    request.access = access;
    request.options.first_bytes = first_bytes;
    return request;
  }

  static std::vector<std::byte> data_of(std::uint64_t rank, std::uint64_t bytes, std::uint64_t session = 0) {
    std::vector<std::byte> data(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) data[i] = pattern(rank, i, session);
    return data;
  }

  // Each task appends so many bytes to its logical file; in writes of `at_once`.
  Op<Status> session(Group& group, OpenRequest request, std::uint64_t bytes, std::uint64_t at_once) {
    const std::uint64_t session = request.access == MultifileMode::append ? 1 : 0;
    const auto rank = static_cast<std::uint64_t>(group.rank());
    TW_CO_ASSIGN_OR_RETURN(auto file, co_await open_multifile(group, std::move(request)));
    TW_CO_RETURN_IF_ERROR(co_await group.barrier());
    Status status;
    const auto data = data_of(rank, bytes, session);
    {
      WriteHandle& handle = *file->writing;
      status = handle.current_or_first().status();
      for (std::uint64_t at = 0; at < bytes && status.ok(); at += at_once)
        status = handle.write(*handle.current(), std::span(data).subspan(at, std::min(at_once, bytes - at)));
      if (status.ok()) status = handle.flush();
    }
    Status closed = co_await close_multifile(group, std::move(file));
    const std::lock_guard lock(mutex_);
    written_.push_back(status);
    closed_.push_back(closed);
    co_return Status{};
  }

  void write(std::int64_t tasks, const OpenRequest& request, std::uint64_t bytes, std::uint64_t at_once = kMiB) {
    written_.clear();
    closed_.clear();
    run_on_team(tasks, [&](Group& group) { EXPECT_TRUE(run(session(group, request, bytes, at_once)).ok()) << "open"; });
  }
  // As write(), each task a process of its own, with a share of its own of the first bytes of the node.
  void write_apart(std::int64_t tasks, const OpenRequest& request, std::uint64_t bytes, std::uint64_t at_once = kMiB) {
    written_.clear();
    closed_.clear();
    run_apart(tasks, [&](Group& group) { EXPECT_TRUE(run(session(group, request, bytes, at_once)).ok()) << "open"; });
  }
  // Bytes of each logical file in the first physical file.
  std::vector<std::uint64_t> bytes_in_first(std::int64_t n) {
    std::vector<std::uint64_t> bytes;
    const auto group = make_self_group();
    auto file = run(open_multifile(*group, request(MultifileMode::read)));
    for (std::int64_t rank = 0; rank < n; ++rank) {
      std::uint64_t& here = bytes.emplace_back();
      auto pieces = (*file)->reading->pieces(static_cast<std::uint64_t>(rank));
      for (const format::PieceEntry& piece : *pieces) here += piece.later == 0 ? piece.logical_bytes : 0;
    }
    return bytes;
  }
  void expect_all_ok() {
    for (const Status& status : written_) EXPECT_TRUE(status.ok()) << status.message();
    for (const Status& status : closed_) EXPECT_TRUE(status.ok()) << status.message();
  }

  // Each logical file has the bytes of all sessions, one behind the other.
  void expect_content(std::int64_t n, const std::vector<std::uint64_t>& bytes, bool recover = false) {
    OpenRequest reading = request(MultifileMode::read);
    reading.recover = recover;
    const auto group = make_self_group();
    auto file = run(open_multifile(*group, reading));
    ASSERT_TRUE(file.has_value()) << file.error().message();
    for (std::int64_t rank = 0; rank < n; ++rank) {
      std::vector<std::byte> expected;
      for (std::size_t session = 0; session < bytes.size(); ++session) {
        const auto more = data_of(static_cast<std::uint64_t>(rank), bytes[session], session);
        expected.insert(expected.end(), more.begin(), more.end());
      }
      ASSERT_TRUE((*file)->reading->seek_to(static_cast<std::uint64_t>(rank), 0).ok());
      LogicalReader& reader = *(*file)->reading->current();
      ASSERT_EQ(reader.size(), expected.size()) << rank;
      std::vector<std::byte> found(expected.size());
      std::size_t got = 0;
      const Status status = reader.read(0, found, got);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(found == expected) << "logical file " << rank;
    }
    EXPECT_TRUE(run(close_multifile(*group, std::move(file).value())).ok());
  }

  std::vector<std::uint32_t> files_there(std::uint32_t most = 300) const {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t k = 0; k < most; ++k)
      if (backend_->exists(format::physical_name(path_, k)).value()) numbers.push_back(k);
    return numbers;
  }
  Status verify(std::string* findings = nullptr) const {
    CheckResult health;
    const Watch watch{[&](const std::string& text) {
                        if (findings != nullptr) *findings += text + "\n";
                      },
                      {},
                      {}};
    return verify_multifile(backend_, path_, watch, health);
  }
  Status repair(std::string* findings = nullptr) const {
    CheckResult health;
    const Watch watch{[&](const std::string& text) {
                        if (findings != nullptr) *findings += text + "\n";
                      },
                      {},
                      {}};
    return repair_multifile(backend_, path_, watch, health);
  }

  std::shared_ptr<Backend> backend_ = make_memory_backend();
  std::string path_ = "later.tw";
  std::mutex mutex_;
  std::vector<Status> written_, closed_;  // guarded by mutex_
};

using Numbers = std::vector<std::uint32_t>;

TEST_F(LaterFiles, SmallDataOfFourTasksStayOneFile) {
  write(4, request(MultifileMode::create), 200'000, 10'000);
  expect_all_ok();
  EXPECT_EQ(files_there(), Numbers{0});
  expect_content(4, {200'000});
  write(4, request(MultifileMode::append), 200'000, 200'000);
  expect_all_ok();
  EXPECT_EQ(files_there(), Numbers{0});
  expect_content(4, {200'000, 200'000});
  EXPECT_TRUE(verify().ok()) << verify().message();
}

TEST_F(LaterFiles, LargeDataMakeThem) {
  for (const std::uint64_t at_once : {3 * kMiB, std::uint64_t{100'000}}) {
    write_apart(4, request(MultifileMode::create), 3 * kMiB, at_once);
    expect_all_ok();
    EXPECT_EQ(files_there(), (Numbers{0, 1, 2, 3})) << at_once;
    const std::vector<std::uint64_t> first = bytes_in_first(4);
    EXPECT_EQ(first[0], 3 * kMiB) << "task 0 has no other one";
    for (int rank = 1; rank < 4; ++rank) {
      EXPECT_GE(first[rank], kMiB - 300'000) << "the first 4 MiB of the node, less the space that frames take";
      EXPECT_LE(first[rank], kMiB + 100'000);
    }
    expect_content(4, {3 * kMiB});
    EXPECT_TRUE(verify().ok()) << verify().message();
  }
}

TEST_F(LaterFiles, TheyComeWhenTheyAreNeeded) {
  const OpenRequest creating = request(MultifileMode::create);
  Numbers opened, flushed;
  run_on_team(4, [&](Group& group) {
    auto file = run(open_multifile(group, creating));
    ASSERT_TRUE(file.has_value()) << file.error().message();
    ASSERT_TRUE(run(group.barrier()).ok());
    if (group.rank() == 0) opened = files_there();
    ASSERT_TRUE(run(group.barrier()).ok());
    if (group.rank() == 3) {  // one of them writes enough for all of the node
      ASSERT_TRUE((*file)->writing->current_or_first().has_value());
      EXPECT_TRUE((*file)->writing->write(*(*file)->writing->current(), data_of(3, 6 * kMiB)).ok());
      EXPECT_TRUE((*file)->writing->flush().ok());
      flushed = files_there();
    }
    EXPECT_TRUE(run(close_multifile(group, std::move(file).value())).ok());
  });
  EXPECT_EQ(opened, Numbers{0});
  EXPECT_EQ(flushed, (Numbers{0, 3}));
  EXPECT_EQ(files_there(), (Numbers{0, 3}));
  EXPECT_TRUE(verify().ok()) << verify().message();
  EXPECT_TRUE(repair().ok()) << "files that were never made are not lost";
}

TEST_F(LaterFiles, AnExplicitNumberMakesAllAtOpen) {
  OpenRequest explicit_number = request(MultifileMode::create);
  explicit_number.options.physical_files = 3;
  write(4, explicit_number, 10);
  expect_all_ok();
  EXPECT_EQ(files_there(), (Numbers{0, 1, 2}));
}

TEST_F(LaterFiles, AMappingMakesAllAtOpenAndNeedsTheirNumber) {
  OpenRequest mapped = request(MultifileMode::create, 1);
  mapped.mapping = [](std::int64_t, std::int64_t, std::int32_t) { return 1; };
  run_on_team(2, [&](Group& group) {
    const Status refused = run(open_multifile(group, mapped)).status();
    EXPECT_EQ(refused.code(), Code::invalid_argument);
    EXPECT_NE(refused.message().find("physical_files"), std::string::npos) << refused.message();
  });
  EXPECT_EQ(files_there(), Numbers{}) << "nothing was made";
  mapped.options.physical_files = 3;
  write(2, mapped, 100'000, 50'000);
  expect_all_ok();
  EXPECT_EQ(files_there(), (Numbers{0, 1, 2})) << "also those in which nothing lies";
  expect_content(2, {100'000});
  EXPECT_TRUE(verify().ok()) << verify().message();
}

TEST_F(LaterFiles, SixtyFourThreadsUseFour) {
  write(64, request(MultifileMode::create), 1'000'000, 500'000);
  expect_all_ok();
  EXPECT_GE(files_there().size(), 2u) << "threads that run one after the other may need no more";
  EXPECT_LE(files_there(10).size(), 4u);
  expect_content(64, {1'000'000});
  EXPECT_TRUE(verify().ok()) << verify().message();
}

TEST_F(LaterFiles, ManyNodesUseFourEach) {
  constexpr std::int64_t kNodes = 64, kProcesses = 4, kThreads = 2;
  const SimOptions options{.tasks = kNodes * kProcesses * kThreads,
                           .seed = 7,
                           .tasks_per_process = kThreads,
                           .processes_per_node = kProcesses};
  const OpenRequest creating = request(MultifileMode::create, 1000);
  run_on_sim(options, [&](Group& group) { return session(group, creating, 3000, 1000); });
  expect_all_ok();
  ASSERT_EQ(closed_.size(), static_cast<std::size_t>(options.tasks));
  Numbers all(256);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(files_there(), all);
  expect_content(options.tasks, {3000});
  const OpenRequest appending = request(MultifileMode::append, 1000);
  run_on_sim(options, [&](Group& group) { return session(group, appending, 2000, 2000); });
  expect_all_ok();
  expect_content(options.tasks, {3000, 2000});
  EXPECT_TRUE(verify().ok()) << verify().message();
}

TEST_F(LaterFiles, AnAppendMakesOthersAndUsesThoseThatAreThere) {
  write(2, request(MultifileMode::create), 100);  // up to two
  EXPECT_EQ(files_there(), Numbers{0});
  for (int n = 1; n <= 3; ++n) {
    run_on_team(2, [&](Group& group) {
      EXPECT_TRUE(run(session(group, request(MultifileMode::append, 1000), 5 * kMiB, kMiB)).ok());
    });
    expect_all_ok();
    EXPECT_EQ(files_there(), (Numbers{0, 1}));
  }
  const auto group = make_self_group();
  auto file = run(open_multifile(*group, request(MultifileMode::read)));
  ASSERT_TRUE(file.has_value()) << file.error().message();
  EXPECT_EQ((*file)->reading->entry(1).value().bytes, 100 + 15 * kMiB);
  EXPECT_TRUE(verify().ok()) << verify().message();
}

TEST_F(LaterFiles, ANewMultifileRemovesThoseOfTheOldOne) {
  write_apart(4, request(MultifileMode::create), 3 * kMiB);
  EXPECT_EQ(files_there(), (Numbers{0, 1, 2, 3}));
  write(4, request(MultifileMode::create), 100);
  expect_all_ok();
  EXPECT_EQ(files_there(), Numbers{0});
  expect_content(4, {100});
  write(4, request(MultifileMode::create), 3 * kMiB);
  write(1, request(MultifileMode::create), 3 * kMiB);
  EXPECT_EQ(files_there(), Numbers{0}) << "also those that the new one does not have";
  OpenRequest explicit_number = request(MultifileMode::create);
  explicit_number.options.physical_files = 4;
  write(4, explicit_number, 100);
  write(4, request(MultifileMode::create), 100);
  EXPECT_EQ(files_there(), Numbers{0});
  expect_content(4, {100});
}

TEST_F(LaterFiles, WhatBelongsToSomebodyElseIsLeftAlone) {
  const std::string name = format::physical_name(path_, 2);
  const auto text = std::as_bytes(std::span(std::string_view("not a multifile")));
  ASSERT_TRUE(backend_->open(name, OpenMode::create).value()->write(0, text).ok());
  run_on_team(4, [&](Group& group) {
    const Status refused = run(open_multifile(group, request(MultifileMode::create))).status();
    EXPECT_EQ(refused.code(), Code::unsafe);
    EXPECT_NE(refused.message().find(name), std::string::npos) << refused.message();
  });
  EXPECT_EQ(files_there(), Numbers{2}) << "nothing was made";
  ASSERT_TRUE(backend_->remove(name).ok());
  // It comes while the multifile is written.
  std::vector<Status> closed(4);
  run_on_team(4, [&](Group& group) {
    auto file = run(open_multifile(group, request(MultifileMode::create, 1000)));
    ASSERT_TRUE(file.has_value()) << file.error().message();
    if (group.rank() == 0) {
      EXPECT_TRUE(backend_->open(name, OpenMode::create).value()->write(0, text).ok());
    }
    ASSERT_TRUE(run(group.barrier()).ok());
    ASSERT_TRUE((*file)->writing->current_or_first().has_value());
    const Status written = (*file)->writing->write(*(*file)->writing->current(), data_of(0, 5 * kMiB));
    if (group.rank() == 2) {
      EXPECT_EQ(written.code(), Code::unsafe) << written.message();
    }
    closed[static_cast<std::size_t>(group.rank())] = run(close_multifile(group, std::move(file).value()));
  });
  for (const Status& status : closed) EXPECT_EQ(status.code(), Code::unsafe) << status.message();
  std::vector<std::byte> found(text.size());
  ASSERT_TRUE(backend_->open(name, OpenMode::read).value()->read(0, found).has_value());
  EXPECT_TRUE(std::ranges::equal(found, text));
}

// Each of eight processes needs space in a file that others need at the same time.
TEST_F(LaterFiles, ProcessesMakeOneAtTheSameTime) {
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    written_.clear();
    closed_.clear();
    run_apart(8, [&](Group& group) {
      EXPECT_TRUE(run(session(group, request(MultifileMode::create, 1), 100'000, 50'000)).ok());
    });
    expect_all_ok();
    EXPECT_EQ(files_there(), (Numbers{0, 1, 2, 3}));
    expect_content(8, {100'000});
    EXPECT_TRUE(verify().ok()) << verify().message();
  }
}

// ---- Never made, and lost ----------------------------------------------------------------------------------------

// A close certifies nothing that is gone.
TEST_F(LaterFiles, OneThatVanishesBeforeTheCloseMakesItFail) {
  const std::string gone = format::physical_name(path_, 1);
  for (const bool replaced : {false, true}) {
    std::vector<Status> closed(4);
    run_on_team(4, [&](Group& group) {
      auto file = run(open_multifile(group, request(MultifileMode::create, 1000)));
      ASSERT_TRUE(file.has_value()) << file.error().message();
      WriteHandle& handle = *(*file)->writing;
      EXPECT_TRUE(handle.write(*handle.current_or_first().value(), data_of(0, 2 * kMiB)).ok());
      EXPECT_TRUE(handle.flush().ok());
      ASSERT_TRUE(run(group.barrier()).ok());
      if (group.rank() == 0) {
        EXPECT_TRUE(backend_->remove(gone).ok());
        EXPECT_TRUE(!replaced || backend_->open(gone, OpenMode::create).value()->write(0, data_of(7, 9000)).ok());
      }
      ASSERT_TRUE(run(group.barrier()).ok());
      closed[static_cast<std::size_t>(group.rank())] = run(close_multifile(group, std::move(file).value()));
    });
    for (const Status& status : closed) {
      EXPECT_EQ(status.code(), replaced ? Code::unsafe : Code::not_found) << status.message();
      EXPECT_NE(status.message().find(gone), std::string::npos) << status.message();
    }
    EXPECT_EQ(verify().code(), Code::not_closed);
    ASSERT_TRUE(!replaced || backend_->remove(gone).ok());
  }
}

// A process that died may leave a later physical file that counts as never made, and a user any file of that name.
TEST_F(LaterFiles, AnAppendWritesOverNothingThatWasLeftBehind) {
  write(4, request(MultifileMode::create), 100);
  const std::string name = format::physical_name(path_, 1);
  const auto left = data_of(7, 3 * kMiB);
  ASSERT_TRUE(backend_->open(name, OpenMode::create).value()->write(512, left).ok());

  write(4, request(MultifileMode::append, 1000), 2 * kMiB);

  expect_all_ok();
  std::vector<std::byte> found(left.size());
  EXPECT_EQ(backend_->open(name, OpenMode::read).value()->read(512, found).value(), found.size());
  EXPECT_TRUE(found == left);
  expect_content(4, {100, 2 * kMiB});
}

class MakeLater : public InFolder {
 protected:
  MakeLater() { header_.id.physical = 1; }
  std::string name() const { return format::physical_name(path("f"), 1); }
  void write_there(ByteView bytes) const {
    ASSERT_TRUE(posix_backend()->open(name(), OpenMode::create).value()->write(0, bytes).ok());
  }
  void expect_made(Backend& backend) const {
    const auto file = make_later(backend, path("f"), header_, {});
    ASSERT_TRUE(file.has_value()) << file.error().message();
    std::array<std::byte, format::kHeaderBytes> found{};
    ASSERT_TRUE(file.value()->read(0, found).has_value());
    EXPECT_TRUE(found == format::encode_header(header_));
  }
  format::FileHeader header_;
};

TEST_F(MakeLater, AHeaderThatAnotherTaskWritesMayBeThereInPart) {
  const auto header = format::encode_header(header_);
  write_there(ByteView(header).first(100));
  expect_made(*posix_backend());
}

// The mount shows a file that another node has removed.
TEST_F(MakeLater, AnOldFileMayVanishALittleLater) {
  write_there(format::encode_header(header_));
  header_.id.uuid[0] = 7;
  BusyStorage storage(3, [&] { std::filesystem::remove(name()); });
  expect_made(storage);
  EXPECT_TRUE(storage.has_acted());
}

TEST_F(LaterFiles, AnAppendRefusesAnotherFileInPlaceOfOneThatWasNeverMade) {
  write(4, request(MultifileMode::create), 100);
  const std::string name = format::physical_name(path_, 1);
  const auto text = std::as_bytes(std::span(std::string_view("not a multifile")));
  ASSERT_TRUE(backend_->open(name, OpenMode::create).value()->write(0, text).ok());
  const auto group = make_self_group();
  const Status append = run(open_multifile(*group, request(MultifileMode::append))).status();
  EXPECT_EQ(append.code(), Code::unsafe);
  EXPECT_NE(append.message().find("'" + name + "'"), std::string::npos) << append.message();
  EXPECT_NE(append.message().find("move it away"), std::string::npos) << append.message();
  expect_content(4, {100});
}

TEST_F(LaterFiles, ALostOneIsNamedAndTheOthersAreRead) {
  write_apart(4, request(MultifileMode::create), 3 * kMiB);
  const std::string lost = format::physical_name(path_, 2);
  ASSERT_TRUE(backend_->remove(lost).ok());

  std::string findings;
  EXPECT_EQ(verify(&findings).code(), Code::corrupt_file);
  EXPECT_NE(findings.find("'" + lost + "'"), std::string::npos) << findings;
  findings.clear();
  EXPECT_EQ(repair(&findings).code(), Code::corrupt_file);
  EXPECT_NE(findings.find("'" + lost + "'"), std::string::npos) << findings;
  const auto group = make_self_group();
  const Status append = run(open_multifile(*group, request(MultifileMode::append))).status();
  EXPECT_NE(append.message().find(lost), std::string::npos) << append.message();

  auto file = run(open_multifile(*group, request(MultifileMode::read)));
  ASSERT_TRUE(file.has_value()) << file.error().message();
  std::vector<std::byte> found(3 * kMiB);
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    ASSERT_TRUE((*file)->reading->seek_to(rank, 0).ok());
    LogicalReader& reader = *(*file)->reading->current();
    std::size_t got = 0;
    const Status read = reader.read(0, found, got);
    if (rank != 2) {
      EXPECT_TRUE(read.ok()) << read.message();
      EXPECT_TRUE(found == data_of(rank, 3 * kMiB));
      continue;
    }
    EXPECT_EQ(read.code(), Code::not_found);
    EXPECT_NE(read.message().find(lost), std::string::npos) << read.message();
    EXPECT_GT(got, 0u) << "its first bytes are in the first physical file";
    EXPECT_TRUE(std::ranges::equal(std::span(found).first(got), data_of(2, got)));
  }
}

class UnclosedLaterFiles : public LaterFiles {
 protected:
  // The program dies after a flush, or a sync, of `bytes` bytes of each task.
  void die_after(std::uint64_t bytes, bool sync) {
    const auto fault = std::make_shared<FaultBackend>(backend_, FaultScript{});
    run_apart(4, [&](Group& group) {
      OpenRequest creating = request(MultifileMode::create);
      creating.backend = fault;
      auto file = run(open_multifile(group, std::move(creating)));
      ASSERT_TRUE(file.has_value()) << file.error().message();
      WriteHandle& handle = *(*file)->writing;
      ASSERT_TRUE(handle.current_or_first().has_value());
      const auto rank = static_cast<std::uint64_t>(group.rank());
      EXPECT_TRUE(handle.write(*handle.current(), data_of(rank, bytes)).ok());
      EXPECT_TRUE((sync ? handle.sync() : handle.flush()).ok());
      ASSERT_TRUE(run(group.barrier()).ok());
      if (group.rank() == 0) fault->kill(Death::process, 1);
      ASSERT_TRUE(run(group.barrier()).ok());
      EXPECT_FALSE(run(close_multifile(group, std::move(file).value())).ok());
    });
  }
};

TEST_F(UnclosedLaterFiles, WhatWasFlushedComesBackFromAll) {
  die_after(3 * kMiB, false);
  EXPECT_EQ(files_there(), (Numbers{0, 1, 2, 3}));
  expect_content(4, {3 * kMiB}, true);
  EXPECT_TRUE(repair().ok()) << repair().message();
  expect_content(4, {3 * kMiB});
  EXPECT_TRUE(verify().ok()) << verify().message();
  write(4, request(MultifileMode::append), 2 * kMiB);
  expect_all_ok();
  expect_content(4, {3 * kMiB, 2 * kMiB});
}

TEST_F(UnclosedLaterFiles, OneThatWasNeverMadeIsNotMissed) {
  die_after(100'000, true);
  EXPECT_EQ(files_there(), Numbers{0});
  std::string findings;
  EXPECT_TRUE(repair(&findings).ok()) << findings;
  EXPECT_EQ(findings.find(".000001"), std::string::npos) << findings;
  expect_content(4, {100'000});
}

TEST_F(UnclosedLaterFiles, OneThatWasMadeIsMissed) {
  for (const bool sync : {false, true}) {
    die_after(3 * kMiB, sync);
    const std::string lost = format::physical_name(path_, 3);
    ASSERT_TRUE(backend_->remove(lost).ok());
    std::string findings;
    EXPECT_EQ(repair(&findings).code(), Code::corrupt_file);
    EXPECT_NE(findings.find("'" + lost + "'"), std::string::npos) << findings;
    const auto group = make_self_group();
    auto file = run(open_multifile(*group, request(MultifileMode::read)));
    ASSERT_TRUE(file.has_value()) << file.error().message();
    for (std::uint64_t rank = 0; rank < 4; ++rank) {
      ASSERT_TRUE((*file)->reading->seek_to(rank, 0).ok());
      LogicalReader& reader = *(*file)->reading->current();
      std::vector<std::byte> found(reader.size());
      std::size_t got = 0;
      EXPECT_TRUE(reader.read(0, found, got).ok());
      EXPECT_TRUE(found == data_of(rank, got));
      EXPECT_EQ(got < 3 * kMiB, rank == 3) << "what lies in the others is whole";
    }
  }
}

// ---- Faults ------------------------------------------------------------------------------------------------------

struct Fault {
  const char* name;
  CallKind kind;
  int os_errno;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class FailingLaterFiles : public LaterFiles, public testing::WithParamInterface<Fault> {};

// One task cannot have its later physical file: its write tells why, and the close fails on all.
TEST_P(FailingLaterFiles, TheWriteTellsWhyAndTheCloseFailsOnAll) {
  FaultScript script;
  script.rules.push_back({.kind = GetParam().kind,
                          .lasting = true,
                          .os_errno = GetParam().os_errno,
                          .path_part = format::physical_name(path_, 2)});
  OpenRequest creating = request(MultifileMode::create, 1000);
  const auto memory = backend_;
  for (const bool apart : {false, true}) {
    creating.backend = backend_ = std::make_shared<FaultBackend>(memory, script);
    written_.clear();
    closed_.clear();
    const TeamBody body = [&](Group& group) {
      EXPECT_TRUE(run(session(group, creating, kMiB, 100'000)).ok()) << "the open succeeds";
    };
    apart ? run_apart(4, body) : run_on_team(4, body);
    ASSERT_EQ(closed_.size(), 4u);
    for (const Status& status : closed_) {
      EXPECT_EQ(status.os_errno(), GetParam().os_errno) << status.message();
      EXPECT_NE(status.message().find(".000002"), std::string::npos) << status.message();
      EXPECT_NE(status.message().find("thalweg repair"), std::string::npos) << status.message();
    }
    EXPECT_EQ(std::ranges::count_if(written_, &Status::ok), 3);
    // The repair brings back the flushed bytes of the other tasks, and those that the failed task had flushed before.
    backend_ = memory;
    EXPECT_TRUE(repair().ok()) << repair().message();
    EXPECT_TRUE(verify().ok()) << verify().message();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FailingLaterFiles,
                         testing::Values(Fault{"NoDescriptor", CallKind::open, EMFILE},
                                         Fault{"NoPermission", CallKind::open, EACCES},
                                         Fault{"NoSpace", CallKind::write, ENOSPC},
                                         Fault{"NoRead", CallKind::read, EIO}),
                         [](const auto& instance) { return std::string(instance.param.name); });

// A sync makes the file, its name and the frame that tells of it durable.
TEST_F(LaterFiles, ASyncCoversTheFileItsNameAndTheFrameThatTellsOfIt) {
  const auto fault = std::make_shared<FaultBackend>(backend_, FaultScript{.record = true});
  OpenRequest creating = request(MultifileMode::create, 1000);
  creating.backend = fault;
  std::vector<CallRecord> calls;
  run_on_team(2, [&](Group& group) {
    auto file = run(open_multifile(group, creating));
    ASSERT_TRUE(file.has_value()) << file.error().message();
    if (group.rank() == 1) {
      ASSERT_TRUE((*file)->writing->current_or_first().has_value());
      for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE((*file)->writing->write(*(*file)->writing->current(), data_of(1, 100'000)).ok());
        EXPECT_TRUE((*file)->writing->sync().ok());
      }
      calls = fault->records();
    }
    EXPECT_TRUE(run(close_multifile(group, std::move(file).value())).ok());
  });
  const auto last = [&](CallKind kind, const std::string& path) {
    std::ptrdiff_t at = -1;
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (calls[i].kind == kind && calls[i].path == path) at = static_cast<std::ptrdiff_t>(i);
    return at;
  };
  const std::string later = format::physical_name(path_, 1);
  const std::ptrdiff_t made = last(CallKind::open, later);
  ASSERT_GE(made, 0);
  EXPECT_GT(last(CallKind::sync, later), last(CallKind::write, later));
  EXPECT_GT(last(CallKind::sync, path_), last(CallKind::write, path_));
  EXPECT_GT(last(CallKind::write, path_), made) << "the frame that tells of it";
  EXPECT_GT(last(CallKind::sync_directory, path_), made);
}

}  // namespace
}  // namespace thalweg::test
