// Each allocation in turn fails once in the calls of vpfile.h. Each call reports the failure or succeeds, each
// collective returns one status on all tasks, none hangs; with memory again the next access works, the file can be
// closed and is complete, and all data written with success is present.
#include <algorithm>
#include <cstring>

#include "support/files/vp_files.hpp"
#include "support/memory/counting_new.hpp"

namespace thalweg::test {
namespace {

// Smaller allocations hold no states of VPs, pages or superblocks: these are not checked, and a refusal ends the
// program.
constexpr std::uint64_t kChecked = 1024;
constexpr std::int64_t kVps = 4;
constexpr std::size_t kMost = 4096;  // bytes of a stream
constexpr const char* kHints = "block_bytes=16,superblock_bytes=4KiB,directory_pointers=1,round_bytes=32,cache_bytes=0";
constexpr int kCalls = 40;

// Known content of a stream. Fixed memory: no allocation is allowed while allocations fail.
struct Stream {
  char bytes[kMost];
  bool known[kMost];
  void write(std::int64_t at, const char* data, std::size_t n, bool done) {
    for (std::size_t i = static_cast<std::size_t>(at); i < static_cast<std::size_t>(at) + n && i < kMost; ++i) {
      bytes[i] = *data++;
      known[i] = done;
    }
  }
};

// One task: its streams and the statuses of its calls.
struct Task {
  tw_vpfile* file = nullptr;
  std::size_t n = 0;  // its VPs
  std::int64_t vps[kVps];
  Stream streams[kVps];  // of its local VPs
  tw_status told[kCalls];
  bool collective[kCalls];
  int calls = 0;
  char data[kMost];
  std::int64_t at[kVps];
  std::int64_t counts[kVps];

  void all(tw_status status) { note(status, true); }
  void one(tw_status status) { note(status, false); }
  void note(tw_status status, bool by_all) {
    told[calls] = status;
    collective[calls++] = by_all;
  }

  void find_vps() {
    for (; n < kVps && tw_vpfile_number(file, static_cast<std::int64_t>(n), &vps[n]) == TW_OK;) ++n;
  }

  // Gets the positions of the next writes, also of writes that fail.
  void tell() { EXPECT_EQ(tw_vpfile_tell_all(file, at, nullptr, nullptr), TW_OK); }

  // `data` has the next each(local) bytes of every VP, consecutively.
  template <class Each>
  void wrote_all(tw_status status, Each each) {
    const char* from = data;
    for (std::size_t local = 0; local < n; from += each(local), ++local)
      streams[local].write(at[local], from, each(local), status == TW_OK);
    all(status);
  }
  void wrote_text(tw_status status, const char* text) {
    for (std::size_t local = 0; local < n; ++local)
      streams[local].write(at[local], text, std::strlen(text), status == TW_OK);
    all(status);
  }
  void wrote_one(std::size_t local, tw_status status, const char* text, std::size_t bytes) {
    streams[local].write(at[local], text, bytes, status == TW_OK);
    one(status);
  }

  void write_alike(std::size_t bytes) {
    tell();
    wrote_all(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data, bytes), nullptr, counts),
              [&](std::size_t) { return bytes; });
  }
  void write_ragged() {
    tell();
    std::int64_t each[kVps + 1] = {};
    for (std::size_t local = 0; local < n; ++local) each[local] = 7 + 30 * vps[local];
    tw_vpfile_data what = TW_VPFILE_PACKED(data, 0);
    what.item_bytes = 1;
    what.n_each = each;
    wrote_all(tw_vpfile_write_all(file, what, nullptr, counts),
              [&](std::size_t local) { return static_cast<std::size_t>(each[local]); });
  }

  void write_by_all() {
    write_alike(24);
    write_alike(24);
    write_alike(10);
    all(tw_vpfile_flush_all(file));
    write_ragged();
    tell();
    wrote_text(tw_vpfile_puts_all(file, "one line\n42 words\n", nullptr, nullptr), "one line\n42 words\n");
    int number = 4711;
    const tw_vpfile_argument argument{&number, 0};
    tell();
    wrote_text(tw_vpfile_printf_all(file, "%d;", &argument, 1, nullptr, nullptr), "4711;");
    tell();
    wrote_text(tw_vpfile_putc_all(file, 'x', nullptr, nullptr), "x");
    all(tw_vpfile_sync_all(file));
  }

