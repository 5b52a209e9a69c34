// multifile.h, part three: names, attributes, and the structure of a multifile.
#include <algorithm>
#include <cstring>

#include "capi/multifile_handle.hpp"
#include "multifile/check/regions.hpp"
#include "thalweg/multifile.h"

using namespace thalweg;

Result<std::uint64_t> thalweg::logical_bytes(const Multifile& file, std::uint64_t rank) {
  if (file.writing) {
    TW_ASSIGN_OR_RETURN(const LogicalWriter* writer, file.writing->writer(rank));
    return writer->size();
  }
  TW_ASSIGN_OR_RETURN(const format::FileEntry entry, file.reading->entry(rank));
  return entry.bytes;
}

namespace {

constexpr std::size_t kLongestKey = 255;
constexpr std::size_t kLargestValue = 1 << 20;

Result<std::uint64_t> checked_rank(int64_t rank, const char* call) {
  if (rank >= 0) return static_cast<std::uint64_t>(rank);
  return invalid_argument(call, "rank is {}", rank);
}

Status check_name_length(const char* name) {
  if (std::strlen(name) <= format::kLongestName) return {};
  return Status::error(Code::invalid_argument, "a name of {} bytes; {} is the most", std::strlen(name),
                       format::kLongestName);
}

Status check_new_name(const char* call, const char* name) {
  if (name == nullptr) return null_argument(call, "name");
  if (*name == '\0') return invalid_argument(call, "the name is empty; a logical file that is added needs one");
  return check_name_length(name);
}

Result<std::string> part_name(const char* call, const char* name, int64_t part) {
  if (part >= 0) return format::name_of_part(name, static_cast<std::uint64_t>(part));
  return invalid_argument(call, "part is {}", part);
}

Result<const format::Attributes*> attributes_of(const Multifile& file) {
  if (file.writing) return &file.writing->attributes();
  return file.reading->attributes();
}

void fill_summary(const format::FileHeader& header, tw_multifile_summary& out) {
  out.n_logical = static_cast<int64_t>(header.n_logical);
  out.n_physical = static_cast<int32_t>(header.n_physical);
  out.n_planned = static_cast<int32_t>(header.n_physical + header.n_later);
  out.version_major = header.major;
  out.version_minor = header.minor;
  out.checksum = static_cast<int32_t>(header.checksum);
  out.alignment_bytes = header.alignment;
  out.granule_bytes = header.granule;
  const std::string uuid = format::uuid_text(header.id.uuid);
  std::strncpy(out.uuid, uuid.c_str(), sizeof out.uuid - 1);
}

int32_t n_existing(const ReadSet& files, int32_t n_planned) {
  auto ends = later_ends(files.first());
  if (!ends.has_value()) return n_planned;
  const auto missing = std::ranges::count(*ends, 0U);
  return n_planned - static_cast<int32_t>(missing);
}

}  // namespace

// ---- Names and attributes ----------------------------------------------------------------------------------------

