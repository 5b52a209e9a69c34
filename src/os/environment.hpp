// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string_view>

namespace thalweg {

// "" where it is not set. Valid until the variable is changed.
inline std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace thalweg
