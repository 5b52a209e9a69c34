// Multifiles with vast holes: no code scans them step by step, and later data is found. The tests count calls, never
// time.
#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/damage/damage_images.hpp"
#include "support/damage/damage_seal.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostCalls = 5000;
constexpr std::size_t kBytes = 3000;  // fits in the first slabs
const char* const kCopyPath = "copy.tw";

class Sparse : public testing::Test {
 protected:
  std::unique_ptr<Multifile> open(MultifileMode access, bool recover = false, const std::string& path = kImagePath) {
    OpenRequest request;
    request.backend = storage_;
    request.path = path;
    request.access = access;
    request.recover = recover;
    MultifileOptions& options = request.options;
    options.physical_files = 1;
    options.alignment_bytes = alignment_;
    options.granule_bytes = options.chunk_bytes = 4096;
    options.buffer_bytes = 500;
    if (access == MultifileMode::create) request.serving = {Serving::Kind::range, 3, 0, 3, {}};
    auto file = run(open_multifile(*group_, std::move(request)));
    EXPECT_TRUE(file.has_value()) << file.status().message();
    return std::move(file).value();
  }

  static void write(Multifile& file, std::uint64_t rank, std::uint64_t at, const FileBytes& data) {
    ASSERT_TRUE(file.writing->seek_to(rank, static_cast<std::int64_t>(at)).ok());
    ASSERT_TRUE(file.writing->write(*file.writing->current(), data).ok());
  }

  FileBytes read(std::uint64_t rank, std::uint64_t at, bool recover, const std::string& path = kImagePath) {
    auto file = open(MultifileMode::read, recover, path);
    LogicalReader* reader = file->reading->reader(rank).value();
    FileBytes data(std::min<std::uint64_t>(kBytes, reader->size() - at));
    std::size_t got = 0;
    const Status status = reader->read(at, data, got);
    EXPECT_TRUE(status.ok()) << status.message();
    return data;
  }

  // Leaves the files of a program that died after a sync; logical file 2 is empty.
  void make_unclosed(const std::string& name = "") {
    auto file = open(MultifileMode::create);
    ASSERT_TRUE(file->writing->set_name(*file->writing->writer(0).value(), name, 0).ok());
    for (const std::uint64_t rank : {0, 1}) write(*file, rank, 0, FileBytes(kBytes, std::byte{7}));
    ASSERT_TRUE(file->writing->sync().ok());
  }

  FileBytes begin_of_file() {
    auto file = storage_->open(kImagePath, OpenMode::read).value();
    FileBytes bytes(file->size().value());
    EXPECT_EQ(file->read(0, bytes).value(), bytes.size());
    return bytes;
  }

  // Writes the image with the checksums of these pages recomputed, extended by a hole to `length`.
  void put(FileBytes bytes, const std::vector<std::uint64_t>& pages, std::uint64_t length) {
    for (const std::uint64_t page : pages) seal(bytes, identity_of(bytes), page, format::kPageBytes);
    auto file = storage_->open(kImagePath, OpenMode::read_write).value();
    ASSERT_TRUE(file->write(0, bytes).ok());
    ASSERT_TRUE(file->truncate(length).ok());
  }

  template <class Number>
  static void poke(FileBytes& bytes, std::uint64_t at, Number value) {
    store_le(ByteSpan(bytes).subspan(at), value);
  }

  static std::uint64_t find(const FileBytes& bytes, const char* magic) {
    for (std::uint64_t at = 4096; at < bytes.size(); at += 512)
      if (begins_with(bytes, at, magic)) return at;
    ADD_FAILURE() << magic << " is not there";
    return 0;
  }

  // Puts a chunk of logical file 2 with `data` at `offset`, far beyond the other data.
  void put_chunk(const FileBytes& begin, std::uint64_t offset, const FileBytes& data) {
    const format::FileHeader header = format::parse_header(ByteView(begin).first(512), kHuge).value();
    format::Frame frame;
    frame.offset = offset;
    frame.kind = format::FrameKind::chunk;
    frame.extent = 8192;
    frame.data_offset = 4096;
    frame.rank = 2;
    frame.sequence = 1;
    const format::FillSlot fill{data.size(), 1, crc32c(data), false};
    const std::uint64_t slot = offset + format::kFillSlotOffset[0];
    auto file = storage_->open(kImagePath, OpenMode::read_write).value();
    ASSERT_TRUE(file->write(offset, format::encode_frame(frame, header.id)).ok());
    ASSERT_TRUE(file->write(slot, format::encode_fill(fill, header.id, slot)).ok());
    ASSERT_TRUE(file->write(offset + frame.data_offset, data).ok());
  }

  void expect_few_calls(const char* what) {
    EXPECT_LT(storage_->calls(), kMostCalls) << what;
    storage_->restart({});
  }

  void repair() {
    CheckResult health;
    std::string findings;
    const Watch watch{[&](const std::string& text) { findings += text + "\n"; }, {}};
    EXPECT_TRUE(repair_multifile(storage_, kImagePath, watch, health).ok()) << findings;
  }

  std::uint32_t alignment_ = 4096;
  const std::unique_ptr<Group> group_ = make_self_group();
  const std::shared_ptr<FaultBackend> storage_ = make_fault_backend(make_memory_backend());
};

