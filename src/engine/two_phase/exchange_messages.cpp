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

void Description::put(std::uint64_t number) {
  do {
    const auto low = static_cast<std::byte>((number & 127) | (number > 127 ? 128 : 0));
    number >>= 7;
    ++size_;
    if (to_ != nullptr) to_->push_back(low);
  } while (number > 0);
}

// Small ones of either sign are short.
void Description::put_difference(std::uint64_t difference) {
  put(difference << 1 ^ (difference >> 63 == 0 ? 0 : ~std::uint64_t{0}));
}

bool Description::continues(const Extent& extent) {
  if (series_.count == 0) return false;
  const Extent last = series_.at(series_.count - 1);
  const auto address = reinterpret_cast<std::uintptr_t>(extent.memory);
  const std::uint64_t address_step = address - reinterpret_cast<std::uintptr_t>(last.memory);
  if (series_.count == 1 && last.end() == extent.offset && (!addresses_ || address_step == last.bytes)) {
    series_.bytes += extent.bytes;  // one longer extent
    return true;
  }
  if (extent.bytes != last.bytes) return false;
  const std::uint64_t offset_step = extent.offset - last.offset;
  const bool as_before = offset_step == series_.offset_step && (!addresses_ || address_step == series_.address_step);
  if (series_.count > 1 && !as_before) return false;
  series_.offset_step = offset_step;
  series_.address_step = addresses_ ? address_step : 0;
  ++series_.count;
  return true;
}

void Description::add(const Extent& extent) {
  bytes_ += extent.bytes;
  if (continues(extent)) return;
  put_series();
  series_ = {extent.offset, extent.bytes, addresses_ ? reinterpret_cast<std::uintptr_t>(extent.memory) : 0, 1, 0, 0};
}

void Description::finish() {
  put_series();
  series_ = {};
}

void Description::put_series() {
  if (series_.count == 0) return;
  put(series_.count);
  put(series_.offset - last_offset_);
  put(series_.bytes);
  if (addresses_) put_difference(series_.address - last_address_);
  if (series_.count > 1) {
    put(series_.offset_step);
    if (addresses_) put_difference(series_.address_step);
  }
  const Extent last = series_.at(series_.count - 1);
  last_offset_ = last.offset;
  last_address_ = reinterpret_cast<std::uintptr_t>(last.memory) + last.bytes;
}

std::uint64_t SeriesReader::take() {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto low = static_cast<std::uint64_t>(rest_[0]);
    rest_ = rest_.subspan(1);
    number |= (low & 127) << shift;
    if (low < 128) return number;
  }
}

std::uint64_t SeriesReader::take_difference() {
  const std::uint64_t number = take();
  return number >> 1 ^ ((number & 1) == 0 ? 0 : ~std::uint64_t{0});
}

bool SeriesReader::next(Series& series) {
  if (rest_.empty()) return false;
  series = {};
  series.count = take();
  series.offset = last_offset_ + take();
  series.bytes = take();
  if (addresses_) series.address = last_address_ + take_difference();
  if (series.count > 1) {
    series.offset_step = take();
    if (addresses_) series.address_step = take_difference();
  }
  const Extent last = series.at(series.count - 1);
  last_offset_ = last.offset;
  last_address_ = reinterpret_cast<std::uintptr_t>(last.memory) + last.bytes;
  return true;
}

Bytes make_request(const ExtentList& list, FileDomain window, RequestHeader header, std::uint64_t most_relayed) {
  Description counted(header.data_path);
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
  header.described = counted.size();
  header.relayed = sizeof(ReplyHeader) + header.bytes <= most_relayed;
  request.reserve(sizeof header + header.described + (header.with_bytes ? header.bytes : 0));
  append(request, &header, sizeof header);
  Description description(header.data_path, &request);
  const auto describe = [&](const Extent& extent) {
    description.add(extent);
    return true;
  };
  for_each_in(list, window, describe);
  description.finish();
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
  request.whole = bytes.first(sizeof header + header.described + inline_data);
  request.description = request.whole.subspan(sizeof header, header.described);
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
  SeriesReader reader(request.description, request.header.data_path);
  Series series;
  while (reader.next(series)) copy.add(series, end);
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
