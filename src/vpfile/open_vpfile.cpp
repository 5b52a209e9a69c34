// Collective open of a vpfile: task 0 inspects the files and broadcasts the result.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

#include "base/fields.hpp"
#include "base/shell_word.hpp"
#include "formats/known_file.hpp"
#include "group/agree.hpp"
#include "storage/hold_file.hpp"
#include "vpfile/format/directory.hpp"
#include "vpfile/vpfile.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg {

namespace {

// State of a vpfile that task 0 finds before any change, and broadcasts.
struct Found {
  std::uint8_t wrong = 0;  // task 0 failed, and agrees on its status next; the first byte in all versions
  VpHints hints;
  std::uint64_t data_bytes = 0;
  bool has_meta = false;
  bool has_superblocks = false;                          // the data file begins or ends with one
  format::FileIdentity new_id;                           // of a file without NAME.meta
  std::array<std::byte, format::kMetaSlotBytes> meta{};  // the slot that holds
};

// Number and fingerprint of the VPs in a box; joined, of those in all boxes.
struct Covered {
  std::uint64_t vps = 0;
  std::uint64_t prints = 0;   // fingerprints, added
  std::uint64_t without = 0;  // tasks that have none
  std::uint64_t wrong = 0;    // tasks that cannot go on
  void join(const Covered& more) {
    vps += more.vps;
    prints = add_fingerprints(prints, more.prints);
    without += more.without;
    wrong += more.wrong;
  }
};

// Offset in NAME.meta behind all pages of sums of a vpfile that was closed with an IB segment.
std::uint64_t end_of_sums(const format::VpMeta& meta) {
  const std::uint64_t sums = format::sums_for(meta.end_of_entries - 1);
  return format::sums_offset(format::DirectoryFile::overflow, meta.geometry.n) +
         (sums + format::kSumsPerPage - 1) / format::kSumsPerPage * format::kSumPageBytes;
}

Status bad(const std::string& path, const std::string& what) {
  return Status::error(Code::invalid_argument, "cannot open '{}': {}", path, what);
}

Status refused_meta(const std::string& path, const Status& why) {
  if (why.code() != Code::corrupt_file) return why.with_context(fmt::format("cannot open '{}'", path));
  return Status::error(Code::corrupt_file, "cannot open '{}': {}; {} makes it anew", path, why.message(),
                       repair_command(path));
}

Status made_meanwhile(const std::string& path) {
  return Status::error(Code::unsafe, "'{}' was made by another program while it was opened", path);
}

class Opening {
 public:
  Opening(Group& group, VpOpen how, VpParts& parts) : group_(group), how_(std::move(how)), parts_(parts) {}

  Op<Status> run() {
    parts_.path = how_.path;
    parts_.hints = how_.hints;
    Status mine = check_arguments();
    TW_CO_RETURN_IF_ERROR(
        co_await same_on_all(group_, hash(), 0, std::move(mine), "the name, flags or shape of an open"));
    mine = {};
    TW_CO_RETURN_IF_ERROR(co_await look_for_all(mine));
    if (mine.ok()) mine = adopt();
    auto sides = co_await group_.share_in_process([] { return std::make_shared<SideFiles>(); });
    if (sides.has_value()) parts_.sides = std::static_pointer_cast<SideFiles>(sides.value());
    if (mine.ok()) mine = sides.status();
    TW_CO_RETURN_IF_ERROR(co_await agree_on_boxes(std::move(mine)));
    TW_CO_RETURN_IF_ERROR(co_await open_data());
    Status status = co_await begin();
    if (!status.ok()) (void)co_await parts_.file->close();
    co_return status;
  }

 private:
  bool is_task_0() const { return group_.rank() == 0; }

  Status check_arguments() {
    TW_RETURN_IF_ERROR(how_.status);
    if (how_.path.empty()) return bad(how_.path, "the name is empty");
    parts_.may_read = how_.options.read;
    parts_.may_write = how_.options.write;
    parts_.truncates = how_.options.truncate || how_.options.exclusive;
    parts_.appends = how_.append;
    if (how_.shape.empty()) return parts_.truncates ? bad(how_.path, "a new file needs a shape") : Status{};
    const auto n = format::count_vps(how_.shape);
    if (!n.has_value()) return bad(how_.path, n.error().message());
    return how_.box.has_value() ? check_box(how_.shape, *how_.box) : Status{};
  }

