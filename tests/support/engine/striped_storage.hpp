// Storage that tells stripes, and keeps which task moved which bytes of which file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/forwarding_file.hpp"
#include "storage/backend.hpp"

namespace thalweg::test {

struct MovedBytes {
  std::int64_t task = 0;
  std::string path;
  Direction direction = Direction::read;
  std::uint64_t offset = 0, bytes = 0;
};

// Shared by the backends of all tasks, which run on one thread.
struct StripeRecord {
  StripeLayout told;  // by the storage
  std::uint32_t block_bytes = 4096;
  std::vector<MovedBytes> moved;

  // Bytes of each target, where stripes of `bytes` bytes go over `count` targets, whether that is told or not.
  // `task`: only what it moved; -1: all. `least`: only transfers of so many bytes.
  std::map<std::uint64_t, std::uint64_t> on_targets(Direction direction, std::uint64_t bytes, std::uint64_t count,
                                                    std::int64_t task, std::uint64_t least) const {
    std::map<std::uint64_t, std::uint64_t> sums;
    for (const MovedBytes& one : moved) {
      if ((task >= 0 && one.task != task) || one.bytes < least || one.direction != direction) continue;
      for (std::uint64_t at = one.offset, end = at + one.bytes; at < end;) {
        const std::uint64_t part = std::min(end, (at / bytes + 1) * bytes) - at;
        sums[at / bytes % count] += part;
        at += part;
      }
    }
    return sums;
  }
};

class StripedFile final : public ForwardingFile {
 public:
  StripedFile(std::shared_ptr<StripeRecord> record, std::int64_t task, std::unique_ptr<StoredFile> inner)
      : ForwardingFile(std::move(inner)), record_(std::move(record)), task_(task) {}
  Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) override {
    std::uint64_t bytes = 0;
    for (const Piece& piece : pieces) bytes += piece.bytes;
    record_->moved.push_back({task_, path(), direction, offset, bytes});
    return ForwardingFile::transfer(direction, offset, pieces);
  }
  Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                        std::span<const Piece> pieces) override {
    return transfer(direction, offset, pieces);
  }
  std::uint32_t direct_alignment() override { return 0; }

 private:
  const std::shared_ptr<StripeRecord> record_;
  const std::int64_t task_;
};

class StripedStorage final : public Backend {
 public:
  StripedStorage(std::shared_ptr<StripeRecord> record, std::int64_t task, std::shared_ptr<Backend> inner)
      : record_(std::move(record)), task_(task), inner_(std::move(inner)) {}
  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    TW_ASSIGN_OR_RETURN(auto file, inner_->open(path, options));
    return std::unique_ptr<StoredFile>(std::make_unique<StripedFile>(record_, task_, std::move(file)));
  }
  Status remove(const std::string& path) override { return inner_->remove(path); }
  Result<bool> exists(const std::string& path) override { return inner_->exists(path); }
  Status sync_directory_of(const std::string& path) override { return inner_->sync_directory_of(path); }
  Result<StorageInfo> describe(const std::string& path) override {
    TW_ASSIGN_OR_RETURN(StorageInfo info, inner_->describe(path));
    info.kind = "lustre";
    info.is_network = true;
    info.block_bytes = record_->block_bytes;
    info.stripes = record_->told;
    return info;
  }
  const char* name() const override { return "striped"; }

 private:
  const std::shared_ptr<StripeRecord> record_;
  const std::int64_t task_;
  const std::shared_ptr<Backend> inner_;
};

}  // namespace thalweg::test
