// Writes and reads the fields of a structure in the order of the tables of the format document, and reports invalid
// fields.
#pragma once

#include <fmt/core.h>

#include <cassert>
#include <cstring>
#include <string>
#include <string_view>

#include "base/endian.hpp"
#include "base/status.hpp"

namespace thalweg::format {

class FieldWriter {
 public:
  explicit FieldWriter(ByteSpan out) : out_(out) {}
  template <class U>
  FieldWriter& put(U value) {
    store_le<U>(out_.subspan(at_), value);
    at_ += sizeof(U);
    return *this;
  }
  FieldWriter& put_bytes(ByteView bytes) {
    if (!bytes.empty()) std::memcpy(out_.subspan(at_, bytes.size()).data(), bytes.data(), bytes.size());
    at_ += bytes.size();
    return *this;
  }
  FieldWriter& put_magic(std::string_view magic) { return put_bytes(std::as_bytes(std::span(magic))); }
  std::size_t position() const { return at_; }

 private:
  ByteSpan out_;
  std::size_t at_ = 0;
};

// The caller has checked that there are as many bytes as the structure has.
class FieldReader {
 public:
  explicit FieldReader(ByteView in) : in_(in) {}
  template <class U>
  U get() {
    const U value = load_le<U>(in_.subspan(at_));
    at_ += sizeof(U);
    return value;
  }
  ByteView get_bytes(std::size_t bytes) {
    const ByteView found = in_.subspan(at_, bytes);
    at_ += bytes;
    return found;
  }
  bool get_magic(std::string_view magic) {
    return std::memcmp(get_bytes(magic.size()).data(), magic.data(), magic.size()) == 0;
  }

 private:
  ByteView in_;
  std::size_t at_ = 0;
};

inline bool begins_with(ByteView bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && FieldReader(bytes).get_magic(magic);
}

inline Status corrupt(const std::string& text) { return Status::error(Code::corrupt_file, text); }
template <class... T>
Status corrupt(FormatOf<T...> format, const T&... values) {
  return corrupt(format.with(values...));
}

// "file header: alignment is 3000; a power of two from 512 to 67108864 is allowed"
inline Status bad_field(const char* structure, const char* field, std::uint64_t value, const std::string& allowed) {
  return corrupt("{}: {} is {}; {} is allowed", structure, field, value, allowed);
}

inline Status bad_size(const char* structure, std::size_t bytes, std::uint64_t expected) {
  return corrupt("{}: {} bytes are there, it has {}", structure, bytes, expected);
}

inline Status bad_crc(const char* structure, std::uint64_t offset) {
  return corrupt("{} at offset {}: its checksum does not match", structure, offset);
}

constexpr bool is_power_of_two(std::uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

}  // namespace thalweg::format
