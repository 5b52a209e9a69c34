// Opening and closing a multifile: the collective algorithms, one for every kind of group. Their steps are numbered at
// the heads of open_multifile.cpp and close_multifile.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "group/group.hpp"
#include "multifile/options.hpp"
#include "multifile/read/read_handle.hpp"
#include "multifile/write/write_handle.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// The attribute that describes how a multifile was written.
inline constexpr char kStrategyAttribute[] = "thalweg.strategy";

// State of task 0 from the open to the close of a multifile being written.
struct WriteRoot {
  std::shared_ptr<Backend> backend;
  std::string path;
  WritePlan plan;                    // without the ranks of a mapping
  std::int64_t process = 0;          // the process of task 0
  std::shared_ptr<ReadSet> old;      // append: the earlier sessions
  std::unique_ptr<StoredFile> held;  // the lock against other writers and repairs
  GoOn go_on;                        // asked during the close
  bool refuses_duplicates = false;   // two logical files of one name make the close fail
};

struct Multifile {
  std::unique_ptr<ReadHandle> reading;  // one of the two
  std::unique_ptr<WriteHandle> writing;
  std::unique_ptr<WriteRoot> root;  // task 0, writing
  // Several writing tasks close on a channel of their group, so that the message of a task that abandons the file meets
  // the close of the others only.
  std::unique_ptr<Group> closing;
  std::string strategy;
  std::string remedy;  // the command that brings back what was flushed, where there is no close
};

enum class MultifileMode { read, create, append };

struct OpenRequest {
  Status arguments;  // from the checks of the caller; a failure makes the open fail on all tasks
  std::shared_ptr<Backend> backend;
  std::string path;
  MultifileMode access = MultifileMode::read;
  bool exclusive = false;  // create: fail where there is one
  bool create = false;     // append: make one where there is none
  bool recover = false;    // read: also one that was not closed
  MultifileOptions options;
  Serving serving;
  MappingFunction mapping;    // empty: consecutive ranks
  ProgressFunction progress;  // may be empty
  // Collective; called once the tasks agree on path, mode and hints, may change the request. May be empty.
  std::function<Op<Status>(Group& group, OpenRequest& request)> prepare;
};

// Collective. Returns one status on all tasks.
Op<Result<std::unique_ptr<Multifile>>> open_multifile(Group& group, OpenRequest request);
// Collective. Returns one status on all tasks. `file` is freed in any case.
Op<Status> close_multifile(Group& group, std::unique_ptr<Multifile> file);
// Independent; takes the place of the close. The data of this task are flushed, nothing is certified, and the close of
// the other tasks fails. `call`: the call by which this task leaves.
Status leave_multifile(Multifile& file, Call call);

}  // namespace thalweg
