// VpParts: the parts of an open vpfile on one task. The lattice, the stream table and the block store find the places
// of bytes; the functions of src/vpfile move them.
//
// Between two collective calls the lattice is equal on all tasks (docs/format/vpfile.md, section 1). Independent
// accesses go to the lattice, as far as it reaches, and to the IB segment.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sharedfile/plain_file.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/lattice.hpp"
#include "vpfile/streams/block_store.hpp"
#include "vpfile/streams/side_files.hpp"
#include "vpfile/streams/stream_table.hpp"

namespace thalweg {

inline constexpr std::uint64_t kMostStream = std::uint64_t{1} << 61;  // bytes of a stream

// Values of the hints of a vpfile (base/hint_table.hpp). All tasks use those of task 0. 0: the library chooses.
struct VpHints {
  std::uint64_t record_bytes = 0;  // of an array without NAME.meta
  std::uint64_t round_bytes = 0;   // of the CB segment, of each VP
  std::uint64_t block_bytes = 64;
  std::uint64_t superblock_bytes = 0;
  std::uint64_t directory_pointers = 6;
  std::uint64_t cache_bytes = std::uint64_t{1} << 24;
  std::uint64_t least_batch = 32;  // pieces of a batch; no hint
  bool assume_nb = false;
  bool overwrite_foreign = false;  // a file of another format
};

// Parses "name=value,name=value". Hints of files are appended to `of_file`, as they are. Error: unknown_hint.
Result<VpHints> parse_vp_hints(std::string_view text, std::string& of_file);

struct VpTransition {
  std::uint64_t access = 0;  // number of the collective access, from 0
  VpMode from = VpMode::nb;
  VpMode to = VpMode::nb;
  const char* cause = vp_cause::kNone;
};

struct VpParts {
  // How it was opened.
  std::shared_ptr<Backend> backend;
  std::string path;
  VpHints hints;
  bool may_read = false;
  bool may_write = false;
  bool appends = false;
  bool truncates = false;  // nothing that was there before is kept

  // Equal on all tasks.
  format::VpMeta meta;                // task 0 updates geometry and sequence when it writes NAME.meta
  format::VpGeometry geometry;        // block_bytes: 0 until this task opens or makes an IB segment
  std::uint64_t ib_bytes_before = 0;  // when the file was opened
  bool durable = false;               // something was synced
  bool unmarked = false;              // this session writes, and NAME.meta is not marked yet
  VpMode mode = VpMode::nb;
  std::uint64_t n_accesses = 0;
  VpChoice last_choice;
  std::vector<VpTransition> transitions;

  // Files.
  std::unique_ptr<PlainFile> file;        // the data file
  std::shared_ptr<SideFiles> sides;       // of the tasks of this process
  std::unique_ptr<StoredFile> meta_file;  // NAME.meta: of task 0, where it writes
  std::unique_ptr<StoredFile> locked;     // of task 0, until sides.lock has it

  // Streams.
  LocalVps vps;
  std::optional<Lattice> lattice;  // once the data file is open
  std::optional<StreamTable> streams;
  std::unique_ptr<BlockStore> blocks;  // once this task needs it
  std::mutex mutex;                    // of calls of one VP, which threads may make at once

  Group& group() const { return file->group(); }
  StoredFile& data() const { return *file->shared()->stored; }
  // Makes the block store; its geometry follows from values that are equal on all tasks. On failure nothing changes.
  Status need_blocks() { return blocks != nullptr ? Status{} : make_blocks(); }
  // Loads the length of the stream.
  Status load(std::uint64_t local) {
    if (!geometry.has_ib()) return {};  // there may be blocks later
    TW_RETURN_IF_ERROR(need_blocks());
    return blocks->load((*streams)[local], vps.number(local));
  }
  std::uint64_t end_of(std::uint64_t local) const {  // of a loaded stream
    return geometry.lattice_bytes() + streams->look(local).bytes;
  }
  void note(VpMode used, const char* cause);
  Status too_long(std::uint64_t local) const;
  Status check_mode(Direction direction) const {
    return (direction == Direction::write ? may_write : may_read) ? Status{} : not_open_for(direction);
  }
  // Fails for writes of a task alone where nodes would write parts of one page of the data file or of NAME.first.
  Status check_alone() const;
  // Fails for an array without NAME.meta, as long as the size of its records is unknown.
  Status check_record() const;

 private:
  Status make_blocks();
  Status not_open_for(Direction direction) const;
};

// Task 0 writes NAME.meta.
Status write_meta(VpParts& parts, bool closed);
// Collective: marks an array as being written once the size of its records is known, so that bytes which a dying writer
// leaves behind its end are not taken for records.
Op<Status> mark_as_written(VpParts& parts);
// Collective: first step of every call except an access. Agrees on `mine`, and that all tasks make this call.
Op<Status> meet(VpParts& parts, Call call, Status mine);
// Collective: every call begins with one fold of this record, so that different calls of the tasks are detected at
// once; the groups of the file end then.
Op<Status> fold(VpParts& parts, StreamAccess& all);
Op<Status> access_all(VpParts& parts, VpTransfer what);
// Collective: an access in which each VP moves on its own.
Op<Status> access_independently(VpParts& parts, const VpTransfer& what);
// Collective: stores the bytes that all tasks have in memory, then NAME.meta; where the file is closed, the side files,
// too. In that case only task 0 has the status of the last step.
Op<Status> store_all(VpParts& parts, bool closing, Status mine = {});
// Independent: stores this task's blocks.
Status store_blocks(VpParts& parts, bool closing);

}  // namespace thalweg
