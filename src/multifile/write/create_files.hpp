// The physical files of a multifile that is created or appended to, as task 0 makes them.
#pragma once

#include "multifile/multifile.hpp"
#include "multifile/write_plan.hpp"

namespace thalweg {

// Session page and domain section of a planned file, as they stand at file.state.session_offset.
std::vector<std::byte> encode_session_front(const WritePlan& plan, const PlannedFile& file);

// Makes all physical files of the plan up to their first slab; returns physical file 0, locked. On failure none of the
// new files is left, and what was there is unchanged unless the failure came while it was being replaced.
// `overwrite_foreign`: physical file 0 may be a file of another format; else that is Code::unsafe.
Result<std::unique_ptr<StoredFile>> create_files(Backend& backend, const std::string& path, bool exclusive,
                                                 bool overwrite_foreign, const WritePlan& plan);
// unsafe: the multifile looks unclosed, and the lock of its physical file 0, `held`, does not tell whether it is written
// on another node (check_unwritten).
Status check_unclosed(Backend& backend, const StoredFile& held, bool force, const GoOn& go_on);
// Opens a physical file for a change. unsafe: its name leads to another file by now, which is left as it is.
Result<std::unique_ptr<StoredFile>> open_to_change(Backend& backend, const std::string& path,
                                                   const format::FileHeader& header,
                                                   OpenMode mode = OpenMode::read_write);
// Opens a later physical file and makes it where it is missing; other processes may do so at the same time.
Result<std::unique_ptr<StoredFile>> make_later(Backend& backend, const std::string& path,
                                               const format::FileHeader& header, StripeRequest stripes);
// Fails unless each later physical file that has an end is there and is of this multifile. `durable`: makes them, and
// the names of all physical files, durable.
Status check_later(Backend& backend, const std::string& path, const format::FileHeader& first,
                   const std::vector<std::uint64_t>& ends, bool durable);
// Adds the planned session to all physical files. On failure it closes the multifile as it was before, if possible.
Status begin_session(Backend& backend, const std::string& path, const WritePlan& plan);
// Closes a physical file as it was before the planned session. Failures are ignored.
void abandon_session(Backend& backend, const std::string& path, const PlannedFile& planned);
// Removes a physical file unless its name leads to another file by now. Failures are ignored.
void remove_file(Backend& backend, const std::string& path, const format::FileHeader& header);
// Removes the physical files of a replaced multifile, known by their uuid, from number `from` on. One that cannot be
// removed does no harm.
void remove_stale_files(Backend& backend, const std::string& path, const format::FileHeader& old, std::uint32_t from);
// Removes the physical files of a creation that failed afterwards.
void remove_files(Backend& backend, const std::string& path, const WritePlan& plan);

}  // namespace thalweg
