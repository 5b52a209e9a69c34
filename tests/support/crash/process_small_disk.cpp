#include "support/crash/process_small_disk.hpp"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace thalweg::test {

namespace {

bool write_text(const char* path, const std::string& text) {
  return (std::ofstream(path) << text << std::flush).good();
}

// Enters a user namespace in which this process may mount, with unchanged ids.
std::string enter_user_namespace() {
  const std::string uid = std::to_string(::getuid()), gid = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    return std::string("neither root nor user namespaces are allowed here: unshare: ") + std::strerror(errno);
  (void)write_text("/proc/self/setgroups", "deny");
  if (!write_text("/proc/self/gid_map", gid + " " + gid + " 1") ||
      !write_text("/proc/self/uid_map", uid + " " + uid + " 1"))
    return "the ids of a user namespace may not be mapped here";
  return "";
}

// Enters a mount namespace, once per process; no other process sees later mounts.
std::string enter_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) {
    if (std::string why = enter_user_namespace(); !why.empty()) return why;
  }
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return std::string("mounts cannot be made private: ") + std::strerror(errno);
  return "";
}

}  // namespace

SmallDisk::SmallDisk(int mebibytes) {
  folder_ = (std::filesystem::temp_directory_path() / "thalweg_disk_XXXXXX").string();
  if (::mkdtemp(folder_.data()) == nullptr) {
    refused_ = "no folder: " + folder_;
    return;
  }
  refused_ = mount(mebibytes);
  mounted_ = refused_.empty();
}

SmallDisk::~SmallDisk() {
  if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  ::rmdir(folder_.c_str());
}

std::string SmallDisk::mount(int mebibytes) const {
  static const std::string why_not = enter_mount_namespace();
  if (!why_not.empty()) return why_not;
  const std::string options = "size=" + std::to_string(mebibytes) + "m,mode=0700";
  if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, options.c_str()) != 0)
    return std::string("a tmpfs cannot be mounted here: ") + std::strerror(errno);
  return "";
}

bool SmallDisk::reserve(int kibibytes) {
  const std::vector<char> block(1024, 'b');
  const int fd = ::open(path("ballast").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int done = 0;
  while (done < kibibytes && ::write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size())) ++done;
  ::close(fd);
  return done == kibibytes;
}

void SmallDisk::fill() { (void)reserve(INT_MAX); }

void SmallDisk::free_ballast() { std::filesystem::remove(path("ballast")); }

}  // namespace thalweg::test
