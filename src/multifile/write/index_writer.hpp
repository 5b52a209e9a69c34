// Writes the index of a physical file: the old index, overlaid with what the tasks of this session contribute.
//
// The sections are streamed, so that task 0 holds the contributions and little more. Where most logical files are
// empty, the index lists the others only.
#pragma once

#include <span>
#include <vector>

#include "multifile/read/physical_reader.hpp"

namespace thalweg {

// Contribution of one task of one logical file at the close, encoded by append_contribution().
struct Contribution {
  std::uint64_t local_index = 0;
  std::uint64_t bytes = 0;
  std::uint32_t mode = 0;
  bool named = false;  // name and mode replace the old ones
  std::string_view name;
  std::span<const std::byte> pieces;  // encoded piece entries, new ones only
};
// A piece as its writer keeps it.
struct WrittenPiece {
  format::PieceEntry entry;
  std::uint64_t sequence = 0;
  std::uint32_t pack = 0;  // packed piece: its physical_offset counts from the payload of this pack
};
// Bytes that append_contribution() adds.
std::size_t contribution_bytes(std::size_t name_bytes, std::size_t n_pieces);
void append_contribution(std::vector<std::byte>& out, const Contribution& contribution,
                         std::span<const WrittenPiece> pieces);

// Gives the pieces that were shipped to task 0 their offsets: `payload` is where their payload was written.
void place_shipped(std::span<std::byte> contributions, std::uint64_t payload);

// Contributions of all tasks to one physical file. The bytes given to add() are borrowed.
class Contributions {
 public:
  explicit Contributions(std::uint64_t n_local) : n_local_(n_local) {}
  Status add(std::span<const std::byte> encoded);
  Status sort();  // once, when all are added
  std::size_t size() const { return all_.size(); }
  Contribution at(std::size_t i) const;  // in the order of local indices
  std::uint64_t local(std::size_t i) const;

 private:
  std::uint64_t n_local_;
  std::vector<const std::byte*> all_;
};

struct IndexJob {
  StoredFile* file = nullptr;
  format::FileHeader header;
  std::uint32_t session = 0;
  std::uint64_t offset = 0;             // first page behind everything used
  const PhysicalReader* old = nullptr;  // the index so far; null: none
  const Contributions* fresh = nullptr;
  format::Attributes attributes;  // of physical file 0
  // The index of physical file 0 is written last and describes all: `added` has the runs of added logical files;
  // `names` the place of each name so far, to which write_index() adds those of this physical file.
  std::vector<format::AddedRun> added = {};
  std::vector<format::NamePlace>* names = nullptr;
  std::vector<std::uint64_t> later = {};  // the end of each later physical file; 0: it was never made
  GoOn go_on;                             // asked now and then; may be empty
  std::span<std::byte> small = {};        // for write_index(): the whole of a small index
};
Result<format::IndexPage> write_index(IndexJob job);

// Writes the next state slot.
Status write_state(StoredFile& file, const format::FileHeader& header, const format::StateSlot& slot);

}  // namespace thalweg
