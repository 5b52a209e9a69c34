// Batches after a death and after damage: nothing that was flushed is lost without a finding, and no wrong byte is given
// out.
#include <algorithm>
#include <random>
#include <set>

#include "group/groups.hpp"
#include "sim/memory_backend.hpp"
#include "support/damage/vp_damage_seal.hpp"
#include "support/files/vp_batches.hpp"
#include "support/sanitized.hpp"
#include "testing/fault_backend.hpp"
#include "testing/fault_journal.hpp"
#include "vpfile/check/check_vpfile.hpp"

namespace thalweg::test {
namespace {

// ---- Sessions that were not closed

TEST_F(VpBatches, ThatWereFlushedComeBackWithARepair) {
  for (const int tasks : {1, 2, 3}) {
    SCOPED_TRACE(tasks);
    clear();
    texts_.assign(kVps, "");
    std::map<std::string, std::string> left;
    Texts flushed;
    const auto session = [&](const char* mode, int begin) {
      on_team(tasks, [&](tw_group* group, int task) {
        tw_vpfile* file = open_vp(group, mode, small_);
        seek_to_end(file);
        write_steps(file, begin, begin + 3);
        write_alone(file, number(file, 0), 2, "alone");
        EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
        EXPECT_EQ(tw_group_barrier(group), TW_OK);
        if (task == 0) {
          left = files();
          flushed = texts_;
        }
        EXPECT_EQ(tw_group_barrier(group), TW_OK);
        seek_to_end(file);
        write_steps(file, begin + 3, begin + 4);
        close(file);
      });
      clear();
      for (const auto& [name, bytes] : left) put(bytes, name);
      texts_ = flushed;
      tw_vpfile* file = nullptr;
      EXPECT_EQ(try_open(nullptr, "r", {}, &file), TW_ERR_NOT_CLOSED);
      EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
      EXPECT_TRUE(there(kBatches));
      EXPECT_FALSE(listed().empty());
      expect_read();
      expect_sound();
    };
    session("w", 0);
    session("r+", 10);
    session("r+", 20);
  }
}

TEST_F(VpBatches, OfTasksThatGaveUpAreWhole) {
  on_team(2, [&](tw_group* group, int) {
    tw_vpfile* file = open_vp(group, "w", small_);
    write_steps(file, 0, 6);
    EXPECT_EQ(tw_group_barrier(group), TW_OK);
    EXPECT_EQ(tw_vpfile_abandon(&file), TW_OK) << tw_last_error();
  });
  EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
  EXPECT_TRUE(there(kBatches));
  expect_read();
  expect_sound();
}

// ---- Damage

class VpBatchesDamaged : public VpBatches {
 protected:
  void expect_refused_and_found() const {
    EXPECT_EQ(refused(), texts_.size());
    EXPECT_EQ(verify().status, TW_ERR_CORRUPT);
  }
  void expect_repaired() const {
    EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
    EXPECT_TRUE(there(kBatches));
    expect_read({2});
    expect_sound();
  }
  // Some VPs have chains, too.
  void make_some(int steps) {
    on_vpfile(1, "w", small_, [&](tw_vpfile* file, int) {
      write_steps(file, 0, steps);
      before_ = text(12);
      write_alone(file, 12, 1, "alone");
      write_alone(file, 13, text(13).size() + 50, "alone");
    });
  }

  std::string before_;  // VP 12 before it was overwritten
};

TEST_F(VpBatchesDamaged, ByTheLossOfTheList) {
  make_some(5);
  const std::string whole = content(kBatches);
  std::filesystem::remove(path(kBatches));
  expect_refused_and_found();
  EXPECT_NE(std::string(tw_last_error()).find("shared.dat"), std::string::npos) << tw_last_error();
  expect_repaired();
  EXPECT_EQ(content(kBatches), whole);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{63}, std::size_t{64}, whole.size() - 56, whole.size() - 1}) {
    SCOPED_TRACE(size);
    put(whole.substr(0, size), kBatches);
    expect_refused_and_found();
    expect_repaired();
    EXPECT_EQ(content(kBatches), whole);
  }
}

