// Operations on an open file other than accesses: close, sync, lengths, the shared position, views.
#include "sharedfile/plain_file.hpp"

#include <cstdio>
#include <optional>
#include <utility>

#include "async/callers.hpp"
#include "engine/plan/group_access.hpp"
#include "group/agree.hpp"

namespace thalweg {

namespace {

Status bad_whence(int whence) {
  return Status::error(Code::invalid_argument, "whence is {}; SEEK_SET, SEEK_CUR or SEEK_END", whence);
}

Result<std::uint64_t> target_of(std::int64_t offset, std::int64_t base) {
  std::int64_t target = 0;
  if (!__builtin_add_overflow(base, offset, &target) && target >= 0) return static_cast<std::uint64_t>(target);
  return Status::error(Code::invalid_argument, "cannot seek by {} from {}: positions are 0 .. 2^63-1", offset, base);
}

}  // namespace

Op<Status> PlainFile::enter(Entry mine, bool* hold) {
  Group& group = *group_;
  AccessSummary summary;
  summary.failed = !mine.mine.ok();
  summary.common = true;
  summary.whole_blocks = mine.holds;
  summary.extents.begin = mine.first;
  summary.extents.end = mine.second;
  GroupAccess all(summary, group.rank(), mine.call);
  GroupAccess before;
  TW_CO_RETURN_IF_ERROR(co_await group.fold(&all, &before, folding_of<GroupAccess>()));
  if (all.calls.differ()) co_return end_out_of_step(group, all.calls);
  if (hold != nullptr) *hold = all.whole_blocks;
  if (all.any_failed) co_return co_await agree(group, std::move(mine.mine));
  if (all.difference != GroupAccess::Difference::none)
    co_return Status::error(Code::invalid_argument, "{} differ between tasks", mine.arguments);
  co_return Status{};
}

Op<Status> PlainFile::meet(Call call, Status mine) {
  Entry entry{.call = call, .mine = std::move(mine)};
  co_return co_await enter(std::move(entry));
}

// Advances the requests of this process; whether none is outstanding.
bool PlainFile::has_no_requests(void* self) {
  const auto& file = *static_cast<const PlainFile*>(self);
  const auto& requests = file.shared_->requests;
  if (requests.load(std::memory_order_acquire) == 0) return true;
  if (!file.group_->any_thread()) is_a_caller();  // the threads that started them may be gone
  advance_requests();
  return requests.load(std::memory_order_acquire) == 0;
}

// Once all tasks have arrived no request can start, and no process waits for one that has completed its part. If they
// arrived in different calls, no task waits any more: the file is closed with its last request.
Op<Status> PlainFile::close(bool may_sync) {
  Status status = co_await meet(Call::tw_file_close, {});
  if (!group_->ended().ok()) {
    if (abandons(group_->leaver().call)) leave_requests(group_->leaver());
    co_return status;
  }
  const WaitPoint quiet{has_no_requests, nullptr, this};  // on all tasks: some requests only their own task may advance
  co_await quiet;
  // A program that opens the file alone finds what the caches of its node hold.
  if (may_sync && !shared_->is_coherent && check_mode(*shared_, Direction::write).ok()) {
    const Status synced = co_await sync_nodes();
    status = status.or_else(synced);
  }
  if (group_->rank() == group_->place().process_leader) status = status.or_else(shared_->stored->close());
  co_return co_await agree(*group_, std::move(status));
}

Op<Status> PlainFile::once(Entry mine, std::function<Status(StoredFile&)> action) {
  if (mine.mine.ok()) mine.mine = check_mode(*shared_, Direction::write);
  TW_CO_RETURN_IF_ERROR(co_await enter(std::move(mine)));
  if (!shared_->is_coherent) TW_CO_RETURN_IF_ERROR(co_await sync_nodes());
  Status status;
  if (group_->rank() == 0) status = action(*shared_->stored);
  status = co_await agree(*group_, std::move(status));
  if (shared_->is_coherent || !status.ok()) co_return status;
  co_return co_await see_alike(*group_, of_process());
}

StoredFile* PlainFile::of_process() const {
  return group_->rank() == group_->place().process_leader ? shared_->stored.get() : nullptr;
}

// Task 0 asks once all tasks have arrived, so that what a task wrote before its call counts; where nodes may see
// different sizes a task of each process asks.
Op<Result<std::uint64_t>> PlainFile::size(Status mine) {
  Status status = co_await meet(Call::tw_file_size, std::move(mine));
  if (!status.ok()) co_return status;
  co_return co_await largest_size();
}

Op<Result<std::uint64_t>> PlainFile::largest_size() {
  Status status;
  std::int64_t bytes = 0;
  if (group_->rank() == (shared_->is_coherent ? 0 : group_->place().process_leader)) {
    const auto found = shared_->stored->size();
    status = found.status();
    if (found.has_value()) bytes = static_cast<std::int64_t>(found.value());
  }
  TW_CO_ASSIGN_OR_RETURN(const auto agreed, co_await agree_on(*group_, std::move(status), bytes, Reduction::max));
  co_return static_cast<std::uint64_t>(agreed);
}

Op<Status> PlainFile::truncate(std::uint64_t bytes, Status mine) {
  std::function<Status(StoredFile&)> action = [bytes](StoredFile& stored) { return stored.truncate(bytes); };
  Entry entry{
      .call = Call::tw_file_truncate, .mine = std::move(mine), .first = bytes, .arguments = "the sizes of a truncate"};
  co_return co_await once(std::move(entry), std::move(action));
}

Op<Status> PlainFile::preallocate(std::uint64_t offset, std::uint64_t bytes, Status mine) {
  std::function<Status(StoredFile&)> action = [=](StoredFile& stored) -> Status {
    TW_RETURN_IF_ERROR(stored.preallocate(offset, bytes));
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, stored.size());
    if (bytes == 0 || size >= offset + bytes) return {};
    const std::byte last{};  // the file system cannot reserve
    return stored.write(offset + bytes - 1, {&last, 1});
  };
  Entry entry{.call = Call::tw_file_preallocate, .mine = std::move(mine), .first = offset, .second = bytes};
  entry.arguments = "the ranges of a preallocate";
  co_return co_await once(std::move(entry), std::move(action));
}

