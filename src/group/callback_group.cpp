// Callbacks: the caller supplies barrier, broadcast, gather and scatter; the rest is built from them
// (basic_group.hpp).
//
// The callbacks block, so an Op of this group is complete when its start returns. Lengths travel ahead of data: a
// broadcast of eight bytes, or a gather of eight bytes from each task, comes first.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/vote.hpp"
#include "group/basic_group.hpp"
#include "group/find_place.hpp"
#include "group/groups.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

Status check(const char* callback, int code) {
  if (code == 0) return {};
  return Status::error(Code::io_error, "the caller's {} returned {}", callback, code);
}

// `user` of the callbacks is released when the last group that uses it is freed.
std::shared_ptr<const tw_collectives> take_over(const tw_collectives& given) {
  return {new tw_collectives(given), [](const tw_collectives* calls) {
            if (calls->release != nullptr) calls->release(calls->user);
            delete calls;
          }};
}

class CallbackGroup final : public BasicGroup {
 public:
  CallbackGroup(std::shared_ptr<const tw_collectives> calls, const Place& place)
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
  Op<Status> fold(void* mine, void* before, Folding how) override;
  void leave(Leaver leaver) noexcept override;
  Op<Result<std::unique_ptr<Group>>> duplicate() override;

 private:
  const tw_collectives& calls() const { return *calls_; }
  bool is(TaskRank root) const { return rank() == root; }
  Status send_number(std::int64_t* number, TaskRank root) const;
  Status gather_numbers(std::int64_t mine, std::vector<std::int64_t>* all, TaskRank root) const;
  Status scatter_numbers(const std::vector<std::int64_t>& all, std::int64_t* mine, TaskRank root) const;
  Status everybody_has(bool memory, const char* collective) const;
  Status vote();

  std::shared_ptr<const tw_collectives> calls_;
  const Place place_;
};

Status CallbackGroup::send_number(std::int64_t* number, TaskRank root) const {
  return check("broadcast", calls().broadcast(calls().user, number, sizeof *number, root));
}

// Gathers one number of every task; `all` is filled on the root.
Status CallbackGroup::gather_numbers(std::int64_t mine, std::vector<std::int64_t>* all, TaskRank root) const {
  std::vector<std::size_t> lengths;
  if (is(root)) {
    all->resize(static_cast<std::size_t>(size()));
    lengths.assign(static_cast<std::size_t>(size()), sizeof mine);
  }
  const int code = calls().gather(calls().user, &mine, sizeof mine, is(root) ? all->data() : nullptr,
                                  is(root) ? lengths.data() : nullptr, root);
  return check("gather", code);
}

Status CallbackGroup::scatter_numbers(const std::vector<std::int64_t>& all, std::int64_t* mine, TaskRank root) const {
  std::vector<std::size_t> lengths;
  if (is(root)) lengths.assign(static_cast<std::size_t>(size()), sizeof *mine);
  const int code = calls().scatter(calls().user, is(root) ? all.data() : nullptr, is(root) ? lengths.data() : nullptr,
                                   mine, sizeof *mine, root);
  return check("scatter", code);
}

// Agrees whether each task got its memory.
Status CallbackGroup::everybody_has(bool memory, const char* collective) const {
  std::vector<std::int64_t> all;
  TW_RETURN_IF_ERROR(gather_numbers(memory ? 0 : kToldNoMemory, &all, 0));
  std::int64_t worst = all.empty() ? 0 : *std::min_element(all.begin(), all.end());
  TW_RETURN_IF_ERROR(send_number(&worst, 0));
  return status_told(worst, collective);
}

Op<Status> CallbackGroup::barrier() {
  if (!ended().ok()) co_return ended();
  co_return check("barrier", calls().barrier(calls().user));
}

