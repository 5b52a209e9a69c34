// Random programs compared with a byte-by-byte model: every kind of group, hints and numbers of files, appends, and
// reading with other numbers of tasks.
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>

#include "multifile/check/check_multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/groups/run_on.hpp"
#include "support/models/multifile_model.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

struct Shape {
  std::int64_t n_logical = 1;
  std::int64_t writers = 1;
  MultifileOptions options;
  MappingFunction mapping;
};

std::vector<std::uint64_t> share_of(std::int64_t n, std::int64_t task, std::int64_t tasks) {
  std::vector<std::uint64_t> ranks;
  for (std::int64_t r = n * task / tasks; r < n * (task + 1) / tasks; ++r)
    ranks.push_back(static_cast<std::uint64_t>(r));
  return ranks;
}

OpenRequest request_for(const std::shared_ptr<Backend>& backend, const std::string& path, MultifileMode access,
                        const Shape& shape, std::int64_t task, std::int64_t tasks) {
  OpenRequest request;
  request.backend = backend;
  request.path = path;
  request.access = access;
  request.options = shape.options;
  if (access == MultifileMode::create) request.mapping = shape.mapping;
  const auto ranks = share_of(shape.n_logical, task, tasks);
  Serving& serving = request.serving;
  if (access == MultifileMode::read && tasks == 1) return request;  // serves what was added, too
  serving.n_logical = shape.n_logical;
  if (task % 2 == 0) {
    serving.kind = Serving::Kind::list;
    for (auto r = ranks.rbegin(); r != ranks.rend(); ++r) serving.list.push_back(static_cast<std::int64_t>(*r));
  } else {
    serving.kind = Serving::Kind::range;
    serving.first = ranks.empty() ? 0 : static_cast<std::int64_t>(ranks.front());
    serving.count = static_cast<std::int64_t>(ranks.size());
  }
  return request;
}

Shape random_shape(std::mt19937_64& random) {
  Shape shape;
  shape.n_logical = static_cast<std::int64_t>(random() % 3 == 0 ? random() % 200 : random() % 9);
  shape.writers = 1 + static_cast<std::int64_t>(random() % 5);
  MultifileOptions& o = shape.options;
  o.physical_files = static_cast<std::uint32_t>(random() % 4);
  o.chunk_bytes = random() % 2 ? kAuto : 1 + random() % 300'000;
  o.buffer_bytes = random() % 3 == 0 ? 0 : 1 + random() % 300'000;
  if (random() % 3 != 0) o.added_bytes = 1 + random() % 1500;
  o.alignment_bytes = random() % 2 ? static_cast<std::uint32_t>(kAuto) : 512u << random() % 6;
  o.granule_bytes = 4096u << random() % 6;
  o.checksum = static_cast<format::Checksum>(random() % 4 != 0);
  o.codec = static_cast<format::Codec>(random() % 5 < 3 ? 0 : random() % 3);
  if (random() % 3 == 0) o.storage_hints = "io=direct,transfer_bytes=64KiB,queue_depth=2";
  if (random() % 3 == 0) {
    o.physical_files = 1 + static_cast<std::uint32_t>(random() % 4);
    shape.mapping = [](std::int64_t rank, std::int64_t, std::int32_t m) {
      return static_cast<std::int32_t>(rank * 7 % m);
    };
  }
  if (random() % 4 == 0) o.physical_files = shape.mapping ? 1 : static_cast<std::uint32_t>(kAuto);
  o.first_bytes = random() % 2 ? 1 : random() % 300'000;  // 0 and 4 MiB are in other tests
  return shape;
}

// Threads of one process, tasks without shared memory, or threads of several processes.
void on_some_group(std::int64_t tasks, std::uint64_t seed, const TeamBody& body) {
  if (tasks == 1 || seed % 3 == 0) {
    run_on_team(tasks, body);
  } else if (seed % 3 == 1) {
    run_on_callbacks(tasks, 0, body);
  } else {
    run_on_hybrid({tasks - tasks / 2, tasks / 2}, body);
  }
}

class MultifileModel : public ::testing::TestWithParam<int> {
 protected:
  // One writing session of `tasks` threads.
  void write(MultifileMode access, const Shape& shape, std::int64_t tasks, std::uint64_t seed) {
    std::mutex mutex;
    on_some_group(tasks, seed, [&](Group& group) {
      auto file = run(open_multifile(group, request_for(backend_, path_, access, shape, group.rank(), tasks)));
      ASSERT_TRUE(file.has_value()) << file.error().message();
      const auto ranks = share_of(shape.n_logical, group.rank(), tasks);
      Model mine;
      {
        const std::lock_guard lock(mutex);
        for (const auto rank : ranks) mine[rank] = model_[rank];
      }
      std::mt19937_64 random(seed * 31 + static_cast<std::uint64_t>(group.rank()));
      write_at_random(*(*file)->writing, ranks, mine, random, 20, 400'000);
      std::map<std::string, ModelFile> added;
      const std::string prefix = "session " + std::to_string(seed) + "/" + std::to_string(group.rank()) + "/";
      add_at_random(*(*file)->writing, prefix, added, random, static_cast<int>(seed % 3) * 20, 100'000);
      const Status closed = run(close_multifile(group, std::move(file).value()));
      ASSERT_TRUE(closed.ok()) << closed.message();
      const std::lock_guard lock(mutex);
      for (auto& [rank, content] : mine) model_[rank] = std::move(content);
      added_.merge(added);
    });
  }

  void check(const Shape& shape, std::int64_t tasks, std::uint64_t seed) {
    on_some_group(tasks, seed, [&](Group& group) {
      auto file =
          run(open_multifile(group, request_for(backend_, path_, MultifileMode::read, shape, group.rank(), tasks)));
      ASSERT_TRUE(file.has_value()) << file.error().message();
      std::mt19937_64 random(seed * 17 + static_cast<std::uint64_t>(group.rank()));
      expect_equal(*(*file)->reading, share_of(shape.n_logical, group.rank(), tasks), model_, random);
      if (tasks == 1) expect_found(*(*file)->reading, added_, random);
      EXPECT_TRUE(run(close_multifile(group, std::move(file).value())).ok());
    });
  }

  std::shared_ptr<Backend> backend_ = make_memory_backend();
  std::string path_ = "model.tw";
  Model model_;
  std::map<std::string, ModelFile> added_;  // by name
};

TEST_P(MultifileModel, ReadsWhatWasWrittenWhoeverReads) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  std::mt19937_64 random(seed);
  const Shape shape = random_shape(random);

  write(MultifileMode::create, shape, shape.writers, seed);
  check(shape, 1, seed);
  check(shape, 1 + static_cast<std::int64_t>(random() % 6), seed + 1);
  for (auto n = random() % 3; n > 0; --n) {
    write(MultifileMode::append, shape, 1 + static_cast<std::int64_t>(random() % 5), random());
    check(shape, 1 + static_cast<std::int64_t>(random() % 4), random());
  }

  CheckResult health;
  const Status verified = verify_multifile(backend_, path_, {}, health);
  EXPECT_TRUE(verified.ok()) << verified.message();
  EXPECT_GE(health.n_logical, static_cast<std::uint64_t>(shape.n_logical) + added_.size());
  const Status defragmented = defrag_multifile(backend_, path_, "tidy.tw", shape.options, {});
  ASSERT_TRUE(defragmented.ok()) << defragmented.message();
  path_ = "tidy.tw";
  check(shape, 2, seed + 2);
  check(shape, 1, seed + 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MultifileModel, ::testing::Range(0, tries_less() && kWatchesThreads ? 10 : 60));

}  // namespace
}  // namespace thalweg::test
