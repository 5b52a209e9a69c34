// Defines the opaque handles of file.h, request.h and view.h.
#pragma once

#include <memory>
#include <string>

#include "access/view.hpp"
#include "capi/open_handle.hpp"
#include "sharedfile/plain_file.hpp"
#include "thalweg/file.h"
#include "thalweg/view.h"

// It holds no written bytes in memory, so the end of the program flushes nothing.
struct tw_file : thalweg::OpenHandle {
  static constexpr const char* kName = "file";
  tw_file() : OpenHandle(true) {}

  std::int64_t tasks() const override { return impl->group().size(); }
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

struct tw_view {
  thalweg::View impl;
};

namespace thalweg {

inline constexpr std::int32_t kMostDimensions = 1024;  // a larger number is taken for garbage

// Checks the number of dimensions of an array, under the name of the argument, and its order.
Status check_array(const char* function, const char* name, std::int32_t n, tw_array_order order);
ArrayOrder order_of(tw_array_order order);
// An offset in a file.
Status check_offset(const char* function, std::int64_t offset);

// A collective call on an open file.
inline PlainFile& calling(tw_file& file, Call call) {
  calling(file.impl->group(), call);
  return *file.impl;
}

// tw_file_access_all() and tw_file_iaccess_all(), under the name of the call that the caller made.
tw_status access_by_all(Call call, tw_file* file, tw_group* group, const tw_access* access, std::size_t* moved);
tw_status start_by_all(Call call, tw_file* file, tw_group* group, const tw_access* access, tw_request** request);

// Starts an access whose extents are placed already; `group`: that of tw_file_iaccess_all(), or null.
Status start_placed(const char* function, tw_file* file, tw_group* group, PlacedAccess mine, ProgressMode mode,
                    tw_request** request);

}  // namespace thalweg
