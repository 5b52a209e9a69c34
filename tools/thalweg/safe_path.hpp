// Writes below one directory, and nowhere else, for any names and any existing files.
//
// Invariant: every system call gets an open directory below the root (or the root) and one plain name: not "..", no
// slash. Directories are opened with O_NOFOLLOW, files are created with O_EXCL, so that a symbolic link in the way is
// detected, not followed, even one created meanwhile. (openat2 with RESOLVE_BENEATH would do so in one call, but needs
// a recent kernel, and this walk as a fallback.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common.hpp"

namespace tool {

// Why `name` may not be extracted; empty: permitted. Examines the text only.
std::string unsafe_name(std::string_view name);

// The name without "." and empty components; empty for the directory itself.
std::string plain_name(std::string_view name);

class SafeRoot {
 public:
  // Opens the directory; creates it (not its parents) when missing.
  SafeRoot(std::string directory, bool force);
  SafeRoot(const SafeRoot&) = delete;
  SafeRoot& operator=(const SafeRoot&) = delete;
  ~SafeRoot();  // like finish(), but continues after a failure

  // A new file that keep() publishes complete under `name`; until then it has a temporary name beside it. Missing
  // parents are created. It ends before the next call of the root.
  class NewFile {
   public:
    NewFile(SafeRoot& root, std::string_view name, uint32_t permissions);
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile();
    int fd() const { return fd_.get(); }
    void keep();

   private:
    std::string passing_name(int number) const;
    std::string name_, leaf_, made_;  // as given; last component; temporary name, empty when there is none to remove
    int directory_ = -1;              // of the root
    Descriptor fd_;
    uint32_t permissions_;
    bool masked_;  // it cannot be made with its permissions
    bool force_;
  };
  uint32_t mask() const { return mask_; }  // of the process, for new files

  void symlink(std::string_view name, const std::string& target);

  // Creates a directory; finish() sets its permissions, so that a read-only one can be filled.
  void directory(std::string_view name, uint32_t permissions);
  void finish();

 private:
  struct Place {
    int directory;
    std::string leaf;
  };
  Place place(std::string_view name);
  void set_mode(const std::string& name, uint32_t permissions);
  Descriptor enter(int at, const std::string& part, const std::string& path, std::string_view name);
  std::string full(std::string_view name) const;

  std::string path_;
  bool force_;
  uint32_t mask_;
  Descriptor root_;
  // The path of the last name: its first directories, open, and the last one where there are more.
  std::vector<std::pair<std::string, Descriptor>> opened_;
  Descriptor deeper_;
  std::unordered_set<std::string> made_;                       // directories created here
  std::vector<std::pair<std::string, uint32_t>> permissions_;  // to be set at the end
};

}  // namespace tool
