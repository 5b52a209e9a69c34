// Methods 2 and 3.
#pragma once

#include <memory>

#include "method.hpp"

namespace probe {

std::unique_ptr<Method> make_file_per_task(bool in_folders);

// Files per sub-folder of method 3, for all methods made from now on.
void set_files_per_folder(int files);

}  // namespace probe
