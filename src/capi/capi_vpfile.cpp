// vpfile.h: open, close, summaries, and the calls of all VPs or of one that move bytes or positions.
#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/checked_math.hpp"
#include "capi/open_options.hpp"
#include "capi/vpfile_handle.hpp"

namespace thalweg {

namespace {

Status bad_vp_open(const std::string& what) { return invalid_argument("tw_vpfile_open", what); }

Status take_numbers(const char* name, const std::vector<std::int64_t>& from, VpShape& to) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] < 0) return bad_vp_open(fmt::format("{}[{}] is {}", name, i, from[i]));
  to.assign(from.begin(), from.end());
  return {};
}

Status fill_vp_shape(const tw_options& options, VpOpen& how) {
  const std::size_t n = options.shape.size();
  if (n > format::kMostDimensions) return bad_vp_open(fmt::format("the shape has {} dimensions; 64 are the most", n));
  TW_RETURN_IF_ERROR(take_numbers("shape", options.shape, how.shape));
  if (options.box_start.empty()) return {};
  if (options.box_start.size() != n)
    return bad_vp_open(fmt::format("the box has {} dimensions, the shape {}", options.box_start.size(), n));
  how.box.emplace();
  TW_RETURN_IF_ERROR(take_numbers("start", options.box_start, how.box->start));
  return take_numbers("count", options.box_count, how.box->count);
}

Status fill_vp_open(const char* path, int32_t flags, const tw_options* options, VpOpen& how) {
  if (path == nullptr) return null_argument("tw_vpfile_open", "path");
  TW_ASSIGN_OR_RETURN(const OpenHow asked, read_how_to_open(FileKind::vpfile, flags, options));
  how.path = path;
  how.options = asked.file;
  how.append = asked.append;
  if (options == nullptr) return {};
  TW_ASSIGN_OR_RETURN(how.hints, parse_vp_hints(options->hints, how.storage_hints));
  return fill_vp_shape(*options, how);
}

// Uses the shape, not the geometry, to which another thread may just add the IB segment.
bool is_in_shape(const tw_vpfile& vpfile, std::int64_t vp) {
  const auto n = format::count_vps(vpfile.impl->shape());
  return vp >= 0 && n.has_value() && static_cast<std::uint64_t>(vp) < n.value();
}

// Extents are below 2^63: the caller reads them where they lie.
const int64_t* extents_of(const VpShape& shape) { return reinterpret_cast<const int64_t*>(shape.data()); }

// Fills in the transfer, with sizes in bytes; `each` gets the sizes of every local VP.
Status fill_transfer(const VpFile& file, const tw_vpfile_data& data, std::vector<std::uint64_t>& each,
                     VpTransfer& what) {
  if (data.item_bytes == 0)
    return Status::error(Code::invalid_argument, "'{}': item_bytes is 0; at least 1", file.path());
  const std::uint64_t n = file.vps().count();
  const auto multiply = [&](std::int64_t items, std::uint64_t* bytes) -> Status {
    if (items < 0) return Status::error(Code::invalid_argument, "'{}': {} items; 0 or more", file.path(), items);
    if (!mul_overflow<std::uint64_t>(static_cast<std::uint64_t>(items), data.item_bytes, bytes)) return {};
    return Status::error(Code::out_of_range, "'{}': {} items of {} bytes are too many", file.path(), items,
                         data.item_bytes);
  };
  std::uint64_t most = 0;
  TW_RETURN_IF_ERROR(multiply(data.n_items, &what.bytes));
  most = what.bytes;
  if (data.n_each != nullptr) {
    each.resize(n);
    most = 0;
    for (std::uint64_t local = 0; local < n; ++local) {
      TW_RETURN_IF_ERROR(multiply(data.n_each[local], &each[local]));
      most = std::max(most, each[local]);
    }
    what.each = each.data();
  }
  if (data.base == nullptr && most > 0 && n > 0)
    return Status::error(Code::invalid_argument, "'{}': base is NULL", file.path());
  what.base = static_cast<std::byte*>(data.base);
  what.item_bytes = data.item_bytes;
  what.item_stride = data.item_stride != 0 ? data.item_stride : static_cast<std::int64_t>(data.item_bytes);
  if (data.vp_strides != nullptr) what.vp_strides = {data.vp_strides, file.shape().size()};
  return {};
}

Status transfer_all(VpFile& file, Direction direction, const tw_vpfile_data& data, const std::uint8_t* mask,
                    std::int64_t* counts) {
  std::vector<std::uint64_t> each;
  VpTransfer what{.direction = direction, .mask = mask, .moved = reinterpret_cast<std::uint64_t*>(counts)};
  what.status = or_out_of_memory([&] { return fill_transfer(file, data, each, what); });
  Status status = run(file.transfer(what));
  if (counts != nullptr && data.item_bytes > 1)
    for (std::uint64_t local = 0; local < file.vps().count(); ++local)
      counts[local] /= static_cast<std::int64_t>(data.item_bytes);
  return status;
}

