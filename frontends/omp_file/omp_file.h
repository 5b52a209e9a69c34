/* Thread-collective I/O for OpenMP programs: the threads of a parallel region read and write one shared file together.
 * C11 and C++; does not need omp.h. Link with -lthalweg_omp_file (pkg-config thalweg_omp_file); it uses the OpenMP
 * runtime of the program (libgomp or Clang's libomp). Reference, call by call: docs/reference/omp_file.md.
 *
 *     int fd;
 *     #pragma omp parallel
 *     {
 *       omp_file_open_all(&fd, "field.dat", O_RDWR | O_CREAT | O_TRUNC, 0666);
 *       omp_file_write_all(mine, nbytes, fd, 0);           // one block behind the other, in thread order
 *       omp_file_read_at_all(other, nbytes, offset, fd, 0); // each at its own place
 *       omp_file_close_all(fd);
 *     }
 *
 * Rules that hold for every call here:
 * - Call: collective over the threads of the innermost parallel region: all of them make the call, in the same order,
 *   as with a barrier, and not inside single, master, critical, a worksharing loop or a task. Outside of any region the
 *   team is one thread. A thread without data passes length (or size) 0 and may pass a NULL buffer.
 * - Blocking: yes, until this thread's part is done; the nonblocking calls wait only for the others to have called.
 * - Errors: 0, or -1 with errno. Both are the same on all threads: when one thread passes garbage, all get its error
 *   and no bytes are moved. tw_last_error() of thalweg/status.h says in words which thread it was, and what. Threads
 *   of one region that make different calls at once all get EINVAL, and the file stays as it is; a thread that makes
 *   no call keeps the others waiting.
 * - Memory: buffers, lists and strings are borrowed during the call; by nonblocking calls until the request is
 * complete.
 * - `fd` is a descriptor of omp_file_open_all(), never a POSIX one, and no POSIX call takes it: the wrong kind gives
 *   EBADF. A file may be used by other teams, of other sizes, than the one that opened it. Calls of several teams
 *   on one file are carried out one after the other, on different files at once.
 * - `hint` is a set of the OMP_FILE_ bits below; 0 and -1 stand for "find out". The library looks at the request
 *   itself, which costs next to nothing, so that a hint changes no byte and, today, no decision. It is an int: pass
 *   0 where the paper passes NULL, which newer compilers refuse. */
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
  OMP_FILE_MEMORY_CONTIGUOUS = 1, /* the buffers of thread 0, 1, ... follow each other in memory */
  OMP_FILE_FILE_CONTIGUOUS = 2,   /* what threads 0, 1, ... access follows each other in the file */
  OMP_FILE_NONCONTIGUOUS = 4      /* neither */
};

/* An operation under way; the same number on all threads of the team that started it. */
typedef int64_t omp_file_request;
#define OMP_FILE_REQUEST_NULL ((omp_file_request)0) /* no operation; waiting for it succeeds at once */

/* ---- Files --------------------------------------------------------------------------------------------------------
 */

/* Opens a file, once for all; every thread passes the same name, flags and mode. The call takes three arguments, as in
 * the paper, or four.
 * fd    [out] the same number on all threads, at least 2^30; set only on success. May be one shared variable.
 * flags [in]  O_RDONLY, O_WRONLY or O_RDWR, with O_CREAT, O_EXCL, O_TRUNC, O_APPEND (the shared position begins at the
 *             end), O_DIRECT, O_SYNC, O_DSYNC (each write call ends with a sync), O_CLOEXEC (always so).
 * mode  [in]  may be left out: permissions of a file that O_CREAT makes, before the umask, at most 07777; 0 and an
 *             omitted mode stand for 0666. Without O_CREAT it is ignored. The function itself has four parameters, so a
 *             call through a pointer passes all of them.
 * errno: EFAULT (NULL), EINVAL (other flags; O_CREAT or O_TRUNC without write access; mode above 07777; arguments that
 * differ), EMFILE (4096 files are open), ENOMEM, EPERM (for writing: a file of a multifile or vpfile, which is not
 * touched), and what open(2) says. */
#ifdef __cplusplus
TW_API int omp_file_open_all(int* fd, const char* filename, int flags, mode_t mode = 0);
#else
TW_API int omp_file_open_all(int* fd, const char* filename, int flags, mode_t mode);
/* C has no default arguments: a call with three becomes one with four. Any other number does not compile. */
#define omp_file_open_all(...)                                                                                         \
  OMP_FILE_FIFTH_(__VA_ARGS__, (omp_file_open_all), OMP_FILE_OPEN_THREE_, (omp_file_open_all), (omp_file_open_all), 0) \
  (__VA_ARGS__)