  std::int64_t hash() const {
    std::string text = how_.path + '\0';
    const OpenOptions& asked = how_.options;
    for (const bool flag : {asked.read, asked.write, asked.create, asked.exclusive, asked.truncate, how_.append})
      text += flag ? '1' : '0';
    for (const std::uint64_t extent : how_.shape) text += fmt::format(",{}", extent);
    return static_cast<std::int64_t>(std::hash<std::string>{}(text));
  }

  // Collective: broadcasts the state that task 0 found. `mine`: an error that this task alone found in it.
  Op<Status> look_for_all(Status& mine) {
    static_assert(std::is_trivially_copyable_v<Found>);
    Status status;
    if (is_task_0()) {
      found_.hints = parts_.hints;
      status = look();
      found_.wrong = status.ok() ? 0 : 1;
    }
    const ByteView tells = std::as_bytes(std::span(&found_, 1));
    TW_CO_ASSIGN_OR_RETURN(const auto told, co_await group_.broadcast(is_task_0() ? tells : ByteView{}, 0));
    const ByteView heard = told;
    std::memcpy(static_cast<void*>(&found_), heard.data(), std::min(heard.size(), sizeof found_));
    if (heard.size() != sizeof found_) mine = bad(how_.path, "task 0 has another version of this library");
    if (found_.wrong != 0) co_return co_await agree(group_, std::move(status));
    co_return Status{};
  }

  // Task 0: inspects the files. An array has no known format, so a file of another known format is refused.
  Status look() {
    Backend& backend = *parts_.backend;
    const bool foreign = parts_.hints.overwrite_foreign;
    TW_ASSIGN_OR_RETURN(const bool exists, backend.exists(parts_.path));
    if (exists && how_.options.exclusive)
      return Status::failed_call(
          Code::already_exists, EEXIST,
          fmt::format("cannot create '{}': it exists; TW_TRUNCATE replaces it, TW_APPEND adds to it", parts_.path));
    if (exists && parts_.may_write) TW_RETURN_IF_ERROR(keep_others_away());
    if (parts_.may_write && !foreign) TW_RETURN_IF_ERROR(check_not_foreign(backend, parts_.path));
    if (parts_.may_write) found_.new_id = new_vp_identity();
    if (parts_.truncates) return exists ? check_unclosed_vpfile(backend, *parts_.locked, true, {}) : Status{};
    if (!exists && !how_.options.create)
      return Status::failed_call(Code::not_found, ENOENT,
                                 fmt::format("cannot open '{}': there is no such file", parts_.path));
    TW_ASSIGN_OR_RETURN(const bool has_meta, backend.exists(vp_meta_path(parts_.path)));
    if (exists) {
      TW_ASSIGN_OR_RETURN(const auto data, backend.open(parts_.path, OpenMode::read));
      TW_ASSIGN_OR_RETURN(found_.data_bytes, data->size());
      TW_ASSIGN_OR_RETURN(found_.has_superblocks, holds_superblocks(*data));
      if (!foreign && !has_meta) {
        TW_ASSIGN_OR_RETURN(const format::KnownFormat known, format_of(*data));
        TW_RETURN_IF_ERROR(check_looks_like(parts_.path, known, format::KnownFormat::vpfile));
      }
    }
    if (!has_meta) return {};
    TW_ASSIGN_OR_RETURN(const bool exists_now, backend.exists(parts_.path));
    return exists_now == exists ? look_at_meta() : made_meanwhile(parts_.path);
  }

