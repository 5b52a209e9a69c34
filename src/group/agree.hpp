// Collective agreement on a status: the worst one is the status of all.
//
// Between two collectives nobody leaves alone: agree, then return (docs/design/agreement.md).
#pragma once

#include "group/group.hpp"

namespace thalweg {

// Collective. OK on every task, or the same failure (code, errno, message) on every task: that of the most
// severe code and, among equals, of the lowest rank. Its message names that task when the group has several.
Op<Status> agree(Group& group, Status mine);

}  // namespace thalweg
