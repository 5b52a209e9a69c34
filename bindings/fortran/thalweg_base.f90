!> What the files of module thalweg share: status codes and how they are reported, groups of tasks, options of an open.
module thalweg_base
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, iostat_end
  use thalweg_c
  implicit none
  private

  public :: tw_last_message, tw_group
  public :: TW_OK, TW_ERR_INVALID, TW_ERR_UNKNOWN_HINT, TW_ERR_RANGE, TW_ERR_MODE, TW_ERR_NOT_FOUND, TW_ERR_EXISTS
  public :: TW_ERR_PERMISSION, TW_ERR_UNSAFE, TW_ERR_IO, TW_ERR_NO_SPACE, TW_ERR_NO_MEMORY, TW_ERR_CORRUPT, TW_ERR_VERSION
  public :: TW_ERR_NOT_CLOSED, TW_ERR_STOPPED, TW_ERR_NOT_BUILT, TW_ERR_INTERNAL
  public :: TW_MIN, TW_MAX, TW_SUM, TW_BIT_OR, TW_SEEK_SET, TW_SEEK_CUR, TW_SEEK_END
  ! For the other modules here.
  public :: open_options, finish, finish_read, fail, to_c, from_c, copy_text, borrowed_group, flags_of, end_open
  public :: TW_RECOVER, TW_DIRECT

  !> Values of `stat`, as in status.h. 0 is success, and iostat_end of iso_fortran_env the end of the data of a read.
  integer, parameter :: TW_OK = 0, TW_ERR_INVALID = -10, TW_ERR_UNKNOWN_HINT = -11, TW_ERR_RANGE = -12, TW_ERR_MODE = -13
  integer, parameter :: TW_ERR_NOT_FOUND = -20, TW_ERR_EXISTS = -21, TW_ERR_PERMISSION = -22, TW_ERR_UNSAFE = -23
  integer, parameter :: TW_ERR_IO = -30, TW_ERR_NO_SPACE = -31, TW_ERR_NO_MEMORY = -32, TW_ERR_CORRUPT = -40
  integer, parameter :: TW_ERR_VERSION = -41, TW_ERR_NOT_CLOSED = -42, TW_ERR_STOPPED = -50, TW_ERR_NOT_BUILT = -60
  integer, parameter :: TW_ERR_INTERNAL = -90

  integer, parameter :: TW_MIN = 0, TW_MAX = 1, TW_SUM = 2, TW_BIT_OR = 3         !< of tw_group%allreduce
  integer, parameter :: TW_SEEK_SET = 0, TW_SEEK_CUR = 1, TW_SEEK_END = 2         !< from the start, position, end

  integer(int32), parameter :: TW_READ = int(z'01000000'), TW_WRITE = int(z'02000000'), TW_CREATE = int(z'04000000')
  integer(int32), parameter :: TW_EXCLUSIVE = int(z'08000000'), TW_TRUNCATE = int(z'10000000')
  integer(int32), parameter :: TW_APPEND = int(z'20000000'), TW_RECOVER = int(z'40000000'), TW_DIRECT = int(z'00800000')

  !> The tasks that open files together, for programs that open many: an open takes `comm` and `threads` as well.
  type :: tw_group
    type(c_ptr) :: handle = c_null_ptr  ! private to the modules here
  contains
    procedure :: create => group_create
    procedure :: duplicate => group_duplicate
    procedure :: free => group_free
    procedure :: rank => group_rank
    procedure :: size => group_size
    procedure :: kind => group_kind
    procedure :: barrier => group_barrier
    procedure :: broadcast => group_broadcast
    procedure :: allreduce => group_allreduce
    procedure :: agree => group_agree
  end type tw_group

  !> Options of an open, and what this task did wrong in them: the open then fails on all tasks.
  type :: open_options
    type(c_ptr)    :: handle = c_null_ptr
    integer(int32) :: status = TW_OK
    character(:), allocatable :: message
  contains
    procedure :: create => options_create
    procedure :: note => options_note
    procedure :: free => options_free
  end type open_options

