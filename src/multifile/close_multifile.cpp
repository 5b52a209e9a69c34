// The collective closing of a multifile: contributions of all processes reach task 0, which writes the index.
#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <optional>
#include <utility>

#include "base/shell_word.hpp"
#include "group/agree.hpp"
#include "group/wire.hpp"
#include "multifile/multifile.hpp"
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

struct Collected {
  std::vector<std::vector<PhysicalContribution>> files;  // by physical file, then process
  bool durable = false;                                  // some process asks for it
  format::Attributes attributes;                         // of this session, lowest rank first
};

// Sorted by physical file once, as there may be thousands of processes and thousands of files.
Status sort_by_physical(const std::vector<PhysicalContribution>& of_one, Collected& all) {
  for (const PhysicalContribution& one : of_one) {
    if (one.physical >= all.files.size())
      return Status::error(Code::internal, "a process wrote into physical file " + std::to_string(one.physical) +
                                               " of " + std::to_string(all.files.size()));
    all.files[one.physical].push_back(one);
  }
  return {};
}

// So that the attribute of the lowest rank wins.
format::Attributes lowest_first(std::vector<std::pair<TaskRank, format::Attributes>>& of_tasks) {
  std::sort(of_tasks.begin(), of_tasks.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  format::Attributes all;
  for (auto& [rank, attributes] : of_tasks) all.merge(attributes);
  return all;
}

Result<Collected> collect(Gathered& gathered, std::size_t n_physical, std::int64_t processes) {
  Collected all;
  all.files.resize(n_physical);
  std::int64_t told = 0;
  std::vector<std::pair<TaskRank, format::Attributes>> attributes;
  for (std::size_t task = 0; task < gathered.parts(); ++task) {
    const ByteView part = gathered.part(task);
    if (part.empty()) continue;
    ProcessContribution one = decode_contribution(std::span(gathered.data).subspan(gathered.begin[task], part.size()));
    TW_RETURN_IF_ERROR(one.status);
    all.durable |= one.durable;
    TW_RETURN_IF_ERROR(sort_by_physical(one.files, all));
    std::move(one.attributes.begin(), one.attributes.end(), std::back_inserter(attributes));
    ++told;
  }
  if (told != processes)
    return Status::error(Code::no_memory, "only " + std::to_string(told) + " of " + std::to_string(processes) +
                                              " processes could tell what they wrote");
  all.attributes = lowest_first(attributes);
  return all;
}

Result<format::Attributes> all_attributes(const WriteRoot& root, const Collected& collected) {
  format::Attributes attributes = collected.attributes;
  attributes.emplace(kStrategyAttribute, root.plan.common.strategy);  // of the last session
  if (root.old) {
    TW_ASSIGN_OR_RETURN(const format::Attributes before, root.old->first().attributes());
    attributes.insert(before.begin(), before.end());
  } else {
    attributes.emplace("creator", "thalweg");
    attributes.emplace("created", utc_now(root.plan.files[0].header.created_seconds));
  }
  return attributes;
}

// Writes the small leftovers that processes sent along into packs of this process.
Status adopt_shipped(const WriteRoot& root, std::uint32_t k, const std::vector<PhysicalContribution>& contributions,
                     WriteSet& files, std::uint64_t& used) {
  const std::optional<DomainShare> share = domain_share(root.plan, k, root.process);
  std::vector<std::pair<const PhysicalContribution*, PackedAt>> adopted;
  std::shared_ptr<PhysicalWriter> writer;
  for (const PhysicalContribution& c : contributions) {
    if (c.shipped.empty()) continue;
    if (!share) return Status::error(Code::internal, "task 0 has no share of a physical file of several processes");
    TW_ASSIGN_OR_RETURN(writer, files.writer(*share, root.plan.files[k].header));
    TW_ASSIGN_OR_RETURN(const PackedAt at, writer->adopt(c.shipped));
    adopted.emplace_back(&c, at);
  }
  if (!writer) return {};
  TW_RETURN_IF_ERROR(writer->flush_pack());
  for (const auto& [contribution, at] : adopted) place_shipped(contribution->logical, writer->resolve(at));
  used = std::max(used, writer->high_water());
  return {};
}

// The name may lead to another file by now: that one is not touched.
Status check_same_file(StoredFile& file, const format::FileHeader& header) {
  std::array<std::byte, format::kHeaderBytes> bytes{};
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, file.size());
  TW_ASSIGN_OR_RETURN(const std::size_t got, file.read(0, bytes));
  auto found = format::parse_header(std::span(bytes).first(got), size);
  if (found.has_value() && found->id == header.id) return {};
  return Status::error(Code::unsafe, "'" + file.path() +
                                         "' is not the file any more that was written: another one has its name, or "
                                         "another program wrote over it; it is left as it is");
}

