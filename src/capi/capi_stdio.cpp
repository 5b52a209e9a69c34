// A FILE* on a logical file of a multifile, or on the stream of a VP.
#include <fmt/core.h>
#include <stdio_ext.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// Takes from the FILE* what it holds of bytes that were read, or came back by ungetc().
Status give_back(CookieStream& cookie) {
  if (::__fwriting(cookie.stdio) != 0) return {};
  TW_RETURN_IF_ERROR(cookie.position().status());
  const off64_t at = std::max<off64_t>(::ftello64(cookie.stdio), 0);
  ::__fpurge(cookie.stdio);
  const bool at_end = !std::exchange(cookie.has_read, false) || std::feof(cookie.stdio) != 0;
  return cookie.seek(static_cast<std::uint64_t>(at), at_end);
}

Status settle_one(CookieStream& cookie, bool moves) {
  if (::ftrylockfile(cookie.stdio) != 0)
    return Status::error(Code::io_error, "a FILE* of tw_{}_fopen() is locked by another thread", cookie.name);
  Status status = attempt([&] { return give_back(cookie); });
  // Also where nothing is to be written: stdio forgets the position that it remembers.
  if (std::fflush(cookie.stdio) != 0 && status.ok()) status = cookie.failure;
  if (moves && std::ferror(cookie.stdio) == 0) std::clearerr(cookie.stdio);
  ::funlockfile(cookie.stdio);
  return status;
}

// The functions that fopencookie(3) calls.

ssize_t read_cookie(void* opaque, char* data, size_t bytes) {
  auto& cookie = *static_cast<CookieStream*>(opaque);
  const InCall in_call(cookie.handle);
  if (!is_usable(cookie, in_call)) return -1;
  cookie.has_read = true;
  std::size_t got = 0;
  const Status status = attempt([&] { return cookie.read({reinterpret_cast<std::byte*>(data), bytes}, got); });
  if (status.ok() || got > 0) return static_cast<ssize_t>(got);
  errno = to_errno(status);
  return -1;
}

ssize_t write_cookie(void* opaque, const char* data, size_t bytes) {
  auto& cookie = *static_cast<CookieStream*>(opaque);
  const InCall in_call(cookie.handle);
  if (!is_usable(cookie, in_call)) return 0;
  const Status status = attempt([&] { return cookie.write({reinterpret_cast<const std::byte*>(data), bytes}); });
#ifdef __GLIBC__
  cookie.stdio->_offset = -1;  // unknown: glibc adds nothing to it here, and would seek from a wrong place
#endif
  if (status.ok()) return static_cast<ssize_t>(bytes);
  if (cookie.failure.ok()) cookie.all->keep(cookie.failure = status);
  errno = to_errno(status);
  return 0;  // fopencookie(3): a write function reports failure by 0
}

int seek_cookie(void* opaque, off64_t* offset, int whence) {
  auto& cookie = *static_cast<CookieStream*>(opaque);
  const InCall in_call(cookie.handle);
  if (!is_usable(cookie, in_call)) return -1;
  const Status status = attempt([&]() -> Status {
    std::uint64_t from = 0;
    if (whence != SEEK_SET) {
      TW_ASSIGN_OR_RETURN(from, whence == SEEK_END ? cookie.size() : cookie.position());
    }
    std::int64_t position = 0;
    if (__builtin_add_overflow(static_cast<std::int64_t>(from), *offset, &position) || position < 0)
      return Status::failed_call(Code::invalid_argument, EINVAL, fmt::format("{} + {} is no position", from, *offset));
    if (whence != SEEK_CUR || *offset != 0)
      TW_RETURN_IF_ERROR(cookie.seek(static_cast<std::uint64_t>(position), false));
    *offset = position;
    return {};
  });
  if (status.ok()) return 0;
  errno = to_errno(status);
  return -1;
}

int close_cookie(void* opaque) {
  const std::unique_ptr<CookieStream> gone(static_cast<CookieStream*>(opaque));
  if (gone->handle == nullptr) return 0;
  gone->all->forget(*gone);
  const InCall in_call(gone->handle);
  const Status status = in_call.ok() ? attempt([&] { return give_back(*gone); }).or_else(gone->failure) : Status{};
  if (status.ok()) return 0;
  errno = to_errno(status);
  return -1;
}

