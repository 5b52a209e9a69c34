! MPI-IO by mpif.h.
module counted
  implicit none
  integer :: errors = 0
contains
  subroutine count_error(file, code)
    integer :: file
    integer :: code
    errors = errors + 1
  end subroutine
  subroutine fail(what)
    character(*) :: what
    print '(2a)', 'wrong: ', what
    call exit(1)
  end subroutine
end module

program fortran_mpif
  use counted
  implicit none
  include 'mpif.h'
  integer :: file, status(MPI_STATUS_SIZE), request, handler
  integer :: rank, n, i, ierror, given(10), read(10)
  integer(MPI_OFFSET_KIND) :: offset
  character(1000) :: path
  include 'fortran_calls.inc'
end program
