// SIGKILL at many points of a real program: threads that write a multifile on a file system through the C API
// (killed_writer.cpp). Afterwards all flushed data is present, under its name, and no wrong data is read.
//
// A third of the points are steps of the program, a third are in its opens (and shortly after), a third are random
// times. THALWEG_KILLS: number of kills of all programs together (default 200).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>

#include "support/crash/crash_check.hpp"
#include "support/crash/process_journal.hpp"

namespace thalweg::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr int kPrograms = 9, kSessions = 2;
constexpr std::chrono::seconds kWatchdog{100};

int kills_of_each() {
  const char* text = std::getenv("THALWEG_KILLS");
  const int kills = text == nullptr ? 200 : std::atoi(text);
  return (kills + kPrograms - 1) / kPrograms;
}

struct Program {
  const char* name;
  std::vector<std::string> hints;
};
void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

// A running killed_writer.
class Victim {
 public:
  Victim(const std::vector<std::string>& arguments, std::uint64_t wake_at, const std::vector<std::string>& hints) {
    EXPECT_EQ(::pipe2(pipe_, O_CLOEXEC), 0);
    std::vector<std::string> words = arguments;
    words.insert(words.begin(), writer().string());
    words.push_back(std::to_string(wake_at));
    words.push_back(std::to_string(pipe_[1]));
    words.insert(words.end(), hints.begin(), hints.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      (void)::fcntl(pipe_[1], F_SETFD, 0);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(pipe_[1]);
  }
  ~Victim() { ::close(pipe_[0]); }

  // Waits until the program reaches its step, exits, or the time is over.
  void wait(microseconds most) const {
    pollfd fd{pipe_[0], POLLIN, 0};
    const timespec limit{static_cast<time_t>(most.count() / 1'000'000),
                         static_cast<long>(most.count() % 1'000'000) * 1000};
    (void)::ppoll(&fd, 1, &limit, nullptr);
  }

  // Returns the signal that ended the program.
  int kill() {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
  }

 private:
  static std::filesystem::path writer() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "killed_writer";
  }

  int pipe_[2] = {-1, -1};
  pid_t pid_ = -1;
};

class Kill : public testing::TestWithParam<Program> {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "thalweg_kill_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }

  std::vector<std::string> arguments(std::uint64_t seed) const {
    return {path("run.tw"), path("journal"), std::to_string(seed), std::to_string(kSessions)};
  }

  void clear() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) std::filesystem::remove_all(entry);
  }

  // Measures steps and time of an undisturbed run.
  void measure() {
    const auto begin = Clock::now();
    MappedJournal journal(path("journal"));
    Victim victim(arguments(0), 0, GetParam().hints);
    while (journal->doing != Doing::done && Clock::now() - begin < kWatchdog) victim.wait(microseconds(200));
    time_ = std::chrono::duration_cast<microseconds>(Clock::now() - begin);
    steps_ = journal->progress;
    EXPECT_EQ(victim.kill(), SIGKILL);
    EXPECT_STREQ(name_of(journal->doing), "done");
    clear();
  }

  // Kills at a point drawn from `seed` and checks the file.
  void kill_once(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const bool by_step = seed % 3 != 1;
    const std::uint64_t step = !by_step ? 0 : seed % 3 == 0 ? 1 + random() % steps_ : step_of_opening(random);
    MappedJournal journal(path("journal"));
    Victim victim(arguments(seed), step, GetParam().hints);
    victim.wait(by_step ? microseconds(kWatchdog) : microseconds(random() % static_cast<std::uint64_t>(time_.count())));
    if (by_step) ::usleep(static_cast<useconds_t>(random() % 300));
    ASSERT_EQ(victim.kill(), SIGKILL) << "the program ended by itself";
    ++died_[static_cast<std::size_t>(journal->doing.load())];
    const std::string wrong = check_aftermath(aftermath(journal));
    EXPECT_EQ(wrong, "") << "killed while " << name_of(journal->doing) << " at step " << journal->progress << " of "
                         << steps_ << ", seed " << seed;
    clear();
  }

  // One of the first steps of a session: a task calls the open.
  std::uint64_t step_of_opening(std::mt19937_64& random) const {
    return random() % kSessions * (steps_ / kSessions) + 1 + random() % 4;
  }

  Aftermath aftermath(const MappedJournal& journal) {
    Aftermath at{posix_backend(), path("run.tw"), {}, Death::process, journal->closed != 0};
    for (int number = 0; number < kMostLogical; ++number) at.histories.push_back(journal.history(number));
    if (!at.was_closed && anything_durable(at)) ++unclosed_with_flushed_;
    return at;
  }

  std::filesystem::path folder_;
  std::uint64_t steps_ = 0;
  microseconds time_{};
  std::size_t died_[static_cast<std::size_t>(Doing::count)] = {};
  int unclosed_with_flushed_ = 0;
};

TEST_P(Kill, AtAnyMomentLosesNothingThatWasFlushed) {
  measure();
  ASSERT_GT(steps_, 0U);

  for (int i = 0; i < kills_of_each() && !HasFailure(); ++i) kill_once(static_cast<std::uint64_t>(i));

  for (std::size_t i = 0; i < std::size(died_); ++i)
    RecordProperty(std::string("died_") + name_of(static_cast<Doing>(i)), static_cast<int>(died_[i]));
  EXPECT_GT(unclosed_with_flushed_, 0) << "no kill came between the first flush and the end: nothing was tested";
}

// Programs 0 .. kPrograms - 1.
INSTANTIATE_TEST_SUITE_P(
    Programs, Kill,
    testing::Values(Program{"AllDefaults", {}},
                    Program{"TwoFilesSmallChunks",
                            {"physical_files=2", "chunk_bytes=6000", "buffer_bytes=1500", "alignment_bytes=512",
                             "granule_bytes=4096"}},
                    Program{"Unbuffered", {"physical_files=1", "buffer_bytes=0", "chunk_bytes=64KiB"}},
                    Program{"NoChecksums", {"physical_files=1", "checksum=none", "buffer_bytes=20KiB"}},
                    Program{"LargeAlignment", {"physical_files=4", "alignment_bytes=64KiB", "buffer_bytes=1MiB"}},
                    Program{"Direct", {"io=direct", "transfer_bytes=64KiB", "queue_depth=2", "chunk_bytes=100000"}},
                    Program{"Lz4Unbuffered", {"compression=lz4", "buffer_bytes=0"}},
                    Program{"Zstd", {"physical_files=2", "compression=zstd", "buffer_bytes=16KiB"}},
                    Program{"SyncOnClose", {"physical_files=3", "sync_on_close=on", "chunk_bytes=1MiB"}}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace thalweg::test
