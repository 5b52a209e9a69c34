#include "engine/two_phase.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "engine/parcel.hpp"
#include "engine/staging_pool.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kLeastFetched = 512;  // bytes of an extent from which on it is quicker fetched than enclosed

bool reads(const TwoPhase& what) { return what.direction == Direction::read; }

// Half of the staging memory for the windows that are exchanged and on their way, half for what is enclosed in parcels.
std::uint64_t window_bytes(const TwoPhase& what) {
  const std::uint64_t quarter = what.file->strategy.aggregator_bytes / 4;
  return std::max(quarter / kCachePage * kCachePage, kCachePage);
}

Rounds rounds_of(const TwoPhase& what) {
  // Of the strategy, which is task 0's on all: what a process finds itself may differ from mount to mount.
  const std::uint64_t unit = std::max<std::uint64_t>(what.file->strategy.costs.block, kCachePage);
  return {even_domains(what.range, what.aggregators.size(), unit), window_bytes(what), kCachePage};
}

void keep_first(Status& status, Status other) {
  if (status.ok()) status = std::move(other);
}

// What a task has asked each aggregator for.
using Asked = std::vector<std::vector<Series>>;

// What a task has and wants.
class Owner {
 public:
  Owner(const TwoPhase& what, const Rounds& rounds) : what_(what), rounds_(rounds) {}

  std::vector<std::int64_t> next() const {
    std::vector<std::int64_t> lowest(rounds_.n(), Rounds::kNothing);
    for (std::size_t i = 0; i < lowest.size() && what_.list != nullptr; ++i) {
      const FileDomain rest = rounds_.rest(i);
      const auto extents = what_.list->extents();
      const std::size_t at = what_.list->first_beyond(rest.begin);
      if (at == extents.size() || extents[at].offset >= rest.end || rest.empty()) continue;
      lowest[i] = static_cast<std::int64_t>(std::max(extents[at].offset, rest.begin));
    }
    return lowest;
  }
  // What goes to the aggregators in this round. `asked` keeps what was asked for, until the answers are there.
  std::vector<Message> parcels(Asked& asked) const {
    std::vector<Message> outgoing;
    asked.assign(rounds_.n(), {});
    for (std::size_t i = 0; i < rounds_.n() && what_.list != nullptr; ++i) {
      const FileDomain window = rounds_.window(i);
      if (window.empty()) continue;
      std::vector<Series> series = series_in(*what_.list, window);
      if (series.empty()) continue;
      const Carriage carriage = carriage_to(what_.aggregators[i], series);
      const bool with_bytes = !reads(what_) && carriage == Carriage::enclosed;
      outgoing.push_back({what_.aggregators[i].rank, make_parcel(series, carriage, with_bytes)});
      if (reads(what_)) asked[i] = std::move(series);
    }
    return outgoing;
  }
  // Puts the answers of the aggregators where they belong.
  void take(const std::vector<Message>& answers, const Asked& asked) const {
    for (const Message& answer : answers) {
      const auto is_from = [&](const Aggregator& aggregator) { return aggregator.rank == answer.peer; };
      const auto from = std::find_if(what_.aggregators.begin(), what_.aggregators.end(), is_from);
      std::uint64_t end = 0;
      std::memcpy(&end, answer.data.data(), sizeof end);
      const std::byte* bytes = answer.data.data() + sizeof end;
      for_each_extent(asked[static_cast<std::size_t>(from - what_.aggregators.begin())], [&](const Extent& extent) {
        if (extent.offset < end) std::memcpy(extent.memory, bytes, std::min(extent.bytes, end - extent.offset));
        bytes += extent.bytes;
      });
    }
  }

 private:
  Carriage carriage_to(const Aggregator& aggregator, std::span<const Series> series) const {
    const Place place = what_.group->place();
    const bool same_process = place.processes == 1 || aggregator.rank == place.process_leader;
    const bool reachable = same_process || (what_.file->peers_reachable && aggregator.node == place.node);
    std::uint64_t extents = 0;
    for (const Series& some : series) extents += some.count;
    return reachable && bytes_of(series) >= extents * kLeastFetched ? Carriage::fetched : Carriage::enclosed;
  }
  const TwoPhase& what_;
  const Rounds& rounds_;
};

