// The memory of a task that adds logical files, and of their close, does not grow with their number.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>

#include "support/files/on_disk.hpp"
#include "support/memory/counting_new.hpp"

namespace thalweg::test {
namespace {

class AddedMemory : public OnDisk {
 protected:
  // Bytes in use at most from the opening to the close.
  std::uint64_t peak_of(int names, const std::function<void(tw_multifile*, int)>& write) {
    std::filesystem::remove(path_);
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_multifile_open(nullptr, path_.c_str(), TW_CREATE, config_, &file), TW_OK) << tw_last_error();
    const std::uint64_t before = Allocations::in_use();
    Allocations::restart_peak();
    for (int i = 0; i < names; ++i) {
      const std::string name = "a directory/and/a name of it " + std::to_string(i);
      EXPECT_EQ(tw_multifile_add(file, name.c_str(), 0100644), TW_OK) << tw_last_error();
      write(file, i);
    }
    EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error();
    return Allocations::peak() - before;
  }
  static void write(tw_multifile* file, std::size_t bytes) {
    static const std::string text(1000, 'x');
    EXPECT_EQ(tw_multifile_write(file, text.data(), bytes), TW_OK) << tw_last_error();
  }
};

TEST_F(AddedMemory, DoesNotGrowWithTheirNumber) {
  const auto plainly = [](tw_multifile* file, int) { write(file, 100); };
  const std::uint64_t of_some = peak_of(300'000, plainly), of_many = peak_of(900'000, plainly);
  EXPECT_LT(of_some, 24U << 20);
  EXPECT_LT(of_many, of_some + of_some / 8);
}

TEST_F(AddedMemory, DoesNotGrowWhereFilesAreNotLeftAtTheirEnd) {
  const auto header_last = [](tw_multifile* file, int) {
    write(file, 100);
    EXPECT_EQ(tw_multifile_write_at(file, "head", 4, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_seek(file, 7, SEEK_SET), TW_OK) << tw_last_error();
  };
  EXPECT_LT(peak_of(100'000, header_last), 24U << 20);
}

TEST_F(AddedMemory, DoesNotGrowWithLongNamesAndFlushes) {
  const auto flushed = [](tw_multifile* file, int i) {
    write(file, 1000);
    if (i % 1000 == 0) {
      EXPECT_EQ(i % 3000 == 0 ? tw_multifile_sync(file) : tw_multifile_flush(file), TW_OK) << tw_last_error();
    }
  };
  EXPECT_LT(peak_of(100'000, flushed), 24U << 20);
}

}  // namespace
}  // namespace thalweg::test
