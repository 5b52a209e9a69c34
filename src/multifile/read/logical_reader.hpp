// One logical file being read by one task: which piece holds which byte, and a window of verified bytes.
//
// The way of a read from the storage:
//  1. A small sequential read that lies in the window is copied from it (read_window).
//  2. Otherwise the span that holds the position shows the piece with the highest sequence there, or a gap, which reads
//     as zeros unless a repair found bytes lost in it.
//  3. A large read that begins on a granule of a chunk goes straight to the caller's memory and is checked block by
//     block while it is in the cache. Other reads of a chunk fill the window with whole granules.
//  4. A packed piece is read, through a shared read-ahead buffer where it is small, checked, decompressed and becomes
//     the window.
// No byte is returned before its granule or piece has been checked, unless verification is off.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "multifile/rank_ranges.hpp"
#include "multifile/read/physical_reader.hpp"
#include "store/overlay.hpp"

namespace thalweg {

// Bytes of a physical file read ahead, so that neighbouring small pieces cost one read. Used by one task.
struct ReadAhead {
  const PhysicalReader* physical = nullptr;
  std::uint64_t begin = 0;
  std::vector<std::byte> bytes;
};

struct ReaderSettings {
  std::uint64_t buffer_bytes = 256 * 1024;
  bool verify = true;
  ReadAhead ahead = {};
  GoOn go_on = {};  // asked where there are very many pieces; may be empty
  std::function<Result<PhysicalReader*>(std::uint32_t)> later = {};  // a later physical file
  bool reads_once = false;  // each logical file is read once: few readers are kept, and no positions
};

class LogicalReader {
 public:
  // `settings` and `physical` outlive the reader.
  static Result<std::unique_ptr<LogicalReader>> make(const PhysicalReader& physical, const PlacedRange& at,
                                                     const format::FileEntry& entry,
                                                     std::vector<format::PieceEntry> pieces, ReaderSettings& settings);

  // The common case, small and sequential. Returns whether it was done.
  bool read_window(std::byte* data, std::size_t bytes) {
    const std::uint64_t within = position_ - window_begin_;  // wraps when before: then it is not < size
    if (within >= window_.size() || bytes > window_.size() - within) return false;
    std::copy_n(window_.data() + within, bytes, data);
    position_ += bytes;
    return true;
  }
  // Reads up to data.size() bytes from `at`; `got` is their number, also on failure.
  Status read(std::uint64_t at, std::span<std::byte> data, std::size_t& got);

  void seek(std::uint64_t position) { position_ = position; }
  std::uint64_t position() const { return position_; }
  std::uint64_t size() const { return entry_.bytes; }
  std::uint64_t rank() const { return rank_; }
  std::uint64_t contiguous() const;  // bytes from the position to the end of its piece
  // The first position from `at` on that is not known to be zero; size() where there is none.
  std::uint64_t skip_zeros(std::uint64_t at) const;
  const std::vector<format::PieceEntry>& pieces() const { return pieces_; }
  const format::FileEntry& entry() const { return entry_; }
  // The physical file in which a piece lies.
  Result<const PhysicalReader*> home_of(const format::PieceEntry& piece) const;
  // The frame of a chunk piece, checked against the piece.
  Result<format::Frame> frame_of(const format::PieceEntry& piece) const;

 private:
  using Span = PieceSpan;

  LogicalReader(const PhysicalReader& physical, const PlacedRange& at, const format::FileEntry& entry,
                std::vector<format::PieceEntry> pieces, ReaderSettings& settings)
      : physical_(physical),
        rank_(at.first),
        number_(format::is_added(at.local) ? at.local : at.first),
        entry_(entry),
        pieces_(std::move(pieces)),
        settings_(settings),
        here_(&physical) {}
  Status resolve();
  const Span* span_at(std::uint64_t at) const;  // the span that holds `at`, or the next one behind; null: none
  Status read_some(std::uint64_t at, std::span<std::byte> data, std::size_t& n);
  Status read_chunk(const Span& span, std::uint64_t at, std::span<std::byte> data, std::size_t& n);
  Status fill_from_chunk(const Span& span, std::uint64_t at);
  Status fill_from_pack(const Span& span);
  void set_window(const Span& span, std::uint64_t content_begin);
  Status open_chunk(std::uint32_t piece);
  Status load_table(const format::PieceEntry& piece, const format::Frame& frame);
  Status read_granules(std::uint64_t within, std::span<std::byte> to);
  bool verifies() const;  // by checksums or arrival seals
  bool verifies_every_byte() const;
  Status read_stored(std::uint64_t offset, std::span<std::byte> to) const;
  Status read_ahead(std::uint64_t offset, std::span<std::byte> to);
  Status damaged(const std::string& what, std::uint64_t physical_offset) const;

  const PhysicalReader& physical_;
  const std::uint64_t rank_;
  const std::uint64_t number_;  // in frames: the rank, or the number of an added logical file
  const format::FileEntry entry_;
  const std::vector<format::PieceEntry> pieces_;
  ReaderSettings& settings_;
  const PhysicalReader* here_;  // the physical file in which the piece in use lies
  std::vector<Span> spans_;     // sorted, disjoint; empty when one piece shows everything in order
  std::uint64_t position_ = 0;
  std::uint64_t window_begin_ = 0;     // logical offset of window_[0]
  std::span<const std::byte> window_;  // verified bytes, inside buffer_
  std::vector<std::byte> buffer_;
  // The chunk used last: its piece, where its data lie, and the checksum of each granule, the last one being the tail.
  std::uint32_t chunk_piece_ = ~0u;
  std::uint64_t chunk_data_ = 0;
  std::vector<std::byte> chunk_table_;
};

}  // namespace thalweg
