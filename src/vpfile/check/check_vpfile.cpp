// Verify and repair of a vpfile. A repair makes the directory anew from the tables of the superblocks, and marks the
// file as closed in NAME.meta.
#include "vpfile/check/check_vpfile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/shell_word.hpp"
#include "base/size_units.hpp"
#include "base/watch.hpp"
#include "formats/known_file.hpp"
#include "storage/hold_file.hpp"
#include "store/reporter.hpp"
#include "vpfile/check/superblock_scan.hpp"
#include "vpfile/streams/block_directory.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg {

using format::BlockRun;

namespace {

constexpr std::uint64_t kCacheBytes = std::uint64_t{1} << 27;

// The next run of a chain. Consecutive holes are one run.
Status next_run(BlockDirectory& directory, std::uint64_t vp, std::uint64_t index, BlockDirectory::Cursor& cursor,
                BlockRun& run) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t gap, directory.gap_at(vp, index, cursor));
  run = {0, gap};
  return gap > 0 ? Status{} : directory.find(vp, index, cursor, run);
}

// Bytes of a stream that are not in batches.
std::uint64_t bytes_in(const VpChain& chain) {
  std::uint64_t bytes = chain.bytes;
  for (const format::BatchPiece& piece : chain.pieces) bytes -= std::min(bytes, piece.end - piece.begin);
  return bytes;
}

// VPs begin .. end-1.
struct VpRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The same VPs, sorted, in ranges that do not touch.
std::vector<VpRange> joined(std::vector<VpRange> ranges) {
  std::ranges::sort(ranges, {}, &VpRange::begin);
  std::vector<VpRange> all;
  for (const VpRange& one : ranges) {
    if (all.empty() || all.back().end < one.begin) all.push_back(one);
    all.back().end = std::max(all.back().end, one.end);
  }
  return all;
}

// The vpfile that is being verified.
class CheckedVpfile {
 public:
  CheckedVpfile(Backend& backend, std::string path, const Watch& watch, CheckResult& health)
      : backend_(backend), path_(std::move(path)), health_(health), report_(watch, health) {
    health_ = {};
  }

  Status open(bool writes) {
    TW_ASSIGN_OR_RETURN(data_, writes ? hold_file(backend_, path_) : backend_.open(path_, OpenMode::read));
    TW_ASSIGN_OR_RETURN(const format::KnownFormat known, format_of(backend_, path_));
    TW_RETURN_IF_ERROR(check_looks_like(path_, known, format::KnownFormat::vpfile));
    auto meta = read_vp_meta(backend_, path_);
    no_meta_ = meta.status();
    const Code code = no_meta_.code();
    if (!meta.has_value()) return code == Code::corrupt_file || code == Code::unsupported_version ? Status{} : no_meta_;
    meta_ = std::move(meta).value();
    health_.n_logical = meta_->geometry.n;
    health_.closed = meta_->closed;
    return {};
  }

