// Damaged, missing and unclosed files: reading returns an error that names the file, or the written data.
#include <filesystem>

#include "support/files/vp_files.hpp"
#include "support/sanitized.hpp"

namespace thalweg::test {
namespace {

class VpDamage : public VpFiles {
 protected:
  static constexpr std::int64_t kVps = 5;

  // A file with all three segments; VP 3 has so many runs that its chain continues in NAME.dir.
  Texts make() const {
    Texts texts(kVps);
    on_vpfile(2, "w", {.shape = {kVps}, .hints = "block_bytes=16,superblock_bytes=4KiB,directory_pointers=1"},
              [&](tw_vpfile* file, int) {
                const std::string all(locals(file) * 8, 'n');
                EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(all.data(), 8), nullptr, nullptr), TW_OK);
                EXPECT_EQ(tw_vpfile_puts_all(file, "collective", nullptr, nullptr), TW_OK);
                for (int round = 0; round < 3; ++round)
                  for (std::size_t i = 0; i < locals(file); ++i) {
                    const std::string text = text_of(static_cast<int>(i), 20, round);
                    EXPECT_EQ(put_text(file, number(file, i), text), TW_OK) << tw_last_error();
                  }
              });
    texts = streams();
    EXPECT_EQ(texts[4].size(), 8u + 10 + 60);
    return texts;
  }

  // Whether the file reads as `texts`, or is refused by an error that names it.
  bool is_right_or_refused(const Texts& texts, bool exactly = true) const {
    tw_vpfile* file = nullptr;
    tw_status status = try_open(nullptr, "r", {}, &file);
    if (status == TW_OK) {
      for (std::int64_t vp = 0; vp < kVps; ++vp) {
        const std::string& text = texts[static_cast<std::size_t>(vp)];
        std::string back(text.size() + 1, '.');
        std::size_t moved = 0;
        status = tw_vpfile_read(file, vp, back.data(), back.size(), &moved);
        if (status != TW_OK) break;
        back.resize(moved);
        if (exactly && back != text) {
          ADD_FAILURE() << "VP " << vp << " is read as '" << back << "'";
          break;
        }
      }
      const std::string said = tw_last_error();
      close(file);
      if (status == TW_OK) return true;
      EXPECT_NE(said.find("shared.dat"), std::string::npos) << said;
    } else {
      EXPECT_NE(std::string(tw_last_error()).find("shared.dat"), std::string::npos) << tw_last_error();
    }
    EXPECT_TRUE(status == TW_ERR_CORRUPT || status == TW_ERR_NOT_CLOSED || status == TW_ERR_VERSION) << status;
    return false;
  }

  // Flips a bit of every `step`-th byte from `begin` to `end`; returns the number of refusals.
  std::size_t flip_each(const std::string& name, std::size_t begin, std::size_t end, std::size_t step,
                        const Texts& texts) const {
    std::string bytes = content(name);
    EXPECT_GE(bytes.size(), end) << name;
    std::size_t refused = 0;
    for (std::size_t i = begin; i < std::min(end, bytes.size()) && !HasFailure(); i += step) {
      SCOPED_TRACE(name + ", byte " + std::to_string(i));
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
      put(damaged, name);
      if (!is_right_or_refused(texts)) ++refused;
    }
    put(bytes, name);
    return refused;
  }
};

const std::size_t kStep = tries_less() ? 5 : 1;

TEST_F(VpDamage, OfTheMeta) {
  const Texts texts = make();
  // Two slots: one written at the open, one at the close.
  EXPECT_EQ(flip_each("shared.dat.meta", 4096, 5120, 3 * kStep, texts), (1024 + 3 * kStep - 1) / (3 * kStep));
  EXPECT_LE(flip_each("shared.dat.meta", 0, 1024, 3 * kStep, texts), 2u);  // a changed version number is refused
  for (const std::size_t size : {0, 1, 1000, 1024, 4096, 4500, 5119}) {
    SCOPED_TRACE(size);
    const std::string bytes = content("shared.dat.meta");
    put(bytes.substr(0, size), "shared.dat.meta");
    EXPECT_FALSE(is_right_or_refused(texts));
    put(bytes, "shared.dat.meta");
  }
  EXPECT_TRUE(is_right_or_refused(texts));
}

