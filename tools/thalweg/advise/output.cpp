#include "output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text.hpp"

namespace tool {
namespace {

constexpr size_t kShown = 3;  // methods whose warnings are all printed

Json json_of(const Choice& choice) {
  Json parts = Json::array(), warnings = Json::array();
  for (const Warning& warning : choice.warnings) warnings.push_back(warning.text);
  for (const Part& part : choice.parts) parts.push_back({{"what", part.what}, {"seconds", part.seconds}});
  return {{"method", choice.method->id}, {"title", choice.method->title}, {"seconds", choice.seconds}, {"parts", parts},
          {"reason", choice.reason},     {"warnings", warnings}};
}

// The error of the model; null: unknown.
Json model_json(const Calibration& made) {
  if (made.told_error() == 0) return {};
  return {{"cells", made.cells.size()},
          {"median_error", made.median_error},
          {"left_out_error", made.left_out_error > 0 ? Json(made.left_out_error) : Json()},
          {"largest_bytes", made.most_bytes()}};
}

std::string time_text(double seconds) {
  if (seconds < 0.5e-6) return "< 1 us";
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 600) return fmt::format("{:.3g} s", seconds);
  return fmt::format("{:.3g} min", seconds / 60);
}

void print_choices(const Advice& advice) {
  put(fmt::format("{:>3} {:<40} {:>9}  {}\n", "", "method", "time", "made of"));
  size_t place = 0;
  for (const Choice& choice : advice.choices)
    put(fmt::format("{:>3} {:<40} {:>9}  {}\n", ++place, choice.method->title, time_text(choice.seconds),
                    choice.reason));
  for (const Ruled& ruled : advice.out) put(fmt::format("  - {:<40} {}\n", ruled.method->title, ruled.why));
}

// All warnings of the first methods and of the one that leaves one file; for the others only those about failure or
// collapse.
void print_warnings(const Advice& advice) {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> said;  // warning, and methods it applies to
  for (size_t i = 0; i < advice.choices.size(); ++i) {
    const Choice& choice = advice.choices[i];
    for (const Warning& warning : choice.warnings) {
      if (i >= kShown && &choice != advice.one_array && !warning.always) continue;
      auto found = std::ranges::find(said, warning.text, [](const auto& one) { return one.first; });
      if (found == said.end()) found = said.insert(said.end(), {warning.text, {}});
      found->second.push_back(choice.method->id);
    }
  }
  if (!said.empty()) put("\nmind:\n");
  for (const auto& [text, ids] : said) put(fmt::format("  {}: {}\n", fmt::join(ids, ", "), text));
}

void print_conclusion(const Advice& advice, const Request& request) {
  const Choice& best = advice.choices.front();
  put(fmt::format("\nuse: {} ({})\n", best.method->title, best.method->id));
  std::vector<std::string_view> ties;
  ties.reserve(advice.ties.size());
  for (const Choice* tie : advice.ties) ties.push_back(tie->method->id);
  if (!ties.empty())
    put(fmt::format("within {:.0f} % of it, equal within the model's error: {}\n", 100 * advice.tie,
                    fmt::join(ties, ", ")));
  if (request.is_array() && advice.one_array != nullptr && advice.one_array != &best)
    put(fmt::format("as one file that is the array: {} ({}), {:.2f} times the time\n", advice.one_array->method->title,
                    advice.one_array->method->id, advice.one_array->seconds / best.seconds));
  for (const std::string& line : duty_of(advice, request)) put(fmt::format("  {}\n", line));
}

std::string headline(const Advice& advice, const Request& request) {
  const std::string what = request.is_array() ? cell_text(advice.cell) : request.pattern;
  if (request.phase == "restart")
    return fmt::format("restart of {} that {} wrote, by {} on {}: {}\n", short_size(request.bytes),
                       count_text(request.ranks, "rank"), count_text(request.movers(), "reader"),
                       count_text(request.nodes_in_use(), "node"), what);
  return fmt::format("{} of {} by {} on {}: {}\n", request.phase, short_size(request.bytes),
                     count_text(request.ranks, "rank"), count_text(request.nodes, "node"), what);
}

}  // namespace

