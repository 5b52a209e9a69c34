// The collective opening of a plain file: task 0 creates it, each process opens it, all agree on one plan.
#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/wire.hpp"
#include "formats/known_file.hpp"
#include "group/agree.hpp"
#include "os/wait.hpp"
#include "sharedfile/file_strategy.hpp"
#include "sharedfile/find_aggregators.hpp"
#include "sharedfile/plain_file.hpp"

namespace thalweg {

namespace {

// The file as one process has opened it, or the failure.
struct Opened {
  std::shared_ptr<SharedFile> file;
  Status status;
  bool wrong_hints = false;  // the hints are the reason of the failure
};

std::uint32_t wanted_alignment(const SharedFile& file) {
  const Strategy& strategy = file.strategy;
  return strategy.direct_reads || strategy.direct_writes ? file.stored->direct_alignment() : 0;
}

// State of one task while a file is opened.
struct Opening {
  Backend* backend = nullptr;
  PlainOpen how;
  bool one_process = true;
  bool first = false;  // task 0, whose hints and strategy hold for all
  Strategy strategy;   // of task 0
  // Shared by the process or, until it is opened there, of this task alone.
  std::shared_ptr<Opened> opened = std::make_shared<Opened>();

  void open_here() {
    auto file = or_out_of_memory([this] { return open_file(); });  // measuring the storage takes 256 KiB
    opened->status = file.status();
    if (file.has_value()) opened->file = std::move(file).value();
  }

  // Task 0 creates the file; then each other process opens it.
  std::shared_ptr<void> take_or_open() {
    if (opened->file != nullptr || !opened->status.ok()) return opened;
    how.options.create = how.options.exclusive = how.options.truncate = false;
    open_here();
    return opened;
  }

 private:
  Result<std::shared_ptr<SharedFile>> open_file() {
    auto file = std::make_shared<SharedFile>();
    if (first) {
      const auto hints = parse_file_hints(how.hints);
      opened->wrong_hints = !hints.has_value();
      TW_RETURN_IF_ERROR(hints.status());
      how.options.stripes = asked_stripes(hints.value());
      if (how.options.write && !how.of_vpfile) TW_RETURN_IF_ERROR(check_not_own(*backend, how.path));
    }
    TW_RETURN_IF_ERROR(open_stored(*file));
    if (first) TW_RETURN_IF_ERROR(choose_first(file->storage));
    file->strategy = strategy;
    file->direct_alignment = wanted_alignment(*file);
    if (!file->sees_holes) file->strategy.sieve_writes = false;
    if (how.append) {
      TW_ASSIGN_OR_RETURN(const std::uint64_t size, file->stored->size());
      file->position.settle(file->position.draw(), size);
    }
    return file;
  }

  // Reading is requested too: direct writes read at their ends, and sieved ones in their holes.
  Status open_stored(SharedFile& file) {
    OpenOptions both = how.options;
    both.read = true;
    auto stored = backend->open(how.path, both);
    file.sees_holes = stored.has_value() || stored.error().code() != Code::no_permission || how.options.read;
    if (!file.sees_holes) stored = backend->open(how.path, how.options);
    if (!stored.has_value()) return stored.error();
    file.stored = std::move(stored).value();
    file.may_read = how.options.read;
    file.may_write = how.options.write;
    file.one_process = one_process;
    TW_ASSIGN_OR_RETURN(file.storage, backend->describe_open(*file.stored));
    return {};
  }

