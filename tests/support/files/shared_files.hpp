// Shared by the tests of file.h: a folder, teams of threads with their groups, and a time limit for every test.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "capi/handles.hpp"
#include "support/engine/accesses.hpp"
#include "support/files/open_options.hpp"
#include "support/groups/apart_group.hpp"
#include "support/groups/run_on.hpp"
#include "support/sanitized.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::test {

class SharedFiles : public testing::Test {
 protected:
  static constexpr unsigned kMostSeconds = 200;  // then the program ends
  static constexpr int kNew = TW_READ | TW_WRITE | TW_CREATE | TW_TRUNCATE;

  void SetUp() override {
    ::alarm(patience(kMostSeconds));
    std::string name = (std::filesystem::temp_directory_path() / "thalweg_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    ::alarm(0);
  }

  std::string path(const std::string& name = "shared.dat") const { return folder_ + "/" + name; }

  // Runs `body` on `tasks` threads, each with its handle of one team.
  static void on_team(int tasks, const std::function<void(tw_group*, int)>& body) {
    tw_team* team = nullptr;
    ASSERT_EQ(tw_team_create(tasks, &team), TW_OK);
    on_threads(tasks, [&](std::int64_t task) {
      tw_group* group = nullptr;
      ASSERT_EQ(tw_group_team(team, task, &group), TW_OK);
      body(group, static_cast<int>(task));
      tw_group_free(&group);
    });
    tw_team_free(&team);
  }

  // Runs `body` on several "processes" of one node, each with several threads; processes communicate by messages.
  static void on_processes(int processes, int threads, const std::function<void(tw_group*, int)>& body) {
    const auto ranks = make_team(processes).value();
    std::vector<std::shared_ptr<Team>> teams;
    for (int p = 0; p < processes; ++p) teams.push_back(make_team(threads).value());
    on_threads(processes * threads, [&](std::int64_t task) {
      std::unique_ptr<Group> process;
      if (task % threads == 0)
        process = std::make_unique<ApartGroup>(make_team_group(ranks, task / threads).value(), processes);
      if (threads > 1) {
        auto thread = make_team_group(teams[static_cast<std::size_t>(task / threads)], task % threads).value();
        process = run(make_hybrid_group(std::move(thread), std::move(process))).value();
      }
      tw_group group{std::move(process)};
      body(&group, static_cast<int>(task));
    });
  }

  // on_team() with an open file, which is closed after the body.
  void on_file(int tasks, const std::function<void(tw_file*, int)>& body, int flags = kNew,
               const char* hints = nullptr) {
    on_team(tasks, [&](tw_group* group, int task) {
      tw_file* file = open(group, flags, hints);
      if (file == nullptr) return;
      body(file, task);
      EXPECT_EQ(tw_file_close(&file), TW_OK) << tw_last_error();
    });
  }

  tw_file* open(tw_group* group, int flags = kNew, const char* hints = nullptr) const {
    OpenWith options;
    options.hints(hints);
    tw_file* file = nullptr;
    EXPECT_EQ(tw_file_open(group, path().c_str(), flags, options, &file), TW_OK) << tw_last_error();
    return file;
  }

  std::string content(const std::string& name = "shared.dat") const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes, const std::string& name = "shared.dat") const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }

  std::map<std::string, std::string> files() const {  // name and content of each file in the folder
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      all[entry.path().filename().string()] = content(entry.path().filename().string());
    return all;
  }
  void clear() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) std::filesystem::remove_all(entry.path());
  }

  std::string folder_;
};

// `n` bytes that identify their writer.
inline std::string text_of(int task, std::size_t n, int round = 0) {
  std::string text(n, ' ');
  for (std::size_t i = 0; i < n; ++i)
    text[i] =
        static_cast<char>('a' + (i * 3 + static_cast<std::size_t>(task) * 7 + static_cast<std::size_t>(round)) % 26);
  return text;
}

}  // namespace thalweg::test
