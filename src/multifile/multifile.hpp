// Opening and closing a multifile: the collective algorithms, one text each for every kind of group.
//
// Between two collectives every local step ends in a Status, and every task comes to the next collective.
#pragma once

#include <memory>
#include <string>

#include "group/group.hpp"
#include "multifile/options.hpp"
#include "multifile/read/read_handle.hpp"
#include "multifile/write/write_handle.hpp"
#include "sharedfile/kept_of_group.hpp"
#include "storage/backend.hpp"

namespace thalweg {

// The attribute that tells how a multifile was written; set when it is created.
inline constexpr char kStrategyAttribute[] = "thalweg.strategy";

// What task 0 keeps from the open to the close of a multifile being written.
struct WriteRoot {
  std::shared_ptr<Backend> backend;
  std::string path;
  WritePlan plan;                    // but for the ranks of a mapping
  std::int64_t process = 0;          // task 0's
  std::shared_ptr<ReadSet> old;      // append: what was there
  std::unique_ptr<StoredFile> held;  // keeps other writers and repairs away
  GoOn go_on;                        // of the close
};

struct Multifile {
  std::unique_ptr<ReadHandle> reading;  // one of the two
  std::unique_ptr<WriteHandle> writing;
  std::unique_ptr<WriteRoot> root;  // task 0, writing
  // Writing, of several tasks: a duplicate of the group in which they close, so that what a task leaves behind when it
  // abandons the file is met by the close of the others and by nothing else.
  FileGroups closing;
  std::weak_ptr<KeptOfGroup> kept;  // gets it in the end
  std::string strategy;
};

enum class MultifileMode { read, create, append };

struct OpenRequest {
  Status arguments;  // of the caller's checks; a failure here makes all tasks fail
  std::shared_ptr<Backend> backend;
  std::string path;
  MultifileMode access = MultifileMode::read;
  bool exclusive = false;
  bool recover = false;
  Config config;
};

// Collective. The same status on every task.
Op<Result<std::unique_ptr<Multifile>>> open_multifile(Group& group, OpenRequest request);
// Collective. The same status on every task. `file` is spent whatever the result.
Op<Status> close_multifile(Group& group, std::unique_ptr<Multifile> file);
// Independent, and instead of the close: what this task wrote is flushed, nothing is certified, and the close of the
// others fails. Waits for nobody. `call`: with which this task leaves.
Status leave_multifile(Multifile& file, Call call);

}  // namespace thalweg
