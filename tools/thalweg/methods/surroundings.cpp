#include "surroundings.hpp"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <thalweg/storage.h>
#include <thalweg/version.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common.hpp"

namespace tool {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

int cores() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 1 << 16); }

Json machine_facts() {
  utsname name{};
  uname(&name);
  return {{"cpu", processor()},
          {"cores", cores()},
          {"memory_bytes", static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)},
          {"kernel", std::string(name.sysname) + " " + name.release + " " + name.machine}};
}

Json storage_facts(const std::string& folder) {
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  check(tw_storage_describe(folder.c_str(), &info));
  const std::string text = info.identity;
  struct statvfs system = {};
  if (statvfs(folder.c_str(), &system) != 0) fail_with_errno("look at folder", folder);
  std::error_code error;
  const auto whole = std::filesystem::absolute(folder, error);
  return {{"path", error ? folder : whole.lexically_normal().string()},
          {"kind", text.substr(0, text.find('-'))},
          {"identity", text},
          {"free_bytes", static_cast<int64_t>(system.f_bavail) * static_cast<int64_t>(system.f_frsize)}};
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; std::getline(file, word, '\0');) {
    if (text.empty()) word = std::filesystem::path(word).filename().string();
    text += (text.empty() ? "" : " ") + (word.starts_with('-') ? word : shell_word(word));
  }
  return text;
}

std::string utc_now() {
  const time_t now = time(nullptr);
  tm parts = {};
  char text[32] = "";
  gmtime_r(&now, &parts);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace tool
