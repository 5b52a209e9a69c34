// What is alike in files that one process has for itself: they need no locks, no cache, no direct transfers.
#pragma once

#include "storage/backend.hpp"

namespace thalweg {

class UnsharedFile : public StoredFile {
 public:
  std::uint32_t direct_alignment() override { return 0; }
  Status release(std::uint64_t, std::uint64_t) override { return {}; }
  Status forget_cached() override { return {}; }
  Status lock_session() override { return {}; }
  bool locks_reach_all() const override { return true; }
  Result<std::string> look() override { return std::string(); }
  Status join_writers() override { return {}; }
  Result<bool> has_its_name() override { return true; }
};

}  // namespace thalweg
