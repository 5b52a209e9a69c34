// multifile.h, part two: open, close, position, read and write.
#include <cstdio>

#include "base/wire.hpp"
#include "capi/file_handle.hpp"
#include "capi/multifile_handle.hpp"
#include "capi/open_options.hpp"
#include "thalweg/multifile.h"

using namespace thalweg;

namespace {

// Takes the caller's arguments; the open sends a failure in them to all tasks.
Status fill_request(const char* path, int32_t flags, const tw_options* options, OpenRequest& request) {
  TW_ASSIGN_OR_RETURN(const OpenHow how, read_how_to_open(FileKind::multifile, flags, options));
  if (path == nullptr || *path == '\0') return invalid_argument("tw_multifile_open", "the path is NULL or empty");
  request.path = path;
  const bool appends = how.append && !how.file.exclusive && !how.file.truncate;
  request.access = how.file.read ? MultifileMode::read : appends ? MultifileMode::append : MultifileMode::create;
  request.exclusive = how.file.exclusive;
  request.create = how.file.create;
  request.recover = how.recover;
  TW_ASSIGN_OR_RETURN(request.options, multifile_hints(options));
  if (options == nullptr) return {};
  if (options->serving.has_value()) request.serving = *options->serving;
  request.mapping = options->mapping;
  request.progress = options->progress;
  return {};
}

// The reader or the writer of the current logical file; each FILE* on it is settled. `moves`: the call sets the
// position.
template <class Handle>
auto current_of(tw_multifile& open, Handle& handle, bool moves = false) -> decltype(handle.current_or_first()) {
  TW_ASSIGN_OR_RETURN(auto* current, handle.current_or_first());
  TW_RETURN_IF_ERROR(open.streams.settle(current->rank(), moves));
  return current;
}

// `body(current)`, which returns a Status, on the reader or the writer of the current logical file.
template <class Body>
Status with_current(tw_multifile& open, Body&& body, bool moves = false) {
  if (open.file->writing) {
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, current_of(open, *open.file->writing, moves));
    return body(*writer);
  }
  TW_ASSIGN_OR_RETURN(LogicalReader * reader, current_of(open, *open.file->reading, moves));
  return body(*reader);
}

// Stores what each FILE* holds, then what the handle does.
Status store_all(tw_multifile& open, Status (WriteHandle::*store)()) {
  Status streamed = open.streams.settle_all();
  return (*open.file->writing.*store)().or_else(streamed);
}

tw_status begin(tw_multifile* multifile, tw_request** request, const char* call, bool syncs) {
  return when_writing(multifile, call, [&](WriteHandle& handle) -> Status {
    if (request == nullptr) return null_argument(call, "request");
    TW_RETURN_IF_ERROR(multifile->streams.settle_all());
    auto made = std::make_unique<tw_request>();
    TW_ASSIGN_OR_RETURN(made->impl, handle.begin(syncs));
    *request = made.release();
    return {};
  });
}

}  // namespace

