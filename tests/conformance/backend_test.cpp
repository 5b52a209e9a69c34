// The contract of every backend: one set of bodies over POSIX files in the build folder and in /dev/shm, the memory
// backend, and the fault backend with an empty script.
#include "storage/backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "support/engine/storage_kinds.hpp"

namespace thalweg {
namespace {

class BackendConformance : public StorageTest, public testing::WithParamInterface<StorageKind> {
 protected:
  void SetUp() override { use(GetParam()); }
};

TEST_P(BackendConformance, GivesBackWhatWasWritten) {
  const auto file = open(OpenMode::create);
  const Bytes data = noise(100000, 1);

  EXPECT_OK(file->write(7, data));

  EXPECT_EQ(read(*file, 7, data.size()), data);
  EXPECT_EQ(read(*file, 0, 7), Bytes(7));
  EXPECT_EQ(file->size().value(), 100007u);
}

TEST_P(BackendConformance, ReadsShortOnlyAtTheEnd) {
  const auto file = open(OpenMode::create);
  EXPECT_OK(file->write(0, noise(10, 2)));

  EXPECT_EQ(read(*file, 4, 100).size(), 6u);
  EXPECT_EQ(read(*file, 10, 100).size(), 0u);
  EXPECT_EQ(read(*file, 5000, 100).size(), 0u);
  EXPECT_EQ(read(*file, 3, 0).size(), 0u);
}

TEST_P(BackendConformance, WritesPiecesOneBehindTheOther) {
  const auto file = open(OpenMode::create);
  const Bytes data = noise(3000 * 7, 3);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < 3000; ++i) {  // more than one system call takes, some of them empty
    pieces.push_back(piece_of(std::span(data).subspan(i * 7, 3)));
    pieces.push_back({});
    pieces.push_back(piece_of(std::span(data).subspan(i * 7 + 3, 4)));
  }

  EXPECT_OK(file->transfer(Direction::write, 11, pieces).status());

