/* Thread-collective I/O for OpenMP programs: the threads of a parallel region read and write one shared file together.
 * C11 and C++; does not need omp.h. Link with -lthalweg_omp_file (pkg-config thalweg_omp_file); it uses the OpenMP
 * runtime of the program (libgomp or Clang's libomp). Reference, call by call: docs/reference/omp_file.md.
 *
 *     int fd;
 *     #pragma omp parallel
 *     {
 *       omp_file_open_all(&fd, "field.dat", O_RDWR | O_CREAT | O_TRUNC, 0666);
 *       omp_file_write_all(mine, nbytes, fd, 0);           // consecutive blocks, in thread order
 *       omp_file_read_at_all(other, nbytes, offset, fd, 0); // each thread at its own offset
 *       omp_file_close_all(fd);
 *     }
 *
 * Rules for every call:
 * - Call: collective over the threads of the innermost parallel region: all of them make the call, in the same order,
 *   as with a barrier, and not inside single, master, critical, a worksharing loop or a task. Outside any region the
 *   team has one thread. A thread without data passes length (or size) 0 and may pass a NULL buffer.
 * - Blocking: yes, until this thread's part is complete; nonblocking calls wait only for the other threads to make the
 *   call. A call in an explicit task of a region of several threads fails with EINVAL where the OpenMP runtime has
 *   omp_in_explicit_task(); else it blocks.
 * - Errors: 0, or -1 with errno. Both are equal on all threads: wrong arguments of one thread give all threads its
 *   error, and no bytes are moved. tw_last_error() of thalweg/status.h names the thread and the argument. Threads of
 *   one region that make different calls at once all get EINVAL, and the file is unchanged; a thread that makes no call
 *   blocks the others.
 * - Memory: buffers, lists and strings are borrowed during the call; by nonblocking calls until the request is
 *   complete.
 * - `fd` is a descriptor of omp_file_open_all(), not a POSIX one; a descriptor of the wrong kind gives EBADF. Teams
 *   other than the opening one, of any size, may use a file. Calls of several teams on one file are serialised; calls
 *   on different files are concurrent.
 * - `hint` is a set of the OMP_FILE_ bits below; 0 and -1 mean "unknown". The library examines the request itself at
 *   negligible cost, so that a hint has no effect. It is an int: pass 0 where the paper passes NULL, which newer
 *   compilers reject. */
#ifndef OMP_FILE_H
#define OMP_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "thalweg/export.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  OMP_FILE_MEMORY_CONTIGUOUS = 1, /* buffers of thread 0, 1, ... are consecutive in memory */
  OMP_FILE_FILE_CONTIGUOUS = 2,   /* ranges of threads 0, 1, ... are consecutive in the file */
  OMP_FILE_NONCONTIGUOUS = 4      /* neither */
};

/* An outstanding operation; the same number on all threads of the team that started it. */
typedef int64_t omp_file_request;
#define OMP_FILE_REQUEST_NULL ((omp_file_request)0) /* no operation; waiting for it succeeds at once */

/* ---- Files --------------------------------------------------------------------------------------------------------
 */

/* Opens a file once for all threads; every thread passes the same name, flags, mode and hints. The call takes three
 * arguments, as in the paper, four or five.
 * fd    [out] the same number on all threads, at least 2^30; set only on success. May be one shared variable.
 * flags [in]  O_RDONLY, O_WRONLY or O_RDWR, with O_CREAT, O_EXCL, O_TRUNC, O_APPEND (the shared position begins at the
 *             end), O_DIRECT, O_SYNC, O_DSYNC (each write call ends with a sync), O_CLOEXEC (always in force).
 * mode  [in]  optional: permissions of a file that O_CREAT makes, before the umask, at most 07777; 0 and an omitted
 *       mode stand for 0666. Ignored without O_CREAT.
 * hints [in]  optional: hints of a shared file, as in "workers=4,io=direct"; NULL and "": none. `thalweg hints` lists
 *       them. They override those of the environment variable OMP_FILE_HINTS, which has the same form.
 * The function itself has five parameters, so a call through a pointer passes all of them.
 * errno: EFAULT (NULL), EINVAL (other flags; O_CREAT or O_TRUNC without write access; mode above 07777; a hint that is
 * unknown or has no such value, also in OMP_FILE_HINTS; arguments that differ), EMFILE (4096 files are open), ENOMEM,
 * EPERM (for writing: a file of a multifile or vpfile, which is left unchanged), and those of open(2). */
