// The places of a file where a structure may begin: multiples of a step, with zeros behind the end, without holes.
#include "store/places.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/memory_backend.hpp"

namespace thalweg {
namespace {

using Places = std::vector<std::uint64_t>;

class EachPlace : public testing::Test {
 protected:
  void put(std::uint64_t at, std::size_t bytes) {
    ASSERT_TRUE(file_->write(at, std::vector<std::byte>(bytes, std::byte{7})).ok());
  }

  std::shared_ptr<Backend> backend_ = make_memory_backend();
  std::unique_ptr<StoredFile> file_ = backend_->open("f", OpenMode::create).value();
};

TEST_F(EachPlace, IsAMultipleOfTheStepUpToTheEnd) {
  put(0, 10000);
  Places seen;
  const auto look = [&](std::uint64_t at, ByteView image) -> Result<bool> {
    seen.push_back(at);
    EXPECT_EQ(image.size(), 3000u);
    EXPECT_EQ(image[0], std::byte{7});
    EXPECT_EQ(image[2999], at == 8192 ? std::byte{0} : std::byte{7});
    return true;
  };
  ASSERT_TRUE(each_place(*file_, 1, 4096, 3000, look).ok());
  EXPECT_EQ(seen, (Places{4096, 8192}));
}

TEST_F(EachPlace, EndsWhereTheVisitDoes) {
  put(0, 10000);
  Places seen;
  const auto first = [&](std::uint64_t at, ByteView) -> Result<bool> {
    seen.push_back(at);
    return false;
  };
  ASSERT_TRUE(each_place(*file_, 0, 4096, 8, first).ok());
  EXPECT_EQ(seen, Places{0});
  const auto fail = [](std::uint64_t, ByteView) -> Result<bool> { return Status::error(Code::stopped, "no more"); };
  EXPECT_EQ(each_place(*file_, 0, 4096, 8, fail).code(), Code::stopped);
}

TEST_F(EachPlace, IsNoneOfALargeHole) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 40;
  put(0, 1);
  put(kFar, 1);
  std::uint64_t n = 0;
  const auto count = [&](std::uint64_t at, ByteView) -> Result<bool> {
    EXPECT_TRUE(at == 0 || at + (1 << 20) > kFar) << at;
    ++n;
    return true;
  };
  ASSERT_TRUE(each_place(*file_, 0, 4096, 8, count).ok());
  EXPECT_LT(n, 1000u);
}

TEST_F(EachPlace, OfAnEmptyFileIsNone) {
  const auto fail = [](std::uint64_t, ByteView) -> Result<bool> { return Status::error(Code::stopped, "a place"); };
  EXPECT_TRUE(each_place(*file_, 0, 4096, 8, fail).ok());
}

}  // namespace
}  // namespace thalweg
