#include "vpfile/vpfile.hpp"

#include <cstdio>
#include <utility>

namespace thalweg {

constexpr std::uint64_t kFlags = StreamState::kEof | StreamState::kError;

Status VpFile::seek(const std::int64_t* offsets, std::int64_t offset, int whence, const std::uint8_t* mask) {
  StreamTable& streams = *parts_.streams;
  const bool ends_differ = whence == SEEK_END && parts_.geometry.has_ib();
  if (offsets == nullptr && mask == nullptr && !ends_differ && !streams.apart()) {
    TW_ASSIGN_OR_RETURN(streams.all().position, seek_target(parts_, 0, offset, whence));
    streams.all().clear(kFlags);
    return {};
  }
  std::vector<std::uint64_t> targets(vps().count());
  const auto takes_part = [&](std::uint64_t local) { return mask == nullptr || mask[local] != 0; };
  streams.make(takes_part);
  for (std::uint64_t local = 0; local < vps().count(); ++local) {
    if (!takes_part(local)) continue;
    if (whence == SEEK_END) TW_RETURN_IF_ERROR(parts_.load(local));
    TW_ASSIGN_OR_RETURN(targets[local],
                        seek_target(parts_, local, offsets != nullptr ? offsets[local] : offset, whence));
  }
  streams.go_apart();
  for (std::uint64_t local = 0; local < vps().count(); ++local) {
    if (!takes_part(local)) continue;
    streams[local].position = targets[local];
    streams[local].clear(kFlags);
    streams.drop_pushed(local);
  }
  streams.come_together();
  return {};
}

}  // namespace thalweg
