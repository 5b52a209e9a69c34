// A group that opens several files in turn: data about its tasks, collected at the first open, is kept on all tasks or
// on none, whatever fails meanwhile.
#include <cerrno>
#include <cstring>

#include "sharedfile/plain_file.hpp"
#include "sim/memory_backend.hpp"
#include "support/files/shared_files.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

using Known = std::shared_ptr<const Helpers>;

constexpr std::size_t kPiece = 100;
constexpr std::size_t kPieces = 20;

class OpeningAgain : public SharedFiles {
 protected:
  PlainOpen opening(std::string hints) const {
    PlainOpen how;
    how.path = path();
    how.options.read = how.options.write = how.options.create = true;
    how.hints = "method=aggregate," + std::move(hints);
    return how;
  }

  // All tasks write interleaved and read back, through aggregators.
  static Op<Status> write_and_read(PlainFile& file, int round) {
    Group& group = file.group();
    const auto task = static_cast<std::size_t>(group.rank());
    const std::string text = text_of(static_cast<int>(task), kPiece * kPieces, round);
    std::string memory = text;
    std::vector<Extent> extents;
    for (std::size_t i = 0; i < kPieces; ++i)
      extents.push_back({reinterpret_cast<std::byte*>(memory.data()) + i * kPiece, kPiece,
                         (i * static_cast<std::size_t>(group.size()) + task) * kPiece});
    for (const Direction direction : {Direction::write, Direction::read}) {
      TaskAccess access;
      access.direction = direction;
      access.extents = extents;
      const Outcome outcome = co_await file.access(access);
      EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
      EXPECT_EQ(outcome.plan.method, Method::aggregate);
      if (direction == Direction::write) std::fill(memory.begin(), memory.end(), '#');
    }
    EXPECT_TRUE(memory == text) << "task " << task << ", round " << round;
    co_return Status{};
  }

  // Opens, uses and closes; returns the task data known then.
  Op<Known> use(Group& group, std::string hints, int round) {
    auto opened = co_await PlainFile::open(group, posix_backend(), opening(std::move(hints)));
    EXPECT_TRUE(opened.has_value()) << opened.status().message();
    if (!opened.has_value()) co_return Known();
    PlainFile& file = *opened.value();
    Status status = co_await write_and_read(file, round);
    Known known = file.shared()->helpers;
    status = co_await file.close();
    EXPECT_TRUE(status.ok()) << status.message();
    co_return known;
  }

  Op<Status> fail(Group& group, PlainOpen how, Code code, std::string text) {
    const auto opened = co_await PlainFile::open(group, posix_backend(), std::move(how));
    EXPECT_EQ(opened.status().code(), code);
    EXPECT_EQ(opened.status().message().rfind(text, 0), 0u) << opened.status().message();
    co_return Status{};
  }

  Op<Status> open_again_and_again(Group& group) {
    const Known first = co_await use(group, "", 1);
    const Known second = co_await use(group, "", 2);
    EXPECT_EQ(first, second);

    const Known one = co_await use(group, "aggregators=1", 3);
    EXPECT_EQ(one->aggregators.size(), 1u);
    PlainOpen how = opening("");
    how.path += ".absent";
    how.options.create = false;
    Status status = co_await fail(group, how, Code::not_found, "task 0: ");
    how.hints = "aggregators=many";
    status = co_await fail(group, how, Code::unknown_hint, "value 'many' of hint 'aggregators'");
    how.hints = "";
    how.options.exclusive = group.rank() == group.size() - 1;
    status = co_await fail(group, how, Code::invalid_argument, "task ");
    const Known still_one = co_await use(group, "aggregators=1", 4);
    EXPECT_EQ(one, still_one);

    // Task 0's hint counts for all.
    const Known two = co_await use(group, group.rank() == 0 ? "aggregators=2" : "aggregators=1", 5);
    EXPECT_EQ(two->aggregators.size(), 2u);
    const Known as_first = co_await use(group, "", 6);
    EXPECT_EQ(as_first->aggregators.size(), first->aggregators.size());
    EXPECT_EQ(as_first->node_leaders, first->node_leaders);
    EXPECT_EQ(as_first->tasks_of_node, first->tasks_of_node);

    auto copy = co_await group.duplicate();
    if (!copy.has_value()) co_return copy.error();
    const Known of_copy = co_await use(*copy.value(), "", 7);
    EXPECT_NE(of_copy, as_first);
    EXPECT_EQ(of_copy->aggregators.size(), first->aggregators.size());
    const Known last = co_await use(group, "", 8);
    EXPECT_EQ(last, as_first);
    co_return Status{};
  }
};

