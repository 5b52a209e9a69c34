// tw_multifile_add(): logical files that tasks add by a name while the multifile is written.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "group/groups.hpp"
#include "multifile/multifile.hpp"
#include "support/files/on_disk.hpp"
#include "support/groups/run_on.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

using Contents = std::map<std::string, std::string>;

class Added : public OnDisk {
 protected:
  static void add(tw_multifile* file, const std::string& name, const std::string& text) {
    ASSERT_EQ(tw_multifile_add(file, name.c_str(), 0100644), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_write(file, text.data(), text.size()), TW_OK) << tw_last_error();
  }
  tw_multifile* open(std::int32_t flags, tw_group* group = nullptr, const tw_options* options = nullptr) const {
    tw_multifile* file = nullptr;
    EXPECT_EQ(tw_multifile_open(group, path_.c_str(), flags, options, &file), TW_OK) << tw_last_error();
    return file;
  }
  static void close(tw_multifile* file) { EXPECT_EQ(tw_multifile_close(&file), TW_OK) << tw_last_error(); }
  static std::int64_t n_logical(tw_multifile* file) {
    tw_multifile_summary summary{};
    summary.struct_size = sizeof summary;
    EXPECT_EQ(tw_multifile_summarize(file, &summary), TW_OK) << tw_last_error();
    return summary.n_logical;
  }
  static std::string name_of(tw_multifile* file, std::int64_t rank) {
    char name[5000] = "";
    EXPECT_EQ(tw_multifile_name(file, rank, name, sizeof name, nullptr, nullptr), TW_OK) << tw_last_error();
    return name;
  }
  static std::string text_of(tw_multifile* file, std::int64_t rank) {
    std::int64_t bytes = 0;
    EXPECT_EQ(tw_multifile_size(file, rank, &bytes), TW_OK) << tw_last_error();
    std::string text(static_cast<std::size_t>(bytes), '?');
    std::size_t got = 0;
    EXPECT_EQ(tw_multifile_seek_to(file, rank, 0), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_multifile_read(file, text.data(), text.size(), &got), TW_OK) << tw_last_error();
    EXPECT_EQ(got, text.size());
    return text;
  }
  static std::int64_t rank_of(tw_multifile* file, const std::string& name) {
    std::int64_t rank = -1;
    EXPECT_EQ(tw_multifile_find(file, name.c_str(), &rank), TW_OK) << tw_last_error();
    return rank;
  }
  static std::string found(tw_multifile* file, const std::string& name) { return text_of(file, rank_of(file, name)); }
  // Names by rank, of the whole multifile.
  static std::vector<std::string> names(tw_multifile* file) {
    std::vector<std::string> all;
    for (std::int64_t rank = 0; rank < n_logical(file); ++rank) all.push_back(name_of(file, rank));
    return all;
  }
  void expect_sound() const {
    EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  }
  // Each task has a handle, which `body` gets and which is closed behind it.
  void write_with(std::int64_t tasks, std::int32_t flags, const std::function<void(tw_multifile*, std::int64_t)>& body,
                  const std::function<void(tw_options*)>& choose = {}) const {
    tw_team* team = nullptr;
    ASSERT_EQ(tw_team_create(tasks, &team), TW_OK);
    on_threads(tasks, [&](std::int64_t task) {
      tw_group* group = nullptr;
      ASSERT_EQ(tw_group_team(team, task, &group), TW_OK) << tw_last_error();
      tw_options* options = nullptr;
      ASSERT_EQ(tw_options_create(&options), TW_OK);
      if (choose) choose(options);
      tw_multifile* file = open(flags, group, options);
      body(file, task);
      close(file);
      tw_options_free(&options);
      tw_group_free(&group);
    });
    tw_team_free(&team);
  }
  static void numbers_none(tw_options* options) {
    ASSERT_EQ(tw_options_set_range(options, 0, 0, 0), TW_OK) << tw_last_error();
  }
};

