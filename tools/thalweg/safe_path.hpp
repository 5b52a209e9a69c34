// Writing below one directory, and nowhere else, whatever the names say and whatever lies there already.
//
// Invariant: every system call gets an open directory below the root (or the root) and one plain name: not "..", no
// slash. Directories are opened with O_NOFOLLOW, files are made with O_EXCL. So a symbolic link in the way is met, not
// followed, and also one that somebody puts there meanwhile. (openat2 with RESOLVE_BENEATH would do the same in one
// call, but needs a kernel that has it and this walk beside it.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common.hpp"

namespace tool {

// Why `name` may not be extracted; empty when it may. Looks at the text only.
std::string unsafe_name(std::string_view name);

// The name without "." and empty parts; empty when it is the directory itself.
std::string plain_name(std::string_view name);

class SafeRoot {
 public:
  // Opens the directory; makes it (not its parents) when it is missing.
  SafeRoot(std::string directory, bool force);
  SafeRoot(const SafeRoot&) = delete;
  SafeRoot& operator=(const SafeRoot&) = delete;
  ~SafeRoot();  // as finish(), and goes on where that fails

  // A new file that appears under `name` with keep(), complete, or never: until then it has a passing name beside it.
  // Missing parents are made.
  class NewFile {
   public:
    NewFile(NewFile&& other) noexcept { *this = std::move(other); }
    NewFile& operator=(NewFile&& other) noexcept;
    ~NewFile();
    int fd() const { return fd_.get(); }
    void keep(uint32_t permissions);

   private:
    friend class SafeRoot;
    NewFile() = default;
    std::string passing_name(int number) const;
    void make();
    std::string name_, leaf_, made_;  // as given; last part; passing name, empty when there is none to be removed
    Descriptor directory_, fd_;
    bool force_ = false;
  };
  NewFile new_file(std::string_view name);

  void symlink(std::string_view name, const std::string& target);

  // Makes a directory; its permissions are set by finish(), so that a read-only one can be filled.
  void directory(std::string_view name, uint32_t permissions);
  void finish();

 private:
  struct Place {
    int directory;
    std::string leaf;
  };
  Place place(std::string_view name);
  void set_mode(const std::string& name, uint32_t permissions);
  Descriptor walk(const std::vector<std::string>& parts, std::string_view name);
  std::string full(std::string_view name) const;

  std::string path_;
  bool force_;
  Descriptor root_;
  std::string parent_name_;  // the directory that parent_ is
  Descriptor parent_;
  std::unordered_set<std::string> made_;                       // directories made here
  std::vector<std::pair<std::string, uint32_t>> permissions_;  // to be set at the end
};

}  // namespace tool
