#include "sim/sim_storage.hpp"

#include <algorithm>
#include <utility>

#include "os/pieces.hpp"
#include "sim/forwarding_file.hpp"
#include "storage/posix_queue.hpp"

namespace thalweg {

namespace {

constexpr std::int64_t kReaders = -1;  // share a lock unit

}  // namespace

// A task as a client of storage.
class SimClient {
 public:
  SimClient(std::shared_ptr<SimStorage> storage, SimTask& task, std::int64_t number)
      : storage_(std::move(storage)), task_(task), number_(number) {}
  SimStorage& storage() { return *storage_; }
  SimTask& task() { return task_; }
  void metadata(bool creates) { wait_until(storage_->metadata(task_.clock_ns, creates)); }
  void transfer(Direction direction, std::uint64_t file, std::uint64_t offset, std::uint64_t bytes) {
    const double end = storage_->transfer(task_.clock_ns, direction, number_, file, offset, bytes);
    if (storage_->submitted_end_ != nullptr) {
      *storage_->submitted_end_ = end;
    } else {
      wait_until(end);
    }
  }
  void wait_until(double end) { task_.clock_ns = std::max(task_.clock_ns, end); }

 private:
  const std::shared_ptr<SimStorage> storage_;
  SimTask& task_;
  const std::int64_t number_;
};

namespace {

class SimFile final : public ForwardingFile {
 public:
  SimFile(std::shared_ptr<SimClient> client, std::uint64_t number, std::unique_ptr<StoredFile> inner)
      : ForwardingFile(std::move(inner)), client_(std::move(client)), number_(number) {}

  Result<std::uint64_t> transfer(Direction direction, std::uint64_t offset, std::span<const Piece> pieces) override {
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, bytes_of(pieces, offset, path()));
    client_->transfer(direction, number_, offset, bytes);
    return ForwardingFile::transfer(direction, offset, pieces);
  }
  Result<std::uint64_t> transfer_direct(Direction direction, std::uint64_t offset,
                                        std::span<const Piece> pieces) override {
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, bytes_of(pieces, offset, path()));
    client_->transfer(direction, number_, offset, bytes);
    return ForwardingFile::transfer_direct(direction, offset, pieces);
  }
  Result<std::uint64_t> size() override {
    client_->metadata(false);
    return ForwardingFile::size();
  }
  Status truncate(std::uint64_t bytes) override {
    client_->metadata(false);
    return ForwardingFile::truncate(bytes);
  }
  Status preallocate(std::uint64_t offset, std::uint64_t bytes) override {
    client_->metadata(false);
    return ForwardingFile::preallocate(offset, bytes);
  }

 private:
  const std::shared_ptr<SimClient> client_;
  const std::uint64_t number_;
};

}  // namespace

class SimBackend final : public Backend {
 public:
  explicit SimBackend(std::shared_ptr<SimClient> client) : client_(std::move(client)) {}
  using Backend::open;
  Result<std::unique_ptr<StoredFile>> open(const std::string& path, const OpenOptions& options) override {
    const auto there = options.create ? inner().exists(path) : Result<bool>(true);
    client_->metadata(there.has_value() && !there.value());
    TW_ASSIGN_OR_RETURN(auto file, inner().open(path, options));
    const std::uint64_t number = client_->storage().number_of(path);
    return std::unique_ptr<StoredFile>(std::make_unique<SimFile>(client_, number, std::move(file)));
  }
  Status remove(const std::string& path) override {
    client_->metadata(true);
    return inner().remove(path);
  }
  Result<bool> exists(const std::string& path) override {
    client_->metadata(false);
    return inner().exists(path);
  }
  Status sync_directory_of(const std::string& path) override { return inner().sync_directory_of(path); }
  Result<StorageInfo> describe(const std::string& path) override {
    TW_ASSIGN_OR_RETURN(StorageInfo info, inner().describe(path));
    info.kind = "sim";
    const SimStorageCosts& costs = client_->storage().costs_;
    info.block_bytes = static_cast<std::uint32_t>(costs.stripe_bytes);
    if (costs.tells_stripes) info.stripes = {costs.stripe_bytes, static_cast<std::uint32_t>(costs.servers)};
    return info;
  }
  std::uint32_t direct_alignment_at(const std::string& path) override { return inner().direct_alignment_at(path); }
  const char* name() const override { return "sim"; }

 private:
  Backend& inner() { return *client_->storage().inner_; }
  const std::shared_ptr<SimClient> client_;
};

// A transfer is carried out at submission and completes when its task is notified. A task that waits in a collective is
// not notified, so that its clock shows only its own waits.
class SimQueue final : public IoQueue {
 public:
  SimQueue(std::shared_ptr<SimClient> client, std::size_t depth) : client_(std::move(client)), depth_(depth) {}

