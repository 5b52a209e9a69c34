#include "vpfile/check/vp_health.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/shell_word.hpp"
#include "base/size_units.hpp"
#include "formats/known_file.hpp"
#include "storage/hold_file.hpp"
#include "vpfile/check/superblock_scan.hpp"
#include "vpfile/format/listed_sums.hpp"
#include "vpfile/format/meta.hpp"
#include "vpfile/streams/block_directory.hpp"
#include "vpfile/vp_files.hpp"

namespace thalweg {

using format::BlockRun;
using format::DirectoryFile;

namespace {

constexpr std::uint64_t kRepairCache = std::uint64_t{1} << 26;

// What verify and repair look at.
class Patient {
 public:
  Patient(Backend& backend, std::string path, const Watch& watch, CheckResult& health)
      : backend_(backend), path_(std::move(path)), watch_(watch), health_(health) {
    health_ = {};
  }

  Status open(bool writes);
  Status verify();
  Status repair(const VpShape& shape);

 private:
  void find(const std::string& text) {
    ++health_.findings;
    if (watch_.finding) watch_.finding(text);
  }
  Status step(std::uint64_t done, std::uint64_t total) {
    done_ = std::max(done_, done);
    if (!watch_.progress || watch_.progress(done_, total)) return {};
    return Status::error(Code::stopped, "'" + path_ + "': stopped");
  }
  // Asks where no VP is done.
  GoOn go_on() {
    return [this] { return !watch_.progress || watch_.progress(done_, meta_.has_value() ? meta_->geometry.n : 0); };
  }
  Status read_meta();
  Status check_length();
  Status check_directory(SuperblockScan& scan);
  Status check_chains(SuperblockScan& scan, BlockDirectory& directory);
  Status check_empty(BlockDirectory& directory, std::uint64_t vp);
  Status lose_entry(std::uint64_t vp, const Status& why);
  Status lose_chain(std::uint64_t vp, const std::string& what);
  std::uint64_t pass_lost_page(std::uint64_t done, std::uint64_t end);
  static Result<BlockRun> next_run(BlockDirectory& directory, std::uint64_t vp, std::uint64_t index,
                                   BlockDirectory::Cursor& cursor);
  Status check_chain(BlockDirectory& directory, std::uint64_t vp, const VpChain& expected);
  Status adopt(const SuperblockScan& scan, const VpShape& shape);
  Status drop_lost_records();
  Status write_directory(SuperblockScan& scan);
  Status write_side_file(DirectoryFile which, std::unique_ptr<StoredFile>& file);
  Status write_meta(const SuperblockScan& scan);
  Status judge_repaired();
  Status open_directory(std::unique_ptr<StoredFile>& first, std::unique_ptr<StoredFile>& overflow);
  Status check_side_file(DirectoryFile which, StoredFile& file) const;
  BlockDirectory directory_of(StoredFile& first, StoredFile& overflow) const;
  Status write_sums(StoredFile& meta_file);

  Backend& backend_;
  std::string path_;
  const Watch& watch_;
  CheckResult& health_;
  std::unique_ptr<StoredFile> data_;
  std::optional<format::VpMeta> meta_;
  Status meta_status_;                     // why there is none
  std::optional<EntrySums> first_stored_;  // while it is verified
  std::optional<EntrySums> overflow_stored_;
  std::string lost_;            // why the last entry that was lost is
  bool lost_together_ = false;  //   and so is the one before it
  std::uint64_t end_of_entries_ = 1;
  std::vector<SumChange> sums_;  // of the entries that a repair made
  std::uint64_t done_ = 0;       // VPs, as told last
  std::uint64_t shortened_ = 0;  // streams that have fewer bytes than they had, and are whole otherwise
};

// Compares a chain, run by run, with what the superblocks tell: runs may be cut at other places.
class ChainMatch {
 public:
  explicit ChainMatch(const std::vector<BlockRun>& expected) : expected_(expected) {}

