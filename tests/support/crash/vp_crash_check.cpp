#include "support/crash/vp_crash_check.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <map>

#include "group/groups.hpp"
#include "support/files/vp_open.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/check/superblock_scan.hpp"
#include "vpfile/vpfile.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg::test {

namespace {

constexpr std::uint64_t kStep = 16;  // bytes refused together

std::size_t durable_writes(const History& history, Death death) {
  return death == Death::process ? history.flushed : history.synced;
}

Result<std::unique_ptr<VpFile>> open_serially(const VpAftermath& at, Group& group, const char* mode) {
  VpOpen how;
  how.path = at.path;
  open_as(how, mode);
  return run(VpFile::open(group, at.storage, std::move(how)));
}

bool read_at(VpFile& file, std::uint64_t vp, std::uint64_t at, std::span<std::byte> to) {
  if (!file.stream(vp).seek(static_cast<std::int64_t>(at), SEEK_SET).ok()) return false;
  const auto got = file.stream(vp).read(to);
  return got.has_value() && got.value() == to.size();
}

// Reads around refused ranges.
Found read_found(VpFile& file, std::uint64_t vp) {
  Found found;
  const auto size = file.stream(vp).size();
  found.unreadable = size.status();
  if (!size.has_value()) return found;
  found.bytes.resize(size.value());
  if (read_at(file, vp, 0, found.bytes)) return found;
  found.refused.resize(found.bytes.size());
  for (std::uint64_t at = 0; at < found.bytes.size(); at += kStep) {
    const auto part = std::span(found.bytes).subspan(at, std::min<std::uint64_t>(kStep, found.bytes.size() - at));
    if (read_at(file, vp, at, part)) continue;
    for (std::uint64_t i = 0; i < part.size(); ++i)
      found.refused[at + i] = !read_at(file, vp, at + i, part.subspan(i, 1));
  }
  return found;
}

// When a table was lost and blocks were not synced, gaps of the streams may belong to its blocks and are refused.
void allow_refused_gaps(Found& found, const History& history) {
  std::vector<bool> covered;  // up to the end of what was synced
  for (std::size_t i = 0; i < history.synced; ++i) {
    const WriteRecord& write = history.writes[i];
    if (write.failed || write.bytes == 0) continue;
    if (covered.size() < write.offset + write.bytes) covered.resize(write.offset + write.bytes);
    std::fill_n(covered.begin() + static_cast<std::ptrdiff_t>(write.offset), write.bytes, true);
  }
  for (std::uint64_t at = 0; at < std::min(found.refused.size(), covered.size()); ++at) {
    if (covered[at] || !found.refused[at]) continue;
    found.refused[at] = false;
    found.bytes[at] = std::byte{0};
  }
}

// Whether stored blocks of a superblock were being changed: unsynced bytes of it may never have arrived.
bool is_being_changed(const VpAftermath& at, const VpFile& file) {
  const auto meta = read_vp_meta(*at.storage, at.path);
  const auto data = at.storage->open(at.path, OpenMode::read);
  if (!meta.has_value() || !data.has_value() || !file.geometry().has_ib()) return false;
  bool found = false;
  EXPECT_TRUE(each_superblock(*data.value(), file.geometry(), [&](std::uint64_t number, ByteView image) {
                const auto parsed = format::parse_superblock(image, meta.value().id, number, file.geometry());
                if (!parsed.has_value() || !parsed.value().seal.updating) return Status{};
                const format::FillSlot& seal = parsed.value().seal;
                found |= format::block_crc(image, file.geometry(), seal.blocks()) != seal.tail_seal;
                return Status{};
              }).ok());
  return found;
}

// A block that was stored before it was full, and not synced, may lack what was added to it.
void allow_lost_additions(Found& found, const History& history, const format::VpGeometry& geometry) {
  const auto block_of = [&](std::uint64_t at) { return (at - geometry.lattice_bytes()) / geometry.block_bytes; };
  std::map<std::uint64_t, int> unsynced_writes;  // by block
  std::uint64_t synced_end = geometry.lattice_bytes();
  for (std::size_t i = 0; i < history.writes.size(); ++i) {
    const WriteRecord& write = history.writes[i];
    const std::uint64_t end = write.offset + write.bytes;
    if (i < history.synced && !write.failed) synced_end = std::max(synced_end, end);
    if (i < history.synced || write.bytes == 0 || end <= geometry.lattice_bytes()) continue;
    const std::uint64_t begin = std::max(write.offset, geometry.lattice_bytes());
    for (std::uint64_t block = block_of(begin); block <= block_of(end - 1); ++block) ++unsynced_writes[block];
  }
  found.refused.resize(found.bytes.size());
  for (std::uint64_t at = synced_end; at < found.bytes.size(); ++at)
    if (found.bytes[at] == std::byte{0} && unsynced_writes[block_of(at)] > 1) found.refused[at] = true;
}

std::string told(std::span<const WriteRecord> writes) {
  std::string text = "\n    writes:";
  for (const WriteRecord& write : writes)
    text += " [" + std::to_string(write.offset) + "," + std::to_string(write.offset + write.bytes) + ")" +
            (write.failed ? "!" : "");
  return text;
}

std::string check_streams(const VpAftermath& at, VpFile& file) {
  if (file.vps().count() != at.histories.size()) return "has " + std::to_string(file.vps().count()) + " VPs";
  std::uint64_t zeros = at.death == Death::process ? at.zeros_below : at.lattice;
  if (at.unsynced_close || (at.death == Death::machine && is_being_changed(at, file))) zeros = ~std::uint64_t{0};
  for (std::uint64_t vp = 0; vp < at.histories.size(); ++vp) {
    const History& history = at.histories[vp];
    Found found = read_found(file, vp);
    if (at.death == Death::machine) {
      if (file.geometry().has_ib()) allow_lost_additions(found, history, file.geometry());
      allow_refused_gaps(found, history);
    }
    if (at.death == Death::process && !found.whole()) return "VP " + std::to_string(vp) + " is not all readable";
    const std::string wrong = judge(vp, history.writes, durable_writes(history, at.death), found, zeros);
    if (!wrong.empty()) return wrong + told(history.writes);
  }
  return "";
}

bool has_meta(const VpAftermath& at) { return read_vp_meta(*at.storage, at.path).has_value(); }

// Checks the files as the crash left them: correct content, or an error that says what to do.
std::string check_as_it_is(const VpAftermath& at) {
  const auto group = make_self_group();
  auto file = open_serially(at, *group, "r");
  if (file.has_value()) {
    const bool synced = at.death == Death::machine && !at.was_closed;
    return synced ? "" : check_streams(at, **file);
  }
  const Status& why = file.error();
  if (at.death == Death::process && at.was_closed) return "was closed and is refused: " + why.message();
  const bool names_repair = why.message().find("thalweg repair") != std::string::npos;
  if (why.code() == Code::not_closed && names_repair) return "";
  if (at.death == Death::machine && (why.code() == Code::corrupt_file || !anything_durable(at))) return "";
  const bool known = why.code() == Code::corrupt_file || why.code() == Code::not_found ||
                     why.code() == Code::invalid_argument;  // NAME.meta does not exist yet
  if (known && !anything_durable(at) && !has_meta(at)) return "";
  return "is refused with code " + std::to_string(static_cast<int>(why.code())) + ": " + why.message();
}

// `there`: must be a vpfile afterwards; set to false where none exists and nothing durable is missing.
std::string check_repair(const VpAftermath& at, bool& there) {
  CheckResult health;
  std::string findings;
  const Watch watch{[&](const std::string& text) { findings += "\n    " + text; }, {}};
  const bool had_meta = has_meta(at);
  const Status repaired = repair_vpfile(*at.storage, at.path, {}, watch, health);
  there = anything_durable(at) || (had_meta && at.death == Death::process);
  if (!repaired.ok() && !there) return "";
  // The death of a process takes nothing away; that of the machine may make streams shorter.
  const bool as_it_should = repaired.ok() || (at.death == Death::machine && repaired.code() == Code::corrupt_file);
  if (!as_it_should) return "is not repaired: " + repaired.message() + findings;
  there = true;
  const std::string content = check_vp_content(at);
  if (!content.empty()) return "after the repair: " + content + findings;
  const Status whole = verify_vpfile(*at.storage, at.path, {}, health);
  if (!whole.ok() && (!at.unsynced_close || whole.code() != repaired.code()))
    return "is not whole after the repair: " + whole.message();
  const Status again = repair_vpfile(*at.storage, at.path, {}, {}, health);
  if (!again.ok() && again.code() != repaired.code()) return "a second repair says: " + again.message() + findings;
  if (repaired.ok() && health.repaired) return "a second repair repairs again" + findings;
  return "";
}

// Appends one more session serially; then everything is durable. Earlier damage remains.
std::string check_append(VpAftermath at) {
  CheckResult before;
  const Code code = verify_vpfile(*at.storage, at.path, {}, before).code();
  const auto group = make_self_group();
  auto file = open_serially(at, *group, "a");
  if (!file.has_value()) return "cannot be appended to: " + file.error().message();
  for (std::uint64_t vp = 0; vp < at.histories.size(); vp += 2) {
    History& history = at.histories[vp];
    const auto size = (*file)->stream(vp).size();
    if (!size.has_value()) return "tells no size: " + size.error().message();
    const std::uint64_t version = history.begin(size.value(), 700);
    const auto written = (*file)->stream(vp).write(written_bytes(vp, history.writes.back(), version));
    // The last block of a stream may be damaged; then the stream accepts no more data.
    const bool damaged = at.unsynced_close && code == Code::corrupt_file;
    history.writes.back().failed = !written.has_value();
    if (!written.has_value() && (!damaged || written.status().code() != Code::corrupt_file))
      return "is not appended to: " + written.error().message();
  }
  const Status closed = run((*file)->close());
  if (!closed.ok()) return "is not closed after an append: " + closed.message();
  CheckResult health;
  const Status whole = verify_vpfile(*at.storage, at.path, {}, health);
  if (whole.code() != code) return "is not whole after an append: " + whole.message();
  const std::string content = check_vp_content(at);
  return content.empty() ? "" : "after an append: " + content;
}

}  // namespace

