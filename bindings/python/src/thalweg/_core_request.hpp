// Requests of thalweg._core.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "_core_group.hpp"
#include "thalweg/file.h"
#include "thalweg/request.h"

namespace thalweg_python {

// A nonblocking operation. Freed by the call that finds it complete. Its memory and the list of its extents stay until
// then.
class Request {
 public:
  explicit Request(tw_request* request, std::unique_ptr<Buffer> memory = nullptr,
                   std::unique_ptr<tw_extent> extents = nullptr)
      : request_(request), memory_(std::move(memory)), extents_(std::move(extents)) {}
  Request(Request&& other) noexcept
      : request_(std::exchange(other.request_, nullptr)),
        memory_(std::move(other.memory_)),
        extents_(std::move(other.extents_)),
        moved_(other.moved_) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() {
    if (request_ == nullptr) return;
    (void)memory_.release();  // the transfer may go on
    (void)extents_.release();
  }

  // Bytes moved.
  std::size_t wait() {
    ask([this](int*) { return tw_request_wait(&request_, &moved_); });
    return moved_;
  }

  bool done() {
    return ask([this](int* is_done) { return tw_request_test(&request_, is_done, &moved_); });
  }

 private:
  template <class Question>
  bool ask(Question question) {
    int is_done = 1;
    tw_status status = TW_OK;
    {
      const nanobind::gil_scoped_release unlocked;
      const std::lock_guard lock(mutex_);
      if (request_ != nullptr) status = question(&is_done);
    }
    if (is_done != 0) memory_.reset();
    if (status != TW_OK) raise(status, nullptr);
    return is_done != 0;
  }

  std::mutex mutex_;
  tw_request* request_;
  std::unique_ptr<Buffer> memory_;
  std::unique_ptr<tw_extent> extents_;
  std::size_t moved_ = 0;
};

}  // namespace thalweg_python
