// Collective flush, sync and close of a vpfile: each task stores its bytes, then task 0 writes all ends to NAME.meta.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "async/request.hpp"
#include "base/shell_word.hpp"
#include "base/wire.hpp"
#include "group/agree.hpp"
#include "storage/hold_file.hpp"
#include "vpfile/vpfile.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg {

using format::DirectoryFile;
using format::kDirectoryFiles;

namespace {

// Amounts that a task has stored; joined, those of all tasks.
struct Stored {
  std::uint64_t end_of_superblocks = 0;
  std::uint64_t superblocks = 0;  // number of them that were made in this session
  std::uint64_t entries = 0;
  std::uint64_t ib_bytes = 0;
  std::uint64_t data_bytes = 0;  // of the data file, and of the side files as this process sees them
  format::PerDirectoryFile<std::uint64_t> side_bytes;
  format::PerDirectoryFile<std::uint64_t> seals;  // by how much they change
  std::uint64_t has_ib = 0;
  std::uint64_t batches = 0;  // made in this session
  std::uint64_t wrong = 0;    // something failed already
  void join(const Stored& more) {
    end_of_superblocks = std::max(end_of_superblocks, more.end_of_superblocks);
    superblocks += more.superblocks;
    entries = std::max(entries, more.entries);
    ib_bytes += more.ib_bytes;
    data_bytes = std::max(data_bytes, more.data_bytes);
    for (const DirectoryFile which : kDirectoryFiles) {
      side_bytes[which] = std::max(side_bytes[which], more.side_bytes[which]);
      seals[which] += more.seals[which];
    }
    has_ib |= more.has_ib;
    batches += more.batches;
    wrong |= more.wrong;
  }
};

// Collective: joins `all` over all tasks; fails where `mine` is not OK on one of them.
Op<Status> fold_stored(Group& group, Stored& all, Status mine) {
  Stored before;
  all.wrong = mine.ok() ? 0 : 1;
  Status folded = co_await group.fold(&all, &before, folding_of<Stored>());
  if (folded.ok() && all.wrong != 0) folded = co_await agree(group, std::move(mine));
  co_return folded;
}

constexpr std::size_t kChangeBytes = 3 * sizeof(std::uint64_t);  // in a message: which (0: NAME.first), at, by

// Messages with this task's changes of sums to the tasks that apply them, one task for each page of sums.
std::vector<Message> share_changes(const std::vector<SumChange>& changes, std::uint64_t tasks) {
  std::map<std::uint64_t, Bytes> of_tasks;
  for (const SumChange& change : changes) {
    const std::uint64_t which = change.which == DirectoryFile::first ? 0 : 1;
    Bytes& bytes = of_tasks[(change.at / format::kSumsPerPage * 2 + which) % tasks];
    for (const std::uint64_t number : {which, change.at, change.by}) put_value(bytes, number);
  }
  std::vector<Message> messages;
  messages.reserve(of_tasks.size());
  for (auto& [task, bytes] : of_tasks) messages.push_back({static_cast<TaskRank>(task), std::move(bytes)});
  return messages;
}

// Some daemons (GlusterFS) write behind the close: other nodes that open the file then would not see all.
bool must_reach_servers(const VpParts& parts) { return !parts.file->shared()->is_coherent; }

// Whether programs that open the file alone after the close would find what the caches of their node hold. GlusterFS
// keeps that as long as the time of the last change stays equal, and a write that came late may leave it so.
bool drops_caches(const VpParts& parts) { return must_reach_servers(parts) && parts.group().place().nodes > 1; }

// Applies the changes to this task's pages of sums.
Status change_own_sums(const VpParts& parts, const std::vector<Message>& told, Stored& mine) {
  std::vector<SumChange> changes;
  for (const Message& message : told) {
    for (ByteView rest = message.data; rest.size() >= kChangeBytes;) {
      const bool is_first = take_value<std::uint64_t>(rest) == 0;
      SumChange change{.which = is_first ? DirectoryFile::first : DirectoryFile::overflow};
      change.at = take_value<std::uint64_t>(rest);
      change.by = take_value<std::uint64_t>(rest);
      changes.push_back(change);
    }
  }
  if (changes.empty()) return {};
  format::PerDirectoryFile<std::uint64_t> stored;
  for (const DirectoryFile which : kDirectoryFiles)
    if (const EntrySums* sums = parts.sides->sums(which); sums != nullptr) stored[which] = sums->count();
  std::unique_ptr<StoredFile> opened;
  if (parts.meta_file == nullptr) {
    TW_ASSIGN_OR_RETURN(opened, parts.backend->open(vp_meta_path(parts.path), OpenMode::read_write));
  }
  StoredFile& file = opened != nullptr ? *opened : *parts.meta_file;
  TW_ASSIGN_OR_RETURN(mine.seals, change_sums(file, parts.geometry.n, stored, std::move(changes)));
  if (parts.durable || must_reach_servers(parts)) TW_RETURN_IF_ERROR(file.sync());
  return opened != nullptr ? opened->close() : Status{};
}

// Collective, where all tasks have block stores: applies all changes of the sums of entries.
Op<Status> store_sums(VpParts& parts) {
  Group& group = parts.group();
  std::vector<Message> outgoing;
  Status status = or_out_of_memory(
      [&] { outgoing = share_changes(parts.blocks->sum_changes(), static_cast<std::uint64_t>(group.size())); });
  TW_CO_ASSIGN_OR_RETURN(const auto told, co_await group.exchange(std::move(outgoing)));
  Stored all;
  if (status.ok()) status = or_out_of_memory([&] { return change_own_sums(parts, told, all); });
  status = co_await fold_stored(group, all, std::move(status));
  if (status.ok())
    for (const DirectoryFile which : kDirectoryFiles) parts.meta.side_seals[which] += all.seals[which];
  co_return status;
}

// Collective, where all tasks have block stores: task 0 adds the batches of this session to the list.
Op<Status> list_batches(VpParts& parts) {
  Group& group = parts.group();
  std::vector<Message> outgoing;
  Status status = or_out_of_memory([&] {
    const ByteView mine = std::as_bytes(parts.blocks->batches());
    if (!mine.empty()) outgoing.push_back({0, Bytes(mine.begin(), mine.end())});
  });
  TW_CO_ASSIGN_OR_RETURN(const auto told, co_await group.exchange(std::move(outgoing)));
  if (status.ok() && group.rank() == 0) {
    status = or_out_of_memory([&] {
      parts.meta.geometry = parts.geometry;
      std::vector<format::Batch> fresh;
      for (const Message& message : told) {
        const std::size_t there = fresh.size();
        fresh.resize(there + message.data.size() / sizeof(format::Batch));
        std::memcpy(static_cast<void*>(fresh.data() + there), message.data.data(), message.data.size());
      }
      TW_RETURN_IF_ERROR(parts.sides->list != nullptr
                             ? check_has_its_name(*parts.backend, *parts.sides->list)
                             : check_side(*parts.backend, vp_side_path(parts.path, DirectoryFile::batches), true));
      return append_batches(*parts.backend, parts.data(), std::move(fresh), parts.durable, parts.meta);
    });
  }
  co_return co_await agree(group, std::move(status));
}

// Collective, where a task has blocks: updates the ends in NAME.meta.
Op<Status> take_ends(VpParts& parts, const Stored& all, bool closing) {
  Status status = or_out_of_memory([&] { return parts.need_blocks(); });  // all tasks need the layout
  TW_CO_RETURN_IF_ERROR(co_await agree(parts.group(), std::move(status)));
  parts.note(VpMode::ib, vp_cause::kScattered);
  format::VpMeta& meta = parts.meta;
  meta.end_of_superblocks =
      std::max({meta.end_of_superblocks, all.end_of_superblocks, parts.geometry.first_superblock});
  if (closing) meta.superblocks += all.superblocks;  // headers of this session hold the number from before it
  meta.end_of_entries = std::max({meta.end_of_entries, all.entries, std::uint64_t{1}});
  meta.ib_bytes = parts.ib_bytes_before + all.ib_bytes;
  for (const DirectoryFile which : kDirectoryFiles)
    meta.side_bytes[which] = std::max(meta.side_bytes[which], all.side_bytes[which]);
  if (!closing) co_return Status{};
  if (all.batches > 0) TW_CO_RETURN_IF_ERROR(co_await list_batches(parts));
  co_return co_await store_sums(parts);
}

// Syncs before NAME.meta is written: it must refer to durable bytes only, as lost bytes would hide synced ones.
// Between nodes a close also drops what each node has cached of the side files.
Op<Status> sync_parts(VpParts& parts, bool closing) {
  Group& group = parts.group();
  Status status = co_await parts.lattice->sync();
  if (!status.ok() || !closing || !parts.geometry.has_ib()) co_return status;
  if (group.rank() == group.place().process_leader)
    status = parts.blocks != nullptr
                 ? parts.sides->sync()
                 : or_out_of_memory([&] { return sync_side_files(*parts.backend, parts.path, parts.meta); });
  status = co_await agree(group, std::move(status));
  if (!status.ok() || parts.blocks == nullptr || !drops_caches(parts)) co_return status;
  if (group.rank() == group.place().process_leader) status = parts.sides->forget_cached();
  co_return co_await agree(group, std::move(status));
}

// Measures the files after this task's writes.
Status measure(const VpParts& parts, Stored& mine) {
  TW_ASSIGN_OR_RETURN(mine.data_bytes, parts.data().size());
  if (parts.blocks == nullptr) return {};
  TW_ASSIGN_OR_RETURN(mine.side_bytes, parts.sides->sizes());
  return {};
}

// Fails where a file was removed or replaced meanwhile: its bytes are not stored under its name.
Status check_names(const VpParts& parts) {
  const SideFiles& sides = *parts.sides;
  for (StoredFile* file : {&parts.data(), parts.meta_file.get(), sides.file(DirectoryFile::first),
                           sides.file(DirectoryFile::overflow), sides.list.get()}) {
    const Status named = file != nullptr ? check_has_its_name(*parts.backend, *file) : Status{};
    if (!named.ok()) return named.with_context(fmt::format("closing '{}'", parts.path));
  }
  return {};
}

Status write_ends(VpParts& parts, bool closing) {
  if (parts.unmarked) return {};  // the size of the array's records is unknown
  if (closing) TW_RETURN_IF_ERROR(check_names(parts));
  TW_RETURN_IF_ERROR(write_meta(parts, closing));
  if (closing && drops_caches(parts) && !parts.durable) TW_RETURN_IF_ERROR(parts.meta_file->sync());
  return parts.durable ? parts.backend->sync_directory_of(parts.path) : Status{};
}

// Drops what this node has cached of NAME.meta.
Status forget_meta(const VpParts& parts) {
  auto file = parts.backend->open(vp_meta_path(parts.path), OpenMode::read_write);
  const Status status = file.has_value() ? (*file)->forget_cached() : file.status();
  return status.code() == Code::not_found ? Status{} : status;  // it has another name now
}

}  // namespace