std::string check_vp_content(const VpAftermath& at, std::vector<std::uint64_t>* sizes) {
  const auto group = make_self_group();
  auto file = open_serially(at, *group, "r");
  if (!file.has_value()) return "cannot be opened: " + file.error().message();
  const std::string wrong = check_streams(at, **file);
  for (std::uint64_t vp = 0; wrong.empty() && sizes != nullptr && vp < at.histories.size(); ++vp)
    sizes->push_back((*file)->stream(vp).size().value());
  return !wrong.empty() || run((*file)->close()).ok() ? wrong : "cannot be closed";
}

bool anything_durable(const VpAftermath& at) {
  for (const History& history : at.histories)
    if (durable_writes(history, at.death) > 0) return true;
  return at.was_closed && at.death == Death::process;
}

std::string check_vp_aftermath(VpAftermath at) {
  // The mark of a close may arrive before what was closed, unless something was synced.
  if (const auto meta = read_vp_meta(*at.storage, at.path); at.death == Death::machine && meta.has_value())
    at.unsynced_close |= meta.value().closed && !meta.value().durable;
  const std::string as_it_is = check_as_it_is(at);
  if (!as_it_is.empty()) return "opened as it is: " + as_it_is;
  bool there = false;
  const std::string repaired = check_repair(at, there);
  if (!repaired.empty()) return repaired;
  return there && (at.death == Death::process || at.had_closed) ? check_append(std::move(at)) : "";
}

std::vector<std::string> vp_paths(const std::string& path) {
  std::vector<std::string> all{path};
  std::ranges::copy(format::vp_side_paths(path), std::back_inserter(all));
  return all;
}

}  // namespace thalweg::test
