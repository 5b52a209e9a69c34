// One repetition in one cell: all phases of a method, timed and checked one after the other, or the storage's own limit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "method.hpp"
#include "options.hpp"
#include "posix_file.hpp"
#include "print_record.hpp"
#include "ranks.hpp"

namespace probe {

// The current step of this process, for messages about failures. Null: outside a method, cell or phase.
struct Where {
  Json method, cell, phase;
};

class Stage {
 public:
  // `repetition`: 0 is the warm-up, which is not timed and records facts. `folder`: a folder that all ranks can use. `where` is updated at each step.
  Stage(const Options& options, const Ranks& ranks, const Cell& cell, int repetition, std::string folder, Where& where);

  // Collective. Creates an empty folder for the method, and removes it.
  void run(const MethodInfo& info, Method& method);
  // Collective. Each rank moves as many bytes as its block, in whole pages, between its memory and a file of its own
  // that exists and is open, in large calls. No method moves its bytes faster.
  void measure_limit();

 private:
  // Over all ranks.
  struct Timed {
    double seconds = 0;
    Parts parts;
  };
  // The ranks that take part, and their cut of the array.
  struct Cut {
    MPI_Comm comm;
    std::vector<int> grid;
    int shift = 0;
  };

  bool wants(Phase phase) const { return options_.phases.contains(phase); }
  void enter(Phase phase) { where_.phase = name_of(phase); }
  bool is_direct() const;
  Task task_for(const Cut& cut, Buffer& memory) const;
  void make_folder(const std::string& path) const;
  void remove_folder(const std::string& path) const;
  bool drop_before_read(const std::string& folder) const;
  // The state of the cache that was really in effect: direct, or this one.
  Cache real_cache(Cache otherwise) const;

  Timed timed(const std::function<Parts()>& act) const;
  Timed timed_write(const Task& task, const std::function<void()>& afterwards) const;
  void record(Json&& out, double seconds) const;
  void record(Phase phase, const Timed& timed, Cache cache, const Json& more = Json::object()) const;
  Json head(const char* kind) const;
  void skip(Phase phase, const std::string& reason) const;

  void write_phase();
  void report_facts(double memory) const;
  void read_phase(Phase phase, const Cut& readers, const Json& more = Json::object());
  Parts read(Phase phase, const Task& task) const;
  void overlap_phase();
  std::int64_t turns_for(double seconds) const;

  const Options& options_;
  const Ranks& ranks_;
  const Cell& cell_;
  const int repetition_;
  std::string folder_;
  Where& where_;
  const std::uint32_t seed_;
  const MethodInfo* info_ = nullptr;
  Method* method_ = nullptr;
  Buffer written_, found_;
};

}  // namespace probe
