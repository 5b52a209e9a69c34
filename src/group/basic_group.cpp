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

// A message begins with 0, or with the reason why no data follow (status_told).
Bytes just(std::int64_t told) {
  Bytes bytes;
  put_number(bytes, told);
  return bytes;
}

// The number of parts, their begins, then the parts.
Bytes pack_all(const Gathered& all) try {
  const ByteView begins = std::as_bytes(std::span(all.begin));
  Bytes packed = just(0);
  packed.reserve(packed.size() + sizeof(std::int64_t) + begins.size() + all.data.size());
  put_number(packed, static_cast<std::int64_t>(all.parts()));
  put_bytes(packed, begins);
  put_bytes(packed, all.data);
  return packed;
} catch (const std::bad_alloc&) {
  return just(kToldNoMemory);
}

// `rest`: what follows the status in `packed`, whose memory becomes that of the parts.
Result<Gathered> unpack_all(Bytes packed, ByteView rest) {
  Gathered all;
  const auto n = static_cast<std::uint64_t>(take_number(rest));
  if (!try_resize(all.begin, n + 1)) return no_memory_for("allgather");
  const ByteView begins = take_bytes(rest, all.begin.size() * sizeof all.begin[0]);
  std::memcpy(all.begin.data(), begins.data(), begins.size());
  packed.erase(packed.begin(), packed.end() - std::ssize(rest));
  all.data = std::move(packed);
  return all;
}

Bytes reduce_all(const Gathered& all, Reduction how) try {
  std::vector<std::int64_t> result = numbers_of(all.part(0));
  for (std::size_t r = 1; r < all.parts(); ++r) {
    const std::vector<std::int64_t> other = numbers_of(all.part(r));
    if (other.size() != result.size()) return just(kToldBadArguments);
    reduce_into(result, other, how);
  }
  Bytes packed = just(0);
  put_bytes(packed, view_of(result));
  return packed;
} catch (const std::bad_alloc&) {
  return just(kToldNoMemory);
}

Bytes pack_messages(const std::vector<Message>& outgoing, const Group& group) try {
  if (!check_peers(outgoing, group.size()).ok()) return just(kToldBadArguments);
  Bytes packed = just(0);
  for (const Message& message : outgoing) pack_message(packed, group.rank(), message.peer, message.data);
  return packed;
} catch (const std::bad_alloc&) {
  return just(kToldNoMemory);
}

// Makes what task 0 scatters: the messages to each task, or the failure of some task. Empty when out of memory.
Gathered sort_messages(const Gathered& all) try {
  std::vector<Bytes> sorted(all.parts());
  std::int64_t told = 0;
  for (std::size_t r = 0; r < all.parts(); ++r) {
    ByteView part = all.part(r);
    told = std::min(told, take_number(part));
    for_each_message(part, [&](TaskRank source, TaskRank receiver, ByteView data) {
      pack_message(sorted[static_cast<std::size_t>(receiver)], source, receiver, data);
    });
  }
  Gathered parts;
  for (const Bytes& part : sorted) {
    parts.begin.push_back(parts.data.size());
    put_number(parts.data, told);
    if (told == 0) put_bytes(parts.data, part);
  }
  parts.begin.push_back(parts.data.size());
  return parts;
} catch (const std::bad_alloc&) {
  return {};
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

}  // namespace

Op<Result<Gathered>> BasicGroup::allgather(ByteView data) {
  TW_CO_ASSIGN_OR_RETURN(auto gathered, co_await gather(data, 0));
  Bytes packed;
  if (rank() == 0) packed = pack_all(gathered);
  TW_CO_ASSIGN_OR_RETURN(auto all, co_await broadcast(packed, 0));
  ByteView rest = all;
  if (Status bad = status_told(take_number(rest), "allgather"); !bad.ok()) co_return bad;
  auto parts = unpack_all(std::move(all), rest);
  TW_CO_RETURN_IF_ERROR(co_await agree(*this, parts.status()));
  co_return parts;
}

Op<Result<std::vector<std::int64_t>>> BasicGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  TW_CO_ASSIGN_OR_RETURN(auto gathered, co_await gather(view_of(mine), 0));
  Bytes packed;
  if (rank() == 0) packed = reduce_all(gathered, how);
  TW_CO_ASSIGN_OR_RETURN(auto result, co_await broadcast(packed, 0));
  ByteView rest = result;
  if (Status bad = status_told(take_number(rest), "allreduce"); !bad.ok()) co_return bad;
  if (!rest.empty()) std::memcpy(mine.data(), rest.data(), rest.size());  // all tasks have vectors of one length
  co_return std::move(mine);
}

Op<Status> BasicGroup::fold(void* mine, void* before, Folding how) {
  const ByteView record(static_cast<const std::byte*>(mine), how.bytes);
  const auto fold_records = [how](const Gathered& all) { return fold_all(all, how); };
  TW_CO_ASSIGN_OR_RETURN(const auto told, co_await sorted_by_task_0(*this, record, fold_records, "fold"));
  ByteView rest = told;
  const ByteView lower = take_bytes(rest, how.bytes);
  if (rank() > 0) std::memcpy(before, lower.data(), how.bytes);
  std::memcpy(mine, rest.data(), how.bytes);
  co_return Status{};
}

Op<Result<std::vector<Message>>> BasicGroup::exchange(std::vector<Message> outgoing) {
  const Bytes packed = pack_messages(outgoing, *this);
  TW_CO_ASSIGN_OR_RETURN(const auto mine, co_await sorted_by_task_0(*this, packed, sort_messages, "exchange"));
  ByteView rest = mine;
  if (Status bad = status_told(take_number(rest), "exchange"); !bad.ok()) co_return bad;
  std::vector<Message> messages;
  Status unpacked;
  if (!try_to([&] { take_messages(rest, rank(), messages); })) unpacked = no_memory_for("exchange");
  TW_CO_RETURN_IF_ERROR(co_await agree(*this, std::move(unpacked)));
  co_return messages;
}

Op<Result<std::shared_ptr<void>>> BasicGroup::share_in_process(std::function<std::shared_ptr<void>()> make) {
  const Place here = place();
  const bool leads = here.process_leader == rank();
  std::shared_ptr<void> object;
  if (leads) object = make();
  // Every task has a process of its own. `place` is equal on all tasks, so all of them return here.
  if (here.processes == size()) co_return object;
  std::vector<std::int64_t> mine(1, reinterpret_cast<std::intptr_t>(&object));
  TW_CO_ASSIGN_OR_RETURN(const auto all, co_await allgather(view_of(mine)));
  const auto address = numbers_of(all.part(static_cast<std::size_t>(here.process_leader)));
  if (!leads) object = *reinterpret_cast<const std::shared_ptr<void>*>(address[0]);
  TW_CO_RETURN_IF_ERROR(co_await barrier());  // the leader's object must live until all have copied it
  co_return object;
}

}  // namespace thalweg
