! The program of ../c/checkpoint.c in Fortran.
! Usage: mpiexec -n RANKS checkpoint
program checkpoint
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: rows = 256, columns = 128
  real(real64), allocatable :: u(:, :), v(:, :)
  real(real64) :: all_of_it
  integer :: rank, ranks, first, last, i, j
  character(32) :: log
  character(*), parameter :: text = 'step 1'//new_line('a')
  type(tw_multifile) :: f

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  write (log, '(a, i0, a)') 'logs/rank', rank, '.txt'
  first = rows * rank / ranks
  last = rows * (rank + 1) / ranks
  u = reshape([((i + real(j, real64) / columns, j=0, columns - 1), i=first, last - 1)], [columns, last - first])
  allocate (v, mold=u)

  call f%open('dump.tw', 'w', comm=MPI_COMM_WORLD)
  call f%write(u)
  call f%add(log)
  call f%write_text(text)
  call f%close()
  call f%open('dump.tw', 'r', comm=MPI_COMM_WORLD)
  call f%read(v)
  call f%close()

  call MPI_Reduce(sum(v), all_of_it, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a, f0.1)', 'sum ', all_of_it
  call MPI_Finalize()
end program checkpoint