TEST_F(OpeningAgain, LooksForAggregatorsOnce) {
  const SimOptions worlds[] = {
      {.tasks = 2, .seed = 1, .processes_per_node = 2},
      {.tasks = 6, .seed = 2, .processes_per_node = 3},
      {.tasks = 5, .seed = 3, .processes_per_node = 1},
      {.tasks = 9, .seed = 4, .tasks_per_process = 2, .processes_per_node = 3},
  };
  for (const SimOptions& options : worlds) {
    SCOPED_TRACE(std::to_string(options.tasks) + " tasks");
    std::filesystem::remove(path());
    run_on_sim(options, [&](Group& group) { return open_again_and_again(group); });
  }
}

TEST_F(OpeningAgain, LooksForAggregatorsOnceInProcesses) {
  for (const int threads : {1, 2}) {
    std::filesystem::remove(path());
    on_processes(3, threads, [&](tw_group* group, int) { EXPECT_TRUE(run(open_again_and_again(*group->impl)).ok()); });
  }
}

TEST_F(OpeningAgain, ByAThousandTasks) {
  run_on_sim(SimOptions{.tasks = 1000, .seed = 5, .tasks_per_process = 4, .processes_per_node = 5},
             [&](Group& group) -> Op<Status> {
               Known known[2];
               for (Known& one : known) {
                 auto opened = co_await PlainFile::open(group, posix_backend(), opening(""));
                 EXPECT_TRUE(opened.has_value()) << opened.status().message();
                 if (!opened.has_value()) co_return opened.error();
                 one = opened.value()->shared()->helpers;
                 const Status closed = co_await opened.value()->close();
                 if (!closed.ok()) co_return closed;
               }
               EXPECT_EQ(known[0], known[1]);
               EXPECT_EQ(known[0]->aggregators.size(), 200u);
               EXPECT_EQ(known[0]->tasks_of_node, 20);
               co_return Status{};
             });
}

// Files that one group has open one after the other and at the same time: their collectives do not mix.
class FilesOfAGroup : public OpeningAgain {
 protected:
  using File = std::unique_ptr<PlainFile>;

  File open_one(Group& group, const std::string& name) const {
    PlainOpen how = opening("");
    how.path += name;
    auto opened = run(PlainFile::open(group, posix_backend(), std::move(how)));
    EXPECT_TRUE(opened.has_value()) << opened.status().message();
    return opened.has_value() ? std::move(opened).value() : File();
  }

  // Blocking accesses, then twice as many requests as can progress at once.
  static void use_all_of(PlainFile& file) {
    EXPECT_TRUE(run(write_and_read(file, 1)).ok());
    const auto task = static_cast<std::uint64_t>(file.group().rank());
    std::string text = text_of(static_cast<int>(task), 2 * PlainFile::kRequestChannels, 2);
    std::vector<std::shared_ptr<AccessRequest>> requests;
    std::vector<Extent> extents(text.size());  // unchanged until the requests are complete
    for (std::size_t i = 0; i < text.size(); ++i) {
      extents[i] = {reinterpret_cast<std::byte*>(text.data()) + i, 1, task * text.size() + i};
      TaskAccess access;
      access.direction = Direction::write;
      access.extents = {&extents[i], 1};
      requests.push_back(file.request(access));
      start(requests.back(), ProgressMode::poll);
    }
    for (const auto& request : requests) {
      wait_for(*request);
      EXPECT_TRUE(request->outcome().status.ok()) << request->outcome().status.message();
    }
  }

  static void close(File file) { EXPECT_TRUE(run(file->close()).ok()); }

