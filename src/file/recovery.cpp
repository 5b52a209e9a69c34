#include "file/recovery.hpp"

#include <algorithm>

#include "base/endian.hpp"
#include "file/recovery_merge.hpp"
#include "file/stored_index.hpp"

namespace thalweg {

namespace {

using format::kPageBytes;

// Whether a page was written as it stands: what it says may be wrong, but it is not missing.
bool is_sealed_page(const Part& part, std::uint64_t offset) {
  std::vector<std::byte> page(kPageBytes);
  if (!read_exactly(part.file(), offset, page).ok()) return false;
  const auto body = std::span<const std::byte>(page).first(kPageBytes - sizeof(std::uint32_t));
  return load_le<std::uint32_t>(std::span<const std::byte>(page).subspan(body.size())) ==
         format::bound_crc(part.header().id, offset, body);
}

// The index that covers the sessions before its end; or what is left of it, without end, which covers none.
Result<SalvagedIndex> base_index(const Part& part, Recovery& recovery, const RecoveryWatch& watch) {
  if (part.state().session_offset == 0 || part.state().index_offset == 0) return SalvagedIndex{};
  auto whole = load_index(part);
  if (whole.has_value()) return SalvagedIndex{std::move(whole).value(), 0, 0, {}};
  TW_ASSIGN_OR_RETURN(SalvagedIndex left, salvage_index(part));
  std::string text = whole.error().message();
  if (left.lost_pages == 0 && left.lost_names == 0) {
    text += "; names, modes and attributes are whole";
  } else {
    recovery.damaged = true;
    text += "; lost: pages of the index with names, modes or attributes: " + std::to_string(left.lost_pages) +
            "; names that began or ended there: " + std::to_string(left.lost_names);
  }
  if (watch.finding) watch.finding(text);
  return left;
}

// A session of a closed file cannot be walked. What is left of the index tells which logical files have lost bytes by
// that; of those whose entries are lost too nobody knows.
void doubt_unknown_files(const SalvagedIndex& left, const Part& part, Recovery& recovery, const RecoveryWatch& watch) {
  std::uint64_t doubted = 0;
  std::vector<RecoveredIndex::File> files;
  auto old = recovery.index.files.begin();
  const std::uint64_t known = std::min(part.header().n_local, left.file_pages.size() * kFileEntriesPerPage);
  for (std::uint64_t local = 0; local < known; ++local) {
    RecoveredIndex::File file;
    file.local = local;
    const bool found = old != recovery.index.files.end() && old->local == local;
    if (found) file = *old++;
    const bool doubt = !left.file_pages[local / kFileEntriesPerPage];
    if (doubt && (file.entry.flags & format::kFileDamaged) == 0) ++doubted;
    if (doubt) file.entry.flags |= format::kFileDamaged;
    if (found || doubt) files.push_back(file);
  }
  files.insert(files.end(), old, recovery.index.files.end());
  recovery.index.files = std::move(files);
  recovery.damaged = true;
  recovery.damaged_logical += doubted;
  if (watch.finding)
    watch.finding("'" + part.file().path() + "': a session cannot be read although the file was closed; " +
                  std::to_string(doubted) + " logical files may have lost bytes by that and are marked damaged");
}

// The sessions whose frames must be walked, oldest first; `base` is the index that covers those before them.
Result<std::vector<FoundSession>> sessions_to_walk(const Part& part, const RecoveredIndex& base, bool& lost_session,
                                                   const RecoveryWatch& watch) {
  const bool has_state = part.state().session_offset != 0;
  const std::uint64_t last = has_state ? part.state().session_offset : part.header().session_offset;
  const auto newest = read_session(part, last);
  if (!newest.has_value() && !is_sealed_page(part, last)) {
    // A session page that never reached the storage: then nothing of that session did, or at least none of it was
    // synced.
    if (watch.finding) watch.finding(newest.error().message());
    if (base.end != 0) return std::vector<FoundSession>{};
    lost_session = true;
    return find_sessions(part, part.header().session_offset);
  }
  TW_ASSIGN_OR_RETURN(std::vector<FoundSession> sessions, find_sessions(part, last));
  if (base.end != 0) {
    // The index covers all sessions but an open one.
    std::erase_if(sessions, [&](const FoundSession& s) { return s.offset < base.end; });
  }
  // A session that began behind a complete index although the state slot that tells of it is damaged.
  const std::uint64_t behind = base.end;
  if (behind != 0 && (sessions.empty() || sessions.back().offset < behind)) {
    auto later = read_session(part, behind);
    if (later.has_value()) sessions.push_back(*later);
  }
  return sessions;
}

}  // namespace

Status check_whole_index(const Part& part) { return load_index(part).status(); }

Result<Recovery> recover_part(const Part& part, const std::vector<std::uint64_t>& ranks, const RecoveryWatch& watch) {
  Recovery recovery;
  TW_ASSIGN_OR_RETURN(const SalvagedIndex left, base_index(part, recovery, watch));
  const RecoveredIndex& base = left.index;
  bool lost_session = false;
  TW_ASSIGN_OR_RETURN(const auto sessions, sessions_to_walk(part, base, lost_session, watch));
  Scan scan(part, ranks, watch);
  recovery.session = part.state().session;
  recovery.session_offset = part.state().session_offset;
  for (const FoundSession& session : sessions) {
    if (const Status walked = scan.session(session); !walked.ok()) {
      // As with the session page: of a session that was synced everything is there.
      if (walked.code() != Code::corrupt_file || (base.end == 0 && session.page.session == 0)) return walked;
      if (watch.finding) watch.finding(walked.message());
      lost_session |= base.end == 0;
      continue;
    }
    recovery.session = session.page.session;
    recovery.session_offset = session.offset;
  }
  merge_pieces(base, scan, recovery);
  if (lost_session && part.closed()) doubt_unknown_files(left, part, recovery, watch);
  recovery.frames_end = std::max(base.end, scan.end());
  recovery.index.end = format::align_up(std::max({base.end, scan.end(), part.state().end}), kPageBytes);
  return recovery;
}

}  // namespace thalweg
