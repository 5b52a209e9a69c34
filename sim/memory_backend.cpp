// Files in memory, for tests and simulation: sparse, in pages of 4 KiB, 16 of them to a group. Hollow ones keep only their
// lengths.
//
// Threads: groups are distributed over kShards shards, each with its own mutex, so that writers to different places
// rarely contend. The size is atomic; only truncate lowers it and locks all shards for that. As in an operating system,
// an open file survives the removal of its name, and concurrent writes to one byte leave either value.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/size_units.hpp"
#include "os/pieces.hpp"
#include "sim/memory_backend.hpp"
#include "sim/unshared_file.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPagesPerGroup = 16;
constexpr std::uint64_t kShards = 32;  // truncate holds all: more than 60 locks at once are beyond ThreadSanitizer
constexpr std::uint32_t kDirectAlignment = 512;

using Page = std::array<std::byte, kPage>;
using Group = std::array<std::unique_ptr<Page>, kPagesPerGroup>;

// Overwrites the block after a direct read's end of file, as a kernel may.
void spoil_block_behind(std::span<const Piece> pieces, std::uint64_t moved) {
  for (const Piece& piece : pieces) {
    if (moved < piece.bytes) {
      std::memset(piece.memory + moved, 0, (kDirectAlignment - moved % kDirectAlignment) % kDirectAlignment);
      return;
    }
    moved -= piece.bytes;
  }
}

struct Shard {
  std::mutex mutex;
  std::map<std::uint64_t, Group> groups;  // guarded by mutex; by number, ordered for next_data
};

// The content of one file, shared by all its handles.
class MemoryContent {
 public:
  explicit MemoryContent(bool is_hollow) : is_hollow_(is_hollow) {}
  bool is_hollow() const { return is_hollow_; }
  std::uint64_t size() const { return size_.load(std::memory_order_acquire); }

  void write(std::uint64_t offset, std::span<const std::byte> data) {
    const std::uint64_t end = offset + data.size();
    while (!is_hollow_ && !data.empty()) {
      const std::uint64_t group = offset / (kPage * kPagesPerGroup);
      const std::uint64_t room = (group + 1) * kPage * kPagesPerGroup - offset;
      const auto part = data.first(std::min<std::uint64_t>(room, data.size()));
      Shard& shard = shard_of(group);
      const std::lock_guard lock(shard.mutex);
      write_group(shard.groups[group], offset, part);
      offset += part.size();
      data = data.subspan(part.size());
    }
    grow(end);
  }

  std::size_t read(std::uint64_t offset, std::span<std::byte> data) {
    const std::uint64_t end = size();
    if (offset >= end) return 0;
    data = data.first(std::min<std::uint64_t>(data.size(), end - offset));
    const std::size_t bytes = data.size();
    while (!is_hollow_ && !data.empty()) {
      const std::uint64_t group = offset / (kPage * kPagesPerGroup);
      const std::uint64_t room = (group + 1) * kPage * kPagesPerGroup - offset;
      const auto part = data.first(std::min<std::uint64_t>(room, data.size()));
      Shard& shard = shard_of(group);
      const std::lock_guard lock(shard.mutex);
      const auto found = shard.groups.find(group);
      read_group(found == shard.groups.end() ? nullptr : &found->second, offset, part);
      offset += part.size();
      data = data.subspan(part.size());
    }
    return bytes;
  }

  void grow(std::uint64_t end) {
    std::uint64_t now = size_.load(std::memory_order_relaxed);
    // Release: a thread that reads the new size also reads the bytes, which are stored first.
    while (now < end && !size_.compare_exchange_weak(now, end, std::memory_order_release)) {
    }
  }

  void truncate(std::uint64_t bytes) {
    std::array<std::unique_lock<std::mutex>, kShards> locks;
    for (std::uint64_t i = 0; i < kShards; ++i) locks[i] = std::unique_lock(shards_[i].mutex);
    if (bytes < size()) drop_from(bytes);
    size_.store(bytes, std::memory_order_release);
  }

