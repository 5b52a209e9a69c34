#include "file/plain_file.hpp"

#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/queues.hpp"
#include "file/strategy.hpp"
#include "group/agree.hpp"
#include "group/frame_memory.hpp"
#include "group/groups.hpp"

namespace thalweg {

// What a process has of a file that it opens.
struct Opened {
  std::shared_ptr<SharedFile> file;
  Status status;
};

namespace {

bool wants_direct(const Strategy& strategy) { return strategy.direct_reads || strategy.direct_writes; }

std::uint32_t wanted_alignment(const SharedFile& file) {
  return wants_direct(file.strategy) ? file.stored->direct_alignment() : 0;
}

// What the file cannot do is not planned.
void set_alignment(SharedFile& file, std::uint32_t alignment) {
  file.direct_alignment = alignment;
  if (alignment == 0) file.strategy.direct_reads = file.strategy.direct_writes = false;
}

Result<std::shared_ptr<SharedFile>> open_stored(Backend& backend, const PlainOpen& how, const FileHints& hints,
                                                bool one_process) {
  auto file = std::make_shared<SharedFile>();
  // What is at the ends of direct writes, and in the holes of sieved ones, is read: so both are asked for first.
  OpenOptions both = how.options;
  both.read = true;
  auto opened = backend.open(how.path, both);
  const bool alone = !opened.has_value() && opened.error().code() == Code::no_permission && !how.options.read;
  if (alone) opened = backend.open(how.path, how.options);
  if (!opened.has_value()) return opened.error();
  file->stored = std::move(opened).value();
  file->may_read = how.options.read;
  file->may_write = how.options.write;
  file->one_process = one_process;
  TW_ASSIGN_OR_RETURN(file->storage, backend.describe(how.path));
  file->strategy = choose_strategy(file->storage, hints);
  if (how.direct) {
    file->strategy.direct_reads = file->strategy.direct_writes = true;
    file->strategy.direct_where_cheaper = false;
  }
  set_alignment(*file, wanted_alignment(*file));
  // What another process writes between reading a hole and writing it back would be lost.
  if (alone || !one_process) file->strategy.sieve_writes = false;
  if (how.append) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, file->stored->size());
    file->position.settle(file->position.draw(), size);
  }
  return file;
}

// What one task needs while a file is opened; all memory of its own is had before others wait for it.
struct Opening {
  Backend* backend = nullptr;
  PlainOpen how;
  FileHints hints;
  bool one_process = true;
  std::shared_ptr<Opened> opened;  // of this process, or of this task, which may yet have to open it

  void open_here() {
    auto file = or_out_of_memory([&] { return open_stored(*backend, how, hints, one_process); });
    opened->status = file.status();
    if (file.has_value()) opened->file = std::move(file).value();
  }
  // Task 0 creates; then every other process opens what is there.
  std::shared_ptr<void> take_or_open() {
    if (opened->file != nullptr) return opened;
    how.options.create = how.options.exclusive = how.options.truncate = false;
    open_here();
    return opened;
  }
};

std::int64_t flag_bits(const PlainOpen& how) {
  const OpenOptions& options = how.options;
  return options.read | options.write << 1 | options.create << 2 | options.exclusive << 3 | options.truncate << 4 |
         how.append << 5 | how.direct << 6;
}

Status check_flags(const PlainOpen& how) {
  const OpenOptions& options = how.options;
  const auto bad = [&](const char* what) {
    return Status::error(Code::invalid_argument, "cannot open '" + how.path + "': " + what);
  };
  if (how.path.empty()) return bad("the name is empty");
  if (!options.read && !options.write) return bad("neither reading nor writing is asked for");
  if ((options.create || options.truncate) && !options.write) return bad("to create or truncate, writing is needed");
  if (options.exclusive && !options.create) return bad("'exclusive' needs 'create'");
  return {};
}

// Numbers that must be the same on all tasks. Where a task has a reason of its own to fail, that is told.
Op<Status> same_on_all(Group& group, std::int64_t a, std::int64_t b, Status mine, const char* what) {
  if (group.size() == 1) co_return mine;
  std::vector<std::int64_t> bounds(5);
  bounds[0] = a;
  bounds[1] = ~a;
  bounds[2] = b;
  bounds[3] = ~b;
  bounds[4] = mine.ok() ? 0 : 1;
  const auto largest = co_await group.allreduce(std::move(bounds), Reduction::max);
  if (!largest.has_value()) co_return largest.error();
  const auto& max = largest.value();
  if (max[4] == 0 && (max[0] != ~max[1] || max[2] != ~max[3]))
    mine = Status::error(Code::invalid_argument, std::string(what) + " differ between tasks");
  co_return co_await agree(group, std::move(mine));
}

std::int64_t hash_of(const std::string& text) { return static_cast<std::int64_t>(std::hash<std::string>{}(text)); }