  EXPECT_EQ(read(*file, 11, data.size() + 1), data);
}

TEST_P(BackendConformance, ReadsAsideWhatReadsFind) {
  const auto file = open(OpenMode::create);
  for (const std::uint64_t seed : {6, 7}) {
    EXPECT_OK(file->write(0, noise(5000, seed)));
    Bytes aside(6000);
    aside.resize(file->read_aside(1000, aside).value());
    EXPECT_EQ(aside, read(*file, 1000, 4000));
  }
}

// A released range may be a hole from then on; all other bytes, and the size, stay.
TEST_P(BackendConformance, ReleasedSpaceIsThatOfItsRangeOnly) {
  const auto file = open(OpenMode::create);
  EXPECT_OK(file->write(0, noise(4096, 8)));
  EXPECT_OK(file->preallocate(4096, 12288));
  EXPECT_OK(file->release(4096, 8192));

  EXPECT_EQ(file->size().value(), 16384u);
  EXPECT_EQ(read(*file, 0, 4096), noise(4096, 8));
  EXPECT_EQ(read(*file, 4096, 12288), Bytes(12288));
}

TEST_P(BackendConformance, WritingNothingChangesNothing) {
  const auto file = open(OpenMode::create);
  const Piece empty[2] = {};

  EXPECT_OK(file->write(1000, {}));
  EXPECT_OK(file->transfer(Direction::write, 1000, {}).status());
  EXPECT_OK(file->transfer(Direction::write, 1000, empty).status());

  EXPECT_EQ(file->size().value(), 0u);
}

TEST_P(BackendConformance, HolesReadAsZerosAndAreSkipped) {
  const auto file = open(OpenMode::create);
  const std::uint64_t far = (std::uint64_t{5} << 32) + 3 * 65536;
  EXPECT_OK(file->write(far, noise(100, 4)));

  EXPECT_EQ(read(*file, far - 50, 50), Bytes(50));
  EXPECT_EQ(read(*file, far, 100), noise(100, 4));
  const std::uint64_t found = file->next_data(0).value();
  EXPECT_LE(found, far);
  EXPECT_GE(found, file->next_data(found).value());
  EXPECT_EQ(file->next_data(far + 10).value(), far + 10);
  EXPECT_EQ(file->next_data(far + 100).value(), far + 100);
  EXPECT_EQ(file->next_data(far + 5000).value(), far + 100);
}

TEST_P(BackendConformance, NextDataOfAnEmptyFileIsItsSize) {
  const auto file = open(OpenMode::create);

  EXPECT_EQ(file->next_data(0).value(), 0u);
  EXPECT_OK(file->truncate(1 << 20));
  EXPECT_LE(file->next_data(0).value(), 1u << 20);
}

TEST_P(BackendConformance, TruncateCutsAndExtendsWithZeros) {
  const auto file = open(OpenMode::create);
  EXPECT_OK(file->write(0, noise(300000, 5)));

  EXPECT_OK(file->truncate(70001));
  EXPECT_EQ(file->size().value(), 70001u);
  EXPECT_OK(file->truncate(300000));

  Bytes expected = noise(300000, 5);
  std::fill(expected.begin() + 70001, expected.end(), std::byte{0});
  EXPECT_EQ(read(*file, 0, 400000), expected);
}

TEST_P(BackendConformance, TruncateOnBordersOfPagesAndGroups) {
  const auto file = open(OpenMode::create);
  for (const std::uint64_t cut : {0u, 1u, 4095u, 4096u, 4097u, 65535u, 65536u, 65537u, 131072u}) {
    EXPECT_OK(file->write(0, noise(200000, 6)));

    EXPECT_OK(file->truncate(cut));
    EXPECT_OK(file->truncate(200000));

    Bytes expected = noise(200000, 6);
    std::fill(expected.begin() + cut, expected.end(), std::byte{0});
    EXPECT_EQ(read(*file, 0, 200000), expected) << "cut at " << cut;
  }
}

TEST_P(BackendConformance, PreallocatedSpaceReadsAsZerosAndKeepsData) {
  const auto file = open(OpenMode::create);
  EXPECT_OK(file->write(0, noise(5000, 7)));

  EXPECT_OK(file->preallocate(4096, 1 << 20));

  EXPECT_EQ(read(*file, 0, 5000), noise(5000, 7));
  const Bytes behind = read(*file, 5000, 100000);
  EXPECT_TRUE(std::all_of(behind.begin(), behind.end(), [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_OK(file->preallocate(0, 0));
}

TEST_P(BackendConformance, OpenModesDoWhatTheirNamesSay) {
  EXPECT_EQ(open_code(OpenMode::read), Code::not_found);
  EXPECT_EQ(open_code(OpenMode::read_write), Code::not_found);
  EXPECT_EQ(open_code(OpenMode::create_exclusive), Code::ok);
  EXPECT_EQ(open_code(OpenMode::create_exclusive), Code::already_exists);
  EXPECT_OK(open(OpenMode::read_write)->write(0, noise(10, 8)));
  EXPECT_EQ(read(*open(OpenMode::read), 0, 20), noise(10, 8));
  EXPECT_EQ(read(*open(OpenMode::create_keep), 0, 20), noise(10, 8));
  EXPECT_EQ(open(OpenMode::create)->size().value(), 0u);
}

TEST_P(BackendConformance, AFileOpenForReadingCannotBeChanged) {
  EXPECT_OK(open(OpenMode::create)->write(0, noise(10, 9)));
  const auto file = open(OpenMode::read);

  EXPECT_CODE(Code::wrong_mode, file->write(0, noise(10, 10)));
  EXPECT_CODE(Code::wrong_mode, file->truncate(0));
  EXPECT_CODE(Code::wrong_mode, file->preallocate(0, 100));
  EXPECT_EQ(read(*file, 0, 20), noise(10, 9));
}

TEST_P(BackendConformance, AClosedFileRefusesEverything) {
  const auto file = open(OpenMode::create);
  EXPECT_OK(file->close());
  Bytes data(10);

  EXPECT_CODE(Code::wrong_mode, file->close());
  EXPECT_CODE(Code::wrong_mode, file->write(0, data));
  EXPECT_CODE(Code::wrong_mode, file->read(0, data).status());
  EXPECT_CODE(Code::wrong_mode, file->size().status());
  EXPECT_CODE(Code::wrong_mode, file->sync());
  EXPECT_CODE(Code::wrong_mode, file->next_data(0).status());
}

TEST_P(BackendConformance, OffsetsBeyondTheLargestAreRefused) {
  const auto file = open(OpenMode::create);
  const std::uint64_t most = (std::uint64_t{1} << 63) - 1;
  Bytes data(10);

  EXPECT_CODE(Code::out_of_range, file->write(most - 5, data));
  EXPECT_CODE(Code::out_of_range, file->write(~std::uint64_t{0} - 5, data));
  EXPECT_CODE(Code::out_of_range, file->read(most - 5, data).status());
  EXPECT_CODE(Code::out_of_range, file->truncate(most + 1));
  EXPECT_CODE(Code::out_of_range, file->preallocate(most - 5, 10));
  EXPECT_EQ(file->size().value(), 0u);
}

TEST_P(BackendConformance, RemovesAndTellsWhatExists) {
  EXPECT_FALSE(backend_->exists(path()).value());
  EXPECT_CODE(Code::not_found, backend_->remove(path()));
  (void)open(OpenMode::create);
  EXPECT_TRUE(backend_->exists(path()).value());

  EXPECT_OK(backend_->remove(path()));

  EXPECT_FALSE(backend_->exists(path()).value());
  EXPECT_EQ(open_code(OpenMode::read), Code::not_found);
}

TEST_P(BackendConformance, SyncsFilesAndFolders) {
  const auto file = open(OpenMode::create);
  EXPECT_OK(file->write(0, noise(10, 11)));

  EXPECT_OK(file->sync());
  EXPECT_OK(backend_->sync_directory_of(path()));
}

TEST_P(BackendConformance, DescribesItsStorageBeforeAndAfterTheFileExists) {
  for (int round = 0; round < 2; ++round) {
    auto info = backend_->describe(path());

    ASSERT_TRUE(info.has_value()) << info.error().message();
    const std::uint32_t block = info.value().block_bytes;
    EXPECT_TRUE(block >= 512 && block <= (1u << 26) && (block & (block - 1)) == 0) << block;
    const std::uint32_t direct = backend_->direct_alignment_at(path());
    EXPECT_EQ(direct & (direct - 1), 0u) << direct;
    if (round > 0) {
      EXPECT_EQ(direct > 0, open(OpenMode::read)->direct_alignment() > 0);
    }
    EXPECT_FALSE(info.value().kind.empty());
    EXPECT_GT(info.value().largest_file_bytes, 1u << 31);
    (void)open(OpenMode::create);
  }
}

TEST_P(BackendConformance, TwoOpeningsSeeOneFile) {
  const auto writer = open(OpenMode::create);
  const auto reader = open(OpenMode::read);

  EXPECT_OK(writer->write(100, noise(50, 12)));

  EXPECT_EQ(read(*reader, 100, 50), noise(50, 12));
  EXPECT_EQ(reader->path(), path());
}

TEST_P(BackendConformance, AnOpenFileOutlivesItsName) {
  const auto file = open(OpenMode::create);
  EXPECT_OK(file->write(0, noise(50, 13)));
  EXPECT_OK(backend_->remove(path()));

  EXPECT_EQ(read(*file, 0, 50), noise(50, 13));
  EXPECT_EQ(open_code(OpenMode::create_exclusive), Code::ok);
}

TEST_P(BackendConformance, OpenOptionsDoWhatOpenDoes) {
  OpenOptions options{.read = true, .write = true};
  EXPECT_CODE(Code::not_found, backend_->open(path(), options).status());
  options.truncate = true;
  EXPECT_CODE(Code::not_found, backend_->open(path(), options).status());
  options.create = options.exclusive = true;
  EXPECT_OK(backend_->open(path(), options).value()->write(0, noise(10, 15)));
  EXPECT_CODE(Code::already_exists, backend_->open(path(), options).status());
  options.create = options.truncate = false;  // exclusive alone means nothing
  EXPECT_EQ(backend_->open(path(), options).value()->size().value(), 10u);
  options.truncate = true;
  EXPECT_EQ(backend_->open(path(), options).value()->size().value(), 0u);
  options.write = false;
  EXPECT_CODE(Code::invalid_argument, backend_->open(path(), options).status());
  options.read = options.truncate = false;
  EXPECT_CODE(Code::invalid_argument, backend_->open(path(), options).status());
}

TEST_P(BackendConformance, AFileOpenForWritingOnlyCannotBeRead) {
  const OpenOptions options{.read = false, .write = true, .create = true};
  const auto file = backend_->open(path(), options).value();
  Bytes data = noise(10, 16);
  const Piece piece{data.data(), data.size()};

  EXPECT_OK(file->write(0, data));
  EXPECT_EQ(file->transfer(Direction::write, 10, std::span(&piece, 1)).value(), 10u);
  EXPECT_CODE(Code::wrong_mode, file->read(0, data).status());
  EXPECT_CODE(Code::wrong_mode, file->transfer(Direction::read, 0, std::span(&piece, 1)).status());

  EXPECT_EQ(file->size().value(), 20u);
  EXPECT_EQ(read(*open(OpenMode::read), 0, 10), data);
}

TEST_P(BackendConformance, ThreadsWriteOneFileAtOnce) {
  const auto file = open(OpenMode::create);
  constexpr std::size_t n_threads = 4, n_records = 500, bytes = 700;

  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < n_threads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < n_records; ++i) {
        EXPECT_OK(file->write((i * n_threads + t) * bytes, Bytes(bytes, static_cast<std::byte>(1 + t))));
      }
    });
  }
  for (auto& thread : threads) thread.join();

