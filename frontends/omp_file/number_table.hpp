// Numbers by which programs name objects of the library: descriptors and requests.
//
// A number consists of a slot and the slot's generation, which increases each time the slot is emptied. A released
// number stays unknown when its slot is reused, until the generations wrap; at least 64 slots are used in turn, so that
// this takes 64 * 2^generation_bits numbers. Any value is accepted as a number: it is only compared.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <vector>

#include "omp_file/brief_lock.hpp"

namespace thalweg::omp_file {

template <class T>
class NumberTable {
 public:
  struct Range {
    std::int64_t first;  // the smallest number
    int slot_bits;
    int generation_bits;
  };
  static constexpr std::int64_t kNone = -1;

  explicit NumberTable(Range range) : range_(range) {}

  // Returns the new number of `object`; kNone when all slots are in use. Throws bad_alloc.
  std::int64_t add(T* object) {
    const std::lock_guard hold(lock_);
    if (free_.size() < kKeepFree && slots_.size() < std::size_t{1} << range_.slot_bits) {
      slots_.emplace_back();
      free_.push_back(slots_.size() - 1);
    }
    if (free_.empty()) return kNone;
    const std::size_t slot = free_.front();
    free_.pop_front();
    slots_[slot].object = object;
    return range_.first + static_cast<std::int64_t>((slots_[slot].generation << range_.slot_bits) | slot);
  }

  // Returns `use(object)` for the object of this number, or `use(nullptr)`, with the table locked.
  template <class Use>
  auto with(std::int64_t number, Use&& use) {
    const std::lock_guard hold(lock_);
    Slot* slot = find(number);
    return use(slot == nullptr ? nullptr : slot->object);
  }

  // The first object that `fits`, or nullptr, with the table locked.
  template <class Fits>
  T* find_first(Fits&& fits) {
    const std::lock_guard hold(lock_);
    for (Slot& slot : slots_) {
      if (slot.object != nullptr && fits(slot.object)) return slot.object;
    }
    return nullptr;
  }

  // Removes the number and returns its object, or nullptr.
  T* remove(std::int64_t number) {
    const std::lock_guard hold(lock_);
    Slot* slot = find(number);
    if (slot == nullptr) return nullptr;
    T* object = slot->object;
    slot->object = nullptr;
    slot->generation = (slot->generation + 1) & ((std::uint64_t{1} << range_.generation_bits) - 1);
    try {
      free_.push_back(static_cast<std::size_t>(slot - slots_.data()));
    } catch (const std::bad_alloc&) {  // only the slot is lost
    }
    return object;
  }

 private:
  static constexpr std::size_t kKeepFree = 64;  // free slots before one is reused

  struct Slot {
    T* object = nullptr;  // nullptr: free
    std::uint64_t generation = 0;
  };

  Slot* find(std::int64_t number) {  // with lock_ held
    if (number < range_.first) return nullptr;
    const auto bits = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(range_.first);
    const std::size_t slot = bits & ((std::uint64_t{1} << range_.slot_bits) - 1);
    if (slot >= slots_.size() || slots_[slot].object == nullptr) return nullptr;
    return slots_[slot].generation == bits >> range_.slot_bits ? &slots_[slot] : nullptr;
  }

  const Range range_;
  BriefLock lock_;
  std::vector<Slot> slots_;       // guarded by lock_
  std::deque<std::size_t> free_;  // guarded by lock_; freed first, reused first
};

}  // namespace thalweg::omp_file