  Status verify() {
    done_ = checked_ = next_ = 0;
    lost_.clear();
    if (!meta_.has_value()) {
      report_.finding(no_meta_.message());
      return no_meta_;
    }
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, data_->size());
    if (const Status whole = check_data_bytes(path_, *meta_, size); !whole.ok()) report_.finding(whole.message());
    health_.logical_bytes = meta_->geometry.lattice_bytes() * meta_->geometry.n;
    if (!meta_->closed)
      return Status::error(Code::not_closed, "'{}' was not closed; {} brings back what was flushed", path_,
                           repair_command(path_));
    if (meta_->geometry.has_ib()) TW_RETURN_IF_ERROR(check_directory());
    if (health_.findings == 0) return {};
    return Status::error(Code::corrupt_file, "'{}' is damaged", path_);
  }

 protected:
  // Scans the superblocks by the geometry of `meta_`, or by that of the first one found.
  Result<SuperblockScan> scan() {
    done_ = 0;
    const GoOn go_on = [this] { return report_.progress(done_, meta_.has_value() ? meta_->geometry.n : 0); };
    if (!meta_.has_value())  // which sessions were closed is unknown: none is dropped
      return SuperblockScan::of(*data_, std::nullopt, format::VpGeometry{}, kMostOffset, go_on);
    const bool is_open = !meta_->closed && meta_->session > 0;
    return SuperblockScan::of(*data_, meta_->id, meta_->geometry, meta_->session - (is_open ? 1 : 0), go_on);
  }

  // The directory in `sides`: that of the closed file, or a new one.
  BlockDirectory directory_in(const SideFiles& sides) const {
    SegmentSetup setup{.sides = &sides, .meta = *meta_, .cache_bytes = kCacheBytes};
    if (sides.sums(format::DirectoryFile::first) == nullptr) setup.meta.end_of_entries = 0;
    return BlockDirectory(setup);
  }

  // Reports the progress. Code::stopped: the caller's function returned false.
  Status step(std::uint64_t done, std::uint64_t total) {
    done_ = std::max(done_, done);
    if (report_.progress(done_, total)) return {};
    return Status::error(Code::stopped, "'{}': stopped", path_);
  }

  Backend& backend_;
  std::string path_;
  CheckResult& health_;
  std::unique_ptr<StoredFile> data_;
  std::optional<format::VpMeta> meta_;
  Status no_meta_;               // why there is no meta_
  std::uint64_t shortened_ = 0;  // streams that have fewer bytes than they had, and are whole otherwise

 private:
  Status check_directory() {
    TW_ASSIGN_OR_RETURN(auto found, scan());
    for (const std::string& text : found.findings()) report_.finding(text);
    if (found.end() > meta_->end_of_superblocks)
      report_.finding(fmt::format("there is a superblock {}, NAME.meta says that all are below {}", found.end() - 1,
                                  meta_->end_of_superblocks));
    if (found.closed_count() != meta_->superblocks)
      report_.finding(
          fmt::format("there are {} superblocks, NAME.meta says {}", found.closed_count(), meta_->superblocks));
    SideFiles sides;
    const Status opened = sides.open(backend_, path_, *meta_, OpenMode::read);
    if (opened.code() == Code::corrupt_file) {
      report_.finding(opened.message());
      return {};
    }
    TW_RETURN_IF_ERROR(opened);
    if (!std::ranges::equal(sides.batches(), found.batches()))
      report_.finding("NAME.batches does not list the batches of the superblocks");
    health_.logical_bytes = std::min(health_.logical_bytes + found.piece_bytes(), kMostOffset);
    TW_RETURN_IF_ERROR(lose_pieces(found));
    BlockDirectory directory = directory_in(sides);
    return check_chains(found, directory);
  }

  // Counts the streams that lack pieces. A batch that is lost is told with its superblock.
  Status lose_pieces(const SuperblockScan& found) {
    std::vector<VpRange> lost, broken;
    for (const format::Batch& batch : found.batches())
      if (batch.lost != 0 && batch.n > 0) lost.push_back({batch.vp, batch.vp + batch.n});
    lacking_ = joined(lost);
    TW_RETURN_IF_ERROR(found.check_pieces([&](std::uint64_t vp) {
      if (!lacks_pieces(vp)) broken.push_back({vp, vp + 1});
    }));
    for (const VpRange& range : joined(broken)) {
      const std::string last = range.end - range.begin > 1 ? fmt::format(" to {}", range.end - 1) : "";
      report_.finding(fmt::format("virtual processor {}{}: pieces do not follow each other", range.begin, last));
      lost.push_back(range);
    }
    lacking_ = joined(std::move(lost));
    for (const VpRange& range : lacking_) health_.damaged_logical += range.end - range.begin;
    return {};
  }
  bool lacks_pieces(std::uint64_t vp) const {
    const auto behind = std::ranges::upper_bound(lacking_, vp, {}, &VpRange::begin);
    return behind != lacking_.begin() && vp < std::prev(behind)->end;
  }

  Status check_chains(SuperblockScan& scan, BlockDirectory& directory) {
    const std::uint64_t n = meta_->geometry.n;
    for (std::uint64_t end = 0; end < n;) {
      TW_RETURN_IF_ERROR(step(end, n));
      TW_ASSIGN_OR_RETURN(const std::vector<VpChain> chains, scan.chains(end));
      for (const VpChain& chain : chains) {
        TW_RETURN_IF_ERROR(check_empty_until(scan, directory, chain.vp));
        TW_RETURN_IF_ERROR(step_now_and_then(chain.vp));
        health_.logical_bytes = std::min(health_.logical_bytes + bytes_in(chain), kMostOffset);
        TW_RETURN_IF_ERROR(check_chain(directory, chain));
        next_ = chain.vp + 1;
      }
    }
    return check_empty_until(scan, directory, n);
  }

  Status check_chain(BlockDirectory& directory, const VpChain& expected) {
    const std::uint64_t vp = expected.vp;
    std::uint64_t bytes = 0;
    BlockDirectory::Cursor cursor = 0;
    if (const Status found = directory.find_end(vp, bytes, cursor); !found.ok()) return lose_entry(vp, found);
    if (bytes > expected.bytes && !expected.damaged) ++shortened_;
    if (bytes != expected.bytes)
      return lose_chain(vp, fmt::format("NAME.first says {} bytes, the superblocks {}", bytes, expected.bytes));
    cursor = 0;
    std::uint64_t index = 0;
    for (BlockRun left : expected.runs) {
      while (left.blocks > 0) {  // runs may be cut at other places
        TW_RETURN_IF_ERROR(step_now_and_then(vp));
        BlockRun run;
        if (const Status found = next_run(directory, vp, index, cursor, run); !found.ok())
          return lose_chain(vp, found.message());
        if (run.address != left.address)
          return lose_chain(vp, "its chain names other blocks than the superblocks tell");
        const std::uint64_t part = std::min(run.blocks, left.blocks);
        index += part;
        left = {left.is_hole() ? 0 : left.address + part, left.blocks - part};
      }
    }
    return expected.damaged ? lose_chain(vp, "some of its blocks are damaged") : Status{};
  }

  // VPs that have neither blocks nor an entry need no check.
  Status check_empty_until(const SuperblockScan& scan, BlockDirectory& directory, std::uint64_t end) {
    while (next_ < end) {
      TW_RETURN_IF_ERROR(step_now_and_then(next_));
      if (next_ % EntryFile::kPerPage == 0 || checked_ == 1) {
        TW_ASSIGN_OR_RETURN(next_, directory.next_entry(next_));
      }
      if (next_ >= end) break;
      lost_together_ = false;
      TW_RETURN_IF_ERROR(check_empty(scan, directory, next_++));
      pass_lost_page(end);
    }
    return {};
  }

  // Checks a VP without blocks by its entry alone: no row needs to state the length of its stream of zeros.
  Status check_empty(const SuperblockScan& scan, BlockDirectory& directory, std::uint64_t vp) {
    std::uint64_t bytes = 0;
    BlockDirectory::Cursor cursor = 0;
    if (const Status found = directory.find_end(vp, bytes, cursor); !found.ok()) return lose_entry(vp, found);
    const std::uint64_t blocks = (bytes + meta_->geometry.block_bytes - 1) / meta_->geometry.block_bytes;
    cursor = 0;
    for (std::uint64_t index = 0; index < blocks;) {
      const auto gap = directory.gap_at(vp, index, cursor);
      if (!gap.has_value()) return lose_chain(vp, gap.error().message());
      if (gap.value() == 0) return lose_chain(vp, "its chain names blocks, and the superblocks tell of none");
      index += std::min(gap.value(), blocks - index);
    }
    if (bytes == 0) return {};
    TW_ASSIGN_OR_RETURN(const std::uint64_t in_pieces, scan.piece_bytes_of(vp));  // counted already
    health_.logical_bytes = std::min(health_.logical_bytes + (bytes - std::min(bytes, in_pieces)), kMostOffset);
    return {};
  }

  // Entries of a page with a wrong sum are lost together, which is one finding.
  Status lose_entry(std::uint64_t vp, const Status& why) {
    lost_together_ = why.message() == lost_;
    lost_ = why.message();
    if (!lost_together_) return lose_chain(vp, lost_);
    ++health_.damaged_logical;
    return {};
  }

  Status lose_chain(std::uint64_t vp, const std::string& what) {
    report_.finding(fmt::format("virtual processor {}: {}", vp, what));
    if (!lacks_pieces(vp)) ++health_.damaged_logical;  // else it was counted
    return {};
  }

  // Counts the other VPs without blocks of a lost page as damaged, and skips them.
  void pass_lost_page(std::uint64_t end) {
    if (!std::exchange(lost_together_, false)) return;
    const std::uint64_t page_end = (next_ + EntryFile::kPerPage - 1) / EntryFile::kPerPage * EntryFile::kPerPage;
    const std::uint64_t next = std::max(next_, std::min(end, page_end));
    health_.damaged_logical += next - next_;
    next_ = next;
  }

  Status step_now_and_then(std::uint64_t vp) {
    return ++checked_ % kAskEach == 0 ? step(vp, meta_->geometry.n) : Status{};
  }

  Reporter report_;
  std::uint64_t checked_ = 0;     // VPs and runs
  std::uint64_t next_ = 0;        // VP to be checked
  std::string lost_;              // message of the entry that was lost last
  bool lost_together_ = false;    // that message was repeated
  std::vector<VpRange> lacking_;  // streams that lack pieces
  std::uint64_t done_ = 0;        // VPs, as reported last
};