extern "C" {

tw_status tw_multifile_open(tw_group* group, const char* path, int32_t flags, const tw_options* options,
                            tw_multifile** multifile) {
  OpenRequest request;
  const auto fill = [&] { return fill_request(path, flags, options, request); };
  const auto open = [&](Group& tasks, Status mine, tw_multifile* handle) -> Status {
    request.backend = posix_backend();
    request.arguments = std::move(mine);
    TW_ASSIGN_OR_RETURN(handle->file, run(open_in_tier(tasks, std::move(request), handle->tier)));
    if (group != nullptr) handle->group = group->impl;
    handle->opened(handle->file->writing != nullptr);
    return {};
  };
  return open_with(group, Call::tw_multifile_open, multifile, fill, open);
}

// Once MPI or the program has ended, the handle is only freed.
tw_status tw_multifile_close(tw_multifile** multifile) {
  return end_handle(multifile, Call::tw_multifile_close, [](tw_multifile& gone) {
    (void)gone.streams.end().ok();  // the multifile keeps a failure of a write
    const std::unique_ptr<Group> alone = gone.group == nullptr ? make_self_group() : nullptr;
    Group& tasks = alone ? *alone : *gone.group;
    if (gone.file->writing != nullptr)
      (void)calling(gone.file->closing != nullptr ? *gone.file->closing : tasks, Call::tw_multifile_close);
    return run(close_in_tier(tasks, std::move(gone.file), std::move(gone.tier)));
  });
}

tw_status tw_multifile_abandon(tw_multifile** multifile) {
  return end_handle(multifile, Call::tw_multifile_abandon, [](tw_multifile& gone) {
    (void)gone.streams.end().ok();  // the multifile keeps a failure of a write
    return leave_multifile(*gone.file, Call::tw_multifile_abandon);
  });
}

// ---- Left open ---------------------------------------------------------------------------------------------------

Status tw_multifile::store_own() { return store_all(*this, &WriteHandle::flush); }

const void* tw_multifile::written() const {
  return file != nullptr && file->writing != nullptr ? &file->writing->files() : nullptr;
}

std::int64_t tw_multifile::tasks() const { return group != nullptr ? group->size() : 1; }

std::string tw_multifile::path() const { return file->writing->files().path(); }
bool tw_multifile::is_first() const { return file->root != nullptr; }

bool tw_multifile::needs_transport() const { return written() != nullptr && group != nullptr && ends_with_mpi(*group); }

Status tw_multifile::begin_to_leave() {
  const Status streamed = streams.settle_all();
  return leave_multifile(*file, Call::MPI_Finalize).or_else(streamed);
}

// ---- Position ----------------------------------------------------------------------------------------------------

tw_status tw_multifile_seek_to(tw_multifile* multifile, int64_t rank, int64_t position) {
  return on_handle(multifile, "tw_multifile_seek_to", [&](tw_multifile& open) -> Status {
    if (rank < 0 || position < -1)
      return invalid_argument("tw_multifile_seek_to",
                              "rank {}, position {}: neither may be negative (position: -1 keeps it)", rank, position);
    const auto r = static_cast<std::uint64_t>(rank);
    TW_RETURN_IF_ERROR(open.streams.settle(r, position >= 0));
    return open.file->writing ? open.file->writing->seek_to(r, position) : open.file->reading->seek_to(r, position);
  });
}

tw_status tw_multifile_seek(tw_multifile* multifile, int64_t offset, int whence) {
  const auto seek = [&](auto& current) -> Status {
    if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END)
      return invalid_argument("tw_multifile_seek", "whence is {}", whence);
    const std::uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? current.position() : current.size();
    std::int64_t position = 0;
    if (__builtin_add_overflow(static_cast<std::int64_t>(from), offset, &position) || position < 0)
      return invalid_argument("tw_multifile_seek", "{} + {} is no position in a file", from, offset);
    current.seek(static_cast<std::uint64_t>(position));
    return {};
  };
  return on_handle(multifile, "tw_multifile_seek", [&](tw_multifile& open) { return with_current(open, seek, true); });
}

tw_status tw_multifile_tell(tw_multifile* multifile, int64_t* position, int64_t* rank) {
  if (position != nullptr) *position = -1;
  if (rank != nullptr) *rank = -1;
  return on_handle(multifile, "tw_multifile_tell", [&](tw_multifile& open) -> Status {
    const Multifile& file = *open.file;
    const bool serves = (file.writing ? file.writing->n_served() : file.reading->served().count()) > 0;
    if (position == nullptr && !serves) return {};
    return with_current(open, [&](auto& current) -> Status {
      if (position != nullptr) *position = static_cast<std::int64_t>(current.position());
      if (rank != nullptr) *rank = static_cast<std::int64_t>(current.rank());
      return {};
    });
  });
}

tw_status tw_multifile_available(tw_multifile* multifile, int64_t* in_chunk, int64_t* in_file) {
  const auto ask = [&](auto& current) -> Status {
    if (in_chunk != nullptr) *in_chunk = static_cast<std::int64_t>(current.contiguous());
    if (in_file == nullptr) return {};
    const std::uint64_t behind = current.size() - std::min(current.size(), current.position());
    *in_file = multifile->file->writing ? INT64_MAX : static_cast<std::int64_t>(behind);
    return {};
  };
  return on_handle(multifile, "tw_multifile_available", [&](tw_multifile& open) { return with_current(open, ask); });
}

// ---- Write -------------------------------------------------------------------------------------------------------

