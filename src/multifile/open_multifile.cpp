// The collective opening of a multifile.
#include <cstdint>
#include <functional>

#include "base/size_units.hpp"
#include "formats/known_file.hpp"
#include "group/agree.hpp"
#include "group/wire.hpp"
#include "multifile/multifile.hpp"
#include "multifile/write/create_files.hpp"
#include "os/wait.hpp"
#include "storage/hold_file.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kMostLogical = 1ull << 40;

// ---- Reading -----------------------------------------------------------------------------------------------------

// For share_in_process: null where there is no memory.
template <class T, class... Arguments>
std::shared_ptr<void> try_make(Arguments&&... arguments) {
  std::shared_ptr<void> made;
  (void)attempt([&] {
    made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    return Status{};
  }).ok();
  return made;
}

Status no_memory(const std::string& path) { return Status::error(Code::no_memory, "no memory to open '" + path + "'"); }

std::shared_ptr<void> new_read_set(const OpenRequest& request) {
  const auto unclosed = request.recover ? ReadSet::Unclosed::recover : ReadSet::Unclosed::refuse;
  const auto& progress = request.config.progress;
  Watch watch{{}, progress, {}};
  if (progress) watch.go_on = [progress] { return progress(0, 0); };
  return try_make<ReadSet>(request.backend, request.path, unclosed, std::move(watch));
}

Status check_same_path(const ReadSet& set, const OpenRequest& request) {
  if (set.path() == request.path) return {};
  return Status::error(Code::invalid_argument,
                       "path '" + request.path + "' differs from '" + set.path() + "' given by another task");
}

Status check_total(const Serving& serving, const ReadSet& set) {
  const std::uint64_t n = set.header().n_logical;
  if (serving.n_logical < 0 || static_cast<std::uint64_t>(serving.n_logical) == n) return {};
  return Status::error(Code::invalid_argument, "'" + set.path() + "' has " + std::to_string(n) +
                                                   " logical files, not " + std::to_string(serving.n_logical) +
                                                   "; -1 takes what the file says");
}

Status start_reading(Group& group, const OpenRequest& request, std::shared_ptr<ReadSet> set,
                     std::unique_ptr<Multifile>& out) {
  TW_RETURN_IF_ERROR(request.arguments);
  if (!set) return no_memory(request.path);
  TW_RETURN_IF_ERROR(check_same_path(*set, request));
  TW_RETURN_IF_ERROR(set->open());
  TW_RETURN_IF_ERROR(check_total(request.config.serving, *set));
  TW_ASSIGN_OR_RETURN(const auto ranges,
                      served_ranges(request.config.serving, group.rank(), group.size(), set->header().n_logical));
  std::vector<PlacedRange> served;
  served.reserve(ranges.size());
  for (const RankRange& range : ranges) served.push_back({range.first, range.count, 0, 0});
  out = std::make_unique<Multifile>();
  const Options& options = request.config.options;
  const std::uint32_t n_physical = set->header().n_physical;
  out->strategy = std::to_string(n_physical) + (n_physical == 1 ? " physical file" : " physical files") +
                  "; buffered reads of up to " + exact_size(options.buffer_bytes) + "; checksums " +
                  (set->header().checksum == format::Checksum::none ? "none"
                   : options.verify                                 ? "verified"
                                                                    : "not verified");
  out->reading = std::make_unique<ReadHandle>(std::move(set), std::move(served),
                                              ReaderSettings{options.buffer_bytes, options.verify, {}, {}, false});
  return {};
}

Op<Result<std::unique_ptr<Multifile>>> open_for_reading(Group& group, const OpenRequest& request) {
  std::function<std::shared_ptr<void>()> make = [&request] { return new_read_set(request); };
  auto shared = co_await group.share_in_process(std::move(make));
  if (!shared.has_value()) co_return shared.error();
  std::unique_ptr<Multifile> file;
  const Status mine =
      attempt([&] { return start_reading(group, request, std::static_pointer_cast<ReadSet>(*shared), file); });
  const Status status = co_await agree(group, mine);
  if (!status.ok()) co_return status;
  co_return std::move(file);
}

// ---- Writing -----------------------------------------------------------------------------------------------------

std::size_t rank_of(const Group& group) { return static_cast<std::size_t>(group.rank()); }
std::size_t size_of(const Group& group) { return static_cast<std::size_t>(group.size()); }

