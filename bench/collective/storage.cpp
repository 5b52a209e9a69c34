// One scratch folder for all ranks; the emulator of slow storage.
#include "collective/storage.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "collective/delay.hpp"

namespace bench {

namespace {

constexpr DelayedStorage kDelays = {1'000'000'000, 100'000};

template <class Function>
Function emulator(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Allocates the pages of an empty file. This is work of the memory file system and takes a core as long as four copies
// of the bytes: it is not part of the emulated storage.
void allocate(const std::string& path, double bytes) {
  const int fd =
      static_cast<int>(must(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666), "cannot create a file"));
  must(::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)), "cannot allocate a file");
  ::close(fd);
}

}  // namespace

std::filesystem::path find_module(const std::string& name) {
  const auto bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* lib : {"lib", TW_BENCH_LIBDIR}) {
    auto path = bin.parent_path() / lib / "thalweg" / name;
    if (std::filesystem::exists(path)) return path;
  }
  give_up(name + " is neither in the build folder nor installed");
}

bool has_delays() { return emulator<DelayBegin>(kDelayBegin) != nullptr; }

void storage_is_slow(bool on) {
  static const auto turn = emulator<DelaySwitch>(kDelaySwitch);
  if (turn != nullptr) turn(on ? 1 : 0);
}

void preload_delays(char** argv) {
  if (has_delays()) return;
  const char* others = std::getenv("LD_PRELOAD");  // NOLINT(concurrency-mt-unsafe): there is one thread
  const std::string list =
      find_module("bench_delay.so").string() + (others != nullptr ? std::string(":") + others : "");
  setenv("LD_PRELOAD", list.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  setenv("THALWEG_URING", "0", 1);        // NOLINT(concurrency-mt-unsafe)
  execv("/proc/self/exe", argv);
  must(-1, "cannot restart with the storage emulator");
}

Storage::Storage(const Ranks& ranks, const std::string& parent, bool delayed, bool settles)
    : ranks_(ranks), delayed_(delayed) {
  if (ranks.first()) {
    scratch_ = std::make_unique<Scratch>(parent);
    if (!settles) scratch_->never_settle();
  }
  const std::string kind = ranks.told(ranks.first() ? scratch_->kind() : "");
  in_memory_ = kind == "tmpfs";
  name_ = delayed ? "delayed" : kind;
  if (!delayed) return;
  const std::string folder =
      ranks.told(ranks.first() ? std::filesystem::canonical(scratch_->fresh()).parent_path() : "");
  must(emulator<DelayBegin>(kDelayBegin)(folder.c_str(), &kDelays), "cannot turn the storage emulator on");
}

std::string Storage::fresh_path(double bytes) {
  ranks_.meet();
  if (!ranks_.first()) return ranks_.told(std::string());
  scratch_->settle();
  scratch_->claim_memory(bytes);
  const std::string path = (scratch_->fresh() / "shared").string();
  if (delayed_) allocate(path, bytes);
  return ranks_.told(path);
}

void Storage::forget(const std::string& path) {
  ranks_.meet();
  if ((ranks_.first() || ranks_.nodes() > 1) && !in_memory_) drop_cache(std::filesystem::path(path).parent_path());
  ranks_.meet();
}

void Storage::drop(const std::string& path) {
  ranks_.meet();
  if (ranks_.first()) scratch_->drop_bytes(std::filesystem::path(path).parent_path());
}

}  // namespace bench
