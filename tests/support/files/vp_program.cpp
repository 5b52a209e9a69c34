#include "support/files/vp_program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <vector>

#include "group/agree.hpp"
#include "support/campaign/random.hpp"
#include "support/files/vp_open.hpp"
#include "vpfile/check/check_vpfile.hpp"
#include "vpfile/vpfile.hpp"

namespace thalweg::test {
namespace {

const char* name_of(VpMode mode) { return mode == VpMode::nb ? "NB" : mode == VpMode::cb ? "CB" : "IB"; }

std::mutex seen_mutex;
std::set<std::string>& seen() {
  static std::set<std::string> modes;
  return modes;
}

// One VP in one operation.
struct Step {
  bool active = true;
  std::uint64_t bytes = 0;
  std::int64_t offset = 0;
  int whence = SEEK_SET;
};

// All VPs in one operation, drawn identically on all tasks.
struct Draw {
  std::vector<Step> steps;
  bool masked = false;
  bool ragged = false;
  bool strided = false;
};

// The streams as stdio files. Between reading and writing stdio requires a seek.
class StdioStreams {
 public:
  StdioStreams(std::string folder, std::uint64_t n) : folder_(std::move(folder)), files_(n, nullptr), wrote_(n, 0) {
    std::filesystem::create_directory(folder_);
  }
  ~StdioStreams() {
    close();
    std::filesystem::remove_all(folder_);
  }
  StdioStreams(const StdioStreams&) = delete;
  StdioStreams& operator=(const StdioStreams&) = delete;

