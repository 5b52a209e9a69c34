// False metadata under valid checksums: fields of small multifiles get random and extreme values and every checksum is
// recomputed. No operation crashes or hangs; what verify accepts can be read; what a repair closes can be opened; an
// append succeeds or is refused.
//
// THALWEG_RESEAL_ROUNDS: changes tried per image (default 3000, 300 under the sanitizers).
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <random>

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "support/damage/damage_check.hpp"
#include "support/damage/damage_seal.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kMostRead = 1 << 20;  // of one logical file
constexpr std::uint64_t kMostRanks = 100;

int rounds() {
  const char* text = std::getenv("THALWEG_RESEAL_ROUNDS");
  return text != nullptr ? std::atoi(text) : tries_less() ? 300 : 3000;
}

// A structure of the file: its offset and the extent of its fields.
struct Place {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

std::vector<Place> structures_of(const FileBytes& file) {
  std::vector<Place> places = {{8, 120}, {512, 56}, {1024, 56}};
  for (std::uint64_t at = 4096; at + 512 <= file.size(); at += 512) {
    const bool page = at % 4096 == 0 && at + 4096 <= file.size();
    if (begins_with(file, at, "TWFRAME1"))
      places.push_back({at + 8, 248});  // with fill slots or directory
    else if (begins_with(file, at, "TWSESSN1") || begins_with(file, at, "TWINDEX1"))
      places.push_back({at + 8, 80});
    else if (page && is_page(file, at))
      places.push_back({at, 200});
  }
  return places;
}

class Liar {
 public:
  explicit Liar(std::uint64_t seed) : random_(seed) {}

  // Changes some fields of one physical file.
  void lie(FileBytes& file) {
    const std::vector<Place> places = structures_of(file);
    for (auto n = 1 + random_() % 3; n > 0; --n) {
      const Place& place = places[random_() % places.size()];
      const std::uint64_t width = random_() % 3 == 0 ? 4 : 8;
      const std::uint64_t at = place.offset + random_() % (place.bytes / width) * width;
      if (at + width > file.size()) continue;
      const std::uint64_t old = width == 8 ? load_le<std::uint64_t>(ByteView(file).subspan(at))
                                           : load_le<std::uint32_t>(ByteView(file).subspan(at));
      const std::uint64_t value = other_than(old, file.size());
      std::memcpy(file.data() + at, &value, width);
    }
    seal_all(file);
  }

 private:
  std::uint64_t other_than(std::uint64_t old, std::uint64_t file_bytes) {
    constexpr std::uint64_t one = 1;
    switch (random_() % 8) {
      case 0:
        return random_() % 4;
      case 1:
        return old + random_() % 5 - 2;
      case 2:
        return one << random_() % 64;
      case 3:
        return (one << random_() % 64) - 1;
      case 4:
        return random_() % (file_bytes / 512 + 2) * 512;
      case 5:
        return old ^ one << random_() % 64;
      case 6:
        return old + (random_() % 9 - 4) * 512;
      default:
        return random_();
    }
  }

  std::mt19937_64 random_;
};

using Contents = std::vector<std::optional<FileBytes>>;  // no value: refused

class Resealed : public testing::TestWithParam<std::string> {
 protected:
  Result<std::unique_ptr<Multifile>> open(MultifileMode access, bool recover) {
    OpenRequest request;
    request.backend = storage_;
    request.path = kImagePath;
    request.access = access;
    request.recover = recover;
    request.options.buffer_bytes = 2000;
    return run(open_multifile(*group_, std::move(request)));
  }

  // Reads the beginnings of the first logical files; no value when the open is refused.
  std::optional<Contents> read(bool recover, Code& refused) {
    auto file = open(MultifileMode::read, recover);
    refused = file.status().code();
    why_ = file.status().message();
    if (!file.has_value()) return std::nullopt;
    ReadHandle& handle = *(*file)->reading;
    Contents contents;
    for (std::uint64_t rank = 0; rank < std::min(kMostRanks, handle.files().header().n_logical); ++rank)
      contents.push_back(read_one(handle, rank));
    (void)handle.attributes();
    return contents;
  }