  // An empty NAME.meta, left by a writer of an array that died, counts as missing.
  Status look_at_meta() {
    TW_ASSIGN_OR_RETURN(const std::vector<std::byte> slots,
                        read_meta_slots(*parts_.backend, parts_.path, group_.place().nodes > 1));
    TW_ASSIGN_OR_RETURN(const bool has_first,
                        parts_.backend->exists(vp_side_path(parts_.path, format::DirectoryFile::first)));
    if (slots.empty() && !has_first) return {};
    const auto slot = format::find_meta_slot(slots);
    if (!slot.has_value()) return refused_meta(parts_.path, slot.error());
    std::ranges::copy(slot.value(), found_.meta.begin());
    found_.has_meta = true;
    return {};
  }

  // Sets up the parts of this task from the state that task 0 found.
  Status adopt() {
    parts_.hints = found_.hints;
    TW_RETURN_IF_ERROR(found_.has_meta ? adopt_meta() : adopt_array());
    TW_RETURN_IF_ERROR(check_hints());
    const format::VpGeometry& geometry = parts_.geometry;
    parts_.mode = geometry.has_ib() ? VpMode::ib : geometry.buffer_bytes != 0 ? VpMode::cb : VpMode::nb;
    const VpShape& shape = parts_.meta.shape;
    VpBox box = how_.box.has_value() ? *how_.box
                                     : default_box(shape, static_cast<std::uint64_t>(group_.rank()),
                                                   static_cast<std::uint64_t>(group_.size()));
    TW_RETURN_IF_ERROR(check_box(shape, box));
    parts_.vps = LocalVps(shape, std::move(box));
    parts_.streams.emplace(parts_.vps.count());
    return {};
  }

  Status adopt_meta() {
    auto parsed = format::parse_meta_slot(found_.meta);
    if (!parsed.has_value()) return refused_meta(parts_.path, parsed.error());
    parts_.meta = std::move(parsed).value();
    const format::VpMeta& meta = parts_.meta;
    if (!meta.closed)
      return Status::error(Code::not_closed, "'{}' was not closed; {} brings back what was flushed", parts_.path,
                           repair_command(parts_.path));
    parts_.geometry = meta.geometry;
    parts_.durable = meta.durable;
    parts_.ib_bytes_before = meta.ib_bytes;
    if (!how_.shape.empty() && how_.shape != meta.shape)
      return bad(parts_.path,
                 fmt::format("its shape is {}, asked for is {}", text_of(meta.shape), text_of(how_.shape)));
    return check_data_bytes(parts_.path, meta, found_.data_bytes);
  }

  Status adopt_array() {
    const std::string& path = parts_.path;
    format::VpGeometry& geometry = parts_.geometry;
    if (found_.has_superblocks)
      return Status::error(Code::corrupt_file,
                           "'{}' holds blocks of a vpfile, but '{}' is missing; `thalweg repair` makes it anew", path,
                           vp_meta_path(path));
    if (how_.shape.empty())
      return bad(path, fmt::format("there is no '{}' to tell its shape; give one", vp_meta_path(path)));
    TW_ASSIGN_OR_RETURN(geometry.n, format::count_vps(how_.shape));
    parts_.meta.shape = how_.shape;
    parts_.meta.sequence = 0;
    parts_.meta.id = found_.new_id;
    if (found_.data_bytes % geometry.n != 0)
      return bad(path, fmt::format("it has {} bytes, which is no multiple of the {} virtual processors",
                                   found_.data_bytes, geometry.n));
    geometry.nb_bytes = found_.data_bytes / geometry.n;
    const std::uint64_t record = parts_.hints.record_bytes;
    if (record == 0 || geometry.nb_bytes == 0) return {};
    if (geometry.nb_bytes % record != 0)
      return bad(path, fmt::format("each stream has {} bytes, which is no multiple of record_bytes, {}",
                                   geometry.nb_bytes, record));
    geometry.record_bytes = record;
    return {};
  }

