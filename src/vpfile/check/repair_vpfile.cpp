// Repair of a vpfile: what the superblocks tell becomes its directory again, and NAME.meta says that it is closed.
#include <algorithm>
#include <array>
#include <utility>

#include "base/size_units.hpp"
#include "formats/known_file.hpp"
#include "storage/hold_file.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/check/checked_vpfile.hpp"
#include "vpfile/format/listed_sums.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg {

using format::BlockRun;
using format::DirectoryFile;

namespace {

Status write_chain(BlockDirectory& directory, const VpChain& chain) {
  BlockDirectory::Cursor last = 0;
  std::uint64_t index = 0;
  for (const BlockRun& run : chain.runs) {
    TW_RETURN_IF_ERROR(directory.append(chain.vp, run, index, chain.bytes, last));
    index += run.blocks;
  }
  return directory.set_bytes(chain.vp, chain.bytes);
}

class Repair : public CheckedVpfile {
 public:
  using CheckedVpfile::CheckedVpfile;

  Status run(const VpShape& shape) {
    const Status before = verify();
    const bool can_help = before.code() == Code::not_closed || before.code() == Code::corrupt_file;
    if (before.ok() || !can_help) return before;
    TW_ASSIGN_OR_RETURN(auto found, scan());
    if (meta_.has_value()) missing_ = meta_->superblocks - std::min(meta_->superblocks, found.closed_count());
    if (!meta_.has_value()) TW_RETURN_IF_ERROR(make_meta(found, shape));
    if (!meta_->geometry.has_ib() && found.geometry().has_ib()) meta_->geometry = found.geometry();
    meta_->session = std::max(meta_->session, found.last_session());
    TW_RETURN_IF_ERROR(drop_lost_records());
    TW_RETURN_IF_ERROR(check_has_its_name(backend_, *data_));
    // Entries of before would become those of a later IB segment.
    TW_RETURN_IF_ERROR(meta_->geometry.has_ib() ? write_directory(found) : remove_directory(backend_, path_));
    TW_RETURN_IF_ERROR(write_meta());
    return judge();
  }

 private:
  // Where there is no NAME.meta that can be read.
  Status make_meta(const SuperblockScan& scan, const VpShape& shape) {
    const std::string why = no_meta_.message();
    const std::uint64_t n = scan.geometry().n;
    if (scan.found().empty())
      return Status::error(Code::corrupt_file, why +
                                                   ", and no superblock tells what it said; `thalweg vp-import` makes "
                                                   "one for an array");
    if (shape.empty())
      return Status::error(Code::invalid_argument, why + "; the shape of its " + std::to_string(n) +
                                                       " virtual processors is needed to make it anew (`thalweg repair "
                                                       "--shape`)");
    TW_ASSIGN_OR_RETURN(const std::uint64_t given, format::count_vps(shape));
    if (given != n)
      return Status::error(Code::invalid_argument, "'" + path_ + "' has " + std::to_string(n) +
                                                       " virtual processors, the given shape " + std::to_string(given));
    meta_.emplace();
    meta_->shape = shape;
    meta_->sequence = 0;
    meta_->id = scan.id();
    health_.n_logical = n;
    return {};
  }

  // The repaired file is closed, and all superblocks of a closed file count: the headers of dropped ones become zeros.
  Status erase_dropped(const SuperblockScan& scan) {
    constexpr std::array<std::byte, format::kSuperblockHeader> kZeros{};
    for (const std::uint64_t number : scan.dropped())
      TW_RETURN_IF_ERROR(data_->write(number * scan.geometry().superblock_bytes, kZeros));
    return {};
  }

  // Records and rounds that are not there whole are lost to all streams: they do not become zeros. With a lattice that
  // was cut off all superblocks are gone.
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
    TW_RETURN_IF_ERROR(erase_dropped(scan));
    SideFiles sides;
    TW_RETURN_IF_ERROR(sides.make(backend_, path_, meta_->id, meta_->geometry, false, data_.get()));
    BlockDirectory directory = directory_in(sides);
    TW_RETURN_IF_ERROR(write_chains(scan, directory));
    meta_->end_of_entries = std::max<std::uint64_t>(directory.end(), 1);
    meta_->end_of_superblocks = std::max({meta_->end_of_superblocks, scan.end(), meta_->geometry.first_superblock});
    meta_->superblocks = scan.count();
    sums_ = directory.changes();
    TW_ASSIGN_OR_RETURN(meta_->side_bytes, sides.sizes());
    return sides.sync();
  }

  Status write_chains(SuperblockScan& scan, BlockDirectory& directory) {
    const std::uint64_t n = meta_->geometry.n;
    meta_->ib_bytes = 0;
    for (std::uint64_t next = 0, i = 1; next < n;) {
      TW_RETURN_IF_ERROR(step(next, n));
      TW_ASSIGN_OR_RETURN(const std::vector<VpChain> chains, scan.chains(next));
      for (const VpChain& chain : chains) {
        if (++i % kAskEach == 0) TW_RETURN_IF_ERROR(step(chain.vp, n));
        meta_->ib_bytes = std::min(meta_->ib_bytes + chain.bytes, kMostOffset);
        TW_RETURN_IF_ERROR(write_chain(directory, chain));
      }
    }
    return directory.flush();
  }

