// Storage faults below a vpfile: whichever call fails, a collective returns one status on all tasks, none hangs, the
// affected VPs have their error flag set, and a file that could be closed is right.
#include <cerrno>
#include <memory>
#include <string>

#include "sim/memory_backend.hpp"
#include "support/files/shared_files.hpp"
#include "support/files/vp_open.hpp"
#include "support/sanitized.hpp"
#include "testing/fault_backend.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kVps = 6;
constexpr std::uint64_t kRounds = 4;

enum class Kind { nb, cb, ib, alone, overwrite };

struct Setting {
  TaskRank tasks = 1;
  Kind kind = Kind::nb;
  bool syncs = false;
};
std::ostream& operator<<(std::ostream& out, const Setting& what) {
  return out << what.tasks << " tasks, kind " << static_cast<int>(what.kind) << (what.syncs ? ", synced" : "");
}

// Data that VP `vp` writes in a round.
std::string part_of(const Setting& what, std::uint64_t vp, std::uint64_t round) {
  std::size_t bytes = 40;
  if (what.kind == Kind::cb) bytes = 33 + 11 * round;
  if (what.kind == Kind::ib || what.kind == Kind::alone) bytes = 30 + 17 * vp + 5 * round;
  return text_of(static_cast<int>(vp), bytes, static_cast<int>(round));
}

// The results of one task.
struct Heard {
  std::vector<Status> collective;
  std::vector<Status> own;
  bool positions_tell = true;  // each VP's position is after its data
  bool flags_tell = true;      // a failed or short access on this task has set a flag
};

class VpFaults : public SharedFiles {
 protected:
  static VpOpen how(const char* mode) {
    VpOpen open;
    open.path = "f";
    open_as(open, mode);
    open.shape = {kVps};
    open.hints.block_bytes = 16;
    open.hints.superblock_bytes = 4096;
    open.hints.directory_pointers = 1;
    open.hints.cache_bytes = 0;
    return open;
  }

  static void write_round(VpFile& file, const Setting& what, std::uint64_t round, Heard& heard) {
    const std::uint64_t n = file.vps().count();
    if (what.kind == Kind::alone) {
      for (std::uint64_t local = 0; local < n; ++local) {
        const std::string text = part_of(what, file.vps().number(local), round);
        const std::uint64_t before = file.stream(local).position();
        const auto wrote = file.stream(local).write(std::as_bytes(std::span(text)));
        heard.own.push_back(wrote.status());
        heard.positions_tell &= file.stream(local).position() == before + (wrote.has_value() ? text.size() : 0);
        if (!heard.own.back().ok() && !file.stream(local).failed()) heard.flags_tell = false;
      }
      return;
    }
    std::string packed;
    std::vector<std::uint64_t> each(n + 1);
    std::vector<std::uint64_t> moved(n + 1);
    std::vector<std::uint8_t> mask(n + 1, 1);
    for (std::uint64_t local = 0; local < n; ++local) {
      const std::uint64_t vp = file.vps().number(local);
      mask[local] = what.kind != Kind::overwrite || vp % 2 == 0 ? 1 : 0;
      if (mask[local] == 0) continue;
      const std::string text = part_of(what, vp, round);
      each[local] = text.size();
      packed += text;
    }
    VpTransfer transfer;
    transfer.direction = Direction::write;
    transfer.base = reinterpret_cast<std::byte*>(packed.data());
    transfer.each = each.data();
    transfer.mask = mask.data();
    transfer.moved = moved.data();
    std::vector<std::uint64_t> before(n);
    for (std::uint64_t local = 0; local < n; ++local) before[local] = file.stream(local).position();
    heard.collective.push_back(run(file.transfer(transfer)));
    for (std::uint64_t local = 0; local < n; ++local)
      heard.positions_tell &= file.stream(local).position() == before[local] + moved[local];
    for (std::uint64_t local = 0; local < n; ++local)
      if (mask[local] != 0 && moved[local] != each[local] && heard.collective.back().ok()) heard.flags_tell = false;
  }

