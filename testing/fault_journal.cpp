#include "testing/fault_journal.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace thalweg {

namespace {

std::string folder_part(const std::string& path) { return path.substr(0, path.find_last_of('/') + 1); }

}  // namespace

void FaultJournal::created(const std::string& path) {
  Unsynced& made = files_[path];
  made.name_is_new = true;
  made.made = ++changes_;
}

Status FaultJournal::before_removal(Backend& storage, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<StoredFile> file, storage.open(path, OpenMode::read));
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  Removed gone{std::vector<std::byte>(size), ++changes_};
  TW_RETURN_IF_ERROR(file->read(0, gone.content).status());
  const auto known = files_.find(path);
  const bool was_new = known != files_.end() && known->second.name_is_new;
  if (known != files_.end()) files_.erase(known);
  if (!was_new) removed_.insert_or_assign(path, std::move(gone));
  return {};
}

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
  std::erase_if(removed_, [&](const auto& gone) { return folder_part(gone.first) == folder_part(path_in_it); });
}

Status FaultJournal::before_change(StoredFile& file, std::uint64_t offset, std::uint64_t bytes) {
  Unsynced& unsynced = files_[file.path()];
  const std::uint64_t change = ++changes_;
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  if (unsynced.sizes.empty() || unsynced.sizes.back().state != size) unsynced.sizes.push_back({change, size});
  if (bytes == 0) return {};
  for (std::uint64_t number = offset / kSector; number <= (offset + bytes - 1) / kSector; ++number) {
    Sector sector{};
    TW_RETURN_IF_ERROR(file.read(number * kSector, sector).status());
    unsynced.sectors[number].push_back({change, sector});
  }
  return {};
}

Status FaultJournal::before_truncation(StoredFile& file, std::uint64_t bytes) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  return before_change(file, bytes, size > bytes ? size - bytes : 0);
}

// Chooses which unsynced changes are lost. Independent chances rarely hit the relevant states, so each kind of loss
// gets a share of the seeds.
class FaultJournal::Loss {
 public:
  Loss(std::uint64_t seed, std::uint64_t changes) : kind_(Kind{seed % kLosses}), random_(seed) {
    if (changes > 0) last_kept_ = random_() % (changes + 1);
  }

  // Called once, first, with the number of unsynced pages of all files.
  void choose_page(std::uint64_t pages) { one_page_ = pages > 0 ? random_() % pages : 0; }
  void begin_file() { page_ = kNone; }

  // Returns the earlier state of a sector, or none for its last state. Called in sector order.
  template <class State>
  std::optional<std::size_t> state_of(std::uint64_t page, const std::vector<Before<State>>& states) {
    if (page != page_) choose_for_page(page);
    switch (kind_) {
      case Kind::sectors:
      case Kind::few_sectors:
        return chance() < (kind_ == Kind::sectors ? 0.5 : 0.9) ? std::nullopt : any_of(states);
      case Kind::pages:
      case Kind::few_pages:
        return page_kept_ ? std::nullopt : any_of(states);
      case Kind::torn_pages:  // sectors of a page come from two different moments
        return chance() < 0.5 ? std::nullopt : first_of(states);
      case Kind::last_changes:
        return at_moment(states);
      case Kind::one_page_lost:
        return is_the_one_ ? first_of(states) : std::nullopt;
      case Kind::one_page_kept:
        return is_the_one_ ? std::nullopt : first_of(states);
      case Kind::all:
        return first_of(states);
      default:
        return std::nullopt;
    }
  }

  // A call that extends a file does so page by page.
  std::uint64_t size_of(const std::vector<Before<std::uint64_t>>& states, std::uint64_t now) {
    const auto at = [&](std::optional<std::size_t> i) { return i ? states[*i].state : now; };
    switch (kind_) {
      case Kind::all:
        return at(first_of(states));
      case Kind::last_changes:
        return at(at_moment(states));
      case Kind::nothing:
      case Kind::names:
      case Kind::one_page_lost:
        return now;
      case Kind::sizes:
        return between(at(any_of(states)), now);
      default:
        return chance() < 0.7 ? now : between(at(any_of(states)), now);
    }
  }

  // Whether the creation or removal of a file is lost.
  bool loses_name(std::uint64_t change) {
    if (kind_ == Kind::all || kind_ == Kind::names) return true;
    if (kind_ == Kind::last_changes) return change > last_kept_;
    if (kind_ == Kind::nothing || kind_ == Kind::one_page_lost || kind_ == Kind::sizes) return false;
    return chance() < 0.3;
  }

