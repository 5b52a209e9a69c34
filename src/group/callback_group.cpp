// Callbacks: the caller supplies one call that sends and receives. The collectives are trees of such messages, so that
// no task has more than about twice the logarithm of the number of tasks of them.
//
// The call blocks, so an Op of this group is complete when its start returns. Data of up to kShort bytes travel in one
// message; longer data follow when their receiver has answered that it has memory.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/vote.hpp"
#include "group/basic_group.hpp"
#include "group/find_place.hpp"
#include "group/groups.hpp"
#include "group/memory.hpp"
#include "group/packet.hpp"
#include "group/reduce.hpp"

namespace thalweg {

namespace {

Status check(const char* callback, int code) {
  if (code == 0) return {};
  return Status::error(Code::io_error, "the caller's {} returned {}", callback, code);
}

// `user` of the callbacks is released when the last group that uses it is freed.
std::shared_ptr<const tw_transport> take_over(const tw_transport& given) {
  return {new tw_transport(given), [](const tw_transport* calls) {
            if (calls->release != nullptr) calls->release(calls->user);
            delete calls;
          }};
}

constexpr TaskRank kNobody = -1;
constexpr std::size_t kShort = 496;                   // bytes of data in a packet
constexpr std::size_t kPiece = std::size_t{1} << 18;  // bytes of one message of a long broadcast

using ShortPacket = Packet<kShort>;

// Joins of records of kRecordNumbers numbers, by Reduction.
constexpr std::size_t kRecordNumbers = Folding::kMost / sizeof(std::int64_t);
template <Reduction How>
void join_numbers(void* left, const void* right) {
  reduce_into(std::span(static_cast<std::int64_t*>(left), kRecordNumbers),
              std::span(static_cast<const std::int64_t*>(right), kRecordNumbers), How);
}
constexpr void (*kJoins[])(void*, const void*) = {join_numbers<Reduction::min>, join_numbers<Reduction::max>,
                                                  join_numbers<Reduction::sum>, join_numbers<Reduction::bit_or>};

class CallbackGroup final : public BasicGroup {
 public:
  CallbackGroup(std::shared_ptr<const tw_transport> calls, const Place& place)
      : calls_(std::move(calls)), place_(place) {}

  TaskRank rank() const noexcept override { return calls().rank; }
  TaskRank size() const noexcept override { return calls().size; }
  Place place() const noexcept override { return place_; }
  const char* kind() const noexcept override { return "callbacks"; }
  bool relays() const noexcept override { return true; }

  Op<Status> barrier() override;
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) override;
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) override;
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) override;
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override;
  Op<Status> fold(void* mine, void* before, Folding how) override;
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override;
  void leave(Leaver leaver) noexcept override;
  Op<Result<std::unique_ptr<Group>>> duplicate() override;

 private:
  const tw_transport& calls() const { return *calls_; }
  bool is(TaskRank root) const { return rank() == root; }
  // The task that many ranks further on, where rank 0 follows the last one.
  TaskRank further(TaskRank from, TaskRank distance) const { return (from + distance + size()) % size(); }
  Status swap(ByteView out, TaskRank to, std::span<std::byte> in, TaskRank from) const;
  Status pass(ByteView out, TaskRank to, Bytes& in, TaskRank from, bool& had_memory) const;
  Status send_down(std::span<std::byte> data, TaskRank root) const;
  Status fold_records(void* mine, void* before, Folding how) const;
  Status reduce(std::span<std::int64_t> numbers, Reduction how) const;
  Status everybody_has(std::int64_t mine, const char* collective) const;
  Result<std::vector<Message>> route(std::int64_t told, const std::vector<Message>& outgoing,
                                     const char* collective) const;
  Status vote();

  std::shared_ptr<const tw_transport> calls_;
  const Place place_;
};

// Sends and receives at once; kNobody: not.
Status CallbackGroup::swap(ByteView out, TaskRank to, std::span<std::byte> in, TaskRank from) const {
  if (to == kNobody && from == kNobody) return {};
  return check("send_receive",
               calls().send_receive(calls().user, out.data(), out.size(), to, in.data(), in.size(), from));
}

