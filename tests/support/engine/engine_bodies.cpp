#include "support/engine/engine_bodies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "group/agree.hpp"
#include "sharedfile/plain_file.hpp"
#include "storage/queues.hpp"
#include "support/engine/engine_cases.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {

namespace {

using Bytes = std::vector<std::byte>;

std::mutex seen_mutex;
std::set<std::string> seen;

void note(const Plan& plan) {
  const std::lock_guard lock(seen_mutex);
  seen.insert(kind_of(plan));
}

Op<Result<std::unique_ptr<PlainFile>>> open_new(Group& group, const Storage& storage, std::string hints) {
  PlainOpen how;
  how.path = storage.path;
  how.options.write = how.options.create = how.options.truncate = true;
  how.hints = std::move(hints);
  return PlainFile::open(group, storage.backend, std::move(how));
}

TaskAccess access_of(const Case& what, TaskRank task, Direction direction, const Buffer& buffer) {
  TaskAccess access;
  access.direction = direction;
  access.placement = what.placement;
  access.common = what.common;
  access.extents = buffer.extents();
  access.offset = offset_of(what, task);
  return access;
}

// Reads the whole file from storage.
Bytes content_of(PlainFile& file) {
  StoredFile& stored = *file.shared()->stored;
  Bytes content(stored.size().value());
  EXPECT_EQ(stored.read(0, content).value(), content.size());
  return content;
}

std::byte old_byte(std::uint64_t offset) { return static_cast<std::byte>(offset % 241 + 1); }

// Fills the file before a write: data first, then data and holes.
Op<Status> put_old_bytes(PlainFile& file, std::uint64_t bytes) {
  Status status;
  if (file.group().rank() == 0) {
    Bytes old(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) old[i] = old_byte(i);
    status = file.shared()->stored->truncate(0);
    if (status.ok()) status = file.shared()->stored->write(0, old);
  }
  co_return co_await agree(file.group(), std::move(status));
}

// Compares with the model: each byte comes from one of its writers, all others are unchanged.
void expect_written(const Case& what, PlainFile& file, std::uint64_t old_bytes, std::uint64_t base) {
  const Bytes content = content_of(file);
  std::uint64_t end = old_bytes;
  std::vector<char> state(content.size(), 'u');  // untouched, wrong, right
  for (TaskRank task = 0; task < what.tasks; ++task) {
    const auto places = places_of(what, task, base);
    std::uint64_t at = 0;
    for (const Extent& place : places) {
      if (place.bytes > 0) end = std::max(end, place.end());
      for (std::uint64_t i = 0; i < place.bytes; ++i, ++at) {
        const std::uint64_t offset = place.offset + i;
        if (offset >= content.size()) continue;
        const bool right = content[offset] == Buffer::value(what, what.common ? 0 : task, at);
        if (right || state[offset] == 'u') state[offset] = right ? 'r' : 'w';
      }
    }
  }
  EXPECT_EQ(content.size(), end) << what;
  for (std::uint64_t i = 0; i < content.size(); ++i) {
    const std::byte before = i < old_bytes ? old_byte(i) : std::byte{0};
    const bool good = state[i] == 'r' || (state[i] == 'u' && content[i] == before);
    ASSERT_TRUE(good) << what << ": byte " << i << (state[i] == 'u' ? " was touched" : " is of no writer");
  }
}

// Compares the data read with the file up to its end; memory beyond that is unchanged.
void expect_read(const Case& what, TaskRank task, PlainFile& file, const Buffer& buffer, std::uint64_t moved) {
  StoredFile& stored = *file.shared()->stored;
  std::uint64_t within = 0;
  Bytes wanted;
  for (const Extent& extent : buffer.extents()) {
    wanted.assign(extent.bytes, Buffer::kGuard);
    within += stored.read(extent.offset, wanted).value();
    const auto other = std::mismatch(wanted.begin(), wanted.end(), extent.memory);
    ASSERT_EQ(other.first, wanted.end()) << what << ": task " << task << " got other bytes from offset "
                                         << extent.offset + static_cast<std::uint64_t>(other.first - wanted.begin())
                                         << " of " << extent.offset << " to " << extent.end() << ": "
                                         << static_cast<int>(*other.second) << ", not "
                                         << static_cast<int>(*other.first) << "; the file ends at "
                                         << stored.size().value();
  }
  EXPECT_EQ(moved, within) << what;
  EXPECT_TRUE(buffer.guards_are_whole()) << what;
}

// Buffers of an access: one per process for a common access, else one per task.
struct Shared {
  std::shared_ptr<Buffer> buffer;
};
Op<Shared> buffer_of(Group& group, const Case& what, std::uint64_t base, bool filled) {
  const TaskRank task = group.rank();
  std::function<std::shared_ptr<void>()> make = [&]() -> std::shared_ptr<void> {
    auto buffer = std::make_shared<Buffer>(what, what.common ? 0 : task, places_of(what, task, base));
    if (filled) buffer->fill(what, what.common ? 0 : task);
    return buffer;
  };
  Shared shared;
  if (!what.common) {
    shared.buffer = std::static_pointer_cast<Buffer>(make());
    co_return shared;
  }
  auto made = co_await group.share_in_process(std::move(make));
  shared.buffer = std::static_pointer_cast<Buffer>(std::move(made).value());
  co_return shared;
}

Op<Status> write_and_check(PlainFile& file, const Case& what, std::uint64_t base) {
  Group& group = file.group();
  const std::uint64_t old_bytes = what.seed % 3 == 0 ? 0 : 3000 * what.scale;
  Status status = co_await put_old_bytes(file, old_bytes);
  if (!status.ok()) co_return status;
  const Shared data = co_await buffer_of(group, what, base, true);
  const Outcome outcome = co_await file.access(access_of(what, group.rank(), Direction::write, *data.buffer));
  EXPECT_TRUE(outcome.status.ok()) << what << ": " << outcome.status.message();
  EXPECT_EQ(outcome.moved, data.buffer->bytes()) << what;
  note(outcome.plan);
  if (group.rank() == 0) expect_written(what, file, old_bytes, base);
  co_return co_await group.barrier();
}

Op<Status> read_and_check(PlainFile& file, const Case& what, std::uint64_t base) {
  Group& group = file.group();
  const Shared data = co_await buffer_of(group, what, base, false);
  const Outcome outcome = co_await file.access(access_of(what, group.rank(), Direction::read, *data.buffer));
  EXPECT_TRUE(outcome.status.ok()) << what << ": " << outcome.status.message();
  note(outcome.plan);
  expect_read(what, group.rank(), file, *data.buffer, outcome.moved);
  co_return co_await group.barrier();
}

// Cases in one coroutine. Without tail calls (sanitizers) an Op that never suspends consumes stack for each step.
constexpr std::uint64_t kCasesAtOnce = 12;

bool leaves_out(const Group& group, std::uint64_t part) {
  return part > (group.size() > 16 ? 0 : group.size() > 5 ? 4 : 9);
}

// Opens one file after another with different hints and makes some accesses to each.
template <std::uint64_t kPart>
Op<Status> any_access(Group& group, Storage storage) {
  if (leaves_out(group, kPart)) co_return Status{};
  const std::uint64_t end = group.size() > 16 ? 4 : (kPart + 1) * kCasesAtOnce;
  for (std::uint64_t seed = kPart * kCasesAtOnce + 1; seed <= end; seed += 4) {
    auto opened = co_await open_new(group, storage, draw_hints(seed));
    EXPECT_TRUE(opened.has_value()) << opened.status().message();
    if (!opened.has_value()) co_return opened.error();
    PlainFile& file = *opened.value();
    std::uint64_t base = 0;
    for (std::uint64_t i = 0; i < 4; ++i) {
      Case what = draw_case(seed + i, group.size());
      Status status = co_await write_and_check(file, what, base);
      if (!status.ok() || testing::Test::HasFailure()) co_return status;
      if (what.placement == Placement::in_order) base += bytes_of_all(what);
      what = draw_case(seed + i + 1000, group.size());
      status = co_await read_and_check(file, what, base);
      if (!status.ok() || testing::Test::HasFailure()) co_return status;
      if (what.placement == Placement::in_order) base += bytes_of_all(what);
    }
    const Status closed = co_await file.close();
    EXPECT_TRUE(closed.ok()) << closed.message();
  }
  co_return Status{};
}

// Tasks write independently into the holes of each other's accesses. A sieved write must not restore old bytes over a
// concurrent write, so the engine sieves only within one process, where it knows of all writes.
Op<Status> independent_writes(Group& group, Storage storage) {
  const bool one_process = group.place().processes == 1;
  int n_sieved = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::string hints = seed % 2 == 0 ? "sieve_writes=on,staging_bytes=4096" : "sieve_writes=on";
    auto opened = co_await open_new(group, storage, hints);
    if (!opened.has_value()) co_return opened.error();
    PlainFile& file = *opened.value();
    Case what;
    what.seed = seed;
    what.tasks = group.size();
    what.layout = seed % 3 == 0 ? Layout::interleaved : Layout::tiny;
    Status status = co_await put_old_bytes(file, 2000);
    if (!status.ok()) co_return status;
    Buffer buffer(what, group.rank(), places_of(what, group.rank(), 0));
    buffer.fill(what, group.rank());
    const TaskAccess access = access_of(what, group.rank(), Direction::write, buffer);
    const Outcome outcome = co_await access_one(*file.shared(), access, blocking_io());
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
    EXPECT_EQ(outcome.moved, buffer.bytes());
    EXPECT_TRUE(one_process || !outcome.plan.sieve) << what;
    n_sieved += outcome.plan.sieve ? 1 : 0;
    note(outcome.plan);
    status = co_await group.barrier();
    if (group.rank() == 0) expect_written(what, file, 2000, 0);
    status = co_await file.close();
    EXPECT_TRUE(status.ok());
  }
  if (one_process) {
    EXPECT_GT(n_sieved, 0);
  }
  co_return Status{};
}

