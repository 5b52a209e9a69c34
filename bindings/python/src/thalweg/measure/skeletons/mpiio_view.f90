! MPI-IO level 3: one file that is the array, by a view and a collective write.
! Each rank has a block of an array of reals, n x n, first index fastest.
program mpiio_view
  use mpi_f08
  implicit none
  integer, parameter :: n = 1024
  integer :: rank, ranks, grid(2), place(2), lo(2), extent(2)
  integer(mpi_offset_kind), parameter :: nothing = 0
  real, allocatable :: block(:, :)
  character(4096) :: path
  type(mpi_file) :: file
  type(mpi_datatype) :: piece

  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, rank)
  call mpi_comm_size(mpi_comm_world, ranks)
  path = 'array.dat'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  grid = 0
  call mpi_dims_create(ranks, 2, grid)
  place = [mod(rank, grid(1)), rank / grid(1)]
  lo = n * place / grid
  extent = n * (place + 1) / grid - lo
  allocate (block(extent(1), extent(2)))
  block = real(rank) ! your data

  call mpi_file_set_errhandler(mpi_file_null, mpi_errors_are_fatal) ! a failure ends the program with its text
  call mpi_type_create_subarray(2, [n, n], extent, lo, mpi_order_fortran, mpi_real, piece)
  call mpi_type_commit(piece)
  call mpi_file_open(mpi_comm_world, trim(path), mpi_mode_create + mpi_mode_wronly, mpi_info_null, file)
  call mpi_file_set_size(file, nothing)
  call mpi_file_set_view(file, nothing, mpi_real, piece, 'native', mpi_info_null)
  call mpi_file_write_all(file, block, size(block), mpi_real, mpi_status_ignore)
  call mpi_file_close(file)
  call mpi_type_free(piece)
  call mpi_finalize()
end program
