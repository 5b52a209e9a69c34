// multifile.h, part two: open, close, position, read and write.
#include <cstdio>

#include "base/wire.hpp"
#include "capi/calling.hpp"
#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/multifile_handle.hpp"
#include "capi/open_options.hpp"
#include "group/groups.hpp"
#include "thalweg/multifile.h"

using namespace thalweg;

namespace {

// The caller's arguments; what is wrong with them is told to all tasks by the open itself.
Status fill_request(const char* path, int32_t flags, const tw_options* options, OpenRequest& request) {
  TW_ASSIGN_OR_RETURN(const OpenHow how, read_open_flags(FileKind::multifile, flags));
  TW_RETURN_IF_ERROR(check_options(FileKind::multifile, options));
  if (path == nullptr || *path == '\0')
    return Status::error(Code::invalid_argument, "tw_multifile_open: the path is NULL or empty");
  request.path = path;
  const bool appends = how.append && !how.exclusive && !how.truncate;
  request.access = how.read ? MultifileMode::read : appends ? MultifileMode::append : MultifileMode::create;
  request.exclusive = how.exclusive;
  request.create = how.create;
  request.recover = how.recover;
  TW_ASSIGN_OR_RETURN(request.config.options, multifile_hints(options));
  if (options == nullptr) return {};
  if (options->serving.has_value()) request.config.serving = *options->serving;
  request.config.mapping = options->mapping;
  request.config.progress = options->progress;
  return {};
}

Status wrong_mode(const tw_multifile& multifile, const char* call) {
  return Status::error(Code::wrong_mode, std::string(call) + ": the multifile is open for " +
                                             (multifile.file->writing ? "writing" : "reading"));
}

}  // namespace

extern "C" tw_status tw_multifile_open(tw_group* group, const char* path, int32_t flags, const tw_options* options,
                                       tw_multifile** multifile) {
  return guarded([&]() -> Status {
    if (multifile != nullptr) *multifile = nullptr;
    const std::unique_ptr<Group> alone = group == nullptr ? make_self_group() : nullptr;
    Group& tasks = calling(group != nullptr ? *group->impl : *alone, Call::tw_multifile_open);
    std::unique_ptr<tw_multifile> handle(new (std::nothrow) tw_multifile);
    OpenRequest request;
    request.backend = posix_backend();
    request.arguments = attempt([&] { return fill_request(path, flags, options, request); });
    if (handle == nullptr && request.arguments.ok()) request.arguments = out_of_memory();
    if (multifile == nullptr) request.arguments = null_argument("tw_multifile_open", "multifile");
    auto opened = run(open_multifile(tasks, std::move(request)));
    if (!opened.has_value()) return opened.error();
    if (group != nullptr) handle->group = group->impl;
    handle->file = std::move(opened).value();
    handle->opened(handle->file->writing != nullptr);
    *multifile = handle.release();
    return {};
  });
}

// MPI or the program may have ended: what is left then is to free the handle.
extern "C" tw_status tw_multifile_close(tw_multifile** multifile) {
  return guarded([&]() -> Status {
    std::unique_ptr<tw_multifile> handle;
    TW_RETURN_IF_ERROR(take_handle(multifile, "tw_multifile_close", "multifile", handle));
    (void)handle->streams.end().ok();  // the multifile keeps a failure of a write
    const std::unique_ptr<Group> alone = handle->group == nullptr ? make_self_group() : nullptr;
    Group& tasks = alone ? *alone : *handle->group;
    if (handle->file->writing != nullptr)
      (void)calling(handle->file->closing != nullptr ? *handle->file->closing : tasks, Call::tw_multifile_close);
    return run(close_multifile(tasks, std::move(handle->file)));
  });
}

extern "C" tw_status tw_multifile_abandon(tw_multifile** multifile) {
  return guarded([&]() -> Status {
    std::unique_ptr<tw_multifile> handle;
    TW_RETURN_IF_ERROR(take_handle(multifile, "tw_multifile_abandon", "multifile", handle));
    (void)handle->streams.end().ok();  // the multifile keeps a failure of a write
    return leave_multifile(*handle->file, Call::tw_multifile_abandon);
  });
}

// ---- Left open ---------------------------------------------------------------------------------------------------

Status tw_multifile::store_own() {
  const Status streamed = streams.flush();
  Status stored = file->writing->flush();
  return stored.ok() ? streamed : stored;
}

const void* tw_multifile::written() const {
  return file != nullptr && file->writing != nullptr ? &file->writing->files() : nullptr;
}

