// The machine a benchmark ran on.
#include <sys/utsname.h>
#include <unistd.h>

#include <thalweg/thalweg.h>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "bench_commit.hpp"
#include "support/report.hpp"

namespace bench {

namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

nlohmann::json describe_machine() {
  utsname name{};
  uname(&name);
  double load[3] = {-1, -1, -1};
  (void)getloadavg(load, 3);
  return {{"processor", processor()},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_bytes", static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)},
          {"system", std::string(name.sysname) + " " + name.release + " " + name.machine},
          {"load_1min", load[0]},
          {"compiler", __VERSION__},
          {"thalweg", tw_version_string()},
          {"commit", kCommit}};
}

}  // namespace bench
