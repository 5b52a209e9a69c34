!> What the Fortran tests share: expectations that are counted, and files in a folder of the test.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  implicit none
  private
  public :: expect, expect_status, end_of_checks, path_of

  integer :: n_failed = 0

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    !$omp critical
    n_failed = n_failed + 1
    write (error_unit, '(2a)') 'FAILED: ', what
    !$omp end critical
  end subroutine expect

  subroutine expect_status(stat, wanted, what)
    integer, intent(in) :: stat, wanted
    character(*), intent(in) :: what
    character(80) :: numbers
    write (numbers, '(a, i0, a, i0)') ': status ', stat, ' in place of ', wanted
    call expect(stat == wanted, what//trim(numbers))
  end subroutine expect_status

  !> Of a file in the folder that the first argument of the program names.
  function path_of(name) result(path)
    character(*), intent(in) :: name
    character(4096) :: path, folder  ! of fixed length: see to_c in thalweg_base.f90
    call get_command_argument(1, folder)
    if (folder == '') error stop 'usage: the program takes a folder'
    path = trim(folder)//'/'//name
  end function path_of

  subroutine end_of_checks()
    if (n_failed > 0) error stop 'some expectations failed'
  end subroutine end_of_checks

end module checks
