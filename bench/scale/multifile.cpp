// A multifile: created by all tasks, and closed. The library itself, on simulated tasks; its metadata are kept.
#include "file/multifile.hpp"

#include "plan/counting_new.hpp"
#include "scale/machine.hpp"

namespace bench {

namespace {

using thalweg::Multifile;
using thalweg::Op;
using thalweg::Status;
using Opened = thalweg::Result<std::unique_ptr<Multifile>>;

Op<Status> create(thalweg::Group& group, std::shared_ptr<thalweg::Backend> backend) {
  thalweg::OpenRequest request;
  request.backend = std::move(backend);
  request.path = "multi.tw";
  request.access = thalweg::MultifileMode::create;
  Opened opened = co_await thalweg::open_multifile(group, std::move(request));
  if (!opened.has_value()) co_return opened.error();
  co_return co_await thalweg::close_multifile(group, std::move(opened).value());
}

}  // namespace

// What the threads of a process do to storage is the doing of the first of them.
Cost create_multifile(std::int64_t tasks, std::int64_t tasks_per_process) {
  begin_counting();
  Machine machine(tasks, Bytes::kept, tasks_per_process);
  std::vector<Op<Status>> ops;
  for (std::int64_t r = 0; r < tasks; ++r)
    ops.push_back(create(machine.world().group(r), machine.backend_of(r - r % tasks_per_process)));
  const Cost cost = machine.run(ops);
  for (Op<Status>& op : ops) must_be_ok(op.value(), "multifile");
  return cost;
}

}  // namespace bench
