// A small program that writes a multifile in one or more sessions, continues after failures, and records which data its
// calls certified. Equal seeds make equal calls on simulated tasks.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "multifile/multifile.hpp"
#include "sim/sim_group.hpp"
#include "support/crash/write_history.hpp"
#include "support/files/held_syncs.hpp"

namespace thalweg::test {

struct ProgramShape {
  std::string name;
  std::int64_t tasks = 1;
  std::int64_t tasks_per_process = 1;
  std::int64_t n_logical = 1;
  int steps = 8;               // of each task, per session
  int adds = 0;                // most logical files that each task adds, in all sessions
  bool in_background = false;  // half of the flushes and syncs go on while the tasks write
  MultifileOptions options;
  MappingFunction mapping;
};
inline void PrintTo(const ProgramShape& shape, std::ostream* out) { *out << shape.name; }  // in names of tests

// Sizes so small that a few writes fill buffers, granules, chunks and packs.
MultifileOptions small_options();
// Also with direct writes, in chunks of several blocks.
MultifileOptions small_direct_options();
std::vector<ProgramShape> program_shapes();

class CrashProgram {
 public:
  CrashProgram(ProgramShape shape, std::shared_ptr<Backend> backend, std::string path, std::uint64_t seed);

  enum class End { close, abandon };  // of all tasks: simulated ones are not told of one that abandons the file
  // Runs all tasks of one session, simulated. False: the simulated world deadlocked.
  bool run_session(MultifileMode access, End end = End::close);

  // First those of the numbered logical files, then those of the logical files that tasks add.
  const std::vector<History>& histories() const { return histories_; }
  // Marks everything written so far as stored, as it is after some time.
  void all_reached_storage();
  // Called after a recovery; `sizes` are the sizes of the logical files it found.
  void settle(std::span<const std::uint64_t> sizes);
  // Statuses of the last session, by task.
  const std::vector<Status>& opened() const { return opened_; }
  const std::vector<Status>& closed() const { return closed_; }  // not ok where the open failed
  // Every session closed with success.
  bool is_closed() const { return is_closed_; }
  bool was_synced() const { return was_synced_; }  // a call of the program synced some of the data
  std::vector<std::string> paths() const;          // all physical files that may exist

 private:
  using Random = std::uint64_t;
  OpenRequest request(MultifileMode access, std::int64_t task) const;
  void step(WriteHandle& handle, std::int64_t task, Random& random);
  void write(WriteHandle& handle, std::uint64_t rank, std::uint64_t offset, std::uint64_t bytes);
  void record(WriteHandle& handle, std::uint64_t number, std::uint64_t offset, std::uint64_t bytes, Status status);
  void add(WriteHandle& handle, std::int64_t task, Random& random);
  void store(WriteHandle& handle, std::int64_t task, bool by_sync);
  void begin_to_store(WriteHandle& handle, std::int64_t task, bool by_sync);
  void await_stores();
  Op<Status> session(Group& group, MultifileMode access, End end);
  Op<Status> leave(Group& group, std::unique_ptr<Multifile> file, End end);
  TaskHistories of_task(std::int64_t task);
  void all_is_durable();

  const ProgramShape shape_;
  const std::shared_ptr<Backend> backend_;
  const std::string path_;
  std::uint64_t seed_;
  // By rank, then those of the logical files that tasks add, `adds` of each task. Only the task of a logical file writes
  // to its history.
  std::vector<History> histories_;
  std::vector<Status> opened_, closed_;
  // Flushes and syncs of all tasks that were begun. They are held until await_stores(), so that equal seeds make equal
  // calls.
  struct Store {
    std::shared_ptr<AccessRequest> request;
    TaskHistories of_task;
    TaskHistories::Written written;
    bool by_sync;
  };
  std::vector<Store> stores_;
  std::unique_ptr<HeldSyncs> held_;
  bool is_closed_ = false;
  bool was_synced_ = false;
};

// Copies the files into a new memory backend.
std::shared_ptr<Backend> copy_of(Backend& storage, const std::vector<std::string>& paths);

}  // namespace thalweg::test
