// A task alone whose access is one call skips the plan: it moves the same bytes, ends and positions as with a plan.
#include <cerrno>
#include <string>

#include "sharedfile/plain_file.hpp"
#include "sim/memory_backend.hpp"
#include "support/files/shared_files.hpp"
#include "testing/fault_backend.hpp"

namespace thalweg::test {
namespace {

// A file in memory, open on a task alone. Each step adds its outcome to the story.
class Alone {
 public:
  explicit Alone(const std::string& hints) {
    PlainOpen how;
    how.path = "f";
    how.options.read = how.options.write = how.options.create = true;
    how.hints = hints;
    file_ = run(PlainFile::open(*group_, faulty_, how)).value();
  }
  ~Alone() { EXPECT_TRUE(run(file_->close()).ok()); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  void write(Placement placement, std::string bytes, std::uint64_t offset = 0, bool common = false) {
    tell(run(file_->access(access(Direction::write, placement, bytes, offset, common))));
  }
  void request_write(std::string bytes) {
    const auto request = file_->request(access(Direction::write, Placement::in_order, bytes, 0, false));
    start(request, ProgressMode::thread);
    wait_for(*request);
    tell(request->outcome());
  }
  void read(Placement placement, std::size_t n, std::uint64_t offset = 0) {
    std::string room(n, '.');
    tell(run(file_->access(access(Direction::read, placement, room, offset, false))));
    story_ += " '" + room + "'";
  }
  void fail_writes(int os_errno) {
    FaultScript script;
    if (os_errno != 0) script.rules.push_back({.kind = CallKind::write, .lasting = true, .os_errno = os_errno});
    faulty_->restart(script);
  }
  std::string content() {
    std::string bytes(1000, '.');
    bytes.resize(memory_->open("f", OpenMode::read).value()->read(0, std::as_writable_bytes(std::span(bytes))).value());
    return bytes;
  }
  const std::string& story() const { return story_; }

 private:
  TaskAccess access(Direction direction, Placement placement, std::string& bytes, std::uint64_t offset, bool common) {
    extent_ = {reinterpret_cast<std::byte*>(bytes.data()), bytes.size(), offset};
    TaskAccess made;
    made.direction = direction;
    made.placement = placement;
    made.common = common;
    made.extents = {&extent_, 1};
    made.offset = placement == Placement::in_order ? 12345 : offset;  // in order it means nothing
    return made;
  }
  void tell(const Outcome& outcome) {
    story_ += outcome.status.ok() ? " " + std::to_string(outcome.moved)
                                  : " errno " + std::to_string(outcome.status.os_errno());
  }

  const std::shared_ptr<Backend> memory_ = make_memory_backend();
  const std::shared_ptr<FaultBackend> faulty_ = make_fault_backend(memory_);
  const std::unique_ptr<Group> group_ = make_self_group();
  std::unique_ptr<PlainFile> file_;
  Extent extent_;
  std::string story_;
};

TEST(TaskAlone, MovesTheSameAsWithAPlan) {
  for (const char* hints : {"", "method=naive", "method=shared"}) {
    SCOPED_TRACE(hints);
    Alone alone(hints);
    alone.write(Placement::in_order, "abcd");
    alone.request_write("ef");
    alone.write(Placement::in_order, "gh", 0, true);
    alone.write(Placement::at_offset, "0123", 12);
    alone.write(Placement::at_extents, "XY", 20);
    alone.fail_writes(ENOSPC);
    alone.write(Placement::in_order, "lost");
    alone.fail_writes(0);
    alone.write(Placement::in_order, "ij");  // behind the place of what was lost
    alone.read(Placement::at_offset, 9, 15);
    alone.read(Placement::at_offset, 3, 100);
    alone.read(Placement::in_order, 3);
    alone.read(Placement::in_order, 10);
    alone.write(Placement::in_order, "z");  // a read in order moves the position by what was asked for

    const std::string no_space = " errno " + std::to_string(ENOSPC);
    std::string expected = "abcdefgh....ij23....XY.....z";
    EXPECT_EQ(alone.story().substr(0, alone.story().find('\'')), " 4 2 2 4 2" + no_space + " 2 7 ");
    for (char& c : expected) c = c == '.' ? '\0' : c;
    EXPECT_EQ(alone.content(), expected);
  }
}

using TaskAloneCalls = SharedFiles;

TEST_F(TaskAloneCalls, TellTheirPlan) {
  tw_file* file = nullptr;
  ASSERT_EQ(tw_file_open(nullptr, path().c_str(), kNew, nullptr, &file), TW_OK) << tw_last_error();
  const std::string large(300'000, 'x');
  EXPECT_EQ(tw_file_write_at_all(file, "abc", 3, 5), TW_OK);
  EXPECT_STREQ(
      tw_file_last_plan(file),
      "direct (a task alone makes one call); contiguous: 1 task, 1 run of 3.0 B, density 1.00, memory in 1 piece");
  EXPECT_EQ(tw_file_write_at_all(file, large.data(), large.size(), 0), TW_OK);
  EXPECT_EQ(std::string(tw_file_last_plan(file)).find("alone"), std::string::npos) << tw_file_last_plan(file);
  EXPECT_EQ(tw_file_close(&file), TW_OK);
}

}  // namespace
}  // namespace thalweg::test
