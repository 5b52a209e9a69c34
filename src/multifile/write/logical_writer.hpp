// One logical file being written by one task: position, buffer, the chunk in which it grows, and its pieces so far.
//
// The way of a write to the storage:
//  1. WriteHandle::write notes the writer as touched. A small write that continues the buffer is copied into it
//     (write_buffered) and is done.
//  2. A write elsewhere first stores the buffer. A write as large as the buffer is stored at once; other writes go
//     through the buffer, which is stored when it is full.
//  3. store() chooses the place. Compressed data and data that are small and not expected to continue become a piece of
//     the open pack of the process (PhysicalWriter::pack). All other data go to a chunk of this logical file.
//     Once the process has stored its part of the first 4 MiB of the node in the first physical file, both go to the
//     later physical file of this task, where it has one (space_behind).
//  4. Where the current chunk cannot take them, open_chunk() publishes it and asks PhysicalWriter::place_chunk for
//     another one. Its frame is written at once, with direct writes when the data before it are complete.
//  5. ChunkWriter::append computes the checksums of the data and writes them to their place, or copies them for a direct
//     write (DirectWrites).
//  6. A flush stores the buffer and publishes the chunk: checksums first, then the fill slot that says how many bytes
//     count. A sync also makes the physical files durable.
//  7. At the close finish() does the same for the last time, and the pieces become part of the index.
//
// An overwrite adds a piece with a higher sequence that hides the older one, so no crash loses a flushed byte.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "multifile/write/byte_buffer.hpp"
#include "multifile/write/chunk_writer.hpp"
#include "multifile/write/index_writer.hpp"
#include "multifile/write/physical_writer.hpp"

namespace thalweg {

struct WriterSettings {
  std::uint64_t buffer_bytes = 256 * 1024;
  std::uint64_t chunk_bytes = 8 << 20;
  bool chunks_grow = false;  // small ones while the logical file is small, then chunk_bytes
  bool exact = false;        // chunk_bytes will be written in a row, and a chunk holds no more
  format::Codec codec = format::Codec::none;
  bool serves_few = true;                // a flush opens a chunk, so that later flushes grow in place
  bool hides_old = false;                // bytes of an earlier session were overwritten
  std::shared_ptr<DirectWrites> direct;  // of chunks; null: they go through the page cache
  Status finish_direct() const { return direct == nullptr ? Status{} : direct->finish(); }
  std::vector<std::byte> compressed;  // scratch
  std::vector<ByteBuffer> spare_buffers;
  std::uint64_t buffered_capacity = 0;  // bytes of all buffers in use, spare ones not counted
  std::uint64_t added_bytes = 0;        // as in MultifileOptions
  // Where this task uses a later physical file: opens it, when the process has stored `first_bytes` in the first one.
  std::function<Result<PhysicalWriter*>()> open_later;
  std::uint64_t first_bytes = 0;
  // The physical file that takes the next `want` bytes, which may be cut.
  Result<PhysicalWriter*> space_behind(PhysicalWriter& first, std::uint64_t& want) const;
};

class LogicalWriter {
 public:
  // `size`: bytes stored before. `sequences`: sequence numbers that an earlier writer of this session used.
  // `physical` and `settings` outlive the writer.
  LogicalWriter(PhysicalWriter& physical, std::uint64_t rank, std::uint64_t local_index, std::uint64_t size,
                WriterSettings& settings, std::uint32_t sequences = 0);

  // The common case: small, sequential and not the first write since a flush. Returns whether it was done.
  bool write_buffered(const std::byte* data, std::size_t bytes) {
    if (!dirty_ || position_ != buffer_start_ + buffer_.size() || bytes >= buffer_.room()) return false;
    buffer_.append(data, bytes);
    position_ += bytes;
    if (position_ > size_) size_ = position_;
    return true;
  }
  Status write(std::span<const std::byte> data);  // at the position, which advances

