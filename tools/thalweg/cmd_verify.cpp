// thalweg verify and thalweg repair: two calls of one shape.
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "common.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace tool {
namespace {

// What the callbacks of the library get.
struct Work {
  Progress progress;
  std::vector<std::string> findings;
};

void add_finding(const char* text, void* user) {
  auto& findings = static_cast<Work*>(user)->findings;
  if (std::ranges::find(findings, text) == findings.end()) findings.emplace_back(text);  // each is said once
}

int advance(int64_t done, int64_t total, void* user) {
  return Progress::callback(done, total, &static_cast<Work*>(user)->progress);
}

struct Outcome {
  tw_status status = TW_OK;
  std::string message;
  std::vector<std::string> findings;
  tw_health health = {};
};

Outcome examine(decltype(&tw_multifile_verify) call, const char* label, const std::string& path, bool quiet) {
  Outcome outcome;
  outcome.health.struct_size = sizeof outcome.health;
  Work work{Progress(label, quiet), {}};
  outcome.status = call(path.c_str(), add_finding, advance, &work, &outcome.health);
  stop_if_interrupted();
  if (outcome.status != TW_OK) outcome.message = tw_last_error();
  outcome.findings = std::move(work.findings);
  // Only these tell about the file; anything else hindered the work.
  if (outcome.status != TW_OK && exit_code(outcome.status) != kDamaged) fail_with_status(outcome.status);
  return outcome;
}

void print_json(const char* command, const std::string& path, const Outcome& outcome) {
  Json object = json_head(command, path);
  object["status"] = tw_status_name(outcome.status);
  object["closed"] = outcome.health.closed != 0;
  object["repaired"] = outcome.health.repaired != 0;
  object["logical_files"] = outcome.health.n_logical;
  object["damaged_logical_files"] = outcome.health.damaged_logical;
  object["logical_bytes"] = outcome.health.logical_bytes;
  object["findings"] = outcome.findings;
  object["exit_code"] = static_cast<int>(exit_code(outcome.status));
  if (outcome.status != TW_OK)
    object["error"] = {{"status", tw_status_name(outcome.status)}, {"message", outcome.message}};
  put_json(object);
}

// What is going to be said last, on standard error, is not said here too.
void print_findings(const Outcome& outcome) {
  for (const std::string& finding : outcome.findings) {
    if (finding != outcome.message) put(printable(finding, false) + "\n");
  }
}

std::string contents(const tw_health& health) {
  return fmt::format("{} with {}", count_text(health.n_logical, "logical file"), size_text(health.logical_bytes));
}

int run_verify(const std::string& path, const Common& common) {
  const Outcome outcome = examine(tw_multifile_verify, "verify", path, common.quiet);
  if (common.json) {
    print_json("verify", path, outcome);
  } else {
    print_findings(outcome);
    if (outcome.status == TW_OK && !common.quiet) {
      put(fmt::format("{}: whole: {}\n", printable(path), contents(outcome.health)));
    }
  }
  flush_output();
  if (outcome.status != TW_OK) say(outcome.message);
  return exit_code(outcome.status);
}

int run_repair(const std::string& path, const Common& common) {
  const Outcome outcome = examine(tw_multifile_repair, "repair", path, common.quiet);
  const tw_health& health = outcome.health;
  if (common.json) {
    print_json("repair", path, outcome);
  } else {
    print_findings(outcome);
    const bool opened = outcome.status == TW_OK || health.n_logical > 0;
    if (!common.quiet && opened) {
      const char* what = health.repaired != 0      ? "repaired"
                         : outcome.status == TW_OK ? "sound, left alone"
                                                   : "not repaired";
      put(fmt::format("{}: {}: {}\n", printable(path), what, contents(health)));
      if (health.damaged_logical > 0)
        put(fmt::format("damaged: {}\n", count_text(health.damaged_logical, "logical file")));
    }
  }
  flush_output();
  if (outcome.status != TW_OK) say(outcome.message);
  return exit_code(outcome.status);
}

template <auto call>
Run add(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  plain_word(app.add_option("FILE", *file, "The multifile")->required());
  return [file](const Common& common) { return call(*file, common); };
}

constexpr const char* kKeys =
    "  command, file, status (name of a tw_status), exit_code\n"
    "  closed: whether it had been closed\n"
    "  repaired: whether a new index was written\n"
    "  logical_files, damaged_logical_files: their numbers\n"
    "  logical_bytes: bytes of the logical files that are whole\n"
    "  findings: lines of text\n";

}  // namespace

const Command kVerify = {"verify",
                         "Read everything and check every checksum",
                         "Ends with 0 when the file is whole and was closed. Each finding is one line on standard "
                         "output; the one that decides comes last, on standard error. Nothing is changed.",
                         kKeys,
                         "  thalweg verify dump.tw && rm -r dump.old\n",
                         add<run_verify>};

const Command kRepair = {
    "repair",
    "Make a file readable that was not closed",
    "Finds all that was flushed by the frames of the chunks, checks it, writes the index and closes the file. A file "
    "that is "
    "closed and sound is left alone. Can be interrupted and repeated. Nobody may have the file open for writing. Ends "
    "with 1 when flushed bytes are damaged: then what is whole has been brought back, and the findings name the rest.",
    kKeys,
    "  thalweg repair dump.tw\n",
    add<run_repair>};

}  // namespace tool