Status write_chain(BlockDirectory& directory, const VpChain& chain) {
  BlockDirectory::Cursor last = 0;
  std::uint64_t index = 0;
  for (const BlockRun& run : chain.runs) {
    TW_RETURN_IF_ERROR(directory.append(chain.vp, run, index, chain.bytes, last));
    index += run.blocks;
  }
  return directory.set_bytes(chain.vp, chain.bytes);
}

// Repairs a vpfile from its superblocks.
class Repair : public CheckedVpfile {
 public:
  using CheckedVpfile::CheckedVpfile;

  Status run(const VpShape& shape, bool force) {
    const Status before = verify();
    const bool can_help = before.code() == Code::not_closed || before.code() == Code::corrupt_file;
    if (before.ok() || !can_help) return before;
    TW_RETURN_IF_ERROR(
        check_unclosed_vpfile(backend_, *data_, force, [this] { return step(0, health_.n_logical).ok(); }));
    TW_ASSIGN_OR_RETURN(auto found, scan());
    if (meta_.has_value()) missing_ = meta_->superblocks - std::min(meta_->superblocks, found.closed_count());
    if (!meta_.has_value()) TW_RETURN_IF_ERROR(make_meta(found, shape));
    if (!meta_->geometry.has_ib() && found.geometry().has_ib()) meta_->geometry = found.geometry();
    meta_->session = std::max(meta_->session, found.last_session());
    TW_RETURN_IF_ERROR(drop_lost_records());
    TW_RETURN_IF_ERROR(check_unchanged());
    // Old entries would become entries of a later IB segment.
    TW_RETURN_IF_ERROR(meta_->geometry.has_ib() ? write_directory(found) : remove_directory(backend_, path_));
    TW_RETURN_IF_ERROR(write_meta());
    return judge();
  }

