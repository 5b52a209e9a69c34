// Commands beside live writers, drawn from seeds. Processes write a multifile or a vpfile; the process of task 0 and
// others are killed; meanwhile commands try to read, repair, replace or append to the file. While a writing process
// lives no command changes the files; after the last one died a repair restores everything that was flushed.
#pragma once

#include <cstdint>
#include <string>

namespace thalweg::test {

struct Beside {
  std::string problem;                    // "": success
  std::uint64_t commands = 0;             // run beside live writers
  std::uint64_t refused = 0;              // commands that were refused
  std::uint64_t kills = 0, orphaned = 0;  // orphaned: task 0 was killed while other processes wrote on
};
std::string describe_live_file(std::uint64_t seed);
// `thalweg`: path of the command.
Beside run_beside_writers(const std::string& thalweg, std::uint64_t seed);

}  // namespace thalweg::test
