// Conformance of every kind of group. MPI has its own program (tests/mpi), OpenMP its own file.
#include <gtest/gtest.h>

#include "support/groups/group_bodies.hpp"
#include "support/groups/worlds.hpp"

namespace thalweg::test {
namespace {

class GroupConformance : public testing::TestWithParam<World> {};

TEST_P(GroupConformance, Holds) {
  for (const GroupBody& body : group_bodies()) {
    GetParam().run(body.run);

    ASSERT_FALSE(HasFailure()) << "in " << body.name;
  }
}

INSTANTIATE_TEST_SUITE_P(AllKinds, GroupConformance, testing::ValuesIn(all_worlds()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace thalweg::test
