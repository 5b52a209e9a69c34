// What programs do without a library, as plain models on the same machine.
#include <algorithm>
#include <string>

#include "group/sim_network.hpp"
#include "plan/counting_new.hpp"
#include "scale/machine.hpp"

namespace bench {

namespace {

using thalweg::Op;
using thalweg::Status;

// Each task makes its file, writes it with one call and closes it; all meet.
Op<Status> own_file(thalweg::Group& group, std::shared_ptr<thalweg::Backend> backend,
                    const std::vector<std::byte>& memory) {
  auto file = backend->open("task." + std::to_string(group.rank()), thalweg::OpenMode::create_exclusive);
  Status status = file.status();
  if (status.ok()) status = file.value()->write(0, memory);
  if (status.ok()) status = file.value()->close();
  const Status met = co_await group.barrier();
  co_return status.ok() ? met : status;
}

}  // namespace

Cost file_per_task(std::int64_t tasks) {
  begin_counting();
  Machine machine(tasks, Bytes::forgotten);
  const std::vector<std::byte> memory(kTaskBytes);
  std::vector<Op<Status>> ops;
  for (std::int64_t r = 0; r < tasks; ++r)
    ops.push_back(own_file(machine.world().group(r), machine.backend_of(r), memory));
  const Cost cost = machine.run(ops);
  for (Op<Status>& op : ops) must_be_ok(op.value(), "a file of its own");
  return cost;
}

// The bytes of all would not fit into memory: the gather is counted, not made; the write is made in calls of 64 MiB.
Cost gather_and_write(std::int64_t tasks) {
  constexpr std::uint64_t kCall = std::uint64_t{1} << 26;
  const std::uint64_t bytes = static_cast<std::uint64_t>(tasks) * kTaskBytes;
  Machine machine(tasks, Bytes::forgotten);
  const std::vector<std::byte> memory(std::min(kCall, bytes));
  const auto backend = machine.backend_of(0);
  Cost cost = machine.measure([&] {
    machine.world().network().gather(0, std::vector<std::uint64_t>(static_cast<std::size_t>(tasks), kTaskBytes));
    auto file = backend->open("gathered.dat", thalweg::OpenMode::create_exclusive);
    if (!file.has_value()) return file.status();
    for (std::uint64_t at = 0; at < bytes; at += kCall) {
      Status status = file.value()->write(at, std::span(memory).first(std::min(kCall, bytes - at)));
      if (!status.ok()) return status;
    }
    machine.world().network().barrier();
    return Status{};
  });
  cost.collectives = 2;
  cost.heap_mean = static_cast<double>(kTaskBytes);  // and what task 0 receives
  return cost;
}

}  // namespace bench
