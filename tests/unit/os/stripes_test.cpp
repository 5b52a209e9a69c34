// Stripes as Lustre and BeeGFS tell and take them, with recorded answers in place of their servers. The bytes of Lustre
// are laid out as lustre_user.h has them (lov_user_md_v1, _v3, lov_comp_md_v1).
#include "os/stripes.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/endian.hpp"
#include "os/file_ops.hpp"
#include "os/filesystem_info.hpp"
#include "support/engine/told_stripes.hpp"

namespace thalweg::test {
namespace {

class Stripes : public testing::Test, protected ToldStripes {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "stripes_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::remove(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/file"; }
  StripeLayout told(std::uint32_t by, std::vector<std::byte> answer = {}) {
    magic = by;
    attribute = std::move(answer);
    std::ofstream(path()).put('x');
    return filesystem_info(path()).value().stripes;
  }
  Result<FileDescriptor> make(StripeRequest asked, bool exclusive = false) {
    OpenOptions options;
    options.write = options.create = true;
    options.exclusive = exclusive;
    options.stripes = asked;
    return open_file(path(), options);
  }

 private:
  std::string folder_;
};

void expect_layout(const StripeLayout& found, std::uint64_t bytes, std::uint32_t count,
                   const std::vector<std::uint32_t>& targets) {
  EXPECT_EQ(found.bytes, bytes);
  EXPECT_EQ(found.count, count);
  EXPECT_EQ(found.targets, targets);
}

TEST_F(Stripes, OfAFileOnLustreAreTold) {
  expect_layout(told(kLustre, lov(1, 1, 1 << 20, 3, {7, 2, 9})), 1 << 20, 3, {7, 2, 9});
  expect_layout(told(kLustre, lov(3, 1, 4 << 20, 2, {0, 1})), 4 << 20, 2, {0, 1});
  expect_layout(told(kLustre, lov(3, 0x201, 1 << 20, 4, {5, 6, 5, 6})), 1 << 20, 4, {5, 6, 5, 6});  // overstriped
}

TEST_F(Stripes, OfAFolderOnLustreHaveNoTargets) {
  expect_layout(told(kLustre, lov(1, 0, 1 << 20, 8, {})), 1 << 20, 8, {});
  expect_layout(told(kLustre, lov(1, 1, 1 << 20, 0xFFFF, {})), 1 << 20, 0, {});  // all targets
}

TEST_F(Stripes, OfOtherLayoutsOfLustreAreNotTold) {
  std::vector<std::byte> composite;
  put<std::uint32_t>(composite, {0x0BD60BD0, 32 + 48});
  composite.resize(32 + 48 + 48);
  EXPECT_EQ(told(kLustre, composite).bytes, 0u);
  EXPECT_EQ(told(kLustre, lov(1, 0x100, 1 << 20, 1, {})).bytes, 0u) << "on the MDT";
  EXPECT_EQ(told(kLustre, lov(1, 0x80000001, 1 << 20, 1, {})).bytes, 0u) << "released";
  EXPECT_EQ(told(kLustre, lov(1, 1, 0, 4, {})).bytes, 0u) << "a folder that leaves it to the file system";
  EXPECT_EQ(told(kLustre).bytes, 0u) << "no attribute";
  std::vector<std::byte> whole = lov(3, 1, 1 << 20, 2, {4, 5});
  for (std::size_t n = 1; n < whole.size(); ++n) {
    const StripeLayout cut = told(kLustre, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)});
    EXPECT_TRUE(cut.targets.empty()) << n << " bytes";
    EXPECT_EQ(cut.bytes, n < 32 ? 0u : 1u << 20) << n << " bytes";
  }
}

TEST_F(Stripes, AreTheBlockOfIOWhereTheyArePowersOfTwo) {
  for (const auto& [stripe, block] : {std::pair(1U << 20, 1U << 20), {3U << 20, 1U << 20}, {65536U * 5, 65536U}}) {
    (void)told(kLustre, lov(1, 1, stripe, 1, {0}));
    EXPECT_EQ(filesystem_info(path()).value().block_bytes, block);
  }
}

TEST_F(Stripes, OfBeegfsAreTold) {
  expect_layout(told(kBeegfs), 524288, 4, {});
  refuse = ENOTTY;
  expect_layout(told(kBeegfs), 0, 0, {});
}

TEST_F(Stripes, OfGpfsAreItsBlocks) {
  const StripeLayout found = told(kGpfs);
  EXPECT_EQ(found.bytes, filesystem_info(path()).value().block_bytes);
  EXPECT_EQ(found.count, 0u);
}

TEST_F(Stripes, OfLocalFileSystemsAreNotAskedFor) {
  EXPECT_EQ(told(0).bytes, 0u);
  EXPECT_TRUE(controls.empty());
}

