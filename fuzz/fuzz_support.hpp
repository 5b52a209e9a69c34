// Shared by the fuzz targets: splitting an input, and ending the program when a property is violated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "multifile/format/index.hpp"

// Checks a property of the code under test; the fuzzer reports the end of the program as a finding.
#define FUZZ_REQUIRE(condition)                                                           \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

namespace thalweg::fuzz {

using Bytes = std::vector<std::byte>;

// Reads the input from its front; missing bytes read as zeros.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const std::byte*>(data), size) {}
  // Exactly `bytes` bytes on the heap, so that the sanitizer detects a read beyond them.
  Bytes take(std::size_t bytes) {
    Bytes out(bytes);
    const std::size_t now = std::min(bytes, rest_.size());
    if (now > 0) std::memcpy(out.data(), rest_.data(), now);
    rest_ = rest_.subspan(now);
    return out;
  }
  template <class U>
  U number() {
    return load_le<U>(take(sizeof(U)));
  }
  Bytes rest() { return take(rest_.size()); }
  std::size_t left() const { return rest_.size(); }

 private:
  ByteView rest_;
};

template <class Container>
Bytes to_bytes(const Container& container) {
  return Bytes(container.begin(), container.end());
}

// Recomputes the bound crc in the last four bytes, so that mutation passes it.
inline void reseal(Bytes& structure, const format::FileIdentity& id, std::uint64_t offset) {
  const ByteSpan all(structure);
  const std::size_t body = structure.size() - 4;
  store_le(all.subspan(body), format::bound_crc(id, offset, all.first(body)));
}

// A header with its free choices drawn from the input.
inline format::FileHeader header_from(Input& input) {
  format::FileHeader header;
  const auto choices = input.number<std::uint32_t>();
  header.id.uuid[0] = 7;
  header.alignment = 512u << (choices & 15) % 18;
  header.granule = 4096u << ((choices >> 4) & 15) % 15;
  header.checksum = (choices >> 8) & 1 ? format::Checksum::none : format::Checksum::crc32c;
  header.mapping = (choices >> 9) & 1 ? format::Mapping::table : format::Mapping::consecutive;
  header.n_logical = (choices >> 10) & 1023;
  header.n_local = (choices >> 20) & 255;
  header.n_local = std::min(header.n_local, header.n_logical);
  header.first_rank = header.mapping == format::Mapping::table ? 0 : header.n_logical - header.n_local;
  const bool later = (choices >> 29) & 1 && header.mapping == format::Mapping::consecutive;
  header.n_physical = later ? 1 : 2;
  header.n_later = later ? 3 : 0;
  header.id.physical = (choices >> 28) & 1;
  if (header.is_later()) header = format::later_header(header, header.id.physical);
  return header;
}

}  // namespace thalweg::fuzz
