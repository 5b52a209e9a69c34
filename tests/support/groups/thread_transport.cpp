#include "support/groups/thread_transport.hpp"

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace thalweg::test {

namespace {

struct Slots {
  struct Slot {
    const void* data = nullptr;
    std::size_t bytes = 0;
    bool full = false;
  };
  explicit Slots(std::int64_t tasks) : size(static_cast<std::size_t>(tasks)), all(size * size) {}

  Slot& of(std::int64_t from, std::int64_t to) {
    return all[static_cast<std::size_t>(from) * size + static_cast<std::size_t>(to)];
  }

  const std::size_t size;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Slot> all;  // by sender, then receiver
};

struct Post {
  std::unique_ptr<Group> team;
  std::shared_ptr<Slots> slots;
};

Post* make_post(Group& team) {
  const auto make = [&team] { return std::shared_ptr<void>(std::make_shared<Slots>(team.size())); };
  auto slots = std::static_pointer_cast<Slots>(run(team.share_in_process(make)).value());
  return new Post{run(team.duplicate()).value(), std::move(slots)};
}

int send_receive(void* user, const void* out, std::size_t nbytes_out, std::int64_t to, void* in, std::size_t nbytes_in,
                 std::int64_t from) {
  const Post& post = *static_cast<Post*>(user);
  Slots& slots = *post.slots;
  std::unique_lock lock(slots.mutex);
  if (to >= 0) {
    slots.of(post.team->rank(), to) = {out, nbytes_out, true};
    slots.changed.notify_all();
  }
  if (from >= 0) {
    Slots::Slot& slot = slots.of(from, post.team->rank());
    slots.changed.wait(lock, [&] { return slot.full; });
    if (slot.bytes != nbytes_in) return 6;
    if (nbytes_in > 0) std::memcpy(in, slot.data, nbytes_in);
    slot.full = false;
    slots.changed.notify_all();
  }
  if (to >= 0) slots.changed.wait(lock, [&] { return !slots.of(post.team->rank(), to).full; });
  return 0;
}

int duplicate(void* user, void** copy) {
  *copy = make_post(*static_cast<Post*>(user)->team);
  return 0;
}

void release(void* user) { delete static_cast<Post*>(user); }

}  // namespace

tw_transport thread_transport(Group& team) {
  tw_transport transport{};
  transport.struct_size = sizeof transport;
  transport.rank = team.rank();
  transport.size = team.size();
  transport.user = make_post(team);
  transport.send_receive = send_receive;
  transport.duplicate = duplicate;
  transport.release = release;
  transport.process_id = transport.node_id = -1;
  return transport;
}

}  // namespace thalweg::test