 private:
  // The lock may not keep programs of other nodes away.
  Status check_unchanged() {
    TW_RETURN_IF_ERROR(check_has_its_name(backend_, *data_));
    if (meta_->sequence == 0) return {};  // NAME.meta is made anew
    TW_ASSIGN_OR_RETURN(const auto file, backend_.open(vp_meta_path(path_), OpenMode::read));
    return check_meta(*file, *meta_);
  }

  // Makes meta_ where NAME.meta is missing or unreadable.
  Status make_meta(const SuperblockScan& scan, const VpShape& shape) {
    const std::string why = no_meta_.message();
    const std::uint64_t n = scan.geometry().n;
    if (scan.found().empty())
      return Status::error(Code::corrupt_file,
                           "{}, and no superblock tells what it said; `thalweg vp-import` makes one for an array", why);
    if (shape.empty())
      return Status::error(
          Code::invalid_argument,
          "{}; the shape of its {} virtual processors is needed to make it anew (`thalweg repair --shape`)", why, n);
    TW_ASSIGN_OR_RETURN(const std::uint64_t given, format::count_vps(shape));
    if (given != n)
      return Status::error(Code::invalid_argument, "'{}' has {} virtual processors, the given shape {}", path_, n,
                           given);
    meta_.emplace();
    meta_->shape = shape;
    meta_->sequence = 0;
    meta_->id = scan.id();
    health_.n_logical = n;
    return {};
  }

