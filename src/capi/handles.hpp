// What the opaque handles of group.h are.
#pragma once

#include <memory>
#include <string_view>

#include "group/group.hpp"
#include "group/team/team.hpp"

struct tw_group {
  std::shared_ptr<thalweg::Group> impl;  // never null; what was opened with the group keeps it
};

namespace thalweg {

// Whether nothing can be done with the group any more once MPI has ended.
inline bool ends_with_mpi(const Group& group) {
  const std::string_view kind = group.kind();
  return kind == "mpi" || kind == "hybrid";
}

}  // namespace thalweg

struct tw_team {
  std::shared_ptr<thalweg::Team> impl;  // never null
};
