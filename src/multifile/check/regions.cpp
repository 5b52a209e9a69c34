#include "multifile/check/regions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/sorted_runs.hpp"
#include "multifile/read/slab_walk.hpp"
#include "multifile/read/stored_index.hpp"

namespace thalweg {

namespace {

// Bytes in use of each chunk, by the later physical file in which it lies, or 0, and the offset of its frame.
using Fills = std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t>;

Result<std::vector<FoundSession>> all_sessions(const PhysicalReader& physical) {
  const std::uint64_t last =
      physical.state().session_offset != 0 ? physical.state().session_offset : physical.header().session_offset;
  return find_sessions(physical, last);
}

class PhysicalRegions {
 public:
  PhysicalRegions(ReadSet& files, const PhysicalReader& physical, const GoOn& go_on)
      : files_(files), physical_(physical), go_on_(go_on) {}

  Result<std::vector<Region>> collect(Fills& fills) {
    TW_RETURN_IF_ERROR(load_fills(fills));
    fills_ = &fills;
    TW_ASSIGN_OR_RETURN(const auto sessions, all_sessions(physical_));
    add(RegionKind::header, 0, sessions.front().offset);
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      TW_RETURN_IF_ERROR(add_session(sessions[i]));
      const bool is_last = i + 1 == sessions.size();
      const std::uint64_t last_end = physical_.closed() ? physical_.state().end : physical_.file_bytes();
      const std::uint64_t end = is_last ? last_end : sessions[i + 1].offset;
      if (sessions[i].limit < end) add(RegionKind::index, sessions[i].limit, end - sessions[i].limit);
    }
    return fill_gaps();
  }

  // The file is a later one; `sessions` and `fills` are those of the first one.
  Result<std::vector<Region>> collect_later(const std::vector<FoundSession>& sessions, const Fills& fills) {
    fills_ = &fills;
    add(RegionKind::header, 0, format::kFirstSection);
    for (std::size_t i = 0; i < sessions.size(); ++i)
      TW_RETURN_IF_ERROR(walk([&](const auto& visit, const auto& damage) {
        return walk_later(physical_, sessions[i].page, later_limit(sessions, i), visit, damage, go_on_);
      }));
    return fill_gaps();
  }

 private:
  void add(RegionKind kind, std::uint64_t offset, std::uint64_t bytes, std::int64_t rank = -1) {
    if (bytes > 0) regions_.push_back({kind, physical_.header().id.physical, offset, bytes, rank});
  }

  Status load_fills(Fills& fills) const {
    TW_RETURN_IF_ERROR(check_piece_ranges(physical_, go_on_));
    PageCache cache;
    const auto add = [&](std::uint64_t, Result<format::FileEntry> entry) -> Status {
      TW_RETURN_IF_ERROR(entry.status());
      TW_ASSIGN_OR_RETURN(const auto pieces, physical_.pieces(*entry, cache, go_on_));
      for (const format::PieceEntry& piece : pieces)
        if (piece.kind == format::PieceKind::chunk) fills[{piece.later, piece.physical_offset}] = piece.stored_bytes;
      return {};
    };
    return physical_.each_entry(add, go_on_);
  }

  Status add_session(const FoundSession& session) {
    add(RegionKind::header, session.offset, session.page.data_start - session.offset);
    return walk(
        [&](const auto& visit, const auto& damage) { return walk_session(physical_, session, visit, damage, go_on_); });
  }

  template <class Walk>
  Status walk(Walk&& walk_frames) {
    std::uint64_t damaged = 0;
    const auto visit = [this](const format::Frame& frame) { return add_frame(frame); };
    const auto damage = [&damaged](std::uint64_t offset) { damaged = damaged == 0 ? offset : damaged; };
    TW_RETURN_IF_ERROR(walk_frames(visit, damage));
    if (damaged == 0) return {};
    return physical_.corrupt(fmt::format("the frame at offset {} is damaged", damaged));
  }

  Status add_frame(const format::Frame& frame) {
    if (++n_frames_ % kAskEach == 0 && go_on_ && !go_on_()) return physical_.stopped();
    if (frame.kind == format::FrameKind::pack) return add_pack(frame);
    if (frame.kind != format::FrameKind::chunk) {
      add(RegionKind::tail, frame.offset, frame.extent);
      return {};
    }
    const std::int64_t rank = rank_of(frame.rank);
    const auto fill = fills_->find({index_physical() == number() ? 0 : number(), frame.offset});
    const std::uint64_t bytes = fill == fills_->end() ? 0 : std::min(fill->second, frame.capacity());
    add(RegionKind::frame, frame.offset, frame.data_offset, rank);
    add(RegionKind::data, frame.data(), bytes, rank);
    add(RegionKind::tail, frame.data() + bytes, frame.capacity() - bytes, rank);
    return {};
  }

