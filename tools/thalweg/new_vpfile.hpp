// An array with its NAME.meta that is written under a temporary name and gets its own when it is complete, or leaves no
// file.
#pragma once

#include <string>

namespace tool {

class NewVpfile {
 public:
  // Fails with exit 3 when the folder of `path` is missing, and with exit 4 when it, or its NAME.meta, exists.
  explicit NewVpfile(std::string path);
  NewVpfile(const NewVpfile&) = delete;
  NewVpfile& operator=(const NewVpfile&) = delete;
  ~NewVpfile();  // removes unpublished files

  const std::string& passing() const { return passing_; }
  std::string in_final_words(std::string message) const;  // with the path in place of the temporary name
  void publish();  // locked; the array first: a NAME.meta under the final name could be a writer's that comes between

 private:
  std::string path_, passing_;
};

}  // namespace tool
