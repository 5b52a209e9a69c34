// Every step of a check ends with an agreement of all tasks, so that the failure of one is that of all and none waits.
#include "check.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <thalweg/group.h>
#include <thalweg/storage.h>
#include <unistd.h>
#include <thalweg/file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <system_error>
#include <vector>

#include "print_record.hpp"

namespace probe {

namespace {

namespace fs = std::filesystem;
using thalweg::check;

constexpr std::size_t kPage = 4096, kLarge = 64 * kPage, kPiece = 512;
constexpr int kDuty = 1, kFailed = 3;  // exit status

// A check finds good or bad; where bad there may be advice, and a duty of the user.
struct Check {
  const char *name, *good, *bad, *advice = "";
  bool is_duty = false;
};
constexpr Check kFolder{"one folder", "", "not all nodes see what the first one makes in it", "mount one file system",
                        true};
constexpr Check kBootIds{"boot ids", "each node has its own", "several nodes have one (clones, containers)",
                         "host names tell these nodes apart: keep them different"};
constexpr Check kLocksHere{"locks on a node", "a second opening is refused", "a second opening gets the lock",
                           "let no second program append to, repair or replace a file being written", true};
constexpr Check kLocks{"locks across nodes", "a second node is refused", "a second node gets the lock",
                       "let no other node append to, repair or replace a file being written", true};
constexpr Check kReads{"reads of other nodes", "a node sees at once what another one wrote", "",
                       "other nodes see it after tw_file_sync(), or after its close at the next open"};
constexpr Check kSync{"tw_file_sync", "all nodes see what was written before it", "bytes were old after it",
                      "mount it so that nodes keep no old bytes and sizes, or use it from one node", true};
constexpr Check kPages{"pages of two nodes", "nodes may write parts of one page at a time", "",
                       "tasks of two nodes that write alone must not share pages of 4 KiB", true};
constexpr Check kNames{"names of other nodes", "a node sees new and replaced files at once",
                       "a node finds the old file, or none, for a while", "collective opens wait for the new one"};
constexpr Check kReplaced{"files replaced while open", "they stay readable", "they are lost to those who read them",
                          "end the programs that read a file before it is replaced", true};
constexpr Check kDirect{"O_DIRECT", "", "no transfers past the page cache", "the hint io=direct has no effect"};
constexpr Check kReserve{"fallocate", "reserves room, and extends the file", "reserves nothing",
                         "tw_file_preallocate() extends a file, but the storage may fill up later"};
constexpr Check kHoles{"holes", "released room becomes free", "released room stays in use"};
constexpr Check kSyncedFolder{"sync of folders", "names survive a crash", "the kernel refuses it",
                              "a file made shortly before a machine dies may lack its name"};
constexpr Check kNameless{"nameless files", "the library measures with one", "there are none (O_TMPFILE)",
                          "run 'thalweg tune': the library cannot measure writes by itself"};
constexpr Check kTrust{"trust", "counts as coherent from now on", "does not count as coherent",
                       "only where several nodes saw all at once, and never NFS, CIFS and 9p", true};

int must(bool good, const char* verb, const std::string& path) {
  if (!good) throw std::system_error(errno, std::generic_category(), fmt::format("cannot {} '{}'", verb, path));
  return 0;
}

class File {
 public:
  // Waits for a name that another node may have made a moment ago.
  File(const std::string& path, int flags) : path_(path) {
    for (int i = 0; (fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600)) < 0 && errno == ENOENT && i < 30; ++i)
      ::usleep(100'000);
    must(fd >= 0, "open", path);
  }
  // A new file.
  File(const std::string& path, const std::string& bytes) : File(path, O_RDWR | O_CREAT | O_TRUNC) {
    write(bytes);
    sync();
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(fd); }

  // These return 0.
  int write(const std::string& bytes, std::size_t at = 0) const {
    errno = ENOSPC;  // where not all is written
    return must(::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)) == std::ssize(bytes), "write to",
                path_);
  }
  int sync() const { return must(::fsync(fd) == 0, "sync", path_); }
  std::string read(std::size_t bytes) const {
    std::string found(bytes, '\0');
    const ssize_t n = ::pread(fd, found.data(), bytes, 0);
    must(n >= 0, "read", path_);
    found.resize(static_cast<std::size_t>(n));
    return found;
  }
  // The lock of a session of the library (src/os/file_ops.hpp). Returns 0 or errno.
  int lock() const {
    struct flock range = {};
    range.l_type = F_WRLCK;
    range.l_start = off_t{1} << 62;
    range.l_len = 1;
    return ::fcntl(fd, F_OFD_SETLK, &range) == 0 ? 0 : errno;
  }

