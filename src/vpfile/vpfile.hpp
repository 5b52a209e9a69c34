// VpFile: one task's view of a vpfile that a group has open: a stream for each virtual processor, with the meaning that
// C stdio gives to a stream.
//
// Between two collective calls all tasks know the same of the lattice (docs/format/vpfile.md, section 1): its length
// changes in collective calls only. What a task does alone goes to the lattice where that is, and to the IB segment.
//
//   vp_open, vp_end        opening; flush, sync and close
//   vp_collective          reading and writing by all
//   vp_apart               the same where VPs go different ways
//   vp_lattice             what all VPs have in common of that: rows
//   vp_alone               one VP: positions, reading, writing, what flags say
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sharedfile/plain_file.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/streams/independent_segment.hpp"
#include "vpfile/vp_hints.hpp"
#include "vpfile/vp_modes.hpp"
#include "vpfile/vp_states.hpp"
#include "vpfile/vp_transfer.hpp"

namespace thalweg {

struct VpOpen {
  std::string path;
  std::string mode = "r";    // as fopen(3) has it, without 'b'
  VpShape shape;             // empty: that of the file
  std::optional<VpBox> box;  // of this task; none: default_box()
  VpHints hints;
  std::string storage_hints;  // of the data file (docs/howto/hints.md)
  Status status;              // what is wrong with the arguments already: told to all
};

struct VpTransition {
  std::uint64_t access = 0;  // number of the collective access, from 0
  VpMode from = VpMode::nb;
  VpMode to = VpMode::nb;
  VpCause cause = VpCause::none;
};

struct VpSideFile {
  std::unique_ptr<StoredFile> file;
  std::optional<EntrySums> stored;  // of the entries of other sessions; none: there are no such entries
};
// What the tasks of a process have of the files besides the data. Side files are opened when the first task needs them.
struct VpSideFiles {
  std::mutex mutex;
  std::unique_ptr<StoredFile> lock;  // the data file, held as long as this process writes
  VpSideFile first;
  VpSideFile overflow;
};

class VpFile {
 public:
  static constexpr std::uint64_t kDefaultSuperblock = std::uint64_t{1} << 18;
  static constexpr std::uint64_t kMostStream = std::uint64_t{1} << 61;  // bytes of one

  // Collective over `group`, which is duplicated.
  static Op<Result<std::unique_ptr<VpFile>>> open(Group& group, std::shared_ptr<Backend> backend, VpOpen how);
  ~VpFile();

  // Collective. After a failure of close() the file stays marked as not closed.
  Op<Status> transfer(VpTransfer what);
  Op<Status> flush();
  Op<Status> sync();
  Op<Status> close();
  // Independent, and instead of close(): stores what this task has in memory and tells the others, whose next call
  // fails. Waits for nobody.
  Status abandon();
  // Independent: stores what this task has in memory, of its VPs alone. What is in the row that all have counts for
  // repair when task 0 has said so after all have done this.
  Status store_own();
  Status tell_stored(bool by_all);  // task 0
  // Independent: begins a flush with the other tasks, after which this one leaves. It is complete before MPI ends, and
  // the file stays until then.
  void begin_to_leave();
  // Collective: the beginning of every call but transfer(). Agrees on `mine`, and that all tasks make this call.
  Op<Status> meet(Call call, Status mine);

  // Independent, of VPs of this task. `local` is below vps().count(). May be called by several threads, of different
  // VPs.
  Result<std::uint64_t> read_one(std::uint64_t local, std::span<std::byte> to);
  Result<std::uint64_t> write_one(std::uint64_t local, std::span<const std::byte> data);
  Status seek_one(std::uint64_t local, std::int64_t offset, int whence);
  Status push_back(std::uint64_t local, unsigned char byte);  // ungetc
  bool has_pushed(std::uint64_t local) {
    const std::lock_guard lock(mutex_);
    return pushed_.count(local) != 0;
  }
  std::uint64_t position(std::uint64_t local);
  bool at_eof(std::uint64_t local) { return flag(local, VpState::kEof); }
  bool failed(std::uint64_t local) { return flag(local, VpState::kError); }
  void clear_flags(std::uint64_t local);
  void clear_eof(std::uint64_t local);
  Status flush_one(std::uint64_t local);
  Result<std::uint64_t> size_of(std::uint64_t local);  // bytes of the stream
  // The first VP behind `local` that may have more than the lattice, where `local` has no more; else that behind it.
  // Of a file that is only read.
  Result<std::uint64_t> end_of_alike(std::uint64_t local);
  // Moves the position behind bytes that nobody wrote; how many these are.
  Result<std::uint64_t> skip_gap(std::uint64_t local);

