// PlainFile: one task's view of a file that a group has open; byte for byte what a sequential program would have
// written.
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
  bool append = false;  // the shared position begins at the end
  bool direct = false;
  std::string hints;
  bool of_vpfile = false;  // the data file of one may be written; else files of our formats are refused
  Status status;           // what is wrong with the arguments already: told to all
};

// Nonblocking collectives of one channel of the file's group, one after the other.
struct RequestChannel {
  std::shared_ptr<Group> group;
  std::uint64_t issued = 0;
  std::atomic<std::uint64_t> finished{0};
};

class PlainFile {
 public:
  // So many nonblocking collectives of a file progress at once: they take turns on its channels. All tasks start them
  // in the same order, so that all take the same channel.
  static constexpr std::size_t kRequestChannels = 4;

  // Collective over `group`, of which the file has channels of its own. `hints` are those of task 0.
  static Op<Result<std::unique_ptr<PlainFile>>> open(Group& group, std::shared_ptr<Backend> backend, PlainOpen how);

  Group& group() { return *group_; }
  const std::shared_ptr<SharedFile>& shared() const { return shared_; }

  // All collective over group(), with the same arguments on all tasks; `mine` is what this task finds wrong already.
  Op<Status> close();  // waits for all requests of the file
  // Independent, and instead of close(): waits for nobody, and whatever the others call next fails on them. Requests go
  // on to their end; those that the others have started and this task has not fail.
  void abandon(Call call) noexcept;
  Op<Result<std::uint64_t>> size(Status mine = {});
  Op<Status> truncate(std::uint64_t bytes, Status mine);
  Op<Status> preallocate(std::uint64_t offset, std::uint64_t bytes, Status mine);
  Op<Status> sync();
  Op<Result<std::uint64_t>> seek(std::int64_t offset, int whence, Status mine);

  // Collective: agrees on `mine`, and that all tasks make this call, which is none of those here.
  Op<Status> meet(Call call, Status mine);

  // Collective: from now on this task sees `view`, which repeats from `displacement` on; null: the file as it is. On
  // failure nothing changes.
  Op<Status> set_view(const View* view, std::uint64_t displacement, Status mine);
  // Independent: the position in the view, as `seek`; and where in the file a position lies.
  Result<std::uint64_t> seek_view(std::int64_t offset, int whence);
  Result<std::uint64_t> offset_in_file(std::uint64_t position) const;
  // The access by offsets of the file, at the call; for accesses of this task alone and of other groups.
  PlacedAccess place(TaskAccess access) { return view_.place(std::move(access)); }
  PlacedAccess place_for_others(TaskAccess access);

  // A collective access of group(), to be started; its start is the call.
  Op<Outcome> access(PlacedAccess what);
  std::shared_ptr<AccessRequest> request(PlacedAccess what);

 private:
  // What each task brings to the first collective of a call that is no access.
  struct Entry {
    Call call;
    Status mine = {};                         // what it finds wrong already
    std::uint64_t first = 0, second = 0;      // the same on all tasks
    const char* arguments = "the arguments";  // in words
    std::uint64_t told = 0;                   // by task 0
  };

  PlainFile() = default;
  void leave_requests(const Leaver& leaver) noexcept;
  // Every collective call of a file begins with one fold of the same record: accesses in the engine, the others here.
  // So tasks that make different calls see it at once, and the groups of the file end. What task 0 has told.
  Op<Result<std::uint64_t>> enter(Entry mine);
  // Done by task 0 once all have come, its status that of all.
  Op<Status> once(Entry mine, std::function<Status(StoredFile&)> action);

  Op<Status> open_channels(Group& group);

  std::shared_ptr<Group> group_;  // of the collectives that wait
  std::array<std::shared_ptr<RequestChannel>, kRequestChannels> channels_;
  std::shared_ptr<SharedFile> shared_;
  std::uint64_t n_requests_ = 0;
  FileView view_;
};

// An access of a group of threads of this process to a file that another group opened. `file` is null on a task that
// has none. The ticket is drawn at the call.
Op<Outcome> access_with(Group& group, std::shared_ptr<SharedFile> file, PlacedAccess what, IoContext io);
std::shared_ptr<AccessRequest> request_with(std::shared_ptr<Group> group, std::shared_ptr<SharedFile> file,
                                            PlacedAccess what);
// Independent.
std::shared_ptr<AccessRequest> request_one(std::shared_ptr<SharedFile> file, PlacedAccess what);

}  // namespace thalweg
