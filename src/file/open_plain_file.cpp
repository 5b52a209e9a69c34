// The collective opening of a plain file: task 0 creates, each process opens, all plan alike.
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "file/find_aggregators.hpp"
#include "file/measured_writes.hpp"
#include "file/plain_file.hpp"
#include "file/strategy.hpp"
#include "group/agree.hpp"

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
                                                bool one_process, bool first) {
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
  TW_ASSIGN_OR_RETURN(file->storage, backend.describe_open(*file->stored));
  file->strategy = choose_strategy(file->storage, hints);
  if (first && !one_process) measure_writes(backend, how.path, file->storage, file->strategy);
  if (how.direct) {
    file->strategy.direct_reads = file->strategy.direct_writes = true;
    file->strategy.direct_where_cheaper = false;
  }
  set_alignment(*file, wanted_alignment(*file));
  file->sees_holes = !alone;
  if (alone) file->strategy.sieve_writes = false;
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
  bool first = false;              // task 0, whose strategy is that of all
  std::shared_ptr<Opened> opened;  // of this process, or of this task, which may yet have to open it

  void open_here() {
    auto file = or_out_of_memory([&] { return open_stored(*backend, how, hints, one_process, first); });
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
  if (!leads || group.rank() == 0) co_return Status{};
  if (said.value().size() != sizeof file.strategy) {
    co_return or_out_of_memory([&] {
      return Status::error(Code::invalid_argument,
                           "cannot open '" + file.stored->path() + "': task 0 has another version of this library");
    });
  }
  std::memcpy(&file.strategy, said.value().data(), sizeof file.strategy);
  co_return Status{};
}

// Nodes may differ in what direct transfers must be aligned to, and in whether there are any: all take the largest, or
// none. Alignments are powers of two, so that the largest suits everybody.
Op<Status> alignment_of_all(Group& group, SharedFile& file, Status status) {
  const Place place = group.place();
  if (place.processes == 1) co_return status;
  constexpr std::int64_t kNone = std::int64_t{1} << 32;
  const bool leads = group.rank() == place.process_leader;
  const std::int64_t here = leads ? wanted_alignment(file) : 1;
  const Agreement agreed = co_await agree_on_largest(group, std::move(status), here == 0 ? kNone : here);
  if (agreed.status.ok() && leads)
    set_alignment(file, agreed.largest == kNone ? 0 : static_cast<std::uint32_t>(agreed.largest));
  co_return agreed.status;
}

// Who sieves writes reads, too: where one process may not, none does, since all plan alike. The strategy is that of
// task 0 already.
Op<Status> sieving_of_all(Group& group, SharedFile& file) {
  if (group.place().processes == 1 || !file.strategy.sieve_writes) co_return Status{};
  const bool leads = group.rank() == group.place().process_leader;
  const Agreement agreed = co_await agree_on_largest(group, Status{}, leads && !file.sees_holes ? 1 : 0);
  if (agreed.status.ok() && leads) file.strategy.sieve_writes = agreed.largest == 0;
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
  opening.first = group.rank() == 0;
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
  status = co_await alignment_of_all(group, *opened->file, std::move(status));
  if (!status.ok()) co_return status;

  status = co_await sieving_of_all(group, *opened->file);
  if (!status.ok()) co_return status;
  status = co_await find_aggregators(group, *opened->file);
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

}  // namespace thalweg
