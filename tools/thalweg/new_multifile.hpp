// A multifile that is written under a passing name and appears whole under its own, or leaves nothing behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common.hpp"

namespace tool {

class NewMultifile {
 public:
  // Fails with exit 3 when there is no folder for `path`, and with exit 4 when `path` exists, unless `force`: then when
  // a program is writing it. Until the end nobody else begins to.
  NewMultifile(std::string path, bool force);
  NewMultifile(const NewMultifile&) = delete;
  NewMultifile& operator=(const NewMultifile&) = delete;
  ~NewMultifile();  // removes what was not published

  // What `work(passing name)` returns. Its failures tell of `path`, not of the passing name.
  template <class Work>
  auto write(Work work) {
    try {
      return work(passing_);
    } catch (const Failure& failure) {
      throw Failure(failure.exit, in_final_words(failure.what()), failure.status);
    }
  }

  // Gives the closed multifile its name, the first physical file last: before that the name shows nothing new. What it
  // replaces is removed when all is in place; on failure it is put back.
  void publish();

 private:
  struct Swap {  // one physical file that has moved in
    int32_t number;
    bool replaced;  // what it replaced now has the passing name
  };
  void hold_replaced();
  void refuse_other_formats() const;
  void move_in(int32_t number);
  void put_back();
  std::string in_final_words(std::string message) const;

  std::string path_, passing_;
  bool force_;
  Descriptor held_;  // of what is replaced, with the lock that a writer takes
  std::vector<Swap> swaps_;
};

bool begins_as_multifile(const std::string& path);  // false also where it cannot be read

// Name of a physical file: PATH for the first, PATH.000001, ...
std::string physical_name(const std::string& path, int32_t number);

}  // namespace tool
