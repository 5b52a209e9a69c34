#include "campaign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "common.hpp"
#include "methods/method_table.hpp"
#include "records.hpp"

namespace tool {
namespace {

// Cost of a method beside its bytes, in bytes: opening, closing, verifying.
constexpr double kFixedWork = 4 << 20;

std::vector<std::string> asked_and_built(const Launcher& launcher, const CampaignOptions& options) {
  std::vector<std::string> ids;
  for (const Json& method : launcher.description["methods"]) {
    const std::string id = method.value("id", "");
    const bool asked = options.methods.empty() || std::ranges::count(options.methods, id) > 0;
    if (asked && method.value("built", false)) ids.push_back(id);
  }
  return ids;
}

double work_of(const LaunchPlan& launch) {
  double work = 0;
  for (const Cell& cell : launch.cells) work += static_cast<double>(cell.bytes()) + kFixedWork;
  return work;
}

// Progress and output of one launch.
class Listener {
 public:
  Listener(const LaunchPlan& plan, size_t methods, int repetitions) {
    total_ = work_of(plan) * static_cast<double>(methods) * (repetitions + 1);
  }

  // Libraries print on standard output, too. A line that begins like a record and is invalid fails the launch: a rank
  // may have died while writing it.
  void see(std::string_view line) {
    if (!line.starts_with('{') || !broken_.empty()) return;
    try {
      see_record(line);
    } catch (const Failure& failure) {
      broken_ = failure.what();
    }
  }

  double share() const { return std::min(1.0, done_ / total_); }
  double work() const { return total_; }
  const std::string& method() const { return method_; }  // the last one begun
  const std::vector<std::string>& lines() const { return lines_; }
  bool ended() const { return ended_ && broken_.empty(); }
  const std::string& broken() const { return broken_; }  // error in a line; empty: none
  // The program's own message of the failure; null: none.
  const Mishap* failure() const {
    const auto found = std::ranges::find(heard_.mishaps, true, &Mishap::failed);
    return found == heard_.mishaps.end() ? nullptr : &*found;
  }

 private:
  void see_record(std::string_view line) {
    const Json object = parsed_record(line);
    const Record record(object, "a");
    const std::string kind = record.text("kind");
    if (kind == "begin") {
      done_ = begun_;
      begun_ += static_cast<double>(record.cell("cell").bytes()) + kFixedWork;
      method_ = record.word("method");
      return;
    }
    add_record(heard_, line);
    lines_.emplace_back(line);
    if (kind == "end") ended_ = true;
  }

  Results heard_;
  std::vector<std::string> lines_;
  std::string method_, broken_;
  double total_ = 0, begun_ = 0, done_ = 0;
  bool ended_ = false;
};

std::vector<std::string> arguments_of(const LaunchPlan& plan, const CampaignOptions& options,
                                      const std::vector<std::string>& methods) {
  std::vector<std::string> words = {"--dir", options.folder, "--repeat", std::to_string(options.repetitions)};
  words.insert(words.end(), {"--cache", plan.cells.front().cache});
  words.insert(words.end(), {"--files-per-folder", std::to_string(options.files_per_folder)});
  words.insert(words.end(), {"--methods", fmt::format("{}", fmt::join(methods, ","))});
  if (!options.phases.empty())
    words.insert(words.end(), {"--phases", fmt::format("{}", fmt::join(options.phases, ","))});
  for (const Cell& cell : plan.cells) words.insert(words.end(), {"--cell", cell_argument(cell)});
  return words;
}

Json failure_record(const LaunchPlan& plan, const std::string& method, const std::string& message) {
  Json record = {{"kind", "failure"}, {"method", method.empty() ? Json() : Json(method)}, {"cell", nullptr}};
  record["phase"] = nullptr;
  record["message"] = fmt::format("with {}: {}", count_text(plan.ranks, "rank"), message);
  record["rank"] = nullptr;
  return record;
}

struct Work {
  double done = 0, all = 0;
};

class Runner {
 public:
  Runner(const Launcher& launcher, const CampaignOptions& options, Progress& progress, Campaign& campaign)
      : launcher_(launcher), options_(options), progress_(progress), campaign_(campaign) {}

