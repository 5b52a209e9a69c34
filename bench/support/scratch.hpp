// Where a benchmark writes: a folder of its own on one file system, and fresh folders in it for each measurement.
//
// Invariant: everything lies below one folder that the program made itself; it is removed at the end, also by
// give_up(). ext4 does not re-use the inodes of files deleted in the last minutes, and searches long for others near
// them; so trees of many small files stay until the end, and fresh folders are spread over the disk.
#ifndef BENCH_SUPPORT_SCRATCH_HPP
#define BENCH_SUPPORT_SCRATCH_HPP

#include <cstdint>
#include <filesystem>
#include <string>

namespace bench {

// Says what went wrong, removes all scratch folders and ends the program with status 1.
[[noreturn]] void give_up(const std::string& message);

// From now on an interrupt or a request to end removes the scratch folders too. Call before any thread is started.
void clean_up_when_interrupted();

// Ends the program as above when a system call returned a negative number; else gives the number.
std::int64_t must(std::int64_t result, const std::string& what);

class Scratch {
 public:
  static constexpr std::size_t kClaimWrite = std::size_t{1} << 20;

  // Makes a folder in `parent`, which is made too if it is missing.
  explicit Scratch(const std::filesystem::path& parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& kind() const { return kind_; }  // of the file system: "ext4", "tmpfs", "xfs", ...
  bool in_memory() const { return kind_ == "tmpfs"; }

  // An empty folder that was never used.
  std::filesystem::path fresh();
  // One where making files is not slowed down by inodes that were deleted lately: the best of some that are tried.
  std::filesystem::path fresh_for_many_files();
  // Frees the bytes of what is in `folder` now.
  void drop_bytes(const std::filesystem::path& folder) const;
  // The same for a tree of many small files: at once where inodes are re-used, else at the end of the program.
  void drop_tree(const std::filesystem::path& folder) const;
  // Waits until what was written before is on the device, so that it does not disturb what is measured next.
  void settle();
  // Makes sure that the next `bytes` bytes of page cache come from memory that was just in use: a file of that size is
  // written, in pieces of write_bytes, and removed. A virtual machine gives free memory back to its host, and the first
  // write to it then takes up to ten times as long, whoever happens to come first.
  void claim_memory(double bytes, std::size_t write_bytes = kClaimWrite) const;
  double settling_seconds() const { return settling_; }
  // For runs whose times do not matter: neither of these does anything.
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

// Bytes that the files in `folder` take on the file system, without their holes.
std::int64_t allocated_bytes(const std::filesystem::path& folder);

// Kind of the file system that `path` lies on.
std::string file_system_kind(const std::filesystem::path& path);

// Writes a file's bytes to the device and takes them out of the page cache. Every file in `folder`.
void drop_cache(const std::filesystem::path& folder);

}  // namespace bench

#endif
