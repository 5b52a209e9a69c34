// Hybrid: all threads of all ranks, one numbering (rank = threads of lower ranks + own thread number).
//
// Made of two groups: the threads of this process, and the processes, which only thread 0 (the leader) uses. Every
// collective is the same three steps: the threads show the leader where their data is; the leader does the
// collective between processes; the leader shows the result, and everybody takes its share. What is shown stays
// where it is until the third step is over, so within a process nothing is copied more than once.
//
// Invariant: a failure anywhere reaches everybody. Leaders agree before they send; where the tasks' shares need
// much memory, all tasks agree afterwards, and all of them know whether that is so.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "group/agree.hpp"
#include "group/callers.hpp"
#include "group/frame_memory.hpp"
#include "group/groups.hpp"
#include "group/hybrid_layout.hpp"
#include "group/memory.hpp"
#include "group/packing.hpp"
#include "group/relaying.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kSmallPart = 112;  // of a task in an allgather

class HybridGroup final : public Group, public Relaying {
 public:
  HybridGroup(std::unique_ptr<Group> threads, std::unique_ptr<Group> ranks, std::shared_ptr<const HybridLayout> layout)
      : threads_(std::move(threads)), ranks_(std::move(ranks)), layout_(std::move(layout)) {}

  TaskRank rank() const noexcept override { return first_rank() + threads_->rank(); }
  TaskRank size() const noexcept override { return layout_->tasks(); }
  Place place() const noexcept override { return layout_->place; }
  const char* kind() const noexcept override { return "hybrid"; }
  bool relays() const noexcept override { return layout_->relays; }
  bool any_thread() const noexcept override { return ranks_ == nullptr || ranks_->any_thread(); }

  Op<Status> barrier() override;
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) override;
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) override;
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) override;
  Op<Result<Gathered>> allgather(ByteView data) override;
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override;
  Op<Status> fold(void* mine, void* before, Folding how) override;
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override;
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override;
  Op<Result<std::unique_ptr<Group>>> duplicate() override;

 private:
  bool leads() const { return ranks_ != nullptr; }
  // At the start of every collective: the leader waits for its threads first, and they may wait for its requests.
  void enter() const {
    if (leads()) is_a_caller();
  }
  TaskRank first_rank() const { return layout_->begin[static_cast<std::size_t>(layout_->mine)]; }

  // First step: what each thread of this process shows; all threads stay until the third step. Null: it has no memory
  // for what is to come.
  template <class T>
  Op<std::vector<const T*>> show(const T* mine);
  // Third step: the leader's object for all threads of this process.
  template <class T>
  Op<std::shared_ptr<T>> share(std::shared_ptr<T> of_leader);

  // Between steps: whether all leaders can go on; the same on all of them.
  Op<Status> leaders_agree(Status mine, const char* collective);
  Result<std::vector<Message>> by_process(const std::vector<const std::vector<Message>*>& shown) const;
  Result<std::vector<Message>> mine_of(const std::vector<Message>& carried) const;

  std::unique_ptr<Group> threads_;
  std::unique_ptr<Group> ranks_;  // of the leader only
  std::shared_ptr<const HybridLayout> layout_;
};

template <class T>
Op<std::vector<const T*>> HybridGroup::show(const T* mine) {
  enter();
  const auto shown = co_await threads_->allgather(std::as_bytes(std::span(&mine, 1)));
  std::vector<const T*> all(static_cast<std::size_t>(threads_->size()));
  std::memcpy(all.data(), shown.value().data.data(), all.size() * sizeof(const T*));  // a few bytes: cannot fail
  co_return all;
}

template <class T>
Op<std::shared_ptr<T>> HybridGroup::share(std::shared_ptr<T> of_leader) {
  std::function<std::shared_ptr<void>()> make = [&of_leader] { return std::shared_ptr<void>(of_leader); };
  auto shared = co_await threads_->share_in_process(std::move(make));
  co_return std::static_pointer_cast<T>(std::move(shared).value());
}

