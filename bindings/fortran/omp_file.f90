!> Thread-collective I/O for OpenMP programs: module omp_file, a thin layer over omp_file.h.
!!
!! Every function is **collective** over the threads of the innermost parallel region (outside any, a team of one):
!! all of them call it, in the same order, as with a barrier, and not inside single, master, critical, a loop or a task.
!! It returns 0, or -1 on all threads; omp_file_errno() then gives the errno, the same on all of them.
!! A thread without data passes length (or size) 0.
!!
!! **Units.** Lengths and offsets are bytes; offsets count from 0, the start of the file.
!! **Buffers** are scalars or arrays of any type and rank, contiguous (else EINVAL on all threads). They are borrowed
!! during the call, by nonblocking functions until the request is complete: declare them ASYNCHRONOUS, and do not use them
!! before omp_file_wait_all or omp_file_test_all reports completion.
!! **hint** is a sum of OMP_FILE_MEMORY_CONTIGUOUS, OMP_FILE_FILE_CONTIGUOUS, OMP_FILE_NONCONTIGUOUS; 0 or -1: unknown.
!! It has no effect on the file. Reference of each call: docs/reference/omp_file.md.
module omp_file
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_long, c_null_char, c_null_ptr, c_ptr, c_size_t
  implicit none
  private

  !> Flags of omp_file_open_all, to be added. They have the meaning of those of open(2), and equal values on all systems.
  integer(c_int), parameter, public :: OMP_FILE_RDONLY = 0, OMP_FILE_WRONLY = 1, OMP_FILE_RDWR = 2
  integer(c_int), parameter, public :: OMP_FILE_CREAT = 4, OMP_FILE_EXCL = 8, OMP_FILE_TRUNC = 16
  integer(c_int), parameter, public :: OMP_FILE_APPEND = 32  !< the shared position begins at the end
  integer(c_int), parameter, public :: OMP_FILE_DIRECT = 64  !< direct I/O
  integer(c_int), parameter, public :: OMP_FILE_SYNC = 128, OMP_FILE_DSYNC = 256  !< each write ends with a sync
  integer(c_int), parameter, public :: OMP_FILE_SEEK_SET = 0, OMP_FILE_SEEK_CUR = 1, OMP_FILE_SEEK_END = 2
  integer(c_int), parameter, public :: OMP_FILE_MEMORY_CONTIGUOUS = 1, OMP_FILE_FILE_CONTIGUOUS = 2
  integer(c_int), parameter, public :: OMP_FILE_NONCONTIGUOUS = 4
  integer, parameter, public :: omp_file_request_kind = c_int64_t  !< integer(omp_file_request_kind) :: request
  integer(c_int64_t), parameter, public :: OMP_FILE_REQUEST_NULL = 0

  !> A piece of memory of a list: omp_file_iovec(c_loc(a), bytes). The memory is borrowed like a buffer.
  type, bind(c), public :: omp_file_iovec
    type(c_ptr)       :: base = c_null_ptr
    integer(c_size_t) :: length = 0  !< bytes
  end type omp_file_iovec

  public :: omp_file_open_all, omp_file_close_all, omp_file_sync_all, omp_file_seek_all, omp_file_size_all
  public :: omp_file_wait_all, omp_file_test_all, omp_file_last_count, omp_file_errno
  public :: omp_file_read_all, omp_file_read_at_all, omp_file_read_list_all
  public :: omp_file_read_list_at_all, omp_file_read_com_all, omp_file_read_com_at_all
  public :: omp_file_read_com_list_all, omp_file_read_com_list_at_all, omp_file_write_all
  public :: omp_file_write_at_all, omp_file_write_list_all, omp_file_write_list_at_all
  public :: omp_file_write_com_all, omp_file_write_com_at_all, omp_file_write_com_list_all
  public :: omp_file_write_com_list_at_all, omp_file_iread_all, omp_file_iread_at_all
  public :: omp_file_iread_list_all, omp_file_iread_list_at_all, omp_file_iread_com_all
  public :: omp_file_iread_com_at_all, omp_file_iread_com_list_all, omp_file_iread_com_list_at_all
  public :: omp_file_iwrite_all, omp_file_iwrite_at_all, omp_file_iwrite_list_all
  public :: omp_file_iwrite_list_at_all, omp_file_iwrite_com_all, omp_file_iwrite_com_at_all
  public :: omp_file_iwrite_com_list_all, omp_file_iwrite_com_list_at_all
  public :: omp_file_com_read_all, omp_file_com_read_at_all, omp_file_com_read_list_all
  public :: omp_file_com_read_list_at_all, omp_file_com_write_all, omp_file_com_write_at_all
  public :: omp_file_com_write_list_all, omp_file_com_write_list_at_all, omp_file_icom_read_all
  public :: omp_file_icom_read_at_all, omp_file_icom_read_list_all, omp_file_icom_read_list_at_all
  public :: omp_file_icom_write_all, omp_file_icom_write_at_all, omp_file_icom_write_list_all
  public :: omp_file_icom_write_list_at_all

  !> Another spelling of omp_file_read_com_all.
  interface omp_file_com_read_all
    procedure omp_file_read_com_all
  end interface omp_file_com_read_all
  !> Another spelling of omp_file_read_com_at_all.
  interface omp_file_com_read_at_all
    procedure omp_file_read_com_at_all
  end interface omp_file_com_read_at_all
  !> Another spelling of omp_file_read_com_list_all.
  interface omp_file_com_read_list_all
    procedure omp_file_read_com_list_all
  end interface omp_file_com_read_list_all
  !> Another spelling of omp_file_read_com_list_at_all.
  interface omp_file_com_read_list_at_all
    procedure omp_file_read_com_list_at_all
  end interface omp_file_com_read_list_at_all
  !> Another spelling of omp_file_write_com_all.
  interface omp_file_com_write_all
    procedure omp_file_write_com_all
  end interface omp_file_com_write_all
  !> Another spelling of omp_file_write_com_at_all.
  interface omp_file_com_write_at_all
    procedure omp_file_write_com_at_all
  end interface omp_file_com_write_at_all
  !> Another spelling of omp_file_write_com_list_all.
  interface omp_file_com_write_list_all
    procedure omp_file_write_com_list_all
  end interface omp_file_com_write_list_all
  !> Another spelling of omp_file_write_com_list_at_all.
  interface omp_file_com_write_list_at_all
    procedure omp_file_write_com_list_at_all
  end interface omp_file_com_write_list_at_all
  !> Another spelling of omp_file_iread_com_all.
  interface omp_file_icom_read_all
    procedure omp_file_iread_com_all
  end interface omp_file_icom_read_all
  !> Another spelling of omp_file_iread_com_at_all.
  interface omp_file_icom_read_at_all
    procedure omp_file_iread_com_at_all
  end interface omp_file_icom_read_at_all
  !> Another spelling of omp_file_iread_com_list_all.
  interface omp_file_icom_read_list_all
    procedure omp_file_iread_com_list_all
  end interface omp_file_icom_read_list_all
  !> Another spelling of omp_file_iread_com_list_at_all.
  interface omp_file_icom_read_list_at_all
    procedure omp_file_iread_com_list_at_all
  end interface omp_file_icom_read_list_at_all
  !> Another spelling of omp_file_iwrite_com_all.
  interface omp_file_icom_write_all
    procedure omp_file_iwrite_com_all
  end interface omp_file_icom_write_all
  !> Another spelling of omp_file_iwrite_com_at_all.
  interface omp_file_icom_write_at_all
    procedure omp_file_iwrite_com_at_all
  end interface omp_file_icom_write_at_all
  !> Another spelling of omp_file_iwrite_com_list_all.
  interface omp_file_icom_write_list_all
    procedure omp_file_iwrite_com_list_all
  end interface omp_file_icom_write_list_all
  !> Another spelling of omp_file_iwrite_com_list_at_all.
  interface omp_file_icom_write_list_at_all
    procedure omp_file_iwrite_com_list_at_all
  end interface omp_file_icom_write_list_at_all

  interface
    function open_file(fd, filename, flags, mode, hints) bind(c, name="tw_omp_file_f_open_all") result(status)
      import :: c_char, c_int
      integer(c_int), intent(inout)      :: fd
      character(c_char), intent(in)      :: filename(*), hints(*)
      integer(c_int), value              :: flags, mode
      integer(c_int)                     :: status
    end function open_file

    !> Completes outstanding operations, then closes the file. EBADF: no descriptor, or closed already; EIO, ENOSPC.
    function omp_file_close_all(fd) bind(c) result(status)
      import :: c_int
      integer(c_int), value :: fd
      integer(c_int)        :: status
    end function omp_file_close_all

    !> Flushes written data to storage. EBADF, EIO, ENOSPC.
    function omp_file_sync_all(fd) bind(c) result(status)
      import :: c_int
      integer(c_int), value :: fd
      integer(c_int)        :: status
    end function omp_file_sync_all

    !> Moves the shared position; arguments are equal on all threads. EBADF, EINVAL.
    function omp_file_seek_all(fd, offset, whence, position) bind(c) result(status)
      import :: c_int, c_int64_t
      integer(c_int), value                     :: fd
      integer(c_int64_t), value                 :: offset    !< bytes
      integer(c_int), value                     :: whence    !< OMP_FILE_SEEK_SET, OMP_FILE_SEEK_CUR, OMP_FILE_SEEK_END
      integer(c_int64_t), intent(out), optional :: position  !< new position, 0-based byte
      integer(c_int)                            :: status
    end function omp_file_seek_all

    !> Current size of the file in bytes. EBADF, EIO.
    function omp_file_size_all(fd, nbytes) bind(c) result(status)
      import :: c_int, c_int64_t
      integer(c_int), value             :: fd
      integer(c_int64_t), intent(inout) :: nbytes  !< set only on success
      integer(c_int)                    :: status
    end function omp_file_size_all

    !> Waits until the operation is complete on all threads; the request becomes OMP_FILE_REQUEST_NULL. EINVAL: no
    !! request, threads that differ, a team of another size (the request stays); else the error of the operation.
    function omp_file_wait_all(request) bind(c) result(status)
      import :: c_int, omp_file_request_kind
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int)                                :: status
    end function omp_file_wait_all

    !> Tests without waiting: done becomes 1 when the operation is complete, else 0, on all threads.
    function omp_file_test_all(request, done) bind(c) result(status)
      import :: c_int, omp_file_request_kind
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int), intent(inout)                 :: done
      integer(c_int)                                :: status
    end function omp_file_test_all

    !> Bytes moved for this thread by its last access or wait; fewer than asked for at the end of the file.
    !! Not collective.
    function omp_file_last_count() bind(c) result(nbytes)
      import :: c_long
      integer(c_long) :: nbytes
    end function omp_file_last_count

    !> errno of this thread, valid directly after a call that returned -1. Not collective.
    function omp_file_errno() bind(c, name="tw_omp_file_f_errno") result(number)
      import :: c_int
      integer(c_int) :: number
    end function omp_file_errno

    !> Reads from the shared position, thread by thread.
    function omp_file_read_all(buf, length, fd, hint) bind(c, name="tw_omp_file_f_read_all") result(status)
      import :: c_int, c_long
      type(*), intent(inout) :: buf(..)
      integer(c_long), value :: length
      integer(c_int), value :: fd, hint
      integer(c_int) :: status
    end function omp_file_read_all

    !> Reads at an offset.
    function omp_file_read_at_all(buf, length, offset, fd, hint) &
        bind(c, name="tw_omp_file_f_read_at_all") result(status)
      import :: c_int, c_long, c_int64_t
      type(*), intent(inout) :: buf(..)
      integer(c_long), value :: length
      integer(c_int64_t), value :: offset
      integer(c_int), value :: fd, hint
      integer(c_int) :: status
    end function omp_file_read_at_all

    !> Reads a list of pieces, from the shared position.
    function omp_file_read_list_all(list, size, fd, hint) bind(c) result(status)
      import :: c_int, omp_file_iovec
      type(omp_file_iovec), intent(in) :: list(*)
      integer(c_int), value :: size, fd, hint
      integer(c_int) :: status
    end function omp_file_read_list_all

    !> Reads a list of pieces, each at its offset.
    function omp_file_read_list_at_all(list, offsets, size, fd, hint) bind(c) result(status)
      import :: c_int, c_int64_t, omp_file_iovec
      type(omp_file_iovec), intent(in) :: list(*)
      integer(c_int64_t), intent(in) :: offsets(*)
      integer(c_int), value :: size, fd, hint
      integer(c_int) :: status
    end function omp_file_read_list_at_all

    !> Writes from the shared position, thread by thread.
    function omp_file_write_all(buf, length, fd, hint) bind(c, name="tw_omp_file_f_write_all") result(status)
      import :: c_int, c_long
      type(*), intent(in) :: buf(..)
      integer(c_long), value :: length
      integer(c_int), value :: fd, hint
      integer(c_int) :: status
    end function omp_file_write_all

    !> Writes at an offset.
    function omp_file_write_at_all(buf, length, offset, fd, hint) &
        bind(c, name="tw_omp_file_f_write_at_all") result(status)
      import :: c_int, c_long, c_int64_t
      type(*), intent(in) :: buf(..)
      integer(c_long), value :: length
      integer(c_int64_t), value :: offset
      integer(c_int), value :: fd, hint
      integer(c_int) :: status
    end function omp_file_write_at_all

    !> Writes a list of pieces, from the shared position.
    function omp_file_write_list_all(list, size, fd, hint) bind(c) result(status)
      import :: c_int, omp_file_iovec
      type(omp_file_iovec), intent(in) :: list(*)
      integer(c_int), value :: size, fd, hint
      integer(c_int) :: status
    end function omp_file_write_list_all

    !> Writes a list of pieces, each at its offset.
    function omp_file_write_list_at_all(list, offsets, size, fd, hint) bind(c) result(status)
      import :: c_int, c_int64_t, omp_file_iovec
      type(omp_file_iovec), intent(in) :: list(*)
      integer(c_int64_t), intent(in) :: offsets(*)
      integer(c_int), value :: size, fd, hint
      integer(c_int) :: status
    end function omp_file_write_list_at_all

    !> Reads from the shared position, with equal arguments on all threads; moves the bytes once.
    function omp_file_read_com_all(buf, length, fd, hint) bind(c, name="tw_omp_file_f_read_com_all") result(status)
      import :: c_int, c_long
      type(*), intent(inout) :: buf(..)
      integer(c_long), value :: length
      integer(c_int), value :: fd, hint
      integer(c_int) :: status
    end function omp_file_read_com_all

    !> Reads at an offset, with equal arguments on all threads; moves the bytes once.
    function omp_file_read_com_at_all(buf, length, offset, fd, hint) &
        bind(c, name="tw_omp_file_f_read_com_at_all") result(status)
      import :: c_int, c_long, c_int64_t
      type(*), intent(inout) :: buf(..)
      integer(c_long), value :: length
      integer(c_int64_t), value :: offset
      integer(c_int), value :: fd, hint
      integer(c_int) :: status
    end function omp_file_read_com_at_all

    !> Reads a list of pieces, from the shared position, with equal arguments on all threads; moves the bytes once.
    function omp_file_read_com_list_all(list, size, fd, hint) bind(c) result(status)
      import :: c_int, omp_file_iovec
      type(omp_file_iovec), intent(in) :: list(*)
      integer(c_int), value :: size, fd, hint
      integer(c_int) :: status
    end function omp_file_read_com_list_all

    !> Reads a list of pieces, each at its offset, with equal arguments on all threads; moves the bytes once.
    function omp_file_read_com_list_at_all(list, offsets, size, fd, hint) bind(c) result(status)
      import :: c_int, c_int64_t, omp_file_iovec
      type(omp_file_iovec), intent(in) :: list(*)
      integer(c_int64_t), intent(in) :: offsets(*)
      integer(c_int), value :: size, fd, hint
      integer(c_int) :: status
    end function omp_file_read_com_list_at_all

    !> Writes from the shared position, with equal arguments on all threads; moves the bytes once.
    function omp_file_write_com_all(buf, length, fd, hint) bind(c, name="tw_omp_file_f_write_com_all") result(status)
      import :: c_int, c_long
      type(*), intent(in) :: buf(..)
      integer(c_long), value :: length
      integer(c_int), value :: fd, hint
      integer(c_int) :: status
    end function omp_file_write_com_all

    !> Writes at an offset, with equal arguments on all threads; moves the bytes once.
    function omp_file_write_com_at_all(buf, length, offset, fd, hint) &
        bind(c, name="tw_omp_file_f_write_com_at_all") result(status)
      import :: c_int, c_long, c_int64_t
      type(*), intent(in) :: buf(..)
      integer(c_long), value :: length
      integer(c_int64_t), value :: offset
      integer(c_int), value :: fd, hint
      integer(c_int) :: status
    end function omp_file_write_com_at_all

    !> Writes a list of pieces, from the shared position, with equal arguments on all threads; moves the bytes once.
    function omp_file_write_com_list_all(list, size, fd, hint) bind(c) result(status)
      import :: c_int, omp_file_iovec
      type(omp_file_iovec), intent(in) :: list(*)
      integer(c_int), value :: size, fd, hint
      integer(c_int) :: status
    end function omp_file_write_com_list_all

    !> Writes a list of pieces, each at its offset, with equal arguments on all threads; moves the bytes once.
    function omp_file_write_com_list_at_all(list, offsets, size, fd, hint) bind(c) result(status)
      import :: c_int, c_int64_t, omp_file_iovec
      type(omp_file_iovec), intent(in) :: list(*)
      integer(c_int64_t), intent(in) :: offsets(*)
      integer(c_int), value :: size, fd, hint
      integer(c_int) :: status
    end function omp_file_write_com_list_at_all

    !> Starts reading from the shared position, thread by thread.
    function omp_file_iread_all(buf, length, fd, hint, request) bind(c, name="tw_omp_file_f_iread_all") result(status)
      import :: c_int, c_long, omp_file_request_kind
      type(*), asynchronous, intent(inout) :: buf(..)
      integer(c_long), value :: length
      integer(c_int), value :: fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iread_all

    !> Starts reading at an offset.
    function omp_file_iread_at_all(buf, length, offset, fd, hint, request) &
        bind(c, name="tw_omp_file_f_iread_at_all") result(status)
      import :: c_int, c_long, c_int64_t, omp_file_request_kind
      type(*), asynchronous, intent(inout) :: buf(..)
      integer(c_long), value :: length
      integer(c_int64_t), value :: offset
      integer(c_int), value :: fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iread_at_all

    !> Starts reading a list of pieces, from the shared position.
    function omp_file_iread_list_all(list, size, fd, hint, request) bind(c) result(status)
      import :: c_int, omp_file_iovec, omp_file_request_kind
      type(omp_file_iovec), asynchronous, intent(in) :: list(*)
      integer(c_int), value :: size, fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iread_list_all

    !> Starts reading a list of pieces, each at its offset.
    function omp_file_iread_list_at_all(list, offsets, size, fd, hint, request) bind(c) result(status)
      import :: c_int, c_int64_t, omp_file_iovec, omp_file_request_kind
      type(omp_file_iovec), asynchronous, intent(in) :: list(*)
      integer(c_int64_t), asynchronous, intent(in) :: offsets(*)
      integer(c_int), value :: size, fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iread_list_at_all

    !> Starts writing from the shared position, thread by thread.
    function omp_file_iwrite_all(buf, length, fd, hint, request) &
        bind(c, name="tw_omp_file_f_iwrite_all") result(status)
      import :: c_int, c_long, omp_file_request_kind
      type(*), asynchronous, intent(in) :: buf(..)
      integer(c_long), value :: length
      integer(c_int), value :: fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iwrite_all

    !> Starts writing at an offset.
    function omp_file_iwrite_at_all(buf, length, offset, fd, hint, request) &
        bind(c, name="tw_omp_file_f_iwrite_at_all") result(status)
      import :: c_int, c_long, c_int64_t, omp_file_request_kind
      type(*), asynchronous, intent(in) :: buf(..)
      integer(c_long), value :: length
      integer(c_int64_t), value :: offset
      integer(c_int), value :: fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iwrite_at_all

    !> Starts writing a list of pieces, from the shared position.
    function omp_file_iwrite_list_all(list, size, fd, hint, request) bind(c) result(status)
      import :: c_int, omp_file_iovec, omp_file_request_kind
      type(omp_file_iovec), asynchronous, intent(in) :: list(*)
      integer(c_int), value :: size, fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iwrite_list_all

    !> Starts writing a list of pieces, each at its offset.
    function omp_file_iwrite_list_at_all(list, offsets, size, fd, hint, request) bind(c) result(status)
      import :: c_int, c_int64_t, omp_file_iovec, omp_file_request_kind
      type(omp_file_iovec), asynchronous, intent(in) :: list(*)
      integer(c_int64_t), asynchronous, intent(in) :: offsets(*)
      integer(c_int), value :: size, fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iwrite_list_at_all

    !> Starts reading from the shared position, with equal arguments on all threads; moves the bytes once.
    function omp_file_iread_com_all(buf, length, fd, hint, request) &
        bind(c, name="tw_omp_file_f_iread_com_all") result(status)
      import :: c_int, c_long, omp_file_request_kind
      type(*), asynchronous, intent(inout) :: buf(..)
      integer(c_long), value :: length
      integer(c_int), value :: fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iread_com_all

    !> Starts reading at an offset, with equal arguments on all threads; moves the bytes once.
    function omp_file_iread_com_at_all(buf, length, offset, fd, hint, request) &
        bind(c, name="tw_omp_file_f_iread_com_at_all") result(status)
      import :: c_int, c_long, c_int64_t, omp_file_request_kind
      type(*), asynchronous, intent(inout) :: buf(..)
      integer(c_long), value :: length
      integer(c_int64_t), value :: offset
      integer(c_int), value :: fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iread_com_at_all

    !> Starts reading a list of pieces, from the shared position, with equal arguments on all threads; moves the bytes once.
    function omp_file_iread_com_list_all(list, size, fd, hint, request) bind(c) result(status)
      import :: c_int, omp_file_iovec, omp_file_request_kind
      type(omp_file_iovec), asynchronous, intent(in) :: list(*)
      integer(c_int), value :: size, fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iread_com_list_all

    !> Starts reading a list of pieces, each at its offset, with equal arguments on all threads; moves the bytes once.
    function omp_file_iread_com_list_at_all(list, offsets, size, fd, hint, request) bind(c) result(status)
      import :: c_int, c_int64_t, omp_file_iovec, omp_file_request_kind
      type(omp_file_iovec), asynchronous, intent(in) :: list(*)
      integer(c_int64_t), asynchronous, intent(in) :: offsets(*)
      integer(c_int), value :: size, fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iread_com_list_at_all

    !> Starts writing from the shared position, with equal arguments on all threads; moves the bytes once.
    function omp_file_iwrite_com_all(buf, length, fd, hint, request) &
        bind(c, name="tw_omp_file_f_iwrite_com_all") result(status)
      import :: c_int, c_long, omp_file_request_kind
      type(*), asynchronous, intent(in) :: buf(..)
      integer(c_long), value :: length
      integer(c_int), value :: fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iwrite_com_all

    !> Starts writing at an offset, with equal arguments on all threads; moves the bytes once.
    function omp_file_iwrite_com_at_all(buf, length, offset, fd, hint, request) &
        bind(c, name="tw_omp_file_f_iwrite_com_at_all") result(status)
      import :: c_int, c_long, c_int64_t, omp_file_request_kind
      type(*), asynchronous, intent(in) :: buf(..)
      integer(c_long), value :: length
      integer(c_int64_t), value :: offset
      integer(c_int), value :: fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iwrite_com_at_all

    !> Starts writing a list of pieces, from the shared position, with equal arguments on all threads; moves the bytes once.
    function omp_file_iwrite_com_list_all(list, size, fd, hint, request) bind(c) result(status)
      import :: c_int, omp_file_iovec, omp_file_request_kind
      type(omp_file_iovec), asynchronous, intent(in) :: list(*)
      integer(c_int), value :: size, fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iwrite_com_list_all

    !> Starts writing a list of pieces, each at its offset, with equal arguments on all threads; moves the bytes once.
    function omp_file_iwrite_com_list_at_all(list, offsets, size, fd, hint, request) bind(c) result(status)
      import :: c_int, c_int64_t, omp_file_iovec, omp_file_request_kind
      type(omp_file_iovec), asynchronous, intent(in) :: list(*)
      integer(c_int64_t), asynchronous, intent(in) :: offsets(*)
      integer(c_int), value :: size, fd, hint
      integer(omp_file_request_kind), intent(inout) :: request
      integer(c_int) :: status
    end function omp_file_iwrite_com_list_at_all
  end interface

