// Writes the index of a physical file: the old index, overlaid with what the tasks of this session contribute.
//
// The sections are streamed, so that task 0 holds the contributions and little more. Where most logical files are
// empty, the index lists the others only.
#pragma once

#include <span>
#include <vector>

#include "multifile/read/physical_reader.hpp"
#include "multifile/write/name_sorter.hpp"

namespace thalweg {

// Contribution of one task of one logical file at the close, encoded by append_contribution().
struct Contribution {
  std::uint64_t local_index = 0;
  std::uint64_t bytes = 0;
  std::uint32_t mode = 0;
  std::uint64_t position = 0;   // of the next write
  std::uint32_t sequences = 0;  // sequence numbers used
  bool named = false;           // name and mode replace the old ones
  std::string_view name;
  std::span<const std::byte> pieces = {};  // encoded piece entries, new ones only
  std::span<const std::byte> more = {};    // those that follow, of a logical file to which its task returned
};
// Contributions of logical files that a task added, by number, stored in their physical file before the close.
struct StoredContributions {
  std::uint64_t first = 0;   // number of the first one
  std::uint64_t offset = 0;  // in the physical file
  std::uint32_t bytes = 0;
  std::uint32_t crc = 0;
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

// Decodes the first of these contributions, which it borrows, and removes it.
Contribution take_contribution(std::span<const std::byte>& encoded);
Result<std::vector<std::byte>> read_contributions(StoredFile& file, const StoredContributions& stored);

// Gives the pieces that were shipped to task 0 their offsets: `payload` is where their payload was written.
void place_shipped(std::span<std::byte> contributions, std::uint64_t payload);

// Contributions of all tasks to one physical file, visited in the order of local indices. The bytes given to add() are
// borrowed; those in the file are read block by block.
class Contributions {
 public:
  // `stored`: those in `file`, the physical file.
  Contributions(std::uint64_t n_local, StoredFile& file, std::vector<StoredContributions> stored = {})
      : n_local_(n_local), file_(file), stored_(std::move(stored)) {}
  Status add(std::span<const std::byte> encoded);
  Status sort();  // once, when all are added
  void rewind();  // to the first one
  // The local index of the one that take() returns; format::kLocalsEnd: there is none.
  Result<std::uint64_t> ahead();
  Contribution take();  // after ahead(); valid until the next ahead()

 private:
  const std::uint64_t n_local_;
  StoredFile& file_;
  std::vector<StoredContributions> stored_;
  std::vector<std::span<const std::byte>> in_memory_;
  std::size_t next_in_memory_ = 0;
  std::size_t next_stored_ = 0;
  std::vector<std::byte> block_;
  std::span<const std::byte> rest_;  // of block_
};

struct IndexJob {
  StoredFile* file = nullptr;
  format::FileHeader header = {};
  std::uint32_t session = 0;
  std::uint64_t offset = 0;             // first page behind everything used
  const PhysicalReader* old = nullptr;  // the index so far; null: none
  Contributions* fresh = nullptr;
  format::Attributes attributes = {};  // of physical file 0
  // The runs of added logical files, and the place of each name, in the indexes that were written before, and in those
  // of earlier sessions. write_index() adds those of this physical file; that of physical file 0, the last one, has all.
  std::vector<format::AddedRun>* added = nullptr;
  NameSorter* names = nullptr;
  std::vector<std::uint64_t> later = {};  // the end of each later physical file; 0: it was never made
  GoOn go_on = {};                        // asked now and then; may be empty
  std::span<std::byte> small = {};        // for write_index(): the whole of a small index
};
Result<format::IndexPage> write_index(IndexJob job);

// Writes the next state slot.
Status write_state(StoredFile& file, const format::FileHeader& header, const format::StateSlot& slot);
// unsafe: the state in force is not `slot` any more, as another program has repaired the file or appended to it. Where
// no slot is valid, `slot` has all defaults.
Status check_state(StoredFile& file, const format::FileHeader& header, const format::StateSlot& slot);

}  // namespace thalweg
