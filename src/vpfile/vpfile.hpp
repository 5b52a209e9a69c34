// VpFile: one task's view of a vpfile that a group has open: a stream for each virtual processor, with the meaning that
// C stdio gives to a stream.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vpfile/stream.hpp"
#include "vpfile/vpfile_parts.hpp"

namespace thalweg {

struct VpOpen {
  std::string path;
  bool read = true;
  bool write = false;
  bool create = false;       // make it where there is none
  bool exclusive = false;    // with create: fail where there is one
  bool truncate = false;     // begin with an empty one
  bool append = false;       // every VP writes at the end of its stream
  VpShape shape;             // empty: that of the file
  std::optional<VpBox> box;  // of this task; none: default_box()
  VpHints hints;
  std::string storage_hints;  // of the data file (docs/howto/hints.md)
  Status status;              // what is wrong with the arguments already: told to all
};

class VpFile {
 public:
  // Collective over `group`, which is duplicated.
  static Op<Result<std::unique_ptr<VpFile>>> open(Group& group, std::shared_ptr<Backend> backend, VpOpen how);

  // Collective. After a failure of close() the file stays marked as not closed.
  Op<Status> transfer(VpTransfer what) { return access_all(parts_, std::move(what)); }
  Op<Status> flush(Call call = Call::tw_vpfile_flush_all);
  Op<Status> sync() { return flush(Call::tw_vpfile_sync_all); }
  Op<Status> close(Status mine = {});  // `mine`: what this task found wrong already
  // The beginning of every other collective call. Agrees on `mine`, and that all tasks make this call.
  Op<Status> meet(Call call, Status mine) { return thalweg::meet(parts_, call, std::move(mine)); }

  // Independent, and instead of close(): stores what this task has in memory and tells the others, whose next call
  // fails. Waits for nobody.
  Status abandon();
  // Independent: stores what this task has in memory, of its VPs alone. What is in the row that all have counts for
  // repair when task 0 has said so after all have done this.
  Status store_own();
  Status tell_stored(bool by_all);  // task 0
  // Independent, in place of a flush by all tasks: store_own(), and tell_stored() on task 0.
  Status store_unclosed();
  // Independent: begins a flush with the other tasks, after which this one leaves. It is complete before MPI ends, and
  // the file stays until then. Where the other tasks do not flush, this one stores what it has; `tell` is called where
  // a user must be told that the file was not closed, and what could not be stored.
  using Tell = std::function<void(const Status& failed)>;
  void begin_to_leave(Tell tell);

  // Independent. `local` is below vps().count().
  VpStream stream(std::uint64_t local) { return {parts_, local}; }
  // Moves and clears all VPs of this task that take part. On failure nothing changes.
  Status seek(const std::int64_t* offsets, std::int64_t offset, int whence, const std::uint8_t* mask);

  const VpShape& shape() const { return parts_.meta.shape; }
  const LocalVps& vps() const { return parts_.vps; }
  const std::string& path() const { return parts_.path; }
  VpMode mode() const { return parts_.mode; }
  VpChoice last_choice() const { return parts_.last_choice; }
  const std::vector<VpTransition>& transitions() const { return parts_.transitions; }
  const format::VpGeometry& geometry() const { return parts_.geometry; }
  Group& group() { return parts_.group(); }
  const PlainFile& file() const { return *parts_.file; }  // of the data
  bool may_read() const { return parts_.may_read; }
  bool may_write() const { return parts_.may_write; }

 private:
  VpFile() = default;
  Status end_unclosed(Status why);

  VpParts parts_;
};

}  // namespace thalweg
