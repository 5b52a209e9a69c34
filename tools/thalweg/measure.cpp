#include "measure.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "command.hpp"
#include "common.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackages = "numpy scipy pandas jinja2 plotly rich";

// A word of a shell command.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// Whether it is a Python that has all packages.
bool serves(const std::string& python) {
  const std::string question = fmt::format(
      "{} -c \"import importlib.util as u,sys; sys.exit(sys.version_info<(3,10) or any(u.find_spec(m) is None "
      "for m in '{}'.split()))\" > /dev/null 2>&1",
      quoted(python), kPackages);
  return std::system(question.c_str()) == 0;
}

std::string python() {
  const char* const named = std::getenv("THALWEG_PYTHON");
  const bool is_named = named != nullptr && *named != '\0';
  const std::string first = is_named ? named : "python3";
  if (serves(first)) return first;
  if (!is_named && serves("/usr/bin/python3")) return "/usr/bin/python3";
  throw Failure(
      kInputOutput,
      fmt::format("measuring needs Python 3.10 or later with the packages {0}: run '{1} -m pip install {0}', or "
                  "name a Python that has them in THALWEG_PYTHON",
                  kPackages, first));
}

// The command that runs the package, with the package and the probe that were installed, or built, with this one.
std::vector<std::string> command_of(const std::vector<std::string>& words) {
  const fs::path bin = fs::read_symlink("/proc/self/exe").parent_path();
  const char* const path = std::getenv("PYTHONPATH");
  const std::string own = (bin.parent_path() / TW_PYTHON_FOLDER).string();
  std::vector<std::string> all = {python(), "-m", "thalweg.measure"};
  setenv("PYTHONPATH", path != nullptr && *path != '\0' ? fmt::format("{}:{}", own, path).c_str() : own.c_str(), 1);
  setenv("THALWEG_COMMAND_DIR", bin.c_str(), 1);
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

Run add(CLI::App& app) {
  app.allow_extras();
  return [](const Common&) -> int { throw Failure(kUsage, "the name of this command must be the first word"); };
}

}  // namespace

void become(std::vector<std::string> words, const char* advice) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  throw Failure(kInputOutput, fmt::format("cannot start '{}': {}{}", words[0], std::strerror(errno), advice));
}

bool is_measuring(const std::string& command) { return command == "methods" || command == "advise"; }

void become_measuring(const std::vector<std::string>& words) { become(command_of(words)); }

Json measured(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : command_of(words)) command += quoted(word) + " ";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) fail_with_errno("start", words[0]);
  std::string text;
  std::array<char, 4096> part{};
  while (const size_t n = fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
  const int status = pclose(pipe);
  stop_if_interrupted();
  const Json found = Json::parse(text, nullptr, false);
  if (found.is_object() && status == 0) return found;
  const auto [how, number] =
      WIFEXITED(status) ? std::pair("exit code", WEXITSTATUS(status)) : std::pair("signal", WTERMSIG(status));
  throw Failure(kInputOutput, fmt::format("'thalweg.measure {}' ended with {} {}", words[0], how, number));
}

const Command kMethods = {
    "methods",
    "Measure all ways of writing a distributed array, draw the results, and recommend one",
    "Starts the program thalweg-probe under mpiexec with 1, 2, 4, ... ranks. They write an array of 4-byte reals, "
    "divided into blocks, in 22 ways: gathered, a file per rank, the levels of MPI-IO, parallel HDF5, PnetCDF, "
    "SIONlib, and this library's; read it back, on other ranks and on another number of ranks, and verify every byte.\n"
    "\nThe Python package thalweg.measure does it, with the Python of THALWEG_PYTHON, or python3; 'thalweg methods "
    "--help' lists the options (docs/howto/methods.md).",
    nullptr,
    "  thalweg methods --quick\n"
    "  thalweg methods --dir /scratch --ranks 16 --size 8192 --html methods.html --save methods.jsonl\n"
    "  thalweg methods --from methods.jsonl --html methods.html\n",
    add};

const Command kAdvise = {
    "advise",
    "Predict the fastest way of writing, and print an example program",
    "Predicts the time of each method of 'thalweg methods' for a described program, from the measurements of 'thalweg "
    "tune' on the storage of --dir, and for several nodes by a simulation of the engine.\n"
    "\nThe Python package thalweg.measure does it, with the Python of THALWEG_PYTHON, or python3; 'thalweg advise "
    "--help' lists the options (docs/howto/advise.md).",
    nullptr,
    "  thalweg advise --ranks 8 --bytes 256MiB\n"
    "  thalweg advise --ranks 4096 --nodes 128 --bytes 2TiB --pattern block2d --storage-bandwidth 50GiB --every 60s\n"
    "  thalweg advise --from results.jsonl --html predicted.html\n",
    add};

}  // namespace tool
