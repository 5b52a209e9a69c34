#include "multifile/write/write_handle.hpp"

#include <algorithm>
#include <utility>

#include "engine/transfer/transfer.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kFew = 16;                         // logical files per handle that may each have a buffer
constexpr std::uint64_t kBufferBudget = 16 * 1024 * 1024;  // of all buffers of a handle that serves more

}  // namespace

WriteHandle::WriteHandle(std::shared_ptr<WriteSet> files, std::shared_ptr<ReadSet> old, WriteCommon common,
                         WriteShare share, WriterSettings settings)
    : files_(std::move(files)),
      old_(std::move(old)),
      common_(std::move(common)),
      domains_(std::move(share.domains)),
      served_(std::move(share.ranges)),
      added_(share.first_added, settings.added_bytes),
      home_(share.home),
      settings_(std::move(settings)) {
  settings_.serves_few = served_.count() <= kFew;
  settings_.first_bytes = files_->first_bytes(common_);
  if (share.later) settings_.open_later = [this, later = *share.later] { return files_->writer(later, common_); };
}

std::unique_ptr<LogicalWriter>& WriteHandle::writer_at(std::uint64_t slot) {
  constexpr std::uint64_t kPerPage = 1024;
  const std::uint64_t number = slot / kPerPage;
  if (last_page_.second == nullptr || last_page_.first != number) {
    WriterPage& page = writers_[number];
    if (page.empty()) page.resize(std::min(kPerPage, served_.count() - number * kPerPage));
    last_page_ = {number, &page};
  }
  return (*last_page_.second)[slot % kPerPage];
}

template <class Step>
Status WriteHandle::each_writer(Step&& step) {
  for (const auto& [number, page] : writers_)
    for (const auto& writer : page)
      if (writer) TW_RETURN_IF_ERROR(step(*writer));
  return added_.each_in_memory(step);
}

Status WriteHandle::keep_failure(const Status& status) {
  if (failure_.ok()) failure_ = status;
  return status;
}

Result<PhysicalWriter*> WriteHandle::physical(std::uint32_t number) {
  if (last_physical_ != nullptr && last_physical_->header().id.physical == number) return last_physical_;
  const auto found = std::ranges::lower_bound(domains_, number, {}, &DomainShare::physical);
  if (found == domains_.end() || found->physical != number)
    return Status::error(Code::internal, "no share of physical file {}", number);
  TW_ASSIGN_OR_RETURN(last_physical_, files_->writer(*found, common_));
  return last_physical_;
}

Result<LogicalWriter*> WriteHandle::writer(std::uint64_t rank) {
  if (added_.has(rank)) {
    TW_ASSIGN_OR_RETURN(PhysicalWriter * home, physical(home_));
    return added_.at(rank, *home, settings_);
  }
  const auto found = served_.find(rank);
  if (!found)
    return Status::error(Code::not_found, "logical file {} is not served by this handle, which serves {} of {}", rank,
                         n_served(), n_logical());
  std::unique_ptr<LogicalWriter>& writer = writer_at(found->slot);
  if (!writer) {
    std::uint64_t size = 0;
    if (old_) {
      TW_ASSIGN_OR_RETURN(const PhysicalReader* old, old_->physical(found->physical));
      TW_ASSIGN_OR_RETURN(const format::FileEntry entry, old->file_entry(found->local, index_cache_[found->physical]));
      size = entry.bytes;
    }
    TW_ASSIGN_OR_RETURN(PhysicalWriter * file, physical(found->physical));
    writer = std::make_unique<LogicalWriter>(*file, rank, found->local, size, settings_);
    writer->seek(size);
  }
  return writer.get();
}

Result<LogicalWriter*> WriteHandle::current_or_first() {
  if (current_ == nullptr) {
    if (served_.count() == 0)
      return Status::error(Code::wrong_mode,
                           "this handle serves no logical file: choose ranks when opening, or add one by a name");
    TW_ASSIGN_OR_RETURN(current_, writer(served_.first()));
  }
  return current_;
}

