#include "engine/flight.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/owner.hpp"

namespace thalweg {

namespace {

constexpr std::size_t kMostRuns = 4096;  // moved by one transfer: a list of all would be longer than the window

}  // namespace

bool Flight::has_landed(void* self) {
  const auto& transfer = static_cast<Flight*>(self)->transfer_;
  return !transfer.has_value() || transfer->done();
}

Status Flight::load(FileDomain window, std::vector<Message> parcels) {
  drop();
  messages_ = std::move(parcels);
  if (messages_.empty()) return {};
  window_ = window;
  base_ = window.begin / kCachePage * kCachePage;
  TW_RETURN_IF_ERROR(make_room());
  TW_RETURN_IF_ERROR(cover());
  if (what_.reads()) return {};
  for (const Message& message : messages_) {
    unreached_ = fetch(Parcel::of(message.data), staging_.data(), base_);
    if (!unreached_.ok()) return {};
  }
  messages_ = {};
  return {};
}

void Flight::drop() {
  window_ = {};
  messages_ = {};
  next_ = 0;
  n_slices_ = 0;
  unreached_ = {};
}

Status Flight::make_room() {
  runs_.reserve(kMostRuns);
  coverage_.begin(window_);
  const std::uint64_t bytes = std::max(window_.end - base_, what_.budget().window);
  if (staging_.size() >= bytes) return {};
  TW_ASSIGN_OR_RETURN(staging_, take_staging(bytes));
  return {};
}

// Which bytes of the window the parcels have, and how many exchanges their answers take. What lies elsewhere would be
// put beside the staging memory.
Status Flight::cover() {
  bool within = true;
  std::uint64_t slice = 0;
  for (const Message& message : messages_) {
    const Parcel parcel = Parcel::of(message.data);
    for_each_extent(parcel, [&](const Extent& extent) {
      within = within && extent.offset >= window_.begin && extent.end() <= window_.end;
      if (within) coverage_.add(extent.offset, extent.end());
    });
    if (!what_.reads() || parcel.head.carriage == Carriage::fetched) continue;
    if (n_slices_ == 0 || slice + parcel.head.bytes > what_.budget().window) {
      ++n_slices_;
      slice = 0;
    }
    slice += parcel.head.bytes;
  }
  if (within) return {};
  return Status::error(Code::internal, "tasks of one access differ in the windows of its aggregators");
}

void Flight::start() {
  if (window_.empty()) return;
  transfer_.emplace(move());
  transfer_->start();
}

TransferResult Flight::result() {
  TransferResult result;
  if (transfer_.has_value()) result = std::move(transfer_->value());
  transfer_.reset();
  return result;
}

// A read goes through holes that cost less than another call.
std::uint64_t Flight::cheap_gap() const {
  if (!what_.reads()) return 0;
  const Strategy& strategy = what_.file->strategy;
  const StorageCosts& costs = what_.past_cache ? strategy.direct_costs : strategy.costs;
  return static_cast<std::uint64_t>(costs.call_ns / std::max(costs.read_byte_ns, 0.001));
}

// What is covered from `from` on, as much of it as one list may be long.
Status Flight::next_runs(std::uint64_t& from) {
  const std::uint64_t gap = cheap_gap();
  runs_.clear();
  while (runs_.size() < kMostRuns) {
    const FileDomain stretch = coverage_.next(from, gap);
    if (stretch.empty()) break;
    runs_.push_back({staging_.data() + (stretch.begin - base_), stretch.end - stretch.begin, stretch.begin});
    from = stretch.end;
  }
  TW_ASSIGN_OR_RETURN(list_, ExtentList::of(runs_));
  return {};
}

TransferTask Flight::task() const {
  TransferTask task;
  task.file = what_.file;
  task.queue = what_.queue;
  task.direction = what_.direction;
  task.lists = {&lists_, 1};
  task.domain = {0, kEverything};
  task.direct = what_.past_cache;
  task.sieve = what_.sieve && !what_.reads();
  task.depth = task.sieve ? 1 : what_.depth;  // each step in flight may have a buffer of its own
  return task;
}

Op<TransferResult> Flight::move() {
  TransferResult all;
  std::uint64_t from = window_.begin;
  while (all.status.ok()) {
    all.status = or_out_of_memory([&] { return next_runs(from); });
    if (!all.status.ok() || runs_.empty()) break;
    add_to(all, co_await transfer(task()));
  }
  co_return all;
}

std::vector<Message> Flight::answers(std::uint64_t end) {
  std::vector<Message> some;
  std::uint64_t slice = 0;
  for (; next_ < messages_.size(); ++next_) {
    const Parcel parcel = Parcel::of(messages_[next_].data);
    const bool enclosed = parcel.head.carriage == Carriage::enclosed;
    // What cannot be put there is sent like the rest.
    if (!enclosed && deliver(parcel, staging_.data(), base_, end).ok()) continue;
    if (enclosed && slice > 0 && slice + parcel.head.bytes > what_.budget().window) break;
    some.push_back({messages_[next_].peer, answer_to(parcel, end)});
    if (enclosed) slice += parcel.head.bytes;
  }
  return some;
}

Bytes Flight::answer_to(const Parcel& parcel, std::uint64_t end) const {
  const AnswerHead head{seat_, end};
  Bytes answer;
  answer.reserve(sizeof head + parcel.head.bytes);
  const auto append = [&answer](const void* data, std::uint64_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    answer.insert(answer.end(), from, from + bytes);
  };
  append(&head, sizeof head);
  for_each_extent(parcel,
                  [&](const Extent& extent) { append(staging_.data() + (extent.offset - base_), extent.bytes); });
  return answer;
}

}  // namespace thalweg
