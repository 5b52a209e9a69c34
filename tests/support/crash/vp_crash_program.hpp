// A small program that writes all segments of a vpfile in one or more sessions, continues after failures, and records
// which data its calls certified. Equal seeds make equal calls on simulated tasks.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "group/group.hpp"
#include "support/crash/write_history.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {

struct VpCrashShape {
  std::string name;
  std::int64_t tasks = 1;
  std::int64_t tasks_per_process = 1;
  VpShape shape;
  VpHints hints;
  bool rounds = true;       // some collective writes differ in size from the first: a CB segment
  bool independent = true;  // the second half of a session writes the IB segment
  std::uint64_t n_vps() const;
};
inline void PrintTo(const VpCrashShape& shape, std::ostream* out) { *out << shape.name; }  // in names of tests

std::vector<VpCrashShape> vp_crash_shapes();

// What the calls certified to the writers of VPs. Each VP is recorded by one task.
class VpNotes {
 public:
  virtual ~VpNotes() = default;
  virtual std::uint64_t size(std::uint64_t vp) = 0;  // bytes of the stream
  // Called before a write; returns its number.
  virtual std::uint64_t begin(std::uint64_t vp, std::uint64_t offset, std::uint64_t bytes) = 0;
  virtual void failed(std::uint64_t vp) = 0;  // the last write of the VP failed
  // All writes begun so far survive the death of the process, or with `synced` of the machine.
  virtual void stored(std::uint64_t vp, bool synced) = 0;
  virtual void lattice_is(std::uint64_t bytes) = 0;  // bytes of each stream in the lattice
};

class VpHistories final : public VpNotes {
 public:
  explicit VpHistories(std::uint64_t n_vps) : all(n_vps) {}
  std::uint64_t size(std::uint64_t vp) override { return all[vp].size(); }
  std::uint64_t begin(std::uint64_t vp, std::uint64_t offset, std::uint64_t bytes) override {
    return all[vp].begin(offset, bytes);
  }
  void failed(std::uint64_t vp) override { all[vp].writes.back().failed = true; }
  void stored(std::uint64_t vp, bool synced) override;
  void lattice_is(std::uint64_t bytes) override { lattice = std::max(lattice, bytes); }

  std::vector<History> all;  // by VP
  std::uint64_t lattice = 0;
};

struct VpSessionOf {
  std::shared_ptr<Backend> backend;
  std::string path;
  const char* mode = "w+";  // "w+", "r+" or "a+"
  std::uint64_t seed = 1;
};

// Collective: one task's session. Ends with the first failure and returns the status of the close.
Op<Status> run_vp_session(Group& group, const VpCrashShape& shape, VpSessionOf session, VpNotes& notes);

}  // namespace thalweg::test
