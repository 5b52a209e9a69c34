// What the opaque handles of multifile.h are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capi/cookie_stream.hpp"
#include "capi/open_handle.hpp"
#include "group/group.hpp"
#include "multifile/multifile.hpp"

// The pieces of the logical file that tw_multifile_piece() was asked about last.
struct LastPieces {
  std::int64_t rank = -1;
  std::vector<thalweg::format::PieceEntry> pieces;
};

// The attribute whose key tw_multifile_attribute_key() told last: listing goes on from there.
struct LastAttribute {
  const thalweg::format::Attributes* of = nullptr;  // null: none
  std::size_t i = 0;
  thalweg::format::Attributes::const_iterator at;
};

struct tw_multifile : thalweg::OpenHandle {
  tw_multifile() : OpenHandle(Threads::one) {}

  thalweg::Status store_own() override;
  const void* written() const override;
  std::int64_t tasks() const override;
  void end_unclosed(bool) override {}
  std::string path() const override;
  bool is_first() const override;
  bool needs_transport() const override;
  thalweg::Status begin_to_leave() override;

  std::shared_ptr<thalweg::Group> group;  // null: this task alone
  std::unique_ptr<thalweg::Multifile> file;
  thalweg::CookieStreams streams;  // of tw_multifile_fopen()
  LastPieces last_pieces;
  LastAttribute last_attribute;
};
