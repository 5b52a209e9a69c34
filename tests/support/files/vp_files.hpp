// Shared by the tests of vpfile.h: a folder, teams, and one-line opens.
#pragma once

#include <array>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "support/files/shared_files.hpp"

namespace thalweg::test {

// How a test opens a vpfile.
struct VpHow {
  std::vector<std::int64_t> shape = {};
  const char* hints = nullptr;
  std::vector<std::int64_t> start = {};  // first VP of the box; empty: the library's default box
  std::vector<std::int64_t> count = {};
};

class VpFiles : public SharedFiles {
 protected:
  tw_status try_open(tw_group* group, const char* mode, const VpHow& how, tw_vpfile** file) const {
    OpenWith options;
    options.hints(how.hints);
    if (!how.count.empty()) options.box(how.start, how.count);
    return tw_vpfile_open(group, path().c_str(), flags_of(mode), options.shape(how.shape), file);
  }
  tw_vpfile* open_vp(tw_group* group, const char* mode, const VpHow& how = {}) const {
    tw_vpfile* file = nullptr;
    EXPECT_EQ(try_open(group, mode, how, &file), TW_OK) << tw_last_error();
    return file;
  }
  tw_vpfile* open_vp(const char* mode, const VpHow& how = {}) const { return open_vp(nullptr, mode, how); }
  static void close(tw_vpfile* file) { EXPECT_EQ(tw_vpfile_close(&file), TW_OK) << tw_last_error(); }

  // on_team() with an open file, which is closed after the body.
  void on_vpfile(int tasks, const char* mode, const VpHow& how,
                 const std::function<void(tw_vpfile*, int)>& body) const {
    on_team(tasks, [&](tw_group* group, int task) {
      tw_vpfile* file = open_vp(group, mode, how);
      if (file == nullptr) return;
      body(file, task);
      close(file);
    });
  }

  static tw_vpfile_summary summary(tw_vpfile* file) {
    tw_vpfile_summary all{};
    all.struct_size = sizeof all;
    EXPECT_EQ(tw_vpfile_summarize(file, &all), TW_OK) << tw_last_error();
    return all;
  }
  static std::size_t locals(tw_vpfile* file) { return static_cast<std::size_t>(summary(file).n_local); }
  static std::int64_t number(tw_vpfile* file, std::size_t local) {
    std::int64_t vp = -1;
    EXPECT_EQ(tw_vpfile_number(file, static_cast<std::int64_t>(local), &vp), TW_OK);
    return vp;
  }

  // One VP at its position: writes a text; reads a byte, -1 at the end.
  static tw_status put_text(tw_vpfile* file, std::int64_t vp, const std::string& text) {
    return tw_vpfile_write(file, vp, text.data(), text.size(), nullptr);
  }
  static tw_status get_byte(tw_vpfile* file, std::int64_t vp, int* byte) {
    unsigned char one = 0;
    std::size_t moved = 0;
    const tw_status status = tw_vpfile_read(file, vp, &one, 1, &moved);
    if (status == TW_OK) *byte = moved == 1 ? one : -1;
    return status;
  }
  // A FILE* on the stream of VP `vp`, null on failure.
  static FILE* open_stdio(tw_vpfile* file, std::int64_t vp, const char* mode) {
    FILE* stream = nullptr;
    EXPECT_EQ(tw_vpfile_fopen(file, vp, mode, &stream), TW_OK) << tw_last_error();
    return stream;
  }
  // Reads the whole stream of VP `vp`.
  static std::string stream_of(tw_vpfile* file, std::int64_t vp) {
    std::int64_t bytes = 0;
    EXPECT_EQ(tw_vpfile_size(file, vp, &bytes), TW_OK) << tw_last_error();
    std::string text(static_cast<std::size_t>(bytes), '?');
    EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_SET), TW_OK);
    EXPECT_EQ(tw_vpfile_seek(file, vp, 0, SEEK_CUR), TW_OK);
    std::size_t moved = 0;
    EXPECT_EQ(tw_vpfile_read(file, vp, text.data(), text.size(), &moved), TW_OK) << tw_last_error();
    EXPECT_EQ(moved, text.size());
    return text;
  }
  // Reads the streams of all VPs with one task.
  std::vector<std::string> streams(const VpHow& how = {}) const {
    std::vector<std::string> all;
    tw_vpfile* file = open_vp("r", how);
    if (file == nullptr) return all;
    for (std::int64_t vp = 0; vp < summary(file).n_vps; ++vp) all.push_back(stream_of(file, vp));
    close(file);
    return all;
  }

  // Creates a file with the streams `texts` by one task, collectively or one by one.
  void put_streams(const std::vector<std::string>& texts) const {
    tw_vpfile* file = open_vp("w", {.shape = {static_cast<std::int64_t>(texts.size())}});
    if (file == nullptr) return;
    std::vector<std::int64_t> each;
    std::string packed;
    for (const std::string& text : texts) {
      each.push_back(static_cast<std::int64_t>(text.size()));
      packed += text;
    }
    tw_vpfile_data data = TW_VPFILE_PACKED(packed.data(), 0);
    data.item_bytes = 1;
    data.n_each = each.data();
    EXPECT_EQ(tw_vpfile_write_all(file, data, nullptr, nullptr), TW_OK) << tw_last_error();
    close(file);
  }

  static std::vector<std::int64_t> positions(tw_vpfile* file) {
    std::vector<std::int64_t> all(locals(file));
    EXPECT_EQ(tw_vpfile_tell_all(file, all.data(), nullptr, nullptr), TW_OK) << tw_last_error();
    return all;
  }
  static std::vector<std::uint8_t> eofs(tw_vpfile* file) {
    std::vector<std::uint8_t> all(locals(file), 9);
    EXPECT_EQ(tw_vpfile_tell_all(file, nullptr, all.data(), nullptr), TW_OK);
    return all;
  }
  static std::vector<std::uint8_t> errors(tw_vpfile* file) {
    std::vector<std::uint8_t> all(locals(file), 9);
    EXPECT_EQ(tw_vpfile_tell_all(file, nullptr, nullptr, all.data()), TW_OK);
    return all;
  }
  static std::string cause(tw_vpfile* file) { return summary(file).last_cause; }
  static std::int32_t last_mode(tw_vpfile* file) { return summary(file).last_mode; }
};

using Positions = std::vector<std::int64_t>;
using Flags = std::vector<std::uint8_t>;
using Texts = std::vector<std::string>;

}  // namespace thalweg::test
