// What the opaque handles of group.h are.
#pragma once

#include <memory>

#include "group/group.hpp"
#include "group/team.hpp"

struct tw_group {
  std::shared_ptr<thalweg::Group> impl;  // never null; what was opened with the group keeps it
};

struct tw_team {
  std::shared_ptr<thalweg::Team> impl;  // never null
};
