// request.h: waiting for what was started.
#include <utility>
#include <vector>

#include "capi/file_handle.hpp"
#include "capi/guard.hpp"
#include "thalweg/request.h"

namespace thalweg {
namespace {

// Of a request that is done: frees it.
Status take(tw_request** request, size_t* moved) {
  const std::unique_ptr<tw_request> done(std::exchange(*request, nullptr));
  if (moved != nullptr) *moved = static_cast<size_t>(done->impl->outcome().moved);
  return done->impl->outcome().status;
}

Status wait(tw_request** request, size_t* moved) {
  if (*request != nullptr) {
    wait_for(*(*request)->impl);
    return take(request, moved);
  }
  if (moved != nullptr) *moved = 0;
  return {};
}

}  // namespace
}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_request_wait(tw_request** request, size_t* moved) {
  return guarded([&]() -> Status {
    if (request == nullptr) return null_argument("tw_request_wait", "request");
    return wait(request, moved);
  });
}

tw_status tw_request_test(tw_request** request, int* done, size_t* moved) {
  return guarded([&]() -> Status {
    if (request == nullptr) return null_argument("tw_request_test", "request");
    if (done == nullptr) return null_argument("tw_request_test", "done");
    if (*request != nullptr && !(*request)->impl->done()) advance(*(*request)->impl);
    *done = *request == nullptr || (*request)->impl->done() ? 1 : 0;
    return *done != 0 ? wait(request, moved) : Status{};
  });
}

tw_status tw_request_waitall(size_t n, tw_request** requests, tw_status* statuses, size_t* moved) {
  return guarded([&]() -> Status {
    if (requests == nullptr && n > 0) return null_argument("tw_request_waitall", "requests");
    Status first;
    for (size_t i = 0; i < n; ++i) {
      Status status = wait(&requests[i], moved != nullptr ? &moved[i] : nullptr);
      if (statuses != nullptr) statuses[i] = static_cast<tw_status>(status.code());
      if (first.ok()) first = std::move(status);
    }
    return first;
  });
}

tw_status tw_request_waitany(size_t n, tw_request** requests, size_t* index, size_t* moved) {
  return guarded([&]() -> Status {
    if (requests == nullptr && n > 0) return null_argument("tw_request_waitany", "requests");
    if (index == nullptr) return null_argument("tw_request_waitany", "index");
    *index = n;
    std::vector<std::shared_ptr<Request>> all(n);
    for (size_t i = 0; i < n; ++i) all[i] = requests[i] != nullptr ? requests[i]->impl : nullptr;
    wait_for_any(all);
    for (size_t i = 0; i < n; ++i) {
      if (all[i] == nullptr || !all[i]->done()) continue;
      *index = i;
      return take(&requests[i], moved);
    }
    if (moved != nullptr) *moved = 0;
    return {};
  });
}

}  // extern "C"
