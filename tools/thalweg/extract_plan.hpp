// What 'thalweg extract' is going to write, looked at before the first byte is written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common.hpp"
#include "vpfile.hpp"

namespace tool {

struct ExtractChoice {
  std::string file;
  std::vector<std::string> tasks;  // "3" or "3-7"
  std::vector<std::string> names;
  std::vector<std::string> vps;  // as parse_vps() has them
  std::string pattern;           // empty: stored names
  bool relative = false;
};

struct ExtractJob {
  int64_t rank;      // or number of the virtual processor
  int64_t last;      // the same; of what is lost it may stand for all up to this one
  std::string name;  // below the target directory
  uint32_t mode;
  int64_t bytes;
  std::string lost;  // why nothing is known of it; empty: it is there
};

struct ExtractPlan {
  std::vector<ExtractJob> jobs;                      // in order of ranks
  std::vector<std::pair<int64_t, int64_t>> nothing;  // first and last: nothing is stored of them, and they are many
};

// Throws Failure: exit 2 when a task or name is not there, 4 for a name that leads out of the target
// directory, something that is no file, directory or symbolic link, and two of them that want one place.
ExtractPlan plan_extract(const Multifile& multifile, const ExtractChoice& choice);

// The same of a vpfile of that shape: all by the pattern.
ExtractPlan plan_extract(const Vpfile& file, const std::vector<int64_t>& shape, const ExtractChoice& choice);

}  // namespace tool
