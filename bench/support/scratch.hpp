// Where a benchmark writes: a folder of its own on one file system, and new folders in it for each measurement.
//
// Invariant: all files are below one folder created by the program, which is removed at the end, also by give_up().
// ext4 does not reuse inodes of files deleted in the last minutes, and searches long for others near them; so trees of
// many small files stay until the end, and new folders are spread over the disk.
#ifndef BENCH_SUPPORT_SCRATCH_HPP
#define BENCH_SUPPORT_SCRATCH_HPP

#include <cstdint>
#include <filesystem>
#include <string>

namespace bench {

// Prints the error, removes all scratch folders and ends the program with status 1.
[[noreturn]] void give_up(const std::string& message);

// From now on SIGINT and SIGTERM remove the scratch folders too. Call before any thread is started.
void clean_up_when_interrupted();

// Ends the program as above when a system call returned a negative number; otherwise returns the number.
std::int64_t must(std::int64_t result, const std::string& what);

class Scratch {
 public:
  static constexpr std::size_t kClaimWrite = std::size_t{1} << 20;

  // Creates a folder in `parent`, and `parent` if it is missing.
  explicit Scratch(const std::filesystem::path& parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& kind() const { return kind_; }  // of the file system: "ext4", "tmpfs", "xfs", ...
  bool in_memory() const { return kind_ == "tmpfs"; }

  // An empty, new folder.
  std::filesystem::path fresh();
  // A folder where creating files is not slowed by recently deleted inodes: the best of several candidates.
  std::filesystem::path fresh_for_many_files();
  // Frees the data of the files in `folder`.
  void drop_bytes(const std::filesystem::path& folder) const;
  // For a tree of many small files: at once where inodes are reused, otherwise at the end of the program.
  void drop_tree(const std::filesystem::path& folder) const;
  // Waits until earlier writes are on the device, so that they do not disturb the next measurement.
  void settle();
  // Ensures that the next `bytes` bytes of page cache use recently used memory: writes a file of that size, in pieces
  // of write_bytes, and removes it. A virtual machine returns free memory to its host, and the first write to it then
  // takes up to ten times as long.
  void claim_memory(double bytes, std::size_t write_bytes = kClaimWrite) const;
  double settling_seconds() const { return settling_; }
  // For runs whose times do not matter: disables settle() and claim_memory().
  void never_settle() { settles_ = false; }

  std::int64_t free_bytes() const;
  std::int64_t free_inodes() const;

 private:
  std::filesystem::path folder_;
  std::string kind_;
  int made_ = 0;
  bool settles_ = true;
  double settling_ = 0;
};

// Bytes allocated by the files in `folder` on the file system, without holes.
std::int64_t allocated_bytes(const std::filesystem::path& folder);

// Kind of the file system of `path`.
std::string file_system_kind(const std::filesystem::path& path);

// Writes the data of every file in `folder` to the device and drops it from the page cache.
void drop_cache(const std::filesystem::path& folder);

}  // namespace bench

#endif