  // False: it is another one.
  bool take(BlockRun run) {
    while (run.blocks > 0) {
      if (i_ == expected_.size()) return false;
      const BlockRun whole = expected_[i_];
      const std::uint64_t address = whole.is_hole() ? 0 : whole.address + done_;
      if (address != run.address) return false;
      const std::uint64_t part = std::min(whole.blocks - done_, run.blocks);
      if (!run.is_hole()) run.address += part;
      run.blocks -= part;
      done_ += part;
      if (done_ == whole.blocks) {
        ++i_;
        done_ = 0;
      }
    }
    return true;
  }
  bool ended() const { return i_ == expected_.size(); }

 private:
  const std::vector<BlockRun>& expected_;
  std::size_t i_ = 0;
  std::uint64_t done_ = 0;  // blocks of expected_[i_]
};

}  // namespace

Status Patient::read_meta() {
  auto found = read_vp_meta(backend_, path_);
  if (found.has_value()) {
    meta_ = std::move(found).value();
    return {};
  }
  meta_status_ = found.status();
  const Code code = meta_status_.code();
  return code == Code::corrupt_file || code == Code::unsupported_version ? Status{} : meta_status_;
}

Status Patient::open(bool writes) {
  TW_ASSIGN_OR_RETURN(data_, writes ? hold_file(backend_, path_) : backend_.open(path_, OpenMode::read));
  TW_ASSIGN_OR_RETURN(const format::KnownFormat found, format_of(backend_, path_));
  TW_RETURN_IF_ERROR(check_looks_like(path_, found, format::KnownFormat::vpfile));
  TW_RETURN_IF_ERROR(read_meta());
  if (meta_.has_value()) {
    health_.n_logical = meta_->geometry.n;
    health_.closed = meta_->closed;
  }
  return {};
}

Status Patient::check_length() {
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data_->size());
  if (const Status whole = check_data_bytes(path_, *meta_, size); !whole.ok()) find(whole.message());
  return {};
}

BlockDirectory Patient::directory_of(StoredFile& first, StoredFile& overflow) const {
  const auto of = [](StoredFile& file, const std::optional<EntrySums>& stored) {
    return BlockDirectory::SideFile{&file, stored.has_value() ? &*stored : nullptr};
  };
  BlockDirectory::Setup setup;
  setup.first = of(first, first_stored_);
  setup.overflow = of(overflow, overflow_stored_);
  setup.id = meta_->id;
  setup.geometry = meta_->geometry;
  setup.cache_bytes = kRepairCache;
  setup.session = static_cast<std::uint32_t>(meta_->session);
  setup.stored_end = first_stored_.has_value() ? meta_->end_of_entries : 0;
  setup.next_page = setup.stored_end == 0 ? 0 : format::sums_for(setup.stored_end - 1);
  return BlockDirectory(setup);
}

// Entries whose sum is not theirs are lost together, which is one finding.
Status Patient::lose_entry(std::uint64_t vp, const Status& why) {
  ++health_.damaged_logical;
  lost_together_ = why.message() == lost_;
  if (lost_together_) return {};
  lost_ = why.message();
  find("virtual processor " + std::to_string(vp) + ": " + lost_);
  return {};
}

Status Patient::lose_chain(std::uint64_t vp, const std::string& what) {
  find("virtual processor " + std::to_string(vp) + ": " + what);
  ++health_.damaged_logical;
  return {};
}

// How far all are lost as the one before `done`, which has no blocks.
std::uint64_t Patient::pass_lost_page(std::uint64_t done, std::uint64_t end) {
  if (!std::exchange(lost_together_, false)) return done;
  const std::uint64_t page_end = (done + EntryPages::kPerPage - 1) / EntryPages::kPerPage * EntryPages::kPerPage;
  const std::uint64_t next = std::max(done, std::min(end, page_end));
  health_.damaged_logical += next - done;
  return next;
}

