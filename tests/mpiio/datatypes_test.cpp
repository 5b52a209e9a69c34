// Random datatypes as the type of the memory and as the type of the file. The oracle is the typemap (random_types.hpp).
// TW_MPIIO_SEEDS="FROM N" plays other seeds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "mpiio/access_ways.hpp"
#include "mpiio/random_types.hpp"

namespace thalweg::test {
namespace {

struct Seeds {
  unsigned from = 0, n = 0;
};

// Fewer on more ranks, as collective calls of more ranks than cores take long.
Seeds seeds(unsigned n) {
  Seeds played{0, n / static_cast<unsigned>(world_size() + 1)};
  if (const char* given = std::getenv("TW_MPIIO_SEEDS"); given != nullptr)
    std::sscanf(given, "%u %u", &played.from, &played.n);
  return played;
}

// Whether the test has failed on a rank: then all of them end.
bool any_failed() {
  int failed = testing::Test::HasFailure() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return failed != 0;
}

std::string packed(const RandomType& type, int count, Memory& memory) {
  std::string bytes;
  for (const std::int64_t place : type.of(count)) bytes += memory.at(place);
  return bytes;
}

// A type for reading: none of its bytes is named twice by `count` instances.
RandomType without_overlaps(Random& random, const TypeRules& rules, int count) {
  for (;;) {
    RandomType made = random_type(random, rules);
    if (!overlaps(made.of(count))) return made;
  }
}

class MpiioDatatypes : public testing::Test {
 protected:
  // Reads as many instances of another type as the bytes of `written` hold, and compares.
  void expect_read_back(Random& random, Way way, MPI_File file, MPI_Offset offset, const std::string& written) {
    const RandomType other = without_overlaps(random, {}, 3);
    const std::int64_t size = other.size();
    const int count =
        size == 0 ? 1 : static_cast<int>(std::min<std::int64_t>(3, static_cast<std::int64_t>(written.size()) / size));
    SCOPED_TRACE("read " + std::to_string(count) + " of " + other.text);
    Memory memory(other, count, 7), expected(other, count, 7);
    const Places places = other.of(count);
    for (std::size_t i = 0; i < places.size(); ++i) expected.at(places[i]) = written[i];
    MPI_Status status;
    EXPECT_MPI(read_at(way, file, offset, memory.buffer(), count, other.type, &status));
    EXPECT_EQ(elements_of(status, MPI_BYTE), static_cast<std::int64_t>(places.size()));
    EXPECT_TRUE(memory.bytes() == expected.bytes());
  }

  void play_memory(unsigned seed, MPI_File file, const std::string& path) {
    Random random(seed * 16 + static_cast<unsigned>(world_rank()));
    const Way way = kWays[seed % std::size(kWays)], back = kWays[seed / 5 % std::size(kWays)];
    const RandomType made = random_type(random, {});
    const int count = static_cast<int>(random.between(1, 3));
    SCOPED_TRACE("seed " + std::to_string(seed) + " rank " + std::to_string(world_rank()) + ": " +
                 std::to_string(count) + " of " + made.text);
    Memory memory(made, count, seed);
    const std::string bytes = packed(made, count, memory);
    const auto mine = static_cast<std::int64_t>(bytes.size());
    std::int64_t offset = 0;
    MPI_Exscan(&mine, &offset, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank() == 0) offset = 0;

    MPI_Status status;
    EXPECT_MPI(write_at(way, file, offset, memory.buffer(), count, made.type, &status));
    EXPECT_EQ(elements_of(status, MPI_BYTE), mine);
    if (mine > 0) {
      EXPECT_EQ(count_of(status, made.type), count);
    }
    barrier();
    EXPECT_TRUE(content(path).substr(static_cast<std::size_t>(offset), bytes.size()) == bytes);
    expect_read_back(random, back, file, offset, bytes);
    barrier();
  }

