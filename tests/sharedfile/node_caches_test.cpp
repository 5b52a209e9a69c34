// Files of several nodes whose caches nothing keeps coherent (docs/reference/visibility.md): two nodes with two tasks
// each, simulated, over memory. tests/nodes/run_nodes.sh has real ones.
#include "support/files/node_caches.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <vector>

#include "multifile/multifile.hpp"
#include "sharedfile/plain_file.hpp"
#include "sim/forwarding_file.hpp"
#include "sim/memory_backend.hpp"
#include "support/files/vp_open.hpp"
#include "support/groups/run_on.hpp"
#include "testing/fault_backend.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

constexpr TaskRank kTasks = 4;
const char* const kPath = "file";

std::string text_of(std::int64_t task, std::size_t bytes, int round = 0) {
  std::string text(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i)
    text[i] = static_cast<char>('a' + (i / 7 + static_cast<std::size_t>(task * 5 + round * 3)) % 26);
  return text;
}

class NodeFiles : public testing::Test {
 protected:
  using Body = std::function<Op<Status>(Group&, PlainFile&)>;

  std::shared_ptr<Backend> shared_node_of(const Group& group) {
    return nodes_[static_cast<std::size_t>(group.place().node)];
  }
  static SimOptions two_nodes() { return {.tasks = kTasks, .seed = 3, .processes_per_node = 2}; }

  void on_file(const Body& body, const std::string& hints = "") {
    run_on_sim(two_nodes(), [&](Group& group) -> Op<Status> {
      PlainOpen how;
      how.path = kPath;
      how.options.write = how.options.create = true;
      how.hints = hints;
      auto opened = co_await PlainFile::open(group, shared_node_of(group), std::move(how));
      if (!opened.has_value()) co_return opened.error();
      const Status status = co_await body(group, *opened.value());
      const Status closed = co_await opened.value()->close();
      co_return status.or_else(closed);
    });
  }
  static Op<Status> move_all(PlainFile& file, Direction direction, std::string& bytes, std::uint64_t offset) {
    const Extent extent{reinterpret_cast<std::byte*>(bytes.data()), bytes.size(), offset};
    TaskAccess access;
    access.direction = direction;
    access.extents = {&extent, 1};
    const Outcome outcome = co_await file.access(access);
    co_return outcome.status;
  }
  std::string content() {
    auto file = servers_->open(kPath, OpenMode::read).value();
    std::string bytes(file->size().value(), '#');
    EXPECT_TRUE(file->read(0, std::as_writable_bytes(std::span(bytes))).has_value());
    return bytes;
  }
  void use(const char* kind) {
    for (auto& node : nodes_) node = std::make_shared<NodeCaches>(servers_, kind);
  }

  std::shared_ptr<Backend> servers_ = make_memory_backend();
  std::array<std::shared_ptr<Backend>, 2> nodes_{std::make_shared<NodeCaches>(servers_, "nfs"),
                                                 std::make_shared<NodeCaches>(servers_, "nfs")};
};