tw_status tw_multifile_write(tw_multifile* multifile, const void* data, size_t nbytes) {
  if (multifile != nullptr && data != nullptr && multifile->file->writing && multifile->streams.is_empty()) {
    const InCall in_call(multifile);
    LogicalWriter* writer = in_call.ok() ? multifile->file->writing->current() : nullptr;
    if (writer != nullptr && writer->write_buffered(static_cast<const std::byte*>(data), nbytes)) return TW_OK;
  }
  return when_writing(multifile, "tw_multifile_write", [&](WriteHandle& handle) -> Status {
    if (data == nullptr && nbytes > 0) return null_argument("tw_multifile_write", "data");
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, current_of(*multifile, handle));
    return handle.write(*writer, {static_cast<const std::byte*>(data), nbytes});
  });
}

tw_status tw_multifile_write_at(tw_multifile* multifile, const void* data, size_t nbytes, int64_t offset) {
  return when_writing(multifile, "tw_multifile_write_at", [&](WriteHandle& handle) -> Status {
    if (data == nullptr && nbytes > 0) return null_argument("tw_multifile_write_at", "data");
    if (offset < 0) return invalid_argument("tw_multifile_write_at", "offset is {}", offset);
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, current_of(*multifile, handle));
    const std::uint64_t before = writer->position();
    writer->seek(static_cast<std::uint64_t>(offset));
    const Status status = attempt([&] { return handle.write(*writer, {static_cast<const std::byte*>(data), nbytes}); });
    writer->seek(before);
    return status;
  });
}

tw_status tw_multifile_flush(tw_multifile* multifile) {
  const auto store = [&](WriteHandle&) { return store_all(*multifile, &WriteHandle::flush); };
  return when_writing(multifile, "tw_multifile_flush", store);
}

tw_status tw_multifile_sync(tw_multifile* multifile) {
  const auto store = [&](WriteHandle&) { return store_all(*multifile, &WriteHandle::sync); };
  return when_writing(multifile, "tw_multifile_sync", store);
}

tw_status tw_multifile_iflush(tw_multifile* multifile, tw_request** request) {
  return begin(multifile, request, "tw_multifile_iflush", false);
}

tw_status tw_multifile_isync(tw_multifile* multifile, tw_request** request) {
  return begin(multifile, request, "tw_multifile_isync", true);
}

// ---- Read --------------------------------------------------------------------------------------------------------

tw_status tw_multifile_read(tw_multifile* multifile, void* data, size_t nbytes, size_t* nread) {
  if (multifile != nullptr && data != nullptr && multifile->file->reading && multifile->streams.is_empty()) {
    LogicalReader* reader = multifile->file->reading->current();
    if (reader != nullptr && reader->read_window(static_cast<std::byte*>(data), nbytes)) {
      if (nread != nullptr) *nread = nbytes;
      return TW_OK;
    }
  }
  size_t ignored = 0;
  size_t& n = nread != nullptr ? *nread : ignored;
  n = 0;
  return when_reading(multifile, "tw_multifile_read", [&](ReadHandle& handle) -> Status {
    if (data == nullptr && nbytes > 0) return null_argument("tw_multifile_read", "data");
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, current_of(*multifile, handle));
    const Status status = reader->read(reader->position(), {static_cast<std::byte*>(data), nbytes}, n);
    reader->seek(reader->position() + n);
    return status;
  });
}

tw_status tw_multifile_skip_gap(tw_multifile* multifile, int64_t* skipped) {
  return when_reading(multifile, "tw_multifile_skip_gap", [&](ReadHandle& handle) -> Status {
    if (skipped == nullptr) return null_argument("tw_multifile_skip_gap", "skipped");
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, current_of(*multifile, handle));
    const std::uint64_t before = reader->position();
    const std::uint64_t behind = std::max(before, reader->skip_zeros(before));
    reader->seek(behind);
    *skipped = static_cast<std::int64_t>(behind - before);
    return {};
  });
}

tw_status tw_multifile_read_at(tw_multifile* multifile, void* data, size_t nbytes, int64_t offset, size_t* nread) {
  size_t ignored = 0;
  size_t& n = nread != nullptr ? *nread : ignored;
  n = 0;
  return when_reading(multifile, "tw_multifile_read_at", [&](ReadHandle& handle) -> Status {
    if (data == nullptr && nbytes > 0) return null_argument("tw_multifile_read_at", "data");
    if (offset < 0) return invalid_argument("tw_multifile_read_at", "offset is {}", offset);
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, current_of(*multifile, handle));
    return reader->read(static_cast<std::uint64_t>(offset), {static_cast<std::byte*>(data), nbytes}, n);
  });
}

}  // extern "C"
