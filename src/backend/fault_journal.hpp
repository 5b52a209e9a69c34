// What a fault backend must remember: what the storage still held before writes that were not synced, and how much
// room a script has left.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace thalweg {

// The states that the sectors of unsynced files went through, so that the death of a machine can bring any of them
// back.
class FaultJournal {
 public:
  // A file was made; its name lasts only once its folder is synced.
  void created(const std::string& path) { files_[path].name_is_new = true; }
  void removed(const std::string& path) { files_.erase(path); }
  void synced(const std::string& path);
  void folder_synced(const std::string& path_in_it);
  // To be called before bytes [offset, offset + bytes) or the size of `file` change.
  Status before_change(StoredFile& file, std::uint64_t offset, std::uint64_t bytes);
  Status before_truncation(StoredFile& file, std::uint64_t bytes);
  // Puts the files of `storage` into one of the states in which the machine could have left them, picked by `seed`.
  Status lose(Backend& storage, std::uint64_t seed);

 private:
  static constexpr std::uint64_t kSector = 512;
  using Sector = std::array<std::byte, kSector>;
  struct Unsynced {
    bool name_is_new = false;
    std::vector<std::uint64_t> sizes;                      // the synced one, then those since
    std::map<std::uint64_t, std::vector<Sector>> sectors;  // by number: the synced state, then those since
  };

  static Status lose_file(StoredFile& file, const Unsynced& unsynced, double keep, std::mt19937_64& random);

  std::map<std::string, Unsynced> files_;  // files without unsynced changes may be absent
};

// Storage of so many bytes, given out in blocks of 4096.
class SpaceLimit {
 public:
  explicit SpaceLimit(std::uint64_t bytes) : free_blocks_(bytes / kBlock) {}
  // What a file holds when it is first seen costs nothing.
  void opened(const std::string& path, std::uint64_t file_bytes);
  // How many of the bytes from `offset` on have room; takes the blocks they need.
  std::uint64_t take(const std::string& path, std::uint64_t offset, std::uint64_t bytes);
  void truncated(const std::string& path, std::uint64_t file_bytes);

 private:
  static constexpr std::uint64_t kBlock = 4096;
  struct Owned {
    std::uint64_t below = 0;  // all blocks before this one
    std::set<std::uint64_t> more;
  };
  std::uint64_t free_blocks_;
  std::map<std::string, Owned> files_;
};

}  // namespace thalweg
