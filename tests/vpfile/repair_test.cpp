// Files left by a death of the process, after a repair.
#include "sim/memory_backend.hpp"
#include "support/crash/crash_program.hpp"
#include "support/crash/vp_crash_check.hpp"
#include "support/files/shared_files.hpp"
#include "support/files/vp_open.hpp"
#include "testing/fault_backend.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

class VpRepaired : public SharedFiles {
 protected:
  static constexpr std::uint64_t kVps = 6000;

  static std::unique_ptr<VpFile> open(Group& group, const std::shared_ptr<Backend>& storage, const char* mode) {
    VpOpen how;
    how.path = "f";
    open_as(how, mode);
    how.shape = {kVps};
    how.hints.cache_bytes = 0;
    how.hints.directory_pointers = 1;
    return run(VpFile::open(group, storage, std::move(how))).value();
  }

  static void write_all(VpFile& file) {
    std::string packed(kVps * 8, 'n');
    VpTransfer what;
    what.direction = Direction::write;
    what.base = reinterpret_cast<std::byte*>(packed.data());
    what.bytes = 8;
    EXPECT_TRUE(run(file.transfer(what)).ok());
  }
  static void append_to(VpFile& file, std::uint64_t vp) {
    const std::string text(16, 'i');
    EXPECT_TRUE(file.stream(vp).seek(0, SEEK_END).ok());
    EXPECT_TRUE(file.stream(vp).write(std::as_bytes(std::span(text))).has_value());
  }
};

// A writer died after storing directory entries and before the first superblock. A later IB segment of the file must
// not use them.
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

  CheckResult health;
  EXPECT_TRUE(left->exists("f.dir").value());
  ASSERT_TRUE(repair_vpfile(*left, "f", {}, {}, health).ok());
  EXPECT_FALSE(left->exists("f.first").value());
  EXPECT_FALSE(left->exists("f.dir").value());
  file = open(*group, left, "r+");
  append_to(*file, kVps - 1);
  EXPECT_TRUE(run(file->close()).ok());

  EXPECT_TRUE(verify_vpfile(*left, "f", {}, health).ok());
  file = open(*group, left, "r");
  EXPECT_EQ(file->stream(0).size().value(), 8u);
  EXPECT_EQ(file->stream(kVps - 1).size().value(), 24u);
}

// Records are appended to a plain array: at whatever call the writer dies, between two pages of a write or not, the
// array has its old or its new length, with correct content.
class VpArray : public SharedFiles {
 protected:
  static constexpr std::uint64_t kRecord = 3000;

  static std::unique_ptr<VpFile> open(Group& group, const std::shared_ptr<Backend>& storage, const char* mode,
                                      std::uint64_t record, Code* code = nullptr) {
    VpOpen how;
    how.path = "f";
    open_as(how, mode);
    how.shape = {4};
    how.hints.record_bytes = record;
    auto opened = run(VpFile::open(group, storage, std::move(how)));
    if (code != nullptr) *code = opened.status().code();
    return opened.has_value() ? std::move(opened).value() : nullptr;
  }

  static std::shared_ptr<Backend> make() {
    auto storage = make_memory_backend();
    const auto file = storage->open("f", OpenMode::create).value();
    const std::string old(2 * 4 * kRecord, 'o');
    EXPECT_TRUE(file->write(0, std::as_bytes(std::span(old))).ok());
    return storage;
  }

  static void add_records(Group& group, const std::shared_ptr<Backend>& storage, std::uint64_t record) {
    const auto file = open(group, storage, "r+", record);
    if (file == nullptr) return;
    EXPECT_TRUE(file->seek(nullptr, 0, SEEK_END, nullptr).ok());
    std::string packed(4 * kRecord, 'n');
    VpTransfer what;
    what.direction = Direction::write;
    what.base = reinterpret_cast<std::byte*>(packed.data());
    what.bytes = kRecord;
    for (int i = 0; i < 2; ++i) (void)run(file->transfer(what)).ok();
    (void)run(file->close()).ok();
  }

  static void expect_array(const std::shared_ptr<Backend>& storage) {
    const auto group = make_self_group();
    Code code = Code::ok;
    auto file = open(*group, storage, "r", kRecord, &code);
    if (code == Code::not_closed) {
      CheckResult health;
      EXPECT_TRUE(repair_vpfile(*storage, "f", {}, {}, health).ok());
      file = open(*group, storage, "r", kRecord, &code);
    }
    ASSERT_EQ(code, Code::ok);
    for (std::uint64_t vp = 0; vp < 4; ++vp) {
      const std::uint64_t bytes = file->stream(vp).size().value();
      std::string text(bytes, '?');
      EXPECT_EQ(file->stream(vp).read(std::as_writable_bytes(std::span(text))).value(), bytes);
      EXPECT_EQ(text, std::string(2 * kRecord, 'o') + std::string(bytes - 2 * kRecord, 'n'));
    }
  }
};

TEST_F(VpArray, IsOneAtWhateverCallAWriterDies) {
  const auto group = make_self_group();
  for (const std::uint64_t record : {std::uint64_t{0}, kRecord}) {
    std::uint64_t calls = 1;
    for (std::uint64_t at = 1; at <= calls && !HasFailure(); ++at) {
      SCOPED_TRACE("call " + std::to_string(at));
      FaultScript script;
      script.death = {.at = at, .kind = {}, .death = Death::process, .tear = Tear::pages, .seed = at};
      const auto dying = make_fault_backend(make(), script);
      add_records(*group, dying, record);
      if (dying->dead()) calls = at + 1;
      expect_array(dying->wrapped());
    }
    EXPECT_TRUE(calls > 5 || HasFailure());
  }
}

TEST_F(VpArray, WhoseMetaWasBegunCanBeImported) {
  const auto storage = make();
  EXPECT_TRUE(storage->open("f.meta", OpenMode::create).has_value());

  EXPECT_TRUE(import_array(*storage, "f", {4}, kRecord).ok());

  expect_array(storage);
}

}  // namespace
}  // namespace thalweg::test
