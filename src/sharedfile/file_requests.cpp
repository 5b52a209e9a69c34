// Accesses to a plain file by its group, by other groups or by a single task: blocking ones, and requests that take
// turns on its channels.
#include <string>
#include <utility>

#include "sharedfile/plain_file.hpp"
#include "storage/queues.hpp"

namespace thalweg {

namespace {

Status refuse_others(const SharedFile* file, Placement placement) {
  const std::string path = file != nullptr ? file->stored->path() : "";
  if (placement == Placement::in_view)
    return Status::error(
        Code::invalid_argument,
        "the position in the view of '{}' moves in accesses of the group that opened it; others use TW_AT_OFFSET",
        path);
  return Status::error(
      Code::invalid_argument,
      "the shared position of '{}' moves in accesses of the group that opened it, which has several processes", path);
}

// A group other than that of the file may use the shared position only where all tasks of the file are in this
// process, and never the position of a handle in its view.
void check_for_others(const SharedFile* file, TaskAccess& access) {
  access.of_others = true;
  const Placement placement = access.placement;
  const bool in_order = placement == Placement::in_order && file != nullptr && !file->one_process;
  if (!in_order && placement != Placement::in_view) return;
  if (access.status.ok()) access.status = refuse_others(file, placement);
  access.placement = Placement::at_extents;
}

SharedPosition::Ticket draw_for(const Group& group, SharedFile* file, const TaskAccess& access) {
  const bool draws = file != nullptr && group.rank() == 0 && access.placement == Placement::in_order;
  return draws ? file->position.draw() : 0;
}

// A nonblocking access. It keeps the objects that it uses alive until it is complete.
class FileRequest final : public AccessRequest {
 public:
  FileRequest(std::shared_ptr<SharedFile> file, std::shared_ptr<Group> group, PlacedAccess what)
      : file_(std::move(file)), group_(std::move(group)), what_(std::move(what)) {
    if (file_ != nullptr) file_->requests.fetch_add(1, std::memory_order_relaxed);
    if (group_ != nullptr) ticket_ = draw_for(*group_, file_.get(), what_.access);
  }
  ~FileRequest() override { FileRequest::let_go(); }
  void take_turns(std::shared_ptr<RequestChannel> channel) {
    channel_ = std::move(channel);
    turn_ = channel_->issued++;
  }
  // Takes the place of an access: this task starts nothing more on the channel.
  void leave(const Leaver& leaver) { leaver_ = leaver; }

 private:
  Op<Outcome> operation(IoContext io) override {
    if (channel_ != nullptr) return in_turn(io);
    const TaskAccess& access = what_.access;
    return group_ != nullptr ? access_all(*group_, file_.get(), access, ticket_, io) : access_one(*file_, access, io);
  }
  // Frees the groups before the request is counted as complete: another thread may end MPI once the file has no
  // requests, and freeing the groups needs MPI.
  void let_go() override {
    channel_ = nullptr;
    group_ = nullptr;
    if (file_ != nullptr) file_->requests.fetch_sub(1, std::memory_order_release);
    file_ = nullptr;
  }
  std::uint64_t bytes() const override {
    std::uint64_t sum = 0;
    for (const Extent& extent : what_.access.extents) sum += extent.bytes;
    return sum;
  }
  Advancers advancers() const override { return group_ != nullptr ? group_->advancers() : Advancers::any; }
  bool needs_transport() const override { return group_ != nullptr && group_->place().processes > 1; }
  Op<Outcome> in_turn(IoContext io) {
    const WaitPoint point{is_my_turn, nullptr, this};
    co_await point;
    if (leaver_.call != Call::none) group_->leave(leaver_);  // the access that follows fails at once
    Outcome outcome = co_await access_all(*group_, file_.get(), what_.access, ticket_, io);
    channel_->finished.store(turn_ + 1, std::memory_order_release);
    co_return outcome;
  }
  static bool is_my_turn(void* self) {
    const auto* mine = static_cast<const FileRequest*>(self);
    return mine->channel_->finished.load(std::memory_order_acquire) == mine->turn_;
  }

  std::shared_ptr<SharedFile> file_;
  std::shared_ptr<Group> group_;  // null: an access of this task alone
  const PlacedAccess what_;
  SharedPosition::Ticket ticket_ = 0;
  std::shared_ptr<RequestChannel> channel_;  // null: it need not wait for other requests
  std::uint64_t turn_ = 0;
  Leaver leaver_;
};

// Keeps the memory that the access borrows.
Op<Outcome> access_placed(Group& group, std::shared_ptr<SharedFile> file, PlacedAccess what,
                          SharedPosition::Ticket ticket, IoContext io) {
  co_return co_await access_all(group, file.get(), std::move(what.access), ticket, io);
}

}  // namespace

Op<Outcome> PlainFile::access(PlacedAccess what) {
  // First, as it may throw: before a ticket is drawn or the position in the view moves
  const IoContext io = blocking_io();
  if (view_.concerns(what.access)) what = view_.place(std::move(what));
  const SharedPosition::Ticket ticket = draw_for(*group_, shared_.get(), what.access);
  if (what.placed.empty()) return access_all(*group_, shared_.get(), std::move(what.access), ticket, io);
  return access_placed(*group_, shared_, std::move(what), ticket, io);
}

// Once the group has ended, the request fails on this task alone, and no task starts it.
std::shared_ptr<AccessRequest> PlainFile::request(PlacedAccess what) {
  if (const Status& ended = group_->ended(); !ended.ok()) {
    TaskAccess refused{.status = ended};
    return std::make_shared<FileRequest>(shared_, nullptr, PlacedAccess(std::move(refused)));
  }
  const std::shared_ptr<RequestChannel>& channel = channels_[n_requests_ % kRequestChannels];
  auto request = std::make_shared<FileRequest>(shared_, channel->group, view_.place(std::move(what)));
  request->take_turns(channel);
  ++n_requests_;
  return request;
}

// Requests may be outstanding on the channels.
void PlainFile::leave_requests(const Leaver& leaver) noexcept {
  for (const std::shared_ptr<RequestChannel>& channel : channels_) {
    if (group_->size() == 1) break;
    auto request = std::make_shared<FileRequest>(shared_, channel->group, PlacedAccess(TaskAccess{}));
    request->take_turns(channel);
    request->leave(leaver);
    start(std::move(request), default_progress());
  }
}

void PlainFile::abandon(Call call) noexcept {
  const Leaver leaver{group_->rank(), call};
  leave_requests(leaver);
  group_->leave(leaver);
}

// Leaves the position in the view unchanged: several threads may use the handle at once.
PlacedAccess PlainFile::place_for_others(TaskAccess access) {
  check_for_others(shared_.get(), access);
  return view_.place(std::move(access));
}

Op<Outcome> access_with(Group& group, std::shared_ptr<SharedFile> file, PlacedAccess what, IoContext io) {
  check_for_others(file.get(), what.access);
  const SharedPosition::Ticket ticket = draw_for(group, file.get(), what.access);
  co_return co_await access_all(group, file.get(), std::move(what.access), ticket, io);
}

std::shared_ptr<AccessRequest> request_with(std::shared_ptr<Group> group, std::shared_ptr<SharedFile> file,
                                            PlacedAccess what) {
  check_for_others(file.get(), what.access);
  return std::make_shared<FileRequest>(std::move(file), std::move(group), std::move(what));
}

std::shared_ptr<AccessRequest> request_one(std::shared_ptr<SharedFile> file, PlacedAccess what) {
  return std::make_shared<FileRequest>(std::move(file), nullptr, std::move(what));
}

}  // namespace thalweg
