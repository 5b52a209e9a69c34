// A file that passes every call on to another one; derived classes replace the calls that they count or delay. It has no
// descriptor and no read_aside() of its own, so that queues and readers use transfer().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "storage/backend.hpp"

namespace thalweg {

class ForwardingFile : public StoredFile {
 public:
  explicit ForwardingFile(std::shared_ptr<StoredFile> inner) : inner_(std::move(inner)) {}

  Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) override {
    return inner_->transfer(direction, offset, pieces);
  }
  Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                        std::span<const Piece> pieces) override {
    return inner_->transfer_direct(direction, offset, pieces);
  }
  std::uint32_t direct_alignment() override { return inner_->direct_alignment(); }
  Result<std::uint64_t> size() override { return inner_->size(); }
  Status truncate(std::uint64_t bytes) override { return inner_->truncate(bytes); }
  Status preallocate(std::uint64_t offset, std::uint64_t bytes) override { return inner_->preallocate(offset, bytes); }
  Status release(std::uint64_t offset, std::uint64_t bytes) override { return inner_->release(offset, bytes); }
  Status sync() override { return inner_->sync(); }
  Status forget_cached() override { return inner_->forget_cached(); }
  Result<std::uint64_t> next_data(std::uint64_t offset) override { return inner_->next_data(offset); }
  Status lock_session() override { return inner_->lock_session(); }
  bool locks_reach_all() const override { return inner_->locks_reach_all(); }
  Result<std::string> look() override { return inner_->look(); }
  Status join_writers() override { return inner_->join_writers(); }
  Result<bool> has_its_name() override { return inner_->has_its_name(); }
  Status close() override { return inner_->close(); }
  const std::string& path() const override { return inner_->path(); }

 protected:
  StoredFile& inner() const { return *inner_; }

 private:
  const std::shared_ptr<StoredFile> inner_;
};

}  // namespace thalweg