  Status choose_first(const StorageInfo& storage) {
    TW_ASSIGN_OR_RETURN(strategy, choose_strategy(storage, how.hints));
    if (!one_process) measure_writes(*backend, how.path, storage, strategy);
    if (!how.direct) return {};
    strategy.direct_reads = strategy.direct_writes = true;
    strategy.direct_where_cheaper = false;
    return {};
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
    return Status::error(Code::invalid_argument, "cannot open '{}': {}", how.path, what);
  };
  if (how.path.empty()) return bad("the name is empty");
  if (!options.read && !options.write) return bad("neither reading nor writing is asked for");
  if ((options.create || options.truncate) && !options.write) return bad("to create or truncate, writing is needed");
  if (options.exclusive && !options.create) return bad("'exclusive' needs 'create'");
  return {};
}

std::int64_t hash_of(const std::string& text) { return static_cast<std::int64_t>(std::hash<std::string>{}(text)); }

Status another_version(const std::string& path) {
  return Status::error(Code::invalid_argument, "cannot open '{}': task 0 has another version of this library", path);
}

// The message of task 0 about its opening: whether its hints are wrong, and then these, else its strategy if it has
// opened.
Bytes message_of_first(const Opening& opening) {
  Bytes message;
  put_number(message, opening.opened->wrong_hints ? 1 : 0);
  if (opening.opened->wrong_hints) put_bytes(message, std::as_bytes(std::span(opening.how.hints)));
  if (opening.opened->file != nullptr) put_value(message, opening.opened->file->strategy);
  return message;
}

// The hints of task 0 hold for all: every task finds the failure in them by itself, and the message names no task.
Op<Status> hear_task_0(Group& group, Opening& opening) {
  const Bytes message = opening.first ? message_of_first(opening) : Bytes{};
  TW_CO_ASSIGN_OR_RETURN(const auto said, co_await group.broadcast(message, 0));
  ByteView heard = said;
  Status& mine = opening.opened->status;
  if (take_number(heard) != 0) {
    Status wrong = parse_file_hints({reinterpret_cast<const char*>(heard.data()), heard.size()}).status();
    co_return wrong.ok() ? another_version(opening.how.path) : wrong;
  }
  if (heard.empty()) co_return co_await agree(group, mine);
  if (heard.size() != sizeof(Strategy)) mine = another_version(opening.how.path);
  opening.strategy = take_value<Strategy>(heard);
  co_return Status{};
}

// For several processes: one reduction, and another one to report a failure. Nodes may differ in the alignment of
// direct transfers, and in whether they support them: all take the largest alignment, or none. Alignments are powers
// of two, so the largest suits all. Sieved writes need reading: where one process may not read, none sieves.
Op<Status> plan_alike(Group& group, const Opened& opened) {
  constexpr std::int64_t kNone = std::int64_t{1} << 32;
  const bool leads = group.rank() == group.place().process_leader;
  const bool good = opened.status.ok();
  std::vector<std::int64_t> worst(4);
  worst[0] = good ? 0 : 1;
  if (good && leads) {
    const std::uint32_t alignment = wanted_alignment(*opened.file);
    worst[1] = alignment == 0 ? kNone : alignment;
    worst[2] = opened.file->sees_holes ? 0 : 1;
    worst[3] = opened.file->storage.is_coherent || group.place().nodes == 1 ? 0 : cache_page_bytes();
  }
  TW_CO_ASSIGN_OR_RETURN(const auto all, co_await group.allreduce(std::move(worst), Reduction::max));
  if (all[0] != 0) co_return co_await agree(group, opened.status);
  if (leads) {
    opened.file->direct_alignment = all[1] == kNone ? 0 : static_cast<std::uint32_t>(all[1]);
    if (all[2] != 0) opened.file->strategy.sieve_writes = false;
    opened.file->is_coherent = all[3] == 0;
    opened.file->page_bytes = std::max(opened.file->page_bytes, static_cast<std::uint64_t>(all[3]));
  }
  if (all[3] != 0) co_return co_await see_alike(group, leads ? opened.file->stored.get() : nullptr);
  co_return Status{};
}

// Task 0 opens, then a task of every other process, with the strategy of task 0. On success every task has the file
// of its process.
Op<Status> open_for_all(Group& group, Opening& opening, std::shared_ptr<Opened>& opened) {
  if (opening.first) opening.open_here();
  if (!opening.one_process) {
    TW_CO_RETURN_IF_ERROR(co_await hear_task_0(group, opening));
  }
  std::function<std::shared_ptr<void>()> open_or_take = [&opening] { return opening.take_or_open(); };
  TW_CO_ASSIGN_OR_RETURN(auto here, co_await group.share_in_process(std::move(open_or_take)));
  opened = std::static_pointer_cast<Opened>(std::move(here));
  if (!opening.one_process) co_return co_await plan_alike(group, *opened);
  if (opened->file != nullptr || opened->wrong_hints) co_return opened->status;  // equal on all tasks
  co_return co_await agree(group, opened->status);
}

}  // namespace

// The size may change meanwhile, by outstanding writes and by other programs. So a node is behind only where it finds
// less than the largest size that any node found in the try before; what this node writes the servers have to get first.
Op<Status> see_alike(Group& group, StoredFile* stored) {
  constexpr int kTries = 3;
  std::int64_t before = INT64_MAX;  // the largest size in the try before
  for (int i = 1;; ++i) {
    Status status;
    std::int64_t mine = INT64_MIN;
    if (stored != nullptr) {
      if (i > 1) status = stored->sync();
      if (status.ok()) status = stored->forget_cached();
      const auto size = status.ok() ? stored->size() : Result<std::uint64_t>(status);
      status = size.status();
      if (size.has_value()) mine = static_cast<std::int64_t>(size.value());
    }
    std::vector<std::int64_t> sizes{status.ok() ? 0 : 1, mine, mine < 0 ? mine : -mine};  // the largest, the smallest
    TW_CO_ASSIGN_OR_RETURN(const auto all, co_await group.allreduce(std::move(sizes), Reduction::max));
    const std::int64_t largest = all[1], smallest = -all[2];
    if (all[0] == 0 && (smallest == largest || smallest >= before)) co_return Status{};
    if (all[0] != 0 || i == kTries) {
      if (all[0] == 0 && stored != nullptr && mine < before)
        status = Status::error(Code::unsafe,
                               "'{}': node {} finds {} bytes in it, another one found {} before; its mount keeps old "
                               "sizes (FUSE: mount without writeback_cache; sshfs: with -o cache=no)",
                               stored->path(), group.place().node, mine, before);
      co_return co_await agree(group, std::move(status));
    }
    before = largest;
    sleep_for(std::chrono::milliseconds(100));
  }
}

Op<Result<std::unique_ptr<PlainFile>>> PlainFile::open(Group& group, std::shared_ptr<Backend> backend, PlainOpen how) {
  Status status = how.status;
  if (status.ok()) status = check_flags(how);
  status =
      co_await same_on_all(group, flag_bits(how), hash_of(how.path), std::move(status), "the name or flags of an open");
  if (!status.ok()) co_return status;

  Opening opening;
  opening.backend = backend.get();
  opening.how = std::move(how);
  opening.one_process = group.place().processes == 1;
  opening.first = group.rank() == 0;
  std::shared_ptr<Opened> opened;
  TW_CO_RETURN_IF_ERROR(co_await open_for_all(group, opening, opened));
  TW_CO_RETURN_IF_ERROR(co_await find_aggregators(group, *opened->file));

  std::unique_ptr<PlainFile> file(new PlainFile);
  file->shared_ = opened->file;
  TW_CO_RETURN_IF_ERROR(co_await file->open_channels(group));
  co_return file;
}

Op<Status> PlainFile::open_channels(Group& group) {
  for (auto& channel : channels_) {
    channel = std::make_shared<RequestChannel>();
    TW_CO_ASSIGN_OR_RETURN(channel->group, co_await group.channel());
    channel->group->serve(Call::tw_file_iaccess_all, Primitive::none, 0);
  }
  TW_CO_ASSIGN_OR_RETURN(group_, co_await group.channel());
  if (group.place().processes == group.size()) co_return Status{};
  co_return co_await group.barrier();  // all tasks of a process read what its leader has stored in the file
}

}  // namespace thalweg