  const Bytes all = read(*file, 0, n_threads * n_records * bytes + 1);
  ASSERT_EQ(all.size(), n_threads * n_records * bytes);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], static_cast<std::byte>(1 + i / bytes % n_threads)) << i;
}

TEST_P(BackendConformance, FollowsAModelThroughRandomCalls) {
  const auto file = open(OpenMode::create);
  std::mt19937 random(14);
  Bytes model;
  for (unsigned step = 0; step < 2000; ++step) {
    const std::size_t offset = random() % 150000;
    const unsigned what = random() % 10;
    if (what < 6) {
      const Bytes data = noise(random() % 9000, step);
      if (!data.empty()) model.resize(std::max(model.size(), offset + data.size()));
      std::copy(data.begin(), data.end(), model.begin() + static_cast<std::ptrdiff_t>(data.empty() ? 0 : offset));
      EXPECT_OK(file->write(offset, data));
    } else if (what < 7) {
      model.resize(offset);
      EXPECT_OK(file->truncate(offset));
    } else {
      const std::size_t from = std::min(offset, model.size());
      const std::size_t bytes = std::min<std::size_t>(20000, model.size() - from);
      const auto part = std::span(model).subspan(from, bytes);
      ASSERT_EQ(read(*file, from, bytes), Bytes(part.begin(), part.end())) << "step " << step;
    }
    ASSERT_EQ(file->size().value(), model.size()) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BackendConformance, testing::ValuesIn(storage_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace thalweg