Status Patient::check_chain(BlockDirectory& directory, std::uint64_t vp, const VpChain& expected) {
  const auto stored = directory.stored(vp);
  if (!stored.has_value()) return lose_entry(vp, stored.error());
  if (stored.value().bytes > expected.bytes && !expected.damaged) ++shortened_;
  if (stored.value().bytes != expected.bytes)
    return lose_chain(vp, "NAME.first says " + std::to_string(stored.value().bytes) + " bytes, the superblocks " +
                              std::to_string(expected.bytes));
  ChainMatch match(expected.runs);
  BlockDirectory::Cursor cursor = 0;
  const std::uint64_t blocks = (expected.bytes + meta_->geometry.block_bytes - 1) / meta_->geometry.block_bytes;
  for (std::uint64_t index = 0, i = 1; index < blocks; ++i) {
    if (i % kAskEach == 0) TW_RETURN_IF_ERROR(step(vp, meta_->geometry.n));
    auto run = next_run(directory, vp, index, cursor);
    if (!run.has_value()) return lose_chain(vp, run.error().message());
    run.value().blocks = std::min(run.value().blocks, blocks - index);
    if (!match.take(run.value())) return lose_chain(vp, "its chain names other blocks than the superblocks tell");
    index += run.value().blocks;
  }
  if (!match.ended()) return lose_chain(vp, "its chain names other blocks than the superblocks tell");
  if (expected.damaged) return lose_chain(vp, "some of its blocks are damaged");
  return {};
}

// Holes that follow each other as one.
Result<BlockRun> Patient::next_run(BlockDirectory& directory, std::uint64_t vp, std::uint64_t index,
                                   BlockDirectory::Cursor& cursor) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t gap, directory.gap_at(vp, index, cursor));
  if (gap > 0) return BlockRun{0, gap};
  return directory.find(vp, index, cursor);
}

// Of a VP that has no block nothing is stored: no row needs to tell how long its stream of zeros is.
Status Patient::check_empty(BlockDirectory& directory, std::uint64_t vp) {
  const auto stored = directory.stored(vp);
  if (!stored.has_value()) return lose_entry(vp, stored.error());
  const std::uint64_t block_bytes = meta_->geometry.block_bytes;
  const std::uint64_t blocks = (stored.value().bytes + block_bytes - 1) / block_bytes;
  BlockDirectory::Cursor cursor = 0;
  for (std::uint64_t index = 0; index < blocks;) {
    const auto gap = directory.gap_at(vp, index, cursor);
    if (!gap.has_value()) return lose_chain(vp, gap.error().message());
    if (gap.value() == 0) return lose_chain(vp, "its chain names blocks, and the superblocks tell of none");
    index += std::min(gap.value(), blocks - index);
  }
  health_.logical_bytes = std::min(health_.logical_bytes + stored.value().bytes, kMostOffset);
  return {};
}

// Of VPs that have neither blocks nor an entry there is nothing to check.
Status Patient::check_chains(SuperblockScan& scan, BlockDirectory& directory) {
  const std::uint64_t n = meta_->geometry.n;
  std::uint64_t done = 0;  // VPs
  std::uint64_t checked = 0;
  const auto check_until = [&](std::uint64_t end) -> Status {  // those without blocks
    while (done < end) {
      if (++checked % kAskEach == 0) TW_RETURN_IF_ERROR(step(done, n));
      if (done % EntryPages::kPerPage == 0 || checked == 1) {
        TW_ASSIGN_OR_RETURN(done, directory.next_entry(done));
      }
      if (done >= end) break;
      lost_together_ = false;
      TW_RETURN_IF_ERROR(check_empty(directory, done++));
      done = pass_lost_page(done, end);
    }
    return {};
  };
  for (std::uint64_t begin = 0; begin < n;) {
    TW_ASSIGN_OR_RETURN(const SuperblockScan::Window window, scan.chains(begin));
    TW_RETURN_IF_ERROR(step(begin, n));
    for (const auto& [vp, chain] : window.chains) {
      TW_RETURN_IF_ERROR(check_until(vp));
      if (++checked % kAskEach == 0) TW_RETURN_IF_ERROR(step(vp, n));
      health_.logical_bytes = std::min(health_.logical_bytes + chain.bytes, kMostOffset);
      TW_RETURN_IF_ERROR(check_chain(directory, vp, chain));
      done = vp + 1;
    }
    begin = window.end;
  }
  return check_until(n);
}

