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

class CookieStream {
 public:
  virtual ~CookieStream() = default;
  // Bytes from `position` on; fewer at the end only.
  virtual Status read(std::uint64_t position, std::span<std::byte> to, std::size_t& got) = 0;
  // At `position`, or where `at_end` at the end, to which `position` is set.
  virtual Status write(std::uint64_t& position, bool at_end, std::span<const std::byte> data) = 0;
  virtual Result<std::uint64_t> size() = 0;

 private:
  friend class CookieStreams;
  friend struct CookieCalls;

  OpenHandle* handle_ = nullptr;  // null: closed, while the stream is still open
  CookieStreams* all_ = nullptr;  // of the handle
  const char* name_ = "";         // of what is open, as its calls begin: "multifile"
  std::uint64_t position_ = 0;
  bool writes_ = false;
  bool append_ = false;  // each write goes to the end, wherever the stream was moved to
  FILE* stdio_ = nullptr;
  Status failure_;  // the first write that failed
};

// The streams of a handle that fclose() has not ended. Several threads may open and close them.
class CookieStreams {
 public:
  ~CookieStreams() { separate(); }
  // Opens a FILE* on `stream` with its position there. `mode`: of fopencookie(3).
  Status open(std::unique_ptr<CookieStream> stream, OpenHandle& handle, const char* name, const char* mode,
              std::uint64_t position, FILE** file);
  // Flushes those that write and that no thread is inside of; a failure where there is one, or a write failed.
  Status flush();
  // Flushes those that write, and separates all from the handle.
  Status end();

 private:
  friend struct CookieCalls;
  void separate();

  std::mutex mutex_;
  std::vector<CookieStream*> streams_;
};

}  // namespace thalweg