Status WriteHandle::seek_to(std::uint64_t rank, std::int64_t position) {
  TW_ASSIGN_OR_RETURN(LogicalWriter * next, writer(rank));
  current_ = next;
  if (position >= 0) current_->seek(static_cast<std::uint64_t>(position));
  return {};
}

// A handle of many logical files buffers few bytes of each: a buffer that fills a good part of a page is packed at
// once, the others when all buffers together exceed the budget.
Status WriteHandle::limit_buffers(LogicalWriter& left) {
  constexpr std::uint64_t kWorthPacking = 512;
  if (left.buffered() >= kWorthPacking) TW_RETURN_IF_ERROR(left.push_small());
  if (settings_.buffered_capacity <= kBufferBudget) return {};
  for (Lists* lists : {&staying_, &newest_}) {
    for (LogicalWriter* w : lists->buffered) {
      TW_RETURN_IF_ERROR(w->push_small());
      w->listed = false;
    }
    lists->buffered.clear();
  }
  return {};
}

// An exception may leave a writer in any state. From then on every call on the handle fails, and the multifile stays
// unclosed.
template <class Step>
Status WriteHandle::guard(Step&& step) {
  try {
    return keep_failure(step());
  } catch (const std::bad_alloc&) {
    broken_ = Status::error(Code::no_memory, "out of memory; nothing more can be written with this handle");
  } catch (const std::exception& error) {
    broken_ = Status::error(Code::internal, error.what());
  }
  return keep_failure(broken_);
}

Status WriteHandle::note_writer(LogicalWriter& writer) {
  Lists& lists = lists_of(writer);
  if (!writer.dirty()) lists.touched.push_back(&writer);
  if (!writer.unsynced) lists.unsynced.push_back(&writer);
  writer.unsynced = true;
  if (settings_.serves_few) return {};
  if (last_written_ != nullptr && last_written_ != &writer) TW_RETURN_IF_ERROR(limit_buffers(*last_written_));
  last_written_ = &writer;
  note_buffer(writer);
  return {};
}

void WriteHandle::note_buffer(LogicalWriter& writer) {
  if (!writer.listed) lists_of(writer).buffered.push_back(&writer);
  writer.listed = true;
}

Status WriteHandle::write(LogicalWriter& writer, std::span<const std::byte> data) {
  if (data.empty()) return {};
  if (data.size() > format::kMaxOffset - writer.position())
    return Status::error(Code::out_of_range, "a write of {} bytes at offset {} passes 2^63-1", data.size(),
                         writer.position());
  TW_RETURN_IF_ERROR(broken_);
  TW_RETURN_IF_ERROR(guard([&] { return note_writer(writer); }));
  return guard([&] { return writer.write(data); });
}

Status WriteHandle::set_name(LogicalWriter& writer, std::string_view name, std::uint32_t mode) {
  if (name.empty() && format::is_added(writer.contribution().local_index))
    return Status::error(Code::invalid_argument, "the name of a logical file that was added may not be empty");
  TW_RETURN_IF_ERROR(broken_);
  return guard([&] { return writer.set_name(name, mode); });
}