  // Overwrites the headers of dropped superblocks with zeros, as all superblocks of a closed file count.
  Status erase_dropped(const SuperblockScan& scan) {
    constexpr std::array<std::byte, format::kSuperblockHeader> kZeros{};
    for (const std::uint64_t number : scan.dropped())
      TW_RETURN_IF_ERROR(data_->write(number * scan.geometry().superblock_bytes, kZeros));
    return {};
  }

  // Removes records and rounds that are not whole in the data file from all streams; they do not become zeros. If the
  // lattice was cut off, all superblocks are gone.
  Status drop_lost_records() {
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, data_->size());
    format::VpGeometry& geometry = meta_->geometry;
    const std::uint64_t end = geometry.cb_bytes == 0 ? geometry.nb_bytes * geometry.n : geometry.lattice_end();
    if (size >= end) return {};
    const auto whole = [&](std::uint64_t bytes, std::uint64_t row) {
      return row == 0 ? 0 : bytes / (row * geometry.n) * row;
    };
    const std::uint64_t cb_begin = geometry.cb_begin();
    if (geometry.cb_bytes == 0 || size < cb_begin) {
      geometry.nb_bytes = std::min(geometry.nb_bytes, whole(size, geometry.record_bytes));
      geometry.cb_bytes = 0;
    } else {
      geometry.cb_bytes = std::min(geometry.cb_bytes, whole(size - cb_begin, geometry.buffer_bytes));
    }
    geometry.block_bytes = geometry.superblock_bytes = geometry.pointers = 0;
    geometry.first_superblock = meta_->end_of_superblocks = meta_->end_of_entries = meta_->superblocks = 0;
    shortened_ = meta_->geometry.n;
    return {};
  }

  Status write_directory(SuperblockScan& scan) {
    if (meta_->batches == 0)  // else NAME.batches belongs to the file, whatever its first bytes
      TW_RETURN_IF_ERROR(check_side(backend_, vp_side_path(path_, format::DirectoryFile::batches), true));
    TW_RETURN_IF_ERROR(erase_dropped(scan));
    SideFiles sides;
    TW_RETURN_IF_ERROR(sides.make(backend_, path_, meta_->id, meta_->geometry, false, data_.get()));
    BlockDirectory directory = directory_in(sides);
    TW_RETURN_IF_ERROR(write_chains(scan, directory));
    meta_->batches = meta_->batches_seal = 0;
    TW_RETURN_IF_ERROR(append_batches(backend_, *data_, scan.batches(), true, *meta_));
    meta_->end_of_entries = std::max<std::uint64_t>(directory.end(), 1);
    meta_->end_of_superblocks = std::max({meta_->end_of_superblocks, scan.end(), meta_->geometry.first_superblock});
    meta_->superblocks = scan.count();
    sums_ = directory.changes();
    TW_ASSIGN_OR_RETURN(meta_->side_bytes, sides.sizes());
    return sides.sync();
  }

  Status write_chains(SuperblockScan& scan, BlockDirectory& directory) {
    const std::uint64_t n = meta_->geometry.n;
    meta_->ib_bytes = scan.piece_bytes();
    for (std::uint64_t next = 0, i = 1; next < n;) {
      TW_RETURN_IF_ERROR(step(next, n));
      TW_ASSIGN_OR_RETURN(const std::vector<VpChain> chains, scan.chains(next));
      for (const VpChain& chain : chains) {
        if (++i % kAskEach == 0) TW_RETURN_IF_ERROR(step(chain.vp, n));
        meta_->ib_bytes = std::min(meta_->ib_bytes + bytes_in(chain), kMostOffset);
        TW_RETURN_IF_ERROR(write_chain(directory, chain));
      }
    }
    return directory.flush();
  }

  // Writes the sums of the new entries, and no others. The sums reach the storage before the slot with their seals.
  Status write_meta() {
    const bool has_ib = meta_->geometry.has_ib();
    if (!has_ib) {
      meta_->side_bytes = meta_->side_seals = {};
      meta_->batches = meta_->batches_seal = 0;
      TW_RETURN_IF_ERROR(data_->truncate(meta_->geometry.lattice_end()));  // removes bytes that were not flushed
    }
    TW_RETURN_IF_ERROR(data_->sync());
    TW_ASSIGN_OR_RETURN(meta_->data_bytes, data_->size());
    TW_ASSIGN_OR_RETURN(const auto file, backend_.open(vp_meta_path(path_), OpenMode::create_keep));
    TW_RETURN_IF_ERROR(check_unchanged());
    meta_->closed = true;
    if (meta_->sequence == 0) TW_RETURN_IF_ERROR(file->truncate(0));  // an old slot must not stay valid
    ++meta_->sequence;
    TW_RETURN_IF_ERROR(cut_sums(*file, format::kMetaBytes));
    TW_ASSIGN_OR_RETURN(meta_->side_seals, change_sums(*file, meta_->geometry.n, {}, std::move(sums_)));
    if (has_ib) TW_RETURN_IF_ERROR(file->sync());
    TW_RETURN_IF_ERROR(file->write(format::meta_offset(meta_->sequence), format::encode_meta(*meta_)));
    TW_RETURN_IF_ERROR(file->sync());
    return file->close();
  }

  // Verifies the repaired file as any other one, and adds the losses of the repair.
  Status judge() {
    const CheckResult before = std::exchange(health_, CheckResult{});
    const std::uint64_t shortened = shortened_;
    health_.n_logical = meta_->geometry.n;
    Status status = verify();
    TW_RETURN_IF_ERROR(check_has_its_name(backend_, *data_));
    health_.closed = before.closed;
    health_.repaired = true;
    health_.findings += before.findings;
    health_.damaged_logical += shortened;
    if (!status.ok()) return status;
    if (missing_ > 0 && shortened == 0)
      return Status::error(Code::corrupt_file,
                           "'{}' can be read again, but {} superblocks of closed sessions are missing, and with them "
                           "parts of its streams",
                           path_, missing_);
    if (shortened == 0) return status;
    return Status::error(Code::corrupt_file,
                         "'{}' can be read again, but {} of its {} streams are shorter than they were", path_,
                         shortened, meta_->geometry.n);
  }

  std::vector<SumChange> sums_;  // of the entries that were made
  std::uint64_t missing_ = 0;    // superblocks of closed sessions
};

}  // namespace