Json json_of(const Advice& advice, const Request& request, const Machine& machine) {
  Json result = json_head("advise", "");
  result["cell"] = json_of(advice.cell);
  result["phase"] = request.phase;
  result["storage"] = machine.identity.empty() ? Json() : Json(machine.identity);
  result["measured"] = machine.measured;
  result["model"] = model_json(machine.calibration);
  result["best"] = advice.choices.front().method->id;
  result["best_array"] = advice.one_array == nullptr ? Json() : Json(advice.one_array->method->id);
  result["ties"] = Json::array();
  for (const Choice* tie : advice.ties) result["ties"].push_back(tie->method->id);
  result["choices"] = Json::array();
  for (const Choice& choice : advice.choices) result["choices"].push_back(json_of(choice));
  result["out"] = Json::array();
  for (const Ruled& ruled : advice.out) result["out"].push_back({{"method", ruled.method->id}, {"why", ruled.why}});
  result["notes"] = advice.notes;
  result["duty"] = duty_of(advice, request);
  const Skeleton code = skeleton_of(advice.choices.front().method->id, request.language, request.phase);
  result["code"] = {{"file", code.name}, {"remark", code.remark}, {"text", code.text}};
  result["exit_code"] = 0;
  return result;
}

void print_advice(const Advice& advice, const Request& request) {
  put(headline(advice, request));
  for (const std::string& note : advice.notes) put(fmt::format("  {}\n", note));
  put("\n");
  print_choices(advice);
  print_warnings(advice);
  print_conclusion(advice, request);
}

void print_code(const Skeleton& code) {
  put(fmt::format("\n---- {}{} ----\n{}", code.name, code.remark.empty() ? "" : " (" + code.remark + ")", code.text));
}

Json json_of(const ValidationSummary& sum) {
  return {{"points", sum.points},
          {"median_error", sum.median_error},
          {"choices", sum.choices},
          {"good_choices", sum.good_choices},
          {"worst_choice", sum.worst_choice},
          {"only_tuning_cells", sum.of_tuning}};
}

Json json_of(const ValidationPoint& point) {
  return {{"method", point.method},
          {"phase", point.phase},
          {"cell", json_of(point.cell)},
          {"predicted_seconds", point.predicted_seconds},
          {"measured_seconds", point.measured_seconds},
          {"used_for_tuning", point.used_for_tuning}};
}

void print_validation(const std::vector<ValidationPoint>& points, const ValidationSummary& sum) {
  put(fmt::format("{:<28} {:<8} {:>12} {:>12} {:>8}  {}\n", "method", "phase", "predicted", "measured", "ratio",
                  "cell"));
  for (const ValidationPoint& point : points)
    put(fmt::format("{:<28} {:<8} {:>10.3f}ms {:>10.3f}ms {:>8.2f}  {}{}\n", point.method, point.phase,
                    1e3 * point.predicted_seconds, 1e3 * point.measured_seconds,
                    point.predicted_seconds / point.measured_seconds, cell_text(point.cell),
                    point.used_for_tuning ? " (tuned with)" : ""));
  put(fmt::format("\n{} times{}: median error {:.0f} %\n", sum.points,
                  sum.of_tuning ? ", all used for tuning" : " not used for tuning", 100 * sum.median_error));
  if (sum.choices > 0)
    put(fmt::format(
        "the recommended method is within 10 % of the best in {} of {} cells ({:.0f} %); at worst {:.2f} times as "
        "slow\n",
        sum.good_choices, sum.choices, 100.0 * static_cast<double>(sum.good_choices) / static_cast<double>(sum.choices),
        sum.worst_choice));
}

}  // namespace tool
