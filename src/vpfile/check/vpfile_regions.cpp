#include "vpfile/check/check_vpfile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "vpfile/check/superblock_scan.hpp"
#include "vpfile/format/superblock.hpp"

namespace thalweg {

namespace {

using format::VpGeometry;

class RegionWalk {
 public:
  RegionWalk(StoredFile& data, const format::VpMeta& meta, std::uint64_t size,
             const std::function<bool(const VpRegion&)>& visit)
      : data_(data), id_(meta.id), geometry_(meta.geometry), size_(size), visit_(visit) {}

  // Visits superblocks as they are found, so that the caller can end the walk between them.
  Status walk() {
    const auto last_vp = static_cast<std::int64_t>(geometry_.n) - 1;
    go_to(geometry_.nb_bytes * geometry_.n, {VpRegionKind::nb, 0, 0, -1, 0, last_vp});
    if (geometry_.cb_bytes != 0) {
      go_to(geometry_.cb_begin(), {});
      go_to(geometry_.lattice_end(), {VpRegionKind::cb, 0, 0, -1, 0, last_vp});
    }
    const Status told = tell_superblocks();
    if (!ended_) TW_RETURN_IF_ERROR(told);
    go_to(size_, {});
    return {};
  }

 private:
  // Visits a region like `region`, from the end of the last one to `end`.
  void go_to(std::uint64_t end, VpRegion region) {
    end = std::min(end, size_);
    if (ended_ || end <= at_) return;
    region.offset = at_;
    region.bytes = end - at_;
    at_ = end;
    ended_ = !visit_(region);
  }

  // Where NAME.meta has no IB segment, searches superblocks of a writer that died.
  Status tell_superblocks() {
    if (!geometry_.has_ib()) {
      const auto passed = [this](std::uint64_t at) { return tell_search(at); };
      TW_ASSIGN_OR_RETURN(const auto first, find_superblock(data_, geometry_.lattice_end(), id_, passed));
      if (!first.has_value()) return {};
      geometry_ = first->geometry;
    }
    return each_superblock(data_, geometry_, [this](std::uint64_t number, ByteView image) -> Status {
      if (!format::begins_as_superblock(image)) return tell_search(number * geometry_.superblock_bytes);
      go_to(number * geometry_.superblock_bytes, {});
      TW_RETURN_IF_ERROR(walk_superblock(number, image));
      return go_on();
    });
  }
  Status go_on() const { return ended_ ? Status::error(Code::stopped, "the caller has ended the walk") : Status{}; }

  // Visits a region after each 16 MiB without a superblock, so that the caller can end a long search.
  Status tell_search(std::uint64_t at) {
    constexpr std::uint64_t kSearched = std::uint64_t{1} << 24;
    if (at > at_ && at - at_ >= kSearched) go_to(at, {});
    return go_on();
  }

  Status walk_superblock(std::uint64_t number, ByteView image) {
    auto parsed = format::parse_superblock(image, id_, number, geometry_);
    if (!parsed.has_value()) return parsed.error().with_context(fmt::format("'{}'", data_.path()));
    const format::FillSlot& seal = parsed.value().seal;
    const std::uint64_t begin = number * geometry_.superblock_bytes;
    const auto number_told = static_cast<std::int64_t>(number);
    const VpRegion unused{VpRegionKind::unused, 0, 0, number_told, -1, -1};
    go_to(begin + format::block_offset(geometry_, 0), {VpRegionKind::header, 0, 0, number_told, -1, -1});
    TW_ASSIGN_OR_RETURN(const std::vector<format::SuperblockRow> rows, rows_of(image, seal));
    for (const format::SuperblockRow& row : rows) {
      const auto first = static_cast<std::int64_t>(row.vp);
      go_to(begin + format::block_offset(geometry_, row.first_block), unused);
      go_to(begin + format::block_offset(geometry_, row.first_block + row.all_blocks()),
            {VpRegionKind::blocks, 0, 0, number_told, first, first + row.n - 1});
    }
    go_to(begin + geometry_.superblock_bytes - format::kRowBytes * seal.rows(), unused);
    go_to(begin + geometry_.superblock_bytes, {VpRegionKind::table, 0, 0, number_told, -1, -1});
    return {};
  }

  // The rows with blocks, in the order of their blocks.
  Result<std::vector<format::SuperblockRow>> rows_of(ByteView image, const format::FillSlot& seal) const {
    std::vector<format::SuperblockRow> rows;
    for (std::uint32_t i = 0; i < seal.rows(); ++i) {
      TW_ASSIGN_OR_RETURN(const format::SuperblockRow row, format::parse_row(image, geometry_, seal, i));
      if (row.blocks != 0) rows.push_back(row);
    }
    std::ranges::sort(rows, {}, &format::SuperblockRow::first_block);
    return rows;
  }

  StoredFile& data_;
  const format::FileIdentity id_;
  VpGeometry geometry_;
  std::uint64_t size_;
  const std::function<bool(const VpRegion&)>& visit_;
  std::uint64_t at_ = 0;
  bool ended_ = false;
};

}  // namespace

Status walk_vp_regions(Backend& backend, const std::string& path, const std::function<bool(const VpRegion&)>& visit) {
  TW_ASSIGN_OR_RETURN(const format::VpMeta meta, read_vp_meta(backend, path));
  TW_ASSIGN_OR_RETURN(const auto data, backend.open(path, OpenMode::read));
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data->size());
  return RegionWalk(*data, meta, size, visit).walk();
}

}  // namespace thalweg
