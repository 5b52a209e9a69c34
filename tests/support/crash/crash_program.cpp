#include "support/crash/crash_program.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "multifile/format/layout.hpp"
#include "sim/memory_backend.hpp"

namespace thalweg::test {

namespace {

// splitmix64: returns the next number and advances the state.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t x = state += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

std::int64_t first_of(const ProgramShape& shape, std::int64_t task) { return shape.n_logical * task / shape.tasks; }

}  // namespace

MultifileOptions small_options() {
  MultifileOptions options;
  options.physical_files = 1;
  options.alignment_bytes = 512;
  options.granule_bytes = 4096;
  options.chunk_bytes = 6000;
  options.buffer_bytes = 1500;
  return options;
}

MultifileOptions small_direct_options() {
  MultifileOptions options = small_options();
  options.alignment_bytes = 4096;
  options.chunk_bytes = 40'000;
  options.storage_hints = "io=direct,transfer_bytes=64KiB,queue_depth=2";
  return options;
}

std::vector<ProgramShape> program_shapes() {
  std::vector<ProgramShape> shapes;
  const auto add = [&](std::string name, std::int64_t tasks, std::int64_t per_process,
                       std::int64_t n) -> ProgramShape& {
    shapes.push_back({std::move(name), tasks, per_process, n, 8, 0, false, small_options(), {}});
    return shapes.back();
  };
  add("OneTask", 1, 1, 1).steps = 24;
  add("Unbuffered", 2, 2, 2).options.buffer_bytes = 0;
  add("TwoProcessesTwoFiles", 4, 2, 4).options.physical_files = 2;
  ProgramShape& later = add("LaterFiles", 4, 2, 5);
  later.options.physical_files = kAuto;
  later.options.first_bytes = 4000;
  ProgramShape& later_added = add("LaterFilesAdded", 3, 1, 3);
  later_added.options.physical_files = kAuto;
  later_added.options.codec = format::Codec::lz4;
  later_added.options.first_bytes = 1;
  later_added.adds = 6;
  add("Lz4", 2, 2, 2).options.codec = format::Codec::lz4;
  add("Zstd", 2, 1, 3).options.codec = format::Codec::zstd;
  add("ManyLogicalFiles", 2, 2, 60).steps = 20;
  add("Durable", 2, 1, 2).options.sync_on_close = true;
  ProgramShape& direct = add("Direct", 2, 2, 3);
  direct.options = small_direct_options();
  direct.steps = 20;
  ProgramShape& unchecked = add("NoChecksums", 2, 2, 3);
  unchecked.options.checksum = format::Checksum::none;
  unchecked.steps = 14;
  ProgramShape& packed = add("NoChecksumsZstd", 2, 1, 3);
  packed.options.checksum = format::Checksum::none;
  packed.options.codec = format::Codec::zstd;
  ProgramShape& added = add("AddedByName", 3, 2, 2);
  added.options.physical_files = 2;
  added.adds = 8;
  added.options.added_bytes = 1;
  added.steps = 16;
  ProgramShape& only_added = add("OnlyAdded", 2, 1, 0);
  only_added.adds = 12;
  only_added.options.added_bytes = 300;  // three in memory
  only_added.steps = 16;
  const auto in_background = [&](const char* name) -> ProgramShape& {
    ProgramShape& shape = add(name, 2, 2, 3);
    shape.in_background = true;
    shape.steps = 20;
    return shape;
  };
  in_background("Background").adds = 6;
  in_background("BackgroundDirect").options = small_direct_options();
  in_background("BackgroundUnchecked").options.checksum = format::Checksum::none;
  ProgramShape& mapped = add("Mapped", 3, 2, 7);
  mapped.options.physical_files = 3;
  mapped.mapping = [](std::int64_t rank, std::int64_t, std::int32_t m) {
    return static_cast<std::int32_t>(rank * 5 % m);
  };
  return shapes;
}

CrashProgram::CrashProgram(ProgramShape shape, std::shared_ptr<Backend> backend, std::string path, std::uint64_t seed)
    : shape_(std::move(shape)),
      backend_(std::move(backend)),
      path_(std::move(path)),
      seed_(seed),
      histories_(static_cast<std::size_t>(shape_.n_logical + shape_.tasks * shape_.adds)) {}

OpenRequest CrashProgram::request(MultifileMode access, std::int64_t task) const {
  OpenRequest request;
  request.backend = backend_;
  request.path = path_;
  request.access = access;
  request.options = shape_.options;
  if (access == MultifileMode::create) request.mapping = shape_.mapping;
  const std::int64_t first = first_of(shape_, task);
  request.serving = {Serving::Kind::range, shape_.n_logical, first, first_of(shape_, task + 1) - first, {}};
  return request;
}

bool CrashProgram::run_session(MultifileMode access, End end) {
  SimWorld world({.tasks = shape_.tasks, .seed = seed_, .tasks_per_process = shape_.tasks_per_process});
  opened_.assign(static_cast<std::size_t>(shape_.tasks), {});
  closed_ = opened_;
  std::vector<Op<Status>> ops;
  for (TaskRank r = 0; r < shape_.tasks; ++r) ops.push_back(session(world.group(r), access, end));
  const Status ran = world.run(std::span(ops));
  EXPECT_TRUE(ran.ok()) << ran.message();
  ++seed_;
  is_closed_ = true;
  for (const Status& status : closed_) is_closed_ &= status.ok();
  if (is_closed_) all_is_durable();
  return ran.ok();
}

Op<Status> CrashProgram::session(Group& group, MultifileMode access, End end) {
  const auto task = static_cast<std::size_t>(group.rank());
  auto file = co_await open_multifile(group, request(access, group.rank()));
  opened_[task] = closed_[task] = file.status();
  if (!file.has_value()) co_return Status{};
  std::uint64_t random = seed_ * 1000 + task;
  for (int i = 0; i < shape_.steps; ++i) {
    if (i % 3 == 0) (void)(co_await group.barrier()).ok();
    step(*(*file)->writing, group.rank(), random);
  }
  closed_[task] = co_await leave(group, std::move(file).value(), end);
  co_return Status{};
}

Op<Status> CrashProgram::leave(Group& group, std::unique_ptr<Multifile> file, End end) {
  await_stores();
  if (end == End::close) co_return co_await close_multifile(group, std::move(file));
  if (leave_multifile(*file, Call::tw_multifile_abandon).ok()) of_task(group.rank()).note_flush();
  co_return Status::error(Code::not_closed, "abandoned");
}

void CrashProgram::write(WriteHandle& handle, std::uint64_t rank, std::uint64_t offset, std::uint64_t bytes) {
  record(handle, rank, offset, bytes, handle.seek_to(rank, static_cast<std::int64_t>(offset)));
}

// Writes to the current logical file, unless `status` says that it is not the right one.
void CrashProgram::record(WriteHandle& handle, std::uint64_t number, std::uint64_t offset, std::uint64_t bytes,
                          Status status) {
  History& history = histories_[number];
  const std::uint64_t version = history.begin(offset, bytes);
  const auto data = written_bytes(number, history.writes.back(), version);
  if (status.ok() && !handle.current()->write_buffered(data.data(), data.size()))
    status = handle.write(*handle.current(), data);
  history.writes.back().failed = !status.ok();
}

// Adds a logical file with some bytes, sometimes in two writes.
void CrashProgram::add(WriteHandle& handle, std::int64_t task, Random& random) {
  const std::int64_t first = shape_.n_logical + task * shape_.adds;
  for (std::int64_t number = first; number < first + shape_.adds; ++number) {
    History& history = histories_[static_cast<std::size_t>(number)];
    if (!history.name.empty()) continue;
    const std::string name = "added/" + std::to_string(number);
    const Status added = handle.add(name, 0100644);
    if (!added.ok()) return;
    history.name = name;
    for (auto writes = 1 + next(random) % 2; writes > 0; --writes)
      record(handle, static_cast<std::uint64_t>(number), history.size(), 1 + next(random) % 3000, {});
    return;
  }
}

TaskHistories CrashProgram::of_task(std::int64_t task) {
  TaskHistories all;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t number = begin; number < end; ++number) all.add(histories_[static_cast<std::size_t>(number)]);
  };
  add(first_of(shape_, task), first_of(shape_, task + 1));
  add(shape_.n_logical + task * shape_.adds, shape_.n_logical + (task + 1) * shape_.adds);
  return all;
}

