! The threads of an OpenMP region write one file together, and read it back: each the block of its neighbour.
!     OMP_NUM_THREADS=4 example_fortran_omp_file field.dat
program omp_file_example
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int64_t, c_long
  use omp_lib, only: omp_get_thread_num, omp_get_num_threads
  use omp_file
  implicit none
  integer(c_long), parameter :: nbytes = 8000
  character(256)             :: path
  real(c_double)             :: mine(1000), next(1000)
  integer(c_int)             :: fd, failed
  integer                    :: i

  path = "field.dat"
  if (command_argument_count() > 0) call get_command_argument(1, path)
  failed = 0
  !$omp parallel private(mine, next, i) reduction(ior: failed)
  mine = [(omp_get_thread_num() * 1000.0_c_double + i, i = 0, 999)]
  failed = ior(failed, omp_file_open_all(fd, path, OMP_FILE_RDWR + OMP_FILE_CREAT + OMP_FILE_TRUNC))
  failed = ior(failed, omp_file_write_all(mine, nbytes, fd, 0))
  failed = ior(failed, omp_file_read_at_all(next, nbytes, nbytes * neighbour(), fd, 0))
  failed = ior(failed, omp_file_close_all(fd))
  !$omp critical
  print '(a,i0,a,i0)', "thread ", omp_get_thread_num(), ": the block of its neighbour begins with ", int(next(1))
  !$omp end critical
  !$omp end parallel
  if (failed /= 0) error stop 1

contains

  integer(c_int64_t) function neighbour()
    neighbour = modulo(omp_get_thread_num() + 1, omp_get_num_threads())
  end function neighbour

end program omp_file_example