  void open(const char* mode) {
    close();
    for (std::size_t vp = 0; vp < files_.size(); ++vp) {
      files_[vp] = std::fopen((folder_ + "/" + std::to_string(vp)).c_str(), mode);
      ASSERT_NE(files_[vp], nullptr);
      wrote_[vp] = 0;
    }
  }
  void close() {
    for (std::FILE*& file : files_) {
      if (file != nullptr) std::fclose(file);
      file = nullptr;
    }
  }
  std::FILE* reading(std::uint64_t vp) {
    if (wrote_[vp] == 1) std::fseek(files_[vp], 0, SEEK_CUR);
    wrote_[vp] = 2;
    return files_[vp];
  }
  std::FILE* writing(std::uint64_t vp) {
    if (wrote_[vp] == 2) std::fseek(files_[vp], 0, SEEK_CUR);
    wrote_[vp] = 1;
    return files_[vp];
  }
  std::FILE* any(std::uint64_t vp) { return files_[vp]; }
  std::string content(std::uint64_t vp) const {
    std::ifstream in(folder_ + "/" + std::to_string(vp), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::uint64_t size(std::uint64_t vp) {
    std::fflush(files_[vp]);
    return std::filesystem::file_size(folder_ + "/" + std::to_string(vp));
  }

 private:
  std::string folder_;
  std::vector<std::FILE*> files_;
  std::vector<char> wrote_;  // 1: the last operation was a write, 2: a read
};

class Player {
 public:
  Player(Group& group, VpProgram program)
      : group_(group), program_(std::move(program)), random_(program_.seed), tasks_(group.size()) {}

  Op<Status> play() {
    draw_file();
    streams_ = std::make_unique<StdioStreams>(program_.folder + "-task" + std::to_string(group_.rank()), n_);
    const char* first = chance(3) ? "w" : "w+";
    Status status = co_await open(first);
    if (!status.ok()) co_return status;
    const std::uint64_t sessions = 1 + below(random_, 4);
    for (std::uint64_t session = 0; session < sessions; ++session) {
      const std::uint64_t n_steps = 3 + below(random_, 14);
      for (std::uint64_t i = 0; i < n_steps && !testing::Test::HasFailure(); ++i) {
        status = co_await step();
        if (!status.ok()) co_return status;
      }
      status = co_await file_->close();
      if (!status.ok()) co_return status;
      status = co_await check_health();
      if (!status.ok()) co_return status;
      static constexpr const char* kModes[] = {"r", "r+", "a", "a+"};
      status = co_await open(session + 1 == sessions ? "r" : kModes[below(random_, 4)]);
      if (!status.ok()) co_return status;
    }
    status = co_await read_all_to_the_end();
    if (!status.ok()) co_return status;
    co_return co_await file_->close();
  }

 private:
  bool chance(std::uint64_t one_in) { return below(random_, one_in) == 0; }

  void draw_file() {
    const std::uint64_t dimensions = 1 + below(random_, 3);
    for (std::uint64_t i = 0; i < dimensions; ++i) shape_.push_back(1 + below(random_, 5));
    n_ = 1;
    for (const std::uint64_t extent : shape_) n_ *= extent;
    hints_.block_bytes = std::uint64_t{16} << below(random_, 3);
    hints_.superblock_bytes = 4096;
    hints_.directory_pointers = 1 + below(random_, 3);
    hints_.least_batch = chance(3) ? 32 : 1 + below(random_, 3);
    hints_.cache_bytes = chance(2) ? 0 : std::uint64_t{1} << 20;
    hints_.round_bytes = chance(2) ? 0 : 8 + below(random_, 100);
    wild_ = below(random_, 6);  // probability, in sixths, of an operation that differs between VPs
    size_ = 1 + below(random_, chance(3) ? 500 : 40);
  }

  // Splits one dimension among the tasks; a single task has the whole shape.
  VpBox draw_box() {
    const std::uint64_t d = below(random_, shape_.size());
    const auto rank = static_cast<std::uint64_t>(group_.rank());
    const auto tasks = static_cast<std::uint64_t>(tasks_);
    VpBox box{VpShape(shape_.size(), 0), shape_};
    box.start[d] = shape_[d] * rank / tasks;
    box.count[d] = shape_[d] * (rank + 1) / tasks - box.start[d];
    return box;
  }

  Op<Status> open(const char* mode) {
    VpOpen how;
    how.path = program_.path;
    open_as(how, mode);
    if (mode[0] == 'w' || chance(2)) how.shape = shape_;
    if (chance(2)) how.box = draw_box();
    if (how.shape.empty()) how.box.reset();
    how.hints = hints_;
    auto opened = co_await VpFile::open(group_, program_.backend, std::move(how));
    if (!opened.has_value()) co_return opened.error();
    file_ = std::move(opened).value();
    streams_->open(mode);
    for (std::uint64_t vp = 0; vp < n_; ++vp) std::rewind(streams_->any(vp));  // "a" may start at the end
    reads_ = mode[0] == 'r' || std::strchr(mode, '+') != nullptr;
    writes_ = mode[0] != 'r' || std::strchr(mode, '+') != nullptr;
    co_return Status{};
  }

  Draw draw() {
    Draw draw;
    const bool wild = wild_ != 0 && below(random_, 6) < wild_;
    draw.masked = wild && chance(2);
    draw.ragged = wild && chance(2);
    draw.strided = chance(3);
    const std::uint64_t bytes = chance(3) ? 1 + below(random_, 2 * size_) : size_;
    for (std::uint64_t vp = 0; vp < n_; ++vp) {
      Step step;
      step.active = !draw.masked || chance(2);
      step.bytes = draw.ragged ? below(random_, 2 * size_) : bytes;
      draw.steps.push_back(step);
    }
    return draw;
  }

  Op<Status> step() {
    ++n_steps_;
    switch (below(random_, 10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        if (writes_) co_return co_await move(Direction::write);
        co_return co_await move(Direction::read);
      case 4:
      case 5:
        if (reads_) co_return co_await move(Direction::read);
        co_return co_await move(Direction::write);
      case 6:
      case 7:
        seek();
        co_return Status{};
      case 8:
        if (wild_ != 0) {
          // Else VPs that move alone may be refused (docs/reference/visibility.md).
          Status status;
          if (group_.place().nodes > 1) status = co_await file_->flush({}, Call::tw_vpfile_sync_all);
          if (!status.ok()) co_return status;
          alone();
        }
        co_return Status{};
      default:
        if (chance(2)) co_return co_await flush();
        rewind();
        co_return Status{};
    }
  }

  std::string side(const std::string& path, const char* which) const { return path + which; }

  // Checks flushed data of the open file in a copy that is repaired.
  Op<Status> flush() {
    Status status = co_await file_->flush();
    if (!status.ok() || !writes_) co_return status;
    // Nodes may differ in whether they see the name yet.
    TW_CO_ASSIGN_OR_RETURN(const auto seen_by_all,
                           co_await agree_on(group_, status, has_meta() ? 1 : 0, Reduction::min));
    if (seen_by_all == 0) co_return status;
    const std::string copy = program_.path + ".copy";
    if (group_.rank() == 0) {
      remove_files(copy);
      for (const char* which : {"", ".meta"}) copy_file(side(program_.path, which), side(copy, which));
      repair(copy, chance_of_step(3));
    }
    status = co_await group_.barrier();
    if (!status.ok()) co_return status;
    VpOpen how;
    how.path = copy;
    auto opened = co_await VpFile::open(group_, program_.backend, std::move(how));
    if (!opened.has_value()) co_return opened.error();
    expect_whole(*opened.value());
    co_return co_await opened.value()->close();
  }

  // Copies what all nodes have flushed, also where this one has older content in its caches.
  void copy_file(const std::string& from, const std::string& to) const {
    auto in = program_.backend->open(from, OpenMode::read);
    auto out = program_.backend->open(to, OpenMode::create);
    if (!in.has_value() || !out.has_value()) return;
    EXPECT_TRUE(in.value()->forget_cached().ok());
    std::vector<std::byte> bytes(in.value()->size().value());
    EXPECT_TRUE(in.value()->read(0, bytes).has_value());
    EXPECT_TRUE(out.value()->write(0, bytes).ok());
    EXPECT_TRUE(out.value()->close().ok());
  }

  bool has_meta() const { return std::filesystem::exists(side(program_.path, ".meta")); }
  bool chance_of_step(std::uint64_t one_in) const { return n_steps_ % one_in == 0; }
  void remove_files(const std::string& path) const {
    for (const char* which : {"", ".meta", ".first", ".dir"}) std::filesystem::remove(side(path, which));
  }

  // `loses`: NAME.meta is lost, too, where superblocks repeat its content.
  void repair(const std::string& path, bool loses) {
    CheckResult health;
    const bool has_ib = file_->geometry().has_ib();
    if (loses && has_ib) std::filesystem::remove(side(path, ".meta"));
    const Status repaired = repair_vpfile(*program_.backend, path, shape_, {}, health, true);
    EXPECT_TRUE(repaired.ok()) << repaired.message() << ": " << where();
    EXPECT_EQ(health.damaged_logical, 0u);
  }

  // Verifies the closed file, then again without its directory.
  Op<Status> check_health() {
    if (group_.rank() == 0 && has_meta()) {
      CheckResult health;
      // GlusterFS shows a task that opens alone what another node has replaced within the last second.
      const auto storage = program_.backend->describe(program_.path);
      if (storage.has_value() && storage.value().kind == "fuse.glusterfs") ::usleep(1'100'000);
      std::string findings;
      Watch watch;
      watch.finding = [&](const std::string& finding) { findings += "\n" + finding; };
      const Status whole = verify_vpfile(*program_.backend, program_.path, watch, health);
      EXPECT_TRUE(whole.ok()) << whole.message() << ": " << where() << findings;
      if (file_->geometry().has_ib() && chance_of_step(2)) {
        std::filesystem::remove(side(program_.path, chance_of_step(4) ? ".dir" : ".first"));
        EXPECT_EQ(verify_vpfile(*program_.backend, program_.path, {}, health).code(), Code::corrupt_file);
        repair(program_.path, false);
      }
    }
    co_return co_await group_.barrier();
  }

  // Compares every byte of every local VP.
  void expect_whole(VpFile& file) {
    for (std::uint64_t local = 0; local < file.vps().count(); ++local) {
      const std::uint64_t vp = file.vps().number(local);
      std::fflush(streams_->any(vp));
      const std::string expected = streams_->content(vp);
      std::string got(expected.size() + 1, ' ');
      const auto read = file.stream(local).read(std::as_writable_bytes(std::span(got)));
      ASSERT_TRUE(read.has_value()) << read.error().message() << ": " << where() << ", vp " << vp;
      got.resize(read.value());
      ASSERT_EQ(got == expected, true) << where() << ", vp " << vp << ": " << got.size() << " bytes, expected "
                                       << expected.size();
    }
  }

  static std::byte byte_of(std::uint64_t step, std::uint64_t vp, std::uint64_t i) {
    return static_cast<std::byte>(1 + (step * 37 + vp * 11 + i * 3) % 251);
  }

  // Memory of the local VPs for `draw`: packed, or padded to the largest item.
  struct Memory {
    std::vector<std::byte> bytes;
    std::vector<std::int64_t> strides;
    std::vector<std::uint64_t> each;
    std::vector<std::uint8_t> mask;
    std::vector<std::uint64_t> moved;
    std::uint64_t item = 1;
    std::int64_t item_stride = 1;
    std::byte* of(std::uint64_t base, std::uint64_t i) {
      return bytes.data() + base + i / item * static_cast<std::uint64_t>(item_stride) + i % item;
    }
  };

  VpTransfer transfer_of(const Draw& draw, Direction direction, Memory& memory, std::vector<std::uint64_t>& bases) {
    const LocalVps& vps = file_->vps();
    VpTransfer what;
    what.direction = direction;
    std::uint64_t most = 1;
    for (const Step& step : draw.steps) most = std::max(most, step.bytes);
    memory.moved.resize(vps.count() + 1);
    std::uint64_t packed = 0;
    if (draw.strided) {
      memory.item = 1 + below(random_, 7);
      memory.item_stride = static_cast<std::int64_t>(memory.item + below(random_, 3));
    }
    const std::uint64_t room = (most + memory.item) / memory.item * static_cast<std::uint64_t>(memory.item_stride) + 3;
    if (draw.strided || draw.masked) {
      memory.strides.resize(shape_.size());
      std::int64_t stride = static_cast<std::int64_t>(room);
      for (std::size_t i = shape_.size(); i-- > 0;) {
        memory.strides[i] = stride;
        stride *= static_cast<std::int64_t>(vps.box().count[i]);
      }
    }
    for (std::uint64_t local = 0; local < vps.count(); ++local) {
      const Step& step = draw.steps[vps.number(local)];
      memory.each.push_back(step.bytes);
      memory.mask.push_back(step.active ? 1 : 0);
      bases.push_back(memory.strides.empty() ? packed : local * room);
      packed += step.bytes;
    }
    memory.bytes.assign(std::max<std::uint64_t>(packed, vps.count() * room) + 8, std::byte{0xEE});
    what.base = memory.bytes.data();
    what.item_bytes = memory.item;
    what.item_stride = memory.item_stride;
    what.vp_strides = memory.strides;
    what.bytes = draw.steps.empty() ? 0 : draw.steps[0].bytes;
    if (draw.ragged || n_steps_ % 2 == 0) what.each = memory.each.data();
    if (draw.masked || n_steps_ % 3 == 0) what.mask = memory.mask.data();
    what.moved = memory.moved.data();
    return what;
  }

  Op<Status> move(Direction direction) {
    const Draw draw = this->draw();
    Memory memory;
    std::vector<std::uint64_t> bases;
    Random before = random_;
    VpTransfer what = transfer_of(draw, direction, memory, bases);
    random_ = before;  // tasks draw different numbers of strides, but continue from a common state
    const LocalVps& vps = file_->vps();
    if (direction == Direction::write) {
      for (std::uint64_t local = 0; local < vps.count(); ++local)
        for (std::uint64_t i = 0; i < memory.each[local]; ++i)
          *memory.of(bases[local], i) = byte_of(n_steps_, vps.number(local), i);
    }
    const Status status = co_await file_->transfer(what);
    if (!status.ok()) co_return status;
    {
      const std::lock_guard lock(seen_mutex);
      seen().insert(std::string(direction == Direction::write ? "write " : "read ") +
                    name_of(file_->last_choice().mode));
    }
    if (direction == Direction::write)
      expect_written(draw, memory);
    else
      expect_read(draw, memory, bases);
    expect_positions("after a transfer");
    co_return Status{};
  }

  void expect_written(const Draw& draw, const Memory& memory) {
    std::vector<std::byte> bytes;
    for (std::uint64_t vp = 0; vp < n_; ++vp) {
      const Step& step = draw.steps[vp];
      if (!step.active) continue;
      bytes.clear();
      for (std::uint64_t i = 0; i < step.bytes; ++i) bytes.push_back(byte_of(n_steps_, vp, i));
      if (bytes.empty()) continue;
      ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), streams_->writing(vp)), bytes.size());
    }
    expect_moved(draw, memory);
  }

