// Each allocation of an open writer in turn fails once, while the program continues as if nothing had happened. Data of
// every flush or close that succeeded is kept, and the file can be repaired and is then whole. Buffers are included.
#include <gtest/gtest.h>

#include "support/files/on_disk.hpp"
#include "support/memory/counting_new.hpp"

// Allocations of ByteBuffer.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  if (!thalweg::test::Allocations::grant(bytes)) return nullptr;
  void* memory = nullptr;
  return ::posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

namespace thalweg::test {
namespace {

constexpr std::int64_t kMostLogical = 20;
constexpr std::int64_t kTouched[] = {0, 2, kMostLogical - 1};  // as far as there are so many
constexpr std::size_t kMostBytes = 60'000;                     // of a logical file
constexpr int kRounds = 6;

char byte_of(std::int64_t rank, std::size_t i) {
  return static_cast<char>('a' + (static_cast<std::size_t>(rank) * 7 + i * i) % 23);
}

struct Shape {
  const char* name;
  std::int64_t n_logical;
  const char* compression;
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class WriterMemory : public OnDisk, public testing::WithParamInterface<Shape> {
 protected:
  void SetUp() override {
    OnDisk::SetUp();
    hint("physical_files", "1");
    hint("buffer_bytes", "4096");
    hint("chunk_bytes", "20000");
    hint("alignment_bytes", "512");
    hint("granule_bytes", "4096");
    hint("compression", GetParam().compression);
    const std::int64_t n = GetParam().n_logical;
    ASSERT_EQ(tw_options_set_range(config_, n, 0, n), TW_OK);
    for (std::int64_t rank = 0; rank < n; ++rank)
      for (std::size_t i = 0; i < kMostBytes; ++i) data_[rank][i] = byte_of(rank, i);
  }

  // Bytes of each logical file certified by calls. Only the library allocates.
  struct Told {
    bool opened = false, closed = false;
    std::size_t written[kMostLogical] = {}, kept[kMostLogical] = {};
    bool wrote_all = true;
    int refused = 0;  // failed calls
    bool out_of_memory_only = true;
  };
  bool good(tw_status status, Told& told) {
    told.refused += status != TW_OK;
    told.out_of_memory_only &= status == TW_OK || status == TW_ERR_NO_MEMORY;
    return status == TW_OK;
  }

  void write_record(tw_multifile* file, std::int64_t rank, std::size_t bytes, Told& told) {
    std::size_t& at = told.written[rank];
    if (!good(tw_multifile_seek_to(file, rank, static_cast<std::int64_t>(at)), told))
      return;  // a failed seek loses no data
    if (good(tw_multifile_write(file, data_[rank] + at, bytes), told)) {
      at += bytes;
    } else {
      told.wrote_all = false;
    }
  }
  void keep(Told& told) {
    for (std::int64_t rank = 0; rank < kMostLogical; ++rank) told.kept[rank] = told.written[rank];
  }

  // The `k`-th allocation between open and close fails.
  void program(std::uint64_t k, Told& told) {
    tw_multifile* file = nullptr;
    told.opened = good(tw_multifile_open(nullptr, path_.c_str(), TW_CREATE | TW_TRUNCATE, config_, &file), told);
    if (!told.opened) return;
    Allocations::start(k);
    for (int round = 0; round < kRounds; ++round) {
      for (const std::int64_t rank : kTouched)
        if (rank < GetParam().n_logical)
          for (const std::size_t bytes : {std::size_t{100}, std::size_t{900}, std::size_t{7000}})
            write_record(file, rank, bytes / static_cast<std::size_t>(1 + round % 2), told);
      if (round % 2 == 0 && good(tw_multifile_flush(file), told)) keep(told);
    }
    Allocations::stop();
    told.closed = good(tw_multifile_close(&file), told);
    if (told.closed) keep(told);
  }

  void expect_kept(const Told& told) {
    EXPECT_TRUE(told.out_of_memory_only);
    if (!told.opened) return;
    EXPECT_TRUE(!told.closed || told.wrote_all) << "a close says yes although a write failed";
    if (!told.closed) {
      EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    }
    EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    tw_multifile* file = nullptr;
    ASSERT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_READ, nullptr, &file), TW_OK) << tw_last_error();
    for (std::int64_t rank = 0; rank < GetParam().n_logical; ++rank) {
      ASSERT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK);
      const std::string found = read_all(file);
      EXPECT_GE(found.size(), told.kept[rank]) << "of logical file " << rank;
      EXPECT_EQ(found, std::string(data_[rank], std::min(found.size(), kMostBytes))) << "of logical file " << rank;
    }
    close(file);
  }

  char data_[kMostLogical][kMostBytes] = {};
};

TEST_P(WriterMemory, KeepsWhatItPromised) {
  std::uint64_t k = 1;
  int refused = 0;
  for (;; ++k) {
    SCOPED_TRACE("allocation " + std::to_string(k));
    Told told;
    std::filesystem::remove(path_);
    program(k, told);
    refused += told.refused > 0;
    expect_kept(told);
    if (Allocations::count() < k || HasFailure()) break;
  }
  EXPECT_GT(k, 20U);
  EXPECT_GT(refused, 20);
}

INSTANTIATE_TEST_SUITE_P(, WriterMemory,
                         testing::Values(Shape{"Few", 3, "none"}, Shape{"Many", kMostLogical, "none"},
                                         Shape{"ManyCompressed", kMostLogical, "zstd"}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace thalweg::test
