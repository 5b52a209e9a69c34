// Flush, sync and close of a vpfile by all: each task stores what it has, then task 0 says in NAME.meta what there is.
#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "base/shell_word.hpp"
#include "engine/progress/request.hpp"
#include "group/agree.hpp"
#include "group/packing.hpp"
#include "vpfile/vp_files.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

// What the tasks have stored; joined, what all have.
struct VpFile::Ends {
  std::uint64_t superblocks = 0;
  std::uint64_t entries = 0;
  std::uint64_t ib_bytes = 0;
  std::uint64_t data_bytes = 0;      // of the data file,
  std::uint64_t first_bytes = 0;     // NAME.first
  std::uint64_t overflow_bytes = 0;  // and NAME.dir as this process sees it
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
              all.data_bytes = std::max(all.data_bytes, more.data_bytes);
              all.first_bytes = std::max(all.first_bytes, more.first_bytes);
              all.overflow_bytes = std::max(all.overflow_bytes, more.overflow_bytes);
              all.has_ib |= more.has_ib;
              all.wrong |= more.wrong;
            }};
  }
};

// How long the files are after what this task stored.
Status VpFile::measure(Ends& ends) const {
  TW_ASSIGN_OR_RETURN(ends.data_bytes, file_->shared()->stored->size());
  if (segment_ == nullptr) return {};
  TW_ASSIGN_OR_RETURN(ends.first_bytes, side_->first.file->size());
  TW_ASSIGN_OR_RETURN(ends.overflow_bytes, side_->overflow.file->size());
  return {};
}

// Status of this task alone.
Status VpFile::store_segment(bool closing) {
  if (segment_ == nullptr) return {};
  const std::lock_guard lock(mutex_);
  if (states_.empty()) states_.assign(vps_.count(), VpState{});
  return closing ? segment_->finish(states_, vps_) : segment_->flush(states_, vps_);
}

// What was synced once must not be hidden by what did not reach the storage: NAME.meta tells of durable bytes only.
Op<Status> VpFile::sync_parts(bool closing) {
  Status status = co_await file_->sync();
  if (!status.ok() || !closing || segment_ == nullptr) co_return status;
  if (group().rank() == group().place().process_leader) {
    status = side_->first.file->sync();
    if (status.ok()) status = side_->overflow.file->sync();
  }
  co_return co_await agree(group(), std::move(status));
}

namespace {

constexpr std::size_t kChangeBytes = 24;

// What this task changed of the sums, for the tasks that change them: each page of sums is one task's.
std::vector<Message> share_changes(const std::vector<SumChange>& changes, std::uint64_t tasks) {
  std::map<std::uint64_t, Bytes> of_tasks;
  for (const SumChange& change : changes) {
    const std::uint64_t which = change.which == format::DirectoryFile::first ? 0 : 1;
    Bytes& to = of_tasks[(change.at / format::kSumsPerPage * 2 + which) % tasks];
    for (const std::uint64_t number : {which, change.at, change.by}) put_number(to, static_cast<std::int64_t>(number));
  }
  std::vector<Message> messages;
  messages.reserve(of_tasks.size());
  for (auto& [task, bytes] : of_tasks) messages.push_back({static_cast<TaskRank>(task), std::move(bytes)});
  return messages;
}

std::vector<SumChange> changes_in(const std::vector<Message>& told) {
  std::vector<SumChange> changes;
  for (const Message& message : told) {
    for (ByteView rest = message.data; rest.size() >= kChangeBytes;) {
      SumChange change;
      change.which = take_number(rest) == 0 ? format::DirectoryFile::first : format::DirectoryFile::overflow;
      change.at = static_cast<std::uint64_t>(take_number(rest));
      change.by = static_cast<std::uint64_t>(take_number(rest));
      changes.push_back(change);
    }
  }
  return changes;
}

// How the seals change by what the tasks did; joined, by what all did.
struct Sealed {
  SealChanges seals;
  std::uint64_t wrong = 0;
  static Folding folding() {
    static_assert(std::is_trivially_copyable_v<Sealed>);
    return {sizeof(Sealed), [](void* left, const void* right) {
              auto& all = *static_cast<Sealed*>(left);
              const auto& more = *static_cast<const Sealed*>(right);
              all.seals.first += more.seals.first;
              all.seals.overflow += more.seals.overflow;
              all.wrong |= more.wrong;
            }};
  }
};

}  // namespace