Status verify_vpfile(Backend& backend, const std::string& path, const Watch& watch, CheckResult& health) {
  CheckedVpfile file(backend, path, watch, health);
  TW_RETURN_IF_ERROR(file.open(false));
  return file.verify();
}

Status repair_vpfile(Backend& backend, const std::string& path, const VpShape& shape, const Watch& watch,
                     CheckResult& health, bool force) {
  Repair file(backend, path, watch, health);
  const Status opened = file.open(true);
  if (opened.ok()) return file.run(shape, force);
  if (opened.code() != Code::no_permission) return opened;
  const Status sound = verify_vpfile(backend, path, watch, health);  // a sound file needs no repair
  return sound.ok() ? sound : opened;
}

Result<format::VpMeta> read_vp_meta(Backend& backend, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const format::KnownFormat known, format_of(backend, path));
  TW_RETURN_IF_ERROR(check_looks_like(path, known, format::KnownFormat::vpfile));
  const auto slots = read_meta_slots(backend, path);
  if (slots.status().code() == Code::not_found)
    return Status::error(Code::corrupt_file, "'{}' is missing", vp_meta_path(path));
  if (!slots.has_value()) return slots.error();
  auto parsed = format::parse_meta(slots.value());
  if (!parsed.has_value()) return parsed.error().with_context(fmt::format("'{}'", path));
  return parsed;
}

Result<bool> is_vpfile(Backend& backend, const std::string& path) {
  TW_RETURN_IF_ERROR(backend.open(path, OpenMode::read).status());
  TW_ASSIGN_OR_RETURN(const format::KnownFormat known, format_of(backend, path));
  if (known != format::KnownFormat::none) return known == format::KnownFormat::vpfile;
  return backend.exists(vp_meta_path(path));  // NAME.meta beside a file of no format: a damaged vpfile
}

}  // namespace thalweg
