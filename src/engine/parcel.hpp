// Parcels: what a task and an aggregator tell each other about one stretch of the file. Which bytes, and either the
// bytes themselves or where they lie in the memory of the task, for an aggregator that can reach it.
//
// Extents that repeat at equal distances are one entry, so that a row of a block-distributed array costs 48 bytes
// however many lines it has. Within one run of a program: numbers are in the machine's byte order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "extent/extent_list.hpp"
#include "group/group.hpp"
#include "plan/file_domains.hpp"

namespace thalweg {

// `count` extents, the next one always so much further on in the file and in memory.
struct Series {
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t count = 0;
  std::uint64_t offset_step = 0, address_step = 0;  // modulo 2^64
  Extent at(std::uint64_t i) const {
    return {reinterpret_cast<std::byte*>(address + i * address_step), bytes, offset + i * offset_step};
  }
};

// How the bytes go: within the parcel, or by the hand of the aggregator.
enum class Carriage : std::uint64_t { enclosed, fetched };

struct ParcelHead {
  std::int64_t process = 0;  // whose memory the addresses are of
  Carriage carriage = Carriage::enclosed;
  std::uint64_t n_series = 0;
};

// The part of a task's list that lies in `window`, as series.
std::vector<Series> series_in(const ExtentList& list, FileDomain window);
std::uint64_t bytes_of(std::span<const Series> series);

// May throw std::bad_alloc. `with_bytes`: those of the task's memory are enclosed.
Bytes make_parcel(std::span<const Series> series, Carriage carriage, bool with_bytes);

// A parcel as the receiver sees it; borrows its bytes.
struct Parcel {
  ParcelHead head;
  std::vector<Series> series;
  ByteView enclosed;  // in the order of the series; empty when fetched, or asked for
  static Parcel of(ByteView bytes);
};

// Calls visit(extent) for each.
template <class Visit>
void for_each_extent(std::span<const Series> series, Visit&& visit) {
  for (const Series& some : series)
    for (std::uint64_t i = 0; i < some.count; ++i) visit(some.at(i));
}

// Between the memory that the series lie in, which may be another process's, and the window of the file that begins at
// `buffer` with offset `begin`. Bytes from `end` of the file on are left alone.
Status fetch(const Parcel& parcel, std::byte* buffer, std::uint64_t begin);
Status deliver(const Parcel& parcel, const std::byte* buffer, std::uint64_t begin, std::uint64_t end);

}  // namespace thalweg
