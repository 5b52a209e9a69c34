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

}  // namespace

void log_plan(const std::string& path, const PlanInput& input, const Plan& plan) {
  if (!wants_plans()) return;
  (void)or_out_of_memory([&] {
    const char* verb = input.direction == Direction::read ? "read" : "write";
    const std::string line =
        "thalweg: '" + path + "': " + verb + ": " + describe(input.pattern, input.tasks) + ": " + describe(plan) + "\n";
    std::fputs(line.c_str(), stderr);  // one call, so that lines of several processes do not mix
    return Status{};
  });
}

}  // namespace thalweg
