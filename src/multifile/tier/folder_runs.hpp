// The bytes of the physical files in a folder of a tier, without the pages that are all zeros: those may hold bytes of
// another part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/wire.hpp"
#include "storage/backend.hpp"

namespace thalweg {

class FolderRuns {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  // `first`: physical file 0.
  FolderRuns(Backend& backend, std::string first) : backend_(backend), first_(std::move(first)) {}

  // Goes to the next run of pages, of at most kMostBytes; false behind the last one.
  Result<bool> next();
  // The end of the name of its physical file: "" or ".000001", ...
  const std::string& suffix() const { return suffixes_[file_number_]; }
  std::uint64_t offset() const { return offset_; }
  ByteSpan data() const { return data_; }

 private:
  Result<bool> open_next();
  bool take_run();

  Backend& backend_;
  const std::string first_;
  std::vector<std::string> suffixes_;
  std::size_t file_number_ = 0;
  std::unique_ptr<StoredFile> file_;
  Bytes buffer_;
  ByteSpan rest_;                  // of buffer_: not yet looked at
  std::uint64_t rest_offset_ = 0;  // of rest_
  std::uint64_t offset_ = 0;
  ByteSpan data_;
};

}  // namespace thalweg