  void write_alone() {
    for (std::size_t local = 0; local < n; ++local) {
      tell();
      wrote_one(local, tw_vpfile_write(file, vps[local], data, 300, nullptr), data, 300);
      tell();
      wrote_one(local, tw_vpfile_write(file, vps[local], "printed\n", 8, nullptr), "printed\n", 8);
    }
    one(n > 0 ? tw_vpfile_flush(file, vps[0]) : TW_OK);
    for (std::size_t local = 0; local < n; ++local) {
      one(tw_vpfile_seek(file, vps[local], 90, SEEK_SET));
      tell();
      wrote_one(local, tw_vpfile_write(file, vps[local], data + 5, 50, nullptr), data + 5, 50);
    }
  }

  void read_alone() {
    char line[40];
    std::int64_t size = 0;
    const std::int64_t vp = vps[0];
    if (n == 0) return;
    one(tw_vpfile_size(file, vp, &size));
    one(tw_vpfile_seek(file, vp, 60, SEEK_SET));
    one(tw_vpfile_read(file, vp, line, sizeof line, nullptr));
  }

  void read_by_all() {
    char lines[kVps * 40];
    int bytes[kVps];
    const tw_vpfile_argument argument{lines, 40};
    one(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr));
    all(tw_vpfile_read_all(file, TW_VPFILE_PACKED(data, 200), nullptr, counts));
    all(tw_vpfile_getc_all(file, bytes, nullptr));
    one(tw_vpfile_ungetc_all(file, 'u', nullptr, nullptr));
    all(tw_vpfile_gets_all(file, lines, 40, nullptr, nullptr));
    all(tw_vpfile_scanf_all(file, "%39s", &argument, 1, counts, nullptr));
  }

  void fill(int task) {
    for (std::size_t i = 0; i < kMost; ++i)
      data[i] = static_cast<char>('a' + (i * 7 + static_cast<std::size_t>(task)) % 26);
  }
};

class VpNoMemory : public VpFiles {
 protected:
  using Tasks = std::vector<std::unique_ptr<Task>>;
  struct Refusal {
    std::uint64_t k = 0;  // number of the allocation of at least `least` bytes
    std::uint64_t least = 0;
    bool closing = false;  // allocations of the close count, too
  };

  // Options and names are made beforehand, so that all tests allocate equally.
  tw_status open_file(tw_group* group, const char* mode, tw_vpfile** file) const {
    return tw_vpfile_open(group, name_.c_str(), flags_of(mode), options_, file);
  }

  // Waits for all tasks, then starts the refusal.
  static void begin(tw_group* group, int task, const Refusal& refusal) {
    if (task == 0) {
      Allocations::start(refusal.k, refusal.least);
      Allocations::stop();
    }
    if (group != nullptr) {
      EXPECT_EQ(tw_group_barrier(group), TW_OK);
    }
    Allocations::join();
  }

