// The collective opening of a multifile.
//
// Reading:
//  1. The tasks agree that all of them give the same path, mode and flags (agree_on_mode).
//  2. The tasks of a process share one ReadSet (share_read_set). The first task that uses it opens physical file 0 and
//     reads which logical file lies in which physical file; other physical files are opened when they are needed.
//  3. Each task determines the ranks that it serves. The tasks agree on one status.
//
// Writing:
//  1. The tasks agree on path, mode and flags as above, and prepare the group in which they will close the file. An
//     append that may create becomes a creation where task 0 finds no file (create_where_absent).
//  2. Append: the tasks of a process share one ReadSet of what is stored already.
//  3. Each task describes the ranks it serves, its process and its chunk size in a WriteRequest. Task 0 gathers them.
//  4. Task 0 makes the WritePlan: how many physical files there are, which ranks lie in each, and which slabs each
//     process owns. It then creates the physical files, or begins a session in those that exist, and holds the lock of
//     physical file 0 (create_files.hpp).
//  5. Task 0 broadcasts its status and what all tasks need of the plan, and scatters to each task its own share.
//  6. The tasks of a process share one WriteSet. Each task opens the physical files that it writes into.
//  7. The tasks agree on one status. On failure task 0 removes the new files or ends the session that it began.
//
// Between two collectives every local step ends in a Status, and every task comes to the next collective.
#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "base/shell_word.hpp"
#include "base/size_units.hpp"
#include "base/wire.hpp"
#include "formats/known_file.hpp"
#include "group/agree.hpp"
#include "multifile/multifile.hpp"
#include "multifile/write/create_files.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kMostLogical = 1ull << 40;

// ---- Reading -----------------------------------------------------------------------------------------------------

// Collective. One object for each process, which its first task makes.
template <class T>
Op<Result<std::shared_ptr<T>>> shared_by_process(Group& group, std::function<std::shared_ptr<void>()> make) {
  TW_CO_ASSIGN_OR_RETURN(const auto shared, co_await group.share_in_process(std::move(make)));
  co_return std::static_pointer_cast<T>(shared);
}

Op<Result<std::shared_ptr<ReadSet>>> share_read_set(Group& group, const OpenRequest& request) {
  return shared_by_process<ReadSet>(group, [&request, of_nodes = group.place().nodes > 1] {
    Watch watch{{}, request.progress, {}};
    if (request.progress) watch.go_on = [progress = request.progress] { return progress(0, 0); };
    const auto unclosed = request.recover ? ReadSet::Unclosed::recover : ReadSet::Unclosed::refuse;
    return std::make_shared<ReadSet>(request.backend, request.path, unclosed, std::move(watch), of_nodes);
  });
}

Status check_same_path(const ReadSet& set, const OpenRequest& request) {
  if (set.path() == request.path) return {};
  return Status::error(Code::invalid_argument, "path '{}' differs from '{}' given by another task", request.path,
                       set.path());
}

Status check_total(const Serving& serving, const ReadSet& set) {
  const std::uint64_t n = set.n_logical();
  const std::uint64_t numbered = set.header().n_logical;
  if (serving.n_logical < 0 || std::cmp_equal(serving.n_logical, n) || std::cmp_equal(serving.n_logical, numbered))
    return {};
  return Status::error(Code::invalid_argument, "'{}' has {} logical files, not {}; -1 takes what the file says",
                       set.path(), n, serving.n_logical);
}

Status start_reading(Group& group, const OpenRequest& request, std::shared_ptr<ReadSet> set,
                     std::unique_ptr<Multifile>& out) {
  TW_RETURN_IF_ERROR(request.arguments);
  TW_RETURN_IF_ERROR(check_same_path(*set, request));
  TW_RETURN_IF_ERROR(set->open());
  TW_RETURN_IF_ERROR(check_total(request.serving, *set));
  TW_ASSIGN_OR_RETURN(const auto ranges, served_ranges(request.serving, group.rank(), group.size(), set->n_logical(),
                                                       set->header().n_logical));
  out = std::make_unique<Multifile>();
  const MultifileOptions& options = request.options;
  const std::uint32_t n_physical = set->header().n_physical + set->header().n_later;
  out->strategy = fmt::format(
      "{}{} physical file{}; buffered reads of up to {}{}; checksums {}", set->header().n_later > 0 ? "up to " : "",
      n_physical, n_physical == 1 ? "" : "s", exact_size(options.buffer_bytes),
      options.storage_hints.find("io=direct") != std::string::npos ? " (io=direct is for writes)" : "",
      set->header().checksum == format::Checksum::none ? "none"
      : options.verify                                 ? "verified"
                                                       : "not verified");
  out->reading = std::make_unique<ReadHandle>(
      std::move(set), ranges, ReaderSettings{.buffer_bytes = options.buffer_bytes, .verify = options.verify});
  return {};
}

