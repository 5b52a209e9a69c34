// What the opaque handles of multifile.h are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capi/open_handle.hpp"
#include "group/group.hpp"
#include "multifile/multifile.hpp"

struct tw_multifile_config {
  thalweg::Config config;
};

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

struct OpenStream;  // capi_stdio.cpp: a FILE* of tw_multifile_fopen()

struct tw_multifile : thalweg::OpenHandle {
  tw_multifile() : OpenHandle(Threads::one) {}
  ~tw_multifile() override;  // its streams stay, and fail

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
  std::vector<OpenStream*> streams;  // those that fclose() has not ended
  LastPieces last_pieces;
  LastAttribute last_attribute;
};

// Flushes every FILE* that is still open on the handle, then separates it from the handle: its later calls fail with
// EBADF. A failed write is kept by the handle for its close.
void end_streams(tw_multifile& multifile);
// Flushes those that no thread is inside of; a failure where there is one.
thalweg::Status flush_streams(tw_multifile& multifile);
