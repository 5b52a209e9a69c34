#include "vpfile/superblock_scan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace thalweg {

using format::BlockRun;

namespace {

constexpr std::uint64_t kRunsAtOnce = std::uint64_t{1} << 20;
constexpr std::uint64_t kVpsAtOnce = std::uint64_t{1} << 18;
constexpr std::uint64_t kMostLostRuns = std::uint64_t{1} << 16;  // of a gap

// Puts a run over what is there: the later one holds.
void put_over(std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>>& all, std::uint64_t index,
              std::uint64_t blocks, std::uint64_t address) {
  const std::uint64_t end = index + blocks;
  auto at = all.lower_bound(index);
  if (at != all.begin()) {
    auto before = std::prev(at);
    const std::uint64_t before_end = before->first + before->second.first;
    if (before_end > index) {
      if (before_end > end)
        all.emplace(end, std::pair(before_end - end, before->second.second + (end - before->first)));
      before->second.first = index - before->first;
    }
  }
  for (at = all.lower_bound(index); at != all.end() && at->first < end;) {
    const std::uint64_t its_end = at->first + at->second.first;
    if (its_end > end) all.emplace(end, std::pair(its_end - end, at->second.second + (end - at->first)));
    at = all.erase(at);
  }
  all.emplace(index, std::pair(blocks, address));
}

}  // namespace

Status SuperblockScan::read_image(std::uint64_t number, std::vector<std::byte>& image) const {
  image.resize(geometry_.superblock_bytes);
  TW_ASSIGN_OR_RETURN(const std::size_t got, data_->read(number * geometry_.superblock_bytes, image));
  std::fill(image.begin() + static_cast<std::ptrdiff_t>(got), image.end(), std::byte{0});
  return {};
}

// The first superblock tells how large all are: until then they may begin at any multiple of the least.
Status SuperblockScan::find_layout(std::uint64_t from, const std::optional<format::VpIdentity>& id) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data_->size());
  std::vector<std::byte> header(format::kSuperblockHeader);
  for (std::uint64_t at = from / format::kLeastSuperblock * format::kLeastSuperblock; at < size;) {
    TW_ASSIGN_OR_RETURN(const std::size_t got, data_->read(at, header));
    const auto parsed = format::parse_superblock_header(std::span(header).first(got));
    const bool fits = parsed.has_value() && (!id.has_value() || parsed.value().id == *id) &&
                      parsed.value().number * parsed.value().geometry.superblock_bytes == at;
    if (fits) {
      geometry_ = parsed.value().geometry;
      id_ = parsed.value().id;
      return {};
    }
    TW_ASSIGN_OR_RETURN(const std::uint64_t next, data_->next_data(at + format::kLeastSuperblock));
    at = std::max(next / format::kLeastSuperblock * format::kLeastSuperblock, at + format::kLeastSuperblock);
  }
  return {};
}

Status SuperblockScan::look_at(std::uint64_t number) {
  std::vector<std::byte> image;
  TW_RETURN_IF_ERROR(read_image(number, image));
  if (!format::begins_as_superblock(image)) return {};
  const auto parsed = format::parse_superblock(image, id_, number, geometry_);
  end_ = std::max(end_, number + 1);
  if (!parsed.has_value()) {
    lost_.push_back(number);
    findings_.push_back(parsed.error().message());
    return {};
  }
  const format::ParsedSuperblock& block = parsed.value();
  found_.push_back({number, block.header.session, block.seal, block.blocks});
  take_rows(image, found_.back());
  if (block.blocks == format::Wholeness::damaged)
    findings_.push_back("superblock " + std::to_string(number) + ": the checksum of its blocks does not match");
  return {};
}

// Rows without blocks tell of any number of VPs, and have no runs.
void SuperblockScan::take_rows(ByteView image, Found& found) {
  found.first_vp = geometry_.n;
  for (std::uint32_t i = 0; i < found.seal.rows; ++i) {
    const auto row = format::parse_row(image, geometry_, found.seal, i);
    // One that is none may be anybody's: who asks for chains hears of it.
    const std::uint64_t begin = row.has_value() ? row.value().vp : 0;
    const std::uint64_t end = row.has_value() ? begin + row.value().n : geometry_.n;
    if (row.has_value() && row.value().blocks != 0) runs_ += row.value().n;
    found.first_vp = std::min(found.first_vp, begin);
    found.end_vp = std::max(found.end_vp, end);
    ++named_[begin / stretch()];
    --named_[(end - 1) / stretch() + 1];
  }
}