  // Everything written so far counts for recovery, once PhysicalWriter::flush_pack has written the open pack.
  Status flush(bool by_sync);
  Status mark_synced();  // marks the published fill slot as part of a sync
  // The slot is kept, once that sync has succeeded; null: it has.
  void pin(const std::shared_ptr<const AccessRequest>& sync);
  Status push_small();  // stores the buffer in the open pack and frees it
  Status finish();      // the last flush, which stores little data in the pack

  void seek(std::uint64_t position) { position_ = position; }
  std::uint64_t position() const { return position_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t rank() const { return rank_; }
  std::uint64_t buffered() const { return buffer_.size(); }
  // Bytes that fit into the chunk.
  std::uint64_t contiguous() const { return chunk_ ? chunk_->room() - std::min(chunk_->room(), buffered()) : 0; }
  bool dirty() const { return dirty_; }
  bool listed = false;    // for the handle: in its list of writers that may hold a buffer
  bool unsynced = false;  // likewise: in its list of writers that were written since the last sync
  PhysicalWriter& physical() const { return physical_; }

  // Packs the name like data, so that it is as durable as the bytes that are written behind it.
  Status set_name(std::string_view name, std::uint32_t mode);
  // Size, name and mode for the index; borrows the name.
  Contribution contribution() const;
  // All pieces written through this object, by sequence, with their final offsets. They lie in `room`. Call after
  // finish() and flush_pack().
  std::span<const WrittenPiece> pieces(std::vector<WrittenPiece>& room) const;
  std::size_t n_pieces() const { return n_pieces_; }

 private:
  void grow_buffer(std::size_t wanted);
  void release_buffer();
  Status write_at_the_end(std::span<const std::byte> data);
  // `more`: more bytes are expected behind these.
  Status drain(bool more);
  Status store(std::uint64_t at, std::span<const std::byte> data, bool more);
  Status store_plain(std::uint64_t at, std::span<const std::byte> data, bool more);
  Status store_compressed(std::uint64_t at, std::span<const std::byte> data);
  Status pack(std::uint64_t at, std::uint64_t logical_bytes, std::span<const std::byte> stored, format::Codec codec);
  Result<PackedAt> pack_entry(format::DirectoryEntry entry, std::span<const std::byte> stored);
  Status open_chunk(std::uint64_t at, std::uint64_t bytes, bool more);
  Status leave_chunk();
  std::uint64_t next_sequence() const;
  std::uint64_t stored_end() const;
  // Strided records leave gaps: a chunk for more than one record would be wasted on each.
  bool behind_gap(std::uint64_t at) const { return at > stored_end(); }
  void add_piece(const WrittenPiece& piece);

  PhysicalWriter& physical_;  // that of the index entry
  PhysicalWriter* space_;     // where new pieces go: this one, or a later one
  WriterSettings& settings_;
  const std::uint64_t rank_;  // before the close the number, for a logical file that was added
  const std::uint64_t local_index_;
  const std::uint64_t old_size_;  // stored by earlier sessions; 0 for one that was added in this session
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::uint64_t buffer_start_ = 0;  // logical offset of the buffer's first byte
  ByteBuffer buffer_;
  std::unique_ptr<ChunkWriter> chunk_;
  std::uint64_t left_end_ = 0;             // end of the farthest piece that is not chunk_
  std::uint64_t hidden_until_ = 0;         // end of packed pieces newer than chunk_: below it chunk_ may not grow
  WrittenPiece first_piece_;               // most of very many logical files have one piece: it takes no allocation
  std::vector<WrittenPiece> more_pieces_;  // the others
  std::size_t n_pieces_ = 0;
  std::unique_ptr<char[]> name_;  // null: none was given
  std::uint32_t name_bytes_ = 0;
  std::uint32_t mode_ = 0;
  std::uint32_t count_;  // sequence numbers used
  std::uint32_t chunks_ = 0;
  bool dirty_ = false;  // something was written since the last flush
};

}  // namespace thalweg
