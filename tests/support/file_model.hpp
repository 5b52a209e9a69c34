// What a file holds, by what has been written to it: a model that says byte by byte whether an access was right.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/engine_cases.hpp"

namespace thalweg::test {

// An access, its memory, and what came of it.
struct DoneAccess {
  Case what;
  bool refused = false;    // for its arguments
  std::uint64_t base = 0;  // the shared position before it
  std::vector<std::shared_ptr<Buffer>> buffers;
  Status status;
};

// What is wrong, where something is: "" is all well.
class FileModel {
 public:
  using Bytes = std::vector<std::byte>;
  FileModel() = default;
  FileModel(TaskRank tasks, Bytes content) : tasks_(tasks), content_(std::move(content)) {}

  std::uint64_t size() const { return content_.size(); }
  // Nothing has been written: `got` is the file.
  std::string check_same(const Bytes& got) const;
  // These were written at once, and the file is `now`: each byte from one of its writers. Where all of them failed it
  // may also be as it was. The model goes on from there.
  std::string take_written(const std::vector<DoneAccess>& done, Bytes now);
  // Task `r` has read, and was told of `moved` bytes.
  std::string check_read(const DoneAccess& one, TaskRank r, std::uint64_t moved) const;

 private:
  struct Marks;
  Marks mark(const std::vector<DoneAccess>& done, const Bytes& now) const;

  TaskRank tasks_ = 0;
  Bytes content_;
};

}  // namespace thalweg::test
