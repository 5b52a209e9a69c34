// One physical file as the tasks of one process write it: they share its descriptor, the slabs of their domain, and the
// open pack in which their small pieces are gathered.
//
// How space is given out (place_chunk, write_pack):
//  1. The slabs of the domain follow from the plan by arithmetic (format::slab_at), so no process asks another one.
//  2. Under space_mutex_ an extent is cut from the current slab, or from the next one where the current is too short.
//  3. Its frame is written before the mutex is released. So frames are a list without gaps, and a recovery that
//     walks them misses nothing that was flushed.
//  4. Data follow outside of the mutex. Written bytes are never overwritten, except for fill slots (chunk_writer.hpp).
//
// How small pieces are stored (pack, flush_pack):
//  1. Under pack_mutex_ a piece and its directory entry are appended to the open pack.
//  2. A full pack, or the open one at a flush, is written: in one page with one write; else as a reserved frame, then
//     directory and data, and at last the frame that says what it is.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "multifile/format/frame.hpp"
#include "multifile/shared_sync.hpp"
#include "multifile/write/byte_buffer.hpp"
#include "multifile/write/direct_writes.hpp"
#include "multifile/write_plan.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// Set in the offset of a piece whose pack travels to task 0.
inline constexpr std::uint64_t kShipped = 1ull << 63;

// Where a packed piece lies. The offset of a pack is known when it has been written.
struct PackedAt {
  std::uint32_t pack = 0;
  std::uint64_t offset = 0;  // within the payload
};

class PhysicalWriter {
 public:
  // `common`: how data are written.
  PhysicalWriter(std::unique_ptr<StoredFile> file, const format::FileHeader& header, const DomainShare& share,
                 const WriteCommon& common);

  // A chunk for `want` bytes of content, whose frame is written. `frame` has the rank, the sequence, the logical offset
  // and the end before it. It holds somewhat more than `want`, up to a boundary, or less where the slab ends. `exact`:
  // no more than the alignment requires, and no less where a slab has so much room. `frame_follows`: the space is marked as
  // reserved, and the caller writes the frame.
  Result<format::Frame> place_chunk(format::Frame frame, std::uint64_t want, bool exact, bool frame_follows);

  // Content that a chunk for `want` bytes holds where the slab has room: up to a boundary.
  static std::uint64_t content_for(std::uint64_t want, std::uint64_t alignment);
  // Bytes of a slab that a chunk for `want` bytes of content takes, including the frame and the gap before its data.
  static std::uint64_t extent_for(std::uint64_t want, const format::FileHeader& header);

  // Writes bytes that count only until the close: a recovery skips them. At most max_piece_bytes(). Returns their offset.
  Result<std::uint64_t> store_aside(std::span<const std::byte> bytes);
  // Writes the frame that says that this process uses a later physical file.
  Status note_later(std::uint32_t number);
  // Bytes of the chunks and packed pieces of this process so far.
  std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

  // Writes data of a chunk. Where the file system writes faster into blocks that exist, they are reserved first.
  Status write_data(std::uint64_t offset, std::span<const std::byte> data);

  // Adds a piece to the open pack. entry.stored_bytes == stored.size() <= max_piece_bytes().
  Result<PackedAt> pack(const format::DirectoryEntry& entry, std::span<const std::byte> stored);
  // Encodes the open pack where it has at most `most` bytes, and empties it. Its pieces resolve to kShipped + their
  // offset until adopt() places them.
  std::vector<std::byte> ship(std::uint64_t most);
  // Appends what another process shipped to the open pack, and returns where that payload begins.
  Result<PackedAt> adopt(std::span<const std::byte> shipped);
  // Writes the open pack unless it is empty. `waits`: for all packs that are on their way, too.
  Status flush_pack(bool waits = true);
  Status await_packs();  // those that are on their way
  // Offset of the first stored byte of a piece. Its pack must have been written.
  std::uint64_t resolve(const PackedAt& at) const;
  std::uint64_t max_piece_bytes() const { return max_piece_bytes_; }
  // One sync of the file serves all threads that asked before it began.
  Status sync();

  StoredFile& file() { return *file_; }
  const format::FileHeader& header() const { return header_; }
  // Its number where it is a later physical file; else 0.
  std::uint16_t later() const { return static_cast<std::uint16_t>(header_.is_later() ? header_.id.physical : 0); }
  std::uint32_t session() const { return session_; }
  // Whether other processes write into this physical file too.
  bool shared_with_others() const { return layout_.domain_bytes < layout_.round_bytes; }
  // First offset behind all extents given out.
  std::uint64_t high_water() const;

 private:
  // With space_mutex_ held. Less than `least` only where that is a whole slab of at least `least_slab` bytes.
  Result<format::Slab> find_room(std::uint64_t want, std::uint64_t least, std::uint64_t least_slab);
  std::uint64_t largest_slab() const { return layout_.domain_bytes << layout_.most_doublings; }
  void take(const format::Slab& extent);  // space_mutex_ held
  std::uint64_t lay_data(format::Slab& extent, std::uint64_t content, std::uint64_t past) const;
  std::uint64_t lay_exactly(format::Slab& extent, std::uint64_t want) const;
  Status write_frame(const format::Frame& frame);
  Status place(format::Frame& frame);
  Status make_room(std::size_t entries, std::size_t bytes);  // pack_mutex_ held
  Status write_pack();                                       // pack_mutex_ held
  Result<bool> write_small_pack(format::Frame& frame);
  Status write_large_pack(format::Frame& frame);
  Status write_directly(const format::Frame& frame, std::span<const std::byte> directory);
  std::vector<std::byte> place_pack(format::Frame& frame, const format::Slab& extent) const;

  const std::unique_ptr<StoredFile> file_;
  const format::FileHeader header_;
  const std::uint32_t session_;
  const format::SlabLayout layout_;
  const bool reserves_;
  std::uint64_t max_piece_bytes_ = 0;
  std::uint64_t pack_limit_ = 0;  // payload and directory of one pack
  SharedSync sync_;
  std::atomic<std::uint64_t> taken_ = 0;

  mutable std::mutex space_mutex_;
  std::uint64_t slab_number_ = 0;  // guarded by space_mutex_
  format::Slab slab_;              // guarded by space_mutex_; bytes == 0: not yet computed
  std::uint64_t next_ = 0;         // guarded by space_mutex_: next free offset in slab_
  std::uint64_t high_water_ = 0;   // guarded by space_mutex_

  mutable std::mutex pack_mutex_;                // taken before space_mutex_
  std::vector<format::DirectoryEntry> entries_;  // guarded by pack_mutex_
  ByteBuffer payload_;                           // guarded by pack_mutex_
  std::vector<std::uint64_t> payload_offsets_;   // guarded by pack_mutex_: of written packs
  std::unique_ptr<DirectWrites> direct_;         // guarded by pack_mutex_: of packs; null: through the page cache
};

}  // namespace thalweg
