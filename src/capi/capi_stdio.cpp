// multifile.h, part five: a FILE* on a logical file, through fopencookie(3).
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "capi/guard.hpp"
#include "capi/multifile_handle.hpp"
#include "thalweg/multifile.h"

using namespace thalweg;

// The position of the FILE* is its own; that of the logical file in the handle is put back after each call.
struct OpenStream {
  tw_multifile* multifile = nullptr;  // null: closed, while the stream is still open
  std::uint64_t rank = 0;
  std::uint64_t position = 0;
  bool append = false;  // mode "a": each write goes to the end, wherever the stream was moved to
  FILE* stdio = nullptr;
  std::size_t place = 0;  // in the streams of the handle
};

namespace {

int to_errno(const Status& status) {
  (void)set_last_error(status);
  if (status.os_errno() != 0) return status.os_errno();
  return status.code() == Code::no_memory ? ENOMEM : status.code() == Code::corrupt_file ? EILSEQ : EIO;
}

// Whether calls on the multifile of the stream are possible; else errno and the message say why not.
bool is_usable(const OpenStream& cookie, const InCall& in_call) {
  if (in_call.ok()) return true;
  errno = EBADF;
  if (cookie.multifile != nullptr) {
    (void)set_last_error(in_call.refusal("a stream of tw_multifile_fopen()", "multifile"));
    return false;
  }
  const char* const what = "a stream of tw_multifile_fopen() was used behind tw_multifile_close(); fclose() it before";
  (void)set_last_error(Status::error(Code::invalid_argument, what, EBADF));
  return false;
}

ssize_t cookie_read(void* opaque, char* data, size_t bytes) {
  auto* cookie = static_cast<OpenStream*>(opaque);
  const InCall in_call(cookie->multifile);
  if (!is_usable(*cookie, in_call)) return -1;
  std::size_t got = 0;
  const Status status = attempt([&]() -> Status {
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, cookie->multifile->file->reading->reader(cookie->rank));
    return reader->read(cookie->position, {reinterpret_cast<std::byte*>(data), bytes}, got);
  });
  cookie->position += got;
  if (status.ok() || got > 0) return static_cast<ssize_t>(got);
  errno = to_errno(status);
  return -1;
}

ssize_t cookie_write(void* opaque, const char* data, size_t bytes) {
  auto* cookie = static_cast<OpenStream*>(opaque);
  const InCall in_call(cookie->multifile);
  if (!is_usable(*cookie, in_call)) return 0;
  const Status status = attempt([&]() -> Status {
    WriteHandle& handle = *cookie->multifile->file->writing;
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, handle.writer(cookie->rank));
    const std::uint64_t before = writer->position();
    if (cookie->append) cookie->position = writer->size();
    writer->seek(cookie->position);
    const Status written = handle.write(*writer, {reinterpret_cast<const std::byte*>(data), bytes});
    writer->seek(before);
    return written;
  });
  if (status.ok()) {
    cookie->position += bytes;
    return static_cast<ssize_t>(bytes);
  }
  errno = to_errno(status);
  return 0;  // fopencookie(3): a write function tells failure by 0
}

Result<std::uint64_t> size_of(const OpenStream& cookie) {
  if (cookie.multifile->file->writing) {
    TW_ASSIGN_OR_RETURN(const LogicalWriter* writer, cookie.multifile->file->writing->writer(cookie.rank));
    return writer->size();
  }
  TW_ASSIGN_OR_RETURN(const format::FileEntry entry, cookie.multifile->file->reading->entry(cookie.rank));
  return entry.bytes;
}

