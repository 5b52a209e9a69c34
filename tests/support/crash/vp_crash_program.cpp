#include "support/crash/vp_crash_program.hpp"

#include <algorithm>
#include <cstdio>

#include "support/campaign/random.hpp"
#include "support/files/vp_open.hpp"

namespace thalweg::test {

namespace {

constexpr std::uint64_t kRecord = 24;
constexpr int kSteps = 9;  // per half of a session

VpHints small_hints() {
  VpHints hints;
  hints.block_bytes = 16;
  hints.superblock_bytes = 4096;
  hints.directory_pointers = 1;
  hints.cache_bytes = 0;
  hints.round_bytes = 32;
  hints.least_batch = 2;
  return hints;
}

class Session {
 public:
  Session(Group& group, const VpCrashShape& shape, VpSessionOf session, VpNotes& notes)
      : group_(group),
        shape_(shape),
        session_(std::move(session)),
        notes_(notes),
        common_(session_.seed),
        own_(random_of(session_.seed, 1 + static_cast<std::uint64_t>(group.rank()))) {}

  Op<Status> run() {
    VpOpen how;
    how.path = session_.path;
    open_as(how, session_.mode);
    how.shape = shape_.shape;
    how.hints = shape_.hints;
    auto opened = co_await VpFile::open(group_, session_.backend, std::move(how));
    if (!opened.has_value()) co_return opened.error();
    file_ = std::move(opened).value();
    appends_ = session_.mode[0] == 'a';
    Status status;
    for (int i = 0; status.ok() && i < kSteps; ++i) {
      status = co_await step_of_all();
      if (status.ok() && i == kSteps / 2) status = co_await store(false);
    }
    for (int i = 0; status.ok() && shape_.independent && i < 2 * kSteps; ++i) status = co_await step_apart();
    const Status closed = co_await file_->close();
    if (closed.ok() && status.ok()) promise(false);
    co_return status.ok() ? closed : status;
  }

 private:
  std::uint64_t n() const { return file_->vps().count(); }
  std::uint64_t number(std::uint64_t local) const { return file_->vps().number(local); }

  void promise(bool synced) {
    in_lattice_only_ = false;
    for (std::uint64_t local = 0; local < n(); ++local) notes_.stored(number(local), synced);
  }

  Op<Status> store(bool by_sync) {
    Status status;
    if (by_sync)
      status = co_await file_->sync();
    else
      status = co_await file_->flush();
    if (status.ok()) promise(by_sync);
    co_return status;
  }

  // Writes each[local] bytes at the position of every VP; `alike`: by one call for all VPs.
  Op<Status> write_all(std::vector<std::uint64_t> each, bool alike) {
    std::vector<std::byte> packed;
    for (std::uint64_t local = 0; local < n(); ++local) {
      const std::uint64_t vp = number(local);
      const std::uint64_t offset = appends_ ? notes_.size(vp) : file_->stream(local).position();
      if (each[local] == 0) continue;
      const std::uint64_t version = notes_.begin(vp, offset, each[local]);
      const auto data = written_bytes(vp, {offset, each[local], false}, version);
      packed.insert(packed.end(), data.begin(), data.end());
    }
    each.push_back(0);  // a task without VPs
    VpTransfer what;
    what.direction = Direction::write;
    what.base = packed.data();
    what.bytes = each[0];
    if (!alike) what.each = each.data();
    const std::uint64_t lattice = file_->geometry().lattice_bytes();
    const Status status = co_await file_->transfer(what);
    in_lattice_only_ |= file_->geometry().lattice_bytes() != lattice;  // mode NB, however the access was declared
    for (std::uint64_t local = 0; !status.ok() && local < n(); ++local)
      if (each[local] > 0) notes_.failed(number(local));
    notes_.lattice_is(file_->geometry().lattice_bytes());
    co_return status;
  }

  Op<Status> write_alike(std::uint64_t bytes) {
    in_lattice_only_ = true;
    return write_all(std::vector<std::uint64_t>(n(), bytes), true);
  }

  void write_one(std::uint64_t local, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t vp = number(local);
    const std::uint64_t version = notes_.begin(vp, offset, bytes);
    const auto data = written_bytes(vp, {offset, bytes, false}, version);
    Status status = file_->stream(local).seek(static_cast<std::int64_t>(offset), SEEK_SET);
    if (status.ok()) status = file_->stream(local).write(data).status();
    if (!status.ok()) notes_.failed(vp);
  }

