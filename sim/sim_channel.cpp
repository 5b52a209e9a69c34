#include "sim/sim_channel.hpp"

#include <fmt/core.h>

#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "group/memory.hpp"
#include "group/reduce.hpp"
#include "sim/sim_network.hpp"

namespace thalweg {

const char* name_of(SimCall call) {
  switch (call) {
    case SimCall::barrier:
      return "barrier";
    case SimCall::broadcast:
      return "broadcast";
    case SimCall::gather:
      return "gather";
    case SimCall::scatter:
      return "scatter";
    case SimCall::allgather:
      return "allgather";
    case SimCall::allreduce:
      return "allreduce";
    case SimCall::fold:
      return "fold";
    case SimCall::exchange:
      return "exchange";
    case SimCall::share:
      return "share_in_process";
    case SimCall::duplicate:
      return "duplicate";
    case SimCall::channel:
      return "channel";
  }
  return "?";
}

void SimArrival::await_suspend(std::coroutine_handle<> h) {
  waiter = h;
  channel.arrive(*this);
}

std::shared_ptr<SimChannel> SimChannel::make(SimWorld& world) {
  auto channel = std::make_shared<SimChannel>(world);
  world.channels_.push_back(channel);
  return channel;
}

bool SimChannel::matches(const SimArrival& arrival) const {
  const SimArrival& first = *tasks_[static_cast<std::size_t>(first_)];
  return arrival.call == first.call && arrival.root == first.root && arrival.how == first.how;
}

void SimChannel::arrive(SimArrival& arrival) {
  SimArrival*& mine = tasks_[static_cast<std::size_t>(arrival.rank)];
  if (mine != nullptr) {
    world_.failure_ = Status::error(Code::internal, "task {} began {} inside of {}", arrival.rank,
                                    name_of(arrival.call), name_of(mine->call));
    return;
  }
  mine = &arrival;
  if (arrived_++ == 0) first_ = arrival.rank;
  if (!matches(arrival)) {
    const SimArrival& first = *tasks_[static_cast<std::size_t>(first_)];
    world_.failure_ = Status::error(
        Code::internal, "collectives do not match: task {} is in {} with root {}, task {} in {} with root {}", first_,
        name_of(first.call), first.root, arrival.rank, name_of(arrival.call), arrival.root);
    return;
  }
  if (!world_.ledger_.tasks.empty()) ++world_.ledger_.tasks[static_cast<std::size_t>(arrival.rank)].collectives;
  if (arrived_ == size()) finish(arrival);
}

void SimChannel::finish(const SimArrival& last) {
  auto outcome = std::make_shared<SimOutcome>();
  try {
    if (world_.network_ != nullptr) count(last);
    perform(last, *outcome);
  } catch (const std::bad_alloc&) {
    outcome->status = no_memory_for(name_of(last.call));
  }
  // No task resumes here: the world chooses among all ready tasks.
  arrived_ = 0;
  for (SimTask& task : world_.ledger_.tasks) --task.collectives;
  ++world_.ledger_.collectives;
  for (SimArrival*& task : tasks_) {
    task->outcome = outcome;
    world_.wake(task->rank, task->waiter);
    task = nullptr;
  }
}

// The types of `input`: ByteView for broadcast, gather and allgather; const Gathered for scatter;
// std::vector<std::int64_t> for allreduce; SimFold for fold; std::vector<Message> for exchange; std::function for
// share.
void SimChannel::perform(const SimArrival& last, SimOutcome& outcome) {
  switch (last.call) {
    case SimCall::barrier:
      return;
    case SimCall::broadcast: {
      const ByteView data = input<ByteView>(last.root);
      outcome.bytes.assign(data.begin(), data.end());
      return;
    }
    case SimCall::gather:
    case SimCall::allgather:
      return join_parts(outcome);
    case SimCall::scatter:
      return take_scattered(last.root, outcome);
    case SimCall::allreduce:
      return reduce(last.how, outcome);
    case SimCall::fold:
      return fold();
    case SimCall::exchange:
      return sort_messages(outcome);
    case SimCall::share:
      return make_objects(outcome);
    case SimCall::duplicate:
    case SimCall::channel:
      outcome.channel = make(world_);
      return;
  }
}

template <class SizeOf>
std::vector<std::uint64_t> SimChannel::sizes(SizeOf&& size_of) const {
  std::vector<std::uint64_t> all;
  all.reserve(static_cast<std::size_t>(size()));
  for (TaskRank r = 0; r < size(); ++r) all.push_back(size_of(r));
  return all;
}

// Counted before perform(), which moves the messages away.
void SimChannel::count(const SimArrival& last) {
  SimNetwork& network = *world_.network_;
  const auto bytes_of = [&](TaskRank r) { return input<ByteView>(r).size(); };
  switch (last.call) {
    case SimCall::barrier:
      return network.barrier();
    case SimCall::broadcast:
      return network.broadcast(last.root, bytes_of(last.root));
    case SimCall::gather:
      return network.gather(last.root, sizes(bytes_of));
    case SimCall::allgather:
      return network.allgather(sizes(bytes_of));
    case SimCall::scatter: {
      const auto& parts = input<const Gathered>(last.root);
      if (!check_parts(parts, size()).ok()) return network.broadcast(last.root, 0);
      return network.scatter(last.root,
                             sizes([&](TaskRank r) { return parts.part(static_cast<std::size_t>(r)).size(); }));
    }
    case SimCall::allreduce:
      return network.allreduce(input<std::vector<std::int64_t>>(0).size() * sizeof(std::int64_t));
    case SimCall::fold:
      return network.fold(input<SimFold>(0).how.bytes);
    case SimCall::exchange: {
      std::vector<SimMessage> messages;
      for (TaskRank r = 0; r < size(); ++r)
        for (const Message& message : input<std::vector<Message>>(r))
          if (message.peer >= 0 && message.peer < size()) messages.push_back({r, message.peer, message.data.size()});
      return network.exchange(messages);
    }
    case SimCall::share:
      return network.share();
    case SimCall::duplicate:
      return network.duplicate();
    case SimCall::channel:
      return;
  }
}

void SimChannel::join_parts(SimOutcome& outcome) {
  Gathered& all = outcome.parts;
  all.begin.reserve(static_cast<std::size_t>(size()) + 1);
  std::uint64_t total = 0;
  for (TaskRank r = 0; r < size(); ++r) {
    all.begin.push_back(total);
    total += input<ByteView>(r).size();
  }
  all.begin.push_back(total);
  all.data.reserve(total);
  for (TaskRank r = 0; r < size(); ++r) {
    const ByteView part = input<ByteView>(r);
    all.data.insert(all.data.end(), part.begin(), part.end());
  }
}

void SimChannel::take_scattered(TaskRank root, SimOutcome& outcome) {
  const auto& parts = input<const Gathered>(root);
  if (!check_parts(parts, size()).ok()) {
    outcome.status = bad_arguments_in("scatter");
    return;
  }
  outcome.parts = parts;  // the root may resume first and leave
}

void SimChannel::reduce(Reduction how, SimOutcome& outcome) {
  outcome.numbers = input<std::vector<std::int64_t>>(0);
  for (TaskRank r = 1; r < size(); ++r) {
    const auto& numbers = input<std::vector<std::int64_t>>(r);
    if (numbers.size() != outcome.numbers.size()) {
      outcome.status = bad_arguments_in("allreduce");
      return;
    }
    reduce_into(outcome.numbers, numbers, how);
  }
}

void SimChannel::fold() {
  Folding::Room so_far;
  const Folding how = input<SimFold>(0).how;
  std::memcpy(&so_far, input<SimFold>(0).mine, how.bytes);
  for (TaskRank r = 1; r < size(); ++r) {
    const SimFold& task = input<SimFold>(r);
    std::memcpy(task.before, &so_far, how.bytes);
    how.join(&so_far, task.mine);
  }
  for (TaskRank r = 0; r < size(); ++r) std::memcpy(input<SimFold>(r).mine, &so_far, how.bytes);
}

// Counting sort by receiver; iterating over sources in order keeps each receiver's messages sorted.
void SimChannel::sort_messages(SimOutcome& outcome) {
  auto& begin = outcome.messages_begin;
  begin.assign(static_cast<std::size_t>(size()) + 1, 0);
  for (TaskRank r = 0; r < size(); ++r) {
    const auto& outgoing = input<std::vector<Message>>(r);
    if (!check_peers(outgoing, size()).ok()) {
      outcome.status = bad_arguments_in("exchange");
      return;
    }
    for (const Message& message : outgoing) ++begin[static_cast<std::size_t>(message.peer) + 1];
  }
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  outcome.messages.resize(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (TaskRank r = 0; r < size(); ++r) {
    for (Message& message : input<std::vector<Message>>(r)) {
      Message& place = outcome.messages[next[static_cast<std::size_t>(message.peer)]++];
      place.peer = r;
      place.data = std::move(message.data);
    }
  }
}

void SimChannel::make_objects(SimOutcome& outcome) {
  for (TaskRank leader = 0; leader < size(); leader += options().tasks_per_process) {
    outcome.objects.push_back(input<std::function<std::shared_ptr<void>()>>(leader)());
  }
}

std::string SimChannel::describe() const {
  if (arrived_ == 0) return {};
  TaskRank missing = 0;
  while (missing < size() && tasks_[static_cast<std::size_t>(missing)] != nullptr) ++missing;
  const SimArrival& first = *tasks_[static_cast<std::size_t>(first_)];
  return fmt::format("{} wait in {} for task {}{}", arrived_, name_of(first.call), missing,
                     arrived_ + 1 < size() ? " and others" : "");
}

}  // namespace thalweg
