// Recovery makes the index of a physical file from its frames (format document, section 7).
//
// A flush stores every piece of a logical file with a lower sequence before one with a higher sequence counts. So in
// each session the pieces up to the first missing sequence were flushed, and those behind it were not. A flushed piece
// can be missing only where a frame is damaged. Then everything found is kept and the logical file is flagged, so that
// readers refuse its gaps instead of returning zeros.
#pragma once

#include "base/watch.hpp"
#include "multifile/format/frame.hpp"
#include "multifile/read/physical_reader.hpp"

namespace thalweg {

struct Recovery {
  RecoveredIndex index;
  bool damaged = false;          // something flushed may be lost or unreadable
  std::uint64_t frames_end = 0;  // behind everything in the walked sessions
  // Packs whose directories are not valid. Frame::later is the later physical file in which one lies; 0: this one.
  std::vector<format::Frame> refused_packs;
};

// Opens a later physical file. not_found or corrupt_file: it is missing, or its beginning is.
using OpenLater = std::function<Result<PhysicalReader*>(std::uint32_t number)>;

// `ranks`: rank of each local index with Mapping::table in the header, else empty.
Result<Recovery> recover_physical(const PhysicalReader& physical, const std::vector<std::uint64_t>& ranks,
                                  const OpenLater& open_later, const Watch& watch);

}  // namespace thalweg