// Sends data and receives other data, of any length. A receiver without memory drops them.
Status CallbackGroup::pass(ByteView out, TaskRank to, Bytes& in, TaskRank from, bool& had_memory) const {
  ShortPacket sent, received;
  sent.put(out);
  TW_RETURN_IF_ERROR(swap(bytes_of(sent), to, bytes_of(received), from));
  char accepts = try_resize(in, static_cast<std::uint64_t>(received.bytes)) ? 1 : 0;
  if (accepts == 0) had_memory = false;
  if (received.holds()) {
    const ByteView data = received.view();
    if (accepts != 0) std::copy(data.begin(), data.end(), in.begin());
    from = kNobody;
  }
  if (sent.holds()) to = kNobody;
  char accepted = 1;
  TW_RETURN_IF_ERROR(swap(bytes_of(accepts), from, bytes_of(accepted), to));
  return swap(out, accepted != 0 ? to : kNobody, in, accepts != 0 ? from : kNobody);
}

// Sends data of one length from the root to all tasks, along a binomial tree.
Status CallbackGroup::send_down(std::span<std::byte> data, TaskRank root) const {
  const TaskRank number = further(rank(), -root);
  TaskRank bit = 1;
  while (bit < size() && (number & bit) == 0) bit *= 2;
  if (number > 0) TW_RETURN_IF_ERROR(swap({}, kNobody, data, further(rank(), -bit)));
  for (bit /= 2; bit > 0; bit /= 2)
    if (number + bit < size()) TW_RETURN_IF_ERROR(swap(data, further(rank(), bit), {}, kNobody));
  return {};
}

// As mpi_fold.cpp: the subtree of a rank consists of that rank and those that follow, a child with bit `bit` has ranks
// rank+bit and up. Up the tree goes the record of a subtree; down the tree that of the lower ranks and that of all.
Status CallbackGroup::fold_records(void* mine, void* before, Folding how) const {
  const std::size_t bytes = how.bytes;
  const std::span record(static_cast<std::byte*>(mine), bytes);
  std::vector<std::byte> between;  // ranks between this one and each child, lowest first
  alignas(std::max_align_t) std::array<std::byte, 2 * Folding::kMost> records;
  const std::span lower = std::span(records).first(bytes);
  const std::span both = std::span(records).first(2 * bytes);
  TaskRank bit = 1;
  for (; bit < size() && (rank() & bit) == 0; bit *= 2) {
    if (rank() + bit >= size()) continue;
    between.insert(between.end(), record.begin(), record.end());
    TW_RETURN_IF_ERROR(swap({}, kNobody, lower, rank() + bit));
    how.join(mine, lower.data());
  }
  if (rank() > 0) {
    TW_RETURN_IF_ERROR(swap(record, rank() - bit, {}, kNobody));
    TW_RETURN_IF_ERROR(swap({}, kNobody, both, rank() - bit));
    std::memcpy(before, records.data(), bytes);
    std::memcpy(mine, records.data() + bytes, bytes);
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank() + bit >= size()) continue;
    const std::byte* const skipped = between.data() + between.size() - bytes;
    std::memcpy(records.data(), rank() > 0 ? static_cast<const std::byte*>(before) : skipped, bytes);
    if (rank() > 0) how.join(records.data(), skipped);
    std::memcpy(records.data() + bytes, mine, bytes);
    between.resize(between.size() - bytes);
    TW_RETURN_IF_ERROR(swap(both, rank() + bit, {}, kNobody));
  }
  return {};
}

Status CallbackGroup::reduce(std::span<std::int64_t> numbers, Reduction how) const {
  while (!numbers.empty()) {
    const auto some = numbers.first(std::min(kRecordNumbers, numbers.size()));
    std::array<std::int64_t, kRecordNumbers> record{}, before;
    std::copy(some.begin(), some.end(), record.begin());
    TW_RETURN_IF_ERROR(
        fold_records(record.data(), before.data(), {sizeof record, kJoins[static_cast<std::size_t>(how)]}));
    std::copy_n(record.begin(), some.size(), some.begin());
    numbers = numbers.subspan(some.size());
  }
  return {};
}

