! MPI-IO by the module mpi_f08.
module counted
  use mpi_f08, only: MPI_File
  implicit none
  integer :: errors = 0
contains
  subroutine count_error(file, code)
    type(MPI_File) :: file
    integer :: code
    errors = errors + 1
  end subroutine
  subroutine fail(what)
    character(*) :: what
    print '(2a)', 'wrong: ', what
    call exit(1)
  end subroutine
end module

program fortran_f08
  use mpi_f08
  use counted
  implicit none

  type(MPI_File) :: file
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  type(MPI_Errhandler) :: handler
  integer :: rank, n, i, ierror, given(10), read(10)
  integer(MPI_OFFSET_KIND) :: offset
  character(1000) :: path
  include 'fortran_calls.inc'
end program
