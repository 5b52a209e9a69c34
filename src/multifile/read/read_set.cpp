#include "multifile/read/read_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/endian.hpp"
#include "base/shell_word.hpp"
#include "base/sorted_runs.hpp"
#include "formats/known_file.hpp"
#include "multifile/read/added_runs.hpp"
#include "multifile/read/stored_index.hpp"

namespace thalweg {

Status ReadSet::open() {
  const std::lock_guard lock(mutex_);
  if (!opened_) open_status_ = physical(0).status();
  if (!opened_ && open_status_.ok() && unclosed_ != Unclosed::inspect) open_status_ = load_added();
  opened_ = true;
  return open_status_;
}

// A recovery takes the runs of the index from which it started, and what the physical files have beside them.
Status ReadSet::load_added() {
  std::vector<format::AddedRun> runs;
  if (const RecoveredIndex* const recovered = first_->recovered()) {
    runs = recovered->added;
    for (std::uint32_t k = 0; k < header().n_physical; ++k) {
      if (!may_go_on()) return first_->stopped();
      auto there = physical(k);
      if (is_loss(there.status().code())) continue;
      TW_RETURN_IF_ERROR(there.status());
      TW_ASSIGN_OR_RETURN(const auto own, own_added(**there, watch_.go_on));
      runs.insert(runs.end(), own.begin(), own.end());
    }
    runs = joined_runs(std::move(runs));
  } else {
    TW_ASSIGN_OR_RETURN(runs, stored_added_runs(*first_, first_->index(), watch_.go_on));
  }
  mapping_.added = ranked(runs, header().n_logical);
  return {};
}

// Reads which logical files lie in which physical file. The numbers are checked before a recovery uses them.
Status ReadSet::use_as_first(PhysicalReader& physical) {
  first_ = &physical;
  const format::FileHeader& h = header();
  mapping_.kind = h.mapping;
  if (h.mapping != format::Mapping::consecutive) return {};
  std::vector<std::uint64_t>& bounds = mapping_.bounds;
  TW_ASSIGN_OR_RETURN(bounds, physical.numbers(format::SectionKind::bounds, h.map_offset,
                                               std::uint64_t{h.n_physical} + 1, watch_.go_on));
  if (bounds.front() != 0 || bounds.back() != h.n_logical || !std::ranges::is_sorted(bounds))
    return physical.corrupt(fmt::format("the bounds of its physical files do not ascend from 0 to {}", h.n_logical));
  return check_member(physical);
}

// Names the format of a refused file that is no multifile.
static Status named_by_format(Backend& backend, const std::string& path, const Status& refused) {
  if (refused.code() != Code::corrupt_file) return refused;
  const auto found = format_of(backend, path);
  if (!found.has_value()) return refused;
  return check_looks_like(path, found.value(), format::KnownFormat::multifile).or_else(refused);
}

// Where other nodes may have made the file longer, it need not be truncated.
Status ReadSet::readable(PhysicalReader& physical) const {
  const Status& status = physical.readable();
  if (!of_nodes_ || !physical.closed() || physical.file_bytes() >= physical.state().end) return status;
  TW_ASSIGN_OR_RETURN(const StorageInfo storage, backend_->describe_open(physical.file()));
  if (storage.is_coherent) return status;
  return Status::error(Code::corrupt_file,
                       "'{}': this node sees {} bytes of it, its header tells of {}; its mount may keep an old size "
                       "(FUSE: mount without writeback_cache; sshfs: with -o cache=no), or {} brings back what is left",
                       physical.path(), physical.file_bytes(), physical.state().end, repair_command(path_));
}

Result<std::unique_ptr<PhysicalReader>> ReadSet::open_physical(std::uint32_t number) {
  const std::string name = format::physical_name(path_, number);
  auto stored = backend_->open(name, OpenMode::read);
  if (stored.status().code() == Code::not_found && first_ != nullptr && number >= header().n_physical)
    return Status::error(Code::not_found,
                         "'{}' is missing: it was made for '{}', and what lies in it cannot be read without it", name,
                         path_);
  TW_RETURN_IF_ERROR(stored.status());
  // Once: it may wait for a second, and opening alone makes this node ask the servers for the other files.
  if (of_nodes_ && number == 0) TW_RETURN_IF_ERROR(stored.value()->forget_cached());
  auto opened = PhysicalReader::open(std::move(stored).value(), number);
  if (!opened.has_value()) return named_by_format(*backend_, name, opened.error());
  std::unique_ptr<PhysicalReader> physical = std::move(opened).value();
  if (number != 0) TW_RETURN_IF_ERROR(check_member(*physical));
  if (physical->header().is_later()) return physical;
  if (own_session_.load(std::memory_order_relaxed) && physical->readable().code() == Code::not_closed)
    TW_RETURN_IF_ERROR(physical->use_index_before_session());
  if (unclosed_ == Unclosed::refuse) TW_RETURN_IF_ERROR(readable(*physical));
  if (number == 0) TW_RETURN_IF_ERROR(use_as_first(*physical));
  bool whole = physical->readable().ok();
  if (whole && unclosed_ != Unclosed::refuse) {
    const Status index = load_index(*physical, physical->state(), watch_.go_on).status();
    if (index.code() == Code::stopped) return index;
    whole = index.ok();
  }
  if (unclosed_ == Unclosed::recover && !whole) TW_RETURN_IF_ERROR(recover(*physical));
  return physical;
}

Result<std::uint64_t> ReadSet::bytes_left_behind(std::uint32_t later) const {
  auto file = backend_->open(format::physical_name(path_, later), OpenMode::read);
  if (file.status().code() == Code::not_found) return std::uint64_t{0};
  TW_RETURN_IF_ERROR(file.status());
  std::array<std::byte, format::kHeaderBytes> found{};
  TW_RETURN_IF_ERROR((*file)->read(0, found).status());
  if (format::all_zero(found) || found == format::encode_header(format::later_header(header(), later)))
    return (*file)->size();
  return Status::error(Code::unsafe,
                       "appending to '{}': '{}' exists and is no part of it; it is left as it is: move it away", path_,
                       (*file)->path());
}

Status ReadSet::recover(PhysicalReader& physical) {
  const auto open_later = [this](std::uint32_t number) { return this->physical(number); };
  TW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> rank_list, ranks(physical));
  TW_ASSIGN_OR_RETURN(Recovery recovery, recover_physical(physical, rank_list, open_later, watch_));
  physical.use(std::move(recovery.index));
  return {};
}

