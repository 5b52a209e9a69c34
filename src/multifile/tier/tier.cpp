// The open for writing, behind the agreement on path, mode and hints:
//  1. Task 0 gives the multifile its identity, and checks the final name and its folder. It broadcasts the record.
//  2. Each node leader makes a folder in its tier and writes the record there, locked. The tasks agree.
//  3. The multifile is created in these folders, with the identity; no page of it is written by two nodes.
// The close, behind that of the multifile in the tiers:
//  4. Each node leader notes in its record that all parts are complete. The tasks agree.
//  5. With partner=on the parts are copied (partner_copy.cpp).
//  6. drain=wait: each node leader drains its part; the tasks agree; task 0 finishes the drain; the tasks agree.
//     drain=async: a thread of each node leader does so (drainer.hpp), and a failure of an earlier one is reported here.
// The open for reading, behind the same agreement:
//  7. Each node leader waits for what its process drains, and drains what belongs to the path. The tasks agree.
//  8. Each node leader drains its copies of parts of which the nodes are gone. The tasks agree.
#include "multifile/tier/tier.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "formats/known_file.hpp"
#include "group/agree.hpp"
#include "os/random_bytes.hpp"

namespace thalweg {

namespace {

// ---- Open ----------------------------------------------------------------------------------------------------------

// From the root, without links in its folder, which exists.
Result<std::string> final_path_of(const std::string& path) {
  const std::filesystem::path given = path;
  std::error_code error;
  const auto folder = std::filesystem::canonical(given.has_parent_path() ? given.parent_path() : ".", error);
  TW_RETURN_IF_ERROR(folder_status(error, "find the folder of", path));
  return (folder / given.filename()).string();
}

// Task 0: the record of part 0, where the final name can be written.
Result<TierRecord> make_record(const OpenRequest& request, const Place& place) {
  if (request.access == MultifileMode::append)
    return Status::error(Code::invalid_argument,
                         "'{}' is opened for append with the hint tier, which is for new multifiles; leave it out",
                         request.path);
  TierRecord record;
  TW_ASSIGN_OR_RETURN(record.final_path, final_path_of(request.path));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  record.created_seconds = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  // The identity tells which of two multifiles that were made within a second is newer.
  fill_with_random(std::as_writable_bytes(std::span(record.uuid)));
  const auto parts = std::chrono::duration_cast<std::chrono::microseconds>(now).count() % 1'000'000;
  for (std::size_t i = 0; i < 3; ++i) record.uuid[i] = static_cast<std::uint8_t>(parts >> (16 - 8 * i));
  record.uuid[6] = static_cast<std::uint8_t>(kTierUuid | (record.uuid[6] & 0x0F));
  record.n_parts = static_cast<std::uint32_t>(place.nodes);
  record.exclusive = request.exclusive;
  record.overwrite_foreign = request.options.overwrite_foreign;
  Backend& backend = *request.backend;
  TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(record.final_path));
  if (exists && request.exclusive)
    return Status::error(Code::already_exists, "'{}' exists; TW_TRUNCATE replaces it", request.path);
  if (exists && !record.overwrite_foreign)
    TW_RETURN_IF_ERROR(check_may_overwrite(backend, record.final_path, format::KnownFormat::multifile));
  TW_RETURN_IF_ERROR(backend.open(record.draining_path(), OpenMode::create_exclusive).status());  // may it be made?
  TW_RETURN_IF_ERROR(backend.remove(record.draining_path()));
  return record;
}

Status make_own_folder(Tier& tier) {
  const std::string& folder = tier.options.tier;
  TierFolders& folders = tier.folders;
  TW_ASSIGN_OR_RETURN(const StorageInfo storage, folders.backend->describe(folder + "/x"));
  if (storage.is_network)
    return Status::error(Code::invalid_argument,
                         "the tier '{}' is on {}, which nodes share; name a folder that each node has for itself, such "
                         "as /dev/shm",
                         folder, storage.kind);
  TW_ASSIGN_OR_RETURN(folders.held, make_tier_folder(*folders.backend, folders.own));
  return folders.held->write(0, encode_record(folders.record));
}

// The final file's block is the alignment, and at least a page.
Result<std::uint32_t> alignment_for(const OpenRequest& request, const TierRecord& record) {
  TW_ASSIGN_OR_RETURN(const StorageInfo storage, request.backend->describe(record.final_path));
  const std::uint32_t asked = request.options.alignment_bytes;
  return std::max<std::uint32_t>(asked == kAuto ? storage.block_bytes : asked, format::kPageBytes);
}

Status redirect(OpenRequest& request, const Tier& tier, std::uint32_t alignment) {
  const TierRecord& record = tier.folders.record;
  request.path = record.file_in(tier.folders.own);
  request.exclusive = true;
  MultifileOptions& options = request.options;
  options.uuid = record.uuid;
  options.created_seconds = record.created_seconds;
  options.alignment_bytes = alignment;
  if (options.physical_files == kAuto && !request.mapping) options.physical_files = kOnePerNode;
  if (record.n_parts > 1) options.added_bytes = ~std::uint64_t{0};  // task 0 cannot read what other nodes stored aside
  return {};
}

Op<Status> prepare_to_write(Group& group, OpenRequest& request, Tier& tier) {
  const Place place = group.place();
  WireWriter out;
  std::uint32_t alignment = 0;
  if (group.rank() == 0) {
    const Status made = attempt([&]() -> Status {
      TW_ASSIGN_OR_RETURN(tier.folders.record, make_record(request, place));
      TW_ASSIGN_OR_RETURN(alignment, alignment_for(request, tier.folders.record));
      return {};
    });
    out.put_status(made);
    out.put(alignment);
    out.put_bytes(encode_record(tier.folders.record));
  }
  TW_CO_ASSIGN_OR_RETURN(const Bytes told, co_await group.broadcast(out.bytes(), 0));
  WireReader in(told);
  TW_CO_RETURN_IF_ERROR(in.get_status());
  alignment = in.get<std::uint32_t>();
  if (group.size() > 1) {
    TW_CO_ASSIGN_OR_RETURN(tier.group, co_await group.channel());
  }
  const Status mine = attempt([&]() -> Status {
    TierFolders& folders = tier.folders;
    TW_ASSIGN_OR_RETURN(folders.record, decode_record(in.get_view(), request.path));
    folders.record.part = static_cast<std::uint32_t>(place.node);
    folders.own = folders.record.folder_in(tier.options.tier);
    if (tier.options.partner && place.nodes > 1 && group.relays())
      return Status::error(Code::invalid_argument, "the hint partner needs a group whose messages carry data");
    tier.leads = place.node_leader == group.rank();
    TW_RETURN_IF_ERROR(redirect(request, tier, alignment));
    return tier.leads ? make_own_folder(tier) : Status{};
  });
  co_return co_await agree(group, mine);
}

// ---- Close ---------------------------------------------------------------------------------------------------------

Status note_closed(Tier& tier) {
  tier.folders.record.closed = true;
  return tier.leads ? tier.folders.held->write(0, encode_record(tier.folders.record)) : Status{};
}

Op<Status> drain_and_wait(Group& group, Tier& tier) {
  TierFolders& folders = tier.folders;
  TW_CO_RETURN_IF_ERROR(co_await agree(group, attempt([&] { return tier.leads ? drain_own(folders) : Status{}; })));
  TW_CO_RETURN_IF_ERROR(co_await agree(
      group, attempt([&]() -> Status {
        if (group.rank() != 0) return {};
        TW_ASSIGN_OR_RETURN(const Drained how, finish_drain(folders.backend, folders.record));
        if (how != Drained::not_yet) return {};
        return Status::error(Code::unsafe,
                             "'{}': a part that was drained is not to be seen; `thalweg drain` tries again",
                             folders.record.final_path);
      })));
  co_return co_await agree(group, attempt([&] { return tier.leads ? folders.remove() : Status{}; }));
}

// ---- Restart -------------------------------------------------------------------------------------------------------

Status drain_path(OpenRequest& request, bool lost) {
  TierDrain what{.tier = request.options.tier, .only = {}, .lost = lost, .tell = {}};
  TW_ASSIGN_OR_RETURN(what.only, final_path_of(request.path));
  const Status drained = drain_tier(request.backend, what);
  if (drained.code() != Code::not_closed) return drained;
  if (lost) (void)std::fputs(("thalweg: an older one is read: " + drained.message() + "\n").c_str(), stderr);
  return {};
}

Op<Status> prepare_to_read(Group& group, OpenRequest& request) {
  const bool leads = group.place().node_leader == group.rank();
  if (leads) (void)await_drains().ok();  // what was not drained is found below
  for (const bool lost : {false, true})
    TW_CO_RETURN_IF_ERROR(co_await agree(group, attempt([&] { return leads ? drain_path(request, lost) : Status(); })));
  co_return Status{};
}

}  // namespace

