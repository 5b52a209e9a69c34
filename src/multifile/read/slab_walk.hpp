// Walks the frames of one session of a physical file: all domains, all slabs.
#pragma once

#include <functional>

#include "multifile/read/physical_reader.hpp"

namespace thalweg {

struct WalkVisitor {
  std::function<Status(const format::PlacedFrame&)> frame;  // each valid frame
  std::function<void(std::uint64_t offset)> damage;         // each place where a frame is missing
  GoOn go_on;                                               // also asked where there are no frames; may be empty
};

struct FoundSession {
  std::uint64_t offset = 0;
  format::SessionPage page;
  std::uint64_t limit = 0;  // where its index begins, even an incomplete one; else the end of the file
};

// Visits the frames of each domain in order of offsets, up to the limit.
Status walk_session(const PhysicalReader& physical, const FoundSession& session, const WalkVisitor& visitor);

// The directory of a pack; corrupt_file where it is refused.
Result<std::vector<format::DirectoryEntry>> read_directory(const PhysicalReader& physical,
                                                           const format::PlacedFrame& pack);

// The sessions from offset `from` on, oldest first. On failure *failed_at is the offset of the wrong session page.
Result<std::vector<FoundSession>> find_sessions(const PhysicalReader& physical, std::uint64_t last_offset,
                                                std::uint64_t from = 0, std::uint64_t* failed_at = nullptr);
Result<FoundSession> read_session(const PhysicalReader& physical, std::uint64_t offset);

}  // namespace thalweg