  void expect_moved(const Draw& draw, const Memory& memory) {
    const LocalVps& vps = file_->vps();
    for (std::uint64_t local = 0; local < vps.count(); ++local) {
      const Step& step = draw.steps[vps.number(local)];
      EXPECT_EQ(memory.moved[local], step.active ? step.bytes : 0) << where() << ", vp " << vps.number(local);
    }
  }

  void expect_read(const Draw& draw, Memory& memory, const std::vector<std::uint64_t>& bases) {
    const LocalVps& vps = file_->vps();
    std::vector<std::byte> bytes;
    for (std::uint64_t vp = 0; vp < n_; ++vp) {
      const Step& step = draw.steps[vp];
      bytes.assign(step.bytes + 1, std::byte{0});
      const bool acts = step.active && step.bytes > 0;
      const std::size_t got = acts ? std::fread(bytes.data(), 1, step.bytes, streams_->reading(vp)) : 0;
      const auto local = vps.local(vp);
      if (!local.has_value()) continue;
      ASSERT_EQ(memory.moved[*local], got) << where() << ", vp " << vp;
      for (std::uint64_t i = 0; i < got; ++i)
        ASSERT_EQ(*memory.of(bases[*local], i), bytes[i]) << where() << ", vp " << vp << ", byte " << i;
      if (!acts) continue;
      EXPECT_EQ(file_->stream(*local).at_eof(), std::feof(streams_->any(vp)) != 0) << where() << ", vp " << vp;
    }
  }

