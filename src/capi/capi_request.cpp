// request.h: waiting for what was started, and asking whether it is complete.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "capi/file_handle.hpp"
#include "thalweg/request.h"

namespace thalweg {
namespace {

using Requests = std::span<tw_request*>;

bool is_done(const tw_request* request) { return request != nullptr && request->impl->done(); }
bool is_pending(const tw_request* request) { return request != nullptr && !request->impl->done(); }

// Frees a request that is complete.
Status take(tw_request*& request, size_t* moved) {
  const std::unique_ptr<tw_request> done(std::exchange(request, nullptr));
  if (moved != nullptr) *moved = static_cast<size_t>(done->impl->outcome().moved);
  return done->impl->outcome().status;
}

Status wait(tw_request*& request, size_t* moved) {
  if (request != nullptr) {
    wait_for(*request->impl);
    return take(request, moved);
  }
  if (moved != nullptr) *moved = 0;
  return {};
}

Status wait_each(Requests requests, tw_status* statuses, size_t* moved) {
  Status first;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Status status = wait(requests[i], moved != nullptr ? &moved[i] : nullptr);
    if (statuses != nullptr) statuses[i] = static_cast<tw_status>(status.code());
    if (first.ok()) first = std::move(status);
  }
  return first;
}

// A call on a list of requests: `body(requests)`, which returns a Status.
template <class Body>
tw_status on_list(const char* function, int64_t n, tw_request** requests, Body&& body) {
  return guarded([&]() -> Status {
    if (n < 0) return invalid_argument(function, "n is {}; 0 or more requests", n);
    if (n > 0 && requests == nullptr) return null_argument(function, "requests");
    return body(Requests(requests, static_cast<std::size_t>(n)));
  });
}

// Advances the requests that are not complete; one call serves all that are advanced alike.
void advance_pending(Requests requests) {
  const Request* last = nullptr;
  for (const tw_request* request : requests) {
    if (!is_pending(request) || (last != nullptr && are_advanced_alike(*last, *request->impl))) continue;
    last = request->impl.get();
    advance(*last);
  }
}

// Looks for complete requests, once or until one is. Returns whether there is a request at all. May throw
// std::bad_alloc, before anything happens.
bool look(Requests requests, bool until_one_is_done) {
  bool any = false, done = false;
  for (const tw_request* request : requests) {
    any = any || request != nullptr;
    done = done || is_done(request);
  }
  if (!any || done) return any;
  if (!until_one_is_done) {
    advance_pending(requests);
    return true;
  }
  std::vector<std::shared_ptr<Request>> all;
  all.reserve(requests.size());
  for (const tw_request* request : requests)
    if (request != nullptr) all.push_back(request->impl);
  wait_for_any(all);
  return true;
}

// Frees the first request that is complete; *done: whether there was one, or none was there.
Status take_any(Requests requests, bool waits, int* done, int64_t* index, size_t* moved) {
  const bool any = look(requests, waits);
  *index = TW_UNDEFINED;
  *done = any ? 0 : 1;
  if (!any && moved != nullptr) *moved = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_done(requests[i])) continue;
    *index = static_cast<int64_t>(i);
    *done = 1;
    return take(requests[i], moved);
  }
  return {};
}

Status take_some(const char* function, Requests requests, bool waits, int64_t* n_done, int64_t* indices,
                 tw_status* statuses, size_t* moved) {
  if (n_done == nullptr) return null_argument(function, "n_done");
  if (indices == nullptr && !requests.empty()) return null_argument(function, "indices");
  const bool any = look(requests, waits);
  Status first;
  int64_t taken = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!is_done(requests[i])) continue;
    Status status = take(requests[i], moved != nullptr ? &moved[taken] : nullptr);
    indices[taken] = static_cast<int64_t>(i);
    if (statuses != nullptr) statuses[taken] = static_cast<tw_status>(status.code());
    if (first.ok()) first = std::move(status);
    ++taken;
  }
  *n_done = any ? taken : int64_t{TW_UNDEFINED};
  return first;
}

}  // namespace
}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_request_wait(tw_request** request, size_t* moved) {
  return guarded([&]() -> Status {
    if (request == nullptr) return null_argument("tw_request_wait", "request");
    return wait(*request, moved);
  });
}

tw_status tw_request_test(tw_request** request, int* done, size_t* moved) {
  return guarded([&]() -> Status {
    if (request == nullptr) return null_argument("tw_request_test", "request");
    if (done == nullptr) return null_argument("tw_request_test", "done");
    advance_pending({request, 1});
    *done = is_pending(*request) ? 0 : 1;
    return *done != 0 ? wait(*request, moved) : Status{};
  });
}

tw_status tw_request_waitall(int64_t n, tw_request** requests, tw_status* statuses, size_t* moved) {
  return on_list("tw_request_waitall", n, requests, [&](Requests all) { return wait_each(all, statuses, moved); });
}

tw_status tw_request_testall(int64_t n, tw_request** requests, int* done, tw_status* statuses, size_t* moved) {
  return on_list("tw_request_testall", n, requests, [&](Requests all) -> Status {
    if (done == nullptr) return null_argument("tw_request_testall", "done");
    advance_pending(all);
    *done = std::any_of(all.begin(), all.end(), is_pending) ? 0 : 1;
    return *done != 0 ? wait_each(all, statuses, moved) : Status{};
  });
}

tw_status tw_request_waitany(int64_t n, tw_request** requests, int64_t* index, size_t* moved) {
  return on_list("tw_request_waitany", n, requests, [&](Requests all) -> Status {
    if (index == nullptr) return null_argument("tw_request_waitany", "index");
    int done = 0;
    return take_any(all, true, &done, index, moved);
  });
}

tw_status tw_request_testany(int64_t n, tw_request** requests, int* done, int64_t* index, size_t* moved) {
  return on_list("tw_request_testany", n, requests, [&](Requests all) -> Status {
    if (done == nullptr) return null_argument("tw_request_testany", "done");
    if (index == nullptr) return null_argument("tw_request_testany", "index");
    return take_any(all, false, done, index, moved);
  });
}

tw_status tw_request_waitsome(int64_t n, tw_request** requests, int64_t* n_done, int64_t* indices, tw_status* statuses,
                              size_t* moved) {
  return on_list("tw_request_waitsome", n, requests, [&](Requests all) {
    return take_some("tw_request_waitsome", all, true, n_done, indices, statuses, moved);
  });
}

tw_status tw_request_testsome(int64_t n, tw_request** requests, int64_t* n_done, int64_t* indices, tw_status* statuses,
                              size_t* moved) {
  return on_list("tw_request_testsome", n, requests, [&](Requests all) {
    return take_some("tw_request_testsome", all, false, n_done, indices, statuses, moved);
  });
}

}  // extern "C"
