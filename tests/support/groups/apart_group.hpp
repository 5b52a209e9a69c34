// ApartGroup: presents each task as a process of its own. No task reads the memory of another one, all data goes by
// messages, and each task opens files for itself.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "group/group.hpp"

namespace thalweg::test {

class ApartGroup final : public Group {
 public:
  // `on_node` consecutive ranks share a node.
  explicit ApartGroup(std::unique_ptr<Group> inner, std::int64_t on_node = 1)
      : inner_(std::move(inner)), on_node_(on_node) {}

  TaskRank rank() const noexcept override { return inner_->rank(); }
  TaskRank size() const noexcept override { return inner_->size(); }
  const char* kind() const noexcept override { return "apart"; }
  Place place() const noexcept override {
    Place place;
    place.process = place.process_leader = rank();
    place.processes = size();
    place.node = rank() / on_node_;
    place.nodes = (size() + on_node_ - 1) / on_node_;
    place.node_leader = place.node * on_node_;
    return place;
  }

  void end(Status why, Leaver leaver = {}) noexcept override {
    inner_->end(why, leaver);
    Group::end(std::move(why), leaver);
  }
  void leave(Leaver leaver) noexcept override {
    inner_->leave(leaver);
    Group::end(inner_->ended(), inner_->leaver());
  }

  Op<Status> barrier() override { return inner_->barrier(); }
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) override { return inner_->broadcast(data, root); }
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) override { return inner_->gather(data, root); }
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) override { return inner_->scatter(parts, root); }
  Op<Result<Gathered>> allgather(ByteView data) override { return inner_->allgather(data); }
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction how) override {
    return inner_->allreduce(std::move(mine), how);
  }
  Op<Status> fold(void* mine, void* before, Folding how) override {
    const Status status = co_await inner_->fold(mine, before, how);
    if (!inner_->ended().ok()) Group::end(inner_->ended(), inner_->leaver());
    co_return status;
  }
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override {
    return inner_->exchange(std::move(outgoing));
  }
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override {
    if (!ended().ok()) co_return ended();
    co_return make();
  }
  Op<Result<std::unique_ptr<Group>>> duplicate() override {
    auto copy = co_await inner_->duplicate();
    if (!copy.has_value()) co_return copy.error();
    co_return std::unique_ptr<Group>(std::make_unique<ApartGroup>(std::move(copy).value(), on_node_));
  }

 private:
  const std::unique_ptr<Group> inner_;
  const std::int64_t on_node_;
};

}  // namespace thalweg::test
