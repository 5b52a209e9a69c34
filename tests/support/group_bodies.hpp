// What every kind of group must do: bodies that run on all of them (tests/conformance, tests/mpi).
//
// A body is called by every task of a group, expects with EXPECT_*, and gives back ok.
#pragma once

#include <ostream>
#include <vector>

#include "support/run_on.hpp"

namespace thalweg::test {

struct GroupBody {
  const char* name;
  Op<Status> (*run)(Group&);
};
inline void PrintTo(const GroupBody& body, std::ostream* out) { *out << body.name; }  // in names of tests

const std::vector<GroupBody>& group_bodies();

}  // namespace thalweg::test
