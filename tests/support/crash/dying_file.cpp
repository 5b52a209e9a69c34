#include "support/crash/dying_file.hpp"

#include <algorithm>

#include "sim/memory_backend.hpp"
#include "support/campaign/random.hpp"

namespace thalweg::test {

namespace {

constexpr std::uint64_t kMostSessions = 5;
constexpr std::uint64_t kMostKillAt = 250;  // most sessions make fewer calls and survive
constexpr std::uint64_t kMostRepairKillAt = 60;

class Living {
 public:
  Living(bool vpfile, std::uint64_t seed, const std::optional<MachineDeath>& death)
      : file_(make_dying_file(vpfile, seed)),
        random_(random_of(seed, 17)),
        death_(death),
        storage_(make_fault_backend(make_memory_backend(), {.keep_journal = true})) {}

  Life run() {
    const std::uint64_t sessions = 1 + below(random_, kMostSessions);
    for (std::uint64_t i = 0; i < sessions && goes_on_; ++i) session(i);
    if (goes_on_ && death_.has_value()) {
      storage_->kill(Death::machine, death_->seed);
      check_image();
    }
    return life_;
  }

 private:
  void session(std::uint64_t number) {
    const bool killed = below(random_, 2) == 0;
    step_ = "in session " + std::to_string(number + 1);
    begin_step(killed ? 1 + below(random_, kMostKillAt) : 0);
    ++life_.sessions;
    file_->run_session(storage_);
    if (!end_step()) return;
    if (!file_->closed() && !repair()) return;
    std::string wrong = file_->look(storage_->wrapped());
    step_ = "after session " + std::to_string(number + 1);
    if (!wrong.empty()) return fail(wrong);
    if (below(random_, 2) == 0) return;
    storage_->restart({.keep_journal = true});
    file_->all_reached_storage();
    had_closed_ = true;
    step_ += ", which reached the storage";
  }

  // Repairs until one repair completes. False: the life is over.
  bool repair() {
    for (;;) {
      step_ += ", repair";
      begin_step(below(random_, 3) == 0 ? 1 + below(random_, kMostRepairKillAt) : 0);
      ++life_.repairs;
      const Status status = file_->repair(storage_);
      const bool died = storage_->dead();
      if (!end_step()) return false;
      if (died) continue;
      if (status.ok()) return true;
      goes_on_ = false;  // nothing of it was flushed
      if (file_->anything_flushed()) fail("is not repaired: " + status.message());
      return false;
    }
  }

  // `kill_at`: number of the call at which the process dies; 0: none.
  void begin_step(std::uint64_t kill_at) {
    FaultScript script{.keep_journal = true};
    const std::uint64_t machine_at = death_.has_value() && death_->at > life_.calls ? death_->at - life_.calls : 0;
    if (machine_at != 0 && (kill_at == 0 || machine_at <= kill_at))
      script.death = {machine_at, {}, Death::machine, Tear::pages, death_->seed};
    else if (kill_at != 0)
      script.death = {kill_at, {}, Death::process, kill_at % 2 == 0 ? Tear::pages : Tear::nothing, kill_at};
    planned_ = script.death;
    storage_->go_on(std::move(script));
  }

  // False: the machine died.
  bool end_step() {
    if (!storage_->dead()) {
      life_.calls += storage_->calls();
      return true;
    }
    life_.calls += planned_->at;
    if (planned_->death == Death::process) {
      ++life_.kills;
      return true;
    }
    goes_on_ = false;
    check_image();
    return false;
  }

  void check_image() {
    const std::string wrong = file_->check_image(storage_->wrapped(), had_closed_);
    if (!wrong.empty()) fail(wrong);
  }
  void fail(const std::string& problem) {
    goes_on_ = false;
    life_.problem = step_ + ": " + problem;
  }

  const std::unique_ptr<DyingFile> file_;
  Random random_;
  const std::optional<MachineDeath> death_;
  const std::shared_ptr<FaultBackend> storage_;
  std::optional<DeathPoint> planned_;
  std::string step_;  // for the message
  bool goes_on_ = true;
  bool had_closed_ = false;
  Life life_;
};

}  // namespace

Life live(bool vpfile, std::uint64_t seed, const std::optional<MachineDeath>& death) {
  return Living(vpfile, seed, death).run();
}

Deaths die_often(bool vpfile, std::uint64_t seed, std::uint64_t images) {
  const Life whole = live(vpfile, seed, {});
  Deaths deaths{whole.problem, 0, whole.sessions, whole.kills, whole.repairs};
  Random random = random_of(seed, 18);
  for (std::uint64_t i = 0; i < images && deaths.problem.empty(); ++i) {
    const MachineDeath death{1 + below(random, whole.calls + 1),
                             below(random, 1000) * FaultJournal::kLosses + i % FaultJournal::kLosses};
    const Life life = live(vpfile, seed, death);
    ++deaths.images;
    if (!life.problem.empty())
      deaths.problem = "the machine dies at call " + std::to_string(death.at) + " of " + std::to_string(whole.calls) +
                       ", loss " + std::to_string(death.seed) + ": " + life.problem;
  }
  return deaths;
}

}  // namespace thalweg::test
