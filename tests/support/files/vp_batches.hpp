// VpBatches: a test of vpfiles whose VPs append together, so that batches are made. `texts_` has what the streams hold.
#pragma once

#include <filesystem>

#include "support/files/vp_files.hpp"
#include "support/files/vp_open.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/format/batch.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {

inline constexpr std::size_t kOut = ~std::size_t{0};  // length of a VP that takes no part
inline constexpr const char* kBatches = "shared.dat.batches";
inline constexpr const char* kFirst = "shared.dat.first";

using Lengths = std::function<std::size_t(std::int64_t vp)>;

inline std::size_t some_bytes(std::int64_t vp, int step) {
  return static_cast<std::size_t>(1 + (vp * 7 + step * 5) % 30);
}

inline void put_over(std::string& stream, std::size_t at, const std::string& text) {
  if (text.empty()) return;
  if (stream.size() < at + text.size()) stream.resize(at + text.size());
  stream.replace(at, text.size(), text);
}

class VpBatches : public VpFiles {
 protected:
  static constexpr std::int64_t kVps = 100;
  static constexpr const char* kSmall = "block_bytes=16,superblock_bytes=4096,cache_bytes=0";
  const VpHow small_ = {.shape = {kVps}, .hints = kSmall};

  void SetUp() override {
    VpFiles::SetUp();
    texts_.assign(kVps, "");
  }

  // ---- Writing. `texts_` has what the streams are to hold; each task changes those of its VPs.

