// A new folder in a folder of the user, removed with all its content.
#pragma once

#include <string>

namespace tool {

class ScratchFolder {
 public:
  // Throws Failure: the folder is missing or not writable.
  explicit ScratchFolder(const std::string& parent);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Throws Failure unless the file system of `folder` has `stored` free bytes and memory has `held`.
void check_room_and_memory(const std::string& folder, double stored, double held);

}  // namespace tool
