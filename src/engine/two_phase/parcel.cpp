#include "engine/two_phase/parcel.hpp"

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

Bytes make_parcel(const ExtentList& list, FileDomain window, ParcelHead head, std::uint64_t most_returned) {
  Description counted(head.carriage);
  const auto count = [&](const Extent& extent) {
    counted.add(extent);
    return true;
  };
  for_each_in(list, window, count);
  counted.finish();
  Bytes parcel;
  if (counted.size() == 0) return parcel;
  head.process = probe_of_this_process().process;
  head.bytes = counted.bytes();
  head.described = counted.size();
  head.returns = sizeof(AnswerHead) + head.bytes <= most_returned;
  parcel.reserve(sizeof head + head.described + (head.with_bytes ? head.bytes : 0));
  append(parcel, &head, sizeof head);
  Description description(head.carriage, &parcel);
  const auto describe = [&](const Extent& extent) {
    description.add(extent);
    return true;
  };
  for_each_in(list, window, describe);
  description.finish();
  if (!head.with_bytes) return parcel;
  const auto enclose = [&](const Extent& extent) {
    append(parcel, extent.memory, extent.bytes);
    return true;
  };
  for_each_in(list, window, enclose);
  return parcel;
}

Parcel Parcel::of(ByteView bytes) {
  Parcel parcel;
  ParcelHead& head = parcel.head;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::uint64_t enclosed = head.with_bytes ? head.bytes : 0;
  parcel.whole = bytes.first(sizeof head + head.described + enclosed);
  parcel.description = parcel.whole.subspan(sizeof head, head.described);
  parcel.enclosed = parcel.whole.last(enclosed);
  return parcel;
}

Answer Answer::of(ByteView bytes) {
  Answer answer;
  std::memcpy(&answer.head, bytes.data(), sizeof answer.head);
  answer.whole = bytes.first(sizeof answer.head + answer.head.bytes);
  answer.bytes = answer.whole.subspan(sizeof answer.head);
  return answer;
}

namespace {

Status copy_with_client(PeerAccess access, const Parcel& parcel, std::byte* buffer, std::uint64_t begin,
                        std::uint64_t end) {
  PeerCopy copy(access, parcel.head.process, buffer, begin);
  SeriesReader reader(parcel.description, parcel.head.carriage);
  Series series;
  while (reader.next(series)) copy.add(series, end);
  return copy.finish();
}

}  // namespace

Status fetch(const Parcel& parcel, std::byte* buffer, std::uint64_t begin) {
  if (parcel.head.carriage == Carriage::enclosed) {
    const std::byte* from = parcel.enclosed.data();
    for_each_extent(parcel, [&](const Extent& extent) {
      std::memcpy(buffer + (extent.offset - begin), from, extent.bytes);
      from += extent.bytes;
    });
    return {};
  }
  return copy_with_client(PeerAccess::read, parcel, buffer, begin, kAllOfIt);
}

Status deliver(const Parcel& parcel, const std::byte* buffer, std::uint64_t begin, std::uint64_t end) {
  return copy_with_client(PeerAccess::write, parcel, const_cast<std::byte*>(buffer), begin, end);
}

}  // namespace thalweg