std::int64_t tw_multifile::tasks() const { return group != nullptr ? group->size() : 1; }

std::string tw_multifile::path() const { return file->writing->files().path(); }
bool tw_multifile::is_first() const { return file->root != nullptr; }

bool tw_multifile::needs_transport() const { return written() != nullptr && group != nullptr && ends_with_mpi(*group); }

Status tw_multifile::begin_to_leave() {
  const Status streamed = streams.flush();
  Status left = leave_multifile(*file, Call::MPI_Finalize);
  return left.ok() ? streamed : left;
}

// ---- Position ----------------------------------------------------------------------------------------------------

extern "C" tw_status tw_multifile_seek_to(tw_multifile* multifile, int64_t rank, int64_t position) {
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_seek_to");
    if (rank < 0 || position < -1)
      return Status::error(Code::invalid_argument, "tw_multifile_seek_to: rank " + std::to_string(rank) +
                                                       ", position " + std::to_string(position) +
                                                       ": neither may be negative (position: -1 keeps it)");
    const auto r = static_cast<std::uint64_t>(rank);
    return multifile->file->writing ? multifile->file->writing->seek_to(r, position)
                                    : multifile->file->reading->seek_to(r, position);
  });
}

namespace {

struct Where {
  std::uint64_t rank = 0, position = 0, size = 0;
};

Result<Where> place_of(tw_multifile* multifile, const char* call) {
  TW_IN_CALL(multifile, call);
  if (multifile->file->writing) {
    TW_ASSIGN_OR_RETURN(const LogicalWriter* writer, multifile->file->writing->current_or_first());
    return Where{writer->rank(), writer->position(), writer->size()};
  }
  TW_ASSIGN_OR_RETURN(const LogicalReader* reader, multifile->file->reading->current_or_first());
  TW_ASSIGN_OR_RETURN(const std::uint64_t rank, multifile->file->reading->current_rank());
  return Where{rank, reader->position(), reader->size()};
}

void seek_current(tw_multifile* multifile, std::uint64_t position) {
  if (multifile->file->writing) {
    multifile->file->writing->current()->seek(position);
  } else {
    multifile->file->reading->current()->seek(position);
  }
}

}  // namespace

extern "C" tw_status tw_multifile_seek(tw_multifile* multifile, int64_t offset, int whence) {
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_seek");
    TW_ASSIGN_OR_RETURN(const Where at, place_of(multifile, "tw_multifile_seek"));
    if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END)
      return Status::error(Code::invalid_argument, "tw_multifile_seek: whence is " + std::to_string(whence));
    const std::uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? at.position : at.size;
    std::int64_t position = 0;
    if (__builtin_add_overflow(static_cast<std::int64_t>(from), offset, &position) || position < 0)
      return Status::error(Code::invalid_argument, "tw_multifile_seek: " + std::to_string(from) + " + " +
                                                       std::to_string(offset) + " is no position in a file");
    seek_current(multifile, static_cast<std::uint64_t>(position));
    return {};
  });
}

extern "C" tw_status tw_multifile_tell(tw_multifile* multifile, int64_t* position, int64_t* rank) {
  return guarded([&]() -> Status {
    if (position != nullptr) *position = -1;
    if (rank != nullptr) *rank = -1;
    TW_IN_CALL(multifile, "tw_multifile_tell");
    const auto served = multifile->file->writing ? multifile->file->writing->served().count()
                                                 : multifile->file->reading->served().count();
    if (served == 0 && position == nullptr) return {};
    TW_ASSIGN_OR_RETURN(const Where at, place_of(multifile, "tw_multifile_tell"));
    if (position != nullptr) *position = static_cast<std::int64_t>(at.position);
    if (rank != nullptr) *rank = static_cast<std::int64_t>(at.rank);
    return {};
  });
}

extern "C" tw_status tw_multifile_available(tw_multifile* multifile, int64_t* in_chunk, int64_t* in_file) {
  return guarded([&]() -> Status {
    TW_ASSIGN_OR_RETURN(const Where at, place_of(multifile, "tw_multifile_available"));
    const bool writing = multifile->file->writing != nullptr;
    if (in_chunk != nullptr)
      *in_chunk = static_cast<std::int64_t>(writing ? multifile->file->writing->current()->chunk_room()
                                                    : multifile->file->reading->current()->contiguous());
    if (in_file != nullptr)
      *in_file = writing ? INT64_MAX : static_cast<std::int64_t>(at.size - std::min(at.size, at.position));
    return {};
  });
}

// ---- Write -------------------------------------------------------------------------------------------------------

