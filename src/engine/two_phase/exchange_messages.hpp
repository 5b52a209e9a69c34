// Requests: what a task and an aggregator tell each other about one stretch of the file. Which bytes, and either the
// bytes themselves or where they lie in the memory of the task, for an aggregator that can reach it.
//
// Extents are written down by their differences, in as few bytes as these need: three or four for a small piece, and
// those that repeat at equal distances are one entry however many they are. They are read where they came in. Within
// one run of a program: the other numbers are in the machine's byte order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "access/extent_list.hpp"
#include "engine/plan/file_domains.hpp"
#include "engine/two_phase/extent_run.hpp"
#include "group/group.hpp"

namespace thalweg {

// How the bytes go: within messages, or by the hand of the aggregator.
enum class DataPath : std::uint8_t { inline_data, remote_memory };

// Writes extents down, in rising order of their offsets. Addresses are only told where they are of use.
class ExtentEncoder {
 public:
  // Without `to` it only counts.
  explicit ExtentEncoder(DataPath data_path, Bytes* to = nullptr)
      : addresses_(data_path == DataPath::remote_memory), to_(to) {}
  void add(const Extent& extent);                 // may throw std::bad_alloc
  void finish();                                  // the same; after the last one
  std::uint64_t size() const { return size_; }    // in bytes, but for what may still become a longer run
  std::uint64_t bytes() const { return bytes_; }  // of the extents

 private:
  bool continues(const Extent& extent);
  void put(std::uint64_t number);
  void put_difference(std::uint64_t difference);
  void put_run();

  const bool addresses_;
  Bytes* const to_;
  ExtentRun run_;
  std::uint64_t last_offset_ = 0, last_address_ = 0;  // of the extent before, and behind it
  std::uint64_t size_ = 0, bytes_ = 0;
};

// Reads one after the other what a ExtentEncoder has written.
class ExtentDecoder {
 public:
  ExtentDecoder(ByteView encoded, DataPath data_path)
      : rest_(encoded), addresses_(data_path == DataPath::remote_memory) {}
  bool next(ExtentRun& run);

 private:
  std::uint64_t take();
  std::uint64_t take_difference();
  ByteView rest_;
  const bool addresses_;
  std::uint64_t last_offset_ = 0, last_address_ = 0;
};

// Goes out as it lies in memory: no byte of it is padding.
struct RequestHeader {
  TaskRank task = 0;                // whose it is: others may have sent it on
  std::int64_t process = 0;         // whose memory the addresses are of
  std::uint64_t bytes = 0;          // of the extents
  std::uint64_t encoded_bytes = 0;  // bytes of the encoded that follows
  std::uint32_t aggregator = 0;     // for which it is
  DataPath data_path = DataPath::inline_data;
  bool with_bytes = false;  // those of the extents follow the encoded
  bool relayed = false;     // the reply comes by the way of the request, else directly
  std::uint8_t unused = 0;
};
static_assert(std::is_trivially_copyable_v<RequestHeader> && sizeof(RequestHeader) == 40);

// A request as the receiver sees it; borrows its bytes.
struct ExchangeRequest {
  RequestHeader header;
  ByteView whole;
  ByteView encoded;
  ByteView inline_data;                       // in the order of the extents; empty when fetched, or asked for
  static ExchangeRequest of(ByteView bytes);  // the first one of them
};

// What an aggregator sends back: behind this header the bytes of the extents of a request, in their order.
struct ReplyHeader {
  TaskRank task = 0;
  std::uint64_t aggregator = 0;
  std::uint64_t end = 0;  // of the file: from there on nothing was read
  std::uint64_t bytes = 0;
};
static_assert(std::is_trivially_copyable_v<ReplyHeader> && sizeof(ReplyHeader) == 32);

struct ExchangeReply {
  ReplyHeader header;
  ByteView whole;
  ByteView bytes;
  static ExchangeReply of(ByteView bytes);  // the first one of them
};

// A message has one ExchangeRequest or ExchangeReply, or several one behind the other.
template <class Part, class Visit>
void for_each_of(ByteView message, Visit&& visit) {
  while (!message.empty()) {
    const Part part = Part::of(message);
    visit(part);
    message = message.subspan(part.whole.size());
  }
}

// Calls visit(extent) for each extent of a request. Memory of inline_data ones means nothing.
template <class Visit>
void for_each_extent(const ExchangeRequest& request, Visit&& visit) {
  ExtentDecoder reader(request.encoded, request.header.data_path);
  ExtentRun run;
  while (reader.next(run))
    for (std::uint64_t i = 0; i < run.count; ++i) visit(run.at(i));
}

// Calls visit(extent) for the part of a task's list that lies in `window`, until it says false.
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

// The request of what `list` has in `window`; empty: it has nothing there. `header` says whose it is and how it goes;
// an reply of more than `most_relayed` bytes goes directly. May throw std::bad_alloc; takes as much memory as the
// request has bytes.
Bytes make_request(const ExtentList& list, FileDomain window, RequestHeader header, std::uint64_t most_relayed = 0);

// Between the memory that the extents lie in, which may be another process's, and the window of the file that begins at
// `buffer` with offset `begin`. Bytes from `end` of the file on are left alone.
Status fetch(const ExchangeRequest& request, std::byte* buffer, std::uint64_t begin);
Status deliver(const ExchangeRequest& request, const std::byte* buffer, std::uint64_t begin, std::uint64_t end);

}  // namespace thalweg
