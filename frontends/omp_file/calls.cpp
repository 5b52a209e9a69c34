// The reading and writing calls and their other spellings: each fills one Transfer.
#include "omp_file/omp_file.h"
#include "omp_file/transfer.hpp"

namespace thalweg::omp_file {

namespace {

// Arguments that the macros below pass on unchanged.
struct Block {
  const void* buf;
  long length;
};
struct List {
  const iovec* list;
  int size;
};

Transfer make(tw_direction direction, bool common, Block block, int fd) {
  Transfer made{};
  made.direction = direction;
  made.common = common;
  made.buf = const_cast<void*>(block.buf);  // only reads write to it, and their buffers are not const
  made.length = block.length;
  made.fd = fd;
  return made;
}

Transfer make(tw_direction direction, bool common, List list, int fd) {
  Transfer made{};
  made.direction = direction;
  made.common = common;
  made.is_list = true;
  made.list = list.list;
  made.length = list.size;
  made.fd = fd;
  return made;
}

Transfer at(Transfer made, off_t offset) {
  made.has_offset = true;
  made.offset = offset;
  return made;
}

Transfer at(Transfer made, const off_t* offsets) {
  made.has_offset = true;
  made.offsets = offsets;
  return made;
}

}  // namespace

}  // namespace thalweg::omp_file

using namespace thalweg::omp_file;

// The calls of one direction and one spelling: `prefix` is between omp_file_[i] and the form. The hint is ignored, as
// the library examines the request.
#define TW_OMP_FILE_CALLS(NAME, INAME, CONST, DIRECTION, COMMON)                                           \
  int NAME##_all(CONST void* buf, long length, int fd, int) {                                              \
    return transfer(make(DIRECTION, COMMON, Block{buf, length}, fd));                                      \
  }                                                                                                        \
  int NAME##_at_all(CONST void* buf, long length, off_t offset, int fd, int) {                             \
    return transfer(at(make(DIRECTION, COMMON, Block{buf, length}, fd), offset));                          \
  }                                                                                                        \
  int NAME##_list_all(const struct iovec* list, int size, int fd, int) {                                   \
    return transfer(make(DIRECTION, COMMON, List{list, size}, fd));                                        \
  }                                                                                                        \
  int NAME##_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int) {          \
    return transfer(at(make(DIRECTION, COMMON, List{list, size}, fd), offsets));                           \
  }                                                                                                        \
  int INAME##_all(CONST void* buf, long length, int fd, int, omp_file_request* request) {                  \
    return begin_transfer(make(DIRECTION, COMMON, Block{buf, length}, fd), request);                       \
  }                                                                                                        \
  int INAME##_at_all(CONST void* buf, long length, off_t offset, int fd, int, omp_file_request* request) { \
    return begin_transfer(at(make(DIRECTION, COMMON, Block{buf, length}, fd), offset), request);           \
  }                                                                                                        \
  int INAME##_list_all(const struct iovec* list, int size, int fd, int, omp_file_request* request) {       \
    return begin_transfer(make(DIRECTION, COMMON, List{list, size}, fd), request);                         \
  }                                                                                                        \
  int INAME##_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int,           \
                          omp_file_request* request) {                                                     \
    return begin_transfer(at(make(DIRECTION, COMMON, List{list, size}, fd), offsets), request);            \
  }

extern "C" {
TW_OMP_FILE_CALLS(omp_file_read, omp_file_iread, , TW_ACCESS_READ, false)
TW_OMP_FILE_CALLS(omp_file_write, omp_file_iwrite, const, TW_ACCESS_WRITE, false)
TW_OMP_FILE_CALLS(omp_file_read_com, omp_file_iread_com, , TW_ACCESS_READ, true)
TW_OMP_FILE_CALLS(omp_file_write_com, omp_file_iwrite_com, const, TW_ACCESS_WRITE, true)
TW_OMP_FILE_CALLS(omp_file_com_read, omp_file_icom_read, , TW_ACCESS_READ, true)
TW_OMP_FILE_CALLS(omp_file_com_write, omp_file_icom_write, const, TW_ACCESS_WRITE, true)
}  // extern "C"

#undef TW_OMP_FILE_CALLS
