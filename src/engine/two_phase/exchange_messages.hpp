// The messages of the exchange phase, about one window of the file. An ExchangeRequest names the extents that a task
// has there, and has their bytes or their addresses in the task's memory, for an aggregator that can reach it. An
// ExchangeReply has the bytes that were read. Numbers are in the machine's byte order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "access/extent_list.hpp"
#include "engine/plan/file_domains.hpp"
#include "engine/two_phase/extent_run.hpp"
#include "group/group.hpp"

namespace thalweg {

// Sent as it lies in memory: no byte of it is padding.
struct RequestHeader {
  TaskRank task = 0;                // that the extents belong to; a relay may have sent the request
  std::int64_t process = 0;         // operating system's number, where addresses are valid
  std::uint64_t bytes = 0;          // of the extents
  std::uint64_t encoded_bytes = 0;  // of the encoded extents, which follow
  std::uint32_t aggregator = 0;     // receiver
  DataPath data_path = DataPath::inline_data;
  bool with_bytes = false;  // the bytes of the extents follow their encoding
  bool relayed = false;     // the reply goes back by the way of the request, else directly
  std::uint8_t unused = 0;
};
static_assert(std::is_trivially_copyable_v<RequestHeader> && sizeof(RequestHeader) == 40);

// A request that was received; borrows its bytes.
struct ExchangeRequest {
  RequestHeader header;
  ByteView whole;
  ByteView encoded;
  ByteView inline_data;                       // in the order of the extents; empty unless header.with_bytes
  static ExchangeRequest of(ByteView bytes);  // the first one
};

// Followed by the bytes of the extents of a request, in their order.
struct ReplyHeader {
  TaskRank task = 0;
  std::uint64_t aggregator = 0;
  std::uint64_t end = 0;  // of the file: bytes from there on were not read
  std::uint64_t bytes = 0;
};
static_assert(std::is_trivially_copyable_v<ReplyHeader> && sizeof(ReplyHeader) == 32);

struct ExchangeReply {
  ReplyHeader header;
  ByteView whole;
  ByteView bytes;
  static ExchangeReply of(ByteView bytes);  // the first one
};

// Calls visit(part) for each part of a message, which has one ExchangeRequest or ExchangeReply behind the other.
template <class Part, class Visit>
void for_each_of(ByteView message, Visit&& visit) {
  while (!message.empty()) {
    const Part part = Part::of(message);
    visit(part);
    message = message.subspan(part.whole.size());
  }
}

// Calls visit(extent) for each extent of a request. Its memory is only set on the path remote_memory.
template <class Visit>
void for_each_extent(const ExchangeRequest& request, Visit&& visit) {
  ExtentDecoder decoder(request.encoded, request.header.data_path);
  ExtentRun run;
  while (decoder.next(run))
    for (std::uint64_t i = 0; i < run.count; ++i) visit(run.at(i));
}

// Calls visit(extent) for each part of a task's list that lies in `window`, until it returns false.
template <class Visit>
void for_each_in(const ExtentList& list, FileDomain window, Visit&& visit) {
  const auto extents = list.extents();
  for (std::size_t i = list.first_beyond(window.begin); i < extents.size() && extents[i].offset < window.end; ++i) {
    const Extent& extent = extents[i];
    const std::uint64_t begin = std::max(extent.offset, window.begin);
    const std::uint64_t end = std::min(extent.end(), window.end);
    if (begin < end && !visit(Extent{extent.memory + (begin - extent.offset), end - begin, begin})) return;
  }
}

// The request for the extents of `list` in `window`; empty: there are none. The caller sets task, aggregator, data_path
// and with_bytes of the header; a reply of more than `most_relayed` bytes goes directly. May throw std::bad_alloc;
// takes as much memory as the request has bytes.
Bytes make_request(const ExtentList& list, FileDomain window, RequestHeader header, std::uint64_t most_relayed = 0);

// Copy between the memory of the extents, which may be another process's, and the window of the file that lies at
// `buffer` and begins at offset `begin`. Bytes from offset `end` on are left alone.
Status fetch(const ExchangeRequest& request, std::byte* buffer, std::uint64_t begin);
Status deliver(const ExchangeRequest& request, const std::byte* buffer, std::uint64_t begin, std::uint64_t end);

}  // namespace thalweg
