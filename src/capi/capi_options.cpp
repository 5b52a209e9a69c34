// open.h: options and hints.
#include <array>
#include <cstring>

#include "base/hint_table.hpp"
#include "capi/guard.hpp"
#include "capi/open_options.hpp"
#include "capi/watch.hpp"

namespace thalweg {

namespace {

void add_hints(tw_options& options, const std::string& more) {
  if (!options.hints.empty() && !more.empty()) options.hints += ',';
  options.hints += more;
}

Status check_dimensions(const char* function, int32_t n_dims, bool has_numbers) {
  if (n_dims < 0) return invalid_argument(function, "n_dims is " + std::to_string(n_dims) + "; 0 or more");
  if (n_dims > 0 && !has_numbers) return invalid_argument(function, "the numbers of the dimensions are NULL");
  return {};
}

}  // namespace

Status check_options(FileKind kind, const tw_options* options) {
  if (options == nullptr) return {};
  struct Option {
    bool is_set;
    const char* name;
    FileKind kind;
  };
  const Option all[] = {{options->serving.has_value(), "tw_options_set_ranks or _range", FileKind::multifile},
                        {options->mapping != nullptr, "tw_options_set_mapping", FileKind::multifile},
                        {options->progress != nullptr, "tw_options_set_progress", FileKind::multifile},
                        {!options->shape.empty(), "tw_options_set_shape", FileKind::vpfile},
                        {options->box.has_value(), "tw_options_set_box", FileKind::vpfile},
                        {options->permissions.has_value(), "tw_options_set_permissions", FileKind::file}};
  static constexpr const char* kCalls[] = {"tw_multifile_open", "tw_file_open", "tw_vpfile_open"};
  for (const Option& option : all) {
    if (option.is_set && option.kind != kind)
      return invalid_argument(kCalls[static_cast<int>(kind)], std::string("the options were given to ") + option.name +
                                                                  ", which is for " +
                                                                  kCalls[static_cast<int>(option.kind)] + " only");
  }
  return {};
}

Result<MultifileOptions> multifile_hints(const tw_options* options) {
  MultifileOptions hints;
  if (options != nullptr)
    TW_RETURN_IF_ERROR(for_each_hint(
        options->hints, [&](std::string_view name, std::string_view value) { return set_option(hints, name, value); }));
  return hints;
}

}  // namespace thalweg

using namespace thalweg;

extern "C" {

tw_status tw_options_create(tw_options** options) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_create", "options");
    *options = new tw_options;
    return {};
  });
}

void tw_options_free(tw_options** options) { free_handle(options); }

tw_status tw_options_set_hint(tw_options* options, const char* name, const char* value) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_hint", "options");
    if (name == nullptr) return null_argument("tw_options_set_hint", "name");
    if (value == nullptr) return null_argument("tw_options_set_hint", "value");
    if (std::strpbrk(name, ",=") != nullptr || std::strchr(value, ',') != nullptr)
      return invalid_argument("tw_options_set_hint",
                              std::string("'") + name + "' = '" + value + "' is more than one hint");
    add_hints(*options, std::string(name) + "=" + value);
    return {};
  });
}

tw_status tw_options_set_hints(tw_options* options, const char* hints) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_hints", "options");
    if (hints == nullptr) return null_argument("tw_options_set_hints", "hints");
    add_hints(*options, hints);
    return {};
  });
}

