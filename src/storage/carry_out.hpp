// A transfer of a queue, made at once by the file itself. Failures for want of memory are those of the transfer.
#pragma once

#include "storage/io_queue.hpp"

namespace thalweg {

void carry_out(IoTransfer& transfer);

}  // namespace thalweg