Status Patient::check_side_file(DirectoryFile which, StoredFile& file) const {
  std::array<std::byte, format::kDirectoryHeader> bytes{};
  TW_ASSIGN_OR_RETURN(const std::size_t got, file.read(0, bytes));
  TW_RETURN_IF_ERROR(format::check_directory_header(
      std::span(bytes).first(got),
      {which, meta_->id, meta_->geometry.n, meta_->geometry.pointers, meta_->geometry.block_bytes}));
  return check_side_bytes(file, which == DirectoryFile::first ? meta_->first : meta_->overflow);
}

// corrupt_file: what of it cannot be looked at.
Status Patient::open_directory(std::unique_ptr<StoredFile>& first, std::unique_ptr<StoredFile>& overflow) {
  TW_ASSIGN_OR_RETURN(const auto meta, backend_.open(vp_meta_path(path_), OpenMode::read));
  for (const DirectoryFile which : {DirectoryFile::first, DirectoryFile::overflow}) {
    const bool is_first = which == DirectoryFile::first;
    const std::string name = is_first ? vp_first_path(path_) : vp_overflow_path(path_);
    auto opened = backend_.open(name, OpenMode::read);
    if (!opened.has_value()) {
      if (opened.error().code() != Code::not_found) return opened.error();
      return Status::error(Code::corrupt_file, "'" + name + "' is missing");
    }
    auto& file = is_first ? first : overflow;
    file = std::move(opened).value();
    TW_RETURN_IF_ERROR(check_side_file(which, *file));
    auto& stored = is_first ? first_stored_ : overflow_stored_;
    TW_ASSIGN_OR_RETURN(stored, EntrySums::read(*meta, *meta_, which));
  }
  return {};
}

Status Patient::check_directory(SuperblockScan& scan) {
  std::unique_ptr<StoredFile> first;
  std::unique_ptr<StoredFile> overflow;
  const Status opened = open_directory(first, overflow);
  if (opened.code() == Code::corrupt_file) {
    find(opened.message());
    return {};
  }
  TW_RETURN_IF_ERROR(opened);
  BlockDirectory directory = directory_of(*first, *overflow);
  return check_chains(scan, directory);
}

Status Patient::verify() {
  done_ = 0;
  lost_.clear();
  if (!meta_.has_value()) {
    find(meta_status_.message());
    return meta_status_;
  }
  TW_RETURN_IF_ERROR(check_length());
  health_.logical_bytes = meta_->geometry.lattice_bytes() * meta_->geometry.n;
  if (!meta_->closed)
    return Status::error(Code::not_closed,
                         "'" + path_ + "' was not closed; " + repair_command(path_) + " brings back what was flushed");
  if (meta_->geometry.has_ib()) {
    TW_ASSIGN_OR_RETURN(auto scan, SuperblockScan::of(*data_, meta_->id, meta_->geometry, go_on()));
    for (const std::string& text : scan.findings()) find(text);
    if (scan.end() > meta_->end_of_superblocks)
      find("there is a superblock " + std::to_string(scan.end() - 1) + ", NAME.meta says that all are below " +
           std::to_string(meta_->end_of_superblocks));
    TW_RETURN_IF_ERROR(check_directory(scan));
  }
  if (health_.findings == 0) return {};
  return Status::error(Code::corrupt_file, "'" + path_ + "' is damaged");
}

