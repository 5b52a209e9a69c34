// Programs that exit without a close: a repair restores what they wrote, the file is not marked complete, and one line
// on stderr names it.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/files/in_folder.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/run_on.hpp"
#include "support/sanitized.hpp"
#include "thalweg/thalweg.hpp"

namespace thalweg::test {
namespace {

constexpr unsigned kMostSeconds = 100;  // time limit
constexpr std::size_t kBytes = 5000;

class Unclosed : public InFolder {
 protected:
  // Where objects of the caller live on.
  [[noreturn]] static void end_here() { std::exit(testing::Test::HasFailure() ? 1 : 0); }
  // Returns the standard error of a process that runs `body` and then calls exit(0).
  static std::string end_after(const std::function<void()>& body) {
    int lines[2];
    EXPECT_EQ(::pipe(lines), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(patience(kMostSeconds));
      ::dup2(lines[1], STDERR_FILENO);
      body();
      end_here();
    }
    ::close(lines[1]);
    std::string text;
    char part[512];
    for (ssize_t n = 0; (n = ::read(lines[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
    ::close(lines[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << text;
    return text;
  }
  // Checks for one line that names the file and the command.
  void expect_told_once(const std::string& text) const {
    EXPECT_EQ(text, "thalweg: '" + path() + "' was not closed; what was written is in its files; `thalweg repair " +
                        path() + "` makes it readable\n");
  }

  tw_multifile* create(tw_group* group = nullptr, const char* hint = nullptr, const char* value = nullptr) const {
    tw_multifile* file = nullptr;
    tw_options* config = nullptr;
    EXPECT_EQ(tw_options_create(&config), TW_OK);
    if (hint != nullptr) {
      EXPECT_EQ(tw_options_set_hint(config, hint, value), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_multifile_open(group, path().c_str(), TW_CREATE | TW_TRUNCATE, config, &file), TW_OK)
        << tw_last_error();
    tw_options_free(&config);
    return file;
  }
  tw_vpfile* create_vp(tw_group* group, std::int64_t vps) const {
    tw_vpfile* file = nullptr;
    EXPECT_EQ(tw_vpfile_open(group, path().c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, &vps), &file), TW_OK)
        << tw_last_error();
    return file;
  }
  static std::string bytes_of(std::int64_t task) { return std::string(kBytes, static_cast<char>('a' + task)); }
  static std::string name_of(std::int64_t task) { return "run7/" + std::to_string(task); }
  static void write(tw_multifile* file, const std::string& bytes) {
    EXPECT_EQ(tw_multifile_write(file, bytes.data(), bytes.size()), TW_OK) << tw_last_error();
  }
  static void add(tw_multifile* file, const std::string& name, const std::string& bytes) {
    EXPECT_EQ(tw_multifile_add(file, name.c_str(), 0100644), TW_OK) << tw_last_error();
    write(file, bytes);
  }
  static std::string read(tw_multifile* in, std::int64_t rank) {
    std::int64_t bytes = 0;
    EXPECT_EQ(tw_multifile_size(in, rank, &bytes), TW_OK) << tw_last_error();
    std::string text(static_cast<std::size_t>(bytes), '-');
    std::size_t got = 0;
    EXPECT_EQ(tw_multifile_seek_to(in, rank, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_read(in, text.data(), text.size(), &got), TW_OK) << tw_last_error();
    return text.substr(0, got);
  }

  // What a repair restores of each task, and of each logical file that was added.
  std::vector<std::string> repaired(std::int64_t tasks, const std::vector<std::string>& names = {}) const {
    std::vector<std::string> all;
    tw_multifile* in = nullptr;
    EXPECT_EQ(tw_multifile_open(nullptr, path().c_str(), TW_READ, nullptr, &in), TW_ERR_NOT_CLOSED) << tw_last_error();
    EXPECT_EQ(tw_multifile_repair(path().c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_open(nullptr, path().c_str(), TW_READ, nullptr, &in), TW_OK) << tw_last_error();
    if (in == nullptr) return all;
    for (std::int64_t task = 0; task < tasks; ++task) all.push_back(read(in, task));
    for (const std::string& name : names) {
      std::int64_t rank = 0;
      EXPECT_EQ(tw_multifile_find(in, name.c_str(), &rank), TW_OK) << tw_last_error();
      all.push_back(read(in, rank));
    }
    EXPECT_EQ(tw_multifile_close(&in), TW_OK);
    return all;
  }
  std::vector<std::string> repaired_vps(std::int64_t vps) const {
    std::vector<std::string> all;
    tw_vpfile* in = nullptr;
    EXPECT_EQ(tw_vpfile_open(nullptr, path().c_str(), TW_READ, nullptr, &in), TW_ERR_NOT_CLOSED);
    EXPECT_EQ(tw_vpfile_repair(path().c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr), TW_OK)
        << tw_last_error();
    EXPECT_EQ(tw_vpfile_open(nullptr, path().c_str(), TW_READ, nullptr, &in), TW_OK) << tw_last_error();
    if (in == nullptr) return all;
    for (std::int64_t vp = 0; vp < vps; ++vp) {
      std::string read(2 * kBytes, '-');
      std::size_t got = 0;
      EXPECT_EQ(tw_vpfile_read(in, vp, read.data(), read.size(), &got), TW_OK);
      all.push_back(read.substr(0, got));
    }
    EXPECT_EQ(tw_vpfile_close(&in), TW_OK);
    return all;
  }

  static void on_team(int tasks, const std::function<void(tw_group*, std::int64_t)>& body) {
    tw_team* team = nullptr;
    EXPECT_EQ(tw_team_create(tasks, &team), TW_OK);
    on_threads(tasks, [&](std::int64_t task) {
      tw_group* group = nullptr;
      EXPECT_EQ(tw_group_team(team, task, &group), TW_OK);
      body(group, task);
      tw_group_free(&group);
    });
    tw_team_free(&team);
  }
};

TEST_F(Unclosed, AMultifileIsFlushed) {
  const std::string told = end_after([&] {
    tw_multifile* file = create();
    EXPECT_EQ(tw_multifile_write(file, bytes_of(0).data(), kBytes), TW_OK);
  });
  expect_told_once(told);
  EXPECT_EQ(repaired(1), std::vector{bytes_of(0)});
}

TEST_F(Unclosed, StreamsOfStdioAreFlushed) {
  const std::string told = end_after([&] {
    std::FILE* stream = nullptr;
    EXPECT_EQ(tw_multifile_fopen(create(), 0, "w", &stream), TW_OK);
    std::fputs("in the buffer of stdio", stream);
  });
  expect_told_once(told);
  EXPECT_EQ(repaired(1), std::vector<std::string>{"in the buffer of stdio"});
}

TEST_F(Unclosed, CompressedPiecesOfThreadsAreFlushed) {
  const std::string told = end_after([&] {
    on_team(3,
            [&](tw_group* group, std::int64_t task) { write(create(group, "compression", "zstd"), bytes_of(task)); });
  });
  expect_told_once(told);
  EXPECT_EQ(repaired(3), (std::vector{bytes_of(0), bytes_of(1), bytes_of(2)}));
}

TEST_F(Unclosed, AddedLogicalFilesOfThreadsAreFlushedWithTheirNames) {
  const std::string told = end_after([&] {
    on_team(3, [&](tw_group* group, std::int64_t task) {
      tw_multifile* file = create(group);
      write(file, bytes_of(task));
      add(file, name_of(task), bytes_of(task + 10));
      add(file, name_of(task + 3), "");
    });
  });
  expect_told_once(told);
  const std::string none;
  EXPECT_EQ(repaired(3, {name_of(0), name_of(1), name_of(2), name_of(3), name_of(5)}),
            (std::vector{bytes_of(0), bytes_of(1), bytes_of(2), bytes_of(10), bytes_of(11), bytes_of(12), none, none}));
}

// Some transfers may be in flight, the last bytes are in a buffer.
TEST_F(Unclosed, DirectWritesAreFlushed) {
  const std::string large(3'000'001, 'd');
  const std::string told = end_after([&] {
    tw_multifile* file = create(nullptr, "io", "direct");
    write(file, large);
    add(file, name_of(0), large);
    add(file, name_of(1), bytes_of(1));
  });
  expect_told_once(told);
  EXPECT_TRUE(repaired(1, {name_of(0), name_of(1)}) == (std::vector{large, large, bytes_of(1)}));
}

TEST_F(Unclosed, ASyncThatNobodyWaitedForAndWhatWasWrittenBehindIt) {
  for (const char* io : {"buffered", "direct"}) {
    const std::string large(3'000'001, 's');
    const std::string told = end_after([&] {
      static tw_request* request = nullptr;
      tw_multifile* file = create(nullptr, "io", io);
      write(file, large);
      EXPECT_EQ(tw_multifile_isync(file, &request), TW_OK) << tw_last_error();
      write(file, bytes_of(1));
      add(file, name_of(0), bytes_of(2));
    });
    expect_told_once(told);
    EXPECT_TRUE(repaired(1, {name_of(0)}) == (std::vector{large + bytes_of(1), bytes_of(2)})) << io;
  }
}

// exit() does not destroy the objects of the function that calls it.
TEST_F(Unclosed, AMultifileOfCppIsFlushed) {
  const std::string told = end_after([&] {
    v1::Multifile file(path(), TW_CREATE | TW_TRUNCATE);
    file.write(bytes_of(0));
    file.add(name_of(0));
    file.write(bytes_of(1));
    end_here();
  });
  expect_told_once(told);
  EXPECT_EQ(repaired(1, {name_of(0)}), (std::vector{bytes_of(0), bytes_of(1)}));
}

TEST_F(Unclosed, AVpfileOfCppIsFlushed) {
  const std::string told = end_after([&] {
    v1::vp::File file(path(), TW_CREATE | TW_TRUNCATE, v1::vp::Shape{2});
    file.write_all(std::string_view("01234567"), 4);
    file.stream(1).write(bytes_of(1));
    end_here();
  });
  expect_told_once(told);
  EXPECT_EQ(repaired_vps(2), (std::vector<std::string>{"0123", "4567" + bytes_of(1)}));
}

// Data of collective and of independent writes is still in memory.
TEST_F(Unclosed, AVpfileOfThreadsIsFlushed) {
  constexpr std::int64_t kVps = 6;
  const std::string told = end_after([&] {
    on_team(3, [&](tw_group* group, std::int64_t task) {
      tw_vpfile* file = create_vp(group, kVps);
      char mine[] = {"0123456789"};
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(mine, 5), nullptr, nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_write(file, 2 * task + 1, bytes_of(task).data(), kBytes, nullptr), TW_OK) << tw_last_error();
    });
  });
  expect_told_once(told);
  std::vector<std::string> expected;
  for (std::int64_t vp = 0; vp < kVps; ++vp) {
    const std::string together = vp % 2 == 0 ? "012340123401234" : "567895678956789";
    expected.push_back(vp % 2 == 0 ? together : together + bytes_of(vp / 2));
  }
  EXPECT_EQ(repaired_vps(kVps), expected);
}

TEST_F(Unclosed, WhatIsReadIsNotTold) {
  tw_multifile* file = create();
  ASSERT_EQ(tw_multifile_close(&file), TW_OK);
  EXPECT_EQ(end_after([&] {
              tw_multifile* in = nullptr;
              EXPECT_EQ(tw_multifile_open(nullptr, path().c_str(), TW_READ, nullptr, &in), TW_OK);
            }),
            "");
}

// A forked child exits: it owns no data.
TEST_F(Unclosed, AChildFlushesNothing) {
  tw_multifile* file = create();
  ASSERT_EQ(tw_multifile_write(file, bytes_of(0).data(), kBytes), TW_OK);
  EXPECT_EQ(end_after([] {}), "");
  EXPECT_EQ(tw_multifile_write(file, bytes_of(1).data(), kBytes), TW_OK);
  EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
}

// A thread is blocked in a collective that another thread never calls.
TEST_F(Unclosed, AHandleInUseIsLeftAlone) {
  const std::string told = end_after([&] {
    tw_team* team = nullptr;
    EXPECT_EQ(tw_team_create(2, &team), TW_OK);
    const auto use = [&, team](std::int64_t task, std::atomic<int>& open) {
      tw_group* group = nullptr;
      EXPECT_EQ(tw_group_team(team, task, &group), TW_OK);
      tw_vpfile* file = create_vp(group, 2);
      tw_group_free(&group);
      open.fetch_add(1);
      return file;
    };
    static std::atomic<int> open{0};
    std::thread([=] {
      tw_vpfile* file = use(1, open);
      (void)tw_vpfile_flush_all(file);
    }).detach();
    (void)use(0, open);
    while (open.load() < 2) std::this_thread::yield();
    tw_team_free(&team);
  });
  EXPECT_EQ(told.find("Sanitizer"), std::string::npos) << told;
}

// A thread has abandoned the vpfile and the others know, so that the close of one waits for nobody: another writes on.
TEST_F(Unclosed, AVpfileStaysLockedUntilItsLastThreadHasClosed) {
  constexpr std::int64_t kVps = 3;
  const auto repair = [&] {
    return tw_vpfile_repair(path().c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr);
  };
  std::barrier<> step(2);
  on_team(3, [&](tw_group* group, std::int64_t task) {
    tw_vpfile* file = create_vp(group, kVps);
    if (task == 2) {
      EXPECT_EQ(tw_vpfile_abandon(&file), TW_OK);
      return;
    }
    const auto write = [&] {
      EXPECT_EQ(tw_vpfile_write(file, task, bytes_of(task).data(), 100, nullptr), TW_OK) << tw_last_error();
      EXPECT_EQ(tw_vpfile_flush(file, task), TW_OK) << tw_last_error();
    };
    write();
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_ERR_NOT_CLOSED) << tw_last_error();
    if (task == 0) {
      EXPECT_EQ(tw_vpfile_close(&file), TW_ERR_NOT_CLOSED) << tw_last_error();
    }
    step.arrive_and_wait();
    if (task == 0) return;
    EXPECT_EQ(repair(), TW_ERR_UNSAFE) << tw_last_error();
    for (int i = 1; i < 20; ++i) write();
    EXPECT_EQ(repair(), TW_ERR_UNSAFE) << tw_last_error();
    EXPECT_EQ(tw_vpfile_close(&file), TW_ERR_NOT_CLOSED) << tw_last_error();
  });
  EXPECT_EQ(repaired_vps(kVps), (std::vector{bytes_of(0).substr(0, 100), std::string(2000, 'b'), std::string()}));
}

// Makes membarrier(2) fail, as a sandbox may.
void refuse_membarrier() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {std::size(program), program};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST_F(Unclosed, WhereNobodyKnowsWhichHandlesAreInUseOnlyFlushedDataIsThere) {
  const std::string told = end_after([&] {
    refuse_membarrier();
    tw_multifile* file = create();
    EXPECT_EQ(tw_multifile_write(file, bytes_of(0).data(), kBytes), TW_OK);
    EXPECT_EQ(tw_multifile_flush(file), TW_OK);
    EXPECT_EQ(tw_multifile_write(file, bytes_of(1).data(), kBytes), TW_OK);
  });
  EXPECT_EQ(told, "thalweg: '" + path() + "' was not closed; only what was flushed is in its files; `thalweg repair " +
                      path() + "` makes it readable\n");
  EXPECT_EQ(repaired(1), std::vector{bytes_of(0)});
}

// Objects that the program destroys at exit close their files.
TEST_F(Unclosed, ClosedAtExitByTheProgram) {
  const std::string told = end_after([&] {
    static tw_multifile* file = nullptr;
    EXPECT_EQ(std::atexit([] { EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error(); }), 0);
    file = create();
    EXPECT_EQ(tw_multifile_write(file, bytes_of(0).data(), kBytes), TW_OK);
  });
  EXPECT_EQ(told, "");
  EXPECT_EQ(tw_multifile_verify(path().c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
}

TEST_F(Unclosed, WhatWasClosedIsNotOpen) {
  tw_multifile* file = create();
  tw_multifile* stale = file;
  ASSERT_EQ(tw_multifile_close(&file), TW_OK);
  EXPECT_EQ(file, nullptr);
  for (tw_multifile** closed : {&file, &stale}) {
    EXPECT_EQ(tw_multifile_close(closed), TW_ERR_INVALID);
    EXPECT_EQ(tw_multifile_abandon(closed), TW_ERR_INVALID);
  }
  std::filesystem::remove(path());
  tw_vpfile* vpfile = create_vp(nullptr, 2);
  tw_vpfile* stale_vps = vpfile;
  ASSERT_EQ(tw_vpfile_close(&vpfile), TW_OK) << tw_last_error();
  EXPECT_EQ(vpfile, nullptr);
  for (tw_vpfile** closed : {&vpfile, &stale_vps}) {
    EXPECT_EQ(tw_vpfile_close(closed), TW_ERR_INVALID);
    EXPECT_EQ(tw_vpfile_abandon(closed), TW_ERR_INVALID);
  }
}

}  // namespace
}  // namespace thalweg::test
