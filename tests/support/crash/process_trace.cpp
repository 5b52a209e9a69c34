#include "support/crash/process_trace.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace thalweg::test {

namespace {

constexpr int kRefused = 126;
constexpr int kSyscallStop = SIGTRAP | 0x80;

// System calls that change files with any arguments.
constexpr long kChanging[] = {
    SYS_pwrite64, SYS_pwritev,   SYS_pwritev2, SYS_write,     SYS_writev,         SYS_ftruncate, SYS_fallocate,
    SYS_fsync,    SYS_fdatasync, SYS_unlinkat, SYS_renameat2, SYS_io_uring_enter, SYS_linkat,
#ifdef SYS_unlink
    SYS_unlink,   SYS_rename,    SYS_renameat, SYS_link,
#endif
};

bool opens_to_write(std::uint64_t flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

bool changes_files(const __ptrace_syscall_info& info) {
  const auto number = static_cast<long>(info.entry.nr);
  if (number == SYS_openat) return opens_to_write(info.entry.args[2]);
  if (number == SYS_fcntl) return info.entry.args[1] == F_OFD_SETLK;
#ifdef SYS_open
  if (number == SYS_open) return opens_to_write(info.entry.args[1]);
#endif
  return std::ranges::find(kChanging, number) != std::end(kChanging);
}

bool is_entry_of_change(pid_t task) {
  __ptrace_syscall_info info{};
  const long got = ::ptrace(PTRACE_GET_SYSCALL_INFO, task, sizeof info, &info);
  return got > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY && changes_files(info);
}

pid_t start(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(kRefused);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

void go_on(pid_t task, int signal) {
  (void)::ptrace(PTRACE_SYSCALL, task, nullptr, static_cast<std::intptr_t>(signal));
}

}  // namespace

Traced run_traced(const std::vector<std::string>& words, std::uint64_t kill_at) {
  Traced end;
  const pid_t pid = start(words);
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
    end.refused = WIFEXITED(status) && WEXITSTATUS(status) == kRefused;
    end.exit_status = -1;
    return end;
  }
  constexpr std::intptr_t kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  (void)::ptrace(PTRACE_SETOPTIONS, pid, nullptr, kOptions);
  go_on(pid, 0);
  for (;;) {
    const pid_t task = ::waitpid(-1, &status, __WALL);
    if (task < 0) return end;
    if (!WIFSTOPPED(status)) {
      if (task != pid) continue;  // a thread
      end.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
      end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      return end;
    }
    const int signal = WSTOPSIG(status);
    if (signal == kSyscallStop && is_entry_of_change(task) && ++end.calls == kill_at) ::kill(pid, SIGKILL);
    const bool own = signal == kSyscallStop || signal == SIGSTOP || signal == SIGTRAP;  // not sent by the program
    go_on(task, own ? 0 : signal);
  }
}

}  // namespace thalweg::test
