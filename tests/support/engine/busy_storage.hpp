// The file system, on which another program acts before one of the calls of a test's backend.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "storage/backend.hpp"

namespace thalweg::test {

class BusyStorage final : public Backend {
 public:
  using Act = std::function<void()>;
  // `act` comes before call number `at`, counted from 1.
  BusyStorage(std::uint64_t at, Act act) : at_(at), act_(std::move(act)) {}

  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    count();
    return posix_backend()->open(path, options);
  }
  Status remove(const std::string& path) override {
    count();
    return posix_backend()->remove(path);
  }
  Result<bool> exists(const std::string& path) override {
    count();
    return posix_backend()->exists(path);
  }
  Status sync_directory_of(const std::string& path) override { return posix_backend()->sync_directory_of(path); }
  Result<StorageInfo> describe(const std::string& path) override { return posix_backend()->describe(path); }
  const char* name() const override { return "busy"; }

  bool has_acted() const { return calls_ >= at_; }

 private:
  void count() {
    if (++calls_ == at_) act_();
  }
  const std::uint64_t at_;
  std::atomic<std::uint64_t> calls_ = 0;
  const Act act_;
};

}  // namespace thalweg::test