Status ReadSet::check_member(const PhysicalReader& physical) const {
  const format::FileHeader& a = header();
  const format::FileHeader& b = physical.header();
  const std::uint32_t k = b.id.physical;
  const bool same_set = a.id.uuid == b.id.uuid && a.n_logical == b.n_logical && a.n_physical == b.n_physical &&
                        a.n_later == b.n_later && a.mapping == b.mapping && a.checksum == b.checksum &&
                        a.granule == b.granule && a.alignment == b.alignment;
  const std::vector<std::uint64_t>& bounds = mapping_.bounds;
  const bool same_share = a.mapping == format::Mapping::table || b.is_later() ||
                          (b.first_rank == bounds[k] && b.n_local == bounds[k + 1] - bounds[k]);
  if (same_set && same_share) return {};
  return Status::error(Code::corrupt_file, "'{}' belongs to another multifile than '{}'", physical.path(), path_);
}

Result<PhysicalReader*> ReadSet::physical(std::uint32_t number) {
  return readers_.get_or_make(number, [&] { return open_physical(number); });
}

Result<PlacedRange> ReadSet::locate(std::uint64_t rank, PageCache& cache_of_first) const {
  const format::FileHeader& h = header();
  if (rank >= n_logical())
    return Status::error(Code::not_found, "'{}' has logical files 0 .. {}-1; there is none of rank {}", path_,
                         n_logical(), rank);
  if (rank >= h.n_logical) return mapping_.by_added(rank, n_logical());
  if (h.mapping == format::Mapping::consecutive) return mapping_.by_bounds(rank, h.n_logical);
  TW_ASSIGN_OR_RETURN(const auto entry,
                      first_->section_entry(format::SectionKind::table, h.map_offset, rank, 8, cache_of_first));
  const PlacedRange found{rank, 1, load_le<std::uint32_t>(entry.subspan(4)), load_le<std::uint32_t>(entry)};
  if (found.physical < h.n_physical) return found;
  return first_->corrupt(
      fmt::format("the table puts rank {} into physical file {} of {}", rank, found.physical, h.n_physical));
}