  // Checks the hints of task 0 against each other; each is within its range (base/hint_table.hpp).
  Status check_hints() const {
    const auto refuse = [&](const char* name, std::uint64_t value, const char* allowed) {
      return bad(parts_.path, fmt::format("the hint {} is {}; {}", name, value, allowed));
    };
    const std::uint64_t block = parts_.hints.block_bytes;
    if (!format::is_power_of_two(block)) return refuse("block_bytes", block, "a power of two from 16 to 1MiB");
    const std::uint64_t super = parts_.hints.superblock_bytes;
    if (super != 0 && (!format::is_power_of_two(super) || super < format::kBlocksPerSuperblock * block))
      return refuse("superblock_bytes", super, "a power of two from 4096 to 16MiB, at least 8 blocks");
    const std::uint64_t round = parts_.hints.round_bytes;  // the rows of all must fit into a file
    if (round <= kMostStream / parts_.geometry.n) return {};
    return refuse("round_bytes", round, "2^61 by the number of virtual processors at most");
  }

  // Collective: agrees on `mine`, and checks that every VP is in the box of exactly one task.
  Op<Status> agree_on_boxes(Status mine) {
    const LocalVps& vps = parts_.vps;
    Covered all{vps.count(), fingerprint(vps.box()), vps.count() == 0 ? 1u : 0u, mine.ok() ? 0u : 1u};
    Covered before;
    TW_CO_RETURN_IF_ERROR(co_await group_.fold(&all, &before, folding_of<Covered>()));
    if (all.wrong != 0) co_return co_await agree(group_, std::move(mine));
    if (all.without != 0) parts_.hints.assume_nb = false;  // a task without VPs does not see the size of an access
    const std::uint64_t n = parts_.geometry.n;
    if (all.vps == n && all.prints == fingerprint(parts_.meta.shape)) co_return Status{};
    co_return bad(
        parts_.path,
        fmt::format(
            "the boxes of the tasks have {} virtual processors in all, and each of the {} must be in exactly one",
            all.vps, n));
  }

  // Collective: opens the data file, once the boxes are checked.
  Op<Status> open_data() {
    PlainOpen plain{.path = how_.path, .options = how_.options, .hints = how_.storage_hints, .of_vpfile = true};
    plain.options.read = true;
    plain.options.truncate = false;  // begin_session() does that
    TW_CO_ASSIGN_OR_RETURN(auto opened, co_await PlainFile::open(group_, parts_.backend, std::move(plain)));
    parts_.file = std::move(opened);
    parts_.lattice.emplace(*parts_.file, parts_.vps, parts_.geometry);
    if (parts_.may_write) ++parts_.meta.session;
    co_return Status{};
  }

  // Collective: marks the file as being written. Every other process that writes joins the lock of task 0.
  Op<Status> begin() {
    if (!parts_.may_write) co_return Status{};
    const format::VpGeometry& geometry = parts_.geometry;
    parts_.unmarked = !found_.has_meta && geometry.nb_bytes != 0 && geometry.record_bytes == 0;
    if (parts_.unmarked) parts_.hints.assume_nb = false;  // the first access marks the file
    Group& group = parts_.group();
    Status status;
    if (is_task_0()) {
      status = begin_session();
      parts_.sides->lock = std::move(parts_.locked);
    }
    const Place place = group.place();
    status = co_await agree(group, std::move(status));
    if (!status.ok() || place.processes == 1) co_return status;
    if (place.process_leader == group.rank() && !is_task_0()) {
      auto lock = open_to_lock(*parts_.backend, parts_.path, OpenMode::read);
      status = lock.has_value() ? lock.value()->join_writers() : lock.error();
      if (status.ok()) status = check_has_its_name(*parts_.backend, parts_.data());  // the lock is that of this file
      if (lock.has_value()) parts_.sides->lock = std::move(lock).value();
    }
    co_return co_await agree(group, std::move(status));
  }

  // Locks the file before any change: other writers, and repair, fail until it is closed.
  Status keep_others_away() {
    if (parts_.locked != nullptr) return {};
    TW_ASSIGN_OR_RETURN(parts_.locked, hold_file(*parts_.backend, parts_.path));
    return {};
  }

  // Task 0, once it has the lock of a file that did not exist when it was inspected.
  Status check_still_new() const {
    if (!parts_.hints.overwrite_foreign) TW_RETURN_IF_ERROR(check_not_foreign(*parts_.backend, parts_.path));
    if (parts_.truncates) return {};
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, parts_.locked->size());
    TW_ASSIGN_OR_RETURN(const bool has_meta, has_meta_bytes(*parts_.backend, parts_.path));
    return bytes > 0 || (!found_.has_meta && has_meta) ? made_meanwhile(parts_.path) : Status{};
  }

