// Known: a ProcessAccess that has read the summaries of all tasks, and the GroupAccess that it found.
#pragma once

#include <cstring>
#include <vector>

#include "engine/process_access.hpp"

namespace thalweg {

struct Known : ProcessAccess {
  explicit Known(const std::vector<AccessSummary>& all) : ProcessAccess(all.size()) {
    Gathered gathered;
    for (const AccessSummary& shown : all) {
      gathered.begin.push_back(gathered.data.size());
      gathered.data.resize(gathered.data.size() + sizeof shown);
      std::memcpy(gathered.data.data() + gathered.begin.back(), &shown, sizeof shown);
    }
    gathered.begin.push_back(gathered.data.size());
    group = read(gathered);
  }
  GroupAccess group;
};

}  // namespace thalweg
