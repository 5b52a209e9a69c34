// What a death of the process leaves beside the data file, once it is repaired.
#include "support/crash_program.hpp"
#include "support/shared_files.hpp"
#include "support/vp_crash_check.hpp"
#include "vpfile/vp_health.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

class VpRepaired : public SharedFiles {
 protected:
  static constexpr std::uint64_t kVps = 6000;

  static std::unique_ptr<VpFile> open(Group& group, const std::shared_ptr<Backend>& storage, const char* mode) {
    VpOpen how;
    how.path = "f";
    how.mode = mode;
    how.shape = {kVps};
    how.hints.cache_bytes = 0;
    how.hints.directory_pointers = 1;
    return run(VpFile::open(group, storage, std::move(how))).value();
  }

  static void write_all(VpFile& file) {
    std::string packed(kVps * 8, 'n');
    VpTransfer what;
    what.direction = Direction::write;
    what.memory.base = reinterpret_cast<std::byte*>(packed.data());
    what.bytes = 8;
    EXPECT_TRUE(run(file.transfer(what)).ok());
  }
  static void append_to(VpFile& file, std::uint64_t vp) {
    const std::string text(16, 'i');
    EXPECT_TRUE(file.seek_one(vp, 0, SEEK_END).ok());
    EXPECT_TRUE(file.write_one(vp, std::as_bytes(std::span(text))).has_value());
  }
};

// A writer died that had stored entries of the directory and no superblock yet. Who makes an IB segment later, of the
// same file, must not find these.
TEST_F(VpRepaired, EntriesOfASegmentThatNeverWasAreGone) {
  const auto group = make_self_group();
  const auto storage = make_memory_backend();
  auto file = open(*group, storage, "w");
  write_all(*file);
  EXPECT_TRUE(run(file->close()).ok());
  file = open(*group, storage, "r+");
  for (std::uint64_t vp = 0; vp < kVps; ++vp) append_to(*file, vp);
  const auto left = copy_of(*storage, vp_paths("f"));
  EXPECT_TRUE(run(file->close()).ok());

  Health health;
  ASSERT_TRUE(repair_vpfile(*left, "f", {}, {}, health).ok());
  EXPECT_TRUE(left->exists("f.dir").value());
  file = open(*group, left, "r+");
  EXPECT_FALSE(left->exists("f.first").value());
  EXPECT_FALSE(left->exists("f.dir").value());
  append_to(*file, kVps - 1);
  EXPECT_TRUE(run(file->close()).ok());

  EXPECT_TRUE(verify_vpfile(*left, "f", {}, health).ok());
  file = open(*group, left, "r");
  EXPECT_EQ(file->size_of(0).value(), 8u);
  EXPECT_EQ(file->size_of(kVps - 1).value(), 24u);
}

}  // namespace
}  // namespace thalweg::test
