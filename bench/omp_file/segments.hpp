// What the threads of a team write segment by segment, and the ways of doing so. Thread t's c-th segment belongs at
// segment c * threads + t of the shared file; in files per thread at segment c of its own file.
#ifndef BENCH_OMP_FILE_SEGMENTS_HPP
#define BENCH_OMP_FILE_SEGMENTS_HPP

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

enum class Store { cache, sync, direct };
const char* store_name(Store store);

// The memory of all threads: filled with bytes that tell thread and place, page-aligned, touched by its owner.
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
  // Ends the program where a byte is not what fill() put there.
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
  std::size_t segment;  // bytes of one call of one thread
  Store store;
  int calls() const { return static_cast<int>(arrays.bytes_each() / segment); }
};

// One way of storing segments. Both give the seconds they took, with opening, and syncing where that is asked for;
// reading without opening.
struct Way {
  std::string name;
  std::function<double(const std::filesystem::path& folder, const Segments&)> write;
  std::function<double(const std::filesystem::path& folder, const Segments&)> read;
};

// one shared file: ordered and critical; a file per thread, alone and with the merge; omp_file in several forms.
std::vector<Way> ways(Store store);

}  // namespace bench

#endif
