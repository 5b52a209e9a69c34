// SimStorage: a parallel file system in virtual time, for simulated tasks. It wraps a backend that stores the bytes and
// computes when each operation ends (docs/design/simulation.md).
//
// Files are striped over servers. A server processes its operations in the order of the calls; a metadata server opens
// and creates files. All transfers of a client share its link. A write to a lock unit held by another client waits for the handover, and occupies its server
// meanwhile; readers share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/sim_ledger.hpp"
#include "storage/backend.hpp"
#include "storage/io_queue.hpp"

namespace thalweg {

// Nanoseconds; the defaults are typical of a current parallel file system in general.
struct SimStorageCosts {
  std::uint64_t servers = 16;
  std::uint64_t stripe_bytes = std::uint64_t{1} << 20;
  bool tells_stripes = false;                         // as Lustre does; else only the block, which is a stripe
  std::uint64_t lock_bytes = std::uint64_t{1} << 20;  // 0: no locks
  double request_ns = 50'000;                         // round trip
  double server_ns = 20'000;                          // server time per operation
  double byte_ns = 0.5;                               // server time per byte: 2 GB/s
  double client_byte_ns = 0;                          // of one client, all its transfers together; 0: no limit
  double handover_ns = 200'000;                       // transfer of a lock unit between clients
  double open_ns = 10'000;                            // of the metadata server
  double create_ns = 50'000;
};

// Serves one request after the other.
class SimServer {
 public:
  // All tasks are at `now`: no request comes before.
  void begin_at(double now);
  // End of a request that comes at `now`.
  double serve(double now, double service);

 private:
  struct Gap {
    double begin, end;
  };
  double free_ = 0;        // after all requests
  std::vector<Gap> gaps_;  // before that: times without a request, the latest ones, in order
};

class SimStorage : public std::enable_shared_from_this<SimStorage> {
 public:
  // The ledger must outlive it and the objects it makes.
  static std::shared_ptr<SimStorage> make(std::shared_ptr<Backend> inner, const SimStorageCosts& costs,
                                          SimLedger& ledger);

  // Backend of a task: calls block, so the task's clock advances to their end. `client` holds locks; the tasks of a
  // node are one client.
  std::shared_ptr<Backend> backend_of(std::int64_t task, std::int64_t client);
  // Queue of a task: transfers proceed concurrently; the task's clock advances to the end of those it waits for.
  std::unique_ptr<IoQueue> queue_of(std::int64_t task, std::int64_t client, std::size_t depth);

  // All tasks are at `now`: no request comes before.
  void begin_at(double now);
  // End of an operation that starts at `now`.
  double metadata(double now, bool creates);
  double transfer(double now, Direction direction, std::int64_t client, std::uint64_t file, std::uint64_t offset,
                  std::uint64_t bytes);

 private:
  friend class SimClient;
  friend class SimBackend;
  friend class SimQueue;
  SimStorage(std::shared_ptr<Backend> inner, const SimStorageCosts& costs, SimLedger& ledger);
  double lock(Direction direction, std::int64_t client, std::uint64_t file, std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t number_of(const std::string& path);

  const std::shared_ptr<Backend> inner_;
  const SimStorageCosts costs_;
  SimLedger& ledger_;
  double* submitted_end_ = nullptr;  // receives the end of a transfer that no task waits for yet; null: tasks wait
  SimServer metadata_;
  std::vector<SimServer> servers_;
  std::unordered_map<std::int64_t, SimServer> links_;  // of clients
  std::map<std::string, std::uint64_t> files_;
  std::unordered_map<std::uint64_t, std::int64_t> holders_;  // of lock units, by file and number
};

}  // namespace thalweg
