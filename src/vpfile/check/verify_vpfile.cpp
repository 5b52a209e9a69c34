#include "vpfile/check/check_vpfile.hpp"

#include <algorithm>
#include <utility>

#include "base/shell_word.hpp"
#include "base/size_units.hpp"
#include "formats/known_file.hpp"
#include "storage/hold_file.hpp"
#include "vpfile/check/checked_vpfile.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg {

using format::BlockRun;

namespace {

constexpr std::uint64_t kCacheBytes = std::uint64_t{1} << 27;

// Holes that follow each other are one run.
Status next_run(BlockDirectory& directory, std::uint64_t vp, std::uint64_t index, BlockDirectory::Cursor& cursor,
                BlockRun& run) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t gap, directory.gap_at(vp, index, cursor));
  run = {0, gap};
  return gap > 0 ? Status{} : directory.find(vp, index, cursor, run);
}

}  // namespace

Status CheckedVpfile::open(bool writes) {
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

Result<SuperblockScan> CheckedVpfile::scan() {
  done_ = 0;
  const GoOn go_on = [this] {
    return !watch_.progress || watch_.progress(done_, meta_.has_value() ? meta_->geometry.n : 0);
  };
  if (!meta_.has_value())  // which sessions were closed is unknown: none is dropped
    return SuperblockScan::of(*data_, std::nullopt, format::VpGeometry{}, kMostOffset, go_on);
  const bool is_open = !meta_->closed && meta_->session > 0;
  return SuperblockScan::of(*data_, meta_->id, meta_->geometry, meta_->session - (is_open ? 1 : 0), go_on);
}

BlockDirectory CheckedVpfile::directory_in(const SideFiles& sides) const {
  SegmentSetup setup;
  setup.sides = &sides;
  setup.id = meta_->id;
  setup.geometry = meta_->geometry;
  setup.cache_bytes = kCacheBytes;
  setup.session = meta_->session;
  if (sides.sums(format::DirectoryFile::first) != nullptr) setup.end_of_entries = meta_->end_of_entries;
  return BlockDirectory(setup);
}

// Entries whose sum is not theirs are lost together, which is one finding.
Status CheckedVpfile::lose_entry(std::uint64_t vp, const Status& why) {
  lost_together_ = why.message() == lost_;
  lost_ = why.message();
  if (!lost_together_) return lose_chain(vp, lost_);
  ++health_.damaged_logical;
  return {};
}

Status CheckedVpfile::lose_chain(std::uint64_t vp, const std::string& what) {
  find("virtual processor " + std::to_string(vp) + ": " + what);
  ++health_.damaged_logical;
  return {};
}

// VPs without blocks whose entries are lost like the one before, which are all of its page.
void CheckedVpfile::pass_lost_page(std::uint64_t end) {
  if (!std::exchange(lost_together_, false)) return;
  const std::uint64_t page_end = (next_ + EntryFile::kPerPage - 1) / EntryFile::kPerPage * EntryFile::kPerPage;
  const std::uint64_t next = std::max(next_, std::min(end, page_end));
  health_.damaged_logical += next - next_;
  next_ = next;
}

Status CheckedVpfile::check_chain(BlockDirectory& directory, const VpChain& expected) {
  const std::uint64_t vp = expected.vp;
  std::uint64_t bytes = 0;
  BlockDirectory::Cursor cursor = 0;
  if (const Status found = directory.find_end(vp, bytes, cursor); !found.ok()) return lose_entry(vp, found);
  if (bytes > expected.bytes && !expected.damaged) ++shortened_;
  if (bytes != expected.bytes)
    return lose_chain(
        vp, "NAME.first says " + std::to_string(bytes) + " bytes, the superblocks " + std::to_string(expected.bytes));
  cursor = 0;
  std::uint64_t index = 0;
  for (BlockRun left : expected.runs) {
    while (left.blocks > 0) {  // runs may be cut at other places
      TW_RETURN_IF_ERROR(step_now_and_then(vp));
      BlockRun run;
      if (const Status found = next_run(directory, vp, index, cursor, run); !found.ok())
        return lose_chain(vp, found.message());
      if (run.address != left.address) return lose_chain(vp, "its chain names other blocks than the superblocks tell");
      const std::uint64_t part = std::min(run.blocks, left.blocks);
      index += part;
      left = {left.is_hole() ? 0 : left.address + part, left.blocks - part};
    }
  }
  return expected.damaged ? lose_chain(vp, "some of its blocks are damaged") : Status{};
}

// Nothing is stored of a VP that has no block: no row needs to tell how long its stream of zeros is.
Status CheckedVpfile::check_empty(BlockDirectory& directory, std::uint64_t vp) {
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
  health_.logical_bytes = std::min(health_.logical_bytes + bytes, kMostOffset);
  return {};
}

// VPs that have neither blocks nor an entry need no check.
Status CheckedVpfile::check_empty_until(BlockDirectory& directory, std::uint64_t end) {
  while (next_ < end) {
    TW_RETURN_IF_ERROR(step_now_and_then(next_));
    if (next_ % EntryFile::kPerPage == 0 || checked_ == 1) {
      TW_ASSIGN_OR_RETURN(next_, directory.next_entry(next_));
    }
    if (next_ >= end) break;
    lost_together_ = false;
    TW_RETURN_IF_ERROR(check_empty(directory, next_++));
    pass_lost_page(end);
  }
  return {};
}

Status CheckedVpfile::check_chains(SuperblockScan& scan, BlockDirectory& directory) {
  const std::uint64_t n = meta_->geometry.n;
  for (std::uint64_t end = 0; end < n;) {
    TW_RETURN_IF_ERROR(step(end, n));
    TW_ASSIGN_OR_RETURN(const std::vector<VpChain> chains, scan.chains(end));
    for (const VpChain& chain : chains) {
      TW_RETURN_IF_ERROR(check_empty_until(directory, chain.vp));
      TW_RETURN_IF_ERROR(step_now_and_then(chain.vp));
      health_.logical_bytes = std::min(health_.logical_bytes + chain.bytes, kMostOffset);
      TW_RETURN_IF_ERROR(check_chain(directory, chain));
      next_ = chain.vp + 1;
    }
  }
  return check_empty_until(directory, n);
}

Status CheckedVpfile::check_directory() {
  TW_ASSIGN_OR_RETURN(auto found, scan());
  for (const std::string& text : found.findings()) find(text);
  if (found.end() > meta_->end_of_superblocks)
    find("there is a superblock " + std::to_string(found.end() - 1) + ", NAME.meta says that all are below " +
         std::to_string(meta_->end_of_superblocks));
  if (found.closed_count() != meta_->superblocks)
    find("there are " + std::to_string(found.closed_count()) + " superblocks, NAME.meta says " +
         std::to_string(meta_->superblocks));
  SideFiles sides;
  const Status opened = sides.open(backend_, path_, *meta_, OpenMode::read);
  if (opened.code() == Code::corrupt_file) {
    find(opened.message());
    return {};
  }
  TW_RETURN_IF_ERROR(opened);
  BlockDirectory directory = directory_in(sides);
  return check_chains(found, directory);
}

Status CheckedVpfile::verify() {
  done_ = checked_ = next_ = 0;
  lost_.clear();
  if (!meta_.has_value()) {
    find(no_meta_.message());
    return no_meta_;
  }
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data_->size());
  if (const Status whole = check_data_bytes(path_, *meta_, size); !whole.ok()) find(whole.message());
  health_.logical_bytes = meta_->geometry.lattice_bytes() * meta_->geometry.n;
  if (!meta_->closed)
    return Status::error(Code::not_closed,
                         "'" + path_ + "' was not closed; " + repair_command(path_) + " brings back what was flushed");
  if (meta_->geometry.has_ib()) TW_RETURN_IF_ERROR(check_directory());
  if (health_.findings == 0) return {};
  return Status::error(Code::corrupt_file, "'" + path_ + "' is damaged");
}

