// Files left by a method in its folder, and its memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace probe {

struct FolderFacts {
  std::int64_t files = 0, folders = 0;  // folders: those created by the method
  std::int64_t file_bytes = 0, stored_bytes = 0;
};
FolderFacts folder_facts(const std::string& folder);

// Peak growth of this process's memory between begin() and growth(). No value where the system does not report it.
class MemoryGrowth {
 public:
  MemoryGrowth();
  std::optional<std::int64_t> bytes() const;

 private:
  std::optional<std::int64_t> before_;
};

}  // namespace probe
