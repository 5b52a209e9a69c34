// Self: a group of one task. Every collective is complete when it starts.

#include "group/groups.hpp"
#include "group/memory.hpp"

namespace thalweg {

namespace {

Result<Gathered> only_part(ByteView data) {
  Gathered all;
  if (!try_assign(all.data, data) || !try_resize(all.begin, 2)) return no_memory_for("gather");
  all.begin[1] = data.size();
  return all;
}

class SelfGroup final : public Group {
 public:
  TaskRank rank() const noexcept override { return 0; }
  TaskRank size() const noexcept override { return 1; }
  Place place() const noexcept override { return {}; }
  const char* kind() const noexcept override { return "self"; }

  Op<Status> barrier() override { co_return Status{}; }
  Op<Result<Bytes>> broadcast(ByteView data, TaskRank root) override {
    if (Status bad = check_root(root, 1); !bad.ok()) co_return bad;
    Bytes copy;
    if (!try_assign(copy, data)) co_return no_memory_for("broadcast");
    co_return copy;
  }
  Op<Result<Gathered>> gather(ByteView data, TaskRank root) override {
    if (Status bad = check_root(root, 1); !bad.ok()) co_return bad;
    co_return only_part(data);
  }
  Op<Result<Bytes>> scatter(const Gathered& parts, TaskRank root) override {
    if (Status bad = check_root(root, 1); !bad.ok()) co_return bad;
    if (Status bad = check_parts(parts, 1); !bad.ok()) co_return bad;
    Bytes copy;
    if (!try_assign(copy, parts.part(0))) co_return no_memory_for("scatter");
    co_return copy;
  }
  Op<Result<Gathered>> allgather(ByteView data) override { co_return only_part(data); }
  Op<Result<std::vector<std::int64_t>>> allreduce(std::vector<std::int64_t> mine, Reduction) override {
    co_return std::move(mine);
  }
  Op<Status> fold(void*, void*, Folding) override { co_return Status{}; }
  Op<Result<std::vector<Message>>> exchange(std::vector<Message> outgoing) override {
    if (Status bad = check_peers(outgoing, 1); !bad.ok()) co_return bad;
    co_return std::move(outgoing);  // all messages go to task 0, in order
  }
  Op<Result<std::shared_ptr<void>>> share_in_process(std::function<std::shared_ptr<void>()> make) override {
    co_return make();
  }
  Op<Result<std::unique_ptr<Group>>> duplicate() override { co_return make_self_group(); }
};

}  // namespace

std::unique_ptr<Group> make_self_group() { return std::make_unique<SelfGroup>(); }

}  // namespace thalweg