  void expect_positions(const char* when) {
    const LocalVps& vps = file_->vps();
    for (std::uint64_t local = 0; local < vps.count(); ++local)
      ASSERT_EQ(file_->stream(local).position(),
                static_cast<std::uint64_t>(std::ftell(streams_->any(vps.number(local)))))
          << when << ": " << where() << ", vp " << vps.number(local);
  }

  void seek() {
    const bool each = wild_ != 0 && chance(2);
    const bool masked = wild_ != 0 && chance(3);
    static constexpr int kWhence[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    const int whence = kWhence[below(random_, 3)];
    const std::int64_t common = chance(2) ? static_cast<std::int64_t>(below(random_, 4) * size_)
                                          : static_cast<std::int64_t>(below(random_, 5 * size_));
    const LocalVps& vps = file_->vps();
    std::vector<std::int64_t> offsets(vps.count());
    std::vector<std::uint8_t> mask(vps.count());
    for (std::uint64_t vp = 0; vp < n_; ++vp) {
      std::int64_t offset = each ? static_cast<std::int64_t>(below(random_, 5 * size_)) : common;
      if (each && whence == SEEK_END) offset = -static_cast<std::int64_t>(below(random_, streams_->size(vp) + 1));
      if (!each && whence != SEEK_SET) offset = whence == SEEK_END && chance(4) ? common : 0;
      if (!each && whence == SEEK_END) offset = 0;
      const bool active = !masked || chance(2);
      if (active) std::fseek(streams_->any(vp), offset, whence);
      if (const auto local = vps.local(vp); local.has_value()) {
        offsets[*local] = offset;
        mask[*local] = active ? 1 : 0;
      }
    }
    const std::int64_t offset = whence == SEEK_SET ? common : 0;
    const Status status = file_->seek(each ? offsets.data() : nullptr, offset, whence, masked ? mask.data() : nullptr);
    EXPECT_TRUE(status.ok()) << status.message();
    expect_positions("after a seek");
  }

  void rewind() {
    for (std::uint64_t vp = 0; vp < n_; ++vp) std::rewind(streams_->any(vp));
    EXPECT_TRUE(file_->seek(nullptr, 0, SEEK_SET, nullptr).ok());
  }

  // Independent operations of some VPs.
  void alone() {
    const LocalVps& vps = file_->vps();
    for (std::uint64_t vp = 0; vp < n_; ++vp) {
      if (!chance(2)) continue;
      const std::uint64_t bytes = 1 + below(random_, 2 * size_);
      const std::uint64_t kind = below(random_, 4);
      const auto local = vps.local(vp);
      if (kind == 0 && writes_)
        write_alone(vp, local, bytes);
      else if (kind == 1 && reads_)
        push_back_alone(vp, local);
      else if (kind == 2)
        seek_alone(vp, local, static_cast<std::int64_t>(bytes));
      else if (reads_)
        read_alone(vp, local, bytes);
    }
    expect_positions("after elemental calls");
  }

  void write_alone(std::uint64_t vp, std::optional<std::uint64_t> local, std::uint64_t n) {
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < n; ++i) bytes.push_back(byte_of(n_steps_, vp, i));
    ASSERT_EQ(std::fwrite(bytes.data(), 1, n, streams_->writing(vp)), n);
    if (!local.has_value()) return;
    const auto wrote = file_->stream(*local).write(bytes);
    ASSERT_TRUE(wrote.has_value()) << wrote.error().message();
    EXPECT_EQ(wrote.value(), n);
  }

