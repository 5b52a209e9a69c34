// The contract of transfers on every backend: scattered memory, through the page cache and past it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "storage/backend.hpp"
#include "support/engine/aligned_buffer.hpp"
#include "support/engine/storage_kinds.hpp"

namespace thalweg {
namespace {

class TransferConformance : public StorageTest, public testing::WithParamInterface<StorageKind> {
 protected:
  void SetUp() override { use(GetParam()); }
};

TEST_P(TransferConformance, TransfersPiecesFromAndToAnywhere) {
  const auto file = open(OpenMode::create);
  Bytes data = noise(3000 * 8, 17);
  Bytes back(data.size());
  std::vector<Piece> from, to;  // more than one system call takes, in different orders
  for (std::size_t i = 0; i < 3000; ++i) {
    from.push_back({data.data() + (i * 7 % 3000) * 8, 8});
    to.push_back({back.data() + (i * 7 % 3000) * 8, 3});
    to.push_back({nullptr, 0});
    to.push_back({back.data() + (i * 7 % 3000) * 8 + 3, 5});
  }

  EXPECT_EQ(file->transfer(Direction::write, 5, from).value(), data.size());
  EXPECT_EQ(file->transfer(Direction::read, 5, to).value(), data.size());
  EXPECT_EQ(back, data);
  EXPECT_EQ(file->transfer(Direction::read, 1005, to).value(), data.size() - 1000);
  EXPECT_EQ(file->transfer(Direction::read, 5 + data.size(), to).value(), 0u);
  EXPECT_EQ(file->size().value(), 5 + data.size());
}

class DirectTransfer : public TransferConformance {};

TEST_P(DirectTransfer, SeesWhatPlainOnesDo) {
  const auto file = open(OpenMode::create);
  const std::uint32_t alignment = file->direct_alignment();
  if (alignment == 0) GTEST_SKIP() << "no direct I/O here";
  const std::size_t bytes = std::size_t{8} * alignment;
  AlignedBuffer memory = AlignedBuffer::make(2 * bytes, alignment).value();
  const Bytes data = noise(bytes, 18);
  std::copy(data.begin(), data.end(), memory.data());
  const Piece pieces[] = {{memory.data() + alignment, bytes - alignment}, {memory.data(), alignment}};
  Bytes turned(data.begin() + alignment, data.end());
  turned.insert(turned.end(), data.begin(), data.begin() + alignment);

  EXPECT_EQ(file->transfer_direct(Direction::write, alignment, pieces).value(), bytes);

  EXPECT_EQ(read(*file, alignment, bytes + 1), turned);
  EXPECT_OK(file->write(alignment + bytes, noise(77, 19)));  // the file ends in the middle of a block
  const Piece back{memory.data(), 2 * bytes};
  EXPECT_EQ(file->transfer_direct(Direction::read, alignment, std::span(&back, 1)).value(), bytes + 77);
  EXPECT_TRUE(std::equal(turned.begin(), turned.end(), memory.data()));
  EXPECT_EQ(Bytes(memory.data() + bytes, memory.data() + bytes + 77), noise(77, 19));
  EXPECT_EQ(file->transfer_direct(Direction::read, 1 << 20, std::span(&back, 1)).value(), 0u);
}

TEST_P(TransferConformance, DirectTransfersMustBeAligned) {
  const auto file = open(OpenMode::create);
  const std::uint64_t alignment = file->direct_alignment();
  const std::uint64_t unit = alignment == 0 ? 4096 : alignment;
  const AlignedBuffer memory = AlignedBuffer::make(4 * unit, unit).value();
  const auto code = [&](std::uint64_t offset, Piece piece) {
    return file->transfer_direct(Direction::write, offset, std::span(&piece, 1)).status().code();
  };

  EXPECT_EQ(code(0, {memory.data(), unit}), alignment == 0 ? Code::invalid_argument : Code::ok);
  EXPECT_EQ(code(1, {memory.data(), unit}), Code::invalid_argument);
  EXPECT_EQ(code(unit, {memory.data() + 1, unit}), Code::invalid_argument);
  EXPECT_EQ(code(unit, {memory.data(), unit - 1}), Code::invalid_argument);

  EXPECT_EQ(file->size().value(), alignment);
}

TEST_P(DirectTransfer, KnowsWhatTheFileIsOpenFor) {
  OpenOptions options{.read = false, .write = true, .create = true};
  auto file = backend_->open(path(), options).value();
  const std::uint32_t alignment = file->direct_alignment();
  if (alignment == 0) GTEST_SKIP() << "no direct I/O here";
  const AlignedBuffer memory = AlignedBuffer::make(alignment, alignment).value();
  const Piece piece{memory.data(), alignment};

  EXPECT_CODE(Code::wrong_mode, file->transfer_direct(Direction::read, 0, std::span(&piece, 1)).status());
  EXPECT_CODE(Code::ok, file->transfer_direct(Direction::write, 0, std::span(&piece, 1)).status());
  EXPECT_OK(file->close());
  EXPECT_CODE(Code::wrong_mode, file->transfer_direct(Direction::write, 0, std::span(&piece, 1)).status());
  file = open(OpenMode::read);
  EXPECT_CODE(Code::wrong_mode, file->transfer_direct(Direction::write, 0, std::span(&piece, 1)).status());
}

TEST_P(TransferConformance, AFileThatIsKeptOpenNeedsNoName) {
  OpenOptions options{.read = true, .write = true, .create = true};
  const auto file = backend_->open(path(), options).value();
  EXPECT_OK(backend_->remove(path()));
  const AlignedBuffer memory = AlignedBuffer::make(4096).value();
  std::fill_n(memory.data(), 4096, std::byte{7});
  const Piece piece{memory.data(), 4096};

  EXPECT_EQ(file->transfer(Direction::write, 0, std::span(&piece, 1)).value(), 4096u);
  if (file->direct_alignment() != 0) {
    EXPECT_EQ(file->transfer_direct(Direction::read, 0, std::span(&piece, 1)).value(), 4096u);
  }
  EXPECT_EQ(read(*file, 0, 5000), Bytes(4096, std::byte{7}));
  EXPECT_OK(file->close());
}

std::string name_of(const testing::TestParamInfo<StorageKind>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Kinds, TransferConformance, testing::ValuesIn(storage_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Kinds, DirectTransfer, testing::ValuesIn(storage_kinds(&StorageKind::direct)), name_of);

}  // namespace
}  // namespace thalweg
