// CheckedVpfile: the vpfile that is being verified; a repair is one that changes it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/check_result.hpp"
#include "base/go_on.hpp"
#include "vpfile/check/superblock_scan.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/streams/block_directory.hpp"

namespace thalweg {

class CheckedVpfile {
 public:
  CheckedVpfile(Backend& backend, std::string path, const Watch& watch, CheckResult& health)
      : backend_(backend), path_(std::move(path)), health_(health), watch_(watch) {
    health_ = {};
  }

  Status open(bool writes);
  Status verify();

 protected:
  // Superblocks of the data file as `meta` places them, or as the first one found does.
  Result<SuperblockScan> scan();
  // The directory in `sides`: that of the closed file, or a new one.
  BlockDirectory directory_in(const SideFiles& sides) const;
  // Tells how far it is. Code::stopped where the caller wants it.
  Status step(std::uint64_t done, std::uint64_t total) {
    done_ = std::max(done_, done);
    if (!watch_.progress || watch_.progress(done_, total)) return {};
    return Status::error(Code::stopped, "'" + path_ + "': stopped");
  }

  Backend& backend_;
  std::string path_;
  CheckResult& health_;
  std::unique_ptr<StoredFile> data_;
  std::optional<format::VpMeta> meta_;
  Status no_meta_;               // why there is no meta_
  std::uint64_t shortened_ = 0;  // streams that have fewer bytes than they had, and are whole otherwise

 private:
  void find(const std::string& text) {
    ++health_.findings;
    if (watch_.finding) watch_.finding(text);
  }
  Status check_directory();
  Status check_chains(SuperblockScan& scan, BlockDirectory& directory);
  Status check_chain(BlockDirectory& directory, const VpChain& expected);
  Status check_empty_until(BlockDirectory& directory, std::uint64_t end);
  Status check_empty(BlockDirectory& directory, std::uint64_t vp);
  Status lose_entry(std::uint64_t vp, const Status& why);
  Status lose_chain(std::uint64_t vp, const std::string& what);
  void pass_lost_page(std::uint64_t end);
  Status step_now_and_then(std::uint64_t vp) {
    return ++checked_ % kAskEach == 0 ? step(vp, meta_->geometry.n) : Status{};
  }

  const Watch& watch_;
  std::uint64_t checked_ = 0;   // VPs and runs
  std::uint64_t next_ = 0;      // VP to be checked
  std::string lost_;            // why the last entry that was lost is
  bool lost_together_ = false;  //   and so is the one before it
  std::uint64_t done_ = 0;      // VPs, as told last
};

}  // namespace thalweg
