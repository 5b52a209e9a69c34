// Rows of tests/sharedfile/out_pointers_test.cpp: one call for each [out] pointer of multifiles, views, storage and
// vpfiles.
#pragma once

#include <cstdarg>

#include "support/files/shared_files.hpp"
#include "thalweg/storage.h"

namespace thalweg::test {

inline constexpr std::int64_t kTasks = 3;

// The open handles of a task.
struct Open {
  tw_group* group = nullptr;
  std::string folder;
  tw_file* file = nullptr;
  tw_multifile *writing = nullptr, *reading = nullptr;
  tw_vpfile* streams = nullptr;  // one VP per task
  std::int64_t vp = 0;           // of this task

  std::string path(const std::string& name) const { return folder + "/" + name + std::to_string(tw_group_rank(group)); }
};

enum class Null { refused, allowed };
enum class Call { alone, collective };

struct Row {
  const char* function;
  const char* argument;
  Null null;
  Call call;
  std::function<tw_status(Open&, bool)> act;  // true: with NULL for the argument
};

// The pointer, or NULL.
template <class T>
T* unless(bool null, T* pointer) {
  return null ? nullptr : pointer;
}
inline std::vector<Row> rows_of_multifiles() {
  return {
      {"tw_options_create", "options", Null::refused, Call::alone,
       [](Open&, bool) { return tw_options_create(nullptr); }},
      {"tw_multifile_open", "multifile", Null::refused, Call::collective,
       [](Open& o, bool null) {
         tw_multifile* file = nullptr;
         return tw_multifile_open(o.group, (o.folder + "/none").c_str(), TW_CREATE | TW_TRUNCATE, nullptr,
                                  unless(null, &file));
       }},
      {"tw_multifile_isync", "request", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_isync(o.writing, nullptr); }},
      {"tw_multifile_iflush", "request", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_iflush(o.writing, nullptr); }},
      {"tw_multifile_alike", "last", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_alike(o.reading, 0, nullptr); }},
      {"tw_multifile_skip_gap", "skipped", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_skip_gap(o.reading, nullptr); }},
      {"tw_multifile_tell", "position", Null::allowed, Call::alone,
       [](Open& o, bool) {
         std::int64_t rank = 0;
         return tw_multifile_tell(o.reading, nullptr, &rank);
       }},
      {"tw_multifile_tell", "rank", Null::allowed, Call::alone,
       [](Open& o, bool) {
         std::int64_t position = 0;
         return tw_multifile_tell(o.reading, &position, nullptr);
       }},
      {"tw_multifile_available", "in_chunk", Null::allowed, Call::alone,
       [](Open& o, bool) {
         std::int64_t n = 0;
         return tw_multifile_available(o.reading, nullptr, &n);
       }},
      {"tw_multifile_available", "in_file", Null::allowed, Call::alone,
       [](Open& o, bool) {
         std::int64_t n = 0;
         return tw_multifile_available(o.reading, &n, nullptr);
       }},
      {"tw_multifile_read", "nread", Null::allowed, Call::alone,
       [](Open& o, bool) {
         char byte = 0;
         return tw_multifile_read(o.reading, &byte, 1, nullptr);
       }},
      {"tw_multifile_read", "data", Null::refused, Call::alone,
       [](Open& o, bool) {
         std::size_t got = 0;
         return tw_multifile_read(o.reading, nullptr, 1, &got);
       }},
      {"tw_multifile_read_at", "nread", Null::allowed, Call::alone,
       [](Open& o, bool) {
         char byte = 0;
         return tw_multifile_read_at(o.reading, &byte, 1, 0, nullptr);
       }},
      {"tw_multifile_read_at", "data", Null::refused, Call::alone,
       [](Open& o, bool) {
         std::size_t got = 0;
         return tw_multifile_read_at(o.reading, nullptr, 1, 0, &got);
       }},
      {"tw_multifile_fopen", "stream", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_fopen(o.reading, o.vp, "r", nullptr); }},
      {"tw_multifile_name", "name", Null::refused, Call::alone,
       [](Open& o, bool) {
         std::size_t length = 0;
         return tw_multifile_name(o.reading, o.vp, nullptr, 5, &length, nullptr);
       }},
      {"tw_multifile_name", "length", Null::allowed, Call::alone,
       [](Open& o, bool) {
         std::uint32_t mode = 0;
         return tw_multifile_name(o.reading, o.vp, nullptr, 0, nullptr, &mode);
       }},
      {"tw_multifile_name", "mode", Null::allowed, Call::alone,
       [](Open& o, bool) {
         std::size_t length = 0;
         return tw_multifile_name(o.reading, o.vp, nullptr, 0, &length, nullptr);
       }},
      {"tw_multifile_find", "rank", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_find(o.reading, "name0", nullptr); }},
      {"tw_multifile_find_part", "rank", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_find_part(o.reading, "name0", 0, nullptr); }},
      {"tw_multifile_part", "part", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_part(o.reading, 0, nullptr); }},
      {"tw_multifile_attribute", "value", Null::refused, Call::alone,
       [](Open& o, bool) {
         std::size_t bytes = 0;
         return tw_multifile_attribute(o.reading, "creator", nullptr, &bytes);
       }},
      {"tw_multifile_attribute", "bytes", Null::refused, Call::alone,
       [](Open& o, bool) {
         const void* value = nullptr;
         return tw_multifile_attribute(o.reading, "creator", &value, nullptr);
       }},
      {"tw_multifile_attribute_key", "key", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_attribute_key(o.reading, 0, nullptr); }},
      {"tw_multifile_summarize", "summary", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_summarize(o.reading, nullptr); }},
      {"tw_multifile_size", "bytes", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_size(o.reading, 0, nullptr); }},
      {"tw_multifile_piece", "piece", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_multifile_piece(o.reading, 0, 0, nullptr); }},
      {"tw_multifile_verify", "health", Null::allowed, Call::alone,
       [](Open& o, bool) {
         return tw_multifile_verify((o.folder + "/read").c_str(), nullptr, nullptr, nullptr, nullptr);
       }},
      {"tw_multifile_repair", "health", Null::allowed, Call::alone,
       [](Open& o, bool) {
         return tw_multifile_repair(o.path("repaired").c_str(), 0, nullptr, nullptr, nullptr, nullptr);
       }},
  };
}

