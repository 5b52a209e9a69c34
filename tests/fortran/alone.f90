!> Logical files go to the physical files in turn.
module mappings
  use, intrinsic :: iso_c_binding, only: c_associated, c_int32_t, c_int64_t, c_ptr
  implicit none
contains
  integer(c_int32_t) function alternate(rank, n_logical, n_physical, user) bind(c)
    integer(c_int64_t), value :: rank, n_logical
    integer(c_int32_t), value :: n_physical
    type(c_ptr), value :: user
    alternate = mod(int(rank, c_int32_t), n_physical)
    if (rank >= n_logical .or. c_associated(user)) alternate = -1
  end function alternate
end module mappings

!> Module thalweg without MPI: one task, and the threads of a parallel region.
program alone
  use, intrinsic :: iso_fortran_env
  use omp_lib, only: omp_get_thread_num
  use checks
  use mappings
  use thalweg
  implicit none

  type :: particle
    integer :: id = 0
    real(real64) :: place(3) = 0
  end type particle

  call kinds_and_ranks()
  call sections()
  call text()
  call positions()
  call names_and_attributes()
  call failures()
  call background()
  call team()
  call shared_file()
  call arrays()
  call views()
  call requests_of_files()
  call vpfiles()
  call whole_files()
  call end_of_checks()

