// A multifile that is written under a temporary name and appears complete under its own, or leaves no file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common.hpp"
#include "move_file.hpp"

namespace tool {

class NewMultifile {
 public:
  // Fails with exit 3 when the folder of `path` is missing, and with exit 4 when `path` exists, unless `force`: then
  // when a program is writing it. Locks an existing file against writers until the end.
  NewMultifile(std::string path, bool force);
  NewMultifile(const NewMultifile&) = delete;
  NewMultifile& operator=(const NewMultifile&) = delete;
  ~NewMultifile();  // removes unpublished files

  // Returns `work(temporary name)`. Its failures mention `path`, not the temporary name.
  template <class Work>
  auto write(Work work) {
    try {
      return work(passing_);
    } catch (const Failure& failure) {
      throw Failure(failure.exit, in_final_words(failure.what()), failure.status);
    }
  }

  // Renames the closed multifile, the first physical file last: before that the name shows the old content. Replaced
  // files are removed when all are in place; on failure they are restored.
  void publish();

 private:
  struct Swap {  // one renamed physical file
    int32_t number;
    bool replaced;  // the replaced file has the temporary name now
  };
  void remove() const;  // what is not published
  void refuse_other_formats() const;
  void move_in(int32_t number);
  void put_back();
  std::string in_final_words(std::string message) const;

  std::string path_, passing_;
  bool force_;
  HeldFile held_;  // what is replaced
  std::vector<Swap> swaps_;
  const EndAtOnce at_once_{[this] { remove(); }};
};

bool begins_as_multifile(const std::string& path);  // false also when unreadable

// Name of a physical file: PATH for the first, PATH.000001, ...
std::string physical_name(const std::string& path, int32_t number);

// Ascending numbers of the physical files that exist. The library makes some files when data need them: any but the
// first may be missing.
std::vector<int32_t> physical_files_of(const std::string& path);

struct StoredBytes {
  int64_t apparent = 0;  // the sizes of the physical files
  int64_t on_disk = 0;   // without holes, which take no place on most file systems
};
StoredBytes bytes_of_physical_files(const std::string& path, const Multifile& multifile);

}  // namespace tool
