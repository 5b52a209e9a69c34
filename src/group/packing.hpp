// Lists of byte strings in one string of bytes, for collectives that carry several things at once.
//
// Within one run of a program on machines of one kind: numbers are in the machine's byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "group/group.hpp"

namespace thalweg {

inline void put_number(Bytes& to, std::int64_t number) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&number);
  to.insert(to.end(), bytes, bytes + sizeof number);
}
inline void put_bytes(Bytes& to, ByteView bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

// Takes from the front of `from`; whoever packed is this library, so the lengths are right.
inline std::int64_t take_number(ByteView& from) {
  std::int64_t number = 0;
  std::memcpy(&number, from.data(), sizeof number);
  from = from.subspan(sizeof number);
  return number;
}
inline ByteView take_bytes(ByteView& from, std::size_t n) {
  const ByteView taken = from.first(n);
  from = from.subspan(n);
  return taken;
}

inline ByteView view_of(const std::vector<std::int64_t>& numbers) { return std::as_bytes(std::span(numbers)); }

inline std::vector<std::int64_t> numbers_of(ByteView bytes) {
  std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::int64_t));
  return numbers;
}

// The number of parts, their begins, then the parts.
inline Bytes pack(const Gathered& parts) {
  Bytes packed;
  packed.reserve((parts.begin.size() + 1) * sizeof(std::int64_t) + parts.data.size());
  put_number(packed, static_cast<std::int64_t>(parts.parts()));
  for (const std::uint64_t begin : parts.begin) put_number(packed, static_cast<std::int64_t>(begin));
  put_bytes(packed, parts.data);
  return packed;
}
// Takes over `packed`, whose first `skip` bytes are something else: the parts are moved within, not copied elsewhere.
inline Gathered unpack(Bytes packed, std::size_t skip) {
  ByteView rest = ByteView(packed).subspan(skip);
  Gathered parts;
  const auto n = static_cast<std::size_t>(take_number(rest));
  parts.begin.reserve(n + 1);
  for (std::size_t i = 0; i <= n; ++i) parts.begin.push_back(static_cast<std::uint64_t>(take_number(rest)));
  packed.erase(packed.begin(), packed.end() - static_cast<std::ptrdiff_t>(rest.size()));
  parts.data = std::move(packed);
  return parts;
}

}  // namespace thalweg
