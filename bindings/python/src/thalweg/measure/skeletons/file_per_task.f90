! A file of each rank.
program file_per_task
  use mpi_f08
  implicit none
  integer :: rank, unit
  real, allocatable :: block(:)
  character(4096) :: path

  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, rank)
  path = 'array'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  allocate (block(1024 * 1024))
  block = real(rank) ! your data

  write (path, '(a, ".", i6.6)') trim(path), rank
  open (newunit=unit, file=trim(path), access='stream', form='unformatted', status='replace', action='write')
  write (unit) block
  close (unit)
  call mpi_finalize()
end program
