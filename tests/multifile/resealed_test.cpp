// False metadata under valid checksums: fields of small multifiles get random and extreme values and every checksum is
// recomputed. No operation crashes or hangs; what verify accepts can be read; what a repair closes can be opened; an
// append succeeds or is refused.
//
// THALWEG_RESEAL_ROUNDS: changes tried per image (default 3000, 300 under the sanitizers).
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
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
  std::vector<Place> places = {{8, 124}, {512, 72}, {1024, 72}};
  for (std::uint64_t at = 4096; at + 512 <= file.size(); at += 512) {
    const bool page = at % 4096 == 0 && at + 4096 <= file.size();
    if (begins_with(file, at, "TWFRAME1"))
      places.push_back({at + 8, 248});  // with fill slots or directory
    else if (begins_with(file, at, "TWSESSN1"))
      places.push_back({at + 8, 80});
    else if (begins_with(file, at, "TWINDEX1"))
      places.push_back({at + 8, 144});
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

// By name of those that were added, else by rank; no value: refused.
using Contents = std::map<std::string, std::optional<FileBytes>>;
bool has_refused(const Contents& contents) {
  return std::ranges::any_of(contents, [](const auto& one) { return !one.second.has_value(); });
}

std::optional<FileBytes> read_one(ReadHandle& handle, std::uint64_t rank) {
  auto reader = handle.reader(rank);
  if (!reader.has_value()) return std::nullopt;
  FileBytes bytes(std::min(kMostRead, (*reader)->size()));
  std::size_t got = 0;
  if (!(*reader)->read(0, bytes, got).ok()) return std::nullopt;
  EXPECT_EQ(got, bytes.size());
  return bytes;
}

// Whether the name of a logical file can be read, and finds one of that name. `key`: of its content.
bool is_found(ReadHandle& handle, std::uint64_t rank, std::string& key) {
  std::uint32_t mode = 0;
  auto name = handle.name(rank, mode);
  key = "#" + std::to_string(rank);
  if (!name.has_value()) return false;
  if (name->empty()) return true;
  if (rank >= handle.files().header().n_logical) key = *name;
  auto found = handle.find(*name);
  if (!found.has_value()) return false;
  auto again = handle.name(*found, mode);
  EXPECT_TRUE(again.has_value() && *again == *name) << format::shown_name(*name);
  return true;
}

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
    all_found_ = true;
    for (std::uint64_t rank = 0; rank < std::min(kMostRanks, handle.files().n_logical()); ++rank) {
      std::string key;
      all_found_ &= is_found(handle, rank, key);
      contents[key] = read_one(handle, rank);
    }
    (void)handle.attributes();
    return contents;
  }

  // Appends one session; it may be refused, but what it closed must be readable.
  void append() {
    const std::string name = "added by the append";
    auto file = open(MultifileMode::append, false);
    if (!file.has_value()) return;
    WriteHandle& handle = *(*file)->writing;
    const FileBytes data(700, std::byte{42});
    bool written = handle.seek_to(0, -1).ok();
    const std::uint64_t at = written ? handle.current()->position() : 0;
    written = written && handle.write(*handle.current(), data).ok();
    written = written && handle.add(name, 0).ok() && handle.write(*handle.current(), data).ok();
    const Status closed = run(close_multifile(*group_, std::move(file).value()));
    if (!closed.ok() || !written) return;
    auto again = open(MultifileMode::read, false);
    ASSERT_TRUE(again.has_value()) << again.error().message();
    auto found = (*again)->reading->find(name);
    expect_written(*(*again)->reading, 0, at, data);
    if (found.has_value()) expect_written(*(*again)->reading, *found, 0, data);
  }

  // Where it can be read: the changed field may still be there.
  void expect_written(ReadHandle& handle, std::uint64_t rank, std::uint64_t at, const FileBytes& data) {
    auto reader = handle.reader(rank);
    if (!reader.has_value()) return;
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
    const bool plain_found = all_found_;
    Code not_recovered = Code::ok;
    const auto recovered = read(true, not_recovered);
    CheckResult health;
    const Status verified = verify_multifile(storage_, kImagePath, {}, health);
    if (verified.ok()) {
      EXPECT_TRUE(plain && !has_refused(*plain));
      EXPECT_TRUE(plain_found);
    }
    append();
    storage_ = storage_of(files);
    const Status repaired = repair_multifile(storage_, kImagePath, {}, health);
    Code after_repair = Code::ok;
    const auto after = read(false, after_repair);
    if (repaired.ok()) {
      EXPECT_TRUE(after && !has_refused(*after));
      EXPECT_TRUE(all_found_);
    }
    if (health.repaired && files.size() == 1) {
      ASSERT_TRUE(after && recovered) << "not readable after a repair: " << why_;
      for (const auto& [key, bytes] : *recovered) expect_brought_back(*after, key, bytes, repaired);
    }
    append();
    for (const Code code : {refused, not_recovered, verified.code(), repaired.code(), after_repair})
      EXPECT_TRUE(code == Code::ok || code == Code::not_found || is_refusal(code)) << static_cast<int>(code);
  }

  // `bytes`: by the recovery. False numbers may give ranks to added logical files that are not there.
  static void expect_brought_back(const Contents& after, const std::string& key, const std::optional<FileBytes>& bytes,
                                  const Status& repaired) {
    const auto found = after.find(key);
    const bool nothing = !bytes.has_value() || bytes->empty();
    const bool same =
        found != after.end() ? found->second == bytes || (!repaired.ok() && !found->second) : nothing || !repaired.ok();
    EXPECT_TRUE(same) << "a repair brings back something else than a recovery of '" << key << "'";
  }

  const std::unique_ptr<Group> group_ = make_self_group();
  std::shared_ptr<Backend> storage_;
  std::string why_;         // reason of the last refusal
  bool all_found_ = false;  // by the last read(): each name
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

// Bisection does not pass an entry whose number is not legal, and hides no other one.
TEST_P(Resealed, AnIllegalNumberOfAListedEntryIsTold) {
  const Image& image = sound_image(GetParam());
  constexpr auto kListed = static_cast<std::uint32_t>(format::SectionKind::listed_files);
  for (const auto& [path, whole] : image.files) {
    for (std::uint64_t at = 4096; at + 4096 <= whole.size(); at += 4096) {
      if (load_le<std::uint32_t>(ByteView(whole).subspan(at + format::kPagePayload)) != kListed) continue;
      for (std::uint64_t entry = 0; entry < 6 && !HasFailure(); ++entry) {
        SCOPED_TRACE(path + ", page at " + std::to_string(at) + ", entry " + std::to_string(entry));
        auto files = image.files;
        store_le(ByteSpan(files[path]).subspan(at + entry * format::kListedEntryBytes), format::kLocalsEnd);
        seal_all(files[path]);
        EXPECT_EQ(check_damaged(image, files, Loss::may_be_silent), "");
        try_all(files);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Images, Resealed, testing::ValuesIn(image_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace thalweg::test
