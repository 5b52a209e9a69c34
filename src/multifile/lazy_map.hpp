// Objects found by number and made on first use. Threads that want one object wait while it is made; threads that want
// another one do not.
//
// Threads: any number at once. An object stays at its address until the map is destroyed.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/wire.hpp"

namespace thalweg {

template <class T>
class LazyMap {
 public:
  // `make` returns a Result<std::unique_ptr<T>>. All threads that waited for a failed attempt get its failure; a later
  // call tries again.
  template <class Make>
  Result<T*> get_or_make(std::uint32_t number, Make&& make) {
    const std::shared_ptr<Slot> slot = slot_of(number);
    if (T* ready = slot->ready.load(std::memory_order_acquire)) return ready;
    const std::lock_guard lock(slot->making);
    if (T* ready = slot->ready.load(std::memory_order_relaxed)) return ready;
    if (!slot->failure.ok()) return slot->failure;
    slot->failure = attempt([&]() -> Status {
      TW_ASSIGN_OR_RETURN(slot->thing, make());
      slot->ready.store(slot->thing.get(), std::memory_order_release);
      return {};
    });
    if (slot->failure.ok()) return slot->thing.get();
    forget(number, slot);
    return slot->failure;
  }

  // All objects made so far, in the order of their numbers.
  std::vector<std::pair<std::uint32_t, T*>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<std::uint32_t, T*>> result;
    result.reserve(slots_.size());
    for (const auto& [number, slot] : slots_)
      if (T* ready = slot->ready.load(std::memory_order_acquire)) result.emplace_back(number, ready);
    return result;
  }

 private:
  struct Slot {
    std::mutex making;
    std::atomic<T*> ready = nullptr;
    std::unique_ptr<T> thing;  // guarded by making
    Status failure;            // guarded by making
  };

  std::shared_ptr<Slot> slot_of(std::uint32_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = slots_.find(number);
    return found != slots_.end() ? found->second : slots_.emplace(number, std::make_shared<Slot>()).first->second;
  }
  // Failed attempts keep no memory.
  void forget(std::uint32_t number, const std::shared_ptr<Slot>& slot) {
    const std::lock_guard lock(mutex_);
    const auto found = slots_.find(number);
    if (found != slots_.end() && found->second == slot) slots_.erase(found);
  }

  mutable std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<Slot>> slots_;  // guarded by mutex_
};

}  // namespace thalweg