int cookie_seek(void* opaque, off64_t* offset, int whence) {
  auto* cookie = static_cast<OpenStream*>(opaque);
  const InCall in_call(cookie->multifile);
  if (!is_usable(*cookie, in_call)) return -1;
  std::int64_t from = whence == SEEK_CUR ? static_cast<std::int64_t>(cookie->position) : 0;
  if (whence == SEEK_END) {
    Result<std::uint64_t> size = size_of(*cookie);
    if (!size.has_value()) {
      errno = to_errno(size.error());
      return -1;
    }
    from = static_cast<std::int64_t>(*size);
  }
  std::int64_t position = 0;
  if (__builtin_add_overflow(from, *offset, &position) || position < 0) {
    errno = EINVAL;
    return -1;
  }
  cookie->position = static_cast<std::uint64_t>(position);
  *offset = position;
  return 0;
}

int cookie_close(void* opaque) {
  const std::unique_ptr<OpenStream> gone(static_cast<OpenStream*>(opaque));
  if (gone->multifile == nullptr) return 0;
  std::vector<OpenStream*>& streams = gone->multifile->streams;
  streams.back()->place = gone->place;
  std::swap(streams[gone->place], streams.back());
  streams.pop_back();
  return 0;
}

Status check_mode(const tw_multifile& multifile, const char* mode) {
  const bool writing = multifile.file->writing != nullptr;
  const bool known = *mode == 'r' || *mode == 'w' || *mode == 'a';
  if (known && std::strchr(mode, '+') == nullptr && writing == (*mode != 'r')) return {};
  return Status::error(Code::wrong_mode,
                       "tw_multifile_fopen: mode \"" + std::string(mode) + "\" on a multifile open for " +
                           (writing ? "writing: \"w\" and \"a\" are possible" : "reading: \"r\" is possible"));
}

}  // namespace

extern "C" tw_status tw_multifile_fopen(tw_multifile* multifile, int64_t rank, const char* mode, FILE** stream) {
  return guarded([&]() -> Status {
    if (stream == nullptr) return null_argument("tw_multifile_fopen", "stream");
    *stream = nullptr;
    TW_IN_CALL(multifile, "tw_multifile_fopen");
    if (mode == nullptr) return null_argument("tw_multifile_fopen", "mode");
    if (rank < 0) return Status::error(Code::invalid_argument, "tw_multifile_fopen: rank is " + std::to_string(rank));
    TW_RETURN_IF_ERROR(check_mode(*multifile, mode));
    auto cookie = std::make_unique<OpenStream>();
    cookie->multifile = multifile;
    cookie->rank = static_cast<std::uint64_t>(rank);
    cookie->append = *mode == 'a';
    if (multifile->file->writing) {
      TW_ASSIGN_OR_RETURN(const std::uint64_t size, size_of(*cookie));
      const bool at_end = cookie->append || multifile->file->writing->appending();
      cookie->position = at_end ? size : 0;
    } else {
      TW_RETURN_IF_ERROR(multifile->file->reading->reader(cookie->rank).status());
    }
    cookie->place = multifile->streams.size();
    multifile->streams.push_back(cookie.get());
    const cookie_io_functions_t functions{cookie_read, cookie_write, cookie_seek, cookie_close};
    *stream = ::fopencookie(cookie.get(), mode, functions);
    if (*stream == nullptr) {
      multifile->streams.pop_back();
      return Status::error(Code::no_memory, "fopencookie failed");
    }
    cookie.release()->stdio = *stream;
    return {};
  });
}

Status flush_streams(tw_multifile& multifile) {
  Status status;
  if (!multifile.file->writing) return status;
  for (const OpenStream* stream : multifile.streams) {
    if (::ftrylockfile(stream->stdio) != 0) {
      status = Status::error(Code::io_error, "a thread is inside of a stream of it");
      continue;
    }
    (void)std::fflush(stream->stdio);  // the handle keeps a failure
    ::funlockfile(stream->stdio);
  }
  return status;
}

void end_streams(tw_multifile& multifile) {
  for (OpenStream* stream : multifile.streams) {
    if (multifile.file->writing) (void)std::fflush(stream->stdio);
    stream->multifile = nullptr;
  }
  multifile.streams.clear();
}

tw_multifile::~tw_multifile() {
  for (OpenStream* stream : streams) stream->multifile = nullptr;
}
