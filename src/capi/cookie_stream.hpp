// CookieStream: a FILE* on bytes of an open handle, through fopencookie(3). Its position is its own.
//
// When the handle is closed its streams are flushed and separated from it: from then on they fail with EBADF, and
// fclose() still frees them.
#pragma once

#include <cstdio>
#include <mutex>
#include <span>
#include <vector>

#include "capi/open_handle.hpp"

namespace thalweg {

class CookieStreams;

struct CookieStream {
  virtual ~CookieStream() = default;
  // Bytes from `offset` on; fewer at the end only.
  virtual Status read(std::uint64_t offset, std::span<std::byte> to, std::size_t& got) = 0;
  // Writes at `offset`, or where `at_end` at the end, to which `offset` is set.
  virtual Status write(std::uint64_t& offset, bool at_end, std::span<const std::byte> data) = 0;
  virtual Result<std::uint64_t> size() = 0;

  // Set by CookieStreams::open().
  OpenHandle* handle = nullptr;  // null: closed, while the stream is still open
  CookieStreams* all = nullptr;  // of the handle
  const char* name = "";         // of what is open, as its calls begin: "multifile"
  std::uint64_t position = 0;
  bool writes = false;
  bool append = false;  // each write goes to the end, wherever the stream was moved to
  FILE* stdio = nullptr;
  Status failure;  // the first write that failed
};

// The streams of a handle that fclose() has not ended. Several threads may open and close them.
class CookieStreams {
 public:
  ~CookieStreams() { separate(); }
  // Opens a FILE* on `stream` with its position there. `mode`: of fopencookie(3).
  template <class Handle>
  Status open(std::unique_ptr<CookieStream> stream, Handle& handle, const char* mode, std::uint64_t position,
              FILE** file) {
    stream->handle = &handle;
    stream->name = Handle::kName;
    stream->position = position;
    return open(std::move(stream), mode, file);
  }
  // Flushes the writing streams that no thread is inside of; fails where that fails, or an earlier write did.
  Status flush();
  // Flushes the writing streams, and separates all streams from the handle.
  Status end();
  void forget(CookieStream& stream);

 private:
  Status open(std::unique_ptr<CookieStream> stream, const char* mode, FILE** file);
  void separate();

  std::mutex mutex_;
  std::vector<CookieStream*> streams_;
};

}  // namespace thalweg
