// A small program that writes a multifile in one or more sessions, whatever happens to it, and remembers what it was
// promised. The same seed makes the same calls on simulated tasks.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "multifile/multifile.hpp"
#include "sim/sim_group.hpp"
#include "support/write_history.hpp"

namespace thalweg::test {

struct ProgramShape {
  std::string name;
  std::int64_t tasks = 1;
  std::int64_t tasks_per_process = 1;
  std::int64_t n_logical = 1;
  int steps = 8;  // of each task in a session
  Options options;
  MappingFunction mapping;
};
inline void PrintTo(const ProgramShape& shape, std::ostream* out) { *out << shape.name; }  // in names of tests

// Sizes at which a few writes fill buffers, granules, chunks and superblocks.
Options small_options();
std::vector<ProgramShape> program_shapes();

class CrashProgram {
 public:
  CrashProgram(ProgramShape shape, std::shared_ptr<Backend> backend, std::string path, std::uint64_t seed);

  // All tasks of one session, simulated. False when the collectives came to no end.
  bool run_session(MultifileMode access);
  // One task's part, on any group of shape.tasks tasks. What its calls return is kept, not given back.
  Op<Status> session(Group& group, MultifileMode access);

  const std::vector<History>& histories() const { return histories_; }
  // All that was written so far has reached the storage by now, as it does with time.
  void all_reached_storage();
  // After a recovery, which found logical files of these sizes.
  void settle(std::span<const std::uint64_t> sizes);
  // Of the last session, by task.
  const std::vector<Status>& opened() const { return opened_; }
  const std::vector<Status>& closed() const { return closed_; }  // not ok where the open was not
  // All sessions were closed with success.
  bool is_closed() const { return is_closed_; }
  bool was_synced() const { return was_synced_; }  // something of it, by a call that the program made
  std::vector<std::string> paths() const;          // of all physical files that it may have

 private:
  using Random = std::uint64_t;
  OpenRequest request(MultifileMode access, std::int64_t task) const;
  void step(WriteHandle& handle, std::int64_t task, Random& random);
  void write(WriteHandle& handle, std::uint64_t rank, std::uint64_t offset, std::uint64_t bytes);
  void all_is_durable();

  const ProgramShape shape_;
  const std::shared_ptr<Backend> backend_;
  const std::string path_;
  std::uint64_t seed_;
  std::vector<History> histories_;  // by rank; those of a rank belong to its task
  std::vector<Status> opened_, closed_;
  bool is_closed_ = false;
  bool was_synced_ = false;
};

// The same files with the same bytes in a memory backend of their own.
std::shared_ptr<Backend> copy_of(Backend& storage, const std::vector<std::string>& paths);

}  // namespace thalweg::test
