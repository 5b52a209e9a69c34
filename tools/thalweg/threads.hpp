// Work of several threads of the command, and its division into shares.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace tool {

constexpr int kMostWorkers = 1024;

int cores();  // of this machine, available to this process; at least 1

// The threads for work of this cost, in bytes: `asked`, or when that is 0 one per core, each with 4 MiB or more.
int64_t workers_for(int64_t asked, double cost);

// Calls work(k, failed) for k = 0 .. n-1, each on a thread of its own, number 0 on this one. `failed` becomes true when
// a call has thrown: the others then end soon, by return or by any exception. Throws what was thrown first, when all
// have ended. Throws Failure before the first call when the threads cannot be started.
void on_threads(int64_t n, const std::function<void(int64_t k, const std::atomic<bool>& failed)>& work);

// Divides items 0 .. n-1 into contiguous shares of about equal cost; returns the end of each.
std::vector<size_t> equal_shares(size_t n, int64_t shares, const std::function<double(size_t i)>& cost);

}  // namespace tool