  int fd = -1;

 private:
  const std::string path_;
};

std::int64_t wrong_bytes(std::string found, const std::string& wanted) {
  found.resize(wanted.size());
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) wrong += found[i] != wanted[i] ? 1 : 0;
  return wrong;
}

// Writes the second block of the file, and reads it again.
bool moves_direct(int fd, std::size_t block) {
  alignas(kPage) static std::array<char, 2 * kPage> memory;
  char* const begin = &memory[block];
  const auto bytes = static_cast<ssize_t>(block);
  std::fill_n(begin, block, 'd');
  if (::pwrite(fd, begin, block, bytes) != bytes) return false;
  std::fill_n(begin, block, ' ');
  return ::pread(fd, begin, block, bytes) == bytes && std::count(begin, begin + block, 'd') == bytes;
}

// What a terminal would interpret is left out.
std::string shown(std::string text) {
  std::erase_if(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
  return text;
}

// Place, options, kind and source of the mount, from its line in /proc/self/mountinfo.
std::string mount_of(const std::string& folder) {
  const File opened(folder, O_RDONLY | O_DIRECTORY);
  std::string id, word, line;
  for (std::ifstream info(fmt::format("/proc/self/fdinfo/{}", opened.fd)); info >> word;)
    if (word == "mnt_id:") info >> id;
  std::ifstream lines("/proc/self/mountinfo");
  while (std::getline(lines, line))
    if (line.starts_with(id + " ")) return line.substr(line.find(" /", line.find(" /") + 1) + 1);
  return "";
}

class Checking {
 public:
  Checking(const thalweg::Group& group, const std::string& folder, std::string_view flags)
      : group_(group), folder_(folder), flags_(flags), first_(tw_group_rank(group.get()) == 0) {}

  int run() {
    try {
      begin();
      for (const auto attempt : {&Checking::check_locks, &Checking::check_caches, &Checking::check_sync,
                                 &Checking::check_pages, &Checking::check_names, &Checking::check_storage})
        (this->*attempt)();
      keep();
    } catch (const std::exception& error) {
      failure_ = error.what();
      code_ = kFailed;
    }
    std::error_code ignored;
    if (first_ && !scratch_.empty()) fs::remove_all(scratch_, ignored);
    code_ = static_cast<int>(step(first_, [this] { return code_; }));
    if (first_) print();
    return code_;
  }

 private:
  bool has(char flag) const { return flags_.find(flag) != std::string_view::npos; }
  std::string at(const char* name) const { return scratch_ + "/" + name; }

  // The tasks that take part do it; the failure of one is that of all. Returns the largest number that one returned.
  std::int64_t step(bool takes_part, const std::function<std::int64_t()>& action, tw_reduction how = TW_MAX) const {
    std::string failure;
    std::int64_t number = how == TW_MAX ? 0 : INT64_MAX;
    try {
      if (takes_part) number = action();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    check(tw_group_agree(group_.get(), failure.empty() ? TW_OK : TW_ERR_IO, 0, failure.c_str()));
    check(tw_group_allreduce(group_.get(), &number, 1, how));
    return number;
  }
  std::string told(std::int64_t rank, std::string text) const {
    text.resize(512);
    check(tw_group_broadcast(group_.get(), text.data(), text.size(), rank));
    return text.c_str();
  }
  void find(const Check& what, bool good, const std::string& otherwise = "") {
    if (!good && what.is_duty) code_ = kDuty;
    findings_.push_back({{"check", what.name},
                         {"result", good ? "yes" : "no"},
                         {"reason", good ? what.good : (otherwise.empty() ? what.bad : otherwise)},
                         {"advice", good ? "" : what.advice},
                         {"duty", !good && what.is_duty}});
  }
  bool on_one_node(const Check& what) {
    if (nodes_ > 1) return false;
    find(what, true);
    findings_.back().update({{"result", "-"}, {"reason", "only several nodes can see this"}});
    return true;
  }
  tw_storage_info info_of(const std::string& path) const {
    tw_storage_info info = {};
    info.struct_size = sizeof info;
    check(tw_storage_describe(path.empty() ? nullptr : path.c_str(), &info));
    return info;
  }

  void begin() {
    step(true, [this] { return profile_ = info_of("").profile, 0; });
    ::setenv("THALWEG_PROFILE", "none", 1);  // an earlier answer must not influence this one
    step(first_, [this] {
      if (std::error_code failed; !fs::is_directory(folder_, failed))
        throw std::runtime_error(fmt::format("'{}' is not a folder that you may use", folder_));
      mount_ = mount_of(folder_);
      info_ = info_of(folder_);
      return 0;
    });
    find_nodes();
    const auto number = step(first_, [] { return std::random_device{}(); });
    const std::string made = fmt::format("{}/.thalweg-check-{:x}", folder_, number);
    step(first_, [&] { return must(::mkdir(made.c_str(), 0700) == 0, "make", made); });
    scratch_ = made;
    const auto see = [&] {
      for (int i = 0; ::access(made.c_str(), W_OK | X_OK) != 0 && i < 30; ++i) ::usleep(100'000);
      return ::access(made.c_str(), W_OK | X_OK) == 0;
    };
    if (step(true, see, TW_MIN) == 1) return;
    find(kFolder, false);
    nodes_ = 1;
    node_ = first_ ? 0 : 1;
    leads_ = first_;
  }

  // Nodes are told apart as the library does it, by boot id and host name.
  void find_nodes() {
    std::string boot, host(256, '\0'), identity;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    ::gethostname(host.data(), host.size() - 1);
    step(::access(folder_.c_str(), F_OK) == 0, [&] { return identity = info_of(folder_).identity, 0; });
    std::set<std::string> boots;
    std::vector<std::string> nodes;
    for (std::int64_t rank = 0; rank < tw_group_size(group_.get()); ++rank) {
      const bool mine = rank == tw_group_rank(group_.get());
      const std::string name = told(rank, host), id = told(rank, boot), storage = told(rank, identity);
      const auto known = std::ranges::find(nodes, id + name);
      if (mine) node_ = static_cast<std::size_t>(known - nodes.begin());
      boots.insert(id);
      if (!storage.empty()) identities_.insert(storage);
      if (known != nodes.end()) continue;
      leads_ = leads_ || mine;
      nodes.push_back(id + name);
      hosts_.push_back(name);
    }
    nodes_ = nodes.size();
    if (nodes_ > 1) find(kBootIds, boots.size() == nodes_);
  }

  void check_locks() {
    std::optional<File> held;
    const auto failed = step(first_, [&] { return held.emplace(at("locks"), O_RDWR | O_CREAT).lock(); });
    const auto gets = [this] {
      const int refused = File(at("locks"), O_RDWR).lock();
      return refused == EAGAIN || refused == EACCES ? 0 : 1;
    };
    const bool here = step(node_ == 0, gets) == 0 && failed == 0;
    const bool everywhere = step(node_ > 0 && leads_, gets) == 0 && here;
    find(kLocksHere, here, failed == 0 ? "" : std::generic_category().message(static_cast<int>(failed)));
    if (!on_one_node(kLocks)) find(kLocks, everywhere);
    locks_ = !here ? "none" : (nodes_ == 1 ? "" : (everywhere ? "all" : "node"));
  }

  // Reads of what this node has read before, without a step of the library.
  void check_caches() {
    if (on_one_node(kReads)) return;
    std::int64_t old_bytes = 0, old_sizes = 0;
    for (const std::size_t bytes : {kPage, kLarge}) {
      const std::string path = at(bytes == kPage ? "page" : "pages"), wanted(bytes + kPage, 'b');
      std::optional<File> file;
      step(first_, [&] { return file.emplace(path, std::string(bytes, 'a')).fd; });
      step(leads_ && !first_, [&] { return std::ssize(file.emplace(path, O_RDWR).read(bytes)); });
      step(first_, [&] { return file->write(wanted); });
      old_bytes += step(leads_, [&] { return wrong_bytes(file->read(bytes), wanted.substr(0, bytes)); });
      old_sizes += step(leads_, [&] { return fs::file_size(path) == wanted.size() ? 0 : 1; });
    }
    is_fresh_ = old_bytes + old_sizes == 0;
    find(kReads, is_fresh_,
         fmt::format("{} of {} bytes were old, and {} of 2 sizes", old_bytes, kPage + kLarge, old_sizes));
  }

  // Likewise with the steps of the library, which refuses where they do not help.
  void check_sync() {
    if (on_one_node(kSync)) return;
    std::int64_t wrong = 0;
    std::string refused;
    try {
      thalweg::File file(group_, at("synced"), TW_READ | TW_WRITE | TW_CREATE);
      for (const std::string& data : {std::string(kLarge, 'a'), std::string(kLarge + kPage, 'b')}) {
        std::string found(data.size(), '\0');
        step(first_, [&] { return file.write_at(data, 0), 0; });
        file.sync();
        wrong += step(true, [&] { return file.read_at(found, 0), wrong_bytes(found, data); });
      }
      file.close();
    } catch (const thalweg::Error& error) {
      if (error.status() != TW_ERR_UNSAFE) throw;
      refused = error.what();
    }
    find(kSync, wrong == 0 && refused.empty(), refused);
    is_fresh_ = is_fresh_ && wrong == 0 && refused.empty();
  }

  // Pieces of all nodes in each page, written at the same time.
  void check_pages() {
    if (on_one_node(kPages)) return;
    const std::string path = at("shared");
    std::string wanted(kLarge, ' ');
    for (std::size_t i = 0; i < kLarge; ++i) wanted[i] = static_cast<char>('A' + i / kPiece % nodes_ % 26);
    std::optional<File> file;
    step(first_, [&] { return file.emplace(path, std::string(kLarge, '-')).fd; });
    step(leads_, [&] { return std::ssize(file.emplace(path, O_RDWR).read(kLarge)); });
    step(leads_, [&] {
      for (std::size_t i = node_ * kPiece; i < kLarge; i += nodes_ * kPiece) file->write(wanted.substr(i, kPiece), i);
      return 0;
    });
    step(leads_, [&] { return file->sync(); });
    step(leads_, [&] { return ::posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED); });
    const auto lost = step(
        leads_, [&] { return wrong_bytes(File(path, O_RDONLY).read(kLarge), wanted); }, TW_MIN);
    find(kPages, lost == 0, fmt::format("{} of {} bytes written into shared pages were lost", lost, kLarge));
    is_fresh_ = is_fresh_ && lost == 0;
  }

  // A file that is replaced while it is open, and a new one whose name was looked up before.
  void check_names() {
    const std::string path = at("name"), later = at("later");
    std::optional<File> old;
    step(first_, [&] { return File(path, "a").fd; });
    step(leads_, [&] { return old.emplace(path, O_RDONLY).read(1) != "a" || ::access(later.c_str(), F_OK) == 0; });
    step(first_, [&] {
      fs::rename((File(at("new"), "b"), at("new")), path);
      return File(later, "b").fd;
    });
    const auto late =
        step(leads_, [&] { return ::access(later.c_str(), F_OK) != 0 || std::ifstream(path).get() != 'b'; });
    char byte = ' ';
    const auto gone = step(leads_, [&] { return ::pread(old->fd, &byte, 1, 0) != 1 || byte != 'a'; });
    find(kReplaced, gone == 0);
    if (!on_one_node(kNames)) find(kNames, late == 0);
  }

  // What one node sees.
  void check_storage() {
    step(first_, [this] {
      const File file(at("room"), std::string(4 * kPage, ' '));
      const auto told = static_cast<std::size_t>(info_of(at("room")).direct_alignment);
      const int direct = ::open(at("room").c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
      const bool works = direct >= 0 && moves_direct(direct, kPage);
      const std::size_t unit = works && moves_direct(direct, kPiece) ? kPiece : kPage;
      ::close(direct);
      if (works && told == 0 && !is_kind("tmpfs")) direct_alignment_ = kPage;
      find(kDirect, works);
      if (works) findings_.back()["reason"] = fmt::format("in units of {} bytes; the kernel tells {}", unit, told);
      const auto size = static_cast<off_t>(kLarge);
      find(kReserve, ::fallocate(file.fd, 0, 0, size) == 0 && fs::file_size(at("room")) == kLarge);
      find(kHoles, ::fallocate(file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size) == 0);
      find(kSyncedFolder, ::fsync(File(scratch_, O_RDONLY | O_DIRECTORY).fd) == 0);
      const int nameless = ::open(scratch_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
      ::close(nameless);
      find(kNameless, nameless >= 0);
      std::int64_t largest = 0;  // the system accepts no larger offsets
      for (std::int64_t more = std::int64_t{1} << 62; more >= static_cast<std::int64_t>(kPage); more /= 2)
        if (::lseek(file.fd, largest + more, SEEK_SET) >= 0) largest += more;
      room_ = fmt::format("{} MiB free, files of up to {} GiB", fs::space(scratch_).available >> 20,
                          (largest + kPage) >> 30);
      if (info_.stripe_bytes > 0)
        room_ += fmt::format(", stripes of {} bytes over {} targets", info_.stripe_bytes, info_.stripe_count);
      return 0;
    });
  }

  bool is_kind(const char* kind) const { return std::string_view(info_.identity).starts_with(kind); }

  void keep() {
    const bool never = is_kind("nfs") || is_kind("cifs") || is_kind("smb") || is_kind("9p");
    const bool trusts = has('t') && nodes_ > 1 && is_fresh_ && !never;
    if (has('t')) find(kTrust, trusts || info_.coherent != 0);
    step(first_ && !profile_.empty(), [&] {
      Json entry = {{"checked", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))}};
      if (nodes_ > 1) entry["coherent"] = !is_fresh_ ? "no" : (trusts ? "trusted" : "seen");
      if (!locks_.empty()) entry["locks"] = locks_;
      if (direct_alignment_ > 0) entry["direct_alignment"] = direct_alignment_;
      store(entry);
      is_kept_ = true;
      return 0;
    });
  }

  // What was seen on several nodes before stays where one node checks again.
  void store(const Json& entry) const {
    const fs::path path = fs::weakly_canonical(profile_);
    Json profile = {{"version", 1}, {"file_systems", Json::array()}};
    if (fs::exists(path) && fs::file_size(path) > 0) profile = Json::parse(std::ifstream(path), nullptr, false);
    if (!profile.is_object() || profile.value("version", Json()) != 1)
      throw std::runtime_error(fmt::format(
          "'{}' is not a profile of this version; move it out of the way, or set THALWEG_PROFILE", profile_));
    for (const std::string& identity : identities_) profile["checks"][identity].update(entry);
    fs::create_directories(path.parent_path());
    const std::string passing = fmt::format("{}.part-{}", path.string(), ::getpid());
    (void)File(passing, profile.dump(2) + "\n");
    fs::rename(passing, path);
  }

  void print() const {
    if (!failure_.empty()) fmt::print(stderr, "thalweg: {}\n", shown(failure_));
    Json out = {{"command", "check"}, {"file", folder_}, {"exit_code", code_}};
    if (!failure_.empty()) out["error"] = {{"status", nullptr}, {"message", failure_}};
    out.update({{"mount", mount_}, {"known_coherent", info_.coherent != 0}, {"file_systems", identities_}});
    out.update({{"nodes", hosts_}, {"room", room_}, {"checks", findings_}});
    out["profile"] = is_kept_ ? Json(profile_) : Json();
    if (has('j')) return print_record(out);
    if (has('q') || findings_.empty()) return;
    for (const char* name : {"mount", "known_coherent", "nodes", "room"})
      fmt::print("{:<16}{}\n", name, shown(out[name].dump()));
    for (const Json& each : findings_) {
      const auto word = [&](const char* name) { return shown(each[name].get<std::string>()); };
      fmt::print("{:<4} {:<26} {}\n", word("result"), word("check"), word("reason"));
      if (each["advice"] != "") fmt::print("{:<31} {}{}\n", "", each["duty"] == true ? "you: " : "", word("advice"));
    }
    fmt::print("{}\n", is_kept_ ? fmt::format("kept in '{}'", shown(profile_)) : "not kept");
    std::fflush(stdout);  // MPI_Finalize() of MPICH 4.0 may hang
  }

  const thalweg::Group& group_;
  const std::string& folder_;
  const std::string_view flags_;
  const bool first_;
  bool leads_ = false;  // the first task of its node
  std::size_t node_ = 0, nodes_ = 1;
  std::vector<std::string> hosts_;
  std::set<std::string> identities_;
  std::string profile_, scratch_, failure_;
  std::vector<Json> findings_;
  int code_ = 0;
  bool is_fresh_ = true;  // nothing of another node was old or lost
  // Known to task 0 alone:
  tw_storage_info info_ = {};
  std::string mount_, locks_, room_;
  std::size_t direct_alignment_ = 0;
  bool is_kept_ = false;
};

}  // namespace

int check_mount(const thalweg::Group& group, const std::string& folder, std::string_view flags) {
  return Checking(group, folder, flags).run();
}

}  // namespace probe