  bool submit(IoTransfer& transfer) override {
    if (flights_.size() >= depth_) return false;
    double end = client_->task().clock_ns;
    client_->storage().submitted_end_ = &end;
    carry_out(transfer);
    client_->storage().submitted_end_ = nullptr;
    transfer.done = false;
    flights_.push_back({&transfer, end});
    return true;
  }
  // Completes the earliest transfer, one per poll: tasks that wait for it continue before the clock advances.
  void poll() override {
    const SimLedger& ledger = client_->storage().ledger_;
    const bool busy = client_->task().collectives > 0 && !ledger.nobody_can_go_on;
    if (flights_.empty() || busy || last_look_ == ledger.looks) return;
    last_look_ = ledger.looks;
    const auto first = std::min_element(flights_.begin(), flights_.end(),
                                        [](const Flight& a, const Flight& b) { return a.end < b.end; });
    client_->wait_until(first->end);
    first->transfer->done = true;
    flights_.erase(first);
  }
  void wait(std::chrono::microseconds) override { poll(); }
  std::size_t in_flight() const override { return flights_.size(); }
  const char* name() const override { return "sim"; }

 private:
  struct Flight {
    IoTransfer* transfer;
    double end;
  };
  const std::shared_ptr<SimClient> client_;
  const std::size_t depth_;
  std::vector<Flight> flights_;
  std::uint64_t last_look_ = 0;
};

SimStorage::SimStorage(std::shared_ptr<Backend> inner, const SimStorageCosts& costs, SimLedger& ledger)
    : inner_(std::move(inner)), costs_(costs), ledger_(ledger), servers_(costs.servers) {}

std::shared_ptr<SimStorage> SimStorage::make(std::shared_ptr<Backend> inner, const SimStorageCosts& costs,
                                             SimLedger& ledger) {
  return std::shared_ptr<SimStorage>(new SimStorage(std::move(inner), costs, ledger));
}

std::shared_ptr<Backend> SimStorage::backend_of(std::int64_t task, std::int64_t client) {
  return std::make_shared<SimBackend>(
      std::make_shared<SimClient>(shared_from_this(), ledger_.tasks[static_cast<std::size_t>(task)], client));
}

std::unique_ptr<IoQueue> SimStorage::queue_of(std::int64_t task, std::int64_t client, std::size_t depth) {
  return std::make_unique<SimQueue>(
      std::make_shared<SimClient>(shared_from_this(), ledger_.tasks[static_cast<std::size_t>(task)], client), depth);
}

std::uint64_t SimStorage::number_of(const std::string& path) {
  return files_.try_emplace(path, files_.size()).first->second;
}

void SimServer::begin_at(double now) {
  free_ = std::max(free_, now);
  gaps_.clear();
}

// Tasks make several requests before others, whose clocks are behind, make their first: those find gaps between the
// requests that were made before.
double SimServer::serve(double now, double service) {
  constexpr std::size_t kMostGaps = 512;
  auto gap = std::ranges::upper_bound(gaps_, now, {}, &Gap::begin);
  if (gap != gaps_.begin()) --gap;
  for (; gap != gaps_.end(); ++gap) {
    const double begin = std::max(now, gap->begin), end = begin + service;
    if (end > gap->end) continue;
    const Gap behind{end, gap->end};
    gap->end = begin;
    gap = gap->begin == begin ? gaps_.erase(gap) : gap + 1;
    if (end < behind.end) gaps_.insert(gap, behind);
    return end;
  }
  if (now > free_) gaps_.push_back({free_, now});
  if (gaps_.size() > kMostGaps) gaps_.erase(gaps_.begin());
  free_ = std::max(free_, now) + service;
  return free_;
}

void SimStorage::begin_at(double now) {
  metadata_.begin_at(now);
  for (SimServer& server : servers_) server.begin_at(now);
  for (auto& [client, link] : links_) link.begin_at(now);
}

double SimStorage::metadata(double now, bool creates) {
  return metadata_.serve(now, creates ? costs_.create_ns : costs_.open_ns) + costs_.request_ns;
}

double SimStorage::transfer(double now, Direction direction, std::int64_t client, std::uint64_t file,
                            std::uint64_t offset, std::uint64_t bytes) {
  double end = now;
  for (const std::uint64_t last = offset + bytes; offset < last;) {
    const std::uint64_t stripe = offset / costs_.stripe_bytes;
    const std::uint64_t part = std::min(last, (stripe + 1) * costs_.stripe_bytes) - offset;
    const double service =
        costs_.server_ns + lock(direction, client, file, offset, part) + static_cast<double>(part) * costs_.byte_ns;
    end = std::max(end, servers_[(file + stripe) % costs_.servers].serve(now, service) + costs_.request_ns);
    offset += part;
  }
  if (costs_.client_byte_ns == 0) return end;
  const double link = links_[client].serve(now, static_cast<double>(bytes) * costs_.client_byte_ns);
  return std::max(end, link + costs_.request_ns);
}

// Time to acquire the lock units of a range.
double SimStorage::lock(Direction direction, std::int64_t client, std::uint64_t file, std::uint64_t offset,
                        std::uint64_t bytes) {
  if (costs_.lock_bytes == 0) return 0;
  double waits = 0;
  const std::int64_t holder = direction == Direction::read ? kReaders : client;
  for (std::uint64_t unit = offset / costs_.lock_bytes; unit * costs_.lock_bytes < offset + bytes; ++unit) {
    const auto [at, is_new] = holders_.try_emplace(file << 40 | unit, holder);
    if (is_new || at->second == holder || (direction == Direction::read && at->second == client)) continue;
    waits += costs_.handover_ns;
    at->second = holder;
  }
  return waits;
}

}  // namespace thalweg
