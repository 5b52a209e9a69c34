// Every reading and writing call, by teams of every size, compared with a model of the file byte by byte.
#include <algorithm>
#include <numeric>
#include <random>

#include "omp_file/omp_file_support.hpp"

namespace omp_file_test {
namespace {

constexpr unsigned char kGuard = 0xEE;

// The pieces of one thread: memory within one allocation with guard bytes between, and their places in the file.
struct Part {
  Bytes memory;
  std::vector<iovec> list;
  std::vector<off_t> offsets;
  std::size_t bytes() const {
    return std::accumulate(list.begin(), list.end(), std::size_t{0},
                           [](std::size_t sum, const iovec& piece) { return sum + piece.iov_len; });
  }
};

// Makes a part of `lengths`, filled with noise (to write) or with guards (to read into).
Part make_part(const std::vector<std::size_t>& lengths, bool filled, unsigned seed) {
  constexpr std::size_t kGap = 16;
  Part part;
  const std::size_t sum = std::accumulate(lengths.begin(), lengths.end(), kGap * (lengths.size() + 1));
  part.memory.assign(sum, kGuard);
  std::size_t at = kGap;
  for (const std::size_t length : lengths) {
    part.list.push_back({length == 0 ? nullptr : part.memory.data() + at, length});
    if (filled) std::ranges::copy(noise(length, seed++), part.memory.begin() + static_cast<std::ptrdiff_t>(at));
    at += length + kGap;
  }
  return part;
}

// Assigns places to the pieces of all parts: from `position` on in order, or scattered with gaps.
void place(std::vector<Part>& parts, bool scattered, off_t position, std::mt19937& random) {
  std::vector<std::pair<Part*, std::size_t>> pieces;
  for (Part& part : parts) {
    part.offsets.assign(part.list.size(), 0);
    for (std::size_t i = 0; i < part.list.size(); ++i) pieces.emplace_back(&part, i);
  }
  if (scattered) std::ranges::shuffle(pieces, random);
  for (auto& [part, i] : pieces) {
    if (scattered) position += static_cast<off_t>(random() % 40);
    part->offsets[i] = position;
    position += static_cast<off_t>(part->list[i].iov_len);
  }
}

std::vector<Part> make_parts(const Form& form, int threads, std::mt19937& random) {
  std::vector<Part> parts;
  for (int rank = 0; rank < (form.common ? 1 : threads); ++rank) {
    const std::size_t n = form.is_list ? random() % 5 : 1;
    std::vector<std::size_t> lengths(n);
    for (std::size_t& length : lengths) length = random() % 4 == 0 ? 0 : random() % 700;
    parts.push_back(make_part(lengths, form.writes, static_cast<unsigned>(random())));
  }
  return parts;
}

Arguments arguments_of(const Part& part, int fd, int hint) {
  Arguments arguments;
  if (!part.list.empty()) {
    arguments.buf = part.list[0].iov_base;
    arguments.length = static_cast<long>(part.list[0].iov_len);
    arguments.offset = part.offsets[0];
  }
  arguments.list = part.list.data();
  arguments.offsets = part.offsets.data();
  arguments.size = static_cast<int>(part.list.size());
  arguments.fd = fd;
  arguments.hint = hint;
  return arguments;
}

// Copies the bytes of parts into the model.
void write_to_model(const std::vector<Part>& parts, Bytes& model) {
  for (const Part& part : parts) {
    for (std::size_t i = 0; i < part.list.size(); ++i) {
      const auto* from = static_cast<const unsigned char*>(part.list[i].iov_base);
      const auto end = static_cast<std::size_t>(part.offsets[i]) + part.list[i].iov_len;
      if (part.list[i].iov_len == 0) continue;
      if (model.size() < end) model.resize(end, 0);
      std::copy(from, from + part.list[i].iov_len, model.begin() + part.offsets[i]);
    }
  }
}

// The expected memory after reading.
Bytes expected_memory(const Part& part, const Bytes& model) {
  Bytes memory = part.memory;
  for (std::size_t i = 0; i < part.list.size(); ++i) {
    for (std::size_t k = 0; k < part.list[i].iov_len; ++k) {
      const std::size_t at = static_cast<std::size_t>(part.offsets[i]) + k;
      const auto within = static_cast<const unsigned char*>(part.list[i].iov_base) - part.memory.data();
      if (at < model.size()) memory[static_cast<std::size_t>(within) + k] = model[at];
    }
  }
  return memory;
}

class Transfer : public OmpFile, public ::testing::WithParamInterface<std::tuple<std::size_t, int>> {
 protected:
  const Form& form() const { return forms()[std::get<0>(GetParam())]; }
  int threads() const { return std::get<1>(GetParam()); }

