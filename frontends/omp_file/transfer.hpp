// Reading and writing: the arguments of one thread, for all forms of calls.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "omp_file/omp_file.h"
#include "thalweg/file.h"

namespace thalweg::omp_file {

struct Transfer {
  tw_direction direction;
  bool common;
  bool is_list;
  bool has_offset;
  void* buf;
  const iovec* list;
  long length;  // bytes of buf, or pieces of the list
  off_t offset;
  const off_t* offsets;
  int fd;
};

// Blocking access. Collective.
int transfer(const Transfer& mine);

// Starts a nonblocking access. Collective.
int begin_transfer(const Transfer& mine, omp_file_request* request);

}  // namespace thalweg::omp_file
