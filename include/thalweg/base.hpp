// What the C++ types share: errors as exceptions, ranges as plain bytes, who takes part. Include thalweg.hpp.
#ifndef THALWEG_BASE_HPP
#define THALWEG_BASE_HPP

#include <concepts>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

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

template <class T>
consteval bool is_plain();

// Types that are trivially copyable although what they stand for lies elsewhere: written, they are an address.
template <class T>
inline constexpr bool holds_an_address = std::is_pointer_v<T> || std::is_member_pointer_v<T> ||
                                         std::is_null_pointer_v<T> || std::input_or_output_iterator<T>;
template <class T>
inline constexpr bool holds_an_address<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool holds_an_address<std::initializer_list<T>> = true;
template <class T>
inline constexpr bool holds_an_address<std::optional<T>> = !is_plain<T>();
template <class... Ts>
inline constexpr bool holds_an_address<std::variant<Ts...>> = !(is_plain<Ts>() && ...);

// Whether the bytes of a T in memory are its value: trivially copyable, and neither an address, a view (string_view,
// span, ...) nor an array of these. Members of a class cannot be looked at.
template <class T>
consteval bool is_plain() {
  if constexpr (!std::is_trivially_copyable_v<T> || holds_an_address<std::remove_cv_t<T>>) {
    return false;
  } else if constexpr (std::is_array_v<T>) {
    return is_plain<std::remove_all_extents_t<T>>();
  } else if constexpr (std::ranges::range<T>) {
    return !std::ranges::view<T> && is_plain<std::ranges::range_value_t<T>>();
  } else {
    return true;
  }
}

// One object that is written and read as its bytes; no array, since "text" is one.
template <class T>
concept PlainValue = !std::is_array_v<T> && is_plain<T>();

// What may be written as plain bytes: a contiguous range (vector, array, span, string, ...) of plain elements.
template <class Range>
concept PlainRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                     is_plain<std::ranges::range_value_t<Range>>();

// A plain range whose elements can be assigned: the target of a read.
template <class Range>
concept PlainTarget =
    PlainRange<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

template <class T>
concept Character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

// A string literal, or an array of such: as a range it has the terminating NULs. It is not written.
template <class Range>
concept CharacterArray = PlainRange<Range> && std::is_array_v<std::remove_reference_t<Range>> &&
                         Character<std::remove_cv_t<std::remove_all_extents_t<std::remove_reference_t<Range>>>>;

// How an object that owns a handle ends: it closes, which is collective; or, where an exception leaves the scope of the
// object, it abandons, so that nothing says that the file is whole, and waits for nobody.
template <class Handle, tw_status (*Close)(Handle**), tw_status (*Abandon)(Handle**)>
struct End {
  int exceptions = std::uncaught_exceptions();  // where it was opened, which is no destructor that runs meanwhile
  void operator()(Handle* handle) const noexcept {
    (void)(std::uncaught_exceptions() > exceptions ? Abandon(&handle) : Close(&handle));
  }
};

// Who takes part: owns a tw_group. Moved, not copied. Its end is tw_group_free(): collective for the ranks of MPI. A
// file that was opened with the group keeps what it needs of the group, which may be freed as soon as the open has
// returned.
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
    void operator()(tw_group* group) const noexcept { tw_group_free(&group); }
  };
  std::unique_ptr<tw_group, Free> group_;
};

// The handle of `group`. One that was moved from has none, which a C call would take for a group of this task alone.
inline tw_group* required(const Group& group) {
  if (group.get() == nullptr) throw Error(TW_ERR_INVALID, "thalweg::Group: this group was moved from", 0);
  return group.get();
}

}  // namespace v1
}  // namespace thalweg

#endif
