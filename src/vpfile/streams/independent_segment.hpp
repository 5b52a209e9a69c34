// IndependentSegment: what the streams of one task have in the IB segment. Each grows on its own, in blocks, without
// asking anybody.
//
// Positions here count from the beginning of the segment. One call at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vpfile/streams/block_directory.hpp"
#include "vpfile/streams/superblock_store.hpp"
#include "vpfile/vp_shape.hpp"

namespace thalweg {

// What a task keeps of each of its VPs once they go different ways: 32 bytes.
struct VpState {
  enum Flag : std::uint64_t {
    kLoaded = 1,   // bytes and last are known
    kGrown = 2,    // has more bytes in a block than any row tells
    kChanged = 4,  // bytes are not as in NAME.first
    kEof = 8,
    kError = 16,
  };
  std::uint64_t position = 0;  // in the stream
  std::uint64_t bytes = 0;     // of the stream in the IB segment
  std::uint64_t last = 0;      // entry of the directory
  std::uint64_t cursor_and_flags = 0;

  bool has(Flag flag) const { return (cursor_and_flags & flag) != 0; }
  void set(Flag flag) { cursor_and_flags |= flag; }
  void clear(Flag flag) { cursor_and_flags &= ~std::uint64_t{flag}; }
  std::uint64_t cursor() const { return cursor_and_flags >> 8; }
  void set_cursor(std::uint64_t entry) { cursor_and_flags = entry << 8 | (cursor_and_flags & 0xFF); }
};
static_assert(sizeof(VpState) == 32);

class VpStates;

class IndependentSegment {
 public:
  struct Setup {
    SuperblockStore::Setup superblocks;
    BlockDirectory::Setup directory;
    bool stored = false;  // there may be entries already: those of other sessions
  };
  explicit IndependentSegment(const Setup& setup);

  // Makes bytes and last of a state known.
  Status load(VpState& state, std::uint64_t vp);
  // [from, from + to.size()) is within the stream. States are loaded ones, as below.
  Status read(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<std::byte> to);
  // Overwrites what is there and appends the rest; a gap reads as zeros.
  Status write(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<const std::byte> data);

  // The same where what is needed is at hand: most VPs, when all move at once. False: nothing was done.
  bool load_at_hand(VpState& state, std::uint64_t vp);
  bool read_at_hand(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<std::byte> to);
  bool append_at_hand(VpState& state, std::uint64_t vp, std::span<const std::byte> data);

  // The first VP from `vp` on of which something may be stored.
  Result<std::uint64_t> next_entry(std::uint64_t vp) { return directory_.next_entry(vp); }
  // Bytes from `from` on that are a hole of the stream.
  Result<std::uint64_t> gap_at(VpState& state, std::uint64_t vp, std::uint64_t from);

  // What was written so far survives the death of the process.
  Status flush(VpStates& states, const LocalVps& vps);
  // That, and the directory as it is on storage.
  Status finish(VpStates& states, const LocalVps& vps);
  void set_durable() { superblocks_.set_durable(); }

  std::uint64_t end_of_superblocks() const { return superblocks_.end(); }
  std::uint64_t end_of_entries() const { return directory_.end(); }
  std::uint64_t added() const { return added_; }  // bytes of all streams
  // By how much the sums of entries change by what finish() stored.
  std::vector<SumChange> sum_changes() const { return directory_.changes(); }

 private:
  Status write_parts(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<const std::byte> data);
  Status skip_to(VpState& state, std::uint64_t vp, std::uint64_t from);
  Status overwrite(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<const std::byte> data);
  Result<std::byte*> renew(VpState& state, std::uint64_t vp, std::uint64_t index, format::BlockRun& run);
  Status append(VpState& state, std::uint64_t vp, std::uint64_t from, std::span<const std::byte> data);
  Result<format::BlockRun> find(VpState& state, std::uint64_t vp, std::uint64_t index);
  bool append_blocks_at_hand(VpState& state, std::uint64_t vp, std::span<const std::byte> data);
  static void grew(VpState& state, std::uint64_t bytes);
  std::uint64_t index_of(std::uint64_t at) const { return at >> block_shift_; }  // the block
  std::uint64_t within(std::uint64_t at) const { return at & (block_ - 1); }     // and the byte of it
  std::uint64_t blocks_for(std::uint64_t bytes) const { return (bytes + block_ - 1) >> block_shift_; }

  std::uint64_t block_;
  int block_shift_;
  bool stored_;
  std::uint64_t added_ = 0;
  std::vector<std::byte> old_;
  SuperblockStore superblocks_;
  BlockDirectory directory_;
};

}  // namespace thalweg
