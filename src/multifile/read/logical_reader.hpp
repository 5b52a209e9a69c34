// One logical file being read by one task: which piece holds which byte, and a window of verified bytes.
//
// No byte is given out before its granule or piece has been checked (unless verification is off). Large aligned reads
// go straight to the caller's memory, checked block by block while they are in cache; everything else passes the
// window.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "multifile/read/physical_reader.hpp"

namespace thalweg {

// Bytes of a physical file read ahead, so that neighbouring small pieces cost one read. One task uses it.
struct ReadAhead {
  const PhysicalReader* physical = nullptr;
  std::uint64_t begin = 0;
  std::vector<std::byte> bytes;
};

struct ReaderSettings {
  std::uint64_t buffer_bytes = 256 * 1024;
  bool verify = true;
  ReadAhead ahead;
  GoOn go_on;               // asked where there are very many pieces; may be empty
  bool reads_once = false;  // each logical file: few readers are kept, and not where they stood
};

class LogicalReader {
 public:
  // `settings` and `physical` outlive the reader.
  static Result<std::unique_ptr<LogicalReader>> make(const PhysicalReader& physical, std::uint64_t rank,
                                                     const format::FileEntry& entry,
                                                     std::vector<format::PieceEntry> pieces, ReaderSettings& settings);

  // The common case, small and sequential: true when done.
  bool read_window(std::byte* data, std::size_t bytes) {
    const std::uint64_t within = position_ - window_begin_;  // wraps when before: then it is not < size
    if (within >= window_.size() || bytes > window_.size() - within) return false;
    std::copy_n(window_.data() + within, bytes, data);
    position_ += bytes;
    return true;
  }
  // Up to data.size() bytes from `at`; *got tells how many also on failure.
  Status read(std::uint64_t at, std::span<std::byte> data, std::size_t& got);

  void seek(std::uint64_t position) { position_ = position; }
  std::uint64_t position() const { return position_; }
  std::uint64_t size() const { return entry_.bytes; }
  std::uint64_t contiguous() const;  // bytes from the position to the end of its piece
  // The first place from `at` on where not everything is known to be zeros; size() when there is none.
  std::uint64_t skip_zeros(std::uint64_t at) const;
  const std::vector<format::PieceEntry>& pieces() const { return pieces_; }
  const format::FileEntry& entry() const { return entry_; }
  // The frame of a chunk piece, checked against the piece.
  Result<format::Frame> frame_of(const format::PieceEntry& piece) const;

 private:
  // A stretch of the logical file that one piece shows.
  struct Span {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t piece = 0;
  };
  // The chunk used last: where its data lie and their checksums.
  struct OpenChunk {
    std::uint32_t piece = ~0u;
    std::uint64_t data_start = 0;
    std::vector<std::byte> table;  // u32 per granule, the last one being the tail crc
  };

  LogicalReader(const PhysicalReader& physical, std::uint64_t rank, const format::FileEntry& entry,
                std::vector<format::PieceEntry> pieces, ReaderSettings& settings)
      : physical_(physical), rank_(rank), entry_(entry), pieces_(std::move(pieces)), settings_(settings) {}
  Status resolve();
  const Span* span_at(std::uint64_t at) const;  // the span that holds `at`, or the next one behind; null: none
  Status read_some(std::uint64_t at, std::span<std::byte> data, std::size_t& n);
  Status read_gap(std::span<std::byte> data) const;
  Status read_chunk(const Span& span, std::uint64_t at, std::span<std::byte> data, std::size_t& n);
  Status fill_from_chunk(const Span& span, std::uint64_t at);
  Status fill_from_pack(const Span& span);
  void set_window(const Span& span, std::uint64_t content_begin);
  Status open_chunk(std::uint32_t piece);
  Status load_table(const format::PieceEntry& piece, const format::Frame& frame);
  Status read_granules(std::uint64_t within, std::span<std::byte> to);
  bool verifies() const;
  Status read_stored(std::uint64_t offset, std::span<std::byte> to) const;
  Status read_ahead(std::uint64_t offset, std::span<std::byte> to);
  Status damaged(const std::string& what, std::uint64_t physical_offset) const;

  const PhysicalReader& physical_;
  const std::uint64_t rank_;
  const format::FileEntry entry_;
  const std::vector<format::PieceEntry> pieces_;
  ReaderSettings& settings_;
  std::vector<Span> spans_;  // sorted, disjoint; empty when one piece shows everything in order
  std::uint64_t position_ = 0;
  std::uint64_t window_begin_ = 0;     // logical offset of window_[0]
  std::span<const std::byte> window_;  // verified bytes, inside buffer_
  std::vector<std::byte> buffer_;
  OpenChunk chunk_;
};

}  // namespace thalweg
