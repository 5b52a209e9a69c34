// State of a fault backend: the stored content before unsynced writes, and the remaining space of a script.
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

// Past states of the sectors, sizes and names of unsynced files, so that a death of the machine can restore any of
// them.
class FaultJournal {
 public:
  // Records the creation of a file; its name is durable only after a sync of its folder.
  void created(const std::string& path);
  // Called before a file is removed: until its folder is synced the file may come back.
  Status before_removal(Backend& storage, const std::string& path);
  void synced(const std::string& path);
  void folder_synced(const std::string& path_in_it);
  // Called before bytes [offset, offset + bytes) or the size of `file` change.
  Status before_change(StoredFile& file, std::uint64_t offset, std::uint64_t bytes);
  Status before_truncation(StoredFile& file, std::uint64_t bytes);
  // Puts the files of `storage` into one of the states possible after a death of the machine, chosen by `seed`; seed %
  // kLosses selects the kind of loss.
  Status lose(Backend& storage, std::uint64_t seed);
  static constexpr std::uint64_t kLosses = 12;

 private:
  static constexpr std::uint64_t kSector = 512;
  static constexpr std::uint64_t kSectorsOfPage = 8;
  using Sector = std::array<std::byte, kSector>;
  template <class State>
  struct Before {
    std::uint64_t change;  // number of the change that replaced this state
    State state;
  };
  struct Unsynced {
    bool name_is_new = false;
    std::uint64_t made = 0;                                        // number of the change that created it
    std::vector<Before<std::uint64_t>> sizes;                      // the synced one, then later ones
    std::map<std::uint64_t, std::vector<Before<Sector>>> sectors;  // by number: the synced state, then later ones
  };
  struct Removed {
    std::vector<std::byte> content;
    std::uint64_t change;
  };
  class Loss;

  static Status lose_file(StoredFile& file, const Unsynced& unsynced, Loss& loss);
  Status bring_back(Backend& storage, Loss& loss);

  std::uint64_t changes_ = 0;
  std::map<std::string, Unsynced> files_;  // files without unsynced changes may be missing here
  std::map<std::string, Removed> removed_;
};

// Limited space, allocated in blocks of 4096 bytes.
class SpaceLimit {
 public:
  explicit SpaceLimit(std::uint64_t bytes) : free_blocks_(bytes / kBlock) {}
  // The initial content of a file takes no space.
  void opened(const std::string& path, std::uint64_t file_bytes);
  // Returns how many bytes from `offset` on have space, and allocates their blocks.
  std::uint64_t take(const std::string& path, std::uint64_t offset, std::uint64_t bytes);
  void truncated(const std::string& path, std::uint64_t file_bytes);
  void released(const std::string& path, std::uint64_t offset, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kBlock = 4096;
  struct Owned {
    std::uint64_t below = 0;  // all blocks below this one are allocated
    std::set<std::uint64_t> more;
  };
  std::uint64_t free_blocks_;
  std::map<std::string, Owned> files_;
};

}  // namespace thalweg
