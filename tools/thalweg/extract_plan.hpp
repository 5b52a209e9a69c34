// The files that 'thalweg extract' will write, checked before the first byte is written.
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
  std::vector<std::string> names;  // as for_chosen() takes them
  std::vector<std::string> vps;    // in the syntax of parse_vps()
  std::string pattern;             // empty: stored names
  bool relative = false;
};

struct ExtractJob {
  int64_t rank;      // or number of the virtual processor
  int64_t last;      // equal to rank; for lost files the last of a range
  std::string name;  // below the target directory
  uint32_t mode;
  int64_t bytes;
  std::string lost;  // why the file is unknown; empty: it is there
  bool named = false;
  int64_t part = -1;        // -1: none
  bool superseded = false;  // a later file has its name
};

struct ExtractPlan {
  std::vector<ExtractJob> jobs;  // in order of ranks
  int64_t superseded = 0;        // files that are left out, as a later one has the name
  bool whole = true;             // no chosen name may be among those that cannot be read
  std::vector<Range> nothing;    // first and last of long ranges without stored data
};

// Throws Failure: exit 2 for a missing task or name; exit 4 for a name outside the target directory, an entry that is
// no file, directory or symbolic link, and names of which one hides the other. The last of several files with one name
// is kept; a part of a name becomes NAME.PART.
ExtractPlan plan_extract(const Multifile& multifile, const ExtractChoice& choice);

// For a vpfile of this shape: all names by the pattern.
ExtractPlan plan_extract(const Vpfile& file, const std::vector<int64_t>& shape, const ExtractChoice& choice);

}  // namespace tool
