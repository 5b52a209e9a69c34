// Runs a transfer of a queue at once, by calls of its file. An allocation failure is reported as failure of the
// transfer.
#pragma once

#include "storage/io_queue.hpp"

namespace thalweg {

void carry_out(IoTransfer& transfer);

}  // namespace thalweg