contains

  !> The message of the last call that failed on this thread, with its object, values and way out; "" before.
  subroutine tw_last_message(text)
    character(:), allocatable, intent(out) :: text
    call from_c(tw_last_error(), text)
  end subroutine tw_last_message

  !> For arguments of C only: gfortran 12 keeps the lengths of such results in static memory, which threads share.
  function to_c(text) result(c)
    character(*), intent(in) :: text
    character(:), allocatable :: c
    c = trim(text)//c_null_char
  end function to_c

  subroutine from_c(text, copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable, intent(out) :: copy
    if (c_associated(text)) then
      call copy_text(text, int(tw_f_length(text), int64), copy)
    else
      copy = ''
    end if
  end subroutine from_c

  subroutine copy_text(text, length, copy)
    type(c_ptr), intent(in) :: text
    integer(int64), intent(in) :: length
    character(:), allocatable, intent(out) :: copy
    character(kind=c_char), pointer :: bytes(:)
    integer(int64) :: i
    allocate (character(length) :: copy)
    if (length == 0) return
    call c_f_pointer(text, bytes, [length])
    do i = 1, length
      copy(i:i) = bytes(i)
    end do
  end subroutine copy_text

  !> Ends a call in the manner of the language: without `stat` a failure stops the program with its message.
  subroutine finish(status, stat, errmsg, message)
    integer(int32), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(*), intent(in), optional :: message  !< else that of the library
    character(:), allocatable :: text
    if (present(stat)) stat = status
    if (status == TW_OK) return
    if (present(message)) then
      text = message
    else
      call tw_last_message(text)
    end if
    if (present(errmsg)) errmsg = text
    if (.not. present(stat)) error stop text
  end subroutine finish

  !> As finish(), of a read that should have moved `wanted` bytes: fewer are an error unless the caller asks how many.
  subroutine finish_read(path, status, wanted, moved, nread, stat, errmsg)
    character(:), allocatable, intent(in) :: path  !< of the file
    integer(int32), intent(in) :: status
    integer(int64), intent(in) :: wanted, moved
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(120) :: text
    if (present(nread)) nread = moved
    if (status /= TW_OK .or. moved == wanted .or. present(nread)) then
      call finish(status, stat, errmsg)
    else
      write (text, '(a, i0, a, i0, a)') ': the data end after ', moved, ' of ', wanted, ' bytes; pass nread to read what is there'
      call finish(int(iostat_end, int32), stat, errmsg, path//trim(text))
    end if
  end subroutine finish_read

  integer(int32) function fail(status, message)
    integer, intent(in) :: status
    character(*), intent(in) :: message
    fail = tw_f_fail(int(status, int32), to_c(message))
  end function fail

  !> The flags that the letters of stdio stand for, and 'c' for an existing file or a new one; 0: they are none.
  integer(int32) function flags_of(mode)
    character(*), intent(in) :: mode
    flags_of = 0
    if (len_trim(mode) == 0) return
    select case (mode(1:1))
    case ('r')
      flags_of = TW_READ
    case ('w')
      flags_of = ior(TW_CREATE, TW_TRUNCATE)
    case ('a')
      flags_of = ior(TW_CREATE, TW_APPEND)
    case ('x')
      flags_of = ior(TW_CREATE, TW_EXCLUSIVE)
    case ('c')
      flags_of = TW_CREATE
    end select
    if (len_trim(mode) == 1) return
    if (mode(2:) /= '+') then
      flags_of = 0
    else if (mode(1:1) == 'r') then
      flags_of = ior(TW_READ, TW_WRITE)
    else if (flags_of /= 0) then
      flags_of = ior(flags_of, TW_READ)
    end if
  end function flags_of

  ! ---- Options ----

  !> Makes the options, with their hints, and the flags.
  subroutine options_create(self, mode, hints, flags)
    class(open_options), intent(inout) :: self
    character(*), intent(in) :: mode
    character(*), intent(in), optional :: hints
    integer(int32), intent(out) :: flags
    call self%note(tw_options_create(self%handle))
    if (present(hints) .and. self%status == TW_OK) call self%note(tw_options_set_hints(self%handle, to_c(hints)))
    flags = flags_of(mode)
    if (flags == 0) call self%note(fail(TW_ERR_INVALID, "mode is '"//trim(mode)//"'; pass r, w, a or x, and + to read, too"))
  end subroutine options_create

  !> Keeps the first failure.
  subroutine options_note(self, status)
    class(open_options), intent(inout) :: self
    integer(int32), intent(in) :: status
    if (status == TW_OK .or. self%status /= TW_OK) return
    self%status = status
    call tw_last_message(self%message)
  end subroutine options_note

  subroutine options_free(self)
    class(open_options), intent(inout) :: self
    call tw_options_free(self%handle)
  end subroutine options_free

  !> The group of an open: `group`, or one that is made of `comm` and `threads`, which `owned` says. Collective.
  !! A mistake of this task is noted in `options`.
  integer(int32) function borrowed_group(options, group, comm, threads, handle, owned) result(status)
    type(open_options), intent(inout) :: options
    type(tw_group), intent(in), optional :: group
    type(*), intent(in), optional :: comm
    logical, intent(in), optional :: threads
    type(c_ptr), intent(out) :: handle
    logical, intent(out) :: owned
    handle = c_null_ptr
    status = TW_OK
    owned = .not. present(group)
    if (owned) then
      status = tw_f_open_group(comm, flag(threads), handle)
    else if (.not. c_associated(group%handle)) then
      status = fail(TW_ERR_INVALID, 'group was not created: call its create first')
    else
      handle = group%handle
      if (present(comm) .or. present(threads)) &
        call options%note(fail(TW_ERR_INVALID, 'group is given together with comm or threads; pass one of them'))
    end if
  end function borrowed_group

  !> Ends an open: frees what it needed; this task's own mistake goes before what the library says about it.
  subroutine end_open(options, handle, owned, status, stat, errmsg)
    type(open_options), intent(inout) :: options
    type(c_ptr), intent(inout) :: handle
    logical, intent(in) :: owned
    integer(int32), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: message
    integer(int32) :: worst, told
    worst = status
    call tw_last_message(message)
    ! All tasks are here: those whose arguments were right learn what was wrong on another one.
    if (status == TW_ERR_INVALID .and. c_associated(handle)) then
      told = TW_OK
      if (options%status /= TW_OK) then
        told = tw_group_agree(handle, options%status, 0_c_int, to_c(options%message))
      else
        told = tw_group_agree(handle, int(TW_OK, int32), 0_c_int, c_null_char)
      end if
      if (told /= TW_OK) then
        worst = told
        call tw_last_message(message)
      end if
    end if
    if (options%status /= TW_OK) then
      worst = options%status
      message = options%message
    end if
    call options%free()
    if (owned) call tw_group_free(handle)
    call finish(worst, stat, errmsg, message)
  end subroutine end_open

  integer(c_int32_t) function flag(value)
    logical, intent(in), optional :: value
    flag = 0
    if (present(value)) flag = merge(1, 0, value)
  end function flag

  ! ---- Groups ----

  !> Makes the group of the ranks of `comm`, of the threads of the innermost parallel region with threads=.true., of all
  !! threads of all ranks with both, and of this task alone with neither. Collective.
  subroutine group_create(self, comm, threads, stat, errmsg)
    class(tw_group), intent(inout) :: self
    type(*), intent(in), optional :: comm  !< type(MPI_Comm), or the integer of `use mpi` and mpif.h
    logical, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int32) :: status
    status = tw_f_open_group(comm, flag(threads), self%handle)
    if (status == TW_OK .and. .not. c_associated(self%handle)) status = tw_group_self(self%handle)
    call finish(status, stat, errmsg)
  end subroutine group_create

  !> Makes an independent group of the same tasks: calls on the copy do not mix with those on this one. Collective.
  subroutine group_duplicate(self, copy, stat, errmsg)
    class(tw_group), intent(in) :: self
    type(tw_group), intent(inout) :: copy
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_group_duplicate(self%handle, copy%handle), stat, errmsg)
  end subroutine group_duplicate

  !> Frees the group; files that were opened with it go on. Collective for ranks, before MPI_Finalize.
  subroutine group_free(self)
    class(tw_group), intent(inout) :: self
    call tw_group_free(self%handle)
  end subroutine group_free

  !> This task's number, from 0; -1 for a group that was not created.
  integer(int64) function group_rank(self)
    class(tw_group), intent(in) :: self
    group_rank = tw_group_rank(self%handle)
  end function group_rank

  !> The number of tasks; 0 for a group that was not created.
  integer(int64) function group_size(self)
    class(tw_group), intent(in) :: self
    group_size = tw_group_size(self%handle)
  end function group_size

  !> "self", "team", "mpi", "hybrid".
  function group_kind(self) result(text)
    class(tw_group), intent(in) :: self
    character(9) :: text
    character(:), allocatable :: name
    call from_c(tw_group_kind(self%handle), name)
    text = name
  end function group_kind

  !> Returns when all tasks have called it. Collective.
  subroutine group_barrier(self, stat, errmsg)
    class(tw_group), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_group_barrier(self%handle), stat, errmsg)
  end subroutine group_barrier

  !> Copies `data` of task `root` to all tasks. Collective, with as many bytes on all.
  subroutine group_broadcast(self, data, root, stat, errmsg)
    class(tw_group), intent(in) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(in) :: root  !< from 0
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    integer(int32) :: status
    call tw_f_describe(data, memory)
    status = tw_group_broadcast(self%handle, memory%address, int(memory%nbytes, c_size_t), root)
    if (c_associated(memory%problem)) status = tw_f_check(memory)
    call finish(status, stat, errmsg)
  end subroutine group_broadcast

  !> Combines values(i) of all tasks by `how` (TW_MIN, TW_MAX, TW_SUM, TW_BIT_OR), on all tasks. Collective.
  subroutine group_allreduce(self, values, how, stat, errmsg)
    class(tw_group), intent(in) :: self
    integer(int64), intent(inout), contiguous :: values(:)
    integer, intent(in) :: how
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_group_allreduce(self%handle, values, size(values, kind=c_int64_t), int(how, c_int32_t)), stat, errmsg)
  end subroutine group_allreduce

  !> Reports a failure of one task on all: TW_OK where all tasks pass TW_OK in `mine`. Collective.
  subroutine group_agree(self, mine, message, stat, errmsg)
    class(tw_group), intent(in) :: self
    integer, intent(in) :: mine
    character(*), intent(in) :: message  !< of a failure of this task
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_group_agree(self%handle, int(mine, c_int32_t), 0_c_int, to_c(message)), stat, errmsg)
  end subroutine group_agree

end module thalweg_base
