// An array with its NAME.meta that is written under a passing name and appears whole under its own, or leaves nothing
// behind.
#pragma once

#include <string>

namespace tool {

class NewVpfile {
 public:
  // Fails with exit 3 when there is no folder for `path`, and with exit 4 when it, or its NAME.meta, exists.
  explicit NewVpfile(std::string path);
  NewVpfile(const NewVpfile&) = delete;
  NewVpfile& operator=(const NewVpfile&) = delete;
  ~NewVpfile();  // removes what was not published

  const std::string& passing() const { return passing_; }
  std::string in_final_words(std::string message) const;  // tells of the path, not of the passing name
  void publish();  // NAME.meta first: before the data nothing shows under the name

 private:
  std::string path_, passing_;
};

}  // namespace tool
