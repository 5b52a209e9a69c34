// thalweg run: starts an MPI program with libthalweg_mpiio below it, and makes a page of what it did with its files.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "command.hpp"
#include "common.hpp"
#include "picture_file.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

struct Asked {
  std::string library, report;
  bool force = false;
  std::vector<std::string> words;
};

// The one that was installed, or built, with this command.
std::string own_library() {
  const fs::path self = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  for (const char* const folder : {TW_LIBRARY_FOLDER, "lib"})
    if (fs::path library = self / folder / "libthalweg_mpiio.so"; fs::exists(library)) return library.string();
  throw Failure(kInputOutput,
                fmt::format("no libthalweg_mpiio.so in '{}': build it with MPI and shared libraries, or name one with "
                            "--library",
                            (self / TW_LIBRARY_FOLDER).string()));
}

// Whether the launcher is that of Open MPI. The program may have an option -x too.
bool is_of_open_mpi(const std::string& launcher) {
  FILE* const pipe = popen((shell_word(launcher) + " --version 2> /dev/null").c_str(), "r");
  std::array<char, 200> text{};
  const size_t n = pipe != nullptr ? fread(text.data(), 1, text.size(), pipe) : 0;
  if (pipe != nullptr) pclose(pipe);
  const std::string_view said(text.data(), n);
  return said.find("Open MPI") != std::string_view::npos || said.find("OpenRTE") != std::string_view::npos;
}

// All launchers pass the environment to ranks of this node. Those of MPICH and Slurm pass it to other nodes too. Open MPI
// does where a variable or its option -x names what to pass; it refuses both together.
void prepare(const std::string& library, const std::string& report, std::vector<std::string>& words) {
  const char* const before = std::getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", (library + (before != nullptr ? fmt::format(":{}", before) : "")).c_str(), 1);
  setenv("THALWEG_MPIIO_REPORT", report.c_str(), 1);
  const char* const list = std::getenv("OMPI_MCA_mca_base_env_list");
  const std::string passed = "LD_PRELOAD;THALWEG_MPIIO_REPORT";
  if (std::ranges::count(words, "-x") > 0 && is_of_open_mpi(words[0]))
    words.insert(words.begin() + 1, {"-x", "LD_PRELOAD", "-x", "THALWEG_MPIIO_REPORT"});
  else
    setenv("OMPI_MCA_mca_base_env_list", (list != nullptr ? fmt::format("{};{}", list, passed) : passed).c_str(), 1);
}

[[noreturn]] void become(std::vector<std::string> words, const std::string& library, const std::string& report) {
  prepare(library, report, words);
  std::vector<char*> pointers(words.size() + 1, nullptr);
  std::ranges::transform(words, pointers.begin(), [](std::string& word) { return word.data(); });
  execvp(pointers[0], pointers.data());
  say(fmt::format("cannot start '{}': {}", words[0], std::strerror(errno)));
  _exit(127);
}

// ---- The page --------------------------------------------------------------------------------------------------------

struct Use {
  std::string path, plan;
  int64_t ranks = 0, written = 0, read = 0;
  int64_t calls = 0;
  double seconds = 0;
};

// A line that is no record is left out: two programs may have written at once.
std::vector<Use> uses_in(const std::string& records) {
  std::vector<Use> uses;
  std::ifstream in(records);
  for (std::string line; std::getline(in, line);) {
    if (!is_utf8(line))
      std::ranges::replace_if(
          line, [](char c) { return (c & 0x80) != 0; }, '?');
    const Json record = Json::parse(line, nullptr, false);
    if (!record.is_object()) continue;
    uses.push_back({record.value("file", ""), record.value("plan", ""), record.value("ranks", int64_t{0}),
                    record.value("bytes_written", int64_t{0}), record.value("bytes_read", int64_t{0}),
                    record.value("calls_written", int64_t{0}) + record.value("calls_read", int64_t{0}),
                    1e-9 * static_cast<double>(record.value("nanoseconds", int64_t{0}))});
  }
  std::ranges::stable_sort(uses, std::greater<>(), &Use::seconds);
  return uses;
}

std::string cell(const std::string& text, double part) {
  return fmt::format("<td><i style=\"width:{:.1f}%\"></i>{}</td>", 100 * part, text);
}

