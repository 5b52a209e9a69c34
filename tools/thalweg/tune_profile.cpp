#include "tune_profile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "common.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = size_t{1} << 20;  // limit of the library

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw Failure(kInputOutput, fmt::format("'{}' {}; move it out of the way, or set THALWEG_PROFILE", path, why));
}

// "": there is no such file.
std::string content_of(const std::string& path) {
  if (!fs::exists(path)) return {};
  if (!fs::is_regular_file(path) || fs::file_size(path) > kMostBytes) refuse(path, "is no file of at most 1 MiB");
  std::ifstream file(path);
  if (!file) fail_with_errno("open", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The target of a link, which is the file to replace.
fs::path behind_links(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? fs::absolute(path) : real;
}

tw_storage_info describe(const char* folder) {
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  check(tw_storage_describe(folder, &info));
  return info;
}

// Adds what only the earlier entry has, the results with ranks, say. Returns whether there is any.
bool keep_earlier(const Json& before, Json& entry) {
  const Json network = before.value("network", Json());
  bool any = !entry.contains("network") && network.is_array();
  if (any) entry["network"] = network;
  for (const char* costs : {"buffered", "direct"}) {
    if (!entry.contains(costs)) continue;
    const Json earlier = before.value(costs, Json());
    for (const auto& [name, ns] : earlier.items()) {
      if (entry[costs].contains(name) || !ns.is_number() || ns < 0 || ns > 1e9) continue;
      entry[costs][name] = ns;
      any = true;
    }
  }
  return any;
}

}  // namespace

std::string profile_path() {
  const tw_storage_info info = describe(nullptr);
  if (*info.profile == '\0')
    throw Failure(kUsage, "profiles are turned off: THALWEG_PROFILE is empty or \"none\", or there is no HOME");
  return info.profile;
}

Json load_profile(const std::string& path) {
  const std::string text = content_of(path);
  if (text.empty()) return {{"version", 1}, {"file_systems", Json::array()}};
  Json profile = Json::parse(text, nullptr, false);
  if (!profile.is_object() || profile.value("version", Json()) != 1 ||
      !profile.value("file_systems", Json()).is_array())
    refuse(path, "is not a profile of this version");
  return profile;
}

tw_storage_info storage_of(const std::string& folder) {
  if (!fs::exists(folder)) throw Failure(kInputOutput, fmt::format("there is no folder '{}'", folder));
  if (!fs::is_directory(folder)) throw Failure(kInputOutput, fmt::format("'{}' is not a folder", folder));
  return describe(folder.c_str());
}

Json* find_file_system(Json& profile, const std::string& identity) {
  Json* found = nullptr;
  for (Json& entry : profile["file_systems"])
    if (entry.is_object() && entry.value("id", Json()) == identity) found = &entry;
  return found;
}

bool put_entry(Json& profile, Json& entry) {
  Json* const before = find_file_system(profile, entry["id"]);
  const bool any = before != nullptr && keep_earlier(*before, entry);
  if (before != nullptr)
    *before = entry;
  else
    profile["file_systems"].push_back(entry);
  return any;
}

void prepare_folder(const std::string& path) {
  const std::string folder = behind_links(path).parent_path().string();
  std::error_code error;
  fs::create_directories(folder, error);
  errno = error.value();
  if (error) fail_with_errno("make folder", folder);
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail_with_errno("write into folder", folder);
}

void store_profile(const std::string& path, const Json& profile) {
  const std::string real = behind_links(path).string();
  const std::string passing = fmt::format("{}.part-{}", real, getpid());
  const std::string text = profile.dump(2) + "\n";
  if (text.size() > kMostBytes) refuse(path, "would exceed the size limit of a profile");
  Descriptor file(open(passing.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) fail_with_errno("make", passing);
  const bool done = write_all(file.get(), text.data(), text.size()) && fsync(file.get()) == 0 &&
                    rename(passing.c_str(), real.c_str()) == 0;
  if (done) return;
  const int number = errno;
  unlink(passing.c_str());
  errno = number;
  fail_with_errno("write", real);
}

}  // namespace tool