inline std::vector<Row> rows_of_views_and_storage() {
  static const tw_slice slice{1, 0, 1};
  static const tw_distributed_dim dimension{1, 1, 0, TW_BLOCK};
  static const std::int64_t one = 1;
  return {
      {"tw_view_contiguous", "view", Null::refused, Call::alone,
       [](Open&, bool) { return tw_view_contiguous(1, nullptr, nullptr); }},
      {"tw_view_strided", "view", Null::refused, Call::alone,
       [](Open&, bool) { return tw_view_strided(1, 1, 1, nullptr, nullptr); }},
      {"tw_view_indexed", "view", Null::refused, Call::alone,
       [](Open&, bool) { return tw_view_indexed(1, &one, &one, nullptr, nullptr); }},
      {"tw_view_struct", "view", Null::refused, Call::alone,
       [](Open&, bool) {
         const tw_view* const element = nullptr;
         return tw_view_struct(1, &one, &one, &element, nullptr);
       }},
      {"tw_view_subarray", "view", Null::refused, Call::alone,
       [](Open&, bool) { return tw_view_subarray(1, &slice, TW_ROW_MAJOR, nullptr, nullptr); }},
      {"tw_view_distributed", "view", Null::refused, Call::alone,
       [](Open&, bool) { return tw_view_distributed(1, &dimension, 0, TW_ROW_MAJOR, nullptr, nullptr); }},
      {"tw_view_resized", "view", Null::refused, Call::alone,
       [](Open&, bool) {
         tw_view* byte = nullptr;
         EXPECT_EQ(tw_view_contiguous(1, nullptr, &byte), TW_OK);
         const tw_status status = tw_view_resized(byte, 2, nullptr);
         tw_view_free(&byte);
         return status;
       }},
      {"tw_storage_describe", "info", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_storage_describe(o.folder.c_str(), nullptr); }},
      {"tw_storage_explain", "text", Null::refused, Call::alone,
       [](Open& o, bool) {
         tw_access_pattern pattern{};
         pattern.struct_size = sizeof pattern;
         pattern.direction = TW_ACCESS_READ;
         pattern.tasks = 1;
         return tw_storage_explain(o.folder.c_str(), nullptr, &pattern, nullptr, 100);
       }},
  };
}

