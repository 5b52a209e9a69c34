// open.h: options, flags and hints.
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/hint_table.hpp"
#include "capi/guard.hpp"
#include "capi/open_options.hpp"

namespace thalweg {

namespace {

struct Kind {
  const char* call;
  const char* name;
  const char* accepted;
};
constexpr std::array kKinds = {
    Kind{"tw_multifile_open", "a multifile",
         "pass TW_READ, optionally with TW_RECOVER, or TW_CREATE or TW_APPEND, optionally with TW_TRUNCATE or "
         "TW_EXCLUSIVE"},
    Kind{
        "tw_file_open", "a shared file",
        "pass TW_READ, TW_WRITE or both, optionally with TW_CREATE, TW_EXCLUSIVE, TW_TRUNCATE, TW_APPEND or TW_DIRECT"},
    Kind{"tw_vpfile_open", "a vpfile",
         "pass TW_READ, TW_WRITE or both, optionally with TW_CREATE, TW_EXCLUSIVE, TW_TRUNCATE or TW_APPEND"},
};
const Kind& kind_of(FileKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

struct OpenFlag {
  std::int32_t value;
  const char* name;
  bool multifile, file, vpfile;  // whether it has a meaning there

  bool is_of(FileKind kind) const {
    return kind == FileKind::multifile ? multifile : kind == FileKind::file ? file : vpfile;
  }
};
constexpr std::array kFlags = {
    OpenFlag{TW_READ, "TW_READ", true, true, true},         OpenFlag{TW_WRITE, "TW_WRITE", true, true, true},
    OpenFlag{TW_CREATE, "TW_CREATE", true, true, true},     OpenFlag{TW_EXCLUSIVE, "TW_EXCLUSIVE", true, true, true},
    OpenFlag{TW_TRUNCATE, "TW_TRUNCATE", true, true, true}, OpenFlag{TW_APPEND, "TW_APPEND", true, true, true},
    OpenFlag{TW_RECOVER, "TW_RECOVER", true, false, false}, OpenFlag{TW_DIRECT, "TW_DIRECT", false, true, false},
};

constexpr std::uint32_t kAllBits = [] {
  std::uint32_t bits = 0;
  for (const OpenFlag& flag : kFlags) bits |= static_cast<std::uint32_t>(flag.value);
  return bits;
}();
static_assert(std::popcount(kAllBits) == static_cast<int>(kFlags.size()), "every flag has a bit of its own");

Status refuse(FileKind kind, const std::string& what) {
  return invalid_argument(kind_of(kind).call, "{}; {}", what, kind_of(kind).accepted);
}

Status check_bits(FileKind kind, std::int32_t flags) {
  const std::uint32_t unknown = static_cast<std::uint32_t>(flags) & ~kAllBits;
  if (unknown != 0)
    return refuse(kind, fmt::format("{:#x} contains the unknown flags {:#x}", static_cast<unsigned>(flags), unknown));
  for (const OpenFlag& flag : kFlags) {
    if ((flags & flag.value) != 0 && !flag.is_of(kind))
      return refuse(kind, std::string(flag.name) + " means nothing for " + kind_of(kind).name);
  }
  return {};
}

Status check_multifile(const OpenHow& how, std::int32_t flags) {
  constexpr FileKind kKind = FileKind::multifile;
  if (how.file.read && how.file.write)
    return refuse(kKind, "a multifile is open for reading or for writing, not for both");
  if (how.file.write && (flags & (TW_CREATE | TW_APPEND | TW_TRUNCATE)) == 0)
    return refuse(kKind, "TW_WRITE needs TW_CREATE or TW_APPEND");
  if (how.recover && !how.file.read)
    return refuse(kKind, "TW_RECOVER goes with TW_READ only (to append, repair the file first)");
  return {};
}

void add_hints(tw_options& options, const std::string& more) {
  if (!options.hints.empty() && !more.empty()) options.hints += ',';
  options.hints += more;
}

Status check_dimensions(const char* function, int32_t n_dims, bool has_numbers) {
  TW_RETURN_IF_ERROR(check_number(function, "n_dims", n_dims));
  if (n_dims > 0 && !has_numbers) return invalid_argument(function, "the numbers of the dimensions are NULL");
  return {};
}

// A call that sets an option: `body(*options)`, which returns a Status.
template <class Body>
tw_status change(tw_options* options, const char* call, Body&& body) {
  return guarded([&] { return options != nullptr ? body(*options) : null_argument(call, "options"); });
}

// By HintType and HintScope.
constexpr const char* kTypes[] = {"bytes", "count", "choice", "bool", "text"};
constexpr const char* kScopes[] = {"multifile", "file", "vpfile", "multifile or vpfile", "file or multifile"};

constexpr std::int64_t kMostHints = 64;

std::array<tw_hint, kMostHints> make_hints() {
  std::array<tw_hint, kMostHints> hints{};
  std::size_t i = 0;
  for (const HintSpec& spec : hint_table()) {
    const char* const type = kTypes[static_cast<std::size_t>(spec.type)];
    const char* const scope = kScopes[static_cast<std::size_t>(spec.scope)];
    hints[i++] = {spec.name, type, spec.default_value, spec.values, spec.help, scope};
  }
  return hints;
}

// An option that is set and means nothing for this kind of file is wrong.
Status check_options(FileKind kind, const tw_options* options) {
  if (options == nullptr) return {};
  const auto check = [kind](bool is_set, const char* name, FileKind of) {
    if (!is_set || of == kind) return Status{};
    return invalid_argument(kind_of(kind).call, "the options were given to {}, which is for {} only", name,
                            kind_of(of).call);
  };
  TW_RETURN_IF_ERROR(check(options->serving.has_value(), "tw_options_set_ranks or _range", FileKind::multifile));
  TW_RETURN_IF_ERROR(check(options->mapping != nullptr, "tw_options_set_mapping", FileKind::multifile));
  TW_RETURN_IF_ERROR(check(options->progress != nullptr, "tw_options_set_progress", FileKind::multifile));
  TW_RETURN_IF_ERROR(check(!options->shape.empty(), "tw_options_set_shape", FileKind::vpfile));
  TW_RETURN_IF_ERROR(check(!options->box_start.empty(), "tw_options_set_box", FileKind::vpfile));
  return check(options->permissions.has_value(), "tw_options_set_permissions", FileKind::file);
}

}  // namespace

Result<OpenHow> read_how_to_open(FileKind kind, std::int32_t flags, const tw_options* options) {
  TW_RETURN_IF_ERROR(check_bits(kind, flags));
  TW_RETURN_IF_ERROR(check_options(kind, options));
  const auto has = [flags](std::int32_t some) { return (flags & some) != 0; };
  OpenHow how;
  OpenOptions& file = how.file;
  file.read = has(TW_READ);
  file.write = has(TW_WRITE | TW_CREATE | TW_TRUNCATE | TW_APPEND);
  file.create = has(TW_CREATE);
  file.exclusive = has(TW_EXCLUSIVE);
  file.truncate = has(TW_TRUNCATE);
  how.append = has(TW_APPEND);
  how.recover = has(TW_RECOVER);
  how.direct = has(TW_DIRECT);
  if (kind == FileKind::multifile) TW_RETURN_IF_ERROR(check_multifile(how, flags));
  if (!file.read && !file.write) return refuse(kind, "neither reading nor writing is asked for");
  if (file.exclusive && !file.create) return refuse(kind, "TW_EXCLUSIVE needs TW_CREATE");
  if (kind == FileKind::file) return how;
  if (file.truncate && !file.create) return refuse(kind, "TW_TRUNCATE needs TW_CREATE");
  if (file.create && !file.truncate && !how.append) file.exclusive = true;
  return how;
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
  return change(options, "tw_options_set_hint", [&](tw_options& set) -> Status {
    if (name == nullptr) return null_argument("tw_options_set_hint", "name");
    if (value == nullptr) return null_argument("tw_options_set_hint", "value");
    if (std::strpbrk(name, ",=") != nullptr || std::strchr(value, ',') != nullptr)
      return invalid_argument("tw_options_set_hint", "'{}' = '{}' is more than one hint", name, value);
    add_hints(set, std::string(name) + "=" + value);
    return {};
  });
}

tw_status tw_options_set_hints(tw_options* options, const char* hints) {
  return change(options, "tw_options_set_hints", [&](tw_options& set) -> Status {
    if (hints == nullptr) return null_argument("tw_options_set_hints", "hints");
    add_hints(set, hints);
    return {};
  });
}

tw_status tw_options_set_ranks(tw_options* options, int64_t n_logical, const int64_t* ranks, int64_t n_ranks) {
  constexpr const char* kCall = "tw_options_set_ranks";
  return change(options, kCall, [&](tw_options& set) -> Status {
    TW_RETURN_IF_ERROR(check_number(kCall, "n_ranks", n_ranks));
    if (ranks == nullptr && n_ranks > 0) return null_argument(kCall, "ranks");
    if (n_logical < -1) return invalid_argument(kCall, "n_logical is {}; -1 or more is allowed", n_logical);
    for (int64_t i = 0; i < n_ranks; ++i)
      if (ranks[i] < 0 || (n_logical >= 0 && ranks[i] >= n_logical))
        return invalid_argument(kCall, "ranks[{}] is {} of {} logical files", i, ranks[i], n_logical);
    Serving serving{Serving::Kind::list, n_logical, 0, 0, {}};
    if (n_ranks > 0) serving.list.assign(ranks, ranks + n_ranks);
    set.serving = std::move(serving);
    return {};
  });
}

tw_status tw_options_set_range(tw_options* options, int64_t n_logical, int64_t first, int64_t count) {
  return change(options, "tw_options_set_range", [&](tw_options& set) -> Status {
    if (n_logical < -1 || first < 0 || count < 0 || first > INT64_MAX - count)
      return invalid_argument("tw_options_set_range",
                              "n_logical {}, first {}, count {}: none may be negative (n_logical: -1)", n_logical,
                              first, count);
    if (n_logical >= 0 && first + count > n_logical)
      return invalid_argument("tw_options_set_range", "ranks {} .. {} of {} logical files", first, first + count - 1,
                              n_logical);
    set.serving = Serving{Serving::Kind::range, n_logical, first, count, {}};
    return {};
  });
}

tw_status tw_options_set_mapping(tw_options* options, tw_mapping_fn mapping, void* user) {
  return change(options, "tw_options_set_mapping", [&](tw_options& set) -> Status {
    set.mapping = {};
    if (mapping != nullptr)
      set.mapping = [mapping, user](std::int64_t rank, std::int64_t n, std::int32_t physical) {
        return mapping(rank, n, physical, user);
      };
    return {};
  });
}

tw_status tw_options_set_progress(tw_options* options, tw_progress_fn progress, void* user) {
  return change(options, "tw_options_set_progress", [&](tw_options& set) -> Status {
    set.progress = make_watch(nullptr, progress, user).progress;
    return {};
  });
}

tw_status tw_options_set_shape(tw_options* options, int32_t n_dims, const int64_t* shape) {
  return change(options, "tw_options_set_shape", [&](tw_options& set) -> Status {
    TW_RETURN_IF_ERROR(check_dimensions("tw_options_set_shape", n_dims, shape != nullptr));
    set.shape.assign(shape, shape + n_dims);
    return {};
  });
}

tw_status tw_options_set_box(tw_options* options, int32_t n_dims, const int64_t* start, const int64_t* count) {
  return change(options, "tw_options_set_box", [&](tw_options& set) -> Status {
    TW_RETURN_IF_ERROR(check_dimensions("tw_options_set_box", n_dims, start != nullptr && count != nullptr));
    std::vector<std::int64_t> starts(start, start + n_dims), counts(count, count + n_dims);
    set.box_start = std::move(starts);
    set.box_count = std::move(counts);
    return {};
  });
}

tw_status tw_options_set_permissions(tw_options* options, uint32_t permissions) {
  return change(options, "tw_options_set_permissions", [&](tw_options& set) -> Status {
    set.permissions = permissions;
    return {};
  });
}

const tw_hint* tw_hint_info(int64_t i) {
  static const std::array<tw_hint, kMostHints> hints = make_hints();
  if (i < 0 || i >= kMostHints) return nullptr;
  const tw_hint& hint = hints[static_cast<std::size_t>(i)];
  return hint.name != nullptr ? &hint : nullptr;
}

}  // extern "C"