Result<SuperblockScan> SuperblockScan::of(StoredFile& data, const std::optional<format::VpIdentity>& id,
                                          const format::VpGeometry& geometry) {
  SuperblockScan scan(data);
  scan.geometry_ = geometry;
  if (id.has_value()) scan.id_ = *id;
  if (!geometry.has_ib()) TW_RETURN_IF_ERROR(scan.find_layout(geometry.lattice_end(), id));
  if (!scan.geometry_.has_ib()) return scan;
  scan.named_.assign(kStretches + 1, 0);
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data.size());
  const std::uint64_t bytes = scan.geometry_.superblock_bytes;
  for (std::uint64_t number = scan.geometry_.first_superblock; number * bytes < size;) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t next, data.next_data(number * bytes));
    number = std::max(number, next / bytes);
    if (number * bytes >= size) break;
    TW_RETURN_IF_ERROR(scan.look_at(number));
    ++number;
  }
  std::partial_sum(scan.named_.begin(), scan.named_.end(), scan.named_.begin());
  std::ranges::sort(scan.found_, [](const Found& a, const Found& b) {
    return a.session != b.session ? a.session < b.session : a.number < b.number;
  });
  return scan;
}

std::uint64_t SuperblockScan::chunk() const {
  const std::uint64_t parts = runs_ / kRunsAtOnce + 1;
  return std::min((geometry_.n + parts - 1) / parts, kVpsAtOnce);
}

std::uint64_t SuperblockScan::next_named(std::uint64_t vp) const {
  for (; vp < geometry_.n; vp = (vp / stretch() + 1) * stretch())
    if (!named_.empty() && named_[vp / stretch()] != 0) return vp;
  return geometry_.n;
}

// Later ones of `placed` hide earlier ones. What no table tells is a hole; or, where a table was lost, blocks of that
// superblock, so that who reads them hears of the damage, unless there are so many that most must be a hole.
void SuperblockScan::join(std::vector<Placed>& placed, VpChain& chain) const {
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> all;
  for (const Placed& one : placed) put_over(all, one.index, one.blocks, one.address);
  const std::uint64_t per_superblock = geometry_.superblock_bytes / geometry_.block_bytes;
  const std::uint64_t end = (chain.bytes + geometry_.block_bytes - 1) / geometry_.block_bytes;
  std::uint64_t next = 0;
  const auto add_gap = [&](std::uint64_t blocks) {
    chain.damaged = chain.damaged || !lost_.empty();
    const std::uint64_t most_lost = std::min(format::kMostRun, per_superblock - geometry_.header_blocks());
    const bool hole = lost_.empty() || blocks / most_lost > kMostLostRuns;
    const std::uint64_t most = hole ? format::kMostHole : most_lost;
    const std::uint64_t address = hole ? 0 : lost_[0] * per_superblock + geometry_.header_blocks();
    for (; blocks > 0; blocks -= std::min(blocks, most)) chain.runs.push_back({address, std::min(blocks, most)});
  };
  for (const auto& [index, run] : all) {
    if (index >= end) break;
    if (index > next) add_gap(index - next);
    std::uint64_t left = std::min(run.first, end - index);
    for (std::uint64_t address = run.second; left > 0;) {
      const std::uint64_t part = std::min(left, format::kMostRun);
      chain.runs.push_back({address, part});
      address += part;
      left -= part;
    }
    next = std::min(index + run.first, end);
  }
  if (next < end) add_gap(end - next);
}

Result<std::vector<VpChain>> SuperblockScan::chains(std::uint64_t begin, std::uint64_t end) const {
  std::vector<VpChain> chains(end - begin);
  std::vector<std::vector<Placed>> placed(end - begin);
  std::vector<std::byte> image;
  const std::uint64_t per_superblock = geometry_.superblock_bytes / std::max(geometry_.block_bytes, 1U);
  for (const Found& one : found_) {
    if (one.end_vp <= begin || one.first_vp >= end) continue;
    TW_RETURN_IF_ERROR(read_image(one.number, image));
    for (std::uint32_t i = 0; i < one.seal.rows; ++i) {
      TW_ASSIGN_OR_RETURN(const auto row, format::parse_row(image, geometry_, one.seal, i));
      const std::uint64_t from = std::max(row.vp, begin);
      const std::uint64_t to = std::min<std::uint64_t>(row.vp + row.n, end);
      for (std::uint64_t vp = from; vp < to; ++vp) {
        VpChain& chain = chains[vp - begin];
        chain.bytes = std::max(chain.bytes, row.index * geometry_.block_bytes + row.bytes);
        if (row.blocks == 0) continue;
        chain.damaged = chain.damaged || one.blocks == format::Wholeness::damaged;
        const std::uint64_t first = row.first_block + (vp - row.vp) * row.blocks;
        placed[vp - begin].push_back(
            {row.index, row.blocks, one.number * per_superblock + geometry_.header_blocks() + first});
      }
    }
  }
  for (std::uint64_t vp = 0; vp < chains.size(); ++vp) join(placed[vp], chains[vp]);
  return chains;
}

}  // namespace thalweg
