// vpfile.h: whole files.
#include <algorithm>
#include <cstring>
#include <string>

#include "capi/guard.hpp"
#include "capi/watch.hpp"
#include "thalweg/vpfile.h"
#include "vpfile/check/check_vpfile.hpp"

using namespace thalweg;

namespace {

Result<VpShape> shape_of(const char* function, int32_t n_dims, const int64_t* shape) {
  const auto bad = [&](const std::string& what) {
    return Status::error(Code::invalid_argument, std::string(function) + ": " + what);
  };
  if (n_dims < 0) return bad("n_dims is " + std::to_string(n_dims));
  if (n_dims > 0 && shape == nullptr) return bad("shape is NULL");
  VpShape made;
  for (int32_t i = 0; i < n_dims; ++i) {
    if (shape[i] < 1) return bad("shape[" + std::to_string(i) + "] is " + std::to_string(shape[i]));
    made.push_back(static_cast<std::uint64_t>(shape[i]));
  }
  return made;
}

static_assert(TW_VPFILE_MOST_DIMS == format::kMostDimensions);
static_assert(TW_VPFILE_REGION_NB == static_cast<int>(VpRegionKind::nb));
static_assert(TW_VPFILE_REGION_HOLE == static_cast<int>(VpRegionKind::hole));

tw_vpfile_stored told(const format::VpMeta& meta) {
  const format::VpGeometry& geometry = meta.geometry;
  tw_vpfile_stored all{};
  all.n_dims = static_cast<int32_t>(meta.shape.size());
  all.mode = geometry.has_ib() ? TW_VPFILE_IB : geometry.buffer_bytes != 0 ? TW_VPFILE_CB : TW_VPFILE_NB;
  all.closed = meta.closed;
  all.version_major = meta.major;
  all.version_minor = meta.minor;
  all.n_vps = static_cast<int64_t>(geometry.n);
  all.nb_record = static_cast<int64_t>(geometry.record_bytes);
  all.nb_bytes = static_cast<int64_t>(geometry.nb_bytes);
  all.cb_round = static_cast<int64_t>(geometry.buffer_bytes);
  all.cb_bytes = static_cast<int64_t>(geometry.cb_bytes);
  all.block_bytes = geometry.block_bytes;
  all.superblock_bytes = geometry.superblock_bytes;
  all.ib_bytes = static_cast<int64_t>(meta.ib_bytes);
  all.sessions = static_cast<int64_t>(meta.session);
  std::ranges::copy(meta.shape, all.shape);
  return all;
}

}  // namespace

extern "C" {

tw_status tw_vpfile_look(const char* path, tw_vpfile_stored* stored) {
  return guarded([&]() -> Status {
    if (path == nullptr || stored == nullptr)
      return null_argument("tw_vpfile_look", path == nullptr ? "path" : "stored");
    if (stored->struct_size < sizeof stored->struct_size)
      return Status::error(Code::invalid_argument, "tw_vpfile_look: struct_size is not set");
    tw_vpfile_stored all{};
    const auto tell = [&] {
      all.struct_size = stored->struct_size;
      std::memcpy(stored, &all, std::min(all.struct_size, sizeof all));
    };
    tell();
    TW_ASSIGN_OR_RETURN(const bool found, is_vpfile(*posix_backend(), path));
    all.is_vpfile = found ? 1 : 0;
    tell();
    TW_ASSIGN_OR_RETURN(const format::VpMeta meta, read_vp_meta(*posix_backend(), path));
    all = told(meta);
    all.is_vpfile = found ? 1 : 0;
    tell();
    return {};
  });
}

tw_status tw_vpfile_regions(const char* path, tw_vpfile_region_fn fn, void* user) {
  return guarded([&]() -> Status {
    if (path == nullptr || fn == nullptr) return null_argument("tw_vpfile_regions", path == nullptr ? "path" : "fn");
    return walk_vp_regions(*posix_backend(), path, [&](const VpRegion& r) {
      const tw_vpfile_region region{static_cast<int32_t>(r.kind),
                                    0,
                                    static_cast<int64_t>(r.offset),
                                    static_cast<int64_t>(r.bytes),
                                    r.superblock,
                                    r.first_vp,
                                    r.last_vp};
      return fn(&region, user) == 0;
    });
  });
}

tw_status tw_vpfile_verify(const char* path, tw_finding_fn fn, tw_progress_fn progress, void* user, tw_health* health) {
  return guarded([&]() -> Status {
    if (path == nullptr) return null_argument("tw_vpfile_verify", "path");
    CheckResult found;
    const Status status = verify_vpfile(*posix_backend(), path, make_watch(fn, progress, user), found);
    tell_health(found, health);
    return status;
  });
}

tw_status tw_vpfile_repair(const char* path, int32_t n_dims, const int64_t* shape, tw_finding_fn fn,
                           tw_progress_fn progress, void* user, tw_health* health) {
  return guarded([&]() -> Status {
    if (path == nullptr) return null_argument("tw_vpfile_repair", "path");
    TW_ASSIGN_OR_RETURN(const VpShape given, shape_of("tw_vpfile_repair", n_dims, shape));
    CheckResult found;
    const Status status = repair_vpfile(*posix_backend(), path, given, make_watch(fn, progress, user), found);
    tell_health(found, health);
    return status;
  });
}

tw_status tw_vpfile_flatten(const char* from, const char* to, int64_t record_bytes, unsigned char fill,
                            tw_progress_fn progress, void* user) {
  return guarded([&]() -> Status {
    if (from == nullptr || to == nullptr) return null_argument("tw_vpfile_flatten", from == nullptr ? "from" : "to");
    if (record_bytes < 0)
      return Status::error(Code::invalid_argument,
                           "tw_vpfile_flatten: record_bytes is " + std::to_string(record_bytes) + "; 0 or more");
    return flatten_vpfile(posix_backend(), from, to, static_cast<std::uint64_t>(record_bytes),
                          static_cast<std::byte>(fill), make_watch(nullptr, progress, user));
  });
}

tw_status tw_vpfile_import(const char* path, int32_t n_dims, const int64_t* shape, int64_t record_bytes) {
  return guarded([&]() -> Status {
    if (path == nullptr) return null_argument("tw_vpfile_import", "path");
    TW_ASSIGN_OR_RETURN(const VpShape given, shape_of("tw_vpfile_import", n_dims, shape));
    if (record_bytes < 1)
      return Status::error(Code::invalid_argument,
                           "tw_vpfile_import: record_bytes is " + std::to_string(record_bytes) + "; 1 or more");
    return import_array(*posix_backend(), path, given, static_cast<std::uint64_t>(record_bytes));
  });
}

}  // extern "C"