TEST_F(VpBatchesDamaged, ByAnyByteOfTheList) {
  make_some(5);
  const std::string whole = content(kBatches);
  for (std::size_t i = 0; i < whole.size() && !HasFailure(); i += 7) {
    SCOPED_TRACE(i);
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    put(damaged, kBatches);
    expect_refused_and_found();
    if (i % 5 == 0) expect_repaired();
  }
}

// A list of an earlier session, or of another file.
TEST_F(VpBatchesDamaged, ByAnotherList) {
  make_some(3);
  const std::string before = content(kBatches);
  on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
    seek_to_end(file);
    write_steps(file, 3, 6);
  });
  put(before, kBatches);
  expect_refused_and_found();
  expect_repaired();
  const auto files_before = files();
  const Texts texts_before = texts_;
  clear();
  texts_.assign(kVps, "");
  make_some(3);
  const std::string other = content(kBatches);
  clear();
  for (const auto& [name, bytes] : files_before) put(name == kBatches ? other : bytes, name);
  texts_ = texts_before;
  expect_refused_and_found();
  expect_repaired();
}

TEST_F(VpBatchesDamaged, ByAnyByteOfASuperblock) {
  make_some(1);
  const std::vector<format::Batch> batches = listed();
  ASSERT_FALSE(batches.empty());
  const format::VpGeometry geometry = read_vp_meta(*posix_backend(), path()).value().geometry;
  const std::string whole = content();
  for (const format::Batch& batch : batches) {
    const std::uint64_t begin = batch.superblock * 4096 + format::block_offset(geometry, batch.first_block);
    for (std::uint64_t i = begin; i < begin + batch.blocks * 16 && !HasFailure(); i += 5) {
      SCOPED_TRACE(i);
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
      put(damaged);
      EXPECT_EQ(verify().status, TW_ERR_CORRUPT);
      EXPECT_GT(refused(), 0u);
    }
  }
  for (std::size_t i = 0; i < whole.size() && !HasFailure(); i += 11) {  // header, seals and rows, too
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    put(damaged);
    (void)refused();
  }
}

