// Hybrid: all threads of all ranks, one numbering (rank = threads of lower ranks + own thread number).
//
// Built from two groups: the threads of this process, and the processes, which only thread 0 (the leader) uses. Every
// collective has three steps: the threads pass the leader the addresses of their data; the leader does the collective
// between processes; the leader publishes the result, and each thread takes its share. Published data stay in place
// until the third step is over, so data are copied at most once within a process.
//
// Invariant: a failure anywhere reaches all tasks. Publishing and sharing take little memory. Leaders agree before
// they send; where the shares of tasks need much memory, all tasks agree afterwards, and all of them can tell in
// advance whether they will.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "async/callers.hpp"
#include "base/wire.hpp"
#include "group/agree.hpp"
#include "group/groups.hpp"
#include "group/hybrid/hybrid_layout.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kSmallAllgather = 64 * 1024;
constexpr std::size_t kFewNumbers = 31;  // of a reduction: their memory is not checked

class HybridGroup final : public Group {
 public:
  HybridGroup(std::unique_ptr<Group> threads, std::unique_ptr<Group> ranks, std::shared_ptr<HybridProcess> process)
      : threads_(std::move(threads)),
        ranks_(std::move(ranks)),
        process_(std::move(process)),
        layout_(process_->layout.get()) {}

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
  Op<Result<std::unique_ptr<Group>>> duplicate() override { return copy(&Group::duplicate); }
  Op<Result<std::unique_ptr<Group>>> channel() override { return copy(&Group::channel); }
  void leave(Leaver leaver) noexcept override;

 private:
  // The result of a fold between the processes, on the leader.
  struct Between {
    Status status;
    Leaver leaver;
    Bytes records;  // the record of all tasks, then that of the tasks of lower processes
  };
  bool leads() const { return ranks_ != nullptr; }
  using Copy = Op<Result<std::unique_ptr<Group>>> (Group::*)();
  Op<Result<std::unique_ptr<Group>>> copy(Copy of_ranks);
  // At the start of every collective: the leader waits for its threads first, and they may wait for its requests.
  // Threads are compared by the collective, not by the call: calls that begin with the same collective are compared
  // by the records of the fold, over all processes.
  void enter(Primitive primitive) const {
    threads_->serve(call(), {primitive, first_rank()});
    if (!leads()) return;
    ranks_->serve(call(), {primitive, 0});
    is_a_caller();
  }
  // The first step failed: the threads of this process make different calls, and all of them return.
  Status end_here(Status why) {
    if (threads_->ended().ok()) return why;
    Leaver leaver = threads_->leaver();
    if (leaver.call == Call::none) leaver = {first_rank(), call()};
    if (leads() && leaver.call != Call::none) ranks_->leave(leaver);
    end(threads_->ended(), leaver);
    return why;
  }
  // A task of another process has left.
  Status end_there(const Between& between) {
    if (between.leaver.call != Call::none) return end_with_leaver(*this, between.leaver);
    return between.status;
  }
  TaskRank first_rank() const { return layout_->begin[static_cast<std::size_t>(layout_->mine)]; }

  // First step: passes the data of each thread to the leader; all threads stay until the third step.
  template <class T>
  Op<Result<Shown<T>>> show(Primitive primitive, const T* mine);
  // Third step: passes the leader's object to all threads of this process.
  template <class T>
  Op<std::shared_ptr<T>> share(std::shared_ptr<T> of_leader);

  // Between the steps: whether all leaders can continue; the same answer on all of them.
  Op<Status> leaders_agree(Status mine, const char* collective);
  // After the third step, where some tasks may need much memory: whether each task has its share.
  Op<Status> all_agree(bool had_memory, bool needs_much, const char* collective);
  Result<std::vector<Message>> by_process(const Shown<std::vector<Message>>& shown) const;
  Result<std::vector<Message>> mine_of(const std::vector<Message>& carried) const;

  std::unique_ptr<Group> threads_;
  std::unique_ptr<Group> ranks_;  // null except on the leader
  std::shared_ptr<HybridProcess> process_;
  const HybridLayout* layout_;  // owned by process_
};

// Each thread writes its own entry. The leader reads it before the third step, so no thread overwrites it earlier.
// Where threads of this process make different calls it fails on all of them.
template <class T>
Op<Result<Shown<T>>> HybridGroup::show(Primitive primitive, const T* mine) {
  if (!ended().ok()) co_return ended();
  enter(primitive);
  process_->shown[static_cast<std::size_t>(threads_->rank())] = mine;
  const Status all_have = co_await threads_->barrier();
  if (!all_have.ok()) co_return end_here(all_have);
  co_return Shown<T>(*process_);
}

