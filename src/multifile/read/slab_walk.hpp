// Walks the frames of one session of a physical file: all domains, all slabs.
#pragma once

#include <functional>

#include "multifile/read/physical_reader.hpp"

namespace thalweg {

struct FoundFrame {
  std::uint64_t offset = 0;
  format::Frame frame;
};

struct WalkVisitor {
  std::function<Status(const FoundFrame&)> frame;    // each valid frame
  std::function<void(std::uint64_t offset)> damage;  // each place where a frame should be and is not
  GoOn go_on;                                        // asked also where there are no frames; may be empty
};

struct FoundSession {
  std::uint64_t offset = 0;
  format::SessionPage page;
  std::uint64_t limit = 0;  // where its index begins, or what there is of one; else the end of the file
};

// Visits frames domain by domain, each in order of offsets. Nothing is looked for at or behind the limit.
Status walk_session(const PhysicalReader& physical, const FoundSession& session, const WalkVisitor& visitor);

// The sessions from `from` on, which lies behind what an index covers, oldest first. On failure *failed_at tells which
// session page is wrong.
Result<std::vector<FoundSession>> find_sessions(const PhysicalReader& physical, std::uint64_t last_offset,
                                                std::uint64_t from = 0, std::uint64_t* failed_at = nullptr);
Result<FoundSession> read_session(const PhysicalReader& physical, std::uint64_t offset);

}  // namespace thalweg
