// The printed program uses the chosen method, or a remark names the difference.
#include "advise/skeleton.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "methods/method_table.hpp"

namespace tool {
namespace {

const std::map<std::string, std::set<std::string_view>>& exact() {
  static const std::map<std::string, std::set<std::string_view>> of_language = {
      {"c",
       {"gather", "file-per-task", "mpiio-global-3", "mpiio-chunk-1", "hdf5-contiguous-collective", "tw-multifile",
        "tw-nonblocking", "tw-collective"}},
      {"fortran", {"file-per-task", "mpiio-global-3", "mpiio-chunk-1", "tw-multifile", "tw-collective"}},
      {"python", {"mpiio-global-3", "hdf5-contiguous-collective", "tw-vpfile"}}};
  return of_language;
}

TEST(Skeleton, ThatIsNotTheMethodSaysSo) {
  for (const auto& [language, same] : exact()) {
    for (const methods::MethodInfo& method : methods::method_table()) {
      const Skeleton code = skeleton_of(method.id, language, "write");

      EXPECT_FALSE(code.text.empty()) << method.id << " " << language;
      EXPECT_EQ(code.remark.empty(), same.contains(method.id)) << method.id << " " << language << ": " << code.remark;
    }
  }
}

TEST(Skeleton, WritesAndSaysHowItWouldRead) {
  for (const auto& [language, same] : exact()) {
    for (const methods::MethodInfo& method : methods::method_table()) {
      for (const char* phase : {"read", "restart"}) {
        const std::string remark = skeleton_of(method.id, language, phase).remark;

        EXPECT_NE(remark.find("it writes; to read: "), std::string::npos) << method.id << " " << language;
        EXPECT_EQ(remark.ends_with("the grid of the readers"), std::string(phase) == "restart") << remark;
      }
    }
  }
}

// mpiio.py and hdf5.py write a global array, which this data is not.
TEST(Skeleton, InPythonOfDataOfTasksHoldsSuchData) {
  for (const methods::MethodInfo& method : methods::method_table()) {
    if (method.outcome == methods::Outcome::chunks || method.outcome == methods::Outcome::separate) {
      EXPECT_EQ(skeleton_of(method.id, "python", "write").name, "vpfile.py") << method.id;
    }
  }
}

}  // namespace
}  // namespace tool