// Where NAME.meta tells nothing, or less than the superblocks.
Status Patient::adopt(const SuperblockScan& scan, const VpShape& shape) {
  if (!meta_.has_value()) {
    if (scan.found().empty())
      return Status::error(Code::corrupt_file, meta_status_.message() +
                                                   ", and no superblock tells what it said; `thalweg vp-import` makes "
                                                   "one for an array");
    if (shape.empty())
      return Status::error(Code::invalid_argument,
                           meta_status_.message() + "; the shape of its " + std::to_string(scan.geometry().n) +
                               " virtual processors is needed to make it anew (`thalweg repair --shape`)");
    TW_ASSIGN_OR_RETURN(const std::uint64_t n, format::count_vps(shape));
    if (n != scan.geometry().n)
      return Status::error(Code::invalid_argument, "'" + path_ + "' has " + std::to_string(scan.geometry().n) +
                                                       " virtual processors, the given shape " + std::to_string(n));
    meta_.emplace();
    meta_->shape = shape;
    meta_->sequence = 0;
    meta_->id = scan.id();
    meta_->geometry = scan.geometry();
    health_.n_logical = n;
  }
  if (!meta_->geometry.has_ib() && scan.geometry().has_ib()) meta_->geometry = scan.geometry();
  meta_->session = std::max(meta_->session, scan.last_session());
  return {};
}

// Records and rounds that are not there whole are lost to all streams: they do not become zeros. With a lattice that
// was cut off all superblocks are gone.
Status Patient::drop_lost_records() {
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
  geometry.first_superblock = meta_->end_of_superblocks = meta_->end_of_entries = 0;
  shortened_ = geometry.n;
  return {};
}

Status Patient::write_side_file(DirectoryFile which, std::unique_ptr<StoredFile>& file) {
  const std::string name = which == DirectoryFile::first ? vp_first_path(path_) : vp_overflow_path(path_);
  TW_ASSIGN_OR_RETURN(file, backend_.open(name, OpenMode::create));
  return file->write(0, format::encode_directory_header({which, meta_->id, meta_->geometry.n, meta_->geometry.pointers,
                                                         meta_->geometry.block_bytes}));
}

static Status write_chain(BlockDirectory& directory, std::uint64_t vp, const VpChain& chain) {
  BlockDirectory::Cursor last = 0;
  std::uint64_t index = 0;
  for (const BlockRun& run : chain.runs) {
    TW_RETURN_IF_ERROR(directory.append(vp, run, index, chain.bytes, last));
    index += run.blocks;
  }
  return directory.set_bytes(vp, chain.bytes);
}

Status Patient::write_directory(SuperblockScan& scan) {
  std::unique_ptr<StoredFile> first;
  std::unique_ptr<StoredFile> overflow;
  TW_RETURN_IF_ERROR(write_side_file(DirectoryFile::first, first));
  TW_RETURN_IF_ERROR(write_side_file(DirectoryFile::overflow, overflow));
  first_stored_.reset();
  overflow_stored_.reset();
  BlockDirectory directory = directory_of(*first, *overflow);
  const std::uint64_t n = meta_->geometry.n;
  meta_->ib_bytes = 0;
  for (std::uint64_t begin = 0, i = 1; begin < n;) {
    TW_RETURN_IF_ERROR(step(begin, n));
    TW_ASSIGN_OR_RETURN(const SuperblockScan::Window window, scan.chains(begin));
    for (const auto& [vp, chain] : window.chains) {
      if (++i % kAskEach == 0) TW_RETURN_IF_ERROR(step(vp, n));
      meta_->ib_bytes = std::min(meta_->ib_bytes + chain.bytes, kMostOffset);
      TW_RETURN_IF_ERROR(write_chain(directory, vp, chain));
    }
    begin = window.end;
  }
  end_of_entries_ = std::max<std::uint64_t>(directory.end(), 1);
  TW_RETURN_IF_ERROR(directory.flush());
  sums_ = directory.changes();
  TW_ASSIGN_OR_RETURN(meta_->first.bytes, first->size());
  TW_ASSIGN_OR_RETURN(meta_->overflow.bytes, overflow->size());
  TW_RETURN_IF_ERROR(first->sync());
  return overflow->sync();
}

