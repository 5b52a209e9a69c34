// A file of the fault backend.
#pragma once

#include <memory>
#include <mutex>

#include "sim/forwarding_file.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg {

// Forwards to a file of the wrapped backend under control of its FaultBackend, which outlives it.
class FaultFile final : public ForwardingFile {
 public:
  FaultFile(FaultBackend& owner, std::unique_ptr<StoredFile> inner, bool readable)
      : ForwardingFile(std::move(inner)), owner_(owner), readable_(readable) {}

  Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) override {
    return transfer_some({direction, false}, offset, pieces);
  }
  Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                        std::span<const Piece> pieces) override {
    return transfer_some({direction, true}, offset, pieces);
  }
  std::uint32_t direct_alignment() override { return owner_.direct_alignment_of(inner()); }
  Result<std::uint64_t> size() override;
  Status truncate(std::uint64_t bytes) override;
  Status preallocate(std::uint64_t offset, std::uint64_t bytes) override;
  Status release(std::uint64_t offset, std::uint64_t bytes) override;
  Status sync() override;
  Result<std::uint64_t> next_data(std::uint64_t offset) override;
  Status close() override;

 private:
  struct Manner {
    Direction direction;
    bool direct;
  };
  Result<std::uint64_t> transfer_some(Manner manner, std::uint64_t offset, std::span<const Piece> pieces);
  Status check_readable() const;
  Status failed_sync();

  FaultBackend& owner_;
  const bool readable_;  // the wrapped file is always readable
  std::mutex mutex_;
  Status failed_sync_;  // guarded by mutex_; a failed sync keeps failing, as StoredFile promises
};

}  // namespace thalweg