#ifdef __cplusplus
TW_API int omp_file_open_all(int* fd, const char* filename, int flags, mode_t mode = 0, const char* hints = nullptr);
#else
TW_API int omp_file_open_all(int* fd, const char* filename, int flags, mode_t mode, const char* hints);
/* C has no default arguments: the macro completes a call with three or four arguments. Any other number does not
 * compile. */
#define omp_file_open_all(...)                                                                                      \
  OMP_FILE_SIXTH_(__VA_ARGS__, (omp_file_open_all), OMP_FILE_OPEN_FOUR_, OMP_FILE_OPEN_THREE_, (omp_file_open_all), \
                  (omp_file_open_all), 0)                                                                           \
  (__VA_ARGS__)
#define OMP_FILE_OPEN_THREE_(fd, filename, flags) (omp_file_open_all)(fd, filename, flags, 0, 0)
#define OMP_FILE_OPEN_FOUR_(fd, filename, flags, mode) (omp_file_open_all)(fd, filename, flags, mode, 0)
#define OMP_FILE_SIXTH_(a, b, c, d, e, sixth, ...) sixth
#endif

/* Completes nonblocking operations on the file, then closes it; its requests stay valid until they are waited for. The
 * descriptor is released even when closing reports an error. A call of another team that is under way keeps the file
 * open until it ends. errno: EBADF (also: closed twice), EIO, ENOSPC (data that the file system could not store). */
TW_API int omp_file_close_all(int fd);

/* Flushes the writes of complete operations to storage. errno: EBADF, EIO, ENOSPC. */
TW_API int omp_file_sync_all(int fd);

/* Moves the shared position. Arguments other than `position` are equal on all threads.
 * whence   [in]  SEEK_SET, SEEK_CUR or SEEK_END.
 * position [out] the new position, in bytes from the start; may be NULL. errno: EBADF, EINVAL (also: before the start). */
TW_API int omp_file_seek_all(int fd, off_t offset, int whence, off_t* position);

/* Current size of the file in bytes. size [out] not NULL. errno: EBADF, EFAULT, EIO. */
TW_API int omp_file_size_all(int fd, off_t* size);

/* Bytes moved for this thread by the last blocking access, or by the last operation that this thread waited for: fewer
 * than requested only when a read met the end of the file; 0 after a failure. Call: independent. */
TW_API long omp_file_last_count(void);

/* ---- Access, each thread with its own arguments ---------------------------------------------------------------------
 * buf, length  memory and bytes, length >= 0; or list, size: pieces of memory, consecutive in the file.
 * offset       bytes from the start of the file, >= 0; with a list one per piece.
 * Without offset: from the shared position, in thread order; the position then advances by the sum of the lengths.
 * A read that meets the end of the file succeeds and leaves the rest of the memory unchanged (omp_file_last_count());
 * the position advances by the sum all the same.
 * Overlapping reads are permitted. Where writes of one call overlap, each byte is that of one of the threads.
 * errno: EBADF (no descriptor, or not opened for this access), EFAULT (NULL with bytes to move), EINVAL (negative
 * length, size or offset; threads pass different files), EFBIG and EOVERFLOW (beyond 2^63-1), ENOMEM, EIO, ENOSPC, ... */
TW_API int omp_file_read_all(void* buf, long length, int fd, int hint);
TW_API int omp_file_write_all(const void* buf, long length, int fd, int hint);
TW_API int omp_file_read_at_all(void* buf, long length, off_t offset, int fd, int hint);
TW_API int omp_file_write_at_all(const void* buf, long length, off_t offset, int fd, int hint);
TW_API int omp_file_read_list_all(const struct iovec* list, int size, int fd, int hint);
TW_API int omp_file_write_list_all(const struct iovec* list, int size, int fd, int hint);
TW_API int omp_file_read_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint);
TW_API int omp_file_write_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint);

/* ---- Access with common arguments -----------------------------------------------------------------------------------
 * Every thread passes equal arguments (lists with equal contents); the bytes are moved once, and the position advances
 * once. errno as above, EINVAL when arguments differ. omp_file_com_... is another spelling. */