// Agrees whether each task can continue (0, or a negative reason).
Status CallbackGroup::everybody_has(std::int64_t mine, const char* collective) const {
  TW_RETURN_IF_ERROR(reduce(std::span(&mine, 1), Reduction::min));
  return status_told(mine, collective);
}

// In the round of each bit, a message moves that many ranks further if its distance to its receiver has the bit. `told`
// below 0: this task cannot take part, and the exchange fails on all tasks. (Bruck, Ho, Kipnis, Weathersby 1997.)
Result<std::vector<Message>> CallbackGroup::route(std::int64_t told, const std::vector<Message>& outgoing,
                                                  const char* collective) const {
  Bytes held;
  bool had_memory = told < 0 || try_to([&] {
                      for (const Message& message : outgoing) pack_message(held, rank(), message.peer, message.data);
                    });
  for (TaskRank bit = 1; bit < size(); bit *= 2) {
    Bytes leaving, staying, arriving;
    had_memory = had_memory && try_to([&] {
                   for_each_message(held, [&](TaskRank source, TaskRank receiver, ByteView data) {
                     const bool leaves = (further(receiver, -rank()) & bit) != 0;
                     pack_message(leaves ? leaving : staying, source, receiver, data);
                   });
                 });
    if (!had_memory) leaving.clear();
    TW_RETURN_IF_ERROR(pass(leaving, further(rank(), bit), arriving, further(rank(), -bit), had_memory));
    had_memory = had_memory && try_to([&] { put_bytes(staying, arriving); });
    held = std::move(staying);
  }
  std::vector<Message> received;
  had_memory = had_memory && try_to([&] { take_messages(held, rank(), received); });
  TW_RETURN_IF_ERROR(everybody_has(told < 0 || had_memory ? told : kToldNoMemory, collective));
  std::stable_sort(received.begin(), received.end(),
                   [](const Message& a, const Message& b) { return a.peer < b.peer; });
  return received;
}

Op<Status> CallbackGroup::barrier() {
  if (!ended().ok()) co_return ended();
  char byte = 0;
  for (TaskRank distance = 1; distance < size(); distance *= 2)
    TW_CO_RETURN_IF_ERROR(
        swap(std::as_bytes(std::span("")), further(rank(), distance), bytes_of(byte), further(rank(), -distance)));
  co_return Status{};
}

Op<Result<Bytes>> CallbackGroup::broadcast(ByteView data, TaskRank root) {
  if (!ended().ok()) co_return ended();
  TW_CO_RETURN_IF_ERROR(check_root(root, size()));
  ShortPacket packet;
  if (is(root)) packet.put(data);
  TW_CO_RETURN_IF_ERROR(send_down(bytes_of(packet), root));
  if (packet.holds()) co_return packet.copy();
  Bytes copy;
  const bool good = is(root) ? try_assign(copy, data) : try_resize(copy, static_cast<std::uint64_t>(packet.bytes));
  TW_CO_RETURN_IF_ERROR(everybody_has(good ? 0 : kToldNoMemory, "broadcast"));
  for (std::span<std::byte> left(copy); !left.empty(); left = left.subspan(std::min(kPiece, left.size())))
    TW_CO_RETURN_IF_ERROR(send_down(left.first(std::min(kPiece, left.size())), root));
  co_return copy;
}

Op<Result<Gathered>> CallbackGroup::gather(ByteView data, TaskRank root) {
  if (!ended().ok()) co_return ended();
  TW_CO_RETURN_IF_ERROR(check_root(root, size()));
  std::vector<Message> outgoing(1, Message{root, {}});
  const std::int64_t had_memory = try_assign(outgoing[0].data, data) ? 0 : kToldNoMemory;
  TW_CO_ASSIGN_OR_RETURN(const auto received, route(had_memory, outgoing, "gather"));
  Gathered all;
  const bool good = !is(root) || lay_out(all, received.size(), [&](std::size_t r) { return received[r].data.size(); });
  TW_CO_RETURN_IF_ERROR(everybody_has(good ? 0 : kToldNoMemory, "gather"));
  auto to = all.data.begin();
  for (const Message& message : received) to = std::copy(message.data.begin(), message.data.end(), to);
  co_return all;
}

