// Multifiles and files of SIONlib with equal calls: OurStream and SionStream have one stream of each rank, OurSmall
// and SionSmall many small ones of one process.
#ifndef BENCH_SION_STREAMS_HPP
#define BENCH_SION_STREAMS_HPP

#include <fmt/format.h>
#include <mpi.h>
#include <sion.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

#include "support/scratch.hpp"

namespace bench {

inline constexpr sion_int32 kBlockOfFileSystem = -1;  // detected by SIONlib

inline void must_sion(bool good, const char* what, const std::string& path) {
  if (!good) give_up(fmt::format("SIONlib cannot {} '{}'", what, path));
}

// One use of a file, by either library.
struct FileUse {
  std::string path;
  int files = 1;           // physical files
  std::int64_t bytes = 0;  // of a stream
  bool writes = false;
  bool sealed = false;  // with checksums
};

// n: logical files, all served here; 0: one for each task.
inline thalweg::Options options_of(const FileUse& use, std::int64_t n = 0) {
  thalweg::Options options;
  options.hints(fmt::format("physical_files={},checksum={}", use.files, use.sealed ? "crc32c" : "none"));
  if (n > 0 && use.writes) options.range(n, 0, n);
  return options;
}

inline int flags_of(const FileUse& use) { return use.writes ? TW_CREATE | TW_TRUNCATE : TW_READ; }

class OurStream {
 public:
  OurStream(const thalweg::Group& group, const FileUse& use)
      : file_(group, use.path, flags_of(use), options_of(use)), handle_(file_.get()) {}
  void write(const std::byte* data, std::size_t n) { thalweg::check(tw_multifile_write(handle_, data, n)); }
  bool read(std::byte* data, std::size_t n) {
    std::size_t got = 0;
    thalweg::check(tw_multifile_read(handle_, data, n, &got));
    return got == n;
  }
  void close() { file_.close(); }

 private:
  thalweg::Multifile file_;
  tw_multifile* handle_;
};

class SionStream {
 public:
  SionStream(const thalweg::Group& /*group*/, const FileUse& use) : path_(use.path) {
    int files = use.files, rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm of_file = MPI_COMM_WORLD;
    sion_int64 chunk = use.bytes;
    sion_int32 block = kBlockOfFileSystem;
    sid_ = sion_paropen_mpi(path_.data(), use.writes ? "bw" : "br", &files, MPI_COMM_WORLD, &of_file, &chunk, &block,
                            &rank, nullptr, nullptr);
    must_sion(sid_ >= 0, "open", path_);
  }
  void write(const std::byte* data, std::size_t n) { must_sion(sion_fwrite(data, 1, n, sid_) == n, "write", path_); }
  bool read(std::byte* data, std::size_t n) { return sion_fread(data, 1, n, sid_) == n; }
  void close() { must_sion(sion_parclose_mpi(sid_) == SION_SUCCESS, "close", path_); }

 private:
  std::string path_;
  int sid_;
};

class OurSmall {
 public:
  OurSmall(const FileUse& use, std::int64_t n)
      : file_(use.path, flags_of(use), options_of(use, n)), handle_(file_.get()) {}
  void write(std::int64_t i, const std::byte* data, std::size_t n) {
    thalweg::check(tw_multifile_seek_to(handle_, i, 0));
    thalweg::check(tw_multifile_write(handle_, data, n));
  }
  bool read(std::int64_t i, std::byte* data, std::size_t n) {
    thalweg::check(tw_multifile_seek_to(handle_, i, 0));
    std::size_t got = 0;
    thalweg::check(tw_multifile_read(handle_, data, n, &got));
    return got == n;
  }
  void close() { file_.close(); }
  static bool read_one(const FileUse& use, std::int64_t i, std::byte* data, std::size_t n) {
    thalweg::Multifile file(use.path, TW_READ, thalweg::Options().ranks(-1, std::span(&i, 1)));
    const bool whole = file.read(data, n) == n;
    file.close();
    return whole;
  }

 private:
  thalweg::Multifile file_;
  tw_multifile* handle_;
};

class SionSmall {
 public:
  SionSmall(const FileUse& use, std::int64_t n)
      : path_(use.path), chunks_(static_cast<std::size_t>(n), use.bytes), ranks_(static_cast<std::size_t>(n)) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i] = static_cast<int>(i);
    int tasks = static_cast<int>(n), files = 1;
    sion_int32 block = kBlockOfFileSystem;
    sion_int64* chunks = use.writes ? chunks_.data() : nullptr;
    int* ranks = use.writes ? ranks_.data() : nullptr;
    sid_ = sion_open(path_.data(), use.writes ? "bw" : "br", &tasks, &files, &chunks, &block, &ranks, nullptr);
    must_sion(sid_ >= 0, "open", path_);
  }
  void write(std::int64_t i, const std::byte* data, std::size_t n) {
    seek(i, SION_CURRENT_BLK, SION_CURRENT_POS);  // a new file can be written in no other order
    must_sion(sion_fwrite(data, 1, n, sid_) == n, "write", path_);
  }
  bool read(std::int64_t i, std::byte* data, std::size_t n) {
    seek(i, 0, 0);
    return sion_fread(data, 1, n, sid_) == n;
  }
  void close() { must_sion(sion_close(sid_) == SION_SUCCESS, "close", path_); }
  static bool read_one(const FileUse& use, std::int64_t i, std::byte* data, std::size_t n) {
    std::string path = use.path;
    int rank = static_cast<int>(i);
    sion_int64 chunk = 0;
    sion_int32 block = kBlockOfFileSystem;
    const int sid = sion_open_rank(path.data(), "br", &chunk, &block, &rank, nullptr);
    must_sion(sid >= 0, "open", path);
    const bool whole = sion_fread(data, 1, n, sid) == n;
    must_sion(sion_close(sid) == SION_SUCCESS, "close", path);
    return whole;
  }

 private:
  void seek(std::int64_t i, int block, sion_int64 position) {
    must_sion(sion_seek(sid_, static_cast<int>(i), block, position) == SION_SUCCESS, "seek in", path_);
  }

  std::string path_;
  std::vector<sion_int64> chunks_;
  std::vector<int> ranks_;
  int sid_;
};

}  // namespace bench

#endif
