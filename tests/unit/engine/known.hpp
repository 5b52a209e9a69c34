// Known: a Whole as tasks know it that have shown these.
#pragma once

#include <cstring>
#include <vector>

#include "engine/shown.hpp"

namespace thalweg {

struct Known : Whole {
  explicit Known(const std::vector<Shown>& all) : Whole(all.size()) {
    Gathered gathered;
    for (const Shown& shown : all) {
      gathered.begin.push_back(gathered.data.size());
      gathered.data.resize(gathered.data.size() + sizeof shown);
      std::memcpy(gathered.data.data() + gathered.begin.back(), &shown, sizeof shown);
    }
    gathered.begin.push_back(gathered.data.size());
    read(gathered);
  }
};

}  // namespace thalweg