  void on_all(const std::function<void(Group&, int)>& body) const {
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(std::to_string(threads) + " threads");
      on_processes(3, threads, [&](tw_group* group, int task) { body(*group->impl, task); });
    }
  }
};

TEST_F(FilesOfAGroup, OneAfterTheOther) {
  on_all([&](Group& group, int) {
    for (int i = 0; i < 4; ++i) {
      File file = open_one(group, "");
      use_all_of(*file);
      close(std::move(file));
    }
  });
}

TEST_F(FilesOfAGroup, AtOnce) {
  on_all([&](Group& group, int) {
    File one = open_one(group, ".1"), two = open_one(group, ".2");
    use_all_of(*one);
    use_all_of(*two);
    close(std::move(two));
    use_all_of(*one);
    two = open_one(group, ".2");
    close(std::move(one));
    use_all_of(*two);
    close(std::move(two));
  });
}

TEST_F(FilesOfAGroup, GoOnWhenTheGroupIsGone) {
  on_all([&](Group& group, int) {
    auto copy = run(group.duplicate()).value();
    File file = open_one(*copy, "");
    copy.reset();
    use_all_of(*file);
    close(std::move(file));
  });
}

TEST_F(FilesOfAGroup, AfterAFailedAccess) {
  on_all([&](Group& group, int task) {
    File file = open_one(group, "");
    TaskAccess access;
    access.direction = Direction::write;
    if (task == 0) access.status = Status::error(Code::invalid_argument, "as the test wants it");
    EXPECT_EQ(run(file->access(access)).status.code(), Code::invalid_argument);
    close(std::move(file));
    file = open_one(group, "");
    use_all_of(*file);
    close(std::move(file));
  });
}

TEST_F(FilesOfAGroup, AfterAFailedOpen) {
  on_all([&](Group& group, int) {
    close(open_one(group, ""));
    PlainOpen how = opening("");
    how.path += ".absent";
    how.options.create = false;
    EXPECT_EQ(run(PlainFile::open(group, posix_backend(), how)).status().code(), Code::not_found);
    File file = open_one(group, "");
    use_all_of(*file);
    close(std::move(file));
  });
}

// Whichever call of whichever process fails: all hear of it, and the next open goes as if nothing had been.
TEST_F(OpeningAgain, AfterAnyProcessCouldNot) {
  for (const TaskRank tasks : {2, 3}) {
    std::uint64_t all = 0;  // calls of an open
    for (std::uint64_t n = 0; n <= all && !HasFailure(); ++n) {
      const auto faulty = make_fault_backend(make_memory_backend());
      FaultScript script;
      if (n > 0) script.rules.push_back({.at = n, .os_errno = EIO});
      faulty->restart(script);
      std::vector<Status> heard(static_cast<std::size_t>(tasks));
      run_apart(tasks, [&](Group& group) {
        PlainOpen how = opening("");
        how.append = true;
        auto opened = run(PlainFile::open(group, faulty, how));
        heard[static_cast<std::size_t>(group.rank())] = opened.status();
        EXPECT_TRUE(run(group.barrier()).ok());
        if (n == 0 && group.rank() == 0) all = faulty->calls();
        EXPECT_TRUE(run(group.barrier()).ok());
        if (opened.has_value()) {
          EXPECT_TRUE(run(opened.value()->close()).ok());
        }
        opened = run(PlainFile::open(group, faulty, how));
        ASSERT_TRUE(opened.has_value()) << opened.status().message();
        EXPECT_TRUE(run(write_and_read(*opened.value(), 1)).ok());
        EXPECT_TRUE(run(opened.value()->close()).ok());
      });
      for (const Status& status : heard) {
        EXPECT_EQ(status.code(), n == 0 ? Code::ok : Code::io_error) << n;
        EXPECT_EQ(status.message(), heard[0].message());
        EXPECT_EQ(status.message().rfind("task ", 0) == 0, n > 0) << status.message();
      }
    }
    EXPECT_GE(all, 2 * static_cast<std::uint64_t>(tasks));
  }
}

}  // namespace
}  // namespace thalweg::test
