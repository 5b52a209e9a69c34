// What a method leaves in its folder, and how much memory it took.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace methods {

struct FolderFacts {
  std::int64_t files = 0, folders = 0;  // folders: those that the method made in its own
  std::int64_t file_bytes = 0, stored_bytes = 0;
};
FolderFacts folder_facts(const std::string& folder);

// The most that this process's memory grows between begin and growth(). Nothing where the system does not tell.
class MemoryGrowth {
 public:
  MemoryGrowth();
  std::optional<std::int64_t> bytes() const;

 private:
  std::optional<std::int64_t> before_;
};

}  // namespace methods
