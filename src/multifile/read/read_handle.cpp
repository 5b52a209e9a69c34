#include "multifile/read/read_handle.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "multifile/read/name_places.hpp"

namespace thalweg {

static std::vector<PlacedRange> without_places(const std::vector<RankRange>& ranges) {
  std::vector<PlacedRange> result;
  result.reserve(ranges.size());
  for (const RankRange& range : ranges) result.push_back({range.first, range.count});
  return result;
}

ReadHandle::ReadHandle(std::shared_ptr<ReadSet> files, const std::vector<RankRange>& served, ReaderSettings settings)
    : files_(std::move(files)),
      served_(without_places(served)),
      settings_(std::move(settings)),
      readers_(settings_.reads_once) {
  settings_.go_on = [set = files_.get()] { return set->may_go_on(); };
  settings_.later = [set = files_.get()](std::uint32_t number) { return set->physical(number); };
}

Status ReadHandle::seek_to(std::uint64_t rank, std::int64_t position) {
  TW_ASSIGN_OR_RETURN(current_, reader(rank));
  if (position >= 0) current_->seek(static_cast<std::uint64_t>(position));
  return {};
}

Result<LogicalReader*> ReadHandle::current_or_first() {
  if (current_ == nullptr) {
    if (served_.count() == 0)
      return Status::error(Code::wrong_mode, "this handle serves no logical file: choose ranks when opening");
    TW_RETURN_IF_ERROR(seek_to(served_.first(), -1));
  }
  return current_;
}

Result<LogicalReader*> ReadHandle::reader(std::uint64_t rank) {
  if (LogicalReader* const found = readers_.find(rank)) return found;
  if (!served_.find(rank))
    return Status::error(Code::not_found,
                         "logical file {} is not served by this handle of '{}', which serves {} of {}, 0 to {}; choose "
                         "ranks when opening",
                         rank, files_->path(), served_.count(), files_->n_logical(), files_->n_logical() - 1);
  return make_reader(rank);
}

Result<LogicalReader*> ReadHandle::make_reader(std::uint64_t rank) {
  const PhysicalReader* physical = nullptr;
  TW_ASSIGN_OR_RETURN(const format::FileEntry file, entry_in(rank, physical));
  TW_ASSIGN_OR_RETURN(auto list, physical->pieces(file, cache_of(*physical), settings_.go_on));
  TW_ASSIGN_OR_RETURN(const PlacedRange at, locate(rank));
  TW_ASSIGN_OR_RETURN(auto reader, LogicalReader::make(*physical, at, file, std::move(list), settings_));
  return readers_.put(rank, std::move(reader), settings_.buffer_bytes, current_);
}

Result<format::FileEntry> ReadHandle::entry_in(std::uint64_t rank, const PhysicalReader*& physical) {
  TW_ASSIGN_OR_RETURN(const PlacedRange at, locate(rank));
  TW_ASSIGN_OR_RETURN(physical, files_->physical(at.physical));
  PageCache& cache = cache_of(*physical);
  if (format::is_added(at.local)) {
    cache.place = physical->index().n_entries - physical->index().n_added + at.slot;
    return physical->file_entry(at.local, cache);
  }
  if (at.local >= physical->header().n_local)
    return files_->first().corrupt(
        fmt::format("the table puts rank {} beyond the logical files of physical file {}", rank, at.physical));
  if (physical->header().mapping == format::Mapping::table) {
    TW_ASSIGN_OR_RETURN(const auto bytes,
                        physical->section_entry(format::SectionKind::ranks, physical->header().ranks_offset, at.local,
                                                sizeof(std::uint64_t), cache));
    if (load_le<std::uint64_t>(bytes) != rank)
      return Status::error(Code::corrupt_file, "'{}' and the table of '{}' do not agree on where logical file {} is",
                           physical->path(), files_->path(), rank);
  }
  return physical->file_entry(at.local, cache);
}

Result<EntryRun> ReadHandle::run_at(std::uint64_t rank) {
  const bool added = rank >= files_->header().n_logical;
  const bool table = !added && files_->header().mapping == format::Mapping::table;
  auto at = locate(rank);
  if (table && at.status().code() == Code::corrupt_file) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t end, files_->end_of_lost_places(rank));
    return EntryRun{std::max(end, rank + 1), false, at.status()};
  }
  TW_RETURN_IF_ERROR(at.status());
  const std::uint64_t end = table ? rank + 1 : rank + at->count;  // in this physical file
  auto physical = files_->physical(at->physical);
  if (is_loss(physical.status().code())) return EntryRun{end, false, physical.status()};
  TW_RETURN_IF_ERROR(physical.status());
  if (table) {
    const Status there = entry(rank).status();
    if (!there.ok() && !is_loss(there.code())) return there;
    return EntryRun{rank + 1, there.ok(), there};
  }
  TW_ASSIGN_OR_RETURN(EntryRun run, (*physical)->run_at(at->local, index_cache_[at->physical]));
  run.end = rank + std::min(run.end - at->local, end - rank);
  return run;
}

