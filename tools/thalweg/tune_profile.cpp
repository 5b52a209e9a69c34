#include "tune_profile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <thalweg/storage.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "common.hpp"

namespace tool {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // limit of the library

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw Failure(kInputOutput, fmt::format("'{}' {}; move it out of the way, or set THALWEG_PROFILE", path, why));
}

std::string content_of(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file && errno == ENOENT) return {};
  if (!file) fail_with_errno("open", path);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) fail_with_errno("look at", path);
  if (!S_ISREG(status.st_mode)) refuse(path, "is no file");
  std::string text;
  char part[4096];
  while (text.size() <= kMostBytes) {
    const ssize_t got = read(file.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno("read", path);
    if (got == 0) return text;
    text.append(part, static_cast<size_t>(got));
  }
  refuse(path, "exceeds the size limit of a profile");
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

Json json_of(const TunedCosts& costs) {
  return {{"call_ns", rounded(costs.call_ns)},
          {"piece_ns", rounded(costs.piece_ns)},
          {"read_byte_ns", rounded(costs.read_byte_ns)},
          {"write_byte_ns", rounded(costs.write_byte_ns)},
          {"staged_read_byte_ns", rounded(costs.staged_read_byte_ns)},
          {"staged_write_byte_ns", rounded(costs.staged_write_byte_ns)},
          {"copy_byte_ns", rounded(costs.copy_byte_ns)},
          {"copy_piece_ns", rounded(costs.copy_piece_ns)},
          {"parallel_reads", costs.parallel_reads},
          {"parallel_writes", costs.parallel_writes}};
}

std::string utc_now() {
  const time_t now = time(nullptr);
  tm parts = {};
  char text[32] = "";
  gmtime_r(&now, &parts);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// The target of a link, which is the file to replace.
std::string behind_links(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
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
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) fail_with_errno("look at folder", folder);
  if (!S_ISDIR(status.st_mode)) throw Failure(kInputOutput, fmt::format("'{}' is not a folder", folder));
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

Json entry_of(const std::string& identity, const Measured& found) {
  Json entry = {{"id", identity},
                {"kind", identity.substr(0, identity.find('-'))},
                {"measured", utc_now()},
                {"buffered", json_of(found.buffered)}};
  if (!found.points.empty()) entry["direct"] = json_of(found.direct);
  entry["direct_reads"] = found.direct_reads;
  entry["direct_writes"] = found.direct_writes;
  entry["queue_depth"] = found.queue_depth;
  entry["transfer_bytes"] = found.transfer_bytes;
  entry["staging_bytes"] = found.staging_bytes;
  entry["physical_files"] = found.physical_files;
  entry["create_ns"] = rounded(found.create_ns);
  return entry;
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
  const std::string folder = folder_of(behind_links(path));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  errno = error.value();
  if (error) fail_with_errno("make folder", folder);
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail_with_errno("write into folder", folder);
}

void store_profile(const std::string& path, const Json& profile) {
  const std::string real = behind_links(path);
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