  void write_and_read(tw_group* group, int number, Task& task, const Refusal& refusal) {
    task.fill(number);
    ASSERT_EQ(open_file(group, "w+", &task.file), TW_OK) << tw_last_error();
    task.find_vps();
    begin(group, number, refusal);
    task.write_by_all();
    task.write_alone();
    task.read_alone();
    task.read_by_all();
    if (!refusal.closing) Allocations::stop();
    if (!refusal.closing) {
      EXPECT_EQ(tw_vpfile_seek_all(task.file, 0, nullptr, SEEK_CUR, nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_seek_all(task.file, 0, nullptr, SEEK_END, nullptr), TW_OK) << tw_last_error();
      task.fill(number);
      task.write_alike(20);
      EXPECT_EQ(task.told[task.calls - 1], TW_OK) << "with memory again: " << tw_last_error();
    }
    task.all(tw_vpfile_close(&task.file));
    Allocations::stop();
    EXPECT_TRUE(refusal.closing || task.told[task.calls - 1] == TW_OK) << tw_last_error();
  }

  static void expect_same(const Tasks& tasks) {
    const Task& first = *tasks[0];
    std::vector<tw_status> of_first;
    for (int i = 0; i < first.calls; ++i)
      if (first.collective[i]) of_first.push_back(first.told[i]);
    for (const auto& task : tasks) {
      std::size_t next = 0;
      for (int i = 0; i < task->calls; ++i) {
        EXPECT_TRUE(task->told[i] == TW_OK || task->told[i] == TW_ERR_NO_MEMORY)
            << "call " << i << ": " << task->told[i];
        if (task->collective[i]) {
          EXPECT_EQ(task->told[i], of_first[next++]) << "call " << i;
        }
      }
      EXPECT_EQ(next, of_first.size());
    }
  }

  // With memory again: the file is complete and has all data written with success.
  void expect_content(const Tasks& tasks) const {
    const bool closed = tasks[0]->told[tasks[0]->calls - 1] == TW_OK;
    std::string findings;
    const auto find = [](const char* text, void* all) { *static_cast<std::string*>(all) += std::string("\n") + text; };
    if (closed) {
      EXPECT_EQ(tw_vpfile_verify(name_.c_str(), find, nullptr, &findings, nullptr), TW_OK) << findings;
    } else {
      EXPECT_EQ(tw_vpfile_repair(name_.c_str(), 0, 0, nullptr, find, nullptr, &findings, nullptr), TW_OK) << findings;
    }
    if (HasFailure()) return;
    const std::vector<std::string> all = streams();
    for (const auto& task : tasks) {
      for (std::size_t local = 0; closed && local < task->n; ++local)
        expect_stream(task->vps[local], task->streams[local], all[static_cast<std::size_t>(task->vps[local])]);
    }
  }

  static void expect_stream(std::int64_t vp, const Stream& written, const std::string& found) {
    for (std::size_t i = 0; i < kMost; ++i) {
      if (!written.known[i]) continue;
      ASSERT_LT(i, found.size()) << "VP " << vp;
      ASSERT_EQ(found[i], written.bytes[i]) << "VP " << vp << ", byte " << i << " of " << found.size();
    }
  }

  void run_once(int tasks, int processes, const Refusal& refusal) {
    Tasks all;
    for (int i = 0; i < tasks; ++i) all.push_back(std::make_unique<Task>());
    const auto body = [&](tw_group* group, int task) {
      write_and_read(group, task, *all[static_cast<std::size_t>(task)], refusal);
    };
    if (tasks == 1) {
      body(nullptr, 0);
    } else if (processes == 1) {
      on_team(tasks, body);
    } else {
      on_processes(processes, tasks / processes, body);
    }
    expect_same(all);
    expect_content(all);
  }

  void run_all(int tasks, std::uint64_t least, int processes = 1) {
    for (const bool closing : {false, true}) {
      std::uint64_t most = 1;
      for (std::uint64_t k = 1; k <= most && !HasFailure(); ++k) {
        SCOPED_TRACE(std::to_string(tasks) + " tasks, allocation " + std::to_string(k) +
                     (closing ? ", until it is closed" : ""));
        run_once(tasks, processes, {k, least, closing});
        most = std::max(most, Allocations::count());
      }
      EXPECT_GT(most, 5u);
    }
  }

  void SetUp() override {
    VpFiles::SetUp();
    name_ = path();
    options_.hints(kHints).shape({kVps});
  }
  std::string name_;
  OpenWith options_;
};

TEST_F(VpNoMemory, OfOneTask) { run_all(1, kChecked); }
TEST_F(VpNoMemory, OfOneOfTwoThreads) { run_all(2, kChecked); }
TEST_F(VpNoMemory, OfOneOfThreeThreads) { run_all(3, kChecked); }
TEST_F(VpNoMemory, OfOneOfTwoProcesses) { run_all(2, kChecked, 2); }

// Each allocation of the first call that makes VPs differ fails: the call reports it, on all tasks if collective; no
// byte has moved; and with memory again the file behaves as if they had never differed.
class VpNoMemoryToDiffer : public VpNoMemory {
 protected:
  static constexpr std::int64_t kMany = 64;  // per-VP state is larger than the small allocations
  static constexpr std::size_t kRecord = 24;
  static constexpr std::int64_t kAt = 8;

