// VpFile: one task's view of a vpfile that a group has open: a stream for each virtual processor, with the meaning that
// C stdio gives to a stream.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/file_ops.hpp"
#include "vpfile/stream.hpp"
#include "vpfile/vpfile_parts.hpp"

namespace thalweg {

struct VpOpen {
  std::string path;
  OpenOptions options;       // of the data file
  bool append = false;       // every VP writes at the end of its stream
  VpShape shape;             // empty: that of the file
  std::optional<VpBox> box;  // of this task; none: default_box()
  VpHints hints;
  std::string storage_hints;  // of the data file (docs/howto/hints.md)
  Status status;              // an error in the arguments, sent to all tasks
};

class VpFile {
 public:
  // Collective over `group`, which is duplicated.
  static Op<Result<std::unique_ptr<VpFile>>> open(Group& group, std::shared_ptr<Backend> backend, VpOpen how);

  // Collective. After a failure of close() the file stays marked as not closed.
  Op<Status> transfer(VpTransfer what) { return access_all(parts_, std::move(what)); }
  // `mine`: a failure of this task, which all tasks get; what they have is stored nevertheless.
  Op<Status> flush(Status mine = {}, Call call = Call::tw_vpfile_flush_all);
  Op<Status> sync(Status mine = {}) { return flush(std::move(mine), Call::tw_vpfile_sync_all); }
  Op<Status> close(Status mine = {});  // `mine`: an error that this task found before
  // First step of every other collective call: agrees on `mine`, and that all tasks make this call.
  Op<Status> meet(Call call, Status mine) { return thalweg::meet(parts_, call, std::move(mine)); }

  // Independent, instead of close(): stores this task's bytes in memory, and makes the next call of the other tasks
  // fail. Waits for no task.
  Status abandon();
  // Independent: stores the bytes in memory of this task's VPs. The row in the buffer counts for repair once all tasks
  // have stored their parts and task 0 has called tell_stored(true).
  Status store_own();
  Status tell_stored(bool by_all);  // task 0
  // Independent, in place of a flush by all tasks: store_own(), and tell_stored() on task 0.
  Status store_unclosed();
  // Independent: begins a flush with the other tasks, after which this one leaves the group. It is complete before MPI
  // ends, and the file stays until then. If the other tasks do not flush, this task stores its own bytes; `tell` is
  // called where a message to the user is due: the file was not closed, or bytes could not be stored.
  using Tell = std::function<void(const Status& failed)>;
  void begin_to_leave(Tell tell);

  // Independent. `local` is below vps().count().
  VpStream stream(std::uint64_t local) { return {parts_, local}; }
  // Sets the position and clears the flags of all VPs of this task that take part. On failure nothing changes.
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
