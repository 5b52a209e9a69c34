#include "launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "common.hpp"
#include "progress.hpp"
#include "surroundings.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kGraceMs = 5000;  // for MPI to end its ranks
constexpr size_t kMostErrorText = 16 * 1024;
constexpr int kDescribePatienceS = 60;

// ---- Where things are -----------------------------------------------------------------------------------------------

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::string on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  return {};
}

std::string find_program(const std::string& asked) {
  const char* from_environment = std::getenv("THALWEG_METHODS");
  const std::string named = !asked.empty() || from_environment == nullptr ? asked : from_environment;
  if (!named.empty()) {
    if (is_program(named)) return std::filesystem::absolute(named).string();
    throw Failure(kInputOutput, fmt::format("'{}' is not an executable; see --program", named));
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string beside = error ? std::string() : (self.parent_path() / "thalweg-methods").string();
  if (!beside.empty() && is_program(beside)) return beside;
  if (const std::string found = on_path("thalweg-methods"); !found.empty()) return found;
  throw Failure(kInputOutput,
                "no program 'thalweg-methods' beside this command or on PATH: build it with MPI (scripts/setup.sh mpi, "
                "then configure with -DTW_WITH_MPI=ON), or name one with --program or THALWEG_METHODS");
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// ---- A child --------------------------------------------------------------------------------------------------------

void set_unless_set(const char* name, const char* value) { setenv(name, value, 0); }

bool is_more_than_one(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && std::atoi(text) > 1;
}

// A file with one line per slot of a rank, its node first.
bool names_several_nodes(const char* variable) {
  const char* path = std::getenv(variable);
  std::ifstream file(path == nullptr ? "" : path);
  std::set<std::string> nodes;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = words_of(line);
    if (!words.empty() && !words.front().starts_with('#'))
      nodes.insert(words.front().substr(0, words.front().find(':')));
  }
  return nodes.size() > 1;
}

// Variable of LSF: "node 16 node 16".
bool has_several_lsf_nodes() {
  const char* text = std::getenv("LSB_MCPU_HOSTS");
  return text != nullptr && words_of(text).size() > 2;
}

bool has_several_nodes() {
  return is_more_than_one("SLURM_JOB_NUM_NODES") || is_more_than_one("SLURM_NNODES") || is_more_than_one("NHOSTS") ||
         names_several_nodes("PBS_NODEFILE") || names_several_nodes("HYDRA_HOST_FILE") || has_several_lsf_nodes();
}

// Expected placement of the ranks before the launch.
enum class Placement { roomy, crowded, unknown };

// The cores of other nodes are unknown: they may have slots for more ranks than this machine has cores.
Placement placement_of(int ranks) {
  if (has_several_nodes()) return Placement::unknown;
  return ranks > cores() ? Placement::crowded : Placement::roomy;
}

// In the child: permits more ranks than cores, and makes waiting ranks yield. Over several nodes the batch system
// places ranks.
void prepare_environment(const Launcher& launcher, Placement placement) {
  const bool crowded = placement == Placement::crowded;
  const std::string kind = launcher.description.value("kind", "");
  if (kind == "openmpi") {
    if (geteuid() == 0) {
      set_unless_set("OMPI_ALLOW_RUN_AS_ROOT", "1");
      set_unless_set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    set_unless_set("OMPI_MCA_btl_base_warn_component_unused", "0");
    if (!crowded) return;
    set_unless_set("OMPI_MCA_rmaps_base_oversubscribe", "1");
    set_unless_set("OMPI_MCA_hwloc_base_binding_policy", "none");
    set_unless_set("OMPI_MCA_mpi_yield_when_idle", "1");
    set_unless_set("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    set_unless_set("PRTE_MCA_hwloc_default_binding_policy", "none");
    return;
  }
  // Binds each rank to a core, as Open MPI and clusters do: unbound polling ranks may stay on one core while another is
  // idle.
  if (placement != Placement::unknown) set_unless_set("HYDRA_BINDING", crowded ? "none" : "core");
  if (crowded) set_unless_set("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1");
  // Hydra starts local ranks over ssh by default. A batch system has its own launcher.
  for (const char* batch : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "HYDRA_HOST_FILE"})
    if (std::getenv(batch) != nullptr) return;
  set_unless_set("HYDRA_LAUNCHER", "fork");
}

class Child {
 public:
  // `prepare` runs in the child before the program.
  Child(const std::vector<std::string>& words, const std::function<void()>& prepare) {
    std::array<int, 2> out{}, err{};
    if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) fail_with_errno("start", words[0]);
    out_ = Descriptor(out[0]);
    err_ = Descriptor(err[0]);
    const Descriptor out_end(out[1]), err_end(err[1]);
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) fail_with_errno("start", words[0]);
    if (pid_ == 0) become(pointers, prepare, parent, out_end.get(), err_end.get());
    setpgid(pid_, pid_);  // the child does so, too, whichever comes first
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  int out() const { return out_.get(); }
  int err() const { return err_.get(); }

  // Waits for the end, at most `ms`. Returns the status of waitpid(), once.
  bool ended(int ms, int* status) {
    const auto limit = Clock::now() + std::chrono::milliseconds(ms);
    while (true) {
      const pid_t got = waitpid(pid_, status, WNOHANG);
      if (got == pid_ || (got < 0 && errno != EINTR)) {
        pid_ = -1;
        return true;
      }
      if (Clock::now() >= limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // Sends SIGTERM, later SIGKILL. Bounded in time, as a second Ctrl-C must not leave ranks and files behind.
  void end() {
    if (pid_ < 0) return;
    if (caught_signal() != 0) {
      ignore_signals();
      say("ending the ranks");
    }
    int status = 0;
    kill(-pid_, SIGTERM);
    if (ended(kGraceMs, &status)) return;
    kill(-pid_, SIGKILL);
    ended(kGraceMs, &status);
  }

 private:
  // Its own process group does not receive Ctrl-C: this program ends it and cleans up. The child also ends when this
  // program is killed.
  [[noreturn]] static void become(std::vector<char*>& words, const std::function<void()>& prepare, pid_t parent,
                                  int out, int err) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) std::signal(number, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    prepare();
    execvp(words[0], words.data());
    const std::string text = fmt::format("cannot start '{}': {}\n", words[0], std::strerror(errno));
    write_all(STDERR_FILENO, text.data(), text.size());
    _exit(127);
  }

  pid_t pid_ = -1;
  Descriptor out_, err_;
};

// Splits input into whole lines.
class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& see) : see_(see) {}
  void add(std::string_view part) {
    text_ += part;
    size_t begin = 0;
    for (size_t end = 0; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1)
      see_(std::string_view(text_).substr(begin, end - begin));
    text_.erase(0, begin);
  }
  void end() {
    if (!text_.empty()) see_(text_);
    text_.clear();
  }

 private:
  const std::function<void(std::string_view)>& see_;
  std::string text_;
};

// Reads available bytes; 0 at the end of the stream.
ssize_t read_some(int fd, std::array<char, 16384>& part) {
  while (true) {
    const ssize_t got = read(fd, part.data(), part.size());
    if (got >= 0 || errno != EINTR) return got;
    stop_if_interrupted();
  }
}

// Reads both streams until both end. False: no output for `patience_s`.
bool listen(const Child& child, Lines& lines, std::string& error_text, int patience_s) {
  std::array<pollfd, 2> streams = {{{child.out(), POLLIN, 0}, {child.err(), POLLIN, 0}}};
  std::array<char, 16384> part{};
  auto heard = Clock::now();
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    stop_if_interrupted();
    if (Clock::now() - heard > std::chrono::seconds(patience_s)) return false;
    if (poll(streams.data(), streams.size(), 100) <= 0) continue;
    for (pollfd& stream : streams) {
      if (stream.fd < 0 || stream.revents == 0) continue;
      heard = Clock::now();
      const ssize_t got = read_some(stream.fd, part);
      if (got <= 0) {
        stream.fd = -1;
        continue;
      }
      const std::string_view text(part.data(), static_cast<size_t>(got));
      if (&stream == streams.data()) {
        lines.add(text);
        continue;
      }
      error_text += text;
      if (error_text.size() > kMostErrorText) error_text.erase(0, error_text.size() - kMostErrorText);
    }
  }
  lines.end();
  return true;
}

