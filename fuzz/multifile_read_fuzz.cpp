// A whole multifile of one physical file: opened, read, verified, recovered and repaired in memory.
//
// The input is a list of runs: u32 offset (modulo 256 KiB), u16 number of bytes, the bytes; the file is zero elsewhere
// and ends behind the last run. Bit 0 of the first byte leaves its checksums as they are; otherwise all that can be
// told to be a structure is sealed anew. Whatever the bytes: nobody crashes, what verify finds whole can be read, and
// repair brings back what a recovery reads.
#include <optional>

#include "backend/backend.hpp"
#include "file/health.hpp"
#include "file/multifile.hpp"
#include "file/regions.hpp"
#include "fuzz_support.hpp"
#include "group/groups.hpp"

namespace thalweg::fuzz {
namespace {

constexpr std::uint64_t kMostFileBytes = 256 * 1024;
constexpr std::uint64_t kMostRanks = 64;             // that are read
constexpr std::uint64_t kMostLogicalBytes = 100000;  // of each
const std::string kPath = "file";

Bytes image_from(Input& input) {
  Bytes image;
  while (input.left() > 0) {
    const std::uint64_t offset = input.number<std::uint32_t>() % kMostFileBytes;
    const Bytes run = input.take(std::min<std::size_t>(input.number<std::uint16_t>(), input.left()));
    const std::uint64_t end = std::min(kMostFileBytes, offset + run.size());
    if (image.size() < end) image.resize(end);
    std::copy_n(run.begin(), end - offset, image.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  return image;
}

bool begins_with(const Bytes& image, std::uint64_t at, const char* magic) {
  return at + 8 <= image.size() && std::memcmp(image.data() + at, magic, 8) == 0;
}

// Makes the crc at the end of image[at, at + bytes) right.
void seal(Bytes& image, const format::FileIdentity& id, std::uint64_t at, std::uint64_t bytes) {
  if (at + bytes > image.size()) return;
  const ByteSpan body = ByteSpan(image).subspan(at, bytes - 4);
  store_le(ByteSpan(image).subspan(at + bytes - 4), format::bound_crc(id, at, body));
}

void seal_pages(Bytes& image, const format::FileIdentity& id) {
  for (std::uint64_t at = 4096; at + 4096 <= image.size(); at += 4096) {
    const auto kind = load_le<std::uint32_t>(ByteView(image).subspan(at + 4080));
    const bool section = kind >= 1 && kind <= 8 && !begins_with(image, at, "TWFRAME1");
    if (section || begins_with(image, at, "TWSESSN1") || begins_with(image, at, "TWINDEX1")) seal(image, id, at, 4096);
  }
}

void seal_frames(Bytes& image, const format::FileIdentity& id) {
  for (std::uint64_t at = 4096; at + 512 <= image.size(); at += 512) {
    if (!begins_with(image, at, "TWFRAME1")) continue;
    const auto kind = load_le<std::uint32_t>(ByteView(image).subspan(at + 8));
    const auto pieces = load_le<std::uint64_t>(ByteView(image).subspan(at + 32));
    if (kind == 2 && pieces < 1000 && at + 128 + pieces * 48 <= image.size()) {
      const ByteView directory = ByteView(image).subspan(at + 128, pieces * 48);
      store_le(ByteSpan(image).subspan(at + 56), format::bound_crc(id, at + 128, directory));
    }
    seal(image, id, at, 128);
    if (kind == 1) seal(image, id, at + 128, 32);
    if (kind == 1) seal(image, id, at + 160, 32);
  }
}

void seal_all(Bytes& image) {
  if (image.size() < 4096) return;
  store_le(ByteSpan(image).subspan(508), crc32c(ByteView(image).first(508)));
  format::FileIdentity id;
  std::memcpy(id.uuid.data(), image.data() + 16, id.uuid.size());
  id.physical = load_le<std::uint32_t>(ByteView(image).subspan(76));
  for (const std::uint64_t slot : format::kSlotOffset) {
    if (begins_with(image, slot, "TWSTATE1")) seal(image, id, slot, 128);
  }
  seal_pages(image, id);
  seal_frames(image, id);
}

std::shared_ptr<Backend> storage_with(const Bytes& image) {
  auto backend = make_memory_backend();
  auto file = backend->open(kPath, OpenMode::create);
  FUZZ_REQUIRE(file.has_value() && file.value()->write(0, image).ok());
  return backend;
}

// The bytes of the first logical files; nothing for one that is refused. Nothing at all when the opening is.
struct Contents {
  std::vector<std::optional<Bytes>> of_rank;
  std::uint64_t largest = 0;  // size of a logical file
};
std::optional<Contents> read_all(const std::shared_ptr<Backend>& backend, bool recover) {
  const auto group = make_self_group();
  OpenRequest request;
  request.backend = backend;
  request.path = kPath;
  request.recover = recover;
  auto opened = run(open_multifile(*group, std::move(request)));
  if (!opened.has_value()) return std::nullopt;
  ReadHandle& handle = *opened.value()->reading;
  Contents contents;
  const std::uint64_t n_logical = std::min(kMostRanks, handle.files().header().n_logical);
  for (std::uint64_t rank = 0; rank < n_logical; ++rank) {
    std::uint32_t mode = 0;
    (void)handle.name(rank, mode);
    (void)handle.pieces(rank);
    auto reader = handle.reader(rank);
    contents.of_rank.emplace_back();
    if (!reader.has_value()) continue;
    contents.largest = std::max(contents.largest, reader.value()->size());
    Bytes bytes(std::min(kMostLogicalBytes, reader.value()->size()));
    std::size_t got = 0;
    if (!reader.value()->read(0, bytes, got).ok()) continue;
    bytes.resize(got);
    contents.of_rank.back() = std::move(bytes);
  }
  (void)handle.attributes();
  (void)walk_regions(handle.files(), [](const Region&) { return true; });
  FUZZ_REQUIRE(run(close_multifile(*group, std::move(opened).value())).ok());
  return contents;
}

void try_image(const Bytes& image) {
  constexpr std::uint64_t most_verified = 1 << 22;  // verify reads zeros too, to the end
  const auto backend = storage_with(image);
  const auto plain = read_all(backend, false);
  const auto recovered = read_all(backend, true);
  if (std::max(plain ? plain->largest : 0, recovered ? recovered->largest : 0) <= most_verified) {
    Health health;
    const bool whole = verify_multifile(backend, kPath, {}, health).ok();
    FUZZ_REQUIRE(!whole || plain);
    for (std::size_t i = 0; whole && i < plain->of_rank.size(); ++i) FUZZ_REQUIRE(plain->of_rank[i]);
  }
  Health repaired;
  const Code code = repair_multifile(backend, kPath, {}, repaired).code();
  if (code != Code::ok && !repaired.repaired) return;
  const auto after = read_all(backend, false);
  FUZZ_REQUIRE(after);
  if (plain && !repaired.repaired) FUZZ_REQUIRE(after->of_rank == plain->of_rank);
  if (!plain && recovered) FUZZ_REQUIRE(after->of_rank == recovered->of_rank);
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg::fuzz;
  Input input(data, size);
  const bool as_it_is = (input.number<std::uint8_t>() & 1) != 0;
  Bytes image = image_from(input);
  if (!as_it_is) seal_all(image);
  try_image(image);
  return 0;
}