extern "C" {

tw_status tw_multifile_set_name(tw_multifile* multifile, const char* name, uint32_t mode) {
  return when_writing(multifile, "tw_multifile_set_name", [&](WriteHandle& handle) -> Status {
    if (name == nullptr) return null_argument("tw_multifile_set_name", "name");
    TW_RETURN_IF_ERROR(check_name_length(name));
    TW_ASSIGN_OR_RETURN(LogicalWriter * writer, handle.current_or_first());
    return handle.set_name(*writer, name, mode);
  });
}

tw_status tw_multifile_add(tw_multifile* multifile, const char* name, uint32_t permissions) {
  return when_writing(multifile, "tw_multifile_add", [&](WriteHandle& handle) -> Status {
    TW_RETURN_IF_ERROR(check_new_name("tw_multifile_add", name));
    return handle.add(name, permissions);
  });
}

tw_status tw_multifile_add_part(tw_multifile* multifile, const char* name, int64_t part, uint32_t permissions) {
  return when_writing(multifile, "tw_multifile_add_part", [&](WriteHandle& handle) -> Status {
    TW_RETURN_IF_ERROR(check_new_name("tw_multifile_add_part", name));
    TW_ASSIGN_OR_RETURN(const std::string stored, part_name("tw_multifile_add_part", name, part));
    return handle.add(stored, permissions);
  });
}

tw_status tw_multifile_name(tw_multifile* multifile, int64_t rank, char* name, size_t size, size_t* length,
                            uint32_t* mode) {
  return when_reading(multifile, "tw_multifile_name", [&](ReadHandle& handle) -> Status {
    TW_ASSIGN_OR_RETURN(const std::uint64_t r, checked_rank(rank, "tw_multifile_name"));
    if (name == nullptr && size > 0) return null_argument("tw_multifile_name", "name");
    std::uint32_t found_mode = 0;
    TW_ASSIGN_OR_RETURN(const std::string found, handle.name(r, found_mode));
    const std::string_view text = std::string_view(found).substr(0, found.find('\0'));
    if (length != nullptr) *length = text.size();
    if (mode != nullptr) *mode = found_mode;
    if (size > 0) name[text.copy(name, size - 1)] = '\0';
    return {};
  });
}

tw_status tw_multifile_find(tw_multifile* multifile, const char* name, int64_t* rank) {
  return when_reading(multifile, "tw_multifile_find", [&](ReadHandle& handle) -> Status {
    if (name == nullptr || rank == nullptr)
      return null_argument("tw_multifile_find", name == nullptr ? "name" : "rank");
    return put(handle.find(name), rank);
  });
}

tw_status tw_multifile_find_part(tw_multifile* multifile, const char* name, int64_t part, int64_t* rank) {
  return when_reading(multifile, "tw_multifile_find_part", [&](ReadHandle& handle) -> Status {
    if (name == nullptr || rank == nullptr)
      return null_argument("tw_multifile_find_part", name == nullptr ? "name" : "rank");
    TW_ASSIGN_OR_RETURN(const std::string stored, part_name("tw_multifile_find_part", name, part));
    return put(handle.find(stored), rank);
  });
}

tw_status tw_multifile_part(tw_multifile* multifile, int64_t rank, int64_t* part) {
  return when_reading(multifile, "tw_multifile_part", [&](ReadHandle& handle) -> Status {
    if (part == nullptr) return null_argument("tw_multifile_part", "part");
    TW_ASSIGN_OR_RETURN(const std::uint64_t r, checked_rank(rank, "tw_multifile_part"));
    std::uint32_t mode = 0;
    TW_ASSIGN_OR_RETURN(const std::string name, handle.name(r, mode));
    *part = format::part_of(name);
    return {};
  });
}

tw_status tw_multifile_set_attribute(tw_multifile* multifile, const char* key, const void* value, size_t bytes) {
  return when_writing(multifile, "tw_multifile_set_attribute", [&](WriteHandle& handle) -> Status {
    if (key == nullptr) return null_argument("tw_multifile_set_attribute", "key");
    if (value == nullptr && bytes > 0) return null_argument("tw_multifile_set_attribute", "value");
    const std::size_t key_bytes = std::strlen(key);
    if (key_bytes == 0 || key_bytes > kLongestKey || bytes > kLargestValue)
      return Status::error(Code::invalid_argument,
                           "an attribute with a key of {} and a value of {} bytes; 1 .. 255 and 0 .. 1 MiB are allowed",
                           key_bytes, bytes);
    multifile->last_attributes = nullptr;  // a new key moves those behind it
    handle.attributes()[key] = bytes == 0 ? std::string() : std::string(static_cast<const char*>(value), bytes);
    return {};
  });
}

tw_status tw_multifile_attribute(tw_multifile* multifile, const char* key, const void** value, size_t* bytes) {
  return on_handle(multifile, "tw_multifile_attribute", [&](tw_multifile& open) -> Status {
    TW_ASSIGN_OR_RETURN(const format::Attributes* all, attributes_of(*open.file));
    if (key == nullptr || value == nullptr || bytes == nullptr)
      return null_argument("tw_multifile_attribute", "key, value or bytes");
    const auto found = all->find(key);
    if (found == all->end()) return Status::error(Code::not_found, "no attribute '{}'", key);
    *value = found->second.data();
    *bytes = found->second.size();
    return {};
  });
}

tw_status tw_multifile_attribute_key(tw_multifile* multifile, int64_t i, const char** key) {
  return on_handle(multifile, "tw_multifile_attribute_key", [&](tw_multifile& open) -> Status {
    TW_ASSIGN_OR_RETURN(const format::Attributes* all, attributes_of(*open.file));
    if (key == nullptr) return null_argument("tw_multifile_attribute_key", "key");
    if (i < 0 || static_cast<std::uint64_t>(i) >= all->size())
      return Status::error(Code::not_found, "attribute {} of {}", i, all->size());
    const auto wanted = static_cast<std::size_t>(i);
    if (open.last_attributes != all || wanted < open.last_number) {
      open.last_attributes = all;
      open.last_number = 0;
      open.last_attribute = all->begin();
    }
    for (; open.last_number < wanted; ++open.last_number) ++open.last_attribute;
    *key = open.last_attribute->first.c_str();
    return {};
  });
}

// ---- Structure ---------------------------------------------------------------------------------------------------

tw_status tw_multifile_summarize(tw_multifile* multifile, tw_multifile_summary* summary) {
  return on_handle(multifile, "tw_multifile_summarize", [&](tw_multifile& open) -> Status {
    if (summary == nullptr) return null_argument("tw_multifile_summarize", "summary");
    const std::size_t size = summary->struct_size;
    if (size < offsetof(tw_multifile_summary, uuid))
      return Status::error(Code::invalid_argument, "struct_size is {}: set it to sizeof before the call", size);
    tw_multifile_summary all{};
    all.struct_size = size;
    if (open.file->writing) {
      fill_summary(open.file->writing->common().header, all);
      all.n_logical = static_cast<int64_t>(open.file->writing->n_logical());
      all.sessions = static_cast<int64_t>(open.file->writing->session()) + 1;
    } else {
      const ReadSet& files = open.file->reading->files();
      fill_summary(files.header(), all);
      all.n_logical = static_cast<int64_t>(files.n_logical());
      all.n_physical = n_existing(files, all.n_planned);
      all.sessions = int64_t{files.first().state().session} + 1;
      all.recovered = files.first().recovered() != nullptr;
      all.closed = files.first().closed() && !all.recovered;
    }
    all.strategy = open.file->strategy.c_str();
    std::memcpy(summary, &all, std::min(size, sizeof all));
    return {};
  });
}

tw_status tw_multifile_alike(tw_multifile* multifile, int64_t rank, int64_t* last) {
  return when_reading(multifile, "tw_multifile_alike", [&](ReadHandle& handle) -> Status {
    TW_ASSIGN_OR_RETURN(const std::uint64_t r, checked_rank(rank, "tw_multifile_alike"));
    if (last == nullptr) return null_argument("tw_multifile_alike", "last");
    *last = rank;
    TW_ASSIGN_OR_RETURN(const EntryRun run, handle.run_at(r));
    *last = static_cast<int64_t>(run.end) - 1;
    return run.lost;
  });
}

tw_status tw_multifile_size(tw_multifile* multifile, int64_t rank, int64_t* bytes) {
  return on_handle(multifile, "tw_multifile_size", [&](tw_multifile& open) -> Status {
    if (bytes == nullptr) return null_argument("tw_multifile_size", "bytes");
    TW_ASSIGN_OR_RETURN(const std::uint64_t r, checked_rank(rank, "tw_multifile_size"));
    TW_RETURN_IF_ERROR(open.streams.settle(r));
    return put(logical_bytes(*open.file, r), bytes);
  });
}

tw_status tw_multifile_piece(tw_multifile* multifile, int64_t rank, int64_t i, tw_piece* piece) {
  return when_reading(multifile, "tw_multifile_piece", [&](ReadHandle& handle) -> Status {
    TW_ASSIGN_OR_RETURN(const std::uint64_t r, checked_rank(rank, "tw_multifile_piece"));
    if (piece == nullptr) return null_argument("tw_multifile_piece", "piece");
    const std::vector<format::PieceEntry>& pieces = multifile->last_pieces;
    if (multifile->last_rank != rank) {
      multifile->last_rank = -1;
      TW_ASSIGN_OR_RETURN(multifile->last_pieces, handle.pieces(r));
      multifile->last_rank = rank;
    }
    if (i < 0 || static_cast<std::uint64_t>(i) >= pieces.size())
      return Status::error(Code::not_found, "piece {} of {} of logical file {}", i, pieces.size(), rank);
    const format::PieceEntry& found = pieces[static_cast<std::size_t>(i)];
    TW_ASSIGN_OR_RETURN(const PlacedRange at, handle.locate(r));
    TW_ASSIGN_OR_RETURN(const std::uint64_t offset, handle.physical_position(r, found));
    *piece = tw_piece{static_cast<int32_t>(found.kind),
                      static_cast<int32_t>(found.codec),
                      static_cast<int32_t>(found.later != 0 ? found.later : at.physical),
                      0,
                      static_cast<int64_t>(offset),
                      static_cast<int64_t>(found.stored_bytes),
                      static_cast<int64_t>(found.logical_offset),
                      static_cast<int64_t>(found.logical_bytes)};
    return {};
  });
}

tw_status tw_multifile_regions(tw_multifile* multifile, tw_region_fn fn, void* user) {
  return when_reading(multifile, "tw_multifile_regions", [&](ReadHandle& handle) -> Status {
    if (fn == nullptr) return null_argument("tw_multifile_regions", "fn");
    return walk_regions(handle.files(), [&](const Region& r) {
      const tw_region region{static_cast<int32_t>(r.kind), static_cast<int32_t>(r.physical),
                             static_cast<int64_t>(r.offset), static_cast<int64_t>(r.bytes), r.rank};
      return fn(&region, user) == 0;
    });
  });
}

}  // extern "C"
