#include "storage/backend.hpp"

namespace thalweg {

OpenOptions options_of(OpenMode mode) {
  OpenOptions options;
  options.write = mode != OpenMode::read;
  options.create = mode == OpenMode::create || mode == OpenMode::create_keep || mode == OpenMode::create_exclusive;
  options.exclusive = mode == OpenMode::create_exclusive;
  options.truncate = mode == OpenMode::create;
  return options;
}

Status check_options(const std::string& path, const OpenOptions& options) {
  const char* wrong = !options.read && !options.write      ? "neither reading nor writing was asked for"
                      : options.truncate && !options.write ? "to empty it, it must be open for writing"
                                                           : nullptr;
  if (wrong == nullptr) return {};
  return Status::error(Code::invalid_argument, "cannot open '{}': {}", path, wrong);
}

}  // namespace thalweg