// `act(file, local)` for a VP of this task. `moves`: it sets the position.
template <class Act>
tw_status on_vp(const char* function, tw_vpfile* vpfile, int64_t vp, Act act, bool moves = false) {
  return on_handle(vpfile, function, [&](tw_vpfile& open) -> Status {
    TW_ASSIGN_OR_RETURN(const std::uint64_t local, local_of(open, vp));
    TW_RETURN_IF_ERROR(open.streams.settle(local, moves));
    return act(*open.impl, local);
  });
}

}  // namespace

Result<std::uint64_t> local_of(tw_vpfile& vpfile, std::int64_t vp) {
  const auto local = vp >= 0 ? vpfile.impl->vps().local(static_cast<std::uint64_t>(vp)) : std::nullopt;
  if (local.has_value()) return *local;
  return Status::error(Code::invalid_argument, "virtual processor {} of '{}' is {}", vp, vpfile.impl->path(),
                       is_in_shape(vpfile, vp) ? "another task's" : "not in its shape");
}

}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_vpfile_open(tw_group* group, const char* path, int32_t flags, const tw_options* options,
                         tw_vpfile** vpfile) {
  VpOpen how;
  const auto fill = [&] { return fill_vp_open(path, flags, options, how); };
  const auto open = [&](Group& tasks, Status mine, tw_vpfile* handle) -> Status {
    how.status = std::move(mine);
    TW_ASSIGN_OR_RETURN(handle->impl, run(VpFile::open(tasks, posix_backend(), std::move(how))));
    handle->opened(handle->impl->may_write());
    return {};
  };
  return open_with(group, Call::tw_vpfile_open, vpfile, fill, open);
}

tw_status tw_vpfile_close(tw_vpfile** vpfile) {
  return end_handle(vpfile, Call::tw_vpfile_close, [](tw_vpfile& gone) {
    Status streamed = gone.streams.end();
    return run(calling(gone, Call::tw_vpfile_close).close(std::move(streamed)));
  });
}

tw_status tw_vpfile_abandon(tw_vpfile** vpfile) {
  return end_handle(vpfile, Call::tw_vpfile_abandon, [](tw_vpfile& gone) {
    const Status streamed = gone.streams.end();
    return gone.impl->abandon().or_else(streamed);
  });
}

// A vpfile that is still open when the program or MPI ends.

Status tw_vpfile::store_own() {
  const Status streamed = streams.settle_all();
  return impl->store_own().or_else(streamed);
}
const void* tw_vpfile::written() const { return impl->may_write() ? impl->file().shared().get() : nullptr; }
std::int64_t tw_vpfile::tasks() const { return impl->group().size(); }
void tw_vpfile::end_unclosed(bool by_all) {
  if (is_first()) (void)impl->tell_stored(by_all).ok();
}
std::string tw_vpfile::path() const { return impl->path(); }
bool tw_vpfile::is_first() const { return impl->group().rank() == 0; }
bool tw_vpfile::needs_transport() const { return ends_with_mpi(impl->group()); }
Status tw_vpfile::begin_to_leave() {
  Status streamed = streams.settle_all();
  impl->begin_to_leave(
      [this](const Status& failed) { print_unclosed(*this, "what this task wrote is in its files", failed); });
  return streamed;
}

tw_status tw_vpfile_summarize(tw_vpfile* vpfile, tw_vpfile_summary* summary) {
  return on_handle(vpfile, "tw_vpfile_summarize", [&](tw_vpfile& open) -> Status {
    if (summary == nullptr) return null_argument("tw_vpfile_summarize", "summary");
    if (summary->struct_size < sizeof *summary)
      return invalid_argument("tw_vpfile_summarize", "struct_size is not set");
    const VpFile& file = *open.impl;
    const format::VpGeometry& geometry = file.geometry();
    summary->n_dims = static_cast<int32_t>(file.shape().size());
    summary->mode = static_cast<int32_t>(file.mode());
    summary->shape = extents_of(file.shape());
    summary->box_start = extents_of(file.vps().box().start);
    summary->box_count = extents_of(file.vps().box().count);
    summary->n_vps = static_cast<int64_t>(geometry.n);
    summary->n_local = static_cast<int64_t>(file.vps().count());
    summary->nb_record = static_cast<int64_t>(geometry.record_bytes);
    summary->nb_bytes = static_cast<int64_t>(geometry.nb_bytes);
    summary->cb_round = static_cast<int64_t>(geometry.buffer_bytes);
    summary->cb_bytes = static_cast<int64_t>(geometry.cb_bytes);
    summary->block_bytes = geometry.block_bytes;
    summary->last_mode = static_cast<int32_t>(file.last_choice().mode);
    summary->last_cause = file.last_choice().cause;
    open.transitions.clear();
    for (const VpTransition& one : file.transitions())
      open.transitions.push_back(
          {static_cast<int64_t>(one.access), static_cast<int32_t>(one.from), static_cast<int32_t>(one.to), one.cause});
    summary->n_transitions = static_cast<int64_t>(open.transitions.size());
    summary->transitions = open.transitions.data();
    return {};
  });
}