// The checksums match, so the table of the batch is looked at.
TEST_F(VpBatchesDamaged, ByATableThatIsWrong) {
  make_some(2);
  const format::VpGeometry geometry = read_vp_meta(*posix_backend(), path()).value().geometry;
  const std::string whole = content();
  for (const format::Batch& batch : listed()) {
    const std::uint64_t superblock = batch.superblock * 4096;
    const std::uint64_t end = superblock + format::block_offset(geometry, batch.first_block) + batch.blocks * 16;
    for (std::uint64_t i = end - 8 * batch.n; i < end; i += 3) {
      VpBytes bytes(whole.size());
      std::memcpy(bytes.data(), whole.data(), whole.size());
      bytes[i] ^= std::byte{0x80};
      seal_superblock(std::span(bytes).subspan(superblock), superblock);
      put(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      EXPECT_EQ(verify().status, TW_ERR_CORRUPT) << "byte " << i;
      tw_vpfile* file = nullptr;
      if (try_open(nullptr, "r", {}, &file) != TW_OK) continue;
      for (std::int64_t vp = 0; vp < kVps; ++vp) {
        std::string back(4000, '.');
        const tw_status status = tw_vpfile_read(file, vp, back.data(), back.size(), nullptr);
        EXPECT_TRUE(status == TW_OK || status == TW_ERR_CORRUPT) << tw_last_error();
      }
      close(file);
    }
  }
}

// Each superblock in turn is overwritten with zeros.
TEST_F(VpBatchesDamaged, ByTheLossOfASuperblock) {
  make_some(8);
  const auto all = files();
  const std::uint64_t n = content().size() / 4096;
  ASSERT_GE(n, 4u);
  for (std::uint64_t lost = 0; lost < n && !HasFailure(); ++lost) {
    SCOPED_TRACE(lost);
    std::string damaged = all.at("shared.dat");
    if (damaged.compare(lost * 4096, 8, "TWFRAME1") != 0) continue;
    damaged.replace(lost * 4096, 4096, std::string(4096, '\0'));
    put(damaged);
    EXPECT_EQ(verify().status, TW_ERR_CORRUPT);
    EXPECT_GT(refused(), 0u);

    EXPECT_EQ(repair().status, TW_ERR_CORRUPT) << "a superblock is missing";
    // Bytes behind the lost pieces are unchanged or refused. A stream that ends with lost pieces is shorter, or has its
    // bytes from before the lost writes; repair reported both.
    tw_vpfile* file = open_vp("r");
    std::size_t refusals = 0, shorter = 0;
    for (std::int64_t vp = 0; vp < kVps && !HasFailure(); ++vp) {
      std::int64_t size = -1;
      if (tw_vpfile_size(file, vp, &size) != TW_OK) {
        ++refusals;
        continue;
      }
      EXPECT_LE(size, static_cast<std::int64_t>(text(vp).size()));
      if (size < static_cast<std::int64_t>(text(vp).size())) ++shorter;
      for (std::int64_t at = 0; at < size && !HasFailure(); ++at) {
        char byte = 0;
        EXPECT_EQ(tw_vpfile_seek(file, vp, at, SEEK_SET), TW_OK);
        const tw_status status = tw_vpfile_read(file, vp, &byte, 1, nullptr);
        if (status == TW_OK) {
          const auto place = static_cast<std::size_t>(at);
          EXPECT_TRUE(byte == text(vp)[place] || (vp == 12 && byte == before_[place]))
              << "VP " << vp << ", byte " << at;
        } else {
          EXPECT_EQ(status, TW_ERR_CORRUPT);
          ++refusals;
        }
      }
    }
    close(file);
    EXPECT_GT(refusals + shorter, 0u);
    clear();
    for (const auto& [name, bytes] : all) put(bytes, name);
  }
  EXPECT_EQ(refused(), 0u);
}

TEST_F(VpBatchesDamaged, ByAFileOfAnotherKindThatHasTheNameOfTheList) {
  put("{\"author\": \"somebody else\"}", kBatches);
  for (const char* mode : {"w", "w+", "a"}) {
    tw_vpfile* file = nullptr;
    EXPECT_EQ(try_open(nullptr, mode, small_, &file), TW_ERR_UNSAFE) << mode;
    EXPECT_EQ(content(kBatches), "{\"author\": \"somebody else\"}");
    if (file != nullptr) (void)tw_vpfile_close(&file);
  }
  std::filesystem::remove(path(kBatches));
  texts_.assign(3, "a");
  put_streams(texts_);
  put("{\"author\": \"somebody else\"}", kBatches);
  tw_vpfile* file = nullptr;
  EXPECT_EQ(try_open(nullptr, "r+", {}, &file), TW_ERR_UNSAFE);
  EXPECT_EQ(content(kBatches), "{\"author\": \"somebody else\"}");
  if (file != nullptr) (void)tw_vpfile_close(&file);
  expect_read({1});  // a reader has no use for it
}

TEST_F(VpBatchesDamaged, ByTheRemovalOfTheListWhileTheFileIsOpen) {
  make_some(3);
  tw_vpfile* file = open_vp("r+", {.hints = kSmall});
  write_alone(file, 20, 0, "alone");
  std::filesystem::remove(path(kBatches));
  const tw_status closed = tw_vpfile_close(&file);
  EXPECT_TRUE(closed == TW_ERR_NOT_FOUND || there(kBatches)) << "closed, and the list of batches is missing";
  if (closed != TW_OK) {
    EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
  }
  expect_read({1});
}

// ---- What a repair leaves of a damaged superblock

class VpBatchesLost : public VpBatchesDamaged {
 protected:
  // Damages the superblock of a batch, and tells which VPs lose pieces.
  void damage(std::size_t which) {
    const std::vector<format::Batch> batches = listed();
    const format::VpGeometry geometry = read_vp_meta(*posix_backend(), path()).value().geometry;
    const std::uint64_t superblock = batches.at(which).superblock;
    std::string all = content();
    char& byte = all[superblock * 4096 + format::block_offset(geometry, batches[which].first_block)];
    byte = static_cast<char>(byte ^ 1);
    put(all);
    lost_.clear();
    for (const format::Batch& batch : batches)
      if (batch.superblock == superblock)
        for (std::uint32_t i = 0; i < batch.n; ++i) lost_.insert(static_cast<std::int64_t>(batch.vp + i));
  }
  void expect_repaired_with_losses() const {
    const Health repaired = repair();
    EXPECT_EQ(repaired.status, TW_ERR_CORRUPT);
    for (const Health& found : {repaired, verify()}) {
      EXPECT_EQ(found.status, TW_ERR_CORRUPT);
      EXPECT_EQ(found.counts.damaged_logical, static_cast<std::int64_t>(lost_.size())) << found.findings;
      EXPECT_LT(std::ranges::count(found.findings, '\n'), 20) << found.findings;
    }
  }
  // Streams that lost nothing are as they were; the others are refused where bytes are lost, and no byte of them is
  // wrong.
  void expect_no_wrong_byte() const {
    tw_vpfile* file = open_vp("r");
    for (std::int64_t vp = 0; vp < kVps; ++vp) {
      std::size_t refused = 0;
      for (std::size_t at = 0; at < text(vp).size(); ++at) {
        char byte = '.';
        std::size_t moved = 0;
        EXPECT_EQ(tw_vpfile_seek(file, vp, static_cast<std::int64_t>(at), SEEK_SET), TW_OK);
        const tw_status status = tw_vpfile_read(file, vp, &byte, 1, &moved);
        if (status != TW_OK) ++refused;
        if (status != TW_OK || moved != 1) continue;
        ASSERT_EQ(byte, text(vp)[at]) << "VP " << vp << ", byte " << at;
      }
      EXPECT_TRUE(refused == 0 || lost_.contains(vp)) << "VP " << vp;
    }
    close(file);
  }

  std::set<std::int64_t> lost_;
};

TEST_F(VpBatchesLost, IsRefusedInStreamsWithAChainToo) {
  make(1, 6, small_);
  on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) { write_alone(file, 12, text(12).size(), "alone"); });
  damage(0);
  ASSERT_TRUE(lost_.contains(12));

  expect_repaired_with_losses();

  expect_no_wrong_byte();
}

