// Files with a length but no bytes, for simulations of more bytes than memory holds. Their content cannot be verified.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "os/pieces.hpp"
#include "sim/sim_storage.hpp"

namespace thalweg {

namespace {

class HollowFile final : public StoredFile {
 public:
  HollowFile(std::shared_ptr<std::uint64_t> size, std::string path) : size_(std::move(size)), path_(std::move(path)) {}

  Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) override {
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, bytes_of(pieces, offset, path_));
    if (direction == Direction::read) return within(offset, bytes);
    TW_RETURN_IF_ERROR(grow(offset, bytes));
    return bytes;
  }
  Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                        std::span<const Piece> pieces) override {
    return transfer(direction, offset, pieces);
  }
  Result<std::uint64_t> size() override { return *size_; }
  Status truncate(std::uint64_t bytes) override {
    *size_ = bytes;
    return {};
  }
  Status preallocate(std::uint64_t offset, std::uint64_t bytes) override { return grow(offset, bytes); }
  Status sync() override { return {}; }
  Result<std::uint64_t> next_data(std::uint64_t offset) override { return std::min(offset, *size_); }
  Status close() override { return {}; }
  const std::string& path() const override { return path_; }

 private:
  Status grow(std::uint64_t offset, std::uint64_t bytes) {
    if (bytes > 0) *size_ = std::max(*size_, offset + bytes);
    return {};
  }
  std::uint64_t within(std::uint64_t offset, std::uint64_t bytes) const {
    return offset < *size_ ? std::min(bytes, *size_ - offset) : 0;
  }
  const std::shared_ptr<std::uint64_t> size_;
  const std::string path_;
};

class HollowBackend final : public Backend {
 public:
  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    TW_RETURN_IF_ERROR(check_options(path, options));
    auto found = files_.find(path);
    if (found == files_.end()) {
      if (!options.create) return Status::error(Code::not_found, "there is no file '{}'", path);
      found = files_.emplace(path, std::make_shared<std::uint64_t>(0)).first;
    } else if (options.create && options.exclusive) {
      return Status::error(Code::already_exists, "cannot create '{}': it exists", path);
    }
    if (options.truncate) *found->second = 0;
    return std::unique_ptr<StoredFile>(std::make_unique<HollowFile>(found->second, path));
  }
  Status remove(const std::string& path) override {
    return files_.erase(path) == 1 ? Status{} : Status::error(Code::not_found, "there is no file '{}'", path);
  }
  Result<bool> exists(const std::string& path) override { return files_.count(path) == 1; }
  Status sync_directory_of(const std::string&) override { return {}; }
  Result<StorageInfo> describe(const std::string&) override {
    StorageInfo info;
    info.kind = "hollow";
    return info;
  }
  const char* name() const override { return "hollow"; }

 private:
  std::map<std::string, std::shared_ptr<std::uint64_t>> files_;  // lengths
};

}  // namespace

std::shared_ptr<Backend> make_hollow_backend() { return std::make_shared<HollowBackend>(); }

}  // namespace thalweg
