// thalweg check: becomes the program that tries what a mount can do.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "command.hpp"
#include "measure.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

// Named, beside this command, or found by PATH.
std::string probe() {
  if (const char* const named = std::getenv("THALWEG_PROBE"); named != nullptr && *named != '\0') return named;
  const fs::path beside = fs::read_symlink("/proc/self/exe").replace_filename("thalweg-probe");
  return fs::exists(beside) ? beside.string() : "thalweg-probe";
}

Run add(CLI::App& app) {
  const auto folder = std::make_shared<std::string>();
  const auto trust = std::make_shared<bool>();
  plain_word(app.add_option("DIR", *folder, "A folder on the file system")->required()->type_name("DIR"));
  app.add_flag("--trust", *trust, "Count the mount as coherent from now on, if its nodes saw all at once");
  return [=](const Common& common) -> int {
    const std::string flags =
        fmt::format("{}{}{}", common.json ? "j" : "-", common.quiet ? "q" : "", *trust ? "t" : "");
    become({probe(), "--check", *folder, flags}, "; install thalweg-probe, or name it in THALWEG_PROBE");
  };
}

}  // namespace

const Command kCheck = {
    "check",
    "Tell what a mount can do, on one node or under mpiexec on several, and what is left to you",
    "Tries locks, stale reads, pages and names of two nodes, direct I/O, fallocate, syncs of folders, and more, with "
    "small "
    "files in a new folder of DIR, which is removed afterwards. Becomes the program thalweg-probe, of this folder, "
    "PATH or "
    "THALWEG_PROBE, whose MPI must be that of mpiexec.\n"
    "\nThe answer is kept in the profile of 'thalweg tune', and programs started afterwards use it: a mount whose "
    "nodes "
    "did not see each other's writes never counts as coherent. With THALWEG_PROFILE=none nothing is kept.\n"
    "\nExit code 1: something is refused, or left to you.",
    "  command, exit_code, file: DIR\n"
    "  mount: place, options, kind and source; known_coherent: whether its kind is\n"
    "  file_systems: identities; nodes: host names; room: as text\n"
    "  checks: check, result (yes, no, or - where one node took part), reason, advice, duty (is it yours?)\n"
    "  profile: path of the profile, null where the answer is not kept\n",
    "  thalweg check /scratch\n"
    "  mpiexec -n 2 --map-by node thalweg check /scratch\n",
    add};

}  // namespace tool