  struct First {
    const char* name;
    bool collective;
    tw_status (*act)(tw_vpfile*, std::int64_t vp);
  };
  static inline char data_[kMany * kRecord] = {};
  static inline const std::uint8_t mask_[kMany] = {1, 0, 1};
  static inline const std::int64_t offsets_[kMany] = {3, 5};
  static constexpr First kFirsts[] = {
      {"write", false, [](tw_vpfile* f, std::int64_t vp) { return tw_vpfile_write(f, vp, "xyz", 3, nullptr); }},
      {"read", false,
       [](tw_vpfile* f, std::int64_t vp) {
         char byte = 0;
         return tw_vpfile_read(f, vp, &byte, 1, nullptr);
       }},
      {"seek", false, [](tw_vpfile* f, std::int64_t vp) { return tw_vpfile_seek(f, vp, 4, SEEK_SET); }},
      {"seek_all, of some", false,
       [](tw_vpfile* f, std::int64_t) { return tw_vpfile_seek_all(f, 4, nullptr, SEEK_SET, mask_); }},
      {"seek_all, to places of their own", false,
       [](tw_vpfile* f, std::int64_t) { return tw_vpfile_seek_all(f, 0, offsets_, SEEK_SET, nullptr); }},
      {"write_all, of some", true,
       [](tw_vpfile* f, std::int64_t) { return tw_vpfile_write_all(f, TW_VPFILE_PACKED(data_, 4), mask_, nullptr); }},
      {"read_all, of some", true,
       [](tw_vpfile* f, std::int64_t) {
         char to[kMany * 4];
         return tw_vpfile_read_all(f, TW_VPFILE_PACKED(to, 4), mask_, nullptr);
       }},
      {"write_all, ragged", true,
       [](tw_vpfile* f, std::int64_t) {
         static const std::int64_t each[kMany] = {2, 3, 4};
         tw_vpfile_data what = TW_VPFILE_PACKED(data_, 0);
         what.item_bytes = 1;
         what.n_each = each;
         return tw_vpfile_write_all(f, what, nullptr, nullptr);
       }},
  };

  void differ(tw_group* group, int number, const First& first, const Refusal& refusal, tw_status* said) const {
    tw_vpfile* file = open_vp(group, "w+", {.shape = {kMany}, .hints = kHints});
    ASSERT_NE(file, nullptr);
    std::int64_t vp = 0;
    EXPECT_EQ(tw_vpfile_number(file, 0, &vp), TW_OK);
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data_, kRecord), nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_vpfile_seek_all(file, kAt, nullptr, SEEK_SET, nullptr), TW_OK);
    begin(group, number, refusal);
    *said = first.act(file, vp);
    Allocations::stop();
    EXPECT_TRUE(*said == TW_OK || *said == TW_ERR_NO_MEMORY) << *said;
    if (*said != TW_OK && !first.collective) {
      EXPECT_EQ(positions(file), Positions(locals(file), kAt));
    }
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(positions(file), Positions(locals(file), 0));
    EXPECT_EQ(errors(file), Flags(locals(file), 0));
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data_, kRecord), nullptr, nullptr), TW_OK) << tw_last_error();
    close(file);
  }

  // Returns the number of allocations.
  std::uint64_t differ_once(int tasks, const First& first, const Refusal& refusal) const {
    std::vector<tw_status> said(static_cast<std::size_t>(tasks), TW_OK);
    const auto body = [&](tw_group* group, int task) {
      differ(group, task, first, refusal, &said[static_cast<std::size_t>(task)]);
    };
    if (tasks == 1) {
      body(nullptr, 0);
    } else {
      on_team(tasks, body);
    }
    for (const tw_status status : said)
      if (first.collective) {
        EXPECT_EQ(status, said[0]);
      }
    const std::vector<std::string> all = streams();
    for (std::size_t vp = 0; vp < all.size(); ++vp)
      EXPECT_EQ(all[vp].substr(0, kRecord), record_of(vp, static_cast<std::size_t>(tasks)));
    return Allocations::count();
  }
  // All tasks write the same memory.
  static std::string record_of(std::size_t vp, std::size_t tasks) {
    return std::string(data_ + vp % (kMany / tasks) * kRecord, kRecord);
  }

  void differ_all(int tasks, std::uint64_t least) {
    for (std::size_t i = 0; i < sizeof data_; ++i) data_[i] = static_cast<char>('a' + i % 23);
    for (const First& first : kFirsts) {
      std::uint64_t most = 1;
      for (std::uint64_t k = 1; k <= most && !HasFailure(); ++k) {
        SCOPED_TRACE(std::string(first.name) + ", " + std::to_string(tasks) + " tasks, allocation " +
                     std::to_string(k));
        most = std::max(most, differ_once(tasks, first, {k, least}));
        if (k == 1) {
          EXPECT_GT(Allocations::count(), 0u) << "nothing was asked for: it did not differ";
        }
      }
    }
  }
};

