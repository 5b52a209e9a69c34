// Verify, repair, import and flatten of a whole vpfile by one task, and the regions of its data file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/watch.hpp"
#include "storage/backend.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/shape.hpp"

namespace thalweg {

// In `health` a logical file is the stream of a VP. OK: the file is whole and closed. Otherwise not_closed,
// corrupt_file (the findings name the damage), stopped, or the error that ended the check.
Status verify_vpfile(Backend& backend, const std::string& path, const Watch& watch, CheckResult& health);

// Makes the side files of the directory anew from the superblocks, and NAME.meta from `shape` where it is missing or
// damaged; marks the file as closed; then verifies it. A closed and sound file stays unchanged. `force`: TW_REPAIR_FORCE.
Status repair_vpfile(Backend& backend, const std::string& path, const VpShape& shape, const Watch& watch,
                     CheckResult& health, bool force = false);

// Parses NAME.meta of a closed or unclosed vpfile. A missing NAME.meta is corrupt_file, too.
Result<format::VpMeta> read_vp_meta(Backend& backend, const std::string& path);

// Whether `path` is the data file of a vpfile: NAME.meta or NAME.first is there, or it begins with a superblock.
Result<bool> is_vpfile(Backend& backend, const std::string& path);

// Makes NAME.meta for an array of this shape with records of `record_bytes` bytes. already_exists when there is one.
Status import_array(Backend& backend, const std::string& path, const VpShape& shape, std::uint64_t record_bytes);

// Writes the streams as a plain array. See tw_vpfile_flatten().
Status flatten_vpfile(std::shared_ptr<Backend> backend, const std::string& from, const std::string& to,
                      std::uint64_t record_bytes, std::byte fill, const Watch& watch);

// The use of a region.
enum class VpRegionKind { nb = 1, cb = 2, header = 3, blocks = 4, unused = 5, table = 6, hole = 7 };

struct VpRegion {
  VpRegionKind kind = VpRegionKind::hole;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t superblock = -1;  // number; -1: in none
  std::int64_t first_vp = -1;    // its owners: VPs first_vp .. last_vp; -1: none
  std::int64_t last_vp = -1;
};

// Visits all regions of the data file by offset, without gap or overlap; `visit` returns false to end. corrupt_file:
// NAME.meta is missing or damaged, or a superblock is not whole; the regions before it were visited.
Status walk_vp_regions(Backend& backend, const std::string& path, const std::function<bool(const VpRegion&)>& visit);

}  // namespace thalweg