  // The sums are those of the entries that were made, and no others. They reach the storage before the slot that tells
  // their seals.
  Status write_meta() {
    const bool has_ib = meta_->geometry.has_ib();
    if (!has_ib) {
      meta_->side_bytes = meta_->side_seals = {};
      TW_RETURN_IF_ERROR(data_->truncate(meta_->geometry.lattice_end()));  // what was not flushed goes
    }
    TW_RETURN_IF_ERROR(data_->sync());
    TW_ASSIGN_OR_RETURN(meta_->data_bytes, data_->size());
    meta_->closed = true;
    TW_ASSIGN_OR_RETURN(const auto file, backend_.open(vp_meta_path(path_), OpenMode::create_keep));
    TW_RETURN_IF_ERROR(check_has_its_name(backend_, *data_));
    if (meta_->sequence == 0) TW_RETURN_IF_ERROR(file->truncate(0));  // an old slot must not hold
    ++meta_->sequence;
    TW_RETURN_IF_ERROR(cut_sums(*file, format::kMetaBytes));
    TW_ASSIGN_OR_RETURN(meta_->side_seals, change_sums(*file, meta_->geometry.n, {}, std::move(sums_)));
    if (has_ib) TW_RETURN_IF_ERROR(file->sync());
    TW_RETURN_IF_ERROR(file->write(format::meta_offset(meta_->sequence), format::encode_meta(*meta_)));
    TW_RETURN_IF_ERROR(file->sync());
    return file->close();
  }

  // What stands there now is judged as any other file; what could not be brought back is told besides.
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
                           "'" + path_ + "' can be read again, but " + std::to_string(missing_) +
                               " superblocks of closed sessions are missing, and with them parts of its "
                               "streams");
    if (shortened == 0) return status;
    return Status::error(Code::corrupt_file, "'" + path_ + "' can be read again, but " + std::to_string(shortened) +
                                                 " of its " + std::to_string(meta_->geometry.n) +
                                                 " streams are shorter than they were");
  }

  std::vector<SumChange> sums_;  // of the entries that were made
  std::uint64_t missing_ = 0;    // superblocks of closed sessions
};

// A vpfile that lost its NAME.meta would be read as records of anything.
Status check_is_no_vpfile(Backend& backend, const std::string& path, StoredFile& data) {
  TW_ASSIGN_OR_RETURN(const bool has_superblocks, holds_superblocks(data));
  if (has_superblocks)
    return Status::error(Code::unsafe, "'" + path +
                                           "' holds blocks of a vpfile that has lost its NAME.meta and is no array; "
                                           "`thalweg repair --shape` makes NAME.meta anew");
  const std::string first = vp_side_path(path, DirectoryFile::first);
  TW_ASSIGN_OR_RETURN(const format::KnownFormat side, format_of(backend, first));
  if (side != format::KnownFormat::vp_side) return {};
  return Status::error(Code::unsafe, "'" + first + "' lies beside '" + path +
                                         "', which looks like a vpfile that has lost its NAME.meta; remove it if '" +
                                         path + "' is an array");
}

}  // namespace

Status repair_vpfile(Backend& backend, const std::string& path, const VpShape& shape, const Watch& watch,
                     CheckResult& health) {
  Repair file(backend, path, watch, health);
  const Status opened = file.open(true);
  if (opened.ok()) return file.run(shape);
  if (opened.code() != Code::no_permission) return opened;
  const Status sound = verify_vpfile(backend, path, watch, health);  // what is sound needs no repair
  return sound.ok() ? sound : opened;
}

Status import_array(Backend& backend, const std::string& path, const VpShape& shape, std::uint64_t record_bytes) {
  TW_ASSIGN_OR_RETURN(const std::uint64_t n, format::count_vps(shape));
  TW_ASSIGN_OR_RETURN(const auto data, hold_file(backend, path));
  TW_ASSIGN_OR_RETURN(const format::KnownFormat known, format_of(backend, path));
  if (known != format::KnownFormat::none && known != format::KnownFormat::vpfile)
    return Status::error(Code::unsafe, "'" + path + "' looks like " + format::name_of(known) + ", which is no array");
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
  TW_ASSIGN_OR_RETURN(const bool has_empty_meta, has_meta ? Result<bool>(false) : backend.exists(vp_meta_path(path)));
  TW_RETURN_IF_ERROR(check_has_its_name(backend, *data));
  const OpenMode mode = has_empty_meta ? OpenMode::create_keep : OpenMode::create_exclusive;
  TW_ASSIGN_OR_RETURN(const auto file, backend.open(vp_meta_path(path), mode));
  Status status = file->write(format::meta_offset(meta.sequence), format::encode_meta(meta));
  if (status.ok()) status = file->close();
  if (!status.ok()) static_cast<void>(backend.remove(vp_meta_path(path)).ok());
  return status;
}

}  // namespace thalweg
