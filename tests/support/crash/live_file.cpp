#include "support/crash/live_file.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/campaign/random.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/process_ranks.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {

namespace {

namespace fs = std::filesystem;

constexpr int kOpened = 1;
constexpr int kMostSteps = 5;
constexpr int kRefused = 4;  // exit code
constexpr std::size_t kOpenResult = 0, kFlushedResult = 1, kFailureResult = 2,
                      kCloseResult = 3;  // indices of Steps::results

struct Scene {
  std::uint64_t seed = 0;
  bool vpfile = false;
  int ranks = 2;
  int steps = 2;
  bool appends = false;  // the file was closed before
  bool closes = false;   // no process is killed, and all ranks close
  bool early = false;    // commands run before the writers open the file
  bool adds = false;     // multifile: each record is also stored in a logical file that is added by a name
  std::string hints;
};

Scene draw_scene(std::uint64_t seed) {
  Random random = random_of(seed, 3);
  Scene scene;
  scene.seed = seed;
  scene.vpfile = seed % 2 == 1;
  scene.ranks = 2 + static_cast<int>(below(random, 3));
  scene.steps = 2 + static_cast<int>(below(random, kMostSteps - 1));
  scene.appends = below(random, 2) == 0;
  scene.closes = below(random, 5) == 0;
  scene.early = below(random, 4) == 0;
  const char* const multifile_hints[] = {"",
                                         "physical_files=2",
                                         "checksum=none,buffer_bytes=1KiB",
                                         "compression=lz4",
                                         "io=direct,transfer_bytes=64KiB",
                                         "physical_files=2,io=direct,chunk_bytes=20000"};
  const char* const vpfile_hints[] = {"", "block_bytes=64,superblock_bytes=4KiB", "block_bytes=1KiB",
                                      "cache_bytes=64KiB"};
  scene.hints = scene.vpfile ? vpfile_hints[below(random, std::size(vpfile_hints))]
                             : multifile_hints[below(random, std::size(multifile_hints))];
  scene.adds = !scene.vpfile && below(random, 2) == 0;
  return scene;
}

std::string name_of(int session, std::int64_t rank, int number) {
  return std::to_string(session) + "/" + std::to_string(rank) + "/" + std::to_string(number);
}

// Record `number` of a rank in a session.
std::string record(const Scene& scene, int session, std::int64_t rank, int number) {
  Random random = random_of(scene.seed, 1000 + static_cast<std::uint64_t>(session * 100000 + rank * 1000 + number));
  std::string bytes(1 + below(random, below(random, 6) == 0 ? 20000 : 900), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}
int records_of_step(const Scene& scene, std::int64_t rank, int step) {
  Random random = random_of(scene.seed, 500 + static_cast<std::uint64_t>(rank * 10 + step));
  return 1 + static_cast<int>(below(random, 4));
}

// One rank's handle.
class Writer {
 public:
  Writer(const Scene& scene, tw_group* group, const std::string& path, bool appends) : rank_(tw_group_rank(group)) {
    if (scene.vpfile) {
      const std::int64_t vps[] = {scene.ranks};
      OpenWith options;
      options.hints(scene.hints.c_str());
      status = tw_vpfile_open(group, path.c_str(), appends ? TW_CREATE | TW_APPEND : TW_CREATE | TW_TRUNCATE,
                              options.shape(1, vps), &vpfile_);
      return;
    }
    tw_options* config = nullptr;
    (void)tw_options_create(&config);
    std::istringstream hints(scene.hints);
    for (std::string hint; std::getline(hints, hint, ',');)
      (void)tw_options_set_hint(config, hint.substr(0, hint.find('=')).c_str(),
                                hint.substr(hint.find('=') + 1).c_str());
    status = tw_multifile_open(group, path.c_str(), appends ? TW_APPEND : TW_CREATE | TW_TRUNCATE, config, &multifile_);
    tw_options_free(&config);
  }
  tw_status write(const std::string& bytes) {
    if (vpfile_ != nullptr) return tw_vpfile_write(vpfile_, rank_, bytes.data(), bytes.size(), nullptr);
    const tw_status found = tw_multifile_seek_to(multifile_, rank_, -1);
    return found == TW_OK ? tw_multifile_write(multifile_, bytes.data(), bytes.size()) : found;
  }
  tw_status add(const std::string& name, const std::string& bytes) {
    const tw_status added = tw_multifile_add(multifile_, name.c_str(), 0100600);
    return added == TW_OK ? tw_multifile_write(multifile_, bytes.data(), bytes.size()) : added;
  }
  tw_status flush() { return vpfile_ != nullptr ? tw_vpfile_flush(vpfile_, rank_) : tw_multifile_flush(multifile_); }
  tw_status close() { return vpfile_ != nullptr ? tw_vpfile_close(&vpfile_) : tw_multifile_close(&multifile_); }

  tw_status status = TW_OK;

 private:
  const std::int64_t rank_;
  tw_vpfile* vpfile_ = nullptr;
  tw_multifile* multifile_ = nullptr;
};

// Body of each rank in a session: writes when the test releases a step, and closes when it releases the close.
void write_session(const Scene& scene, int session, tw_group* group, const std::string& path, Steps& steps) {
  Writer writer(scene, group, path, session > 0);
  steps.results[kOpenResult] = writer.status;
  steps.reach(kOpened);
  if (writer.status != TW_OK) return;
  const std::int64_t rank = tw_group_rank(group);
  int number = 0;
  for (int step = 1; step <= scene.steps; ++step) {
    steps.wait_until_allowed(kOpened + step);
    for (int left = records_of_step(scene, rank, step); left > 0; --left) {
      const std::string bytes = record(scene, session, rank, number);
      tw_status status = writer.write(bytes);
      if (status == TW_OK && scene.adds) status = writer.add(name_of(session, rank, number), bytes);
      ++number;
      if (status == TW_OK && (left == 1 || number % 2 == 0)) {
        status = writer.flush();
        if (status == TW_OK) steps.results[kFlushedResult] = number;
      }
      if (status != TW_OK) steps.results[kFailureResult] = status;
    }
    steps.reach(kOpened + step);
  }
  steps.wait_until_allowed(kOpened + scene.steps + 1);
  const bool closes = steps.allowed.load() > kOpened + scene.steps + 1;
  if (closes) steps.results[kCloseResult] = writer.close();
}

class Direction {
 public:
  Direction(const std::string& thalweg, const Scene& scene)
      : thalweg_(thalweg), scene_(scene), random_(random_of(scene.seed, 4)), flushed_(ranks(), 0) {
    std::string name = (fs::temp_directory_path() / "thalweg_live_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) wrong("no folder: " + name);
    folder_ = name;
    fs::create_directory(folder_ / "beside");
    for (const char* entry : {"text", "f", side()})
      std::ofstream(folder_ / "beside" / entry) << "what a command would put there\n";
  }
  ~Direction() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

  Beside run() {
    make_other();
    if (scene_.appends) write_before();
    if (good()) write_live();
    if (good()) check_afterwards();
    return std::move(result_);
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(scene_.ranks); }
  std::string path() const { return (folder_ / "f").string(); }
  const char* side() const { return scene_.vpfile ? "f.meta" : "f.000001"; }
  std::string beside(const char* name) const { return (folder_ / "beside" / name).string(); }
  bool good() const { return result_.problem.empty(); }
  void wrong(const std::string& what) {
    if (good()) result_.problem = what;
  }

  // ---- Commands ----

  struct Command {
    pid_t process = 0;
    std::string text;
    bool must_be_refused = false;
  };

  Command start(std::vector<std::string> words, bool must_be_refused) {
    Command command{0, "", must_be_refused};
    for (const std::string& word : words) command.text += (command.text.empty() ? "" : " ") + word;
    words.insert(words.begin(), thalweg_);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, beside("said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int failed = ::posix_spawn(&command.process, thalweg_.c_str(), &actions, nullptr, argv.data(), environ);
    if (failed != 0) {
      wrong("cannot start " + thalweg_ + ": " + std::strerror(failed));
      command.process = 0;
    }
    ::posix_spawn_file_actions_destroy(&actions);
    return command;
  }
  // Returns the exit code of the command.
  int end(const Command& command) {
    if (command.process <= 0) return -1;  // it was not started
    int status = 0;
    ::waitpid(command.process, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    std::ifstream file(beside("said"));
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    const std::string told = "'" + command.text + "' ended with " + std::to_string(code) + ": " + said;
    if (code < 0 || code > kRefused || said.find("TW_ERR_INTERNAL") != std::string::npos) wrong(told);
    if (command.must_be_refused && code != kRefused) wrong(told);
    last_said_ = told;
    return code;
  }
  int run_command(std::vector<std::string> words) { return end(start(std::move(words), false)); }

  // Starts a command that reads, or one that must be refused while a writer lives.
  Command start_any(bool live) {
    const std::string out = beside("out");
    const std::string rank = std::to_string(below(random_, ranks()));
    const bool vpfile = scene_.vpfile;
    switch (below(random_, live ? 16 : 7)) {
      case 0:
        return start({"verify", path()}, false);
      case 1:
        return start({"info", path()}, false);
      case 2:
        return start({"ls", path()}, false);
      case 3:
        return start({"cat", path(), vpfile ? "--vp" : "--task", rank}, false);
      case 4:
        return vpfile ? start({"map", path(), "-"}, false) : start({"cat", "--recover", path(), "--task", rank}, false);
      case 5:
        return start({vpfile ? "vp-flatten" : "defrag", path(), out, "--force"}, false);
      case 6:
        return start({"extract", path(), "-C", beside("extracted")}, false);
      case 7:
        return start({"pack", "--force", "-C", (folder_ / "beside").string(), path(), "text"}, true);
      case 8:
        return start({"defrag", "--force", beside("other"), path()}, true);
      case 9:
        return start({"extract", beside("other"), "f", "-C", folder_.string(), "--force"}, true);
      case 10:
        return start({"extract", beside("other"), side(), "-C", folder_.string(), "--force"}, true);
      case 11:
        return start({"map", beside("other"), below(random_, 2) == 0 ? path() : (folder_ / side()).string(), "--force",
                      "--format", "svg"},
                     true);
      default:
        return start({"repair", path()}, live);
    }
  }
  void finish(const Command& command) {
    const int code = end(command);
    ++result_.commands;
    result_.refused += code == kRefused ? 1 : 0;
  }

  // Starts another program that opens the file for writing.
  void try_writing() {
    ++result_.commands;
    for (const bool appends : {true, false}) {
      Writer writer(scene_, nullptr, path(), appends);
      const bool refused = writer.status == TW_ERR_UNSAFE || (appends && writer.status == TW_ERR_NOT_CLOSED);
      if (writer.status == TW_OK) (void)writer.close();
      if (!refused)
        return wrong(std::string(appends ? "an append" : "a creation") + " beside a writer got " +
                     tw_status_name(writer.status) + " " + tw_last_error());
    }
    ++result_.refused;
  }

  // Runs commands while no writer writes.
  void run_paused() {
    const std::string before = snapshot();
    if (below(random_, 4) == 0)
      try_writing();
    else
      finish(start_any(true));
    if (snapshot() != before) wrong("the files changed beside a writer that waited; " + last_said_);
  }
  std::string snapshot() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::ranges::sort(files);
    std::string all;
    for (const fs::path& file : files) {
      std::ifstream in(file, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      all += file.string() + ' ' + std::to_string(bytes.size()) + '\n' + bytes;
    }
    return all;
  }

  // ---- Writers ----

  void make_other() {
    const std::string from = (folder_ / "beside").string();
    if (run_command({"pack", "-C", from, beside("other"), "text", "f", side()}) != 0) wrong(last_said_);
  }

  // Writes and closes the previous session.
  void write_before() {
    ProcessRanks processes(scene_.ranks,
                           [this](tw_group* group, Steps& steps) { write_session(scene_, 0, group, path(), steps); });
    for (int r = 0; r < scene_.ranks; ++r) processes.steps(r).allow(kOpened + scene_.steps + 2);
    for (int r = 0; r < scene_.ranks; ++r) {
      const bool ended = processes.join(r) == 0;
      if (!ended || processes.steps(r).results[kCloseResult] != TW_OK) wrong("the session before was not closed");
    }
  }

  void write_live() {
    ProcessRanks processes(scene_.ranks, [this](tw_group* group, Steps& steps) {
      write_session(scene_, scene_.appends ? 1 : 0, group, path(), steps);
    });
    alive_.assign(ranks(), true);
    survivor_ = 1 + static_cast<int>(below(random_, ranks() - 1));
    if (scene_.early) finish(start_any(false));
    if (!has_opened(processes)) return;
    for (int step = 1; step <= scene_.steps && good(); ++step) play_step(processes, step);
    take_leave(processes);
  }

  // A command that ran first may have locked the file; then all writers are refused.
  bool has_opened(ProcessRanks& processes) {
    for (int r = 0; r < scene_.ranks; ++r)
      if (!processes.steps(r).wait_for(kOpened)) wrong("rank " + std::to_string(r) + " does not open");
    const int first = processes.steps(0).results[kOpenResult];
    for (int r = 0; r < scene_.ranks; ++r)
      if (processes.steps(r).results[kOpenResult] != first) wrong("the open has several results");
    if (first != TW_OK && !(scene_.early && first == TW_ERR_UNSAFE))
      wrong(std::string("the open gets ") + tw_status_name(first));
    kept_away_ = first != TW_OK;
    return good() && !kept_away_;
  }

  void play_step(ProcessRanks& processes, int step) {
    for (int r = 0; r < scene_.ranks; ++r)
      if (is_alive(r)) processes.steps(r).allow(kOpened + step);
    const Command command = start_any(true);
    for (int r = 0; r < scene_.ranks; ++r)
      if (!scene_.closes && r != survivor_ && is_alive(r) && below(random_, 3) == 0) kill(processes, r);
    finish(command);
    for (int r = 0; r < scene_.ranks; ++r)
      if (is_alive(r) && !processes.steps(r).wait_for(kOpened + step))
        wrong("rank " + std::to_string(r) + " does not come to step " + std::to_string(step));
    for (std::uint64_t left = 1 + below(random_, 3); left > 0 && good(); --left) run_paused();
  }
  bool is_alive(int rank) const { return alive_[static_cast<std::size_t>(rank)]; }
  void kill(ProcessRanks& processes, int rank) {
    processes.kill(rank);
    alive_[static_cast<std::size_t>(rank)] = false;
    ++result_.kills;
    result_.orphaned += rank == 0 ? 1 : 0;
  }

  // All ranks close, or exit without a close.
  void take_leave(ProcessRanks& processes) {
    for (int r = 0; r < scene_.ranks; ++r)
      if (is_alive(r)) processes.steps(r).allow(kOpened + scene_.steps + (scene_.closes ? 2 : 1));
    for (int r = 0; r < scene_.ranks; ++r) {
      Steps& steps = processes.steps(r);
      if (is_alive(r) && processes.join(r) != 0) wrong("rank " + std::to_string(r) + " does not end");
      if (steps.results[kFailureResult] != TW_OK)
        wrong(std::string("a write got ") + tw_status_name(steps.results[kFailureResult]));
      if (scene_.closes && steps.results[kCloseResult] != TW_OK)
        wrong(std::string("the close got ") + tw_status_name(steps.results[kCloseResult]));
      flushed_[static_cast<std::size_t>(r)] = steps.results[kFlushedResult];
    }
  }

  // ---- Afterwards ----

  void check_afterwards() {
    if (kept_away_ && !scene_.appends) return;  // the file was never created
    const bool closed = scene_.closes || kept_away_;
    if (closed && run_command({"verify", path()}) != 0) return wrong(last_said_);
    if (run_command({"repair", path()}) != 0 || run_command({"verify", path()}) != 0) return wrong(last_said_);
    check_content();
    Writer writer(scene_, nullptr, path(), true);
    if (writer.status != TW_OK || writer.close() != TW_OK) wrong(std::string("no append: ") + tw_last_error());
    if (good() && run_command({"verify", path()}) != 0) wrong(last_said_);
    check_content();
  }

  // The file holds at least the flushed records, and nothing that was not written.
  void check_content() {
    for (int r = 0; r < scene_.ranks && good(); ++r) {
      std::string all;
      if (scene_.appends) all = written(0, r, number_of_records(r));
      const int session = scene_.appends ? 1 : 0;
      const std::size_t least = all.size() + written(session, r, flushed_[static_cast<std::size_t>(r)]).size();
      all += kept_away_ ? "" : written(session, r, number_of_records(r));
      const std::string found = content_of(r);
      if (found.size() < least)
        wrong("rank " + std::to_string(r) + " has " + std::to_string(found.size()) + " bytes; " +
              std::to_string(least) + " were flushed");
      else if (found != all.substr(0, found.size()))
        wrong("rank " + std::to_string(r) + " has bytes that it did not write");
    }
    if (scene_.adds && good()) check_added();
  }
  void check_added() {
    tw_multifile* file = nullptr;
    if (tw_multifile_open(nullptr, path().c_str(), TW_READ, nullptr, &file) != TW_OK) return wrong(tw_last_error());
    for (int r = 0; r < scene_.ranks; ++r) {
      if (scene_.appends) check_records(file, 0, r, number_of_records(r));
      const int session = scene_.appends ? 1 : 0;
      if (!kept_away_) check_records(file, session, r, flushed_[static_cast<std::size_t>(r)]);
    }
    (void)tw_multifile_close(&file);
  }
  // The first `flushed` records of a session are whole, under their names.
  void check_records(tw_multifile* file, int session, int rank, int flushed) {
    for (int number = 0; number < number_of_records(rank); ++number) {
      const std::string name = name_of(session, rank, number), bytes = record(scene_, session, rank, number);
      std::int64_t at = 0;
      const tw_status status = tw_multifile_find(file, name.c_str(), &at);
      if (status == TW_ERR_NOT_FOUND && number >= flushed) continue;
      if (status != TW_OK) return wrong("'" + name + "' is not found: " + tw_last_error());
      std::string found(bytes.size() + 1, '\0');
      std::size_t got = 0;
      if (tw_multifile_seek_to(file, at, 0) != TW_OK ||
          tw_multifile_read(file, found.data(), found.size(), &got) != TW_OK)
        return wrong("'" + name + "' cannot be read: " + tw_last_error());
      found.resize(got);
      if (found != bytes.substr(0, got) || (number < flushed && got < bytes.size()))
        return wrong("'" + name + "' has " + std::to_string(got) + " bytes of " + std::to_string(bytes.size()));
    }
  }
  int number_of_records(int rank) const {
    int records = 0;
    for (int step = 1; step <= scene_.steps; ++step) records += records_of_step(scene_, rank, step);
    return records;
  }
  std::string written(int session, int rank, int records) const {
    std::string all;
    for (int i = 0; i < records; ++i) all += record(scene_, session, rank, i);
    return all;
  }

  std::string content_of(int rank) {
    std::string bytes;
    std::int64_t size = 0;
    std::size_t got = 0;
    tw_vpfile* vpfile = nullptr;
    tw_multifile* multifile = nullptr;
    tw_status status = scene_.vpfile ? tw_vpfile_open(nullptr, path().c_str(), TW_READ, nullptr, &vpfile)
                                     : tw_multifile_open(nullptr, path().c_str(), TW_READ, nullptr, &multifile);
    if (status == TW_OK)
      status = scene_.vpfile ? tw_vpfile_size(vpfile, rank, &size) : tw_multifile_size(multifile, rank, &size);
    if (status == TW_OK && !scene_.vpfile) status = tw_multifile_seek_to(multifile, rank, 0);
    bytes.resize(static_cast<std::size_t>(size));
    if (status == TW_OK)
      status = scene_.vpfile ? tw_vpfile_read(vpfile, rank, bytes.data(), bytes.size(), &got)
                             : tw_multifile_read(multifile, bytes.data(), bytes.size(), &got);
    if (status != TW_OK || got != bytes.size()) wrong(std::string("cannot be read: ") + tw_last_error());
    if (vpfile != nullptr) (void)tw_vpfile_close(&vpfile);
    if (multifile != nullptr) (void)tw_multifile_close(&multifile);
    return bytes;
  }

  const std::string thalweg_;
  const Scene scene_;
  Random random_;
  fs::path folder_;
  Beside result_;
  std::vector<int> flushed_;  // records of the live session, by rank
  std::vector<bool> alive_;   // whether the process of each rank lives
  int survivor_ = 0;          // rank of the process that is never killed
  bool kept_away_ = false;    // a command locked the file before the writers
  std::string last_said_;
};

}  // namespace

std::string describe_live_file(std::uint64_t seed) {
  const Scene scene = draw_scene(seed);
  return std::string(scene.vpfile ? "a vpfile of " : "a multifile of ") + std::to_string(scene.ranks) + " processes, " +
         std::to_string(scene.steps) + " steps, hints '" + scene.hints + "'" + (scene.appends ? ", appended to" : "") +
         (scene.adds ? ", with names" : "") + (scene.closes ? ", closed" : "") +
         (scene.early ? ", commands before the open" : "") + '\n';
}

Beside run_beside_writers(const std::string& thalweg, std::uint64_t seed) {
  return Direction(thalweg, draw_scene(seed)).run();
}

}  // namespace thalweg::test
