!> The cases of README.md in Fortran, where the field is u(8, 12), and element (j + 1, i + 1) of it is 100 i + j.
program cases
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, iostat_end, real64
  use mpi_f08
  use thalweg
  implicit none

  integer(int64), parameter :: kShape(2) = [8, 12]
  integer, parameter :: kFieldBytes = 8 * 8 * 12
  type(tw_group) :: group
  character(:), allocatable :: prefix, failures
  integer :: i, rank, ranks, first, last  ! rows first to before last, from 0
  character(4096) :: word
  logical :: writes

  call MPI_Init()
  call group%create(comm=MPI_COMM_WORLD)
  rank = int(group%rank())
  ranks = int(group%size())
  first = 12 * rank / ranks
  last = 12 * (rank + 1) / ranks
  call get_command_argument(1, word)
  writes = word == 'write'
  prefix = ''
  call expect(command_argument_count() > 1, 'usage: cases write|read PREFIX...')
  do i = 2, command_argument_count()
    call get_command_argument(i, word)
    prefix = trim(word)
    if (writes) then
      call write_shared()
      call write_cells()
      call have_failures()
      call write_multifile()
    else
      call have_failures()
      call read_shared(read_multifile())
      call read_cells()
    end if
  end do
  call group%free()
  call MPI_Finalize()

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    write (error_unit, '(a, i0, 4a)') 'FAILED: Fortran, rank ', rank, ', ', prefix, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine expect

  pure function rows_of(from, to) result(u)
    integer, intent(in) :: from, to
    real(real64) :: u(8, from:to - 1)
    integer :: i, j
    u = reshape([((100 * i + j, j=0, 7), i=from, to - 1)], shape(u))
  end function rows_of

  pure function text_of(number) result(text)
    integer, intent(in) :: number
    character(:), allocatable :: text
    character(20) :: digits
    write (digits, '(i0)') number
    text = trim(digits)
  end function text_of

  pure function line_of(r, n) result(line)
    integer, intent(in) :: r, n
    character(:), allocatable :: line
    line = 'rank '//text_of(r)//' has rows '//text_of(12 * r / n)//' to '//text_of(12 * (r + 1) / n - 1)//new_line('a')
  end function line_of

  subroutine write_shared()
    type(tw_file) :: file
    type(tw_request) :: request
    real(real64) :: memory(10, first - 1:last)
    integer(int64), asynchronous :: number(1)
    integer(int64) :: moved
    memory = -1
    memory(2:9, first:last - 1) = rows_of(first, last)
    number = 1000 + rank
    call file%open(prefix//'.dat', 'w', group=group)
    call file%write_array(memory, global=kShape, first=[1_int64, first + 1_int64], halo=[1_int64, 1_int64])
    call file%seek(kFieldBytes)
    call file%write_all([character(rank + 1) :: repeat(achar(iachar('a') + rank), rank + 1)])
    call file%iwrite_at(number, kFieldBytes + ranks * (ranks + 1) / 2 + 8 * rank, request)
    call request%wait(moved)
    call expect(moved == 8, 'bytes of a request')
    call file%close()
  end subroutine write_shared

  subroutine read_shared(writers)
    integer, intent(in) :: writers
    type(tw_file) :: file
    integer :: left, right, r, stat
    integer(int64) :: nbytes
    real(real64) :: u(8, 12)
    character, allocatable :: rest(:)
    character(:), allocatable :: expected
    real(real64), allocatable :: part(:, :)
    left = 8 * rank / ranks
    right = 8 * (rank + 1) / ranks
    expected = ''
    do r = 0, writers - 1
      expected = expected//repeat(achar(iachar('a') + r), r + 1)
    end do
    do r = 0, writers - 1
      expected = expected//transfer(1000_int64 + r, repeat(' ', 8))
    end do
    allocate (rest(len(expected)), part(left + 1:right, 12))
    call file%open(prefix//'.dat', 'r', group=group)
    call file%get_size(nbytes)
    call expect(nbytes == kFieldBytes + len(expected), 'length of the shared file')
    call file%read_array(part, global=kShape, first=[left + 1_int64, 1_int64])
    u = rows_of(0, 12)
    call expect(all(part == u(left + 1:right, :)), 'columns')
    call file%read_at_all(rest, kFieldBytes)
    call expect(all(rest == transfer(expected, rest)), 'bytes behind the field')
    call file%read_at_all(rest, kFieldBytes + 1, stat=stat)
    call expect(stat == iostat_end, 'end of the shared file')
    call file%close()
  end subroutine read_shared

  subroutine write_cells()
    type(tw_vpfile) :: file
    integer(int64) :: even(8, first:last - 1)
    integer :: i
    even = spread([(i, i=first, last - 1)], 1, 8)
    call file%open(prefix//'.vp', 'w', vp_shape=kShape, group=group)
    call file%write_all(rows_of(first, last))
    call file%write_all(even, mask=[mod(even, 2_int64) == 0])
    call file%close()
  end subroutine write_cells

  subroutine read_cells()
    type(tw_vpfile) :: file
    real(real64) :: u(8, first:last - 1), one
    integer(int64) :: even(8, first:last - 1), counts(8 * (last - first)), cell(2), number
    integer :: i, stat
    call file%open(prefix//'.vp', 'r', group=group)
    call file%read_all(u)
    call expect(all(u == rows_of(first, last)), 'field of the virtual processors')
    call file%read_all(even, counts=counts)
    do i = first, last - 1
      call expect(all(counts(8 * (i - first) + 1:8 * (i - first + 1)) == 1 - mod(i, 2)), 'counts of the items under the mask')
      call expect(mod(i, 2) == 1 .or. all(even(:, i) == i), 'items under the mask')
    end do
    cell = [6, first + 1]
    call file%seek(cell, 0_int64)
    call file%read(cell, one)
    call expect(one == 100 * first + 5, 'one stream')
    call file%read(cell, number, stat=stat)
    call expect(stat == merge(iostat_end, 0, mod(first, 2) == 1), 'end of one stream')
    call expect(stat == iostat_end .or. number == first, 'items of one stream')
    call file%close()
  end subroutine read_cells

  !> Notes the message of a call that fails on all ranks, without the task that it names where there are several.
  subroutine note(stat, wanted, message)
    integer, intent(in) :: stat, wanted
    character(500), intent(in) :: message
    character :: of_rank_0(500)
    call expect(stat == wanted, 'status of a failure')
    of_rank_0 = transfer(message, of_rank_0)
    call group%broadcast(of_rank_0, 0_int64)
    call expect(message == transfer(of_rank_0, message), 'one message on all ranks')
    failures = failures//trim(message(merge(9, 1, message(1:8) == 'task 0: '):))//new_line('a')
  end subroutine note

  subroutine have_failures()
    type(tw_multifile) :: multifile
    type(tw_vpfile) :: vpfile
    type(tw_file) :: file
    integer :: stat, wrong
    character(500) :: message
    real(real64) :: u(1)
    wrong = merge(-1, 0, rank == 0)
    failures = ''
    call multifile%open(prefix//'.missing', 'r', group=group, stat=stat, errmsg=message)
    call note(stat, TW_ERR_NOT_FOUND, message)
    call vpfile%open(prefix//'.none', 'x', vp_shape=[merge(-1, 8, rank == 0) + 0_int64, 12_int64], group=group, stat=stat, &
                     errmsg=message)
    call note(stat, TW_ERR_INVALID, message)
    call file%open(prefix//'.dat', 'r', group=group, hints='colour=blue', stat=stat, errmsg=message)
    call note(stat, TW_ERR_UNKNOWN_HINT, message)
    call file%open(prefix//'.dat', 'r', group=group)
    call file%write_at_all(u, 0, stat=stat, errmsg=message)
    call note(stat, TW_ERR_MODE, message)
    call file%read_at_all(u, wrong, stat=stat, errmsg=message)
    call note(stat, TW_ERR_INVALID, message)
    call file%read_at_all(u, 8)
    call expect(u(1) == 1, 'a read after failures')
    call file%close()
  end subroutine have_failures

  subroutine write_multifile()
    type(tw_multifile) :: file
    type(tw_request) :: request
    call file%open(prefix//'.tw', 'w', group=group)
    call file%write([int(first, int64), int(last, int64)])
    call file%write(rows_of(first, last))
    call file%isync(request)
    call file%add('log/'//text_of(rank), permissions=int(o'100644'))
    call file%write_text(line_of(rank, ranks))
    call file%set_attribute('ranks', text_of(ranks))
    call file%set_attribute('failures', failures)
    call request%wait()
    call file%close()
  end subroutine write_multifile

  integer function read_multifile() result(writers)
    type(tw_multifile) :: file
    integer(int64) :: rows(2), log, nread
    integer :: w, stat
    character(:), allocatable :: told
    character(1000) :: text
    real(real64), allocatable :: u(:, :)
    call file%open(prefix//'.tw', 'r', group=group)
    call file%attribute('ranks', told)
    read (told, *) writers
    call file%attribute('failures', told)
    call expect(told == failures, 'messages of the writer')
    call file%find('log/none', log, stat=stat)
    call expect(stat == TW_ERR_NOT_FOUND, 'a name that is missing')
    do w = writers * rank / ranks, writers * (rank + 1) / ranks - 1
      call file%seek_to(w, 0)
      call file%read(rows)
      call expect(all(rows == [12 * w / writers, 12 * (w + 1) / writers]), 'first and last row')
      u = rows_of(0, int(rows(2) - rows(1)))
      call file%read(u)
      call expect(all(u == rows_of(int(rows(1)), int(rows(2)))), 'rows of a logical file')
      call file%read_text(text, stat=stat)
      call expect(stat == iostat_end, 'end of a logical file')
      call file%find('log/'//text_of(w), log)
      call file%seek_to(log, 0_int64)
      call file%read_text(text, nread)
      call expect(text(:nread) == line_of(w, writers), 'text of a log file')
    end do
    call file%close()
  end function read_multifile

end program cases