#define OMP_FILE_OPEN_THREE_(fd, filename, flags) (omp_file_open_all)(fd, filename, flags, 0)
#define OMP_FILE_FIFTH_(a, b, c, d, fifth, ...) fifth
#endif

/* Completes nonblocking operations on the file, then closes it; its requests stay valid until they are waited for. The
 * descriptor is gone also when closing reports an error. A call of another team that is under way keeps the file open
 * until it ends. errno: EBADF (also: closed twice), EIO, ENOSPC (what the file system could not keep). */
TW_API int omp_file_close_all(int fd);

/* What was written by complete operations reaches the storage. errno: EBADF, EIO, ENOSPC. */
TW_API int omp_file_sync_all(int fd);

/* Moves the shared position. Same arguments on all threads, but for `position`.
 * whence   [in]  SEEK_SET, SEEK_CUR or SEEK_END.
 * position [out] the new one, in bytes from the start; may be NULL. errno: EBADF, EINVAL (also: before the start). */
TW_API int omp_file_seek_all(int fd, off_t offset, int whence, off_t* position);

/* Bytes of the file now. size [out] not NULL. errno: EBADF, EFAULT, EIO. */
TW_API int omp_file_size_all(int fd, off_t* size);

/* Bytes that the last blocking access, or the last operation that this thread waited for, moved for this thread: fewer
 * than it asked for only where a read met the end of the file; 0 after a failure. Call: independent. */
TW_API long omp_file_last_count(void);

/* ---- Access, each thread with its own arguments ---------------------------------------------------------------------
 * buf, length  memory and bytes, length >= 0; or list, size: pieces of memory, one behind the other in the file.
 * offset       bytes from the start of the file, >= 0; of a list one per piece.
 * Without offset: from the shared position on, thread after thread by number; the position then moves by the sum.
 * A read that meets the end of the file succeeds and leaves the rest of the memory alone (omp_file_last_count()); the
 * position moves by the sum all the same.
 * Overlapping reads are fine. Where writes of one call overlap, each byte is that of one of the threads.
 * errno: EBADF (no descriptor, or not opened for it), EFAULT (NULL with bytes to move), EINVAL (negative length, size
 * or offset; threads name different files), EFBIG and EOVERFLOW (beyond 2^63-1), ENOMEM, EIO, ENOSPC, ... */
TW_API int omp_file_read_all(void* buf, long length, int fd, int hint);
TW_API int omp_file_write_all(const void* buf, long length, int fd, int hint);
TW_API int omp_file_read_at_all(void* buf, long length, off_t offset, int fd, int hint);
TW_API int omp_file_write_at_all(const void* buf, long length, off_t offset, int fd, int hint);
TW_API int omp_file_read_list_all(const struct iovec* list, int size, int fd, int hint);
TW_API int omp_file_write_list_all(const struct iovec* list, int size, int fd, int hint);
TW_API int omp_file_read_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint);
TW_API int omp_file_write_list_at_all(const struct iovec* list, const off_t* offsets, int size, int fd, int hint);

/* ---- Access with common arguments -----------------------------------------------------------------------------------
 * Every thread passes the same arguments (lists with the same contents), and the bytes are moved once; the position
 * moves once. errno as above, EINVAL where arguments differ. omp_file_com_... is another spelling of the same. */
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
 * The same accesses, begun: i before the verb (before com where that comes first). Any number may be under way per
 * file. The shared position moves at the call. Wrong arguments of one thread make the call fail on all; common
 * arguments that differ, and what the storage says, come from the wait. request [out] not NULL; set only on success; it
 * may be one shared variable. */
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
 * the same request, to a team of the size that started it; requests are waited for in any order.
 * errno: EFAULT (NULL), EINVAL (no request of this process, threads that differ, a team of another size); the request
 * then stays valid. Else that of the operation, which is then over. */
TW_API int omp_file_wait_all(omp_file_request* request);

/* Tells whether it is complete on all threads; if so, as omp_file_wait_all(). Does not wait for the storage.
 * done [out] 1 or 0, the same on all threads; not NULL. errno as omp_file_wait_all(). */
TW_API int omp_file_test_all(omp_file_request* request, int* done);

#ifdef __cplusplus
}
#endif
#endif