// `used`: first offset behind everything that task 0 wrote into it.
Status close_physical(const WriteRoot& root, std::uint32_t k, const Collected& collected, std::uint64_t used) {
  const PlannedFile& planned = root.plan.files[k];
  Contributions fresh(planned.header.n_local);
  for (const PhysicalContribution& c : collected.files[k]) {
    used = std::max(used, c.high_water);
    TW_RETURN_IF_ERROR(fresh.add(c.logical));
  }
  TW_RETURN_IF_ERROR(fresh.sort());
  TW_ASSIGN_OR_RETURN(auto file, root.backend->open(format::physical_name(root.path, k), OpenMode::read_write));
  TW_RETURN_IF_ERROR(check_same_file(*file, planned.header));
  IndexJob job{
      file.get(), planned.header, planned.session.session, format::align_up(used, format::kPageBytes), nullptr, &fresh,
      {},         root.go_on};
  if (root.old) {
    TW_ASSIGN_OR_RETURN(job.old, root.old->physical(k));
  }
  if (k == 0) {
    TW_ASSIGN_OR_RETURN(job.attributes, all_attributes(root, collected));
  }
  TW_ASSIGN_OR_RETURN(const format::IndexPage index, write_index(job));
  if (collected.durable) TW_RETURN_IF_ERROR(file->sync());
  format::StateSlot closed = planned.state;
  closed.sequence += 1;
  closed.state = format::FileState::closed;
  closed.durable = collected.durable;
  closed.end = index.end;
  closed.index_offset = job.offset;
  closed.index_bytes = index.end - job.offset;
  closed.covered_session_offset = closed.session_offset;
  TW_RETURN_IF_ERROR(write_state(*file, planned.header, closed));
  if (collected.durable) TW_RETURN_IF_ERROR(file->sync());
  return file->close();
}

// Physical file 0 last: as long as it is open the multifile is.
Status close_physical_files(const WriteRoot& root, Gathered& gathered, std::int64_t processes, WriteSet& files) {
  TW_ASSIGN_OR_RETURN(const Collected collected, collect(gathered, root.plan.files.size(), processes));
  std::vector<std::uint64_t> used;
  const auto n_physical = static_cast<std::uint32_t>(root.plan.files.size());
  for (std::uint32_t k = 0; k < n_physical; ++k) {
    used.push_back(root.plan.files[k].session.data_start);
    TW_RETURN_IF_ERROR(adopt_shipped(root, k, collected.files[k], files, used.back()));
  }
  if (collected.durable) TW_RETURN_IF_ERROR(files.sync_data());
  TW_RETURN_IF_ERROR(files.close_files());
  for (std::uint32_t k = n_physical; k-- > 0;) TW_RETURN_IF_ERROR(close_physical(root, k, collected, used[k]));
  return collected.durable ? root.backend->sync_directory_of(root.path) : Status{};
}

Status with_way_out(const std::string& path, const Status& status) {
  if (status.code() == Code::unsafe) return status;  // the name leads elsewhere
  const bool named = status.message().find("'" + path) != std::string::npos;
  return Status::error(status.code(),
                       (named ? "" : "closing '" + path + "': ") + status.message() +
                           "; it stays unclosed: " + repair_command(path) + " brings back what was flushed",
                       status.os_errno(), status.detail()->where);
}

// Gives the group of the close to another multifile that the tasks open together.
void keep_group(Multifile& file) {
  if (const auto kept = file.kept.lock(); kept != nullptr)
    kept->leave(KeptFor::multifile, std::exchange(file.closing, {}));
}

}  // namespace

Op<Status> close_multifile(Group& tasks, std::unique_ptr<Multifile> file) {
  if (file->reading) co_return Status{};
  Group& group = file->closing.own != nullptr ? *file->closing.own : tasks;
  group.set_call(Call::tw_multifile_close);
  Status together = co_await agree_on_call(group);
  if (!together.ok()) {  // a task has abandoned it
    const Status flushed = attempt([&] { return file->writing->flush(); });
    co_return with_way_out(file->writing->files().path(), flushed.ok() ? together : flushed);
  }
  Bytes mine;
  (void)attempt([&] {
    mine = file->writing->finish(group.rank(), file->root ? file->root->go_on : GoOn{});
    return Status{};
  }).ok();  // no bytes: task 0 misses them
  auto gathered = co_await group.gather(mine, 0);
  Status status = gathered.status();
  if (status.ok() && file->root) {
    status = attempt(
        [&] { return close_physical_files(*file->root, *gathered, group.place().processes, file->writing->files()); });
    if (!status.ok()) status = with_way_out(file->root->path, status);
    file->writing->files().give_up_lock();
  }
  status = co_await agree(group, status);
  if (status.ok()) keep_group(*file);
  co_return status;
}

Status leave_multifile(Multifile& file, Call call) {
  if (file.reading) return {};
  Status status = attempt([&] { return file.writing->flush(); });
  if (file.closing.own != nullptr) file.closing.own->leave({file.closing.own->rank(), call});
  return status;
}

}  // namespace thalweg
