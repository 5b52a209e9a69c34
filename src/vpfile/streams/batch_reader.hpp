// BatchReader: the pieces of one task's streams in batches, of other sessions and of this one.
//
// Reading VPs in the order of their numbers is fast, since they share the batch that was read last. One call at a time.
#pragma once

#include <cstring>
#include <span>
#include <string>

#include "vpfile/streams/stream_table.hpp"
#include "vpfile/streams/superblock_store.hpp"

namespace thalweg {

// Bytes begin .. end-1 of a stream: a piece of a batch, or a gap between pieces, which has no memory.
struct ShownPiece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const std::byte* memory = nullptr;
  std::uint64_t place = 0;  // of the batch, in those of the VP
};

class BatchReader {
 public:
  BatchReader(const SegmentSetup& setup, SuperblockStore& superblocks, BatchList& own)
      : superblocks_(superblocks),
        path_(setup.data->path()),
        geometry_(setup.meta.geometry),
        stored_(setup.sides->batches()),
        lost_(setup.sides->batches(), true),
        rows_lost_(std::ranges::find(setup.sides->batches(), 0U, &format::Batch::n) != setup.sides->batches().end()),
        own_(own) {}

  // Reads from the batch that was read last, where it has all of the bytes.
  bool read_near(StreamState& state, std::uint64_t vp, std::uint64_t from, std::span<std::byte> to) const {
    if (near_bytes_.empty() || !near_.has(vp) || state.has(StreamState::kChained)) return false;
    const auto there = format::piece_in(near_bytes_, near_, vp - near_.vp);
    if (!there.has_value() || from < there->begin || from > there->end || to.size() > there->end - from) return false;
    std::memcpy(to.data(), near_bytes_.data() + there->at + (from - there->begin), to.size());
    state.set_cursor(near_place_ + (from + to.size() == there->end ? 1 : 0));
    return true;
  }
  // Bytes of the stream that have no piece read as zeros where it has a chain and no batch was lost that may have had
  // them; else they are lost.
  Status read(StreamState& state, std::uint64_t vp, std::uint64_t from, std::span<std::byte> to);
  // The piece, or the gap, that has byte `at` of the stream; `at` is before the end of the stream.
  Result<ShownPiece> look(const StreamState& state, std::uint64_t vp, std::uint64_t at);
  // Fails where bytes of a stream that has no chain are lost. Takes long only for a stream that may lack some.
  Status check_whole(StreamState& state, std::uint64_t vp);
  // Bytes of a stream of other sessions that has no chain.
  Result<std::uint64_t> length(std::uint64_t vp);
  // The first VP from `vp` on that is in a batch of other sessions.
  std::uint64_t next(std::uint64_t vp) { return stored_.next(vp); }
  // Call before any call of SuperblockStore that may evict a superblock: the batch that was read last lies in one.
  void forget() { near_bytes_ = {}; }

 private:
  bool may_lack_bytes(std::uint64_t vp) { return rows_lost_ || !lost_.of(vp).empty(); }
  Result<format::BatchPiece> piece_of(const format::Batch& batch, std::uint64_t vp);
  Status look_in(BatchList& list, std::uint64_t vp, std::uint64_t at, ShownPiece& shown);

  SuperblockStore& superblocks_;
  const std::string path_;
  const format::VpGeometry geometry_;
  BatchList stored_;  // of other sessions
  BatchList lost_;
  const bool rows_lost_;  // so that any stream may lack bytes
  BatchList& own_;        // of this session
  // The batch that was read last, and its place among those of its VP; no bytes: there is none.
  format::Batch near_;
  std::span<const std::byte> near_bytes_;
  std::uint64_t near_place_ = 0;
};

}  // namespace thalweg