TEST_F(VpDamage, OfTheEntriesOfTheDirectory) {
  const Texts texts = make();
  for (const char* name : {"shared.dat.first", "shared.dat.dir"}) {
    EXPECT_EQ(flip_each(name, 0, 64, kStep, texts), (64 + kStep - 1) / kStep) << name;
    EXPECT_EQ(flip_each(name, 64, 4096, 400, texts), 0u) << name;
  }
  constexpr std::size_t kEntry = 32;
  EXPECT_EQ(flip_each("shared.dat.first", 4096, 4096 + kVps * kEntry, kStep, texts),
            (kVps * kEntry + kStep - 1) / kStep);
  EXPECT_EQ(flip_each("shared.dat.dir", 4096, 4096 + kEntry, kStep, texts), (kEntry + kStep - 1) / kStep);
  put(content("shared.dat.dir").substr(0, 4096), "shared.dat.dir");
  EXPECT_FALSE(is_right_or_refused(texts));
}

TEST_F(VpDamage, OfASuperblock) {
  const Texts texts = make();
  const std::size_t begin = content().find("TWFRAME1");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(flip_each("shared.dat", begin, begin + 128, kStep, texts), (128 + kStep - 1) / kStep);
  EXPECT_EQ(flip_each("shared.dat", begin + 128, begin + 160, kStep, texts), (32 + kStep - 1) / kStep);
  EXPECT_GT(flip_each("shared.dat", begin + 256, begin + 400, kStep, texts), 0u);
  EXPECT_GT(flip_each("shared.dat", begin + 4096 - 64, begin + 4096, kStep, texts), 0u);
}

// Any bytes: an error or a successful read, no crash.
TEST_F(VpDamage, RandomBytesAreRefusedOrReadSomehow) {
  const Texts texts = make();
  for (const char* name : {"shared.dat", "shared.dat.meta", "shared.dat.first", "shared.dat.dir"}) {
    const std::string bytes = content(name);
    for (unsigned seed = 1; seed <= (tries_less() ? 20 : 100); ++seed) {
      std::string damaged = bytes;
      std::srand(seed);
      for (int i = 0; i < 30; ++i)
        damaged[static_cast<std::size_t>(std::rand()) % damaged.size()] = static_cast<char>(std::rand());
      put(damaged, name);
      static_cast<void>(is_right_or_refused(texts, false));
    }
    put(bytes, name);
  }
}

TEST_F(VpDamage, MissingFilesAreNamed) {
  make();
  for (const char* name : {"shared.dat.meta", "shared.dat.first", "shared.dat.dir", "shared.dat"}) {
    SCOPED_TRACE(name);
    const std::string bytes = content(name);
    std::filesystem::remove(path(name));
    for (const int tasks : {1, 3}) {
      on_team(tasks, [&](tw_group* group, int) {
        tw_vpfile* file = nullptr;
        tw_status status = try_open(group, "r", {.shape = {kVps}}, &file);
        if (status == TW_OK) {
          std::vector<char> all(100 * locals(file));
          status = tw_vpfile_read_all(file, TW_VPFILE_PACKED(all.data(), 100), nullptr, nullptr);
        }
        EXPECT_EQ(status, name == std::string("shared.dat") ? TW_ERR_NOT_FOUND : TW_ERR_CORRUPT);
        EXPECT_NE(std::string(tw_last_error()).find(folder_), std::string::npos) << tw_last_error();
        if (file != nullptr) close(file);
      });
    }
    put(bytes, name);
  }
}

// A truncated directory must not make its last streams empty.
TEST_F(VpDamage, ADirectoryThatWasCutOffIsNotOpened) {
  const Texts texts = make();
  const std::string bytes = content("shared.dat.first");
  for (std::size_t size = 4096; size < bytes.size(); size += 8) {
    put(bytes.substr(0, size), "shared.dat.first");
    EXPECT_FALSE(is_right_or_refused(texts, false)) << size;
  }
  put(bytes, "shared.dat.first");
  EXPECT_TRUE(is_right_or_refused(texts));
}

// Missing records must not read as zeros.
TEST_F(VpDamage, AnArrayThatWasCutOffIsNotOpened) {
  on_vpfile(2, "w", {.shape = {4}}, [](tw_vpfile* file, int) {
    const std::string all(locals(file) * 6, 'n');
    EXPECT_EQ(tw_vpfile_write_all(file, TW_VPFILE_PACKED(all.data(), 6), nullptr, nullptr), TW_OK);
  });
  const std::string bytes = content();
  ASSERT_EQ(bytes.size(), 24u);
  for (const std::size_t size : {0, 6, 18, 23}) {
    put(bytes.substr(0, size));
    for (const char* mode : {"r", "r+", "a"}) {
      tw_vpfile* file = nullptr;
      EXPECT_EQ(try_open(nullptr, mode, {}, &file), TW_ERR_CORRUPT) << size;
      EXPECT_NE(std::string(tw_last_error()).find("shared.dat"), std::string::npos) << tw_last_error();
    }
    EXPECT_EQ(content().size(), size);
  }
  put(bytes + "more");
  EXPECT_EQ(streams(), Texts(4, "nnnnnn"));
}

