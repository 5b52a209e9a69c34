#include "support/crash/crash_check.hpp"

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/multifile.hpp"

namespace thalweg::test {

namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

std::size_t durable_writes(const History& history, Death death) {
  return death == Death::process ? history.flushed : history.synced;
}

Result<std::unique_ptr<Multifile>> open_serially(const Aftermath& at, MultifileMode access, bool recover) {
  OpenRequest request;
  request.backend = at.storage;
  request.path = at.path;
  request.access = access;
  request.recover = recover;
  request.options.buffer_bytes = 5000;
  const auto group = make_self_group();
  return run(open_multifile(*group, std::move(request)));
}

std::string check_refusal(const Aftermath& at) {
  auto file = open_serially(at, MultifileMode::read, false);
  if (file.has_value()) return check_content(at, false, Demand::nothing_wrong);
  const Status& why = file.error();
  if (at.death == Death::process && at.was_closed) return "was closed and is refused: " + why.message();
  const bool names_repair = why.message().find("thalweg repair") != std::string::npos;
  if (why.code() == Code::not_closed && names_repair) return "";
  // Before the first durable write the files may be incomplete or missing.
  const bool known = why.code() == Code::corrupt_file || why.code() == Code::not_found;
  if (known && (at.death == Death::machine || !anything_durable(at))) return "";
  return "is refused with code " + std::to_string(static_cast<int>(why.code())) + ": " + why.message();
}

// What `verify` may find after a repair although nothing durable is lost.
enum class Blemish { none, damaged_files, any };

Blemish allowed_blemish(const Aftermath& at) {
  std::uint32_t n_physical = 1;
  for (std::uint32_t k = 0; k < n_physical; ++k) {
    auto file = at.storage->open(format::physical_name(at.path, k), OpenMode::read);
    if (!file.has_value()) return Blemish::any;
    auto physical = PhysicalReader::open(std::move(file).value(), k);
    if (!physical.has_value()) return Blemish::any;
    if ((*physical)->closed()) return Blemish::damaged_files;  // what its index told of counts
    n_physical = (*physical)->header().n_physical;
    if (n_physical + (*physical)->header().n_later > 1 && !at.had_closed)
      return Blemish::any;  // one of them may be lost
  }
  return Blemish::none;
}

std::string check_sound(const Aftermath& at, Blemish allowed) {
  CheckResult health;
  std::string findings;
  const Watch watch{[&](const std::string& text) { findings += "\n    " + text; }, {}};
  const Status verified = verify_multifile(at.storage, at.path, watch, health);
  const bool sound =
      verified.ok() || allowed == Blemish::any || (allowed == Blemish::damaged_files && health.damaged_logical > 0);
  return sound ? "" : "is not sound: " + verified.message() + findings;
}

std::string check_repair(const Aftermath& at, Blemish allowed) {
  CheckResult health;
  std::string findings;
  const Watch watch{[&](const std::string& text) { findings += "\n    " + text; }, {}};
  const Status repaired = repair_multifile(at.storage, at.path, watch, health);
  if (!anything_durable(at)) return "";
  // The death of a process leaves no damage; the death of the machine may damage what was not synced.
  const bool as_it_should = repaired.ok() || (at.death == Death::machine && repaired.code() == Code::corrupt_file);
  if (!as_it_should) return "is not repaired: " + repaired.message() + findings;
  const std::string content = check_content(at, false, Demand::durable_is_there);
  if (!content.empty()) return "after the repair: " + content + findings;
  const std::string sound = check_sound(at, allowed);
  if (!sound.empty()) return "after the repair it " + sound + "\n  repair:" + findings;
  const Status again = repair_multifile(at.storage, at.path, {}, health);
  if (again.code() != repaired.code() && !again.ok()) return "a second repair says: " + again.message() + findings;
  if (health.repaired) return "a second repair repairs again" + findings;
  const std::string later = check_content(at, false, Demand::durable_is_there);
  return later.empty() ? "" : "after the second repair: " + later + findings;
}

// The logical file of history `number`, which is empty where there is none.
Found found_of(ReadHandle& handle, const Aftermath& at, std::uint64_t number, std::uint64_t& rank) {
  const auto found = find_rank(handle, rank = number, at.histories[number]);
  if (found.status().code() == Code::not_found) return {};
  if (!found.has_value()) return {found.status(), {}, {}};
  return read_found(handle, rank = found.value());
}

std::string check_added(const Aftermath& at, const std::string& name) {
  auto file = open_serially(at, MultifileMode::read, false);
  if (!file.has_value()) return "cannot be opened after an append: " + file.error().message();
  const Status found = (*file)->reading->find(name).status();
  return found.ok() ? "" : "after an append: " + found.message();
}

// Appends one more session serially; then everything is durable.
std::string check_append(Aftermath at, Blemish allowed) {
  auto file = open_serially(at, MultifileMode::append, false);
  if (!file.has_value()) return "cannot be appended to: " + file.error().message();
  WriteHandle& handle = *(*file)->writing;
  for (std::uint64_t rank = 0; rank < at.histories.size(); rank += 1 + at.histories.size() / 5) {
    History& history = at.histories[rank];
    if (rank >= handle.common().header.n_logical || !handle.seek_to(rank, -1).ok())
      continue;  // or its physical file was lost
    const std::uint64_t version = history.begin(handle.current()->position(), 700);
    const Status written = handle.write(*handle.current(), written_bytes(rank, history.writes.back(), version));
    if (!written.ok()) return "is not appended to: " + written.message();
  }
  const std::string name = "added by the append";
  const Status added = handle.add(name, 0);
  if (!added.ok()) return "takes no logical file by a name: " + added.message();
  const auto group = make_self_group();
  const Status closed = run(close_multifile(*group, std::move(file).value()));
  if (!closed.ok()) return "is not closed after an append: " + closed.message();
  const std::string content = check_content(at, false, Demand::durable_is_there);
  if (!content.empty()) return "after an append: " + content;
  const std::string later = check_added(at, name);
  if (!later.empty()) return later;
  const std::string sound = check_sound(at, allowed);
  return sound.empty() ? "" : "after an append it " + sound;
}

// Describes the logical file as read, for the message.
std::string told(ReadHandle& handle, std::uint64_t rank, std::span<const WriteRecord> writes) {
  std::string text = "\n    pieces:";
  auto pieces = handle.pieces(rank);
  if (!pieces.has_value()) return text + " " + pieces.error().message();
  const auto range = [](std::uint64_t begin, std::uint64_t bytes) {
    return " [" + std::to_string(begin) + "," + std::to_string(begin + bytes) + ")";
  };
  for (const format::PieceEntry& piece : *pieces)
    text += range(piece.logical_offset, piece.logical_bytes) + (piece.kind == format::PieceKind::chunk ? "c@" : "p@") +
            std::to_string(piece.physical_offset);
  text += "\n    writes:";
  for (const WriteRecord& write : writes) text += range(write.offset, write.bytes) + (write.failed ? "!" : "");
  return text;
}

}  // namespace

