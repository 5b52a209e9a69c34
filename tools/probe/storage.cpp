#include "storage.hpp"

#include <sys/statvfs.h>
#include <thalweg/status.h>
#include <thalweg/storage.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "print_record.hpp"

namespace probe {

void describe_storage(const std::string& folder) {
  tw_storage_info info = {};
  info.struct_size = sizeof info;
  if (tw_storage_describe(folder.c_str(), &info) != TW_OK) throw std::runtime_error(tw_last_error());
  struct statvfs system = {};
  if (::statvfs(folder.c_str(), &system) != 0)
    throw std::runtime_error("cannot look at the folder '" + folder + "': " + std::generic_category().message(errno));
  const std::string identity = info.identity;
  print_record({{"kind", "storage"},
                {"path", std::filesystem::absolute(folder).lexically_normal().string()},
                {"file_system", identity.substr(0, identity.find('-'))},
                {"identity", identity},
                {"free_bytes", static_cast<std::int64_t>(system.f_bavail) * static_cast<std::int64_t>(system.f_frsize)},
                {"profile", info.profile}});
}

}  // namespace probe
