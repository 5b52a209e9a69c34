#include "multifile/write/physical_writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/wire.hpp"

namespace thalweg {

namespace {

using format::align_up;

constexpr std::uint64_t kPackBytes = 1 << 20;  // a pack goes out in writes of about this size
constexpr std::uint64_t kWorthAligning = 64 * 1024;
constexpr std::uint64_t kWorthReserving = 128 * 1024;

// The page cache makes one large folio of a large write that begins on a multiple of its size, and many small ones of
// one that does not (docs/design/multifile.md, "What a folio costs"). So the data of a large chunk begin and end on
// such a boundary; what is left out in front is a hole.
std::uint64_t boundary_for(std::uint64_t content, std::uint64_t alignment) {
  constexpr std::uint64_t kLargeChunk = 1 << 20;
  constexpr std::uint64_t kVeryLargeChunk = 8 << 20;
  if (content < kLargeChunk) return alignment;
  return std::max<std::uint64_t>(content < kVeryLargeChunk ? 256 * 1024 : 1 << 20, alignment);
}

format::Frame reserved_space(const format::Frame& frame) {
  return {.offset = frame.offset, .session = frame.session, .extent = frame.extent};
}

}  // namespace

PhysicalWriter::PhysicalWriter(std::unique_ptr<StoredFile> file, const format::FileHeader& header,
                               const DomainShare& share, const WriteCommon& common)
    : file_(std::move(file)),
      header_(header),
      session_(share.session),
      layout_(share.layout),
      reserves_(common.reserves) {
  if (common.direct.transfer_bytes > 0 && fits_buffers(file_->direct_alignment()))
    direct_ = std::make_unique<DirectWrites>(common.direct);
  // Half of the largest slab at most: a pack goes into the first slab that has room for it.
  pack_limit_ = std::min(kPackBytes, largest_slab() / 2);
  max_piece_bytes_ = pack_limit_ - format::kDirectoryOffset - format::kDirectoryEntryBytes;
  if (pack_limit_ == kPackBytes) max_piece_bytes_ = kPackBytes;  // one piece may exceed the limit by its directory
}

Result<format::Slab> PhysicalWriter::find_room(std::uint64_t want, std::uint64_t least, std::uint64_t least_slab) {
  for (;;) {
    if (slab_.bytes == 0) {
      TW_ASSIGN_OR_RETURN(slab_, format::slab_at(layout_, slab_number_));
      next_ = slab_.start;
    }
    const std::uint64_t room = slab_.start + slab_.bytes - next_;
    if (room >= want) return format::Slab{next_, want};
    if (room >= least || (room == slab_.bytes && room >= least_slab)) return format::Slab{next_, room};
    ++slab_number_;
    slab_.bytes = 0;
  }
}

void PhysicalWriter::take(const format::Slab& extent) {
  next_ = extent.start + extent.bytes;
  high_water_ = std::max(high_water_, next_);
}

std::uint64_t PhysicalWriter::high_water() const {
  const std::lock_guard lock(space_mutex_);
  return high_water_;
}

std::uint64_t PhysicalWriter::content_for(std::uint64_t want, std::uint64_t alignment) {
  want = std::max<std::uint64_t>(want, 1);
  return align_up(want, boundary_for(want, alignment));
}

std::uint64_t PhysicalWriter::extent_for(std::uint64_t want, const format::FileHeader& header) {
  const std::uint64_t content = content_for(want, header.alignment);
  const std::uint64_t boundary = boundary_for(content, header.alignment);
  const std::uint64_t gap = boundary > header.alignment ? boundary : 0;
  return format::chunk_data_offset(content, header) + gap + content;
}

// How much of the extent a chunk for `content` bytes uses for data; the extent is cut to the end of these. Boundaries of
// the file are boundaries of the logical file, at which large writes mostly begin, and the data end on one: `past`
// bytes of the content lie in front of the data. Where that would cost more than half of the extent, all that the frame
// leaves.
std::uint64_t PhysicalWriter::lay_data(format::Slab& extent, std::uint64_t content, std::uint64_t past) const {
  const format::FileHeader& header = header_;
  const std::uint64_t boundary = boundary_for(std::min(content, extent.bytes), header.alignment);
  const std::uint64_t front = format::chunk_data_offset(std::min(content, extent.bytes), header);
  past %= boundary;
  const std::uint64_t begin = align_up(extent.start + front + boundary - past, boundary) - boundary + past;
  const std::uint64_t end = std::min(begin - past + content, (extent.start + extent.bytes) / boundary * boundary);
  if (end <= begin || end - begin < extent.bytes / 2) return format::chunk_capacity(extent.bytes, header);
  extent.bytes = end - extent.start;
  return end - begin;
}

// As lay_data, but the data end where the content does; what is behind is the next extent's.
std::uint64_t PhysicalWriter::lay_exactly(format::Slab& extent, std::uint64_t want) const {
  const std::uint64_t content = align_up(std::max<std::uint64_t>(want, 1), header_.alignment);
  const std::uint64_t boundary = boundary_for(content, header_.alignment);
  const std::uint64_t begin = align_up(extent.start + format::chunk_data_offset(content, header_), boundary);
  if (begin + content > extent.start + extent.bytes) return lay_data(extent, content_for(want, boundary), 0);
  extent.bytes = begin + content - extent.start;
  return content;
}

Status PhysicalWriter::write_frame(const format::Frame& frame) {
  return file_->write(frame.offset, format::encode_frame(frame, header_.id));
}

Result<format::Frame> PhysicalWriter::place_chunk(format::Frame frame, std::uint64_t want, bool exact,
                                                  bool frame_follows) {
  const std::uint64_t alignment = header_.alignment;
  std::uint64_t past = 0;  // the second round: with what is past, the boundary may be a larger one
  for (int i = 0; i < 2 && !exact; ++i)
    past = frame.logical_offset % boundary_for(content_for(want + past, alignment), alignment) / alignment * alignment;
  want += past;
  const std::uint64_t extent_wanted = extent_for(want, header_);
  const std::lock_guard lock(space_mutex_);
  const std::uint64_t least = exact ? extent_wanted : std::max(2 * alignment, extent_wanted / 4);
  const std::uint64_t least_slab = std::max(std::min(want, largest_slab()), 2 * alignment);
  TW_ASSIGN_OR_RETURN(format::Slab extent, find_room(extent_wanted, least, least_slab));
  const std::uint64_t capacity =
      exact ? lay_exactly(extent, want) : lay_data(extent, content_for(want, alignment), past);
  frame.offset = extent.start;
  frame.kind = format::FrameKind::chunk;
  frame.session = session_;
  frame.extent = extent.bytes;
  frame.data_offset = extent.bytes - capacity;
  TW_RETURN_IF_ERROR(write_frame(frame_follows ? reserved_space(frame) : frame));
  take(extent);
  taken_.fetch_add(extent.bytes, std::memory_order_relaxed);
  return frame;
}

Status PhysicalWriter::note_later(std::uint32_t number) {
  format::Frame frame{.session = session_, .extent = header_.alignment, .later = number};
  frame.kind = format::FrameKind::later;
  return place(frame);
}

// Gives the frame space, and writes it there.
Status PhysicalWriter::place(format::Frame& frame) {
  const std::lock_guard lock(space_mutex_);
  TW_ASSIGN_OR_RETURN(const format::Slab extent, find_room(frame.extent, frame.extent, frame.extent));
  frame.offset = extent.start;
  TW_RETURN_IF_ERROR(write_frame(frame));
  take(extent);
  return {};
}

Result<std::uint64_t> PhysicalWriter::store_aside(std::span<const std::byte> bytes) {
  format::Frame frame{.session = session_};
  frame.extent = align_up(format::kFrameBytes + bytes.size(), header_.alignment);
  TW_RETURN_IF_ERROR(place(frame));
  const std::uint64_t offset = frame.offset + format::kFrameBytes;
  TW_RETURN_IF_ERROR(file_->write(offset, bytes));
  return offset;
}

// Just these blocks: none is left over. Where they cannot be reserved, the write says why, or succeeds.
Status PhysicalWriter::write_data(std::uint64_t offset, std::span<const std::byte> data) {
  if (reserves_ && data.size() >= kWorthReserving) (void)file_->preallocate(offset, data.size()).ok();
  return file_->write(offset, data);
}

// Makes room in the open pack for so many more pieces and bytes.
Status PhysicalWriter::make_room(std::size_t entries, std::size_t bytes) {
  const std::uint64_t directory = format::kDirectoryOffset + (entries_.size() + entries) * format::kDirectoryEntryBytes;
  if (!entries_.empty() && directory + payload_.size() + bytes > pack_limit_) TW_RETURN_IF_ERROR(write_pack());
  payload_.reserve(std::max<std::size_t>(pack_limit_, payload_.size() + bytes));
  return {};
}

Result<PackedAt> PhysicalWriter::pack(const format::DirectoryEntry& entry, std::span<const std::byte> stored) {
  const std::lock_guard lock(pack_mutex_);
  TW_RETURN_IF_ERROR(make_room(1, stored.size()));
  const PackedAt at{static_cast<std::uint32_t>(payload_offsets_.size()), payload_.size()};
  entries_.push_back(entry);  // first: it may throw
  payload_.append(stored.data(), stored.size());
  taken_.fetch_add(stored.size(), std::memory_order_relaxed);
  return at;
}

std::vector<std::byte> PhysicalWriter::ship(std::uint64_t most) {
  const std::lock_guard lock(pack_mutex_);
  if (entries_.empty() || entries_.size() * format::kDirectoryEntryBytes + payload_.size() > most) return {};
  WireWriter out;
  out.put_all(entries_);
  out.put_bytes(payload_.bytes());
  payload_offsets_.push_back(kShipped);
  entries_.clear();
  payload_.clear();
  return out.take();
}

Result<PackedAt> PhysicalWriter::adopt(std::span<const std::byte> shipped) {
  WireReader in(shipped);
  const auto entries = in.get_all<format::DirectoryEntry>();
  const ByteView payload = in.get_view();
  const std::lock_guard lock(pack_mutex_);
  TW_RETURN_IF_ERROR(make_room(entries.size(), payload.size()));
  const PackedAt at{static_cast<std::uint32_t>(payload_offsets_.size()), payload_.size()};
  entries_.insert(entries_.end(), entries.begin(), entries.end());  // first: it may throw
  payload_.append(payload.data(), payload.size());
  return at;
}

Status PhysicalWriter::flush_pack(bool waits) {
  const std::lock_guard lock(pack_mutex_);
  Status status = entries_.empty() ? Status{} : write_pack();
  return status.ok() && waits && direct_ != nullptr ? direct_->finish() : status;
}

Status PhysicalWriter::await_packs() {
  const std::lock_guard lock(pack_mutex_);
  return direct_ == nullptr ? Status{} : direct_->finish();
}

Status PhysicalWriter::sync() {
  TW_RETURN_IF_ERROR(await_packs());
  return sync_.sync(*file_);
}

std::uint64_t PhysicalWriter::resolve(const PackedAt& at) const {
  const std::lock_guard lock(pack_mutex_);
  return payload_offsets_[at.pack] + at.offset;  // where it was shipped: kShipped + offset
}

Status PhysicalWriter::write_pack() {
  if (direct_ != nullptr) TW_RETURN_IF_ERROR(direct_->failure());  // no space for a pack that cannot be written
  format::Frame frame;
  frame.kind = format::FrameKind::pack;
  frame.session = session_;
  frame.data_offset = format::kDirectoryOffset + entries_.size() * format::kDirectoryEntryBytes;
  frame.n_pieces = entries_.size();
  frame.payload_bytes = payload_.size();
  const bool one_page = frame.data_offset + payload_.size() <= format::kPageBytes;
  if (!one_page && payload_.size() >= kWorthAligning)
    frame.data_offset = align_up(frame.data_offset, format::kPageBytes);
  frame.extent = align_up(frame.data_offset + payload_.size(), header_.alignment);
  bool written = false;
  if (one_page) {
    TW_ASSIGN_OR_RETURN(written, write_small_pack(frame));
  }
  if (!written) TW_RETURN_IF_ERROR(write_large_pack(frame));
  payload_offsets_.push_back(frame.data());
  entries_.clear();
  payload_.clear();
  return {};
}

// Gives the frame of the open pack its place; returns the directory.
std::vector<std::byte> PhysicalWriter::place_pack(format::Frame& frame, const format::Slab& extent) const {
  std::vector<std::byte> directory(entries_.size() * format::kDirectoryEntryBytes);
  for (std::size_t i = 0; i < entries_.size(); ++i)
    format::encode_directory_entry(
        entries_[i], std::span(directory).subspan(i * format::kDirectoryEntryBytes, format::kDirectoryEntryBytes));
  frame.offset = extent.start;
  frame.extent = extent.bytes;
  frame.directory_crc = format::bound_crc(header_.id, frame.offset + format::kDirectoryOffset, directory);
  return directory;
}

// A pack within one page is written at once, so that the death of the process does not tear it. Returns false where it
// would not lie in one page.
Result<bool> PhysicalWriter::write_small_pack(format::Frame& frame) {
  const std::lock_guard lock(space_mutex_);
  TW_ASSIGN_OR_RETURN(const format::Slab extent, find_room(frame.extent, frame.extent, frame.extent));
  if (extent.start % format::kPageBytes + frame.data_offset + payload_.size() > format::kPageBytes) return false;
  const std::vector<std::byte> directory = place_pack(frame, extent);
  const auto head = format::encode_frame(frame, header_.id);
  std::vector<std::byte> page;
  page.reserve(format::kPageBytes);
  for (const auto part : {std::span<const std::byte>(head), std::span<const std::byte>(directory), payload_.bytes()})
    page.insert(page.end(), part.begin(), part.end());
  TW_RETURN_IF_ERROR(file_->write(extent.start, page));
  take(extent);
  return true;
}

// The space is marked as reserved first, so that others can place frames behind it; the frame that says "pack" comes
// last.
Status PhysicalWriter::write_large_pack(format::Frame& frame) {
  std::vector<std::byte> directory;
  {
    const std::lock_guard lock(space_mutex_);
    TW_ASSIGN_OR_RETURN(const format::Slab extent, find_room(frame.extent, frame.extent, frame.extent));
    directory = place_pack(frame, extent);
    TW_RETURN_IF_ERROR(write_frame(reserved_space(frame)));
    take(extent);
  }
  if (direct_ != nullptr) return write_directly(frame, directory);
  directory.resize(frame.data_offset - format::kDirectoryOffset);  // up to the payload
  const Piece pieces[] = {piece_of(directory), piece_of(payload_.bytes())};
  TW_RETURN_IF_ERROR(file_->transfer(Direction::write, frame.offset + format::kDirectoryOffset, pieces).status());
  return write_frame(frame);
}

// The next pack is filled while this one is on its way; its frame follows the payload. Where blocks cannot be reserved,
// the write says why, or succeeds.
Status PhysicalWriter::write_directly(const format::Frame& frame, std::span<const std::byte> directory) {
  (void)file_->preallocate(frame.data(), payload_.size()).ok();
  direct_->write_behind(*file_, frame.offset + format::kDirectoryOffset, directory);
  TW_RETURN_IF_ERROR(direct_->write(*file_, frame.data(), payload_.bytes()));
  direct_->write_behind(*file_, frame.offset, format::encode_frame(frame, header_.id));
  return {};
}

}  // namespace thalweg
