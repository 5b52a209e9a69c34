// Hybrid: all threads of all ranks, one numbering (rank = threads of lower ranks + own thread number).
//
// Built from two groups: the threads of this process, and the processes, which only thread 0 (the leader) uses. Most
// collectives have three steps: the threads pass the leader the addresses of their data; the leader does the collective
// between processes; the leader publishes the result, and each thread takes its share. Published data stay in place
// until the third step is over. What leaders gather, scatter and exchange is packed for each process.
//
// Invariant: a failure anywhere reaches all tasks. Publishing and sharing take little memory. Where packing needs
// memory, the leaders agree before they send. Where a share may be large, all tasks agree after the third step; whether
// they will is known in advance.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "async/callers.hpp"
#include "async/last_words.hpp"
#include "base/wire.hpp"
#include "group/agree.hpp"
#include "group/basic_group.hpp"
#include "group/groups.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

// Up to this size of what is broadcast the tasks do not agree on memory.
constexpr std::size_t kSmallPart = 112;

// Equal for all threads of a process; O(processes) words.
struct HybridLayout {
  // First rank of each process (a task of the group of processes), and one more at the end
  std::vector<TaskRank> begin;
  std::int64_t mine = 0;  // this process
  Place place;
  bool relays = false;  // Group::relays of the group of processes

  TaskRank tasks() const { return begin.back(); }
  std::int64_t process_of(TaskRank rank) const {
    return std::upper_bound(begin.begin(), begin.end(), rank) - begin.begin() - 1;
  }
  TaskRank thread_of(TaskRank rank) const { return rank - begin[static_cast<std::size_t>(process_of(rank))]; }
};

// Shared by the threads of a process in one group.
struct HybridProcess {
  std::shared_ptr<const HybridLayout> layout;
  std::vector<const void*> shown;  // address from each thread for the leader, in the current collective
  template <class T>
  const T* shown_by(std::int64_t thread) const {
    return static_cast<const T*>(shown[static_cast<std::size_t>(thread)]);
  }
};

// Built from the message of each process: its number of threads, and its process in the group of processes.
std::shared_ptr<HybridLayout> layout_of(const Gathered& all, const Group& ranks) {
  auto layout = std::make_shared<HybridLayout>();
  layout->mine = ranks.rank();
  layout->place = ranks.place();
  layout->relays = ranks.relays();
  layout->place.tasks_in_process = 0;
  layout->begin.push_back(0);
  for (std::size_t p = 0; p < all.parts(); ++p) {
    ByteView part = all.part(p);
    const TaskRank threads = take_number(part);
    layout->begin.push_back(layout->begin.back() + threads);
    if (take_number(part) == layout->place.process) layout->place.tasks_in_process += threads;
  }
  for (TaskRank* leader : {&layout->place.process_leader, &layout->place.node_leader})
    *leader = layout->begin[static_cast<std::size_t>(*leader)];
  return layout;
}

std::shared_ptr<HybridProcess> share_layout(std::shared_ptr<const HybridLayout> layout) {
  auto process = std::make_shared<HybridProcess>();
  const auto mine = static_cast<std::size_t>(layout->mine);
  process->shown.resize(static_cast<std::size_t>(layout->begin[mine + 1] - layout->begin[mine]));
  process->layout = std::move(layout);
  return process;
}

// Collects the data of all processes on their leaders. Collective over `ranks`; out of memory may fail on this task
// alone.
Op<Result<std::shared_ptr<HybridProcess>>> find_layout(Group& ranks, TaskRank threads) {
  std::vector<std::int64_t> mine{threads, ranks.place().process};
  TW_CO_ASSIGN_OR_RETURN(const auto all, co_await ranks.allgather(view_of(mine)));
  co_return or_out_of_memory(
      [&]() -> Result<std::shared_ptr<HybridProcess>> { return share_layout(layout_of(all, ranks)); });
}

// Collective over the threads of a process: all get the leader's object.
template <class T>
Op<Result<std::shared_ptr<T>>> share_among(Group& threads, std::shared_ptr<T> of_leader) {
  std::function<std::shared_ptr<void>()> make = [&of_leader] { return std::shared_ptr<void>(of_leader); };
  TW_CO_ASSIGN_OR_RETURN(auto shared, co_await threads.share_in_process(std::move(make)));
  co_return std::static_pointer_cast<T>(std::move(shared));
}

constexpr std::size_t kFewNumbers = 31;  // of a reduction: their memory is not checked

