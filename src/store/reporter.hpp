// Reporter: what verify, repair and defrag tell their caller.
#pragma once

#include <string>

#include "base/watch.hpp"

namespace thalweg {

class Reporter {
 public:
  Reporter(const Watch& watch, CheckResult& result) : watch_(watch), result_(result) {}
  void finding(const std::string& text) {
    ++result_.findings;
    if (watch_.finding) watch_.finding(text);
  }
  bool shows_progress() const { return static_cast<bool>(watch_.progress); }
  // Returns false once the caller has stopped the work; it is not asked again.
  bool progress(std::uint64_t done, std::uint64_t total) {
    done_ = done;
    total_ = total;
    if (!stopped_ && watch_.progress) stopped_ = !watch_.progress(done, total);
    return !stopped_;
  }
  // Repeats the last report, during work that counts nothing.
  bool go_on() { return progress(done_, total_); }
  Watch watch() {
    return {[this](const std::string& text) { finding(text); },
            [this](std::uint64_t done, std::uint64_t total) { return progress(done, total); },
            [this] { return go_on(); }};
  }

 private:
  const Watch& watch_;
  CheckResult& result_;
  std::uint64_t done_ = 0, total_ = 0;  // last report
  bool stopped_ = false;
};

}  // namespace thalweg
