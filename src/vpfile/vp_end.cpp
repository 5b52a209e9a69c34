// Flush, sync and close of a vpfile by all: each task stores what it has, then task 0 says in NAME.meta what there is.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "group/agree.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

namespace {

// What the tasks have stored; joined, what all have.
struct Ends {
  std::uint64_t superblocks = 0;
  std::uint64_t entries = 0;
  std::uint64_t ib_bytes = 0;
  std::uint64_t has_ib = 0;
  std::uint64_t wrong = 0;  // something failed already
  static Folding folding() {
    static_assert(std::is_trivially_copyable_v<Ends>);
    return {sizeof(Ends), [](void* left, const void* right) {
              auto& all = *static_cast<Ends*>(left);
              const auto& more = *static_cast<const Ends*>(right);
              all.superblocks = std::max(all.superblocks, more.superblocks);
              all.entries = std::max(all.entries, more.entries);
              all.ib_bytes += more.ib_bytes;
              all.has_ib |= more.has_ib;
              all.wrong |= more.wrong;
            }};
  }
};

}  // namespace

// Status of this task alone.
Status VpFile::store_segment(bool closing) {
  if (segment_ == nullptr) return {};
  const std::lock_guard lock(mutex_);
  states_.resize(vps_.count());
  return closing ? segment_->finish(states_, vps_) : segment_->flush(states_, vps_);
}

// What was synced once must not be hidden by what did not reach the storage: NAME.meta tells of durable bytes only.
Op<Status> VpFile::sync_parts(bool closing) {
  Status status = co_await file_->sync();
  if (!status.ok() || !closing || segment_ == nullptr) co_return status;
  if (group().rank() == group().place().process_leader) {
    status = side_->first->sync();
    if (status.ok()) status = side_->overflow->sync();
  }
  co_return co_await agree(group(), std::move(status));
}

Status VpFile::write_ends(bool closing) {
  if (unmarked_) return {};  // nobody said how long the records of the array are
  if (closing && side_->first != nullptr) {
    TW_ASSIGN_OR_RETURN(meta_.first_bytes, side_->first->size());
  }
  TW_RETURN_IF_ERROR(write_meta(closing));
  return durable_ ? backend_->sync_directory_of(path_) : Status{};
}

// What every task has in memory reaches the file, and NAME.meta tells of it. Where the file is closed, the side files
// too; then a failure of the last step is that of task 0 alone.
Op<Status> VpFile::store_all(bool closing) {
  Status status = co_await store_row();
  Status mine = or_out_of_memory([&] { return store_segment(closing); });
  if (status.ok()) status = std::move(mine);
  Ends ends;
  Ends before;
  if (segment_ != nullptr) ends = {segment_->end_of_superblocks(), segment_->end_of_entries(), segment_->added(), 1, 0};
  ends.wrong = status.ok() ? 0 : 1;
  const Status folded = co_await group().fold(&ends, &before, Ends::folding());
  if (!folded.ok()) co_return folded;
  if (ends.wrong != 0) co_return co_await agree(group(), std::move(status));
  if (ends.has_ib != 0) {
    status = or_out_of_memory([&] { return make_segment(); });  // its layout must be known to all
    status = co_await agree(group(), std::move(status));
    if (!status.ok()) co_return status;
    note(VpMode::ib, VpCause::scattered);
    meta_.end_of_superblocks = std::max({meta_.end_of_superblocks, ends.superblocks, geometry_.first_superblock});
    meta_.end_of_entries = std::max({meta_.end_of_entries, ends.entries, std::uint64_t{1}});
    meta_.ib_bytes = ib_bytes_before_ + ends.ib_bytes;
  }
  if (durable_) status = co_await sync_parts(closing);
  if (!status.ok()) co_return status;
  if (group().rank() == 0) status = or_out_of_memory([&] { return write_ends(closing); });
  if (closing) co_return status;  // close() agrees on it
  co_return co_await agree(group(), std::move(status));
}

Op<Status> VpFile::flush() {
  if (!may_write_) co_return Status{};
  const Status met = co_await meet(Call::tw_vp_flush_all, {});
  if (!met.ok()) co_return met;
  co_return co_await store_all(false);
}

Op<Status> VpFile::sync() {
  if (!may_write_) co_return Status{};
  const Status met = co_await meet(Call::tw_vp_sync_all, {});
  if (!met.ok()) co_return met;
  durable_ = true;
  if (segment_ != nullptr) segment_->set_durable();
  co_return co_await store_all(false);
}

Status VpFile::flush_one(std::uint64_t local) {
  TW_RETURN_IF_ERROR(check_local(local));
  return store_segment(false);
}

// Where other tasks make another call no task waits for another one, and nothing says that the file is closed.
Op<Status> VpFile::close() {
  Status status = co_await meet(Call::tw_vpfile_close, {});
  if (status.ok() && may_write_) status = co_await store_all(true);
  const Status data = co_await file_->close();
  if (status.ok()) status = data;
  if (group().rank() == group().place().process_leader) {
    for (StoredFile* side : {side_->first.get(), side_->overflow.get(), side_->lock.get()}) {
      Status closed = side != nullptr ? side->close() : Status{};
      if (status.ok()) status = std::move(closed);
    }
  }
  if (meta_file_ != nullptr) {
    Status closed = meta_file_->close();
    if (status.ok()) status = std::move(closed);
  }
  if (!group().ended().ok()) co_return status;
  co_return co_await agree(group(), std::move(status));
}

}  // namespace thalweg
