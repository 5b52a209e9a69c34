#include "sim/simulate.hpp"

#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <mutex>

#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "sim/sim_group.hpp"
#include "storage/backend.hpp"

namespace thalweg {

namespace {

constexpr const char* kPath = "simulated.tw";

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::int64_t resident_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

// Serialised: the first call initialises the allocator, which glibc does not lock.
std::int64_t heap_in_use() {
  static std::mutex first;
  const std::lock_guard<std::mutex> lock(first);
  return static_cast<std::int64_t>(mallinfo2().uordblks);
}

std::byte content(std::int64_t rank, std::int64_t i) {
  return static_cast<std::byte>(
      (static_cast<std::uint64_t>(rank) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(i) * 0xBF58476D1CE4E5B9u) >>
      56);
}

class SimulatedRun {
 public:
  explicit SimulatedRun(const Simulation& s)
      : s_(s),
        world_({.tasks = s.tasks, .seed = s.seed, .tasks_per_process = s.tasks_per_process, .processes_per_node = 64}),
        backend_(make_memory_backend()),
        files_(static_cast<std::size_t>(s.tasks)) {}

  Status all(SimulationReport& report) {
    const std::int64_t peak_before = resident_peak();
    const std::int64_t heap_before = heap_in_use();
    TW_RETURN_IF_ERROR(timed(report.create_seconds, [&] { return open(MultifileMode::create); }));
    report.bytes_per_task = (heap_in_use() - heap_before) / s_.tasks;
    TW_RETURN_IF_ERROR(write());
    TW_RETURN_IF_ERROR(timed(report.close_seconds, [&] { return close(); }));
    TW_RETURN_IF_ERROR(timed(report.open_seconds, [&] {
      const Status opened = open(MultifileMode::read);
      return opened.ok() ? sizes() : opened;
    }));
    TW_RETURN_IF_ERROR(read());
    TW_RETURN_IF_ERROR(close());
    report.peak_bytes = resident_peak() - peak_before;
    return metadata(report.metadata_bytes);
  }

 private:
  template <class F>
  static Status timed(double& seconds, F&& step) {
    const double start = now();
    const Status status = step();
    seconds = now() - start;
    return status;
  }
  static Status wrong(const std::string& what) { return Status::error(Code::internal, "simulation: {}", what); }

  Status open(MultifileMode access) {
    std::vector<Op<Result<std::unique_ptr<Multifile>>>> ops;
    ops.reserve(files_.size());
    for (std::int64_t rank = 0; rank < s_.tasks; ++rank) {
      OpenRequest request;
      request.backend = backend_;
      request.path = kPath;
      request.access = access;
      request.options = s_.options;
      ops.push_back(open_multifile(world_.group(rank), std::move(request)));
    }
    TW_RETURN_IF_ERROR(world_.run<Result<std::unique_ptr<Multifile>>>(ops));
    for (std::size_t i = 0; i < ops.size(); ++i) {
      TW_RETURN_IF_ERROR(ops[i].value().status());
      files_[i] = std::move(ops[i].value()).value();
    }
    return {};
  }

  Status close() {
    std::vector<Op<Status>> ops;
    ops.reserve(files_.size());
    for (std::int64_t rank = 0; rank < s_.tasks; ++rank)
      ops.push_back(close_multifile(world_.group(rank), std::move(files_[static_cast<std::size_t>(rank)])));
    TW_RETURN_IF_ERROR(world_.run<Status>(ops));
    for (auto& op : ops) TW_RETURN_IF_ERROR(op.value());
    return {};
  }

  std::vector<std::byte> data_of(std::int64_t rank) const {
    std::vector<std::byte> data(static_cast<std::size_t>(s_.bytes_per_file));
    for (std::int64_t i = 0; i < s_.bytes_per_file; ++i) data[static_cast<std::size_t>(i)] = content(rank, i);
    return data;
  }

  Status write() {
    for (std::int64_t rank = 0; rank < s_.tasks; ++rank) {
      WriteHandle& handle = *files_[static_cast<std::size_t>(rank)]->writing;
      TW_ASSIGN_OR_RETURN(LogicalWriter * writer, handle.current_or_first());
      TW_RETURN_IF_ERROR(handle.write(*writer, data_of(rank)));
    }
    return {};
  }

  Status sizes() {
    for (std::int64_t rank = 0; rank < s_.tasks; ++rank) {
      ReadHandle& handle = *files_[static_cast<std::size_t>(rank)]->reading;
      TW_ASSIGN_OR_RETURN(const format::FileEntry entry, handle.entry(static_cast<std::uint64_t>(rank)));
      if (entry.bytes != static_cast<std::uint64_t>(s_.bytes_per_file))
        return wrong(fmt::format("logical file {} has {} bytes", rank, entry.bytes));
    }
    return {};
  }

  Status read() {
    std::vector<std::byte> data(static_cast<std::size_t>(s_.bytes_per_file));
    for (std::int64_t rank = 0; rank < s_.tasks; ++rank) {
      TW_ASSIGN_OR_RETURN(LogicalReader * reader, files_[static_cast<std::size_t>(rank)]->reading->current_or_first());
      std::size_t got = 0;
      TW_RETURN_IF_ERROR(reader->read(0, data, got));
      if (got != data.size() || data != data_of(rank)) return wrong(fmt::format("logical file {} reads wrong", rank));
    }
    return {};
  }

  Status metadata(std::int64_t& bytes) {
    TW_ASSIGN_OR_RETURN(auto first, backend_->open(kPath, OpenMode::read));
    TW_ASSIGN_OR_RETURN(const auto opened, PhysicalReader::open(std::move(first), 0));
    for (std::uint32_t k = 0; k < opened->header().n_physical + opened->header().n_later; ++k) {
      TW_ASSIGN_OR_RETURN(const bool there, backend_->exists(format::physical_name(kPath, k)));
      if (!there) continue;
      TW_ASSIGN_OR_RETURN(auto file, backend_->open(format::physical_name(kPath, k), OpenMode::read));
      TW_ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
      for (std::uint64_t at = 0; at < size; at += 4096) {  // not a hole
        TW_ASSIGN_OR_RETURN(const std::uint64_t data, file->next_data(at));
        at = std::max(at, data / 4096 * 4096);
        if (at < size) bytes += 4096;
      }
    }
    bytes -= s_.tasks * s_.bytes_per_file;
    return {};
  }

  const Simulation s_;
  SimWorld world_;
  std::shared_ptr<Backend> backend_;
  std::vector<std::unique_ptr<Multifile>> files_;
};

}  // namespace

Status simulate_multifile(const Simulation& simulation, SimulationReport& report) {
  SimulatedRun run(simulation);
  return run.all(report);
}

}  // namespace thalweg
