// Work on a whole vpfile by one task: verify, repair, import, flatten, and what is where in its data file.
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

// The streams as a plain array. See tw_vpfile_flatten().
Status flatten_vpfile(std::shared_ptr<Backend> backend, const std::string& from, const std::string& to,
                      std::uint64_t record_bytes, std::byte fill, const Watch& watch);

// A part of the data file.
enum class VpRegionKind { nb = 1, cb = 2, header = 3, blocks = 4, unused = 5, table = 6, hole = 7 };

struct VpRegion {
  VpRegionKind kind = VpRegionKind::hole;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t superblock = -1;  // number; -1: in none
  std::int64_t first_vp = -1;    // whose it is: first_vp .. last_vp; -1: nobody's
  std::int64_t last_vp = -1;
};

// By offset, without gap or overlap, to the end of the data file; `visit` returns false to end. corrupt_file: NAME.meta
// is missing or damaged, or a superblock is not whole: then what lies before it was told.
Status walk_vp_regions(Backend& backend, const std::string& path, const std::function<bool(const VpRegion&)>& visit);

}  // namespace thalweg
