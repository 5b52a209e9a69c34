#include "multifile/read/recovery.hpp"

#include <algorithm>

#include "base/endian.hpp"
#include "multifile/read/recovery_merge.hpp"
#include "multifile/read/stored_index.hpp"

namespace thalweg {

namespace {

using format::kPageBytes;

// Whether a page was written as it stands: what it says may be wrong, but it is not missing.
bool is_sealed_page(const PhysicalReader& physical, std::uint64_t offset) {
  std::vector<std::byte> page(kPageBytes);
  if (!read_exactly(physical.file(), offset, page).ok()) return false;
  const auto body = std::span<const std::byte>(page).first(kPageBytes - sizeof(std::uint32_t));
  return load_le<std::uint32_t>(std::span<const std::byte>(page).subspan(body.size())) ==
         format::bound_crc(physical.header().id, offset, body);
}

// What a recovery starts from: the newest index that is whole, which covers the sessions before its end; or what is
// left of one, without end, which covers none.
struct Base {
  SalvagedIndex left;
  std::uint64_t covered_session_offset = 0;  // session page of the last session that it covers
  bool fell_back = false;                    // it is that of before an append
};

// An append that did not get to its end leaves the index of before it.
Result<bool> fall_back(const PhysicalReader& physical, Base& base, const GoOn& go_on) {
  const auto& before = physical.state_before();
  if (!before || before->index_offset == 0 || before->index_offset == physical.state().index_offset) return false;
  auto older = load_index(physical, *before, go_on);
  if (older.status().code() == Code::stopped) return older.error();
  if (!older.has_value()) return false;
  fall_back_on(std::move(older).value(), base.left);
  base.covered_session_offset = before->covered_session_offset;
  base.fell_back = true;
  return true;
}

Result<Base> find_base(const PhysicalReader& physical, Recovery& recovery, const Watch& watch) {
  const format::StateSlot& state = physical.state();
  if (state.session_offset == 0 || state.index_offset == 0) return Base{};
  auto whole = load_index(physical, state, watch.go_on);
  if (whole.status().code() == Code::stopped) return whole.error();
  if (whole.has_value()) return Base{{std::move(whole).value(), 0, 0, {}, 0}, state.covered_session_offset, false};
  Base base;
  TW_ASSIGN_OR_RETURN(base.left, salvage_index(physical, watch.go_on));
  std::string text = whole.error().message();
  if (base.left.lost_pages == 0 && base.left.lost_names == 0) {
    text += "; names, modes and attributes are whole";
  } else {
    recovery.damaged = true;
    text += "; lost: pages of the index with names, modes or attributes: " + std::to_string(base.left.lost_pages) +
            "; names that began or ended there: " + std::to_string(base.left.lost_names);
  }
  TW_ASSIGN_OR_RETURN(const bool fell_back, fall_back(physical, base, watch.go_on));
  if (fell_back) text += "; the index of the session before is whole";
  if (watch.finding) watch.finding(text);
  return base;
}

// A session of a closed file cannot be walked. What is left of the index tells which logical files have lost bytes by
// that; of those whose entries are lost too nobody knows. That is an entry for each of them, so there may not be many
// more than the index can have had.
Status doubt_unknown_files(const PhysicalReader& physical, SalvagedIndex& left, const Watch& watch) {
  constexpr std::uint64_t kFew = 1 << 16;
  std::vector<SalvagedIndex::Told> unknown;
  std::uint64_t n_unknown = 0, end = 0;
  for (const SalvagedIndex::Told& told : left.told) {
    if (told.begin > end) unknown.push_back({end, told.begin});
    end = std::max(end, told.end);
  }
  if (end < physical.header().n_local) unknown.push_back({end, physical.header().n_local});
  for (const SalvagedIndex::Told& range : unknown) n_unknown += range.end - range.begin;
  if (n_unknown > std::max(kFew, left.lost_entries))
    return Status::error(Code::corrupt_file, "'" + physical.file().path() +
                                                 "': a session cannot be read although the " +
                                                 "file was closed, and what is left of its index does not tell which " +
                                                 "of " + std::to_string(n_unknown) + " logical files have lost bytes");
  const std::uint64_t doubted = n_unknown;
  std::vector<RecoveredIndex::File> files;
  auto old = left.index.files.begin();
  const auto keep_until = [&](std::uint64_t local) {
    while (old != left.index.files.end() && old->local < local) files.push_back(*old++);
  };
  for (const SalvagedIndex::Told& range : unknown) {
    keep_until(range.begin);
    for (std::uint64_t local = range.begin; local < range.end; ++local) {
      RecoveredIndex::File file;
      file.local = local;
      if (old != left.index.files.end() && old->local == local) file = *old++;
      file.doubted = true;
      files.push_back(file);
    }
  }
  keep_until(physical.header().n_local);
  left.index.files = std::move(files);
  if (watch.finding)
    watch.finding("'" + physical.file().path() + "': a session cannot be read although the file was closed; " +
                  std::to_string(doubted) + " logical files may have lost bytes by that and are marked damaged");
  return {};
}

// A session page of which parts never reached the storage, or behind which the file ends.
bool never_was_whole(const PhysicalReader& physical, std::uint64_t offset) {
  if (!is_sealed_page(physical, offset)) return true;
  std::vector<std::byte> page(kPageBytes);
  if (!read_exactly(physical.file(), offset, page).ok()) return true;
  return format::parse_session(page, physical.header(), offset, format::kMaxOffset).has_value();
}

struct Sessions {
  std::vector<FoundSession> to_walk;  // oldest first
  bool left_out = false;              // some of those that were begun
};

// The sessions that `base` does not cover. One that never got to the storage whole was not synced: it is left out, and
// those before it are found by what was the state before it, or begin with the first one.
Result<Sessions> find_sessions_behind(const PhysicalReader& physical, const RecoveredIndex& base, const Watch& watch) {
  std::vector<std::uint64_t> newest;
  if (physical.state().session_offset != 0) newest.push_back(physical.state().session_offset);
  if (physical.state_before()) newest.push_back(physical.state_before()->session_offset);
  newest.push_back(physical.header().session_offset);
  Sessions sessions;
  Status failed;
  for (const std::uint64_t last : newest) {
    if (base.end != 0 && last < base.end) return sessions;  // it is covered, as those before it
    std::uint64_t failed_at = last;
    auto found = find_sessions(physical, last, base.end, &failed_at);
    if (found.has_value()) {
      sessions.to_walk = std::move(found).value();
      return sessions;
    }
    failed = found.error();
    if (failed.code() != Code::corrupt_file || !never_was_whole(physical, failed_at)) return failed;
    if (!sessions.left_out && watch.finding) watch.finding(failed.message());
    sessions.left_out = true;
  }
  return failed;
}

// A session that began behind a complete index although the state slot that tells of it is damaged.
void add_untold_session(const PhysicalReader& physical, const RecoveredIndex& base, Sessions& sessions) {
  if (base.end == 0 || !sessions.to_walk.empty() || sessions.left_out) return;
  auto later = read_session(physical, base.end);
  if (later.has_value()) sessions.to_walk.push_back(*later);
}

}  // namespace

Status check_whole_index(const PhysicalReader& physical, const GoOn& go_on) {
  return load_index(physical, physical.state(), go_on).status();
}

Result<Recovery> recover_physical(const PhysicalReader& physical, const std::vector<std::uint64_t>& ranks,
                                  const Watch& watch) {
  Recovery recovery;
  TW_ASSIGN_OR_RETURN(Base start, find_base(physical, recovery, watch));
  const RecoveredIndex& base = start.left.index;
  TW_ASSIGN_OR_RETURN(Sessions sessions, find_sessions_behind(physical, base, watch));
  add_untold_session(physical, base, sessions);
  Scan scan(physical, ranks, watch);
  recovery.session = base.session;
  recovery.session_offset = base.end != 0 ? start.covered_session_offset : physical.header().session_offset;
  for (const FoundSession& session : sessions.to_walk) {
    if (const Status walked = scan.session(session); !walked.ok()) {
      // As with the session page: of a session that was synced everything is there.
      if (walked.code() != Code::corrupt_file || (base.end == 0 && session.page.session == 0)) return walked;
      if (watch.finding) watch.finding(walked.message());
      sessions.left_out = true;
      continue;
    }
    recovery.session = session.page.session;
    recovery.session_offset = session.offset;
  }
  recovery.damaged |= sessions.left_out;  // what was flushed in it, and not synced
  const bool newest_is_whole = base.end != 0 && !start.fell_back;
  if (sessions.left_out && physical.closed() && !newest_is_whole)
    TW_RETURN_IF_ERROR(doubt_unknown_files(physical, start.left, watch));
  merge_pieces(base, scan, recovery);
  recovery.frames_end = std::max(base.end, scan.end());
  const std::uint64_t kept = sessions.left_out ? physical.file_bytes() : 0;  // nobody knows what is in there
  recovery.index.end = format::align_up(std::max({base.end, scan.end(), physical.state().end, kept}), kPageBytes);
  return recovery;
}

}  // namespace thalweg
