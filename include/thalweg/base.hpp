// What the C++ types share: errors as exceptions, ranges as plain bytes, who takes part. Include thalweg.hpp.
#ifndef THALWEG_BASE_HPP
#define THALWEG_BASE_HPP

#include <cstddef>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_ranges
#include <ranges>
#endif
#ifdef __cpp_lib_span
#include <span>
#endif

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

// A view of consecutive objects: std::span, or in C++17 what these headers need of it.
#ifdef __cpp_lib_span
template <class T>
using Span = std::span<T>;
#else
template <class T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  // An array, a vector, another Span, ...
  template <class Range, class Element = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>,
            std::enable_if_t<std::is_convertible_v<Element (*)[], T (*)[]>, int> = 0>
  constexpr Span(Range&& range) : data_(std::data(range)), size_(std::size(range)) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};
#endif

// Properties of types, in place of the concepts that C++17 lacks. A template has a parameter IfPlainRange, ... (below), and so
// takes part in overload resolution only where the property holds.
namespace traits {

template <class T, class = void>
struct IsRange : std::false_type {};
template <class T>
struct IsRange<T, std::void_t<decltype(std::begin(std::declval<T&>())), decltype(std::end(std::declval<T&>()))>>
    : std::true_type {};
template <class Range>
using element = std::remove_cv_t<std::remove_reference_t<decltype(*std::begin(std::declval<Range&>()))>>;

// Contiguous and sized: has data() and size().
template <class T, class = void>
struct IsContiguous : std::false_type {};
template <class T>
struct IsContiguous<T, std::void_t<decltype(std::data(std::declval<T&>())), decltype(std::size(std::declval<T&>())),
                                   decltype(std::begin(std::declval<T&>()))>>
    : std::is_same<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<T&>()))>>, element<T>> {};

template <class T, class = void>
struct IsIterator : std::false_type {};
template <class T>
struct IsIterator<T, std::void_t<typename std::iterator_traits<T>::iterator_category>> : std::true_type {};

// A range that does not own its elements.
#ifdef __cpp_lib_ranges
template <class T>
struct IsView : std::bool_constant<std::ranges::view<T>> {};
#else
template <class T>
struct IsView : std::false_type {};
template <class T>
struct IsView<Span<T>> : std::true_type {};
template <class C, class Traits>
struct IsView<std::basic_string_view<C, Traits>> : std::true_type {};
#endif

}  // namespace traits

template <class T>
constexpr bool is_plain();

// Types that are trivially copyable although what they stand for lies elsewhere: written, they are an address.
template <class T>
inline constexpr bool holds_an_address =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> || traits::IsIterator<T>::value;
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
constexpr bool is_plain() {
  if constexpr (!std::is_trivially_copyable_v<T> || holds_an_address<std::remove_cv_t<T>>) {
    return false;
  } else if constexpr (std::is_array_v<T>) {
    return is_plain<std::remove_all_extents_t<T>>();
  } else if constexpr (traits::IsRange<T>::value) {
    return !traits::IsView<std::remove_cv_t<T>>::value && is_plain<traits::element<T>>();
  } else {
    return true;
  }
}

namespace traits {

// What may be written as plain bytes: a contiguous range (vector, array, span, string, ...) of plain elements.
template <class Range>
constexpr bool is_plain_range() {
  if constexpr (IsContiguous<Range>::value) {
    return is_plain<element<Range>>();
  } else {
    return false;
  }
}

// A plain range whose elements can be assigned: the target of a read.
template <class Range>
constexpr bool is_plain_target() {
  if constexpr (is_plain_range<Range>()) {
    return !std::is_const_v<std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>>;
  } else {
    return false;
  }
}

template <class T>
constexpr bool is_character() {
#ifdef __cpp_char8_t
  if constexpr (std::is_same_v<T, char8_t>) return true;
#endif
  return std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> ||
         std::is_same_v<T, char32_t>;
}

// A string literal, or an array of such: as a range it has the terminating NULs. It is not written.
template <class T>
constexpr bool is_text() {
  return std::is_array_v<T> && is_character<std::remove_cv_t<std::remove_all_extents_t<T>>>();
}

// A range with an integer or bool for each element.
template <class Range>
constexpr bool is_integers() {
  if constexpr (IsRange<Range>::value) {
    return std::is_integral_v<element<Range>>;
  } else {
    return false;
  }
}

}  // namespace traits

template <class Range>
using IfPlainRange = std::enable_if_t<traits::is_plain_range<const Range>() && !traits::is_text<Range>(), int>;
template <class Range>
using IfText = std::enable_if_t<traits::is_text<Range>(), int>;
template <class Range>
using IfPlainTarget = std::enable_if_t<traits::is_plain_target<std::remove_reference_t<Range>>(), int>;
// One object that is written and read as its bytes; no array, since "text" is one.
template <class T>
using IfPlainValue = std::enable_if_t<!std::is_array_v<T> && is_plain<T>(), int>;
template <class Range>
using IfIntegers = std::enable_if_t<traits::is_integers<const Range>(), int>;

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