  void read_alone(std::uint64_t vp, std::optional<std::uint64_t> local, std::uint64_t n) {
    std::vector<std::byte> expected(n);
    std::vector<std::byte> bytes(n);
    const std::size_t got = std::fread(expected.data(), 1, n, streams_->reading(vp));
    if (!local.has_value()) return;
    const auto read = file_->stream(*local).read(bytes);
    ASSERT_TRUE(read.has_value()) << read.error().message();
    ASSERT_EQ(read.value(), got) << where() << ", vp " << vp;
    for (std::size_t i = 0; i < got; ++i)
      ASSERT_EQ(bytes[i], expected[i]) << where() << ", vp " << vp << ", byte " << i;
    EXPECT_EQ(file_->stream(*local).at_eof(), std::feof(streams_->any(vp)) != 0);
  }

  void seek_alone(std::uint64_t vp, std::optional<std::uint64_t> local, std::int64_t offset) {
    std::fseek(streams_->any(vp), offset, SEEK_SET);
    if (!local.has_value()) return;
    EXPECT_TRUE(file_->stream(*local).seek(offset, SEEK_SET).ok());
  }

  void push_back_alone(std::uint64_t vp, std::optional<std::uint64_t> local) {
    std::FILE* stream = streams_->reading(vp);
    if (std::ftell(stream) == 0) return;
    if (std::ungetc('u', stream) == EOF) return;
    if (local.has_value()) {
      EXPECT_TRUE(file_->stream(*local).push_back(std::byte{'u'}).ok());
    }
    read_alone(vp, local, 1 + below(random_, 9));
  }