// Those of the entries that were made, and no others. They reach the storage before the slot that tells their seals.
Status Patient::write_sums(StoredFile& meta_file) {
  TW_RETURN_IF_ERROR(cut_sums(meta_file, format::kMetaBytes));
  TW_ASSIGN_OR_RETURN(const SealChanges seals, change_sums(meta_file, meta_->geometry.n, {}, std::move(sums_)));
  meta_->first.seal = seals.first;
  meta_->overflow.seal = seals.overflow;
  return meta_->geometry.has_ib() ? meta_file.sync() : Status{};
}

Status Patient::write_meta(const SuperblockScan& scan) {
  if (meta_->geometry.has_ib()) {
    meta_->end_of_superblocks = std::max({meta_->end_of_superblocks, scan.end(), meta_->geometry.first_superblock});
    meta_->end_of_entries = end_of_entries_;
  } else {
    meta_->first = meta_->overflow = {};
    TW_RETURN_IF_ERROR(data_->truncate(meta_->geometry.lattice_end()));  // what was not flushed goes
  }
  TW_RETURN_IF_ERROR(data_->sync());
  TW_ASSIGN_OR_RETURN(meta_->data_bytes, data_->size());
  meta_->closed = true;
  const OpenMode mode = meta_->sequence == 0 ? OpenMode::create : OpenMode::create_keep;  // an old slot must not hold
  ++meta_->sequence;
  TW_ASSIGN_OR_RETURN(const auto file, backend_.open(vp_meta_path(path_), mode));
  TW_RETURN_IF_ERROR(write_sums(*file));
  TW_RETURN_IF_ERROR(file->write(format::meta_offset(meta_->sequence), format::encode_meta(*meta_)));
  TW_RETURN_IF_ERROR(file->sync());
  return file->close();
}

Status Patient::repair(const VpShape& shape) {
  const Status before = verify();
  const bool can_help = before.code() == Code::not_closed || before.code() == Code::corrupt_file;
  if (before.ok() || !can_help) return before;
  done_ = 0;
  const format::VpGeometry known = meta_.has_value() ? meta_->geometry : format::VpGeometry{};
  std::optional<format::VpIdentity> id;
  if (meta_.has_value()) id = meta_->id;
  TW_ASSIGN_OR_RETURN(auto scan, SuperblockScan::of(*data_, id, known, go_on()));
  TW_RETURN_IF_ERROR(adopt(scan, shape));
  TW_RETURN_IF_ERROR(drop_lost_records());
  // Entries of before would become those of a later IB segment.
  TW_RETURN_IF_ERROR(meta_->geometry.has_ib() ? write_directory(scan) : remove_directory(backend_, path_));
  TW_RETURN_IF_ERROR(write_meta(scan));
  return judge_repaired();
}

// What stands there now is judged as any other file; what could not be brought back is told besides.
Status Patient::judge_repaired() {
  const CheckResult before = std::exchange(health_, CheckResult{});
  health_.n_logical = meta_->geometry.n;
  Status status = verify();
  health_.closed = before.closed;
  health_.repaired = true;
  health_.findings += before.findings;
  health_.damaged_logical += shortened_;
  if (!status.ok() || shortened_ == 0) return status;
  return Status::error(Code::corrupt_file, "'" + path_ + "' can be read again, but " + std::to_string(shortened_) +
                                               " of its " + std::to_string(meta_->geometry.n) +
                                               " streams are shorter than they were");
}

Status verify_vpfile(Backend& backend, const std::string& path, const Watch& watch, CheckResult& health) {
  Patient patient(backend, path, watch, health);
  TW_RETURN_IF_ERROR(patient.open(false));
  return patient.verify();
}

Status repair_vpfile(Backend& backend, const std::string& path, const VpShape& shape, const Watch& watch,
                     CheckResult& health) {
  Patient patient(backend, path, watch, health);
  const Status opened = patient.open(true);
  if (opened.ok()) return patient.repair(shape);
  if (opened.code() != Code::no_permission) return opened;
  const Status sound = verify_vpfile(backend, path, watch, health);  // what is sound needs no repair
  return sound.ok() ? sound : opened;
}

