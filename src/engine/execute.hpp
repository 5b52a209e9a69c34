// Step 5 of a collective access (engine/collective.cpp): moves the bytes that are this task's under the plan of all.
#pragma once

#include "access/extent_list.hpp"
#include "engine/plan/plan.hpp"
#include "engine/process_access.hpp"
#include "engine/shared_file.hpp"
#include "engine/task_access.hpp"
#include "engine/transfer/transfer.hpp"
#include "group/group.hpp"
#include "storage/io_context.hpp"

namespace thalweg {

// Whether the whole access is one call of task 0: few bytes of few tasks, one behind the other. Arranging such a
// transfer as steps (engine/transfer/steps.hpp) would take longer than the transfer.
bool is_one_call(const GroupAccess& access, const Plan& plan);

// As above for a task alone, which needs no plan then: one extent through the page cache. `piece` is its memory, and must
// outlive the operation.
bool is_one_call(const SharedFile& file, const TaskAccess& asked);
Op<TransferResult> execute_one_call(SharedFile& file, const TaskAccess& asked, const Piece& piece, const IoContext& io);

// Collective where the plan is Method::aggregate. `own`: the list of this task; `process`: the lists of all tasks, null
// where there are several processes. Both, and `access` and `plan`, must outlive the operation. A failure is this
// task's alone, and has to be agreed on.
Op<TransferResult> execute(Group& group, SharedFile& file, const GroupAccess& access, const Plan& plan,
                           const ExtentList& own, ProcessAccess* process, IoContext io);

}  // namespace thalweg
