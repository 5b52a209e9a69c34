// Lists the files that 'thalweg pack' stores: the given paths and their content.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tool {

struct Entry {
  std::string name;  // as given, without slashes at the end
  uint32_t mode;     // st_mode
  int64_t bytes;     // st_size of a regular file; else 0
};

class TreeWalk {
 public:
  // Paths are relative to the directory `base_fd`.
  TreeWalk(int base_fd, bool skip_special) : base_(base_fd), skip_special_(skip_special) {}

  // Adds `path`, and for a directory its content in order of names. Symbolic links are not followed. A repeated name is
  // skipped. Throws Failure: exit 3 for an unreadable entry, 4 for a special file.
  void add(const std::string& path);

  // Excludes this regular file everywhere.
  void leave_out(uint64_t device, uint64_t inode) { own_.insert({device, inode}); }

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<std::string>& skipped() const { return skipped_; }    // special files
  const std::vector<std::string>& left_out() const { return left_out_; }  // by leave_out()
  int64_t bytes() const { return bytes_; }

 private:
  struct Found {
    std::string path;
    uint32_t mode;
    int64_t bytes;
    std::pair<uint64_t, uint64_t> file;  // device and inode
  };
  static Found find(int directory, const std::string& name, const std::string& path);
  bool add_one(const Found& found, std::string name);  // true: a directory to be read
  void read_directory(const std::string& path, const std::string& prefix, std::vector<Found>& pending) const;

  int base_;
  bool skip_special_;
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_;
  std::vector<std::string> skipped_;
  std::set<std::pair<uint64_t, uint64_t>> own_;  // device and inode
  std::vector<std::string> left_out_;
  int64_t bytes_ = 0;
};

}  // namespace tool