Status WriteHandle::add(std::string_view name, std::uint32_t mode) {
  TW_RETURN_IF_ERROR(broken_);
  const std::uint64_t number = added_.next_number();
  if (added_.size() == format::kAddedPerTask)
    return Status::error(Code::out_of_range,
                         "this task has added 2^32 logical files to '{}' in this session, which is the most; close it, "
                         "and append the others",
                         files_->path());
  if (number >= format::kLocalsEnd)
    return Status::error(Code::out_of_range,
                         "'{}' has had as many added logical files as the format can count; `thalweg defrag` makes a "
                         "copy that takes more",
                         files_->path());
  TW_ASSIGN_OR_RETURN(PhysicalWriter * file, physical(home_));
  const auto make = [&]() -> Status {
    if (added_.full()) TW_RETURN_IF_ERROR(store_added(true));
    // Mostly it is complete: its buffer serves the next one.
    if (added_.last() != nullptr) TW_RETURN_IF_ERROR(added_.last()->push_small());
    auto writer = std::make_unique<LogicalWriter>(*file, number, number, 0, settings_);
    TW_RETURN_IF_ERROR(writer->set_name(name, mode));
    current_ = added_.push(std::move(writer));
    if (!settings_.serves_few || n_served() <= kFew) return {};
    settings_.serves_few = false;
    return each_writer([this](LogicalWriter& w) {
      note_buffer(w);
      return Status{};
    });
  };
  // A failure leaves the current logical file as it was.
  const std::uint64_t before = current_ != nullptr ? current_->rank() : number;
  const Status made = guard(make);
  if (!made.ok() && broken_.ok() && before != number) {
    auto old = writer(before);
    current_ = old.has_value() ? *old : nullptr;
  }
  return made;
}

// Frees the memory of the newest added files. First brings all of their bytes on their way to the storage; a later flush
// or sync waits for these, as it waits for the packs and the direct writes of the whole handle.
Status WriteHandle::store_added(bool last_stays) {
  TW_RETURN_IF_ERROR(added_.each_newest([](LogicalWriter& w) {
    w.listed = w.unsynced = false;
    return w.finish();
  }));
  if (current_ != nullptr && current_->rank() >= added_.first_newest()) current_ = added_.last();
  if (last_written_ != nullptr && last_written_->rank() >= added_.first_newest()) last_written_ = nullptr;
  newest_ = {};
  TW_RETURN_IF_ERROR(files_->flush_packs(false));
  TW_ASSIGN_OR_RETURN(PhysicalWriter * home, physical(home_));
  return added_.store(*home, last_stays);
}

Status WriteHandle::flush_writers(bool by_sync) {
  for (const Lists* lists : {&staying_, &newest_})
    for (LogicalWriter* w : lists->touched) TW_RETURN_IF_ERROR(w->flush(by_sync));
  return files_->flush_packs(false);
}

Status WriteHandle::flush() {
  TW_RETURN_IF_ERROR(broken_);
  TW_RETURN_IF_ERROR(guard([&] { return flush_writers(false); }));
  TW_RETURN_IF_ERROR(keep_failure(settings_.finish_direct()));
  TW_RETURN_IF_ERROR(keep_failure(files_->flush_packs()));
  staying_.touched.clear();
  newest_.touched.clear();
  return {};
}

// Where a slot becomes durable before its data, the checksums or seals of the data show it.
Status WriteHandle::flush_for_sync() {
  TW_RETURN_IF_ERROR(broken_);
  TW_RETURN_IF_ERROR(guard([&] { return flush_writers(true); }));
  staying_.touched.clear();
  newest_.touched.clear();
  // Chunks that were flushed earlier too: only a slot marked as synced proves a sync.
  for (const Lists* lists : {&staying_, &newest_})
    for (LogicalWriter* w : lists->unsynced) TW_RETURN_IF_ERROR(guard([&] { return w->mark_synced(); }));
  return {};
}

void WriteHandle::pin_all(const std::shared_ptr<const AccessRequest>& sync) {
  for (Lists* lists : {&staying_, &newest_}) {
    for (LogicalWriter* w : lists->unsynced) {
      w->pin(sync);
      w->unsynced = false;
    }
    lists->unsynced.clear();
  }
}

Status WriteHandle::sync() {
  TW_RETURN_IF_ERROR(flush_for_sync());
  TW_RETURN_IF_ERROR(keep_failure(settings_.finish_direct()));
  TW_RETURN_IF_ERROR(keep_failure(files_->sync()));
  for (Lists* lists : {&staying_, &newest_})
    for (LogicalWriter* w : std::exchange(lists->syncing, {})) w->pin(nullptr);  // their bytes are durable, too
  pin_all(nullptr);
  return {};
}

