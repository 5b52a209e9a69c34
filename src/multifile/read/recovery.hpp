// Recovery: makes up the index of a physical file from its frames (format document, section 7).
//
// What it takes. A flush makes every piece of a logical file with a lower sequence durable before those with a higher
// one count; so of each logical file and session the pieces up to the first missing sequence are what was flushed, and
// what lies behind a missing one never was. Only where a frame is damaged may a flushed piece be missing: then all
// that is found is kept and the logical file is flagged, so that readers refuse its gaps instead of giving zeros.
#pragma once

#include "base/check_result.hpp"
#include "multifile/read/physical_reader.hpp"

namespace thalweg {

struct Recovery {
  RecoveredIndex index;
  std::uint64_t damaged_logical = 0;  // with flushed bytes that cannot be read
  bool damaged = false;               // something flushed may be lost or unreadable
  std::uint32_t session = 0;          // last session found
  std::uint64_t session_offset = 0;
  std::uint64_t frames_end = 0;  // behind all that the walked sessions hold
};

// Reads the whole index that the state slot names: the death of the machine may have left parts of it.
Status check_whole_index(const PhysicalReader& physical, const GoOn& go_on = {});

// `ranks`: rank of each local index when the header says Mapping::table, else empty.
Result<Recovery> recover_physical(const PhysicalReader& physical, const std::vector<std::uint64_t>& ranks,
                                  const Watch& watch);

}  // namespace thalweg
