#include "support/models/multifile_model.hpp"

#include <gtest/gtest.h>

namespace thalweg::test {

namespace {

std::uint64_t pick(std::mt19937_64& random, std::uint64_t below) { return below == 0 ? 0 : random() % below; }

// Mostly small sizes, sometimes up to `largest`.
std::uint64_t pick_size(std::mt19937_64& random, std::uint64_t largest) {
  switch (random() % 4) {
    case 0:
      return pick(random, 17);
    case 1:
      return pick(random, 4097);
    case 2:
      return pick(random, std::min<std::uint64_t>(largest, 70'000) + 1);
    default:
      return pick(random, largest + 1);
  }
}

std::vector<std::byte> fresh_data(std::uint64_t rank, std::uint64_t at, std::uint64_t n, std::uint64_t version) {
  std::vector<std::byte> data(n);
  for (std::uint64_t i = 0; i < n; ++i) data[i] = pattern(rank, at + i, version);
  return data;
}

std::string pieces_text(const LogicalReader& reader) {
  std::string text;
  for (const format::PieceEntry& p : reader.pieces())
    text += "\n  " + std::to_string(p.logical_offset) + " +" + std::to_string(p.logical_bytes) + " kind " +
            std::to_string(static_cast<int>(p.kind)) + " codec " + std::to_string(static_cast<int>(p.codec));
  return text;
}

void one_write(WriteHandle& handle, LogicalWriter& writer, ModelFile& model, std::mt19937_64& random,
               std::uint64_t largest) {
  if (random() % 3 == 0) writer.seek(pick(random, model.bytes.size() + 5000));
  const std::uint64_t at = writer.position();
  const auto data = fresh_data(writer.rank(), at, pick_size(random, largest), random());
  const bool fast = writer.write_buffered(data.data(), data.size());
  if (!fast) {
    const Status status = handle.write(writer, data);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  model.write(at, data);
  ASSERT_EQ(writer.position(), at + data.size());
  ASSERT_EQ(writer.size(), model.bytes.size());
}

}  // namespace

void write_at_random(WriteHandle& handle, const std::vector<std::uint64_t>& ranks, Model& model,
                     std::mt19937_64& random, int steps, std::uint64_t largest) {
  for (int step = 0; step < steps && !ranks.empty(); ++step) {
    const std::uint64_t rank = ranks[pick(random, ranks.size())];
    ModelFile& file = model[rank];
    const Status found = handle.seek_to(rank, -1);
    ASSERT_TRUE(found.ok()) << found.message();
    for (auto n = 1 + random() % 4; n > 0; --n) one_write(handle, *handle.current(), file, random, largest);
    const Status kept = random() % 8 == 0 ? handle.flush() : random() % 64 == 0 ? handle.sync() : Status{};
    ASSERT_TRUE(kept.ok()) << kept.message();
    if (random() % 16 == 0) {
      file.name = "file " + std::to_string(rank) + std::string(pick(random, 100), 'x');
      file.mode = 0100644;
      ASSERT_TRUE(handle.set_name(*handle.current(), file.name, file.mode).ok());
    }
  }
}

void add_at_random(WriteHandle& handle, const std::string& prefix, std::map<std::string, ModelFile>& added,
                   std::mt19937_64& random, int most, std::uint64_t largest) {
  std::vector<std::pair<std::uint64_t, ModelFile>> mine;  // by number
  const auto n = static_cast<int>(pick(random, static_cast<std::uint64_t>(most) + 1));
  for (int i = 0; i < n; ++i) {
    const std::string name = prefix + std::to_string(pick(random, 20)) + std::string(pick(random, 3) * 40, 'y');
    const Status status = handle.add(name, 0100600);
    ASSERT_TRUE(status.ok()) << status.message();
    mine.push_back({handle.current()->rank(), {{}, name, 0100600}});
    for (auto writes = pick(random, 4); writes > 0; --writes) {
      auto& [number, file] = mine[pick(random, 3) == 0 ? pick(random, mine.size()) : mine.size() - 1];
      ASSERT_TRUE(handle.seek_to(number, -1).ok());
      one_write(handle, *handle.current(), file, random, largest);
    }
  }
  for (auto& [number, file] : mine) added[file.name] = std::move(file);
}

void expect_found(ReadHandle& handle, const std::map<std::string, ModelFile>& added, std::mt19937_64& random) {
  for (const auto& [name, file] : added) {
    const auto rank = handle.find(name);
    ASSERT_TRUE(rank.has_value()) << rank.error().message();
    expect_equal(handle, {rank.value()}, {{rank.value(), file}}, random);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void expect_equal(ReadHandle& handle, const std::vector<std::uint64_t>& ranks, const Model& model,
                  std::mt19937_64& random) {
  const ModelFile empty;
  for (const std::uint64_t rank : ranks) {
    const auto found = model.find(rank);
    const ModelFile& expected = found == model.end() ? empty : found->second;
    Status status = handle.seek_to(rank, 0);
    ASSERT_TRUE(status.ok()) << status.message();
    LogicalReader* reader = handle.current();
    ASSERT_EQ(reader->size(), expected.bytes.size()) << "logical file " << rank;
    std::vector<std::byte> data(expected.bytes.size() + 100);
    std::uint64_t at = 0;
    while (at < expected.bytes.size()) {
      const std::uint64_t n = std::max<std::uint64_t>(1, pick_size(random, 600'000));
      if (random() % 4 == 0) at = pick(random, expected.bytes.size());
      reader->seek(at);
      data.resize(n);
      std::size_t got = n;
      if (reader->read_window(data.data(), n)) {
        ASSERT_EQ(reader->position(), at + n);
      } else {
        status = reader->read(at, data, got);
        ASSERT_TRUE(status.ok()) << status.message();
      }
      ASSERT_EQ(got, std::min<std::uint64_t>(n, expected.bytes.size() - at));
      const auto end = data.begin() + static_cast<std::ptrdiff_t>(got);
      const auto differs =
          std::mismatch(data.begin(), end, expected.bytes.begin() + static_cast<std::ptrdiff_t>(at)).first;
      ASSERT_TRUE(differs == end) << "logical file " << rank << ", " << got << " bytes from " << at
                                  << ": the first wrong one is "
                                  << at + static_cast<std::uint64_t>(differs - data.begin())
                                  << ", pieces:" << pieces_text(*reader);
      at += got;
    }
    std::uint32_t mode = 0;
    auto name = handle.name(rank, mode);
    ASSERT_TRUE(name.has_value());
    ASSERT_EQ(*name, expected.name);
    ASSERT_EQ(mode, expected.mode);
  }
}

}  // namespace thalweg::test