// One window on its way between staging and storage.
class Flight {
 public:
  // Takes the parcels over and, for a write, their bytes into staging.
  Status load(const TwoPhase& what, FileDomain window, std::vector<Message> parcels) {
    window_ = window;
    base_ = window.begin / kCachePage * kCachePage;
    messages_ = std::move(parcels);
    parcels_.clear();
    for (const Message& message : messages_) parcels_.push_back(Parcel::of(message.data));
    if (parcels_.empty()) return {};
    TW_RETURN_IF_ERROR(check_within(window));
    TW_RETURN_IF_ERROR(make_room(std::max(window.end - base_, window_bytes(what))));
    find_runs(what);
    for (const Parcel& parcel : parcels_)
      if (!reads(what)) TW_RETURN_IF_ERROR(fetch(parcel, staging_.data(), base_));
    TW_ASSIGN_OR_RETURN(list_, ExtentList::of(runs_));
    return {};
  }
  void start(const TwoPhase& what) {
    if (parcels_.empty()) return;
    TransferTask task;
    task.file = what.file;
    task.queue = what.queue;
    task.direction = what.direction;
    task.lists = {&lists_, 1};
    task.domain = {0, kEverything};
    task.direct = what.past_cache;
    task.sieve = what.sieve && !reads(what);
    task.depth = what.depth;
    transfer_.emplace(transfer(task));
    transfer_->start();
  }
  // co_await: nothing of it is under way.
  WaitPoint landed() { return {has_landed, nullptr, this}; }
  // Of the transfer, once.
  TransferResult result() {
    TransferResult result;
    if (transfer_.has_value()) result = std::move(transfer_->value());
    transfer_.reset();
    return result;
  }
  // Of a read: into the memory of the tasks, or as answers to them.
  std::vector<Message> answer(std::uint64_t end, Status& status) {
    std::vector<Message> answers;
    for (std::size_t i = 0; i < parcels_.size(); ++i) {
      if (parcels_[i].head.carriage == Carriage::fetched) {
        keep_first(status, deliver(parcels_[i], staging_.data(), base_, end));
      } else {
        answers.push_back({messages_[i].peer, answer_to(parcels_[i], end)});
      }
    }
    return answers;
  }

 private:
  static bool has_landed(void* self) {
    const auto& transfer = static_cast<Flight*>(self)->transfer_;
    return !transfer.has_value() || transfer->done();
  }
  // What lies elsewhere would be put beside the staging memory.
  Status check_within(FileDomain window) const {
    bool within = true;
    for (const Parcel& parcel : parcels_)
      for_each_extent(parcel.series, [&](const Extent& extent) {
        within = within && extent.offset >= window.begin && extent.end() <= window.end;
      });
    if (within) return {};
    return Status::error(Code::internal, "tasks of one access differ in the windows of its aggregators");
  }
  Status make_room(std::uint64_t bytes) {
    if (staging_.size() >= bytes) return {};
    TW_ASSIGN_OR_RETURN(staging_, take_staging(bytes));
    return {};
  }
  // What the parcels cover, without neighbours. A read goes through holes that cost less than another call.
  void find_runs(const TwoPhase& what) {
    std::vector<FileDomain> covered;
    for (const Parcel& parcel : parcels_)
      for_each_extent(parcel.series, [&](const Extent& extent) { covered.push_back({extent.offset, extent.end()}); });
    std::sort(covered.begin(), covered.end(),
              [](const FileDomain& a, const FileDomain& b) { return a.begin < b.begin; });
    const Strategy& strategy = what.file->strategy;
    const StorageCosts& costs = what.past_cache ? strategy.direct_costs : strategy.costs;
    const std::uint64_t gap =
        reads(what) ? static_cast<std::uint64_t>(costs.call_ns / std::max(costs.read_byte_ns, 0.001)) : 0;
    runs_.clear();
    for (const FileDomain& part : covered) {
      if (runs_.empty() || part.begin > runs_.back().end() + gap) {
        runs_.push_back({staging_.data() + (part.begin - base_), part.end - part.begin, part.begin});
      } else if (part.end > runs_.back().end()) {
        runs_.back().bytes = part.end - runs_.back().offset;
      }
    }
  }
  Bytes answer_to(const Parcel& parcel, std::uint64_t end) const {
    Bytes answer(sizeof end);
    answer.reserve(sizeof end + bytes_of(parcel.series));
    std::memcpy(answer.data(), &end, sizeof end);
    for_each_extent(parcel.series, [&](const Extent& extent) {
      const std::byte* from = staging_.data() + (extent.offset - base_);
      answer.insert(answer.end(), from, from + extent.bytes);
    });
    return answer;
  }

  FileDomain window_;
  std::uint64_t base_ = 0;  // offset of the first byte of staging
  StagingBuffer staging_;
  std::vector<Message> messages_;
  std::vector<Parcel> parcels_;
  std::vector<Extent> runs_;
  ExtentList list_;
  const ExtentList* lists_ = &list_;
  std::optional<Op<TransferResult>> transfer_;
};