  // The rank of a frame or directory entry; -1 for an added logical file that a repair did not keep.
  std::int64_t rank_of(std::uint64_t number) const {
    if (!format::is_added(number)) return static_cast<std::int64_t>(number);
    PageCache unused;
    auto rank = files_.rank_of(index_physical(), number, unused);
    return rank.has_value() ? static_cast<std::int64_t>(*rank) : -1;
  }

  Status add_pack(const format::Frame& frame) {
    TW_ASSIGN_OR_RETURN(const auto entries, read_directory(physical_, frame));
    add(RegionKind::frame, frame.offset, frame.data_offset);
    std::uint64_t at = frame.data();
    for (const format::DirectoryEntry& entry : entries) {
      const bool is_name = entry.codec == format::Codec::name;
      add(is_name ? RegionKind::frame : RegionKind::data, at, entry.stored_bytes, is_name ? -1 : rank_of(entry.rank));
      at += entry.stored_bytes;
    }
    add(RegionKind::tail, at, frame.end() - at);
    return {};
  }

  // Frames come domain by domain.
  Result<std::vector<Region>> fill_gaps() {
    SortedRuns<Region> sorted;
    Steps steps(go_on_);
    sorted.add_all(regions_, steps);
    std::vector<Region> all;
    std::uint64_t at = 0;
    const auto hole_until = [&](std::uint64_t end) {
      if (end > at) all.push_back({RegionKind::hole, physical_.header().id.physical, at, end - at, -1});
      at = std::max(at, end);
    };
    for (const Region* next = sorted.next(); next != nullptr && steps.go_on(); next = sorted.next()) {
      Region region = *next;
      if (region.offset >= physical_.file_bytes()) break;
      hole_until(region.offset);
      region.bytes = std::min(region.offset + region.bytes, physical_.file_bytes()) - region.offset;
      if (region.offset < at) continue;  // overlap: only in a damaged file
      all.push_back(region);
      at = region.offset + region.bytes;
    }
    if (steps.stopped()) return physical_.stopped();
    hole_until(physical_.file_bytes());
    return all;
  }

  std::uint32_t number() const { return physical_.header().id.physical; }
  // The physical file whose index names what lies here.
  std::uint32_t index_physical() const { return physical_.header().is_later() ? 0 : number(); }

  ReadSet& files_;
  const PhysicalReader& physical_;
  const GoOn& go_on_;
  const Fills* fills_ = nullptr;
  std::vector<Region> regions_;
  std::uint64_t n_frames_ = 0;
};

}  // namespace

Status walk_regions(ReadSet& files, const std::function<bool(const Region&)>& visit) {
  const GoOn go_on = [&files] { return files.may_go_on(); };
  const auto visit_all = [&visit](const std::vector<Region>& regions) { return std::ranges::all_of(regions, visit); };
  Fills fills;
  for (std::uint32_t k = 0; k < files.header().n_physical; ++k) {
    TW_ASSIGN_OR_RETURN(const PhysicalReader* physical, files.physical(k));
    PhysicalRegions collector(files, *physical, go_on);
    fills.clear();
    TW_ASSIGN_OR_RETURN(const std::vector<Region> regions, collector.collect(fills));
    if (!visit_all(regions)) return {};
  }
  TW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> ends, later_ends(files.first()));
  if (ends.empty()) return {};
  TW_ASSIGN_OR_RETURN(const std::vector<FoundSession> sessions, all_sessions(files.first()));
  for (std::uint32_t k = 1; k <= ends.size(); ++k) {
    if (ends[k - 1] == 0) continue;
    TW_ASSIGN_OR_RETURN(const PhysicalReader* physical, files.physical(k));
    PhysicalRegions collector(files, *physical, go_on);
    TW_ASSIGN_OR_RETURN(const std::vector<Region> regions, collector.collect_later(sessions, fills));
    if (!visit_all(regions)) return {};
  }
  return {};
}

}  // namespace thalweg
