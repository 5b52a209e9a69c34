// What the plan of a creation refuses before any file is touched.
#include "file/write_plan.hpp"

#include <gtest/gtest.h>

namespace thalweg::test {
namespace {

Status plan_on(std::uint64_t capacity_bytes, std::uint64_t n_logical) {
  WriteRequest request;
  request.n_logical = n_logical;
  request.runs = {{0, 1}};
  Gathered gathered;
  gathered.data = encode(request);
  gathered.begin = {0, gathered.data.size()};
  const Requests requests = Requests::decode(gathered).value();
  StorageInfo storage;
  storage.capacity_bytes = capacity_bytes;
  return plan_create({requests, {}, {}, storage, 1}).status();
}

TEST(WritePlan, AnIndexThatTheStorageCannotHoldIsRefused) {
  EXPECT_TRUE(plan_on(40'000, 1000).ok()) << plan_on(40'000, 1000).message();
  const Status refused = plan_on(39'999, 1000);
  EXPECT_EQ(refused.code(), Code::invalid_argument);
  EXPECT_NE(refused.message().find("1000 logical files"), std::string::npos) << refused.message();
  EXPECT_EQ(plan_on(std::uint64_t{1} << 40, std::uint64_t{1} << 40).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace thalweg::test
