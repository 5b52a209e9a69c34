// One physical file as the tasks of one process write it: they share its descriptor, the domain's slabs, and the
// pack in which their small pieces are gathered.
//
// Invariants. Space is given out in the order of offsets within a slab, and the frame of an extent is on its way to
// the file before the next extent of that slab is given out: recovery walks frames and never meets a gap in front of
// flushed bytes. Nothing that was written is ever overwritten, except fill slots (chunk_writer.hpp).
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "multifile/format/frame.hpp"
#include "multifile/write/byte_buffer.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// Flag of the offset of a piece whose pack travels to task 0.
inline constexpr std::uint64_t kShipped = 1ull << 63;

// Where a packed piece lies: the pack gets its offset when it is written.
struct PackedAt {
  std::uint32_t pack = 0;
  std::uint64_t offset = 0;  // within the payload
};

// What the frame of a chunk tells of it.
struct ChunkStart {
  std::uint64_t rank = 0;
  std::uint64_t sequence = 0;
  std::uint64_t logical_offset = 0;
  std::uint64_t end_before = 0;  // bytes of the logical file that are stored already
};

class PhysicalWriter {
 public:
  struct Setup {
    std::shared_ptr<StoredFile> file;
    format::FileHeader header;
    std::uint32_t session = 0;
    format::SlabLayout layout;
  };
  explicit PhysicalWriter(Setup setup);

  struct Chunk {
    std::uint64_t offset = 0;  // of the frame
    format::Frame frame;
  };
  // A chunk for `want` bytes of content; its frame is written. Fit::about: or somewhat more, up to a boundary, or less
  // when the slab ends before. Fit::exact: up to the alignment only, and all of them where a slab has so many.
  enum class Fit { about, exact };
  Result<Chunk> place_chunk(const ChunkStart& start, std::uint64_t want, Fit fit);

  // Content that a chunk for `want` bytes holds where the slab has room: up to a boundary.
  static std::uint64_t content_for(std::uint64_t want, std::uint64_t alignment);
  // Bytes of a slab that a chunk for `want` bytes of content takes, frame and gap before its data included.
  static std::uint64_t extent_for(std::uint64_t want, const format::FileHeader& header);

  // Adds a piece to the open pack. entry.stored_bytes == stored.size() <= max_piece_bytes().
  Result<PackedAt> pack(const format::DirectoryEntry& entry, std::span<const std::byte> stored);
  // The open pack as bytes, if there is one of at most `most` bytes: it is then no longer here, and its
  // pieces resolve to kShipped + their offset until adopt() gives them a place.
  std::vector<std::byte> ship(std::uint64_t most);
  // Takes over what another process shipped; the place of its payload.
  Result<PackedAt> adopt(std::span<const std::byte> shipped);
  // Writes the open pack, if there is anything in it.
  Status flush_pack();
  // Offset of the first stored byte of a piece; its pack must have been written, and nobody may write any more.
  std::uint64_t resolve(const PackedAt& at) const;
  std::uint64_t max_piece_bytes() const { return max_piece_bytes_; }

  StoredFile& file() { return *setup_.file; }
  const format::FileHeader& header() const { return setup_.header; }
  std::uint32_t session() const { return setup_.session; }
  // Whether other processes write into this physical file too.
  bool shared_with_others() const { return setup_.layout.domain_bytes < setup_.layout.round_bytes; }
  // First offset behind everything this process was given.
  std::uint64_t high_water() const;

 private:
  struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  Result<Extent> find_room(std::uint64_t want, std::uint64_t least);  // space_mutex_ held
  void take(const Extent& extent);                                    // space_mutex_ held
  std::uint64_t lay_data(Extent& extent, std::uint64_t content) const;
  std::uint64_t lay_exactly(Extent& extent, std::uint64_t want) const;
  Status make_room(std::size_t entries, std::size_t bytes);  // pack_mutex_ held
  Status write_pack();                                       // pack_mutex_ held
  Result<std::uint64_t> write_small_pack(format::Frame& frame);
  Result<std::uint64_t> write_large_pack(format::Frame& frame);
  void encode_directory(std::vector<std::byte>& out) const;

  const Setup setup_;
  std::uint64_t max_piece_bytes_ = 0;
  std::uint64_t pack_limit_ = 0;  // payload and directory of one pack

  mutable std::mutex space_mutex_;
  std::uint64_t slab_number_ = 0;  // guarded by space_mutex_
  format::Slab slab_;              // guarded by space_mutex_; bytes == 0: not yet computed
  std::uint64_t next_ = 0;         // guarded by space_mutex_: next free offset in slab_
  std::uint64_t high_water_ = 0;   // guarded by space_mutex_

  mutable std::mutex pack_mutex_;                // taken before space_mutex_
  std::vector<format::DirectoryEntry> entries_;  // guarded by pack_mutex_
  ByteBuffer payload_;                           // guarded by pack_mutex_
  std::vector<std::uint64_t> payload_offsets_;   // guarded by pack_mutex_: of written packs
};

}  // namespace thalweg
