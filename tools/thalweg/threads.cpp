#include "threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

#include "common.hpp"

namespace tool {

int cores() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 1 << 16); }

int64_t workers_for(int64_t asked, double cost) {
  constexpr double kWorth = 4 << 20;
  return asked > 0 ? asked : static_cast<int64_t>(std::clamp(cost / kWorth, 1.0, static_cast<double>(cores())));
}

void on_threads(int64_t n, const std::function<void(int64_t k, const std::atomic<bool>& failed)>& work) {
  enum Start : int { kWait, kRun, kCancel };
  std::atomic<int> start = kWait;
  std::atomic<bool> failed = false;
  std::exception_ptr first;
  const auto run = [&](int64_t k) {
    start.wait(kWait);
    if (start == kCancel) return;
    try {
      work(k, failed);
    } catch (...) {
      if (!failed.exchange(true)) first = std::current_exception();
    }
  };
  const auto begin = [&](Start how) {
    start = how;
    start.notify_all();
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int64_t k = 1; k < n; ++k) others.emplace_back(run, k);
    } catch (const std::system_error& error) {
      begin(kCancel);
      throw Failure(kInputOutput, fmt::format("cannot start {} threads: {}; give fewer", n, error.what()));
    }
    begin(kRun);
    run(0);
  }
  if (first) std::rethrow_exception(first);
}

std::vector<size_t> equal_shares(size_t n, int64_t shares, const std::function<double(size_t i)>& cost) {
  double total = 0, sum = 0;
  for (size_t i = 0; i < n; ++i) total += cost(i);
  std::vector<size_t> ends;
  for (size_t i = 0; i < n; ++i) {
    sum += cost(i);
    while (std::ssize(ends) < shares - 1 &&
           sum * static_cast<double>(shares) >= total * static_cast<double>(ends.size() + 1))
      ends.push_back(i + 1);
  }
  ends.resize(static_cast<size_t>(shares), n);
  return ends;
}

}  // namespace tool
