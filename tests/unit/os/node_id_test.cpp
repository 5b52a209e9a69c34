// Machines that share a boot id are told apart by their host names.
#include "os/node_id.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>

namespace thalweg {
namespace {

TEST(NodeId, IsTheSameInAChildAndNotNegative) {
  const std::int64_t mine = node_id();
  EXPECT_GE(mine, 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(node_id() == mine ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(NodeId, IsAnotherOneUnderAnotherHostName) {
  constexpr int kNotHere = 77;
  constexpr std::string_view kName = "clone-of-this-machine";
  const std::int64_t mine = node_id();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUTS) != 0 || ::sethostname(kName.data(), kName.size()) != 0) ::_exit(kNotHere);
    ::_exit(node_id() != mine ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == kNotHere) GTEST_SKIP() << "the host name cannot be changed here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace thalweg
