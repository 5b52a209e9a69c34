// (i) Traces of two ranks of two threads: each thread appends small records to a stream of its own, in a multifile of all
// threads of all ranks, or in a file of stdio for each thread. "activate" is the time until every thread has its stream,
// "write" that of all records and the close.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <thalweg/thalweg.hpp>

#include "collective/parts.hpp"
#include "collective/team.hpp"
#include "support/pattern.hpp"

namespace bench {

namespace {

constexpr std::size_t kRecordBytes = 32;
constexpr std::size_t kStdioBytes = std::size_t{256} << 10;   // buffer, as large as that of a logical file
constexpr std::size_t kRecentBytes = std::size_t{256} << 10;  // records come from memory in cache
constexpr const char* kOurs = "ours";
constexpr const char* kOursPlain = "ours, no checksums";
constexpr const char* kStdio = "fwrite to a file per thread";

class Stream {
 public:
  virtual ~Stream() = default;
  virtual void append(const std::byte* record) = 0;
  virtual bool next(std::byte* record) = 0;
  virtual void close() = 0;
};

class OurStream final : public Stream {
 public:
  OurStream(tw_group* group, const std::string& path, bool writes, const char* checksum) {
    thalweg::Options options;
    if (writes) options.hint("checksum", checksum);
    must_tw(tw_multifile_open(group, path.c_str(), writes ? TW_CREATE | TW_TRUNCATE : TW_READ, options.get(), &file_),
            "tw_multifile_open");
  }
  void append(const std::byte* record) override {
    must_tw(tw_multifile_write(file_, record, kRecordBytes), "tw_multifile_write");
  }
  bool next(std::byte* record) override {
    std::size_t got = 0;
    must_tw(tw_multifile_read(file_, record, kRecordBytes, &got), "tw_multifile_read");
    return got == kRecordBytes;
  }
  void close() override { must_tw(tw_multifile_close(&file_), "tw_multifile_close"); }

 private:
  tw_multifile* file_ = nullptr;
};

class StdioStream final : public Stream {
 public:
  StdioStream(const std::string& path, bool writes)
      : path_(path), buffer_(kStdioBytes), file_(std::fopen(path.c_str(), writes ? "wb" : "rb")) {
    if (file_ == nullptr) must(-1, "cannot open '" + path + "'");
    std::setvbuf(file_, buffer_.data(), _IOFBF, buffer_.size());
  }
  void append(const std::byte* record) override {
    if (std::fwrite(record, kRecordBytes, 1, file_) != 1) must(-1, "cannot write '" + path_ + "'");
  }
  bool next(std::byte* record) override { return std::fread(record, kRecordBytes, 1, file_) == 1; }
  void close() override {
    if (std::fclose(file_) != 0) must(-1, "cannot close '" + path_ + "'");
  }

 private:
  std::string path_;
  std::vector<char> buffer_;
  std::FILE* file_;
};

class Trace {
 public:
  Trace(Bench& bench, std::int64_t records) : bench_(bench), team_(bench.group), records_(records) {
    for (int t = 0; t < kThreads; ++t)
      patterns_.emplace_back(static_cast<std::uint64_t>(bench.ranks.rank() * kThreads + t) + 1, kRecordBytes,
                             kRecentBytes);
  }

  void run() {
    const double bytes = static_cast<double>(records_) * kRecordBytes * kThreads * bench_.ranks.size();
    Together together(bench_.ranks, bench_.named(fmt::format("traces, records of {} bytes", kRecordBytes)),
                      {bytes, "byte"}, {"activate", "write"});
    for (const char* variant : {kOurs, kOursPlain, kStdio})
      together.add(variant, [this, variant](int) { return once(variant); });
    together.run(bench_.plan(together.variants()));
    bench_.say(together);
    for (const char* phase : {"activate", "write"}) bench_.ask(together, kOurs, kStdio, phase, 0);
  }

 private:
  using Streams = std::array<std::unique_ptr<Stream>, kThreads>;

  void open(Streams& streams, const std::string& variant, const std::string& path, bool writes) const {
    on_both([&](std::size_t t) {
      if (variant == kStdio)
        streams.at(t) = std::make_unique<StdioStream>(fmt::format("{}.{}.{}", path, bench_.ranks.rank(), t), writes);
      else
        streams.at(t) =
            std::make_unique<OurStream>(team_.groups().at(t), path, writes, variant == kOurs ? "crc32c" : "none");
    });
  }

  std::vector<double> once(const std::string& variant) {
    const std::string path = bench_.storage.fresh_path(0);
    Streams streams;
    const double activate = bench_.ranks.timed([&] { open(streams, variant, path, true); });
    const double write = bench_.ranks.timed([&] {
      on_both([&](std::size_t t) {
        for (std::int64_t i = 0; i < records_; ++i)
          streams.at(t)->append(patterns_[t].block(static_cast<std::uint64_t>(i)));
        streams.at(t)->close();
      });
    });
    check(variant, path);
    bench_.storage.drop(path);
    return {activate, write};
  }

  void check(const std::string& variant, const std::string& path) const {
    Streams streams;
    bench_.ranks.meet();
    open(streams, variant, path, false);
    on_both([&](std::size_t t) {
      std::array<std::byte, kRecordBytes> record{};
      for (std::int64_t i = 0; i < records_; ++i)
        if (!streams.at(t)->next(record.data()) || !patterns_[t].equals(static_cast<std::uint64_t>(i), record.data()))
          give_up(bench_.named(fmt::format("traces, {}: record {} of thread {} is wrong", variant, i, t)));
      streams.at(t)->close();
    });
  }

  Bench& bench_;
  Team team_;
  std::int64_t records_;
  std::vector<Pattern> patterns_;
};

}  // namespace

void bench_trace(Bench& bench) {
  if (bench.ranks.size() != 2) return;
  Trace(bench, pick<std::int64_t>(bench.effort, 1000, 500'000, 2'000'000)).run();
}

}  // namespace bench