extern "C" tw_status tw_multifile_write(tw_multifile* multifile, const void* data, size_t bytes) {
  if (multifile != nullptr && data != nullptr && multifile->file->writing) {
    const InCall in_call(multifile);
    LogicalWriter* writer = in_call.ok() ? multifile->file->writing->current() : nullptr;
    if (writer != nullptr && writer->write_buffered(static_cast<const std::byte*>(data), bytes)) return TW_OK;
  }
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_write");
    if (!multifile->file->writing) return wrong_mode(*multifile, "tw_multifile_write");
    if (data == nullptr && bytes > 0) return null_argument("tw_multifile_write", "data");
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, multifile->file->writing->current_or_first());
    return multifile->file->writing->write(*writer, {static_cast<const std::byte*>(data), bytes});
  });
}

extern "C" tw_status tw_multifile_write_at(tw_multifile* multifile, const void* data, size_t bytes, int64_t offset) {
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_write_at");
    if (!multifile->file->writing) return wrong_mode(*multifile, "tw_multifile_write_at");
    if (data == nullptr && bytes > 0) return null_argument("tw_multifile_write_at", "data");
    if (offset < 0)
      return Status::error(Code::invalid_argument, "tw_multifile_write_at: offset is " + std::to_string(offset));
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, multifile->file->writing->current_or_first());
    const std::uint64_t before = writer->position();
    writer->seek(static_cast<std::uint64_t>(offset));
    const Status status = attempt([&] {
      return multifile->file->writing->write(*writer, {static_cast<const std::byte*>(data), bytes});
    });
    writer->seek(before);
    return status;
  });
}

extern "C" tw_status tw_multifile_flush(tw_multifile* multifile) {
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_flush");
    if (!multifile->file->writing) return wrong_mode(*multifile, "tw_multifile_flush");
    return multifile->file->writing->flush();
  });
}

extern "C" tw_status tw_multifile_sync(tw_multifile* multifile) {
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_sync");
    if (!multifile->file->writing) return wrong_mode(*multifile, "tw_multifile_sync");
    return multifile->file->writing->sync();
  });
}

// ---- Read --------------------------------------------------------------------------------------------------------

extern "C" tw_status tw_multifile_read(tw_multifile* multifile, void* data, size_t bytes, size_t* got) {
  if (multifile != nullptr && data != nullptr && multifile->file->reading) {
    LogicalReader* reader = multifile->file->reading->current();
    if (reader != nullptr && reader->read_window(static_cast<std::byte*>(data), bytes)) {
      if (got != nullptr) *got = bytes;
      return TW_OK;
    }
  }
  size_t ignored = 0;
  size_t& n = got != nullptr ? *got : ignored;
  n = 0;
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_read");
    if (!multifile->file->reading) return wrong_mode(*multifile, "tw_multifile_read");
    if (data == nullptr && bytes > 0) return null_argument("tw_multifile_read", "data");
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, multifile->file->reading->current_or_first());
    const Status status = reader->read(reader->position(), {static_cast<std::byte*>(data), bytes}, n);
    reader->seek(reader->position() + n);
    return status;
  });
}

extern "C" tw_status tw_multifile_skip_gap(tw_multifile* multifile, int64_t* skipped) {
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_skip_gap");
    if (skipped == nullptr) return null_argument("tw_multifile_skip_gap", "skipped");
    if (!multifile->file->reading) return wrong_mode(*multifile, "tw_multifile_skip_gap");
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, multifile->file->reading->current_or_first());
    const std::uint64_t before = reader->position();
    const std::uint64_t behind = std::max(before, reader->skip_zeros(before));
    reader->seek(behind);
    *skipped = static_cast<std::int64_t>(behind - before);
    return {};
  });
}

extern "C" tw_status tw_multifile_read_at(tw_multifile* multifile, void* data, size_t bytes, int64_t offset,
                                          size_t* got) {
  size_t ignored = 0;
  size_t& n = got != nullptr ? *got : ignored;
  n = 0;
  return guarded([&]() -> Status {
    TW_IN_CALL(multifile, "tw_multifile_read_at");
    if (!multifile->file->reading) return wrong_mode(*multifile, "tw_multifile_read_at");
    if (data == nullptr && bytes > 0) return null_argument("tw_multifile_read_at", "data");
    if (offset < 0)
      return Status::error(Code::invalid_argument, "tw_multifile_read_at: offset is " + std::to_string(offset));
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, multifile->file->reading->current_or_first());
    return reader->read(static_cast<std::uint64_t>(offset), {static_cast<std::byte*>(data), bytes}, n);
  });
}