  SharedFolder folder_;
};

TEST_F(MpiioDatatypes, OfMemoryNameTheBytesOfTheirTypemaps) {
  const Seeds played = seeds(240);
  const OpenFile file(folder_.path("memory"));
  for (unsigned seed = played.from; seed < played.from + played.n && !any_failed(); ++seed)
    play_memory(seed, file, folder_.path("memory"));
}

// The oracle itself, where MPI_Pack works.
TEST_F(MpiioDatatypes, HaveTheTypemapsThatMpiPacks) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    const RandomType made = random_type(random, {3, MPI_DATATYPE_NULL, true});
    if (made.size() == 0) continue;
    const int count = overlaps(made.of(2)) ? 1 : 2;  // Open MPI packs an instance that covers another one behind it
    EXPECT_EQ(packed_places(made, count), made.of(count)) << made.text;
  }
}

// --- as the type of the file -------------------------------------------------------------------------------------------

// The view of one rank.
struct View {
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_BYTE;
  RandomType filetype;
  std::int64_t etype_bytes = 1;

  std::int64_t size() const { return filetype.size(); }
  std::int64_t place(std::int64_t byte) const {
    return displacement + byte / size() * filetype.extent + filetype.places[static_cast<std::size_t>(byte % size())];
  }
};

class MpiioFiletypes : public testing::Test {
 protected:
  static constexpr std::int64_t kRegion = 16384;  // bytes of the file that a rank has for itself