// Not agree(): that would name the failing task by the number of its process.
Op<Status> HybridGroup::leaders_agree(Status mine, const char* collective) {
  std::vector<std::int64_t> vote(1, mine.ok() ? 0 : (mine.code() == Code::no_memory ? 1 : 2));
  const auto worst = co_await ranks_->allreduce(std::move(vote), Reduction::max);
  if (!worst.has_value()) co_return worst.error();
  if (worst.value()[0] == 0) co_return Status{};
  if (worst.value()[0] == 1) co_return no_memory_for(collective);
  co_return bad_arguments_in(collective);
}

Op<Status> HybridGroup::barrier() {
  enter();
  const Status here = co_await threads_->barrier();
  auto status = std::make_shared<Status>();
  if (leads()) *status = co_await ranks_->barrier();
  status = co_await share(std::move(status));
  co_return *status;
}

Op<Result<Bytes>> HybridGroup::broadcast(ByteView data, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const std::int64_t from = layout_->process_of(root);
  const auto shown = co_await show(&data);
  auto received = std::make_shared<Result<Bytes>>(Bytes{});
  if (leads()) {
    ByteView sent;
    if (from == layout_->mine) sent = *shown[static_cast<std::size_t>(layout_->thread_of(root))];
    *received = co_await ranks_->broadcast(sent, from);
  }
  received = co_await share(std::move(received));
  if (!received->has_value()) co_return received->error();
  Bytes mine;
  const bool good = try_assign(mine, received->value());
  if (received->value().size() > kHybridSmallBytes) {
    const Status status = co_await agree(*this, memory_for(good, "broadcast"));
    if (!status.ok()) co_return status;
  }
  co_return mine;
}

Op<Result<Gathered>> HybridGroup::gather(ByteView data, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const std::int64_t to = layout_->process_of(root);
  const auto shown = co_await show(&data);
  auto gathered = std::make_shared<Result<Gathered>>(Gathered{});
  if (leads()) {
    const auto packed = pack_parts(shown);
    const Status status = co_await leaders_agree(packed.status(), "gather");
    if (status.ok()) {
      *gathered = co_await ranks_->gather(packed.value(), to);
    } else {
      *gathered = status;
    }
    if (gathered->has_value() && to == layout_->mine) *gathered = join_parts(*layout_, std::move(*gathered).value());
  }
  gathered = co_await share(std::move(gathered));
  if (!gathered->has_value()) co_return gathered->error();
  if (rank() != root) co_return Gathered{};
  co_return std::move(*gathered).value();  // the others look at its kind only, and that stays
}

Op<Result<Gathered>> HybridGroup::allgather(ByteView data) {
  // As much as a team takes for granted is had before: nobody waits to hear that a reader had no memory for it.
  const std::uint64_t small =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(size()) * kSmallPart, kHybridSmallBytes);
  Gathered mine;
  const bool room = try_reserve(mine.begin, layout_->begin.back() + 1) && try_reserve(mine.data, small);
  const auto shown = co_await show(room ? &data : nullptr);
  auto gathered = std::make_shared<Result<Gathered>>(Gathered{});
  if (leads()) {
    const bool all_have = std::find(shown.begin(), shown.end(), nullptr) == shown.end();
    const auto packed = all_have ? pack_parts(shown) : Result<Bytes>(no_memory_for("allgather"));
    const Status status = co_await leaders_agree(packed.status(), "allgather");
    if (status.ok()) {
      *gathered = co_await ranks_->allgather(packed.value());
    } else {
      *gathered = status;
    }
    if (gathered->has_value()) *gathered = join_parts(*layout_, std::move(*gathered).value());
  }
  gathered = co_await share(std::move(gathered));
  if (!gathered->has_value()) co_return gathered->error();
  const Gathered& all = gathered->value();
  const bool good = try_resize(mine.begin, all.begin.size()) && try_assign(mine.data, all.data);
  if (good) std::copy(all.begin.begin(), all.begin.end(), mine.begin.begin());
  if (all.data.size() > small) {
    const Status status = co_await agree(*this, memory_for(good, "allgather"));
    if (!status.ok()) co_return status;
  }
  co_return mine;
}

