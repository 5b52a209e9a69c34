// Writes the multifiles that the golden files named lib_* came from: write_golden FOLDER, then generate.py FOLDER.
//
// Run once for each version of the format; generate.py says what becomes of the files of the version before. Beside each
// multifile stands NAME.txt: how to open it, and what it is.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "thalweg/multifile.h"

namespace {

std::string folder;

void must(tw_status status) {
  if (status == TW_OK) return;
  std::fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  std::exit(1);
}

// A multifile being made: one task serves all logical files, unless the case says otherwise.
struct Plan {
  std::string name;
  std::int64_t n_logical = 3;
  std::vector<std::pair<const char*, const char*>> hints;
  tw_mapping_fn mapping = nullptr;
};

tw_multifile* open(const Plan& plan, int mode, tw_group* group = nullptr) {
  tw_options* config = nullptr;
  must(tw_options_create(&config));
  must(tw_options_set_hint(config, "granule_bytes", "4KiB"));
  must(tw_options_set_hint(config, "alignment_bytes", "512"));
  must(tw_options_set_hint(config, "chunk_bytes", "8KiB"));  // small files
  for (const auto& [hint, value] : plan.hints) must(tw_options_set_hint(config, hint, value));
  if (group == nullptr && mode == (TW_CREATE | TW_TRUNCATE)) {
    must(tw_options_set_range(config, plan.n_logical, 0, plan.n_logical));
  }
  if (plan.mapping != nullptr && mode == (TW_CREATE | TW_TRUNCATE))
    must(tw_options_set_mapping(config, plan.mapping, nullptr));
  tw_multifile* file = nullptr;
  must(tw_multifile_open(group, (folder + "/" + plan.name + ".tw").c_str(), mode, config, &file));
  tw_options_free(&config);
  return file;
}

void describe(const Plan& plan, const std::string& text) { std::ofstream(folder + "/" + plan.name + ".txt") << text; }

std::string text_of(std::int64_t rank, std::size_t bytes) {
  std::string text;
  for (int line = 0; text.size() < bytes; ++line)
    text += "file " + std::to_string(rank) + ", line " + std::to_string(line * 7919 % 1000) + "\n";
  text.resize(bytes);
  return text;
}

void write_to(tw_multifile* file, std::int64_t rank, const std::string& text) {
  must(tw_multifile_seek_to(file, rank, -1));
  must(tw_multifile_write(file, text.data(), text.size()));
}

void write_each(const Plan& plan, const std::string& description, std::size_t bytes) {
  tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
  for (std::int64_t rank = 0; rank < plan.n_logical; ++rank)
    write_to(file, rank, text_of(rank, bytes * static_cast<std::size_t>(rank)));
  must(tw_multifile_close(&file));
  describe(plan, "read " + description);
}

// Runs `body` in a process that dies without closing anything.
template <class Body>
void dying(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) std::exit(1);
}

void simple_cases() {
  write_each({"lib_no_logical_files", 0, {}}, "zero logical files", 0);
  write_each({"lib_empty", 3, {}}, "three empty logical files", 0);
  write_each({"lib_chunks", 4, {{"buffer_bytes", "0"}, {"chunk_bytes", "6KiB"}}}, "chunks without buffering", 5000);
  write_each({"lib_packs", 40, {}}, "small pieces in packs", 30);
  write_each({"lib_lz4", 4, {{"compression", "lz4"}}}, "pieces compressed with LZ4", 6000);
  write_each({"lib_zstd", 4, {{"compression", "zstd"}}}, "pieces compressed with Zstandard", 6000);
  write_each({"lib_checksum_none", 3, {{"checksum", "none"}}}, "without checksums of the data", 2000);
  write_each({"lib_three_physical_files", 7, {{"physical_files", "3"}}}, "three physical files", 100);
  const tw_mapping_fn odd_and_even = [](std::int64_t rank, std::int64_t, std::int32_t n, void*) {
    return static_cast<std::int32_t>(rank % n);
  };
  write_each({"lib_table_mapping", 7, {{"physical_files", "2"}}, odd_and_even}, "a mapping by table", 100);
}

void named() {
  const Plan plan{"lib_names_and_attributes", 3, {}};
  tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    write_to(file, rank, text_of(rank, 50));
    must(tw_multifile_set_name(file, rank == 0 ? "a/first" : "b \xC3\xA4 second", rank == 0 ? 0100644 : 0100755));
  }
  must(tw_multifile_set_attribute(file, "creator", "write_golden", 12));
  must(tw_multifile_set_attribute(file, "binary", "\0\1\xFF", 3));
  must(tw_multifile_close(&file));
  describe(plan, "read names, modes and attributes");
}

void overlapping() {
  const Plan plan{"lib_overlaps", 1, {{"buffer_bytes", "0"}}};
  tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
  write_to(file, 0, text_of(0, 9000));
  must(tw_multifile_write_at(file, "overwritten", 11, 4090));
  must(tw_multifile_write_at(file, "behind a hole", 13, 12000));
  must(tw_multifile_write_at(file, "OVER", 4, 4094));
  must(tw_multifile_close(&file));
  describe(plan, "read bytes written twice, and a hole");
}

void appended() {
  const Plan plan{"lib_appended", 2, {}};
  tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
  write_to(file, 0, text_of(0, 3000));
  must(tw_multifile_set_name(file, "log", 0));
  must(tw_multifile_close(&file));
  for (int session = 1; session < 3; ++session) {
    file = open(plan, TW_APPEND);
    write_to(file, 0, "session " + std::to_string(session) + "\n");
    write_to(file, 1, text_of(session, 200));
    must(tw_multifile_close(&file));
  }
  describe(plan, "read three sessions");
}