class LogicalFileStream final : public CookieStream {
 public:
  LogicalFileStream(Multifile& file, std::uint64_t rank) : file_(file), rank_(rank) {}
  Status read(std::span<std::byte> to, std::size_t& got) override {
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, file_.reading->reader(rank_));
    const Status status = reader->read(reader->position(), to, got);
    reader->seek(reader->position() + got);
    return status;
  }
  Status write(std::span<const std::byte> data) override {
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, file_.writing->writer(rank_));
    if (append) writer->seek(writer->size());
    return file_.writing->write(*writer, data);
  }
  Result<std::uint64_t> position() override {
    return on_file([](auto& one) { return one.position(); });
  }
  Status seek(std::uint64_t position, bool) override {
    return on_file([&](auto& one) { return one.seek(position), position; }).status();
  }
  Result<std::uint64_t> size() override { return logical_bytes(file_, rank_); }

 private:
  // `body(writer or reader of the logical file)`
  template <class Body>
  Result<std::uint64_t> on_file(Body body) {
    if (file_.writing) {
      TW_ASSIGN_OR_RETURN(LogicalWriter * writer, file_.writing->writer(rank_));
      return body(*writer);
    }
    TW_ASSIGN_OR_RETURN(LogicalReader * reader, file_.reading->reader(rank_));
    return body(*reader);
  }

  Multifile& file_;
  std::uint64_t rank_;
};

class VpCookieStream final : public CookieStream {
 public:
  VpCookieStream(VpFile& file, std::uint64_t local) : stream_(file.stream(local)) {}
  // A byte that was pushed back comes alone, and is kept, so that it can be pushed back again.
  Status read(std::span<std::byte> to, std::size_t& got) override {
    const bool pushed = stream_.has_pushed();
    auto done = stream_.read(pushed ? to.first(1) : to);
    if (!done.has_value()) return failed_read = done.error();
    got = *done;
    if (!pushed) return {};
    pushed_ += static_cast<char>(to[0]);
    behind_pushed_ = stream_.position();
    return {};
  }
  Status write(std::span<const std::byte> data) override {
    if (append) TW_RETURN_IF_ERROR(stream_.seek(0, SEEK_END, 0));
    return stream_.write(data).status();
  }
  Result<std::uint64_t> position() override { return stream_.position(); }
  Status seek(std::uint64_t position, bool at_end) override {
    std::string pushed = std::exchange(pushed_, {});
    const bool in_pushed = position < behind_pushed_ && behind_pushed_ - position <= pushed.size();
    const std::uint64_t target = in_pushed ? behind_pushed_ : position;
    if (target != stream_.position()) TW_RETURN_IF_ERROR(stream_.seek(static_cast<std::int64_t>(target), SEEK_SET, 0));
    for (; in_pushed && stream_.position() > position; pushed.pop_back())
      TW_RETURN_IF_ERROR(stream_.push_back(static_cast<std::byte>(pushed.back())));
    if (!at_end) stream_.clear(StreamState::kEof);
    return {};
  }
  Result<std::uint64_t> size() override { return stream_.size(); }

  Status failed_read;

 private:
  VpStream stream_;
  std::string pushed_;               // bytes read that had been pushed back
  std::uint64_t behind_pushed_ = 0;  // the position behind the last of them
};

Status check_mode(const char* call, const std::string& path, const char* mode, bool may_read, bool may_write) {
  const bool plus = std::strchr(mode, '+') != nullptr;
  const bool known = *mode == 'r' || *mode == 'w' || *mode == 'a';
  if (known && (may_read || (*mode != 'r' && !plus)) && (may_write || (*mode == 'r' && !plus))) return {};
  const char* possible = "writing: \"w\" and \"a\" are possible";
  if (may_read) possible = may_write ? "reading and writing: begin with r, w or a" : "reading: \"r\" is possible";
  return Status::error(Code::wrong_mode, "{}: mode \"{}\" on '{}', which is open for {}", call, mode, path, possible);
}

}  // namespace

