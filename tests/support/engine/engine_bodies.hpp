// Conformance of the engine: bodies that run on every kind of group (tests/conformance, tests/mpi).
//
// Every task of a group calls a body, which checks with EXPECT_* and returns ok. All tasks pass the same storage: one
// backend, or a shared file system.
#pragma once

#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/plan.hpp"
#include "storage/backend.hpp"
#include "support/groups/run_on.hpp"

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
// Kinds of the plans carried out in this process.
std::set<std::string> plans_seen();

}  // namespace thalweg::test
