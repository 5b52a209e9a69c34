!> Module thalweg on MPI ranks, with communicators of mpi_f08 and of the older modules, and with all threads of all ranks.
program ranks
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use omp_lib, only: omp_get_thread_num
  use checks
  use thalweg
  implicit none

  integer :: rank, n_ranks, level
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks)
  call multifile_of_ranks()
  call read_by_others()
  call field_of_ranks()
  call cells_of_ranks()
  if (level == MPI_THREAD_MULTIPLE) call all_threads()
  call failures_of_one()
  call group_of_ranks()
  call MPI_Finalize()
  call end_of_checks()

contains

  subroutine multifile_of_ranks()
    type(tw_multifile) :: f
    real(real64) :: u(1000), v(1000)
    integer :: step
    u = [(rank + step * 1d-3, step=1, 1000)]
    call f%open(path_of('ranks.tw'), 'w', comm=MPI_COMM_WORLD)
    call f%write(u)
    call f%close()
    ! The integer that `use mpi` and mpif.h have.
    call f%open(path_of('ranks.tw'), 'r', comm=MPI_COMM_WORLD%MPI_VAL)
    call f%read(v)
    call f%close()
    call expect(all(u == v), 'what this rank wrote')
  end subroutine multifile_of_ranks

  !> Rank 0 alone reads what all wrote, and the others append meanwhile to nothing.
  subroutine read_by_others()
    type(tw_multifile) :: f
    real(real64) :: v(1000)
    integer(int64) :: other, n
    if (rank == 0) then
      call f%open(path_of('ranks.tw'), 'r')
      call f%inquire(n_logical=n)
      call expect(n == n_ranks, 'as many logical files as ranks')
      do other = 0, n - 1
        call f%seek_to(other)
        call f%read(v)
        call expect(nint(v(1000)) == other + 1, 'what another rank wrote')
      end do
      call f%close()
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine read_by_others

  subroutine field_of_ranks()
    type(tw_file) :: f
    type(tw_request) :: request
    integer(int64) :: whole(2), first(2)
    integer :: u(5, 2), i, j
    integer, asynchronous :: v(5, 2)
    integer, allocatable :: all_of_it(:, :)
    whole = [5, 2 * n_ranks]
    first = [1, 2 * rank + 1]
    u = reshape([((10 * (first(2) + j) + i, i=1, 5), j=0, 1)], [5, 2])
    allocate (all_of_it(5, 2 * n_ranks))
    call f%open(path_of('field.dat'), 'w+', comm=MPI_COMM_WORLD)
    call f%write_array(u, global=whole, first=first)
    call f%read_array(all_of_it, global=whole)
    call expect(all(all_of_it == reshape([((10 * j + i, i=1, 5), j=1, 2 * n_ranks)], [5, 2 * n_ranks])), 'the field')
    call f%iread_array(v, whole, request, first=first)
    call request%wait()
    call expect(all(v == u), 'its part in the background')
    call f%close()
  end subroutine field_of_ranks

  subroutine cells_of_ranks()
    type(tw_vpfile) :: f
    integer(int64), allocatable :: first(:), counts(:)
    integer(int64) :: i, j
    real(real64), allocatable :: u(:, :, :), v(:, :, :)
    call f%open(path_of('cells.vp'), 'w', vp_shape=[6_int64, 7_int64], comm=MPI_COMM_WORLD)
    call f%inquire(first=first, counts=counts)
    allocate (u(2, counts(1), counts(2)))
    do j = 1, counts(2)
      do i = 1, counts(1)
        u(:, i, j) = [first(1) + i, first(2) + j]
      end do
    end do
    call f%write_all(u)
    call f%close()
    call MPI_Barrier(MPI_COMM_WORLD)
    call f%open(path_of('cells.vp'), 'r')
    allocate (v(2, 6, 7))
    call f%read_all(v)
    call expect(all(v == reshape([((i + 1d0, j + 1d0, i=1, 6), j=1, 7)], [2, 6, 7])), 'all cells')
    call f%close()
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine cells_of_ranks

  !> Two threads on each rank.
  subroutine all_threads()
    type(tw_multifile) :: f
    integer :: mine, got
    integer(int64) :: n
    !$omp parallel num_threads(2) private(f, mine, got, n)
    mine = 100 * rank + omp_get_thread_num()
    call f%open(path_of('threads.tw'), 'w', comm=MPI_COMM_WORLD, threads=.true.)
    call f%inquire(n_logical=n)
    call expect(n == 2 * n_ranks, 'a logical file for each thread of each rank')
    call f%write(mine)
    call f%close()
    call f%open(path_of('threads.tw'), 'r', comm=MPI_COMM_WORLD, threads=.true.)
    call f%read(got)
    call f%close()
    call expect(got == mine, 'what this thread wrote')
    !$omp end parallel
  end subroutine all_threads

  !> What is wrong on the last rank only is a failure of all.
  subroutine failures_of_one()
    type(tw_multifile) :: f
    type(tw_file) :: shared
    integer :: values(4), stat, i
    character(300) :: message
    logical :: last
    last = rank == n_ranks - 1
    call f%open(path_of('wrong.tw'), merge('q', 'w', last), comm=MPI_COMM_WORLD, stat=stat, errmsg=message)
    call expect(stat == TW_ERR_INVALID, 'a wrong mode of one rank: '//trim(message))
    call expect(index(message, "mode is 'q'") > 0, 'all ranks learn why: '//trim(message))
    call shared%open(path_of('shared.dat'), 'w+', comm=MPI_COMM_WORLD)
    values = [(i, i=1, 4)]
    call wrong_of_one(shared, values, last)
    call shared%write_all(values)
    call shared%close()
    call f%open(path_of('comm.tw'), 'w', comm=MPI_COMM_NULL, stat=stat, errmsg=message)
    call expect_status(stat, TW_ERR_INVALID, 'MPI_COMM_NULL')
  end subroutine failures_of_one

  subroutine wrong_of_one(shared, values, last)
    type(tw_file), intent(inout) :: shared
    integer, intent(in) :: values(:)
    logical, intent(in) :: last
    integer :: stat
    if (last) then
      call shared%write_at_all('text', 0, stat=stat)
    else
      call shared%write_at_all(values, 0, stat=stat)
    end if
    call expect_status(stat, TW_ERR_INVALID, 'a text on one rank')
    if (last) then
      call shared%write_array(values, global=[4, 4], stat=stat)
    else
      call shared%write_array(values, global=[4], stat=stat)
    end if
    call expect_status(stat, TW_ERR_INVALID, 'a wrong part on one rank')
  end subroutine wrong_of_one

  subroutine group_of_ranks()
    type(tw_group) :: g, copy
    integer(int64) :: values(2)
    integer :: word(3), stat
    call g%create(comm=MPI_COMM_WORLD)
    call g%duplicate(copy)
    call expect(g%rank() == rank .and. g%size() == n_ranks .and. g%kind() == 'mpi', 'the group of all ranks')
    values = [rank, 1]
    call copy%allreduce(values, TW_SUM)
    call expect(values(2) == n_ranks .and. values(1) == n_ranks * (n_ranks - 1) / 2, 'a sum')
    word = rank
    if (rank == 0) word = [5, 6, 7]
    call g%broadcast(word, 0_int64)
    call expect(all(word == [5, 6, 7]), 'a broadcast')
    call g%barrier()
    call g%agree(merge(TW_ERR_IO, TW_OK, rank == 0), 'the reason', stat)
    call expect_status(stat, TW_ERR_IO, 'agree')
    call copy%free()
    call g%free()
  end subroutine group_of_ranks

end program ranks