Status verify_vpfile(Backend& backend, const std::string& path, const Watch& watch, CheckResult& health) {
  CheckedVpfile file(backend, path, watch, health);
  TW_RETURN_IF_ERROR(file.open(false));
  return file.verify();
}

Result<format::VpMeta> read_vp_meta(Backend& backend, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const format::KnownFormat known, format_of(backend, path));
  TW_RETURN_IF_ERROR(check_looks_like(path, known, format::KnownFormat::vpfile));
  const auto slots = read_meta_slots(backend, path);
  if (slots.status().code() == Code::not_found)
    return Status::error(Code::corrupt_file, "'" + vp_meta_path(path) + "' is missing");
  if (!slots.has_value()) return slots.error();
  auto parsed = format::parse_meta(slots.value());
  if (!parsed.has_value()) return parsed.error().with_context("'" + path + "'");
  return parsed;
}

Result<bool> is_vpfile(Backend& backend, const std::string& path) {
  TW_RETURN_IF_ERROR(backend.open(path, OpenMode::read).status());
  TW_ASSIGN_OR_RETURN(const format::KnownFormat known, format_of(backend, path));
  if (known != format::KnownFormat::none) return known == format::KnownFormat::vpfile;
  return backend.exists(vp_meta_path(path));  // beside a file of no format it is a damaged one
}

}  // namespace thalweg