TW_API int omp_file_read_com_all(void* buf, long length, int fd, int hint);
TW_API int omp_file_write_com_all(const void* buf, long length, int fd, int hint);
TW_API int omp_file_read_com_at_all(void* buf, long length, off_t offset, int fd, int hint);
TW_API int omp_file_write_com_at_all(const void* buf, long length, off_t offset, int fd, int hint);
TW_API int omp_file_read_com_list_all(const struct iovec* list, int size, int fd, int hint);
TW_API int omp_file_write_com_list_all(const struct iovec* list, int size, int fd, int hint);
TW_API int omp_file_read_com_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint);
TW_API int omp_file_write_com_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint);
TW_API int omp_file_com_read_all(void* buf, long length, int fd, int hint);
TW_API int omp_file_com_write_all(const void* buf, long length, int fd, int hint);
TW_API int omp_file_com_read_at_all(void* buf, long length, off_t offset, int fd, int hint);
TW_API int omp_file_com_write_at_all(const void* buf, long length, off_t offset, int fd, int hint);
TW_API int omp_file_com_read_list_all(const struct iovec* list, int size, int fd, int hint);
TW_API int omp_file_com_write_list_all(const struct iovec* list, int size, int fd, int hint);
TW_API int omp_file_com_read_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint);
TW_API int omp_file_com_write_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint);

/* ---- Nonblocking ----------------------------------------------------------------------------------------------------
 * Start the accesses above: the prefix i stands before the verb (before com where that comes first). Any number may be
 * outstanding per file. The shared position advances at the call. Wrong arguments of one thread make the call fail on
 * all; different common arguments and errors of storage are reported by the wait. request [out] not NULL; set only on
 * success; may be one shared variable. */
TW_API int omp_file_iread_all(void* buf, long length, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iwrite_all(const void* buf, long length, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iread_at_all(void* buf, long length, off_t offset, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iwrite_at_all(const void* buf, long length, off_t offset, int fd, int hint,
                                  omp_file_request* request);
TW_API int omp_file_iread_list_all(const struct iovec* list, int size, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iwrite_list_all(const struct iovec* list, int size, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iread_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint,
                                      omp_file_request* request);
TW_API int omp_file_iwrite_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint,
                                       omp_file_request* request);
TW_API int omp_file_iread_com_all(void* buf, long length, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iwrite_com_all(const void* buf, long length, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iread_com_at_all(void* buf, long length, off_t offset, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iwrite_com_at_all(const void* buf, long length, off_t offset, int fd, int hint,
                                      omp_file_request* request);
TW_API int omp_file_iread_com_list_all(const struct iovec* list, int size, int fd, int hint, omp_file_request* request);
TW_API int omp_file_iwrite_com_list_all(const struct iovec* list, int size, int fd, int hint,
                                        omp_file_request* request);
TW_API int omp_file_iread_com_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint,
                                          omp_file_request* request);
TW_API int omp_file_iwrite_com_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint,
                                           omp_file_request* request);
TW_API int omp_file_icom_read_all(void* buf, long length, int fd, int hint, omp_file_request* request);
TW_API int omp_file_icom_write_all(const void* buf, long length, int fd, int hint, omp_file_request* request);
TW_API int omp_file_icom_read_at_all(void* buf, long length, off_t offset, int fd, int hint, omp_file_request* request);
TW_API int omp_file_icom_write_at_all(const void* buf, long length, off_t offset, int fd, int hint,
                                      omp_file_request* request);
TW_API int omp_file_icom_read_list_all(const struct iovec* list, int size, int fd, int hint, omp_file_request* request);
TW_API int omp_file_icom_write_list_all(const struct iovec* list, int size, int fd, int hint,
                                        omp_file_request* request);
TW_API int omp_file_icom_read_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint,
                                          omp_file_request* request);
TW_API int omp_file_icom_write_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint,
                                           omp_file_request* request);

/* Waits until the operation is complete on all threads, and sets *request to OMP_FILE_REQUEST_NULL. Every thread passes
 * the same request, in a team of the size that started it; requests are waited for in any order.
 * errno: EFAULT (NULL), EINVAL (unknown request, different requests, a team of another size); the request then stays
 * valid. Otherwise the errno of the operation, which has then ended. */
TW_API int omp_file_wait_all(omp_file_request* request);

/* Tests whether the operation is complete on all threads; if so, acts as omp_file_wait_all(). Does not wait for
 * storage.
 * done [out] 1 or 0, equal on all threads; not NULL. errno as omp_file_wait_all(). */
TW_API int omp_file_test_all(omp_file_request* request, int* done);

#ifdef __cplusplus
}
#endif
#endif