Result<format::VpMeta> read_vp_meta(Backend& backend, const std::string& path) {
  const std::string name = vp_meta_path(path);
  TW_ASSIGN_OR_RETURN(const format::KnownFormat found, format_of(backend, path));
  TW_RETURN_IF_ERROR(check_looks_like(path, found, format::KnownFormat::vpfile));
  TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(name));
  if (!exists) return Status::error(Code::corrupt_file, "'" + name + "' is missing");
  TW_ASSIGN_OR_RETURN(const auto file, backend.open(name, OpenMode::read));
  std::array<std::byte, format::kMetaBytes> bytes{};
  TW_ASSIGN_OR_RETURN(const std::size_t got, file->read(0, bytes));
  auto parsed = format::parse_meta(std::span(bytes).first(got));
  if (!parsed.has_value()) return parsed.error().with_context("'" + path + "'");
  return parsed;
}

Result<bool> is_vpfile(Backend& backend, const std::string& path) {
  TW_RETURN_IF_ERROR(backend.open(path, OpenMode::read).status());
  TW_ASSIGN_OR_RETURN(const format::KnownFormat found, format_of(backend, path));
  if (found != format::KnownFormat::none) return found == format::KnownFormat::vpfile;
  return backend.exists(vp_meta_path(path));  // beside a file of no format it is a damaged one
}

// A vpfile that lost its NAME.meta would be read as records of anything.
static Status check_is_no_vpfile(Backend& backend, const std::string& path, StoredFile& data) {
  TW_ASSIGN_OR_RETURN(const bool has_superblocks, holds_superblocks(data));
  if (has_superblocks)
    return Status::error(Code::unsafe, "'" + path +
                                           "' holds blocks of a vpfile that has lost its NAME.meta and is no array; "
                                           "`thalweg repair --shape` makes NAME.meta anew");
  const std::string first = vp_first_path(path);
  TW_ASSIGN_OR_RETURN(const format::KnownFormat side, format_of(backend, first));
  if (side != format::KnownFormat::vp_side) return {};
  return Status::error(Code::unsafe, "'" + first + "' lies beside '" + path +
                                         "', which looks like a vpfile that has lost its NAME.meta; remove it if '" +
                                         path + "' is an array");
}

Status import_array(Backend& backend, const std::string& path, const VpShape& shape, std::uint64_t record_bytes) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t n, format::count_vps(shape));
  TW_ASSIGN_OR_RETURN(const auto data, hold_file(backend, path));
  TW_ASSIGN_OR_RETURN(const format::KnownFormat found, format_of(backend, path));
  if (found != format::KnownFormat::none && found != format::KnownFormat::vpfile)
    return Status::error(Code::unsafe, "'" + path + "' looks like " + format::name_of(found) + ", which is no array");
  TW_ASSIGN_OR_RETURN(const bool has_meta, has_meta_bytes(backend, path));
  if (!has_meta) TW_RETURN_IF_ERROR(check_is_no_vpfile(backend, path, *data));
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data->size());
  const std::uint64_t all = record_bytes <= (std::uint64_t{1} << 62) / n ? record_bytes * n : 0;
  if (all == 0 || size % all != 0)
    return Status::error(Code::invalid_argument,
                         "'" + path + "' has " + std::to_string(size) + " bytes, which is no multiple of records of " +
                             std::to_string(record_bytes) + " bytes of " + std::to_string(n) + " virtual processors");
  format::VpMeta meta;
  meta.shape = shape;
  meta.id = new_vp_identity();
  meta.closed = true;
  meta.geometry.n = n;
  meta.geometry.record_bytes = record_bytes;
  meta.geometry.nb_bytes = size / n;
  meta.data_bytes = size;
  TW_ASSIGN_OR_RETURN(const auto file,
                      backend.open(vp_meta_path(path), has_meta ? OpenMode::create_exclusive : OpenMode::create_keep));
  Status status = file->write(format::meta_offset(meta.sequence), format::encode_meta(meta));
  if (status.ok()) status = file->close();
  if (!status.ok()) static_cast<void>(backend.remove(vp_meta_path(path)).ok());
  return status;
}

}  // namespace thalweg
