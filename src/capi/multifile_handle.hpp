// Defines the opaque handles of multifile.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capi/cookie_stream.hpp"
#include "capi/open_handle.hpp"
#include "multifile/multifile.hpp"
#include "multifile/tier/tier.hpp"

struct tw_multifile : thalweg::OpenHandle {
  static constexpr const char* kName = "multifile";
  tw_multifile() : OpenHandle(false) {}

  thalweg::Status store_own() override;
  const void* written() const override;
  std::int64_t tasks() const override;
  std::string path() const override;
  std::string remedy() const override { return file->remedy; }
  bool is_first() const override;
  bool needs_transport() const override;
  thalweg::Status begin_to_leave() override;

  std::shared_ptr<thalweg::Group> group;  // null: this task alone
  std::unique_ptr<thalweg::Multifile> file;
  std::unique_ptr<thalweg::Tier> tier;  // null: it is not written in one
  thalweg::CookieStreams streams;       // of tw_multifile_fopen()
  // The pieces of the logical file that tw_multifile_piece() was asked about last.
  std::int64_t last_rank = -1;
  std::vector<thalweg::format::PieceEntry> last_pieces;
  // The attribute whose key tw_multifile_attribute_key() returned last: listing goes on from there.
  const thalweg::format::Attributes* last_attributes = nullptr;  // null: none
  std::size_t last_number = 0;
  thalweg::format::Attributes::const_iterator last_attribute;
};

namespace thalweg {

// The size of a logical file; of those being written, only of one that the handle serves.
Result<std::uint64_t> logical_bytes(const Multifile& file, std::uint64_t rank);

inline Status wrong_mode(const char* call, const char* open_for) {
  return Status::error(Code::wrong_mode, "{}: the multifile is open for {}", call, open_for);
}

// A call on a multifile that is open for writing: `body(*handle)`, which returns a Status.
template <class Body>
std::int32_t when_writing(tw_multifile* multifile, const char* call, Body&& body) noexcept {
  return on_handle(multifile, call, [&](tw_multifile& open) -> Status {
    return open.file->writing ? body(*open.file->writing) : wrong_mode(call, "reading");
  });
}
template <class Body>
std::int32_t when_reading(tw_multifile* multifile, const char* call, Body&& body) noexcept {
  return on_handle(multifile, call, [&](tw_multifile& open) -> Status {
    return open.file->reading ? body(*open.file->reading) : wrong_mode(call, "writing");
  });
}

}  // namespace thalweg
