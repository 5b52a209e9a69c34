// Random programs that mix the calls of a handle with a FILE* on the same stream: both share one position.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include "support/campaign/random.hpp"

namespace thalweg::test {

// The expected bytes and position of a stream. Bytes behind a seek over the end are zeros.
struct MixedModel {
  std::string bytes;
  std::size_t position = 0;

  void write(const std::string& data) {
    if (bytes.size() < position + data.size()) bytes.resize(position + data.size());
    bytes.replace(position, data.size(), data);
    position += data.size();
  }
  std::string read(std::size_t n) {
    const std::string got = position < bytes.size() ? bytes.substr(position, n) : "";
    position += got.size();
    return got;
  }
};

// The calls of the handle. Empty: the handle is not open for it.
struct MixedCalls {
  std::function<void(const std::string& data)> write;
  std::function<std::string(std::size_t n)> read;
  std::function<void(std::size_t position)> seek;
  std::function<std::int64_t()> tell;
  std::function<std::int64_t()> size;
};

class MixedProgram {
 public:
  MixedProgram(std::uint64_t seed, const MixedCalls& calls, FILE* file, MixedModel& model)
      : random_(seed), calls_(calls), file_(file), model_(model) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
  }

 private:
  void step() {
    const std::uint64_t which = below(random_, 6);
    if (which == 0) return ask();
    if (which == 1) return seek();
    const bool writes = calls_.write && (!calls_.read || below(random_, 2) == 0);
    const bool by_file = which < 4;
    // stdio wants a seek between reading and writing, and where it met the end.
    if (by_file && (writes != last_wrote_ || std::feof(file_) != 0)) {
      EXPECT_EQ(std::fseek(file_, 0, SEEK_CUR), 0);
    }
    if (by_file) last_wrote_ = writes;
    writes ? write(by_file) : read(by_file);
  }
  std::size_t few() { return below(random_, 10) == 0 ? below(random_, 20'000) : 1 + below(random_, 50); }
  void write(bool by_file) {
    const std::string data(few(), static_cast<char>('a' + below(random_, 26)));
    model_.write(data);
    if (!by_file) return calls_.write(data);
    EXPECT_EQ(std::fwrite(data.data(), 1, data.size(), file_), data.size());
  }
  void read(bool by_file) {
    const std::size_t n = few();
    const std::string wanted = model_.read(n);
    if (!by_file) {
      EXPECT_EQ(calls_.read(n), wanted);
      return;
    }
    std::string got(n, '?');
    got.resize(std::fread(got.data(), 1, n, file_));
    EXPECT_EQ(got, wanted);
    if (got.empty() || below(random_, 4) > 0 || std::feof(file_) != 0) return;
    EXPECT_NE(std::ungetc(static_cast<unsigned char>(got.back()), file_), EOF);
    --model_.position;
  }
  void seek() {
    model_.position = below(random_, model_.bytes.size() + 50);
    if (below(random_, 2) == 0) {
      EXPECT_EQ(std::fseek(file_, static_cast<long>(model_.position), SEEK_SET), 0);
      return;
    }
    calls_.seek(model_.position);
    EXPECT_EQ(std::feof(file_), 0);
  }
  void ask() {
    if (below(random_, 2) == 0) {
      EXPECT_EQ(std::ftell(file_), static_cast<long>(model_.position));
    }
    if (below(random_, 2) == 0) {
      EXPECT_EQ(calls_.tell(), static_cast<std::int64_t>(model_.position));
    }
    EXPECT_EQ(calls_.size(), static_cast<std::int64_t>(model_.bytes.size()));
  }

  Random random_;
  const MixedCalls& calls_;
  FILE* file_;
  MixedModel& model_;
  bool last_wrote_ = false;
};

}  // namespace thalweg::test
