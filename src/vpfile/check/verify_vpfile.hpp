// Verify and repair of a vpfile, by one task.
#pragma once

#include <cstdint>
#include <string>

#include "base/check_result.hpp"
#include "storage/backend.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/shape.hpp"

namespace thalweg {

// A logical file is the stream of a virtual processor there. OK: whole and closed. Else not_closed, corrupt_file (the
// findings say what), stopped, or what hindered it.
Status verify_vpfile(Backend& backend, const std::string& path, const Watch& watch, CheckResult& health);

// Makes NAME.first and NAME.dir anew from the superblocks, and NAME.meta where it is missing or damaged, which takes
// the `shape`; closes the file; then verifies it. What is closed and sound is left alone.
Status repair_vpfile(Backend& backend, const std::string& path, const VpShape& shape, const Watch& watch,
                     CheckResult& health);

// What NAME.meta says, whether the file was closed or not. corrupt_file where it is missing, too.
Result<format::VpMeta> read_vp_meta(Backend& backend, const std::string& path);

// Whether `path` is the data file of a vpfile: NAME.meta or NAME.first is there, or it begins with a superblock.
Result<bool> is_vpfile(Backend& backend, const std::string& path);

// Makes NAME.meta for an array of this shape with records of `record_bytes` bytes. already_exists when there is one.
Status import_array(Backend& backend, const std::string& path, const VpShape& shape, std::uint64_t record_bytes);

}  // namespace thalweg