  // Runs a program on one file under the script; returns the results by task. `closed`: whether close() succeeded.
  std::vector<Heard> play(const Setting& what, const std::shared_ptr<Backend>& memory, const FaultScript& script,
                          std::uint64_t* calls, bool* closed) const {
    const auto faulty = make_fault_backend(memory);
    if (what.kind == Kind::overwrite) make_nb(memory);
    std::vector<Heard> all(static_cast<std::size_t>(what.tasks));
    *closed = false;
    faulty->restart(script);
    run_on_team(what.tasks, [&](Group& group) {
      Heard& heard = all[static_cast<std::size_t>(group.rank())];
      auto opened = run(VpFile::open(group, faulty, how(what.kind == Kind::overwrite ? "r+" : "w+")));
      heard.collective.push_back(opened.status());
      if (!opened.has_value()) return;
      VpFile& file = *opened.value();
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        write_round(file, what, round, heard);
        if (round == 1) heard.collective.push_back(run(what.syncs ? file.sync() : file.flush()));
      }
      heard.collective.push_back(run(file.close()));
      if (group.rank() == 0) *closed = heard.collective.back().ok();
    });
    *calls = faulty->calls();
    return all;
  }

  void make_nb(const std::shared_ptr<Backend>& memory) const {
    run_on_team(1, [&](Group& group) {
      auto file = run(VpFile::open(group, memory, how("w"))).value();
      std::string old(kVps * 40, 'o');
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        VpTransfer transfer;
        transfer.direction = Direction::write;
        transfer.base = reinterpret_cast<std::byte*>(old.data());
        transfer.bytes = 40;
        EXPECT_TRUE(run(file->transfer(transfer)).ok());
      }
      EXPECT_TRUE(run(file->close()).ok());
    });
  }

  static std::string expected(const Setting& what, std::uint64_t vp) {
    if (what.kind == Kind::overwrite && vp % 2 != 0) return std::string(kRounds * 40, 'o');
    std::string text;
    for (std::uint64_t round = 0; round < kRounds; ++round) text += part_of(what, vp, round);
    return text;
  }

  static void expect_right(const Setting& what, const std::shared_ptr<Backend>& memory) {
    run_on_team(2, [&](Group& group) {
      auto opened = run(VpFile::open(group, memory, how("r")));
      ASSERT_TRUE(opened.has_value()) << what << ": " << opened.error().message();
      VpFile& file = *opened.value();
      for (std::uint64_t local = 0; local < file.vps().count(); ++local) {
        const std::string right = expected(what, file.vps().number(local));
        std::string text(right.size() + 1, '.');
        const auto got = file.stream(local).read(std::as_writable_bytes(std::span(text)));
        ASSERT_TRUE(got.has_value()) << what << ": " << got.error().message();
        text.resize(got.value());
        EXPECT_EQ(text, right) << what << ", VP " << file.vps().number(local);
      }
      EXPECT_TRUE(run(file.close()).ok());
    });
  }

  static bool all_ok(const std::vector<Heard>& all) {
    for (const Heard& heard : all) {
      for (const Status& status : heard.collective)
        if (!status.ok()) return false;
      for (const Status& status : heard.own)
        if (!status.ok()) return false;
    }
    return true;
  }

  static void expect_alike(const Setting& what, const std::vector<Heard>& all, Code code) {
    for (const Heard& heard : all) {
      EXPECT_TRUE(heard.positions_tell) << what;
      EXPECT_TRUE(heard.flags_tell) << what;
      ASSERT_EQ(heard.collective.size(), all[0].collective.size()) << what;
      for (std::size_t i = 0; i < heard.collective.size(); ++i)
        EXPECT_EQ(heard.collective[i].code(), all[0].collective[i].code())
            << what << ", call " << i << ": " << heard.collective[i].message() << all[0].collective[i].message();
      for (const Status& status : heard.collective)
        if (!status.ok()) {
          EXPECT_EQ(status.code(), code) << what << ": " << status.message();
        }
    }
  }

  static std::vector<Setting> settings() {
    std::vector<Setting> all;
    for (const TaskRank tasks : {1, 2, 3})
      for (const Kind kind : {Kind::nb, Kind::cb, Kind::ib, Kind::alone, Kind::overwrite})
        for (const bool syncs : {false, true})
          if (!syncs || tasks == 2) all.push_back({tasks, kind, syncs});
    return all;
  }
};