  std::uint64_t next_data(std::uint64_t offset) {
    std::uint64_t best = size();
    if (is_hollow_) return std::min(offset, best);
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      auto group = shard.groups.lower_bound(offset / (kPage * kPagesPerGroup));
      for (; group != shard.groups.end() && group->first * kPage * kPagesPerGroup < best; ++group) {
        const std::uint64_t found = first_page(group->second, group->first * kPage * kPagesPerGroup, offset);
        best = std::min(best, found);
      }
    }
    return best;
  }

 private:
  Shard& shard_of(std::uint64_t group) { return shards_[group % kShards]; }

  static void write_group(Group& group, std::uint64_t offset, std::span<const std::byte> data) {
    while (!data.empty()) {
      const std::uint64_t in_page = offset % kPage;
      const auto part = data.first(std::min<std::uint64_t>(kPage - in_page, data.size()));
      std::unique_ptr<Page>& page = group[offset / kPage % kPagesPerGroup];
      if (!page) page = std::make_unique<Page>();  // zeros
      std::memcpy(page->data() + in_page, part.data(), part.size());
      offset += part.size();
      data = data.subspan(part.size());
    }
  }

  static void read_group(const Group* group, std::uint64_t offset, std::span<std::byte> data) {
    while (!data.empty()) {
      const std::uint64_t in_page = offset % kPage;
      const auto part = data.first(std::min<std::uint64_t>(kPage - in_page, data.size()));
      const Page* page = group == nullptr ? nullptr : (*group)[offset / kPage % kPagesPerGroup].get();
      if (page == nullptr) {
        std::memset(part.data(), 0, part.size());
      } else {
        std::memcpy(part.data(), page->data() + in_page, part.size());
      }
      offset += part.size();
      data = data.subspan(part.size());
    }
  }

  // Makes everything from `bytes` on a hole. The caller holds all shards.
  void drop_from(std::uint64_t bytes) {
    const std::uint64_t group_bytes = kPage * kPagesPerGroup;
    for (Shard& shard : shards_) {
      shard.groups.erase(shard.groups.lower_bound((bytes + group_bytes - 1) / group_bytes), shard.groups.end());
    }
    const auto last = shard_of(bytes / group_bytes).groups.find(bytes / group_bytes);
    if (bytes % group_bytes == 0 || last == shard_of(bytes / group_bytes).groups.end()) return;
    const std::uint64_t first_gone = (bytes % group_bytes + kPage - 1) / kPage;
    for (std::uint64_t i = first_gone; i < kPagesPerGroup; ++i) last->second[i].reset();
    Page* cut = last->second[bytes % group_bytes / kPage].get();
    if (bytes % kPage != 0 && cut != nullptr) std::fill(cut->begin() + bytes % kPage, cut->end(), std::byte{0});
  }

  // First offset >= `offset` with a page of this group, which starts at `start`; the largest number when there is none.
  static std::uint64_t first_page(const Group& group, std::uint64_t start, std::uint64_t offset) {
    for (std::uint64_t i = 0; i < kPagesPerGroup; ++i) {
      if (group[i] && start + (i + 1) * kPage > offset) return std::max(start + i * kPage, offset);
    }
    return ~std::uint64_t{0};
  }

  const bool is_hollow_;
  std::atomic<std::uint64_t> size_{0};
  std::array<Shard, kShards> shards_;
};

