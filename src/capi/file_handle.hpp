// What the opaque handles of file.h and request.h are.
#pragma once

#include <memory>
#include <string>

#include "capi/handles.hpp"
#include "capi/open_handle.hpp"
#include "sharedfile/plain_file.hpp"
#include "thalweg/file.h"

// Nothing of it waits in memory for the end of the program.
struct tw_file : thalweg::OpenHandle {
  tw_file() : OpenHandle(Threads::several) {}

  thalweg::Status store_own() override { return {}; }
  const void* written() const override { return nullptr; }
  std::int64_t tasks() const override { return impl->group().size(); }
  void end_unclosed(bool) override {}
  std::string path() const override { return {}; }
  bool is_first() const override { return false; }
  bool needs_transport() const override;
  thalweg::Status begin_to_leave() override;

  std::unique_ptr<thalweg::PlainFile> impl;  // never null
  thalweg::Outcome last;
  std::string last_plan;
};

struct tw_request {
  std::shared_ptr<thalweg::AccessRequest> impl;  // never null
  thalweg::Extent only;                          // a copy of the caller's when he gives one extent
};

namespace thalweg {

// tw_file_access_all() and tw_file_iaccess_all(), under the name of the call that the caller made.
struct FileAndGroup {
  tw_file* file;
  tw_group* group;
};
tw_status access_by_all(Call call, FileAndGroup by, const tw_access* access, std::size_t* moved);
tw_status start_by_all(Call call, FileAndGroup by, const tw_access* access, tw_request** request);

// Starts an access whose extents are placed already; `by` has the group of tw_file_iaccess_all().
Status start_placed(const char* function, FileAndGroup by, PlacedAccess mine, ProgressMode mode, tw_request** request);

// The access as the engine has it; what is wrong with it is in its status. `given` may be null.
TaskAccess to_access(const char* function, const tw_access* given);

}  // namespace thalweg