Op<Result<std::unique_ptr<Multifile>>> open_in_tier(Group& group, OpenRequest request, std::unique_ptr<Tier>& tier) {
  auto made = std::make_unique<Tier>();
  Tier& mine = *made;
  mine.options = request.options;
  mine.folders.backend = request.backend;
  const bool writes = request.access != MultifileMode::read;
  if (!mine.options.tier.empty() && writes)
    request.prepare = [&mine](Group& tasks, OpenRequest& asked) { return prepare_to_write(tasks, asked, mine); };
  if (!mine.options.tier.empty() && !writes) request.prepare = prepare_to_read;
  auto opened = co_await open_multifile(group, std::move(request));
  if (opened.has_value() && writes && !mine.options.tier.empty()) tier = std::move(made);
  if (!opened.has_value() && mine.folders.held) (void)mine.folders.remove().ok();
  co_return opened;
}

Op<Status> close_in_tier(Group& tasks, std::unique_ptr<Multifile> file, std::unique_ptr<Tier> tier) {
  const Status closed = co_await close_multifile(tasks, std::move(file));
  const bool has_duplicates = closed.code() == Code::already_exists && closed.os_errno() == 0;  // no call failed
  if (tier == nullptr || !(closed.ok() || (has_duplicates && tier->options.refuses_duplicates))) co_return closed;
  Group& group = tier->group ? *tier->group : tasks;
  group.set_call(Call::tw_multifile_close);
  TW_CO_RETURN_IF_ERROR(co_await agree(group, attempt([&] { return note_closed(*tier); })));
  Status copied;
  if (tier->options.partner && tier->folders.record.n_parts > 1) copied = co_await copy_to_partners(group, *tier);
  Status drained;
  if (tier->options.drain == MultifileOptions::Drain::wait)
    drained = co_await drain_and_wait(group, *tier);
  else if (tier->options.drain == MultifileOptions::Drain::async)
    drained =
        co_await agree(group, attempt([&] { return tier->leads ? begin_drain(std::move(tier->folders)) : Status(); }));
  co_return closed.or_else(copied).or_else(drained);
}

}  // namespace thalweg
