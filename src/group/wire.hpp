// Numbers and texts as bytes between tasks of one program (never on disk).
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "group/group.hpp"

namespace thalweg {

class WireWriter {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof value);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put_all(const std::vector<T>& values) {
    put(std::uint64_t{values.size()});
    const auto* at = reinterpret_cast<const std::byte*>(values.data());
    bytes_.insert(bytes_.end(), at, at + values.size() * sizeof(T));
  }
  // Seven bits to a byte: small numbers are short.
  void put_short(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) put(static_cast<std::uint8_t>(value | 0x80));
    put(static_cast<std::uint8_t>(value));
  }
  // As the distance from what the reader expects, too: one byte where it is right.
  void put_near(std::uint64_t value, std::uint64_t expected) {
    const std::uint64_t step = value - expected;  // may be a negative number
    put_short((step << 1) ^ (0 - (step >> 63)));
  }
  void put_bytes(ByteView bytes) {
    put_short(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
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

// Reads what a WireWriter of the same program wrote; missing bytes read as zero.
class WireReader {
 public:
  explicit WireReader(ByteView bytes) : rest_(bytes) {}
  template <class T>
  T get() {
    T value{};
    if (rest_.size() >= sizeof value) {
      std::memcpy(&value, rest_.data(), sizeof value);
      rest_ = rest_.subspan(sizeof value);
    }
    return value;
  }
  template <class T>
  std::vector<T> get_all() {
    const auto n = get<std::uint64_t>();
    if (n > rest_.size() / sizeof(T)) return {};
    std::vector<T> values(n);
    if (n > 0) std::memcpy(values.data(), rest_.data(), n * sizeof(T));
    rest_ = rest_.subspan(n * sizeof(T));
    return values;
  }
  std::uint64_t get_short() {
    std::uint64_t value = 0;
    for (unsigned bits = 0; bits < 64; bits += 7) {
      const auto byte = get<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7Fu} << bits;
      if (byte < 0x80) break;
    }
    return value;
  }
  std::uint64_t get_near(std::uint64_t expected) {
    const std::uint64_t told = get_short();
    return expected + ((told >> 1) ^ (0 - (told & 1)));
  }
  // What put_bytes() wrote, borrowed.
  ByteView get_view() {
    const std::uint64_t n = std::min<std::uint64_t>(get_short(), rest_.size());
    const ByteView view = rest_.first(n);
    rest_ = rest_.subspan(n);
    return view;
  }
  std::string get_text() {
    const ByteView text = get_view();
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  Status get_status() {
    const std::uint64_t code = get_short();
    if (code == 0) return {};
    const auto err = get<std::int32_t>();
    return Status::error(static_cast<Code>(code), get_text(), err);
  }
  ByteView rest() const { return rest_; }

 private:
  ByteView rest_;
};

// Runs a step that may throw bad_alloc: between collectives a task must come to the next one whatever happens.
template <class F>
Status attempt(F&& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return Status::error(Code::no_memory, "memory could not be had");
  } catch (const std::exception& error) {
    return Status::error(Code::internal, error.what());
  }
}

}  // namespace thalweg
