#include "engine/plan_log.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <string_view>

#include "base/status.hpp"
#include "os/environment.hpp"

namespace thalweg {

// THALWEG_LOG names topics, with commas between them. There is one so far.
bool logs_plans() {
  static const bool logs = [] {
    std::string_view topics = environment("THALWEG_LOG");
    bool plans = false;
    while (!topics.empty()) {
      const std::string_view topic = topics.substr(0, topics.find(','));
      topics.remove_prefix(std::min(topics.size(), topic.size() + 1));
      plans = plans || topic == "plan";
      if (topic != "plan" && !topic.empty())
        std::fprintf(stderr, "thalweg: THALWEG_LOG: there is no topic '%.*s'; write THALWEG_LOG=plan\n",
                     static_cast<int>(topic.size()), topic.data());
    }
    return plans;
  }();
  return logs;
}

namespace {

// One call, so that lines of several processes do not mix.
void log_line(const std::string& path, const std::string& text) {
  std::fputs(fmt::format("thalweg: '{}': {}\n", path, text).c_str(), stderr);
}

}  // namespace

void log_plan(const std::string& path, const GroupAccess& access, const Plan& plan) {
  if (!logs_plans()) return;
  (void)or_out_of_memory([&] {
    log_line(path, fmt::format("{}: {}: {}", access.reads() ? "read" : "write", describe(access), describe(plan)));
  });
}

void log_relay(const std::string& path, std::uint64_t sharers, std::int64_t nodes) {
  if (!logs_plans()) return;
  (void)or_out_of_memory([&] {
    log_line(path, fmt::format("{} tasks of {} nodes have bytes for one aggregator: node relays pass their messages on",
                               sharers, nodes));
  });
}

}  // namespace thalweg
