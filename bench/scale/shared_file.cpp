// One shared file: opened by all tasks, written and read by two-phase I/O. The engine itself, on simulated tasks.
#include <algorithm>

#include "engine/queues.hpp"
#include "file/plain_file.hpp"
#include "plan/counting_new.hpp"
#include "scale/machine.hpp"

namespace bench {

namespace {

using thalweg::Direction;
using thalweg::Extent;
using thalweg::Op;
using thalweg::Outcome;
using thalweg::PlainFile;
using thalweg::Status;
using Opened = thalweg::Result<std::unique_ptr<PlainFile>>;

// As many aggregators as there are servers; each may use what a task may use at all.
const std::string kHints = "method=aggregate,aggregators=16,aggregator_bytes=64MiB,forwarding=";
constexpr std::size_t kDepth = 4;

// Where the pieces of a task lie. All tasks use the same memory: nobody looks at what is in it.
std::vector<Extent> extents_of(std::int64_t task, std::int64_t tasks, std::vector<std::byte>& memory) {
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < kPieces; ++i)
    extents.push_back({memory.data() + i * kPieceBytes, kPieceBytes,
                       (i * static_cast<std::uint64_t>(tasks) + static_cast<std::uint64_t>(task)) * kPieceBytes});
  return extents;
}

Op<Status> access(PlainFile& file, Direction direction, thalweg::IoContext io, std::vector<Extent> extents) {
  thalweg::Access access;
  access.direction = direction;
  access.extents = extents;
  const auto request = file.request(access);
  Op<Outcome> op = request->operation(io);
  Outcome outcome = co_await op;
  request->let_go();
  if (outcome.status.ok() && outcome.moved != kTaskBytes)
    outcome.status = Status::error(thalweg::Code::internal, "a task has moved fewer bytes than it asked for");
  co_return std::move(outcome.status);
}

class SharedFiles {
 public:
  SharedFiles(std::int64_t tasks, const std::string& forwarding)
      : machine_(tasks, Bytes::forgotten), hints_(kHints + forwarding), memory_(kTaskBytes) {}

  Cost open() {
    std::vector<Op<Opened>> ops;
    for (std::int64_t r = 0; r < machine_.tasks(); ++r) {
      thalweg::PlainOpen how;
      how.path = "shared.dat";
      how.options.write = how.options.create = how.options.truncate = true;
      how.hints = hints_;
      ops.push_back(PlainFile::open(machine_.world().group(r), machine_.backend_of(r), std::move(how)));
    }
    const Cost cost = machine_.run(ops);
    for (Op<Opened>& op : ops) {
      must_be_ok(op.value().status(), "open");
      files_.push_back(std::move(op.value()).value());
    }
    ops.clear();
    make_queues();
    return cost;
  }

  Cost move(Direction direction) {
    std::vector<Op<Status>> ops;
    for (std::int64_t r = 0; r < machine_.tasks(); ++r) {
      thalweg::IoContext io = thalweg::blocking_io();
      if (auto& queue = queues_[static_cast<std::size_t>(r)]; queue != nullptr) {
        io.queue = io.background_queue = queue.get();
        io.depth = kDepth;
      }
      ops.push_back(
          access(*files_[static_cast<std::size_t>(r)], direction, io, extents_of(r, machine_.tasks(), memory_)));
    }
    const Cost cost = machine_.run(ops);
    for (Op<Status>& op : ops) must_be_ok(op.value(), direction == Direction::read ? "read" : "write");
    return cost;
  }

 private:
  // Only aggregators transfer anything.
  void make_queues() {
    queues_.resize(files_.size());
    std::vector<thalweg::Aggregator> aggregators = files_[0]->shared()->aggregators;
    if (aggregators.empty()) aggregators.push_back({0, 0});
    for (const thalweg::Aggregator& one : aggregators)
      queues_[static_cast<std::size_t>(one.rank)] = machine_.queue_of(one.rank, 2 * kDepth);
  }

  Machine machine_;
  const std::string hints_;
  std::vector<std::byte> memory_;
  std::vector<std::unique_ptr<thalweg::IoQueue>> queues_;
  std::vector<std::unique_ptr<PlainFile>> files_;
};

}  // namespace

SharedFileCosts shared_file(std::int64_t tasks, const std::string& forwarding) {
  begin_counting();
  SharedFiles files(tasks, forwarding);
  SharedFileCosts costs;
  costs.open = files.open();
  costs.write = files.move(Direction::write);
  costs.read = files.move(Direction::read);
  return costs;
}

}  // namespace bench
