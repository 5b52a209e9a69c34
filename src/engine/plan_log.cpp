#include "engine/plan_log.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/status.hpp"

namespace thalweg {

namespace {

// The topics that THALWEG_LOG asks for, with commas between them. There is one so far.
bool wants_plans() {
  static const bool wants = [] {
    const char* text = std::getenv("THALWEG_LOG");
    std::string_view topics = text != nullptr ? text : "";
    bool plans = false;
    while (!topics.empty()) {
      const std::string_view topic = topics.substr(0, topics.find(','));
      topics.remove_prefix(std::min(topics.size(), topic.size() + 1));
      plans = plans || topic == "plan";
      if (topic != "plan" && !topic.empty())
        std::fprintf(stderr, "thalweg: THALWEG_LOG: nothing is known of '%.*s'; write THALWEG_LOG=plan\n",
                     static_cast<int>(topic.size()), topic.data());
    }
    return plans;
  }();
  return wants;
}

// One call, so that lines of several processes do not mix.
void log_line(const std::string& path, const std::string& text) {
  std::fputs(("thalweg: '" + path + "': " + text + "\n").c_str(), stderr);
}

}  // namespace

void log_plan(const std::string& path, const PlanInput& input, const Plan& plan) {
  if (!wants_plans()) return;
  (void)or_out_of_memory([&] {
    const char* verb = input.direction == Direction::read ? "read" : "write";
    log_line(path, std::string(verb) + ": " + describe(input.pattern, input.tasks) + ": " + describe(plan));
    return Status{};
  });
}

void log_relay(const std::string& path, std::uint64_t sharers, std::int64_t nodes) {
  if (!wants_plans()) return;
  (void)or_out_of_memory([&] {
    log_line(path, std::to_string(sharers) + " tasks of " + std::to_string(nodes) +
                       " nodes have bytes for one aggregator: node relays pass their messages on");
    return Status{};
  });
}

}  // namespace thalweg