TEST_F(VpFaults, WhicheverCallFailsAllTasksHearTheSame) {
  for (const Setting& what : settings()) {
    const std::uint64_t stride = tries_less() ? 11 : what.tasks == 2 ? 2 : 7;
    std::uint64_t calls = 0;
    bool closed = false;
    const auto whole = make_memory_backend();
    EXPECT_TRUE(all_ok(play(what, whole, {}, &calls, &closed))) << what;
    expect_right(what, whole);
    const std::uint64_t most = calls;
    for (std::uint64_t n = 1; n <= most && !HasFailure(); n += stride) {
      for (const bool lasting : {false, true}) {
        SCOPED_TRACE("call " + std::to_string(n) + (lasting ? " and all behind it" : ""));
        FaultScript script;
        script.rules.push_back({.at = n, .lasting = lasting, .partial = lasting});
        const auto memory = make_memory_backend();
        const auto heard = play(what, memory, script, &calls, &closed);
        expect_alike(what, heard, Code::io_error);
        if (all_ok(heard)) expect_right(what, memory);  // a read ahead failed, or a retry succeeded
        EXPECT_TRUE(!closed || !lasting || all_ok(heard)) << what;
      }
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(VpFaults, AFullDiskIsToldInEveryMode) {
  for (const Setting& what : settings()) {
    for (const std::uint64_t space : {0, 4096, 12288, 20480}) {
      SCOPED_TRACE(space);
      FaultScript script;
      script.space_bytes = space;
      std::uint64_t calls = 0;
      bool closed = false;
      const auto memory = make_memory_backend();
      const auto heard = play(what, memory, script, &calls, &closed);
      expect_alike(what, heard, Code::no_space);
      if (all_ok(heard)) expect_right(what, memory);
      if (space == 0 && what.kind != Kind::overwrite) {
        EXPECT_FALSE(all_ok(heard)) << what;
      }
    }
  }
}

// A flush after a failed one stores the remaining data.
TEST_F(VpFaults, AFlushThatFailsCanBeMadeAgain) {
  for (const Setting& what : settings()) {
    if (what.kind == Kind::overwrite || what.syncs) continue;
    for (std::uint64_t n = 1; n <= 12; n += 3) {
      SCOPED_TRACE(n);
      const auto memory = make_memory_backend();
      const auto faulty = make_fault_backend(memory);
      run_on_team(what.tasks, [&](Group& group) {
        auto file = run(VpFile::open(group, faulty, how("w"))).value();
        Heard heard;
        for (std::uint64_t round = 0; round < kRounds; ++round) write_round(*file, what, round, heard);
        for (const Status& status : heard.collective) EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(run(group.barrier()).ok());
        if (group.rank() == 0) {
          FaultScript script;
          script.rules.push_back({.kind = CallKind::write, .at = n, .partial = true});
          faulty->restart(script);
        }
        EXPECT_TRUE(run(group.barrier()).ok());
        const Status first = run(file->flush());
        EXPECT_TRUE(run(group.barrier()).ok());
        if (group.rank() == 0) faulty->restart({});
        EXPECT_TRUE(run(group.barrier()).ok());
        const Status second = run(file->flush());
        EXPECT_TRUE(second.ok()) << what << ": " << second.message() << ", after " << first.message();
        const Status closed = run(file->close());
        EXPECT_TRUE(closed.ok()) << what << ": " << closed.message();
      });
      expect_right(what, memory);
    }
  }
}

// Failed reads: all tasks get the status, the flag marks the VP, and the next read is right.
TEST_F(VpFaults, ReadsThatFailLeaveTheNextOneRight) {
  for (const TaskRank tasks : {1, 2, 3}) {
    for (const Kind kind : {Kind::nb, Kind::cb, Kind::ib, Kind::overwrite}) {
      const Setting what{tasks, kind};
      const auto memory = make_memory_backend();
      std::uint64_t calls = 0;
      bool closed = false;
      EXPECT_TRUE(all_ok(play(what, memory, {}, &calls, &closed)));
      for (std::uint64_t n = 1; n <= 6; ++n) {
        const auto faulty = make_fault_backend(memory);
        std::vector<Status> heard(static_cast<std::size_t>(tasks));
        std::vector<int> flagged(static_cast<std::size_t>(tasks));
        run_on_team(tasks, [&](Group& group) {
          auto file = run(VpFile::open(group, faulty, how("r"))).value();
          const auto me = static_cast<std::size_t>(group.rank());
          if (me == 0) {
            FaultScript script;
            script.rules.push_back({.kind = CallKind::read, .at = n});
            faulty->restart(script);
          }
          EXPECT_TRUE(run(group.barrier()).ok());
          const std::uint64_t n_local = file->vps().count();
          std::string bytes(n_local * 50 + 1, '.');
          std::vector<std::uint64_t> moved(n_local + 1);
          VpTransfer transfer;
          transfer.base = reinterpret_cast<std::byte*>(bytes.data());
          transfer.bytes = 50;
          transfer.moved = moved.data();
          heard[me] = run(file->transfer(transfer));
          for (std::uint64_t local = 0; local < n_local; ++local) flagged[me] += file->stream(local).failed() ? 1 : 0;
          EXPECT_TRUE(run(group.barrier()).ok());
          if (me == 0) faulty->restart({});
          EXPECT_TRUE(run(group.barrier()).ok());
          EXPECT_TRUE(file->seek(nullptr, 0, SEEK_SET, nullptr).ok());
          const Status again = run(file->transfer(transfer));
          EXPECT_TRUE(again.ok()) << what << ": " << again.message();
          std::uint64_t at = 0;
          for (std::uint64_t local = 0; local < n_local; ++local, at += 50) {
            EXPECT_EQ(moved[local], 50u) << what;
            EXPECT_EQ(bytes.substr(at, 50), expected(what, file->vps().number(local)).substr(0, 50)) << what;
          }
          EXPECT_TRUE(run(file->close()).ok());
        });
        int flags = 0;
        for (const int some : flagged) flags += some;
        for (const Status& status : heard) EXPECT_EQ(status.code(), heard[0].code()) << what << ", read " << n;
        EXPECT_EQ(flags > 0, !heard[0].ok()) << what << ", read " << n;
      }
    }
  }
}

}  // namespace
}  // namespace thalweg::test