// Records of any length, one collective write after the other: each begins in the page in which the last one ended.
TEST_F(NodeFiles, WritesThatMeetWithinAPageKeepEachOthersBytes) {
  for (const char* hints : {"", "aggregators=2", "aggregators=3,aggregator_bytes=64KiB"}) {
    servers_ = make_memory_backend();
    use("nfs");
    std::string expected;
    const std::size_t shares[] = {700, 30'000, 100, 5000, 123'457, 1, 41'000};
    for (std::size_t round = 0; round < std::size(shares); ++round)
      for (TaskRank task = 0; task < kTasks; ++task) expected += text_of(task, shares[round], static_cast<int>(round));
    on_file(
        [&](Group& group, PlainFile& file) -> Op<Status> {
          std::uint64_t at = 0;
          for (std::size_t round = 0; round < std::size(shares); ++round) {
            std::string mine = text_of(group.rank(), shares[round], static_cast<int>(round));
            const std::uint64_t offset = at + static_cast<std::uint64_t>(group.rank()) * mine.size();
            const Status status = co_await move_all(file, Direction::write, mine, offset);
            if (!status.ok()) co_return status;
            at += kTasks * mine.size();
          }
          co_return Status{};
        },
        hints);
    EXPECT_TRUE(content() == expected) << hints;
  }
}

// Task 0 reserves where the file system cannot; task 3 has written the last byte on another node.
TEST_F(NodeFiles, APreallocateKeepsBytesOfOtherNodes) {
  std::string mine = "the end";
  on_file([&](Group& group, PlainFile& file) -> Op<Status> {
    if (group.rank() == 3) {
      const Status written = file.shared()->stored->write(993, std::as_bytes(std::span(mine)));
      if (!written.ok()) co_return written;
    }
    co_return co_await file.preallocate(0, 1000, {});
  });
  ASSERT_EQ(content().size(), 1000u);
  EXPECT_EQ(content().substr(993), mine);
}

TEST_F(NodeFiles, ATruncateIsNotUndoneByAnotherNode) {
  on_file([&](Group& group, PlainFile& file) -> Op<Status> {
    std::string mine = text_of(group.rank(), 8192);
    Status status = co_await move_all(file, Direction::write, mine, static_cast<std::uint64_t>(group.rank()) * 8192);
    if (status.ok()) status = co_await file.truncate(100, {});
    if (!status.ok()) co_return status;
    const auto size = co_await file.size();
    EXPECT_EQ(size.value(), 100u);
    co_return size.status();
  });
  EXPECT_EQ(content(), text_of(0, 100));
}

// Another open of node 1 keeps the pages that it has read, as a cache does that asks no server.
TEST_F(NodeFiles, TheCloseDropsWhatOtherNodesHaveCached) {
  const auto old = servers_->open(kPath, OpenMode::create_keep).value();
  ASSERT_TRUE(old->write(0, std::as_bytes(std::span("old"))).ok());
  std::unique_ptr<StoredFile> other;
  const auto seen_there = [&] {
    std::string bytes(3, '#');
    EXPECT_TRUE(other->read(0, std::as_writable_bytes(std::span(bytes))).has_value());
    return bytes;
  };
  on_file([&](Group& group, PlainFile& file) -> Op<Status> {
    other = nodes_[1]->open(kPath, OpenMode::read).value();
    EXPECT_EQ(seen_there(), "old");
    const Status status = co_await group.barrier();
    if (!status.ok() || group.rank() != 0) co_return status;
    co_return file.shared()->stored->write(0, std::as_bytes(std::span("new")));
  });
  EXPECT_EQ(seen_there(), "new");
}

// An open file of a node whose size changes between any two looks at it, or never does.
class OddSize final : public ForwardingFile {
 public:
  OddSize(StoredFile& file, std::function<std::uint64_t()> size)
      : ForwardingFile({std::shared_ptr<void>(), &file}), size_(std::move(size)) {}
  Result<std::uint64_t> size() override { return size_(); }

 private:
  const std::function<std::uint64_t()> size_;
};

// Another program appends all the time: no node keeps an old size.
TEST_F(NodeFiles, ASyncWhileTheFileGrows) {
  std::uint64_t size = 0;
  on_file([&](Group& group, PlainFile& file) -> Op<Status> {
    OddSize growing(*file.shared()->stored, [&] { return size += 10; });
    co_return co_await see_alike(group, &growing);
  });
}

TEST_F(NodeFiles, ANodeThatKeepsAnOldSizeIsNamed) {
  on_file([&](Group& group, PlainFile& file) -> Op<Status> {
    const std::uint64_t size = group.rank() == 3 ? 10 : 50;
    OddSize old(*file.shared()->stored, [size] { return size; });
    const Status status = co_await see_alike(group, &old);
    EXPECT_EQ(status.code(), Code::unsafe);
    EXPECT_NE(status.message().find("node 1 finds 10 bytes in it, another one found 50 before"), std::string::npos)
        << status.message();
    co_return Status{};
  });
}

// ---- Multifiles -----------------------------------------------------------------------------------------------------

// The mount of one node keeps the state from before an append.
TEST_F(NodeFiles, AMultifileOfWhichNodesSeeDifferentSessionsIsUnsafe) {
  const auto open_on = [](Group& group, std::shared_ptr<Backend> backend, MultifileMode access) {
    OpenRequest request;
    request.backend = std::move(backend);
    request.path = kPath;
    request.access = access;
    request.options.physical_files = 1;
    return open_multifile(group, std::move(request));
  };
  const auto write_session = [&](std::shared_ptr<Backend> backend, MultifileMode access) {
    run_on_sim(two_nodes(), [&](Group& group) -> Op<Status> {
      auto file = co_await open_on(group, backend, access);
      if (!file.has_value()) co_return file.error();
      co_return co_await close_multifile(group, std::move(file).value());
    });
  };
  const auto behind = make_memory_backend();
  write_session(behind, MultifileMode::create);
  {
    auto from = behind->open(kPath, OpenMode::read).value();
    std::vector<std::byte> bytes(from->size().value());
    ASSERT_TRUE(from->read(0, bytes).has_value());
    EXPECT_TRUE(servers_->open(kPath, OpenMode::create).value()->write(0, bytes).ok());
  }
  write_session(servers_, MultifileMode::append);
  for (const MultifileMode access : {MultifileMode::read, MultifileMode::append})
    run_on_sim(two_nodes(), [&](Group& group) -> Op<Status> {
      const auto file = co_await open_on(group, group.place().node == 0 ? servers_ : behind, access);
      EXPECT_EQ(file.status().code(), Code::unsafe) << file.status().message();
      EXPECT_NE(file.status().message().find("'file' is being changed by another program"), std::string::npos)
          << file.status().message();
      co_return Status{};
    });
}

// ---- Vpfiles: each task has two of eight virtual processors, unless a test says otherwise ---------------------------

class NodeVpFiles : public NodeFiles {
 protected:
  using VpBody = std::function<Op<Status>(Group&, VpFile&)>;

  void on_vpfile(const VpBody& body, std::uint64_t vps = 8, bool assume_nb = false) {
    run_on_sim(two_nodes(), [&](Group& group) -> Op<Status> {
      VpOpen how;
      how.path = kPath;
      open_as(how, "w+");
      how.shape = {vps};
      how.hints.assume_nb = assume_nb;
      auto opened = co_await VpFile::open(group, shared_node_of(group), std::move(how));
      if (!opened.has_value()) co_return opened.error();
      const Status status = co_await body(group, *opened.value());
      const Status closed = co_await opened.value()->close();
      co_return status.or_else(closed);
    });
  }
  // Moves `bytes` bytes of each VP; in memory `gap` bytes follow those of each.
  static Op<Status> move_vps(VpFile& file, Direction direction, std::string& memory, std::uint64_t bytes,
                             std::int64_t gap = 0) {
    const std::int64_t stride = static_cast<std::int64_t>(bytes) + gap;
    VpTransfer what;
    what.direction = direction;
    what.base = reinterpret_cast<std::byte*>(memory.data());
    what.bytes = bytes;
    if (gap != 0) what.vp_strides = {&stride, 1};
    co_return co_await file.transfer(what);
  }
  // Bytes of `round` of all VPs of a task, or of all tasks.
  static std::string of_task(TaskRank task, std::size_t bytes, int round = 0) {
    return text_of(2 * task, bytes, round) + text_of(2 * task + 1, bytes, round);
  }
  static std::string of_all(std::size_t bytes, int round = 0) {
    std::string all;
    for (TaskRank task = 0; task < kTasks; ++task) all += of_task(task, bytes, round);
    return all;
  }
};

// Rows meet within pages, and aggregators of other nodes move them.
TEST_F(NodeVpFiles, ATaskReadsWhatItWrote) {
  on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
    for (int round = 0; round < 3; ++round) {
      std::string mine = of_task(group.rank(), 1111, round);
      const Status written = co_await move_vps(file, Direction::write, mine, 1111);
      if (!written.ok()) co_return written;
    }
    Status status = file.seek(nullptr, 0, SEEK_SET, nullptr);
    for (int round = 0; round < 3 && status.ok(); ++round) {
      std::string found(2222, '#');
      status = co_await move_vps(file, Direction::read, found, 1111);
      EXPECT_TRUE(found == of_task(group.rank(), 1111, round)) << "task " << group.rank() << ", round " << round;
    }
    co_return status;
  });
  EXPECT_TRUE(content() == of_all(1111, 0) + of_all(1111, 1) + of_all(1111, 2));
}

