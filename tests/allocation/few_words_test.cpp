// Each allocation in turn fails once, however small, in collective calls of all kinds. Either all tasks get one status,
// or the program ends with a line that gives the reason; it never hangs and never ends silently.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>

#include "support/files/shared_files.hpp"
#include "support/memory/counting_new.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

constexpr int kMostCalls = 32;
enum Verdict : int { kAlike = 0, kEnded = 1, kDiffer = 3 };

// Statuses of one task. Fixed memory: no allocation is allowed while allocations fail.
struct Told {
  std::array<tw_status, kMostCalls> of{};
  int n = 0;
  tw_status hear(tw_status status) { return of[static_cast<std::size_t>(n++)] = status; }
};

using Program = std::function<void(tw_group*, const char* path, Told&)>;

void use_file(tw_group* group, const char* path, Told& told) {
  constexpr int kFlags = TW_READ | TW_WRITE | TW_CREATE;
  char data[3000] = {};
  tw_extent list[20];
  for (int i = 0; i < 20; ++i) list[i] = {data + i * 100, 50, (19 - i) * 200 + tw_group_rank(group) * 60};
  tw_file* file = nullptr;
  if (told.hear(tw_file_open(group, path, kFlags, nullptr, &file)) != TW_OK) return;
  told.hear(write_list_all(file, list, 20));
  told.hear(tw_file_write_all(file, data, sizeof data));
  tw_request* request = nullptr;
  tw_status started = iwrite_list_all(file, list, 20, &request);
  if (started == TW_OK) started = tw_request_wait(&request, nullptr);
  told.hear(started);
  told.hear(tw_file_seek(file, 0, SEEK_SET, nullptr));
  told.hear(tw_file_read_all(file, data, 100, nullptr));
  told.hear(tw_file_sync(file));
  told.hear(tw_file_close(&file));
}

void use_multifile(tw_group* group, const char* path, Told& told) {
  char data[3000] = {};
  tw_multifile* file = nullptr;
  if (told.hear(tw_multifile_open(group, path, TW_CREATE | TW_TRUNCATE, nullptr, &file)) != TW_OK) return;
  (void)tw_multifile_write(file, data, sizeof data);
  (void)tw_multifile_flush(file);
  (void)tw_multifile_write(file, data, 10);
  if (told.hear(tw_multifile_close(&file)) != TW_OK) return;
  if (told.hear(tw_multifile_open(group, path, TW_READ, nullptr, &file)) != TW_OK) return;
  std::size_t got = 0;
  (void)tw_multifile_read(file, data, sizeof data, &got);
  told.hear(tw_multifile_close(&file));
}

// Made before allocations fail.
const OpenWith& thirty_vps() {
  static OpenWith options;
  static const bool is_set = (options.shape({30}), true);
  (void)is_set;
  return options;
}

void use_vpfile(tw_group* group, const char* path, Told& told) {
  char data[30 * 20] = {};
  std::uint8_t mask[30];
  for (int i = 0; i < 30; ++i) mask[i] = i % 3 == 0 ? 1 : 0;
  tw_vpfile* file = nullptr;
  if (told.hear(tw_vpfile_open(group, path, TW_READ | TW_CREATE | TW_TRUNCATE, thirty_vps(), &file)) != TW_OK) return;
  told.hear(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data, 20), nullptr, nullptr));
  told.hear(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data, 7), nullptr, nullptr));
  told.hear(tw_vpfile_flush_all(file));
  told.hear(tw_vpfile_write_all(file, TW_VPFILE_PACKED(data, 9), mask, nullptr));
  told.hear(tw_vpfile_puts_all(file, "a line\n", nullptr, nullptr));
  told.hear(tw_vpfile_sync_all(file));
  told.hear(tw_vpfile_close(&file));
}

void use_group(tw_group* group, const char*, Told& told) {
  std::int64_t values[40] = {};
  char data[500] = {};
  tw_group* copy = nullptr;
  told.hear(tw_group_allreduce(group, values, 40, TW_SUM));
  told.hear(tw_group_broadcast(group, data, sizeof data, 1));
  told.hear(tw_group_broadcast(group, data, 8, 0));
  told.hear(tw_group_agree(group, tw_group_rank(group) == 0 ? TW_ERR_IO : TW_OK, 0, "a failure of one task"));
  told.hear(tw_group_duplicate(group, &copy));
  tw_group_free(&copy);
}