Status store_blocks(VpParts& parts, bool closing) {
  if (parts.blocks == nullptr) return {};
  const std::lock_guard lock(parts.mutex);
  return closing ? parts.blocks->finish(*parts.streams, parts.vps) : parts.blocks->flush(*parts.streams, parts.vps);
}

Op<Status> store_all(VpParts& parts, bool closing, Status mine) {
  Status status = co_await parts.lattice->store_row();
  status = status.or_else(or_out_of_memory([&] { return store_blocks(parts, closing); }));
  Stored all;
  if (parts.blocks != nullptr) {
    all.end_of_superblocks = parts.blocks->end_of_superblocks();
    all.superblocks = parts.blocks->superblocks();
    all.entries = parts.blocks->end_of_entries();
    all.ib_bytes = parts.blocks->added();
    all.batches = parts.blocks->batches().size();
    all.has_ib = 1;
  }
  if (closing && status.ok()) status = measure(parts, all);
  status = co_await fold_stored(parts.group(), all, std::move(status));
  if (!status.ok()) co_return status;
  parts.meta.data_bytes = all.data_bytes;
  if (all.has_ib != 0) status = co_await take_ends(parts, all, closing);
  if (status.ok() && (parts.durable || (closing && must_reach_servers(parts))))
    status = co_await sync_parts(parts, closing);
  if (!status.ok()) co_return status;
  if (parts.group().rank() == 0) status = write_ends(parts, closing);
  if (closing && drops_caches(parts) && !parts.unmarked) {
    status = co_await agree(parts.group(), std::move(status));
    if (status.ok() && parts.group().rank() == parts.group().place().process_leader) status = forget_meta(parts);
  }
  if (closing) co_return status;  // close() agrees on it
  co_return co_await agree(parts.group(), status.or_else(mine));
}

