// CookieStream: a FILE* on a stream of an open handle, through fopencookie(3). It has the position of that stream.
//
// stdio keeps bytes in memory. So before a call of the handle on the same stream they are settled: what was written
// goes to the stream, and what was read ahead is given back, so that the position is where the program sees it.
//
// When the handle is closed its streams are flushed and separated from it: from then on they fail with EBADF, and
// fclose() still frees them.
#pragma once

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <span>

#include "capi/open_handle.hpp"

namespace thalweg {

class CookieStreams;

struct CookieStream {
  virtual ~CookieStream() = default;
  // At the position, which advances. Reads fewer bytes at the end only.
  virtual Status read(std::span<std::byte> to, std::size_t& got) = 0;
  virtual Status write(std::span<const std::byte> data) = 0;
  virtual Result<std::uint64_t> position() = 0;
  virtual Status seek(std::uint64_t position, bool at_end) = 0;  // at_end: the FILE* has met the end there
  virtual Result<std::uint64_t> size() = 0;

  // Set by CookieStreams::open().
  OpenHandle* handle = nullptr;  // null: closed, while the stream is still open
  CookieStreams* all = nullptr;  // of the handle
  const char* name = "";         // of what is open, as its calls begin: "multifile"
  bool writes = false;
  bool append = false;  // each write goes to the end, wherever the stream was moved to
  FILE* stdio = nullptr;
  std::uint64_t number = 0;  // of what is open, in the handle
  bool has_read = false;     // since it was settled
  Status failure;            // the first write that failed
};

// The streams of a handle that fclose() has not ended. Several threads may open and close them.
class CookieStreams {
 public:
  ~CookieStreams() { separate(); }
  // Opens a FILE* on stream `number`. `mode`: of fopencookie(3).
  template <class Handle>
  Status open(std::unique_ptr<CookieStream> stream, Handle& handle, const char* mode, std::uint64_t number,
              FILE** file) {
    stream->handle = &handle;
    stream->name = Handle::kName;
    return open(std::move(stream), mode, number, file);
  }
  bool is_empty() const { return count_.load(std::memory_order_acquire) == 0; }
  // Settles every FILE* on stream `number`; fails where a thread is inside of one, or writing fails. `moves`: the call
  // sets the position, so a FILE* that met the end can go on.
  Status settle(std::uint64_t number, bool moves = false) {
    return is_empty() ? Status{} : settle_open(number, number, moves);
  }
  Status settle_all(bool moves = false) { return is_empty() ? Status{} : settle_open(0, ~std::uint64_t{0}, moves); }
  // Flushes the writing streams, and separates all streams from the handle. Returns failure().
  Status end();
  Status failure() const;  // the first write of any stream that failed
  void forget(const CookieStream& stream);
  void keep(const Status& failure);

 private:
  Status open(std::unique_ptr<CookieStream> stream, const char* mode, std::uint64_t number, FILE** file);
  Status settle_open(std::uint64_t first, std::uint64_t last, bool moves);
  void separate();

  mutable std::mutex mutex_;
  std::multimap<std::uint64_t, CookieStream*> streams_;  // guarded by mutex_; by number
  Status failure_;                                       // guarded by mutex_
  std::atomic<std::size_t> count_{0};
};

}  // namespace thalweg