Op<Result<Bytes>> CallbackGroup::scatter(const Gathered& parts, TaskRank root) {
  if (!ended().ok()) co_return ended();
  TW_CO_RETURN_IF_ERROR(check_root(root, size()));
  std::vector<Message> outgoing;
  std::int64_t told = is(root) && !check_parts(parts, size()).ok() ? kToldBadArguments : 0;
  if (is(root) && told == 0) {
    const bool had_memory = try_to([&] {
      for (std::size_t r = 0; r < parts.parts(); ++r) {
        const ByteView part = parts.part(r);
        outgoing.push_back({static_cast<TaskRank>(r), Bytes(part.begin(), part.end())});
      }
    });
    if (!had_memory) told = kToldNoMemory;
  }
  TW_CO_ASSIGN_OR_RETURN(auto received, route(told, outgoing, "scatter"));
  co_return std::move(received[0].data);
}

Op<Result<std::vector<std::int64_t>>> CallbackGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  if (!ended().ok()) co_return ended();
  TW_CO_RETURN_IF_ERROR(reduce(mine, how));
  co_return std::move(mine);
}

Op<Result<std::vector<Message>>> CallbackGroup::exchange(std::vector<Message> outgoing) {
  if (!ended().ok()) co_return ended();
  const bool good = check_peers(outgoing, size()).ok();
  co_return route(good ? 0 : kToldBadArguments, outgoing, "exchange");
}

// Agrees whether a task has left, where the caller's functions support that.
Status CallbackGroup::vote() {
  if (calls().start_largest == nullptr) return {};
  std::int64_t number = 0;
  void* pending = nullptr;
  int code = calls().start_largest(calls().user, &number, 1, &pending);
  if (code == 0) code = calls().finish_largest(calls().user, pending);
  if (code != 0) return check("start_largest or finish_largest", code);
  if (number == 0) return {};
  return end_with_leaver(*this, {rank_of_vote(number), static_cast<Call>(number_of_vote(number))});
}

Op<Status> CallbackGroup::fold(void* mine, void* before, Folding how) {
  if (!ended().ok()) co_return ended();
  TW_CO_RETURN_IF_ERROR(vote());
  co_return fold_records(mine, before, how);
}

// The number is never freed: nothing reports when the caller's functions have finished with it.
void CallbackGroup::leave(Leaver leaver) noexcept {
  if (!ended().ok()) return;
  end(has_left(leaver), leaver);
  std::int64_t* const number =
      std::make_unique<std::int64_t>(vote_of(static_cast<std::int64_t>(leaver.call), rank())).release();
  void* pending = nullptr;
  if (calls().start_largest != nullptr) (void)calls().start_largest(calls().user, number, 1, &pending);
}

Op<Result<std::unique_ptr<Group>>> CallbackGroup::duplicate() {
  if (!ended().ok()) co_return ended();
  if (calls().duplicate == nullptr) co_return std::unique_ptr<Group>(std::make_unique<CallbackGroup>(calls_, place_));
  tw_transport copy = calls();
  const int code = calls().duplicate(calls().user, &copy.user);
  if (code != 0) co_return check("duplicate", code);
  co_return std::unique_ptr<Group>(std::make_unique<CallbackGroup>(take_over(copy), place_));
}

}  // namespace

Op<Result<std::unique_ptr<Group>>> make_callback_group(tw_transport transport) {
  const auto calls = take_over(transport);
  CallbackGroup plain(calls, {});  // complete except for the places
  TW_CO_ASSIGN_OR_RETURN(const auto place, co_await find_place(plain, transport.process_id, transport.node_id));
  co_return std::unique_ptr<Group>(std::make_unique<CallbackGroup>(calls, place));
}

}  // namespace thalweg