template <class T>
Op<std::shared_ptr<T>> HybridGroup::share(std::shared_ptr<T> of_leader) {
  std::function<std::shared_ptr<void>()> make = [&of_leader] { return std::shared_ptr<void>(of_leader); };
  auto shared = co_await threads_->share_in_process(std::move(make));
  co_return std::static_pointer_cast<T>(std::move(shared).value());
}

// agree() does not serve: its message would name the process number of the failing task.
Op<Status> HybridGroup::leaders_agree(Status mine, const char* collective) {
  std::vector<std::int64_t> vote(1, mine.ok() ? 0 : (mine.code() == Code::no_memory ? 1 : 2));
  const auto worst = co_await ranks_->allreduce(std::move(vote), Reduction::max);
  if (!worst.has_value()) co_return worst.error();
  if (worst.value()[0] == 0) co_return Status{};
  if (worst.value()[0] == 1) co_return no_memory_for(collective);
  co_return bad_arguments_in(collective);
}

Op<Status> HybridGroup::all_agree(bool had_memory, bool needs_much, const char* collective) {
  Status status = memory_for(had_memory, collective);
  if (needs_much) status = co_await agree(*this, std::move(status));
  co_return status;
}

Op<Status> HybridGroup::barrier() {
  if (!ended().ok()) co_return ended();
  enter(Primitive::barrier);
  const Status here = co_await threads_->barrier();
  if (!here.ok()) co_return end_here(here);
  auto status = std::make_shared<Status>(here);
  if (leads()) *status = co_await ranks_->barrier();
  status = co_await share(std::move(status));
  co_return *status;
}

Op<Result<Bytes>> HybridGroup::broadcast(ByteView data, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const std::int64_t from = layout_->process_of(root);
  const auto met = co_await show(Primitive::broadcast, &data);
  if (!met.has_value()) co_return met.error();
  const auto& shown = met.value();
  auto received = std::make_shared<Result<Bytes>>(Bytes{});
  if (leads()) {
    ByteView sent;
    if (from == layout_->mine) sent = *shown[layout_->thread_of(root)];
    *received = co_await ranks_->broadcast(sent, from);
  }
  received = co_await share(std::move(received));
  if (!received->has_value()) co_return received->error();
  Bytes mine;
  const bool good = try_assign(mine, received->value());
  const Status status = co_await all_agree(good, received->value().size() > kHybridSmallPart, "broadcast");
  if (!status.ok()) co_return status;
  co_return mine;
}

Op<Result<Gathered>> HybridGroup::gather(ByteView data, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const std::int64_t to = layout_->process_of(root);
  const auto met = co_await show(Primitive::gather, &data);
  if (!met.has_value()) co_return met.error();
  const auto& shown = met.value();
  auto gathered = std::make_shared<Result<Gathered>>(Gathered{});
  if (leads()) {
    Gathered joined;
    const bool room = to != layout_->mine || try_reserve(joined.begin, static_cast<std::uint64_t>(size()) + 1);
    const auto packed = room ? pack_parts(shown) : Result<Bytes>(no_memory_for("gather"));
    const Status status = co_await leaders_agree(packed.status(), "gather");
    if (status.ok()) {
      *gathered = co_await ranks_->gather(packed.value(), to);
    } else {
      *gathered = status;
    }
    if (gathered->has_value() && to == layout_->mine) {
      join_parts(*layout_, std::move(*gathered).value(), joined);
      *gathered = std::move(joined);
    }
  }
  gathered = co_await share(std::move(gathered));
  if (!gathered->has_value()) co_return gathered->error();
  if (rank() != root) co_return Gathered{};
  co_return std::move(*gathered).value();  // the other threads read only its kind, which stays
}

