// The collective opening of a vpfile: task 0 looks what is there, all take the same from it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/shell_word.hpp"
#include "base/size_units.hpp"
#include "formats/known_file.hpp"
#include "group/agree.hpp"
#include "storage/hold_file.hpp"
#include "vpfile/format/listed_sums.hpp"
#include "vpfile/vp_files.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg {

VpFile::~VpFile() = default;

// What task 0 finds of a vpfile before anything is changed; told to all.
struct VpFile::Found {
  std::uint8_t wrong = 0;  // task 0 cannot go on, for the reason that it tells next; the first byte, whatever follows
  VpHints hints;
  std::uint64_t data_bytes = 0;
  std::uint8_t has_meta = 0;
  std::uint8_t has_superblocks = 0;                      // the data file begins or ends with one
  format::VpIdentity new_id{};                           // of a file without NAME.meta
  std::array<std::byte, format::kMetaSlotBytes> meta{};  // the slot that holds
};

namespace {

Status bad(const std::string& path, const std::string& what) {
  return Status::error(Code::invalid_argument, "cannot open '" + path + "': " + what);
}

Status refused_meta(const std::string& path, const Status& why) {
  if (why.code() != Code::corrupt_file) return why.with_context("cannot open '" + path + "'");
  return Status::error(Code::corrupt_file,
                       "cannot open '" + path + "': " + why.message() + "; " + repair_command(path) + " makes it anew");
}

struct Mode {
  bool read = false;
  bool write = false;
  bool truncate = false;
  bool append = false;
};
Result<Mode> parse_mode(const VpOpen& how) {
  Mode mode;
  const char kind = how.mode.empty() ? ' ' : how.mode[0];
  const bool plus = how.mode.find('+') != std::string::npos;
  std::string rest = how.mode.substr(how.mode.empty() ? 0 : 1);
  std::erase(rest, '+');
  std::erase(rest, 'b');
  if ((kind != 'r' && kind != 'w' && kind != 'a') || !rest.empty())
    return bad(how.path, "the mode is '" + how.mode + "'; r, w, a, r+, w+ or a+");
  mode.read = kind == 'r' || plus;
  mode.write = kind != 'r' || plus;
  mode.truncate = kind == 'w';
  mode.append = kind == 'a';
  return mode;
}

Status check_hint(const std::string& path, const char* name, std::uint64_t value, bool legal, const char* allowed) {
  if (legal) return {};
  return bad(path, std::string("the hint ") + name + " is " + std::to_string(value) + "; " + allowed);
}

// An array has no format of its own, but that of another kind is none.
Status check_kind(Backend& backend, const std::string& path, StoredFile& data) {
  TW_ASSIGN_OR_RETURN(const bool has_meta, backend.exists(vp_meta_path(path)));
  if (has_meta) return {};
  TW_ASSIGN_OR_RETURN(const format::KnownFormat found, format_of(data));
  return check_looks_like(path, found, format::KnownFormat::vpfile);
}

// Those of task 0, as all see them.
Status check_hints(const std::string& path, const VpHints& hints) {
  const auto power = [](std::uint64_t x) { return x != 0 && (x & (x - 1)) == 0; };
  const std::uint64_t block = hints.block_bytes;
  TW_RETURN_IF_ERROR(check_hint(path, "block_bytes", block,
                                power(block) && block >= format::kLeastBlock && block <= format::kMostBlock,
                                "a power of two from 16 to 1MiB"));
  const std::uint64_t super = hints.superblock_bytes;
  TW_RETURN_IF_ERROR(
      check_hint(path, "superblock_bytes", super,
                 super == 0 || (power(super) && super >= format::kLeastSuperblock && super <= format::kMostSuperblock &&
                                super >= format::kBlocksPerSuperblock * block),
                 "a power of two from 4096 to 16MiB, at least 8 blocks"));
  TW_RETURN_IF_ERROR(check_hint(path, "directory_pointers", hints.directory_pointers,
                                hints.directory_pointers >= 1 && hints.directory_pointers <= format::kMostPointers,
                                "1 to 64"));
  return check_hint(path, "round_bytes", hints.round_bytes, hints.round_bytes <= kGi, "at most 1GiB");
}

Status check_arguments(const VpOpen& how) {
  TW_RETURN_IF_ERROR(how.status);
  if (how.path.empty()) return bad(how.path, "the name is empty");
  TW_ASSIGN_OR_RETURN(const Mode mode, parse_mode(how));
  if (how.shape.empty()) return mode.truncate ? bad(how.path, "a new file needs a shape") : Status{};
  const auto n = format::count_vps(how.shape);
  if (!n.has_value()) return bad(how.path, n.error().message());
  return how.box.has_value() ? check_box(how.shape, *how.box) : Status{};
}

std::int64_t hash_of(const VpOpen& how) {
  std::string text = how.path + '\0' + how.mode;
  for (const std::uint64_t extent : how.shape) text += ',' + std::to_string(extent);
  return static_cast<std::int64_t>(std::hash<std::string>{}(text));
}

constexpr std::size_t kMostTransitions = 2;  // modes only go up

// Which VPs the boxes have; joined, those of all tasks.
struct Covered {
  std::uint64_t vps = 0;
  std::uint64_t prints = 0;   // fingerprints, added
  std::uint64_t without = 0;  // tasks that have none
  std::uint64_t wrong = 0;    // tasks that cannot go on
  static Folding folding() {
    static_assert(std::is_trivially_copyable_v<Covered>);
    return {sizeof(Covered), [](void* left, const void* right) {
              auto& all = *static_cast<Covered*>(left);
              const auto& more = *static_cast<const Covered*>(right);
              all.vps += more.vps;
              all.prints = add_fingerprints(all.prints, more.prints);
              all.without += more.without;
              all.wrong += more.wrong;
            }};
  }
};

}  // namespace