namespace {

// The part of a flush or sync that waits for the storage.
class SyncRequest final : public AccessRequest {
 public:
  SyncRequest(std::shared_ptr<WriteSet> files, std::shared_ptr<DirectWrites> direct, bool syncs)
      : files_(std::move(files)), direct_(std::move(direct)), syncs_(syncs) {}

 private:
  Op<Outcome> operation(IoContext io) override {
    Outcome outcome;
    outcome.status = co_await carry_out([this] { return store(); }, *io.work_queue);
    co_return outcome;
  }
  Status store() {
    if (direct_ != nullptr) TW_RETURN_IF_ERROR(direct_->end());
    return syncs_ ? files_->sync() : files_->await_packs();
  }
  void let_go() override {
    direct_.reset();
    files_.reset();
  }

  std::shared_ptr<WriteSet> files_;
  std::shared_ptr<DirectWrites> direct_;
  const bool syncs_;
};

}  // namespace

// Direct writes that go on belong to the request; later ones begin anew.
Result<std::shared_ptr<AccessRequest>> WriteHandle::begin(bool syncs) {
  TW_RETURN_IF_ERROR(broken_);
  TW_RETURN_IF_ERROR(syncs ? flush_for_sync() : guard([&] { return flush_writers(false); }));
  std::shared_ptr<DirectWrites> direct;
  if (settings_.direct != nullptr && settings_.direct->has_writes()) {
    direct = settings_.direct;
    TW_RETURN_IF_ERROR(keep_failure(direct->hand_over()));
    settings_.direct = std::make_shared<DirectWrites>(direct->settings(), direct);
  }
  if (syncs) files_->close_durably();
  std::erase_if(syncs_, [](const auto& sync) { return sync->done() && sync->outcome().status.ok(); });
  syncs_.push_back(std::make_shared<SyncRequest>(files_, std::move(direct), syncs));
  start(syncs_.back(), default_progress());
  staying_.touched.clear();
  newest_.touched.clear();
  if (!syncs) return syncs_.back();
  for (Lists* lists : {&staying_, &newest_}) {
    if (syncs_.size() == 1) lists->syncing.clear();
    lists->syncing.insert(lists->syncing.end(), lists->unsynced.begin(), lists->unsynced.end());
  }
  pin_all(syncs_.back());
  return syncs_.back();
}

Status WriteHandle::await_syncs() {
  Status first;
  for (const auto& sync : std::exchange(syncs_, {})) {
    wait_for(*sync);
    first = first.or_else(sync->outcome().status);
  }
  return keep_failure(first);
}

Bytes WriteHandle::finish(TaskRank rank, GoOn go_on) {
  (void)await_syncs();
  Deposit deposit;
  deposit.rank = rank;
  // A broken writer stores nothing more: its checksums may not match its bytes.
  Steps steps(go_on);
  const auto finish_one = [&](LogicalWriter& w) { return steps.go_on() ? w.finish() : files_->stopped(); };
  const auto finish_all = [&] {
    const Status status = each_writer(finish_one).or_else(settings_.finish_direct());
    return status.ok() && added_.many() ? store_added(false) : status;  // task 0 gets little of each task
  };
  const Status finished = broken_.ok() ? attempt(finish_all) : broken_;
  settings_.direct.reset();  // nothing is in flight when the files are closed
  deposit.status = failure_.ok() ? finished : failure_;
  deposit.attributes = std::move(attributes_);
  deposit.go_on = std::move(go_on);
  // An index that reached the storage before the new pieces would hide the bytes that they overwrite.
  if (settings_.hides_old) files_->close_durably();
  current_ = nullptr;
  staying_ = newest_ = {};
  for (auto& [number, page] : writers_)
    for (auto& w : page)
      if (w) deposit.writers.push_back(std::move(w));
  std::ranges::move(added_.take_writers(), std::back_inserter(deposit.writers));
  deposit.stored = added_.take_stored();
  deposit.home = home_;
  last_page_ = {};
  writers_.clear();
  return files_->deposit(std::move(deposit));
}

}  // namespace thalweg
