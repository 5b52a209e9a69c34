! Thalweg multifile: a logical file of each rank, few files in the folder. What a rank writes may be of any length.
! Thalweg has no Fortran module for it: these are its C functions.
program multifile
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  interface
    integer(c_int32_t) function tw_group_mpi_f(comm, group) bind(c)
      import
      integer(c_int), value :: comm
      type(c_ptr), intent(out) :: group
    end function
    integer(c_int32_t) function tw_multifile_open(group, path, flags, options, file) bind(c)
      import
      type(c_ptr), value :: group, options
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: flags
      type(c_ptr), intent(out) :: file
    end function
    integer(c_int32_t) function tw_multifile_write(file, bytes, n) bind(c)
      import
      type(c_ptr), value :: file, bytes
      integer(c_size_t), value :: n
    end function
    integer(c_int32_t) function tw_multifile_close(file) bind(c)
      import
      type(c_ptr), intent(inout) :: file
    end function
    subroutine tw_group_free(group) bind(c)
      import
      type(c_ptr), intent(inout) :: group
    end subroutine
  end interface
  integer(c_int32_t), parameter :: tw_create = int(z'04000000', c_int32_t)
  integer(c_int32_t), parameter :: tw_truncate = int(z'10000000', c_int32_t)
  integer :: rank
  real, allocatable, target :: block(:)
  character(4096) :: path
  type(c_ptr) :: group, file

  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, rank)
  path = 'data.tw'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  allocate (block(1024 + rank))
  block = real(rank) ! your data

  call must(tw_group_mpi_f(mpi_comm_world%mpi_val, group))
  call must(tw_multifile_open(group, trim(path) // c_null_char, tw_create + tw_truncate, c_null_ptr, file))
  call must(tw_multifile_write(file, c_loc(block), storage_size(block, c_int64_t) / 8 * size(block, kind=c_int64_t)))
  call must(tw_multifile_close(file))
  call tw_group_free(group)
  call mpi_finalize()

contains
  subroutine must(status) ! the reason: tw_last_error()
    integer(c_int32_t), intent(in) :: status
    if (status == 0) return
    print '(a, i0)', 'Thalweg failed with status ', status
    call mpi_abort(mpi_comm_world, 1)
  end subroutine
end program
