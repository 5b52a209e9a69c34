! Heat in a square plate, with one restart file for all ranks, from which any number of ranks restarts. heat_files.f90 is
! what it was before: the lines that differ end with a mark.
! Usage: mpiexec -n RANKS heat STEPS
program heat
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use thalweg  ! <-
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
    type(tw_multifile) :: f                                     ! <-
    call f%open('heat.restart.tw', 'w', comm=MPI_COMM_WORLD)    ! <-
    call f%write([step, first, last])                           ! <-
    call f%write(u(:, first:last))                              ! <-
    call f%close()                                              ! <-
  end subroutine checkpoint

  ! The columns of this rank, from the files of all ranks that wrote some of them.
  subroutine restart()
    type(tw_multifile) :: f
    integer :: part(3), from, to
    integer(int64) :: i, n_parts, offset
    call f%open('heat.restart.tw', 'r')
    call f%inquire(n_logical=n_parts)
    do i = 0, n_parts - 1
      call f%seek_to(i, 0_int64)
      call f%read(part)
      step = part(1)
      from = max(first, part(2))
      to = min(last, part(3))
      offset = storage_size(part) / 8 * 3 + storage_size(u) / 8 * int(n, int64) * (from - part(2))
      if (from <= to) call f%read_at(u(:, from:to), offset)
    end do
    call f%close()
  end subroutine restart

  logical function is_there()
    inquire (file='heat.restart.tw', exist=is_there)            ! <-
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

end program heat
