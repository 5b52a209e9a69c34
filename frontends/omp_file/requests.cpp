#include "omp_file/requests.hpp"

#include <sched.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "omp_file/number_table.hpp"

namespace thalweg::omp_file {

namespace {

// Never destroyed, like the table of files.
auto& table = *new NumberTable<Team>({.first = 1, .slot_bits = 24, .generation_bits = 38});

// Requires the table lock.
Team* take_if_free(Team* operation, Team*& busy) {
  if (operation == nullptr) return nullptr;
  if (operation->claimed) {
    busy = operation;
    return nullptr;
  }
  operation->claimed = true;
  return operation;
}

// Calls `take(busy)` until it returns an operation, or finds none that is busy.
template <class Take>
Team* claim(Take&& take) {
  constexpr int kYields = 100;  // the owner is usually about to release it
  for (int i = 0;; ++i) {
    Team* busy = nullptr;
    Team* taken = take(busy);
    if (taken != nullptr || busy == nullptr) return taken;
    if (i < kYields) {
      sched_yield();
    } else {
      usleep(100);
    }
  }
}

}  // namespace

omp_file_request add_request(Team* team) {
  try {
    const omp_file_request request = table.add(team);
    return request == NumberTable<Team>::kNone ? OMP_FILE_REQUEST_NULL : request;
  } catch (const std::bad_alloc&) {
    return OMP_FILE_REQUEST_NULL;
  }
}

Team* claim_request(omp_file_request request) {
  return claim([request](Team*& busy) {
    return table.with(request, [&](Team* operation) { return take_if_free(operation, busy); });
  });
}

Team* claim_request_on(const OpenFile* file) {
  return claim([file](Team*& busy) {
    return table.find_first([&](Team* operation) {
      if (operation->shared.file != file || operation->begun.load(std::memory_order_acquire) == 0) return false;
      return take_if_free(operation, busy) != nullptr;
    });
  });
}

void give_up_claim(omp_file_request request) {
  table.with(request, [](Team* operation) {
    if (operation != nullptr) operation->claimed = false;
  });
}

// Under the table lock, as a search for operations of a file reads the file.
OpenFile* give_up_claim_and_file(omp_file_request request) {
  return table.with(request, [](Team* operation) -> OpenFile* {
    if (operation == nullptr) return nullptr;
    operation->claimed = false;
    return std::exchange(operation->shared.file, nullptr);
  });
}

void forget_request(omp_file_request request) { table.remove(request); }

}  // namespace thalweg::omp_file