Status ReadHandle::each_run(const std::function<Status(std::uint64_t rank, const EntryRun& run)>& visit,
                            const GoOn& go_on) {
  EntryRun run;
  for (std::uint64_t rank = 0, i = 1; rank < files_->n_logical(); rank = run.end, ++i) {
    if (i % kAskEach == 0 && go_on && !go_on()) return files_->first().stopped();
    TW_ASSIGN_OR_RETURN(run, run_at(rank));
    TW_RETURN_IF_ERROR(visit(rank, run));
  }
  return {};
}

Result<std::string> ReadHandle::name(std::uint64_t rank, std::uint32_t& mode) {
  const PhysicalReader* physical = nullptr;
  TW_ASSIGN_OR_RETURN(const format::FileEntry file, entry_in(rank, physical));
  mode = file.mode;
  return physical->name(file, cache_of(*physical));
}

// Added logical files come last, by number; only a table gives the numbered ones ranks in another order.
Result<std::uint64_t> ReadHandle::find(const std::string& wanted) {
  if (!files_->has_name_places()) return find_by_walk(wanted);
  const std::uint32_t hash = crc32c(std::as_bytes(std::span(wanted)));
  const bool table = files_->header().mapping == format::Mapping::table;
  TW_ASSIGN_OR_RETURN(std::uint64_t i, end_of_hash(files_->first(), hash, map_cache_));
  std::optional<std::uint64_t> last;
  for (; i > 0; --i) {
    if (i % kAskEach == 0 && !files_->may_go_on()) return files_->first().stopped();
    TW_ASSIGN_OR_RETURN(const format::NamePlace place, name_place(files_->first(), i - 1, map_cache_));
    if (place.hash != hash || (last && *last >= files_->header().n_logical)) break;
    TW_ASSIGN_OR_RETURN(const std::uint64_t rank,
                        files_->rank_of(place.physical, place.local, index_cache_[place.physical]));
    std::uint32_t mode = 0;
    TW_ASSIGN_OR_RETURN(const std::string found, name(rank, mode));
    if (found == wanted) last = std::max(last.value_or(0), rank);
    if (last && !table) break;
  }
  if (last) return *last;
  return Status::error(Code::not_found, "'{}' has no logical file named {}", files_->path(),
                       format::shown_name(wanted));
}

// Where a recovery made the index.
Result<std::uint64_t> ReadHandle::find_by_walk(const std::string& wanted) {
  EntryRun run;
  Status lost;
  std::optional<std::uint64_t> last;
  for (std::uint64_t rank = 0, n = 1; rank < files_->n_logical(); rank = run.end, ++n) {
    if (n % kAskEach == 0 && !files_->may_go_on())
      return Status::error(Code::stopped, "looking for a name in '{}': stopped by the caller", files_->path());
    TW_ASSIGN_OR_RETURN(run, run_at(rank));
    if (lost.ok()) lost = run.lost;
    if (!run.has_entry) continue;
    TW_ASSIGN_OR_RETURN(const format::FileEntry file, entry(rank));
    if (file.name_bytes != wanted.size() || wanted.empty()) continue;
    std::uint32_t mode = 0;
    TW_ASSIGN_OR_RETURN(const std::string found, name(rank, mode));
    if (found == wanted) last = rank;
  }
  if (last) return *last;
  if (!lost.ok())
    return Status::error(lost.code() == Code::not_found ? Code::corrupt_file : lost.code(),
                         "'{}' has no logical file named {} among those that can be read: {}", files_->path(),
                         format::shown_name(wanted), lost.message());
  return Status::error(Code::not_found, "'{}' has no logical file named {}", files_->path(),
                       format::shown_name(wanted));
}

Result<std::vector<format::PieceEntry>> ReadHandle::pieces(std::uint64_t rank) {
  const PhysicalReader* physical = nullptr;
  TW_ASSIGN_OR_RETURN(const format::FileEntry file, entry_in(rank, physical));
  return physical->pieces(file, cache_of(*physical), settings_.go_on);
}

Result<std::uint64_t> ReadHandle::physical_position(std::uint64_t rank, const format::PieceEntry& piece) {
  if (piece.kind == format::PieceKind::packed) return piece.physical_offset;
  const PhysicalReader* physical = nullptr;
  TW_ASSIGN_OR_RETURN(const format::FileEntry file, entry_in(rank, physical));
  TW_ASSIGN_OR_RETURN(const PlacedRange at, locate(rank));
  TW_ASSIGN_OR_RETURN(const auto reader, LogicalReader::make(*physical, at, file, {}, settings_));
  TW_ASSIGN_OR_RETURN(const format::Frame frame, reader->frame_of(piece));
  return frame.data();
}

Result<const format::Attributes*> ReadHandle::attributes() {
  if (!attributes_) {
    TW_ASSIGN_OR_RETURN(format::Attributes read, files_->first().attributes());
    attributes_ = std::make_unique<format::Attributes>(std::move(read));
  }
  return attributes_.get();
}

}  // namespace thalweg
