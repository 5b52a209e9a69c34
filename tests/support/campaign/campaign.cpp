#include "support/campaign/campaign.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "sharedfile/plain_file.hpp"
#include "sim/memory_backend.hpp"
#include "storage/queues.hpp"
#include "support/campaign/random.hpp"
#include "support/engine/engine_bodies.hpp"
#include "support/engine/late_queue.hpp"
#include "support/models/file_model.hpp"

namespace thalweg::test {

namespace {

constexpr const char* kPath = "shared.dat";
constexpr std::uint64_t kMostOld = 4000;  // bytes in the file before the first access

// The result of one access on one task.
struct Heard {
  Status status;
  std::uint64_t moved = 0;
  std::string plan;  // kind of the plan
};

// One task's accesses of a batch.
struct Share {
  PlainFile* file = nullptr;
  IoContext io;
  bool blocking = false;
  std::uint64_t seed = 0;
  std::vector<TaskAccess> accesses;
  std::vector<Heard> heard;
};

void hear(Heard& heard, Outcome outcome) {
  heard.status = std::move(outcome.status);
  heard.moved = outcome.moved;
  heard.plan = kind_of(outcome.plan);
}

bool is_done(void* op) { return static_cast<Op<Outcome>*>(op)->done(); }

// Starts all accesses, then waits for them in any order.
Op<Status> outstanding(Share& share) {
  std::vector<std::shared_ptr<AccessRequest>> requests;
  std::vector<Op<Outcome>> ops;
  std::vector<std::size_t> order;
  for (const TaskAccess& access : share.accesses) {
    order.push_back(requests.size());
    requests.push_back(share.file->request(access));
    ops.push_back(requests.back()->operation(share.io));
    ops.back().start();
  }
  Random random(share.seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
  for (const std::size_t i : order) {
    const WaitPoint point{is_done, nullptr, &ops[i]};
    co_await point;
    hear(share.heard[i], std::move(ops[i].value()));
    requests[i]->let_go();
  }
  co_return Status{};
}

Op<Status> carry_out_share(Share& share) {
  if (!share.blocking) co_return co_await outstanding(share);
  for (std::size_t i = 0; i < share.accesses.size(); ++i)
    hear(share.heard[i], co_await share.file->access(share.accesses[i]));
  co_return Status{};
}

// Plays one seed, from opening the file to closing it.
class Play {
 public:
  Play(const Scenario& scenario, const Refusal* refusal)
      : scenario_(scenario),
        refusal_(scenario.starves_at > 0 ? refusal : nullptr),
        memory_(make_memory_backend()),
        storage_(make_fault_backend(memory_)),
        world_(scenario.world) {
    for (TaskRank r = 0; r < tasks(); ++r)
      queues_.push_back(
          std::make_unique<LateQueue>(scenario.seed * 4096 + static_cast<std::uint64_t>(r), scenario.queue_depth));
  }

  Played all() {
    put_old_bytes();
    script(scenario_.fault);
    if (!open() && good()) {
      script({});
      refusal_ = nullptr;
      expect(open(), "cannot be opened after a fault");
    }
    for (const Batch& batch : scenario_.batches)
      if (good()) carry_out(batch);
    if (good() && scenario_.fault.has_value()) end_with_fault();
    if (good()) use_afterwards();
    return std::move(played_);
  }

 private:
  using Opened = Result<std::unique_ptr<PlainFile>>;
  using Bytes = std::vector<std::byte>;
  TaskRank tasks() const { return scenario_.world.tasks; }
  bool good() const { return played_.problem.empty(); }
  // An empty text means success.
  void tell(const std::string& what) {
    if (good()) played_.problem = what;
  }
  void expect(bool holds, const char* what) {
    if (!holds) tell(what);
  }

  // Runs one Op for each task. False: the simulated world deadlocked.
  template <class T, class Make>
  bool run(const char* what, std::vector<T>& results, Make&& make) {
    std::vector<Op<T>> ops;
    for (TaskRank r = 0; r < tasks(); ++r) ops.push_back(make(r));
    if (refusal_ != nullptr) refusal_->begin(scenario_.starves_at);
    const Status end = world_.run<T>(ops);
    if (refusal_ != nullptr) starved_ = refusal_->end();
    played_.starved = played_.starved || starved_;
    if (!end.ok()) {
      tell(std::string(what) + ": " + end.message());
      return false;
    }
    for (Op<T>& op : ops) results.push_back(std::move(op.value()));
    return true;
  }
  // Returns the status, which must be equal on all tasks.
  template <class StatusOf>
  Status common(const char* what, StatusOf&& status_of) {
    const Status first = status_of(0);
    for (TaskRank r = 1; r < tasks(); ++r) {
      const Status other = status_of(r);
      if (other.code() == first.code() && other.os_errno() == first.os_errno() && other.message() == first.message())
        continue;
      tell(std::string(what) + ": task 0 has '" + first.message() + "', task " + std::to_string(r) + " has '" +
           other.message() + "'");
    }
    return first;
  }

  void script(const std::optional<FaultRule>& rule) {
    FaultScript script;
    if (rule.has_value()) script.rules.push_back(*rule);
    storage_->restart(std::move(script));
  }
  // Whether storage has refused an operation since the last call.
  bool refused() {
    const bool any = storage_->failures() > n_seen_;
    n_seen_ = storage_->failures();
    played_.fault_hit = played_.fault_hit || any;
    return any;
  }
  void expect_told(bool was_refused, bool any_failed, const char* what) {
    if (starved_) return;  // some allocations have a fallback
    if (was_refused && !any_failed) tell(std::string(what) + " succeeded, though storage has refused something");
    if (any_failed && !was_refused) tell(std::string(what) + " failed, though storage has refused nothing");
  }

  void put_old_bytes() {
    const std::uint64_t n = scenario_.seed % 3 == 0 ? 0 : scenario_.seed * 37 % kMostOld;
    Bytes old;
    for (std::uint64_t i = 0; i < n; ++i) old.push_back(static_cast<std::byte>(i % 241 + 1));
    auto file = memory_->open(kPath, OpenMode::create).value();
    expect(file->write(0, old).ok(), "the file cannot be prepared");
    model_ = FileModel(tasks(), std::move(old));
  }

  bool open() {
    n_seen_ = storage_->failures();
    std::vector<Opened> results;
    const bool ended = run("open", results, [&](TaskRank r) {
      PlainOpen how;
      how.path = kPath;
      how.options.write = true;
      how.hints = scenario_.hints;
      return PlainFile::open(world_.group(r), storage_, std::move(how));
    });
    if (!ended) return false;
    const Status status = common("open", [&](TaskRank r) { return results[static_cast<std::size_t>(r)].status(); });
    expect_told(refused(), !status.ok(), "open");
    if (!status.ok()) return false;
    for (Opened& result : results) files_.push_back(std::move(result).value());
    return true;
  }

  PlainFile& file(TaskRank r) { return *files_[static_cast<std::size_t>(r)]; }

  // Buffers of one access, by task; tasks of a process share the buffer of a common access.
  std::vector<std::shared_ptr<Buffer>> buffers_of(const Case& what, Direction direction) {
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (TaskRank r = 0; r < tasks(); ++r) {
      if (what.common && r % scenario_.world.tasks_per_process != 0) {
        buffers.push_back(buffers.back());
        continue;
      }
      const TaskRank whose = what.common ? 0 : r;
      buffers.push_back(std::make_shared<Buffer>(what, whose, places_of(what, r, position_)));
      if (direction == Direction::write) buffers.back()->fill(what, whose);
    }
    return buffers;
  }

  std::vector<Share> shares_of(const Batch& batch, std::vector<DoneAccess>& done) {
    std::vector<Share> shares(static_cast<std::size_t>(tasks()));
    for (TaskRank r = 0; r < tasks(); ++r) {
      Share& share = shares[static_cast<std::size_t>(r)];
      LateQueue* queue = queues_[static_cast<std::size_t>(r)].get();
      share.file = &file(r);
      share.io.queue = share.io.background_queue = queue;
      share.io.depth = static_cast<unsigned>(scenario_.queue_depth);
      share.io.unattended = scenario_.seed % 2 == 0;
      share.blocking = batch.blocking;
      share.seed = scenario_.seed + static_cast<std::uint64_t>(r);
      share.heard.resize(batch.accesses.size());
    }
    for (const Case& what : batch.accesses) {
      DoneAccess one{what, batch.wrong_task >= 0 && done.empty(), position_, buffers_of(what, batch.direction),
                     Status{}};
      for (TaskRank r = 0; r < tasks(); ++r) {
        TaskAccess access;
        access.direction = batch.direction;
        access.placement = what.placement;
        access.common = what.common;
        access.extents = one.buffers[static_cast<std::size_t>(r)]->extents();
        access.offset = offset_of(what, r);
        if (one.refused && r == batch.wrong_task) access.status = Status::error(Code::out_of_range, "on purpose");
        shares[static_cast<std::size_t>(r)].accesses.push_back(std::move(access));
      }
      if (what.placement == Placement::in_order && !one.refused) position_ += bytes_of_all(what);
      done.push_back(std::move(one));
    }
    return shares;
  }

  void carry_out(const Batch& batch) {
    std::vector<DoneAccess> done;
    std::vector<Share> shares = shares_of(batch, done);
    std::vector<Status> ends;
    if (!run("accesses", ends, [&](TaskRank r) { return carry_out_share(shares[static_cast<std::size_t>(r)]); }))
      return;
    const bool any_failed = agree_on(shares, done);
    expect_told(refused(), any_failed, "an access");
    if (scenario_.spoils) spoil();
    tell(batch.direction == Direction::write ? model_.take_written(done, stored()) : model_.check_same(stored()));
    for (std::size_t i = 0; i < done.size(); ++i)
      for (TaskRank r = 0; r < tasks() && good(); ++r)
        check_task(batch.direction, done[i], r, shares[static_cast<std::size_t>(r)].heard[i].moved);
  }

  // Compares the statuses of each access over all tasks. True: a valid access failed.
  bool agree_on(const std::vector<Share>& shares, std::vector<DoneAccess>& done) {
    bool any_failed = false;
    for (std::size_t i = 0; i < done.size(); ++i) {
      Status& status = done[i].status;
      status = common("access", [&](TaskRank r) { return shares[static_cast<std::size_t>(r)].heard[i].status; });
      ++played_.accesses;
      ++played_.plans[shares[0].heard[i].plan];
      if (!status.ok()) ++played_.failed;
      if (done[i].refused)
        expect(status.code() == Code::out_of_range, "what one task knows to be wrong is not told to all");
      any_failed = any_failed || (!status.ok() && !done[i].refused);
    }
    return any_failed;
  }

  void check_task(Direction direction, const DoneAccess& one, TaskRank r, std::uint64_t moved) {
    const Buffer& buffer = *one.buffers[static_cast<std::size_t>(r)];
    expect(buffer.guards_are_whole(), "memory beside the extents was touched");
    if (!one.status.ok()) {
      expect(moved == 0, "what failed tells that it has moved bytes");
    } else if (direction == Direction::read) {
      tell(model_.check_read(one, r, moved));
    } else {
      expect(moved == buffer.bytes(), "a write tells another number of bytes than it was given");
    }
  }

  Bytes stored() const {
    auto file = memory_->open(kPath, OpenMode::read).value();
    Bytes bytes(file->size().value());
    (void)file->read(0, bytes);
    return bytes;
  }
  void spoil() {
    auto file = memory_->open(kPath, OpenMode::read_write).value();
    const std::byte other[1] = {std::byte{0xFF}};
    (void)file->write(0, other);
  }

  // A pending fault may hit a sync or the close; then the file is opened again.
  void end_with_fault() {
    n_seen_ = storage_->failures();
    std::vector<Status> ends;
    if (!run("sync", ends, [&](TaskRank r) { return file(r).sync(); })) return;
    Status status = common("sync", [&](TaskRank r) { return ends[static_cast<std::size_t>(r)]; });
    expect_told(refused(), !status.ok(), "sync");
    if (scenario_.seed % 2 == 0 || !good()) return;
    ends.clear();
    if (!run("close", ends, [&](TaskRank r) { return file(r).close(); })) return;
    status = common("close", [&](TaskRank r) { return ends[static_cast<std::size_t>(r)]; });
    expect_told(refused(), !status.ok(), "close");
    files_.clear();
    position_ = 0;
    script({});
    refusal_ = nullptr;
    expect(open(), "cannot be opened again");
  }

  // Checks the file without faults: length, one more write and read, close.
  void use_afterwards() {
    script({});
    refusal_ = nullptr;
    n_seen_ = 0;
    std::vector<Result<std::uint64_t>> sizes;
    if (!run("size", sizes, [&](TaskRank r) { return file(r).size(); })) return;
    for (const auto& size : sizes)
      expect(size.has_value() && size.value() == model_.size(), "size() is wrong afterwards");
    Batch batch;
    Case what;
    what.seed = scenario_.seed + 1;
    what.tasks = tasks();
    what.layout = Layout::interleaved;
    batch.accesses.push_back(what);
    carry_out(batch);
    batch.direction = Direction::read;
    if (good()) carry_out(batch);
    if (!good()) return;
    std::vector<Status> ends;
    if (!run("close", ends, [&](TaskRank r) { return file(r).close(); })) return;
    expect(common("close", [&](TaskRank r) { return ends[static_cast<std::size_t>(r)]; }).ok(), "close failed");
  }

  const Scenario& scenario_;
  const Refusal* refusal_;  // null: memory is never refused
  const std::shared_ptr<Backend> memory_;
  const std::shared_ptr<FaultBackend> storage_;
  SimWorld world_;
  std::vector<std::unique_ptr<LateQueue>> queues_;
  std::vector<std::unique_ptr<PlainFile>> files_;
  bool starved_ = false;      // in the last access
  std::uint64_t n_seen_ = 0;  // storage failures that were checked
  FileModel model_;
  std::uint64_t position_ = 0;
  Played played_;
};

}  // namespace

Played play(const Scenario& scenario, const Refusal* memory) {
  Play one(scenario, memory);
  return one.all();
}

}  // namespace thalweg::test
