// Writes a multifile through the C API with a team of threads, records in a journal what its calls certified, and waits
// at its end to be killed. kill_test.cpp kills it anywhere.
//
//     killed_writer MULTIFILE JOURNAL SEED SESSIONS WAKE_AT PIPE [HINT=VALUE ...]
//
// At step WAKE_AT it writes a byte to the descriptor PIPE and continues. Exit status 1: a call failed; stderr names it.
// Otherwise only the watchdog ends it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/crash/process_journal.hpp"
#include "support/models/multifile_model.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {
namespace {

constexpr int kTasks = 4, kFilesOfTask = 3, kSteps = 40;
constexpr int kAddsOfTask = kMostLogical / kTasks - kFilesOfTask;
constexpr unsigned kWatchdogSeconds = 200;

struct Arguments {
  std::string path, journal;
  std::uint64_t seed = 0;
  int sessions = 1;
  std::uint64_t wake_at = 0;
  int pipe = -1;
  std::vector<std::string> hints;
};

void demand(tw_status status, const char* call) {
  if (status == TW_OK) return;
  std::fprintf(stderr, "%s: %s: %s\n", call, tw_status_name(status), tw_last_error());
  std::_Exit(1);
}

class Task {
 public:
  Task(const Arguments& arguments, MappedJournal& journal, int task, int session)
      : arguments_(arguments),
        journal_(journal),
        task_(task),
        random_(arguments.seed * 1000 + static_cast<std::uint64_t>(session * kTasks + task)) {}

  void run(tw_team* team, int mode) {
    tw_group* group = nullptr;
    demand(tw_group_team(team, task_, &group), "tw_group_team");
    begin(Doing::creating);
    tw_options* config = new_config();
    demand(tw_multifile_open(group, arguments_.path.c_str(), mode, config, &file_), "tw_multifile_open");
    tw_options_free(&config);
    journal_->closed = 0;
    for (int i = 0; i < kSteps; ++i) step();
    begin(Doing::closing);
    demand(tw_multifile_close(&file_), "tw_multifile_close");
    all_is_flushed();
    tw_group_free(&group);
  }

 private:
  void begin(Doing doing) {
    journal_->doing = doing;
    const char byte = 0;
    if (journal_->progress.fetch_add(1) + 1 == arguments_.wake_at && ::write(arguments_.pipe, &byte, 1) != 1)
      std::_Exit(1);
  }

  tw_options* new_config() const {
    tw_options* config = nullptr;
    demand(tw_options_create(&config), "tw_options_create");
    demand(tw_options_set_range(config, kTasks * kFilesOfTask, task_ * kFilesOfTask, kFilesOfTask),
           "tw_options_set_range");
    for (const std::string& hint : arguments_.hints) {
      const std::size_t equals = hint.find('=');
      demand(tw_options_set_hint(config, hint.substr(0, equals).c_str(), hint.c_str() + equals + 1), hint.c_str());
    }
    return config;
  }

  // Below `limit`.
  std::uint64_t any(std::uint64_t limit) { return random_() % limit; }

