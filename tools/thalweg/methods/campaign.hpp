// A run: launch after launch, without effects of a failing method on others, and the records of all.
#pragma once

#include <string>
#include <vector>

#include "launch.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "results.hpp"

namespace tool {

struct CampaignOptions {
  std::string folder;                // empty, used by this run only
  std::vector<std::string> methods;  // ids; empty: all built methods
  std::vector<std::string> phases;   // empty: all
  int repetitions = 7;
  int files_per_folder = 32;  // of method file-per-task-dirs
  int patience_s = 600;
};

// Results, also of an interrupted run.
struct Campaign {
  Results results;
  std::vector<std::string> lines;  // the records in order of arrival
  void add_record(const Json& record);
  void add_line(std::string_view line);
};

// Throws Interrupted, and Failure when no measurement is possible; results are kept in `campaign`. A failing method is
// reported and left out; the others of its launch are measured again, so that their repetitions stay interleaved.
void run_campaign(const Launcher& launcher, const RunPlan& plan, const CampaignOptions& options, Progress& progress,
                  Campaign& campaign);

}  // namespace tool