  MpiioFiletypes() {
    MPI_Datatype three = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, MPI_SHORT, &three);
    three_ = Type(three);
  }

  // Displacements that grow, and instances that do not overlap.
  View random_view(Random& random, bool interleaved) const {
    View view;
    const MPI_Datatype etypes[] = {MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_SHORT_INT, three_};
    view.etype = etypes[random.up_to(4)];
    int size = 0;
    MPI_Type_size(view.etype, &size);
    view.etype_bytes = size;
    const TypeRules rules{4, view.etype == MPI_BYTE ? MPI_DATATYPE_NULL : view.etype, true};
    for (;;) {
      view.filetype = random_type(random, rules);
      const Places& places = view.filetype.places;
      const std::int64_t extent = view.filetype.extent;
      const bool fits = !places.empty() && extent > places.back() && 4 * extent < kRegion;
      if (fits && ascends(view.filetype.of(3))) break;
    }
    if (interleaved) {
      MPI_Datatype wide = MPI_DATATYPE_NULL;
      const std::int64_t extent = view.filetype.extent;
      MPI_Type_create_resized(view.filetype.type, 0, extent * world_size(), &wide);
      view.filetype = {Type(wide), "resized to all ranks " + view.filetype.text, view.filetype.places,
                       extent * world_size()};
      view.displacement = 11 + world_rank() * extent;
    } else {
      view.displacement = world_rank() * kRegion + random.up_to(100);
    }
    return view;
  }

  // A type for the memory, and how many instances have a number of etypes that fits into `most` bytes.
  struct Part {
    RandomType type;
    int count = 0;
    std::int64_t bytes = 0;
  };
  static Part random_part(Random& random, const View& view, std::int64_t most) {
    for (int tries = 0; tries < 100; ++tries) {
      const int count = static_cast<int>(random.between(1, 4));
      RandomType made = without_overlaps(random, {}, count);
      const std::int64_t bytes = count * made.size();
      if (bytes % view.etype_bytes == 0 && bytes <= most) return {std::move(made), count, bytes};
    }
    const std::int64_t n = random.up_to(most) / view.etype_bytes * view.etype_bytes;
    return {plain_type(MPI_BYTE), static_cast<int>(n), n};
  }

  // What all ranks have written, as rank 0 learns it; 0: nobody.
  static std::string merged(const std::string& image) {
    std::string all(image.size(), '\0');
    MPI_Reduce(image.data(), all.data(), static_cast<int>(image.size()), MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
    return all;
  }

  void expect_file(const std::string& image, std::size_t initial) const {
    const std::string all = merged(image);
    if (world_rank() != 0) return;
    const std::string found = content(folder_.path("file"));
    std::size_t wrong = 0, end = initial;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] != 0) end = std::max(end, i + 1);
      // The bytes between the old end of the file and the new one that nobody writes are undefined.
      if (all[i] == 0 && i >= initial) continue;
      if (i < found.size() && found[i] == (all[i] != 0 ? all[i] : '.')) continue;
      if (wrong++ == 0) ADD_FAILURE() << "byte " << i << " of the file is the first wrong one";
    }
    EXPECT_EQ(found.size(), end);
  }

  void write_part(Random& random, Way way, MPI_File file, const View& view, std::string& image) const {
    const std::int64_t most = 3 * view.size() / view.etype_bytes * view.etype_bytes;
    const std::int64_t from = random.up_to(most / view.etype_bytes);
    const Part part = random_part(random, view, most - from * view.etype_bytes);
    SCOPED_TRACE("write at " + std::to_string(from) + ": " + std::to_string(part.count) + " of " + part.type.text);
    Memory memory(part.type, part.count, static_cast<unsigned>(from) + 3);
    const std::string bytes = packed(part.type, part.count, memory);
    MPI_Status status;
    EXPECT_MPI(write_at(way, file, from, memory.buffer(), part.count, part.type.type, &status));
    EXPECT_EQ(elements_of(status, MPI_BYTE), part.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      image[static_cast<std::size_t>(view.place(from * view.etype_bytes + static_cast<std::int64_t>(i)))] = bytes[i];
  }

  // Reads what may go beyond the end of the file.
  void read_part(Random& random, Way way, MPI_File file, const View& view) const {
    const std::string bytes = content(folder_.path("file"));
    const auto end = static_cast<std::int64_t>(bytes.size());
    const std::int64_t from = random.up_to(2 * view.size() / view.etype_bytes);
    const Part part = random_part(random, view, 8 * view.size());
    SCOPED_TRACE("read at " + std::to_string(from) + ": " + std::to_string(part.count) + " of " + part.type.text);
    Memory memory(part.type, part.count, 5), expected(part.type, part.count, 5);
    const Places places = part.type.of(part.count);
    std::int64_t got = 0;
    for (; got < part.bytes; ++got) {
      const std::int64_t place = view.place(from * view.etype_bytes + got);
      if (place >= end) break;
      expected.at(places[static_cast<std::size_t>(got)]) = bytes[static_cast<std::size_t>(place)];
    }
    MPI_Status status;
    EXPECT_MPI(read_at(way, file, from, memory.buffer(), part.count, part.type.type, &status));
    EXPECT_EQ(elements_of(status, MPI_BYTE), got);
    const std::int64_t size = part.type.size();
    if (size > 0) {
      EXPECT_EQ(count_of(status, part.type.type), got % size == 0 ? got / size : MPI_UNDEFINED);
    }
    // The memory behind what was read is undefined.
    for (std::size_t i = static_cast<std::size_t>(got); i < places.size(); ++i)
      expected.at(places[i]) = memory.at(places[i]);
    EXPECT_TRUE(memory.bytes() == expected.bytes());
  }

  void play(unsigned seed) {
    Random common(seed), random(seed * 16 + 9 + static_cast<unsigned>(world_rank()));
    const bool interleaved = common.one_in(2);
    const std::size_t initial = static_cast<std::size_t>(common.up_to(kRegion * world_size() / 2));
    const View view = random_view(interleaved ? common : random, interleaved);
    SCOPED_TRACE("seed " + std::to_string(seed) + " rank " + std::to_string(world_rank()) + " displacement " +
                 std::to_string(view.displacement) + ": " + view.filetype.text);
    fill(folder_.path("file"), std::string(initial, '.'));
    std::string image(static_cast<std::size_t>(kRegion * 4 * world_size()), '\0');
    const OpenFile file(folder_.path("file"), MPI_MODE_RDWR);
    EXPECT_MPI(MPI_File_set_view(file, view.displacement, view.etype, view.filetype.type, "native", MPI_INFO_NULL));
    write_part(random, kWays[seed % 5], file, view, image);
    write_part(random, kWays[seed / 5 % 5], file, view, image);
    barrier();
    expect_file(image, initial);
    for (int i = 0; i < 2; ++i) read_part(random, kWays[(seed + static_cast<unsigned>(i)) % 5], file, view);
  }

  Type three_;
  SharedFolder folder_;
};

TEST_F(MpiioFiletypes, PlaceTheBytesOfTheirTypemaps) {
  const Seeds played = seeds(160);
  for (unsigned seed = played.from; seed < played.from + played.n && !any_failed(); ++seed) play(seed);
}

}  // namespace
}  // namespace thalweg::test