// Which aggregator this task is, if any.
std::optional<std::size_t> seat_of(const TwoPhase& what) {
  for (std::size_t i = 0; i < what.aggregators.size(); ++i)
    if (what.aggregators[i].rank == what.group->rank()) return i;
  return {};
}

void add_to(TransferResult& all, TransferResult one) {
  keep_first(all.status, std::move(one.status));
  all.end_of_file = std::min(all.end_of_file, one.end_of_file);
}

// Loads and starts what came in, unless something has failed before.
void take_off(const TwoPhase& what, Flight& flight, FileDomain window, std::vector<Message> parcels, Status& status) {
  if (!status.ok()) return;
  status = or_out_of_memory([&] { return flight.load(what, window, std::move(parcels)); });
  if (status.ok()) flight.start(what);
}

// First half of a round: the parcels that have come in. Nothing: no task has a byte left, or the group can go on no
// further; either is so on all tasks.
Op<std::optional<std::vector<Message>>> begin_round(const TwoPhase& what, const Owner& owner, Rounds& rounds,
                                                    Asked& asked, Status& status) {
  const auto next = co_await what.group->allreduce(owner.next(), Reduction::min);
  keep_first(status, next.status());
  if (!next.has_value() || !rounds.open(next.value())) co_return std::nullopt;
  std::vector<Message> outgoing;
  keep_first(status, or_out_of_memory([&] {
               outgoing = owner.parcels(asked);
               return Status{};
             }));
  auto received = co_await what.group->exchange(std::move(outgoing));
  keep_first(status, received.status());
  if (!received.has_value()) co_return std::nullopt;
  co_return std::move(received).value();
}

Op<TransferResult> write_rounds(const TwoPhase& what) {
  Rounds rounds = rounds_of(what);
  const Owner owner(what, rounds);
  const auto seat = seat_of(what);
  TransferResult result;
  Flight flights[2];
  Asked asked;
  for (std::size_t round = 0;; ++round) {
    auto parcels = co_await begin_round(what, owner, rounds, asked, result.status);
    if (!parcels.has_value()) break;
    if (!seat.has_value()) continue;
    Flight& flight = flights[round % 2];
    co_await Until{flight.landed()};
    add_to(result, flight.result());
    take_off(what, flight, rounds.window(*seat), std::move(*parcels), result.status);
  }
  for (Flight& flight : flights) {
    co_await Until{flight.landed()};
    add_to(result, flight.result());
  }
  co_return result;
}

// Of one round: what this task has asked for, and the window that it reads as an aggregator.
struct ReadRound {
  Asked asked;
  Flight flight;
};

// Second half of a round: storage has been read. False: the group can go on no further.
Op<bool> hand_out(const TwoPhase& what, const Owner& owner, ReadRound& round, TransferResult& result) {
  co_await Until{round.flight.landed()};
  TransferResult read = round.flight.result();
  const std::uint64_t end = read.end_of_file;
  add_to(result, std::move(read));
  std::vector<Message> answers;
  Status status = result.status;
  if (status.ok()) {
    keep_first(result.status, or_out_of_memory([&] {
                 answers = round.flight.answer(end, status);
                 return Status{};
               }));
  }
  keep_first(result.status, std::move(status));
  const auto received = co_await what.group->exchange(std::move(answers));
  keep_first(result.status, received.status());
  if (received.has_value()) owner.take(received.value(), round.asked);
  co_return received.has_value();
}

Op<TransferResult> read_rounds(const TwoPhase& what) {
  Rounds rounds = rounds_of(what);
  const Owner owner(what, rounds);
  const auto seat = seat_of(what);
  TransferResult result;
  ReadRound two[2];
  for (std::size_t round = 0;; ++round) {
    ReadRound& now = two[round % 2];
    auto parcels = co_await begin_round(what, owner, rounds, now.asked, result.status);
    if (parcels.has_value() && seat.has_value())
      take_off(what, now.flight, rounds.window(*seat), std::move(*parcels), result.status);
    bool goes_on = parcels.has_value();
    if (round > 0) goes_on = co_await hand_out(what, owner, two[(round - 1) % 2], result) && goes_on;
    if (!goes_on) break;
  }
  for (ReadRound& round : two) {
    co_await Until{round.flight.landed()};
    add_to(result, round.flight.result());
  }
  co_return result;
}

}  // namespace

Op<TransferResult> two_phase(TwoPhase what) {
  if (reads(what)) co_return co_await read_rounds(what);
  co_return co_await write_rounds(what);
}

}  // namespace thalweg
