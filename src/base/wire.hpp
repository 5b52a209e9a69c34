// The codec of messages between tasks of one program: numbers, texts and statuses as bytes. Never on disk: numbers of
// fixed width have the byte order of the machine.
//
// Free functions append to Bytes and take from the front of a ByteView; WireWriter and WireReader hold several
// values. Missing bytes read as zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/endian.hpp"
#include "base/status.hpp"

namespace thalweg {

using Bytes = std::vector<std::byte>;

inline void put_bytes(Bytes& to, ByteView bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }
inline ByteView take_bytes(ByteView& from, std::size_t n) {
  const ByteView taken = from.first(std::min(n, from.size()));
  from = from.subspan(taken.size());
  return taken;
}

template <class T>
  requires std::is_trivially_copyable_v<T>
void put_value(Bytes& to, const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), at, at + sizeof value);
}
template <class T>
T take_value(ByteView& from) {
  T value{};
  if (from.size() >= sizeof value) std::memcpy(&value, take_bytes(from, sizeof value).data(), sizeof value);
  return value;
}
inline void put_number(Bytes& to, std::int64_t number) { put_value(to, number); }
inline std::int64_t take_number(ByteView& from) { return take_value<std::int64_t>(from); }

// Seven bits per byte, so that small numbers are short.
inline void put_varint(Bytes& to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) to.push_back(static_cast<std::byte>(number | 0x80));
  to.push_back(static_cast<std::byte>(number));
}
inline std::size_t varint_bytes(std::uint64_t number) {
  std::size_t n = 1;
  for (; number >= 0x80; number >>= 7) ++n;
  return n;
}
inline std::uint64_t take_varint(ByteView& from) {
  std::uint64_t number = 0;
  for (unsigned bits = 0; bits < 64 && !from.empty(); bits += 7) {
    const auto low = static_cast<std::uint64_t>(from[0]);
    from = from.subspan(1);
    number |= (low & 0x7F) << bits;
    if (low < 0x80) break;
  }
  return number;
}
// Maps a signed difference to an unsigned number that is small when its magnitude is; and back.
inline std::uint64_t zigzag(std::uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
inline std::uint64_t from_zigzag(std::uint64_t number) { return (number >> 1) ^ (0 - (number & 1)); }

inline ByteView view_of(const std::vector<std::int64_t>& numbers) { return std::as_bytes(std::span(numbers)); }
inline std::vector<std::int64_t> numbers_of(ByteView bytes) {
  std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::int64_t));
  return numbers;
}

class WireWriter {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    put_value(bytes_, value);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put_all(const std::vector<T>& values) {
    put_short(values.size());
    thalweg::put_bytes(bytes_, std::as_bytes(std::span(values)));
  }
  void put_short(std::uint64_t value) { put_varint(bytes_, value); }
  // Encodes the distance from the value that the reader expects: one byte where the two are equal.
  void put_near(std::uint64_t value, std::uint64_t expected) { put_short(zigzag(value - expected)); }
  void put_bytes(ByteView bytes) {
    put_short(bytes.size());
    thalweg::put_bytes(bytes_, bytes);
  }
  void put_text(const std::string& text) { put_bytes(std::as_bytes(std::span(text))); }
  void put_status(const Status& status) {
    put_short(static_cast<std::uint64_t>(status.code()));
    if (status.ok()) return;
    put(std::int32_t{status.os_errno()});
    put_text(status.message());
  }
  void reserve(std::size_t more) { bytes_.reserve(bytes_.size() + more); }
  Bytes& bytes() { return bytes_; }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

// Reads what a WireWriter of this program wrote.
class WireReader {
 public:
  explicit WireReader(ByteView bytes) : rest_(bytes) {}
  template <class T>
  T get() {
    return take_value<T>(rest_);
  }
  template <class T>
  std::vector<T> get_all() {
    const std::uint64_t n = get_short();
    if (n > rest_.size() / sizeof(T)) return {};
    std::vector<T> values(n);
    const ByteView taken = take_bytes(rest_, n * sizeof(T));
    if (n > 0) std::memcpy(values.data(), taken.data(), taken.size());
    return values;
  }
  std::uint64_t get_short() { return take_varint(rest_); }
  std::uint64_t get_near(std::uint64_t expected) { return expected + from_zigzag(get_short()); }
  // The bytes written by put_bytes(), borrowed.
  ByteView get_view() {
    const std::uint64_t n = get_short();
    return take_bytes(rest_, n);
  }
  std::string get_text() {
    const ByteView text = get_view();
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  Status get_status() {
    const std::uint64_t code = get_short();
    if (code == 0) return {};
    const auto err = get<std::int32_t>();
    return Status::failed_call(static_cast<Code>(code), err, get_text());
  }
  ByteView rest() const { return rest_; }

 private:
  ByteView rest_;
};

// Runs a step and turns an exception into a status, no_memory for bad_alloc and else internal: a task must reach its next
// collective in any case.
template <class F>
Status attempt(F&& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return Status::error(Code::no_memory, "out of memory");
  } catch (const std::exception& error) {
    return Status::error(Code::internal, error.what());
  }
}

}  // namespace thalweg
