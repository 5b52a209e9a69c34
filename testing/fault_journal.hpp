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

#include "storage/backend.hpp"

namespace thalweg {

// The states that the sectors, sizes and names of unsynced files went through, so that the death of a machine can bring
// any of them back.
class FaultJournal {
 public:
  // A file was made; its name lasts only once its folder is synced.
  void created(const std::string& path);
  // To be called before a file is removed: until its folder is synced it may come back as it was.
  Status before_removal(Backend& storage, const std::string& path);
  void synced(const std::string& path);
  void folder_synced(const std::string& path_in_it);
  // To be called before bytes [offset, offset + bytes) or the size of `file` change.
  Status before_change(StoredFile& file, std::uint64_t offset, std::uint64_t bytes);
  Status before_truncation(StoredFile& file, std::uint64_t bytes);
  // Puts the files of `storage` into one of the states in which the machine could have left them, picked by `seed`:
  // seed % kLosses says what kind of loss it is.
  Status lose(Backend& storage, std::uint64_t seed);
  static constexpr std::uint64_t kLosses = 12;

 private:
  static constexpr std::uint64_t kSector = 512;
  static constexpr std::uint64_t kSectorsOfPage = 8;
  using Sector = std::array<std::byte, kSector>;
  template <class State>
  struct Before {
    std::uint64_t change;  // number of the change that it was the state before
    State state;
  };
  struct Unsynced {
    bool name_is_new = false;
    std::uint64_t made = 0;                                        // number of the change that made it
    std::vector<Before<std::uint64_t>> sizes;                      // the synced one, then those since
    std::map<std::uint64_t, std::vector<Before<Sector>>> sectors;  // by number: the synced state, then those since
  };
  struct Removed {
    std::vector<std::byte> content;
    std::uint64_t change;
  };
  class Loss;

  static Status lose_file(StoredFile& file, const Unsynced& unsynced, Loss& loss);
  Status bring_back(Backend& storage, Loss& loss);

  std::uint64_t changes_ = 0;
  std::map<std::string, Unsynced> files_;  // files without unsynced changes may be absent
  std::map<std::string, Removed> removed_;
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
