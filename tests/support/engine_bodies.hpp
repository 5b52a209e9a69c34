// What the engine must do for every kind of group: bodies that run on all of them (tests/conformance, tests/mpi).
//
// A body is called by every task of a group, expects with EXPECT_*, and gives back ok. All tasks give the same storage:
// one backend, or a file system that all of them see.
#pragma once

#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/plan.hpp"
#include "storage/backend.hpp"
#include "support/run_on.hpp"

namespace thalweg::test {

struct Storage {
  std::shared_ptr<Backend> backend;
  std::string path;
};

struct EngineBody {
  const char* name;
  Op<Status> (*run)(Group&, Storage);
};
inline void PrintTo(const EngineBody& body, std::ostream* out) { *out << body.name; }

const std::vector<EngineBody>& engine_bodies();

// "shared", "shared packed", "direct sieved", ...
std::string kind_of(const Plan& plan);
// The kinds of plans that were carried out in this process.
std::set<std::string> plans_seen();

}  // namespace thalweg::test