tw_status tw_vpfile_number(tw_vpfile* vpfile, int64_t local, int64_t* vp) {
  return on_handle(vpfile, "tw_vpfile_number", [&](tw_vpfile& open) -> Status {
    if (vp == nullptr) return null_argument("tw_vpfile_number", "vp");
    const LocalVps& vps = open.impl->vps();
    if (local < 0 || static_cast<std::uint64_t>(local) >= vps.count())
      return invalid_argument("tw_vpfile_number", "local is {}, this task has {}", local, vps.count());
    *vp = static_cast<int64_t>(vps.number(static_cast<std::uint64_t>(local)));
    return {};
  });
}

tw_status tw_vpfile_local(tw_vpfile* vpfile, int64_t vp, int64_t* local) {
  return on_handle(vpfile, "tw_vpfile_local", [&](tw_vpfile& open) -> Status {
    if (local == nullptr) return null_argument("tw_vpfile_local", "local");
    const auto found = local_of(open, vp);
    if (!found.has_value())
      return is_in_shape(open, vp) ? Status::error(Code::not_found, found.error().message()) : found.error();
    *local = static_cast<int64_t>(found.value());
    return {};
  });
}

tw_status tw_vpfile_read_all(tw_vpfile* vpfile, tw_vpfile_data data, const uint8_t* mask, int64_t* counts) {
  return on_all(vpfile, Call::tw_vpfile_read_all,
                [&](VpFile& file) { return transfer_all(file, Direction::read, data, mask, counts); });
}

tw_status tw_vpfile_write_all(tw_vpfile* vpfile, tw_vpfile_data data, const uint8_t* mask, int64_t* counts) {
  return on_all(vpfile, Call::tw_vpfile_write_all,
                [&](VpFile& file) { return transfer_all(file, Direction::write, data, mask, counts); });
}

tw_status tw_vpfile_seek_all(tw_vpfile* vpfile, int64_t offset, const int64_t* offsets, int whence,
                             const uint8_t* mask) {
  return on_handle(vpfile, "tw_vpfile_seek_all", [&](tw_vpfile& open) -> Status {
    TW_RETURN_IF_ERROR(open.streams.settle_all(true));
    return open.impl->seek(offsets, offset, whence, mask);
  });
}

tw_status tw_vpfile_tell_all(tw_vpfile* vpfile, int64_t* positions, uint8_t* eof, uint8_t* error) {
  return on_handle(vpfile, "tw_vpfile_tell_all", [&](tw_vpfile& open) -> Status {
    TW_RETURN_IF_ERROR(open.streams.settle_all());
    for (std::uint64_t local = 0; local < open.impl->vps().count(); ++local) {
      const VpStream stream = open.impl->stream(local);
      if (positions != nullptr) positions[local] = static_cast<int64_t>(stream.position());
      if (eof != nullptr) eof[local] = stream.at_eof() ? 1 : 0;
      if (error != nullptr) error[local] = stream.failed() ? 1 : 0;
    }
    return {};
  });
}

tw_status tw_vpfile_flush_all(tw_vpfile* vpfile) {
  return on_all(vpfile, Call::tw_vpfile_flush_all,
                [&](VpFile& file) { return run(file.flush(vpfile->streams.failure())); });
}

tw_status tw_vpfile_sync_all(tw_vpfile* vpfile) {
  return on_all(vpfile, Call::tw_vpfile_sync_all,
                [&](VpFile& file) { return run(file.sync(vpfile->streams.failure())); });
}

// ---- One VP ------------------------------------------------------------------------------------------------------

tw_status tw_vpfile_read(tw_vpfile* vpfile, int64_t vp, void* data, size_t nbytes, size_t* nread) {
  if (nread != nullptr) *nread = 0;
  return on_vp("tw_vpfile_read", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (data == nullptr && nbytes > 0) return null_argument("tw_vpfile_read", "data");
    return put(file.stream(local).read({static_cast<std::byte*>(data), nbytes}), nread);
  });
}

tw_status tw_vpfile_write(tw_vpfile* vpfile, int64_t vp, const void* data, size_t nbytes, size_t* nwritten) {
  if (nwritten != nullptr) *nwritten = 0;
  return on_vp("tw_vpfile_write", vpfile, vp, [&](VpFile& file, std::uint64_t local) -> Status {
    if (data == nullptr && nbytes > 0) return null_argument("tw_vpfile_write", "data");
    return put(file.stream(local).write({static_cast<const std::byte*>(data), nbytes}), nwritten);
  });
}

tw_status tw_vpfile_seek(tw_vpfile* vpfile, int64_t vp, int64_t offset, int whence) {
  const auto seek = [&](VpFile& file, std::uint64_t local) { return file.stream(local).seek(offset, whence); };
  return on_vp("tw_vpfile_seek", vpfile, vp, seek, true);
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
    return put(file.stream(local).size(), bytes);
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
    return put(file.stream(local).skip_gap(), skipped);
  });
}

tw_status tw_vpfile_flush(tw_vpfile* vpfile, int64_t vp) {
  return on_vp("tw_vpfile_flush", vpfile, vp,
               [](VpFile& file, std::uint64_t local) { return file.stream(local).flush(); });
}

}  // extern "C"
