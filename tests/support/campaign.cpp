#include "support/campaign.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "engine/queues.hpp"
#include "file/plain_file.hpp"
#include "support/engine_bodies.hpp"
#include "support/late_queue.hpp"

namespace thalweg::test {

namespace {

constexpr const char* kPath = "shared.dat";
constexpr std::uint64_t kMostOld = 4000;  // bytes in the file before the first access

Case draw_access(std::uint64_t seed, TaskRank tasks, Random& random) {
  Case what = draw_case(seed, tasks);
  const std::uint64_t scales[] = {1, 1, 1, 7, 7, 64};  // larger ones take several rounds
  what.scale = scales[below(random, tasks > 24 ? 3 : tasks > 6 ? 5 : 6)];
  if (what.layout == Layout::sparse) what.scale = std::min<std::uint64_t>(what.scale, 7);
  return what;
}

FaultRule draw_fault(Random& random) {
  FaultRule rule;
  const std::uint64_t kind = below(random, 4);
  if (kind == 0) rule.kind = CallKind::write;
  if (kind == 1) rule.kind = CallKind::read;
  rule.at = 1 + below(random, std::uint64_t{1} << below(random, 7));
  rule.lasting = below(random, 4) == 0;
  rule.partial = below(random, 3) == 0;
  rule.os_errno = below(random, 2) == 0 ? EIO : ENOSPC;
  return rule;
}

// What one task found out about one access.
struct Heard {
  Status status;
  std::uint64_t moved = 0;
  std::string plan;  // its kind
};

// One task's part of a batch.
struct Share {
  PlainFile* file = nullptr;
  IoContext io;
  bool blocking = false;
  std::uint64_t seed = 0;
  std::vector<Access> accesses;
  std::vector<Heard> heard;
};

void hear(Heard& heard, Outcome outcome) {
  heard.status = std::move(outcome.status);
  heard.moved = outcome.moved;
  heard.plan = kind_of(outcome.plan);
}

bool is_done(void* op) { return static_cast<Op<Outcome>*>(op)->done(); }

// All are started, then waited for in any order.
Op<Status> outstanding(Share& share) {
  std::vector<std::shared_ptr<Request>> requests;
  std::vector<Op<Outcome>> ops;
  std::vector<std::size_t> order;
  for (const Access& access : share.accesses) {
    order.push_back(requests.size());
    requests.push_back(share.file->request(access));
    ops.push_back(requests.back()->operation(share.io));
    ops.back().start();
  }
  Random random(share.seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
  for (const std::size_t i : order) {
    const WaitPoint point{is_done, nullptr, &ops[i]};
    co_await Until{point};
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

// One seed, from the opening of the file to its close.
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
  void tell(const std::string& what) {
    if (good()) played_.problem = what;
  }
  void expect(bool holds, const char* what) {
    if (!holds) tell(what);
  }

  // Runs one op for each task. False: the world came to no end.
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
  // One status for all; gives it back.
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
  // Whether storage has refused something since the last time.
  bool refused() {
    const bool any = storage_->failures() > n_seen_;
    n_seen_ = storage_->failures();
    played_.fault_hit = played_.fault_hit || any;
    return any;
  }
  void expect_told(bool was_refused, bool any_failed, const char* what) {
    if (starved_) return;  // some memory can be done without
    if (was_refused && !any_failed) tell(std::string(what) + " succeeded, though storage has refused something");
    if (any_failed && !was_refused) tell(std::string(what) + " failed, though storage has refused nothing");
  }

  void put_old_bytes() {
    const std::uint64_t n = scenario_.seed % 3 == 0 ? 0 : scenario_.seed * 37 % kMostOld;
    for (std::uint64_t i = 0; i < n; ++i) content_.push_back(static_cast<std::byte>(i % 241 + 1));
    auto file = memory_->open(kPath, OpenMode::create).value();
    expect(file->write(0, content_).ok(), "the file cannot be prepared");
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

  // Buffers of one access, by task; tasks of a process share those of a common one.
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

  // An access, its memory, and what came of it.
  struct Done {
    Case what;
    bool refused = false;    // for its arguments
    std::uint64_t base = 0;  // the shared position before it
    std::vector<std::shared_ptr<Buffer>> buffers;
    Status status;
  };

  std::vector<Share> shares_of(const Batch& batch, std::vector<Done>& done) {
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
      Done one{what, batch.wrong_task >= 0 && done.empty(), position_, buffers_of(what, batch.direction), Status{}};
      for (TaskRank r = 0; r < tasks(); ++r) {
        Access access;
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
    std::vector<Done> done;
    std::vector<Share> shares = shares_of(batch, done);
    std::vector<Status> ends;
    if (!run("accesses", ends, [&](TaskRank r) { return carry_out_share(shares[static_cast<std::size_t>(r)]); }))
      return;
    const bool any_failed = agree_on(shares, done);
    expect_told(refused(), any_failed, "an access");
    if (scenario_.spoils) spoil();
    if (batch.direction == Direction::write) {
      check_written(done);
    } else {
      check_content(content_, stored());
    }
    for (std::size_t i = 0; i < done.size(); ++i)
      for (TaskRank r = 0; r < tasks() && good(); ++r)
        check_task(batch.direction, done[i], r, shares[static_cast<std::size_t>(r)].heard[i].moved);
  }

  // What all tasks have heard of each access. True: some failed that were in order.
  bool agree_on(const std::vector<Share>& shares, std::vector<Done>& done) {
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

  void check_task(Direction direction, const Done& one, TaskRank r, std::uint64_t moved) {
    const Buffer& buffer = *one.buffers[static_cast<std::size_t>(r)];
    expect(buffer.guards_are_whole(), "memory beside the extents was touched");
    if (!one.status.ok()) {
      expect(moved == 0, "what failed tells that it has moved bytes");
    } else if (direction == Direction::read) {
      check_read(one, r, moved);
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

  void check_content(const Bytes& wanted, const Bytes& got) {
    const auto other = std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end());
    if (other.first == wanted.end() && other.second == got.end()) return;
    tell("of " + std::to_string(wanted.size()) + " bytes byte " + std::to_string(other.first - wanted.begin()) +
         " has changed, which nobody wrote; there are " + std::to_string(got.size()));
  }

  // Each byte from one of its writers. Where all of them failed it may also be as it was.
  void check_written(const std::vector<Done>& done) {
    enum : std::uint8_t { kTouched = 1, kMust = 2, kRight = 4 };
    Bytes now = stored();
    std::vector<std::uint8_t> marks(now.size());
    std::uint64_t least = content_.size();
    std::uint64_t most = content_.size();
    for (const Done& one : done) {
      if (one.refused) continue;
      for (TaskRank r = 0; r < (one.what.common ? 1 : tasks()); ++r) {
        std::uint64_t at = 0;
        for (const Extent& place : places_of(one.what, r, one.base)) {
          if (place.bytes == 0) continue;
          most = std::max(most, place.end());
          if (one.status.ok()) least = std::max(least, place.end());
          for (std::uint64_t offset = place.offset; offset < place.end(); ++offset, ++at) {
            if (offset >= now.size()) continue;
            marks[offset] |= one.status.ok() ? kTouched | kMust : kTouched;
            if (now[offset] == Buffer::value(one.what, r, at)) marks[offset] |= kRight;
          }
        }
      }
    }
    if (now.size() < least || now.size() > most)
      tell("the file has " + std::to_string(now.size()) + " bytes, which should be " + std::to_string(least) + " to " +
           std::to_string(most));
    for (std::uint64_t i = 0; i < now.size() && good(); ++i) {
      const std::byte before = i < content_.size() ? content_[i] : std::byte{0};
      const bool may_be_old = (marks[i] & kMust) == 0;
      if ((marks[i] & kRight) != 0 || (may_be_old && now[i] == before)) continue;
      tell("byte " + std::to_string(i) + ((marks[i] & kTouched) != 0 ? " is of no writer" : " was touched"));
    }
    content_ = std::move(now);
  }

  void check_read(const Done& one, TaskRank r, std::uint64_t moved) {
    std::uint64_t within = 0;
    for (const Extent& extent : one.buffers[static_cast<std::size_t>(r)]->extents()) {
      const std::uint64_t end = std::min<std::uint64_t>(extent.end(), content_.size());
      for (std::uint64_t i = 0; i < extent.bytes && good(); ++i) {
        const bool inside = extent.offset + i < end;
        const std::byte wanted = inside ? content_[extent.offset + i] : Buffer::kGuard;
        within += inside ? 1 : 0;
        if (extent.memory[i] == wanted) continue;
        tell("task " + std::to_string(r) + " has read another byte from offset " + std::to_string(extent.offset + i));
      }
    }
    if (moved != within)
      tell("task " + std::to_string(r) + " was told of " + std::to_string(moved) + " bytes read, not " +
           std::to_string(within));
  }

  // What is left of the fault may hit a sync or the close; then the file is opened again.
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

  // Without faults: length, one more write and read, close.
  void use_afterwards() {
    script({});
    refusal_ = nullptr;
    n_seen_ = 0;
    std::vector<Result<std::uint64_t>> sizes;
    if (!run("size", sizes, [&](TaskRank r) { return file(r).size(); })) return;
    for (const auto& size : sizes)
      expect(size.has_value() && size.value() == content_.size(), "size() is wrong afterwards");
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
  const Refusal* refusal_;  // null: all memory is granted
  const std::shared_ptr<Backend> memory_;
  const std::shared_ptr<FaultBackend> storage_;
  SimWorld world_;
  std::vector<std::unique_ptr<LateQueue>> queues_;
  std::vector<std::unique_ptr<PlainFile>> files_;
  bool starved_ = false;      // in what all have done last
  std::uint64_t n_seen_ = 0;  // failures of storage that were looked at
  Bytes content_;             // what the file holds, by the model
  std::uint64_t position_ = 0;
  Played played_;
};

}  // namespace

namespace {

// A task that has no memory for its list fails before the shared position moves, others after it: so there is none.
void starve(Scenario& scenario, std::uint64_t at) {
  scenario.starves_at = at;
  for (Batch& batch : scenario.batches)
    for (Case& access : batch.accesses)
      if (access.placement == Placement::in_order) access.placement = Placement::at_offset;
}

// Whoever sieves writes promises that nothing else is written into the holes meanwhile: processes do not keep each
// other from it.
void keep_promises(Scenario& scenario) {
  constexpr std::string_view kSieves = "sieve_writes=on,";
  if (scenario.world.tasks <= scenario.world.tasks_per_process) return;
  const auto at_once = [](const Batch& batch) { return !batch.blocking && batch.accesses.size() > 1; };
  if (std::none_of(scenario.batches.begin(), scenario.batches.end(), at_once)) return;
  if (const auto at = scenario.hints.find(kSieves); at != std::string::npos) scenario.hints.erase(at, kSieves.size());
}

}  // namespace

Scenario draw_scenario(std::uint64_t seed) {
  Random random = random_of(seed, 11);
  Scenario scenario;
  scenario.seed = seed;
  scenario.world.seed = seed;
  scenario.world.closed = true;
  const std::uint64_t most[] = {4, 4, 8, 8, 16, 16, 24, 64};
  scenario.world.tasks = 1 + static_cast<TaskRank>(below(random, most[below(random, 8)]));
  scenario.world.tasks_per_process = below(random, 2) == 0 ? 1 : 1 + static_cast<TaskRank>(below(random, 8));
  scenario.world.processes_per_node = 1 + static_cast<std::int64_t>(below(random, 4));
  if (below(random, 3) == 0)
    scenario.world.late = static_cast<TaskRank>(below(random, static_cast<std::uint64_t>(scenario.world.tasks)));
  scenario.hints = draw_hints(random());
  scenario.queue_depth = 1 + below(random, 4);
  const std::uint64_t n = 1 + below(random, 3);
  for (std::uint64_t i = 0; i < n; ++i) {
    Batch batch;
    batch.direction = below(random, 2) == 0 ? Direction::read : Direction::write;
    batch.blocking = below(random, 3) == 0;
    const std::uint64_t accesses = 1 + below(random, below(random, 4) == 0 ? 6 : 2);
    for (std::uint64_t k = 0; k < accesses; ++k)
      batch.accesses.push_back(draw_access(random() % 1000000, scenario.world.tasks, random));
    if (below(random, 12) == 0)
      batch.wrong_task = static_cast<TaskRank>(below(random, static_cast<std::uint64_t>(scenario.world.tasks)));
    scenario.batches.push_back(std::move(batch));
  }
  keep_promises(scenario);
  if (below(random, 2) == 0) scenario.fault = draw_fault(random);
  if (below(random, 4) == 0) starve(scenario, 1 + below(random, 4));
  return scenario;
}

std::ostream& operator<<(std::ostream& out, const Scenario& what) {
  out << "seed " << what.seed << ": " << what.world.tasks << " tasks, " << what.world.tasks_per_process
      << " to a process, " << what.world.processes_per_node << " processes to a node, late: " << what.world.late
      << ", queue of " << what.queue_depth << ", hints '" << what.hints << "'\n";
  for (const Batch& batch : what.batches) {
    out << (batch.direction == Direction::read ? "  reads" : "  writes") << (batch.blocking ? " in turn" : " at once");
    if (batch.wrong_task >= 0) out << ", the first one wrong on task " << batch.wrong_task;
    out << '\n';
    for (const Case& access : batch.accesses) out << "    " << access << '\n';
  }
  if (what.fault.has_value()) {
    out << "  fault: call " << what.fault->at;
    if (what.fault->kind.has_value()) out << (*what.fault->kind == CallKind::read ? " of reads" : " of writes");
    out << ", errno " << what.fault->os_errno << (what.fault->lasting ? ", and all behind it" : "")
        << (what.fault->partial ? ", half of a write takes effect" : "") << '\n';
  }
  if (what.starves_at > 0) out << "  request " << what.starves_at << " for much memory is refused\n";
  return out;
}

Played play(const Scenario& scenario, const Refusal* memory) {
  Play one(scenario, memory);
  return one.all();
}

}  // namespace thalweg::test
