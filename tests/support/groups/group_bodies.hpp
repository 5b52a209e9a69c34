// Conformance of groups: bodies that run on every kind of group (tests/conformance, tests/mpi).
//
// Every task of a group calls a body, which checks with EXPECT_* and returns ok.
#pragma once

#include <ostream>
#include <vector>

#include "support/groups/run_on.hpp"

namespace thalweg::test {

struct GroupBody {
  const char* name;
  Op<Status> (*run)(Group&);
};
inline void PrintTo(const GroupBody& body, std::ostream* out) { *out << body.name; }  // in names of tests

const std::vector<GroupBody>& group_bodies();

}  // namespace thalweg::test
