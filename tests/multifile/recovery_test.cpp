// Special unclosed multifiles: what a recovery and a repair restore, and their reports.
#include <gtest/gtest.h>

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/damage/damage_check.hpp"
#include "support/damage/damage_seal.hpp"

namespace thalweg::test {
namespace {

constexpr std::size_t kBytes = 5000;  // of each logical file

std::byte byte_of(std::uint64_t rank, std::size_t i) { return static_cast<std::byte>(1 + (rank * 7 + i) % 250); }

class Recovered : public testing::Test {
 protected:
  std::unique_ptr<Multifile> create(std::int64_t n_logical, MultifileOptions options) {
    OpenRequest request;
    request.backend = storage_;
    request.path = kImagePath;
    request.access = MultifileMode::create;
    options.buffer_bytes = 500;
    request.options = options;
    request.serving = {Serving::Kind::range, n_logical, 0, n_logical, {}};
    auto file = run(open_multifile(*group_, std::move(request)));
    EXPECT_TRUE(file.has_value()) << file.status().message();
    return std::move(file).value();
  }

  static void write(WriteHandle& handle, std::uint64_t rank, std::size_t bytes = kBytes) {
    FileBytes data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = byte_of(rank, i);
    ASSERT_TRUE(handle.seek_to(rank, 0).ok());
    ASSERT_TRUE(handle.write(*handle.current(), data).ok());
  }

  // A multifile whose program died right after a sync.
  void make_unclosed(std::int64_t n_logical, const MultifileOptions& options) {
    auto file = create(n_logical, options);
    for (std::int64_t rank = 0; rank < n_logical; ++rank) write(*file->writing, static_cast<std::uint64_t>(rank));
    ASSERT_TRUE(file->writing->sync().ok());
  }

  Status repair() {
    findings_.clear();
    const Watch watch{[this](const std::string& text) { findings_ += text + "\n"; }, {}};
    return repair_multifile(storage_, kImagePath, watch, health_);
  }

  Status verify() {
    findings_.clear();
    const Watch watch{[this](const std::string& text) { findings_ += text + "\n"; }, {}};
    return verify_multifile(storage_, kImagePath, watch, health_);
  }

  // Whether a logical file can be read and has the right content.
  Status read(std::uint64_t rank, bool recover) {
    OpenRequest request;
    request.backend = storage_;
    request.path = kImagePath;
    request.access = MultifileMode::read;
    request.recover = recover;
    TW_ASSIGN_OR_RETURN(auto file, run(open_multifile(*group_, std::move(request))));
    TW_ASSIGN_OR_RETURN(auto reader, file->reading->reader(rank));
    FileBytes data(kBytes);
    std::size_t got = 0;
    TW_RETURN_IF_ERROR(reader->read(0, data, got));
    EXPECT_EQ(got, data.size());
    for (std::size_t i = 0; i < got; ++i) {
      EXPECT_EQ(data[i], byte_of(rank, i)) << "byte " << i << " of rank " << rank;
      if (data[i] != byte_of(rank, i)) break;
    }
    return run(close_multifile(*group_, std::move(file)));
  }

  FileBytes bytes_of(std::uint32_t physical) {
    auto file = storage_->open(format::physical_name(kImagePath, physical), OpenMode::read).value();
    FileBytes bytes(file->size().value());
    EXPECT_EQ(file->read(0, bytes).value(), bytes.size());
    return bytes;
  }
  void put(std::uint32_t physical, const FileBytes& bytes) {
    auto file = storage_->open(format::physical_name(kImagePath, physical), OpenMode::read_write).value();
    EXPECT_TRUE(file->truncate(0).ok());
    EXPECT_TRUE(file->write(0, bytes).ok());
  }