// From now on all bytes of the file reach the storage before NAME.meta refers to them.
static void set_durable(VpParts& parts) {
  parts.durable = true;
  if (parts.blocks != nullptr) parts.blocks->set_durable();
}

Op<Status> VpFile::flush(Status mine, Call call) {
  if (!may_write()) co_return Status{};
  TW_CO_RETURN_IF_ERROR(co_await meet(call, {}));
  if (call == Call::tw_vpfile_sync_all) set_durable(parts_);
  co_return co_await store_all(parts_, false, std::move(mine));
}

Status VpFile::store_own() {
  if (!may_write()) return {};
  Status status = or_out_of_memory([&] { return parts_.lattice->store_own_row(); });
  return status.or_else(or_out_of_memory([&] { return store_blocks(parts_, false); }));
}

// The part of a row that was not flushed before counts only where all tasks have stored theirs, or where superblocks
// state it.
Status VpFile::tell_stored(bool by_all) {
  if (!may_write() || parts_.unmarked) return {};
  format::VpMeta& meta = parts_.meta;
  format::VpGeometry& geometry = parts_.geometry;
  const format::VpGeometry all = geometry;
  if (const auto unstored = parts_.lattice->unstored_from(); unstored.has_value() && !by_all && !geometry.has_ib()) {
    const std::uint64_t told = std::max(meta.geometry.lattice_bytes(), *unstored);
    geometry.nb_bytes = std::min(geometry.nb_bytes, told);
    geometry.cb_bytes = std::min(geometry.cb_bytes, told - geometry.nb_bytes);
  }
  if (geometry.has_ib()) {  // their number is not collected here; repair finds them
    meta.end_of_superblocks = std::max(meta.end_of_superblocks, geometry.first_superblock);
    meta.end_of_entries = std::max<std::uint64_t>(meta.end_of_entries, 1);
  }
  Status status = or_out_of_memory([&] { return write_meta(parts_, false); });
  geometry = all;
  return status;
}

