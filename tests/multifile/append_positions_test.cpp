// An append begins at the end of each logical file, for logical files of one task in any physical files.
#include <gtest/gtest.h>

#include "group/groups.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"

namespace thalweg::test {
namespace {

std::unique_ptr<Multifile> opened(const std::shared_ptr<Backend>& backend, MultifileMode access,
                                  std::int64_t n_logical) {
  OpenRequest request;
  request.backend = backend;
  request.path = "append.tw";
  request.access = access;
  request.options.physical_files = 3;
  request.serving = {Serving::Kind::range, n_logical, 0, n_logical, {}};
  const auto group = make_self_group();
  return run(open_multifile(*group, std::move(request))).value();
}

void closed(std::unique_ptr<Multifile> file) {
  const auto group = make_self_group();
  const Status status = run(close_multifile(*group, std::move(file)));
  EXPECT_TRUE(status.ok()) << status.message();
}

// All physical files have equal lengths, so that their indexes have equal offsets. A cache once confused pages of two
// indexes.
TEST(Append, BeginsAtTheEndOfEachLogicalFileOfSeveralPhysicalFiles) {
  constexpr std::int64_t kLogical = 6;
  const auto backend = make_memory_backend();
  auto file = opened(backend, MultifileMode::create, kLogical);
  for (std::uint64_t rank = 0; rank < kLogical; ++rank) {
    ASSERT_TRUE(file->writing->seek_to(rank, 0).ok());
    const std::vector<std::byte> data(100 + rank, std::byte{1});
    ASSERT_TRUE(file->writing->write(*file->writing->current(), data).ok());
  }
  closed(std::move(file));

  file = opened(backend, MultifileMode::append, kLogical);

  for (std::uint64_t rank = 0; rank < kLogical; ++rank) {
    ASSERT_TRUE(file->writing->seek_to(rank, -1).ok());
    EXPECT_EQ(file->writing->current()->position(), 100 + rank) << "of logical file " << rank;
  }
  closed(std::move(file));
}

}  // namespace
}  // namespace thalweg::test