LaunchEnd run_child(const std::vector<std::string>& words, const std::function<void()>& prepare,
                    const std::function<void(std::string_view)>& on_line, int patience_s) {
  LaunchEnd result;
  Child child(words, prepare);
  Lines lines(on_line);
  int status = 0;
  result.silent = !listen(child, lines, result.error_text, patience_s);
  if (result.silent || !child.ended(kGraceMs, &status)) {
    child.end();
    result.signal = SIGTERM;
    return result;
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return result;
}

// Error in a program's description of itself; "": none.
std::string wrong_in(const Json& description) {
  if (!description.is_object() || !description.contains("methods")) return "it names no methods";
  for (const char* name : {"mpi", "kind", "mpiexec"})
    if (description.contains(name) && !description[name].is_string()) return fmt::format("its '{}' is no text", name);
  const auto is_method = [](const Json& method) {
    return method.is_object() && method.contains("id") && method["id"].is_string() && method.contains("built") &&
           method["built"].is_boolean();
  };
  const Json& methods = description["methods"];
  if (!methods.is_array()) return "its 'methods' are no list";
  return std::ranges::all_of(methods, is_method) ? "" : "one of its 'methods' lacks a text 'id' or a yes or no 'built'";
}

Json described(const std::string& program) {
  std::string text;
  const LaunchEnd end = run_child(
      {program, "--describe"}, [] {}, [&](std::string_view line) { text += line; }, kDescribePatienceS);
  Json description = Json::parse(text, nullptr, false);
  const std::string wrong = wrong_in(description);
  const bool fine = end.exit_code == 0 && end.signal == 0;
  if (fine && wrong.empty()) return description;
  const std::string said = fine ? std::string() : telling_line(end.error_text);
  const std::string why = said.empty() ? wrong : said;
  throw Failure(kInputOutput,
                fmt::format("'{}' gives no valid description of itself{}{}; is it thalweg-methods of this version?",
                            program, why.empty() ? "" : ": ", why));
}

// The signal that killed a rank, as far as mpiexec's exit code shows; 0: none. A shell adds 128, MPICH's mpiexec
// nothing; the program itself exits with 0, 1 or 2.
int signal_of_rank(const Launcher& launcher, int exit_code) {
  constexpr int kSignals = 65;
  if (exit_code > 128 && exit_code < 128 + kSignals) return exit_code - 128;
  const bool plain = launcher.description.value("kind", "") == "mpich";
  return plain && exit_code > 2 && exit_code < kSignals ? exit_code : 0;
}

}  // namespace