const PlacedRange* ReadSet::run_of(std::uint32_t number, std::uint64_t local) const {
  const auto above = std::ranges::upper_bound(mapping_.added, local, {}, &PlacedRange::local);
  if (above == mapping_.added.begin()) return nullptr;
  const PlacedRange& run = *std::prev(above);
  return local - run.local < run.count && run.physical == number ? &run : nullptr;
}

Result<std::uint64_t> ReadSet::rank_of(std::uint32_t number, std::uint64_t local, PageCache& cache) {
  if (format::is_added(local)) {
    if (const PlacedRange* const run = run_of(number, local)) return run->first + (local - run->local);
    return first_->corrupt(
        fmt::format("no run of added logical files of physical file {} holds number {}", number, local));
  }
  TW_ASSIGN_OR_RETURN(const PhysicalReader* there, physical(number));
  const format::FileHeader& h = there->header();
  if (local >= h.n_local) return there->corrupt(fmt::format("has no local logical file {}", local));
  if (h.mapping == format::Mapping::consecutive) return h.first_rank + local;
  TW_ASSIGN_OR_RETURN(const auto rank, there->section_entry(format::SectionKind::ranks, h.ranks_offset, local,
                                                            sizeof(std::uint64_t), cache));
  return load_le<std::uint64_t>(rank);
}

Result<std::uint64_t> ReadSet::end_of_lost_places(std::uint64_t rank) const {
  constexpr std::uint64_t kPerPage = format::kPagePayload / sizeof(std::uint64_t);
  const std::uint64_t n = header().n_logical;
  TW_ASSIGN_OR_RETURN(const std::uint64_t page, first_->next_page(header().map_offset, rank / kPerPage + 1,
                                                                  format::section_pages(n, sizeof(std::uint64_t))));
  return std::min(n, page * kPerPage);
}

Result<std::vector<std::uint64_t>> ReadSet::ranks(const PhysicalReader& physical) const {
  const format::FileHeader& h = physical.header();
  if (h.mapping == format::Mapping::consecutive || h.n_local == 0) return std::vector<std::uint64_t>{};
  TW_ASSIGN_OR_RETURN(std::vector<std::uint64_t> result,
                      physical.numbers(format::SectionKind::ranks, h.ranks_offset, h.n_local, watch_.go_on));
  std::vector<std::uint64_t> copy = result;
  SortedRuns<std::uint64_t> sorted;
  Steps steps(watch_.go_on);
  sorted.add_all(copy, steps);
  bool twice = false;
  std::uint64_t last = UINT64_MAX;
  for (const std::uint64_t* rank = sorted.next(); rank != nullptr && steps.go_on(); rank = sorted.next()) {
    twice = twice || *rank == last;
    last = *rank;
  }
  if (steps.stopped()) return physical.stopped();
  if (!twice && last < h.n_logical) return result;
  return physical.corrupt(std::string("its section of ranks has ") +
                          (twice ? "a rank twice" : "ranks beyond the last one"));
}

}  // namespace thalweg