Op<Result<Bytes>> HybridGroup::scatter(const Gathered& parts, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const std::int64_t from = layout_->process_of(root);
  const auto shown = co_await show(&parts);
  auto received = std::make_shared<Result<Bytes>>(Bytes{});
  if (leads()) {
    Result<Gathered> packed = Gathered{};
    if (from == layout_->mine)
      packed = split_parts(*layout_, *shown[static_cast<std::size_t>(layout_->thread_of(root))]);
    const Status status = co_await leaders_agree(packed.status(), "scatter");
    if (status.ok()) {
      *received = co_await ranks_->scatter(packed.value(), from);
    } else {
      *received = status;
    }
  }
  received = co_await share(std::move(received));
  if (!received->has_value()) co_return received->error();
  ByteView rest = received->value();
  const bool large = take_number(rest) != 0;
  const auto lengths = numbers_of(take_bytes(rest, static_cast<std::size_t>(threads_->size()) * sizeof(std::int64_t)));
  const auto me = static_cast<std::size_t>(threads_->rank());
  for (std::size_t i = 0; i < me; ++i) (void)take_bytes(rest, static_cast<std::size_t>(lengths[i]));
  Bytes mine;
  const bool good = try_assign(mine, take_bytes(rest, static_cast<std::size_t>(lengths[me])));
  if (large) {
    const Status status = co_await agree(*this, memory_for(good, "scatter"));
    if (!status.ok()) co_return status;
  }
  co_return mine;
}

Op<Result<std::vector<std::int64_t>>> HybridGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  enter();
  auto here = co_await threads_->allreduce(mine, how);
  using Numbers = Result<std::vector<std::int64_t>>;
  auto result = std::make_shared<Numbers>(std::vector<std::int64_t>{});
  if (leads()) {
    // Threads whose lengths differ are a defect of the program; the other processes must not wait for it.
    if (here.has_value()) mine = here.value();
    *result = co_await ranks_->allreduce(std::move(mine), how);
  }
  result = co_await share(std::move(result));
  if (!here.has_value()) co_return here.error();
  co_return Numbers(*result);
}

// `mine` is that of this process while its leader is among the others.
Op<Status> HybridGroup::fold(void* mine, void* before, Folding how) {
  struct Between {
    Status status;
    Folding::Record all, before;
  };
  enter();
  const Status here = co_await threads_->fold(mine, before, how);
  auto between = std::allocate_shared<Between>(FrameAllocator<Between>());  // as a frame: no task may fail alone here
  if (leads()) {
    std::memcpy(&between->all, mine, how.bytes);
    between->status = co_await ranks_->fold(&between->all, &between->before, how);
  }
  between = co_await share(std::move(between));
  if (!here.ok()) co_return here;
  if (!between->status.ok()) co_return between->status;
  std::memcpy(mine, &between->all, how.bytes);
  if (layout_->mine == 0) co_return Status{};
  Folding::Record lower = between->before;
  if (threads_->rank() > 0) how.join(&lower, before);
  std::memcpy(before, &lower, how.bytes);
  co_return Status{};
}

// One message per receiving process: source, receiver, length and data of each message of our threads.
Result<std::vector<Message>> HybridGroup::by_process(const std::vector<const std::vector<Message>*>& shown) const {
  try {
    std::vector<Message> carried;
    std::vector<std::ptrdiff_t> place(layout_->begin.size(), -1);  // in `carried`, of each process
    const auto data_for = [&](TaskRank peer) -> Bytes& {
      const std::int64_t to = layout_->process_of(peer);
      std::ptrdiff_t& at = place[static_cast<std::size_t>(to)];
      if (at < 0) {
        at = static_cast<std::ptrdiff_t>(carried.size());
        carried.push_back({to, {}});
      }
      return carried[static_cast<std::size_t>(at)].data;
    };
    for (std::size_t t = 0; t < shown.size(); ++t) {
      if (Status bad = check_peers(*shown[t], size()); !bad.ok()) return bad;
      for (const Message& message : *shown[t]) {
        Bytes& data = data_for(message.peer);
        put_number(data, first_rank() + static_cast<TaskRank>(t));
        put_number(data, message.peer);
        put_number(data, static_cast<std::int64_t>(message.data.size()));
        put_bytes(data, message.data);
      }
    }
    return carried;
  } catch (const std::bad_alloc&) {
    return no_memory_for("exchange");
  }
}