// Slabs that never grow, so that their number is maximal.
TEST_F(Sparse, SlabsInAHoleAreNotLookedAtOneByOne) {
  make_unclosed();
  FileBytes bytes = begin_of_file();
  const std::uint64_t session = find(bytes, "TWSESSN1");
  poke(bytes, session + 12, std::uint32_t{0});
  const auto start = load_le<std::uint64_t>(ByteView(bytes).subspan(session + 40));
  const auto slab = load_le<std::uint64_t>(ByteView(bytes).subspan(session + 48));
  put(bytes, {session}, kHuge);
  const FileBytes data(100, std::byte{42});
  put_chunk(bytes, start + (kHuge / 2 / slab) * slab, data);
  storage_->restart({});

  EXPECT_EQ(read(0, 0, true), FileBytes(kBytes, std::byte{7}));
  EXPECT_EQ(read(2, 0, true), data);

  expect_few_calls("recovery");
  repair();
  expect_few_calls("repair");
  EXPECT_EQ(read(2, 0, false), data);
}

// One slab as long as the file; the last frame that the program wrote is damaged.
TEST_F(Sparse, TheNextFrameBehindDamageIsLookedForInDataOnly) {
  make_unclosed();
  FileBytes bytes = begin_of_file();
  const std::uint64_t session = find(bytes, "TWSESSN1");
  std::uint64_t frame = bytes.size() / 512 * 512;
  while (!begins_with(bytes, frame, "TWFRAME1")) frame -= 512;
  const auto domains = load_le<std::uint64_t>(ByteView(bytes).subspan(session + 32));
  poke(bytes, session + 48, kHuge);
  poke(bytes, domains, kHuge);
  poke(bytes, frame, std::uint64_t{1});
  put(bytes, {session, domains}, kHuge);
  const FileBytes data(100, std::byte{42});
  put_chunk(bytes, kHuge / 2, data);
  storage_->restart({});

  EXPECT_EQ(read(2, 0, true), data);

  expect_few_calls("recovery");
}

// The first repair puts its index into space that a frame has claimed behind the end of the file. The machine dies before
// the repair has closed the file.
TEST_F(Sparse, ARepairIsRepeatedWhereItsIndexLiesInClaimedSpace) {
  alignment_ = 512;
  make_unclosed(std::string(1500, 'n'));
  FileBytes bytes = begin_of_file();
  const format::FileHeader header = format::parse_header(ByteView(bytes).first(512), bytes.size()).value();
  format::Frame claim;
  for (std::uint64_t at = 4096; at + format::kFrameBytes <= bytes.size(); at += alignment_) {
    const auto frame = format::parse_frame(ByteView(bytes).subspan(at, format::kFrameBytes), header, at, kHuge);
    if (frame) claim.offset = frame->end();
  }
  auto file = storage_->open(kImagePath, OpenMode::read_write).value();
  ASSERT_TRUE(file->truncate(claim.offset).ok());
  // To the second sector of the names, the fourth page of the index.
  claim.extent = format::align_up(claim.offset + 1, 4096) + 3 * 4096 + 512 - claim.offset;
  ASSERT_TRUE(file->write(claim.offset, format::encode_frame(claim, header.id)).ok());
  repair();

  ASSERT_TRUE(file->write(0, ByteView(bytes).first(4096)).ok());
  repair();

  CheckResult health;
  const Status sound = verify_multifile(storage_, kImagePath, {}, health);
  EXPECT_TRUE(sound.ok()) << sound.message();
  EXPECT_EQ(read(0, 0, false), FileBytes(kBytes, std::byte{7}));
}

TEST_F(Sparse, DefragLeavesGapsAsTheyAre) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 60;
  {
    auto file = open(MultifileMode::create);
    write(*file, 0, 0, FileBytes(kBytes, std::byte{1}));
    write(*file, 0, kBytes + 1000, FileBytes(kBytes, std::byte{2}));
    write(*file, 0, kFar, FileBytes(kBytes, std::byte{3}));
    write(*file, 1, 0, FileBytes(10, std::byte{4}));
    ASSERT_TRUE(run(close_multifile(*group_, std::move(file))).ok());
  }
  FileBytes bytes = begin_of_file();  // the second logical file ends with a gap
  const std::uint64_t files = find(bytes, "TWINDEX1") + format::kPageBytes;
  poke(bytes, files + format::kFileEntryBytes, kFar);
  put(bytes, {files}, bytes.size());
  ASSERT_EQ(read(1, kFar - 5, false), FileBytes(5));
  storage_->restart({});

  const Status copied = defrag_multifile(storage_, kImagePath, kCopyPath, {}, {});

  EXPECT_TRUE(copied.ok()) << copied.message();
  expect_few_calls("defrag");
  for (const std::uint64_t at : {std::uint64_t{0}, kBytes + 500, kFar - 100})
    EXPECT_EQ(read(0, at, false, kCopyPath), read(0, at, false)) << at;
  EXPECT_EQ(read(1, 0, false, kCopyPath), read(1, 0, false));
  EXPECT_EQ(read(1, kFar - 5, false, kCopyPath), FileBytes(5)) << "its last byte";
  EXPECT_EQ(open(MultifileMode::read, false, kCopyPath)->reading->entry(1).value().bytes, kFar);
}

}  // namespace
}  // namespace thalweg::test