TEST_F(Stripes, AreSetOnLustre) {
  magic = kLustre;
  auto file = make({2 << 20, 12});
  ASSERT_TRUE(file.has_value()) << file.status().message();
  ASSERT_EQ(controls.size(), 1u);
  EXPECT_EQ(controls[0].request, _IOW('f', 154, long));
  const ByteView sent = controls[0].argument;
  EXPECT_EQ(load_le<std::uint32_t>(sent), 0x0BD10BD0U);
  EXPECT_EQ(load_le<std::uint32_t>(sent.subspan(4)), 1U);
  EXPECT_EQ(load_le<std::uint32_t>(sent.subspan(24)), 2U << 20);
  EXPECT_EQ(load_le<std::uint16_t>(sent.subspan(28)), 12U);
  EXPECT_EQ(load_le<std::uint16_t>(sent.subspan(30)), 0xFFFFU) << "the servers choose the first target";
  EXPECT_EQ(::pwrite(file->get(), "x", 1, 0), 1);
}

TEST_F(Stripes, OverAllTargetsOfLustreAreMinusOne) {
  magic = kLustre;
  ASSERT_TRUE(make({0, kAllTargets}).has_value());
  ASSERT_EQ(controls.size(), 1u);
  EXPECT_EQ(load_le<std::uint16_t>(ByteView(controls[0].argument).subspan(28)), 0xFFFFU);
}

TEST_F(Stripes, AreSetOnBeegfsByTheNameInTheFolder) {
  magic = kBeegfs;
  ASSERT_TRUE(make({1 << 20, 4}).has_value());
  EXPECT_EQ(made_by_server, "file");
  ASSERT_EQ(controls.size(), 1u);
  const ByteView numbers = ByteView(controls[0].argument).subspan(sizeof(char*));
  EXPECT_EQ(load_le<std::uint32_t>(numbers), 0666U);
  EXPECT_EQ(load_le<std::uint32_t>(numbers.subspan(4)), 4U);
  EXPECT_EQ(load_le<std::uint32_t>(numbers.subspan(8)), 1U << 20);
}

TEST_F(Stripes, ThatServersRefuseLeaveAnOrdinaryFile) {
  for (const std::uint32_t kind : {kLustre, kBeegfs, 0U}) {
    magic = kind;
    refuse = EINVAL;
    for (const bool exclusive : {true, false}) {
      auto file = make({1 << 20, 4}, exclusive);
      ASSERT_TRUE(file.has_value()) << file.status().message();
      EXPECT_EQ(::pwrite(file->get(), "x", 1, 0), 1);
      std::remove(path().c_str());
    }
  }
}

TEST_F(Stripes, OfAFileThatExistsStay) {
  for (const std::uint32_t kind : {kLustre, kBeegfs}) {
    std::ofstream(path()) << "old";
    magic = kind;
    controls.clear();
    refuse = kind == kBeegfs ? EEXIST : 0;
    ASSERT_TRUE(make({1 << 20, 4}).has_value());
    EXPECT_EQ(controls.size(), kind == kLustre ? 0u : 1u);
    EXPECT_EQ(make({1 << 20, 4}, true).status().code(), Code::already_exists);
    std::string text;
    std::getline(std::ifstream(path()), text);
    EXPECT_EQ(text, "old");
  }
}

TEST_F(Stripes, AreDescribedWithWhatIsNotFollowed) {
  const StripeLayout told{1 << 20, 8};
  EXPECT_EQ(describe_stripes(told, {}, "lustre"), "; stripes of 1 MiB over 8 targets");
  EXPECT_EQ(describe_stripes(told, {1 << 20, 8}, "lustre"), "; stripes of 1 MiB over 8 targets");
  EXPECT_EQ(describe_stripes(told, {0, kAllTargets}, "lustre"), "; stripes of 1 MiB over 8 targets");
  EXPECT_EQ(describe_stripes({1 << 24, 0}, {}, "gpfs"), "; stripes of 16 MiB");
  EXPECT_EQ(describe_stripes({}, {}, "ext4"), "");
  EXPECT_EQ(describe_stripes({}, {0, 4}, "ext4"), "; hint striping_factor not followed: ext4 sets no stripes");
  EXPECT_EQ(
      describe_stripes(told, {4 << 20, 0}, "lustre"),
      "; stripes of 1 MiB over 8 targets; hint striping_unit not followed: the servers chose otherwise, or the file "
      "existed");
  EXPECT_EQ(describe_stripes({}, {}, "lustre"), "; stripes not told (a composite layout, or none)");
}

}  // namespace
}  // namespace thalweg::test
