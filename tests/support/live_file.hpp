// Commands beside live writers, drawn from seeds: processes write a multifile or a vpfile, the one of task 0 and others
// are killed, and meanwhile commands run that would read, repair, replace or append to it. As long as a process that
// writes lives no command changes the files; when all are dead a repair brings back what each of them had flushed.
#pragma once

#include <cstdint>
#include <string>

namespace thalweg::test {

struct Beside {
  std::string problem;                    // "": all is well
  std::uint64_t commands = 0;             // beside live writers
  std::uint64_t refused = 0;              // of them
  std::uint64_t kills = 0, orphaned = 0;  // the process of task 0 was killed and others wrote on
};
std::string describe_live_file(std::uint64_t seed);
// `thalweg`: path of the command.
Beside run_beside_writers(const std::string& thalweg, std::uint64_t seed);

}  // namespace thalweg::test