class HybridGroup final : public BasicGroup {
 public:
  HybridGroup(std::unique_ptr<Group> threads, std::unique_ptr<Group> ranks, std::shared_ptr<HybridProcess> process)
      : threads_(std::move(threads)),
        ranks_(std::move(ranks)),
        process_(std::move(process)),
        layout_(process_->layout.get()) {}

  TaskRank rank() const noexcept override { return first_of_process() + threads_->rank(); }
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
  // Fails where the group has ended.
  Status enter(Primitive primitive) {
    TW_RETURN_IF_ERROR(ended());
    threads_->serve(call(), primitive, first_of_process());
    if (!leads()) return {};
    ranks_->serve(call(), primitive, 0);
    is_a_caller();
    return {};
  }
  // The first step failed: the threads of this process make different calls, and all of them return.
  Status end_here(Status why) {
    if (threads_->ended().ok()) return why;
    Leaver leaver = threads_->leaver();
    if (leaver.call == Call::none) leaver = {first_of_process(), call()};
    if (leads() && leaver.call != Call::none) ranks_->leave(leaver);
    end(threads_->ended(), leaver);
    return why;
  }
  // A task of another process has left.
  Status end_there(const Between& between) {
    if (between.leaver.call != Call::none) return end_with_leaver(*this, between.leaver);
    return between.status;
  }
  TaskRank first_of_process() const { return layout_->begin[static_cast<std::size_t>(layout_->mine)]; }

  // First step: passes the data of each thread to the leader; all threads stay until the third step.
  Op<Status> show(Primitive primitive, const void* mine);
  // Third step: passes the leader's object to all threads of this process.
  template <class T>
  Op<std::shared_ptr<T>> share(std::shared_ptr<T> of_leader);

  // Between the steps: whether all leaders can continue; the same answer on all of them.
  Op<Status> leaders_agree(Status mine, const char* collective);
  // After the third step: whether each task had memory for its share.
  Op<Status> all_agree(bool had_memory, const char* collective);
  Result<std::vector<Message>> by_process() const;
  Result<Gathered> pack_for_processes(const Gathered& parts) const;

  std::unique_ptr<Group> threads_;
  std::unique_ptr<Group> ranks_;  // null except on the leader
  std::shared_ptr<HybridProcess> process_;
  const HybridLayout* layout_;  // owned by process_
};

// Each thread writes its own entry. The leader reads it before the third step, so no thread overwrites it earlier.
// Where threads of this process make different calls it fails on all of them.
Op<Status> HybridGroup::show(Primitive primitive, const void* mine) {
  TW_CO_RETURN_IF_ERROR(enter(primitive));
  process_->shown[static_cast<std::size_t>(threads_->rank())] = mine;
  const Status all_have = co_await threads_->barrier();
  if (!all_have.ok()) co_return end_here(all_have);
  co_return Status{};
}

template <class T>
Op<std::shared_ptr<T>> HybridGroup::share(std::shared_ptr<T> of_leader) {
  auto shared = co_await share_among(*threads_, std::move(of_leader));
  co_return std::move(shared).value();
}

// agree() does not serve: its message would name the process number of the failing task.
Op<Status> HybridGroup::leaders_agree(Status mine, const char* collective) {
  std::vector<std::int64_t> vote(1, mine.ok() ? 0 : (mine.code() == Code::no_memory ? 1 : 2));
  TW_CO_ASSIGN_OR_RETURN(const auto worst, co_await ranks_->allreduce(std::move(vote), Reduction::max));
  if (worst[0] == 0) co_return Status{};
  if (worst[0] == 1) co_return no_memory_for(collective);
  co_return bad_arguments_in(collective);
}

Op<Status> HybridGroup::all_agree(bool had_memory, const char* collective) {
  Status status = had_memory ? Status{} : no_memory_for(collective);
  co_return co_await agree(*this, std::move(status));
}

Op<Status> HybridGroup::barrier() {
  TW_CO_RETURN_IF_ERROR(co_await show(Primitive::barrier, nullptr));
  auto status = std::make_shared<Status>();
  if (leads()) *status = co_await ranks_->barrier();
  status = co_await share(std::move(status));
  co_return *status;
}

