// What the opaque handles of file.h and request.h are.
#pragma once

#include <memory>
#include <string>

#include "capi/handles.hpp"
#include "file/plain_file.hpp"
#include "thalweg/file.h"

struct tw_file {
  std::unique_ptr<thalweg::PlainFile> impl;  // never null
  thalweg::Outcome last;
  std::string last_plan;
};

struct tw_request {
  std::shared_ptr<thalweg::Request> impl;  // never null
  thalweg::Extent only;                    // a copy of the caller's when he gives one extent
};

namespace thalweg {

// tw_access_all() and tw_iaccess_all(), under the name of the call that the caller made.
struct FileAndGroup {
  tw_file* file;
  tw_group* group;
};
tw_status access_by_all(Call call, FileAndGroup by, const tw_access* access, std::int64_t* moved);
tw_status start_by_all(Call call, FileAndGroup by, const tw_access* access, tw_request** request);

// The access as the engine has it; what is wrong with it is in its status. `given` may be null.
Access to_access(const char* function, const tw_access* given);

}  // namespace thalweg