bool anything_durable(const Aftermath& at) {
  for (const History& history : at.histories)
    if (durable_writes(history, at.death) > 0) return true;
  return at.was_closed && at.death == Death::process;
}

std::string check_content(const Aftermath& at, bool recover, Demand demand, std::vector<std::uint64_t>* sizes) {
  auto file = open_serially(at, MultifileMode::read, recover);
  if (!file.has_value())
    return demand == Demand::nothing_wrong ? "" : std::string("cannot be opened: ") + file.error().message();
  const bool closed =
      at.may_be_zeros && (!at.closes_at_once || open_serially(at, MultifileMode::read, false).has_value());
  for (std::uint64_t rank = 0; rank < at.histories.size(); ++rank) {
    const History& history = at.histories[rank];
    std::uint64_t there = 0;
    Found found = found_of(*(*file)->reading, at, rank, there);
    std::size_t durable = durable_writes(history, at.death);
    if (demand == Demand::nothing_wrong && !found.whole()) durable = 0;
    const std::string wrong = judge(rank, history.writes, durable, found, closed ? kAll : 0);
    if (!wrong.empty()) return wrong + " " + history.name + told(*(*file)->reading, there, history.writes);
    if (sizes != nullptr) sizes->push_back(found.bytes.size());
  }
  return "";
}

std::string check_aftermath(Aftermath at) {
  const std::string refused = check_refusal(at);
  if (!refused.empty()) return "opened as it is: " + refused;
  const Demand demand = anything_durable(at) ? Demand::durable_is_there : Demand::nothing_wrong;
  const std::string recovered = check_content(at, true, demand);
  if (!recovered.empty()) return "opened with recovery: " + recovered;
  const Blemish allowed = allowed_blemish(at);
  const std::string repaired = check_repair(at, allowed);
  if (!repaired.empty() || !anything_durable(at)) return repaired;
  return at.death == Death::process || at.had_closed ? check_append(std::move(at), allowed) : "";
}

}  // namespace thalweg::test
