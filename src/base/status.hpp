// Status and Result: how every fallible C++ function of the library reports failure.
//
// OK allocates nothing; only the failure path may allocate. Method names follow std::expected, so that a
// later switch is a rename of one type. Codes are those of the C API (include/thalweg/status.h).
#pragma once

#include <fmt/core.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/visibility.hpp"

namespace thalweg {

// Values are part of the C ABI (include/thalweg/status.h): append, never renumber.
enum class Code : std::int32_t {
  ok = 0,
  invalid_argument = -10,
  unknown_hint = -11,
  out_of_range = -12,
  wrong_mode = -13,
  not_found = -20,
  already_exists = -21,
  no_permission = -22,
  unsafe = -23,
  io_error = -30,
  no_space = -31,
  no_memory = -32,
  corrupt_file = -40,
  unsupported_version = -41,
  not_closed = -42,
  stopped = -50,
  not_built = -60,
  internal = -90,
};

struct ErrorDetail {
  Code code;
  int os_errno = 0;     // errno of the failed system call, 0 if none
  std::string message;  // what failed, on which object, with which values, and what is allowed
};

// A format of {fmt} that uses all of its values, in their order, which {fmt} does not check.
template <class... T>
struct Format {
  template <std::size_t N>
    requires(sizeof...(T) > 0)
  consteval Format(const char (&literal)[N]) : checked(literal) {
    std::size_t fields = 0;
    for (std::size_t i = 0; i + 1 < N; ++i) {
      if (literal[i] != '{') continue;
      literal[i + 1] == '{' ? ++i : ++fields;
    }
    if (fields != sizeof...(T)) throw "a format uses all of its values";
  }
  std::string with(const T&... values) const { return fmt::vformat(checked, fmt::make_format_args(values...)); }

  fmt::format_string<T...> checked;
};
template <class... T>
using FormatOf = Format<std::type_identity_t<T>...>;  // deduced from the values

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;  // OK
  static Status error(Code code, std::string message) { return failed_call(code, 0, std::move(message)); }
  template <class... T>
  static Status error(Code code, FormatOf<T...> format, const T&... values) {
    return error(code, format.with(values...));
  }
  static Status failed_call(Code code, int os_errno, std::string message) {  // errno as the call left it
    assert(code != Code::ok);
    Status status;
    status.detail_ = std::make_shared<const ErrorDetail>(ErrorDetail{code, os_errno, std::move(message)});
    return status;
  }

  bool ok() const noexcept { return detail_ == nullptr; }
  Code code() const noexcept { return detail_ ? detail_->code : Code::ok; }
  int os_errno() const noexcept { return detail_ ? detail_->os_errno : 0; }
  std::string message() const { return detail_ ? detail_->message : std::string("ok"); }
  const ErrorDetail* detail() const noexcept { return detail_.get(); }  // null when ok()
  Status or_else(const Status& other) const { return ok() ? other : *this; }
  // A copy with `context` put before its message; OK stays OK.
  Status with_context(const std::string& context) const {
    return ok() ? Status{} : failed_call(code(), os_errno(), context + ": " + message());
  }

 private:
  std::shared_ptr<const ErrorDetail> detail_;
};

// Turns a failed system call into a Status. `err` is errno. The values of a format are references, so that nothing runs
// between the system call and the reading of errno.
Status os_error(int err, const std::string& what);
template <class... T>
Status os_error(int err, FormatOf<T...> format, const T&... values) {
  return os_error(err, format.with(values...));
}

// A prebuilt status, for use where allocating a message fails.
TW_SHARED Status out_of_memory();

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Status status) : state_(std::move(status)) { assert(!std::get<Status>(state_).ok()); }

  bool has_value() const noexcept { return std::holds_alternative<T>(state_); }
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T& operator*() & { return value(); }
  T* operator->() { return &value(); }
  const Status& error() const { return std::get<Status>(state_); }
  Status status() const { return has_value() ? Status{} : error(); }

 private:
  std::variant<T, Status> state_;
};

// Returns what `make` returns, a Status or a Result, and OK where it returns nothing; out_of_memory() when it throws
// std::bad_alloc.
template <class Make>
auto or_out_of_memory(Make&& make) -> std::conditional_t<std::is_void_v<decltype(make())>, Status, decltype(make())> {
  try {
    if constexpr (std::is_void_v<decltype(make())>) {
      make();
      return Status{};
    } else {
      return make();
    }
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace thalweg

#define TW_CONCAT_(a, b) a##b
#define TW_CONCAT(a, b) TW_CONCAT_(a, b)

// Never within a collective function: there all tasks must first agree (group/agree.hpp).
#define TW_RETURN_IF_ERROR(expression)                                                    \
  do {                                                                                    \
    if (::thalweg::Status tw_status_ = (expression); !tw_status_.ok()) return tw_status_; \
  } while (false)

// In a collective function: for a status on which all tasks have agreed.
#define TW_CO_RETURN_IF_ERROR(expression)              \
  do {                                                 \
    const ::thalweg::Status tw_status_ = (expression); \
    if (!tw_status_.ok()) co_return tw_status_;        \
  } while (false)

#define TW_ASSIGN_OR_RETURN_(returning, result, target, expression) \
  auto result = (expression);                                       \
  if (!result.has_value()) returning result.error();                \
  target = std::move(result).value()
#define TW_ASSIGN_OR_RETURN(target, expression) \
  TW_ASSIGN_OR_RETURN_(return, TW_CONCAT(tw_result_, __LINE__), target, expression)
// In a collective function: for a result on which all tasks have agreed.
#define TW_CO_ASSIGN_OR_RETURN(target, expression) \
  TW_ASSIGN_OR_RETURN_(co_return, TW_CONCAT(tw_result_, __LINE__), target, expression)
