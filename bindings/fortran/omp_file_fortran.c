/* C side of module omp_file: buffers of any type and rank arrive as descriptors, flags as system-independent numbers. A
 * buffer that is not contiguous cannot be moved by address: it becomes an invalid length, so that all threads get
 * EINVAL. */
#include <errno.h>
#include <fcntl.h>
#include <ISO_Fortran_binding.h>
#include <omp_file.h>

/* The flags of the module. */
enum {
  F_WRONLY = 1,
  F_RDWR = 2,
  F_CREAT = 4,
  F_EXCL = 8,
  F_TRUNC = 16,
  F_APPEND = 32,
  F_DIRECT = 64,
  F_SYNC = 128,
  F_DSYNC = 256,
  F_ALL = 511
};

TW_API int tw_omp_file_f_open_all(int* fd, const char* filename, int flags, int mode, const char* hints);
TW_API int tw_omp_file_f_errno(void);

int tw_omp_file_f_open_all(int* fd, const char* filename, int flags, int mode, const char* hints) {
  static const struct {
    int theirs, ours;
  } table[] = {{F_WRONLY, O_WRONLY}, {F_RDWR, O_RDWR},     {F_CREAT, O_CREAT}, {F_EXCL, O_EXCL},  {F_TRUNC, O_TRUNC},
               {F_APPEND, O_APPEND}, {F_DIRECT, O_DIRECT}, {F_SYNC, O_SYNC},   {F_DSYNC, O_DSYNC}};
  int translated = (flags & ~F_ALL) != 0 ? -1 : 0; /* -1: invalid */
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    if ((flags & table[i].theirs) != 0) translated |= table[i].ours;
  }
  return omp_file_open_all(fd, filename, translated, (mode_t)mode, hints);
}

int tw_omp_file_f_errno(void) { return errno; }

static long contiguous_bytes(const CFI_cdesc_t* buf, long length) {
  /* An assumed-size array, whose last extent is -1, is contiguous; CFI_is_contiguous reports it as such. */
  return length > 0 && CFI_is_contiguous(buf) == 0 ? -1 : length;
}

#define CALLS(NAME)                                                                                                   \
  TW_API int tw_omp_file_f_##NAME##_all(const CFI_cdesc_t* buf, long length, int fd, int hint);                       \
  TW_API int tw_omp_file_f_##NAME##_at_all(const CFI_cdesc_t* buf, long length, int64_t offset, int fd, int hint);    \
  TW_API int tw_omp_file_f_i##NAME##_all(const CFI_cdesc_t* buf, long length, int fd, int hint,                       \
                                         omp_file_request* request);                                                  \
  TW_API int tw_omp_file_f_i##NAME##_at_all(const CFI_cdesc_t* buf, long length, int64_t offset, int fd, int hint,    \
                                            omp_file_request* request);                                               \
  int tw_omp_file_f_##NAME##_all(const CFI_cdesc_t* buf, long length, int fd, int hint) {                             \
    return omp_file_##NAME##_all(buf->base_addr, contiguous_bytes(buf, length), fd, hint);                            \
  }                                                                                                                   \
  int tw_omp_file_f_##NAME##_at_all(const CFI_cdesc_t* buf, long length, int64_t offset, int fd, int hint) {          \
    return omp_file_##NAME##_at_all(buf->base_addr, contiguous_bytes(buf, length), offset, fd, hint);                 \
  }                                                                                                                   \
  int tw_omp_file_f_i##NAME##_all(const CFI_cdesc_t* buf, long length, int fd, int hint, omp_file_request* request) { \
    return omp_file_i##NAME##_all(buf->base_addr, contiguous_bytes(buf, length), fd, hint, request);                  \
  }                                                                                                                   \
  int tw_omp_file_f_i##NAME##_at_all(const CFI_cdesc_t* buf, long length, int64_t offset, int fd, int hint,           \
                                     omp_file_request* request) {                                                     \
    return omp_file_i##NAME##_at_all(buf->base_addr, contiguous_bytes(buf, length), offset, fd, hint, request);       \
  }

CALLS(read)
CALLS(write)
CALLS(read_com)
CALLS(write_com)