  // Independent, of all VPs of this task at once. On failure nothing changes.
  Status seek(const std::int64_t* offsets, std::int64_t offset, int whence, const std::uint8_t* mask);
  void clear_flags(const std::uint8_t* mask);

  const VpShape& shape() const { return meta_.shape; }
  const LocalVps& vps() const { return vps_; }
  const std::string& path() const { return path_; }
  VpMode mode() const { return mode_; }
  VpChoice last_choice() const { return last_choice_; }
  const std::vector<VpTransition>& transitions() const { return transitions_; }
  const format::VpGeometry& geometry() const { return geometry_; }
  Group& group() { return file_->group(); }
  const PlainFile& file() const { return *file_; }  // of the data
  bool may_read() const { return may_read_; }
  bool may_write() const { return may_write_; }

 private:
  struct Row {
    format::LatticeRow place;
    std::vector<std::byte> bytes;  // of the VPs of this task, one behind the other
    bool valid = false;
    bool dirty = false;  // the same on all tasks
  };
  struct Begun {  // a VP of a collective access that goes apart
    std::uint64_t local = 0;
    std::uint64_t position = 0;  // before
  };

  VpFile() = default;

  // vp_open
  struct Found;
  Result<Found> look(const VpOpen& how);
  Op<Status> look_for_all(Group& group, const VpOpen& how, Found& found, Status& mine);
  Op<Status> open_data(Group& group, const VpOpen& how);
  Op<Status> begin(bool truncates, bool is_new);
  Status remove_old();
  Status adopt(const VpOpen& how, const Found& found, std::uint64_t task, std::uint64_t tasks);
  Op<Status> share_side_files(Group& group);
  Op<Status> agree_on_boxes(Group& group, Status mine);
  Status begin_session();
  Op<Status> mark();
  Status keep_others_away();
  Status check_still_new(bool truncates, bool is_new);
  Status join_writers();
  Status write_meta(bool closed);
  Status open_side_files(bool stored);
  Status open_side_file(format::DirectoryFile which, StoredFile* meta);
  Status wrong_shape(const VpShape& given) const;
  Status make_segment();  // where there is none
  format::VpGeometry geometry_with_segment() const;
  IndependentSegment::Setup segment_setup(bool stored);

  // vp_end
  Op<Status> store_all(bool closing);
  struct Ends;
  Status measure(Ends& ends) const;
  Op<Status> take_ends(const Ends& ends, bool closing);
  Op<Status> store_sums();
  Status change_own_sums(const std::vector<Message>& told, SealChanges& seals);
  Op<Status> sync_parts(bool closing);
  Status store_segment(bool closing);
  Status store_own_row();
  Status end_unclosed(Status why);
  Status write_ends(bool closing);

  // vp_collective
  Op<Status> fold_facts(VpFacts& facts);
  VpFacts facts_of(VpTransfer& what, const Status& mine) const;
  Status check(const VpTransfer& what) const;
  void note(VpMode mode, VpCause cause);
  Op<Status> access_as_promised(VpTransfer& what, const VpFacts& facts, Status mine);
  Result<format::LatticeRow> promised_row(const VpTransfer& what, const VpFacts& facts, std::uint64_t& record) const;
  Status check_end(const VpFacts& facts) const;
  Op<Status> forget_failed(Status failed);
  Op<Status> write_all(VpTransfer& what, const VpFacts& facts);
  Op<Status> read_all(VpTransfer& what, const VpFacts& facts);
  void tell_moved(const VpTransfer& what, std::uint64_t bytes) const;
  Result<std::uint64_t> record_for(const VpFacts& facts) const;
  Status choose_record(const VpFacts& facts);

  // vp_apart
  Op<Status> move_apart(const VpTransfer& what);
  bool move_at_hand(const VpTransfer& what, std::uint64_t local, std::byte* memory);
  Op<Status> move_each(const VpTransfer& what);
  Op<Status> move_extents(Direction direction, std::vector<Extent>& extents);
  Status begin_apart(const VpTransfer& what, std::uint64_t local, std::byte* memory, std::vector<Extent>& extents,
                     std::uint64_t* moved);
  Status move_independent(const VpTransfer& what, std::uint64_t local, std::byte* memory, std::uint64_t done,
                          std::uint64_t bytes);
  Op<Status> move_begun(const VpTransfer& what, std::vector<Extent>& extents, std::vector<Begun>& begun);
  void take_back(const VpTransfer& what, const Begun& begun);
  void flag_all(const VpTransfer& what);
  Status too_long(std::uint64_t local) const;

