// Runs the program as a child; reads /proc.
#include "support/child.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>

#include "support/scratch.hpp"

namespace bench {

namespace {

// Reads a file of /proc with one call, so that counting costs one call.
std::string read_small(const char* name) {
  std::array<char, 8192> text{};
  const int fd = static_cast<int>(must(open(name, O_RDONLY), std::string("cannot open ") + name));
  const auto bytes = must(read(fd, text.data(), text.size()), std::string("cannot read ") + name);
  close(fd);
  return {text.data(), static_cast<std::size_t>(bytes)};
}

// The number after `key` in such a file.
std::int64_t number_behind(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + key.size(), nullptr, 10);
}

constexpr std::int64_t kKibi = 1024;

}  // namespace

std::optional<std::string> run_program(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  must(pipe(ends.data()), "cannot create a pipe");
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const auto child = static_cast<pid_t>(must(fork(), "cannot start a process"));
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;)
    output.append(part.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  must(waitpid(child, &status, 0), "cannot wait for a process");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return output;
}

std::optional<std::string> run_self(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"/proc/self/exe"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words);
}

void limit_memory(std::int64_t bytes) {
  const std::int64_t available = number_behind(read_small("/proc/meminfo"), "MemAvailable:") * kKibi;
  rlimit limit{};
  if (available <= 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = static_cast<rlim_t>(std::min(bytes, available / 2));
  setrlimit(RLIMIT_DATA, &limit);
}

void reset_peak_memory() {
  const int fd = open("/proc/self/clear_refs", O_WRONLY);
  if (fd < 0) return;
  (void)!write(fd, "5", 1);
  close(fd);
}

std::int64_t peak_memory() { return number_behind(read_small("/proc/self/status"), "VmHWM:") * kKibi; }
std::int64_t current_memory() { return number_behind(read_small("/proc/self/status"), "VmRSS:") * kKibi; }

ReadCount reads_so_far() {
  const std::string text = read_small("/proc/self/io");
  return {number_behind(text, "rchar: "), number_behind(text, "syscr: ")};
}

ReadCount difference(const ReadCount& earlier, const ReadCount& later) {
  const ReadCount first = reads_so_far();
  const ReadCount second = reads_so_far();
  const ReadCount own{second.bytes - first.bytes, second.calls - first.calls};
  return {later.bytes - earlier.bytes - own.bytes, later.calls - earlier.calls - own.calls};
}

}  // namespace bench