Op<Result<Bytes>> HybridGroup::broadcast(ByteView data, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const std::int64_t from = layout_->process_of(root);
  TW_CO_RETURN_IF_ERROR(co_await show(Primitive::broadcast, &data));
  auto received = std::make_shared<Result<Bytes>>(Bytes{});
  if (leads()) {
    ByteView sent;
    if (from == layout_->mine) sent = *process_->shown_by<ByteView>(layout_->thread_of(root));
    *received = co_await ranks_->broadcast(sent, from);
  }
  received = co_await share(std::move(received));
  if (!received->has_value()) co_return received->error();
  if (received->value().size() <= kSmallPart) co_return received->value();
  Bytes mine;
  const bool good = try_assign(mine, received->value());
  TW_CO_RETURN_IF_ERROR(co_await all_agree(good, "broadcast"));
  co_return mine;
}

Op<Result<Gathered>> HybridGroup::gather(ByteView data, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  TW_CO_RETURN_IF_ERROR(co_await show(Primitive::gather, &data));
  auto gathered = std::make_shared<Result<Gathered>>(Gathered{});
  if (leads()) {
    Bytes packed;
    const bool good = try_to([&] {
      for (TaskRank t = 0; t < threads_->size(); ++t)
        pack_message(packed, first_of_process() + t, root, *process_->shown_by<ByteView>(t));
    });
    Status status = good ? Status{} : out_of_memory();
    status = co_await leaders_agree(std::move(status), "gather");
    if (status.ok()) *gathered = co_await ranks_->gather(packed, layout_->process_of(root));
    if (!status.ok()) *gathered = status;
  }
  gathered = co_await share(std::move(gathered));
  if (!gathered->has_value()) co_return gathered->error();
  Gathered all;
  const bool good = rank() != root || try_to([&] {
                      const Gathered& packed = gathered->value();
                      all.begin.reserve(static_cast<std::size_t>(size()) + 1);
                      all.data.reserve(packed.data.size());
                      for_each_message(packed.data, [&](TaskRank, TaskRank, ByteView part) {
                        all.begin.push_back(all.data.size());
                        put_bytes(all.data, part);
                      });
                      all.begin.push_back(all.data.size());
                    });
  TW_CO_RETURN_IF_ERROR(co_await all_agree(good, "gather"));
  co_return all;
}

Op<Result<Gathered>> HybridGroup::allgather(ByteView data) {
  if (layout_->begin.size() > 2) co_return co_await BasicGroup::allgather(data);
  // The threads of one process are all tasks.
  TW_CO_RETURN_IF_ERROR(enter(Primitive::allgather));
  auto all = co_await threads_->allgather(data);
  if (!threads_->ended().ok()) co_return end_here(all.error());
  co_return all;
}

Op<Result<Bytes>> HybridGroup::scatter(const Gathered& parts, TaskRank root) {
  if (Status bad = check_root(root, size()); !bad.ok()) co_return bad;
  const std::int64_t from = layout_->process_of(root);
  TW_CO_RETURN_IF_ERROR(co_await show(Primitive::scatter, &parts));
  auto received = std::make_shared<Result<Bytes>>(Bytes{});
  if (leads()) {
    Result<Gathered> packed = Gathered{};
    if (from == layout_->mine) packed = pack_for_processes(*process_->shown_by<Gathered>(layout_->thread_of(root)));
    Status status = co_await leaders_agree(packed.status(), "scatter");
    if (status.ok()) *received = co_await ranks_->scatter(packed.value(), from);
    if (!status.ok()) *received = status;
  }
  received = co_await share(std::move(received));
  if (!received->has_value()) co_return received->error();
  Bytes mine;
  const bool good = try_to([&] {
    for_each_message(received->value(), [&](TaskRank, TaskRank receiver, ByteView data) {
      if (receiver == rank()) mine.assign(data.begin(), data.end());
    });
  });
  TW_CO_RETURN_IF_ERROR(co_await all_agree(good, "scatter"));
  co_return mine;
}

