// A file system of few MiB that a test can fill: a tmpfs mounted in a mount namespace of this process, which removes it
// at exit. Mounting needs root or user namespaces; refused() names the reason when neither is allowed.
#pragma once

#include <string>

namespace thalweg::test {

class SmallDisk {
 public:
  explicit SmallDisk(int mebibytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::string& refused() const { return refused_; }  // "": mounted
  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // Allocates a file of `kibibytes`, or of all free space. False: less was free.
  bool reserve(int kibibytes);
  void fill();
  void free_ballast();

 private:
  std::string mount(int mebibytes) const;

  std::string folder_, refused_;
  bool mounted_ = false;
};

}  // namespace thalweg::test