TEST_F(VpBatchesLost, IsNotHiddenByAWriteAlone) {
  make(1, 6, small_);
  damage(0);
  expect_repaired_with_losses();
  tw_vpfile* file = open_vp("r+", {.hints = kSmall});
  for (std::int64_t vp = 0; vp < kVps; ++vp) {
    const std::string& all = text(vp);
    EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_END), TW_OK);
    const tw_status written = put_text(file, vp, "alone");
    EXPECT_TRUE(written == TW_OK || lost_.contains(vp)) << tw_last_error();
    if (written == TW_OK) put_over(texts_[static_cast<std::size_t>(vp)], all.size(), "alone");
  }
  close(file);

  expect_no_wrong_byte();
}

// Its rows cannot be read, so any stream may lack bytes.
TEST_F(VpBatchesLost, IsNotHiddenWhereItsRowsAreLost) {
  make(1, 6, small_);
  std::string all = content();
  const std::uint64_t last = listed().back().superblock;
  char& of_table = all[last * 4096 + 4095];
  of_table = static_cast<char>(of_table ^ 1);
  put(all);
  for (std::int64_t vp = 0; vp < kVps; ++vp) lost_.insert(vp);
  EXPECT_EQ(repair().status, TW_ERR_CORRUPT);
  tw_vpfile* file = open_vp("r+", {.hints = kSmall});
  for (std::int64_t vp = 0; vp < kVps; vp += 5) {
    const std::size_t end = text(vp).size() + 40;
    EXPECT_EQ(tw_vpfile_seek(file, vp, static_cast<std::int64_t>(end), SEEK_SET), TW_OK);
    if (put_text(file, vp, "alone") == TW_OK) put_over(texts_[static_cast<std::size_t>(vp)], end, "alone");
  }
  close(file);

  expect_no_wrong_byte();

  EXPECT_EQ(repair().status, TW_ERR_CORRUPT);
  expect_no_wrong_byte();
}

TEST_F(VpBatchesLost, KeepsItsPlaceInTheList) {
  make(1, 6, small_);
  damage(0);
  expect_repaired_with_losses();
  on_vpfile(1, "r+", {.hints = kSmall}, [&](tw_vpfile* file, int) {
    seek_to_end(file);
    write_each(file, 6, [&](std::int64_t vp) { return lost_.contains(vp) ? kOut : some_bytes(vp, 6); });
  });

  expect_no_wrong_byte();
  std::size_t lost = 0;
  for (const format::Batch& batch : listed()) lost += batch.lost;
  EXPECT_GT(lost, 0u);
}

