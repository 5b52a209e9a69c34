// Batches where calls of the storage fail: what was counted as written is there, and the file can be used further.
#include <random>

#include "sim/memory_backend.hpp"
#include "support/files/vp_batches.hpp"
#include "support/sanitized.hpp"
#include "testing/fault_backend.hpp"
#include "vpfile/check/check_vpfile.hpp"

namespace thalweg::test {
namespace {

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
