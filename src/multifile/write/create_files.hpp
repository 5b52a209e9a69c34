// What task 0 does on the file system when a multifile is created or appended to.
#pragma once

#include "multifile/multifile.hpp"
#include "multifile/write_plan.hpp"

namespace thalweg {

// Makes all physical files of the plan, with everything in front of the first slab; physical file 0, locked. On failure
// none that it made is left behind, and what was there is as it was unless it failed while that was being replaced.
struct CreateHow {
  bool exclusive = false;
  bool overwrite_foreign = false;  // else unsafe where physical file 0 is a file of another format
};
Result<std::unique_ptr<StoredFile>> create_files(Backend& backend, const std::string& path, CreateHow how,
                                                 const WritePlan& plan);
// Adds the planned session to all physical files. On failure the multifile is closed again as it was, if that can be
// done.
Status begin_session(Backend& backend, const std::string& path, const WritePlan& plan);
// Closes a physical file again as it was before the session that `open` tells of; does what it can.
void abandon_session(Backend& backend, const std::string& path, const format::FileHeader& header,
                     const format::StateSlot& open, std::uint64_t previous_session_offset);
// Removes the physical files of a creation that failed afterwards.
void remove_files(Backend& backend, const std::string& path, std::uint32_t n_physical);

}  // namespace thalweg