  Op<Status> read_all_to_the_end() {
    rewind();
    for (int i = 0; i < 3; ++i) {
      const Status status = co_await move(Direction::read);
      if (!status.ok()) co_return status;
    }
    const LocalVps& vps = file_->vps();
    for (std::uint64_t local = 0; local < vps.count(); ++local) {
      const std::uint64_t vp = vps.number(local);
      const auto size = file_->stream(local).size();
      EXPECT_TRUE(size.has_value());
      if (!size.has_value()) co_return size.error();
      EXPECT_EQ(size.value(), streams_->size(vp)) << where() << ", vp " << vp;
      std::rewind(streams_->any(vp));
      EXPECT_TRUE(file_->stream(local).seek(0, SEEK_SET).ok());
      read_alone(vp, local, size.value() + 5);
    }
    co_return Status{};
  }

  std::string where() const {
    return "seed " + std::to_string(program_.seed) + ", step " + std::to_string(n_steps_) + ", mode " +
           name_of(file_->mode());
  }

  Group& group_;
  VpProgram program_;
  Random random_;
  std::int64_t tasks_;
  VpShape shape_;
  std::uint64_t n_ = 1;
  VpHints hints_;
  std::uint64_t wild_ = 0;
  std::uint64_t size_ = 1;
  std::uint64_t n_steps_ = 0;
  bool reads_ = false;
  bool writes_ = false;
  std::unique_ptr<VpFile> file_;
  std::unique_ptr<StdioStreams> streams_;
};

}  // namespace

bool vp_mode_was_seen(const std::string& what) {
  const std::lock_guard lock(seen_mutex);
  return seen().count(what) != 0;
}

Op<Status> play_vp_program(Group& group, VpProgram program) {
  Player player(group, std::move(program));
  co_return co_await player.play();
}

}  // namespace thalweg::test
