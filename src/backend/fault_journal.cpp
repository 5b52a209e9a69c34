#include "backend/fault_journal.hpp"

#include <algorithm>

namespace thalweg {

namespace {

std::string folder_part(const std::string& path) { return path.substr(0, path.find_last_of('/') + 1); }

}  // namespace

void FaultJournal::synced(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  found->second.sizes.clear();
  found->second.sectors.clear();
}

void FaultJournal::folder_synced(const std::string& path_in_it) {
  for (auto& [path, unsynced] : files_) {
    if (folder_part(path) == folder_part(path_in_it)) unsynced.name_is_new = false;
  }
}

Status FaultJournal::before_change(StoredFile& file, std::uint64_t offset, std::uint64_t bytes) {
  Unsynced& unsynced = files_[file.path()];
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  if (unsynced.sizes.empty() || unsynced.sizes.back() != size) unsynced.sizes.push_back(size);
  if (bytes == 0) return {};
  for (std::uint64_t number = offset / kSector; number <= (offset + bytes - 1) / kSector; ++number) {
    Sector sector{};
    TW_RETURN_IF_ERROR(file.read(number * kSector, sector).status());
    unsynced.sectors[number].push_back(sector);
  }
  return {};
}

Status FaultJournal::before_truncation(StoredFile& file, std::uint64_t bytes) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  return before_change(file, bytes, size > bytes ? size - bytes : 0);
}

Status FaultJournal::lose_file(StoredFile& file, const Unsynced& unsynced, double keep, std::mt19937_64& random) {
  if (unsynced.sizes.empty()) return {};
  std::uniform_real_distribution<double> chance(0.0, 1.0);
  TW_ASSIGN_OR_RETURN(const std::uint64_t size_now, file.size());
  std::uint64_t size = size_now;
  if (chance(random) >= keep) size = unsynced.sizes[keep > 0 ? random() % unsynced.sizes.size() : 0];
  for (const auto& [number, states] : unsynced.sectors) {
    if (chance(random) < keep || number * kSector >= size) continue;
    const Sector& state = states[keep > 0 ? random() % states.size() : 0];
    const auto bytes = std::min<std::uint64_t>(kSector, size - number * kSector);
    TW_RETURN_IF_ERROR(file.write(number * kSector, std::span(state).first(bytes)));
  }
  return file.truncate(size);
}

Status FaultJournal::lose(Backend& storage, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  // All of it is lost, all of it kept, or some: the extremes deserve their share of the seeds.
  constexpr double shares[] = {0.0, 1.0, 0.5, 0.9};
  const double keep = shares[seed % 4];
  std::uniform_real_distribution<double> chance(0.0, 1.0);
  for (const auto& [path, unsynced] : files_) {
    if (unsynced.name_is_new && chance(random) >= keep) {
      const Status gone = storage.remove(path);
      if (!gone.ok() && gone.code() != Code::not_found) return gone;
      continue;
    }
    auto file = storage.open(path, OpenMode::read_write);
    if (!file.has_value() && file.error().code() == Code::not_found) continue;
    if (!file.has_value()) return file.error();
    TW_RETURN_IF_ERROR(lose_file(*file.value(), unsynced, keep, random));
  }
  files_.clear();
  return {};
}

void SpaceLimit::opened(const std::string& path, std::uint64_t file_bytes) {
  files_.try_emplace(path, Owned{.below = (file_bytes + kBlock - 1) / kBlock, .more = {}});
}

std::uint64_t SpaceLimit::take(const std::string& path, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  Owned& owned = files_[path];
  for (std::uint64_t block = offset / kBlock; block <= (offset + bytes - 1) / kBlock; ++block) {
    if (block < owned.below || owned.more.count(block) != 0) continue;
    if (free_blocks_ == 0) return block * kBlock > offset ? block * kBlock - offset : 0;
    --free_blocks_;
    owned.more.insert(block);
  }
  return bytes;
}

void SpaceLimit::truncated(const std::string& path, std::uint64_t file_bytes) {
  Owned& owned = files_[path];
  const std::uint64_t end = (file_bytes + kBlock - 1) / kBlock;
  owned.below = std::min(owned.below, end);
  const auto first_gone = owned.more.lower_bound(end);
  free_blocks_ += static_cast<std::uint64_t>(std::distance(first_gone, owned.more.end()));
  owned.more.erase(first_gone, owned.more.end());
}

}  // namespace thalweg
