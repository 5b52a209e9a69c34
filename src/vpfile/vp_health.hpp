// Verify and repair of a vpfile, by one task.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "vpfile/vp_shape.hpp"

namespace thalweg {

struct VpHealth {
  std::uint64_t n_vps = 0;
  std::uint64_t damaged_vps = 0;  // with bytes that cannot be read
  std::uint64_t bytes = 0;        // of all streams
  std::uint64_t findings = 0;
  bool closed = false;    // before a repair
  bool repaired = false;  // something was written
};

struct VpHealthCalls {
  std::function<void(const std::string&)> finding;             // a line of text; may be empty
  std::function<bool(std::uint64_t, std::uint64_t)> progress;  // done and total; false: stop. May be empty
};

// OK: whole and closed. Else not_closed, corrupt_file (the findings say what), stopped, or what hindered it.
Status verify_vpfile(Backend& backend, const std::string& path, const VpHealthCalls& calls, VpHealth& health);

// Makes NAME.first and NAME.dir anew from the superblocks, and NAME.meta where it is missing or damaged, which takes
// the `shape`; closes the file; then verifies it. What is closed and sound is left alone.
Status repair_vpfile(Backend& backend, const std::string& path, const VpShape& shape, const VpHealthCalls& calls,
                     VpHealth& health);

// Whether `path` is the data file of a vpfile: NAME.meta is there, or it begins with a superblock.
Result<bool> is_vpfile(Backend& backend, const std::string& path);

// Makes NAME.meta for an array of this shape with records of `record_bytes` bytes. already_exists when there is one.
Status import_array(Backend& backend, const std::string& path, const VpShape& shape, std::uint64_t record_bytes);

}  // namespace thalweg
