// Frames, fill slots and directories. Each input is parsed unchanged, and again with its checksums recomputed. An
// accepted structure equals its own re-encoding, fits its space, and leaves space for table and directory.
#include "fuzz_support.hpp"
#include "multifile/format/frame.hpp"

namespace thalweg::fuzz {
namespace {

using format::FileHeader;
using format::Frame;
using format::FrameKind;

void frame_comes_back(const Frame& f, const FileHeader& header, std::uint64_t offset, std::uint64_t room) {
  FUZZ_REQUIRE(f.extent > 0 && f.extent <= room && f.data_offset <= f.extent);
  FUZZ_REQUIRE(offset + f.extent <= format::kMaxOffset);
  if (f.kind == FrameKind::chunk) FUZZ_REQUIRE(f.data_offset >= format::chunk_data_offset(f.capacity(), header));
  if (f.kind == FrameKind::pack) {
    FUZZ_REQUIRE(format::kDirectoryOffset + f.n_pieces * format::kDirectoryEntryBytes <= f.data_offset);
    FUZZ_REQUIRE(f.data_offset + f.payload_bytes <= f.extent);
  }
  const auto encoded = format::encode_frame(f, header.id);
  const auto again = format::parse_frame(encoded, header, offset, room);
  FUZZ_REQUIRE(again && format::encode_frame(*again, header.id) == encoded);
}

void try_fill(Bytes slot, const FileHeader& header, std::uint64_t offset, std::uint64_t capacity) {
  (void)format::parse_fill(slot, header.id, offset, capacity);
  reseal(slot, header.id, offset);
  const auto found = format::parse_fill(slot, header.id, offset, capacity);
  if (!found) return;
  FUZZ_REQUIRE(found->bytes <= capacity && found->count > 0);
  const auto encoded = format::encode_fill(*found, header.id, offset);
  const auto again = format::parse_fill(encoded, header.id, offset, capacity);
  FUZZ_REQUIRE(again && format::encode_fill(*again, header.id, offset) == encoded);
}

void try_directory(const Bytes& bytes, Frame frame, const FileHeader& header, std::uint64_t offset) {
  frame.offset = offset;
  (void)format::parse_directory(bytes, frame, header);
  frame.n_pieces = bytes.size() / format::kDirectoryEntryBytes;
  frame.directory_crc = format::bound_crc(header.id, offset + format::kDirectoryOffset, bytes);
  frame.payload_bytes = 0;  // the sum of the entries, so that it matches
  for (std::uint64_t i = 0; i < frame.n_pieces; ++i) {
    frame.payload_bytes += load_le<std::uint64_t>(ByteView(bytes).subspan(i * format::kDirectoryEntryBytes + 32));
  }
  auto found = format::parse_directory(bytes, frame, header);
  if (!found.has_value()) return;
  FUZZ_REQUIRE(found.value().size() == frame.n_pieces);
  Bytes encoded(bytes.size());
  for (std::size_t i = 0; i < found.value().size(); ++i) {
    const format::DirectoryEntry& e = found.value()[i];
    const bool is_name = e.codec == format::Codec::name;
    FUZZ_REQUIRE(is_name == (e.logical_bytes == 0));
    if (!is_name) FUZZ_REQUIRE(e.logical_offset + e.logical_bytes <= format::kMaxOffset);
    FUZZ_REQUIRE(e.rank < header.n_logical || (format::is_added(e.rank) && e.rank < format::kLocalsEnd));
    FUZZ_REQUIRE(e.stored_bytes >= (is_name ? format::kNameModeBytes : 1));
    format::encode_directory_entry(e, ByteSpan(encoded).subspan(i * format::kDirectoryEntryBytes));
  }
  FUZZ_REQUIRE(encoded == bytes);
}

void run(Input& input) {
  const FileHeader header = header_from(input);
  const auto offset = input.number<std::uint64_t>() / header.alignment * header.alignment;
  const auto room = input.number<std::uint64_t>();
  Bytes bytes = input.take(format::kFrameBytes);
  (void)format::parse_frame(bytes, header, offset, room);
  reseal(bytes, header.id, offset);
  const auto parsed = format::parse_frame(bytes, header, offset, room);
  if (parsed) frame_comes_back(*parsed, header, offset, room);

  const auto extent = room / header.alignment * header.alignment;
  const auto capacity = format::chunk_capacity(extent, header);
  FUZZ_REQUIRE(capacity <= extent);
  if (capacity > 0) FUZZ_REQUIRE(format::chunk_data_offset(capacity, header) <= extent - capacity);

  try_fill(input.take(format::kFillSlotBytes), header, offset, capacity);
  const Bytes directory = input.take(input.left() / format::kDirectoryEntryBytes * format::kDirectoryEntryBytes);
  try_directory(directory, parsed.value_or(Frame{}), header, offset % (std::uint64_t{1} << 62));
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  thalweg::fuzz::Input input(data, size);
  thalweg::fuzz::run(input);
  return 0;
}
