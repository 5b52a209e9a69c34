#include "tune_profile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <thalweg/storage.h>
#include <unistd.h>

#include <algorithm>
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
  const auto status = fs::status(path);
  if (status.type() == fs::file_type::not_found) return {};
  if (status.type() != fs::file_type::regular) refuse(path, "is no file");
  if (fs::file_size(path) > kMostBytes) refuse(path, "exceeds the size limit of a profile");
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

}  // namespace

std::string profile_path() {
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  check(tw_storage_describe(nullptr, &info));
  if (*info.profile == '\0')
    throw Failure(kUsage, "profiles are turned off: THALWEG_PROFILE is empty or \"none\", or there is no HOME");
  return info.profile;
}

Json load_profile(const std::string& path) {
  const std::string text = content_of(path);
  if (text.empty()) return {{"version", 1}, {"file_systems", Json::array()}};
  Json profile = Json::parse(text, nullptr, false);
  const bool fits = profile.is_object() && profile.contains("version") && profile["version"] == 1 &&
                    profile.contains("file_systems") && profile["file_systems"].is_array();
  if (!fits) refuse(path, "is not a profile of this version");
  return profile;
}

std::string identity_of(const std::string& folder) {
  if (access(folder.c_str(), F_OK) != 0) fail_with_errno("look at folder", folder);
  if (!fs::is_directory(folder)) throw Failure(kInputOutput, fmt::format("'{}' is not a folder", folder));
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  check(tw_storage_describe(folder.c_str(), &info));
  return info.identity;
}

const Json* find_file_system(const Json& profile, const std::string& identity) {
  const Json* found = nullptr;
  for (const Json& entry : profile["file_systems"]) {
    if (entry.is_object() && entry.contains("id") && entry["id"] == identity) found = &entry;
  }
  return found;
}

std::vector<std::string> keep_of_ranks(const Json* before, Json& entry) {
  std::vector<std::string> kept;
  if (before == nullptr) return kept;
  if (!entry.contains("network") && before->contains("network") && (*before)["network"].is_array()) {
    entry["network"] = (*before)["network"];
    kept.emplace_back("network");
  }
  for (const char* costs : {"buffered", "direct"}) {
    if (!entry.contains(costs) || !before->contains(costs)) continue;
    for (const char* name : {"message_ns", "round_ns", "exchange_byte_ns", "exchange_piece_ns"}) {
      const Json ns = (*before)[costs].is_object() ? (*before)[costs].value(name, Json()) : Json();
      const bool fits = ns.is_number() && ns.get<double>() >= 0 && ns.get<double>() <= 1e9;
      if (entry[costs].contains(name) || !fits) continue;
      entry[costs][name] = ns;
      if (std::ranges::count(kept, name) == 0) kept.emplace_back(name);
    }
  }
  return kept;
}

void put_entry(Json& profile, const Json& entry) {
  Json kept = Json::array();
  for (const Json& other : profile["file_systems"]) {
    const bool same = other.is_object() && other.contains("id") && other["id"] == entry["id"];
    if (!same) kept.push_back(other);
  }
  kept.push_back(entry);
  profile["file_systems"] = kept;
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