std::uint32_t hash_arguments(const OpenRequest& request) {
  const Options& o = request.config.options;
  WireWriter out;
  out.put_text(request.path);
  out.put(request.access);
  out.put(request.exclusive);
  for (const std::uint64_t value :
       {std::uint64_t{o.physical_files}, std::uint64_t{o.alignment_bytes}, std::uint64_t{o.granule_bytes},
        static_cast<std::uint64_t>(o.checksum), static_cast<std::uint64_t>(o.codec), std::uint64_t{o.sync_on_close},
        std::uint64_t{o.overwrite_foreign}})
    out.put(value);
  const Bytes bytes = out.take();
  const std::uint64_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

Result<std::uint64_t> total_logical(const Group& group, const OpenRequest& request, const ReadSet* old) {
  const Serving& serving = request.config.serving;
  if (old != nullptr) {
    TW_RETURN_IF_ERROR(check_total(serving, *old));
    return old->header().n_logical;
  }
  if (serving.n_logical < 0 && serving.kind != Serving::Kind::automatic)
    return Status::error(Code::invalid_argument, "creating '" + request.path + "': the number of logical files is " +
                                                     std::to_string(serving.n_logical) + "; it must be told");
  const auto n = static_cast<std::uint64_t>(serving.n_logical < 0 ? group.size() : serving.n_logical);
  if (n > kMostLogical)
    return Status::error(Code::invalid_argument, std::to_string(n) + " logical files are asked for; 2^40 is the most");
  return n;
}

Status make_request(Group& group, const OpenRequest& request, ReadSet* old, WriteRequest& out) {
  out.arguments = hash_arguments(request);
  out.chunk_bytes = request.config.options.chunk_bytes;
  out.process = group.place().process;
  out.node = group.place().node;
  TW_RETURN_IF_ERROR(request.arguments);
  if (request.access == MultifileMode::append && old == nullptr) return no_memory(request.path);
  if (old != nullptr) {
    TW_RETURN_IF_ERROR(check_same_path(*old, request));
    const Status opened = old->open();
    if (opened.code() == Code::corrupt_file && !request.config.options.overwrite_foreign)
      TW_RETURN_IF_ERROR(check_may_overwrite(*request.backend, request.path, format::KnownFormat::multifile));
    TW_RETURN_IF_ERROR(opened);
  }
  TW_ASSIGN_OR_RETURN(out.n_logical, total_logical(group, request, old));
  TW_ASSIGN_OR_RETURN(out.ranges, served_ranges(request.config.serving, group.rank(), group.size(), out.n_logical));
  return {};
}

// The plan of an append rests on what was read before the lock was taken: nobody may have appended in between.
Status check_unchanged(const OpenRequest& request, const PhysicalReader& read) {
  TW_ASSIGN_OR_RETURN(auto file, request.backend->open(request.path, OpenMode::read));
  TW_ASSIGN_OR_RETURN(const auto now, PhysicalReader::open(std::move(file), 0));
  if (now->header().id.uuid == read.header().id.uuid && now->state().sequence == read.state().sequence) return {};
  return Status::error(Code::unsafe, "'" + request.path + "' was changed by another program while it was opened");
}

// What the tasks ask for is forgotten when they have their shares: both, and the files, would be too much at once.
Result<WritePlan> make_plan(const OpenRequest& request, Gathered gathered, ReadSet* old, Gathered& shares,
                            std::int64_t& process) {
  TW_ASSIGN_OR_RETURN(const Requests requests, Requests::decode(std::move(gathered)));
  TW_ASSIGN_OR_RETURN(const StorageInfo storage, request.backend->describe(request.path));
  const WritePlanInput input{requests, request.config.options, request.config.mapping, storage, usable_cores()};
  TW_ASSIGN_OR_RETURN(WritePlan plan, old != nullptr ? plan_append(input, *old) : plan_create(input));
  shares = encode_shares(plan, requests);
  process = requests.root_process();
  return plan;
}

// What task 0 does between gather and broadcast.
Status plan_and_create(const OpenRequest& request, Gathered gathered, ReadSet* old, std::unique_ptr<WriteRoot>& root,
                       WriteCommon& common, Gathered& shares) {
  auto kept = std::make_unique<WriteRoot>(WriteRoot{request.backend, request.path, {}, 0, {}, {}, {}});
  WritePlan& plan = kept->plan;
  TW_ASSIGN_OR_RETURN(plan, make_plan(request, std::move(gathered), old, shares, kept->process));
  common = plan.common;
  if (old != nullptr) {
    TW_ASSIGN_OR_RETURN(kept->held, hold_file(*request.backend, request.path));
    TW_RETURN_IF_ERROR(check_unchanged(request, old->first()));
    TW_RETURN_IF_ERROR(begin_session(*request.backend, request.path, plan));
  } else {
    TW_ASSIGN_OR_RETURN(kept->held, create_files(*request.backend, request.path,
                                                 {request.exclusive, request.config.options.overwrite_foreign}, plan));
  }
  plan.ranks.table = std::vector<std::uint64_t>();  // `= {}` would keep the memory
  for (PlannedFile& file : plan.files) file.ranks = std::vector<std::uint64_t>();
  root = std::move(kept);
  return {};
}

Status start_writing(const OpenRequest& request, const WriteCommon& common, WriteShare share,
                     std::shared_ptr<WriteSet> set, std::shared_ptr<ReadSet> old, Multifile& file) {
  const Options& options = request.config.options;
  if (options.sync_on_close || (old && old->first().state().durable)) set->close_durably();
  if (old) old->expect_own_session();
  WriteHandle::Setup setup;
  setup.files = std::move(set);
  setup.old = std::move(old);
  setup.common = common;
  setup.share = std::move(share);
  setup.settings.buffer_bytes = options.buffer_bytes;
  setup.settings.chunk_bytes = options.chunk_bytes == kAuto ? common.chunk_bytes : options.chunk_bytes;
  setup.settings.codec = options.codec;
  for (const DomainShare& domain : setup.share.domains)
    TW_RETURN_IF_ERROR(setup.files->writer(domain, common.header).status());
  file.strategy = common.strategy;
  file.writing = std::make_unique<WriteHandle>(std::move(setup));
  return {};
}

// A creation that failed after its files were made leaves none behind; a failed append leaves the file as it was.
void undo(const WriteRoot& root, const OpenRequest& request) {
  if (request.access == MultifileMode::create) {
    remove_files(*root.backend, root.path, static_cast<std::uint32_t>(root.plan.files.size()));
    return;
  }
  for (const PlannedFile& file : root.plan.files)
    abandon_session(*root.backend, root.path, file.header, file.state, file.session.previous_offset);
}

Op<Result<std::shared_ptr<ReadSet>>> share_old(Group& group, const OpenRequest& request) {
  if (request.access != MultifileMode::append) co_return std::shared_ptr<ReadSet>();
  std::function<std::shared_ptr<void>()> make = [&request] { return new_read_set(request); };
  auto shared = co_await group.share_in_process(std::move(make));
  if (!shared.has_value()) co_return shared.error();
  co_return std::static_pointer_cast<ReadSet>(*shared);
}

// What task 0 tells all: whether there is a plan, and what of it concerns everybody. Empty: no memory to tell it.
Bytes encode_news(const Status& planned, const WriteCommon& common) {
  Bytes news;
  (void)attempt([&] {
    WireWriter out;
    out.put_status(planned);
    out.put_bytes(encode(common));
    news = out.take();
    return Status{};
  }).ok();
  return news;
}

// The same on all tasks: what task 0 says of its plan.
Status heard_status(ByteView news, const std::string& path) {
  if (news.empty()) return no_memory(path);
  return WireReader(news).get_status();
}

Status heard_common(ByteView news, WriteCommon& common) {
  WireReader in(news);
  (void)in.get_status().ok();
  common = decode_common(in.get_view());
  return {};
}

// What task 0 has planned, for all and for each; empty on the others.
struct Planned {
  Bytes news;
  Gathered shares;
};

// From the plan of task 0 to a handle that serves `ranges`.
Op<Status> follow_plan(Group& group, const OpenRequest& request, std::span<const RankRange> ranges, Planned& plan,
                       std::shared_ptr<ReadSet> old, std::unique_ptr<Multifile>& file) {
  const auto heard = co_await group.broadcast(plan.news, 0);
  Status status = heard.has_value() ? heard_status(heard.value(), request.path) : heard.error();
  if (!status.ok()) co_return status;
  WriteCommon common;
  const Status understood = attempt([&] { return heard_common(heard.value(), common); });
  const auto share = co_await group.scatter(plan.shares, 0);
  plan = {};
  if (!share.has_value()) co_return share.error();
  const Place place = group.place();
  std::function<std::shared_ptr<void>()> make = [&request, &place] {  // small: a larger one would take memory
    return try_make<WriteSet>(request.backend, request.path, place.tasks_in_process, place.processes);
  };
  const auto set = co_await group.share_in_process(std::move(make));
  if (!set.has_value()) co_return set.error();
  const Status mine = attempt([&] {
    TW_RETURN_IF_ERROR(understood);
    if (!set.value()) return no_memory(request.path);
    WriteShare told = decode_share(share.value(), common, ranges, rank_of(group), size_of(group));
    auto files = std::static_pointer_cast<WriteSet>(set.value());
    if (group.rank() != 0) TW_RETURN_IF_ERROR(files->hold(nullptr));
    return start_writing(request, common, std::move(told), std::move(files), old, *file);
  });
  status = co_await agree(group, mine);
  co_return status;
}

// The group in which the tasks close the file together.
struct Closing {
  std::shared_ptr<KeptOfGroup> kept;  // null: a task alone, or reading
  FileGroups groups;  // of an earlier multifile, as long as they are a spare: all tasks have them, or none

  ~Closing() { give_back(); }
  void give_back() noexcept {
    if (groups.number >= 0) kept->leave(KeptFor::multifile, std::exchange(groups, {}));
  }
};

// Collective. The group of the close becomes the file's.
Op<Status> find_closing_group(Group& group, Closing& closing) {
  if (closing.kept == nullptr || closing.groups.own != nullptr) co_return Status{};
  auto made = co_await group.duplicate();
  if (!made.has_value()) co_return made.error();
  const Status status = or_out_of_memory([&] {
    closing.groups.own = std::move(made).value();
    return Status{};
  });
  if (leaves_groups(group)) closing.groups.number = closing.kept->next_number();
  co_return co_await agree(group, status);
}

Op<Result<std::unique_ptr<Multifile>>> open_for_writing(Group& group, const OpenRequest& request, Closing& closing) {
  const Status can_close = co_await find_closing_group(group, closing);
  if (!can_close.ok()) co_return can_close;
  auto old = co_await share_old(group, request);
  if (!old.has_value()) co_return old.error();
  std::unique_ptr<Multifile> file;  // where there is none, task 0 is told, and no task goes on
  std::unique_ptr<WriteRoot> root;
  WriteRequest wanted;
  Bytes wanted_bytes;
  wanted.status = attempt([&] {
    file = std::make_unique<Multifile>();
    return make_request(group, request, old->get(), wanted);
  });
  (void)attempt([&] {
    wanted_bytes = encode(wanted, rank_of(group), size_of(group));
    return Status{};
  }).ok();  // no bytes: task 0 finds them wrong
  auto gathered = co_await group.gather(wanted_bytes, 0);
  if (!gathered.has_value()) co_return gathered.error();

  Planned plan;
  if (group.rank() == 0) {
    WriteCommon common;
    const Status planned =
        attempt([&] { return plan_and_create(request, std::move(*gathered), old->get(), root, common, plan.shares); });
    plan.news = encode_news(planned, common);
  }
  const Status status = co_await follow_plan(group, request, wanted.ranges, plan, *old, file);
  if (!status.ok()) {
    if (root) undo(*root, request);
    co_return status;
  }
  if (root) {
    root->old = *old;
    (void)file->writing->files().hold(std::move(root->held)).ok();  // cannot fail: it is there
    if (request.config.progress) root->go_on = [progress = request.config.progress] { return progress(0, 0); };
  }
  file->root = std::move(root);
  file->closing = std::exchange(closing.groups, {});
  file->kept = closing.kept;
  co_return std::move(file);
}

// Path, mode and flags as a number that is the same where they are; not negative.
std::int64_t way_of(const OpenRequest& request) {
  const std::size_t path = std::hash<std::string>{}(request.path);
  const std::size_t mode = static_cast<std::size_t>(request.access) * 4 + (request.exclusive ? 2 : 0) + request.recover;
  return static_cast<std::int64_t>((path * 16 + mode) & std::size_t{INT64_MAX});
}

// Reading and writing go different ways from here on: a task that took another one than the rest, because its arguments
// are bad or others, would wait for ever.
Op<Status> agree_on_way(Group& group, const OpenRequest& request, Closing& closing) {
  if (group.size() == 1) co_return request.arguments;
  std::vector<std::int64_t> mine(5);
  mine[0] = request.arguments.ok() ? 0 : 1;
  mine[1] = way_of(request);
  mine[2] = -mine[1];
  mine[3] = closing.groups.number;
  mine[4] = ~closing.groups.number;
  const auto largest = co_await group.allreduce(std::move(mine), Reduction::max);
  if (!largest.has_value()) co_return largest.error();
  const std::vector<std::int64_t>& max = largest.value();
  if (max[0] != 0) co_return co_await agree(group, request.arguments);
  if (max[3] != ~max[4]) closing.give_back();
  if (max[1] == -max[2]) co_return Status{};
  co_return Status::error(Code::invalid_argument,
                          "opening '" + request.path + "': the tasks do not all give the same path, mode and flags");
}

}  // namespace

Op<Result<std::unique_ptr<Multifile>>> open_multifile(Group& group, OpenRequest request) {
  Closing closing;
  if (group.size() > 1 && request.access != MultifileMode::read) {
    const Status kept = or_out_of_memory([&] {
      closing.kept = KeptOfGroup::of(group);
      if (leaves_groups(group)) closing.groups = closing.kept->take_spare(KeptFor::multifile);
      return Status{};
    });
    if (request.arguments.ok()) request.arguments = kept;
  }
  const Status way = co_await agree_on_way(group, request, closing);
  if (!way.ok()) co_return way;
  if (request.access == MultifileMode::read) {
    auto file = co_await open_for_reading(group, request);
    co_return std::move(file);
  }
  auto file = co_await open_for_writing(group, request, closing);
  co_return std::move(file);
}

}  // namespace thalweg
