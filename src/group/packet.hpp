// The message of fixed length that opens a collective, with short data inside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "group/group.hpp"

namespace thalweg {

// `more`: the data of some task exceed a packet.
template <std::size_t N>
struct Packet {
  std::int64_t bytes = 0;
  std::int64_t more = 0;
  std::array<std::byte, N> data{};

  bool holds() const { return bytes <= static_cast<std::int64_t>(N); }
  void put(ByteView from) {
    bytes = static_cast<std::int64_t>(from.size());
    if (holds() && !from.empty()) std::memcpy(data.data(), from.data(), from.size());
  }
  ByteView view() const { return {data.data(), static_cast<std::size_t>(bytes)}; }
  Bytes copy() const { return {view().begin(), view().end()}; }
};

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace thalweg
