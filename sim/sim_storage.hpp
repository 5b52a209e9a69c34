// SimStorage: a parallel file system in virtual time, for simulated tasks. It wraps a backend that keeps the bytes, and
// says when each operation ends (docs/design/simulation.md).
//
// Files are striped over servers. A server serves one operation after the other, in the order in which they are made
// here; a metadata server opens and creates. Whoever writes a lock unit that another client holds waits for it, and its
// server with him; readers share.
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

// Nanoseconds; the defaults are of the order of a parallel file system of today, and of no particular one.
struct SimStorageCosts {
  std::uint64_t servers = 16;
  std::uint64_t stripe_bytes = std::uint64_t{1} << 20;
  std::uint64_t lock_bytes = std::uint64_t{1} << 20;  // 0: there are no locks
  double request_ns = 50'000;                         // on the way there and back
  double server_ns = 20'000;                          // of the server, each operation
  double byte_ns = 0.5;                               // of the server: 2 GB/s
  double handover_ns = 200'000;                       // of a lock unit, from one client to another
  double open_ns = 10'000;                            // of the metadata server
  double create_ns = 50'000;
};

class SimStorage : public std::enable_shared_from_this<SimStorage> {
 public:
  // The ledger outlives it, and what it makes.
  static std::shared_ptr<SimStorage> make(std::shared_ptr<Backend> inner, const SimStorageCosts& costs,
                                          SimLedger& ledger);

  // What a task opens files with: calls block, so the task's clock goes on until they end. `client` holds locks:
  // the tasks of a node are one.
  std::shared_ptr<Backend> backend_of(std::int64_t task, std::int64_t client);
  // Transfers end while the task goes on: its clock stands at the end of those that it has waited for.
  std::unique_ptr<IoQueue> queue_of(std::int64_t task, std::int64_t client, std::size_t depth);

  // When an operation that begins `now` ends.
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
  double* submitted_end_ = nullptr;   // where the end of a transfer goes that nobody waits for yet; null: they wait
  double metadata_free_ = 0;          // when it can serve the next
  std::vector<double> servers_free_;  // the same
  std::map<std::string, std::uint64_t> files_;
  std::unordered_map<std::uint64_t, std::int64_t> holders_;  // of lock units, by file and number
};

// Files in memory that have a length but no bytes: what is written is forgotten, what is read stays as it was.
std::shared_ptr<Backend> make_hollow_backend();

}  // namespace thalweg
