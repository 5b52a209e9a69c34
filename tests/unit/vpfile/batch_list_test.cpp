// BatchList: which batches have a VP, compared with a search through all, in passes upwards, downwards and at random.
#include "vpfile/streams/batch_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/campaign/random.hpp"

namespace thalweg::test {
namespace {

using Batches = std::vector<const format::Batch*>;

constexpr std::uint64_t kVps = 150;

void expect_those_of(BatchList& list, std::uint64_t vp) {
  Batches wanted;
  for (const format::Batch& batch : list.all())
    if (batch.lost == 0 && vp >= batch.vp && vp < batch.vp + batch.n) wanted.push_back(&batch);
  const auto found = list.of(vp);
  EXPECT_EQ(Batches(found.begin(), found.end()), wanted) << "VP " << vp;
}

std::uint64_t next_by_search(const BatchList& list, std::uint64_t vp) {
  std::uint64_t next = BatchList::kNone;
  for (const format::Batch& batch : list.all())
    if (batch.lost == 0 && batch.vp + batch.n > vp) next = std::min(next, std::max(batch.vp, vp));
  return next;
}

TEST(BatchList, FindsThoseThatAreLost) {
  std::vector<format::Batch> batches(3);
  batches[0] = {.vp = 3, .n = 4};
  batches[1] = {.vp = 5, .n = 9, .lost = 1};
  batches[2] = {.vp = 0, .n = 0, .lost = 1};
  BatchList lost(batches, true);
  for (std::uint64_t vp = 0; vp < 20; ++vp) EXPECT_EQ(lost.of(vp).size(), vp >= 5 && vp < 14 ? 1u : 0u) << "VP " << vp;
}

TEST(BatchList, FindsThoseOfEachVpInTheirOrder) {
  for (std::uint64_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    Random random = random_of(seed, 0);
    BatchList list;
    for (std::uint64_t n = below(random, 12); n > 0; --n) {
      format::Batch batch;
      batch.vp = below(random, kVps);
      batch.n = static_cast<std::uint32_t>(1 + below(random, below(random, 3) == 0 ? kVps : 8));
      batch.superblock = n;
      batch.lost = below(random, 6) == 0 ? 1 : 0;
      list.add(batch);
      expect_those_of(list, below(random, kVps));
    }
    for (std::uint64_t vp = 0; vp < kVps; ++vp) expect_those_of(list, vp);
    for (std::uint64_t vp = kVps; vp-- > 0;) expect_those_of(list, vp);
    for (std::uint64_t i = 0; i < kVps; ++i) expect_those_of(list, below(random, 2 * kVps));
    for (std::uint64_t vp = 0; vp < 2 * kVps; ++vp) EXPECT_EQ(list.next(vp), next_by_search(list, vp)) << "VP " << vp;
  }
}

}  // namespace
}  // namespace thalweg::test