tw_status tw_options_set_ranks(tw_options* options, int64_t n_logical, const int64_t* ranks, int64_t n_ranks) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_ranks", "options");
    if (n_ranks < 0)
      return invalid_argument("tw_options_set_ranks", "n_ranks is " + std::to_string(n_ranks) + "; 0 or more");
    if (ranks == nullptr && n_ranks > 0) return null_argument("tw_options_set_ranks", "ranks");
    if (n_logical < -1)
      return invalid_argument("tw_options_set_ranks",
                              "n_logical is " + std::to_string(n_logical) + "; -1 or more is allowed");
    for (int64_t i = 0; i < n_ranks; ++i)
      if (ranks[i] < 0 || (n_logical >= 0 && ranks[i] >= n_logical))
        return invalid_argument("tw_options_set_ranks", "ranks[" + std::to_string(i) + "] is " +
                                                            std::to_string(ranks[i]) + " of " +
                                                            std::to_string(n_logical) + " logical files");
    Serving serving{Serving::Kind::list, n_logical, 0, 0, {}};
    if (n_ranks > 0) serving.list.assign(ranks, ranks + n_ranks);
    options->serving = std::move(serving);
    return {};
  });
}

tw_status tw_options_set_range(tw_options* options, int64_t n_logical, int64_t first, int64_t count) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_range", "options");
    if (n_logical < -1 || first < 0 || count < 0 || first > INT64_MAX - count)
      return invalid_argument("tw_options_set_range", "n_logical " + std::to_string(n_logical) + ", first " +
                                                          std::to_string(first) + ", count " + std::to_string(count) +
                                                          ": none may be negative (n_logical: -1)");
    if (n_logical >= 0 && first + count > n_logical)
      return invalid_argument("tw_options_set_range", "ranks " + std::to_string(first) + " .. " +
                                                          std::to_string(first + count - 1) + " of " +
                                                          std::to_string(n_logical) + " logical files");
    options->serving = Serving{Serving::Kind::range, n_logical, first, count, {}};
    return {};
  });
}

tw_status tw_options_set_mapping(tw_options* options, tw_mapping_fn mapping, void* user) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_mapping", "options");
    options->mapping = {};
    if (mapping != nullptr)
      options->mapping = [mapping, user](std::int64_t rank, std::int64_t n, std::int32_t physical) {
        return mapping(rank, n, physical, user);
      };
    return {};
  });
}

tw_status tw_options_set_progress(tw_options* options, tw_progress_fn progress, void* user) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_progress", "options");
    options->progress = make_watch(nullptr, progress, user).progress;
    return {};
  });
}

tw_status tw_options_set_shape(tw_options* options, int32_t n_dims, const int64_t* shape) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_shape", "options");
    TW_RETURN_IF_ERROR(check_dimensions("tw_options_set_shape", n_dims, shape != nullptr));
    options->shape.assign(shape, shape + n_dims);
    return {};
  });
}

tw_status tw_options_set_box(tw_options* options, int32_t n_dims, const int64_t* start, const int64_t* count) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_box", "options");
    TW_RETURN_IF_ERROR(check_dimensions("tw_options_set_box", n_dims, start != nullptr && count != nullptr));
    options->box.reset();
    if (n_dims > 0) options->box = tw_options::Box{{start, start + n_dims}, {count, count + n_dims}};
    return {};
  });
}

tw_status tw_options_set_permissions(tw_options* options, uint32_t permissions) {
  return guarded([&]() -> Status {
    if (options == nullptr) return null_argument("tw_options_set_permissions", "options");
    options->permissions = permissions;
    return {};
  });
}

}  // extern "C"

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

constexpr std::int64_t kMostHints = 64;

std::array<tw_hint, kMostHints> make_hints() {
  std::array<tw_hint, kMostHints> hints{};
  std::size_t i = 0;
  for (const HintSpec& spec : hint_table())
    hints[i++] = {spec.name, type_name(spec.type), spec.default_value, spec.values, spec.help, scope_name(spec.scope)};
  return hints;
}

}  // namespace

extern "C" const tw_hint* tw_hint_info(int64_t i) {
  static const std::array<tw_hint, kMostHints> hints = make_hints();
  if (i < 0 || i >= kMostHints) return nullptr;
  const tw_hint& hint = hints[static_cast<std::size_t>(i)];
  return hint.name != nullptr ? &hint : nullptr;
}
