#include "engine/two_phase/exchange_messages.hpp"

#include <cstring>

#include "engine/two_phase/peer_copy.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kAllOfIt = ~std::uint64_t{0};

}  // namespace

Bytes make_request(const ExtentList& list, FileDomain window, RequestHeader header, std::uint64_t most_relayed) {
  const auto encode = [&](ExtentEncoder& encoder) {
    for_each_in(list, window, [&](const Extent& extent) {
      encoder.add(extent);
      return true;
    });
    encoder.finish();
  };
  ExtentEncoder counted(header.data_path);
  encode(counted);
  Bytes request;
  if (counted.size() == 0) return request;
  header.process = probe_of_this_process().process;
  header.bytes = counted.bytes();
  header.encoded_bytes = counted.size();
  header.relayed = sizeof(ReplyHeader) + header.bytes <= most_relayed;
  request.reserve(sizeof header + header.encoded_bytes + (header.with_bytes ? header.bytes : 0));
  put_value(request, header);
  ExtentEncoder written(header.data_path, &request);
  encode(written);
  if (!header.with_bytes) return request;
  for_each_in(list, window, [&](const Extent& extent) {
    put_bytes(request, {extent.memory, extent.bytes});
    return true;
  });
  return request;
}

ExchangeRequest ExchangeRequest::of(ByteView bytes) {
  ExchangeRequest request;
  RequestHeader& header = request.header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::uint64_t inline_data = header.with_bytes ? header.bytes : 0;
  request.whole = bytes.first(sizeof header + header.encoded_bytes + inline_data);
  request.encoded = request.whole.subspan(sizeof header, header.encoded_bytes);
  request.inline_data = request.whole.last(inline_data);
  return request;
}

ExchangeReply ExchangeReply::of(ByteView bytes) {
  ExchangeReply reply;
  std::memcpy(&reply.header, bytes.data(), sizeof reply.header);
  reply.whole = bytes.first(sizeof reply.header + reply.header.bytes);
  reply.bytes = reply.whole.subspan(sizeof reply.header);
  return reply;
}

namespace {

Status copy_with_task(Direction direction, const ExchangeRequest& request, std::byte* buffer, std::uint64_t begin,
                      std::uint64_t end) {
  PeerCopy copy(direction, request.header.process, buffer, begin);
  ExtentDecoder decoder(request.encoded, request.header.data_path);
  ExtentRun run;
  while (decoder.next(run)) copy.add(run, end);
  return copy.finish();
}

}  // namespace

Status fetch(const ExchangeRequest& request, std::byte* buffer, std::uint64_t begin) {
  if (request.header.data_path == DataPath::inline_data) {
    const std::byte* from = request.inline_data.data();
    for_each_extent(request, [&](const Extent& extent) {
      std::memcpy(buffer + (extent.offset - begin), from, extent.bytes);
      from += extent.bytes;
    });
    return {};
  }
  return copy_with_task(Direction::read, request, buffer, begin, kAllOfIt);
}

Status deliver(const ExchangeRequest& request, const std::byte* buffer, std::uint64_t begin, std::uint64_t end) {
  return copy_with_task(Direction::write, request, const_cast<std::byte*>(buffer), begin, end);
}

}  // namespace thalweg