contains

  subroutine kinds_and_ranks()
    type(tw_multifile) :: f
    integer(int8) :: i1(2), j1(2)
    integer(int16) :: i2, j2
    integer(int64) :: i8(2, 2, 2), j8(2, 2, 2)
    real(real32) :: r4, q4
    real(real64) :: r8(3, 2), q8(3, 2)
    real(real128) :: r16, q16
    complex(real64) :: c8(2), d8(2)
    logical :: l(3), m(3)
    character(5) :: words(2), read_words(2)
    type(particle) :: p(2), q(2)
    real(real64), allocatable :: empty(:, :)
    i1 = [1_int8, -2_int8]
    i2 = 300_int16
    i8 = reshape([1_int64, 2_int64, 3_int64, 4_int64, 5_int64, 6_int64, 7_int64, huge(1_int64)], [2, 2, 2])
    r4 = 1.5
    r8 = reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [3, 2])
    r16 = 2.25_real128
    c8 = [(1d0, 2d0), (3d0, -4d0)]
    l = [.true., .false., .true.]
    words = ['one  ', 'two  ']
    p%id = [7, 8]
    p(2)%place = [1d0, 2d0, 3d0]
    allocate (empty(3, 0))
    call f%open(path_of('kinds.tw'), 'w')
    call f%write(i1)
    call f%write(i2)
    call f%write(i8)
    call f%write(r4)
    call f%write(r8)
    call f%write(r16)
    call f%write(c8)
    call f%write(l)
    call f%write(words)
    call f%write(p)
    call f%write(empty)
    call f%close()
    call expect(.not. f%is_open(), 'closed')
    call f%open(path_of('kinds.tw'), 'r')
    call f%read(j1)
    call f%read(j2)
    call f%read(j8)
    call f%read(q4)
    call f%read(q8)
    call f%read(q16)
    call f%read(d8)
    call f%read(m)
    call f%read(read_words)
    call f%read(q)
    call f%read(empty)
    call f%close()
    call expect(all(i1 == j1) .and. i2 == j2 .and. all(i8 == j8), 'integers')
    call expect(r4 == q4 .and. all(r8 == q8) .and. r16 == q16 .and. all(c8 == d8), 'real and complex numbers')
    call expect(all(l .eqv. m) .and. all(words == read_words), 'logical values and words')
    call expect(all(p%id == q%id) .and. all(p(2)%place == q(2)%place), 'a derived type')
  end subroutine kinds_and_ranks

  !> Sections are gathered, and scattered.
  subroutine sections()
    type(tw_multifile) :: f
    integer :: a(6, 4), b(6, 4), i
    integer, pointer :: p(:)
    integer, target :: t(10)
    a = reshape([(i, i=1, 24)], [6, 4])
    call f%open(path_of('sections.tw'), 'w')
    call f%write(a(2:6:2, 2:3))
    t = [(i, i=1, 10)]
    p => t(10:1:-3)
    call f%write(p)
    call f%close()
    b = 0
    t = 0
    call f%open(path_of('sections.tw'), 'r')
    call f%read(b(2:6:2, 2:3))
    call f%read(p)
    call f%close()
    call expect(all(b(2:6:2, 2:3) == a(2:6:2, 2:3)) .and. sum(b) == sum(a(2:6:2, 2:3)), 'a section of rank 2')
    call expect(all(p == [10, 7, 4, 1]) .and. sum(t) == 22, 'a pointer that goes backwards')
    call assumed_size(t)
  end subroutine sections

  subroutine assumed_size(t)
    integer, intent(in) :: t(*)
    type(tw_multifile) :: f
    integer :: stat
    character(:), allocatable :: text
    call f%open(path_of('assumed.tw'), 'w')
    call f%write(t(1:3))
    call f%write(t, stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'an array of assumed size')
    call tw_last_message(text)
    call expect(index(text, 'a(1:n)') > 0, 'the message says what to pass: '//text)
    call f%close()
  end subroutine assumed_size

  subroutine text()
    type(tw_multifile) :: f
    character(:), allocatable :: line
    integer :: stat
    integer(int8) :: byte
    allocate (character(7) :: line)
    call f%open(path_of('text.tw'), 'w')
    call f%write_text('step 7 ')
    call f%write('x', stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'text to write()')
    call refuse_texts(f, 'dummy')
    byte = 1_int8
    call f%write(byte, stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'a scalar of one byte, which looks like text')
    call f%write([byte])
    call polymorphic(f)
    call f%close()
    call f%open(path_of('text.tw'), 'r')
    call f%read_text(line)
    call expect(line == 'step 7 ', 'text')
    call f%close()
  end subroutine text

  !> However a scalar text arrives, its length is not known.
  subroutine refuse_texts(f, dummy)
    type(tw_multifile), intent(inout) :: f
    character(*), intent(in) :: dummy
    character(20) :: fixed
    character(5) :: names(2)
    character(:), allocatable :: deferred
    integer :: stats(6)
    fixed = 'fixed'
    names = 'names'
    deferred = 'deferred'
    call f%write(fixed, stat=stats(1))
    call f%write(fixed(1:5), stat=stats(2))
    call f%write(names(2)(2:3), stat=stats(3))
    call f%write(deferred, stat=stats(4))
    call f%write(dummy(1:2), stat=stats(5))
    call f%write(fixed//'abc', stat=stats(6))
    call expect(all(stats == TW_ERR_INVALID), 'scalar texts are refused')
  end subroutine refuse_texts

  subroutine polymorphic(f)
    type(tw_multifile), intent(inout) :: f
    class(*), allocatable :: any
    integer :: stats(2)
    allocate (any, source=5)
    call f%write(any, stat=stats(1))
    select type (any)
    type is (integer)
      call f%write(any, stat=stats(2))
    end select
    call expect(stats(1) == TW_ERR_INVALID .and. stats(2) == TW_OK, 'class(*)')
  end subroutine polymorphic

  subroutine positions()
    type(tw_multifile) :: f
    integer(int64) :: nread, position, rank, in_chunk, in_file, skipped
    integer :: values(3), stat
    character(200) :: message
    call f%open(path_of('positions.tw'), 'w', n_logical=3_int64, ranks=[2_int64, 0_int64])
    call f%seek_to(2)
    call f%write([1, 2, 3])
    call f%write_at(9, 4_int64)
    call f%seek(100_int64)
    call f%write([4])
    call f%inquire(position=position, rank=rank)
    call expect(position == 104 .and. rank == 2, 'position and rank')
    call f%close()
    call f%open(path_of('positions.tw'), 'r')
    call f%seek_to(2, 0)
    call f%inquire(in_chunk=in_chunk, in_file=in_file)
    call expect(in_file == 104 .and. in_chunk > 0, 'bytes to the end')
    call f%read(values)
    call expect(all(values == [1, 9, 3]), 'written at an offset')
    call f%skip_gap(skipped)
    call expect(skipped == 88, 'the gap')
    call f%read_at(values(:1), 100)
    call expect(values(1) == 4, 'read at an offset')
    call f%seek(-4_int64, TW_SEEK_END)
    message = 'unchanged'
    call f%read(values, stat=stat, errmsg=message)
    call expect_status(stat, iostat_end, 'a read beyond the end')
    call expect(index(message, 'positions.tw: the data end after 4 of 12 bytes') > 0, 'the message counts: '//trim(message))
    call f%seek(-4_int64, TW_SEEK_END)
    call f%read(values, nread)
    call expect(nread == 4 .and. values(1) == 4, 'a read that asks how many')
    call f%inquire_logical(1_int64, nbytes=nread)
    call expect(nread == 0, 'a logical file that nobody wrote')
    call f%close()
  end subroutine positions

  subroutine names_and_attributes()
    type(tw_multifile) :: f
    character(:), allocatable :: name, value, key, strategy
    integer(int64) :: rank, part, n, sessions
    integer :: permissions, n_physical, i
    logical :: closed
    call f%open(path_of('names.tw'), 'w')
    call f%set_name('first')
    call f%add('run7/field')
    call f%write([1.5])
    call f%add('u', part=3_int64, permissions=int(o'100640'))
    call f%set_attribute('unit', 'm/s ')
    call f%close()
    call f%open(path_of('names.tw'), 'r')
    call f%find('run7/field', rank)
    call expect(rank == 1, 'found by name')
    call f%find('u', rank, part=3_int64)
    call f%inquire_logical(rank, name=name, permissions=permissions, part=part)
    call expect(name == 'u' .and. permissions == int(o'100640') .and. part == 3, 'name, permissions and part')
    call f%inquire(n_logical=n, n_physical=n_physical, sessions=sessions, closed=closed, strategy=strategy)
    call expect(n == 3 .and. n_physical == 1 .and. sessions == 1 .and. closed .and. len(strategy) > 0, 'properties')
    call f%attribute('unit', value)
    call expect(value == 'm/s ' .and. len(value) == 4, 'an attribute')
    do i = 1, 4
      call f%attribute_key(int(i, int64), key)
      if (key == 'unit') exit
    end do
    call expect(key == 'unit', 'the keys')
    call f%close()
  end subroutine names_and_attributes

  subroutine failures()
    type(tw_multifile) :: f
    type(tw_group) :: g
    character(300) :: message
    integer :: stat
    message = 'unchanged'
    call f%open(path_of('ok.tw'), 'w', stat=stat, errmsg=message)
    call expect(stat == TW_OK .and. message == 'unchanged', 'success leaves errmsg alone')
    call f%close()
    call f%open(path_of('none.tw'), 'r', stat=stat, errmsg=message)
    call expect_status(stat, TW_ERR_NOT_FOUND, 'a file that is not there')
    call expect(index(message, 'none.tw') > 0 .and. .not. f%is_open(), 'the message names it: '//trim(message))
    call f%open(path_of('ok.tw'), 'q', stat=stat, errmsg=message)
    call expect_status(stat, TW_ERR_INVALID, 'an unknown mode')
    call expect(index(message, "'q'") > 0, 'the message names the mode: '//trim(message))
    call f%open(path_of('ok.tw'), 'w', hints='chunk_byte=1', stat=stat, errmsg=message)
    call expect_status(stat, TW_ERR_UNKNOWN_HINT, 'an unknown hint')
    call f%open(path_of('ok.tw'), 'w', n_logical=3_int64, stat=stat, errmsg=message)
    call expect(stat == TW_ERR_INVALID .and. index(message, 'n_logical') > 0, 'n_logical alone: '//trim(message))
    call f%write([1], stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'a write to nothing')
    call f%open(path_of('ok.tw'), 'x', stat=stat)
    call expect_status(stat, TW_ERR_EXISTS, 'a file that must not be there')
    call f%open(path_of('none.tw'), 'w', group=g, stat=stat, errmsg=message)
    call expect(stat == TW_ERR_INVALID .and. index(message, 'create') > 0, 'a group that was not created: '//trim(message))
  end subroutine failures

  subroutine background()
    type(tw_multifile) :: f
    type(tw_request) :: flushed, synced
    integer :: stat
    logical :: done
    call f%open(path_of('background.tw'), 'w')
    call f%write([1, 2])
    call f%iflush(flushed)
    call f%write([3])
    call f%isync(synced)
    call expect(flushed%is_active() .and. synced%is_active(), 'requests')
    call flushed%wait()
    done = .false.
    do while (.not. done)
      call synced%test(done, stat=stat)
    end do
    call expect(stat == TW_OK .and. .not. synced%is_active(), 'a test ends a request')
    call f%flush()
    call f%sync()
    call f%abandon()
    call f%open(path_of('background.tw'), 'r', stat=stat)
    call expect_status(stat, TW_ERR_NOT_CLOSED, 'an abandoned multifile')
    call f%open(path_of('background.tw'), 'r', recover=.true.)
    call f%close()
  end subroutine background

  !> Each thread has a logical file; physical files are chosen by a function.
  subroutine team()
    type(tw_multifile) :: f
    integer :: n_physical, mine, rank
    !$omp parallel num_threads(3) private(f, n_physical, mine, rank)
    rank = omp_get_thread_num()
    call f%open(path_of('team.tw'), 'w', threads=.true., hints='physical_files=2', mapping=alternate)
    call f%write([rank * 10])
    call f%inquire(n_physical=n_physical)
    call expect(n_physical == 2, 'the mapping makes two files')
    call f%close()
    call f%open(path_of('team.tw'), 'r', threads=.true.)
    call f%read(mine)
    call expect(mine == rank * 10, 'what this thread wrote')
    call f%close()
    !$omp end parallel
  end subroutine team

  subroutine shared_file()
    type(tw_file) :: f
    type(tw_group) :: g
    integer(int64) :: nbytes, position, nread
    integer :: rank, values(4), stat
    logical :: is_alone
    !$omp parallel num_threads(2) private(f, g, nbytes, position, nread, rank, values, stat, is_alone)
    call g%create(threads=.true.)
    rank = int(g%rank())
    call expect(g%size() == 2 .and. g%kind() == 'team', 'a team')
    call f%open(path_of('shared.dat'), 'w+', group=g)
    call f%write_all([rank, rank + 10])
    call f%seek(0_int64, position=position)
    call f%read_all(values(:2))
    call expect(position == 0 .and. all(values(:2) == [rank, rank + 10]), 'in order of ranks')
    call f%write_at_all([100 + rank], 16 + 4 * rank)
    call f%read_at_all(values(:2), 16_int64)
    call expect(all(values(:2) == [100, 101]), 'at offsets')
    if (rank == 0) call f%write_at([7], 24_int64)
    call f%sync()
    call f%get_size(nbytes)
    call expect(nbytes == 28, 'the size')
    call f%read_at(values(:1), 24_int64)
    call f%read_at(values(2:3), 24_int64, nread)
    call expect(values(1) == 7 .and. nread == 4, 'one task alone, and the end of the file')
    call f%read_at(values(2:3), 24_int64, stat=stat)
    call expect_status(stat, iostat_end, 'a read at the end')
    call g%barrier()
    call f%truncate(8_int64)
    call f%preallocate(64_int64, 0_int64)
    call f%get_end(nbytes)
    call expect(nbytes == 64, 'preallocated')
    call expect_plan(f)
    call f%goes_alone(is_alone)
    call f%close()
    call f%open(path_of('shared.dat'), 'c+', group=g)
    call f%get_size(nbytes)
    call expect(nbytes == 64, 'mode c keeps what is there')
    call f%abandon()
    call g%free()
    !$omp end parallel
  end subroutine shared_file

  ! On its own: gfortran 12 fails to compile a private string of changing length without optimization.
  subroutine expect_plan(f)
    type(tw_file), intent(in) :: f
    character(:), allocatable :: plan
    call f%last_plan(plan)
    call expect(len(plan) > 0, 'the plan')
  end subroutine expect_plan

  !> Two threads share a field of 4 x 6 with a halo of one column on each side.
  subroutine arrays()
    type(tw_file) :: f
    type(tw_request) :: request
    integer(int64) :: first(2)
    integer :: rank, i, j, stat
    real(real64) :: u(4, 0:4), v(6, 6)
    real(real64), asynchronous :: w(4, 3)
    !$omp parallel num_threads(2) private(f, request, first, rank, i, j, stat, u, v, w)
    rank = omp_get_thread_num()
    first = [1, 1 + 3 * rank]
    u = -1
    do j = 1, 3
      do i = 1, 4
        u(i, j) = 100 * (j + 3 * rank) + i
      end do
    end do
    call f%open(path_of('field.dat'), 'w+', threads=.true.)
    call f%write_array(u, global=[4_int64, 6_int64], first=first, halo=[0_int64, 1_int64])
    call f%read_array(v(1:4, :), global=[4, 6])
    call expect(all([((v(i, j) == 100 * j + i, i=1, 4), j=1, 6)]), 'a field of two threads')
    call f%iread_array(w, [4, 6], request, first=[1, 4], halo=[0, 0])
    call request%wait()
    call expect(all(w == v(1:4, 4:6)), 'a part in the background')
    w = 1
    call f%iwrite_array(w, [4_int64, 6_int64], request, first=first, offset=8_int64 * 24)
    call request%wait()
    ! One thread is wrong: it fails on both.
    call f%write_array(u, global=[4_int64, 6_int64], first=first, halo=[0_int64, merge(3_int64, 1_int64, rank == 1)], stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'a halo that is too large')
    call f%write_array(u, global=[4_int64], stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'another number of dimensions')
    call f%close()
    !$omp end parallel
  end subroutine arrays

  subroutine views()
    type(tw_file) :: f
    type(tw_view) :: element, v, w
    integer :: rank, i, values(6)
    integer(int64) :: offset, position
    !$omp parallel num_threads(2) private(f, element, v, w, rank, i, values, offset, position)
    rank = omp_get_thread_num()
    call element%contiguous(4_int64)
    call v%subarray([4_int64, 3_int64], [1_int64 + 2 * rank, 1_int64], [2_int64, 3_int64], element)
    call expect(v%nbytes() == 24 .and. v%extent() == 48, 'a subarray')
    call f%open(path_of('view.dat'), 'w+', threads=.true.)
    call f%set_view(0_int64, v)
    call f%write_view_all([(100 * rank + i, i=1, 6)])
    call f%seek_view(0_int64, position=position)
    call f%read_view(values)
    call expect(position == 0 .and. all(values == [(100 * rank + i, i=1, 6)]), 'through a view')
    call f%view_offset(8_int64, offset)
    call expect(offset == 16 + 8 * rank, 'where a byte of the view lies')
    call f%set_view(0_int64)
    call f%read_at_all(values, 16_int64)
    call expect(all(values == [3, 4, 103, 104, 5, 6]), 'two views in one file')
    call w%strided(2_int64, 1_int64, 8_int64, element)
    call expect(w%nbytes() == 8 .and. w%extent() == 12, 'strided')
    call w%free()
    call w%indexed([8_int64, 0_int64], [1_int64, 1_int64], element)
    call expect(w%nbytes() == 8, 'indexed')
    call w%free()
    call w%structured([0_int64, 16_int64], [1_int64, 2_int64], [element, v])
    call expect(w%nbytes() == 4 + 48, 'of different elements')
    call w%free()
    call w%distributed([6_int64, 4_int64], [2_int64, 1_int64], [0_int64, 0_int64], [TW_BLOCK, TW_NOT_DISTRIBUTED], &
                       int(rank, int64), element)
    call expect(w%nbytes() == 48, 'distributed')
    call w%free()
    call w%resized(element, 16_int64)
    call expect(w%extent() == 16, 'resized')
    call w%free()
    call v%free()
    call element%free()
    call f%close()
    !$omp end parallel
  end subroutine views

  subroutine requests_of_files()
    type(tw_file) :: f
    type(tw_request) :: requests(3)
    integer, asynchronous :: a(4), b(4), c(8)
    integer(int64) :: nbytes(3)
    integer(int32) :: stats(3)
    integer :: place, n_done, places(3), stat, i
    logical :: done
    a = [1, 2, 3, 4]
    b = [5, 6, 7, 8]
    call f%open(path_of('requests.dat'), 'w+')
    call f%iwrite_at(a, 0_int64, requests(1))
    call f%iwrite_at_all(b, 16_int64, requests(3))
    call tw_wait_all(requests, stats, nbytes)
    call expect(all(stats == TW_OK) .and. all(nbytes == [16, 0, 16]), 'all are complete')
    call f%iread_at(c, 0_int64, requests(2))
    call tw_wait_any(requests, place, nbytes(1))
    call expect(place == 2 .and. nbytes(1) == 32 .and. all(c == [(i, i=1, 8)]), 'any is complete')
    call tw_wait_any(requests, place)
    call expect(place == 0, 'none is active')
    call f%iwrite_at(a, 0_int64, requests(1))
    call tw_wait_some(requests, n_done, places(:2), stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'too little room for indices')
    call tw_wait_all(requests, stats(:2), stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'too little room for statuses')
    call requests(1)%wait()
    call f%iread_at_all(c, 0_int64, requests(1))
    call tw_wait_some(requests, n_done, places, nbytes=nbytes)
    call expect(n_done == 1 .and. places(1) == 1, 'some are complete')
    call tw_test_all(requests, done)
    call expect(done, 'all, of none')
    call f%iread_at(c(1:8:2), 0_int64, requests(1), stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'a section that does not lie together')
    call f%iread_at(c, 4_int64, requests(1))
    done = .false.
    do while (.not. done)
      call tw_test_any(requests, done, place, nbytes(1))
    end do
    call expect(place == 1 .and. nbytes(1) == 28, 'the end of the file in a request')
    call tw_test_some(requests, n_done, places)
    call expect(n_done == -1, 'some, of none')
    call f%iwrite_all(a, requests(1))
    call f%iwrite_view(b, requests(2))
    call tw_wait_all(requests)
    call f%seek(0_int64)
    call f%iread_all(a, requests(1))
    call f%seek_view(0_int64)
    call f%iread_view_all(b, requests(2))
    call tw_wait_all(requests)
    call f%close()
  end subroutine requests_of_files

  !> Three items for each of 4 x 3 virtual processors, of two threads.
  subroutine vpfiles()
    type(tw_vpfile) :: f
    integer :: u(3, 4, 3), v(3, 4, 3), one(3), flat(12), i, j, k, stat
    integer(int64), allocatable :: box_first(:), box(:), whole(:), sizes(:), lengths(:)
    integer(int64) :: n_local, position, nbytes, counts(12), offsets(12)
    logical :: mask(12), at_end
    character(2) :: mode
    u = reshape([(((100 * k + 10 * j + i, i=1, 3), j=1, 4), k=1, 3)], [3, 4, 3])
    !$omp parallel num_threads(2) private(f, box_first, box, n_local, whole)
    call f%open(path_of('cells.vp'), 'w', vp_shape=[4_int64, 3_int64], threads=.true.)
    call f%inquire(first=box_first, counts=box, n_local=n_local, vp_shape=whole)
    call expect(all(whole == [4, 3]) .and. n_local == product(box), 'the box of a thread')
    call f%write_all(u(:, box_first(1):box_first(1) + box(1) - 1, box_first(2):box_first(2) + box(2) - 1))
    call f%close()
    !$omp end parallel
    call f%open(path_of('cells.vp'), 'r+')
    call f%read_all(v)
    call expect(all(u == v), 'all virtual processors')
    call f%seek_all(0_int64)
    call f%read([2_int64, 3_int64], one)
    call expect(all(one == u(:, 2, 3)), 'one of them')
    call f%tell([2_int64, 3_int64], position, at_end)
    call expect(position == 12 .and. .not. at_end, 'its position')
    call f%read([2_int64, 3_int64], one, stat=stat)
    call expect_status(stat, iostat_end, 'its end')
    call f%seek([2, 3], 0)
    mask = [(mod(i, 2) == 0, i=1, 12)]
    call f%seek_all(offset=0_int64, whence=TW_SEEK_END)
    call f%write_all(u(1, :, :), mask=mask, counts=counts)
    call expect(all(counts == merge(1, 0, mask)), 'those of a mask')
    lengths = merge(0_int64, 2_int64, mask)
    call f%write_ragged_all([(i, i=1, 12)], lengths)
    call f%write_text([4_int64, 1_int64], 'text')
    call f%inquire(sizes=sizes, mode=mode)
    call expect(all(sizes == merge(16, 20, mask) + merge(4, 0, [(i == 4, i=1, 12)])), 'sizes of streams')
    call f%get_size([4_int64, 1_int64], nbytes)
    call expect(nbytes == 20 .and. mode /= 'NB', 'one size')
    call f%flush_all()
    call f%sync_all()
    offsets = 12
    call f%seek_all(offsets=offsets)
    call f%read_ragged_all(flat, lengths, counts=counts)
    call expect(all(counts == lengths) .and. all(flat == [(i, i=1, 12)]), 'read ragged')
    call f%read_all(v, mask=[.true.], stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'a mask of another size')
    call f%seek_all(offsets=offsets(:2), stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'offsets of another size')
    call f%tell_all(offsets(:2), stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'positions of another size')
    call f%read_all(v(:, :, 1:1), stat=stat)
    call expect(stat /= TW_OK, 'an array that has too few items')
    call f%write([5_int64, 1_int64], one, stat=stat)
    call expect_status(stat, TW_ERR_INVALID, 'an index outside of the shape')
    call f%close()
    call tw_vpfile_verify(path_of('cells.vp'))
    call tw_vpfile_repair(path_of('cells.vp'))
    call tw_vpfile_flatten(path_of('cells.vp'), path_of('flat.vp'), fill=7_int8)
    call f%open(path_of('flat.vp'), 'r')
    call f%inquire(sizes=sizes, mode=mode)
    call expect(mode == 'NB' .and. all(sizes == 20), 'a vpfile that was made flat')
    call f%close()
    call plain_array()
  end subroutine vpfiles

  !> An array that another program wrote.
  subroutine plain_array()
    type(tw_vpfile) :: f
    integer :: unit, i, u(4, 3)
    open (newunit=unit, file=path_of('plain.vp'), access='stream')
    write (unit) [(i, i=1, 12)]
    close (unit)
    call tw_vpfile_import(path_of('plain.vp'), [4_int64, 3_int64], 4_int64)
    call f%open(path_of('plain.vp'), 'r')
    call f%read_all(u)
    call expect(all(u == reshape([(i, i=1, 12)], [4, 3])), 'a plain array')
    call f%close()
  end subroutine plain_array

  subroutine whole_files()
    integer :: stat
    call tw_multifile_verify(path_of('kinds.tw'))
    call tw_multifile_defrag(path_of('kinds.tw'), path_of('copy.tw'))
    call tw_multifile_verify(path_of('copy.tw'))
    call tw_multifile_verify(path_of('background.tw'), stat=stat)
    call expect_status(stat, TW_ERR_NOT_CLOSED, 'verify')
    call tw_multifile_repair(path_of('background.tw'), force=.true.)
    call tw_multifile_verify(path_of('background.tw'))
  end subroutine whole_files

end program alone