Op<Result<Bytes>> CallbackGroup::broadcast(ByteView data, TaskRank root) {
  if (!ended().ok()) co_return ended();
  TW_CO_RETURN_IF_ERROR(check_root(root, size()));
  auto length = static_cast<std::int64_t>(data.size());
  TW_CO_RETURN_IF_ERROR(send_number(&length, root));
  Bytes copy;
  if (length == 0) co_return copy;
  const bool good = is(root) ? try_assign(copy, data) : try_resize(copy, static_cast<std::uint64_t>(length));
  TW_CO_RETURN_IF_ERROR(everybody_has(good, "broadcast"));
  const int code = calls().broadcast(calls().user, copy.data(), copy.size(), root);
  if (code != 0) co_return check("broadcast", code);
  co_return copy;
}

Op<Result<Gathered>> CallbackGroup::gather(ByteView data, TaskRank root) {
  if (!ended().ok()) co_return ended();
  TW_CO_RETURN_IF_ERROR(check_root(root, size()));
  std::vector<std::int64_t> numbers;
  TW_CO_RETURN_IF_ERROR(gather_numbers(static_cast<std::int64_t>(data.size()), &numbers, root));
  Gathered all;
  const std::vector<std::size_t> lengths(numbers.begin(), numbers.end());
  const bool good = !is(root) || lay_out(all, numbers.size(), [&](std::size_t r) { return numbers[r]; });
  std::int64_t total = good ? static_cast<std::int64_t>(all.data.size()) : kToldNoMemory;
  TW_CO_RETURN_IF_ERROR(send_number(&total, root));
  TW_CO_RETURN_IF_ERROR(status_told(total, "gather"));
  if (total == 0) co_return all;
  const int code = calls().gather(calls().user, data.data(), data.size(), is(root) ? all.data.data() : nullptr,
                                  is(root) ? lengths.data() : nullptr, root);
  if (code != 0) co_return check("gather", code);
  co_return all;
}

Op<Result<Bytes>> CallbackGroup::scatter(const Gathered& parts, TaskRank root) {
  if (!ended().ok()) co_return ended();
  TW_CO_RETURN_IF_ERROR(check_root(root, size()));
  std::vector<std::int64_t> numbers;
  if (is(root)) {
    numbers.assign(static_cast<std::size_t>(size()), kToldBadArguments);
    if (check_parts(parts, size()).ok()) {
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(parts.part(i).size());
    }
  }
  std::int64_t length = 0;
  TW_CO_RETURN_IF_ERROR(scatter_numbers(numbers, &length, root));
  TW_CO_RETURN_IF_ERROR(status_told(length, "scatter"));
  Bytes mine;
  const bool good = try_resize(mine, static_cast<std::uint64_t>(length));
  TW_CO_RETURN_IF_ERROR(everybody_has(good, "scatter"));
  const std::vector<std::size_t> lengths(numbers.begin(), numbers.end());
  const int code = calls().scatter(calls().user, is(root) ? parts.data.data() + parts.begin.front() : nullptr,
                                   is(root) ? lengths.data() : nullptr, mine.data(), mine.size(), root);
  if (code != 0) co_return check("scatter", code);
  co_return mine;
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
  co_return co_await BasicGroup::fold(mine, before, how);
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
  tw_collectives copy = calls();
  const int code = calls().duplicate(calls().user, &copy.user);
  if (code != 0) co_return check("duplicate", code);
  co_return std::unique_ptr<Group>(std::make_unique<CallbackGroup>(take_over(copy), place_));
}

}  // namespace

Op<Result<std::unique_ptr<Group>>> make_callback_group(tw_collectives collectives) {
  const auto calls = take_over(collectives);
  CallbackGroup plain(calls, {});  // complete except for the places
  TW_CO_ASSIGN_OR_RETURN(const auto place, co_await find_place(plain, collectives.process_id, collectives.node_id));
  co_return std::unique_ptr<Group>(std::make_unique<CallbackGroup>(calls, place));
}

}  // namespace thalweg
