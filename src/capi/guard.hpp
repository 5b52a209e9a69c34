// The edge of the library: no exception crosses it, every failure is remembered for tw_last_error().
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

#include "async/last_words.hpp"
#include "base/status.hpp"
#include "base/visibility.hpp"

namespace thalweg {

// Remembers a failure for this thread, for tw_last_error(), and returns its code; OK changes nothing and returns 0.
TW_SHARED std::int32_t set_last_error(const Status& status) noexcept;

// Turns the exception being handled into a status of this task. In a collective call (handles.hpp) it ends the program:
// the other tasks would wait for ever.
TW_SHARED std::int32_t set_last_exception() noexcept;

// Runs `body`, which returns a Status, and gives back its code.
template <class Body>
std::int32_t guarded(Body&& body) noexcept {
  call_of_thread = {};
  try {
    return set_last_error(std::forward<Body>(body)());
  } catch (...) {
    return set_last_exception();
  }
}

inline Status invalid_argument(const char* function, const std::string& what) {
  return Status::error(Code::invalid_argument, "{}: {}", function, what);
}
template <class... T>
Status invalid_argument(const char* function, FormatOf<T...> format, const T&... values) {
  return invalid_argument(function, format.with(values...));
}

// For arguments that must not be NULL.
inline Status null_argument(const char* function, const char* argument) {
  return invalid_argument(function, "{} is NULL", argument);
}

// For numbers that must not be negative.
inline Status check_number(const char* function, const std::string& name, std::int64_t number) {
  return number >= 0 ? Status{} : invalid_argument(function, "{} is {}; 0 or more", name, number);
}

// Stores a result for the caller; `to` may be null.
template <class From, class To>
Status put(const Result<From>& found, To* to) {
  if (found.has_value() && to != nullptr) *to = static_cast<To>(found.value());
  return found.status();
}

// Frees a handle: deletes it and sets it to null. `handle` may be null.
template <class Handle>
void free_handle(Handle** handle) noexcept {
  if (handle == nullptr) return;
  delete *handle;
  *handle = nullptr;
}

// A failure that the caller reports. An unknown code becomes `internal`.
TW_SHARED Status given_status(std::int32_t code, int os_errno, const char* message);

}  // namespace thalweg
