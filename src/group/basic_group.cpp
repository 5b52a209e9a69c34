#include "group/basic_group.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/wire.hpp"
#include "group/agree.hpp"
#include "group/memory.hpp"
#include "group/reduce.hpp"

namespace thalweg {

namespace {

// First number of every message of task 0: whether valid data follow.
enum Verdict : std::int64_t { kGood = 0, kNoMemory = 1, kBadArguments = 2 };

Status to_status(std::int64_t verdict, const char* collective) {
  if (verdict == kGood) return {};
  return verdict == kNoMemory ? no_memory_for(collective) : bad_arguments_in(collective);
}

Bytes just(Verdict verdict) {
  Bytes bytes;
  put_number(bytes, verdict);
  return bytes;
}

// The number of parts, their begins, then the parts.
void put_parts(Bytes& to, const Gathered& parts) {
  to.reserve(to.size() + (parts.begin.size() + 1) * sizeof(std::int64_t) + parts.data.size());
  put_number(to, static_cast<std::int64_t>(parts.parts()));
  for (const std::uint64_t begin : parts.begin) put_number(to, static_cast<std::int64_t>(begin));
  put_bytes(to, parts.data);
}
// Takes over `packed` and skips its first `skip` bytes: the parts are moved within the buffer, not copied.
Gathered parts_in(Bytes packed, std::size_t skip) {
  ByteView rest = ByteView(packed).subspan(skip);
  Gathered parts;
  const auto n = static_cast<std::size_t>(take_number(rest));
  parts.begin.reserve(n + 1);
  for (std::size_t i = 0; i <= n; ++i) parts.begin.push_back(static_cast<std::uint64_t>(take_number(rest)));
  packed.erase(packed.begin(), packed.end() - static_cast<std::ptrdiff_t>(rest.size()));
  parts.data = std::move(packed);
  return parts;
}

Bytes pack_all(const Gathered& all) {
  try {
    Bytes packed = just(kGood);
    put_parts(packed, all);
    return packed;
  } catch (const std::bad_alloc&) {
    return just(kNoMemory);
  }
}

Bytes reduce_all(const Gathered& all, Reduction how) try {
  std::vector<std::int64_t> result = numbers_of(all.part(0));
  for (std::size_t r = 1; r < all.parts(); ++r) {
    const std::vector<std::int64_t> other = numbers_of(all.part(r));
    if (other.size() != result.size()) return just(kBadArguments);
    reduce_into(result, other, how);
  }
  Bytes packed = just(kGood);
  put_bytes(packed, view_of(result));
  return packed;
} catch (const std::bad_alloc&) {
  return just(kNoMemory);
}

// A verdict; number of messages, then for each: peer, length; then the data in the same order.
Bytes pack_messages(const std::vector<Message>& outgoing, TaskRank size) try {
  if (!check_peers(outgoing, size).ok()) return just(kBadArguments);
  Bytes packed = just(kGood);
  put_number(packed, static_cast<std::int64_t>(outgoing.size()));
  for (const Message& message : outgoing) {
    put_number(packed, message.peer);
    put_number(packed, static_cast<std::int64_t>(message.data.size()));
  }
  for (const Message& message : outgoing) put_bytes(packed, message.data);
  return packed;
} catch (const std::bad_alloc&) {
  return just(kNoMemory);
}

// A message that task 0 relays.
struct Carried {
  TaskRank source;
  TaskRank receiver;
  ByteView data;
};

// Lists the messages of all tasks, by source; or returns the failure of some task.
Verdict list_messages(const Gathered& all, std::vector<Carried>& carried) {
  for (std::size_t r = 0; r < all.parts(); ++r) {
    ByteView part = all.part(r);
    const auto verdict = static_cast<Verdict>(take_number(part));
    if (verdict != kGood) return verdict;
    const std::int64_t n = take_number(part);
    ByteView heads = take_bytes(part, static_cast<std::size_t>(n) * 2 * sizeof(std::int64_t));
    for (std::int64_t i = 0; i < n; ++i) {
      const TaskRank receiver = take_number(heads);
      const auto length = static_cast<std::size_t>(take_number(heads));
      carried.push_back({static_cast<TaskRank>(r), receiver, take_bytes(part, length)});
    }
  }
  return kGood;
}

// What task 0 scatters: a verdict, then source, length and data of each message to that task. Empty when out of
// memory.
Gathered sort_messages(const Gathered& all, TaskRank size) try {
  std::vector<Carried> carried;
  const Verdict verdict = list_messages(all, carried);
  if (verdict != kGood) carried.clear();
  std::stable_sort(carried.begin(), carried.end(),
                   [](const Carried& a, const Carried& b) { return a.receiver < b.receiver; });
  Gathered sorted;
  auto next = carried.begin();
  for (TaskRank r = 0; r < size; ++r) {
    sorted.begin.push_back(sorted.data.size());
    put_number(sorted.data, verdict);
    for (; next != carried.end() && next->receiver == r; ++next) {
      put_number(sorted.data, next->source);
      put_number(sorted.data, static_cast<std::int64_t>(next->data.size()));
      put_bytes(sorted.data, next->data);
    }
  }
  sorted.begin.push_back(sorted.data.size());
  return sorted;
} catch (const std::bad_alloc&) {
  return {};
}

Result<std::vector<Message>> unpack_messages(ByteView packed) try {
  std::vector<Message> messages;
  while (!packed.empty()) {
    const TaskRank source = take_number(packed);
    const auto length = static_cast<std::size_t>(take_number(packed));
    const ByteView data = take_bytes(packed, length);
    messages.push_back({source, Bytes(data.begin(), data.end())});
  }
  return messages;
} catch (const std::bad_alloc&) {
  return no_memory_for("exchange");
}

Result<Gathered> unpack_all(Bytes packed) try {
  return parts_in(std::move(packed), sizeof(std::int64_t));
} catch (const std::bad_alloc&) {
  return no_memory_for("allgather");
}

// Part r: the fold of the tasks below r, then the fold of all. Empty when out of memory.
Gathered fold_all(const Gathered& all, Folding how) try {
  Bytes so_far(all.part(0).begin(), all.part(0).end());
  Gathered parts;
  for (std::size_t r = 0; r < all.parts(); ++r) {
    parts.begin.push_back(parts.data.size());
    put_bytes(parts.data, so_far);
    parts.data.resize(parts.data.size() + how.bytes);
    if (r > 0) how.join(so_far.data(), all.part(r).data());
  }
  parts.begin.push_back(parts.data.size());
  for (std::size_t r = 1; r <= all.parts(); ++r)
    std::copy(so_far.begin(), so_far.end(),
              parts.data.begin() + static_cast<std::ptrdiff_t>(parts.begin[r] - how.bytes));
  return parts;
} catch (const std::bad_alloc&) {
  return {};
}

// Part r: the address that the leader of task r's process sent. `entries`: for each task its leader, and an address.
Gathered addresses_of(const Gathered& entries) try {
  Gathered addresses;
  for (std::size_t r = 0; r < entries.parts(); ++r) {
    ByteView entry = entries.part(r);
    ByteView of_leader = entries.part(static_cast<std::size_t>(take_number(entry)));
    (void)take_number(of_leader);
    addresses.begin.push_back(addresses.data.size());
    put_bytes(addresses.data, of_leader);
  }
  addresses.begin.push_back(addresses.data.size());
  return addresses;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace

Op<Result<Gathered>> BasicGroup::allgather(ByteView data) {
  auto gathered = co_await gather(data, 0);
  if (!gathered.has_value()) co_return gathered.error();
  Bytes packed;
  if (rank() == 0) packed = pack_all(gathered.value());
  auto all = co_await broadcast(packed, 0);
  if (!all.has_value()) co_return all.error();
  ByteView rest = all.value();
  const Status verdict = to_status(take_number(rest), "allgather");
  if (!verdict.ok()) co_return verdict;
  auto parts = unpack_all(std::move(all).value());
  const Status unpacked = co_await agree(*this, parts.status());
  if (!unpacked.ok()) co_return unpacked;
  co_return parts;
}

Op<Result<std::vector<std::int64_t>>> BasicGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  auto gathered = co_await gather(view_of(mine), 0);
  if (!gathered.has_value()) co_return gathered.error();
  Bytes packed;
  if (rank() == 0) packed = reduce_all(gathered.value(), how);
  auto result = co_await broadcast(packed, 0);
  if (!result.has_value()) co_return result.error();
  ByteView rest = result.value();
  const Status verdict = to_status(take_number(rest), "allreduce");
  if (!verdict.ok()) co_return verdict;
  if (!rest.empty()) std::memcpy(mine.data(), rest.data(), rest.size());  // all tasks have vectors of one length
  co_return std::move(mine);
}

Op<Status> BasicGroup::fold(void* mine, void* before, Folding how) {
  auto gathered = co_await gather(ByteView(static_cast<const std::byte*>(mine), how.bytes), 0);
  if (!gathered.has_value()) co_return gathered.error();
  Gathered parts;
  if (rank() == 0) parts = fold_all(gathered.value(), how);
  auto told = co_await scatter(parts, 0);
  if (!told.has_value()) co_return none_for_lack_of_memory(told.error(), "fold");
  ByteView rest = told.value();
  const ByteView lower = take_bytes(rest, how.bytes);
  if (rank() > 0) std::memcpy(before, lower.data(), how.bytes);
  std::memcpy(mine, rest.data(), how.bytes);
  co_return Status{};
}

Op<Result<std::vector<Message>>> BasicGroup::exchange(std::vector<Message> outgoing) {
  const Bytes packed = pack_messages(outgoing, size());
  auto gathered = co_await gather(packed, 0);
  if (!gathered.has_value()) co_return gathered.error();
  Gathered sorted;
  if (rank() == 0) sorted = sort_messages(gathered.value(), size());
  auto mine = co_await scatter(sorted, 0);
  if (!mine.has_value()) co_return none_for_lack_of_memory(mine.error(), "exchange");
  ByteView rest = mine.value();
  const Status verdict = to_status(take_number(rest), "exchange");
  if (!verdict.ok()) co_return verdict;
  auto messages = unpack_messages(rest);
  const Status unpacked = co_await agree(*this, messages.status());
  if (!unpacked.ok()) co_return unpacked;
  co_return messages;
}

Op<Result<std::shared_ptr<void>>> BasicGroup::share_in_process(std::function<std::shared_ptr<void>()> make) {
  const Place here = place();
  const bool leads = here.process_leader == rank();
  std::shared_ptr<void> object;
  if (leads) object = make();
  // Every task has a process of its own. `place` is equal on all tasks, so all of them return here.
  if (here.processes == size()) co_return object;
  std::vector<std::int64_t> entry{here.process_leader, reinterpret_cast<std::intptr_t>(&object)};
  auto entries = co_await gather(view_of(entry), 0);
  if (!entries.has_value()) co_return entries.error();
  Gathered addresses;
  if (rank() == 0) addresses = addresses_of(entries.value());
  auto address = co_await scatter(addresses, 0);
  if (!address.has_value()) co_return none_for_lack_of_memory(address.error(), "share_in_process");
  if (!leads) object = *reinterpret_cast<const std::shared_ptr<void>*>(numbers_of(address.value())[0]);
  const Status all_copied = co_await barrier();  // the leader's object must live until all have copied it
  if (!all_copied.ok()) co_return all_copied;
  co_return object;
}

}  // namespace thalweg
