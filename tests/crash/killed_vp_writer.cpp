// Writes a vpfile on a file system with a team of threads and records in a journal what its calls certified, or repairs
// a vpfile. vp_kill_test.cpp kills it at any of its system calls.
//
//     killed_vp_writer write VPFILE JOURNAL SHAPE MODE SEED    SHAPE: index in vp_crash_shapes(); MODE: w+, r+, a+
//     killed_vp_writer repair VPFILE
//
// Exit status 1: a call failed; stderr names it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/crash/process_journal.hpp"
#include "support/crash/vp_crash_program.hpp"
#include "support/groups/run_on.hpp"
#include "vpfile/check/check_vpfile.hpp"

namespace thalweg::test {
namespace {

constexpr unsigned kWatchdogSeconds = 200;

int told(const Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}

// Each VP is recorded by one thread.
class JournalNotes final : public VpNotes {
 public:
  explicit JournalNotes(MappedJournal& journal) : journal_(journal) {}
  std::uint64_t size(std::uint64_t vp) override { return journal_.history(static_cast<int>(vp)).size(); }
  std::uint64_t begin(std::uint64_t vp, std::uint64_t offset, std::uint64_t bytes) override {
    JournalFile& noted = journal_->files[vp];
    const std::uint64_t number = noted.begun.load();
    if (number == kMostWrites) std::_Exit(1);
    noted.writes[number] = {offset, bytes};
    noted.begun = number + 1;
    return number + 1;
  }
  void failed(std::uint64_t) override { std::_Exit(told(Status::error(Code::io_error, "a write failed"))); }
  void stored(std::uint64_t vp, bool) override { journal_->files[vp].flushed = journal_->files[vp].begun.load(); }
  void lattice_is(std::uint64_t bytes) override {
    std::uint64_t known = journal_->lattice;
    while (known < bytes && !journal_->lattice.compare_exchange_weak(known, bytes)) {
    }
  }

 private:
  MappedJournal& journal_;
};

int write(char** arguments) {
  const VpCrashShape shape = vp_crash_shapes().at(std::strtoull(arguments[2], nullptr, 10));
  const VpSessionOf session{posix_backend(), arguments[0], arguments[3], std::strtoull(arguments[4], nullptr, 10)};
  MappedJournal journal(arguments[1]);
  JournalNotes notes(journal);
  journal->closed = 0;
  run_on_team(shape.tasks, [&](Group& group) {
    const Status status = run(run_vp_session(group, shape, session, notes));
    if (!status.ok()) std::_Exit(told(status));
  });
  journal->closed = 1;
  return 0;
}

int repair(const char* path) {
  CheckResult health;
  return told(repair_vpfile(*posix_backend(), path, {}, {}, health));
}

}  // namespace
}  // namespace thalweg::test

int main(int argc, char** argv) {
  using namespace thalweg::test;
  ::alarm(kWatchdogSeconds);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "write" && argc == 7) std::_Exit(write(argv + 2));
  if (what == "repair" && argc == 3) std::_Exit(repair(argv[2]));
  return 2;
}
