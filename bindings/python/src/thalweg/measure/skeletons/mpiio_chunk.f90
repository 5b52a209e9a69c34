! MPI-IO: one file with the bytes of each rank, one behind the other. Each rank may have another number of reals.
program mpiio_chunk
  use mpi_f08
  implicit none
  integer :: rank
  integer(mpi_offset_kind) :: bytes, begin
  integer(mpi_offset_kind), parameter :: nothing = 0
  real, allocatable :: block(:)
  character(4096) :: path
  type(mpi_file) :: file

  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, rank)
  path = 'chunks.dat'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  allocate (block(1024 + rank))
  block = real(rank) ! your data

  call mpi_file_set_errhandler(mpi_file_null, mpi_errors_are_fatal) ! a failure ends the program with its text
  bytes = storage_size(block, mpi_offset_kind) / 8 * size(block, kind=mpi_offset_kind)
  begin = 0
  call mpi_exscan(bytes, begin, 1, mpi_offset, mpi_sum, mpi_comm_world) ! that of rank 0 stays 0
  call mpi_file_open(mpi_comm_world, trim(path), mpi_mode_create + mpi_mode_wronly, mpi_info_null, file)
  call mpi_file_set_size(file, nothing)
  call mpi_file_write_at_all(file, begin, block, size(block), mpi_real, mpi_status_ignore)
  call mpi_file_close(file)
  call mpi_finalize()
end program
