// Writes vpfiles through the C interface and records the expected content of each stream, for files that other programs
// read: golden files and the independent reader. A failure ends the program.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/files/open_options.hpp"
#include "thalweg/vpfile.h"

namespace thalweg::test {

inline void vp_must(tw_status status) {
  if (status == TW_OK) return;
  std::fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  std::exit(1);
}

// Value of byte `at` of a VP; differs between VPs, positions and salts.
inline char vp_byte(std::int64_t vp, std::size_t at, unsigned salt) {
  const std::uint64_t mixed = (static_cast<std::uint64_t>(vp) * 31 + at * 7 + salt * 101 + 1) * 0x9E3779B97F4A7C15U;
  return static_cast<char>('!' + (mixed >> 40) % 94);
}

// One task in one session. Calls for all VPs are collective.
class VpTask {
 public:
  VpTask(tw_vpfile* file, std::vector<std::string>& streams, unsigned salt)
      : file_(file), streams_(streams), salt_(salt) {
    tw_vpfile_summary summary{};
    summary.struct_size = sizeof summary;
    vp_must(tw_vpfile_summarize(file, &summary));
    for (std::int64_t local = 0; local < summary.n_local; ++local) {
      std::int64_t vp = 0;
      vp_must(tw_vpfile_number(file, local, &vp));
      vps_.push_back(vp);
    }
    positions_.resize(vps_.size());
  }

  const std::vector<std::int64_t>& vps() const { return vps_; }
  const std::string& stream(std::size_t local) const { return streams_[static_cast<std::size_t>(vps_[local])]; }

  void write_all(std::size_t bytes) {
    std::vector<std::size_t> each(vps_.size(), bytes);
    const std::string data = made(each);
    vp_must(tw_vpfile_write_all(file_, TW_VPFILE_PACKED(data.data(), bytes), nullptr, nullptr));
  }
  // Local VP i writes each[i] bytes.
  void write_each(const std::vector<std::size_t>& each) {
    const std::string data = made(each);
    const std::vector<std::int64_t> items(each.begin(), each.end());
    tw_vpfile_data what{const_cast<char*>(data.data()), 1, 0, items.data(), 0, nullptr};
    vp_must(tw_vpfile_write_all(file_, what, nullptr, nullptr));
  }
  void seek_all(std::size_t to) {
    vp_must(tw_vpfile_seek_all(file_, static_cast<std::int64_t>(to), nullptr, SEEK_SET, nullptr));
    positions_.assign(vps_.size(), to);
  }
  void flush_all() { vp_must(tw_vpfile_flush_all(file_)); }

  void write_one(std::size_t local, std::size_t bytes) {
    const std::string data = made_for(local, bytes);
    vp_must(tw_vpfile_write(file_, vps_[local], data.data(), bytes, nullptr));
  }
  void seek_one(std::size_t local, std::size_t to) {
    vp_must(tw_vpfile_seek(file_, vps_[local], static_cast<std::int64_t>(to), SEEK_SET));
    positions_[local] = to;
  }

 private:
  std::string made_for(std::size_t local, std::size_t bytes) {
    std::string data;
    if (bytes == 0) return data;
    std::string& stream = streams_[static_cast<std::size_t>(vps_[local])];
    std::size_t& at = positions_[local];
    for (std::size_t i = 0; i < bytes; ++i) data += vp_byte(vps_[local], at + i, salt_);
    if (stream.size() < at + bytes) stream.resize(at + bytes);
    stream.replace(at, bytes, data);
    at += bytes;
    return data;
  }
  std::string made(const std::vector<std::size_t>& each) {
    std::string data;
    for (std::size_t local = 0; local < vps_.size(); ++local) data += made_for(local, each[local]);
    return data;
  }

  tw_vpfile* file_;
  std::vector<std::string>& streams_;
  unsigned salt_;
  std::vector<std::int64_t> vps_;
  std::vector<std::size_t> positions_;
};

class VpStreams {
 public:
  VpStreams(std::string path, std::vector<std::int64_t> shape) : path_(std::move(path)), shape_(std::move(shape)) {
    std::int64_t n = 1;
    for (const std::int64_t extent : shape_) n *= extent;
    streams_.resize(static_cast<std::size_t>(n));
  }

  // Opens the file with `tasks` threads of a team, runs `body` on each, and closes it.
  void session(const char* mode, const std::string& hints, int tasks, const std::function<void(VpTask&)>& body) {
    ++sessions_;
    tw_team* team = nullptr;
    vp_must(tw_team_create(tasks, &team));
    std::vector<std::thread> threads;
    for (int task = 0; task < tasks; ++task)
      threads.emplace_back([&, task] { take_part(team, task, mode, hints, body); });
    for (std::thread& thread : threads) thread.join();
    tw_team_free(&team);
  }

  // Writes the shape, then size and bytes of each stream.
  void write_expected(const std::string& path) const {
    std::ofstream out(path, std::ios::binary);
    for (std::size_t i = 0; i < shape_.size(); ++i) out << (i == 0 ? "" : ",") << shape_[i];
    out << '\n';
    for (const std::string& stream : streams_) out << stream.size() << '\n' << stream;
  }

 private:
  void take_part(tw_team* team, int task, const char* mode, const std::string& hints,
                 const std::function<void(VpTask&)>& body) {
    tw_group* group = nullptr;
    vp_must(tw_group_team(team, task, &group));
    OpenWith options;
    options.hints(hints.c_str());
    tw_vpfile* file = nullptr;
    vp_must(tw_vpfile_open(group, path_.c_str(), flags_of(mode), options.shape(shape_), &file));
    VpTask mine(file, streams_, sessions_);
    body(mine);
    vp_must(tw_vpfile_close(&file));
    tw_group_free(&group);
  }

  std::string path_;
  std::vector<std::int64_t> shape_;
  std::vector<std::string> streams_;
  unsigned sessions_ = 0;
};

}  // namespace thalweg::test
