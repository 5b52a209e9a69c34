// SuperblockScan: the superblocks of a data file, and by their tables the blocks of each VP. The side files must name
// the same blocks; the scan does not read them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "storage/backend.hpp"
#include "vpfile/format/batch.hpp"
#include "vpfile/format/directory.hpp"

namespace thalweg {

// The runs and holes of one VP in the IB segment, in order; together as many blocks as `bytes` need.
struct VpChain {
  std::uint64_t vp = 0;
  std::vector<format::BlockRun> runs;
  std::uint64_t bytes = 0;
  bool damaged = false;                    // a block of it is in a superblock that is not whole
  std::vector<format::BatchPiece> pieces;  // bytes of its holes that are in batches, in the order of the stream
  std::size_t passed = 0;                  // pieces that end_of_pieces() has gone through
  std::uint64_t end_passed = 0;            // the largest end of these
};

// Calls visit(number, image) for each place of a superblock behind the lattice, except holes, until a call fails.
Status each_superblock(StoredFile& data, const format::VpGeometry& geometry,
                       const std::function<Status(std::uint64_t number, ByteView image)>& visit);

// Finds the header of the first superblock at or behind `from`, of identity `id` where one is given. The size of
// superblocks is not known before, so every multiple of kLeastSuperblock is tried; `passed` is called after each miss,
// and its failure ends the search.
Result<std::optional<format::SuperblockHeader>> find_superblock(
    StoredFile& data, std::uint64_t from, const std::optional<format::FileIdentity>& id,
    const std::function<Status(std::uint64_t offset)>& passed);

class SuperblockScan {
 public:
  struct Found {
    std::uint64_t number = 0;
    std::uint32_t session = 0;  // of its header, like `previous` and `before`; 0: the header is not valid
    std::uint64_t previous = 0;
    std::uint32_t previous_rows = 0;
    std::uint64_t before = 0;
    format::FillSlot seal;
    bool damaged = false;        // its blocks are not those that were sealed
    std::string no_table;        // why its table cannot be read; "": it can
    std::uint64_t first_vp = 0;  // its rows name VPs first_vp .. end_vp-1 only
    std::uint64_t end_vp = 0;
    bool has_lengths = false;  // rows without blocks
    std::vector<format::Batch> batches;
    std::uint64_t piece_bytes = 0;    // of these
    std::vector<format::Batch> lost;  // those that its rows name where it is damaged
    // Its blocks may never have reached the storage, so they do not hide blocks of earlier sessions.
    bool is_doubtful() const { return damaged && !seal.synced; }
  };

  // Scans from the end of the lattice of `geometry` on for superblocks of identity `id`, or of that of the first one.
  // If `geometry` has no IB segment, the geometry of the first superblock holds. Sessions after `last_closed` were not
  // closed: superblocks of each of their tasks count up to the first one that did not reach the storage whole.
  static Result<SuperblockScan> of(StoredFile& data, const std::optional<format::FileIdentity>& id,
                                   const format::VpGeometry& geometry, std::uint64_t last_closed, GoOn go_on);

  const std::vector<Found>& found() const { return found_; }  // doubtful ones first; by session and number
  const format::VpGeometry& geometry() const { return geometry_; }
  const format::FileIdentity& id() const { return id_; }
  std::uint64_t end() const { return end_; }                              // all numbers are lower
  std::uint64_t count() const { return count_; }                          // superblocks without the dropped ones
  std::uint64_t closed_count() const { return closed_count_; }            // those of sessions up to `last_closed`
  const std::vector<std::uint64_t>& dropped() const { return dropped_; }  // numbers of superblocks that do not count
  std::uint32_t last_session() const { return last_session_; }
  const std::vector<std::string>& findings() const { return findings_; }  // superblocks that are not whole

  // All batches, also lost ones, in the order of NAME.batches; and the bytes of their pieces.
  std::vector<format::Batch> batches() const;
  std::uint64_t piece_bytes() const { return piece_bytes_; }
  Result<std::uint64_t> piece_bytes_of(std::uint64_t vp) const;
  // Calls wrong(vp) for each stream whose pieces do not follow each other from its begin on. VPs may come in any order.
  Status check_pieces(const std::function<void(std::uint64_t vp)>& wrong) const;

  // Chains of the VPs with blocks from `next` on, by number, with about 2^20 runs at a time; `next` moves behind these
  // VPs, at last to the number of VPs. A row without blocks states a length; it changes only such chains, as it may
  // name any number of VPs.
  Result<std::vector<VpChain>> chains(std::uint64_t& next);

 private:
  struct Placed {
    std::uint64_t vp;
    std::uint64_t index;
    std::uint64_t blocks;
    std::uint64_t address;
    std::uint64_t bytes;
    bool damaged;
  };
  SuperblockScan(StoredFile& data, GoOn go_on) : data_(&data), go_on_(std::move(go_on)) {}
  bool take_rows(ByteView image, Found& found);
  void lose(std::uint64_t number, const std::string& finding);
  std::string why_previous_is_wrong(const Found& one) const;
  std::string why_dropped(const Found& one) const;
  void find_missing(const Found& one);
  void judge();
  std::uint64_t stretch() const { return geometry_.n / kStretches + 1; }
  Status take(std::uint64_t number, ByteView image);
  Status ask() const;
  template <class Visit>
  Status each_row(const Found& found, std::vector<std::byte>& image, Visit visit) const;
  std::uint64_t next_named(std::uint64_t vp) const;
  std::uint64_t end_of_window(std::uint64_t begin) const;
  Result<std::vector<Placed>> placed_in(std::uint64_t begin, std::uint64_t end) const;
  Status check_pieces_of(std::uint64_t begin, std::uint64_t end, std::span<const format::Batch> batches,
                         std::vector<std::byte>& image, const std::function<void(std::uint64_t vp)>& wrong) const;
  Status tell_pieces(std::uint64_t begin, std::uint64_t end, std::vector<VpChain>& chains) const;
  Status tell_lengths(std::uint64_t begin, std::uint64_t end, std::vector<VpChain>& chains) const;
  void join(std::span<const Placed> placed, VpChain& chain);
  bool add_gap(std::uint64_t begin, std::uint64_t end, VpChain& chain);

  StoredFile* data_;
  GoOn go_on_;
  format::FileIdentity id_;
  format::VpGeometry geometry_;
  std::uint64_t last_closed_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t closed_count_ = 0;
  std::uint32_t last_session_ = 0;
  // Number of rows of each superblock that judge() has kept; none where the table is lost.
  std::unordered_map<std::uint64_t, std::optional<std::uint32_t>> kept_;
  std::uint64_t before_ = 0;       // superblocks of sessions before last_session_
  std::uint64_t next_absent_ = 0;  // all lower numbers are in kept_
  bool session_compared_ = false;  // a count other than `before_` in a header is one finding per session
  // Number of runs of the VPs in each of kStretches ranges of stretch() VPs.
  static constexpr std::uint64_t kStretches = std::uint64_t{1} << 16;
  std::vector<std::uint64_t> runs_;
  std::vector<Found> found_;
  std::vector<std::uint64_t> dropped_;
  std::vector<std::uint64_t> lost_;   // superblocks whose table is lost
  std::uint64_t lost_runs_left_ = 0;  // runs that their tables can have held, less those in use
  std::vector<std::string> findings_;
  std::uint64_t piece_bytes_ = 0;
};

}  // namespace thalweg