// The machine died while the list was written for the first time, and left zeros in place of its header.
TEST_F(VpBatches, AreRepairedBesideATornList) {
  tw_vpfile* file = open_vp("w", small_);
  write_steps(file, 0, 3);
  EXPECT_EQ(tw_vpfile_abandon(&file), TW_OK) << tw_last_error();
  put(std::string(4096, '\0') + "entries", kBatches);

  EXPECT_EQ(repair().status, TW_OK) << tw_last_error();

  expect_read({1});
  expect_sound();
}

// ---- Durability, and files of other programs

class VpBatchesDeath : public SharedFiles {
 protected:
  static std::unique_ptr<VpFile> open(Group& group, const std::shared_ptr<Backend>& storage, const char* mode) {
    VpOpen how;
    how.path = "f";
    open_as(how, mode);
    how.shape = {100};
    how.hints.block_bytes = 16;
    how.hints.superblock_bytes = 4096;
    auto file = run(VpFile::open(group, storage, std::move(how)));
    EXPECT_TRUE(file.has_value()) << file.status().message();
    return file.has_value() ? std::move(file).value() : nullptr;
  }
  static void append(VpFile& file, int step) {
    std::string packed;
    std::vector<std::uint64_t> each(100);
    for (std::size_t vp = 0; vp < each.size(); ++vp) {
      each[vp] = some_bytes(static_cast<std::int64_t>(vp), step);
      packed += text_of(static_cast<int>(vp), each[vp], step);
    }
    VpTransfer what;
    what.direction = Direction::write;
    what.base = reinterpret_cast<std::byte*>(packed.data());
    what.each = each.data();
    EXPECT_TRUE(run(file.transfer(what)).ok());
  }
};

TEST_F(VpBatchesDeath, LosesNothingBehindASyncAndACloseOfALaterSession) {
  const auto group = make_self_group();
  for (const bool writes : {true, false}) {
    for (std::uint64_t loss = 0; loss < 3 * FaultJournal::kLosses && !HasFailure(); ++loss) {
      SCOPED_TRACE(std::string(writes ? "it writes alone" : "it writes nothing") + ", loss " + std::to_string(loss));
      const std::shared_ptr<Backend> memory = make_memory_backend();
      const auto storage = make_fault_backend(memory, {.keep_journal = true});
      auto first = open(*group, storage, "w");
      for (int step = 0; step < 4; ++step) append(*first, step);
      EXPECT_TRUE(run(first->close()).ok());
      auto second = open(*group, storage, "r+");
      const std::string_view more = "alone";
      EXPECT_TRUE(!writes || second->stream(3).write(std::as_bytes(std::span(more))).has_value());
      EXPECT_TRUE(run(second->sync()).ok());
      EXPECT_TRUE(run(second->close()).ok());
      storage->kill(Death::machine, loss);

      CheckResult health;
      const Status sound = verify_vpfile(*memory, "f", {}, health);
      EXPECT_TRUE(sound.ok()) << sound.message();
      const auto file = open(*group, memory, "r");
      EXPECT_TRUE(file == nullptr || run(file->close()).ok());
    }
  }
}

TEST_F(VpBatches, LeaveAFileAloneThatTookTheNameOfTheList) {
  const std::string other = "{\"author\": \"somebody else\"}" + std::string(5000, 'p');
  for (const bool is_first : {true, false}) {
    SCOPED_TRACE(is_first ? "of the first session" : "of a later session");
    clear();
    texts_.assign(kVps, "");
    if (!is_first) make(1, 3, small_);
    tw_vpfile* file = open_vp(is_first ? "w" : "r+", small_);
    if (!is_first) seek_to_end(file);
    write_steps(file, 3, 6);
    EXPECT_EQ(tw_vpfile_flush_all(file), TW_OK) << tw_last_error();
    if (!is_first) std::filesystem::remove(path(kBatches));
    put(other, kBatches);

    EXPECT_EQ(tw_vpfile_close(&file), TW_ERR_UNSAFE);
    EXPECT_EQ(content(kBatches), other);
    if (is_first) {
      EXPECT_EQ(repair().status, TW_ERR_UNSAFE);
      EXPECT_EQ(content(kBatches), other);
    }
    std::filesystem::remove(path(kBatches));
    EXPECT_EQ(repair().status, TW_OK) << tw_last_error();
    expect_read({1});
  }
}

}  // namespace
}  // namespace thalweg::test
