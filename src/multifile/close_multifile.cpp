// The collective closing of a multifile.
//
//  1. The tasks agree that all of them close; where one has abandoned the file, the others flush and fail.
//  2. Each task stores what it has buffered and hands its logical writers over to the WriteSet of its process. The last
//     task of a process encodes what the process contributes: sizes, names and pieces of the logical files.
//  3. Task 0 gathers the contributions. It joins the small packs that the processes sent along, writes the index of
//     each physical file, and then the state slot that marks it as closed: physical file 0 comes last, as the multifile
//     is unclosed until then (close_physical).
//  4. The tasks agree on one status.
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "base/wire.hpp"
#include "group/agree.hpp"
#include "multifile/multifile.hpp"
#include "multifile/read/name_places.hpp"
#include "multifile/write/create_files.hpp"
#include "multifile/write/index_writer.hpp"

namespace thalweg {

namespace {

std::string utc_now(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, n};
}

Result<CloseContributions> collect(Gathered& gathered, std::size_t n_physical, std::int64_t processes) {
  CloseContributions all;
  all.files.resize(n_physical);
  std::int64_t received = 0;
  for (std::size_t task = 0; task < gathered.parts(); ++task) {
    const std::size_t bytes = gathered.part(task).size();
    if (bytes == 0) continue;
    TW_RETURN_IF_ERROR(add_contribution(std::span(gathered.data).subspan(gathered.begin[task], bytes), all));
    ++received;
  }
  if (received == processes) return all;
  return Status::error(Code::no_memory, "only {} of {} processes had the memory to report what they wrote", received,
                       processes);
}

// The attribute of the lowest rank wins, then one of an earlier session.
Result<format::Attributes> all_attributes(const WriteRoot& root, CloseContributions& all) {
  std::ranges::sort(all.attributes, {}, &std::pair<TaskRank, format::Attributes>::first);
  format::Attributes attributes;
  for (auto& [rank, of_task] : all.attributes) attributes.merge(of_task);
  attributes.emplace(kStrategyAttribute, root.plan.common.strategy);  // of this session
  if (root.old) {
    TW_ASSIGN_OR_RETURN(const format::Attributes before, root.old->first().attributes());
    attributes.insert(before.begin(), before.end());
  } else {
    attributes.emplace("creator", "thalweg");
    attributes.emplace("created", utc_now(root.plan.files[0].header.created_seconds));
  }
  return attributes;
}

// Joins the small packs that the processes sent along. `used`: first offset behind everything in physical file k.
Status adopt_shipped(const WriteRoot& root, std::uint32_t k, const std::vector<PhysicalContribution>& contributions,
                     WriteSet& files, std::uint64_t& used) {
  const std::optional<DomainShare> share = domain_share(root.plan, k, root.process);
  std::vector<std::pair<const PhysicalContribution*, PackedAt>> adopted;
  PhysicalWriter* writer = nullptr;
  for (const PhysicalContribution& c : contributions) {
    if (c.shipped.empty()) continue;
    if (!share) return Status::error(Code::internal, "task 0 has no share of a physical file of several processes");
    TW_ASSIGN_OR_RETURN(writer, files.writer(*share, root.plan.common));
    TW_ASSIGN_OR_RETURN(const PackedAt at, writer->adopt(c.shipped));
    adopted.emplace_back(&c, at);
  }
  if (writer == nullptr) return {};
  TW_RETURN_IF_ERROR(writer->flush_pack());
  for (const auto& [contribution, at] : adopted) place_shipped(contribution->logical, writer->resolve(at));
  used = std::max(used, writer->high_water());
  return {};
}

// The end of each later physical file by all sessions.
std::vector<std::uint64_t> ends_of_later(const WriteRoot& root, const CloseContributions& collected) {
  std::vector<std::uint64_t> ends = root.plan.later_ends;
  const format::FileHeader& header = root.plan.files[0].header;
  ends.resize(header.n_later);
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (const PhysicalContribution& c : collected.files[header.n_physical + i])
      ends[i] = std::max({ends[i], c.high_water, format::kFirstSection});
  return ends;
}

// Index, then state slot. `used`: first offset behind everything that task 0 wrote into the file.
Status close_physical(const WriteRoot& root, std::uint32_t k, CloseContributions& collected, NameSorter& names,
                      std::uint64_t used) {
  const PlannedFile& planned = root.plan.files[k];
  TW_ASSIGN_OR_RETURN(auto file, open_to_change(*root.backend, root.path, planned.header));
  TW_RETURN_IF_ERROR(check_state(*file, planned.header, planned.state));  // locks may not reach all nodes
  const std::vector<StoredContributions>& stored = collected.stored[k];
  Contributions fresh(planned.header.n_local, *file, stored);
  for (const PhysicalContribution& c : collected.files[k]) {
    used = std::max(used, c.high_water);
    TW_RETURN_IF_ERROR(fresh.add(c.logical));
  }
  TW_RETURN_IF_ERROR(fresh.sort());
  IndexJob job{.file = file.get(),
               .header = planned.header,
               .session = planned.session.session,
               .offset = format::align_up(used, format::kPageBytes),
               .fresh = &fresh,
               .added = &collected.added,
               .names = &names,
               .go_on = root.go_on};
  if (root.old) {
    TW_ASSIGN_OR_RETURN(job.old, root.old->physical(k));
  }
  if (k == 0) {
    TW_ASSIGN_OR_RETURN(job.attributes, all_attributes(root, collected));
    job.later = collected.later;
  }
  TW_ASSIGN_OR_RETURN(const format::IndexPage index, write_index(job));
  if (collected.durable) TW_RETURN_IF_ERROR(file->sync());
  TW_RETURN_IF_ERROR(check_state(*file, planned.header, planned.state));
  TW_RETURN_IF_ERROR(write_state(*file, planned.header,
                                 format::closed_state(planned.state, job.offset, index.end, collected.durable)));
  if (collected.durable) TW_RETURN_IF_ERROR(file->sync());
  for (const StoredContributions& s : stored) (void)file->release(s.offset, s.bytes).ok();  // it is closed all the same
  return file->close();
}

Status close_physical_files(const WriteRoot& root, Gathered& gathered, std::int64_t processes, WriteSet& files,
                            NameSorter& names) {
  TW_ASSIGN_OR_RETURN(CloseContributions collected,
                      collect(gathered, root.plan.files.size() + root.plan.files[0].header.n_later, processes));
  std::vector<std::uint64_t> used;
  const auto n_physical = static_cast<std::uint32_t>(root.plan.files.size());
  for (std::uint32_t k = 0; k < n_physical; ++k) {
    used.push_back(root.plan.files[k].session.data_start);
    TW_RETURN_IF_ERROR(adopt_shipped(root, k, collected.files[k], files, used.back()));
  }
  if (collected.durable) TW_RETURN_IF_ERROR(files.sync_data());
  TW_RETURN_IF_ERROR(files.close_files());
  collected.later = ends_of_later(root, collected);
  TW_RETURN_IF_ERROR(
      check_later(*root.backend, root.path, root.plan.files[0].header, collected.later, collected.durable));
  if (root.old)
    for (const PlacedRange& run : root.old->mapping().added)
      collected.added.push_back({run.local, run.count, run.physical});
  for (std::uint32_t k = n_physical; k-- > 0;) TW_RETURN_IF_ERROR(close_physical(root, k, collected, names, used[k]));
  return {};
}

Status with_way_out(const std::string& path, const std::string& remedy, const Status& status) {
  if (status.code() == Code::unsafe) return status;  // the name leads elsewhere
  const bool named = status.message().find("'" + path) != std::string::npos;
  return Status::failed_call(status.code(), status.os_errno(),
                             fmt::format("{}{}; it stays unclosed: {} brings back what was flushed",
                                         named ? "" : fmt::format("closing '{}': ", path), status.message(), remedy));
}

}  // namespace