Op<Status> PlainFile::sync() {
  Status status = co_await meet(Call::tw_file_sync, {});  // all tasks have written
  if (!status.ok()) co_return status;
  co_return co_await sync_nodes();
}

Op<Status> PlainFile::sync_nodes() {
  Status status;
  if (StoredFile* const stored = of_process()) status = stored->sync();
  status = co_await agree(*group_, std::move(status));
  if (shared_->is_coherent || !status.ok()) co_return status;
  co_return co_await see_alike(*group_, of_process());
}

Op<Result<std::uint64_t>> PlainFile::seek(std::int64_t offset, int whence, Status mine) {
  if (mine.ok() && whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) mine = bad_whence(whence);
  Entry entry{.call = Call::tw_file_seek, .mine = std::move(mine)};
  entry.first = static_cast<std::uint64_t>(offset);
  entry.second = static_cast<std::uint64_t>(whence);
  entry.arguments = "the arguments of a seek";
  Status status = co_await enter(std::move(entry));
  if (!status.ok()) co_return status;
  SharedPosition& position = shared_->position;
  const bool draws = group_->rank() == 0;
  const SharedPosition::Ticket ticket = draws ? position.draw() : 0;
  if (draws) {
    PositionTurn turn{*group_, position, ticket};
    co_await turn.point();
  }
  Result<std::uint64_t> end = std::uint64_t{0};
  if (whence == SEEK_END) end = co_await largest_size();
  status = end.status();
  std::uint64_t target = 0;
  if (draws) {
    const std::uint64_t base = whence == SEEK_CUR ? position.value() : status.ok() ? end.value() : 0;
    const auto found = target_of(offset, static_cast<std::int64_t>(base));
    if (status.ok()) status = found.status();
    if (status.ok()) target = found.value();
    position.settle(ticket, status.ok() ? target : position.value());
  }
  TW_CO_ASSIGN_OR_RETURN(const auto agreed, co_await agree_on(*group_, std::move(status),
                                                              static_cast<std::int64_t>(target), Reduction::max));
  co_return static_cast<std::uint64_t>(agreed);
}

