// A FILE* on a logical file of a multifile, or on the stream of a VP.
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "capi/multifile_handle.hpp"
#include "capi/vpfile_handle.hpp"
#include "thalweg/multifile.h"

using namespace thalweg;

namespace {

int to_errno(const Status& status) {
  (void)set_last_error(status);
  if (status.os_errno() != 0) return status.os_errno();
  return status.code() == Code::no_memory ? ENOMEM : status.code() == Code::corrupt_file ? EILSEQ : EIO;
}

// Whether calls on the handle of the stream are possible; else errno and the message have the reason.
bool is_usable(const CookieStream& cookie, const InCall& in_call) {
  if (in_call.ok()) return true;
  errno = EBADF;
  const std::string what = std::string("a stream of tw_") + cookie.name + "_fopen()";
  if (cookie.handle != nullptr)
    (void)set_last_error(in_call.refusal(what.c_str(), cookie.name));
  else
    (void)set_last_error(
        Status::failed_call(Code::invalid_argument, EBADF,
                            fmt::format("{} was used behind tw_{}_close(); fclose() it before", what, cookie.name)));
  return false;
}

// The functions that fopencookie(3) calls.

ssize_t read_cookie(void* opaque, char* data, size_t bytes) {
  auto& cookie = *static_cast<CookieStream*>(opaque);
  const InCall in_call(cookie.handle);
  if (!is_usable(cookie, in_call)) return -1;
  std::size_t got = 0;
  const Status status = attempt([&] {
    return cookie.read(cookie.position, {reinterpret_cast<std::byte*>(data), bytes}, got);
  });
  cookie.position += got;
  if (status.ok() || got > 0) return static_cast<ssize_t>(got);
  errno = to_errno(status);
  return -1;
}

ssize_t write_cookie(void* opaque, const char* data, size_t bytes) {
  auto& cookie = *static_cast<CookieStream*>(opaque);
  const InCall in_call(cookie.handle);
  if (!is_usable(cookie, in_call)) return 0;
  const Status status = attempt([&] {
    return cookie.write(cookie.position, cookie.append, {reinterpret_cast<const std::byte*>(data), bytes});
  });
  if (status.ok()) {
    cookie.position += bytes;
    return static_cast<ssize_t>(bytes);
  }
  if (cookie.failure.ok()) cookie.failure = status;
  errno = to_errno(status);
  return 0;  // fopencookie(3): a write function reports failure by 0
}

int seek_cookie(void* opaque, off64_t* offset, int whence) {
  auto& cookie = *static_cast<CookieStream*>(opaque);
  const InCall in_call(cookie.handle);
  if (!is_usable(cookie, in_call)) return -1;
  std::int64_t from = whence == SEEK_CUR ? static_cast<std::int64_t>(cookie.position) : 0;
  if (whence == SEEK_END) {
    Result<std::uint64_t> size = cookie.size();
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
  cookie.position = static_cast<std::uint64_t>(position);
  *offset = position;
  return 0;
}

int close_cookie(void* opaque) {
  const std::unique_ptr<CookieStream> gone(static_cast<CookieStream*>(opaque));
  if (gone->handle != nullptr) gone->all->forget(*gone);
  return 0;
}

class LogicalFileStream final : public CookieStream {
 public:
  LogicalFileStream(Multifile& file, std::uint64_t rank) : file_(file), rank_(rank) {}
  Status read(std::uint64_t offset, std::span<std::byte> to, std::size_t& got) override {
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, file_.reading->reader(rank_));
    return reader->read(offset, to, got);
  }
  // The position of the logical file in the handle is put back.
  Status write(std::uint64_t& offset, bool at_end, std::span<const std::byte> data) override {
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, file_.writing->writer(rank_));
    const std::uint64_t before = writer->position();
    if (at_end) offset = writer->size();
    writer->seek(offset);
    const Status written = file_.writing->write(*writer, data);
    writer->seek(before);
    return written;
  }
  Result<std::uint64_t> size() override { return logical_bytes(file_, rank_); }

 private:
  Multifile& file_;
  std::uint64_t rank_;
};

class VpCookieStream final : public CookieStream {
 public:
  VpCookieStream(VpFile& file, std::uint64_t local) : stream_(file.stream(local)) {}
  Status read(std::uint64_t offset, std::span<std::byte> to, std::size_t& got) override {
    TW_ASSIGN_OR_RETURN(got, stream_.read_at(offset, to));
    return {};
  }
  Status write(std::uint64_t& offset, bool at_end, std::span<const std::byte> data) override {
    return stream_.write_at(offset, at_end, data);
  }
  Result<std::uint64_t> size() override { return stream_.size(); }

 private:
  VpStream stream_;
};

