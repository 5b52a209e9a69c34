// What the C++ types share: errors as exceptions, ranges as plain bytes, who takes part. Include thalweg.hpp.
#ifndef THALWEG_BASE_HPP
#define THALWEG_BASE_HPP

#include <memory>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "group.h"
#include "status.h"

// All of it is in an inline namespace: the library has types of its own of the same names inside, and a static library
// and the program that links it are one.
namespace thalweg {
inline namespace v1 {

// A C call that failed. what() is tw_last_error(): action, object, values, way out.
class Error : public std::runtime_error {
 public:
  Error(tw_status status, const char* message, int system_errno)
      : std::runtime_error(message), status_(status), system_errno_(system_errno) {}

  tw_status status() const noexcept { return status_; }        // TW_ERR_...
  int system_errno() const noexcept { return system_errno_; }  // errno of the failed system call, 0 if none

 private:
  tw_status status_;
  int system_errno_;
};

// Throws Error when `status` is a failure. Right behind the call, on the same thread. For the C calls that have no
// member here.
inline void check(tw_status status) {
  if (status != TW_OK) throw Error(status, tw_last_error(), tw_last_errno());
}

// What may be written as plain bytes: a contiguous range (vector, array, span, string, ...) of trivially copyable
// elements.
template <class Range>
concept PlainRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                     std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;

// The same, to be read into.
template <class Range>
concept PlainTarget =
    PlainRange<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

// Who takes part: owns a tw_group. Moved, not copied. Its end is tw_group_free(): collective for the ranks of MPI.
class Group {
 public:
  // A group of this task alone. Independent.
  static Group self() { return make(tw_group_self); }

  // Calls `maker(arguments..., &group)`, one of the functions of group.h, group_mpi.h or group_omp.h, and owns what it
  // made:
  //     Group::make(tw_group_mpi, MPI_COMM_WORLD)        Group::make(tw_group_omp)
  // Collective where `maker` is.
  template <class Maker, class... Arguments>
  static Group make(Maker&& maker, Arguments&&... arguments) {
    tw_group* group = nullptr;
    check(maker(std::forward<Arguments>(arguments)..., &group));
    return Group(group);
  }

  // Takes ownership of `group`.
  explicit Group(tw_group* group) noexcept : group_(group) {}

  tw_group* get() const noexcept { return group_.get(); }  // borrowed

 private:
  struct Free {
    void operator()(tw_group* group) const noexcept { tw_group_free(group); }
  };
  std::unique_ptr<tw_group, Free> group_;
};

}  // namespace v1
}  // namespace thalweg

#endif