  void run(const RunPlan& plan) {
    methods_ = asked_and_built(launcher_, options_);
    if (methods_.empty())
      throw Failure(kUsage, fmt::format("none of these methods is built in '{}': {}", launcher_.program,
                                        fmt::join(options_.methods, ", ")));
    for (const LaunchPlan& launch : plan.launches) work_.all += work_of(launch);
    for (const LaunchPlan& launch : plan.launches) {
      measure(launch);
      work_.done += work_of(launch);
    }
  }

 private:
  // Measures again without failing methods until the others succeed.
  void measure(const LaunchPlan& plan) {
    std::vector<std::string> left = methods_;
    while (!left.empty()) {
      const std::string failed = attempt(plan, left);
      if (failed.empty() || std::erase(left, failed) == 0) return;
    }
  }

  // Returns the failed method; "": none, or unknown, in which case all measurements are kept.
  std::string attempt(const LaunchPlan& plan, const std::vector<std::string>& methods) {
    Listener listener(plan, methods.size(), options_.repetitions);
    try {
      const LaunchEnd end = launch(
          launcher_, plan.ranks, arguments_of(plan, options_, methods),
          [&](std::string_view line) {
            listener.see(line);
            show(plan, listener);
          },
          options_.patience_s);
      clear_folder();
      if (end.exit_code == 0 && end.signal == 0 && listener.ended()) {
        keep(listener);
        return {};
      }
      return told_failure(plan, listener, end);
    } catch (const Interrupted&) {
      keep(listener);
      throw;
    }
  }

  std::string told_failure(const LaunchPlan& plan, const Listener& listener, const LaunchEnd& end) {
    const Mishap* said = listener.failure();
    const std::string method = said != nullptr && !said->method.empty() ? said->method : listener.method();
    const std::string message = said != nullptr              ? said->message
                                : !listener.broken().empty() ? listener.broken()
                                                             : why_it_ended(end);
    if (method.empty()) return launch_failed(plan, message);
    say(fmt::format("{} with {} failed and is skipped: {}", method, count_text(plan.ranks, "rank"), message));
    for (const std::string& line : listener.lines())
      if (is_kind(line, "method") || is_kind(line, "launch")) campaign_.add_line(line);
    campaign_.add_record(failure_record(plan, method, message));
    return method;
  }

  std::string why_it_ended(const LaunchEnd& end) const {
    return how_it_ended(launcher_, end, options_.patience_s) + (end.silent ? " (see --patience)" : "");
  }

  // The launch failed before the first method. Then larger launches may fail where smaller ones succeeded.
  std::string launch_failed(const LaunchPlan& plan, const std::string& message) {
    const std::string text =
        fmt::format("{} of '{}' could not be started: {}", count_text(plan.ranks, "rank"), launcher_.program, message);
    if (campaign_.results.times.empty()) throw Failure(kInputOutput, text);
    say(text);
    campaign_.add_record(failure_record(plan, {}, message));
    return {};
  }

  void keep(const Listener& listener) {
    for (const std::string& line : listener.lines())
      if (!is_kind(line, "end")) campaign_.add_line(line);
  }

  static bool is_kind(const std::string& line, const char* kind) {
    const Json object = parsed_record(line);  // validated on arrival
    return Record(object, "a").text("kind") == kind;
  }

  void clear_folder() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder, error))
      std::filesystem::remove_all(entry.path(), error);
  }

  void show(const LaunchPlan& plan, const Listener& listener) {
    const methods::MethodInfo* info = methods::find_method(listener.method());
    const std::string title = info == nullptr ? std::string() : ", " + std::string(info->title);
    progress_.update_share((work_.done + listener.share() * work_of(plan)) / work_.all,
                           count_text(plan.ranks, "rank") + title);
  }

  const Launcher& launcher_;
  const CampaignOptions& options_;
  Progress& progress_;
  Campaign& campaign_;
  std::vector<std::string> methods_;
  Work work_;
};

}  // namespace

void Campaign::add_record(const Json& record) { add_line(record.dump()); }

void Campaign::add_line(std::string_view line) {
  tool::add_record(results, line);
  lines.emplace_back(line);
}

void run_campaign(const Launcher& launcher, const RunPlan& plan, const CampaignOptions& options, Progress& progress,
                  Campaign& campaign) {
  Runner(launcher, options, progress, campaign).run(plan);
}

}  // namespace tool