// Collective, after each task has opened the set with status `mine`: whether nodes see one session. `mine` where not.
Op<Status> see_one_session(Group& group, ReadSet& set, Status mine) {
  const std::string seen = fmt::format(
      "'{}' is being changed by another program, or the mount of a node keeps an old state of it (open it again "
      "later): the sessions or numbers of logical files that tasks find in it",
      set.path());
  const bool opened = mine.ok();
  const auto session = opened ? static_cast<std::int64_t>(set.first().state().sequence) : 0;
  const auto n_logical = opened ? static_cast<std::int64_t>(set.n_logical()) : 0;
  co_return co_await same_on_all(group, session, n_logical, std::move(mine), seen.c_str(), Code::unsafe);
}

Op<Result<std::unique_ptr<Multifile>>> open_for_reading(Group& group, const OpenRequest& request) {
  TW_CO_ASSIGN_OR_RETURN(auto set, co_await share_read_set(group, request));
  std::unique_ptr<Multifile> file;
  const Status mine = attempt([&] { return start_reading(group, request, set, file); });
  TW_CO_RETURN_IF_ERROR(co_await see_one_session(group, *set, mine));
  co_return std::move(file);
}

// ---- Writing -----------------------------------------------------------------------------------------------------

std::uint32_t hash_arguments(const OpenRequest& request) {
  const MultifileOptions& o = request.options;
  WireWriter out;
  out.put_text(o.in_tier() ? std::string() : request.path);  // a tier has a folder for each node
  out.put_text(o.storage_hints);
  out.put(request.access);
  out.put(request.exclusive);
  for (const std::uint64_t value :
       {std::uint64_t{o.physical_files}, std::uint64_t{o.alignment_bytes}, std::uint64_t{o.granule_bytes},
        static_cast<std::uint64_t>(o.checksum), static_cast<std::uint64_t>(o.codec), std::uint64_t{o.sync_on_close},
        std::uint64_t{o.overwrite_foreign}, std::uint64_t{o.refuses_duplicates}})
    out.put(value);
  const Bytes bytes = out.take();
  const std::uint64_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

Result<std::uint64_t> total_logical(const Group& group, const OpenRequest& request, const ReadSet* old) {
  const Serving& serving = request.serving;
  if (old != nullptr) {
    TW_RETURN_IF_ERROR(check_total(serving, *old));
    return old->n_logical();
  }
  if (serving.n_logical < 0 && serving.kind != Serving::Kind::automatic)
    return Status::error(Code::invalid_argument, "creating '{}': the number of logical files is {}; it must be told",
                         request.path, serving.n_logical);
  const auto n = static_cast<std::uint64_t>(serving.n_logical < 0 ? group.size() : serving.n_logical);
  if (n > kMostLogical)
    return Status::error(Code::invalid_argument, "{} logical files are asked for; 2^40 is the most", n);
  return n;
}

Status make_request(Group& group, const OpenRequest& request, ReadSet* old, WriteRequest& out) {
  out.arguments = hash_arguments(request);
  out.chunk_bytes = request.options.chunk_bytes;
  out.process = group.place().process;
  out.node = group.place().node;
  TW_RETURN_IF_ERROR(request.arguments);
  if (old != nullptr) {
    TW_RETURN_IF_ERROR(check_same_path(*old, request));
    const Status opened = old->open();
    if (opened.code() == Code::corrupt_file && !request.options.overwrite_foreign)
      TW_RETURN_IF_ERROR(check_may_overwrite(*request.backend, request.path, format::KnownFormat::multifile));
    TW_RETURN_IF_ERROR(opened);
  }
  TW_ASSIGN_OR_RETURN(out.n_logical, total_logical(group, request, old));
  TW_ASSIGN_OR_RETURN(out.ranges, served_ranges(request.serving, group.rank(), group.size(), out.n_logical,
                                                old != nullptr ? old->header().n_logical : out.n_logical));
  return {};
}

// The requests are freed before the physical files are made: their memory would add to that of the shares.
Result<WritePlan> make_plan(const OpenRequest& request, Gathered gathered, ReadSet* old, std::int64_t& process,
                            Gathered& shares) {
  TW_ASSIGN_OR_RETURN(const WriteRequests requests, WriteRequests::decode(std::move(gathered)));
  TW_ASSIGN_OR_RETURN(const StorageInfo storage, request.backend->describe(request.path));
  const WritePlanInput input{requests, request.options, request.mapping, storage,
                             [&request] { return request.backend->direct_alignment_at(request.path); }};
  TW_ASSIGN_OR_RETURN(WritePlan plan, old != nullptr ? plan_append(input, *old) : plan_create(input));
  shares = encode_shares(plan, requests);
  process = requests.root_process();
  return plan;
}

// Step 4 of task 0, which makes `root` and `shares` of the requests.
Status plan_and_create(const OpenRequest& request, Gathered gathered, ReadSet* old, WriteRoot& root, Gathered& shares) {
  root.backend = request.backend;
  root.path = request.path;
  root.refuses_duplicates = request.options.refuses_duplicates;
  WritePlan& plan = root.plan;
  TW_ASSIGN_OR_RETURN(plan, make_plan(request, std::move(gathered), old, root.process, shares));
  if (old != nullptr) {
    TW_ASSIGN_OR_RETURN(root.held, hold_file(*request.backend, request.path));
    // The plan was made before the lock was taken: another program may have appended in between.
    TW_RETURN_IF_ERROR(check_state(*root.held, old->header(), old->first().state()));
    TW_RETURN_IF_ERROR(begin_session(*request.backend, request.path, plan));
  } else {
    TW_ASSIGN_OR_RETURN(root.held, create_files(*request.backend, request.path, request.exclusive,
                                                request.options.overwrite_foreign, plan));
    auto made = request.backend->describe_open(*root.held);
    if (made.has_value()) plan.common.strategy += describe_stripes(made->stripes, plan.common.stripes, made->kind);
  }
  plan.ranks.table = std::vector<std::uint64_t>();  // `= {}` would keep the memory
  for (PlannedFile& file : plan.files) file.ranks = std::vector<std::uint64_t>();
  return {};
}

Status start_writing(const OpenRequest& request, const WriteCommon& common, WriteShare share,
                     std::shared_ptr<WriteSet> set, std::shared_ptr<ReadSet> old, Multifile& file) {
  const MultifileOptions& options = request.options;
  if (options.sync_on_close || (old && old->first().state().durable)) set->close_durably();
  if (old) old->expect_own_session();
  bool direct = common.direct.transfer_bytes > 0;
  for (const DomainShare& domain : share.domains) {
    TW_ASSIGN_OR_RETURN(PhysicalWriter * writer, set->writer(domain, common));
    direct = direct && fits_buffers(writer->file().direct_alignment());
  }
  WriterSettings settings;
  if (direct) settings.direct = std::make_shared<DirectWrites>(common.direct);
  settings.buffer_bytes = options.buffer_bytes;
  settings.added_bytes = options.added_bytes;
  settings.chunks_grow = options.chunk_bytes == kAuto;
  settings.chunk_bytes = settings.chunks_grow ? common.chunk_bytes : options.chunk_bytes;
  settings.codec = options.codec;
  file.strategy = common.strategy;
  file.writing =
      std::make_unique<WriteHandle>(std::move(set), std::move(old), common, std::move(share), std::move(settings));
  return {};
}

// Removes the files of a failed creation, or closes those of a failed append as they were before.
void undo(const WriteRoot& root, const OpenRequest& request) {
  if (request.access == MultifileMode::create) {
    remove_files(*root.backend, root.path, root.plan);
    return;
  }
  for (const PlannedFile& file : root.plan.files) abandon_session(*root.backend, root.path, file);
}

// Steps 5 to 7, from the plan of task 0 to a handle that serves `ranges`.
Op<Status> follow_plan(Group& group, const OpenRequest& request, std::span<const RankRange> ranges, Bytes plan_message,
                       Gathered shares, std::shared_ptr<ReadSet> old, Multifile& file) {
  TW_CO_ASSIGN_OR_RETURN(const auto message, co_await group.broadcast(plan_message, 0));
  WireReader in(message);
  TW_CO_RETURN_IF_ERROR(in.get_status());
  const WriteCommon common = get_common(in);
  TW_CO_ASSIGN_OR_RETURN(const auto share, co_await group.scatter(shares, 0));
  shares = {};
  const Place place = group.place();
  std::function<std::shared_ptr<void>()> make = [&request, &place] {
    return std::make_shared<WriteSet>(request.backend, request.path, place.tasks_in_process, place.processes,
                                      request.options.in_tier());
  };
  TW_CO_ASSIGN_OR_RETURN(auto set, co_await shared_by_process<WriteSet>(group, std::move(make)));
  const Status mine = attempt([&] {
    const std::shared_ptr<WriteSet> files = std::move(set);
    if (group.rank() != 0) TW_RETURN_IF_ERROR(files->hold(nullptr));
    WriteShare own = decode_share(share, common, ranges, static_cast<std::size_t>(group.rank()),
                                  static_cast<std::size_t>(group.size()));
    return start_writing(request, common, std::move(own), files, std::move(old), file);
  });
  co_return co_await agree(group, mine);
}

Op<Result<std::unique_ptr<Multifile>>> open_for_writing(Group& group, const OpenRequest& request) {
  std::unique_ptr<Group> closing;
  if (group.size() > 1) {
    TW_CO_ASSIGN_OR_RETURN(closing, co_await group.channel());
  }
  std::shared_ptr<ReadSet> old;
  if (request.access == MultifileMode::append) {
    TW_CO_ASSIGN_OR_RETURN(old, co_await share_read_set(group, request));
  }
  WriteRequest wanted;
  Bytes wanted_bytes;  // empty: out of memory, which task 0 finds out
  wanted.status = attempt([&] { return make_request(group, request, old.get(), wanted); });
  if (old != nullptr && group.place().nodes > 1)
    TW_CO_RETURN_IF_ERROR(co_await see_one_session(group, *old, wanted.status));
  (void)attempt([&] {
    wanted_bytes = encode(wanted, static_cast<std::size_t>(group.rank()), static_cast<std::size_t>(group.size()));
    return Status{};
  }).ok();
  TW_CO_ASSIGN_OR_RETURN(auto gathered, co_await group.gather(wanted_bytes, 0));

  std::unique_ptr<WriteRoot> root;  // task 0; null: it failed
  Gathered shares;
  Bytes plan_message;
  if (group.rank() == 0) {
    const Status planned = attempt([&] {
      root = std::make_unique<WriteRoot>();
      return plan_and_create(request, std::move(gathered), old.get(), *root, shares);
    });
    if (!planned.ok()) root.reset();
    WireWriter out;
    out.put_status(planned);
    if (root) put_common(out, root->plan.common);
    plan_message = out.take();
  }
  auto file = std::make_unique<Multifile>();
  const Status status =
      co_await follow_plan(group, request, wanted.ranges, std::move(plan_message), std::move(shares), old, *file);
  if (!status.ok()) {
    if (root) undo(*root, request);
    co_return status;
  }
  if (root) {
    root->old = old;
    (void)file->writing->files().hold(std::move(root->held)).ok();  // cannot fail: it is there
    if (request.progress) root->go_on = [progress = request.progress] { return progress(0, 0); };
  }
  const std::string& tier = request.options.tier;
  file->remedy = tier.empty() ? repair_command(request.path) : drain_command(tier);
  file->root = std::move(root);
  file->closing = std::move(closing);
  co_return std::move(file);
}

// A hash of path, mode, flags and the hints that decide which collectives follow; not negative.
std::int64_t mode_hash(const OpenRequest& request) {
  const std::size_t path = std::hash<std::string>{}(request.path);
  const std::size_t mode = static_cast<std::size_t>(request.access) * 8 + (request.create ? 4 : 0) +
                           (request.exclusive ? 2 : 0) + request.recover;
  const MultifileOptions& o = request.options;
  const std::size_t tier = std::hash<std::string>{}(o.tier) * 8 + static_cast<std::size_t>(o.drain) * 2 + o.partner;
  return static_cast<std::int64_t>(((path * 32 + mode) * 32 + tier) & std::size_t{INT64_MAX});
}

// Reading and writing use different collectives from here on: a task with other arguments would wait for ever.
Op<Status> agree_on_mode(Group& group, const OpenRequest& request) {
  const std::string what = fmt::format("opening '{}': path, mode, flags or tier", request.path);
  co_return co_await same_on_all(group, mode_hash(request), 0, request.arguments, what.c_str());
}

// Collective. An append that may create does so where task 0 finds no file.
Op<Status> create_where_absent(Group& group, OpenRequest& request) {
  auto exists = group.rank() == 0 ? request.backend->exists(request.path) : Result<bool>(true);
  const std::int64_t absent_here = exists.has_value() && !*exists ? 1 : 0;
  TW_CO_ASSIGN_OR_RETURN(const auto absent, co_await agree_on(group, exists.status(), absent_here, Reduction::max));
  if (absent != 0) {
    request.access = MultifileMode::create;
    request.exclusive = true;
  }
  co_return Status{};
}

}  // namespace

Op<Result<std::unique_ptr<Multifile>>> open_multifile(Group& group, OpenRequest request) {
  Status same = co_await agree_on_mode(group, request);
  if (same.ok() && request.prepare) same = co_await request.prepare(group, request);
  if (same.ok() && request.access == MultifileMode::append && request.create)
    same = co_await create_where_absent(group, request);
  if (!same.ok()) co_return same;
  if (request.access == MultifileMode::read) co_return co_await open_for_reading(group, request);
  co_return co_await open_for_writing(group, request);
}

}  // namespace thalweg
