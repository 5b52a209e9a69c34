// thalweg verify and thalweg repair: two calls with a common structure.
#include <fmt/format.h>

#include <unordered_set>

#include "command.hpp"
#include "common.hpp"
#include "new_multifile.hpp"
#include "progress.hpp"
#include "text.hpp"
#include "vpfile.hpp"

namespace tool {
namespace {

// State of the library's callbacks.
struct Work {
  Progress progress;
  std::vector<std::string> findings;
  std::unordered_set<std::string> told;
};

void add_finding(const char* text, void* user) {
  Work& work = *static_cast<Work*>(user);
  if (work.told.insert(text).second) work.findings.emplace_back(text);  // each finding is printed once
}

int advance(int64_t done, int64_t total, void* user) {
  return Progress::callback(done, total, &static_cast<Work*>(user)->progress);
}

struct Outcome {
  bool vpfile = false;
  tw_status status = TW_OK;
  std::string message;
  std::vector<std::string> findings;
  tw_health health = {};
};

struct Options {
  std::string file;
  std::string shape;   // of a vpfile without NAME.meta; empty: not given
  bool force = false;  // of a repair
};

tw_status verify(const Options& options, bool vpfile, Work& work, tw_health& health) {
  const auto call = vpfile ? tw_vpfile_verify : tw_multifile_verify;
  return call(options.file.c_str(), add_finding, advance, &work, &health);
}

tw_status repair(const Options& options, bool vpfile, Work& work, tw_health& health) {
  const int32_t flags = options.force ? TW_REPAIR_FORCE : 0;
  if (!vpfile) return tw_multifile_repair(options.file.c_str(), flags, add_finding, advance, &work, &health);
  const std::vector<int64_t> shape = options.shape.empty() ? std::vector<int64_t>() : parse_shape(options.shape);
  return tw_vpfile_repair(options.file.c_str(), flags, static_cast<int32_t>(shape.size()), shape.data(), add_finding,
                          advance, &work, &health);
}

// Prints the findings, except the last one, which standard error reports.
void print_findings(const Outcome& outcome) {
  for (const std::string& finding : outcome.findings) {
    if (finding != outcome.message) put(printable(finding, false) + "\n");
  }
}

Outcome examine(decltype(&verify) call, const char* label, const Options& options, const Common& common) {
  Outcome outcome;
  outcome.vpfile = !options.shape.empty() || is_vpfile(options.file);
  if (!outcome.vpfile) refuse_other_kinds(options.file);
  outcome.health.struct_size = sizeof outcome.health;
  Work work{Progress(label, common.quiet, outcome.vpfile ? "virtual processors" : nullptr), {}, {}};
  outcome.status = call(options, outcome.vpfile, work, outcome.health);
  if (outcome.status != TW_OK) outcome.message = tw_last_error();
  outcome.findings = std::move(work.findings);
  if (caught_signal() != 0 && !common.json) print_findings(outcome);  // the findings so far
  stop_if_interrupted();
  // Only these codes concern the file; any other one means that the work failed.
  if (outcome.status != TW_OK && exit_code(outcome.status) != kDamaged) fail_with_status(outcome.status);
  return outcome;
}

void print_json(const char* command, const std::string& path, const Outcome& outcome) {
  Json object = json_head(command, path);
  object["kind"] = outcome.vpfile ? "vpfile" : "multifile";
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

const char* thing(const Outcome& outcome) { return outcome.vpfile ? "virtual processor" : "logical file"; }

std::string contents(const Outcome& outcome) {
  const tw_health& health = outcome.health;
  const std::string text =
      fmt::format("{} with {}", count_text(health.n_logical, thing(outcome)), size_text(health.logical_bytes));
  if (health.damaged_logical == 0) return text;
  return fmt::format("{}\ndamaged: {}", text, count_text(health.damaged_logical, thing(outcome)));
}

// `what` became of the file; null: it is not told.
int report(const char* command, const Options& options, const Common& common, const Outcome& outcome,
           const char* what) {
  if (common.json) {
    print_json(command, options.file, outcome);
  } else {
    print_findings(outcome);
    if (what != nullptr && !common.quiet)
      put(fmt::format("{}: {}: {}\n", printable(options.file), what, contents(outcome)));
  }
  flush_output();
  if (outcome.status != TW_OK) say(outcome.message);
  return exit_code(outcome.status);
}

int run_verify(const Options& options, const Common& common) {
  const Outcome outcome = examine(verify, "verify", options, common);
  return report("verify", options, common, outcome, outcome.status == TW_OK ? "whole" : nullptr);
}

int run_repair(const Options& options, const Common& common) {
  const bool multifile = !options.shape.empty() && begins_as_multifile(options.file);
  refuse_option_of_vpfiles(multifile, "--shape", options.file);
  const Outcome outcome = examine(repair, "repair", options, common);
  const bool opened = outcome.status == TW_OK || outcome.health.n_logical > 0;
  const char* what = outcome.health.repaired != 0 ? "repaired"
                     : outcome.status == TW_OK    ? "sound, left alone"
                                                  : "not repaired";
  return report("repair", options, common, outcome, opened ? what : nullptr);
}

Run add_verify(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile or vpfile")->required());
  return [options](const Common& common) { return run_verify(*options, common); };
}

Run add_repair(CLI::App& app) {
  auto options = std::make_shared<Options>();
  plain_word(app.add_option("FILE", options->file, "The multifile or vpfile")->required());
  plain_word(app.add_option("--shape", options->shape, "Shape of a vpfile whose NAME.meta is missing or damaged")
                 ->type_name("A,B,..."));
  app.add_flag("--force", options->force, "No program has the file open, although locks cannot tell it of other nodes");
  return [options](const Common& common) { return run_repair(*options, common); };
}

constexpr const char* kKeys =
    "  command, file, status (name of a tw_status), exit_code\n"
    "  kind: \"multifile\" or \"vpfile\"\n"
    "  closed: whether the file was closed before\n"
    "  repaired: whether anything was rewritten\n"
    "  logical_files, damaged_logical_files: numbers; for a vpfile of virtual processors\n"
    "  logical_bytes: bytes of the intact logical files\n"
    "  findings: lines of text\n";

}  // namespace

const Command kVerify = {"verify",
                         "Read everything and check every checksum",
                         "Exits with 0 when the file is intact and closed. Each finding is one line on standard "
                         "output; the decisive one comes last, on standard error. Files are not changed.",
                         kKeys,
                         "  thalweg verify dump.tw && rm -r dump.old\n",
                         add_verify};

const Command kRepair = {
    "repair",
    "Make an unclosed file readable",
    "Multifile: finds all flushed data by the frames of the chunks, verifies it, writes the index "
    "and closes the file. Vpfile: rewrites the side files from the superblocks, and "
    "NAME.meta where it is missing or damaged, which needs --shape.\n"
    "\nA closed and intact file is not changed. A repair can be interrupted and repeated. No "
    "program may have the file open for writing. Where locks do not reach all nodes, an unclosed file is "
    "looked at twice within 3 seconds; it is refused if it changes, and without --force in any "
    "case. Exits with 1 when flushed bytes are damaged: "
    "then the intact part is restored, and the findings name the rest.",
    kKeys,
    "  thalweg repair dump.tw\n"
    "  thalweg repair particles.vp --shape 256,128\n",
    add_repair};

}  // namespace tool
