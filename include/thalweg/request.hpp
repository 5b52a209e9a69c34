// Requests as a C++ type. Methods have the words of the C calls, whose contracts are in request.h. Include thalweg.hpp.
#ifndef THALWEG_REQUEST_HPP
#define THALWEG_REQUEST_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base.hpp"
#include "request.h"

namespace thalweg {
inline namespace v1 {

// A request of a list that was found complete.
struct Completed {
  std::size_t index = 0;     // in the list
  std::size_t moved = 0;     // bytes moved for this task
  tw_status status = TW_OK;  // why the operation failed
};

// An operation that was started: owns a tw_request. The destructor waits, since a transfer still uses its memory.
class Request {
 public:
  explicit Request(tw_request* request = nullptr) noexcept : request_(request) {}
  Request(Request&& other) noexcept : request_(std::exchange(other.request_, nullptr)) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(request_, other.request_);
    return *this;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() { (void)tw_request_wait(&request_, nullptr); }

  // Waits, and returns the bytes moved for this task. Throws the failure of the operation.
  std::size_t wait() {
    std::size_t moved = 0;
    check(tw_request_wait(&request_, &moved));
    return moved;
  }
  // Returns what wait() would when the operation is complete, else nothing.
  std::optional<std::size_t> test() {
    int done = 0;
    std::size_t moved = 0;
    check(tw_request_test(&request_, &done, &moved));
    return done != 0 ? std::optional<std::size_t>(moved) : std::nullopt;
  }
  // Whether the operation has not been found complete yet.
  bool is_pending() const noexcept { return request_ != nullptr; }

  // Waits for all, and returns the bytes moved by each. Throws the first failure, after all are complete.
  static std::vector<std::size_t> waitall(Span<Request> requests) {
    List list(requests);
    std::vector<std::size_t> moved(requests.size());
    const tw_status status = tw_request_waitall(list.n(), list.data(), nullptr, moved.data());
    list.give_back();
    check(status);
    return moved;
  }
  // Returns what waitall() would when all are complete, else nothing.
  static std::optional<std::vector<std::size_t>> testall(Span<Request> requests) {
    List list(requests);
    std::vector<std::size_t> moved(requests.size());
    int done = 0;
    const tw_status status = tw_request_testall(list.n(), list.data(), &done, nullptr, moved.data());
    list.give_back();
    check(status);
    return done != 0 ? std::optional(std::move(moved)) : std::nullopt;
  }
  // Waits for one, and returns the first that is complete; nothing when none is pending. Its status reports a failure.
  static std::optional<Completed> waitany(Span<Request> requests) {
    return any(requests, [](auto... arguments) { return tw_request_waitany(arguments...); });
  }
  // Returns the first that is complete, if any is.
  static std::optional<Completed> testany(Span<Request> requests) {
    int done = 0;
    return any(requests, [&done](std::int64_t n, tw_request** all, std::int64_t* index, std::size_t* moved) {
      return tw_request_testany(n, all, &done, index, moved);
    });
  }
  // Waits for one, and returns all that are complete; none when none is pending. Their statuses report failures.
  static std::vector<Completed> waitsome(Span<Request> requests) { return some(requests, tw_request_waitsome); }
  // Returns all that are complete.
  static std::vector<Completed> testsome(Span<Request> requests) { return some(requests, tw_request_testsome); }

 private:
  // The C handles of a list of requests, for one call.
  class List {
   public:
    explicit List(Span<Request> requests) : requests_(requests) {
      for (const Request& request : requests) handles_.push_back(request.request_);
    }
    void give_back() noexcept {
      for (std::size_t i = 0; i < handles_.size(); ++i) requests_[i].request_ = handles_[i];
    }
    std::int64_t n() const { return static_cast<std::int64_t>(handles_.size()); }
    tw_request** data() { return handles_.data(); }

   private:
    Span<Request> requests_;
    std::vector<tw_request*> handles_;
  };

  template <class Call>
  static std::optional<Completed> any(Span<Request> requests, Call&& call) {
    List list(requests);
    std::int64_t index = TW_UNDEFINED;
    std::size_t moved = 0;
    const tw_status status = call(list.n(), list.data(), &index, &moved);
    list.give_back();
    if (index != TW_UNDEFINED) return Completed{static_cast<std::size_t>(index), moved, status};
    check(status);
    return std::nullopt;
  }
  template <class Call>
  static std::vector<Completed> some(Span<Request> requests, Call&& call) {
    List list(requests);
    std::vector<std::int64_t> indices(requests.size());
    std::vector<tw_status> statuses(requests.size());
    std::vector<std::size_t> moved(requests.size());
    std::vector<Completed> done;
    done.reserve(requests.size());
    std::int64_t n = TW_UNDEFINED;
    const tw_status status = call(list.n(), list.data(), &n, indices.data(), statuses.data(), moved.data());
    list.give_back();
    if (n == TW_UNDEFINED) check(status);
    for (std::size_t i = 0; static_cast<std::int64_t>(i) < n; ++i)
      done.push_back({static_cast<std::size_t>(indices[i]), moved[i], statuses[i]});
    return done;
  }

  tw_request* request_;
};

}  // namespace v1
}  // namespace thalweg

#endif
