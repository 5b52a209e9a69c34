// What every backend promises: one set of bodies over POSIX files in the build folder and in /dev/shm, the memory
// backend, and the fault backend as long as its script is empty.
#include "backend/backend.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "backend/fault_backend.hpp"
#include "os/aligned_buffer.hpp"

namespace thalweg {
namespace {

using Bytes = std::vector<std::byte>;

struct Kind {
  const char* name;
  const char* folder;  // the tests make their own one in it; null: nothing on disk
  std::function<std::shared_ptr<Backend>()> make;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class BackendConformance : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    backend_ = GetParam().make();
    if (GetParam().folder == nullptr) return;
    if (!std::filesystem::is_directory(GetParam().folder)) GTEST_SKIP() << "no " << GetParam().folder << " here";
    std::string name = std::string(GetParam().folder) + "/thalweg_backend_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string path(const std::string& name = "file") const { return folder_.empty() ? name : folder_ + "/" + name; }
  std::unique_ptr<StoredFile> open(OpenMode mode, const std::string& name = "file") {
    auto file = backend_->open(path(name), mode);
    EXPECT_TRUE(file.has_value()) << file.status().message();
    return file.has_value() ? std::move(file).value() : nullptr;
  }
  Code open_code(OpenMode mode, const std::string& name = "file") {
    return backend_->open(path(name), mode).status().code();
  }
  static Bytes read(StoredFile& file, std::uint64_t offset, std::size_t bytes) {
    Bytes out(bytes, std::byte{0xEE});
    auto got = file.read(offset, out);
    EXPECT_TRUE(got.has_value()) << got.status().message();
    out.resize(got.has_value() ? got.value() : 0);
    return out;
  }

  std::shared_ptr<Backend> backend_;
  std::string folder_;
};

Bytes noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  Bytes out(bytes);
  for (auto& byte : out) byte = static_cast<std::byte>(random() | 1);
  return out;
}

#define EXPECT_CODE(expected, expression) EXPECT_EQ((expression).code(), expected)
#define EXPECT_OK(expression)                     \
  do {                                            \
    const Status tw_got = (expression);           \
    EXPECT_TRUE(tw_got.ok()) << tw_got.message(); \
  } while (false)

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

TEST_P(BackendConformance, WritesPartsOneBehindTheOther) {
  const auto file = open(OpenMode::create);
  const Bytes data = noise(3000 * 7, 3);
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t i = 0; i < 3000; ++i) {  // more than one system call takes, some of them empty
    parts.push_back(std::span(data).subspan(i * 7, 3));
    parts.push_back({});
    parts.push_back(std::span(data).subspan(i * 7 + 3, 4));
  }

  EXPECT_OK(file->write_parts(11, parts));

  EXPECT_EQ(read(*file, 11, data.size() + 1), data);
}

TEST_P(BackendConformance, WritingNothingChangesNothing) {
  const auto file = open(OpenMode::create);
  const std::span<const std::byte> empty[2] = {};

  EXPECT_OK(file->write(1000, {}));
  EXPECT_OK(file->write_parts(1000, {}));
  EXPECT_OK(file->write_parts(1000, empty));

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
    const std::uint32_t direct = info.value().direct_io_alignment;
    EXPECT_EQ(direct & (direct - 1), 0u) << direct;
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

TEST_P(BackendConformance, TransfersPiecesFromAndToAnywhere) {
  const auto file = open(OpenMode::create);
  Bytes data = noise(3000 * 8, 17);
  Bytes back(data.size());
  std::vector<Piece> from, to;  // more than one system call takes, and in another order
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

TEST_P(BackendConformance, DirectTransfersSeeWhatPlainOnesDo) {
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

TEST_P(BackendConformance, DirectTransfersMustBeAligned) {
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

TEST_P(BackendConformance, DirectTransfersKnowWhatTheFileIsOpenFor) {
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

TEST_P(BackendConformance, AFileThatIsKeptOpenNeedsNoName) {
  OpenOptions options{.read = true, .write = true, .create = true, .keep_open = true};
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

INSTANTIATE_TEST_SUITE_P(Kinds, BackendConformance,
                         testing::Values(Kind{"posix_here", ".", [] { return posix_backend(); }},
                                         Kind{"posix_shm", "/dev/shm", [] { return posix_backend(); }},
                                         Kind{"memory", nullptr, [] { return make_memory_backend(); }},
                                         Kind{"fault_without_fault", nullptr,
                                              [] {
                                                FaultScript script;
                                                script.record = script.keep_journal = true;
                                                script.space_bytes = std::uint64_t{1} << 40;
                                                return make_fault_backend(make_memory_backend(), script);
                                              }}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace thalweg