std::string page_of(const std::vector<Use>& uses, const Asked& asked) {
  double most = 1, longest = 1e-9;
  for (const Use& use : uses) {
    most = std::max(most, static_cast<double>(std::max(use.written, use.read)));
    longest = std::max(longest, use.seconds);
  }
  std::string rows;
  const auto size_cell = [&](int64_t bytes) { return cell(short_size(bytes), static_cast<double>(bytes) / most); };
  for (const Use& use : uses)
    rows += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td>{}{}{}<td>{}</td></tr>\n", xml_text(use.path), use.ranks,
                        use.calls, size_cell(use.written), size_cell(use.read),
                        cell(fmt::format("{:.3f} s", use.seconds), use.seconds / longest), xml_text(use.plan));
  return fmt::format(
      "<!DOCTYPE html>\n<!-- made by thalweg run -->\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Files of "
      "{0}</title>\n"
      "<style>body{{font:15px sans-serif;margin:2em}}table{{border-collapse:collapse}}td,th{{padding:.3em .8em;"
      "text-align:left;border-bottom:1px solid #ccc;position:relative;font-weight:normal}}"
      "i{{position:absolute;left:0;bottom:0;height:4px;background:#2a6fb0}}</style>\n"
      "<h1>{1} by <code>{0}</code></h1>\n<p>A bar is relative to the most bytes of any file, or to its longest time. "
      "The time is that of the slowest rank within calls that move data or wait for it.</p>\n"
      "<table><tr><th>file<th>ranks<th>calls<th>written<th>read<th>time<th>last collective "
      "access</tr>\n{2}</table></html>\n",
      xml_text(fmt::format("{}", fmt::join(asked.words, " "))), count_text(static_cast<int64_t>(uses.size()), "file"),
      rows);
}

// Waits for the program, and returns its exit code. It gets the signals of this command, but for SIGINT, which a terminal
// sends to both.
int end_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    if (caught_signal() != 0 && caught_signal() != SIGINT) kill(child, caught_signal());
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// A new file beside the report, which goes with this object.
struct Records {
  std::string path;
  explicit Records(const std::string& report) : path(fs::absolute(report + ".XXXXXX").string()) {
    const Descriptor made(mkstemp(path.data()));
    if (!made) fail_with_errno("make", path);
  }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  ~Records() { unlink(path.c_str()); }
};

int run(const Asked& asked) {
  const std::string library = asked.library.empty() ? own_library() : fs::absolute(asked.library).string();
  if (!fs::exists(library)) throw Failure(kInputOutput, fmt::format("there is no library '{}'", library));
  if (library.find_first_of(" :") != std::string::npos)
    throw Failure(kUsage,
                  fmt::format("LD_PRELOAD cannot name '{}', for a blank or a colon in it; name a link to it with "
                              "--library",
                              library));
  flush_output();
  if (asked.report.empty()) become(asked.words, library, "1");
  const bool replace = may_replace_picture(asked.report, asked.force, {}, "");
  const Records records(asked.report);
  const pid_t child = fork();
  if (child < 0) fail_with_errno("start", asked.words[0]);
  if (child == 0) become(asked.words, library, records.path);
  const int code = end_of(child);
  write_picture(asked.report, page_of(uses_in(records.path), asked), replace);
  return code;
}

Run add(CLI::App& app) {
  auto asked = std::make_shared<Asked>();
  app.add_option("--library", asked->library,
                 "The libthalweg_mpiio.so of the program's MPI (default: beside this command)");
  app.add_option("--report", asked->report, "Write a page with bars for each file here, in place of lines");
  app.add_flag("--force", asked->force, "Replace a page that this command did not make");
  app.add_option("PROGRAM", asked->words, "The launcher, its options, the program and its arguments, after --")
      ->required();
  return [asked](const Common&) { return run(*asked); };
}

}  // namespace

const Command kRunProgram = {
    "run",
    "Run an MPI program with its MPI-IO on this library, and tell what it did with its files",
    "Loads libthalweg_mpiio into the program by LD_PRELOAD. When the program closes a file, one line on standard error "
    "names its bytes, calls, time and plan. The exit code is that of the launcher.",
    nullptr,
    "  thalweg run -- mpiexec -n 4 ./simulation input.nml\n"
    "  thalweg run --report files.html -- mpiexec -n 4 ./simulation input.nml\n",
    add};

}  // namespace tool
