// The files of one node of a cluster as its kernel caches them where nothing keeps nodes coherent: whole pages are read
// once, and written back by a sync or a close: as a whole, or, on kinds that begin with "fuse", the bytes that were
// written. Tests give each node such a backend over common servers.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sim/unshared_file.hpp"

namespace thalweg::test {

// The pages of one file on one node; opens of the same name share them.
struct NodePages {
  static constexpr std::uint64_t kPage = 4096;
  struct Page {
    std::vector<std::byte> bytes;
    std::vector<bool> dirty;  // for each byte; empty: none is
  };
  bool passes_bytes = false;
  std::mutex mutex;
  std::map<std::uint64_t, Page> pages;  // guarded by mutex, as all below
  std::uint64_t size = 0;               // as this node has seen or made it

  // The page as this node sees it.
  Result<Page*> load(StoredFile& servers, std::uint64_t number) {
    auto [found, is_new] = pages.try_emplace(number);
    if (!is_new) return &found->second;
    found->second.bytes.resize(kPage);
    TW_RETURN_IF_ERROR(servers.read(number * kPage, found->second.bytes).status());
    return &found->second;
  }
  Status write_back(StoredFile& servers) {
    for (auto& [number, page] : pages) {
      const std::vector<bool> dirty = std::exchange(page.dirty, {});
      if (dirty.empty()) continue;
      const std::uint64_t begin = number * kPage, bytes = std::min(kPage, size - std::min(size, begin));
      for (std::uint64_t at = 0, end = 0; at < bytes; at = end) {
        for (end = at + 1; end < bytes && (!passes_bytes || dirty[end] == dirty[at]);) ++end;
        if (passes_bytes && !dirty[at]) continue;
        TW_RETURN_IF_ERROR(servers.write(begin + at, std::span(page.bytes).subspan(at, end - at)));
      }
    }
    return {};
  }
};

class NodeFile final : public UnsharedFile {
 public:
  NodeFile(std::unique_ptr<StoredFile> servers, std::shared_ptr<NodePages> cache)
      : servers_(std::move(servers)), cache_(std::move(cache)) {}

  Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) override {
    const std::lock_guard lock(cache_->mutex);
    std::uint64_t moved = 0;
    for (const Piece& piece : pieces)
      for (std::uint64_t done = 0; done < piece.bytes;) {
        const std::uint64_t at = offset + moved, within = at % NodePages::kPage;
        std::uint64_t n = std::min(piece.bytes - done, NodePages::kPage - within);
        if (direction == Direction::read) {
          TW_ASSIGN_OR_RETURN(const std::uint64_t size, size_here());
          n = std::min(n, size - std::min(size, at));
          if (n == 0) return moved;
        }
        TW_ASSIGN_OR_RETURN(NodePages::Page * page, cache_->load(*servers_, at / NodePages::kPage));
        std::byte* const cached = page->bytes.data() + within;
        if (direction == Direction::write) {
          std::copy_n(piece.memory + done, n, cached);
          page->dirty.resize(NodePages::kPage);
          std::fill_n(page->dirty.begin() + static_cast<std::ptrdiff_t>(within), n, true);
          cache_->size = std::max(cache_->size, at + n);
        } else {
          std::copy_n(cached, n, piece.memory + done);
        }
        done += n;
        moved += n;
      }
    return moved;
  }
  Result<std::uint64_t> transfer_direct(Direction, std::uint64_t, std::span<const Piece>) override {
    return Status::error(Code::internal, "no direct transfers");
  }
  Result<std::uint64_t> size() override {
    const std::lock_guard lock(cache_->mutex);
    return size_here();
  }
  Status truncate(std::uint64_t bytes) override {
    const std::lock_guard lock(cache_->mutex);
    cache_->pages.clear();
    cache_->size = bytes;
    return servers_->truncate(bytes);
  }
  Status preallocate(std::uint64_t, std::uint64_t) override { return {}; }  // cannot reserve
  Status sync() override {
    const std::lock_guard lock(cache_->mutex);
    return cache_->write_back(*servers_);
  }
  Status forget_cached() override {
    const std::lock_guard lock(cache_->mutex);
    TW_RETURN_IF_ERROR(cache_->write_back(*servers_));
    cache_->pages.clear();
    cache_->size = 0;
    return {};
  }
  Result<std::uint64_t> next_data(std::uint64_t offset) override { return servers_->next_data(offset); }
  Status close() override {
    TW_RETURN_IF_ERROR(sync());
    return servers_->close();
  }
  const std::string& path() const override { return servers_->path(); }

 private:
  Result<std::uint64_t> size_here() {
    TW_ASSIGN_OR_RETURN(const std::uint64_t there, servers_->size());
    return std::max(there, cache_->size);
  }
  const std::unique_ptr<StoredFile> servers_;
  const std::shared_ptr<NodePages> cache_;
};

class NodeCaches final : public Backend {
 public:
  // `kind`: of the file system, as Backend::describe() tells it.
  NodeCaches(std::shared_ptr<Backend> servers, std::string kind)
      : servers_(std::move(servers)), kind_(std::move(kind)) {}

  using Backend::open;
  // An open asks the servers, unless another open file of this node has pages.
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    OpenOptions both = options;
    both.read = true;
    TW_ASSIGN_OR_RETURN(auto stored, servers_->open(path, both));
    const std::lock_guard lock(mutex_);
    std::shared_ptr<NodePages> cache = caches_[path].lock();
    if (cache == nullptr || options.truncate) cache = std::make_shared<NodePages>();
    cache->passes_bytes = kind_.starts_with("fuse");
    caches_[path] = cache;
    return std::unique_ptr<StoredFile>(std::make_unique<NodeFile>(std::move(stored), std::move(cache)));
  }
  Status remove(const std::string& path) override { return servers_->remove(path); }
  Result<bool> exists(const std::string& path) override { return servers_->exists(path); }
  Status sync_directory_of(const std::string&) override { return {}; }
  Result<StorageInfo> describe(const std::string&) override {
    StorageInfo info;
    info.kind = kind_;
    info.is_network = true;
    info.is_coherent = false;
    return info;
  }
  const char* name() const override { return "node"; }

 private:
  const std::shared_ptr<Backend> servers_;
  const std::string kind_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<NodePages>> caches_;  // guarded by mutex_
};

}  // namespace thalweg::test
