// One repetition of one method in one cell: creates an empty folder, times and checks the phases one after the other,
// and removes the folder.
#pragma once

#include <functional>
#include <string>

#include "method.hpp"
#include "options.hpp"
#include "posix_file.hpp"
#include "ranks.hpp"
#include "records.hpp"

namespace probe {

// The repetition.
struct Turn {
  int repetition = 0;    // 0: warm-up
  bool is_first = true;  // of this method and cell: also records facts
};

class Stage {
 public:
  Stage(const Options& options, const Ranks& ranks, const Cell& cell, const MethodInfo& info, Method& method);
  // Collective. `scratch`: a folder that all ranks can use. `where` is updated at each step.
  void run(const std::string& scratch, const Turn& turn, Where& where);

 private:
  // Over all ranks.
  struct Timed {
    double seconds = 0;
    Parts parts;
  };

  bool wants(Phase phase) const { return options_.phases.contains(phase); }
  Task task_for(MPI_Comm comm, Block block, std::span<std::byte> memory) const;
  void enter(Phase phase);

  void make_folder(const std::string& path) const;
  void remove_folder(const std::string& path) const;
  bool drop_before_read(const std::string& folder) const;
  Cache write_cache() const;
  Cache read_cache(bool dropped) const;
  bool any_direct() const;

  Timed timed(const std::function<Parts()>& act) const;
  Timed timed_on_first(const std::function<void()>& act) const;
  Json head(const char* kind) const;  // of a record
  void record(Phase phase, const Timed& timed, Cache cache, const Json& more = Json::object()) const;

  void run_phases();
  void write_phase();
  void report_facts(std::int64_t memory) const;
  void read_phase();
  void restart_phase();
  void read_back(const Task& task, Phase phase, bool is_recorded, const Json& more);
  void serial_phase();
  void merge_phase();
  void overlap_phase(OverlappingMethod& method);
  std::int64_t turns_for(double seconds) const;
  void skip(Phase phase, const std::string& reason) const;

  const Options& options_;
  const Ranks& ranks_;
  const Cell& cell_;
  const MethodInfo& info_;
  Method& method_;
  Turn turn_;
  Where* where_ = nullptr;
  std::uint32_t seed_ = 0;
  std::string folder_;
  Buffer written_, found_;
};

}  // namespace probe
