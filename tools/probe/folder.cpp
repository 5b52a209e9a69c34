#include "folder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thalweg/storage.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thalweg/base.hpp>
#include <vector>

#include "print_record.hpp"

namespace probe {

namespace {

namespace fs = std::filesystem;

class Opened {
 public:
  explicit Opened(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail_errno("open", path);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(fd_); }
  int fd() const { return fd_; }

 private:
  int fd_;
};

tw_storage_info storage_of(const std::string& folder) {
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  thalweg::check(tw_storage_describe(folder.c_str(), &info));
  return info;
}

std::size_t pages_of(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page;
}

// Number of the file's pages in memory.
std::size_t resident_pages(int fd, std::size_t bytes) {
  void* const address = bytes == 0 ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return 0;
  std::vector<unsigned char> pages(pages_of(bytes));
  if (::mincore(address, bytes, pages.data()) != 0) pages.clear();
  ::munmap(address, bytes);
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; }));
}

}  // namespace

void fail_errno(const std::string& action, const std::string& path) {
  const int code = errno;
  throw Failed("cannot " + action + " '" + path + "': " + std::generic_category().message(code));
}

void describe_storage(const std::string& folder) {
  const tw_storage_info info = storage_of(folder);
  std::error_code failed;
  const fs::space_info space = fs::space(folder, failed);
  if (failed) throw Failed("cannot look at the folder '" + folder + "': " + failed.message());
  const std::string identity = info.identity;
  print_record({{"kind", "storage"},
                {"path", fs::absolute(folder).lexically_normal().string()},
                {"file_system", identity.substr(0, identity.find('-'))},
                {"identity", identity},
                {"free_bytes", space.available},
                {"profile", info.profile}});
}

void sync_folder(const std::string& folder, int rank, int size) {
  std::vector<std::string> paths = {folder};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) paths.push_back(entry.path().string());
  std::ranges::sort(paths);  // an equal order on all ranks
  for (auto i = static_cast<std::size_t>(rank); i < paths.size(); i += static_cast<std::size_t>(size))
    if (const Opened file(paths[i]); ::fsync(file.fd()) != 0) fail_errno("sync", paths[i]);
}

bool drop_pages(const std::string& folder) {
  std::size_t pages = 0, left = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const Opened file(entry.path().string());
    ::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED);
    const auto bytes = static_cast<std::size_t>(entry.file_size());
    pages += pages_of(bytes);
    left += resident_pages(file.fd(), bytes);
  }
  constexpr std::size_t kOneIn = 16;  // pages that the kernel still uses may stay
  return left * kOneIn <= pages;
}

bool has_direct(const std::string& folder) { return storage_of(folder).direct_alignment > 0; }

bool opened_direct(const std::string& folder) {
  const std::string below = fs::canonical(folder).string() + "/";
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", failed)) {
    if (!fs::read_symlink(entry.path(), failed).string().starts_with(below)) continue;
    const int flags = ::fcntl(std::atoi(entry.path().filename().c_str()), F_GETFL);
    if (flags >= 0 && (flags & O_DIRECT) != 0) return true;
  }
  return false;
}

FolderFacts folder_facts(const std::string& folder) {
  FolderFacts facts;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat found {};
    if (::stat(entry.path().c_str(), &found) != 0) fail_errno("look at", entry.path().string());
    constexpr std::int64_t kBlock = 512;  // unit of st_blocks on every file system
    const bool is_folder = S_ISDIR(found.st_mode);
    ++(is_folder ? facts.folders : facts.files);
    facts.file_bytes += is_folder ? 0 : found.st_size;
    facts.stored_bytes += is_folder ? 0 : found.st_blocks * kBlock;
  }
  return facts;
}

}  // namespace probe
