// A few KiB that claim a million logical files, or 2^40, or huge sections, with valid checksums: refused at once,
// without memory in proportion to the claim.
#include <gtest/gtest.h>

#include <ctime>
#include <ostream>

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"
#include "support/damage/damage_check.hpp"
#include "support/damage/damage_seal.hpp"
#include "support/memory/counting_new.hpp"

namespace thalweg::test {
namespace {

constexpr std::uint64_t kMostAtOnce = 1 << 20;
constexpr std::uint64_t kMostInAll = 4 << 20;  // bytes allocated by a refused call
constexpr double kMostCpuSeconds = 0.1;
constexpr std::uint64_t kMany = std::uint64_t{1} << 40;
constexpr std::uint64_t kMillion = 1'000'000;

// Fields of the first physical file and their false values.
struct Claim {
  std::uint64_t offset = 0;  // from the beginning of the structure
  std::uint64_t value = 0;
  int bytes = 8;
};
struct Lie {
  const char* name;
  const char* image;
  const char* magic;  // of the structure; empty: the file header
  std::vector<Claim> claims;
  bool may_be_true = false;  // plausible in an unclosed file: a recovery has to accept it, and verify checks that many
                             // files
  // With a table, file 0 alone does not prove the number of physical files; the next one opened does.
  bool many_parts_in_table() const { return *magic == '\0' && claims[0].offset == 72 && std::string(image) == "Table"; }
  bool must_be_refused() const {
    return *magic == '\0' && (claims[0].offset == 48 || claims[0].offset == 72) && !many_parts_in_table();
  }
};

std::vector<Lie> lies() {
  return {
      {"MillionLogical", "Closed", "", {{48, kMillion}, {56, kMillion}}},
      {"MillionLogicalTold", "Closed", "", {{48, kMillion}, {56, kMillion}, {4096 + 8, kMillion}}, true},
      {"ManyLogical", "Closed", "", {{48, kMany}, {56, kMany}}},
      {"ManyLogicalTold", "Closed", "", {{48, kMany}, {56, kMany}, {4096 + 8, kMany}}, true},
      {"ManyLogicalElsewhere", "Closed", "", {{48, kMany}}},
      {"ManyInTable", "Table", "", {{48, kMany}, {56, kMany}}},
      {"ManyPhysical", "Closed", "", {{72, 1 << 20, 4}}},
      {"ManyPhysicalInTable", "Table", "", {{72, 1 << 20, 4}}},
      {"LargestGranule", "Closed", "", {{92, 1 << 26, 4}}},
      {"LargestAlignment", "Closed", "", {{88, 1 << 26, 4}}},
      {"FarIndex", "Closed", "TWSTATE1", {{32, kMany * 2}, {40, kMany}, {48, kMany}}},
      {"LongIndex", "Closed", "TWSTATE1", {{32, kMany}, {48, kMany - 32768}}},
      {"ManyDomains", "Closed", "TWSESSN1", {{24, kMany}}},
      {"LongRounds", "Closed", "TWSESSN1", {{48, kMany}}},
      {"ManyEntries", "Closed", "TWINDEX1", {{16, kMany}}},
      {"ManyPieces", "Closed", "TWINDEX1", {{24, kMany}}},
      {"LongNames", "Closed", "TWINDEX1", {{32, kMany}}},
      {"LongAttributes", "Closed", "TWINDEX1", {{40, kMany}}},
      {"LongLogicalFile", "Closed", "TWINDEX1", {{4096, kMany << 20}}},
      {"PiecesOfAFile", "Closed", "TWINDEX1", {{4096 + 16, 0xFFFFFFFF, 4}}},
      {"NameOfAFile", "Closed", "TWINDEX1", {{4096 + 32, 0xFFFFFFFF, 4}}},
      {"LongPiece", "Closed", "TWINDEX1", {{8192 + 16, kMany}, {8192 + 24, kMany}}},
      {"LongPieceUnpacked", "Zstd", "TWINDEX1", {{8192 + 16, 1 << 26}}},
      {"LongChunk", "Unclosed", "TWFRAME1", {{16, kMany}}},
      {"FullChunk", "Unclosed", "TWFRAME1", {{16, kMany}, {128, kMany >> 1}, {160, kMany >> 1}}},
      // The only domain, its slab and its first chunk: data and checksum table are beyond the end of the file.
      {"ChunkBehindEnd",
       "Unclosed",
       "TWSESSN1",
       {{48, kMany << 10},
        {4096, kMany << 10},
        {8192 + 16, kMany << 10},
        {8192 + 24, kMany << 1},
        {8192 + 128, kMany << 4},
        {8192 + 160, kMany << 4}}},
      // Claims of a pack with very many pieces and bytes, and of space that is only reserved.
      {"PackBehindEnd",
       "Unclosed",
       "TWSESSN1",
       {{48, kMany << 10},
        {4096, kMany << 10},
        {8192 + 8, 2, 4},
        {8192 + 16, kMany << 10},
        {8192 + 24, kMany << 6},
        {8192 + 32, kMany},
        {8192 + 40, kMany},
        {8192 + 48, 0},
        {8192 + 64, 0}}},
      {"ReservedBehindEnd",
       "Unclosed",
       "TWSESSN1",
       {{48, kMany << 10}, {4096, kMany << 10}, {8192 + 8, 0, 4}, {8192 + 16, kMany << 10}}},
  };
}

std::uint64_t begin_of(const FileBytes& file, const std::string& magic) {
  if (magic.empty()) return 0;
  for (std::uint64_t at = 512; at + 512 <= file.size(); at += 512)
    if (begins_with(file, at, magic.c_str())) return at;
  ADD_FAILURE() << "no " << magic;
  return 0;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Status open_and_read(const std::shared_ptr<Backend>& storage, MultifileMode access, bool recover) {
  const auto group = make_self_group();
  OpenRequest request;
  request.backend = storage;
  request.path = kImagePath;
  request.access = access;
  request.recover = recover;
  request.options.buffer_bytes = 2000;
  auto file = run(open_multifile(*group, std::move(request)));
  if (!file.has_value()) return file.error();
  for (std::uint64_t rank = 0; access == MultifileMode::read && rank < 4; ++rank) {
    auto reader = (*file)->reading->reader(rank);
    std::byte some[1000];
    std::size_t got = 0;
    for (std::uint64_t at = 0; reader.has_value() && at < 10'000; at += sizeof some)
      if (!(*reader)->read(at, some, got).ok()) break;
  }
  return run(close_multifile(*group, std::move(file).value()));
}

void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.name; }

class LyingHeader : public testing::TestWithParam<Lie> {
 protected:
  LyingHeader() {
    auto files = sound_image(GetParam().image).files;
    FileBytes& first = files.begin()->second;
    const std::uint64_t begin = begin_of(first, GetParam().magic);
    for (const Claim& claim : GetParam().claims)
      std::memcpy(first.data() + begin + claim.offset, &claim.value, static_cast<std::size_t>(claim.bytes));
    seal_all(first);
    storage_ = storage_of(files);
    to_repair_ = storage_of(files);
  }

  // Calls `passes` for everything.
  template <class Call>
  void expect_cheap(const char* what, Call&& call, std::uint64_t passes = 1) {
    const double begin = cpu_seconds();
    Allocations::start();
    Status status;
    try {
      status = call();
    } catch (const std::bad_alloc&) {
      status = Status::error(Code::no_memory, "bad_alloc");
    }
    Allocations::stop();
    const double seconds = cpu_seconds() - begin;
    EXPECT_LE(Allocations::largest(), kMostAtOnce) << what << ": " << status.message();
    EXPECT_LE(Allocations::bytes(), passes * (status.ok() ? 2 : 1) * kMostInAll) << what << ": " << status.message();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(seconds, kMostCpuSeconds) << what << ": " << status.message();
#else
    (void)seconds;
#endif
  }

  std::shared_ptr<Backend> storage_, to_repair_;
};

TEST_P(LyingHeader, IsCheap) {
  Status read;
  expect_cheap("read", [&] { return read = open_and_read(storage_, MultifileMode::read, false); });
  if (GetParam().must_be_refused()) {
    EXPECT_FALSE(read.ok());
  }
  expect_cheap("recover", [&] { return open_and_read(storage_, MultifileMode::read, true); });
  if (!GetParam().may_be_true) {
    expect_cheap("verify", [&] {
      CheckResult health;
      return verify_multifile(storage_, kImagePath, {}, health);
    });
    const auto repair = [&] {
      CheckResult health;
      return repair_multifile(to_repair_, kImagePath, {}, health);
    };
    if (!GetParam().many_parts_in_table())
      expect_cheap("repair", repair, 2);  // otherwise each missing file is
                                          // reported
  }
  expect_cheap("append", [&] { return open_and_read(storage_, MultifileMode::append, false); });
}

INSTANTIATE_TEST_SUITE_P(Lies, LyingHeader, testing::ValuesIn(lies()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace thalweg::test
