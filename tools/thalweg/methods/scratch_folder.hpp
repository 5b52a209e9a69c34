// A folder of its own in a folder of the user, removed with all that is in it.
#pragma once

#include <string>

namespace tool {

class ScratchFolder {
 public:
  // Throws Failure: there is no such folder, or nothing can be made there.
  explicit ScratchFolder(const std::string& parent);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Throws Failure unless the file system of `folder` has room for `stored` bytes, and memory for `held`.
void check_room_and_memory(const std::string& folder, double stored, double held);

}  // namespace tool
