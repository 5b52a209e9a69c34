// multifile.h, part one: configurations and hints.
#include <array>
#include <new>

#include "base/hint_table.hpp"
#include "capi/guard.hpp"
#include "capi/multifile_handle.hpp"
#include "capi/watch.hpp"
#include "thalweg/multifile.h"

using namespace thalweg;

extern "C" tw_status tw_multifile_config_create(tw_multifile_config** config) {
  return guarded([&]() -> Status {
    if (config == nullptr) return null_argument("tw_multifile_config_create", "config");
    *config = new tw_multifile_config;
    return {};
  });
}

extern "C" void tw_multifile_config_free(tw_multifile_config* config) { delete config; }

extern "C" tw_status tw_multifile_config_set_hint(tw_multifile_config* config, const char* name, const char* value) {
  return guarded([&]() -> Status {
    if (config == nullptr) return null_argument("tw_multifile_config_set_hint", "config");
    if (name == nullptr) return null_argument("tw_multifile_config_set_hint", "name");
    if (value == nullptr) return null_argument("tw_multifile_config_set_hint", "value");
    return set_option(config->config.options, name, value);
  });
}

extern "C" tw_status tw_multifile_config_set_ranks(tw_multifile_config* config, int64_t n_logical, const int64_t* ranks,
                                                   size_t n_ranks) {
  return guarded([&]() -> Status {
    if (config == nullptr) return null_argument("tw_multifile_config_set_ranks", "config");
    if (ranks == nullptr && n_ranks > 0) return null_argument("tw_multifile_config_set_ranks", "ranks");
    if (n_logical < -1)
      return Status::error(Code::invalid_argument,
                           "n_logical is " + std::to_string(n_logical) + "; -1 or more is allowed");
    for (size_t i = 0; i < n_ranks; ++i)
      if (ranks[i] < 0 || (n_logical >= 0 && ranks[i] >= n_logical))
        return Status::error(Code::invalid_argument, "ranks[" + std::to_string(i) + "] is " + std::to_string(ranks[i]) +
                                                         " of " + std::to_string(n_logical) + " logical files");
    Serving serving{Serving::Kind::list, n_logical, 0, 0, {}};
    if (n_ranks > 0) serving.list.assign(ranks, ranks + n_ranks);
    config->config.serving = std::move(serving);
    return {};
  });
}

extern "C" tw_status tw_multifile_config_set_range(tw_multifile_config* config, int64_t n_logical, int64_t first,
                                                   int64_t count) {
  return guarded([&]() -> Status {
    if (config == nullptr) return null_argument("tw_multifile_config_set_range", "config");
    if (n_logical < -1 || first < 0 || count < 0 || first > INT64_MAX - count)
      return Status::error(Code::invalid_argument, "n_logical " + std::to_string(n_logical) + ", first " +
                                                       std::to_string(first) + ", count " + std::to_string(count) +
                                                       ": none may be negative (n_logical: -1)");
    if (n_logical >= 0 && first + count > n_logical)
      return Status::error(Code::invalid_argument, "ranks " + std::to_string(first) + " .. " +
                                                       std::to_string(first + count - 1) + " of " +
                                                       std::to_string(n_logical) + " logical files");
    config->config.serving = Serving{Serving::Kind::range, n_logical, first, count, {}};
    return {};
  });
}

extern "C" tw_status tw_multifile_config_set_mapping(tw_multifile_config* config, tw_mapping_fn mapping, void* user) {
  return guarded([&]() -> Status {
    if (config == nullptr) return null_argument("tw_multifile_config_set_mapping", "config");
    config->config.mapping = {};
    if (mapping != nullptr)
      config->config.mapping = [mapping, user](std::int64_t rank, std::int64_t n, std::int32_t physical) {
        return mapping(rank, n, physical, user);
      };
    return {};
  });
}

extern "C" tw_status tw_multifile_config_set_progress(tw_multifile_config* config, tw_progress_fn progress,
                                                      void* user) {
  return guarded([&]() -> Status {
    if (config == nullptr) return null_argument("tw_multifile_config_set_progress", "config");
    config->config.progress = make_watch(nullptr, progress, user).progress;
    return {};
  });
}

namespace {

const char* type_name(HintType type) {
  switch (type) {
    case HintType::bytes:
      return "bytes";
    case HintType::count:
      return "count";
    case HintType::choice:
      return "choice";
    default:
      return "bool";
  }
}

const char* scope_name(HintScope scope) {
  if (scope == HintScope::file) return "file";
  if (scope == HintScope::multifile_or_vpfile) return "multifile or vpfile";
  return scope == HintScope::vpfile ? "vpfile" : "multifile";
}

constexpr std::size_t kMostHints = 64;

std::array<tw_hint, kMostHints> make_hints() {
  std::array<tw_hint, kMostHints> hints{};
  std::size_t i = 0;
  for (const HintSpec& spec : hint_table())
    hints[i++] = {spec.name, type_name(spec.type), spec.default_value, spec.values, spec.help, scope_name(spec.scope)};
  return hints;
}

}  // namespace

extern "C" const tw_hint* tw_hint_info(size_t i) {
  static const std::array<tw_hint, kMostHints> hints = make_hints();
  return i < hints.size() && hints[i].name != nullptr ? &hints[i] : nullptr;
}
