// Whether the kernel lets this process use io_uring. Containers often forbid it, and it can be switched off.
#pragma once

namespace thalweg {

// Sets up a small ring to see; costs some system calls each time.
bool uring_works();

}  // namespace thalweg
