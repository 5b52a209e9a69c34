// PlainFile: one task's handle of a file that a group has open; its bytes are those that a sequential program would
// have written.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/collective.hpp"
#include "group/group.hpp"
#include "sharedfile/file_view.hpp"
#include "storage/backend.hpp"

namespace thalweg {

struct PlainOpen {
  std::string path;
  OpenOptions options;
  bool append = false;  // the shared position begins at the end of the file
  bool direct = false;
  std::string hints;
  bool of_vpfile = false;  // the data file of a vpfile may be written; otherwise files of our formats are refused
  Status status = {};      // failure found in the arguments; agreed on by all
};

// Nonblocking collectives of one channel of the file's group, one after the other.
struct RequestChannel {
  std::shared_ptr<Group> group;
  std::uint64_t issued = 0;
  std::atomic<std::uint64_t> finished{0};
};

// Collective, for nodes whose caches are not coherent: all forget what they held of the file, and see one size; unsafe
// where they do not. `stored`: of this process; null on all but one of its tasks.
Op<Status> see_alike(Group& group, StoredFile* stored);

class PlainFile {
 public:
  // Up to kRequestChannels nonblocking collectives of one file progress at once: they take turns on its channels. All
  // tasks start them in one order, so each has the same channel on all tasks.
  static constexpr std::size_t kRequestChannels = 4;

  // Collective over `group`, from which the file makes its channels. `hints` are those of task 0.
  static Op<Result<std::unique_ptr<PlainFile>>> open(Group& group, std::shared_ptr<Backend> backend, PlainOpen how);

  Group& group() { return *group_; }
  const std::shared_ptr<SharedFile>& shared() const { return shared_; }

  // All are collective over group(), with equal arguments on all tasks; `mine` is a failure that this task has found.
  // Waits for all requests of the file. `may_sync`: false where the caller has synced.
  Op<Status> close(bool may_sync = true);
  // Independent, in place of close(); does not wait. The next call of the other tasks fails. Requests complete,
  // except those that other tasks have started and this one has not: they fail.
  void abandon(Call call) noexcept;
  Op<Result<std::uint64_t>> size(Status mine = {});
  Op<Status> truncate(std::uint64_t bytes, Status mine);
  Op<Status> preallocate(std::uint64_t offset, std::uint64_t bytes, Status mine);
  Op<Status> sync();
  Op<Result<std::uint64_t>> seek(std::int64_t offset, int whence, Status mine);

  // Collective: agrees on `mine`, and that all tasks make this call, which has no function here.
  Op<Status> meet(Call call, Status mine);

  // Collective: sets the view of this task, which repeats `view` from `displacement` on; null: the whole file. On
  // failure nothing changes.
  Op<Status> set_view(const View* view, std::uint64_t displacement, Status mine);
  // Independent: moves the position in the view, as `seek`; and the offset in the file of a position.
  Result<std::uint64_t> seek_view(std::int64_t offset, int whence);
  Result<std::uint64_t> offset_in_file(std::uint64_t position) const;
  // Whether each task may make its collective accesses alone, as fast; equal on all tasks.
  bool goes_alone() const;
  // Places an access at offsets of the file at the call; for accesses of a single task and of other groups.
  PlacedAccess place(TaskAccess access) { return view_.place(std::move(access)); }
  PlacedAccess place_for_others(TaskAccess access);

  // A collective access of group(), not started yet; starting it is the call.
  Op<Outcome> access(PlacedAccess what);
  std::shared_ptr<AccessRequest> request(PlacedAccess what);

 private:
  // The contribution of each task to the first collective of a call that is no access.
  struct Entry {
    Call call;
    Status mine = {};                         // failure that this task has found
    std::uint64_t first = 0, second = 0;      // must be equal on all tasks
    const char* arguments = "the arguments";  // their name in the message
    bool holds = false;                       // may differ; see enter()
  };

  PlainFile() = default;
  static bool has_no_requests(void* self);
  void leave_requests(const Leaver& leaver) noexcept;
  // Every collective call of a file begins with one fold of one record: accesses do it in the engine, other calls
  // here. So tasks detect different calls at once, and the groups of the file end. `hold`: whether Entry::holds is true
  // on all tasks.
  Op<Status> enter(Entry mine, bool* hold = nullptr);
  // Task 0 runs the action once all tasks have arrived; all return its status. Where nodes are not coherent they sync
  // before, so that no page that one writes back later undoes it, and see its effect.
  Op<Status> once(Entry mine, std::function<Status(StoredFile&)> action);
  Op<Result<std::uint64_t>> largest_size();  // that a node sees
  Op<Status> sync_nodes();                   // tw_file_sync() once all tasks have arrived
  StoredFile* of_process() const;            // the stored file, for one task of each process; null on the others

  Op<Status> open_channels(Group& group);

  std::shared_ptr<Group> group_;  // for blocking collectives
  std::array<std::shared_ptr<RequestChannel>, kRequestChannels> channels_;
  std::shared_ptr<SharedFile> shared_;
  std::uint64_t n_requests_ = 0;
  FileView view_;
  bool all_in_one_run_ = true;  // no task has a view with holes, or in another order
};

// An access of a group of threads of this process to a file that another group opened. `file` is null on a task
// without one. The ticket is drawn at the call.
Op<Outcome> access_with(Group& group, std::shared_ptr<SharedFile> file, PlacedAccess what, IoContext io);
std::shared_ptr<AccessRequest> request_with(std::shared_ptr<Group> group, std::shared_ptr<SharedFile> file,
                                            PlacedAccess what);
// Independent.
std::shared_ptr<AccessRequest> request_one(std::shared_ptr<SharedFile> file, PlacedAccess what);

}  // namespace thalweg