Op<Status> close_multifile(Group& tasks, std::unique_ptr<Multifile> file) {
  if (file->reading) co_return Status{};
  Group& group = file->closing != nullptr ? *file->closing : tasks;
  group.set_call(Call::tw_multifile_close);
  Status together = co_await agree_on_call(group);
  if (!together.ok()) {  // a task has abandoned the file
    Status flushed = attempt([&] { return file->writing->flush(); });
    flushed = flushed.or_else(file->writing->await_syncs());
    co_return with_way_out(file->writing->files().path(), file->remedy, flushed.ok() ? together : flushed);
  }
  Bytes mine;
  (void)attempt([&] {
    mine = file->writing->finish(group.rank(), file->root ? file->root->go_on : GoOn{});
    return Status{};
  }).ok();  // no bytes: out of memory, which task 0 finds out
  auto gathered = co_await group.gather(mine, 0);
  mine = Bytes();  // its memory would add to that of the index; `= {}` would keep it
  Status status = gathered.status();
  if (status.ok() && file->root) {
    const WriteRoot& root = *file->root;
    NameSorter names(root.backend, root.path, {}, root.refuses_duplicates);
    status = attempt(
        [&] { return close_physical_files(root, *gathered, group.place().processes, file->writing->files(), names); });
    if (!status.ok()) {
      status = with_way_out(root.path, file->remedy, status);
    } else if (root.refuses_duplicates) {  // the multifile is closed all the same
      status = attempt([&] { return check_names_differ(root.backend, root.path, names.take_equal()); });
    }
    file->writing->files().give_up_lock();
  }
  co_return co_await agree(group, status);
}

Status leave_multifile(Multifile& file, Call call) {
  if (file.reading) return {};
  Status status = attempt([&] { return file.writing->flush(); });
  status = status.or_else(file.writing->await_syncs());
  if (file.closing != nullptr) file.closing->leave({file.closing->rank(), call});
  return status;
}

}  // namespace thalweg