Op<Result<Gathered>> HybridGroup::allgather(ByteView data) {
  // Small results are allocated beforehand, so that no status about memory is needed afterwards.
  const std::uint64_t small =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(size()) * kHybridSmallPart, kSmallAllgather);
  const auto begins = static_cast<std::uint64_t>(size()) + 1;
  Gathered mine;
  Gathered joined;
  const bool room = try_reserve(mine.begin, begins) && try_reserve(mine.data, small) &&
                    (!leads() || try_reserve(joined.begin, begins));
  const auto met = co_await show(Primitive::allgather, room ? &data : nullptr);
  if (!met.has_value()) co_return met.error();
  const auto& shown = met.value();
  auto gathered = std::make_shared<Result<Gathered>>(Gathered{});
  if (leads()) {
    const auto packed = pack_parts(shown);
    const Status status = co_await leaders_agree(packed.status(), "allgather");
    if (status.ok()) {
      *gathered = co_await ranks_->allgather(packed.value());
    } else {
      *gathered = status;
    }
    if (gathered->has_value()) {
      join_parts(*layout_, std::move(*gathered).value(), joined);
      *gathered = std::move(joined);
    }
  }
  gathered = co_await share(std::move(gathered));
  if (!gathered->has_value()) co_return gathered->error();
  const Gathered& all = gathered->value();
  const bool good = try_resize(mine.begin, all.begin.size()) && try_assign(mine.data, all.data);
  if (good) std::copy(all.begin.begin(), all.begin.end(), mine.begin.begin());
  const Status status = co_await all_agree(good, all.data.size() > small, "allgather");
  if (!status.ok()) co_return status;
  co_return mine;
}

Op<Result<Bytes>> HybridGroup::scatter(const Gathered& parts, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const std::int64_t from = layout_->process_of(root);
  const auto met = co_await show(Primitive::scatter, &parts);
  if (!met.has_value()) co_return met.error();
  const auto& shown = met.value();
  auto received = std::make_shared<Result<Bytes>>(Bytes{});
  if (leads()) {
    Result<Gathered> packed = Gathered{};
    if (from == layout_->mine) packed = split_parts(*layout_, *shown[layout_->thread_of(root)]);
    const Status status = co_await leaders_agree(packed.status(), "scatter");
    if (status.ok()) {
      *received = co_await ranks_->scatter(packed.value(), from);
    } else {
      *received = status;
    }
  }
  received = co_await share(std::move(received));
  if (!received->has_value()) co_return received->error();
  const SplitPart part = part_of_split(received->value(), threads_->size(), threads_->rank());
  Bytes mine;
  const bool good = try_assign(mine, part.data);
  const Status status = co_await all_agree(good, part.large, "scatter");
  if (!status.ok()) co_return status;
  co_return mine;
}

Op<Result<std::vector<std::int64_t>>> HybridGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  if (!ended().ok()) co_return ended();
  enter(Primitive::allreduce);
  const bool large = mine.size() > kFewNumbers;
  std::vector<std::int64_t> sent;  // on the leader
  bool room = true;
  if (leads() && large) room = try_resize(sent, mine.size());
  if (leads() && !large) sent.resize(mine.size());
  auto here = co_await threads_->allreduce(std::move(mine), how);
  if (!threads_->ended().ok()) co_return end_here(here.error());
  auto result = std::make_shared<Result<std::vector<std::int64_t>>>(std::vector<std::int64_t>{});
  if (leads()) {
    Status status;
    // A short vector can only have a wrong length, a defect of the program. The other processes must not wait for it.
    if (large) status = room ? here.status() : no_memory_for("allreduce");
    if (large) status = co_await leaders_agree(std::move(status), "allreduce");
    if (here.has_value() && status.ok()) std::copy(here.value().begin(), here.value().end(), sent.begin());
    if (status.ok()) {
      *result = co_await ranks_->allreduce(std::move(sent), how);
    } else {
      *result = status;
    }
  }
  result = co_await share(std::move(result));
  if (!result->has_value()) co_return result->error();
  if (here.has_value()) std::copy(result->value().begin(), result->value().end(), here.value().begin());
  co_return here;
}

// A leader that leaves informs the other threads of its process and all other processes. When another thread leaves,
// the leader detects it at its next collective and informs them.
void HybridGroup::leave(Leaver leaver) noexcept {
  if (!ended().ok()) return;
  threads_->serve(leaver.call, {Primitive::leave, first_rank()});
  threads_->leave(leaver);
  if (leads()) ranks_->leave(leaver);
  end(has_left(leaver), leaver);
}

// `mine` holds the record of this process during the fold between leaders.
Op<Status> HybridGroup::fold(void* mine, void* before, Folding how) {
  if (!ended().ok()) co_return ended();
  enter(Primitive::fold);
  const Status here = co_await threads_->fold(mine, before, how);
  if (!here.ok()) co_return end_here(here);
  auto between = std::make_shared<Between>();
  if (leads()) {
    between->records.resize(2 * how.bytes);
    std::byte* const all = between->records.data();
    std::memcpy(all, mine, how.bytes);
    between->status = co_await ranks_->fold(all, all + how.bytes, how);
    between->leaver = ranks_->leaver();
  }
  between = co_await share(std::move(between));
  if (!between->status.ok()) co_return end_there(*between);
  std::memcpy(mine, between->records.data(), how.bytes);
  if (layout_->mine == 0) co_return Status{};
  Folding::Record lower;
  std::memcpy(&lower, between->records.data() + how.bytes, how.bytes);
  if (threads_->rank() > 0) how.join(&lower, before);
  std::memcpy(before, &lower, how.bytes);
  co_return Status{};
}