// This task's pages of sums.
Status VpFile::change_own_sums(const std::vector<Message>& told, SealChanges& seals) {
  std::vector<SumChange> changes = changes_in(told);
  if (changes.empty()) return {};
  const auto count = [](const VpSideFile& side) { return side.stored.has_value() ? side.stored->count() : 0; };
  const StoredSums stored{count(side_->first), count(side_->overflow)};
  std::unique_ptr<StoredFile> opened;
  if (meta_file_ == nullptr) {
    TW_ASSIGN_OR_RETURN(opened, backend_->open(vp_meta_path(path_), OpenMode::read_write));
  }
  StoredFile& file = opened != nullptr ? *opened : *meta_file_;
  TW_ASSIGN_OR_RETURN(seals, change_sums(file, geometry_.n, stored, std::move(changes)));
  if (durable_) TW_RETURN_IF_ERROR(file.sync());
  return opened != nullptr ? opened->close() : Status{};
}

// Collective, where all have a segment: the sums of the entries that the tasks changed.
Op<Status> VpFile::store_sums() {
  std::vector<Message> outgoing;
  Status status = or_out_of_memory([&] {
    outgoing = share_changes(segment_->sum_changes(), static_cast<std::uint64_t>(group().size()));
    return Status{};
  });
  const auto told = co_await group().exchange(std::move(outgoing));
  if (!told.has_value()) co_return told.error();
  Sealed mine;
  Sealed before;
  if (status.ok()) status = or_out_of_memory([&] { return change_own_sums(told.value(), mine.seals); });
  mine.wrong = status.ok() ? 0 : 1;
  const Status folded = co_await group().fold(&mine, &before, Sealed::folding());
  if (!folded.ok()) co_return folded;
  if (mine.wrong != 0) co_return co_await agree(group(), std::move(status));
  meta_.first.seal += mine.seals.first;
  meta_.overflow.seal += mine.seals.overflow;
  co_return Status{};
}

Status VpFile::write_ends(bool closing) {
  if (unmarked_) return {};  // nobody said how long the records of the array are
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
  if (segment_ != nullptr) {
    ends.superblocks = segment_->end_of_superblocks();
    ends.entries = segment_->end_of_entries();
    ends.ib_bytes = segment_->added();
    ends.has_ib = 1;
  }
  if (closing && status.ok()) status = or_out_of_memory([&] { return measure(ends); });
  ends.wrong = status.ok() ? 0 : 1;
  const Status folded = co_await group().fold(&ends, &before, Ends::folding());
  if (!folded.ok()) co_return folded;
  if (ends.wrong != 0) co_return co_await agree(group(), std::move(status));
  meta_.data_bytes = ends.data_bytes;
  if (ends.has_ib != 0) status = co_await take_ends(ends, closing);
  if (status.ok() && durable_) status = co_await sync_parts(closing);
  if (!status.ok()) co_return status;
  if (group().rank() == 0) status = or_out_of_memory([&] { return write_ends(closing); });
  if (closing) co_return status;  // close() agrees on it
  co_return co_await agree(group(), std::move(status));
}

