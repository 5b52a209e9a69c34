#include "facts.hpp"

#include <malloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "method.hpp"

namespace probe {

namespace {

// A line of /proc/self/status, in bytes.
std::optional<std::int64_t> status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name + ":")) continue;
    constexpr std::int64_t kKiB = 1024;
    return std::stoll(line.substr(name.size() + 1)) * kKiB;
  }
  return std::nullopt;
}

}  // namespace

FolderFacts folder_facts(const std::string& folder) {
  FolderFacts facts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) {
      ++facts.folders;
      continue;
    }
    struct stat found {};
    if (::stat(entry.path().c_str(), &found) != 0) fail_errno("look at", entry.path().string());
    constexpr std::int64_t kBlock = 512;  // unit of st_blocks on every file system
    ++facts.files;
    facts.file_bytes += found.st_size;
    facts.stored_bytes += found.st_blocks * kBlock;
  }
  return facts;
}

MemoryGrowth::MemoryGrowth() {
  ::malloc_trim(0);  // returns freed memory, which would hide new allocations
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;  // resets the peak (proc(5))
  if (reset) before_ = status_bytes("VmRSS");
}

std::optional<std::int64_t> MemoryGrowth::bytes() const {
  const auto most = status_bytes("VmHWM");
  if (!before_ || !most) return std::nullopt;
  return std::max<std::int64_t>(0, *most - *before_);
}

}  // namespace probe
