#include "engine/two_phase/aggregator_window.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace thalweg {

namespace {

constexpr std::size_t kMostRuns = 4096;  // moved by one transfer: a list of all could be longer than the window

}  // namespace

bool AggregatorWindow::is_idle(void* self) {
  const auto& transfer = static_cast<AggregatorWindow*>(self)->transfer_;
  return !transfer.has_value() || transfer->done();
}

Status AggregatorWindow::load(FileDomain window, std::vector<Message> requests) {
  drop();
  messages_ = std::move(requests);
  if (messages_.empty()) return {};
  window_ = window;
  base_ = window.begin / kCachePage * kCachePage;
  TW_RETURN_IF_ERROR(make_room());
  TW_RETURN_IF_ERROR(cover());
  if (what_.reads()) return {};
  for (const Message& message : messages_)
    for_each_of<ExchangeRequest>(message.data, [&](const ExchangeRequest& request) {
      if (unreachable_.ok()) unreachable_ = fetch(request, staging_.data(), base_);
    });
  if (unreachable_.ok()) messages_ = {};
  return {};
}

void AggregatorWindow::drop() {
  window_ = {};
  messages_ = {};
  next_ = next_in_it_ = 0;
  n_slices_ = 0;
  unreachable_ = {};
}

Status AggregatorWindow::make_room() {
  runs_.reserve(kMostRuns);
  coverage_.begin(window_);
  const std::uint64_t bytes = std::max(window_.end - base_, what_.budget().window);
  if (staging_.size() >= bytes) return {};
  TW_ASSIGN_OR_RETURN(staging_, take_staging(bytes));
  return {};
}

// Marks the bytes of the window that the requests have, and counts the exchanges for their replies. Bytes outside the
// window would lie outside the staging memory.
Status AggregatorWindow::cover() {
  bool within = true;
  std::uint64_t slice = 0;
  const auto cover = [&](const ExchangeRequest& request) {
    for_each_extent(request, [&](const Extent& extent) {
      within = within && extent.offset >= window_.begin && extent.end() <= window_.end;
      if (within) coverage_.add(extent.offset, extent.end());
    });
    if (!what_.reads() || request.header.data_path == DataPath::remote_memory) return;
    if (n_slices_ == 0 || slice + request.header.bytes > what_.budget().window) {
      ++n_slices_;
      slice = 0;
    }
    slice += request.header.bytes;
  };
  for (const Message& message : messages_) for_each_of<ExchangeRequest>(message.data, cover);
  if (within) return {};
  return Status::error(Code::internal, "tasks of one access differ in the windows of its aggregators");
}

void AggregatorWindow::start() {
  if (window_.empty()) return;
  transfer_.emplace(move());
  transfer_->start();
}

TransferResult AggregatorWindow::result() {
  TransferResult result;
  if (transfer_.has_value()) result = std::move(transfer_->value());
  transfer_.reset();
  return result;
}

// A read goes through holes that cost less than another call.
std::uint64_t AggregatorWindow::cheap_gap() const {
  if (!what_.reads()) return 0;
  const Strategy& strategy = what_.file().strategy;
  const StorageCosts& costs = what_.window_task.direct ? strategy.direct_costs : strategy.costs;
  return static_cast<std::uint64_t>(costs.call_ns / std::max(costs.read_byte_ns, 0.001));
}

// The covered parts from `from` on, as many as one list may have.
Status AggregatorWindow::next_runs(std::uint64_t& from) {
  const std::uint64_t gap = cheap_gap();
  runs_.clear();
  while (runs_.size() < kMostRuns) {
    const FileDomain stretch = coverage_.next(from, gap);
    if (stretch.empty()) break;
    what_.order.append_in_file({staging_.data() + (stretch.begin - base_), stretch.end - stretch.begin, stretch.begin},
                               runs_);
    from = stretch.end;
  }
  TW_ASSIGN_OR_RETURN(list_, ExtentList::of(runs_));
  return {};
}

Op<TransferResult> AggregatorWindow::move() {
  TransferResult all;
  TransferTask task = what_.window_task;
  task.lists = {&lists_, 1};
  task.domain = {0, kEverything};
  std::uint64_t from = window_.begin;
  while (all.status.ok()) {
    all.status = or_out_of_memory([&] { return next_runs(from); });
    if (!all.status.ok() || runs_.empty()) break;
    add_to(all, co_await transfer(task));
  }
  co_return all;
}

std::vector<Message> AggregatorWindow::replies(std::uint64_t end) {
  end = what_.order.end_in(seat_, end);
  std::vector<Message> some;
  std::uint64_t slice = 0;
  for (; next_ < messages_.size(); ++next_, next_in_it_ = 0)
    if (!reply_to_message(end, slice, some)) break;
  return some;
}

// False: the slice is full, and the rest of the message is replied to in the next one.
bool AggregatorWindow::reply_to_message(std::uint64_t end, std::uint64_t& slice, std::vector<Message>& some) {
  const Message& asked = messages_[next_];
  Message back{asked.peer, {}};
  back.data.reserve(relayed_bytes());
  bool all = true;
  while (next_in_it_ < asked.data.size()) {
    const ExchangeRequest request = ExchangeRequest::of(ByteView(asked.data).subspan(next_in_it_));
    const bool inline_data = request.header.data_path == DataPath::inline_data;
    all = !inline_data || slice == 0 || slice + request.header.bytes <= what_.budget().window;
    if (!all) break;
    next_in_it_ += request.whole.size();
    // Bytes that cannot be copied to the task's memory are sent.
    if (!inline_data && deliver(request, staging_.data(), base_, end).ok()) continue;
    if (inline_data) slice += request.header.bytes;
    if (!request.header.relayed) some.push_back({request.header.task, {}});
    append_reply(request.header.relayed ? back.data : some.back().data, request, end);
  }
  if (!back.data.empty()) some.push_back(std::move(back));
  return all;
}

// Bytes of the replies to the rest of the next message that go back by the way it came.
std::uint64_t AggregatorWindow::relayed_bytes() const {
  std::uint64_t bytes = 0;
  for_each_of<ExchangeRequest>(ByteView(messages_[next_].data).subspan(next_in_it_),
                               [&](const ExchangeRequest& request) {
                                 if (request.header.relayed) bytes += sizeof(ReplyHeader) + request.header.bytes;
                               });
  return bytes;
}

void AggregatorWindow::append_reply(Bytes& to, const ExchangeRequest& request, std::uint64_t end) const {
  const ReplyHeader header{request.header.task, seat_, end, request.header.bytes};
  to.reserve(to.size() + sizeof header + header.bytes);
  put_value(to, header);
  for_each_extent(request, [&](const Extent& extent) {
    put_bytes(to, {staging_.data() + (extent.offset - base_), extent.bytes});
  });
}

}  // namespace thalweg