// Sorted by source because processes are, and the threads within each message.
Result<std::vector<Message>> HybridGroup::mine_of(const std::vector<Message>& carried) const {
  try {
    std::vector<Message> mine;
    for (const Message& from_process : carried) {
      ByteView rest = from_process.data;
      while (!rest.empty()) {
        const TaskRank source = take_number(rest);
        const TaskRank receiver = take_number(rest);
        const auto length = static_cast<std::size_t>(take_number(rest));
        const ByteView data = take_bytes(rest, length);
        if (receiver == rank()) mine.push_back({source, Bytes(data.begin(), data.end())});
      }
    }
    return mine;
  } catch (const std::bad_alloc&) {
    return no_memory_for("exchange");
  }
}

Op<Result<std::vector<Message>>> HybridGroup::exchange(std::vector<Message> outgoing) {
  const auto shown = co_await show(&outgoing);
  auto received = std::make_shared<Result<std::vector<Message>>>(std::vector<Message>{});
  if (leads()) {
    auto carried = by_process(shown);
    const Status status = co_await leaders_agree(carried.status(), "exchange");
    if (status.ok()) {
      *received = co_await ranks_->exchange(std::move(carried).value());
    } else {
      *received = status;
    }
  }
  received = co_await share(std::move(received));
  if (!received->has_value()) co_return received->error();
  auto mine = mine_of(received->value());
  const Status status = co_await agree(*this, mine.status());
  if (!status.ok()) co_return status;
  co_return mine;
}

Op<Result<std::shared_ptr<void>>> HybridGroup::share_in_process(std::function<std::shared_ptr<void>()> make) {
  using Object = Result<std::shared_ptr<void>>;
  auto object = std::make_shared<Object>(std::shared_ptr<void>{});
  // Several "processes" of `ranks_` may be one address space (a team of teams): it knows.
  if (leads()) *object = co_await ranks_->share_in_process(std::move(make));
  object = co_await share(std::move(object));
  co_return Object(*object);
}

Op<Result<std::unique_ptr<Group>>> HybridGroup::duplicate() {
  enter();
  auto threads = co_await threads_->duplicate();
  std::unique_ptr<Group> ranks;
  auto status = std::make_shared<Status>(threads.status());
  if (leads()) {
    *status = co_await agree(*ranks_, *status);
    if (status->ok()) {
      auto copied = co_await ranks_->duplicate();
      *status = copied.status();
      if (status->ok()) ranks = std::move(copied).value();
    }
  }
  status = co_await share(std::move(status));
  if (!status->ok()) co_return *status;
  co_return std::unique_ptr<Group>(
      std::make_unique<HybridGroup>(std::move(threads).value(), std::move(ranks), layout_));
}

}  // namespace

Op<Result<std::unique_ptr<Group>>> make_hybrid_group(std::unique_ptr<Group> threads, std::unique_ptr<Group> ranks) {
  using Made = Result<std::shared_ptr<HybridLayout>>;
  auto made = std::make_shared<Made>(std::shared_ptr<HybridLayout>{});
  if (ranks != nullptr) *made = co_await make_hybrid_layout(*ranks, threads->size());
  std::function<std::shared_ptr<void>()> of_leader = [&made] { return std::shared_ptr<void>(made); };
  auto shared = co_await threads->share_in_process(std::move(of_leader));
  made = std::static_pointer_cast<Made>(std::move(shared).value());
  if (!made->has_value()) co_return made->error();
  co_return std::unique_ptr<Group>(std::make_unique<HybridGroup>(std::move(threads), std::move(ranks), made->value()));
}

}  // namespace thalweg