Status check_mode(const tw_multifile& multifile, const char* mode) {
  const bool writing = multifile.file->writing != nullptr;
  const bool known = *mode == 'r' || *mode == 'w' || *mode == 'a';
  if (known && std::strchr(mode, '+') == nullptr && writing == (*mode != 'r')) return {};
  return Status::error(Code::wrong_mode, "tw_multifile_fopen: mode \"{}\" on a multifile open for {}", mode,
                       writing ? "writing: \"w\" and \"a\" are possible" : "reading: \"r\" is possible");
}

Status check_mode(const VpFile& file, const char* mode) {
  const bool known = *mode == 'r' || *mode == 'w' || *mode == 'a';
  const bool plus = std::strchr(mode, '+') != nullptr;
  const bool reads = *mode == 'r' || plus;
  const bool writes = *mode != 'r' || plus;
  if (known && (!reads || file.may_read()) && (!writes || file.may_write())) return {};
  return Status::error(Code::wrong_mode, "tw_vpfile_fopen: mode \"{}\" on '{}', which is open for {}", mode,
                       file.path(),
                       !file.may_write() ? "reading"
                       : file.may_read() ? "reading and writing"
                                         : "writing");
}

}  // namespace

namespace thalweg {

Status CookieStreams::open(std::unique_ptr<CookieStream> stream, const char* mode, FILE** file) {
  stream->all = this;
  stream->writes = *mode != 'r' || std::strchr(mode, '+') != nullptr;
  stream->append = *mode == 'a';
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream.get());
  *file = ::fopencookie(stream.get(), mode, {read_cookie, write_cookie, seek_cookie, close_cookie});
  if (*file == nullptr) {
    streams_.pop_back();
    return Status::error(Code::no_memory, "fopencookie failed");
  }
  stream.release()->stdio = *file;
  return {};
}

void CookieStreams::forget(CookieStream& stream) {
  const std::lock_guard lock(mutex_);
  std::erase(streams_, &stream);
}

Status CookieStreams::flush() {
  Status status;
  for (CookieStream* stream : streams_) {
    if (!stream->writes) continue;
    if (::ftrylockfile(stream->stdio) != 0) {
      status = Status::error(Code::io_error, "a thread is inside of a stream of it");
      continue;
    }
    if (std::fflush(stream->stdio) != 0 && status.ok()) status = stream->failure;
    ::funlockfile(stream->stdio);
  }
  return status;
}

Status CookieStreams::end() {
  Status status;
  for (CookieStream* stream : streams_) {
    if (!stream->writes) continue;  // a flush would drop what stdio has read ahead
    (void)std::fflush(stream->stdio);
    if (status.ok()) status = stream->failure;
  }
  separate();
  return status;
}

void CookieStreams::separate() {
  for (CookieStream* stream : streams_) stream->handle = nullptr;
  streams_.clear();
}

}  // namespace thalweg

extern "C" tw_status tw_multifile_fopen(tw_multifile* multifile, int64_t rank, const char* mode, FILE** stream) {
  if (stream != nullptr) *stream = nullptr;
  return on_handle(multifile, "tw_multifile_fopen", [&](tw_multifile& open) -> Status {
    if (stream == nullptr) return null_argument("tw_multifile_fopen", "stream");
    if (mode == nullptr) return null_argument("tw_multifile_fopen", "mode");
    if (rank < 0) return invalid_argument("tw_multifile_fopen", "rank is {}", rank);
    TW_RETURN_IF_ERROR(check_mode(open, mode));
    Multifile& file = *open.file;
    auto cookie = std::make_unique<LogicalFileStream>(file, static_cast<std::uint64_t>(rank));
    std::uint64_t position = 0;
    if (file.writing) {
      TW_ASSIGN_OR_RETURN(const std::uint64_t size, cookie->size());
      if (*mode == 'a' || file.writing->appending()) position = size;
    } else {
      TW_RETURN_IF_ERROR(file.reading->reader(static_cast<std::uint64_t>(rank)).status());
    }
    return open.streams.open(std::move(cookie), open, mode, position, stream);
  });
}

extern "C" tw_status tw_vpfile_fopen(tw_vpfile* vpfile, int64_t vp, const char* mode, FILE** stream) {
  if (stream != nullptr) *stream = nullptr;
  return on_handle(vpfile, "tw_vpfile_fopen", [&](tw_vpfile& open) -> Status {
    if (stream == nullptr) return null_argument("tw_vpfile_fopen", "stream");
    if (mode == nullptr) return null_argument("tw_vpfile_fopen", "mode");
    TW_ASSIGN_OR_RETURN(const std::uint64_t local, local_of(open, vp));
    TW_RETURN_IF_ERROR(check_mode(*open.impl, mode));
    auto cookie = std::make_unique<VpCookieStream>(*open.impl, local);
    std::uint64_t position = 0;
    if (*mode == 'a') {
      TW_ASSIGN_OR_RETURN(position, cookie->size());
    }
    return open.streams.open(std::move(cookie), open, mode, position, stream);
  });
}