void CrashProgram::store(WriteHandle& handle, std::int64_t task, bool by_sync) {
  const Status status = by_sync ? handle.sync() : handle.flush();
  if (!status.ok()) return;
  was_synced_ |= by_sync;
  TaskHistories mine = of_task(task);
  mine.note(mine.written(), by_sync);
}

void CrashProgram::begin_to_store(WriteHandle& handle, std::int64_t task, bool by_sync) {
  if (held_ == nullptr) held_ = std::make_unique<HeldSyncs>();
  TaskHistories mine = of_task(task);
  TaskHistories::Written written = mine.written();
  auto request = handle.begin(by_sync);
  if (request.has_value()) stores_.push_back({*request, std::move(mine), std::move(written), by_sync});
}

void CrashProgram::await_stores() {
  held_.reset();
  for (Store& store : std::exchange(stores_, {})) {
    wait_for(*store.request);
    if (!store.request->outcome().status.ok()) continue;
    was_synced_ |= store.by_sync;
    store.of_task.note(store.written, store.by_sync);
  }
}

// Mostly appends records; also overwrites, leaves gaps, writes large blocks, flushes and syncs.
void CrashProgram::step(WriteHandle& handle, std::int64_t task, Random& random) {
  const std::int64_t first = first_of(shape_, task), count = first_of(shape_, task + 1) - first;
  const std::uint64_t kind = next(random) % 20;
  if (kind < 14 && shape_.adds > 0 && (count == 0 || next(random) % 2 == 0)) return add(handle, task, random);
  if (count == 0 && kind < 14) return;
  const auto rank =
      count == 0 ? 0 : static_cast<std::uint64_t>(first) + next(random) % static_cast<std::uint64_t>(count);
  const std::uint64_t size = count == 0 ? 0 : histories_[rank].size();
  if (kind < 8) return write(handle, rank, size, 1 + next(random) % 900);
  if (kind < 10) return write(handle, rank, size, 3000 + next(random) % 9000);
  if (kind < 13) return write(handle, rank, next(random) % (size + 1), 1 + next(random) % 700);
  if (kind < 14) return write(handle, rank, size + next(random) % 2000, 1 + next(random) % 300);
  if (!shape_.in_background || next(random) % 2 == 0) return store(handle, task, kind >= 17);
  if (next(random) % 3 == 0) await_stores();
  begin_to_store(handle, task, kind >= 17);
}