Op<Result<FileHints>> hints_of_task_0(Group& group, const PlainOpen& how) {
  const ByteView text = std::as_bytes(std::span(how.hints));
  auto said = co_await group.broadcast(group.rank() == 0 ? text : ByteView{}, 0);
  if (!said.has_value()) co_return said.error();
  const Bytes& heard = said.value();
  const std::string_view words(reinterpret_cast<const char*>(heard.data()), heard.size());
  co_return or_out_of_memory([&] { return parse_file_hints(words); });  // what is wrong with them all tasks see
}

// All plan alike, also where nodes have different profiles.
Op<Status> strategy_of_task_0(Group& group, SharedFile& file) {
  const Place place = group.place();
  if (place.processes == 1) co_return Status{};
  static_assert(std::is_trivially_copyable_v<Strategy>);
  const auto mine = std::as_bytes(std::span(&file.strategy, 1));
  const auto said = co_await group.broadcast(group.rank() == 0 ? mine : ByteView{}, 0);
  if (!said.has_value()) co_return said.error();
  const bool leads = group.rank() == place.process_leader;
  if (!leads || group.rank() == 0 || said.value().size() != sizeof file.strategy) co_return Status{};
  const bool may_sieve = file.strategy.sieve_writes;
  std::memcpy(&file.strategy, said.value().data(), sizeof file.strategy);
  file.strategy.sieve_writes = file.strategy.sieve_writes && may_sieve;
  co_return Status{};
}

// Nodes may differ in what direct transfers must be aligned to, and in whether there are any: all take the largest, or
// none. Alignments are powers of two, so that the largest suits everybody.
Op<Status> alignment_of_all(Group& group, SharedFile& file) {
  const Place place = group.place();
  if (place.processes == 1) co_return Status{};
  constexpr std::int64_t kNone = std::int64_t{1} << 32;
  const bool leads = group.rank() == place.process_leader;
  const std::int64_t here = leads ? wanted_alignment(file) : 1;
  const Agreement agreed = co_await agree_on_largest(group, Status{}, here == 0 ? kNone : here);
  if (agreed.status.ok() && leads)
    set_alignment(file, agreed.largest == kNone ? 0 : static_cast<std::uint32_t>(agreed.largest));
  co_return agreed.status;
}

}  // namespace

Op<Result<std::unique_ptr<PlainFile>>> PlainFile::open(Group& group, std::shared_ptr<Backend> backend, PlainOpen how) {
  Status status = how.status;
  if (status.ok()) status = or_out_of_memory([&] { return check_flags(how); });
  status =
      co_await same_on_all(group, flag_bits(how), hash_of(how.path), std::move(status), "the name or flags of an open");
  if (!status.ok()) co_return status;
  auto hints = co_await hints_of_task_0(group, how);
  if (!hints.has_value()) co_return hints.error();

  Opening opening;
  opening.backend = backend.get();
  opening.how = std::move(how);
  opening.how.options.keep_open = true;
  opening.hints = hints.value();
  opening.one_process = group.place().processes == 1;
  std::unique_ptr<PlainFile> file;
  status = or_out_of_memory([&] { return make_empty(opening.opened, file); });
  if (status.ok() && group.rank() == 0) {
    opening.open_here();
    status = opening.opened->status;
  }
  status = co_await agree(group, std::move(status));
  if (!status.ok()) co_return status;
  std::function<std::shared_ptr<void>()> open_or_take = [&opening] { return opening.take_or_open(); };
  auto here = co_await group.share_in_process(std::move(open_or_take));
  if (!here.has_value()) co_return here.error();
  const auto opened = std::static_pointer_cast<Opened>(std::move(here).value());
  status = co_await agree(group, opened->status);
  if (!status.ok()) co_return status;
  status = co_await strategy_of_task_0(group, *opened->file);
  if (!status.ok()) co_return status;
  status = co_await alignment_of_all(group, *opened->file);
  if (!status.ok()) co_return status;

  file->shared_ = opened->file;
  auto copy = co_await group.duplicate();
  if (!copy.has_value()) co_return copy.error();
  file->group_ = std::move(copy).value();
  for (const std::shared_ptr<Lane>& lane : file->lanes_) {
    auto own = co_await group.duplicate();
    if (!own.has_value()) co_return own.error();
    const Status had = or_out_of_memory([&] {
      lane->group = std::move(own).value();
      return Status{};
    });
    if (status.ok()) status = had;
  }
  status = co_await agree(group, std::move(status));
  if (!status.ok()) co_return status;
  co_return file;
}

Status PlainFile::make_empty(std::shared_ptr<Opened>& opened, std::unique_ptr<PlainFile>& file) {
  opened = std::make_shared<Opened>();
  file.reset(new PlainFile);
  for (std::size_t i = 0; i < kLanes; ++i) file->lanes_.push_back(std::make_shared<Lane>());
  return {};
}

PlainFile::~PlainFile() = default;

namespace {

// co_await: no request of the file is outstanding in this process.
struct Quiet {
  SharedFile& file;
  static bool ready(void* self) {
    const auto& requests = static_cast<const Quiet*>(self)->file.requests;
    if (requests.load(std::memory_order_acquire) == 0) return true;
    advance_requests();
    return requests.load(std::memory_order_acquire) == 0;
  }
  WaitPoint point() { return {ready, nullptr, this}; }
};

}  // namespace

