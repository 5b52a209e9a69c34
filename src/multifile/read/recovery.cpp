#include "multifile/read/recovery.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "multifile/read/recovery_scan.hpp"
#include "multifile/read/stored_index.hpp"

namespace thalweg {

namespace {

using format::kPageBytes;

// An append that was not closed leaves the index before it.
Status fall_back(const PhysicalReader& physical, SalvagedIndex& left, const GoOn& go_on) {
  const auto& before = physical.state_before();
  if (!before || before->index_offset == 0 || before->index_offset == physical.state().index_offset) return {};
  auto older = load_index(physical, *before, go_on);
  if (!older.has_value()) return older.error().code() == Code::stopped ? older.error() : Status{};
  fall_back_on(std::move(older).value(), left);
  return {};
}

// The index from which a recovery starts: the newest whole one, which covers the sessions before its end, or what is
// left of one, which has no end and covers none.
Result<SalvagedIndex> find_base(const PhysicalReader& physical, Recovery& recovery, const Watch& watch) {
  const format::StateSlot& state = physical.state();
  SalvagedIndex base;
  if (state.session_offset == 0 || state.index_offset == 0) return base;
  auto whole = load_index(physical, state, watch.go_on);
  if (whole.status().code() == Code::stopped) return whole.error();
  if (whole.has_value()) {
    base.index = std::move(whole).value();
    return base;
  }
  TW_ASSIGN_OR_RETURN(base, salvage_index(physical, watch.go_on));
  std::string text = whole.error().message();
  if (base.lost_pages == 0 && base.lost_names == 0) {
    text += "; names, modes and attributes are whole";
  } else {
    recovery.damaged = true;
    text += fmt::format(
        "; lost: pages of the index with names, modes or attributes: {}; names that began or ended there: {}",
        base.lost_pages, base.lost_names);
  }
  TW_RETURN_IF_ERROR(fall_back(physical, base, watch.go_on));
  if (base.fell_back) text += "; the index of the session before is whole";
  if (watch.finding) watch.finding(text);
  return base;
}

// A session of a closed file cannot be walked. What is left of the index shows which logical files have lost bytes by
// that. Those whose entries are lost too are marked as damaged. Each of them takes an entry, so their number is limited
// to what the index can have held.
Status doubt_unknown_files(const PhysicalReader& physical, SalvagedIndex& left, const Watch& watch) {
  constexpr std::uint64_t kFew = 1 << 16;
  std::vector<SalvagedIndex::Range> unknown;
  std::uint64_t n_unknown = 0, end = 0;
  const std::uint64_t n_local = physical.header().n_local;
  const auto note = [&](std::uint64_t begin, std::uint64_t up_to) {
    if (begin < std::min(up_to, n_local)) unknown.push_back({begin, std::min(up_to, n_local)});
    if (begin < up_to && format::is_added(up_to)) left.doubted_numbers.push_back({begin, up_to});
  };
  for (const SalvagedIndex::Range& known : left.known) {
    note(end, known.begin);
    end = std::max(end, known.end);
  }
  note(end, format::kLocalsEnd);
  for (const SalvagedIndex::Range& range : unknown) n_unknown += range.end - range.begin;
  if (n_unknown > std::max(kFew, left.lost_entries))
    return physical.corrupt(fmt::format(
        "a session cannot be read although the file was closed, and what is left of its index does not tell which of "
        "{} logical files have lost bytes",
        n_unknown));
  std::vector<RecoveredIndex::File>& files = left.index.files;
  const std::size_t n_old = files.size();
  for (const SalvagedIndex::Range& range : unknown)
    for (std::uint64_t local = range.begin; local < range.end; ++local) {
      const std::span<RecoveredIndex::File> old(files.data(), n_old);
      const auto found = std::ranges::lower_bound(old, local, {}, &RecoveredIndex::File::local);
      RecoveredIndex::File& file = found != old.end() && found->local == local ? *found : files.emplace_back();
      file.local = local;
      file.doubted = true;
    }
  std::ranges::sort(files, {}, &RecoveredIndex::File::local);
  if (watch.finding && n_unknown > 0)
    watch.finding(
        fmt::format("'{}': a session cannot be read although the file was closed; {} logical files may have lost bytes "
                    "by that and are marked damaged",
                    physical.file().path(), n_unknown));
  return {};
}

// Marks the added logical files whose entries are lost: they may have had more bytes than were found. `numbers` and
// `files` ascend.
void doubt_added(const PhysicalReader& physical, std::span<const SalvagedIndex::Range> numbers,
                 std::vector<RecoveredIndex::File>& files, const Watch& watch) {
  std::uint64_t n = 0;
  for (RecoveredIndex::File& file : files) {
    while (!numbers.empty() && numbers.front().end <= file.local) numbers = numbers.subspan(1);
    if (numbers.empty()) break;
    if (!format::is_added(file.local) || file.local < numbers.front().begin) continue;
    file.entry.flags |= format::kFileDamaged;
    ++n;
  }
  if (n > 0 && watch.finding)
    watch.finding(
        fmt::format("'{}': {} added logical files may have lost bytes and are marked damaged", physical.path(), n));
}

// Whether a session page reached the storage in part only, or lies beyond the end of the file. One with the checksum of
// its writer may still have wrong content.
bool never_was_whole(const PhysicalReader& physical, std::uint64_t offset) {
  std::vector<std::byte> page(kPageBytes);
  return !read_exactly(physical.file(), offset, page).ok() || !format::is_sealed(page, physical.header().id, offset) ||
         format::parse_session(page, physical.header(), offset, format::kMaxOffset).has_value();
}

// The sessions that `base` does not cover, oldest first. One whose page is not whole was never synced and is left out.
// The sessions before it are found by the older state slot, or from the first session on.
Result<std::vector<FoundSession>> find_sessions_behind(const PhysicalReader& physical, const RecoveredIndex& base,
                                                       const Watch& watch, bool& left_out) {
  std::vector<std::uint64_t> newest;
  if (physical.state().session_offset != 0) newest.push_back(physical.state().session_offset);
  if (physical.state_before()) newest.push_back(physical.state_before()->session_offset);
  newest.push_back(physical.header().session_offset);
  Status failed;
  for (const std::uint64_t last : newest) {
    if (base.end != 0 && last < base.end) return std::vector<FoundSession>{};  // covered, with those before it
    std::uint64_t failed_at = last;
    auto found = find_sessions(physical, last, base.end, &failed_at);
    if (found.has_value()) return found;
    failed = found.error();
    if (failed.code() != Code::corrupt_file || !never_was_whole(physical, failed_at)) return failed;
    if (!left_out && watch.finding) watch.finding(failed.message());
    left_out = true;
  }
  return failed;
}

// Collects the pieces in the later physical files. One that is missing is lost where the base index or a frame says that
// it was made; else it was never made, and nothing in it was flushed. Where only frames prove that it existed, the
// recovered index has no end for it.
Status scan_later(const PhysicalReader& physical, const std::vector<FoundSession>& sessions,
                  const OpenLater& open_later, const Watch& watch, Scan& scan, Recovery& recovery) {
  std::vector<std::uint64_t>& ends = recovery.index.later;
  ends.resize(physical.header().n_later);
  for (std::uint32_t k = 1; k <= ends.size(); ++k) {
    std::uint64_t& end = ends[k - 1];
    auto later = open_later(k);
    const Code code = later.status().code();
    if (code != Code::ok && code != Code::not_found && code != Code::corrupt_file) return later.error();
    if (code != Code::ok && end == 0 && !scan.made_later.contains(k)) continue;
    if (code != Code::ok) {
      recovery.damaged = true;
      if (watch.finding) watch.finding(later.status().message() + "; the bytes that were stored in it are lost");
      continue;
    }
    for (std::size_t i = 0; i < sessions.size(); ++i)
      TW_RETURN_IF_ERROR(scan.later(**later, sessions[i], later_limit(sessions, i)));
    end = format::align_up(std::max({end, (*later)->file_bytes(), format::kFirstSection}), kPageBytes);
  }
  return {};
}

}  // namespace

Result<Recovery> recover_physical(const PhysicalReader& physical, const std::vector<std::uint64_t>& ranks,
                                  const OpenLater& open_later, const Watch& watch) {
  Recovery recovery;
  TW_ASSIGN_OR_RETURN(SalvagedIndex start, find_base(physical, recovery, watch));
  const RecoveredIndex& base = start.index;
  bool left_out = false;  // some session was begun and is not walked
  TW_ASSIGN_OR_RETURN(std::vector<FoundSession> sessions, find_sessions_behind(physical, base, watch, left_out));
  if (base.end != 0 && sessions.empty() && !left_out) {  // one behind a complete index may have a damaged state slot
    auto later = read_session(physical, base.end);
    if (later.has_value()) sessions.push_back(*later);
  }
  Scan scan(physical, ranks, watch);
  TW_RETURN_IF_ERROR(scan.sort_ranks());
  recovery.index.session = base.session;
  recovery.index.session_offset = base.end != 0 ? base.session_offset : physical.header().session_offset;
  std::vector<FoundSession> whole;
  for (const FoundSession& session : sessions) {
    if (const Status walked = scan.session(session); !walked.ok()) {
      // A session that was synced is whole; so this one was not.
      if (walked.code() != Code::corrupt_file || (base.end == 0 && session.page.session == 0)) return walked;
      if (watch.finding) watch.finding(walked.message());
      left_out = true;
      continue;
    }
    whole.push_back(session);
    recovery.index.session = session.page.session;
    recovery.index.session_offset = session.offset;
  }
  recovery.index.later = base.later;
  TW_RETURN_IF_ERROR(scan_later(physical, whole, open_later, watch, scan, recovery));
  recovery.damaged |= left_out;  // it may have held flushed bytes
  const bool newest_is_whole = base.end != 0 && !start.fell_back;
  if (left_out && physical.closed() && !newest_is_whole)
    TW_RETURN_IF_ERROR(doubt_unknown_files(physical, start, watch));
  TW_RETURN_IF_ERROR(merge_pieces(physical, base, scan, watch.go_on, recovery));
  doubt_added(physical, start.doubted_numbers, recovery.index.files, watch);
  recovery.refused_packs = std::move(scan.refused_packs);
  recovery.frames_end = std::max(base.end, scan.end());
  const std::uint64_t kept = left_out ? physical.file_bytes() : 0;  // its content is unknown
  recovery.index.end = format::align_up(std::max({base.end, scan.end(), physical.state().end, kept}), kPageBytes);
  return recovery;
}

}  // namespace thalweg
