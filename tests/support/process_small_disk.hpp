// A file system of few MiB that can be filled up: a real one (tmpfs), mounted where only this process sees it, so that
// it goes with the process. Mounting needs root or user namespaces; where neither is allowed `refused` says so.
#pragma once

#include <string>

namespace thalweg::test {

class SmallDisk {
 public:
  explicit SmallDisk(int mebibytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::string& refused() const { return refused_; }  // "": it is there
  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // A file of ballast takes `kibibytes`, or all space that is left. False when there was less.
  bool reserve(int kibibytes);
  void fill();
  void free_ballast();

 private:
  std::string mount(int mebibytes) const;

  std::string folder_, refused_;
  bool mounted_ = false;
};

}  // namespace thalweg::test
