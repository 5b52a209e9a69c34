// SuperblockScan: the superblocks that a data file holds, and where by their tables the blocks of each VP are: what the
// side files must say, found without them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "format/vpfile_directory.hpp"
#include "format/vpfile_superblock.hpp"

namespace thalweg {

// What one VP has in the IB segment: runs and holes in order, as many blocks as `bytes` need.
struct VpChain {
  std::vector<format::BlockRun> runs;
  std::uint64_t bytes = 0;
  bool damaged = false;  // a block of it is in a superblock that is not whole
};

class SuperblockScan {
 public:
  struct Found {
    std::uint64_t number = 0;
    std::uint64_t session = 0;
    format::Seal seal;
    format::Wholeness blocks = format::Wholeness::whole;
    std::uint64_t first_vp = 0;  // its rows name VPs first_vp .. end_vp-1 only
    std::uint64_t end_vp = 0;
  };

  // Looks from the end of the lattice of `geometry` on for superblocks with `id`, or with that of the first one. Where
  // `geometry` has no IB segment, that of the first one found is taken.
  static Result<SuperblockScan> of(StoredFile& data, const std::optional<format::VpIdentity>& id,
                                   const format::VpGeometry& geometry);

  const std::vector<Found>& found() const { return found_; }  // by session and number
  const format::VpGeometry& geometry() const { return geometry_; }
  const format::VpIdentity& id() const { return id_; }
  std::uint64_t end() const { return end_; }  // all numbers are lower
  std::uint64_t last_session() const { return found_.empty() ? 0 : found_.back().session; }
  const std::vector<std::string>& findings() const { return findings_; }  // superblocks that are not whole

  // The chains of VPs begin .. end-1.
  Result<std::vector<VpChain>> chains(std::uint64_t begin, std::uint64_t end) const;
  // How many VPs to ask for at a time, so that they and their runs take little memory.
  std::uint64_t chunk() const;
  // The first VP from `vp` on that a row may name; those before have nothing. As many as there are VPs: none is named.
  std::uint64_t next_named(std::uint64_t vp) const;

 private:
  struct Placed {
    std::uint64_t index;
    std::uint64_t blocks;
    std::uint64_t address;
  };
  explicit SuperblockScan(StoredFile& data) : data_(&data) {}
  void take_rows(ByteView image, Found& found);
  std::uint64_t stretch() const { return geometry_.n / kStretches + 1; }
  Status find_layout(std::uint64_t from, const std::optional<format::VpIdentity>& id);
  Status look_at(std::uint64_t number);
  Status read_image(std::uint64_t number, std::vector<std::byte>& image) const;
  void join(std::vector<Placed>& placed, VpChain& chain) const;

  StoredFile* data_;
  format::VpIdentity id_{};
  format::VpGeometry geometry_;
  std::uint64_t end_ = 0;
  std::uint64_t runs_ = 0;  // of all VPs
  // How many rows name a VP of each stretch of so many VPs; while they are read, by how many more than the one before.
  static constexpr std::uint64_t kStretches = std::uint64_t{1} << 16;
  std::vector<std::int64_t> named_;
  std::vector<Found> found_;
  std::vector<std::uint64_t> lost_;  // whose tables are not whole
  std::vector<std::string> findings_;
};

}  // namespace thalweg
