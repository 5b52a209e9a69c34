// Replaces operator new by one that refuses allocations on a thread, one or all of them, and checks that every group
// then returns one status on all tasks, never hangs and stays usable. One source of a program includes this file. All
// forms are replaced, so that matching forms allocate and free.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "group/agree.hpp"
#include "support/groups/group_data.hpp"

namespace thalweg::test {

inline thread_local std::size_t refuse_from = SIZE_MAX;
inline thread_local std::int64_t refuse_at = 0;  // number of the refused allocation; 0: all
inline thread_local std::int64_t n_asked = 0;    // allocations of at least that size

inline bool refuses(std::size_t size) { return size >= refuse_from && (++n_asked == refuse_at || refuse_at == 0); }

}  // namespace thalweg::test

void* operator new(std::size_t size) {
  if (thalweg::test::refuses(size)) throw std::bad_alloc();
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace thalweg::test {

constexpr std::size_t kLarge = 1 << 20;
// Smaller blocks that are refused end the program (docs/adr/0016-memory.md).
constexpr std::size_t kBookkeeping = 4097;

// Scope in which allocations of at least `from` bytes fail on one task: all of them, or one.
class Poor {
 public:
  explicit Poor(bool poor, std::size_t from = kLarge / 2, std::int64_t at = 0) {
    refuse_at = at;
    n_asked = 0;
    if (poor) refuse_from = from;
  }
  ~Poor() { refuse_from = SIZE_MAX; }
  Poor(const Poor&) = delete;
  Poor& operator=(const Poor&) = delete;
};

// Arguments of a task for a collective, allocated beforehand.
struct Given {
  static constexpr std::size_t kBytes = 5000;
  explicit Given(const Group& group)
      : data(bytes_of(group.rank(), 1, kBytes)), numbers(kBytes / sizeof(std::int64_t) + 1, group.rank()) {
    const auto tasks = static_cast<std::size_t>(group.size());
    for (std::size_t r = 0; r <= tasks; ++r) parts.begin.push_back(r * kBytes);
    parts.data.resize(parts.begin.back());
    for (std::size_t i = 0; i < 60; ++i) messages.push_back({static_cast<TaskRank>(i % tasks), data});
    if (group.rank() == 0) failure = Status::error(Code::io_error, std::string(400, 'x'));
  }
  Bytes data;
  Gathered parts;
  std::vector<Message> messages;
  std::vector<std::int64_t> numbers;
  Folding::Room all = {}, before = {};
  Status failure;
  std::unique_ptr<Group> copy;  // moved out after the scope without memory
};

struct Collective {
  const char* name;
  Status (*call)(Group& group, Given& given);
};

inline constexpr Collective kCollectives[] = {
    {"barrier", [](Group& group, Given&) { return run(group.barrier()); }},
    {"broadcast",
     [](Group& group, Given& given) { return run(group.broadcast(given.data, group.size() - 1)).status(); }},
    {"gather", [](Group& group, Given& given) { return run(group.gather(given.data, group.size() - 1)).status(); }},
    {"scatter", [](Group& group, Given& given) { return run(group.scatter(given.parts, 0)).status(); }},
    {"allgather", [](Group& group, Given& given) { return run(group.allgather(given.data)).status(); }},
    {"allreduce", [](Group& group,
                     Given& given) { return run(group.allreduce(std::move(given.numbers), Reduction::sum)).status(); }},
    {"fold",
     [](Group& group, Given& given) {
       const Folding how{Folding::kMost, [](void*, const void*) {}};
       return run(group.fold(&given.all, &given.before, how));
     }},
    {"exchange", [](Group& group, Given& given) { return run(group.exchange(std::move(given.messages))).status(); }},
    {"share_in_process",
     [](Group& group, Given&) { return run(group.share_in_process([] { return std::shared_ptr<void>(); })).status(); }},
    {"duplicate",
     [](Group& group, Given& given) {
       auto copy = run(group.duplicate());
       if (!copy.has_value()) return copy.error();
       given.copy = std::move(copy).value();
       return Status{};
     }},
    {"agree", [](Group& group, Given& given) { return run(agree(group, given.failure)); }},
};

// The maximum over all tasks.
inline std::int64_t largest(Group& group, std::int64_t mine) {
  return run(group.allreduce(std::vector<std::int64_t>(1, mine), Reduction::max)).value()[0];
}

// Refuses all allocations above a few words on one task, or each in turn.
inline void whatever_is_refused_is_one_status(Group& group) {
  std::int64_t n_failed = 0;
  for (const Collective& collective : kCollectives) {
    for (TaskRank poor_task = 0; poor_task < group.size(); poor_task += std::max<TaskRank>(group.size() / 4, 1)) {
      std::int64_t most = 1;
      for (std::int64_t at = 0; at <= most; ++at) {
        Given given(group);
        Status status;
        {
          const Poor scope(group.rank() == poor_task, kBookkeeping, at);
          status = collective.call(group, given);
        }
        const std::int64_t asked = n_asked;  // by this collective
        given.copy.reset();
        const auto code = static_cast<std::int64_t>(status.code());
        EXPECT_EQ(largest(group, code), -largest(group, -code)) << collective.name;
        const Code expected = std::string(collective.name) == "agree" ? Code::io_error : Code::ok;
        EXPECT_TRUE(status.code() == expected || status.code() == Code::no_memory)
            << collective.name << ": " << status.message();
        most = largest(group, group.rank() == poor_task ? asked : 0);
        EXPECT_TRUE(run(group.allgather(given.data)).has_value());
        n_failed += status.code() == Code::no_memory ? 1 : 0;
      }
    }
  }
  if (group.size() > 1) {
    EXPECT_GT(n_failed, 0);  // a group of one task allocates only its results
  }
}

}  // namespace thalweg::test
