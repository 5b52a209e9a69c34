#include "store/format/bound_seal.hpp"

#include <algorithm>

#include "base/crc32c.hpp"
#include "base/fields.hpp"

namespace thalweg::format {

std::uint32_t bound_crc(const FileIdentity& id, std::uint64_t offset, ByteView bytes) {
  std::array<std::byte, 28> binding;
  FieldWriter(binding).put_bytes(std::as_bytes(std::span(id.uuid))).put(id.physical).put(offset);
  return crc32c(bytes, crc32c(binding));
}

bool is_sealed(ByteView bytes, const FileIdentity& id, std::uint64_t offset) {
  const std::size_t sealed = bytes.size() - sizeof(std::uint32_t);
  return load_le<std::uint32_t>(bytes.subspan(sealed)) == bound_crc(id, offset, bytes.first(sealed));
}

void seal(ByteSpan bytes, const FileIdentity& id, std::uint64_t offset) {
  const std::size_t sealed = bytes.size() - sizeof(std::uint32_t);
  store_le(bytes.subspan(sealed), bound_crc(id, offset, bytes.first(sealed)));
}

bool all_zero(ByteView bytes) {
  std::size_t at = 0;
  while (at + 8 <= bytes.size() && load_le<std::uint64_t>(bytes.subspan(at)) == 0) at += 8;
  return std::ranges::all_of(bytes.subspan(at), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace thalweg::format
