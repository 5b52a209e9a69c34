// Data that the threads of a team write segment by segment, and the ways of writing it. Thread t's c-th segment belongs
// at segment c * threads + t of the shared file; in files per thread at segment c of its own file.
#ifndef BENCH_OMP_FILE_SEGMENTS_HPP
#define BENCH_OMP_FILE_SEGMENTS_HPP

#include <sys/uio.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

enum class Store { cache, sync, direct };
const char* store_name(Store store);

// The memory of all threads: bytes that identify thread and place, page-aligned, first touched by their owner.
class Arrays {
 public:
  Arrays(int threads, std::size_t bytes_each);
  char* of(int thread) { return arrays_[static_cast<std::size_t>(thread)].get(); }
  const char* of(int thread) const { return arrays_[static_cast<std::size_t>(thread)].get(); }
  int threads() const { return static_cast<int>(arrays_.size()); }
  std::size_t bytes_each() const { return bytes_each_; }
  double bytes() const { return static_cast<double>(bytes_each_) * threads(); }
  void fill();
  void clear();
  // Ends the program when a byte differs from fill().
  void check(const char* after) const;

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::size_t bytes_each_;
  std::vector<std::unique_ptr<char, Free>> arrays_;
};

struct Segments {
  Arrays& arrays;
  std::size_t segment;  // bytes per call and thread
  Store store;
  int calls() const { return static_cast<int>(arrays.bytes_each() / segment); }
  char* memory(int thread, int call) const { return arrays.of(thread) + static_cast<std::size_t>(call) * segment; }
  iovec piece(int thread, int call) const { return {memory(thread, call), segment}; }
  off_t place(int thread, int call) const;  // in the shared file
  int flags(bool writes) const;             // of open()
};
inline std::filesystem::path shared_file(const std::filesystem::path& folder) { return folder / "shared"; }

// One way of storing segments. Both functions return seconds: writing includes open, sync where required, and close;
// reading does not.
struct Way {
  std::string name;
  std::function<double(const std::filesystem::path& folder, const Segments&)> write;
  std::function<double(const std::filesystem::path& folder, const Segments&)> read;
  bool has_target = true;  // otherwise for information, with two threads
};

// Common practice: one shared file, ordered or critical; a file per thread, alone and with the merge; and one thread
// that writes for all, the limit of an inode that admits one writer at a time.
std::vector<Way> plain_ways(Store store);
// omp_file in several forms.
std::vector<Way> omp_ways();

}  // namespace bench

#endif
