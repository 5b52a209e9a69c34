! A user program of module omp_file: buffers of several types and ranks, lists, requests, optional arguments, errors.
! Prints "ok".
program omp_file_program
  use, intrinsic :: iso_c_binding
  use omp_lib
  use omp_file
  implicit none
  integer(c_int), parameter  :: EINVAL = 22, EBADF = 9
  integer, parameter         :: threads = 3
  integer                    :: failures
  integer(c_int)             :: fd
  integer(c_int64_t)         :: nbytes, position

  failures = 0
  nbytes = -1
  !$omp parallel num_threads(threads)
  call write_and_read()
  !$omp end parallel
  call expect(omp_file_open_all(fd, "fortran.dat", OMP_FILE_RDONLY) == 0, "opening outside of a region")
  call expect(omp_file_seek_all(fd, -8_c_int64_t, OMP_FILE_SEEK_END) == 0, "seek without a position")
  call expect(omp_file_seek_all(fd, 0_c_int64_t, OMP_FILE_SEEK_CUR, position) == 0, "seek")
  call expect(omp_file_size_all(fd, nbytes) == 0, "size")
  call expect(position == nbytes - 8, "the position before the last 8 bytes")
  call expect(omp_file_close_all(fd) == 0, "close")
  if (failures /= 0) error stop 1
  print '(a)', "ok"

contains

  subroutine expect(holds, what)
    logical, intent(in)      :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    print '(a,i0,3a,i0)', "thread ", omp_get_thread_num(), ": ", what, " does not hold, errno ", omp_file_errno()
  end subroutine expect

  subroutine write_and_read()
    integer, asynchronous, target       :: grid(2, 4), back(2, 4)
    real(c_double), target              :: scalar, again
    type(omp_file_iovec)                :: list(2)
    integer(c_int64_t)                  :: offsets(2)
    integer(omp_file_request_kind)      :: request
    integer(c_int)                      :: done, bad
    integer                             :: rank

    rank = omp_get_thread_num()
    grid = rank + 1
    back = 0
    scalar = 0.5_c_double * rank
    call check(omp_file_open_all(fd, "fortran.dat   ", OMP_FILE_RDWR + OMP_FILE_CREAT + OMP_FILE_TRUNC, &
                                 int(o'600', c_int)) == 0, "open")
    call check(omp_file_iwrite_all(grid, 32_c_long, fd, 0, request) == 0, "iwrite")
    done = 0
    do while (done == 0)
      call check(omp_file_test_all(request, done) == 0, "test")
    end do
    call check(request == OMP_FILE_REQUEST_NULL, "a request that is over")
    call check(omp_file_iread_at_all(back, 32_c_long, 32_c_int64_t * rank, fd, -1, request) == 0, "iread")
    call check(omp_file_wait_all(request) == 0, "wait")
    call check(all(back == grid), "what was read")
    call check(omp_file_last_count() == 32, "count")

    list(1) = omp_file_iovec(c_loc(scalar), 4_c_size_t)
    list(2) = omp_file_iovec(c_loc(scalar), 8_c_size_t)
    offsets = [96_c_int64_t, 100_c_int64_t + 8 * rank]
    call check(omp_file_write_list_at_all(list, offsets, 2, fd, OMP_FILE_NONCONTIGUOUS) == 0, "list")
    call check(omp_file_read_at_all(again, 8_c_long, offsets(2), fd, 0) == 0, "read of a scalar")
    call check(abs(again - scalar) < 1e-9_c_double, "the scalar")

    ! A section of every other row is not contiguous.
    call check(omp_file_write_at_all(grid(1, :), 16_c_long, 0_c_int64_t, fd, 0) == -1, "a section")
    call check(omp_file_errno() == EINVAL, "EINVAL for a section")
    call check(omp_file_write_all(grid, merge(-1_c_long, 1_c_long, rank == 1), fd, 0) == -1, "a negative length")
    call check(omp_file_errno() == EINVAL, "EINVAL for a negative length")
    bad = 77
    call check(omp_file_open_all(bad, "x", OMP_FILE_RDONLY, hints="no_such=1") == -1 .and. bad == 77, "an unknown hint")
    call check(omp_file_open_all(bad, "x", 1024) == -1 .and. bad == 77, "unknown flags")
    call check(omp_file_sync_all(fd) == 0, "sync")
    call check(omp_file_close_all(fd) == 0, "close")
    ! The listing of the paper, without permissions.
    call check(omp_file_open_all(bad, "result.out", OMP_FILE_CREAT + OMP_FILE_RDWR) == 0, "open with three arguments")
    call check(omp_file_close_all(bad) == 0, "close of what three arguments made")
    call check(omp_file_close_all(fd) == -1, "closing twice")
    call check(omp_file_errno() == EBADF, "EBADF for closing twice")
  end subroutine write_and_read

  subroutine check(holds, what)
    logical, intent(in)      :: holds
    character(*), intent(in) :: what
    !$omp critical
    call expect(holds, what)
    !$omp end critical
  end subroutine check

end program omp_file_program
