#include "scratch_folder.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr long kTmpfs = 0x01021994;

// Bytes available to processes without swapping; 0: unknown.
double available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("MemAvailable:", 0) == 0) return std::strtod(line.c_str() + 13, nullptr) * 1024;
  return 0;
}

std::string size_of(double bytes) { return short_size(static_cast<int64_t>(bytes)); }

}  // namespace

ScratchFolder::ScratchFolder(const std::string& parent) {
  std::string name = parent + "/thalweg-methods-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) fail_with_errno("create a folder in", parent);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) say(fmt::format("'{}' could not be removed: {}", path_, error.message()));
}

void check_room_and_memory(const std::string& folder, double stored, double held) {
  struct statvfs system = {};
  struct statfs kind = {};
  if (statvfs(folder.c_str(), &system) != 0 || statfs(folder.c_str(), &kind) != 0)
    fail_with_errno("look at folder", folder);
  const double room = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
  if (room < stored)
    throw Failure(kInputOutput,
                  fmt::format("'{}' has {} of free space, {} are needed; choose a smaller --size or another --dir",
                              folder, size_of(room), size_of(stored)));
  if (kind.f_type == kTmpfs) held += stored;
  const double memory = available_memory();
  if (memory > 0 && memory < held)
    throw Failure(kInputOutput,
                  fmt::format("{} of memory are available, the ranks need {} together; choose a smaller --size",
                              size_of(memory), size_of(held)));
}

}  // namespace tool