  // Common operations of all VPs: append records, change sizes, overwrite, flush.
  Op<Status> step_of_all() {
    const std::uint64_t kind = below(common_, 10);
    const std::uint64_t bytes = shape_.rounds && kind >= 4 && kind != 6 ? 1 + below(common_, 60) : kRecord;
    if (kind >= 8) co_return co_await store(kind == 9);
    const std::uint64_t end = file_->geometry().lattice_bytes();
    const std::uint64_t place =
        bytes == kRecord ? below(common_, end / kRecord + 1) * kRecord : below(common_, end + 1);
    if (kind < 6)
      (void)file_->seek(nullptr, 0, SEEK_END, nullptr).ok();  // independent; the next collective call reports an error
    else
      (void)file_->seek(nullptr, static_cast<std::int64_t>(place), SEEK_SET, nullptr).ok();
    co_return co_await write_alike(bytes);
  }

  // Operations on single VPs, by all tasks at once and by one; both kinds of flush.
  Op<Status> step_apart() {
    const std::uint64_t kind = below(common_, 10);
    if (kind >= 8) co_return co_await store(kind == 9);
    if (kind < 2) {
      const Status sought = file_->seek(nullptr, 0, SEEK_END, nullptr);
      std::vector<std::uint64_t> each(n());
      for (std::uint64_t& bytes : each) bytes = sought.ok() ? below(own_, 60) : 0;
      co_return co_await write_all(std::move(each), false);
    }
    for (std::uint64_t local = 0; local < n(); ++local) {
      if (below(own_, 3) == 0) continue;
      act_alone(local, kind);
    }
    co_return Status{};
  }

  // A failure is independent: the task continues with the next collective call, for which the others wait.
  void act_alone(std::uint64_t local, std::uint64_t kind) {
    const std::uint64_t size = notes_.size(number(local));
    if (kind < 4) return write_one(local, size, 1 + below(own_, below(own_, 4) == 0 ? 2500 : 80));
    if (kind < 6 && !appends_) return write_one(local, below(own_, size + 1), 1 + below(own_, 50));
    if (kind == 6 && !appends_) return write_one(local, size + below(own_, 200), 1 + below(own_, 50));
    const Status status = file_->stream(local).flush();
    if (!status.ok() || in_lattice_only_) return;
    for (std::uint64_t other = 0; other < n(); ++other) notes_.stored(number(other), false);
  }

  Group& group_;
  const VpCrashShape& shape_;
  const VpSessionOf session_;
  VpNotes& notes_;
  Random common_;  // equal on all tasks
  Random own_;
  std::unique_ptr<VpFile> file_;
  bool appends_ = false;
  bool in_lattice_only_ = false;  // some bytes become durable only by a collective flush
};

}  // namespace

std::uint64_t VpCrashShape::n_vps() const {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) product *= extent;
  return product;
}

std::vector<VpCrashShape> vp_crash_shapes() {
  const VpHints hints = small_hints();
  VpHints wide = hints;
  wide.block_bytes = 64;
  wide.directory_pointers = 4;
  wide.cache_bytes = std::uint64_t{1} << 20;
  VpHints alone = hints;
  alone.least_batch = 1;
  VpHints unbatched = hints;
  unbatched.least_batch = 32;
  return {{"OneTask", 1, 1, {3}, hints},
          {"OnlyRecords", 2, 1, {5}, hints, false, false},
          {"OnlyLattice", 3, 2, {2, 3}, hints, true, false},
          {"RecordsThenBlocks", 3, 1, {7}, hints, false, true},
          {"AllSegments", 3, 2, {4, 2}, hints},
          {"BatchesOfAnySize", 3, 2, {9}, alone},
          {"WithoutBatches", 2, 1, {5}, unbatched},
          {"LargeCache", 2, 2, {6}, wide},
          {"MoreTasksThanVps", 4, 2, {2}, hints}};
}

void VpHistories::stored(std::uint64_t vp, bool synced) {
  History& history = all[vp];
  history.flushed = history.writes.size();
  if (synced) history.synced = history.writes.size();
}

Op<Status> run_vp_session(Group& group, const VpCrashShape& shape, VpSessionOf session, VpNotes& notes) {
  Session one(group, shape, std::move(session), notes);
  co_return co_await one.run();
}

}  // namespace thalweg::test
