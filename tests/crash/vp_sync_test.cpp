// Synced data of a vpfile that is not overwritten survives the machine, whatever is written, flushed and lost later.
#include <gtest/gtest.h>

#include <string>

#include "group/groups.hpp"
#include "sim/memory_backend.hpp"
#include "support/files/vp_open.hpp"
#include "support/sanitized.hpp"
#include "testing/fault_backend.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

constexpr const char* kPath = "synced.vp";

VpOpen how(const char* mode) {
  VpOpen open;
  open.path = kPath;
  open_as(open, mode);
  open.shape = {2};
  open.hints.block_bytes = 16;
  open.hints.superblock_bytes = 8192;
  return open;
}

void write(VpFile& file, std::uint64_t vp, const std::string& text) {
  const auto wrote = file.stream(vp).write(std::as_bytes(std::span(text)));
  EXPECT_TRUE(wrote.has_value()) << wrote.error().message();
}

void overwrite_and_flush(VpFile& file) {
  EXPECT_TRUE(file.stream(0).seek(0, SEEK_SET).ok());
  write(file, 0, std::string(600, 'b'));
  EXPECT_TRUE(file.stream(0).flush().ok());
}

void append_and_flush(VpFile& file) {
  for (int i = 0; i < 2; ++i) {
    write(file, 0, std::string(600, 'c'));
    EXPECT_TRUE(file.stream(0).flush().ok());
  }
}

void append_much(VpFile& file) { write(file, 0, std::string(30000, 'd')); }

void flush_together_twice(VpFile& file) {
  for (const char c : {'e', 'f'}) {
    EXPECT_TRUE(file.stream(0).seek(100, SEEK_SET).ok());
    write(file, 0, std::string(600, c));
    append_much(file);
    EXPECT_TRUE(run(file.flush()).ok());
  }
  overwrite_and_flush(file);
}

void grow_the_lattice_and_flush(VpFile& file) {
  const std::string text(24, 'g');
  for (int i = 0; i < 3; ++i) {
    VpTransfer what;
    what.direction = Direction::write;
    what.base = reinterpret_cast<std::byte*>(const_cast<char*>(text.data()));
    what.bytes = 12;
    EXPECT_TRUE(run(file.transfer(what)).ok());
    EXPECT_TRUE(run(file.flush()).ok());
  }
}

struct Later {
  const char* name;
  void (*act)(VpFile& file);
  bool in_lattice = false;
};
void PrintTo(const Later& later, std::ostream* out) { *out << later.name; }

class VpSync : public testing::TestWithParam<Later> {
 protected:
  // A file whose VPs have 1000 synced bytes each; then the operations of the parameter, and the death of the machine.
  static std::shared_ptr<Backend> what_is_left(std::uint64_t seed) {
    auto memory = make_memory_backend();
    auto machine = make_fault_backend(memory, {.keep_journal = true});
    const auto group = make_self_group();
    auto file = run(VpFile::open(*group, machine, how("w+"))).value();
    if (GetParam().in_lattice) {
      grow_the_lattice_and_flush(*file);
    } else {
      for (const std::uint64_t vp : {0, 1}) write(*file, vp, std::string(1000, 'a'));
    }
    EXPECT_TRUE(run(file->sync()).ok());
    GetParam().act(*file);
    machine->kill(Death::machine, seed);
    return memory;
  }
};

TEST_P(VpSync, OutlivesTheMachine) {
  const std::string synced = GetParam().in_lattice ? std::string(36, 'g') : std::string(1000, 'a');
  const int tries = tries_less() ? 20 : 200;
  for (int seed = 0; seed < tries && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const auto left = what_is_left(static_cast<std::uint64_t>(seed));
    CheckResult health;
    const Status repaired = repair_vpfile(*left, kPath, {2}, {}, health);
    EXPECT_TRUE(repaired.ok()) << repaired.message();
    const auto group = make_self_group();
    auto opened = run(VpFile::open(*group, left, how("r")));
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    std::string back(synced.size(), '?');
    const auto got = opened.value()->stream(1).read(std::as_writable_bytes(std::span(back)));
    ASSERT_TRUE(got.has_value()) << got.error().message();
    EXPECT_EQ(back, synced);
    EXPECT_TRUE(run(opened.value()->close()).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Then, VpSync,
                         testing::Values(Later{"overwritten", overwrite_and_flush}, Later{"appended", append_and_flush},
                                         Later{"much", append_much}, Later{"together", flush_together_twice},
                                         Later{"lattice", grow_the_lattice_and_flush, true}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace thalweg::test