contains

  !> Opens a file once for all threads; each passes the same filename, flags, mode and hints.
  !! fd is set only on success, to the same descriptor on all threads; it may be one shared variable.
  !! Errors: EINVAL (flags, unknown hints, or arguments that differ), EPERM (writing to a file of a multifile or vpfile), EMFILE, ENOMEM,
  !! and those of open(2).
  function omp_file_open_all(fd, filename, flags, mode, hints) result(status)
    integer(c_int), intent(inout)        :: fd
    character(*), intent(in)             :: filename  !< trailing blanks are removed
    integer(c_int), intent(in)           :: flags     !< a sum of OMP_FILE_RDONLY, ...
    integer(c_int), intent(in), optional :: mode      !< of a new file, before the umask; default 0666 (octal)
    character(*), intent(in), optional   :: hints     !< as in "workers=4,io=direct"; `thalweg hints` lists them
    integer(c_int)                       :: status
    integer(c_int)                       :: given_mode
    character(:), allocatable            :: given_hints
    given_mode = 0
    if (present(mode)) given_mode = mode
    given_hints = ""
    if (present(hints)) given_hints = trim(hints)
    status = open_file(fd, trim(filename)//c_null_char, flags, given_mode, given_hints//c_null_char)
  end function omp_file_open_all

end module omp_file
