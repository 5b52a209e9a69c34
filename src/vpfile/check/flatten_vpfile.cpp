// Flatten makes an array of the streams of a vpfile; import makes a vpfile of an array.
#include "vpfile/check/check_vpfile.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked_math.hpp"
#include "base/watch.hpp"
#include "formats/known_file.hpp"
#include "group/groups.hpp"
#include "storage/hold_file.hpp"
#include "vpfile/vpfile.hpp"
#include "vpfile/vpfile_storage.hpp"

namespace thalweg {

namespace {

constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 22;  // bytes

Status step(const Watch& watch, std::uint64_t done, std::uint64_t total) {
  if (!watch.progress || watch.progress(done, total)) return {};
  return Status::error(Code::stopped, "stopped");
}

// Bytes of the longest stream. All streams without bytes outside the lattice have one length.
Result<std::uint64_t> longest_stream(VpFile& file, const Watch& watch) {
  std::uint64_t longest = 0;
  const std::uint64_t n = file.vps().count();
  for (std::uint64_t local = 0, i = 1; local < n; ++i) {
    if (i % kAskEach == 0) TW_RETURN_IF_ERROR(step(watch, 0, n));
    TW_ASSIGN_OR_RETURN(const std::uint64_t bytes, file.stream(local).size());
    longest = std::max(longest, bytes);
    TW_ASSIGN_OR_RETURN(local, file.stream(local).end_of_alike());
  }
  return longest;
}

// Writes records one behind the other, long ones in parts. Zeros stay holes where the fill byte is 0.
class Flatten {
 public:
  Flatten(VpFile& file, StoredFile& out, std::uint64_t record, std::byte fill, const Watch& watch)
      : file_(file), out_(out), record_(record), fill_(fill), watch_(watch) {}

  Status run() {
    const std::uint64_t n = file_.vps().count();
    const bool no_lattice = file_.geometry().lattice_bytes() == 0;
    for (std::uint64_t local = 0; local < n;) {
      TW_ASSIGN_OR_RETURN(const std::uint64_t end, file_.stream(local).end_of_alike());
      if (no_lattice && fill_ == std::byte{0} && end - local > 1) {
        TW_RETURN_IF_ERROR(put_hole((end - local) * record_));
        local = end;
      }
      for (; local < end; ++local) TW_RETURN_IF_ERROR(copy_one(local));
    }
    TW_RETURN_IF_ERROR(write_out());
    TW_RETURN_IF_ERROR(step(watch_, n, n));
    return out_.truncate(written_);
  }

 private:
  Status copy_one(std::uint64_t local) {
    for (std::uint64_t done = 0; done < record_;) {
      if (fill_ == std::byte{0}) {
        TW_ASSIGN_OR_RETURN(const std::uint64_t gap, gap_of(local, record_ - done));
        TW_RETURN_IF_ERROR(put_zeros(gap));
        done += gap;
      }
      const std::uint64_t part = std::min(record_ - done, kAtOnce);
      const std::size_t begin = buffer_.size();
      buffer_.resize(begin + part, fill_);
      TW_ASSIGN_OR_RETURN(const std::uint64_t got, file_.stream(local).read(std::span(buffer_).subspan(begin)));
      std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(begin + got), buffer_.end(), fill_);
      done += part;
      if (buffer_.size() >= kAtOnce) TW_RETURN_IF_ERROR(write_out());
      if (buffer_.empty() || ++n_ % kAskEach == 0) TW_RETURN_IF_ERROR(step(watch_, local, file_.vps().count()));
    }
    return {};
  }
  // Number of zeros at the position or behind the end of the stream, at most `most`.
  Result<std::uint64_t> gap_of(std::uint64_t local, std::uint64_t most) {
    TW_ASSIGN_OR_RETURN(const std::uint64_t gap, file_.stream(local).skip_gap());
    TW_ASSIGN_OR_RETURN(const std::uint64_t size, file_.stream(local).size());
    return file_.stream(local).position() >= size ? most : std::min(gap, most);
  }
  Status put_zeros(std::uint64_t bytes) {
    if (bytes >= kAtOnce) return put_hole(bytes);
    buffer_.resize(buffer_.size() + bytes);
    return {};
  }
  Status put_hole(std::uint64_t bytes) {
    TW_RETURN_IF_ERROR(write_out());
    written_ += bytes;
    return {};
  }
  Status write_out() {
    if (!buffer_.empty()) TW_RETURN_IF_ERROR(out_.write(written_, buffer_));
    written_ += buffer_.size();
    buffer_.clear();
    return {};
  }