  // Writes lengths(vp) bytes of each VP at its position, in one collective access.
  void write_each(tw_vpfile* file, int step, const Lengths& lengths) {
    const std::size_t n = locals(file);
    const Positions at = positions(file);
    Positions each(n), counts(n);
    Flags mask(n, 1);
    std::string packed;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t vp = number(file, i);
      const std::size_t bytes = lengths(vp);
      mask[i] = bytes == kOut ? 0 : 1;
      if (bytes == kOut) continue;
      each[i] = static_cast<std::int64_t>(bytes);
      const std::string text = text_of(static_cast<int>(vp), bytes, step);
      put_over(texts_[static_cast<std::size_t>(vp)], static_cast<std::size_t>(at[i]), text);
      packed += text;
    }
    tw_vpfile_data data = TW_VPFILE_PACKED(packed.data(), 1);
    data.n_each = each.data();
    EXPECT_EQ(tw_vpfile_write_all(file, data, mask.data(), counts.data()), TW_OK) << tw_last_error();
    EXPECT_EQ(counts, each);
  }
  void write_steps(tw_vpfile* file, int begin, int end) {
    for (int step = begin; step < end; ++step)
      write_each(file, step, [&](std::int64_t vp) { return some_bytes(vp, step); });
  }
  static void seek_to_end(tw_vpfile* file) {
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_END, nullptr), TW_OK) << tw_last_error();
  }
  // One VP writes alone.
  void write_alone(tw_vpfile* file, std::int64_t vp, std::size_t at, const std::string& text) {
    EXPECT_EQ(tw_vpfile_seek(file, vp, static_cast<std::int64_t>(at), SEEK_SET), TW_OK) << tw_last_error();
    EXPECT_EQ(put_text(file, vp, text), TW_OK) << tw_last_error();
    put_over(texts_[static_cast<std::size_t>(vp)], at, text);
  }
  void make(int tasks, int steps, const VpHow& how) {
    on_vpfile(tasks, "w", how, [&](tw_vpfile* file, int) { write_steps(file, 0, steps); });
  }

  // ---- Reading

  const std::string& text(std::int64_t vp) const { return texts_[static_cast<std::size_t>(vp)]; }

  void expect_stream(tw_vpfile* file, std::int64_t vp) const {
    ASSERT_EQ(stream_of(file, vp), text(vp)) << "VP " << vp;
  }
  // All local VPs one by one: each as a whole, and parts of it.
  void expect_each(tw_vpfile* file) const {
    for (std::size_t i = 0; i < locals(file) && !HasFailure(); ++i) {
      const std::int64_t vp = number(file, i);
      expect_stream(file, vp);
      for (const std::size_t at : {text(vp).size() * 2 / 3, text(vp).size() / 4, std::size_t{1}}) {
        std::string part(13, '.');
        std::size_t moved = 0;
        EXPECT_EQ(tw_vpfile_seek(file, vp, static_cast<std::int64_t>(at), SEEK_SET), TW_OK);
        EXPECT_EQ(tw_vpfile_read(file, vp, part.data(), part.size(), &moved), TW_OK) << tw_last_error();
        part.resize(moved);
        ASSERT_EQ(part, at < text(vp).size() ? text(vp).substr(at, 13) : "") << "VP " << vp << " from " << at;
      }
    }
  }
  // All at once, in pieces of other sizes than were written.
  void expect_together(tw_vpfile* file) const {
    constexpr std::size_t kLeast = 20, kRoom = 64;
    const std::size_t n = locals(file);
    std::size_t longest = 0;
    for (const std::string& one : texts_) longest = std::max(longest, one.size());
    const tw_vpfile_summary all = summary(file);
    Positions strides(static_cast<std::size_t>(all.n_dims));
    std::int64_t stride = kRoom;
    for (std::size_t i = strides.size(); i-- > 0; stride *= all.box_count[i]) strides[i] = stride;
    EXPECT_EQ(tw_vpfile_seek_all(file, 0, nullptr, SEEK_SET, nullptr), TW_OK);
    Texts got(n);
    for (std::size_t round = 0; round < longest / kLeast + 1; ++round) {
      Positions each(n), counts(n);
      for (std::size_t i = 0; i < n; ++i)
        each[i] = static_cast<std::int64_t>(kLeast + (static_cast<std::size_t>(number(file, i)) * 7 + round * 11) % 40);
      std::string memory(n * kRoom + 1, '.');
      tw_vpfile_data data = TW_VPFILE_PACKED(memory.data(), 1);
      data.n_each = each.data();
      data.vp_strides = strides.data();
      EXPECT_EQ(tw_vpfile_read_all(file, data, nullptr, counts.data()), TW_OK) << tw_last_error();
      for (std::size_t i = 0; i < n; ++i) got[i] += memory.substr(i * kRoom, static_cast<std::size_t>(counts[i]));
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], text(number(file, i))) << "VP " << number(file, i);
  }
  void expect_read(const std::vector<int>& readers = {1, 2, 3}, const VpHow& how = {}) const {
    for (const int tasks : readers) {
      SCOPED_TRACE("read by " + std::to_string(tasks) + " tasks");
      on_vpfile(tasks, "r", how, [&](tw_vpfile* file, int) {
        expect_together(file);
        expect_each(file);
      });
    }
  }

  // ---- Files

  bool there(const char* name) const { return std::filesystem::exists(path(name)); }
  // The batches that NAME.batches lists.
  std::vector<format::Batch> listed() const {
    const format::VpMeta meta = read_vp_meta(*posix_backend(), path()).value();
    if (meta.batches == 0) return {};
    const std::string file = content(kBatches);
    EXPECT_EQ(file.size(), 64 + 56 * meta.batches);
    return format::parse_batches(std::as_bytes(std::span(file)), meta).value();
  }
  // VPs that have an entry in NAME.first.
  std::vector<std::int64_t> chained() const {
    const format::VpMeta meta = read_vp_meta(*posix_backend(), path()).value();
    const std::uint64_t bytes = format::entry_bytes(meta.geometry.pointers);
    const std::string first = content(kFirst);
    std::vector<std::int64_t> vps;
    for (std::uint64_t at = format::kFirstEntry; at + bytes <= first.size(); at += bytes)
      if (!format::all_zero(std::as_bytes(std::span(first)).subspan(at, bytes)))
        vps.push_back(static_cast<std::int64_t>((at - format::kFirstEntry) / bytes));
    return vps;
  }

  struct Health {
    tw_status status = TW_OK;
    std::string findings;
    tw_health counts{};
  };
  static void take_finding(const char* text, void* user) {
    static_cast<Health*>(user)->findings += text + std::string("\n");
  }
  Health verify() const {
    Health found;
    found.counts.struct_size = sizeof found.counts;
    found.status = tw_vpfile_verify(path().c_str(), take_finding, nullptr, &found, &found.counts);
    return found;
  }
  Health repair() const {
    Health found;
    found.counts.struct_size = sizeof found.counts;
    found.status = tw_vpfile_repair(path().c_str(), 0, 0, nullptr, take_finding, nullptr, &found, &found.counts);
    return found;
  }
  void expect_sound() const {
    const Health found = verify();
    EXPECT_EQ(found.status, TW_OK) << tw_last_error() << "\n" << found.findings;
    std::int64_t bytes = 0;
    for (const std::string& one : texts_) bytes += static_cast<std::int64_t>(one.size());
    EXPECT_EQ(found.counts.logical_bytes, bytes);
    EXPECT_EQ(found.counts.damaged_logical, 0);
  }

  // Each stream is right or refused. Returns the number of refusals.
  std::size_t refused() const {
    tw_vpfile* file = nullptr;
    if (const tw_status opened = try_open(nullptr, "r", {}, &file); opened != TW_OK) {
      EXPECT_EQ(opened, TW_ERR_CORRUPT) << tw_last_error();
      return texts_.size();
    }
    std::size_t count = 0;
    for (std::size_t vp = 0; vp < texts_.size() && !HasFailure(); ++vp) {
      std::string back(texts_[vp].size() + 9, '.');
      std::size_t moved = 0;
      const tw_status status = tw_vpfile_read(file, static_cast<std::int64_t>(vp), back.data(), back.size(), &moved);
      back.resize(moved);
      if (status == TW_OK) {
        EXPECT_EQ(back, texts_[vp]) << "VP " << vp;
        continue;
      }
      EXPECT_EQ(status, TW_ERR_CORRUPT);
      EXPECT_NE(std::string(tw_last_error()).find("shared.dat"), std::string::npos) << tw_last_error();
      ++count;
    }
    close(file);
    return count;
  }

  Texts texts_;
};

}  // namespace thalweg::test
