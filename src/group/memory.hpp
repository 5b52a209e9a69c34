// Memory for the results of a collective: the one failure of a group without a faulty task.
//
// Other tasks determine the sizes, so a failed allocation becomes a Status, which the group then reports to all
// tasks. Small allocations that fail end the program (docs/adr/0016-memory.md).
#pragma once

#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "group/group.hpp"

namespace thalweg {

// All return false when out of memory.
template <class Step>
bool try_to(Step&& step) {
  try {
    step();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}
template <class Vector>
bool try_resize(Vector& vector, std::uint64_t n) {
  return n <= vector.max_size() && try_to([&] { vector.resize(static_cast<std::size_t>(n)); });
}
template <class Vector>
bool try_reserve(Vector& vector, std::uint64_t n) {
  return n <= vector.max_size() && try_to([&] { vector.reserve(static_cast<std::size_t>(n)); });
}
// Makes room for `n` parts, of bytes_of(0), bytes_of(1) ... bytes.
template <class BytesOf>
bool lay_out(Gathered& all, std::size_t n, BytesOf bytes_of) {
  if (!try_reserve(all.begin, n + 1)) return false;
  all.begin.assign(1, 0);
  for (std::size_t i = 0; i < n; ++i) all.begin.push_back(all.begin.back() + static_cast<std::uint64_t>(bytes_of(i)));
  return try_resize(all.data, all.begin.back());
}
inline bool try_assign(Bytes& to, ByteView from) {
  return try_to([&] { to.assign(from.begin(), from.end()); });
}

// Every task builds this text by itself, so only a flag has to be sent.
inline Status no_memory_for(const char* collective) {
  return Status::error(Code::no_memory, std::string("a task has no memory for the data of a ") + collective);
}

// All tasks see an invalid root alike: all return at once.
inline Status check_root(TaskRank root, TaskRank size) {
  if (root >= 0 && root < size) return {};
  return Status::error(Code::invalid_argument, "root {} of a collective is not in 0..{}", root, size - 1);
}

// The root's parts must be one for each task, in order, within the data. Only the root can check them.
inline Status check_parts(const Gathered& parts, TaskRank size) {
  bool good = parts.parts() == static_cast<std::size_t>(size) && parts.begin.back() <= parts.data.size();
  for (std::size_t i = 0; good && i + 1 < parts.begin.size(); ++i) good = parts.begin[i] <= parts.begin[i + 1];
  if (good) return {};
  return Status::error(Code::invalid_argument, "scatter to {} tasks was given {} parts, or parts outside of their data",
                       size, parts.parts());
}

// Messages must go to tasks of the group. Only the sender can check them.
inline Status check_peers(const std::vector<Message>& outgoing, TaskRank size) {
  for (const Message& message : outgoing) {
    if (message.peer >= 0 && message.peer < size) continue;
    return Status::error(Code::invalid_argument, "message to task {}, which is not in 0..{}", message.peer, size - 1);
  }
  return {};
}

// Messages that one task relays to others: source, receiver, length and data of each. May throw std::bad_alloc.
inline void pack_message(Bytes& to, TaskRank source, TaskRank receiver, ByteView data) {
  put_number(to, source);
  put_number(to, receiver);
  put_number(to, static_cast<std::int64_t>(data.size()));
  put_bytes(to, data);
}
// Calls visit(source, receiver, data) for each of them.
template <class Visit>
void for_each_message(ByteView packed, Visit&& visit) {
  while (!packed.empty()) {
    const TaskRank source = take_number(packed);
    const TaskRank receiver = take_number(packed);
    const auto length = static_cast<std::size_t>(take_number(packed));
    visit(source, receiver, take_bytes(packed, length));
  }
}

inline constexpr const char* kWrongArguments = "a task gave wrong arguments to a ";

// The failure of all tasks after a root had invalid parts, or a sender invalid messages.
inline Status bad_arguments_in(const char* collective) {
  return Status::error(Code::invalid_argument, std::string(kWrongArguments) + collective);
}

// Sent in place of a length, ahead of the data of a gather, scatter or broadcast: no data follow.
inline constexpr std::int64_t kToldNoMemory = -1;
inline constexpr std::int64_t kToldBadArguments = -2;

inline Status status_told(std::int64_t told, const char* collective) {
  if (told >= 0) return {};
  return told == kToldNoMemory ? no_memory_for(collective) : bad_arguments_in(collective);
}

// Adds the messages to `receiver` to `received`, in order. May throw std::bad_alloc.
inline void take_messages(ByteView packed, TaskRank receiver, std::vector<Message>& received) {
  for_each_message(packed, [&](TaskRank source, TaskRank to, ByteView data) {
    if (to == receiver) received.push_back({source, Bytes(data.begin(), data.end())});
  });
}

// One message for each receiver. May throw std::bad_alloc.
inline std::vector<Message> messages_of(std::map<TaskRank, Bytes>&& data) {
  std::vector<Message> messages;
  messages.reserve(data.size());
  for (auto& [receiver, bytes] : data) messages.push_back({receiver, std::move(bytes)});
  return messages;
}

// After a scatter by the library itself: a root without memory for the parts passes none, which the collective
// reports as wrong arguments.
inline Status none_for_lack_of_memory(const Status& scattered, const char* collective) {
  const bool none =
      scattered.code() == Code::invalid_argument && scattered.message().find(kWrongArguments) != std::string::npos;
  return none ? no_memory_for(collective) : scattered;
}

// Collective. Task 0 gathers the data of all tasks and scatters the parts that `sort` makes of them; `sort` returns
// none when out of memory.
template <class Sort>
Op<Result<Bytes>> sorted_by_task_0(Group& group, ByteView mine, Sort sort, const char* collective) {
  TW_CO_ASSIGN_OR_RETURN(const auto gathered, co_await group.gather(mine, 0));
  Gathered parts;
  if (group.rank() == 0) parts = sort(gathered);
  auto part = co_await group.scatter(parts, 0);
  if (!part.has_value()) co_return none_for_lack_of_memory(part.error(), collective);
  co_return part;
}

}  // namespace thalweg
