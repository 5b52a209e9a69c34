// Walks the frames of one session of a physical file: all domains, all slabs.
#pragma once

#include <functional>

#include "multifile/read/physical_reader.hpp"

namespace thalweg {

struct FoundSession {
  std::uint64_t offset = 0;
  format::SessionPage page;
  std::uint64_t limit = 0;  // where its index begins, even an incomplete one; else the end of the file
};

// Visits the valid frames of each domain in order of offsets, up to the limit, and the offsets of places where a frame
// is missing. `go_on`: also asked where there are no frames; may be empty.
Status walk_session(const PhysicalReader& physical, const FoundSession& session,
                    const std::function<Status(const format::Frame&)>& visit,
                    const std::function<void(std::uint64_t offset)>& damage, const GoOn& go_on);

// As walk_session, in a later physical file, up to `limit`: where the next session begins in it, or its end. A frame of
// a session behind this one ends a slab.
Status walk_later(const PhysicalReader& later, const format::SessionPage& session, std::uint64_t limit,
                  const std::function<Status(const format::Frame&)>& visit,
                  const std::function<void(std::uint64_t offset)>& damage, const GoOn& go_on);
// Where the session behind session i begins in later physical files; behind the last one: kMaxOffset.
std::uint64_t later_limit(const std::vector<FoundSession>& sessions, std::size_t i);

// The directory of a pack; corrupt_file where it is refused.
Result<std::vector<format::DirectoryEntry>> read_directory(const PhysicalReader& physical, const format::Frame& pack);

// The sessions from offset `from` on, oldest first. On failure *failed_at is the offset of the wrong session page.
Result<std::vector<FoundSession>> find_sessions(const PhysicalReader& physical, std::uint64_t last_offset,
                                                std::uint64_t from = 0, std::uint64_t* failed_at = nullptr);
Result<FoundSession> read_session(const PhysicalReader& physical, std::uint64_t offset);

// Whether a page that lies at `offset` verifies as one of a section of an index.
bool is_index_section(const PhysicalReader& physical, std::span<const std::byte> page, std::uint64_t offset);

}  // namespace thalweg