class MemoryFile final : public UnsharedFile {
 public:
  MemoryFile(std::shared_ptr<MemoryContent> content, std::string path, const OpenOptions& options)
      : content_(std::move(content)), path_(std::move(path)), options_(options) {}

  Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) override {
    const bool reads = direction == Direction::read;
    TW_RETURN_IF_ERROR(reads ? check_readable() : check_writable("write to"));
    TW_RETURN_IF_ERROR(bytes_of(pieces, offset, path_).status());
    std::uint64_t moved = 0;
    for (const Piece& piece : pieces) {
      const std::span<std::byte> memory(piece.memory, piece.bytes);
      if (!reads && !memory.empty()) content_->write(offset + moved, memory);
      const std::uint64_t got = reads ? content_->read(offset + moved, memory) : piece.bytes;
      moved += got;
      if (got < piece.bytes) break;
    }
    return moved;
  }
  // Checks alignment as strictly as a disk does.
  Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                        std::span<const Piece> pieces) override {
    TW_RETURN_IF_ERROR(check_direct(pieces, offset, direct_alignment(), path_));
    TW_ASSIGN_OR_RETURN(const std::uint64_t moved, transfer(direction, offset, pieces));
    if (direction == Direction::read) spoil_block_behind(pieces, moved);
    return moved;
  }
  std::uint32_t direct_alignment() override { return content_->is_hollow() ? 0 : kDirectAlignment; }
  Result<std::uint64_t> size() override {
    TW_RETURN_IF_ERROR(check_open("tell the size of"));
    return content_->size();
  }
  Status truncate(std::uint64_t bytes) override {
    TW_RETURN_IF_ERROR(check_writable("truncate"));
    TW_RETURN_IF_ERROR(check_range(bytes, 0));
    content_->truncate(bytes);
    return {};
  }
  Status preallocate(std::uint64_t offset, std::uint64_t bytes) override {
    TW_RETURN_IF_ERROR(check_writable("reserve storage for"));
    TW_RETURN_IF_ERROR(check_range(offset, bytes));
    if (bytes > 0) content_->grow(offset + bytes);
    return {};
  }
  Status sync() override { return check_open("sync"); }
  Result<std::uint64_t> next_data(std::uint64_t offset) override {
    TW_RETURN_IF_ERROR(check_open("look for data in"));
    return content_->next_data(offset);
  }
  Status close() override {
    TW_RETURN_IF_ERROR(check_open("close"));
    is_open_.store(false, std::memory_order_relaxed);
    return {};
  }
  const std::string& path() const override { return path_; }

 private:
  Status check_open(const char* verb) const {
    if (is_open_.load(std::memory_order_relaxed)) return {};
    return Status::error(Code::wrong_mode, "cannot {} '{}': it was closed", verb, path_);
  }
  Status check_writable(const char* verb) const {
    TW_RETURN_IF_ERROR(check_open(verb));
    if (options_.write) return {};
    return Status::error(Code::wrong_mode, "cannot {} '{}': it is open for reading", verb, path_);
  }
  Status check_readable() const {
    TW_RETURN_IF_ERROR(check_open("read"));
    if (options_.read) return {};
    return Status::error(Code::wrong_mode, "cannot read '{}': it is open for writing only", path_);
  }
  Status check_range(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset <= kMostOffset && bytes <= kMostOffset - offset) return {};
    return Status::error(Code::out_of_range, "cannot reach {} bytes at offset {} of '{}': files end at 2^63-1", bytes,
                         offset, path_);
  }

  const std::shared_ptr<MemoryContent> content_;
  const std::string path_;
  const OpenOptions options_;
  std::atomic<bool> is_open_{true};  // detects misuse only; implies no ordering
};

class MemoryBackend final : public Backend {
 public:
  explicit MemoryBackend(bool is_hollow) : is_hollow_(is_hollow) {}
  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    TW_RETURN_IF_ERROR(check_options(path, options));
    const std::lock_guard lock(mutex_);
    auto found = files_.find(path);
    if (found != files_.end() && options.create && options.exclusive) return failure(Code::already_exists, path);
    if (found == files_.end()) {
      if (!options.create) return failure(Code::not_found, path);
      found = files_.emplace(path, std::make_shared<MemoryContent>(is_hollow_)).first;
    } else if (options.truncate) {
      found->second->truncate(0);
    }
    return std::unique_ptr<StoredFile>(std::make_unique<MemoryFile>(found->second, path, options));
  }
  Status remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.erase(path) == 1 ? Status{} : failure(Code::not_found, path);
  }
  Result<bool> exists(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.count(path) == 1;
  }
  Status sync_directory_of(const std::string&) override { return {}; }
  Result<StorageInfo> describe(const std::string&) override {
    StorageInfo info;
    info.kind = "memory";
    return info;
  }
  std::uint32_t direct_alignment_at(const std::string&) override { return is_hollow_ ? 0 : kDirectAlignment; }
  const char* name() const override { return "memory"; }

 private:
  static Status failure(Code code, const std::string& path) {
    return code == Code::not_found ? Status::error(code, "there is no file '{}' in memory", path)
                                   : Status::error(code, "cannot create '{}': it exists in memory", path);
  }

  const bool is_hollow_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryContent>> files_;  // guarded by mutex_
};

}  // namespace

std::shared_ptr<Backend> make_memory_backend() { return std::make_shared<MemoryBackend>(false); }
std::shared_ptr<Backend> make_hollow_backend() { return std::make_shared<MemoryBackend>(true); }

}  // namespace thalweg
