! Heat in a square plate, with a restart file for each rank: what heat.f90 was before it used thalweg.
! Usage: mpiexec -n RANKS heat_files STEPS
program heat_files
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  integer, parameter :: n = 256
  real(real64), allocatable :: u(:, :), next(:, :)
  integer :: rank, ranks, first, last, step, steps
  logical :: restarts
  character(32) :: word

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, word)
  read (word, *) steps
  first = n * rank / ranks + 1  ! the columns of this rank
  last = n * (rank + 1) / ranks
  allocate (u(n, first - 1:last + 1), next(n, first:last), source=0d0)
  restarts = is_there()
  step = 0
  if (restarts) then
    call restart()
  else if (rank == 0) then
    u(n / 4:n / 2, 1:n / (4 * ranks)) = 1
  end if
  do step = step + 1, step + steps
    call advance()
  end do
  step = step - 1
  call checkpoint()
  call report()
  call MPI_Finalize()

contains

  subroutine checkpoint()
    integer :: unit
    open (newunit=unit, file=name_of_rank(), form='unformatted')
    write (unit) step, first, last
    write (unit) u(:, first:last)
    close (unit)
  end subroutine checkpoint

  subroutine restart()
    integer :: unit
    open (newunit=unit, file=name_of_rank(), form='unformatted', status='old')
    read (unit) step
    read (unit) u(:, first:last)
    close (unit)
  end subroutine restart

  function name_of_rank() result(name)
    character(17) :: name
    write (name, '(a, i4.4)') 'heat.restart.', rank
  end function name_of_rank

  logical function is_there()
    inquire (file=name_of_rank(), exist=is_there)
  end function is_there

  subroutine advance()
    integer :: left, right, i, j
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    call MPI_Sendrecv(u(:, last), n, MPI_DOUBLE_PRECISION, right, 0, u(:, first - 1), n, MPI_DOUBLE_PRECISION, left, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(u(:, first), n, MPI_DOUBLE_PRECISION, left, 0, u(:, last + 1), n, MPI_DOUBLE_PRECISION, right, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    next = u(:, first:last)
    do j = max(first, 2), min(last, n - 1)
      do i = 2, n - 1
        next(i, j) = u(i, j) + 0.2d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j))
      end do
    end do
    u(:, first:last) = next
  end subroutine advance

  subroutine report()
    real(real64) :: mine, whole
    mine = sum(u(:, first:last)**2)
    call MPI_Reduce(mine, whole, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) print '(a, i0, a, f0.9)', 'step ', step, ', sum of squares ', whole
  end subroutine report

end program heat_files