 private:
  enum class Kind : std::uint64_t {
    all,
    nothing,
    sectors,
    few_sectors,
    pages,
    few_pages,
    torn_pages,
    last_changes,
    one_page_lost,
    one_page_kept,
    sizes,
    names
  };
  static_assert(static_cast<std::uint64_t>(Kind::names) + 1 == kLosses);

  double chance() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }
  void choose_for_page(std::uint64_t page) {
    page_ = page;
    is_the_one_ = n_pages_++ == one_page_;
    page_kept_ = chance() < (kind_ == Kind::few_pages ? 0.9 : 0.5);
  }
  std::uint64_t between(std::uint64_t before, std::uint64_t after) {
    constexpr std::uint64_t kPage = kSector * kSectorsOfPage;
    if (after <= before || chance() < 0.5) return before;
    return std::max(before, (before + random_() % (after - before + 1)) / kPage * kPage);
  }
  template <class State>
  std::optional<std::size_t> any_of(const std::vector<State>& states) {
    return random_() % states.size();
  }
  template <class State>
  static std::optional<std::size_t> first_of(const std::vector<State>&) {
    return 0;
  }
  template <class State>
  std::optional<std::size_t> at_moment(const std::vector<Before<State>>& states) const {
    for (std::size_t i = 0; i < states.size(); ++i)
      if (states[i].change > last_kept_) return i;
    return std::nullopt;
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const Kind kind_;
  std::mt19937_64 random_;
  std::uint64_t last_kept_ = 0;  // number of the change
  std::uint64_t one_page_ = 0;
  std::uint64_t n_pages_ = 0;
  std::uint64_t page_ = kNone;
  bool is_the_one_ = false, page_kept_ = false;
};

Status FaultJournal::lose_file(StoredFile& file, const Unsynced& unsynced, Loss& loss) {
  if (unsynced.sizes.empty()) return {};
  TW_ASSIGN_OR_RETURN(const std::uint64_t now, file.size());
  const std::uint64_t size = loss.size_of(unsynced.sizes, now);
  for (const auto& [number, states] : unsynced.sectors) {
    const auto i = loss.state_of(number / kSectorsOfPage, states);
    if (!i || number * kSector >= size) continue;
    const auto bytes = std::min<std::uint64_t>(kSector, size - number * kSector);
    TW_RETURN_IF_ERROR(file.write(number * kSector, std::span(states[*i].state).first(bytes)));
  }
  return file.truncate(size);
}

Status FaultJournal::bring_back(Backend& storage, Loss& loss) {
  for (const auto& [path, gone] : removed_) {
    if (!loss.loses_name(gone.change)) continue;
    TW_ASSIGN_OR_RETURN(const bool replaced, storage.exists(path));
    if (replaced) continue;
    TW_ASSIGN_OR_RETURN(const auto file, storage.open(path, OpenMode::create));
    TW_RETURN_IF_ERROR(file->write(0, gone.content));
  }
  return {};
}

Status FaultJournal::lose(Backend& storage, std::uint64_t seed) {
  Loss loss(seed, changes_);
  std::uint64_t pages = 0;
  for (const auto& [path, unsynced] : files_) {
    std::uint64_t last = ~std::uint64_t{0};
    for (const auto& [number, states] : unsynced.sectors)
      if (number / kSectorsOfPage != std::exchange(last, number / kSectorsOfPage)) ++pages;
  }
  loss.choose_page(pages);
  for (const auto& [path, unsynced] : files_) {
    if (unsynced.name_is_new && loss.loses_name(unsynced.made)) {
      const Status gone = storage.remove(path);
      if (!gone.ok() && gone.code() != Code::not_found) return gone;
      continue;
    }
    auto file = storage.open(path, OpenMode::read_write);
    if (!file.has_value() && file.error().code() == Code::not_found) continue;
    if (!file.has_value()) return file.error();
    loss.begin_file();
    TW_RETURN_IF_ERROR(lose_file(*file.value(), unsynced, loss));
  }
  TW_RETURN_IF_ERROR(bring_back(storage, loss));
  files_.clear();
  removed_.clear();
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

void SpaceLimit::released(const std::string& path, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t end = (offset + bytes) / kBlock;
  for (std::uint64_t block = (offset + kBlock - 1) / kBlock; block < end; ++block)
    free_blocks_ += files_[path].more.erase(block);
}

}  // namespace thalweg
