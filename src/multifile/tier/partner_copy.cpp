// Copies of parts on partner nodes: the node leaders send runs of pages around the ring of nodes, one in each round.
#include "group/agree.hpp"
#include "multifile/tier/folder_runs.hpp"
#include "multifile/tier/tier.hpp"

namespace thalweg {

namespace {

// Sends the next run; nothing behind the last one.
Status send_next(FolderRuns& runs, std::int64_t partner, std::vector<Message>& outgoing) {
  TW_ASSIGN_OR_RETURN(const bool more, runs.next());
  if (!more) return {};
  WireWriter out;
  out.put_text(runs.suffix());
  out.put(runs.offset());
  out.put_bytes(runs.data());
  outgoing.push_back({partner, out.take()});
  return {};
}

Status store(Backend& backend, const std::string& first, ByteView message) {
  WireReader in(message);
  TW_ASSIGN_OR_RETURN(auto file, backend.open(first + in.get_text(), OpenMode::create_keep));
  const auto offset = in.get<std::uint64_t>();
  TW_RETURN_IF_ERROR(file->write(offset, in.get_view()));
  return file->close();
}

}  // namespace

// A failure is kept; the rounds go on until nobody sends. The record comes last: without it the copy does not count.
Op<Status> copy_to_partners(Group& group, Tier& tier) {
  const Place place = group.place();
  std::vector<std::int64_t> leaders(static_cast<std::size_t>(place.nodes), 0);
  leaders[static_cast<std::size_t>(place.node)] = place.node_leader;
  TW_CO_ASSIGN_OR_RETURN(leaders, co_await group.allreduce(std::move(leaders), Reduction::max));
  const std::int64_t partner = leaders[static_cast<std::size_t>((place.node + 1) % place.nodes)];
  TierFolders& folders = tier.folders;
  FolderRuns runs(*folders.backend, folders.record.file_in(folders.own));
  TierRecord copy = folders.record;
  copy.copy = true;
  copy.part = (copy.part + copy.n_parts - 1) % copy.n_parts;
  Status mine = attempt([&]() -> Status {
    if (!tier.leads) return {};
    folders.copy = copy.folder_in(tier.options.tier);
    TW_ASSIGN_OR_RETURN(folders.held_copy, make_tier_folder(*folders.backend, folders.copy));
    return {};
  });
  for (std::int64_t sending = 1; sending > 0;) {
    std::vector<Message> outgoing;
    if (tier.leads && mine.ok()) mine = attempt([&] { return send_next(runs, partner, outgoing); });
    TW_CO_ASSIGN_OR_RETURN(sending, co_await agree_on(group, {}, std::ssize(outgoing), Reduction::max));
    TW_CO_ASSIGN_OR_RETURN(const auto received, co_await group.exchange(std::move(outgoing)));
    for (const Message& message : received)
      mine = mine.or_else(attempt([&] { return store(*folders.backend, copy.file_in(folders.copy), message.data); }));
  }
  const Status all = co_await agree(group, mine);
  if (all.ok() && tier.leads) mine = folders.held_copy->write(0, encode_record(copy));
  co_return (co_await agree(group, all.or_else(mine)))
      .with_context("the copy on the partner node, without which the multifile is closed and drained all the same");
}

}  // namespace thalweg
