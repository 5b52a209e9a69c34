// Model of the content of a file, built from the writes made to it; checks accesses byte by byte.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/engine/engine_cases.hpp"

namespace thalweg::test {

// An access, its memory, and its result.
struct DoneAccess {
  Case what;
  bool refused = false;    // because of wrong arguments
  std::uint64_t base = 0;  // shared position before the access
  std::vector<std::shared_ptr<Buffer>> buffers;
  Status status;
};

// Checks return "" on success, else what is wrong.
class FileModel {
 public:
  using Bytes = std::vector<std::byte>;
  FileModel() = default;
  FileModel(TaskRank tasks, Bytes content) : tasks_(tasks), content_(std::move(content)) {}

  std::uint64_t size() const { return content_.size(); }
  // Checks that `got` equals the file when nothing was written since.
  std::string check_same(const Bytes& got) const;
  // Checks `now`, the file after concurrent writes: each byte comes from one of its writers. Where all of them failed
  // the old byte is allowed. The model then adopts `now`.
  std::string take_written(const std::vector<DoneAccess>& done, Bytes now);
  // Checks a read of task `r` that reported `moved` bytes.
  std::string check_read(const DoneAccess& one, TaskRank r, std::uint64_t moved) const;

 private:
  struct Marks;
  Marks mark(const std::vector<DoneAccess>& done, const Bytes& now) const;

  TaskRank tasks_ = 0;
  Bytes content_;
};

}  // namespace thalweg::test