// Each task in turn passes wrong arguments: all tasks fail alike, the file is unchanged, and the next access works.
Op<Status> one_wrong_task(Group& group, Storage storage) {
  auto opened = co_await open_new(group, storage, "");
  if (!opened.has_value()) co_return opened.error();
  PlainFile& file = *opened.value();
  const TaskRank step = group.size() > 16 ? group.size() / 3 : 1;
  for (TaskRank wrong = 0; wrong < group.size(); wrong += step) {
    Case what;
    what.tasks = group.size();
    what.layout = Layout::interleaved;
    what.seed = static_cast<std::uint64_t>(wrong) + 1;
    Status status = co_await put_old_bytes(file, 500);
    Buffer buffer(what, group.rank(), places_of(what, group.rank(), 0));
    TaskAccess access = access_of(what, group.rank(), Direction::write, buffer);
    if (group.rank() == wrong) access.status = Status::failed_call(Code::out_of_range, 7, "on purpose");
    const Outcome outcome = co_await file.access(access);
    EXPECT_EQ(outcome.status.code(), Code::out_of_range);
    EXPECT_EQ(outcome.status.os_errno(), 7);
    EXPECT_NE(outcome.status.message().find("on purpose"), std::string::npos);
    EXPECT_EQ(outcome.moved, 0u);
    status = co_await group.barrier();
    if (group.rank() == 0) {
      EXPECT_EQ(content_of(file).size(), 500u);
    }
    status = co_await write_and_check(file, what, 0);
    if (!status.ok()) co_return status;
  }
  co_return co_await file.close();
}