// On the leader of the root: the parts of the tasks of each process, packed (pack_message).
Result<Gathered> HybridGroup::pack_for_processes(const Gathered& parts) const try {
  if (Status bad = check_parts(parts, size()); !bad.ok()) return bad;
  Gathered packed;
  for (TaskRank r = 0; r < size(); ++r) {
    if (r == layout_->begin[packed.begin.size()]) packed.begin.push_back(packed.data.size());
    pack_message(packed.data, r, r, parts.part(static_cast<std::size_t>(r)));
  }
  packed.begin.push_back(packed.data.size());
  return packed;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Op<Result<std::vector<std::int64_t>>> HybridGroup::allreduce(std::vector<std::int64_t> mine, Reduction how) {
  TW_CO_RETURN_IF_ERROR(enter(Primitive::allreduce));
  const bool large = mine.size() > kFewNumbers;
  std::vector<std::int64_t> sent;  // on the leader
  bool room = true;
  if (leads() && large) room = try_resize(sent, mine.size());
  if (leads() && !large) sent.resize(mine.size());
  auto here = co_await threads_->allreduce(std::move(mine), how);
  if (!threads_->ended().ok()) co_return end_here(here.error());
  if (!large && here.status().code() == Code::no_memory) end_in_call("out of memory");
  auto result = std::make_shared<Result<std::vector<std::int64_t>>>(std::vector<std::int64_t>{});
  if (leads()) {
    Status status;
    // A short vector of a wrong length is a defect of the program; the other processes must not wait for it.
    if (large) status = room ? here.status() : no_memory_for("allreduce");
    if (large) status = co_await leaders_agree(std::move(status), "allreduce");
    if (here.has_value() && status.ok()) std::copy(here.value().begin(), here.value().end(), sent.begin());
    if (status.ok()) *result = co_await ranks_->allreduce(std::move(sent), how);
    if (!status.ok()) *result = status;
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
  threads_->serve(leaver.call, Primitive::leave, first_of_process());
  threads_->leave(leaver);
  if (leads()) ranks_->leave(leaver);
  end(has_left(leaver), leaver);
}

// `mine` holds the record of this process during the fold between leaders.
Op<Status> HybridGroup::fold(void* mine, void* before, Folding how) {
  TW_CO_RETURN_IF_ERROR(enter(Primitive::fold));
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
  Folding::Room lower;
  std::memcpy(&lower, between->records.data() + how.bytes, how.bytes);
  if (threads_->rank() > 0) how.join(&lower, before);
  std::memcpy(before, &lower, how.bytes);
  co_return Status{};
}

// On the leader: one message per receiving process, with the messages of this process's threads.
Result<std::vector<Message>> HybridGroup::by_process() const try {
  std::map<TaskRank, Bytes> carried;
  for (TaskRank t = 0; t < threads_->size(); ++t) {
    const auto* outgoing = process_->shown_by<std::vector<Message>>(t);
    if (Status bad = check_peers(*outgoing, size()); !bad.ok()) return bad;
    for (const Message& message : *outgoing)
      pack_message(carried[layout_->process_of(message.peer)], first_of_process() + t, message.peer, message.data);
  }
  return messages_of(std::move(carried));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// Processes come in order, and so do the threads within each message: the result is sorted by source.
Op<Result<std::vector<Message>>> HybridGroup::exchange(std::vector<Message> outgoing) {
  TW_CO_RETURN_IF_ERROR(co_await show(Primitive::exchange, &outgoing));
  auto received = std::make_shared<Result<std::vector<Message>>>(std::vector<Message>{});
  if (leads()) {
    auto carried = by_process();
    Status status = co_await leaders_agree(carried.status(), "exchange");
    if (status.ok()) *received = co_await ranks_->exchange(std::move(carried).value());
    if (!status.ok()) *received = status;
  }
  received = co_await share(std::move(received));
  if (!received->has_value()) co_return received->error();
  std::vector<Message> mine;
  const bool good = try_to([&] {
    for (const Message& from_process : received->value()) take_messages(from_process.data, rank(), mine);
  });
  TW_CO_RETURN_IF_ERROR(co_await all_agree(good, "exchange"));
  co_return mine;
}

Op<Result<std::shared_ptr<void>>> HybridGroup::share_in_process(std::function<std::shared_ptr<void>()> make) {
  using Object = Result<std::shared_ptr<void>>;
  TW_CO_RETURN_IF_ERROR(enter(Primitive::share_in_process));
  auto object = std::make_shared<Object>(std::shared_ptr<void>{});
  // Several "processes" of `ranks_` may be one address space (a team of teams), which that group detects.
  if (leads()) *object = co_await ranks_->share_in_process(std::move(make));
  const auto shared = co_await share_among(*threads_, std::move(object));
  if (!shared.has_value()) co_return end_here(shared.error());
  co_return *shared.value();
}

Op<Result<std::unique_ptr<Group>>> HybridGroup::copy(Copy of_ranks) {
  TW_CO_RETURN_IF_ERROR(enter(Primitive::duplicate));
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
  TW_CO_ASSIGN_OR_RETURN(auto shared, co_await share_among(*threads, std::move(made)));
  made = std::move(shared);
  if (!made->has_value()) co_return made->error();
  co_return std::unique_ptr<Group>(std::make_unique<HybridGroup>(std::move(threads), std::move(ranks), made->value()));
}

}  // namespace thalweg