void unclosed() {
  const Plan plan{"lib_unclosed", 3, {{"chunk_bytes", "8KiB"}, {"buffer_bytes", "4KiB"}}};
  dying([&] {
    tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
    for (std::int64_t rank = 0; rank < 2; ++rank) write_to(file, rank, text_of(rank, 5000));
    must(tw_multifile_flush(file));
    write_to(file, 1, "flushed a second time\n");
    must(tw_multifile_sync(file));
    write_to(file, 2, "never flushed");
  });
  describe(plan, "recover flushed, synced and not closed");
}

void unclosed_append() {
  const Plan plan{"lib_unclosed_append", 2, {}};
  tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
  write_to(file, 0, text_of(0, 700));
  must(tw_multifile_set_name(file, "kept", 0));
  must(tw_multifile_close(&file));
  dying([&] {
    tw_multifile* again = open(plan, TW_APPEND);
    write_to(again, 0, "appended and flushed\n");
    write_to(again, 1, text_of(1, 300));
    must(tw_multifile_flush(again));
  });
  describe(plan, "recover an append that was flushed and not closed");
}

void repaired() {
  const Plan plan{"lib_repaired", 2, {}};
  dying([&] {
    tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
    write_to(file, 1, text_of(1, 6000));
    must(tw_multifile_flush(file));
  });
  tw_health health{};
  health.struct_size = sizeof health;
  must(tw_multifile_repair((folder + "/" + plan.name + ".tw").c_str(), 0, nullptr, nullptr, nullptr, &health));
  describe(plan, "read what repair made of an unclosed file");
}

// Each task of a thread team has a handle, which `body` gets.
template <class Body>
void by_team(const Plan& plan, int mode, std::int64_t tasks, Body body) {
  tw_team* team = nullptr;
  must(tw_team_create(tasks, &team));
  std::vector<std::thread> threads;
  for (std::int64_t task = 0; task < tasks; ++task) {
    threads.emplace_back([&, task] {
      tw_group* group = nullptr;
      must(tw_group_team(team, task, &group));
      tw_multifile* file = open(plan, mode, group);
      body(file, task);
      must(tw_multifile_close(&file));
      tw_group_free(&group);
    });
  }
  for (auto& thread : threads) thread.join();
  tw_team_free(&team);
}

void by_threads() {
  const Plan plan{"lib_four_tasks", 4, {{"physical_files", "2"}, {"chunk_bytes", "1KiB"}}};
  by_team(plan, TW_CREATE | TW_TRUNCATE, 4, [](tw_multifile* file, std::int64_t task) {
    for (std::size_t i = 1; i < 4; ++i) {
      const std::string text = text_of(task, 900 * i);
      must(tw_multifile_write(file, text.data(), text.size()));
    }
  });
  describe(plan, "read four tasks of a thread team, two physical files");
}

void add(tw_multifile* file, const std::string& name, const std::string& text) {
  must(tw_multifile_add(file, name.c_str(), 0100644));
  must(tw_multifile_write(file, text.data(), text.size()));
}

void added() {
  const Plan plan{"lib_added", 1, {}};
  tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
  write_to(file, 0, text_of(0, 100));
  add(file, "run7/log", text_of(1, 50));
  add(file, "run7/state", text_of(2, 20'000));
  must(tw_multifile_add(file, "run7/empty", 0));
  add(file, "log", "first\n");
  add(file, "log", "second\n");
  for (std::int64_t part : {0, 1, 70'000}) {
    must(tw_multifile_add_part(file, "temperature", part, 0100644));
    must(tw_multifile_write(file, &part, sizeof part));
  }
  must(tw_multifile_close(&file));
  describe(plan, "read one task that adds logical files by a name, two by the same one, and parts of an array");
}

void added_by_threads() {
  const Plan plan{"lib_added_in_two_physical_files", 4, {{"physical_files", "2"}}};
  for (const int mode : {TW_CREATE | TW_TRUNCATE, static_cast<int>(TW_APPEND)}) {
    by_team(plan, mode, mode == TW_APPEND ? 3 : 4, [&](tw_multifile* file, std::int64_t task) {
      const std::string folder_of_task = (mode == TW_APPEND ? "later/" : "first/") + std::to_string(task) + "/";
      for (std::int64_t i = 0; i <= task; ++i) add(file, folder_of_task + std::to_string(i), text_of(task, 40));
      add(file, "same", folder_of_task);
    });
  }
  describe(plan, "read four tasks, then three, each adds logical files; two physical files");
}

void added_and_unclosed() {
  const Plan plan{"lib_unclosed_added", 1, {}};
  tw_multifile* file = open(plan, TW_CREATE | TW_TRUNCATE);
  add(file, "of the session before", text_of(1, 300));
  must(tw_multifile_close(&file));
  dying([&] {
    tw_multifile* again = open(plan, TW_APPEND);
    add(again, "flushed", text_of(2, 300));
    must(tw_multifile_add(again, "flushed without bytes", 0));
    must(tw_multifile_add_part(again, "array", 3, 0));
    must(tw_multifile_write(again, "block", 5));
    must(tw_multifile_flush(again));
    add(again, "not flushed", text_of(3, 300));
  });
  describe(plan, "recover an append that added logical files and was flushed and not closed");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_golden FOLDER\n");
    return 2;
  }
  folder = argv[1];
  simple_cases();
  named();
  overlapping();
  appended();
  unclosed();
  unclosed_append();
  repaired();
  by_threads();
  added();
  added_by_threads();
  added_and_unclosed();
  return 0;
}