class FewWords : public SharedFiles {
 protected:
  FewWords() { (void)thirty_vps(); }
  using World = std::function<void(const std::function<void(tw_group*, int)>&)>;

  // In a child: allocation number `k` of all tasks together fails. Returns the verdict; writes the number of
  // allocations to `pipe`.
  int play(int tasks, const World& world, const Program& program, std::uint64_t k, int pipe) const {
    ::alarm(patience(kMostSeconds));
    const std::string name = path();
    std::vector<Told> told(static_cast<std::size_t>(tasks));
    world([&](tw_group* group, int task) {
      if (task == 0) {
        Allocations::start(k);
        Allocations::stop();
      }
      (void)tw_group_barrier(group);
      Allocations::join();
      program(group, name.c_str(), told[static_cast<std::size_t>(task)]);
      Allocations::stop();
    });
    const std::uint64_t count = Allocations::count();
    if (::write(pipe, &count, sizeof count) != sizeof count) return kDiffer;
    Verdict verdict = kAlike;
    for (const Told& one : told) {
      if (one.of == told[0].of) continue;
      for (std::size_t i = 0; i < one.of.size(); ++i)
        if (one.of[i] != told[0].of[i]) std::fprintf(stderr, "call %zu: %d and %d\n", i, told[0].of[i], one.of[i]);
      verdict = kDiffer;
    }
    return verdict;
  }

  struct Heard {
    int verdict = -1;  // negative: ended by a signal
    std::string text;
    std::uint64_t count = 0;
  };
  Heard hear_child(int tasks, const World& world, const Program& program, std::uint64_t k) const {
    int counts[2], lines[2];
    EXPECT_EQ(::pipe(counts), 0);
    EXPECT_EQ(::pipe(lines), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(lines[1], STDERR_FILENO);
      ::_exit(play(tasks, world, program, k, counts[1]));
    }
    ::close(counts[1]);
    ::close(lines[1]);
    Heard heard;
    char part[512];
    for (ssize_t n = 0; (n = ::read(lines[0], part, sizeof part)) > 0;)
      heard.text.append(part, static_cast<std::size_t>(n));
    if (::read(counts[0], &heard.count, sizeof heard.count) < 0) heard.count = 0;
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    heard.verdict = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    ::close(counts[0]);
    ::close(lines[0]);
    return heard;
  }

  void try_all(int tasks, const World& world, const Program& program) {
    const Heard whole = hear_child(tasks, world, program, 0);
    ASSERT_EQ(whole.verdict, kAlike) << whole.text;
    ASSERT_GT(whole.count, 0u);
    int n_ended = 0;
    const bool tries_all = std::getenv("THALWEG_ALL_STRIDES") != nullptr;
    const std::uint64_t step = tries_less() ? 7 : tries_all ? 1 : 3;
    for (std::uint64_t k = 1; k <= whole.count; k += step) {
      const Heard heard = hear_child(tasks, world, program, k);
      if (heard.verdict == kEnded) {
        ++n_ended;
        EXPECT_TRUE(heard.text.starts_with("thalweg: out of memory")) << heard.text;
        EXPECT_TRUE(heard.text.ends_with("; the program ends\n")) << heard.text;
      } else {
        EXPECT_EQ(heard.verdict, kAlike) << heard.text;
      }
      if (HasFailure()) FAIL() << "allocation " << k << " of " << whole.count << ", " << tasks << " tasks";
    }
    if (step > 1) return;
    EXPECT_GT(n_ended, 0);  // some small allocations are necessary
  }

  void try_in_worlds(const Program& program) {
    try_all(
        2, [](const auto& body) { on_team(2, body); }, program);
    try_all(
        3, [](const auto& body) { on_processes(3, 1, body); }, program);
  }
};

TEST_F(FewWords, OfAGroup) {
  try_in_worlds(use_group);
  try_all(
      4, [](const auto& body) { on_processes(2, 2, body); }, use_group);
}
TEST_F(FewWords, OfASharedFile) { try_in_worlds(use_file); }
TEST_F(FewWords, OfAMultifile) { try_in_worlds(use_multifile); }
TEST_F(FewWords, OfAVpfile) { try_in_worlds(use_vpfile); }

}  // namespace
}  // namespace thalweg::test