TEST_F(NodeVpFiles, APartOfAStoredRowIsWrittenAgain) {
  on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
    std::string mine = of_task(group.rank(), 1111), again = of_task(group.rank(), 300, 1);
    Status status = co_await move_vps(file, Direction::write, mine, 1111);
    if (status.ok()) status = file.seek(nullptr, 0, SEEK_SET, nullptr);
    if (status.ok()) status = co_await move_vps(file, Direction::write, again, 300);
    co_return status;
  });
  std::string expected;
  for (int vp = 0; vp < 8; ++vp) expected += text_of(vp, 300, 1) + text_of(vp, 1111).substr(300);
  EXPECT_TRUE(content() == expected);
}

// Each task has four of 16, which take turns in memory with gaps.
TEST_F(NodeVpFiles, RowsOfLargeRecordsMeetWithinPages) {
  constexpr std::size_t kRecord = 65'001;
  on_vpfile(
      [&](Group& group, VpFile& file) -> Op<Status> {
        std::string mine;
        for (int vp = 0; vp < 4; ++vp) mine += text_of(4 * group.rank() + vp, kRecord) + "gap";
        co_return co_await move_vps(file, Direction::write, mine, kRecord, 3);
      },
      16);
  std::string expected;
  for (int vp = 0; vp < 16; ++vp) expected += text_of(vp, kRecord);
  EXPECT_TRUE(content() == expected);
}

