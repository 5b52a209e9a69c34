#include "engine/parcel.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "os/peer_memory.hpp"

namespace thalweg {

namespace {

class SeriesMaker {
 public:
  void add(std::uint64_t offset, std::uint64_t bytes, std::uint64_t address) {
    if (!all_.empty() && continues(all_.back(), offset, bytes, address)) return;
    all_.push_back({offset, bytes, address, 1, 0, 0});
  }
  std::vector<Series> take() { return std::move(all_); }

 private:
  static bool continues(Series& last, std::uint64_t offset, std::uint64_t bytes, std::uint64_t address) {
    const Extent end = last.at(last.count - 1);
    const auto memory = reinterpret_cast<std::uintptr_t>(end.memory);
    if (last.count == 1 && end.end() == offset && memory + end.bytes == address) {  // one longer extent
      last.bytes += bytes;
      return true;
    }
    if (bytes != last.bytes) return false;
    const std::uint64_t offset_step = offset - end.offset;
    const std::uint64_t address_step = address - memory;
    if (last.count > 1 && (offset_step != last.offset_step || address_step != last.address_step)) return false;
    last.offset_step = offset_step;
    last.address_step = address_step;
    ++last.count;
    return true;
  }
  std::vector<Series> all_;
};

// Vectors of a copy between two processes; given away when they are full.
class PeerCopy {
 public:
  PeerCopy(PeerAccess access, std::int64_t process) : access_(access), process_(process) {}
  void add(std::byte* here, std::uint64_t there, std::uint64_t bytes) {
    if (n_ == kMost) flush();
    here_[n_] = {here, bytes};
    there_[n_++] = {reinterpret_cast<void*>(there), bytes};
  }
  Status finish() {
    flush();
    return status_;
  }

 private:
  static constexpr std::size_t kMost = 256;
  void flush() {
    if (n_ > 0 && status_.ok()) status_ = copy_peer(access_, process_, {here_.data(), n_}, {there_.data(), n_});
    n_ = 0;
  }
  const PeerAccess access_;
  const std::int64_t process_;
  std::array<iovec, kMost> here_, there_;
  std::size_t n_ = 0;
  Status status_;
};

void append(Bytes& to, const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  to.insert(to.end(), begin, begin + bytes);
}

}  // namespace

std::vector<Series> series_in(const ExtentList& list, FileDomain window) {
  SeriesMaker maker;
  const auto extents = list.extents();
  for (std::size_t i = list.first_beyond(window.begin); i < extents.size() && extents[i].offset < window.end; ++i) {
    const Extent& extent = extents[i];
    const std::uint64_t begin = std::max(extent.offset, window.begin);
    const std::uint64_t end = std::min(extent.end(), window.end);
    if (begin < end)
      maker.add(begin, end - begin, reinterpret_cast<std::uintptr_t>(extent.memory) + (begin - extent.offset));
  }
  return maker.take();
}

std::uint64_t bytes_of(std::span<const Series> series) {
  std::uint64_t sum = 0;
  for (const Series& some : series) sum += some.count * some.bytes;
  return sum;
}

Bytes make_parcel(std::span<const Series> series, Carriage carriage, bool with_bytes) {
  const ParcelHead head{probe_of_this_process().process, carriage, series.size()};
  Bytes parcel;
  parcel.reserve(sizeof head + series.size_bytes() + (with_bytes ? bytes_of(series) : 0));
  append(parcel, &head, sizeof head);
  append(parcel, series.data(), series.size_bytes());
  if (with_bytes) for_each_extent(series, [&](const Extent& extent) { append(parcel, extent.memory, extent.bytes); });
  return parcel;
}

Parcel Parcel::of(ByteView bytes) {
  Parcel parcel;
  std::memcpy(&parcel.head, bytes.data(), sizeof parcel.head);
  bytes = bytes.subspan(sizeof parcel.head);
  parcel.series.resize(parcel.head.n_series);
  const std::size_t length = parcel.series.size() * sizeof(Series);
  if (length > 0) std::memcpy(parcel.series.data(), bytes.data(), length);
  parcel.enclosed = bytes.subspan(length);
  return parcel;
}

Status fetch(const Parcel& parcel, std::byte* buffer, std::uint64_t begin) {
  if (parcel.head.carriage == Carriage::enclosed) {
    const std::byte* from = parcel.enclosed.data();
    for_each_extent(parcel.series, [&](const Extent& extent) {
      std::memcpy(buffer + (extent.offset - begin), from, extent.bytes);
      from += extent.bytes;
    });
    return {};
  }
  PeerCopy copy(PeerAccess::read, parcel.head.process);
  for_each_extent(parcel.series, [&](const Extent& extent) {
    copy.add(buffer + (extent.offset - begin), reinterpret_cast<std::uintptr_t>(extent.memory), extent.bytes);
  });
  return copy.finish();
}

Status deliver(const Parcel& parcel, const std::byte* buffer, std::uint64_t begin, std::uint64_t end) {
  PeerCopy copy(PeerAccess::write, parcel.head.process);
  for_each_extent(parcel.series, [&](const Extent& extent) {
    if (extent.offset >= end) return;
    copy.add(const_cast<std::byte*>(buffer) + (extent.offset - begin), reinterpret_cast<std::uintptr_t>(extent.memory),
             std::min(extent.bytes, end - extent.offset));
  });
  return copy.finish();
}

}  // namespace thalweg
