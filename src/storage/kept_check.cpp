#include "storage/kept_check.hpp"

#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "os/environment.hpp"
#include "os/file_ops.hpp"

namespace thalweg {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
constexpr int kMostDepth = 4;  // levels: document, checks, check, value

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string profile_path() {
  if (const char* chosen = std::getenv("THALWEG_PROFILE")) {
    const std::string path = chosen;
    return path == "none" ? std::string() : path;
  }
  const std::string config(environment("XDG_CONFIG_HOME"));
  if (config.starts_with('/')) return config + "/thalweg/storage.json";  // XDG: relative paths are invalid
  const std::string home(environment("HOME"));
  return home.empty() ? std::string() : home + "/.config/thalweg/storage.json";
}

std::string profile_text(const std::string& path) {
  const auto file = open_file(path, {});
  if (!file.has_value()) return {};
  const auto bytes = file_size(file.value(), path);
  if (!bytes.has_value() || bytes.value() > kMostBytes) return {};
  std::string text(static_cast<std::size_t>(bytes.value()), '\0');
  const Piece piece{reinterpret_cast<std::byte*>(text.data()), text.size()};
  const auto n = transfer_at(file.value(), {path, Direction::read, 0}, {&piece, 1});
  text.resize(n.has_value() ? n.value() : 0);
  return text;
}

std::map<std::string, KeptCheck, std::less<>> parse_checks(std::string_view json) {
  std::map<std::string, KeptCheck, std::less<>> checks;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= kMostDepth; };
  const Json all = Json::parse(json.begin(), json.end(), shallow, false);
  const auto kept = all.is_object() ? all.find("checks") : all.end();
  if (kept == all.end() || !kept->is_object() || all.value("version", Json()) != 1) return checks;
  for (const auto& [identity, found] : kept->items()) {
    KeptCheck check{.coherent = text_of(found, "coherent"), .locks = text_of(found, "locks")};
    const auto bytes = found.find("direct_alignment");
    if (bytes != found.end() && (*bytes == 512 || *bytes == 4096)) check.direct_alignment = bytes->get<std::uint32_t>();
    checks.emplace(identity, std::move(check));
  }
  return checks;
}

KeptCheck find_check(std::string_view identity) {
  using Checks = std::map<std::string, KeptCheck, std::less<>>;
  static const Checks all = []() -> Checks {
    try {
      return parse_checks(profile_text(profile_path()));
    } catch (const std::bad_alloc&) {
      return {};
    }
  }();
  const auto found = all.find(identity);
  return found == all.end() ? KeptCheck{} : found->second;
}

void use_check(const KeptCheck& check, StorageInfo& storage) {
  if (check.coherent == "no") storage.is_coherent = false;
  if (check.coherent == "trusted") storage.is_coherent = true;
  if (check.locks == "all") storage.locks_reach_all = true;
  if (check.locks == "node" || check.locks == "none") storage.locks_reach_all = false;
}

}  // namespace thalweg