// The first of two writes of the same bytes is with the servers when another node makes the second one: a daemon that
// writes late would put old bytes over new ones. A VP that moves alone cannot wait for that, and is refused.
TEST_F(NodeVpFiles, WritesOfOneByteReachTheServersInTheirOrder) {
  use("fuse.example");
  on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
    const auto rewind = [&] { EXPECT_TRUE(file.seek(nullptr, 0, SEEK_SET, nullptr).ok()); };
    std::string rows = of_task(group.rank(), 100), own = of_task(group.rank(), 100, 1);
    Status status = co_await move_vps(file, Direction::write, rows, 100);
    if (!status.ok()) co_return status;
    rewind();
    std::string found(100, '#');
    for (const Direction direction : {Direction::write, Direction::read}) {
      const auto bytes = std::as_writable_bytes(std::span(found));
      const auto alone = direction == Direction::write ? file.stream(0).write(bytes) : file.stream(0).read(bytes);
      EXPECT_EQ(alone.status().code(), Code::unsafe) << alone.status().message();
      EXPECT_NE(alone.status().message().find("first call tw_vpfile_sync_all() on all tasks"), std::string::npos);
    }
    const std::uint64_t each[] = {50, 70};
    VpTransfer ragged;
    ragged.direction = Direction::write;
    ragged.base = reinterpret_cast<std::byte*>(own.data());
    ragged.each = each;
    status = co_await file.transfer(ragged);
    if (!status.ok()) co_return status;
    EXPECT_TRUE(content().substr(0, 800) == of_all(100));
    rewind();
    status = co_await move_vps(file, Direction::write, rows, 100);
    if (!status.ok()) co_return status;
    std::string expected;
    for (TaskRank task = 0; task < kTasks; ++task) {
      const std::string first = of_task(task, 100), second = of_task(task, 100, 1);
      expected += second.substr(0, 50) + first.substr(50, 50) + second.substr(50, 70) + first.substr(170);
    }
    EXPECT_TRUE(content().substr(0, 800) == expected);
    rewind();
    status = co_await file.flush({}, Call::tw_vpfile_sync_all);
    if (!status.ok()) co_return status;
    const auto alone = file.stream(0).read(std::as_writable_bytes(std::span(found)));
    EXPECT_TRUE(alone.status().ok()) << alone.status().message();
    EXPECT_TRUE(found == rows.substr(0, 100));
    // The others hear of the one that writes alone.
    if (group.rank() == 3) rows.replace(100, 10, "0123456789");
    if (group.rank() == 3) {
      EXPECT_TRUE(file.stream(1).write(std::as_bytes(std::span(rows)).subspan(100, 10)).has_value());
    }
    status = co_await file.flush({}, Call::tw_vpfile_flush_all);
    if (!status.ok()) co_return status;
    rewind();
    std::string read(200, '#');
    status = co_await move_vps(file, Direction::read, read, 100);
    EXPECT_TRUE(read == rows) << "task " << group.rank();
    co_return status;
  });
  EXPECT_TRUE(content().substr(0, 700) == of_all(100).substr(0, 700));
  EXPECT_EQ(content().substr(700, 10), "0123456789");
}