  std::unique_ptr<Group> group_ = make_self_group();
  std::shared_ptr<Backend> storage_ = make_memory_backend();
  CheckResult health_;
  std::string findings_;
};

MultifileOptions many_parts(std::uint32_t n) {
  MultifileOptions options;
  options.physical_files = n;
  return options;
}

// ---- Physical files that never reached the storage ---------------------------------------------------------------

class PartLost : public Recovered, public testing::WithParamInterface<bool> {};

TEST_P(PartLost, OthersAreBroughtBack) {
  make_unclosed(6, many_parts(3));
  const std::string lost = format::physical_name(kImagePath, 1);
  if (GetParam())
    ASSERT_TRUE(storage_->remove(lost).ok());
  else
    put(1, {});
  for (const std::uint64_t rank : {0, 5}) EXPECT_TRUE(read(rank, true).ok());
  EXPECT_FALSE(read(2, true).ok());

  EXPECT_EQ(repair().code(), Code::corrupt_file);
  EXPECT_TRUE(health_.repaired);
  EXPECT_EQ(health_.damaged_logical, 2U);
  EXPECT_NE(findings_.find(lost), std::string::npos) << findings_;
  for (const std::uint64_t rank : {0, 1, 4, 5})
    for (const bool recover : {false, true}) EXPECT_TRUE(read(rank, recover).ok()) << rank;
  for (const std::uint64_t rank : {2, 3}) EXPECT_FALSE(read(rank, false).ok()) << rank;
  EXPECT_EQ(repair().code(), Code::corrupt_file);
  EXPECT_FALSE(health_.repaired);
}

INSTANTIATE_TEST_SUITE_P(, PartLost, testing::Bool(),
                         [](const auto& instance) { return std::string(instance.param ? "Removed" : "Empty"); });

TEST_F(Recovered, WithoutSessionPageOfOnePart) {
  make_unclosed(2, many_parts(2));
  FileBytes second = bytes_of(1);
  second.resize(4096);
  put(1, second);
  EXPECT_EQ(repair().code(), Code::corrupt_file);
  EXPECT_TRUE(health_.repaired);
  EXPECT_TRUE(read(0, false).ok());
  EXPECT_FALSE(read(1, false).ok());
}

// ---- The death of the machine in close ---------------------------------------------------------------------------

class IndexTorn : public Recovered, public testing::WithParamInterface<std::vector<std::uint64_t>> {};

// The index begins at the place of the next frame; some of its pages and the state never reached storage.
TEST_P(IndexTorn, IsNoDamage) {
  constexpr std::int64_t n = 400;
  MultifileOptions options = many_parts(1);
  options.alignment_bytes = options.granule_bytes = options.chunk_bytes = 4096;
  auto file = create(n, options);
  for (std::uint64_t rank = 0; rank < n; ++rank) write(*file->writing, rank);
  ASSERT_TRUE(file->writing->sync().ok());
  const FileBytes open = bytes_of(0);
  ASSERT_TRUE(run(close_multifile(*group_, std::move(file))).ok());
  FileBytes torn = bytes_of(0);
  std::copy_n(open.begin(), 4096, torn.begin());
  std::uint64_t index = 0;
  for (std::uint64_t at = 4096; at < torn.size() && index == 0; at += 4096)
    if (begins_with(torn, at, "TWINDEX1")) index = at;
  ASSERT_NE(index, 0U);
  for (const std::uint64_t page : GetParam())
    std::fill_n(torn.begin() + static_cast<long>(index + page * 4096), 4096, std::byte{0});
  put(0, torn);

  EXPECT_TRUE(read(n - 1, true).ok());
  EXPECT_TRUE(repair().ok()) << findings_;
  EXPECT_EQ(health_.findings, 1U) << findings_;
  for (std::uint64_t rank = 0; rank < n; ++rank) EXPECT_TRUE(read(rank, false).ok());
}

using Pages = std::vector<std::uint64_t>;
INSTANTIATE_TEST_SUITE_P(, IndexTorn, testing::Values(Pages{}, Pages{0}, Pages{2}, Pages{0, 2}, Pages{1, 4}));

// A page is torn at a sector: the first one says what the page is, and it is no frame.
TEST_F(Recovered, AnIndexPageThatIsTornIsNoDamage) {
  for (std::size_t sector = 1; sector < 8; ++sector) {
    SCOPED_TRACE("sector " + std::to_string(sector));
    MultifileOptions options = many_parts(1);
    options.alignment_bytes = options.granule_bytes = options.chunk_bytes = 4096;
    auto file = create(2, options);
    for (const std::uint64_t rank : {0, 1}) write(*file->writing, rank);
    ASSERT_TRUE(file->writing->sync().ok());
    const FileBytes open = bytes_of(0);
    ASSERT_TRUE(run(close_multifile(*group_, std::move(file))).ok());
    FileBytes torn = bytes_of(0);
    std::copy_n(open.begin(), 4096, torn.begin());
    std::size_t index = 4096;
    while (!begins_with(torn, index, "TWINDEX1")) index += 4096;
    torn.resize(sector < 7 ? index + sector * 512 : torn.size());  // the file ends there, or has a hole
    if (sector == 7)
      std::fill_n(torn.begin() + static_cast<long>(index) + 7 * 512, torn.size() - index - 7 * 512, std::byte{0});
    put(0, torn);

    EXPECT_TRUE(repair().ok()) << findings_;
    EXPECT_EQ(health_.findings, 1U) << findings_;
    EXPECT_EQ(verify().code(), Code::ok) << findings_;
    for (const std::uint64_t rank : {0, 1}) EXPECT_TRUE(read(rank, false).ok());
  }
}

// The frame of a pack that was not synced arrived, and its directory did not.
TEST_F(Recovered, APackWithoutItsDirectoryLeavesASoundFile) {
  MultifileOptions options = many_parts(1);
  options.sync_on_close = true;
  auto file = create(1, options);
  write(*file->writing, 0);
  ASSERT_TRUE(run(close_multifile(*group_, std::move(file))).ok());
  OpenRequest request;
  request.backend = storage_;
  request.path = kImagePath;
  request.access = MultifileMode::append;
  request.options.codec = format::Codec::lz4;  // compressed pieces are packed
  auto appended = run(open_multifile(*group_, std::move(request))).value();
  ASSERT_TRUE(appended->writing->seek_to(0, -1).ok());
  ASSERT_TRUE(appended->writing->write(*appended->writing->current(), FileBytes(100, std::byte{1})).ok());
  ASSERT_TRUE(appended->writing->flush().ok());
  FileBytes bytes = bytes_of(0);
  std::size_t frame = bytes.size() / 512 * 512;
  while (frame > 0 && !begins_with(bytes, frame, "TWFRAME1")) frame -= 512;
  ASSERT_NE(frame, 0U);
  bytes.resize(frame + 128);
  put(0, bytes);

  EXPECT_EQ(repair().code(), Code::corrupt_file);
  EXPECT_NE(findings_.find("directory"), std::string::npos) << findings_;
  EXPECT_EQ(verify().code(), Code::ok) << findings_;
  EXPECT_TRUE(repair().ok()) << findings_;
  EXPECT_FALSE(health_.repaired);
  EXPECT_TRUE(read(0, false).ok());
}

// ---- Lost bytes without checksums --------------------------------------------------------------------------------

enum class Cut { end_of_file, sector };

class SyncedBytesLost : public Recovered, public testing::WithParamInterface<Cut> {};

// A repair writes its index behind the chunk, so the end of the file no longer shows which bytes are missing.
TEST_P(SyncedBytesLost, AreRefusedBeforeAndAfterARepair) {
  MultifileOptions options = many_parts(1);
  options.checksum = format::Checksum::none;
  auto file = create(2, options);
  for (const std::uint64_t rank : {1, 0}) write(*file->writing, rank);
  ASSERT_TRUE(file->writing->sync().ok());
  ASSERT_TRUE(file->writing->write(*file->writing->current(), FileBytes(100, std::byte{1})).ok());
  ASSERT_TRUE(file->writing->flush().ok());  // its fill slot proves the sync
  FileBytes bytes = bytes_of(0);
  std::size_t frame = bytes.size() / 512 * 512;  // of logical file 0, the one written last
  while (frame > 0 && !begins_with(bytes, frame, "TWFRAME1")) frame -= 512;
  ASSERT_NE(frame, 0U);
  const std::size_t data = frame + load_le<std::uint64_t>(ByteView(bytes).subspan(frame + 24));
  if (GetParam() == Cut::sector)
    std::fill_n(bytes.begin() + static_cast<long>(data) + 512, 512, std::byte{0});
  else
    bytes.resize(data + 4000);
  put(0, bytes);

  EXPECT_EQ(read(0, true).code(), Code::corrupt_file);
  EXPECT_TRUE(read(1, true).ok());
  EXPECT_EQ(repair().code(), Code::corrupt_file);
  EXPECT_EQ(health_.damaged_logical, 1U) << findings_;
  EXPECT_EQ(read(0, false).code(), Code::corrupt_file);
  EXPECT_TRUE(read(1, false).ok());
}

INSTANTIATE_TEST_SUITE_P(, SyncedBytesLost, testing::Values(Cut::end_of_file, Cut::sector), [](const auto& instance) {
  return std::string(instance.param == Cut::sector ? "Sector" : "EndOfFile");
});

// ---- Sizes -------------------------------------------------------------------------------------------------------

// Few of very many logical files have bytes: opening needs memory for those only, and a repair counts all.
TEST_F(Recovered, FewOfVeryMany) {
  constexpr std::uint64_t n = 1 << 20;
  {
    auto file = create(n, many_parts(1));
    for (const std::uint64_t rank : {std::uint64_t{3}, n - 1}) write(*file->writing, rank);
    ASSERT_TRUE(file->writing->sync().ok());
  }
  for (const std::uint64_t rank : {std::uint64_t{3}, n - 1}) EXPECT_TRUE(read(rank, true).ok());
  EXPECT_TRUE(repair().ok()) << findings_;
  EXPECT_EQ(health_.n_logical, n);
  for (const std::uint64_t rank : {std::uint64_t{3}, n - 1}) EXPECT_TRUE(read(rank, false).ok());
}

}  // namespace
}  // namespace thalweg::test