// Task 0, before it changes anything: other writers, and repair, stay away until the file is closed.
Status VpFile::keep_others_away() {
  if (locked_ != nullptr) return {};
  TW_ASSIGN_OR_RETURN(locked_, hold_file(*backend_, path_));
  return {};
}

static Status made_meanwhile(const std::string& path) {
  return Status::error(Code::unsafe, "'" + path + "' was made by another program while it was opened");
}

// Task 0, once it has the lock of a file that was not there when it looked.
Status VpFile::check_still_new(bool truncates, bool is_new) {
  if (!hints_.overwrite_foreign) TW_RETURN_IF_ERROR(check_not_foreign(*backend_, path_));
  if (truncates) return {};
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, locked_->size());
  TW_ASSIGN_OR_RETURN(const bool has_meta, has_meta_bytes(*backend_, path_));
  return bytes > 0 || (is_new && has_meta) ? made_meanwhile(path_) : Status{};
}

// Every other process that writes.
Status VpFile::join_writers() {
  TW_ASSIGN_OR_RETURN(side_->lock, backend_->open(path_, OpenMode::read));
  return side_->lock->join_writers();
}

Status VpFile::write_meta(bool closed) {
  if (meta_file_ == nullptr) {
    TW_ASSIGN_OR_RETURN(meta_file_, backend_->open(vp_meta_path(path_), OpenMode::create_keep));
  }
  meta_.closed = closed;
  meta_.durable = durable_;
  meta_.geometry = geometry_;
  ++meta_.sequence;
  Status status = meta_file_->write(format::meta_offset(meta_.sequence), encode_meta(meta_));
  if (!status.ok()) --meta_.sequence;  // the next one goes there, too: the other slot holds
  // The next one overwrites the slot before: this one must have reached the storage by then. And the first one tells
  // that the file is ours, whatever else of it arrives.
  const bool is_first = meta_.sequence == 1 && !truncates_;
  return status.ok() && (durable_ || is_first) ? meta_file_->sync() : status;
}

// Task 0: what a new file takes the place of.
Status VpFile::remove_old() {
  TW_RETURN_IF_ERROR(remove_all_beside(*backend_, path_));
  StoredFile& data = *file_->shared()->stored;
  TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, data.size());
  return bytes > 0 ? data.truncate(0) : Status{};  // ext4 writes a file out at close that was truncated to nothing
}

// Task 0, once the arguments of all are known to be right.
Status VpFile::begin_session() {
  if (!geometry_.has_ib())  // nobody makes a new one yet
    TW_RETURN_IF_ERROR(remove_directory(*backend_, path_, hints_.overwrite_foreign));
  if (unmarked_) return {};
  TW_RETURN_IF_ERROR(write_meta(false));
  // What a session that the machine ended left behind the sums is not taken for sums of this one.
  return cut_sums(*meta_file_, geometry_.has_ib() ? format::end_of_sums(meta_) : format::kMetaBytes);
}