  int first_added() const { return kTasks * kFilesOfTask + task_ * kAddsOfTask; }
  std::uint64_t any_size() { return any(4) == 0 ? 3000 + any(30'000) : 1 + any(900); }

  // Adds a logical file and appends to it, or to one that was added in this session.
  void write_added() {
    const auto n = static_cast<std::uint64_t>(added_.size());
    if (n > 0 && any(3) == 0) {
      const auto& [number, rank] = added_[any(n)];
      return write(number, rank, sizes_known(number), any_size());
    }
    int number = first_added();
    while (number < first_added() + kAddsOfTask && journal_->files[number].added != 0) ++number;
    if (number == first_added() + kAddsOfTask) return;
    begin(Doing::writing);
    journal_->files[number].added = 1;
    demand(tw_multifile_add(file_, MappedJournal::name_of(number).c_str(), 0100600), "tw_multifile_add");
    std::int64_t rank = 0;
    demand(tw_multifile_tell(file_, nullptr, &rank), "tw_multifile_tell");
    added_.emplace_back(number, rank);
    write(number, rank, 0, any_size());
  }

  // Mostly appends records; also adds logical files, writes large blocks, overwrites, leaves gaps, flushes and syncs.
  void step() {
    if (any(4) == 0) return write_added();
    const int rank = task_ * kFilesOfTask + static_cast<int>(any(kFilesOfTask));
    const std::uint64_t size = sizes_known(rank);
    const std::uint64_t kind = any(40);
    if (kind < 16) return write(rank, rank, size, 1 + any(900));
    if (kind < 20) return write(rank, rank, size, 3000 + any(30'000));
    if (kind < 21) return write(rank, rank, size, 100'000 + any(200'000));
    if (kind < 25) return write(rank, rank, any(size + 1), 1 + any(2000));
    if (kind < 26) return write(rank, rank, size + any(2000), 1 + any(300));
    if (kind < 39) return flush(false);
    return flush(true);
  }

  // Writes to the logical file with `number` in the journal. Half of the writes seek and use tw_multifile_write, half use
  // tw_multifile_write_at.
  void write(int number, std::int64_t rank, std::uint64_t offset, std::uint64_t bytes) {
    begin(Doing::writing);
    JournalFile& noted = journal_->files[number];
    const std::uint64_t version = noted.begun.load();
    if (version == kMostWrites) return;
    noted.writes[version] = {offset, bytes};
    noted.begun = version + 1;
    const auto data = written_bytes(static_cast<std::uint64_t>(number), {offset, bytes, false}, version + 1);
    const auto at = static_cast<std::int64_t>(offset);
    const bool by_position = any(2) == 0;
    demand(tw_multifile_seek_to(file_, rank, by_position ? at : -1), "tw_multifile_seek_to");
    demand(by_position ? tw_multifile_write(file_, data.data(), data.size())
                       : tw_multifile_write_at(file_, data.data(), data.size(), at),
           by_position ? "tw_multifile_write" : "tw_multifile_write_at");
  }

  void flush(bool by_sync) {
    begin(by_sync ? Doing::syncing : Doing::flushing);
    if (any(2) == 0) {
      tw_request* request = nullptr;
      demand(by_sync ? tw_multifile_isync(file_, &request) : tw_multifile_iflush(file_, &request),
             "tw_multifile_iflush or tw_multifile_isync");
      demand(tw_request_wait(&request, nullptr), "tw_request_wait");
    } else {
      demand(by_sync ? tw_multifile_sync(file_) : tw_multifile_flush(file_), "tw_multifile_flush or tw_multifile_sync");
    }
    all_is_flushed();
  }

  void all_is_flushed() {
    const auto note = [&](int first, int n) {
      for (int i = first; i < first + n; ++i) journal_->files[i].flushed = journal_->files[i].begun.load();
    };
    note(task_ * kFilesOfTask, kFilesOfTask);
    note(first_added(), kAddsOfTask);
  }

  std::uint64_t sizes_known(int number) const { return journal_.history(number).size(); }

  const Arguments& arguments_;
  MappedJournal& journal_;
  const int task_;
  std::mt19937_64 random_;
  tw_multifile* file_ = nullptr;
  std::vector<std::pair<int, std::int64_t>> added_;  // number in the journal, and in the multifile
};

void run_session(const Arguments& arguments, MappedJournal& journal, int session) {
  tw_team* team = nullptr;
  demand(tw_team_create(kTasks, &team), "tw_team_create");
  std::vector<std::thread> threads;
  for (int task = 0; task < kTasks; ++task)
    threads.emplace_back([&, task] {
      Task(arguments, journal, task, session).run(team, session == 0 ? TW_CREATE | TW_TRUNCATE : TW_APPEND);
    });
  for (std::thread& thread : threads) thread.join();
  tw_team_free(&team);
}

}  // namespace
}  // namespace thalweg::test

int main(int argc, char** argv) {
  using namespace thalweg::test;
  if (argc < 7) return 2;
  ::alarm(kWatchdogSeconds);
  Arguments arguments{argv[1],
                      argv[2],
                      std::strtoull(argv[3], nullptr, 10),
                      std::atoi(argv[4]),
                      std::strtoull(argv[5], nullptr, 10),
                      std::atoi(argv[6]),
                      {argv + 7, argv + argc}};
  MappedJournal journal(arguments.journal);
  for (int session = 0; session < arguments.sessions; ++session) run_session(arguments, journal, session);
  journal->doing = Doing::done;
  journal->closed = 1;
  for (;;) ::pause();
}
