// SuperblockScan: the superblocks that a data file holds, and where by their tables the blocks of each VP are: what the
// side files must say, found without them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/go_on.hpp"
#include "storage/backend.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/format/superblock.hpp"

namespace thalweg {

// What one VP has in the IB segment: runs and holes in order, as many blocks as `bytes` need.
struct VpChain {
  std::vector<format::BlockRun> runs;
  std::uint64_t bytes = 0;
  bool damaged = false;  // a block of it is in a superblock that is not whole
};

// The image of a superblock; zeros behind the end of the file.
Status read_superblock(StoredFile& data, const format::VpGeometry& geometry, std::uint64_t number,
                       std::vector<std::byte>& image);

// Visits what stands in the places of superblocks behind the lattice, but for holes, until it fails:
// visit(number, image).
Status each_superblock(StoredFile& data, const format::VpGeometry& geometry,
                       const std::function<Status(std::uint64_t number, ByteView image)>& visit);

// The header of the first superblock from `from` on, with this id where one is given; none: there is none. Until it is
// found superblocks may begin at any multiple of the least size. `passed` is called for each such offset without one;
// its failure ends the search.
Result<std::optional<format::SuperblockHeader>> find_superblock(
    StoredFile& data, std::uint64_t from, const std::optional<format::VpIdentity>& id,
    const std::function<Status(std::uint64_t offset)>& passed);

class SuperblockScan {
 public:
  struct Found {
    std::uint64_t number = 0;
    std::uint64_t session = 0;
    format::Seal seal;
    format::Wholeness blocks = format::Wholeness::whole;
    std::uint64_t first_vp = 0;  // its rows name VPs first_vp .. end_vp-1 only
    std::uint64_t end_vp = 0;
    bool has_lengths = false;  // rows without blocks
    // Its blocks may never have reached the storage: those of earlier sessions are not hidden by them.
    bool is_doubtful() const { return blocks == format::Wholeness::damaged && !seal.ordered; }
  };

  // Looks from the end of the lattice of `geometry` on for superblocks with `id`, or with that of the first one. Where
  // `geometry` has no IB segment, that of the first one found is taken.
  static Result<SuperblockScan> of(StoredFile& data, const std::optional<format::VpIdentity>& id,
                                   const format::VpGeometry& geometry, GoOn go_on);

  const std::vector<Found>& found() const { return found_; }  // doubtful ones first; by session and number
  const format::VpGeometry& geometry() const { return geometry_; }
  const format::VpIdentity& id() const { return id_; }
  std::uint64_t end() const { return end_; }  // all numbers are lower
  std::uint64_t last_session() const { return last_session_; }
  const std::vector<std::string>& findings() const { return findings_; }  // superblocks that are not whole

  // The chains of those VPs that have blocks, by number, of as many VPs from `begin` on that they take little memory.
  // A row without blocks tells how long a stream is, and only of such VPs: it may name any number of them.
  struct Window {
    std::uint64_t end = 0;  // of the VPs that it is of; as many as there are: it is the last one
    std::vector<std::pair<std::uint64_t, VpChain>> chains;
  };
  Result<Window> chains(std::uint64_t begin);

 private:
  struct Placed {
    std::uint64_t vp;
    std::uint64_t index;
    std::uint64_t blocks;
    std::uint64_t address;
    std::uint64_t bytes;
    bool damaged;
  };
  class Lengths;
  SuperblockScan(StoredFile& data, GoOn go_on) : data_(&data), go_on_(std::move(go_on)) {}
  bool take_rows(ByteView image, Found& found);
  void lose(std::uint64_t number, const std::string& finding);
  std::uint64_t stretch() const { return geometry_.n / kStretches + 1; }
  Status take(std::uint64_t number, ByteView image);
  Status ask() const;
  template <class Visit>
  Status each_row(const Found& found, std::vector<std::byte>& image, Visit visit) const;
  std::uint64_t next_named(std::uint64_t vp) const;
  std::uint64_t end_of_window(std::uint64_t begin) const;
  Result<std::vector<Placed>> placed_in(std::uint64_t begin, std::uint64_t end) const;
  Status tell_lengths(Window& window, std::uint64_t begin) const;
  void join(std::span<const Placed> placed, VpChain& chain);
  bool add_gap(std::uint64_t blocks, VpChain& chain);

  StoredFile* data_;
  GoOn go_on_;
  format::VpIdentity id_{};
  format::VpGeometry geometry_;
  std::uint64_t end_ = 0;
  std::uint64_t last_session_ = 0;
  // How many runs the VPs of each stretch of so many VPs have.
  static constexpr std::uint64_t kStretches = std::uint64_t{1} << 16;
  std::vector<std::uint64_t> runs_;
  std::vector<Found> found_;
  std::vector<std::uint64_t> lost_;   // whose tables are not whole
  std::uint64_t lost_runs_left_ = 0;  // as many as these can have held
  std::vector<std::string> findings_;
};

}  // namespace thalweg
