// thalweg-probe: measures ways of writing a distributed array on the ranks of an MPI program, or predicts accesses on
// larger machines by simulation. `thalweg methods`, `advise` and `tune` start it and read the records on its standard
// output (docs/design/methods.md); `thalweg check` becomes it.
#include <thalweg/storage.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <system_error>

#include "check.hpp"
#include "measuring.hpp"
#include "predict.hpp"
#include "print_record.hpp"

namespace probe {

// Where measuring.cpp is not linked: the program without MPI.
[[gnu::weak]] int measure(int /*argc*/, char** /*argv*/) {
  throw std::runtime_error(
      "this program was built without MPI: it predicts (--predict), and one built with the MPI of your programs "
      "measures");
}
[[gnu::weak]] int on_ranks(const std::function<int(const thalweg::Group&)>& use) { return use(thalweg::Group::self()); }

namespace {

// Prints a `storage` record: path, kind, identity, free bytes, and the path of the profile ("" where profiles are turned
// off). Throws std::exception where there is no such folder.
void describe_storage(const std::filesystem::path& folder) {
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  thalweg::check(tw_storage_describe(folder.c_str(), &info));
  std::error_code failed;
  const std::filesystem::space_info space = std::filesystem::space(folder, failed);
  if (failed) throw std::runtime_error("cannot look at the folder '" + folder.string() + "': " + failed.message());
  const std::string identity = info.identity;
  print_record({{"kind", "storage"},
                {"path", absolute(folder).lexically_normal().string()},
                {"file_system", identity.substr(0, identity.find('-'))},
                {"identity", identity},
                {"free_bytes", space.available},
                {"profile", info.profile}});
}

}  // namespace

}  // namespace probe

int main(int argc, char** argv) {
  try {
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "--predict" && argc == 2) return probe::predict(std::cin), 0;
    if (first == "--storage" && argc == 3) return probe::describe_storage(argv[2]), 0;
    if (first == "--check" && argc == 4)
      return probe::on_ranks([&](const thalweg::Group& ranks) { return probe::check_mount(ranks, argv[2], argv[3]); });
    return probe::measure(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thalweg-probe: %s\n", error.what());
    return probe::kWrongOptions;
  }
}
