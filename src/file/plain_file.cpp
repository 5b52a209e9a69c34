// What all tasks do with an open file besides accesses: close, sync, lengths, the shared position.
#include "file/plain_file.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include "group/agree.hpp"
#include "group/callers.hpp"

namespace thalweg {

PlainFile::~PlainFile() = default;

namespace {

// co_await: no request of the file is outstanding in this process.
struct Quiet {
  const Group& group;
  SharedFile& file;
  static bool ready(void* self) {
    const auto& quiet = *static_cast<const Quiet*>(self);
    const auto& requests = quiet.file.requests;
    if (requests.load(std::memory_order_acquire) == 0) return true;
    if (!quiet.group.any_thread()) is_a_caller();  // the threads that started them may be gone
    advance_requests();
    return requests.load(std::memory_order_acquire) == 0;
  }
  WaitPoint point() { return {ready, nullptr, this}; }
};

}  // namespace

// When all tasks have come here nothing new is started, and a process that has ended its part is waited for by none.
Op<Status> PlainFile::close() {
  Status status = co_await group_->barrier();
  Quiet quiet{*group_, *shared_};  // all tasks: nobody else may advance the requests of some
  co_await Until{quiet.point()};
  if (group_->rank() == group_->place().process_leader) status = shared_->stored->close();
  co_return co_await agree(*group_, std::move(status));
}

Op<Status> PlainFile::once(Status mine, bool changes, std::function<Status(StoredFile&)> action) {
  if (mine.ok() && changes) mine = check_mode(*shared_, Direction::write);
  Status status = co_await agree(*group_, std::move(mine));
  if (!status.ok()) co_return status;
  if (group_->rank() == 0) status = action(*shared_->stored);
  co_return co_await agree(*group_, std::move(status));
}

Op<Result<std::uint64_t>> PlainFile::size() {
  std::uint64_t bytes = 0;
  Status status;
  if (group_->rank() == 0) {
    auto found = shared_->stored->size();
    status = found.status();
    if (found.has_value()) bytes = found.value();
  }
  Agreement agreed = co_await agree_on_largest(*group_, std::move(status), static_cast<std::int64_t>(bytes));
  if (!agreed.status.ok()) co_return std::move(agreed.status);
  co_return static_cast<std::uint64_t>(agreed.largest);
}

Op<Status> PlainFile::truncate(std::uint64_t bytes, Status mine) {
  const auto number = static_cast<std::int64_t>(bytes);
  Status same = co_await same_on_all(*group_, number, 0, std::move(mine), "the sizes of a truncate");
  std::function<Status(StoredFile&)> action = [bytes](StoredFile& stored) { return stored.truncate(bytes); };
  if (!same.ok()) co_return same;
  co_return co_await once(std::move(same), true, std::move(action));
}

Op<Status> PlainFile::preallocate(std::uint64_t offset, std::uint64_t bytes, Status mine) {
  const auto from = static_cast<std::int64_t>(offset);
  const auto number = static_cast<std::int64_t>(bytes);
  Status same = co_await same_on_all(*group_, from, number, std::move(mine), "the ranges of a preallocate");
  std::function<Status(StoredFile&)> action = [=](StoredFile& stored) { return stored.preallocate(offset, bytes); };
  if (!same.ok()) co_return same;
  co_return co_await once(std::move(same), true, std::move(action));
}

Op<Status> PlainFile::sync() {
  Status status = co_await group_->barrier();  // all have written
  if (status.ok() && group_->rank() == group_->place().process_leader) status = shared_->stored->sync();
  co_return co_await agree(*group_, std::move(status));
}

Op<Result<std::uint64_t>> PlainFile::seek(std::int64_t offset, int whence, Status mine) {
  if (mine.ok() && whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END)
    mine = Status::error(Code::invalid_argument,
                         "whence is " + std::to_string(whence) + "; SEEK_SET, SEEK_CUR or SEEK_END");
  Status status = co_await same_on_all(*group_, offset, whence, std::move(mine), "the arguments of a seek");
  if (!status.ok()) co_return status;
  SharedPosition& position = shared_->position;
  SharedPosition::Ticket ticket = 0;
  std::int64_t target = 0;
  if (group_->rank() == 0) {
    ticket = position.draw();
    TheirTurn turn{*group_, position, ticket};
    co_await Until{turn.point()};
    std::int64_t base = whence == SEEK_CUR ? static_cast<std::int64_t>(position.value()) : 0;
    if (whence == SEEK_END) {
      auto size = shared_->stored->size();
      status = size.status();
      if (size.has_value()) base = static_cast<std::int64_t>(size.value());
    }
    if (status.ok() && (__builtin_add_overflow(base, offset, &target) || target < 0))
      status = Status::error(Code::invalid_argument, "cannot seek by " + std::to_string(offset) + " from " +
                                                         std::to_string(base) + ": positions are 0 .. 2^63-1");
    position.settle(ticket, status.ok() ? static_cast<std::uint64_t>(target) : position.value());
  }
  Agreement agreed = co_await agree_on_largest(*group_, std::move(status), target);
  if (!agreed.status.ok()) co_return std::move(agreed.status);
  co_return static_cast<std::uint64_t>(agreed.largest);
}

}  // namespace thalweg
