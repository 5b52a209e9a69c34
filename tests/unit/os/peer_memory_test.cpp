// Memory of another process: read and written where the kernel permits it, else refused with a message.
#include "os/peer_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "support/memory/virtual_memory.hpp"

namespace thalweg {
namespace {

// A waiting child whose memory is a copy of this process's.
class Child {
 public:
  Child() : process_(::fork()) {
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
  }
  ~Child() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  pid_t process() const { return process_; }

 private:
  const pid_t process_;
};

TEST(PeerMemory, OfAnotherProcessIsReadAndWritten) {
  static char text[64] = "as it was";
  const PeerProbe probe = probe_of_this_process();
  const Child child;
  PeerProbe peer = probe;
  peer.process = child.process();
  if (!can_reach(peer)) GTEST_SKIP() << "this kernel keeps the memory of others to itself";
  std::strcpy(text, "changed here");
  char back[64] = "";
  iovec here[] = {{back, 4}, {back + 4, 60}};
  iovec there[] = {{text, 30}, {text + 30, 34}};

  ASSERT_TRUE(copy_peer(Direction::read, child.process(), here, there).ok());
  EXPECT_STREQ(back, "as it was");

  char news[] = "there too";
  iovec from[] = {{news, sizeof news}};
  iovec to[] = {{text, sizeof news}};
  ASSERT_TRUE(copy_peer(Direction::write, child.process(), from, to).ok());
  iovec again[] = {{back, 64}};
  iovec where[] = {{text, 64}};
  ASSERT_TRUE(copy_peer(Direction::read, child.process(), again, where).ok());
  EXPECT_STREQ(back, "there too");
  EXPECT_STREQ(text, "changed here");
}

// One call of the kernel moves less.
TEST(PeerMemory, OfMoreThanTwoGigabytesIsCopiedWhole) {
  constexpr std::uint64_t kBytes = (std::uint64_t{1} << 31) + 8192;
  const VirtualMemory from(kBytes);
  const VirtualMemory to(kBytes);
  if (from.data() == nullptr || to.data() == nullptr) GTEST_SKIP() << from.why_not();
  // The last pages are separate memory, which shows whether the transfer reached them.
  std::byte* const last = to.data() + kBytes - 8192;
  ASSERT_NE(::mmap(last, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), MAP_FAILED);
  std::memset(from.data() + kBytes - 8192, 0x5A, 8192);
  const PeerProbe probe = probe_of_this_process();
  const Child child;
  PeerProbe peer = probe;
  peer.process = child.process();
  if (!can_reach(peer)) GTEST_SKIP() << "this kernel keeps the memory of others to itself";

  iovec here[] = {{to.data(), 100}, {to.data() + 100, kBytes - 100}};
  iovec there[] = {{from.data(), kBytes - 50}, {from.data() + kBytes - 50, 50}};
  ASSERT_TRUE(copy_peer(Direction::read, child.process(), here, there).ok());

  for (std::size_t i = 0; i < 8192; ++i) ASSERT_EQ(last[i], std::byte{0x5A}) << i;
}

TEST(PeerMemory, OfThisProcessNeedsNoLeave) {
  char a[] = "one two";
  char b[8] = "";
  iovec here[] = {{b, 3}, {b + 3, 5}};
  iovec there[] = {{a, 8}};

  EXPECT_TRUE(copy_peer(Direction::read, ::getpid(), here, there).ok());
  EXPECT_STREQ(b, "one two");
  EXPECT_TRUE(can_reach(probe_of_this_process()));
}

TEST(PeerMemory, ThatIsNotThereIsAnErrorWithWords) {
  const Child child;
  PeerProbe wrong = probe_of_this_process();
  wrong.process = child.process();
  wrong.number ^= 1;
  EXPECT_FALSE(can_reach(wrong)) << "that is another process than the one that showed itself";
  wrong.address = 16;
  EXPECT_FALSE(can_reach(wrong));
  char byte = 0;
  iovec here{&byte, 1};
  iovec there{reinterpret_cast<void*>(16), 1};

  const Status status = copy_peer(Direction::read, child.process(), {&here, 1}, {&there, 1});

  EXPECT_EQ(status.code(), Code::io_error);
  EXPECT_NE(status.os_errno(), 0);
  EXPECT_NE(status.message().find(std::to_string(child.process())), std::string::npos);
}

}  // namespace
}  // namespace thalweg