// Collective. An array is marked as being written once its records are known: what a writer who dies then leaves behind
// its end is not taken for records of it.
Op<Status> VpFile::mark() {
  Status status;
  if (group().rank() == 0) status = or_out_of_memory([&] { return write_meta(false); });
  status = co_await agree(group(), std::move(status));
  if (status.ok()) unmarked_ = false;
  co_return status;
}

// What all tasks make of what task 0 found.
Status VpFile::adopt(const VpOpen& how, const Found& found, std::uint64_t task, std::uint64_t tasks) {
  hints_ = found.hints;
  TW_RETURN_IF_ERROR(check_hints(path_, hints_));
  if (found.has_meta != 0) {
    auto parsed = format::parse_meta_slot(found.meta);
    if (!parsed.has_value()) return refused_meta(path_, parsed.error());
    meta_ = std::move(parsed).value();
    if (!meta_.closed)
      return Status::error(Code::not_closed, "'" + path_ + "' was not closed; " + repair_command(path_) +
                                                 " brings back what was flushed");
    geometry_ = meta_.geometry;
    durable_ = meta_.durable;
    ib_bytes_before_ = meta_.ib_bytes;
    if (!how.shape.empty() && how.shape != meta_.shape) return wrong_shape(how.shape);
    TW_RETURN_IF_ERROR(check_data_bytes(path_, meta_, found.data_bytes));
  } else {
    if (found.has_superblocks != 0)
      return Status::error(Code::corrupt_file, "'" + path_ + "' holds blocks of a vpfile, but '" + vp_meta_path(path_) +
                                                   "' is missing; `thalweg repair` makes it anew");
    if (how.shape.empty()) return bad(path_, "there is no '" + vp_meta_path(path_) + "' to tell its shape; give one");
    TW_ASSIGN_OR_RETURN(geometry_.n, format::count_vps(how.shape));
    meta_.shape = how.shape;
    meta_.sequence = 0;
    meta_.id = found.new_id;
    if (found.data_bytes % geometry_.n != 0)
      return bad(path_, "it has " + std::to_string(found.data_bytes) + " bytes, which is no multiple of the " +
                            std::to_string(geometry_.n) + " virtual processors");
    geometry_.nb_bytes = found.data_bytes / geometry_.n;
    if (hints_.record_bytes != 0 && geometry_.nb_bytes != 0) {
      if (geometry_.nb_bytes % hints_.record_bytes != 0)
        return bad(path_, "each stream has " + std::to_string(geometry_.nb_bytes) +
                              " bytes, which is no multiple of record_bytes, " + std::to_string(hints_.record_bytes));
      geometry_.record_bytes = hints_.record_bytes;
    }
  }
  const std::uint64_t most_round = kMostStream / geometry_.n;  // so that the rows of all fit into a file
  TW_RETURN_IF_ERROR(check_hint(path_, "round_bytes", hints_.round_bytes, hints_.round_bytes <= most_round,
                                "2^61 by the number of virtual processors at most"));
  mode_ = geometry_.has_ib() ? VpMode::ib : geometry_.buffer_bytes != 0 ? VpMode::cb : VpMode::nb;
  VpBox box = how.box.has_value() ? *how.box : default_box(meta_.shape, task, tasks);
  TW_RETURN_IF_ERROR(check_box(meta_.shape, box));
  vps_ = LocalVps(meta_.shape, std::move(box));
  return {};
}

Status VpFile::wrong_shape(const VpShape& given) const {
  const auto text = [](const VpShape& shape) {
    std::string words;
    for (const std::uint64_t extent : shape) words += (words.empty() ? "" : ", ") + std::to_string(extent);
    return "(" + words + ")";
  };
  return bad(path_, "its shape is " + text(meta_.shape) + ", asked for is " + text(given));
}