void CrashProgram::all_is_durable() {
  for (History& history : histories_) {
    history.flushed = history.writes.size();
    if (shape_.options.sync_on_close) history.synced = history.writes.size();
  }
}

void CrashProgram::all_reached_storage() {
  for (History& history : histories_) history.synced = history.flushed = history.writes.size();
}

void CrashProgram::settle(std::span<const std::uint64_t> sizes) {
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) histories_[rank].settle(sizes[rank]);
}

std::vector<std::string> CrashProgram::paths() const {
  std::vector<std::string> paths;
  constexpr std::uint32_t kMostOfANode = 4;
  const std::uint32_t n = shape_.options.physical_files == kAuto ? kMostOfANode : shape_.options.physical_files;
  for (std::uint32_t k = 0; k < n; ++k) paths.push_back(format::physical_name(path_, k));
  return paths;
}

std::shared_ptr<Backend> copy_of(Backend& storage, const std::vector<std::string>& paths) {
  auto copy = make_memory_backend();
  std::vector<std::byte> page(4096);
  for (const std::string& path : paths) {
    auto from = storage.open(path, OpenMode::read);
    if (!from.has_value()) continue;
    const std::unique_ptr<StoredFile> to = copy->open(path, OpenMode::create).value();
    const std::uint64_t size = (*from)->size().value();
    for (std::uint64_t at = (*from)->next_data(0).value(); at < size; at = (*from)->next_data(at).value()) {
      at -= at % page.size();
      const std::size_t got = (*from)->read(at, page).value();
      EXPECT_TRUE(to->write(at, std::span(page).first(got)).ok());
      at += page.size();
    }
    EXPECT_TRUE(to->truncate(size).ok());
  }
  return copy;
}

}  // namespace thalweg::test