// Three columns of an array for each task, in memory with a halo of one item; the last task has none.
Op<Status> array_parts(Group& group, Storage storage) {
  auto opened = co_await open_new(group, storage, "");
  if (!opened.has_value()) co_return opened.error();
  PlainFile& file = *opened.value();
  constexpr std::uint64_t kRows = 6, kItem = 2, kBegin = 7;
  const auto task = static_cast<std::uint64_t>(group.rank()), columns = 3 * static_cast<std::uint64_t>(group.size());
  const std::uint64_t count = group.rank() + 1 == group.size() ? 0 : 3;
  const View item = View::bytes(kItem).value();
  const std::vector<SubarrayDimension> in_file = {{kRows, kRows, 0}, {columns, count, 3 * task}};
  const std::vector<SubarrayDimension> in_memory = {{kRows + 2, kRows, 1}, {count + 2, count, 1}};
  const View whole = View::subarray(in_file, ArrayOrder::row_major, item).value();
  const View local = View::subarray(in_memory, ArrayOrder::row_major, item).value();
  Bytes memory((kRows + 2) * (count + 2) * kItem, static_cast<std::byte>(task % 200 + 1));
  PlacedAccess mine{TaskAccess{}};
  mine.access.direction = Direction::write;
  TW_CO_RETURN_IF_ERROR(place_memory(whole.repeated_from(kBegin).value(), 0, local, memory.data(), mine.placed));
  mine.access.extents = mine.placed;
  EXPECT_EQ(mine.placed.size(), count == 0 ? 0 : kRows);
  const Outcome outcome = co_await file.access(std::move(mine));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
  EXPECT_EQ(outcome.moved, kRows * count * kItem);
  if (group.rank() == 0) {
    const Bytes content = content_of(file);
    EXPECT_EQ(content.size(), group.size() == 1 ? 0 : kBegin + kItem * (kRows * columns - 3));
    for (std::uint64_t i = 0; i < content.size(); ++i) {
      const std::uint64_t owner = i < kBegin ? columns : (i - kBegin) / kItem % columns / 3;
      const bool written = i >= kBegin && owner + 1 < static_cast<std::uint64_t>(group.size());
      EXPECT_EQ(content[i], written ? static_cast<std::byte>(owner % 200 + 1) : std::byte{0}) << i;
    }
  }
  co_return co_await file.close();
}

}  // namespace

std::string kind_of(const Plan& plan) {
  return std::string(method_name(plan.method)) + (plan.pack ? " packed" : "") + (plan.sieve ? " sieved" : "");
}

const std::vector<EngineBody>& engine_bodies() {
  static const std::vector<EngineBody> all = {
      {"AnyAccess0", any_access<0>},
      {"AnyAccess1", any_access<1>},
      {"AnyAccess2", any_access<2>},
      {"AnyAccess3", any_access<3>},
      {"AnyAccess4", any_access<4>},
      {"AnyAccess5", any_access<5>},
      {"AnyAccess6", any_access<6>},
      {"AnyAccess7", any_access<7>},
      {"AnyAccess8", any_access<8>},
      {"AnyAccess9", any_access<9>},
      {"IndependentWrites", independent_writes},
      {"OneWrongTask", one_wrong_task},
      {"ArrayParts", array_parts},
  };
  static const std::vector<EngineBody> few = {all[0], all[1], all[2], all[10], all[11], all[12]};
  return tries_less() ? few : all;
}

std::set<std::string> plans_seen() {
  const std::lock_guard lock(seen_mutex);
  return seen;
}

}  // namespace thalweg::test