  std::optional<FileBytes> read_one(ReadHandle& handle, std::uint64_t rank) {
    std::uint32_t mode = 0;
    (void)handle.name(rank, mode);
    auto reader = handle.reader(rank);
    if (!reader.has_value()) return std::nullopt;
    FileBytes bytes(std::min(kMostRead, (*reader)->size()));
    std::size_t got = 0;
    if (!(*reader)->read(0, bytes, got).ok()) return std::nullopt;
    EXPECT_EQ(got, bytes.size());
    return bytes;
  }

  // Appends one session; it may be refused, but what it closed must be readable.
  void append() {
    auto file = open(MultifileMode::append, false);
    if (!file.has_value()) return;
    WriteHandle& handle = *(*file)->writing;
    const FileBytes data(700, std::byte{42});
    bool written = handle.seek_to(0, -1).ok();
    const std::uint64_t at = written ? handle.current()->position() : 0;
    written = written && handle.write(*handle.current(), data).ok();
    const Status closed = run(close_multifile(*group_, std::move(file).value()));
    if (!closed.ok() || !written) return;
    auto again = open(MultifileMode::read, false);
    ASSERT_TRUE(again.has_value()) << again.error().message();
    auto reader = (*again)->reading->reader(0);
    if (!reader.has_value()) return;  // the changed field is still there
    FileBytes back(data.size());
    std::size_t got = 0;
    if ((*reader)->read(at, back, got).ok()) {
      EXPECT_EQ(back, data);
    }
  }

  void try_all(const std::map<std::string, FileBytes>& files) {
    storage_ = storage_of(files);
    Code refused = Code::ok;
    const auto plain = read(false, refused);
    Code not_recovered = Code::ok;
    const auto recovered = read(true, not_recovered);
    CheckResult health;
    const Status verified = verify_multifile(storage_, kImagePath, {}, health);
    if (verified.ok()) {
      EXPECT_TRUE(plain && std::find(plain->begin(), plain->end(), std::nullopt) == plain->end());
    }
    append();
    storage_ = storage_of(files);
    const Status repaired = repair_multifile(storage_, kImagePath, {}, health);
    Code after_repair = Code::ok;
    const auto after = read(false, after_repair);
    if (repaired.ok()) {
      EXPECT_TRUE(after && std::find(after->begin(), after->end(), std::nullopt) == after->end());
    }
    if (health.repaired && files.size() == 1) {
      ASSERT_TRUE(after && recovered) << "not readable after a repair: " << why_;
      for (std::size_t i = 0; i < after->size(); ++i)
        EXPECT_TRUE((*after)[i] == (*recovered)[i] || (!repaired.ok() && !(*after)[i]))
            << "a repair brings back something else than a recovery of logical file " << i;
    }
    append();
    for (const Code code : {refused, not_recovered, verified.code(), repaired.code(), after_repair})
      EXPECT_TRUE(code == Code::ok || code == Code::not_found || is_refusal(code)) << static_cast<int>(code);
  }

  const std::unique_ptr<Group> group_ = make_self_group();
  std::shared_ptr<Backend> storage_;
  std::string why_;  // reason of the last refusal
};

TEST_P(Resealed, LiesHarmNobody) {
  const Image& image = sound_image(GetParam());
  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Liar liar(static_cast<std::uint64_t>(round));
    auto files = image.files;
    liar.lie(std::next(files.begin(), round % static_cast<int>(files.size()))->second);
    try_all(files);
  }
}

INSTANTIATE_TEST_SUITE_P(Images, Resealed,
                         testing::Values("Closed", "Appended", "Zstd", "Unchecked", "Table", "Unclosed",
                                         "UnclosedAppend"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace thalweg::test