TEST_F(Added, IsFoundByItsName) {
  tw_multifile* file = open(TW_CREATE);
  const std::string numbered = "numbered";
  ASSERT_EQ(tw_multifile_write(file, numbered.data(), numbered.size()), TW_OK);
  add(file, "run7/log", "hello");
  add(file, "run7/state", std::string(300'000, 's'));
  close(file);
  file = open(TW_READ);
  EXPECT_EQ(n_logical(file), 3);
  EXPECT_EQ(names(file), (std::vector<std::string>{"", "run7/log", "run7/state"}));
  EXPECT_EQ(text_of(file, 0), "numbered");
  EXPECT_EQ(found(file, "run7/log"), "hello");
  EXPECT_EQ(found(file, "run7/state"), std::string(300'000, 's'));
  std::int64_t rank = -1;
  EXPECT_EQ(tw_multifile_find(file, "run7", &rank), TW_ERR_NOT_FOUND);
  close(file);
  expect_sound();
}

TEST_F(Added, GetsRanksByTaskThenByTheOrderOfTheCalls) {
  for (const char* files : {"1", "3"}) {
    write_with(
        5, TW_CREATE | TW_TRUNCATE,
        [&](tw_multifile* file, std::int64_t task) {
          for (int i = 0; i < 3; ++i)
            add(file, "t" + std::to_string(task) + "/" + std::to_string(i), std::to_string(task * 10 + i));
        },
        [&](tw_options* options) {
          numbers_none(options);
          ASSERT_EQ(tw_options_set_hint(options, "physical_files", files), TW_OK);
        });
    tw_multifile* file = open(TW_READ);
    ASSERT_EQ(n_logical(file), 15);
    for (std::int64_t rank = 0; rank < 15; ++rank) {
      EXPECT_EQ(name_of(file, rank), "t" + std::to_string(rank / 3) + "/" + std::to_string(rank % 3));
      EXPECT_EQ(text_of(file, rank), std::to_string(rank / 3 * 10 + rank % 3));
      EXPECT_EQ(rank_of(file, name_of(file, rank)), rank);
    }
    close(file);
    expect_sound();
  }
}

TEST_F(Added, OfOneNameTheLastIsFoundAndAllAreKept) {
  write_with(3, TW_CREATE, [&](tw_multifile* file, std::int64_t task) {
    add(file, "log", "first of " + std::to_string(task));
    add(file, "log", "second of " + std::to_string(task));
  });
  tw_multifile* file = open(TW_READ);
  EXPECT_EQ(n_logical(file), 3 + 6);
  EXPECT_EQ(found(file, "log"), "second of 2");
  EXPECT_EQ(text_of(file, 3), "first of 0");
  close(file);
  expect_sound();
  write_with(1, TW_APPEND, [&](tw_multifile* to, std::int64_t) { add(to, "log", "of a later session"); });
  file = open(TW_READ);
  EXPECT_EQ(found(file, "log"), "of a later session");
  EXPECT_EQ(text_of(file, 3), "first of 0");
  close(file);
}

TEST_F(Added, TwiceFailsTheCloseWhereAskedForAndLosesNothing) {
  tw_options* options = nullptr;
  ASSERT_EQ(tw_options_create(&options), TW_OK);
  ASSERT_EQ(tw_options_set_hint(options, "duplicates", "error"), TW_OK) << tw_last_error();
  tw_multifile* file = open(TW_CREATE, nullptr, options);
  add(file, "a", "one");
  add(file, "b", "two");
  add(file, "a", "three");
  EXPECT_EQ(tw_multifile_close(&file), TW_ERR_EXISTS);
  EXPECT_NE(std::strstr(tw_last_error(), "logical files 1 and 3"), nullptr) << tw_last_error();
  EXPECT_EQ(std::strstr(tw_last_error(), "repair"), nullptr) << tw_last_error();
  expect_sound();
  file = open(TW_READ);
  EXPECT_EQ(names(file), (std::vector<std::string>{"", "a", "b", "a"}));
  close(file);
  file = open(TW_CREATE | TW_TRUNCATE, nullptr, options);
  for (std::int64_t part : {0, 1, 7}) {
    ASSERT_EQ(tw_multifile_add_part(file, "temperature", part, 0), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_write(file, &part, sizeof part), TW_OK);
  }
  close(file);  // parts of one name are no duplicates
  tw_options_free(&options);
}

TEST_F(Added, PartsOfAnArrayAreFoundByNameAndNumber) {
  write_with(4, TW_CREATE, [&](tw_multifile* file, std::int64_t task) {
    ASSERT_EQ(tw_multifile_add_part(file, "temperature", 3 - task, 0), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_write(file, &task, sizeof task), TW_OK);
  });
  tw_multifile* file = open(TW_READ);
  for (std::int64_t part = 0; part < 4; ++part) {
    std::int64_t rank = -1, told = -1;
    ASSERT_EQ(tw_multifile_find_part(file, "temperature", part, &rank), TW_OK) << tw_last_error();
    EXPECT_EQ(rank, 4 + 3 - part);
    ASSERT_EQ(tw_multifile_part(file, rank, &told), TW_OK);
    EXPECT_EQ(told, part);
    EXPECT_EQ(name_of(file, rank), "temperature");
  }
  std::int64_t rank = -1, none = 0;
  EXPECT_EQ(tw_multifile_find(file, "temperature", &rank), TW_ERR_NOT_FOUND);
  EXPECT_EQ(tw_multifile_find_part(file, "temperature", 4, &rank), TW_ERR_NOT_FOUND);
  EXPECT_NE(std::strstr(tw_last_error(), "'temperature' with part 4"), nullptr) << tw_last_error();
  EXPECT_EQ(tw_multifile_find_part(file, "temperature", -1, &rank), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_part(file, 0, &none), TW_OK);
  EXPECT_EQ(none, -1);
  close(file);
}

TEST_F(Added, HasANumberUntilTheClose) {
  tw_multifile* file = open(TW_CREATE);
  add(file, "a", "1");
  std::int64_t a = -1, b = -1, position = -1;
  ASSERT_EQ(tw_multifile_tell(file, &position, &a), TW_OK);
  EXPECT_EQ(position, 1);
  add(file, "b", "2");
  ASSERT_EQ(tw_multifile_tell(file, nullptr, &b), TW_OK);
  EXPECT_NE(a, b);
  ASSERT_EQ(tw_multifile_seek_to(file, a, -1), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_multifile_write(file, "one", 3), TW_OK);
  FILE* stream = nullptr;
  ASSERT_EQ(tw_multifile_fopen(file, b, "w", &stream), TW_OK) << tw_last_error();
  std::fputs(" and more", stream);
  std::fclose(stream);
  EXPECT_EQ(n_logical(file), 3);
  close(file);
  file = open(TW_READ);
  EXPECT_EQ(found(file, "a"), "1one");
  EXPECT_EQ(found(file, "b"), "2 and more");
  close(file);
}

TEST_F(Added, IsAppendedToAndRanksStay) {
  const auto choose = [](tw_options* options) {
    ASSERT_EQ(tw_options_set_hint(options, "physical_files", "2"), TW_OK);
  };
  write_with(
      2, TW_CREATE, [&](tw_multifile* file, std::int64_t task) { add(file, "s0/" + std::to_string(task), "x"); },
      choose);
  write_with(3, TW_APPEND,
             [&](tw_multifile* file, std::int64_t task) { add(file, "s1/" + std::to_string(task), "y"); });
  const std::vector<std::string> all = {"", "", "s0/0", "s0/1", "s1/0", "s1/1", "s1/2"};
  tw_multifile* file = open(TW_READ);
  EXPECT_EQ(names(file), all);
  close(file);
  file = open(TW_APPEND);  // serves all of them
  for (std::int64_t rank = 0; rank < 7; ++rank) {
    ASSERT_EQ(tw_multifile_seek_to(file, rank, -1), TW_OK) << tw_last_error();
    ASSERT_EQ(tw_multifile_write(file, "more", 4), TW_OK);
  }
  close(file);
  file = open(TW_READ);
  EXPECT_EQ(names(file), all);
  EXPECT_EQ(text_of(file, 0), "more");
  EXPECT_EQ(found(file, "s0/1"), "xmore");
  EXPECT_EQ(found(file, "s1/2"), "ymore");
  close(file);
  expect_sound();
  const std::string copy = path_ + ".copy";
  ASSERT_EQ(tw_multifile_defrag(path_.c_str(), copy.c_str(), nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  std::filesystem::rename(copy, path_);
  expect_sound();
  file = open(TW_READ);
  EXPECT_EQ(names(file), all);
  EXPECT_EQ(found(file, "s1/2"), "ymore");
  close(file);
}

TEST_F(Added, IsAsDurableAsItsFlush) {
  tw_multifile* file = open(TW_CREATE);
  add(file, "flushed", "kept");
  ASSERT_EQ(tw_multifile_add(file, "empty", 0), TW_OK);
  add(file, "large", std::string(200'000, 'l'));
  ASSERT_EQ(tw_multifile_flush(file), TW_OK);
  add(file, "not flushed", "lost");
  const std::string copy = path_ + ".copy";
  std::filesystem::copy_file(path_, copy);
  close(file);
  std::filesystem::rename(copy, path_);
  file = open(TW_READ | TW_RECOVER);
  EXPECT_EQ(n_logical(file), 4);
  EXPECT_EQ(found(file, "flushed"), "kept");
  EXPECT_EQ(found(file, "empty"), "");
  close(file);
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  file = open(TW_READ);
  EXPECT_EQ(names(file), (std::vector<std::string>{"", "flushed", "empty", "large"}));
  EXPECT_EQ(found(file, "flushed"), "kept");
  EXPECT_EQ(found(file, "large"), std::string(200'000, 'l'));
  std::int64_t rank = -1;
  EXPECT_EQ(tw_multifile_find(file, "not flushed", &rank), TW_ERR_NOT_FOUND);
  close(file);
  write_with(1, TW_APPEND, [&](tw_multifile* to, std::int64_t) { add(to, "later", "!"); });
  file = open(TW_READ);
  EXPECT_EQ(found(file, "later"), "!");
  EXPECT_EQ(rank_of(file, "later"), 4);
  close(file);
  expect_sound();
}

TEST_F(Added, WhereARepairLosesANameThePlacesOfTheOthersAreRight) {
  write_with(
      2, TW_CREATE,
      [&](tw_multifile* file, std::int64_t task) {
        ASSERT_EQ(tw_multifile_write(file, "data", 4), TW_OK);
        ASSERT_EQ(tw_multifile_flush(file), TW_OK);
        ASSERT_EQ(tw_multifile_set_name(file, ("numbered/" + std::to_string(task)).c_str(), 0), TW_OK);
        add(file, "added/" + std::to_string(task), "more");
      },
      [](tw_options* options) { ASSERT_EQ(tw_options_set_hint(options, "physical_files", "2"), TW_OK); });
  const std::string second = path_ + ".000001";
  std::ifstream in(second, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::size_t index = bytes.rfind("TWINDEX1"), name = bytes.find("numbered/1");
  ASSERT_NE(index, std::string::npos);
  ASSERT_LT(name, index);
  constexpr std::size_t kPage = 4096;
  for (const std::size_t at : {name, index + kPage}) bytes[at] = static_cast<char>(bytes[at] ^ 1);  // pack, entries
  std::ofstream(second, std::ios::binary) << bytes;
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT);
  expect_sound();  // the index of physical file 0, which was whole, told of the name
  tw_multifile* file = open(TW_READ);
  EXPECT_EQ(names(file), (std::vector<std::string>{"numbered/0", "", "added/0", "added/1"}));
  EXPECT_EQ(text_of(file, 1), "data");
  EXPECT_EQ(found(file, "numbered/0"), "data");
  EXPECT_EQ(found(file, "added/1"), "more");
  std::int64_t rank = -1;
  EXPECT_EQ(tw_multifile_find(file, "numbered/1", &rank), TW_ERR_NOT_FOUND);
  close(file);
}

TEST_F(Added, ManyAreFoundAndListed) {
  constexpr int kMany = 20'000;
  write_with(2, TW_CREATE, [&](tw_multifile* file, std::int64_t task) {
    for (int i = 0; i < kMany; ++i) {
      const std::string name = "dir/" + std::to_string(task) + "/" + std::to_string(i);
      add(file, name, name);
    }
  });
  tw_multifile* file = open(TW_READ);
  ASSERT_EQ(n_logical(file), 2 + 2 * kMany);
  for (std::int64_t rank = 2; rank < n_logical(file); rank += 997) {
    const std::string name = name_of(file, rank);
    EXPECT_EQ(rank_of(file, name), rank);
    EXPECT_EQ(text_of(file, rank), name);
  }
  std::int64_t rank = -1;
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(tw_multifile_find(file, ("dir/2/" + std::to_string(i)).c_str(), &rank), TW_ERR_NOT_FOUND);
  close(file);
  expect_sound();
}

TEST_F(Added, KeepsItsRankAndNameWhileItsPhysicalFileIsMissing) {
  write_with(
      3, TW_CREATE,
      [&](tw_multifile* file, std::int64_t task) {
        add(file, "t" + std::to_string(task), "of " + std::to_string(task));
      },
      [](tw_options* options) { ASSERT_EQ(tw_options_set_hint(options, "physical_files", "3"), TW_OK); });
  const std::string second = path_ + ".000001", away = path_ + ".away";
  std::filesystem::rename(second, away);
  std::string first;  // without its index page, so that a repair writes the index anew
  {
    std::ifstream in(path_, std::ios::binary);
    first.assign(std::istreambuf_iterator<char>(in), {});
  }
  first[first.rfind("TWINDEX1") + 100] ^= 1;
  const auto put = [&](const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; };
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT);
  tw_multifile* file = open(TW_READ);
  EXPECT_EQ(found(file, "t2"), "of 2");
  EXPECT_EQ(rank_of(file, "t2"), 5);
  close(file);
  std::filesystem::rename(away, second);
  file = open(TW_READ);
  EXPECT_EQ(names(file), (std::vector<std::string>{"", "", "", "t0", "t1", "t2"}));
  EXPECT_EQ(found(file, "t1"), "of 1");
  close(file);
  expect_sound();

  put(first);  // now what it told of the others is gone, while one is missing
  std::filesystem::rename(second, away);
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT);
  std::filesystem::rename(away, second);
  EXPECT_EQ(tw_multifile_verify(path_.c_str(), nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT) << "t1 has no rank";
  const std::string copy = path_ + ".copy";
  EXPECT_EQ(tw_multifile_defrag(path_.c_str(), copy.c_str(), nullptr, nullptr, nullptr), TW_ERR_CORRUPT);
  write_with(1, TW_APPEND, [&](tw_multifile* to, std::int64_t) { add(to, "new", "N"); });
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  file = open(TW_READ);
  EXPECT_EQ(names(file), (std::vector<std::string>{"", "", "", "t0", "t1", "t2", "new"}));
  EXPECT_EQ(found(file, "new"), "N");
  EXPECT_EQ(found(file, "t1"), "of 1");
  close(file);
  expect_sound();
}

TEST_F(Added, KeepsItsNameWhereAnotherMultifileTookItsPlace) {
  const auto write_two = [&](const std::string& prefix) {
    write_with(
        2, TW_CREATE | TW_TRUNCATE,
        [&](tw_multifile* file, std::int64_t task) { add(file, prefix + std::to_string(task), prefix); },
        [](tw_options* options) { ASSERT_EQ(tw_options_set_hint(options, "physical_files", "2"), TW_OK); });
  };
  write_two("old");
  const std::string second = path_ + ".000001", foreign = path_ + ".foreign", away = path_ + ".away";
  std::filesystem::copy_file(second, foreign);
  write_two("new");
  std::filesystem::rename(second, away);
  std::filesystem::rename(foreign, second);
  EXPECT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT);
  std::filesystem::rename(away, second);
  expect_sound();
  tw_multifile* file = open(TW_READ);
  EXPECT_EQ(names(file), (std::vector<std::string>{"", "", "new0", "new1"}));
  EXPECT_EQ(found(file, "new1"), "new");
  close(file);
}

TEST_F(Added, IsFoundWithFewReads) {
  constexpr std::int64_t kMany = 60'000;
  write_with(
      2, TW_CREATE,
      [&](tw_multifile* file, std::int64_t task) {
        for (std::int64_t i = 0; i < kMany; ++i)
          ASSERT_EQ(tw_multifile_add(file, (std::to_string(task) + "/" + std::to_string(i)).c_str(), 0), TW_OK);
      },
      numbers_none);
  const auto backend = std::make_shared<FaultBackend>(posix_backend(), FaultScript{});
  const auto group = make_self_group();
  for (std::int64_t i = 0; i < kMany; i += 517) {
    OpenRequest request;
    request.backend = backend;
    request.path = path_;
    request.access = MultifileMode::read;
    const std::uint64_t before = backend->calls(CallKind::read);
    auto file = run(open_multifile(*group, std::move(request)));
    ASSERT_TRUE(file.has_value()) << file.status().message();
    for (const std::string& wanted : {"1/" + std::to_string(i), "2/" + std::to_string(i)}) {
      auto rank = (*file)->reading->find(wanted);
      EXPECT_EQ(rank.has_value(), wanted.front() == '1') << wanted;
      EXPECT_EQ(rank.has_value() ? static_cast<std::int64_t>(*rank) : 0, wanted.front() == '1' ? kMany + i : 0);
      if (wanted.front() == '1') {
        EXPECT_LE(backend->calls(CallKind::read) - before, 10u) << wanted;
      }
    }
  }
}

TEST_F(Added, CountsThoseOfEarlierSessionsInAnAppend) {
  tw_multifile* file = open(TW_CREATE);
  add(file, "a", "1");
  close(file);
  file = open(TW_APPEND);
  EXPECT_EQ(n_logical(file), 2);
  add(file, "b", "2");
  EXPECT_EQ(n_logical(file), 3);
  EXPECT_EQ(tw_multifile_set_name(file, "", 0), TW_ERR_INVALID) << "one that was added needs a name";
  ASSERT_EQ(tw_multifile_set_name(file, "c", 0), TW_OK) << tw_last_error();
  close(file);
  file = open(TW_READ);
  EXPECT_EQ(names(file), (std::vector<std::string>{"", "a", "c"}));
  close(file);
}

// Buffers of those before the 17th are stored like the others from then on.
TEST_F(Added, ManyAreSyncedAndWrittenInTurns) {
  tw_multifile* file = open(TW_CREATE);
  std::vector<std::int64_t> numbers;
  for (int i = 0; i < 40; ++i) {
    add(file, "n" + std::to_string(i), std::string(1000, 'x'));
    std::int64_t number = 0;
    ASSERT_EQ(tw_multifile_tell(file, nullptr, &number), TW_OK);
    numbers.push_back(number);
    if (i % 7 == 0) {
      ASSERT_EQ(tw_multifile_sync(file), TW_OK) << tw_last_error();
    }
  }
  for (const std::int64_t number : numbers) {
    ASSERT_EQ(tw_multifile_seek_to(file, number, -1), TW_OK);
    ASSERT_EQ(tw_multifile_write(file, std::string(70'000, 'y').data(), 70'000), TW_OK);
  }
  ASSERT_EQ(tw_multifile_sync(file), TW_OK) << tw_last_error();
  const std::string copy = path_ + ".copy";
  std::filesystem::copy_file(path_, copy);
  close(file);
  for (const bool closed : {true, false}) {
    if (!closed) {
      std::filesystem::rename(copy, path_);
      ASSERT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
    }
    file = open(TW_READ);
    for (int i = 0; i < 40; ++i)
      EXPECT_EQ(found(file, "n" + std::to_string(i)), std::string(1000, 'x') + std::string(70'000, 'y')) << i;
    close(file);
    expect_sound();
  }
}

// About 5000 are in memory: the others are read back where a task returns to them.
TEST_F(Added, AreReturnedToWhenTheyHaveLeftTheMemory) {
  constexpr int kMany = 12'000;
  const auto text = [](std::int64_t task, int i) { return "t" + std::to_string(task) + "/" + std::to_string(i); };
  const auto session = [&](const std::string& prefix, std::int32_t flags) {
    const auto body = [&](tw_multifile* file, std::int64_t task) {
      std::vector<std::int64_t> numbers(kMany);
      for (int i = 0; i < kMany; ++i) {
        add(file, prefix + text(task, i), text(task, i));
        ASSERT_EQ(tw_multifile_tell(file, nullptr, &numbers[static_cast<std::size_t>(i)]), TW_OK);
      }
      for (int round = 0; round < 2; ++round)
        for (int i = kMany - 1; i >= 0; i -= 7) {  // backwards
          ASSERT_EQ(tw_multifile_seek_to(file, numbers[static_cast<std::size_t>(i)], -1), TW_OK) << tw_last_error();
          ASSERT_EQ(tw_multifile_write(file, "+more", 5), TW_OK) << tw_last_error();
        }
      ASSERT_EQ(tw_multifile_seek_to(file, numbers[3], 1), TW_OK) << tw_last_error();
      ASSERT_EQ(tw_multifile_write(file, "!", 1), TW_OK) << tw_last_error();
      ASSERT_EQ(tw_multifile_set_name(file, (prefix + text(task, 3) + " renamed").c_str(), 0100600), TW_OK);
      add(file, prefix + text(task, kMany), "last");
    };
    write_with(3, flags, body);
  };
  session("", TW_CREATE);
  session("again/", TW_APPEND);
  tw_multifile* file = open(TW_READ);
  ASSERT_EQ(n_logical(file), 3 + 2 * 3 * (kMany + 1));
  for (const std::string prefix : {"", "again/"})
    for (std::int64_t task = 0; task < 3; ++task)
      for (int i = 0; i < kMany; i += i < 10 ? 1 : 3) {
        std::string wanted = text(task, i) + (i % 7 == (kMany - 1) % 7 ? "+more+more" : "");
        if (i == 3) wanted[1] = '!';
        EXPECT_EQ(found(file, prefix + text(task, i) + (i == 3 ? " renamed" : "")), wanted);
      }
  close(file);
  expect_sound();
}

// More names than are sorted in memory: the close merges those of both physical files.
TEST_F(Added, MoreNamesThanTheCloseSortsInMemoryAreFound) {
  constexpr int kMany = 300'000;
  hint("physical_files", "2");
  hint("duplicates", "error");
  tw_team* team = nullptr;
  ASSERT_EQ(tw_team_create(2, &team), TW_OK);
  on_threads(2, [&](std::int64_t task) {
    tw_group* group = nullptr;
    ASSERT_EQ(tw_group_team(team, task, &group), TW_OK) << tw_last_error();
    tw_multifile* file = open(TW_CREATE, group, config_);
    for (int i = 0; i < kMany; ++i) add(file, std::to_string(task * kMany + i), "x");
    add(file, "twice", std::to_string(task));
    EXPECT_EQ(tw_multifile_close(&file), TW_ERR_EXISTS);
    EXPECT_NE(std::string(tw_last_error()).find("are both named 'twice'"), std::string::npos) << tw_last_error();
    tw_group_free(&group);
  });
  tw_team_free(&team);
  tw_multifile* file = open(TW_READ);
  ASSERT_EQ(n_logical(file), 2 + 2 * (kMany + 1));
  for (int i = 0; i < 2 * kMany; i += 1009)
    EXPECT_EQ(name_of(file, rank_of(file, std::to_string(i))), std::to_string(i));
  EXPECT_EQ(found(file, "twice"), "1");
  close(file);
  expect_sound();
}

// The close verifies what it left in the file.
TEST_F(Added, WhatTheCloseReadsBackIsVerified) {
  constexpr int kMany = 8000;
  tw_multifile* file = open(TW_CREATE);
  for (int i = 0; i < kMany; ++i) add(file, "name of " + std::to_string(i), "text");
  ASSERT_EQ(tw_multifile_flush(file), TW_OK) << tw_last_error();
  std::ifstream stored(path_, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stored), {}};
  const std::size_t at = bytes.rfind("name of 1717");
  ASSERT_GT(at, bytes.find("name of 1717")) << "the name has not left the memory";
  std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<std::streamoff>(at)).put('N');
  EXPECT_EQ(tw_multifile_close(&file), TW_ERR_CORRUPT);
  EXPECT_NE(std::string(tw_last_error()).find("added logical files"), std::string::npos) << tw_last_error();
  ASSERT_EQ(tw_multifile_repair(path_.c_str(), 0, nullptr, nullptr, nullptr, nullptr), TW_OK) << tw_last_error();
  file = open(TW_READ);
  for (int i = 0; i < kMany; i += 17) EXPECT_EQ(found(file, "name of " + std::to_string(i)), "text");
  close(file);
  expect_sound();
}

// Names of 4000 bytes, so that some 130 fill the memory for them; the file may not grow when they are to be stored.
TEST_F(Added, ThatFailsLeavesTheCurrentFileAlone) {
  const std::string name(4000, 'n');
  tw_multifile* file = open(TW_CREATE);
  std::int64_t first = -1, current = -1;
  add(file, name, "1");
  ASSERT_EQ(tw_multifile_tell(file, nullptr, &first), TW_OK);
  ASSERT_EQ(tw_multifile_flush(file), TW_OK) << tw_last_error();
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{std::filesystem::file_size(path_) + 4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  tw_status status = TW_OK;
  for (int i = 0; i < 1000 && status == TW_OK; ++i) {
    ASSERT_EQ(tw_multifile_seek_to(file, first, -1), TW_OK) << tw_last_error();
    status = tw_multifile_add(file, name.c_str(), 0100644);
  }
  EXPECT_NE(status, TW_OK);
  EXPECT_EQ(tw_multifile_tell(file, nullptr, &current), TW_OK) << tw_last_error();
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(current, first);
  EXPECT_NE(tw_multifile_close(&file), TW_OK);
}

TEST_F(Added, RefusesWhatIsNoName) {
  tw_multifile* file = open(TW_CREATE);
  EXPECT_EQ(tw_multifile_add(file, nullptr, 0), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_add(file, "", 0), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_add(file, std::string(4097, 'n').c_str(), 0), TW_ERR_INVALID);
  EXPECT_EQ(tw_multifile_add(file, std::string(4096, 'n').c_str(), 0), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_multifile_add_part(file, "x", -1, 0), TW_ERR_INVALID);
  close(file);
  file = open(TW_READ);
  EXPECT_EQ(name_of(file, 1), std::string(4096, 'n'));
  EXPECT_EQ(tw_multifile_add(file, "x", 0), TW_ERR_MODE);
  close(file);
}

}  // namespace
}  // namespace thalweg::test
