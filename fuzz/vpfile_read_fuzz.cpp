// A whole vpfile with its side files: opened, read, verified, written to and repaired in memory.
//
// Input: u8 flags (bit 0: keep checksums, otherwise reseal every recognisable structure), u8 number of VPs of the given
// shape, then runs: u32 (from bit 30: the file; below: offset modulo 64 KiB), u16 number of bytes, the bytes; files are
// zero elsewhere and end after their last run. For any bytes: no crash; what verify accepts can be read; what was
// closed after writing can be read; repair makes a valid file valid.
#include <cstring>
#include <optional>

#include "fuzz_support.hpp"
#include "group/groups.hpp"
#include "sim/memory_backend.hpp"
#include "storage/backend.hpp"
#include "support/damage/vp_damage_seal.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/vpfile.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg::fuzz {
namespace {

using test::VpImages;

constexpr std::uint64_t kMostFileBytes = 64 * 1024;
constexpr std::uint64_t kMostVps = 24;  // of files that are checked
constexpr std::uint64_t kMostSuperblock = 64 * 1024;
constexpr std::uint64_t kMostStreamBytes = 20000;  // of each end
const std::string kPath = "file";

VpImages images_from(Input& input) {
  VpImages images;
  Bytes* const files[] = {&images.data, &images.meta, &images.first, &images.overflow};
  while (input.left() > 0) {
    const auto place = input.number<std::uint32_t>();
    Bytes& image = *files[place >> 30];
    const std::uint64_t offset = place % kMostFileBytes;
    const Bytes run = input.take(std::min<std::size_t>(input.number<std::uint16_t>(), input.left()));
    const std::uint64_t end = std::min(kMostFileBytes, offset + run.size());
    if (image.size() < end) image.resize(end);
    std::copy_n(run.begin(), end - offset, image.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  return images;
}

// Files with very many VPs or large superblocks are skipped, as they are slow and show nothing new.
bool is_small(const VpImages& images) {
  const auto meta = format::parse_meta(images.meta);
  if (meta.has_value() && meta.value().geometry.n > kMostVps) return false;
  if (meta.has_value() && meta.value().geometry.superblock_bytes > kMostSuperblock) return false;
  for (std::uint64_t at = 0; at + format::kSuperblockHeader <= images.data.size(); at += format::kLeastSuperblock) {
    const auto header =
        format::parse_superblock_header(ByteView(images.data).subspan(at, format::kSuperblockHeader), at);
    if (!header.has_value()) continue;
    const format::VpGeometry& geometry = header.value().geometry;
    if (geometry.n > kMostVps || geometry.superblock_bytes > kMostSuperblock) return false;
  }
  return true;
}

// Whether a closed file without recorded superblocks contains some: verify does not search for them, and an append
// collides with them.
bool hides_superblocks(const VpImages& images) {
  const auto meta = format::parse_meta(images.meta);
  if (!meta.has_value() || !meta.value().closed || meta.value().geometry.has_ib()) return false;
  for (std::uint64_t at = 0; at < images.data.size(); at += format::kLeastSuperblock)
    if (format::begins_as_superblock(ByteView(images.data).subspan(at))) return true;
  return false;
}

std::shared_ptr<Backend> storage_with(const VpImages& images) {
  auto backend = make_memory_backend();
  const auto put = [&](const std::string& path, const Bytes& image) {
    if (image.empty()) return;
    auto file = backend->open(path, OpenMode::create);
    FUZZ_REQUIRE(file.has_value() && file.value()->write(0, image).ok());
  };
  put(kPath, images.data);
  put(vp_meta_path(kPath), images.meta);
  put(vp_side_path(kPath, format::DirectoryFile::first), images.first);
  put(vp_side_path(kPath, format::DirectoryFile::overflow), images.overflow);
  return backend;
}

std::unique_ptr<VpFile> open(Group& group, const std::shared_ptr<Backend>& backend, const char* mode,
                             const VpShape& shape) {
  VpOpen how;
  how.path = kPath;
  how.options.write = std::strchr(mode, '+') != nullptr;
  how.shape = shape;
  how.hints.superblock_bytes = 4096;
  auto opened = run(VpFile::open(group, backend, std::move(how)));
  return opened.has_value() ? std::move(opened).value() : nullptr;
}

// Length and both ends of each stream; no value for a refused one, or for all when the open is refused.
struct Stream {
  std::uint64_t bytes = 0;
  Bytes begin, end;
  bool operator==(const Stream&) const = default;
};
using Contents = std::vector<std::optional<Stream>>;

std::optional<Bytes> read_at(VpFile& file, std::uint64_t vp, std::uint64_t from, std::uint64_t bytes) {
  Bytes to(bytes);
  if (!file.stream(vp).seek(static_cast<std::int64_t>(from), SEEK_SET).ok()) return std::nullopt;
  const auto got = file.stream(vp).read(to);
  if (!got.has_value()) return std::nullopt;
  FUZZ_REQUIRE(got.value() == bytes);
  return to;
}

std::optional<Stream> read_stream(VpFile& file, std::uint64_t vp) {
  const auto size = file.stream(vp).size();
  if (!size.has_value()) return std::nullopt;
  FUZZ_REQUIRE(size.value() <= std::uint64_t{1} << 63);
  const std::uint64_t part = std::min(size.value(), kMostStreamBytes);
  auto begin = read_at(file, vp, 0, part);
  auto end = read_at(file, vp, size.value() - part, part);
  if (!begin || !end) return std::nullopt;
  return Stream{size.value(), std::move(*begin), std::move(*end)};
}

std::optional<Contents> read_all(const std::shared_ptr<Backend>& backend, const VpShape& shape) {
  const auto group = make_self_group();
  const auto file = open(*group, backend, "r", shape);
  if (file == nullptr) return std::nullopt;
  Contents contents;
  for (std::uint64_t vp = 0; vp < file->vps().count(); ++vp) contents.push_back(read_stream(*file, vp));
  FUZZ_REQUIRE(run(file->close()).ok());
  return contents;
}

bool all_read(const std::optional<Contents>& contents) {
  return contents && std::ranges::all_of(*contents, [](const auto& stream) { return stream.has_value(); });
}

// Appends one session. It may be refused; data that it closed is present. When the file is not `whole`, two VPs may
// share blocks.
void append(const std::shared_ptr<Backend>& backend, const VpShape& shape, bool whole) {
  const auto group = make_self_group();
  const auto file = open(*group, backend, "r+", shape);
  if (file == nullptr) return;
  const Bytes data(150, std::byte{42});
  std::vector<std::uint64_t> wrote(file->vps().count());
  for (std::uint64_t vp = 0; vp < wrote.size(); ++vp) {
    const auto size = file->stream(vp).size();
    const std::uint64_t at = size.has_value() ? size.value() - std::min<std::uint64_t>(size.value(), 70) : 0;
    if (!size.has_value() || !file->stream(vp).seek(static_cast<std::int64_t>(at), SEEK_SET).ok()) continue;
    if (file->stream(vp).write(data).has_value()) wrote[vp] = at + data.size();
  }
  if (!run(file->close()).ok()) return;
  const auto after = read_all(backend, shape);
  FUZZ_REQUIRE(after);
  FUZZ_REQUIRE(!whole || all_read(after));
  for (std::uint64_t vp = 0; whole && vp < wrote.size(); ++vp) {
    const auto& stream = (*after)[vp];
    if (wrote[vp] == 0) continue;
    FUZZ_REQUIRE(stream->bytes == wrote[vp]);
    FUZZ_REQUIRE(std::equal(data.rbegin(), data.rend(), stream->end.rbegin()));
  }
}

void try_images(const VpImages& images, const VpShape& shape) {
  auto backend = storage_with(images);
  const auto before = read_all(backend, shape);
  CheckResult health;
  const bool whole = verify_vpfile(*backend, kPath, {}, health).ok();
  if (whole) FUZZ_REQUIRE(all_read(read_all(backend, {})));
  append(backend, shape, whole);
  if (whole) FUZZ_REQUIRE(verify_vpfile(*backend, kPath, {}, health).ok());
  backend = storage_with(images);
  CheckResult repaired;
  const bool sound = repair_vpfile(*backend, kPath, shape, {}, repaired).ok();
  if (!sound) return;
  const auto after = read_all(backend, {});
  FUZZ_REQUIRE(all_read(after));
  if (whole && before) FUZZ_REQUIRE(after == before);
  append(backend, {}, true);
  FUZZ_REQUIRE(verify_vpfile(*backend, kPath, {}, health).ok());
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg::fuzz;
  Input input(data, size);
  const bool as_it_is = (input.number<std::uint8_t>() & 1) != 0;
  const std::uint64_t n = input.number<std::uint8_t>() % kMostVps;
  VpImages images = images_from(input);
  if (!as_it_is) thalweg::test::seal_vp_images(images);
  if (is_small(images) && !hides_superblocks(images))
    try_images(images, n == 0 ? thalweg::VpShape{} : thalweg::VpShape{n});
  return 0;
}