// One aggregator has each page, so that its daemon sends rows in their order.
TEST_F(NodeVpFiles, RowsWrittenAgainAreNotSynced) {
  use("fuse.example");
  on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
    Status status;
    for (int round = 0; round < 3 && status.ok(); ++round) {
      std::string rows = of_task(group.rank(), 100, round);
      status = co_await move_vps(file, Direction::write, rows, 100);
      EXPECT_TRUE(file.seek(nullptr, 0, SEEK_SET, nullptr).ok());
      EXPECT_EQ(content(), "");
    }
    co_return status;
  });
  EXPECT_TRUE(content() == of_all(100, 2));
}

// Other rows than those stored since the last sync: a VP may move there alone, and all read without another sync.
TEST_F(NodeVpFiles, RowsThatWereSyncedStayFree) {
  use("fuse.example");
  on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
    std::string first = of_task(group.rank(), 100), second = of_task(group.rank(), 100, 1), found(200, '#');
    Status status = co_await move_vps(file, Direction::write, first, 100);
    if (status.ok()) status = co_await file.flush({}, Call::tw_vpfile_sync_all);
    if (status.ok()) status = co_await move_vps(file, Direction::write, second, 100);
    if (!status.ok()) co_return status;
    EXPECT_TRUE(file.seek(nullptr, 0, SEEK_SET, nullptr).ok());
    const auto alone = file.stream(0).read(std::as_writable_bytes(std::span(found)).first(100));
    EXPECT_TRUE(alone.has_value()) << alone.status().message();
    EXPECT_EQ(found.substr(0, 100), first.substr(0, 100));
    const auto behind = file.stream(0).read(std::as_writable_bytes(std::span(found)).first(100));
    EXPECT_EQ(behind.status().code(), Code::unsafe);
    EXPECT_TRUE(file.seek(nullptr, 0, SEEK_SET, nullptr).ok());
    status = co_await move_vps(file, Direction::read, found, 100);
    EXPECT_TRUE(found == first);
    EXPECT_EQ(content().size(), 800u);
    if (status.ok()) status = co_await move_vps(file, Direction::read, found, 100);
    EXPECT_TRUE(found == second);
    EXPECT_EQ(content().size(), 1600u);
    co_return status;
  });
}

// A row in the buffer that was flushed in part, and changed by one VP, before the rest of it is written.
TEST_F(NodeVpFiles, AVpWritesIntoAPartOfARow) {
  use("fuse.example");
  on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
    std::string begin = of_task(group.rank(), 4), rest = of_task(group.rank(), 600, 1), found(1208, '#');
    Status status = co_await move_vps(file, Direction::write, begin, 4);
    if (status.ok()) status = co_await move_vps(file, Direction::write, rest, 6);
    if (status.ok()) status = co_await file.flush({}, Call::tw_vpfile_sync_all);
    if (!status.ok()) co_return status;
    EXPECT_TRUE(file.seek(nullptr, 0, SEEK_SET, nullptr).ok());
    EXPECT_TRUE(file.stream(0).write(std::as_bytes(std::span("0123", 4))).has_value());
    EXPECT_TRUE(file.seek(nullptr, 4, SEEK_SET, nullptr).ok());
    status = co_await move_vps(file, Direction::write, rest, 600);
    EXPECT_TRUE(file.seek(nullptr, 0, SEEK_SET, nullptr).ok());
    if (status.ok()) status = co_await move_vps(file, Direction::read, found, 604);
    EXPECT_TRUE(found == "0123" + rest.substr(0, 600) + begin.substr(4) + rest.substr(600)) << found;
    co_return status;
  });
}

