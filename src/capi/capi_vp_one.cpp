// vpfile.h: the calls of one VP.

#include "capi/guard.hpp"
#include "capi/vpfile_handle.hpp"

using namespace thalweg;

namespace {

// `act(file, local)` for a VP of this task.
template <class Act>
tw_status on_vp(const char* function, tw_vpfile* vpfile, int64_t vp, Act act) {
  return guarded([&]() -> Status {
    TW_IN_CALL(vpfile, function);
    TW_ASSIGN_OR_RETURN(const std::uint64_t local, local_of(*vpfile, vp));
    return act(*vpfile->impl, local);
  });
}

}  // namespace

extern "C" {

tw_status tw_vpfile_read(tw_vpfile* vpfile, int64_t vp, void* data, size_t bytes, size_t* moved) {
  if (moved != nullptr) *moved = 0;
  return on_vp("tw_vpfile_read", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (data == nullptr && bytes > 0) return null_argument("tw_vpfile_read", "data");
    TW_ASSIGN_OR_RETURN(const std::uint64_t got, file.stream(local).read({static_cast<std::byte*>(data), bytes}));
    if (moved != nullptr) *moved = got;
    return {};
  });
}

tw_status tw_vpfile_write(tw_vpfile* vpfile, int64_t vp, const void* data, size_t bytes, size_t* moved) {
  if (moved != nullptr) *moved = 0;
  return on_vp("tw_vpfile_write", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (data == nullptr && bytes > 0) return null_argument("tw_vpfile_write", "data");
    TW_ASSIGN_OR_RETURN(const std::uint64_t done,
                        file.stream(local).write({static_cast<const std::byte*>(data), bytes}));
    if (moved != nullptr) *moved = done;
    return {};
  });
}

tw_status tw_vpfile_seek(tw_vpfile* vpfile, int64_t vp, int64_t offset, int whence) {
  return on_vp("tw_vpfile_seek", vpfile, vp,
               [&](VpFile& file, std::uint64_t local) { return file.stream(local).seek(offset, whence); });
}

tw_status tw_vpfile_tell(tw_vpfile* vpfile, int64_t vp, int64_t* position, int* eof, int* error) {
  return on_vp("tw_vpfile_tell", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    const VpStream stream = file.stream(local);
    if (position != nullptr) *position = static_cast<int64_t>(stream.position());
    if (eof != nullptr) *eof = stream.at_eof() ? 1 : 0;
    if (error != nullptr) *error = stream.failed() ? 1 : 0;
    return {};
  });
}

tw_status tw_vpfile_size(tw_vpfile* vpfile, int64_t vp, int64_t* bytes) {
  return on_vp("tw_vpfile_size", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (bytes == nullptr) return null_argument("tw_vpfile_size", "bytes");
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.stream(local).size());
    *bytes = static_cast<int64_t>(size);
    return {};
  });
}

tw_status tw_vpfile_alike(tw_vpfile* vpfile, int64_t vp, int64_t* last) {
  return on_vp("tw_vpfile_alike", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (last == nullptr) return null_argument("tw_vpfile_alike", "last");
    auto end = file.stream(local).end_of_alike();
    const std::uint64_t run_end = (local / file.vps().run_length() + 1) * file.vps().run_length();
    *last = vp + static_cast<int64_t>((end.has_value() ? *end : run_end) - local) - 1;
    return end.status();
  });
}

tw_status tw_vpfile_skip_gap(tw_vpfile* vpfile, int64_t vp, int64_t* skipped) {
  return on_vp("tw_vpfile_skip_gap", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (skipped == nullptr) return null_argument("tw_vpfile_skip_gap", "skipped");
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, file.stream(local).skip_gap());
    *skipped = static_cast<int64_t>(bytes);
    return {};
  });
}

tw_status tw_vpfile_flush(tw_vpfile* vpfile, int64_t vp) {
  return on_vp("tw_vpfile_flush", vpfile, vp,
               [](VpFile& file, std::uint64_t local) { return file.stream(local).flush(); });
}

}  // extern "C"