// Without tables, gaps are refused, not read as zeros, and a hole of a terabyte needs no memory.
TEST_F(VpDamage, RepairWithoutATableEndsInLittleMemory) {
  on_vpfile(1, "w", {.shape = {2}, .hints = "superblock_bytes=4096"}, [](tw_vpfile* file, int) {
    const std::string text(5000, 'x');
    for (std::int64_t vp = 0; vp < 2; ++vp) {
      EXPECT_EQ(tw_vpfile_write(file, vp, text.data(), text.size(), nullptr), TW_OK);
      EXPECT_EQ(tw_vpfile_seek(file, vp, vp == 0 ? 6000 : std::int64_t{1} << 50, SEEK_SET), TW_OK);
      EXPECT_EQ(tw_vpfile_write(file, vp, text.data(), text.size(), nullptr), TW_OK);
    }
  });
  std::string bytes = content();
  ASSERT_EQ(bytes.compare(0, 8, "TWFRAME1"), 0);
  bytes[4096 - 32] ^= 1;  // row 0
  put(bytes);
  EXPECT_EQ(tw_vpfile_repair(path().c_str(), 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr), TW_ERR_CORRUPT);

  tw_vpfile* file = open_vp("r");
  char byte = 0;
  EXPECT_EQ(tw_vpfile_read(file, 0, &byte, 1, nullptr), TW_ERR_CORRUPT);
  EXPECT_EQ(tw_vpfile_seek(file, 0, 10500, SEEK_SET), TW_OK);
  EXPECT_EQ(tw_vpfile_read(file, 0, &byte, 1, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(tw_vpfile_seek(file, 1, (std::int64_t{1} << 50) + 4999, SEEK_SET), TW_OK);
  EXPECT_EQ(tw_vpfile_read(file, 1, &byte, 1, nullptr), TW_OK) << tw_last_error();
  EXPECT_EQ(byte, 'x');
  close(file);
}

TEST_F(VpDamage, ANewFileThatIsOnlyIbTellsThatItsMetaIsMissing) {
  put_streams({"a", "bb"});
  std::filesystem::remove(path("shared.dat.meta"));
  tw_vpfile* file = nullptr;
  EXPECT_EQ(try_open(nullptr, "r", {.shape = {2}}, &file), TW_ERR_CORRUPT);
  EXPECT_NE(std::string(tw_last_error()).find("shared.dat.meta"), std::string::npos) << tw_last_error();
}

TEST_F(VpDamage, AFileThatIsNotClosedIsNotOpened) {
  for (const int kind : {0, 1, 2}) {
    std::filesystem::create_directories(path("copy"));
    on_vpfile(2, "w", {.shape = {4}}, [&](tw_vpfile* file, int task) {
      if (kind > 0) {
        EXPECT_EQ(tw_vpfile_puts_all(file, "flushed", nullptr, nullptr), TW_OK);
        EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK);
      }
      if (kind > 1) {
        EXPECT_EQ(put_text(file, number(file, 0), "one"), TW_OK);
        EXPECT_EQ(tw_vpfile_flush(file, number(file, 0)), TW_OK);
      }
      EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK);
      if (task == 0) {
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
          if (entry.is_regular_file())
            std::filesystem::copy_file(entry.path(), path("copy") + "/" + entry.path().filename().string());
      }
      EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK);
    });
    for (const char* mode : {"r", "r+", "a"}) {
      tw_vpfile* file = nullptr;
      EXPECT_EQ(tw_vpfile_open(nullptr, path("copy/shared.dat").c_str(), flags_of(mode), nullptr, &file),
                TW_ERR_NOT_CLOSED);
      EXPECT_NE(std::string(tw_last_error()).find("copy/shared.dat"), std::string::npos) << tw_last_error();
    }
    const std::int64_t shape[] = {4};
    tw_vpfile* file = nullptr;
    EXPECT_EQ(tw_vpfile_open(nullptr, path("copy/shared.dat").c_str(), TW_CREATE | TW_TRUNCATE,
                             OpenWith().shape(1, shape), &file),
              TW_OK);
    close(file);
    std::filesystem::remove_all(path("copy"));
  }
}

}  // namespace
}  // namespace thalweg::test