  // vp_lattice
  Op<Status> move_rows(const VpTransfer& what, const VpFacts& facts, std::uint64_t bytes);
  Status move_row_in_parts(const VpTransfer& what, const format::LatticeRow& row);
  void forget_row(const format::LatticeRow& row);
  Op<Status> move_whole_row(Direction direction, const format::LatticeRow& row, std::byte* packed, Status mine = {});
  Op<Status> move_through_row(const VpTransfer& what, const format::LatticeRow& row, std::uint64_t at,
                              std::uint64_t bytes, std::uint64_t done);
  Op<Status> take_row(const format::LatticeRow& row, bool overwritten);
  Op<Status> store_row();
  std::uint64_t stored_end() const { return geometry_.lattice_bytes(); }
  Status ends_early(std::uint64_t end) const;
  void extend_lattice(std::uint64_t end);
  Status move_lattice_one(Direction direction, std::uint64_t local, std::uint64_t at, Piece piece);

  // vp_alone
  Status go_apart();     // from now on each VP has a position of its own
  void come_together();  // unless they all have the same again
  bool flag(std::uint64_t local, VpState::Flag which);
  Status load(std::uint64_t local);
  std::uint64_t end_of(std::uint64_t local) const;                            // of a loaded state
  Result<std::uint64_t> gap_at(std::uint64_t local, std::uint64_t position);  // bytes
  Result<std::uint64_t> gap_in_lattice(std::uint64_t local, std::uint64_t position) const;
  Result<std::uint64_t> read_alone(std::uint64_t local, std::span<std::byte> to);
  Status write_alone(std::uint64_t local, std::span<const std::byte> data);
  void fail_alone(std::uint64_t local, std::uint64_t position);
  Status move_alone(Direction direction, std::uint64_t local, Piece piece);
  Status give_pushed(const VpMemory& layout, std::uint64_t local, std::byte* memory, std::uint64_t bytes,
                     std::uint64_t* done);
  void drop_pushed(std::uint64_t local) {
    if (!pushed_.empty()) pushed_.erase(local);
  }
  Result<std::uint64_t> target(std::uint64_t local, std::int64_t offset, int whence);
  Status check_local(std::uint64_t local) const;
  Status check_record() const;

  std::shared_ptr<Backend> backend_;
  std::string path_;
  std::unique_ptr<PlainFile> file_;
  std::shared_ptr<VpSideFiles> side_;
  std::unique_ptr<StoredFile> meta_file_;  // of task 0, where it writes
  std::unique_ptr<StoredFile> locked_;     // the same, until its process has it: the data file, kept from other writers
  VpHints hints_;
  LocalVps vps_;
  bool may_read_ = false;
  bool may_write_ = false;
  bool appends_ = false;
  bool truncates_ = false;  // nothing that was there before is kept
  bool durable_ = false;

  // The same on all tasks.
  format::VpMeta meta_;                // its geometry and sequence are kept up to date by task 0, when it writes it
  std::uint64_t ib_bytes_before_ = 0;  // when the file was opened
  format::VpGeometry geometry_;        // block_bytes: 0 as long as no task has an IB segment that this one knows of
  bool unmarked_ = false;              // written by this session, and NAME.meta does not say so
  VpMode mode_ = VpMode::nb;
  std::uint64_t n_accesses_ = 0;
  VpChoice last_choice_;
  std::vector<VpTransition> transitions_;
  Row row_;

  // Of this task.
  std::mutex mutex_;            // of calls of one VP, which threads may make at once
  std::uint64_t position_ = 0;  // of all VPs, unless apart_; something is pushed back only where it is
  bool eof_ = false;
  bool error_ = false;
  bool apart_ = false;
  VpStates states_;  // empty, or one for each VP
  std::unordered_map<std::uint64_t, std::string> pushed_;
  std::unique_ptr<IndependentSegment> segment_;
  std::vector<std::byte> scratch_;  // of one VP
};

}  // namespace thalweg
