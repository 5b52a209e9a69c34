#include "engine/two_phase/exchange_messages.hpp"

#include <cstring>

#include "engine/two_phase/peer_copy.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kAllOfIt = ~std::uint64_t{0};

void append(Bytes& to, const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  to.insert(to.end(), begin, begin + bytes);
}

}  // namespace

void ExtentEncoder::put(std::uint64_t number) {
  do {
    const auto low = static_cast<std::byte>((number & 127) | (number > 127 ? 128 : 0));
    number >>= 7;
    ++size_;
    if (to_ != nullptr) to_->push_back(low);
  } while (number > 0);
}

// Small ones of either sign are short.
void ExtentEncoder::put_difference(std::uint64_t difference) {
  put(difference << 1 ^ (difference >> 63 == 0 ? 0 : ~std::uint64_t{0}));
}

bool ExtentEncoder::continues(const Extent& extent) {
  if (run_.count == 0) return false;
  const Extent last = run_.at(run_.count - 1);
  const auto address = reinterpret_cast<std::uintptr_t>(extent.memory);
  const std::uint64_t address_step = address - reinterpret_cast<std::uintptr_t>(last.memory);
  if (run_.count == 1 && last.end() == extent.offset && (!addresses_ || address_step == last.bytes)) {
    run_.bytes += extent.bytes;  // one longer extent
    return true;
  }
  if (extent.bytes != last.bytes) return false;
  const std::uint64_t offset_step = extent.offset - last.offset;
  const bool as_before = offset_step == run_.offset_step && (!addresses_ || address_step == run_.address_step);
  if (run_.count > 1 && !as_before) return false;
  run_.offset_step = offset_step;
  run_.address_step = addresses_ ? address_step : 0;
  ++run_.count;
  return true;
}

void ExtentEncoder::add(const Extent& extent) {
  bytes_ += extent.bytes;
  if (continues(extent)) return;
  put_run();
  run_ = {extent.offset, extent.bytes, addresses_ ? reinterpret_cast<std::uintptr_t>(extent.memory) : 0, 1, 0, 0};
}

void ExtentEncoder::finish() {
  put_run();
  run_ = {};
}

void ExtentEncoder::put_run() {
  if (run_.count == 0) return;
  put(run_.count);
  put(run_.offset - last_offset_);
  put(run_.bytes);
  if (addresses_) put_difference(run_.address - last_address_);
  if (run_.count > 1) {
    put(run_.offset_step);
    if (addresses_) put_difference(run_.address_step);
  }
  const Extent last = run_.at(run_.count - 1);
  last_offset_ = last.offset;
  last_address_ = reinterpret_cast<std::uintptr_t>(last.memory) + last.bytes;
}

std::uint64_t ExtentDecoder::take() {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto low = static_cast<std::uint64_t>(rest_[0]);
    rest_ = rest_.subspan(1);
    number |= (low & 127) << shift;
    if (low < 128) return number;
  }
}

std::uint64_t ExtentDecoder::take_difference() {
  const std::uint64_t number = take();
  return number >> 1 ^ ((number & 1) == 0 ? 0 : ~std::uint64_t{0});
}

bool ExtentDecoder::next(ExtentRun& run) {
  if (rest_.empty()) return false;
  run = {};
  run.count = take();
  run.offset = last_offset_ + take();
  run.bytes = take();
  if (addresses_) run.address = last_address_ + take_difference();
  if (run.count > 1) {
    run.offset_step = take();
    if (addresses_) run.address_step = take_difference();
  }
  const Extent last = run.at(run.count - 1);
  last_offset_ = last.offset;
  last_address_ = reinterpret_cast<std::uintptr_t>(last.memory) + last.bytes;
  return true;
}

Bytes make_request(const ExtentList& list, FileDomain window, RequestHeader header, std::uint64_t most_relayed) {
  ExtentEncoder counted(header.data_path);
  const auto count = [&](const Extent& extent) {
    counted.add(extent);
    return true;
  };
  for_each_in(list, window, count);
  counted.finish();
  Bytes request;
  if (counted.size() == 0) return request;
  header.process = probe_of_this_process().process;
  header.bytes = counted.bytes();
  header.encoded_bytes = counted.size();
  header.relayed = sizeof(ReplyHeader) + header.bytes <= most_relayed;
  request.reserve(sizeof header + header.encoded_bytes + (header.with_bytes ? header.bytes : 0));
  append(request, &header, sizeof header);
  ExtentEncoder encoded(header.data_path, &request);
  const auto describe = [&](const Extent& extent) {
    encoded.add(extent);
    return true;
  };
  for_each_in(list, window, describe);
  encoded.finish();
  if (!header.with_bytes) return request;
  const auto enclose = [&](const Extent& extent) {
    append(request, extent.memory, extent.bytes);
    return true;
  };
  for_each_in(list, window, enclose);
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

Status copy_with_client(PeerAccess access, const ExchangeRequest& request, std::byte* buffer, std::uint64_t begin,
                        std::uint64_t end) {
  PeerCopy copy(access, request.header.process, buffer, begin);
  ExtentDecoder reader(request.encoded, request.header.data_path);
  ExtentRun run;
  while (reader.next(run)) copy.add(run, end);
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
  return copy_with_client(PeerAccess::read, request, buffer, begin, kAllOfIt);
}

Status deliver(const ExchangeRequest& request, const std::byte* buffer, std::uint64_t begin, std::uint64_t end) {
  return copy_with_client(PeerAccess::write, request, const_cast<std::byte*>(buffer), begin, end);
}

}  // namespace thalweg
