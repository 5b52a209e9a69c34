// Writes the vpfiles of the golden files: write_golden FOLDER, then generate.py FOLDER.
//
// Run once for each version that changes what the library writes; the files it wrote before stay. Beside each vpfile
// stand NAME.txt, bytes of a record where no NAME.meta tells it and what it is, and NAME.expected, what its streams
// hold.
#include "support/files/vp_streams.hpp"

namespace thalweg::test {
namespace {

const std::string kSmall = "superblock_bytes=4096";

struct Case {
  std::string name, text;
  std::vector<std::int64_t> shape;
  std::function<void(VpStreams&)> write;
};

void array(VpStreams& streams) {
  streams.session("w", kSmall, 2, [](VpTask& task) {
    for (int i = 0; i < 3; ++i) task.write_all(24);
  });
}

void rounds(VpStreams& streams) {
  streams.session("w", kSmall + ",round_bytes=16", 2, [](VpTask& task) {
    task.write_all(8);
    task.write_all(8);
    for (int i = 0; i < 3; ++i) task.write_all(11);
  });
}

void three_segments(VpStreams& streams) {
  streams.session("w", kSmall + ",round_bytes=16", 3, [](VpTask& task) {
    task.write_all(8);
    task.write_all(20);
    for (std::size_t i = 0; i < task.vps().size(); ++i) task.write_one(i, 30 * static_cast<std::size_t>(task.vps()[i]));
  });
}

void sessions(VpStreams& streams) {
  streams.session("w", kSmall, 1, [](VpTask& task) {
    for (std::size_t i = 0; i < 5; ++i) {
      task.seek_one(i, i * 1000);
      task.write_one(i, 150);
    }
  });
  streams.session("r+", kSmall, 3, [](VpTask& task) {
    for (std::size_t i = 0; i < task.vps().size(); ++i) {
      task.seek_one(i, 500);  // in a hole, or behind the end
      task.write_one(i, 40);
      task.seek_one(i, static_cast<std::size_t>(task.vps()[i]) * 1000 + 50);
      task.write_one(i, 20);  // over what the first session wrote
    }
  });
  streams.session("r+", kSmall, 2, [](VpTask& task) {
    task.seek_all(4000);
    std::vector<std::size_t> each;
    for (const std::int64_t vp : task.vps()) each.push_back(vp == 3 ? 0 : 100);
    task.write_each(each);
  });
}

void chains(VpStreams& streams) {
  streams.session("w", kSmall + ",block_bytes=16,directory_pointers=2", 2, [](VpTask& task) {
    for (int round = 0; round < 20; ++round)
      for (std::size_t i = 0; i < task.vps().size(); ++i) task.write_one(i, 16 + (round % 3 == 0 ? 5 : 0));
    task.flush_all();
    for (std::size_t i = 0; i < task.vps().size(); ++i) {
      task.seek_one(i, 700);
      task.write_one(i, 33);
      task.seek_one(i, 40);
      task.write_one(i, 33);  // over sealed blocks, of this session
    }
  });
  streams.session("r+", kSmall, 2, [](VpTask& task) {
    for (std::size_t i = 0; i < task.vps().size(); ++i) {
      task.seek_one(i, 100);
      task.write_one(i, 100);  // within runs, which are cut
    }
  });
}

void pages(VpStreams& streams) {
  streams.session("w", kSmall + ",directory_pointers=1", 2, [](VpTask& task) {
    for (std::size_t i = 0; i < task.vps().size(); ++i)
      if (task.vps()[i] % 300 == 0 || task.vps()[i] == 511 || task.vps()[i] == 599) task.write_one(i, 40);
  });
}

void successors(VpStreams& streams) {
  for (const char* mode : {"w", "r+"})
    streams.session(mode, kSmall + ",block_bytes=64", 2, [](VpTask& task) {
      for (int round = 0; round < 9; ++round)
        for (std::size_t i = 0; i < task.vps().size(); ++i) {
          task.seek_one(i, task.stream(i).size());
          task.write_one(i, 500);
        }
    });
}

// Each VP appends its own number of bytes, some none.
void append_each(VpTask& task, std::int64_t step) {
  std::vector<std::size_t> each;
  for (const std::int64_t vp : task.vps()) each.push_back(static_cast<std::size_t>(vp * step % 41));
  task.write_each(each);
}

void batches(VpStreams& streams) {
  streams.session("w", kSmall, 2, [](VpTask& task) {
    append_each(task, 7);
    append_each(task, 11);
    for (std::size_t i = 4; i < task.vps().size(); i += 23) task.write_one(i, 70);  // gets an entry
    append_each(task, 13);
  });
  streams.session("r+", kSmall, 3, [](VpTask& task) {
    for (std::size_t i = 0; i < task.vps().size(); ++i) task.seek_one(i, task.stream(i).size());
    append_each(task, 17);
    task.seek_one(8, 5);  // over a piece
    task.write_one(8, 3);
    task.seek_one(25, task.stream(25).size() + 200);
    task.write_one(25, 50);
  });
}

void batches_behind(VpStreams& streams) {
  streams.session("w", kSmall + ",round_bytes=16", 2, [](VpTask& task) {
    task.write_all(8);
    task.write_all(20);
    for (const std::int64_t step : {7, 11}) append_each(task, step);
  });
}

const std::vector<Case> kCases = {
    {"array", "NB only, a shape of three dimensions", {2, 3, 2}, array},
    {"array_alone", "a plain array: the same without NAME.meta", {2, 3, 2}, array},
    {"rounds", "NB and CB", {7}, rounds},
    {"three_segments", "NB, CB and IB, three tasks", {3, 2}, three_segments},
    {"sessions", "IB only, with holes, written in three sessions by 1, 3 and 2 tasks", {5}, sessions},
    {"chains", "IB only, two pointers in an entry: long chains", {4}, chains},
    {"pages", "IB only, 600 VPs of which 4 have bytes: entries of two sums", {600}, pages},
    {"successors", "IB only, two sessions in which each of two tasks fills superblocks", {4}, successors},
    {"batches", "IB only, pieces in batches, two sessions by 2 and 3 tasks; some VPs also have chains", {100}, batches},
    {"batches_behind", "NB, CB and IB, of which all is in batches", {6, 12}, batches_behind},
    {"empty", "streams without a byte", {3}, [](VpStreams& s) { s.session("w", kSmall, 1, [](VpTask&) {}); }},
};

}  // namespace
}  // namespace thalweg::test

int main(int argc, char** argv) {
  using namespace thalweg::test;
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_golden FOLDER\n");
    return 2;
  }
  for (const Case& one : kCases) {
    const std::string path = std::string(argv[1]) + "/" + one.name;
    VpStreams streams(path + ".vp", one.shape);
    one.write(streams);
    streams.write_expected(path + ".expected");
    std::ofstream(path + ".txt") << (one.name == "array_alone" ? 24 : 0) << ' ' << one.text;
    if (one.name == "array_alone") std::remove((path + ".vp.meta").c_str());
  }
  return 0;
}