namespace {

Status check_overlap(const SharedFile& file, const View& view) {
  if (!file.may_write || view.order() != ViewOrder::overlapping) return {};
  return Status::error(Code::invalid_argument,
                       "a view of '{}' has a byte of the file twice, and the file is open for writing; give one "
                       "without, or open the file for reading only",
                       file.stored->path());
}

Status make_view(const SharedFile& file, const View* view, std::uint64_t displacement, std::optional<FileView>& made) {
  return or_out_of_memory([&]() -> Status {
    made.emplace();  // takes memory, too
    if (view == nullptr && displacement == 0) return {};
    if (view != nullptr) TW_RETURN_IF_ERROR(check_overlap(file, *view));
    TW_ASSIGN_OR_RETURN(const View byte, View::bytes(1));
    TW_ASSIGN_OR_RETURN(*made, FileView::of(view != nullptr ? *view : byte, displacement));
    return {};
  });
}

}  // namespace

Op<Status> PlainFile::set_view(const View* view, std::uint64_t displacement, Status mine) {
  std::optional<FileView> made;
  if (mine.ok()) mine = make_view(*shared_, view, displacement, made);
  Entry entry{.call = Call::tw_file_set_view, .mine = std::move(mine), .holds = view == nullptr};
  bool hold = false;
  Status status = co_await enter(std::move(entry), &hold);
  if (!status.ok()) co_return status;
  view_ = std::move(*made);
  all_in_one_run_ = hold;
  co_return status;
}

// A call that takes long may be worth waiting for others; past the page cache task 0 reserves the storage of all.
bool PlainFile::goes_alone() const {
  const Strategy& strategy = shared_->strategy;
  if (shared_->goes_direct(Direction::read) || shared_->goes_direct(Direction::write)) return false;
  if (strategy.method.has_value()) return *strategy.method == Method::direct;
  return strategy.workers == 0 && strategy.aggregators == 0 && all_in_one_run_ && strategy.on_one_node &&
         group_->place().nodes == 1 && strategy.costs.call_ns < kSleepsNs;
}

Result<std::uint64_t> PlainFile::seek_view(std::int64_t offset, int whence) {
  std::int64_t base = 0;
  if (whence == SEEK_CUR) {
    base = static_cast<std::int64_t>(view_.position());
  } else if (whence == SEEK_END) {
    if (view_.bytes().order() != ViewOrder::in_order)
      return Status::error(Code::invalid_argument,
                           "the view of '{}' is not in file order, so that the end of the file is at no position of "
                           "it; use SEEK_SET or SEEK_CUR",
                           shared_->stored->path());
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, shared_->stored->size());
    base = static_cast<std::int64_t>(view_.bytes().bytes_below(size));
  } else if (whence != SEEK_SET) {
    return bad_whence(whence);
  }
  TW_ASSIGN_OR_RETURN(const std::uint64_t target, target_of(offset, base));
  view_.move_to(target);
  return target;
}

Result<std::uint64_t> PlainFile::offset_in_file(std::uint64_t position) const {
  const View& bytes = view_.bytes();
  if (position < bytes.size()) return bytes.locate(position);
  return Status::error(Code::out_of_range, "the view of '{}' has {} bytes, and none at position {}",
                       shared_->stored->path(), bytes.size(), position);
}

}  // namespace thalweg
