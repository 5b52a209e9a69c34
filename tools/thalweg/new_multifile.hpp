// A multifile that is written under a passing name and appears whole under its own, or leaves nothing behind.
#pragma once

#include <cstdint>
#include <string>

namespace tool {

class NewMultifile {
 public:
  // Fails with exit 4 when `path` exists, unless `force`.
  NewMultifile(std::string path, bool force);
  NewMultifile(const NewMultifile&) = delete;
  NewMultifile& operator=(const NewMultifile&) = delete;
  ~NewMultifile();  // removes what was not published

  const std::string& passing_name() const { return passing_; }

  // Gives the closed multifile its name, the first physical file last: before that the name shows nothing.
  void publish();

 private:
  void move(const std::string& from, const std::string& to) const;

  std::string path_, passing_;
  bool force_;
};

// Name of a physical file: PATH for the first, PATH.000001, ...
std::string physical_name(const std::string& path, int32_t number);

}  // namespace tool
