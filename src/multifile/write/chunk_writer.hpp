// The chunk in which a logical file grows: data are written to their place, and fill slots count the valid bytes.
//
// A flush holds because of the order of writes (format document, section 4.1): data, then checksum table, then slot.
// The slot of the last sync stays as it is until the next sync has succeeded.
#pragma once

#include <memory>
#include <vector>

#include "engine/collective.hpp"
#include "multifile/format/data_seal.hpp"
#include "multifile/format/index.hpp"
#include "multifile/write/direct_writes.hpp"
#include "multifile/write/physical_writer.hpp"

namespace thalweg {

class ChunkWriter {
 public:
  // `direct`: of the handle, which may replace it; empty: writes go through the page cache. Borrowed. With direct writes
  // the frame is written by finish(), after the slot of the chunk before it.
  ChunkWriter(PhysicalWriter& physical, const format::Frame& frame, const std::shared_ptr<DirectWrites>& direct);

  // Writes as much of `data` as fits, and returns the number of bytes taken.
  Result<std::size_t> append(std::span<const std::byte> data);
  // Makes everything appended so far count for recovery, with direct writes once they are finished. `by_sync`: as part
  // of a sync.
  Status publish(bool by_sync);
  // The published bytes are durable when this sync has succeeded; null: it has. The slot just written is then kept until
  // the next sync.
  void pin(const std::shared_ptr<const AccessRequest>& sync);
  // Whether more bytes may be appended: not while a sync goes on, since a slot behind its slot proves that it succeeded.
  bool may_grow();
  // Nothing more is appended: gives back the blocks that were reserved for more.
  void give_back();

  std::uint64_t room() const { return frame_.capacity() - filled_; }
  std::uint64_t filled() const { return filled_; }
  std::uint64_t logical_end() const { return frame_.logical_offset + filled_; }
  std::uint64_t sequence() const { return frame_.sequence; }
  format::PieceEntry piece() const;

 private:
  void seal(std::span<const std::byte> block);
  Status write_data(std::span<const std::byte> block);
  Status reserve(std::uint64_t end);
  Status write_head(std::uint64_t offset, std::span<const std::byte> bytes);
  Status write_table_and_slots();

  PhysicalWriter& physical_;
  const format::Frame frame_;
  const std::shared_ptr<DirectWrites>& direct_;
  std::uint64_t filled_ = 0;
  std::uint64_t reserved_ = 0;   // bytes of data for which direct writes have blocks
  std::uint64_t published_ = 0;  // bytes in the newest slot
  bool published_by_sync_ = false;
  std::uint64_t count_ = 0;                       // slot writes
  int newest_ = -1;                               // slot written last, -1: none
  int pinned_ = -1;                               // slot of the last sync, -1: none
  std::shared_ptr<const AccessRequest> syncing_;  // of the newest slot; null: it has ended
  format::DataSeal tail_;                         // of the granule in the making
  std::vector<std::byte> head_;      // bytes from the first slot to the end of the table, as they are to be
  std::uint64_t table_written_ = 0;  // granules whose entries are in the file
};

}  // namespace thalweg