TEST_F(VpNoMemoryToDiffer, OfOneTask) { differ_all(1, kChecked); }
TEST_F(VpNoMemoryToDiffer, OfOneOfTwoThreads) { differ_all(2, kChecked); }

// Without differing VPs there is no per-VP state.
TEST_F(VpNoMemoryToDiffer, NobodyDiffersInAnArray) {
  constexpr std::int64_t kVpsOfArray = 1 << 16;
  const std::vector<char> record(kVpsOfArray, 'r');
  std::vector<char> back(kVpsOfArray);
  std::uint64_t bytes = 0;
  for (const char* mode : {"w", "r"}) {
    Allocations::start();
    tw_vpfile* file = open_vp(mode, {.shape = {kVpsOfArray}});
    if (mode[0] == 'w') {
      EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(record.data(), 1), nullptr, nullptr), TW_OK)
          << tw_last_error();
    } else {
      EXPECT_EQ(tw_vpfile_read_all(file, TW_VPFILE_PACKED(back.data(), 1), nullptr, nullptr), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    close(file);
    Allocations::stop();
    bytes = std::max(bytes, Allocations::largest());
  }
  EXPECT_EQ(back, record);
  EXPECT_LT(bytes, std::uint64_t{kVpsOfArray});
}

// A failed write of one VP, repeated or not: the rest of the stream and the other streams are unchanged, and the file
// is complete.
class VpNoMemoryToWrite : public VpFiles {
 protected:
  static constexpr const char* kFewPointers = "block_bytes=16,superblock_bytes=4KiB,directory_pointers=1,cache_bytes=0";
  static constexpr std::size_t kRun = 200;  // bytes

  // Three streams of three runs each, interleaved.
  void make() const {
    tw_vpfile* file = open_vp("w", {.shape = {3}, .hints = kFewPointers});
    for (int round = 0; round < 3; ++round)
      for (std::int64_t vp = 0; vp < 3; ++vp)
        EXPECT_EQ(tw_vpfile_write(file, vp, run_of(vp, round).data(), kRun, nullptr), TW_OK);
    close(file);
  }
  static std::string run_of(std::int64_t vp, int round) { return text_of(static_cast<int>(vp), kRun, round); }
  static std::string stream_of(std::int64_t vp) { return run_of(vp, 0) + run_of(vp, 1) + run_of(vp, 2); }