namespace thalweg {

Status CookieStreams::open(std::unique_ptr<CookieStream> stream, const char* mode, std::uint64_t number, FILE** file) {
  stream->all = this;
  stream->number = number;
  stream->writes = *mode != 'r' || std::strchr(mode, '+') != nullptr;
  stream->append = *mode == 'a';
  TW_RETURN_IF_ERROR(settle(number));
  if (stream->append) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, stream->size());
    TW_RETURN_IF_ERROR(stream->seek(size, true));
  }
  const std::lock_guard lock(mutex_);
  const auto place = streams_.emplace(number, stream.get());
  *file = ::fopencookie(stream.get(), mode, {read_cookie, write_cookie, seek_cookie, close_cookie});
  if (*file == nullptr) {
    streams_.erase(place);
    return Status::error(Code::no_memory, "fopencookie failed");
  }
  stream.release()->stdio = *file;
  ++count_;
  return {};
}

void CookieStreams::forget(const CookieStream& stream) {
  const std::lock_guard lock(mutex_);
  auto [one, end] = streams_.equal_range(stream.number);
  while (one != end && one->second != &stream) ++one;
  streams_.erase(one);
  --count_;
}

void CookieStreams::keep(const Status& failure) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = failure;
}

Status CookieStreams::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status CookieStreams::settle_open(std::uint64_t first, std::uint64_t last, bool moves) {
  std::vector<CookieStream*> found;
  {
    const std::lock_guard lock(mutex_);
    for (auto one = streams_.lower_bound(first); one != streams_.upper_bound(last); ++one) found.push_back(one->second);
  }
  Status status;
  for (CookieStream* stream : found) {
    status = settle_one(*stream, moves).or_else(status);
  }
  return status;
}

Status CookieStreams::end() {
  for (const auto& [number, stream] : streams_)
    if (stream->writes) (void)std::fflush(stream->stdio);  // of others it would drop what stdio has read ahead
  separate();
  return failure();
}

void CookieStreams::separate() {
  for (const auto& [number, stream] : streams_) stream->handle = nullptr;
  streams_.clear();
  count_ = 0;
}

Status read_as_stdio(tw_vpfile& vpfile, std::uint64_t local, const std::function<void(FILE* stream)>& read) {
  auto made = std::make_unique<VpCookieStream>(*vpfile.impl, local);
  VpCookieStream& cookie = *made;
  FILE* stream = nullptr;
  TW_RETURN_IF_ERROR(vpfile.streams.open(std::move(made), vpfile, "r", local, &stream));
  read(stream);
  Status status = cookie.failed_read.ok() ? settle_one(cookie, false) : cookie.failed_read;
  std::fclose(stream);
  return status;
}

}  // namespace thalweg

extern "C" tw_status tw_multifile_fopen(tw_multifile* multifile, int64_t rank, const char* mode, FILE** stream) {
  if (stream != nullptr) *stream = nullptr;
  return on_handle(multifile, "tw_multifile_fopen", [&](tw_multifile& open) -> Status {
    if (stream == nullptr) return null_argument("tw_multifile_fopen", "stream");
    if (mode == nullptr) return null_argument("tw_multifile_fopen", "mode");
    if (rank < 0) return invalid_argument("tw_multifile_fopen", "rank is {}", rank);
    Multifile& file = *open.file;
    const std::string path = file.writing ? file.writing->files().path() : file.reading->files().path();
    TW_RETURN_IF_ERROR(check_mode("tw_multifile_fopen", path, mode, !file.writing, file.writing != nullptr));
    const auto number = static_cast<std::uint64_t>(rank);
    auto cookie = std::make_unique<LogicalFileStream>(file, number);
    TW_RETURN_IF_ERROR(cookie->position().status());  // it is served here
    return open.streams.open(std::move(cookie), open, mode, number, stream);
  });
}

extern "C" tw_status tw_vpfile_fopen(tw_vpfile* vpfile, int64_t vp, const char* mode, FILE** stream) {
  if (stream != nullptr) *stream = nullptr;
  return on_handle(vpfile, "tw_vpfile_fopen", [&](tw_vpfile& open) -> Status {
    if (stream == nullptr) return null_argument("tw_vpfile_fopen", "stream");
    if (mode == nullptr) return null_argument("tw_vpfile_fopen", "mode");
    TW_ASSIGN_OR_RETURN(const std::uint64_t local, local_of(open, vp));
    TW_RETURN_IF_ERROR(
        check_mode("tw_vpfile_fopen", open.impl->path(), mode, open.impl->may_read(), open.impl->may_write()));
    return open.streams.open(std::make_unique<VpCookieStream>(*open.impl, local), open, mode, local, stream);
  });
}
