// A whole multifile of one physical file: opened, read, verified, recovered, appended to and repaired in memory.
//
// The input is a list of runs: u32 offset (modulo 256 KiB), u16 number of bytes, the bytes; the file is zero elsewhere
// and ends after the last run. Bit 0 of the first byte keeps the checksums; otherwise every recognisable structure is
// resealed. For any bytes: no crash; what verify accepts can be read; repair restores what a recovery reads.
#include <optional>

#include "fuzz_support.hpp"
#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/check/regions.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "storage/backend.hpp"
#include "support/damage/damage_seal.hpp"

namespace thalweg::fuzz {
namespace {

constexpr std::uint64_t kMostFileBytes = 256 * 1024;
constexpr std::uint64_t kMostRanks = 64;             // number that is read
constexpr std::uint64_t kMostLogicalBytes = 100000;  // per logical file
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

std::shared_ptr<Backend> storage_with(const Bytes& image) {
  auto backend = make_memory_backend();
  auto file = backend->open(kPath, OpenMode::create);
  FUZZ_REQUIRE(file.has_value() && file.value()->write(0, image).ok());
  return backend;
}

// Content of the first logical files; no value for a refused one, or for all when the open is refused.
struct Contents {
  std::vector<std::optional<Bytes>> of_rank;
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

// Appends one session. It may be refused; bytes that it closed are present, unless older ones there caused a refusal.
void append(const std::shared_ptr<Backend>& backend) {
  const auto group = make_self_group();
  OpenRequest request;
  request.backend = backend;
  request.path = kPath;
  request.access = MultifileMode::append;
  auto opened = run(open_multifile(*group, std::move(request)));
  if (!opened.has_value()) return;
  const Bytes data(700, std::byte{42});
  WriteHandle& handle = *opened.value()->writing;
  if (handle.seek_to(0, -1).ok()) (void)handle.write(*handle.current(), data).ok();
  if (!run(close_multifile(*group, std::move(opened).value())).ok()) return;
  FUZZ_REQUIRE(read_all(backend, false));
}

void try_image(const Bytes& image) {
  auto backend = storage_with(image);
  const auto plain = read_all(backend, false);
  const auto recovered = read_all(backend, true);
  CheckResult health;
  const bool whole = verify_multifile(backend, kPath, {}, health).ok();
  FUZZ_REQUIRE(!whole || plain);
  for (std::size_t i = 0; whole && i < plain->of_rank.size(); ++i) FUZZ_REQUIRE(plain->of_rank[i]);
  append(backend);
  backend = storage_with(image);
  CheckResult repaired;
  const Code code = repair_multifile(backend, kPath, {}, repaired).code();
  if (code != Code::ok && !repaired.repaired) return;
  const auto after = read_all(backend, false);
  FUZZ_REQUIRE(after);
  if (plain && !repaired.repaired) FUZZ_REQUIRE(after->of_rank == plain->of_rank);
  for (std::size_t i = 0; !plain && recovered && i < after->of_rank.size(); ++i)
    FUZZ_REQUIRE(after->of_rank[i] == recovered->of_rank[i] || (code != Code::ok && !after->of_rank[i]));
  append(backend);
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg::fuzz;
  Input input(data, size);
  const bool as_it_is = (input.number<std::uint8_t>() & 1) != 0;
  Bytes image = image_from(input);
  if (!as_it_is) thalweg::test::seal_all(image);
  try_image(image);
  return 0;
}