// The records of one task are not as it promised: all tasks get the error, and the next access succeeds.
TEST_F(NodeVpFiles, ABrokenPromiseKeepsTheTasksInStep) {
  use("fuse.example");
  on_vpfile(
      [&](Group& group, VpFile& file) -> Op<Status> {
        std::string first = of_task(group.rank(), 100), second = of_task(group.rank(), 100, 1), found(200, '#');
        for (int times = 0; times < 2; ++times) {
          const bool breaks = group.rank() == 3;
          std::string other = first + "#";
          Status status = co_await move_vps(file, Direction::write, breaks ? other : first, 100, breaks ? 1 : 0);
          EXPECT_EQ(status.code(), Code::invalid_argument) << status.message();
          status = co_await move_vps(file, Direction::write, times == 0 ? first : second, 100);
          if (!status.ok()) co_return status;
        }
        EXPECT_TRUE(file.seek(nullptr, 0, SEEK_SET, nullptr).ok());
        const Status status = co_await move_vps(file, Direction::read, found, 100);
        EXPECT_TRUE(found == first);
        co_return status;
      },
      8, true);
  EXPECT_TRUE(content() == of_all(100) + of_all(100, 1));
}

// Node 0 cannot write its part of a row, and cuts off the file before the part that node 1 still holds.
TEST_F(NodeVpFiles, AFailedRowLeavesNothingBehind) {
  use("fuse.example");
  FaultScript script;
  script.rules = {{.kind = CallKind::write, .at = 2, .os_errno = ENOSPC}};  // the first one marks NAME.meta
  nodes_[0] = std::make_shared<FaultBackend>(nodes_[0], script);
  on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
    std::string rows = of_task(group.rank(), 100'000);
    const Status status = co_await move_vps(file, Direction::write, rows, 100'000);
    EXPECT_EQ(status.code(), Code::no_space) << status.message();
    co_return Status{};
  });
  EXPECT_EQ(content().size(), 0u);
}

// As with shared files: another open of node 1 keeps what it has read of NAME.meta.
TEST_F(NodeVpFiles, TheCloseDropsWhatOtherNodesHaveCachedOfNameMeta) {
  std::unique_ptr<StoredFile> other;
  const auto is_closed_there = [&] {
    std::array<std::byte, format::kMetaBytes> slots{};
    EXPECT_TRUE(other->read(0, slots).has_value());
    auto meta = format::parse_meta(slots);
    EXPECT_EQ(meta.status().message(), "ok");
    return meta.has_value() && meta->closed;
  };
  on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
    std::string mine = of_task(group.rank(), 1111);
    Status status = co_await move_vps(file, Direction::write, mine, 1111);
    if (status.ok()) status = co_await file.flush({}, Call::tw_vpfile_sync_all);
    if (!status.ok() || group.rank() != 3) co_return status;
    other = nodes_[1]->open(std::string(kPath) + ".meta", OpenMode::read).value();
    EXPECT_FALSE(is_closed_there());
    co_return status;
  });
  EXPECT_TRUE(is_closed_there());
}

// FUSE passes exactly the bytes on that were written; on other kinds nodes would lose bytes of each other.
TEST_F(NodeVpFiles, VpsThatWriteOnTheirOwnAreRefused) {
  for (const bool fuse : {false, true}) {
    servers_ = make_memory_backend();
    use(fuse ? "fuse.example" : "nfs");
    const Code expected = fuse ? Code::ok : Code::unsafe;
    on_vpfile([&](Group& group, VpFile& file) -> Op<Status> {
      std::string mine = of_task(group.rank(), 100);
      Status status = co_await move_vps(file, Direction::write, mine, 100);
      const std::uint64_t each[] = {10, 20};
      VpTransfer ragged;
      ragged.direction = Direction::write;
      ragged.base = reinterpret_cast<std::byte*>(mine.data());
      ragged.each = each;
      const Status together = co_await file.transfer(ragged);
      EXPECT_EQ(together.code(), expected) << together.message();
      const auto alone = file.stream(0).write(std::as_bytes(std::span(mine)));
      EXPECT_EQ(alone.status().code(), expected) << alone.status().message();
      if (!fuse) {
        EXPECT_NE(together.message().find("or write it from one node"), std::string::npos) << together.message();
      }
      co_return status;
    });
  }
}

}  // namespace
}  // namespace thalweg::test