inline std::vector<Row> rows_of_vpfiles() {
  return {
      {"tw_vpfile_open", "vpfile", Null::refused, Call::collective,
       [](Open& o, bool null) {
         tw_vpfile* file = nullptr;
         const std::string path = o.folder + "/no.vp";
         return tw_vpfile_open(o.group, path.c_str(), TW_CREATE | TW_TRUNCATE, OpenWith().shape(1, &kTasks),
                               unless(null, &file));
       }},
      {"tw_vpfile_summarize", "summary", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_summarize(o.streams, nullptr); }},
      {"tw_vpfile_number", "vp", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_number(o.streams, 0, nullptr); }},
      {"tw_vpfile_local", "local", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_local(o.streams, o.vp, nullptr); }},
      {"tw_vpfile_read_all", "counts", Null::allowed, Call::collective,
       [](Open& o, bool null) {
         char byte = 0;
         std::int64_t count = 0;
         return tw_vpfile_read_all(o.streams, TW_VPFILE_PACKED(&byte, 1), nullptr, unless(null, &count));
       }},
      {"tw_vpfile_write_all", "counts", Null::allowed, Call::collective,
       [](Open& o, bool null) {
         std::int64_t count = 0;
         return tw_vpfile_write_all(o.streams, TW_VPFILE_PACKED("x", 1), nullptr, unless(null, &count));
       }},
      {"tw_vpfile_tell_all", "positions", Null::allowed, Call::alone,
       [](Open& o, bool) { return tw_vpfile_tell_all(o.streams, nullptr, nullptr, nullptr); }},
      {"tw_vpfile_tell_all", "eof", Null::allowed, Call::alone,
       [](Open& o, bool) {
         std::uint8_t error = 0;
         return tw_vpfile_tell_all(o.streams, nullptr, nullptr, &error);
       }},
      {"tw_vpfile_tell_all", "error", Null::allowed, Call::alone,
       [](Open& o, bool) {
         std::uint8_t eof = 0;
         return tw_vpfile_tell_all(o.streams, nullptr, &eof, nullptr);
       }},
      {"tw_vpfile_getc_all", "bytes", Null::refused, Call::collective,
       [](Open& o, bool null) {
         int byte = 0;
         return tw_vpfile_getc_all(o.streams, unless(null, &byte), nullptr);
       }},
      {"tw_vpfile_gets_all", "lines", Null::refused, Call::collective,
       [](Open& o, bool null) {
         char line[8];
         return tw_vpfile_gets_all(o.streams, unless(null, line), sizeof line, nullptr, nullptr);
       }},
      {"tw_vpfile_gets_all", "lengths", Null::allowed, Call::collective,
       [](Open& o, bool null) {
         char line[8];
         std::size_t got = 0;
         return tw_vpfile_gets_all(o.streams, line, sizeof line, unless(null, &got), nullptr);
       }},
      {"tw_vpfile_printf_all", "counts", Null::allowed, Call::collective,
       [](Open& o, bool null) {
         std::size_t count = 0;
         return tw_vpfile_printf_all(o.streams, "x", nullptr, 0, unless(null, &count), nullptr);
       }},
      {"tw_vpfile_scanf_all", "counts", Null::allowed, Call::collective,
       [](Open& o, bool null) {
         std::int64_t count = 0;
         return tw_vpfile_scanf_all(o.streams, "x", nullptr, 0, unless(null, &count), nullptr);
       }},
  };
}

inline std::vector<Row> rows_of_one_vp() {
  return {
      {"tw_vpfile_read", "data", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_read(o.streams, o.vp, nullptr, 1, nullptr); }},
      {"tw_vpfile_read", "nread", Null::allowed, Call::alone,
       [](Open& o, bool) {
         char byte = 0;
         return tw_vpfile_read(o.streams, o.vp, &byte, 1, nullptr);
       }},
      {"tw_vpfile_write", "nwritten", Null::allowed, Call::alone,
       [](Open& o, bool) { return tw_vpfile_write(o.streams, o.vp, "x", 1, nullptr); }},
      {"tw_vpfile_tell", "position", Null::allowed, Call::alone,
       [](Open& o, bool) { return tw_vpfile_tell(o.streams, o.vp, nullptr, nullptr, nullptr); }},
      {"tw_vpfile_alike", "last", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_alike(o.streams, o.vp, nullptr); }},
      {"tw_vpfile_skip_gap", "skipped", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_skip_gap(o.streams, o.vp, nullptr); }},
      {"tw_vpfile_size", "bytes", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_size(o.streams, o.vp, nullptr); }},
      {"tw_vpfile_tell", "eof", Null::allowed, Call::alone,
       [](Open& o, bool) {
         int error = 0;
         return tw_vpfile_tell(o.streams, o.vp, nullptr, nullptr, &error);
       }},
      {"tw_vpfile_tell", "error", Null::allowed, Call::alone,
       [](Open& o, bool) {
         int eof = 0;
         return tw_vpfile_tell(o.streams, o.vp, nullptr, &eof, nullptr);
       }},
      {"tw_vpfile_fopen", "stream", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_fopen(o.streams, o.vp, "r", nullptr); }},
      {"tw_vpfile_look", "stored", Null::refused, Call::alone,
       [](Open& o, bool) { return tw_vpfile_look((o.folder + "/read.vp").c_str(), nullptr); }},
      {"tw_vpfile_verify", "health", Null::allowed, Call::alone,
       [](Open& o, bool) {
         return tw_vpfile_verify((o.folder + "/read.vp").c_str(), nullptr, nullptr, nullptr, nullptr);
       }},
      {"tw_vpfile_repair", "health", Null::allowed, Call::alone,
       [](Open& o, bool) {
         return tw_vpfile_repair(o.path("repaired.vp").c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr);
       }},
  };
}

}  // namespace thalweg::test
