// A run: launch after launch, what a method that fails does to the others (nothing), and the records of all.
#pragma once

#include <string>
#include <vector>

#include "launch.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "results.hpp"

namespace tool {

struct CampaignOptions {
  std::string folder;                // an empty one, of this run alone
  std::vector<std::string> methods;  // ids; empty: all that are built
  std::vector<std::string> phases;   // empty: all
  int repetitions = 7;
  int files_per_folder = 32;  // of method file-per-task-dirs
  int patience_s = 600;
};

// What was found, also when it was interrupted.
struct Campaign {
  Results results;
  std::vector<std::string> lines;  // its records, as they came, in order
  void add_record(const Json& record);
  void add_line(std::string_view line);
};

// Throws Interrupted, and Failure where nothing can be measured at all; what was finished stays in `campaign`. A method
// that fails is told of and left out; the others of its launch are measured again, so that they took turns.
void run_campaign(const Launcher& launcher, const RunPlan& plan, const CampaignOptions& options, Progress& progress,
                  Campaign& campaign);

}  // namespace tool