// When all tasks have come here nothing new is started, and a process that has ended its part is waited for by none.
Op<Status> PlainFile::close() {
  if (!group_->any_thread()) may_advance_all();
  Status status = co_await group_->barrier();
  Quiet quiet{*shared_};  // all tasks: nobody else may advance the requests of some
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
  if (!group_->any_thread()) may_advance_all();
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
    TheirTurn turn{position, ticket};
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

namespace {

// A group other than that of the file moves the shared position only where all who use it are in this process.
Access by_others(const SharedFile* file, Access access) {
  if (access.placement != Placement::in_order || file == nullptr || file->one_process) return access;
  if (access.status.ok())
    access.status = Status::error(Code::invalid_argument,
                                  "the shared position of '" + file->stored->path() +
                                      "' moves in accesses of the group that opened it, which has several processes");
  access.placement = Placement::at_extents;
  return access;
}

SharedPosition::Ticket draw_for(const Group& group, SharedFile* file, const Access& access) {
  const bool draws = file != nullptr && group.rank() == 0 && access.placement == Placement::in_order;
  return draws ? file->position.draw() : 0;
}

// A nonblocking access. What it holds on to stays until it is complete.
class FileRequest final : public Request {
 public:
  FileRequest(std::shared_ptr<SharedFile> file, std::shared_ptr<Group> group, Access access)
      : file_(std::move(file)), group_(std::move(group)), access_(std::move(access)) {
    if (file_ != nullptr) file_->requests.fetch_add(1, std::memory_order_relaxed);
    if (group_ != nullptr) ticket_ = draw_for(*group_, file_.get(), access_);
  }
  ~FileRequest() override { FileRequest::let_go(); }
  void take_turns(std::shared_ptr<Lane> lane) {
    lane_ = std::move(lane);
    turn_ = lane_->issued++;
  }

 private:
  Op<Outcome> operation(IoContext io) override {
    if (lane_ != nullptr) return on_lane(io);
    return group_ != nullptr ? access_all(*group_, file_.get(), access_, ticket_, io) : access_one(*file_, access_, io);
  }
  void let_go() override {
    if (file_ != nullptr) file_->requests.fetch_sub(1, std::memory_order_release);
    file_ = nullptr;
    group_ = nullptr;
    lane_ = nullptr;
  }
  Op<Outcome> on_lane(IoContext io) {
    const WaitPoint point{is_my_turn, nullptr, this};
    co_await Until{point};
    Outcome outcome = co_await access_all(*group_, file_.get(), access_, ticket_, io);
    lane_->finished.store(turn_ + 1, std::memory_order_release);
    co_return outcome;
  }
  static bool is_my_turn(void* self) {
    const auto* mine = static_cast<const FileRequest*>(self);
    return mine->lane_->finished.load(std::memory_order_acquire) == mine->turn_;
  }

  std::shared_ptr<SharedFile> file_;
  std::shared_ptr<Group> group_;  // null: this task alone
  const Access access_;
  SharedPosition::Ticket ticket_ = 0;
  std::shared_ptr<Lane> lane_;  // null: it need not wait for others
  std::uint64_t turn_ = 0;
};

// In memory as that of coroutines: a request that cannot be made would be missed by the other tasks.
std::shared_ptr<FileRequest> make_request(std::shared_ptr<SharedFile> file, std::shared_ptr<Group> group,
                                          Access access) {
  return std::allocate_shared<FileRequest>(FrameAllocator<FileRequest>{}, std::move(file), std::move(group),
                                           std::move(access));
}

}  // namespace

Op<Outcome> PlainFile::access(Access access) {
  if (!group_->any_thread()) may_advance_all();
  const IoContext io = blocking_io();  // may throw: before a ticket is drawn
  const SharedPosition::Ticket ticket = draw_for(*group_, shared_.get(), access);
  return access_all(*group_, shared_.get(), std::move(access), ticket, io);
}

std::shared_ptr<Request> PlainFile::request(Access access) {
  const std::shared_ptr<Lane>& lane = lanes_[n_requests_ % kLanes];
  auto request = make_request(shared_, lane->group, std::move(access));
  request->take_turns(lane);
  ++n_requests_;
  return request;
}

Op<Outcome> access_with(Group& group, std::shared_ptr<SharedFile> file, Access access, IoContext io) {
  if (!group.any_thread()) may_advance_all();
  access = by_others(file.get(), std::move(access));
  const SharedPosition::Ticket ticket = draw_for(group, file.get(), access);
  co_return co_await access_all(group, file.get(), std::move(access), ticket, io);
}

std::shared_ptr<Request> request_with(std::shared_ptr<Group> group, std::shared_ptr<SharedFile> file, Access access) {
  access = by_others(file.get(), std::move(access));
  return make_request(std::move(file), std::move(group), std::move(access));
}

std::shared_ptr<Request> request_one(std::shared_ptr<SharedFile> file, Access access) {
  return make_request(std::move(file), nullptr, std::move(access));
}

}  // namespace thalweg