std::string telling_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (std::ranges::any_of(line, [](unsigned char c) { return std::isalpha(c) != 0; })) return line;
  return {};
}

std::string how_it_ended(const Launcher& launcher, const LaunchEnd& end, int patience_s) {
  if (end.silent) return fmt::format("no output for {} s: it hangs, or needs a larger limit", patience_s);
  const std::string why = telling_line(end.error_text);
  const std::string said = why.empty() ? std::string() : fmt::format(" and printed: {}", why);
  if (end.signal != 0) return fmt::format("mpiexec ended by signal {} ({}){}", end.signal, strsignal(end.signal), said);
  if (const int number = signal_of_rank(launcher, end.exit_code); number != 0)
    return fmt::format("a rank was killed by signal {} ({}){}", number, strsignal(number), said);
  return fmt::format("mpiexec ended with {}{}", end.exit_code, said);
}

Launcher find_launcher(const std::string& program, const std::string& mpiexec) {
  Launcher launcher;
  launcher.program = find_program(program);
  launcher.description = described(launcher.program);
  const std::string own = launcher.description.value("mpiexec", "");  // one path, which may contain blanks
  launcher.mpiexec = mpiexec.empty() && !own.empty() ? std::vector{own} : words_of(mpiexec);
  if (launcher.mpiexec.empty()) launcher.mpiexec = {"mpiexec"};
  const std::string& first = launcher.mpiexec.front();
  if (first.find('/') == std::string::npos ? on_path(first).empty() : !is_program(first))
    throw Failure(kInputOutput, fmt::format("no launcher '{}' for the ranks; name one with --mpiexec", first));
  return launcher;
}

LaunchEnd launch(const Launcher& launcher, int ranks, const std::vector<std::string>& arguments,
                 const std::function<void(std::string_view line)>& on_line, int patience_s) {
  std::vector<std::string> words = launcher.mpiexec;
  words.insert(words.end(), {"-n", std::to_string(ranks), launcher.program});
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Placement placement = placement_of(ranks);
  return run_child(
      words, [&] { prepare_environment(launcher, placement); }, on_line, patience_s);
}

}  // namespace tool