  // After a death of the machine, superblocks of a session may have reached the storage without the mark in NAME.meta
  // that it had begun. They lie behind the end of the closed file, and have the number of this session.
  Status cut_leftovers() {
    if (!found_.has_meta) return {};
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, parts_.data().size());
    if (bytes <= parts_.meta.data_bytes) return {};
    TW_RETURN_IF_ERROR(parts_.data().truncate(parts_.meta.data_bytes));
    return parts_.data().sync();  // before the first superblock of this session
  }

  // Task 0, the last step, once the arguments of all tasks are checked: an earlier failure has changed nothing.
  Status begin_session() {
    Backend& backend = *parts_.backend;
    const bool looked_unlocked = parts_.locked == nullptr;
    TW_RETURN_IF_ERROR(keep_others_away());
    TW_RETURN_IF_ERROR(check_has_its_name(backend, *parts_.locked));
    if (looked_unlocked) TW_RETURN_IF_ERROR(check_still_new());
    if (parts_.truncates) {
      TW_RETURN_IF_ERROR(remove_all_beside(backend, parts_.path));
      TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, parts_.data().size());
      if (bytes > 0)  // ext4 writes a file out at close that was truncated to nothing
        TW_RETURN_IF_ERROR(parts_.data().truncate(0));
    } else {
      TW_RETURN_IF_ERROR(cut_leftovers());
    }
    const bool has_ib = parts_.geometry.has_ib();
    if (!has_ib)  // no task makes a new one yet
      TW_RETURN_IF_ERROR(remove_directory(backend, parts_.path, parts_.hints.overwrite_foreign));
    if (parts_.unmarked) return {};
    TW_RETURN_IF_ERROR(write_meta(parts_, false));
    // Bytes that a session which ended with the machine left behind the sums must not count as sums of this session.
    return cut_sums(*parts_.meta_file, has_ib ? end_of_sums(parts_.meta) : format::kMetaBytes);
  }

  Group& group_;
  VpOpen how_;
  VpParts& parts_;
  Found found_;
};

}  // namespace

Status write_meta(VpParts& parts, bool closed) {
  if (parts.meta_file == nullptr) {
    TW_ASSIGN_OR_RETURN(parts.meta_file, parts.backend->open(vp_meta_path(parts.path), OpenMode::create_keep));
  }
  format::VpMeta& meta = parts.meta;
  if (meta.sequence > 0) TW_RETURN_IF_ERROR(check_meta(*parts.meta_file, meta));  // locks may not reach all nodes
  meta.closed = closed;
  meta.durable = parts.durable;
  meta.geometry = parts.geometry;
  ++meta.sequence;
  Status status = parts.meta_file->write(format::meta_offset(meta.sequence), encode_meta(meta));
  if (!status.ok()) --meta.sequence;  // the next write goes to this slot again: the other slot holds
  // The next write overwrites the slot before, so this one must have reached the storage by then. The first slot is
  // synced, too: it identifies the file as a vpfile, whatever else is lost.
  const bool is_first = meta.sequence == 1 && !parts.truncates;
  return status.ok() && (parts.durable || is_first) ? parts.meta_file->sync() : status;
}

Op<Status> mark_as_written(VpParts& parts) {
  Status status;
  if (parts.group().rank() == 0) status = write_meta(parts, false);
  status = co_await agree(parts.group(), std::move(status));
  if (status.ok()) parts.unmarked = false;
  co_return status;
}

Op<Result<std::unique_ptr<VpFile>>> VpFile::open(Group& group, std::shared_ptr<Backend> backend, VpOpen how) {
  std::unique_ptr<VpFile> file(new VpFile);
  file->parts_.backend = std::move(backend);
  Opening opening(group, std::move(how), file->parts_);
  TW_CO_RETURN_IF_ERROR(co_await opening.run());
  co_return file;
}

}  // namespace thalweg
