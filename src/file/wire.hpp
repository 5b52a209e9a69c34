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
  void put_bytes(ByteView bytes) {
    put(std::uint64_t{bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void put_text(const std::string& text) { put_bytes(std::as_bytes(std::span(text))); }
  void put_status(const Status& status) {
    put(static_cast<std::int32_t>(status.code()));
    put(std::int32_t{status.os_errno()});
    put_text(status.ok() ? std::string() : status.message());
  }
  // Bytes that follow are read back with get_view(): begins them, to be ended with what this gave.
  std::size_t begin_bytes() {
    put(std::uint64_t{0});
    return bytes_.size();
  }
  void end_bytes(std::size_t begin) {
    const std::uint64_t size = bytes_.size() - begin;
    std::memcpy(bytes_.data() + begin - sizeof size, &size, sizeof size);
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
  // What put_bytes() wrote, borrowed.
  ByteView get_view() {
    const auto n = std::min<std::uint64_t>(get<std::uint64_t>(), rest_.size());
    const ByteView view = rest_.first(n);
    rest_ = rest_.subspan(n);
    return view;
  }
  std::string get_text() {
    const auto text = get_all<char>();
    return {text.begin(), text.end()};
  }
  Status get_status() {
    const auto code = get<std::int32_t>();
    const auto err = get<std::int32_t>();
    const std::string message = get_text();
    return code == 0 ? Status{} : Status::error(static_cast<Code>(code), message, err);
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