  static void expect_stream(const std::string& found, std::int64_t at, const std::string& written, bool done) {
    std::string expected = stream_of(1);
    const auto begin = static_cast<std::size_t>(at);
    const std::size_t end = begin + written.size();
    ASSERT_GE(found.size(), done ? std::max(end, expected.size()) : expected.size());
    if (expected.size() < found.size()) expected.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool touched = i >= begin && i < end;
      const bool is_new = touched && found[i] == written[i - begin];
      ASSERT_TRUE(is_new || (!(touched && done) && found[i] == expected[i])) << "byte " << i << ", " << found[i];
    }
  }

  // False: fewer than `k` allocations.
  bool fail_at(std::uint64_t k, std::int64_t at, std::size_t bytes, bool again) const {
    const std::string data = text_of(9, bytes, 5);
    tw_vpfile* file = open_vp("r+", {.hints = kFewPointers});
    EXPECT_EQ(tw_vpfile_seek(file, 1, at, SEEK_SET), TW_OK);
    Allocations::start(k, kChecked);
    tw_status status = tw_vpfile_write(file, 1, data.data(), bytes, nullptr);
    Allocations::stop();
    EXPECT_TRUE(status == TW_OK || status == TW_ERR_NO_MEMORY) << status;
    if (again && status != TW_OK) {
      EXPECT_EQ(tw_vpfile_seek(file, 1, at, SEEK_SET), TW_OK);
      status = tw_vpfile_write(file, 1, data.data(), bytes, nullptr);
      EXPECT_EQ(status, TW_OK) << tw_last_error();
    }
    close(file);
    std::string findings;
    const auto find = [](const char* text, void* all) { *static_cast<std::string*>(all) += std::string("\n") + text; };
    EXPECT_EQ(tw_vpfile_verify(path().c_str(), find, nullptr, &findings, nullptr), TW_OK) << findings;
    const std::vector<std::string> all = streams();
    EXPECT_EQ(all[0], stream_of(0));
    EXPECT_EQ(all[2], stream_of(2));
    expect_stream(all[1], at, data, status == TW_OK);
    return Allocations::count() >= k;
  }
};

TEST_F(VpNoMemoryToWrite, LeavesTheRestRight) {
  struct Place {
    std::int64_t at;
    std::size_t bytes;
  };
  for (const Place place : {Place{600, 300}, Place{590, 20}, Place{700, 5}, Place{250, 40}, Place{150, 300},
                            Place{0, 9000}, Place{100, 25000}}) {
    for (const bool again : {false, true}) {
      for (std::uint64_t k = 1; !HasFailure(); ++k) {
        SCOPED_TRACE("at " + std::to_string(place.at) + ", allocation " + std::to_string(k) + (again ? ", again" : ""));
        make();
        if (!fail_at(k, place.at, place.bytes, again)) break;
      }
    }
  }
}

// The list of batches is sorted when it is first used. Each allocation of this fails: the call reports it, and the next
// one finds all pieces.
class VpNoMemoryToSort : public VpFiles {
 protected:
  static constexpr std::int64_t kMany = 2000;
  const VpHow how_ = {.shape = {kMany}, .hints = "block_bytes=16,superblock_bytes=4096"};

  void append(tw_vpfile* file, int step) {
    Positions each(kMany);
    std::string packed;
    for (std::int64_t vp = 0; vp < kMany; ++vp) {
      const std::string text =
          text_of(static_cast<int>(vp), static_cast<std::size_t>(1 + (vp * 7 + step * 5) % 30), step);
      each[static_cast<std::size_t>(vp)] = static_cast<std::int64_t>(text.size());
      packed += text;
      texts_[static_cast<std::size_t>(vp)] += text;
    }
    tw_vpfile_data data = TW_VPFILE_PACKED(packed.data(), 1);
    data.n_each = each.data();
    EXPECT_EQ(tw_vpfile_write_all(file, data, nullptr, nullptr), TW_OK) << tw_last_error();
  }

  std::vector<std::string> texts_ = std::vector<std::string>(kMany);
};

TEST_F(VpNoMemoryToSort, FindsAllPiecesTheNextTime) {
  tw_vpfile* made = open_vp("w", how_);
  for (int step = 0; step < 12; ++step) append(made, step);
  close(made);
  for (std::uint64_t k = 1; !HasFailure(); ++k) {
    SCOPED_TRACE(k);
    tw_vpfile* file = open_vp("r+", {.hints = how_.hints});
    std::int64_t size = 0;
    Allocations::start(k, kChecked);
    const tw_status first = tw_vpfile_size(file, kMany / 2, &size);
    Allocations::stop();
    EXPECT_TRUE(first == TW_OK || first == TW_ERR_NO_MEMORY) << first;
    for (std::int64_t vp = 0; vp < kMany; ++vp) {
      ASSERT_EQ(tw_vpfile_size(file, vp, &size), TW_OK) << tw_last_error();
      ASSERT_EQ(size, static_cast<std::int64_t>(texts_[static_cast<std::size_t>(vp)].size())) << "VP " << vp;
    }
    close(file);
    if (first == TW_OK) break;
  }
}

}  // namespace
}  // namespace thalweg::test
