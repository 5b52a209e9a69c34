#include "campaign.hpp"

#include <thalweg/version.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "file_per_task.hpp"
#include "limit.hpp"
#include "mpi_info.hpp"
#include "stage.hpp"
#include "stopwatch.hpp"

namespace probe {

namespace {

struct Chosen {
  const MethodInfo* info;
  std::unique_ptr<Method> method;
};

std::string level_name(int level) {
  const std::map<int, std::string> names = {{MPI_THREAD_SINGLE, "single"},
                                            {MPI_THREAD_FUNNELED, "funneled"},
                                            {MPI_THREAD_SERIALIZED, "serialized"},
                                            {MPI_THREAD_MULTIPLE, "multiple"}};
  return names.at(level);
}

// A new folder in the given one. Created by rank 0; removed at the end of a complete campaign.
class Scratch {
 public:
  Scratch(const Options& options, const Ranks& ranks) : keep_(options.keep), ranks_(ranks) {
    std::string path = options.folder + "/thalweg-probe-XXXXXX";
    if (ranks.first() && ::mkdtemp(path.data()) == nullptr) fail_errno("create a folder in", options.folder);
    path_ = ranks.told(path);
  }
  const std::string& path() const { return path_; }
  void remove() const {
    ranks_.meet();
    if (ranks_.first() && !keep_) std::filesystem::remove_all(path_);
  }

 private:
  bool keep_;
  const Ranks& ranks_;
  std::string path_;
};

bool is_asked_for(const Options& options, std::string_view id) {
  return std::ranges::find(options.methods, id) != options.methods.end();
}

// Prints all methods; returns those that can be measured.
std::vector<Chosen> choose(const Options& options, const Ranks& ranks) {
  std::vector<Chosen> chosen;
  for (const MethodInfo& info : method_table()) {
    Chosen one{&info, make_method(info.id)};
    Json record = {{"kind", "method"}};
    record.update(json_of(info, *one.method));
    if (ranks.first()) print_record(record);
    const std::string missing = one.method->missing();
    const bool asked = is_asked_for(options, info.id);
    if (asked && !missing.empty() && ranks.first())
      print_record(
          {{"kind", "skipped"}, {"method", info.id}, {"cell", nullptr}, {"phase", nullptr}, {"reason", missing}});
    if (missing.empty() && (asked || options.methods.empty())) chosen.push_back(std::move(one));
  }
  return chosen;
}

void print_launch(const Ranks& ranks, const Launch& launch) {
  if (!ranks.first()) return;
  print_record({{"kind", "launch"},
                {"mpi", mpi_name()},
                {"ranks", ranks.size()},
                {"nodes", ranks.nodes()},
                {"thread_level", level_name(launch.thread_level)},
                {"yields", launch.yields}});
}

}  // namespace

void run_campaign(const Options& options, const Ranks& ranks, const Launch& launch, Where& where) {
  const double begin = now();
  set_files_per_folder(options.files_per_folder);
  print_launch(ranks, launch);
  const std::vector<Chosen> chosen = choose(options, ranks);
  const Scratch scratch(options, ranks);
  const int first = options.warm_up ? 0 : 1;
  // After-effects of a method, such as dirty pages, must not always affect the same next method.
  std::vector<std::size_t> order(chosen.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 draw(options.seed);  // equal on all ranks
  for (int repetition = first; repetition <= options.repetitions; ++repetition) {
    std::ranges::shuffle(order, draw);
    for (std::size_t c = 0; c < options.cells.size(); ++c) {
      const std::string folder = scratch.path() + "/" + std::to_string(repetition) + "." + std::to_string(c);
      if (ranks.first()) std::filesystem::create_directory(folder);
      ranks.meet();
      if (options.limit) measure_limit(options, ranks, options.cells[c], repetition, folder);
      for (const std::size_t k : order) {
        const Chosen& one = chosen[k];
        Stage(options, ranks, options.cells[c], *one.info, *one.method)
            .run(folder, {repetition, repetition == first}, where);
      }
      if (ranks.first() && !options.keep) std::filesystem::remove_all(folder);
    }
  }
  scratch.remove();
  if (ranks.first()) print_record({{"kind", "end"}, {"complete", true}, {"seconds", now() - begin}});
}

void describe() {
  Json out = {{"version", tw_version_string()},
              {"mpi", mpi_name()},
              {"kind", TW_MPI_KIND},
              {"mpiexec", TW_MPIEXEC},
              {"methods", Json::array()}};
  for (const MethodInfo& info : method_table()) out["methods"].push_back(json_of(info, *make_method(info.id)));
  print_record(out);
}

}  // namespace probe
