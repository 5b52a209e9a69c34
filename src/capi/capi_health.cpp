// multifile.h and vpfile.h: whole files that no task has open. They are verified, repaired, copied and described.
#include <algorithm>
#include <cstring>
#include <string>

#include "capi/guard.hpp"
#include "capi/open_options.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/tier/drain.hpp"
#include "thalweg/multifile.h"
#include "thalweg/vpfile.h"
#include "vpfile/check/check_vpfile.hpp"

using namespace thalweg;

Watch thalweg::make_watch(tw_finding_fn fn, tw_progress_fn progress, void* user) {
  Watch watch;
  if (fn != nullptr) watch.finding = [fn, user](const std::string& text) { fn(text.c_str(), user); };
  if (progress != nullptr)
    watch.progress = [progress, user](std::uint64_t done, std::uint64_t total) {
      return progress(static_cast<int64_t>(done), static_cast<int64_t>(total), user) == 0;
    };
  return watch;
}

namespace {

// Verifies or repairs a file: `work(path, result)`, which returns a Status.
template <class Work>
tw_status check(const char* call, const char* path, tw_health* health, Work&& work) {
  return guarded([&]() -> Status {
    if (path == nullptr) return null_argument(call, "path");
    CheckResult found;
    Status status = work(path, found);
    if (health == nullptr) return status;
    tw_health all{};
    all.struct_size = health->struct_size;
    all.n_logical = static_cast<int64_t>(found.n_logical);
    all.damaged_logical = static_cast<int64_t>(found.damaged_logical);
    all.logical_bytes = static_cast<int64_t>(found.logical_bytes);
    all.findings = static_cast<int64_t>(found.findings);
    all.closed = found.closed;
    all.repaired = found.repaired;
    std::memcpy(health, &all, std::min(all.struct_size, sizeof all));
    return status;
  });
}

Result<VpShape> shape_of(const char* function, int32_t n_dims, const int64_t* shape) {
  if (n_dims < 0) return invalid_argument(function, "n_dims is {}", n_dims);
  if (n_dims > 0 && shape == nullptr) return null_argument(function, "shape");
  VpShape made;
  for (int32_t i = 0; i < n_dims; ++i) {
    if (shape[i] < 1) return invalid_argument(function, "shape[{}] is {}", i, shape[i]);
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

tw_status tw_multifile_verify(const char* path, tw_finding_fn fn, tw_progress_fn progress, void* user,
                              tw_health* health) {
  return check("tw_multifile_verify", path, health, [&](const std::string& name, CheckResult& found) {
    return verify_multifile(posix_backend(), name, make_watch(fn, progress, user), found);
  });
}

tw_status tw_multifile_repair(const char* path, int32_t flags, tw_finding_fn fn, tw_progress_fn progress, void* user,
                              tw_health* health) {
  return check("tw_multifile_repair", path, health, [&](const std::string& name, CheckResult& found) -> Status {
    if ((flags & ~TW_REPAIR_FORCE) != 0) return invalid_argument("tw_multifile_repair", "flags is {}", flags);
    return repair_multifile(posix_backend(), name, make_watch(fn, progress, user), found, flags != 0);
  });
}

tw_status tw_multifile_defrag(const char* from, const char* to, const tw_options* options, tw_progress_fn progress,
                              void* user) {
  return guarded([&]() -> Status {
    if (from == nullptr || to == nullptr) return null_argument("tw_multifile_defrag", from == nullptr ? "from" : "to");
    TW_ASSIGN_OR_RETURN(const MultifileOptions hints, multifile_hints(options));
    return defrag_multifile(posix_backend(), from, to, hints, make_watch(nullptr, progress, user));
  });
}

tw_status tw_multifile_drain(const char* folder, int32_t lost, tw_finding_fn fn, void* user) {
  return guarded([&]() -> Status {
    if (folder == nullptr) return null_argument("tw_multifile_drain", "folder");
    return drain_tier(posix_backend(), {folder, "", lost != 0, make_watch(fn, nullptr, user).finding});
  });
}

tw_status tw_vpfile_look(const char* path, tw_vpfile_stored* stored) {
  return guarded([&]() -> Status {
    if (path == nullptr || stored == nullptr)
      return null_argument("tw_vpfile_look", path == nullptr ? "path" : "stored");
    if (stored->struct_size < sizeof stored->struct_size)
      return invalid_argument("tw_vpfile_look", "struct_size is not set");
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
  return check("tw_vpfile_verify", path, health, [&](const std::string& name, CheckResult& found) {
    return verify_vpfile(*posix_backend(), name, make_watch(fn, progress, user), found);
  });
}

tw_status tw_vpfile_repair(const char* path, int32_t flags, int32_t n_dims, const int64_t* shape, tw_finding_fn fn,
                           tw_progress_fn progress, void* user, tw_health* health) {
  return check("tw_vpfile_repair", path, health, [&](const std::string& name, CheckResult& found) -> Status {
    if ((flags & ~TW_REPAIR_FORCE) != 0) return invalid_argument("tw_vpfile_repair", "flags is {}", flags);
    TW_ASSIGN_OR_RETURN(const VpShape given, shape_of("tw_vpfile_repair", n_dims, shape));
    return repair_vpfile(*posix_backend(), name, given, make_watch(fn, progress, user), found, flags != 0);
  });
}

tw_status tw_vpfile_flatten(const char* from, const char* to, int64_t record_bytes, unsigned char fill,
                            tw_progress_fn progress, void* user) {
  return guarded([&]() -> Status {
    if (from == nullptr || to == nullptr) return null_argument("tw_vpfile_flatten", from == nullptr ? "from" : "to");
    TW_RETURN_IF_ERROR(check_number("tw_vpfile_flatten", "record_bytes", record_bytes));
    return flatten_vpfile(posix_backend(), from, to, static_cast<std::uint64_t>(record_bytes),
                          static_cast<std::byte>(fill), make_watch(nullptr, progress, user));
  });
}

tw_status tw_vpfile_import(const char* path, int32_t n_dims, const int64_t* shape, int64_t record_bytes) {
  return guarded([&]() -> Status {
    if (path == nullptr) return null_argument("tw_vpfile_import", "path");
    TW_ASSIGN_OR_RETURN(const VpShape given, shape_of("tw_vpfile_import", n_dims, shape));
    if (record_bytes < 1) return invalid_argument("tw_vpfile_import", "record_bytes is {}; 1 or more", record_bytes);
    return import_array(*posix_backend(), path, given, static_cast<std::uint64_t>(record_bytes));
  });
}

}  // extern "C"