// One message per receiving process: source, receiver, length and data of each message of this process's threads.
Result<std::vector<Message>> HybridGroup::by_process(const Shown<std::vector<Message>>& shown) const {
  try {
    std::vector<Message> carried;
    std::vector<std::ptrdiff_t> place(layout_->begin.size(), -1);  // index in `carried` of each process
    const auto data_for = [&](TaskRank peer) -> Bytes& {
      const std::int64_t to = layout_->process_of(peer);
      std::ptrdiff_t& at = place[static_cast<std::size_t>(to)];
      if (at < 0) {
        at = static_cast<std::ptrdiff_t>(carried.size());
        carried.push_back({to, {}});
      }
      return carried[static_cast<std::size_t>(at)].data;
    };
    for (TaskRank t = 0; t < threads_->size(); ++t) {
      if (Status bad = check_peers(*shown[t], size()); !bad.ok()) return bad;
      for (const Message& message : *shown[t]) {
        Bytes& data = data_for(message.peer);
        put_number(data, first_rank() + t);
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

// Processes come in order, and so do the threads within each message: the result is sorted by source.
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
  const auto met = co_await show(Primitive::exchange, &outgoing);
  if (!met.has_value()) co_return met.error();
  const auto& shown = met.value();
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
  if (!ended().ok()) co_return ended();
  enter(Primitive::share_in_process);
  auto object = std::make_shared<Object>(std::shared_ptr<void>{});
  // Several "processes" of `ranks_` may be one address space (a team of teams), which that group detects.
  if (leads()) *object = co_await ranks_->share_in_process(std::move(make));
  std::function<std::shared_ptr<void>()> of_leader = [&object] { return std::shared_ptr<void>(object); };
  auto shared = co_await threads_->share_in_process(std::move(of_leader));
  if (!shared.has_value()) co_return end_here(shared.error());
  co_return Object(*std::static_pointer_cast<Object>(std::move(shared).value()));
}

Op<Result<std::unique_ptr<Group>>> HybridGroup::copy(Copy of_ranks) {
  if (!ended().ok()) co_return ended();
  enter(Primitive::duplicate);
  auto threads = co_await threads_->duplicate();
  if (!threads_->ended().ok()) co_return end_here(threads.error());
  std::unique_ptr<Group> ranks;
  auto copy = std::make_shared<Result<std::shared_ptr<HybridProcess>>>(std::shared_ptr<HybridProcess>{});
  if (leads()) {
    if (threads.has_value()) *copy = share_layout(process_->layout);
    Status status = co_await agree(*ranks_, threads.status());
    if (status.ok()) {
      auto copied = co_await (ranks_.get()->*of_ranks)();
      status = copied.status();
      if (status.ok()) ranks = std::move(copied).value();
    }
    if (!status.ok()) *copy = status;
  }
  copy = co_await share(std::move(copy));
  if (!copy->has_value()) co_return copy->error();
  co_return std::unique_ptr<Group>(
      std::make_unique<HybridGroup>(std::move(threads).value(), std::move(ranks), copy->value()));
}

}  // namespace

Op<Result<std::unique_ptr<Group>>> make_hybrid_group(std::unique_ptr<Group> threads, std::unique_ptr<Group> ranks) {
  using Made = Result<std::shared_ptr<HybridProcess>>;
  auto made = std::make_shared<Made>(std::shared_ptr<HybridProcess>{});
  if (ranks != nullptr) {
    *made = co_await find_layout(*ranks, threads->size());
    const Status status = co_await agree(*ranks, made->status());
    if (!status.ok()) *made = status;
  }
  std::function<std::shared_ptr<void>()> of_leader = [&made] { return std::shared_ptr<void>(made); };
  auto shared = co_await threads->share_in_process(std::move(of_leader));
  if (!shared.has_value()) co_return shared.error();
  made = std::static_pointer_cast<Made>(std::move(shared).value());
  if (!made->has_value()) co_return made->error();
  co_return std::unique_ptr<Group>(std::make_unique<HybridGroup>(std::move(threads), std::move(ranks), made->value()));
}

}  // namespace thalweg
