#include "file/profile.hpp"

namespace thalweg {

void apply_profile(const std::string& /*path*/, Strategy& /*strategy*/) {}

}  // namespace thalweg
