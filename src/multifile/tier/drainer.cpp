#include "multifile/tier/drainer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <map>
#include <mutex>
#include <utility>

#include "os/process_era.hpp"
#include "os/threads.hpp"
#include "os/wait.hpp"

namespace thalweg {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kShortest{10}, kLongest{500};

struct Drains {
  std::mutex mutex;
  // Guarded by mutex: by final path and number of the part.
  std::map<std::pair<std::string, std::uint32_t>, std::shared_future<void>> last;
  Status failure;      // guarded by mutex
  ProcessEra era = 0;  // guarded by mutex: of the threads
  std::atomic<int> awaited = 0;
};
constinit std::atomic<Drains*> drains{nullptr};  // never destroyed: threads may run at exit

// The node of part 0 finishes the drain, which removes the files of the parts; the other nodes wait for that. At the end
// of the program a node gives up when no node has made a step for a while.
Status drain(TierFolders& folders, const std::shared_future<void>& before, const std::atomic<int>& awaited) {
  Backend& backend = *folders.backend;
  const TierRecord& record = folders.record;
  TW_RETURN_IF_ERROR(drain_own(folders));
  if (before.valid()) before.wait();
  std::uint64_t steps = 0;
  Clock::time_point changed = Clock::now();
  for (auto pause = kShortest;; pause = std::min(2 * pause, kLongest)) {
    bool waits = false;
    if (record.part == 0) {
      TW_ASSIGN_OR_RETURN(const Drained how, finish_drain(folders.backend, record));
      waits = how == Drained::not_yet;
    } else {
      TW_ASSIGN_OR_RETURN(waits, backend.exists(record.part_path(record.part)));
    }
    if (!waits) return folders.remove();
    TW_ASSIGN_OR_RETURN(const std::uint64_t now, steps_of_all(backend, record));
    if (std::exchange(steps, now) != now || awaited.load() == 0) changed = Clock::now();
    if (Clock::now() - changed > kPatience)
      return Status::error(Code::not_closed, "other nodes have not drained their parts for {} seconds",
                           kPatience.count());
    sleep_for(pause);
  }
}

void run_drain(TierFolders& folders, const std::shared_future<void>& before, Drains& all) {
  name_this_thread("tw-drain");
  const Status status = attempt([&] { return drain(folders, before, all.awaited); });
  folders.release();
  if (status.ok()) return;
  const std::string& path = folders.record.final_path;
  const std::string line =
      fmt::format("thalweg: '{}' is not drained: {}; its bytes stay in '{}', from which `thalweg drain` brings them\n",
                  path, status.message(), folders.own);
  (void)std::fputs(line.c_str(), stderr);
  const std::lock_guard lock(all.mutex);
  all.failure = all.failure.or_else(status.with_context(fmt::format("draining '{}'", path)));
}

}  // namespace

Status TierFolders::remove() {
  const Status removed = remove_tier_folder(own).or_else(copy.empty() ? Status{} : remove_tier_folder(copy));
  release();
  return removed;
}

Status drain_own(const TierFolders& folders) {
  const auto once = [&]() -> Result<bool> {
    TW_RETURN_IF_ERROR(drain_part(*folders.backend, folders.own, folders.record));
    return true;
  };
  return try_behind_drain(*folders.backend, folders.record, kPatience, once).status();
}

Status begin_drain(TierFolders folders) {
  static auto* const all = new Drains;
  drains.store(all);
  const std::lock_guard lock(all->mutex);
  if (std::exchange(all->era, process_era()) != process_era())  // the futures of a parent are never ready here
    (void)new auto(std::exchange(all->last, {}));
  const SignalsBlocked blocked;
  std::shared_future<void>& last = all->last[{folders.record.final_path, folders.record.part}];
  auto mine = std::make_shared<TierFolders>(std::move(folders));
  last = std::async(std::launch::async, [mine, before = last] { run_drain(*mine, before, *all); }).share();
  return std::exchange(all->failure, {});
}

Status await_drains() {
  Drains* const all = drains.load();
  if (all == nullptr) return {};
  std::unique_lock lock(all->mutex);
  if (all->era != process_era()) return {};
  const auto last = std::exchange(all->last, {});
  lock.unlock();
  ++all->awaited;
  for (const auto& [part, done] : last) done.wait();
  --all->awaited;
  lock.lock();
  return std::exchange(all->failure, {});
}

}  // namespace thalweg
