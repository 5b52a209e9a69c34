// A finished file gets its name: in one step, over another file only when asked to, and never over one that a program
// is writing.
#pragma once

#include <string>

#include "common.hpp"

namespace tool {

// The locks of a writer (docs/format/multifile.md, section 8) on a file that is to be replaced.
class HeldFile {
 public:
  // Locks the regular file that `name` leads to, and the multifile or vpfile whose side file `name` is; `directory` is
  // AT_FDCWD for paths. Throws Failure (unsafe), with `path` in its message, when a program is writing either. A file
  // that is not there, or cannot be opened, is not locked.
  void hold(int directory, const std::string& name, const std::string& path);

 private:
  Descriptor file_, whole_;
};

bool exists(const std::string& path);  // also a link that leads nowhere

// Renames in `directory`. EEXIST when there is something at `to`. False with errno on failure.
bool move_file(int directory, const std::string& from, const std::string& to);

// Renames in `directory`, also over another file. Throws as HeldFile::hold(). False with errno on failure.
bool replace_file(int directory, const std::string& from, const std::string& to, const std::string& path);

}  // namespace tool