// Collective: what the tasks of a process share of the side files. Status of this task alone.
Op<Status> VpFile::share_side_files(Group& group) {
  std::function<std::shared_ptr<void>()> make = []() -> std::shared_ptr<void> {
    try {
      return std::make_shared<VpSideFiles>();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  };
  auto side = co_await group.share_in_process(std::move(make));
  if (!side.has_value()) co_return side.error();
  side_ = std::static_pointer_cast<VpSideFiles>(side.value());
  co_return side_ != nullptr ? Status{} : out_of_memory();
}

// Collective: agrees on `mine`, and that every VP is one task's.
Op<Status> VpFile::agree_on_boxes(Group& group, Status mine) {
  Covered all{vps_.count(), fingerprint(vps_.box()), vps_.count() == 0 ? 1u : 0u, mine.ok() ? 0u : 1u};
  Covered before;
  Status status = co_await group.fold(&all, &before, Covered::folding());
  if (!status.ok()) co_return status;
  if (all.wrong != 0) co_return co_await agree(group, std::move(mine));
  if (all.without != 0) hints_.assume_nb = false;  // who has no VP cannot know what the others do
  if (all.vps == geometry_.n && all.prints == fingerprint(meta_.shape)) co_return Status{};
  // All see that for themselves, and nobody is named; but the memory for it one of them may not have.
  Status wrong = or_out_of_memory([&] {
    return bad(path_, "the boxes of the tasks have " + std::to_string(all.vps) +
                          " virtual processors in all, and each of the " + std::to_string(geometry_.n) +
                          " must be in exactly one");
  });
  Status memory;
  if (wrong.code() == Code::no_memory) memory = wrong;
  memory = co_await agree(group, std::move(memory));
  co_return memory.ok() ? std::move(wrong) : std::move(memory);
}

Result<VpFile::Found> VpFile::look(const VpOpen& how) {
  Found found;
  found.hints = how.hints;
  TW_ASSIGN_OR_RETURN(const Mode mode, parse_mode(how));
  TW_ASSIGN_OR_RETURN(const bool exists, backend_->exists(how.path));
  if (exists && mode.write) TW_RETURN_IF_ERROR(keep_others_away());
  if (mode.write && !how.hints.overwrite_foreign) TW_RETURN_IF_ERROR(check_not_foreign(*backend_, how.path));
  if (mode.write) found.new_id = new_vp_identity();
  if (mode.truncate) return found;
  if (exists) {
    TW_ASSIGN_OR_RETURN(const auto data, backend_->open(how.path, OpenMode::read));
    TW_ASSIGN_OR_RETURN(found.data_bytes, data->size());
    TW_ASSIGN_OR_RETURN(const bool has_superblocks, holds_superblocks(*data));
    found.has_superblocks = has_superblocks ? 1 : 0;
    if (!how.hints.overwrite_foreign) TW_RETURN_IF_ERROR(check_kind(*backend_, how.path, *data));
  } else if (!mode.append) {
    return Status::error(Code::not_found, "cannot open '" + how.path + "': there is no such file", ENOENT);
  }
  TW_ASSIGN_OR_RETURN(const bool has_meta, backend_->exists(vp_meta_path(how.path)));
  if (has_meta) {
    TW_ASSIGN_OR_RETURN(const bool exists_now, backend_->exists(how.path));
    if (exists_now != exists) return made_meanwhile(how.path);
    TW_ASSIGN_OR_RETURN(const auto meta, backend_->open(vp_meta_path(how.path), OpenMode::read));
    std::array<std::byte, format::kMetaBytes> bytes;
    TW_ASSIGN_OR_RETURN(const std::size_t got, meta->read(0, bytes));
    // One that a writer of an array had only just made is none.
    TW_ASSIGN_OR_RETURN(const bool has_first, backend_->exists(vp_first_path(how.path)));
    if (got == 0 && !has_first) return found;
    const auto slot = format::find_meta_slot(std::span(bytes).first(got));
    if (!slot.has_value()) return refused_meta(how.path, slot.error());
    std::ranges::copy(slot.value(), found.meta.begin());
    found.has_meta = 1;
  }
  return found;
}

// Collective: what task 0 finds is what all know.
// `mine`: what this task alone finds wrong with it.
Op<Status> VpFile::look_for_all(Group& group, const VpOpen& how, Found& found, Status& mine) {
  static_assert(std::is_trivially_copyable_v<Found>);
  Status status;
  if (group.rank() == 0) {
    auto seen = or_out_of_memory([&] { return look(how); });
    status = seen.status();
    if (seen.has_value()) found = seen.value();
    found.wrong = status.ok() ? 0 : 1;
  }
  const ByteView tells = std::as_bytes(std::span(&found, 1));
  const auto told = co_await group.broadcast(group.rank() == 0 ? tells : ByteView{}, 0);
  if (!told.has_value()) co_return told.error();
  const ByteView heard = told.value();
  std::memcpy(static_cast<void*>(&found), heard.data(), std::min(heard.size(), sizeof found));
  if (heard.size() != sizeof found)
    mine = or_out_of_memory([&] { return bad(how.path, "task 0 has another version of this library"); });
  if (found.wrong != 0) co_return co_await agree(group, std::move(status));
  co_return Status{};
}

// Collective: the data file, once the boxes are known to be right.
Op<Status> VpFile::open_data(Group& group, const VpOpen& how) {
  Mode mode;
  PlainOpen plain;
  plain.status = or_out_of_memory([&]() -> Status {
    TW_ASSIGN_OR_RETURN(mode, parse_mode(how));
    plain.path = how.path;
    plain.options.read = true;
    plain.options.write = mode.write;
    plain.options.create = mode.truncate || mode.append;
    plain.hints = how.storage_hints;
    plain.of_vpfile = true;
    return {};
  });
  auto opened = co_await PlainFile::open(group, backend_, std::move(plain));
  if (!opened.has_value()) co_return opened.error();
  file_ = std::move(opened).value();
  may_read_ = mode.read;
  may_write_ = mode.write;
  appends_ = mode.append;
  if (mode.write) ++meta_.session;
  co_return Status{};
}

// Collective: the mark that somebody writes.
Op<Status> VpFile::begin(bool truncates, bool is_new) {
  if (!may_write_) co_return Status{};
  truncates_ = truncates;
  unmarked_ = is_new && geometry_.nb_bytes != 0 && geometry_.record_bytes == 0;
  if (unmarked_) hints_.assume_nb = false;  // the first access marks the file
  Status status;
  if (group().rank() == 0) {  // the last step: what failed before has changed nothing
    status = or_out_of_memory([&]() -> Status {
      const bool looked_unlocked = locked_ == nullptr;
      TW_RETURN_IF_ERROR(keep_others_away());
      if (looked_unlocked) TW_RETURN_IF_ERROR(check_still_new(truncates, is_new));
      if (truncates) TW_RETURN_IF_ERROR(remove_old());
      return begin_session();
    });
    side_->lock = std::move(locked_);
  }
  const Place place = group().place();
  status = co_await agree(group(), std::move(status));
  if (!status.ok() || place.processes == 1) co_return status;
  if (place.process_leader == group().rank() && group().rank() != 0)
    status = or_out_of_memory([&] { return join_writers(); });
  co_return co_await agree(group(), std::move(status));
}

Op<Result<std::unique_ptr<VpFile>>> VpFile::open(Group& group, std::shared_ptr<Backend> backend, VpOpen how) {
  std::unique_ptr<VpFile> file;
  std::int64_t hash = 0;
  Status status = or_out_of_memory([&] {
    file.reset(new VpFile);
    file->backend_ = backend;
    file->path_ = how.path;
    file->transitions_.reserve(kMostTransitions);
    hash = hash_of(how);
    return check_arguments(how);
  });
  status = co_await same_on_all(group, hash, 0, std::move(status), "the name, mode or shape of an open");
  if (!status.ok()) co_return status;
  Found found;
  Status mine;
  status = co_await file->look_for_all(group, how, found, mine);
  if (!status.ok()) co_return status;
  const auto task = static_cast<std::uint64_t>(group.rank());
  const auto tasks = static_cast<std::uint64_t>(group.size());
  status = mine.ok() ? or_out_of_memory([&] { return file->adopt(how, found, task, tasks); }) : std::move(mine);
  Status shared = co_await file->share_side_files(group);
  if (status.ok()) status = std::move(shared);
  status = co_await file->agree_on_boxes(group, std::move(status));
  if (!status.ok()) co_return status;
  status = co_await file->open_data(group, how);
  if (!status.ok()) co_return status;
  status = co_await file->begin(how.mode[0] == 'w', found.has_meta == 0);
  if (!status.ok()) {
    const Status closed = co_await file->file_->close();
    static_cast<void>(closed);
    co_return status;
  }
  co_return file;
}

// Those of the process of this task. `stored`: there are some, of which NAME.meta tells.
Status VpFile::open_side_files(bool stored) {
  const std::lock_guard lock(side_->mutex);
  if (side_->overflow.file != nullptr) return {};
  std::unique_ptr<StoredFile> meta;
  if (stored) {
    TW_ASSIGN_OR_RETURN(meta, backend_->open(vp_meta_path(path_), OpenMode::read));
  }
  TW_RETURN_IF_ERROR(open_side_file(format::DirectoryFile::first, meta.get()));
  return open_side_file(format::DirectoryFile::overflow, meta.get());
}

// `meta`: null where the file is made.
Status VpFile::open_side_file(format::DirectoryFile which, StoredFile* meta) {
  const bool first = which == format::DirectoryFile::first;
  VpSideFile& side = first ? side_->first : side_->overflow;
  if (side.file != nullptr) return {};
  const std::string name = first ? vp_first_path(path_) : vp_overflow_path(path_);
  const OpenMode to_write = meta != nullptr ? OpenMode::read_write : OpenMode::create_keep;
  auto opened = backend_->open(name, may_write_ ? to_write : OpenMode::read);
  if (!opened.has_value()) {
    if (opened.error().code() != Code::not_found) return opened.error();
    return Status::error(Code::corrupt_file, "'" + name + "' is missing; " + repair_command(path_) + " makes it anew");
  }
  format::DirectoryHeader header{which, meta_.id, geometry_.n, geometry_.pointers, geometry_.block_bytes};
  if (meta != nullptr) {
    std::array<std::byte, format::kDirectoryHeader> bytes{};
    TW_ASSIGN_OR_RETURN(const std::size_t got, opened.value()->read(0, bytes));
    const Status whole = check_directory_header(std::span(bytes).first(got), header);
    if (!whole.ok()) return whole.with_context("'" + path_ + "' (`thalweg repair` makes it anew)");
    TW_RETURN_IF_ERROR(check_side_bytes(*opened.value(), first ? meta_.first : meta_.overflow));
    TW_ASSIGN_OR_RETURN(side.stored, EntrySums::read(*meta, meta_, which));
  } else {
    TW_RETURN_IF_ERROR(opened.value()->write(0, encode_directory_header(header)));
    // By its header the file is known as ours. A machine that dies must not leave entries without it beside closed
    // bytes.
    if (!truncates_) TW_RETURN_IF_ERROR(opened.value()->sync());
  }
  side.file = std::move(opened).value();
  return {};
}

// The layout of a file that has no IB segment yet, with one: it begins behind the lattice as it is now.
format::VpGeometry VpFile::geometry_with_segment() const {
  format::VpGeometry geometry = geometry_;
  geometry.block_bytes = static_cast<std::uint32_t>(hints_.block_bytes);
  const std::uint64_t least = std::max(kDefaultSuperblock, 64 * hints_.block_bytes);
  geometry.superblock_bytes = static_cast<std::uint32_t>(
      hints_.superblock_bytes != 0 ? hints_.superblock_bytes : std::min(least, format::kMostSuperblock));
  geometry.pointers = static_cast<std::uint32_t>(hints_.directory_pointers);
  const std::uint64_t bytes = geometry.superblock_bytes;
  geometry.first_superblock = (geometry.lattice_end() + bytes - 1) / bytes;
  return geometry;
}

// Computed by each task from what all know. On failure nothing changes.
Status VpFile::make_segment() {
  if (segment_ != nullptr) return {};
  const bool stored = geometry_.has_ib();
  const format::VpGeometry before = geometry_;
  if (!stored) geometry_ = geometry_with_segment();
  Status made = or_out_of_memory([&]() -> Status {
    TW_RETURN_IF_ERROR(open_side_files(stored));
    segment_ = std::make_unique<IndependentSegment>(segment_setup(stored));
    return {};
  });
  if (!made.ok()) geometry_ = before;
  if (made.ok() && durable_) segment_->set_durable();
  return made;
}

IndependentSegment::Setup VpFile::segment_setup(bool stored) {
  const auto task = static_cast<std::uint64_t>(group().rank());
  const auto tasks = static_cast<std::uint64_t>(group().size());
  IndependentSegment::Setup setup;
  setup.stored = stored;
  const std::uint64_t sealed = std::max(meta_.end_of_superblocks, geometry_.first_superblock);
  setup.superblocks = {file_->shared()->stored.get(),
                       meta_.id,
                       geometry_,
                       meta_.session,
                       sealed,
                       sealed + task,
                       tasks,
                       hints_.cache_bytes};
  const std::uint64_t pages = meta_.end_of_entries == 0 ? 0 : format::sums_for(meta_.end_of_entries - 1);
  const auto of = [](const VpSideFile& side) {
    return BlockDirectory::SideFile{side.file.get(), side.stored.has_value() ? &*side.stored : nullptr};
  };
  setup.directory = {of(side_->first),
                     of(side_->overflow),
                     meta_.id,
                     geometry_,
                     pages + task,
                     tasks,
                     hints_.cache_bytes / 2,
                     static_cast<std::uint32_t>(meta_.session),
                     !may_write_ || tasks == 1,
                     meta_.end_of_entries};
  return setup;
}

}  // namespace thalweg