  // One call by all threads of a team, compared with the model; the shared position is `position` before it.
  void one_call(int fd, Bytes& model, off_t& position, std::mt19937& random) {
    std::vector<Part> parts = make_parts(form(), threads(), random);
    place(parts, form().has_offset, form().has_offset ? static_cast<off_t>(random() % 999) : position, random);
    const int hint = static_cast<int>(random() % 9) - 1;
    std::vector<Bytes> expected;
    for (const Part& part : parts) expected.push_back(form().writes ? part.memory : expected_memory(part, model));
    std::vector<long> counts(static_cast<std::size_t>(threads()), -1);

    const auto results = results_on(threads(), [&](int rank) {
      const Part& part = parts[form().common ? 0 : static_cast<std::size_t>(rank)];
      const int returned = run(form(), arguments_of(part, fd, hint));
      counts[static_cast<std::size_t>(rank)] = omp_file_last_count();
      return returned;
    });

    EXPECT_EQ(results, all_ok(threads()));
    if (form().writes) write_to_model(parts, model);
    for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_TRUE(parts[i].memory == expected[i]) << "part " << i;
    for (std::size_t i = 0; form().writes && i < parts.size(); ++i) {
      EXPECT_EQ(counts[i], static_cast<long>(parts[i].bytes()));
    }
    for (const Part& part : parts) position += form().has_offset ? 0 : static_cast<off_t>(part.bytes());
  }
};

TEST_P(Transfer, MovesTheBytesOfTheModel) {
  std::mt19937 random(static_cast<unsigned>(std::get<0>(GetParam()) * 100 + static_cast<unsigned>(threads())));
  Bytes model = noise(form().writes ? 500 : 60000, 7);
  store(path(), model);
  const int fd = open_file(O_RDWR);
  off_t position = 0;

  for (int repeat = 0; repeat < (threads() > 5 ? 3 : 12); ++repeat) {
    one_call(fd, model, position, random);
    off_t now = -1;
    EXPECT_EQ(omp_file_seek_all(fd, 0, SEEK_CUR, &now), 0);
    EXPECT_EQ(now, position) << form().name;
  }
  EXPECT_EQ(omp_file_close_all(fd), 0);

  EXPECT_TRUE(contents(path()) == model) << form().name;
}

class NestedTransfer : public Transfer {};

TEST_P(NestedTransfer, TeamsEachMoveTheBytesOfTheirModel) {
  const int teams = 2;
  std::vector<Bytes> models;
  for (int team = 0; team < teams; ++team) {
    models.push_back(noise(20000, static_cast<unsigned>(team)));
    store(path(std::to_string(team)), models.back());
  }

  on_team(teams, [&](int team) {
    std::mt19937 random(static_cast<unsigned>(team));
    Bytes& model = models[static_cast<std::size_t>(team)];
    int fd = -1;
    off_t position = 0;
    on_team(1, [&](int) { fd = open_file(O_RDWR, std::to_string(team)); });
    for (int repeat = 0; repeat < 6; ++repeat) one_call(fd, model, position, random);
    on_team(1, [&](int) { EXPECT_EQ(omp_file_close_all(fd), 0); });
  });

  for (int team = 0; team < teams; ++team) {
    EXPECT_TRUE(contents(path(std::to_string(team))) == models[static_cast<std::size_t>(team)]) << form().name;
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<std::size_t, int>>& test) {
  return forms()[std::get<0>(test.param)].name + "_on_" + std::to_string(std::get<1>(test.param));
}
constexpr std::size_t kForms = 48;
INSTANTIATE_TEST_SUITE_P(EveryCall, Transfer,
                         ::testing::Combine(::testing::Range<std::size_t>(0, kForms),
                                            ::testing::Values(1, 2, 3, 5, 64)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(EveryCall, NestedTransfer,
                         ::testing::Combine(::testing::Range<std::size_t>(0, kForms), ::testing::Values(1, 3)),
                         name_of);

TEST_F(OmpFile, EveryCallIsInTheTable) { EXPECT_EQ(forms().size(), kForms); }

TEST_F(OmpFile, ReadsMayOverlap) {
  const Bytes bytes = noise(5000, 1);
  store(path(), bytes);
  const int fd = open_file(O_RDONLY);

  on_team(5, [&](int rank) {
    Bytes mine(4000);
    EXPECT_EQ(omp_file_read_at_all(mine.data(), 4000, rank * 100, fd, 0), 0);
    EXPECT_TRUE(std::equal(mine.begin(), mine.end(), bytes.begin() + rank * 100));
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_F(OmpFile, WhereWritesOverlapEachByteIsOfOneOfTheThreads) {
  const int fd = open_file();

  on_team(5, [&](int rank) {
    const Bytes mine(4000, static_cast<unsigned char>(1 + rank));
    EXPECT_EQ(omp_file_write_at_all(mine.data(), 4000, rank * 100, fd, 0), 0);
  });

  EXPECT_EQ(omp_file_close_all(fd), 0);
  const Bytes bytes = contents(path());
  ASSERT_EQ(bytes.size(), 4400U);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int writer = bytes[i] - 1;
    EXPECT_TRUE(writer >= 0 && writer < 5 && i >= static_cast<std::size_t>(writer) * 100 &&
                i < static_cast<std::size_t>(writer) * 100 + 4000)
        << "byte " << i << " is of thread " << writer;
  }
}

TEST_F(OmpFile, AReadThatMeetsTheEndSucceedsAndTellsHowMuch) {
  store(path(), noise(250, 3));
  const int fd = open_file(O_RDONLY);

  std::vector<long> counts(4, -1);
  on_team(4, [&](int rank) {
    Bytes mine(101, kGuard);
    EXPECT_EQ(omp_file_read_all(mine.data(), 100, fd, 0), 0);
    counts[static_cast<std::size_t>(rank)] = omp_file_last_count();
    for (std::size_t i = static_cast<std::size_t>(omp_file_last_count()); i < mine.size(); ++i) {
      EXPECT_EQ(mine[i], kGuard);
    }
  });

  EXPECT_EQ(counts, (std::vector<long>{100, 100, 50, 0}));
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

}  // namespace
}  // namespace omp_file_test