  VpFile& file_;
  StoredFile& out_;
  const std::uint64_t record_;
  const std::byte fill_;
  const Watch& watch_;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t n_ = 0;
};

// Checks the free space, as a damaged file may claim an array of any size.
Status check_room(Backend& backend, const std::string& to, std::uint64_t n, std::uint64_t record) {
  TW_ASSIGN_OR_RETURN(const StorageInfo storage, backend.describe(to));
  std::uint64_t bytes = 0;
  if (!mul_overflow(n, record, &bytes) && bytes <= storage.free_bytes) return {};
  return Status::error(Code::no_space, "'{}' would have {} records of {} bytes; the file system has {} bytes free", to,
                       n, record, storage.free_bytes);
}

// A vpfile that lost its NAME.meta must not be taken for an array.
Status check_is_no_vpfile(Backend& backend, const std::string& path, StoredFile& data) {
  TW_ASSIGN_OR_RETURN(const bool has_superblocks, holds_superblocks(data));
  if (has_superblocks)
    return Status::error(Code::unsafe,
                         "'{}' holds blocks of a vpfile that has lost its NAME.meta and is no array; `thalweg repair "
                         "--shape` makes NAME.meta anew",
                         path);
  const std::string first = vp_side_path(path, format::DirectoryFile::first);
  TW_ASSIGN_OR_RETURN(const format::KnownFormat side, format_of(backend, first));
  if (side != format::KnownFormat::vp_side) return {};
  return Status::error(
      Code::unsafe,
      "'{}' lies beside '{}', which looks like a vpfile that has lost its NAME.meta; remove it if '{}' is an array",
      first, path, path);
}

// Makes NAME.meta beside an array that is locked.
Status import_held(Backend& backend, StoredFile& data, const VpShape& shape, std::uint64_t record_bytes) {
  const std::string& path = data.path();
  TW_ASSIGN_OR_RETURN(const std::uint64_t n, format::count_vps(shape));
  TW_ASSIGN_OR_RETURN(const format::KnownFormat known, format_of(backend, path));
  if (known != format::KnownFormat::none && known != format::KnownFormat::vpfile)
    return Status::error(Code::unsafe, "'{}' looks like {}, which is no array", path, format::name_of(known));
  TW_ASSIGN_OR_RETURN(const bool has_meta, has_meta_bytes(backend, path));
  if (!has_meta) TW_RETURN_IF_ERROR(check_is_no_vpfile(backend, path, data));
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, data.size());
  const std::uint64_t all = record_bytes <= (std::uint64_t{1} << 62) / n ? record_bytes * n : 0;
  if (all == 0 || size % all != 0)
    return Status::error(Code::invalid_argument,
                         "'{}' has {} bytes, which is no multiple of records of {} bytes of {} virtual processors",
                         path, size, record_bytes, n);
  format::VpMeta meta;
  meta.shape = shape;
  meta.id = new_vp_identity();
  meta.closed = true;
  meta.geometry.n = n;
  meta.geometry.record_bytes = record_bytes;
  meta.geometry.nb_bytes = size / n;
  meta.data_bytes = size;
  TW_ASSIGN_OR_RETURN(const bool has_empty_meta, has_meta ? Result<bool>(false) : backend.exists(vp_meta_path(path)));
  TW_RETURN_IF_ERROR(check_has_its_name(backend, data));
  const OpenMode mode = has_empty_meta ? OpenMode::create_keep : OpenMode::create_exclusive;
  TW_ASSIGN_OR_RETURN(const auto file, backend.open(vp_meta_path(path), mode));
  Status status = file->write(format::meta_offset(meta.sequence), format::encode_meta(meta));
  if (status.ok()) status = file->close();
  // No writer has made another one while `data` is locked under this name.
  if (!status.ok() && check_has_its_name(backend, data).ok()) (void)backend.remove(vp_meta_path(path)).ok();
  return status;
}

}  // namespace

Status flatten_vpfile(std::shared_ptr<Backend> backend, const std::string& from, const std::string& to,
                      std::uint64_t record_bytes, std::byte fill, const Watch& watch) {
  const auto alone = make_self_group();
  VpOpen how;
  how.path = from;
  TW_ASSIGN_OR_RETURN(const auto opened, run(VpFile::open(*alone, backend, std::move(how))));
  VpFile& file = *opened;
  if (record_bytes == 0) {
    TW_ASSIGN_OR_RETURN(record_bytes, longest_stream(file, watch));
  }
  if (record_bytes == 0)
    return Status::error(Code::invalid_argument, "'{}' is empty: give the bytes of a record", from);
  TW_RETURN_IF_ERROR(check_room(*backend, to, file.vps().count(), record_bytes));
  TW_ASSIGN_OR_RETURN(const bool had_meta, has_meta_bytes(*backend, to));
  if (had_meta)
    return Status::error(Code::already_exists, "'{}' exists; remove it, or choose another name", vp_meta_path(to));
  TW_ASSIGN_OR_RETURN(const auto locked, open_to_lock(*backend, to, OpenMode::create_exclusive));
  // Another program may have locked, or even written, the new file before this one has the lock: then it stays.
  TW_RETURN_IF_ERROR(locked->lock_session());
  TW_ASSIGN_OR_RETURN(const std::uint64_t size, locked->size());
  TW_ASSIGN_OR_RETURN(const bool has_meta, has_meta_bytes(*backend, to));
  if (size > 0 || has_meta) return Status::error(Code::unsafe, "'{}' is written by another program", to);
  Status status = attempt([&] {
    // A second descriptor: its close may report a failed write before NAME.meta is made, and the lock stays.
    TW_ASSIGN_OR_RETURN(const auto out, backend->open(to, OpenMode::read_write));
    TW_RETURN_IF_ERROR(check_has_its_name(*backend, *locked));
    TW_RETURN_IF_ERROR(Flatten(file, *out, record_bytes, fill, watch).run());
    TW_RETURN_IF_ERROR(out->close());
    return import_held(*backend, *locked, file.shape(), record_bytes);
  });
  if (!status.ok()) remove_own(*backend, *locked);
  return status.ok() ? run(file.close()) : status;
}

Status import_array(Backend& backend, const std::string& path, const VpShape& shape, std::uint64_t record_bytes) {
  TW_ASSIGN_OR_RETURN(const auto data, hold_file(backend, path));
  return import_held(backend, *data, shape, record_bytes);
}

}  // namespace thalweg
