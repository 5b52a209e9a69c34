#include "vpfile/vp_regions.hpp"

#include <algorithm>
#include <vector>

#include "vpfile/superblock_scan.hpp"
#include "vpfile/vp_health.hpp"

namespace thalweg {

namespace {

using format::VpGeometry;

class RegionWalk {
 public:
  RegionWalk(StoredFile& data, const VpGeometry& geometry, std::uint64_t size,
             const std::function<bool(const VpRegion&)>& visit)
      : data_(data), geometry_(geometry), size_(size), visit_(visit) {}

  Status walk(const SuperblockScan& scan) {
    const auto last_vp = static_cast<std::int64_t>(geometry_.n) - 1;
    go_to(geometry_.nb_bytes * geometry_.n, {VpRegionKind::nb, 0, 0, -1, 0, last_vp});
    if (geometry_.cb_bytes != 0) {
      go_to(geometry_.cb_begin(), {});
      go_to(geometry_.lattice_end(), {VpRegionKind::cb, 0, 0, -1, 0, last_vp});
    }
    std::vector<SuperblockScan::Found> found = scan.found();
    std::ranges::sort(found, {}, &SuperblockScan::Found::number);
    for (const SuperblockScan::Found& one : found) {
      if (ended_) break;
      go_to(one.number * geometry_.superblock_bytes, {});
      TW_RETURN_IF_ERROR(walk_superblock(one));
    }
    go_to(size_, {});
    return {};
  }

 private:
  // From where the last region ended to `end` it is like `region`.
  void go_to(std::uint64_t end, VpRegion region) {
    end = std::min(end, size_);
    if (ended_ || end <= at_) return;
    region.offset = at_;
    region.bytes = end - at_;
    at_ = end;
    ended_ = !visit_(region);
  }

  Status walk_superblock(const SuperblockScan::Found& one) {
    const std::uint64_t begin = one.number * geometry_.superblock_bytes;
    const auto number = static_cast<std::int64_t>(one.number);
    const VpRegion unused{VpRegionKind::unused, 0, 0, number, -1, -1};
    go_to(begin + format::block_offset(geometry_, 0), {VpRegionKind::header, 0, 0, number, -1, -1});
    TW_ASSIGN_OR_RETURN(const std::vector<format::SuperblockRow> rows, rows_of(one));
    for (const format::SuperblockRow& row : rows) {
      const auto first = static_cast<std::int64_t>(row.vp);
      go_to(begin + format::block_offset(geometry_, row.first_block), unused);
      go_to(begin + format::block_offset(geometry_, row.first_block + std::uint64_t{row.n} * row.blocks),
            {VpRegionKind::blocks, 0, 0, number, first, first + row.n - 1});
    }
    go_to(begin + geometry_.superblock_bytes - format::kRowBytes * one.seal.rows, unused);
    go_to(begin + geometry_.superblock_bytes, {VpRegionKind::table, 0, 0, number, -1, -1});
    return {};
  }

  // Those with blocks, in the order of these.
  Result<std::vector<format::SuperblockRow>> rows_of(const SuperblockScan::Found& one) {
    image_.assign(geometry_.superblock_bytes, std::byte{0});
    TW_ASSIGN_OR_RETURN(const std::size_t got, data_.read(one.number * geometry_.superblock_bytes, image_));
    static_cast<void>(got);  // what is not there is zero
    std::vector<format::SuperblockRow> rows;
    for (std::uint32_t i = 0; i < one.seal.rows; ++i) {
      TW_ASSIGN_OR_RETURN(const format::SuperblockRow row, format::parse_row(image_, geometry_, one.seal, i));
      if (row.blocks != 0) rows.push_back(row);
    }
    std::ranges::sort(rows, {}, &format::SuperblockRow::first_block);
    return rows;
  }

  StoredFile& data_;
  const VpGeometry& geometry_;
  std::uint64_t size_;
  const std::function<bool(const VpRegion&)>& visit_;
  std::uint64_t at_ = 0;
  bool ended_ = false;
  std::vector<std::byte> image_;
};

}  // namespace

Status walk_vp_regions(Backend& backend, const std::string& path, const std::function<bool(const VpRegion&)>& visit) {
  TW_ASSIGN_OR_RETURN(const format::VpMeta meta, read_vp_meta(backend, path));
  TW_ASSIGN_OR_RETURN(const auto data, backend.open(path, OpenMode::read));
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data->size());
  TW_ASSIGN_OR_RETURN(const auto scan, SuperblockScan::of(*data, meta.id, meta.geometry));
  if (!scan.findings().empty()) return Status::error(Code::corrupt_file, "'" + path + "': " + scan.findings().front());
  const VpGeometry geometry = scan.geometry().has_ib() ? scan.geometry() : meta.geometry;
  return RegionWalk(*data, geometry, size, visit).walk(scan);
}

}  // namespace thalweg