Status VpFile::store_unclosed() {
  Status status = store_own();
  if (group().rank() != 0) return status;
  return status.or_else(tell_stored(group().size() == 1));
}

Status VpFile::abandon() {
  Status status = store_unclosed();
  parts_.file->abandon(Call::tw_vpfile_abandon);
  return status;
}

namespace {

class LastFlush final : public RequestFor<Status> {
 public:
  LastFlush(VpFile& file, VpFile::Tell tell) : file_(file), tell_(std::move(tell)) {}
  Advancers advancers() const override { return file_.group().advancers(); }
  bool needs_transport() const override { return true; }

 private:
  Op<Status> operation(IoContext) override {
    Status status = co_await file_.flush({}, Call::MPI_Finalize);
    if (!status.ok()) status = end_alone(status);
    file_.group().leave({file_.group().rank(), Call::MPI_Finalize});
    co_return status;
  }
  // Where other tasks close, the first one that left at MPI_Finalize names the unclosed file; task 0 has named it
  // before.
  Status end_alone(const Status& why) {
    Status stored = file_.store_unclosed();
    const Leaver& first = file_.group().leaver();
    const TaskRank rank = file_.group().rank();
    if (first.call == Call::MPI_Finalize) {
      if (!stored.ok() || (rank == first.task && rank != 0)) tell_(stored);
    } else if (!stored.ok() || rank == 0) {
      tell_(stored.ok() ? why : stored);
    }
    return stored;
  }

  VpFile& file_;
  const VpFile::Tell tell_;
};

}  // namespace

void VpFile::begin_to_leave(Tell tell) {
  start(std::make_shared<LastFlush>(*this, std::move(tell)), default_progress());
}

// Where a task has left, each other one stores its bytes and leaves the file unclosed.
Status VpFile::end_unclosed(Status why) {
  const Status stored = store_unclosed();
  if (!may_write()) return why;
  const Status& first = stored.ok() ? why : stored;
  return Status::failed_call(first.code(), first.os_errno(),
                             fmt::format("closing '{}': {}; it stays unclosed: {} brings back what was flushed", path(),
                                         first.message(), repair_command(path())));
}

// If other tasks make another call, no task waits for another one, and the file is not marked as closed.
Op<Status> VpFile::close(Status mine) {
  Status status = co_await meet(Call::tw_vpfile_close, std::move(mine));
  if (!group().ended().ok()) status = end_unclosed(std::move(status));
  if (status.ok() && may_write()) {
    // A machine that dies after the close must not leave half a session in what earlier sessions closed.
    if (parts_.meta.session > 1) set_durable(parts_);
    status = co_await store_all(parts_, true);
  }
  const Status data = co_await parts_.file->close(false);  // store_all() has synced
  status = status.or_else(data);
  // Other threads of the process may still write where the group has ended: the last handle closes their side files.
  const bool may_close = group().ended().ok() || group().place().tasks_in_process == 1;
  if (may_close && group().rank() == group().place().process_leader) status = status.or_else(parts_.sides->close());
  if (parts_.meta_file != nullptr) status = status.or_else(parts_.meta_file->close());
  if (!group().ended().ok()) co_return status;
  co_return co_await agree(group(), std::move(status));
}

}  // namespace thalweg