// Collective, where a task has a segment.
Op<Status> VpFile::take_ends(const Ends& ends, bool closing) {
  Status status = or_out_of_memory([&] { return make_segment(); });  // its layout must be known to all
  status = co_await agree(group(), std::move(status));
  if (!status.ok()) co_return status;
  note(VpMode::ib, VpCause::scattered);
  meta_.end_of_superblocks = std::max({meta_.end_of_superblocks, ends.superblocks, geometry_.first_superblock});
  meta_.end_of_entries = std::max({meta_.end_of_entries, ends.entries, std::uint64_t{1}});
  meta_.ib_bytes = ib_bytes_before_ + ends.ib_bytes;
  meta_.first.bytes = std::max(meta_.first.bytes, ends.first_bytes);
  meta_.overflow.bytes = std::max(meta_.overflow.bytes, ends.overflow_bytes);
  if (closing) co_return co_await store_sums();
  co_return Status{};
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

// This task's part of the row that all have.
Status VpFile::store_own_row() {
  if (!row_.dirty) return {};
  const std::uint64_t run_bytes = vps_.run_length() * row_.place.bytes;
  for (std::uint64_t run = 0; run < vps_.n_runs(); ++run) {
    const std::span<const std::byte> part = std::span(row_.bytes).subspan(run * run_bytes, run_bytes);
    TW_RETURN_IF_ERROR(file_->shared()->stored->write(row_.place.offset_of(vps_.run_begin(run)), part));
  }
  return {};
}

Status VpFile::store_own() {
  if (!may_write_) return {};
  Status status = or_out_of_memory([&] { return store_own_row(); });
  Status segment = or_out_of_memory([&] { return store_segment(false); });
  return status.ok() ? segment : status;
}

// The part of the row that was not flushed before counts only where all tasks have stored theirs.
Status VpFile::tell_stored(bool by_all) {
  if (!may_write_ || unmarked_) return {};
  const format::VpGeometry all = geometry_;
  if (row_.dirty && !by_all) {
    const std::uint64_t told = std::max(meta_.geometry.lattice_bytes(), row_.place.begin);
    geometry_.nb_bytes = std::min(geometry_.nb_bytes, told);
    geometry_.cb_bytes = std::min(geometry_.cb_bytes, told - geometry_.nb_bytes);
  }
  if (geometry_.has_ib()) {  // no task has told how many there are; repair finds them
    meta_.end_of_superblocks = std::max(meta_.end_of_superblocks, geometry_.first_superblock);
    meta_.end_of_entries = std::max<std::uint64_t>(meta_.end_of_entries, 1);
  }
  Status status = or_out_of_memory([&] { return write_meta(false); });
  geometry_ = all;
  return status;
}

Status VpFile::abandon() {
  Status status = store_own();
  if (group().rank() == 0) {
    Status told = tell_stored(group().size() == 1);
    if (status.ok()) status = std::move(told);
  }
  file_->abandon(Call::tw_vpfile_abandon);
  return status;
}

namespace {

class LastFlush final : public Request {
 public:
  explicit LastFlush(VpFile& file) : file_(file) {}
  Op<Outcome> operation(IoContext) override {
    Outcome outcome;
    outcome.status = co_await file_.flush();
    file_.group().leave({file_.group().rank(), Call::MPI_Finalize});
    co_return outcome;
  }
  void let_go() override {}
  std::uint64_t bytes() const override { return 0; }
  bool needs_transport() const override { return true; }

 private:
  VpFile& file_;
};

}  // namespace

void VpFile::begin_to_leave() { start(std::make_shared<LastFlush>(*this), mode_for(group(), default_progress())); }

// A task is gone: the others store what they have, and leave the file as it is.
Status VpFile::end_unclosed(Status why) {
  const Status stored = store_own();
  if (group().rank() == 0) (void)tell_stored(false).ok();
  if (!may_write_) return why;
  return or_out_of_memory([&] {
    const Status& first = stored.ok() ? why : stored;
    return Status::error(first.code(),
                         "closing '" + path_ + "': " + first.message() +
                             "; it stays unclosed: " + repair_command(path_) + " brings back what was flushed",
                         first.os_errno());
  });
}

// Where other tasks make another call no task waits for another one, and nothing says that the file is closed.
Op<Status> VpFile::close() {
  Status status = co_await meet(Call::tw_vpfile_close, {});
  if (!group().ended().ok()) status = end_unclosed(std::move(status));
  if (status.ok() && may_write_) status = co_await store_all(true);
  const Status data = co_await file_->close();
  if (status.ok()) status = data;
  if (group().rank() == group().place().process_leader) {
    for (StoredFile* side : {side_->first.file.get(), side_->overflow.file.get(), side_->lock.get()}) {
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
