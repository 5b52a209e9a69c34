!> The vpfile: a stream of bytes for each virtual processor of a shape, in one file (vpfile.h).
module thalweg_vpfiles
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64
  use thalweg_c
  use thalweg_base
  implicit none
  private

  public :: tw_vpfile, tw_vpfile_verify, tw_vpfile_repair, tw_vpfile_flatten, tw_vpfile_import

  !> An open vpfile of this task, which has a box of the shape: its local virtual processors (VPs). Shapes, boxes and
  !! indices are those of Fortran: the first one changes fastest, and indices begin at 1. (C and Python see the dimensions
  !! in reverse.) Sizes and positions are bytes, from 0.
  !!
  !! Calls with _all, open and close are collective, but for seek_all and tell_all, which this task makes alone: all tasks
  !! of the group make them in the same order, and where one fails all fail. An array of all local VPs has the items of
  !! each VP in its leading dimensions, and the box in the others: u(3, nx, ny) has three items for each VP of a box of nx
  !! by ny. Sections that are not contiguous are copied.
  !! One call at a time per object; an object is not copied.
  type :: tw_vpfile
    private
    type(c_ptr) :: handle = c_null_ptr
    character(:), allocatable :: path
  contains
    procedure :: open => vpfile_open
    procedure :: close => vpfile_close
    procedure :: abandon => vpfile_abandon
    procedure :: is_open => vpfile_is_open
    procedure :: write_all => vpfile_write_all
    procedure :: read_all => vpfile_read_all
    procedure :: write_ragged_all => vpfile_write_ragged_all
    procedure :: read_ragged_all => vpfile_read_ragged_all
    procedure :: seek_all => vpfile_seek_all
    procedure :: tell_all => vpfile_tell_all
    procedure :: flush_all => vpfile_flush_all
    procedure :: sync_all => vpfile_sync_all
    procedure, private :: write_i8 => vpfile_write, write_i4 => vpfile_write_i4
    generic :: write => write_i8, write_i4
    procedure, private :: read_i8 => vpfile_read, read_i4 => vpfile_read_i4
    generic :: read => read_i8, read_i4
    procedure :: write_text => vpfile_write_text
    procedure, private :: seek_i8 => vpfile_seek, seek_i4 => vpfile_seek_i4
    generic :: seek => seek_i8, seek_i4
    procedure :: tell => vpfile_tell
    procedure :: get_size => vpfile_get_size
    procedure :: skip_gap => vpfile_skip_gap
    procedure :: flush => vpfile_flush
    procedure :: inquire => vpfile_inquire
  end type tw_vpfile

  character(*), parameter :: kSizes = &
    'an array that is given does not have an item for every virtual processor of this task'//c_null_char
  character(len(kSizes)), target :: wrong_size = kSizes

contains

  !> Opens a vpfile. Collective.
  !! mode         'r', 'r+', 'w', 'a', 'x', and with '+' to read as well, as of tw_multifile%open. With 'a' every VP
  !!              writes at the end of its stream.
  !! vp_shape     of a new one; of an existing one the file knows it.
  !! first, counts  the box of this task; without them the tasks share the shape in order of ranks.
  !! comm, threads, group, hints   as of tw_multifile%open.
  subroutine vpfile_open(self, path, mode, vp_shape, comm, threads, group, hints, first, counts, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    character(*), intent(in) :: path
    character(*), intent(in) :: mode
    integer(int64), intent(in), optional :: vp_shape(:)
    type(*), intent(in), optional :: comm
    logical, intent(in), optional :: threads
    type(tw_group), intent(in), optional :: group
    character(*), intent(in), optional :: hints
    integer(int64), intent(in), optional :: first(:), counts(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(open_options) :: options
    type(c_ptr) :: tasks
    integer(int32) :: flags, status
    logical :: owned
    status = borrowed_group(options, group, comm, threads, tasks, owned)
    if (status /= TW_OK) then
      call finish(status, stat, errmsg)
      return
    end if
    call options%create(mode, hints, flags)
    call set_shape(options, vp_shape, first, counts)
    if (options%status /= TW_OK) flags = 0
    status = tw_vpfile_open(tasks, to_c(path), flags, options%handle, self%handle)
    self%path = trim(path)
    call end_open(options, tasks, owned, status, stat, errmsg)
  end subroutine vpfile_open

  subroutine set_shape(options, vp_shape, first, counts)
    type(open_options), intent(inout) :: options
    integer(int64), intent(in), optional :: vp_shape(:), first(:), counts(:)
    if (options%status /= TW_OK) return
    if (present(vp_shape)) &
      call options%note(tw_options_set_shape(options%handle, size(vp_shape, kind=c_int32_t), reversed(vp_shape)))
    if (present(first) .neqv. present(counts)) then
      call options%note(fail(TW_ERR_INVALID, 'first is given without counts, or counts without first'))
    else if (present(first)) then
      if (size(first) == size(counts)) then
        call options%note(tw_options_set_box(options%handle, size(first, kind=c_int32_t), reversed(first) - 1, &
                                             reversed(counts)))
      else
        call options%note(fail(TW_ERR_INVALID, 'first and counts have different sizes'))
      end if
    end if
  end subroutine set_shape

  pure function reversed(values)
    integer(int64), intent(in) :: values(:)
    integer(int64) :: reversed(size(values))
    reversed = values(size(values):1:-1)
  end function reversed

  !> Stores what is in memory and ends the access. Collective.
  subroutine vpfile_close(self, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_vpfile_close(self%handle), stat, errmsg)
  end subroutine vpfile_close

  !> Gives the vpfile up, for a task that cannot go on: the collective calls of the others fail. Waits for nobody.
  subroutine vpfile_abandon(self, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_vpfile_abandon(self%handle), stat, errmsg)
  end subroutine vpfile_abandon

  logical function vpfile_is_open(self)
    class(tw_vpfile), intent(in) :: self
    vpfile_is_open = c_associated(self%handle)
  end function vpfile_is_open

  !> Every local VP writes its items of `data` at its position.
  subroutine vpfile_write_all(self, data, mask, counts, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    logical, intent(in), contiguous, optional :: mask(:)             !< of every local VP: .false. takes no part
    integer(int64), intent(inout), contiguous, optional :: counts(:)  !< of every local VP: items moved
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call all_vps(self, memory, 1, mask=mask, counts=counts, stat=stat, errmsg=errmsg)
  end subroutine vpfile_write_all

  !> Every local VP reads its items of `data` at its position. Streams that end before give fewer items; without `counts`
  !! that is an error.
  subroutine vpfile_read_all(self, data, mask, counts, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    logical, intent(in), contiguous, optional :: mask(:)
    integer(int64), intent(inout), contiguous, optional :: counts(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call all_vps(self, memory, 0, mask=mask, counts=counts, stat=stat, errmsg=errmsg)
  end subroutine vpfile_read_all

  !> VP i writes lengths(i) items; they lie one behind the other in `values`.
  subroutine vpfile_write_ragged_all(self, values, lengths, mask, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: values
    integer(int64), intent(in), contiguous :: lengths(:)  !< of every local VP
    logical, intent(in), contiguous, optional :: mask(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(values, memory)
    call all_vps(self, memory, 1, n_each=lengths, mask=mask, stat=stat, errmsg=errmsg)
  end subroutine vpfile_write_ragged_all

  !> VP i reads lengths(i) items, one behind the other into `values`; inquire(sizes=...) tells how many there are.
  subroutine vpfile_read_ragged_all(self, values, lengths, mask, counts, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: values
    integer(int64), intent(in), contiguous :: lengths(:)
    logical, intent(in), contiguous, optional :: mask(:)
    integer(int64), intent(inout), contiguous, optional :: counts(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(values, memory)
    call all_vps(self, memory, 0, lengths, mask, counts, stat, errmsg)
  end subroutine vpfile_read_ragged_all

  subroutine all_vps(self, memory, writes, n_each, mask, counts, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    type(tw_f_memory), intent(in) :: memory
    integer(int32), intent(in) :: writes
    integer(int64), intent(in), contiguous, optional :: n_each(:)
    logical, intent(in), contiguous, optional :: mask(:)
    integer(int64), intent(inout), contiguous, optional :: counts(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: moved(:)
    integer(int8), allocatable :: chosen(:)
    type(tw_f_memory) :: mine
    integer(int64) :: n_local
    integer(int32) :: status
    logical :: fits
    mine = memory
    n_local = local_vps(self)
    allocate (moved(n_local), source=0_int64)
    fits = have_items(n_local, mask, counts) .and. have_items(n_local, numbers=n_each)
    if (fits) then
      if (present(mask)) allocate (chosen, source=merge(1_int8, 0_int8, mask))
      status = tw_f_all_vps(self%handle, mine, writes, n_each, chosen, moved)
      if (present(counts)) counts = moved
    else
      ! The other tasks make the call: so does this one, in a way that fails on all.
      mine%problem = c_loc(wrong_size)
      status = tw_f_all_vps(self%handle, mine, writes)
    end if
    if (status == TW_OK .and. writes == 0 .and. .not. present(counts)) then
      call finish_read(self%path, status, wanted_items(memory, n_local, n_each, mask) * memory%item_bytes, &
                       sum(moved) * memory%item_bytes, stat=stat, errmsg=errmsg)
    else
      call finish(status, stat, errmsg)
    end if
  end subroutine all_vps

  !> Whether arrays that are there have an item for every local VP.
  pure logical function have_items(n_local, mask, numbers)
    integer(int64), intent(in) :: n_local
    logical, intent(in), optional :: mask(:)
    integer(int64), intent(in), optional :: numbers(:)
    have_items = .true.
    if (present(mask)) have_items = size(mask) == n_local
    if (present(numbers)) have_items = have_items .and. size(numbers) == n_local
  end function have_items

  integer(int32) function check_sizes(self, mask, numbers) result(status)
    class(tw_vpfile), intent(inout) :: self
    logical, intent(in), optional :: mask(:)
    integer(int64), intent(in), optional :: numbers(:)
    status = TW_OK
    if (.not. have_items(local_vps(self), mask, numbers)) status = fail(TW_ERR_INVALID, kSizes)
  end function check_sizes

  integer(int64) function wanted_items(memory, n_local, n_each, mask)
    type(tw_f_memory), intent(in) :: memory
    integer(int64), intent(in) :: n_local
    integer(int64), intent(in), optional :: n_each(:)
    logical, intent(in), optional :: mask(:)
    integer(int64) :: each
    wanted_items = 0
    if (n_local == 0) return
    each = memory%nbytes / max(memory%item_bytes, 1_int64) / n_local
    if (present(n_each) .and. present(mask)) then
      wanted_items = sum(n_each, mask)
    else if (present(n_each)) then
      wanted_items = sum(n_each)
    else if (present(mask)) then
      wanted_items = each * count(mask, kind=int64)
    else
      wanted_items = each * n_local
    end if
  end function wanted_items

  integer(int64) function local_vps(self)
    class(tw_vpfile), intent(inout) :: self
    type(tw_c_vpfile_summary), target :: summary
    summary%struct_size = c_sizeof(summary)
    local_vps = 0
    if (tw_vpfile_summarize(self%handle, c_loc(summary)) == TW_OK) local_vps = summary%n_local
  end function local_vps

  !> Moves the positions of all VPs that take part, by `offset`, or each by offsets(i).
  subroutine vpfile_seek_all(self, offset, offsets, whence, mask, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in), optional :: offset
    integer(int64), intent(in), contiguous, optional :: offsets(:)  !< of every local VP
    integer, intent(in), optional :: whence  !< TW_SEEK_SET (without it), TW_SEEK_CUR, TW_SEEK_END
    logical, intent(in), contiguous, optional :: mask(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int8), allocatable :: chosen(:)
    integer(int64) :: by
    integer(c_int) :: from
    integer(int32) :: status
    by = 0
    if (present(offset)) by = offset
    from = TW_SEEK_SET
    if (present(whence)) from = whence
    if (present(mask)) allocate (chosen, source=merge(1_int8, 0_int8, mask))
    status = check_sizes(self, mask=mask, numbers=offsets)
    if (status == TW_OK) status = tw_vpfile_seek_all(self%handle, by, offsets, from, chosen)
    call finish(status, stat, errmsg)
  end subroutine vpfile_seek_all

  !> The positions of all local VPs, and whether a read met the end of their streams.
  subroutine vpfile_tell_all(self, positions, at_end, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(inout), contiguous, optional :: positions(:)
    logical, intent(inout), contiguous, optional :: at_end(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int8), allocatable :: flags(:)
    integer(int32) :: status
    if (present(at_end)) allocate (flags(size(at_end)), source=0_int8)
    status = check_sizes(self, mask=at_end, numbers=positions)
    if (status == TW_OK) status = tw_vpfile_tell_all(self%handle, positions, flags)
    if (present(at_end)) at_end = flags /= 0
    call finish(status, stat, errmsg)
  end subroutine vpfile_tell_all

  !> What was written survives the death of the process. Collective.
  subroutine vpfile_flush_all(self, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_vpfile_flush_all(self%handle), stat, errmsg)
  end subroutine vpfile_flush_all

  !> What was written survives the death of the machine. Collective.
  subroutine vpfile_sync_all(self, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_vpfile_sync_all(self%handle), stat, errmsg)
  end subroutine vpfile_sync_all

  ! ---- One VP of this task, by its index in the shape ----

  !> The number of the VP in C; -1 for an index outside of the shape.
  integer(int64) function number_of(self, index)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:)
    type(tw_c_vpfile_summary), target :: summary
    integer(int64), pointer :: extents(:)
    integer :: i, n
    number_of = -1
    summary%struct_size = c_sizeof(summary)
    if (tw_vpfile_summarize(self%handle, c_loc(summary)) /= TW_OK) return
    n = summary%n_dims
    if (size(index) /= n) return
    call c_f_pointer(summary%shape, extents, [n])
    if (any(index < 1) .or. any(reversed(index) > extents)) return
    number_of = 0
    do i = n, 1, -1
      number_of = number_of * extents(n + 1 - i) + index(i) - 1
    end do
  end function number_of

  !> Writes at the position of one VP.
  subroutine vpfile_write(self, index, data, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:)
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    integer(int32) :: status
    call tw_f_describe(data, memory)
    status = tw_f_check(memory)
    if (status == TW_OK) &
      status = tw_vpfile_write(self%handle, number_of(self, index), memory%address, int(memory%nbytes, c_size_t))
    call finish(status, stat, errmsg)
  end subroutine vpfile_write

  subroutine vpfile_write_text(self, index, text, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:)
    character(*), intent(in), target :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_vpfile_write(self%handle, number_of(self, index), c_loc(text), len(text, c_size_t)), stat, errmsg)
  end subroutine vpfile_write_text

  !> Reads at the position of one VP. Where the stream ends before, `stat` is iostat_end, unless `nread` is given.
  subroutine vpfile_read(self, index, data, nread, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:)
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(out), optional :: nread  !< bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    integer(c_size_t) :: got
    integer(int32) :: status
    call tw_f_describe(data, memory)
    got = 0
    status = tw_f_check(memory)
    if (status == TW_OK) &
      status = tw_vpfile_read(self%handle, number_of(self, index), memory%address, int(memory%nbytes, c_size_t), got)
    call finish_read(self%path, status, memory%nbytes, int(got, int64), nread, stat, errmsg)
  end subroutine vpfile_read

  !> Moves the position of one VP.
  subroutine vpfile_seek(self, index, offset, whence, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:), offset
    integer, intent(in), optional :: whence
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: from
    from = TW_SEEK_SET
    if (present(whence)) from = whence
    call finish(tw_vpfile_seek(self%handle, number_of(self, index), offset, from), stat, errmsg)
  end subroutine vpfile_seek

  subroutine vpfile_tell(self, index, position, at_end, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:)
    integer(int64), intent(inout) :: position
    logical, intent(out), optional :: at_end
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: is_at_end
    integer(int32) :: status
    is_at_end = 0
    status = tw_vpfile_tell(self%handle, number_of(self, index), position, is_at_end)
    if (present(at_end)) at_end = is_at_end /= 0
    call finish(status, stat, errmsg)
  end subroutine vpfile_tell

  !> Bytes of the stream of one VP.
  subroutine vpfile_get_size(self, index, nbytes, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:)
    integer(int64), intent(inout) :: nbytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_vpfile_size(self%handle, number_of(self, index), nbytes), stat, errmsg)
  end subroutine vpfile_get_size

  !> Moves the position of one VP behind bytes that nobody wrote. Open for reading only.
  subroutine vpfile_skip_gap(self, index, skipped, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:)
    integer(int64), intent(inout) :: skipped
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_vpfile_skip_gap(self%handle, number_of(self, index), skipped), stat, errmsg)
  end subroutine vpfile_skip_gap

  !> What this task wrote to independent blocks survives the death of the process: see tw_vpfile_flush() of vpfile.h.
  subroutine vpfile_flush(self, index, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), intent(in) :: index(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_vpfile_flush(self%handle, number_of(self, index)), stat, errmsg)
  end subroutine vpfile_flush

  !> Properties of the vpfile. mode and last_mode: 'NB', 'CB' or 'IB', of the file and of the last access of all VPs.
  subroutine vpfile_inquire(self, vp_shape, first, counts, n_local, mode, last_mode, cause, sizes, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int64), allocatable, intent(out), optional :: vp_shape(:)
    integer(int64), allocatable, intent(out), optional :: first(:), counts(:)  !< the box of this task
    integer(int64), intent(out), optional :: n_local                           !< number of its VPs
    character(2), intent(out), optional :: mode, last_mode
    character(:), allocatable, intent(out), optional :: cause                  !< why the last access was not NB
    integer(int64), allocatable, intent(out), optional :: sizes(:)             !< bytes of the stream of every local VP
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(2), parameter :: kModes(0:2) = ['NB', 'CB', 'IB']
    type(tw_c_vpfile_summary), target :: summary
    integer(int64) :: i, vp
    integer(int32) :: status
    summary%struct_size = c_sizeof(summary)
    status = tw_vpfile_summarize(self%handle, c_loc(summary))
    if (status == TW_OK) then
      if (present(vp_shape)) vp_shape = extents_of(summary%shape, summary%n_dims)
      if (present(first)) first = extents_of(summary%box_start, summary%n_dims) + 1
      if (present(counts)) counts = extents_of(summary%box_count, summary%n_dims)
      if (present(n_local)) n_local = summary%n_local
      if (present(mode)) mode = kModes(summary%mode)
      if (present(last_mode)) last_mode = kModes(summary%last_mode)
      if (present(cause)) call from_c(summary%last_cause, cause)
      if (present(sizes)) allocate (sizes(summary%n_local), source=0_int64)
    end if
    if (present(sizes)) then
      do i = 1, summary%n_local
        if (status == TW_OK) status = tw_vpfile_number(self%handle, i - 1, vp)
        if (status == TW_OK) status = tw_vpfile_size(self%handle, vp, sizes(i))
      end do
    end if
    call finish(status, stat, errmsg)
  end subroutine vpfile_inquire

  function extents_of(address, n) result(extents)
    type(c_ptr), intent(in) :: address
    integer(c_int32_t), intent(in) :: n
    integer(int64), allocatable :: extents(:)
    integer(int64), pointer :: values(:)
    call c_f_pointer(address, values, [n])
    extents = reversed(values)
  end function extents_of

  !> Reads all that is no data of the lattice, and checks every checksum. By one task.
  subroutine tw_vpfile_verify(path, stat, errmsg)
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_vpfile_verify(to_c(path), c_null_funptr, c_null_funptr, c_null_ptr, c_null_ptr), stat, errmsg)
  end subroutine tw_vpfile_verify

  !> Makes a vpfile readable again that was not closed. By one task; nobody may have it open for writing.
  subroutine tw_vpfile_repair(path, vp_shape, stat, errmsg, force)
    character(*), intent(in) :: path
    integer(int64), intent(in), optional :: vp_shape(:)  !< needed where NAME.meta is missing or damaged
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: force  !< no program has it open, although locks cannot tell it of other nodes
    integer(int64), allocatable :: extents(:)
    integer(c_int32_t) :: flags
    allocate (extents(0))
    if (present(vp_shape)) extents = reversed(vp_shape)
    flags = 0
    if (present(force)) flags = merge(1_c_int32_t, 0_c_int32_t, force)
    call finish(c_vpfile_repair(to_c(path), flags, size(extents, kind=c_int32_t), extents, c_null_funptr, &
                                c_null_funptr, c_null_ptr, c_null_ptr), stat, errmsg)
  end subroutine tw_vpfile_repair

  !> Writes the streams of `from` as a plain array: a vpfile `to` with one record of each VP. By one task.
  subroutine tw_vpfile_flatten(from, to, record_bytes, fill, stat, errmsg)
    character(*), intent(in) :: from, to
    integer(int64), intent(in), optional :: record_bytes  !< of each VP; without it as long as the longest stream
    integer(int8), intent(in), optional :: fill           !< what stands behind the end of shorter ones; without it 0
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: record
    integer(int8) :: behind
    record = 0
    if (present(record_bytes)) record = record_bytes
    behind = 0
    if (present(fill)) behind = fill
    call finish(c_vpfile_flatten(to_c(from), to_c(to), record, behind, c_null_funptr, c_null_ptr), stat, errmsg)
  end subroutine tw_vpfile_flatten

  !> Makes a vpfile of a plain array of this shape, whose records have record_bytes bytes of every VP. By one task.
  subroutine tw_vpfile_import(path, vp_shape, record_bytes, stat, errmsg)
    character(*), intent(in) :: path
    integer(int64), intent(in) :: vp_shape(:)
    integer(int64), intent(in) :: record_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_vpfile_import(to_c(path), size(vp_shape, kind=c_int32_t), reversed(vp_shape), record_bytes), stat, errmsg)
  end subroutine tw_vpfile_import

  ! ---- The same with default integers ----

  subroutine vpfile_write_i4(self, index, data, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int32), intent(in) :: index(:)
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%write(int(index, int64), data, stat=stat, errmsg=errmsg)
  end subroutine vpfile_write_i4

  subroutine vpfile_read_i4(self, index, data, nread, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int32), intent(in) :: index(:)
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%read(int(index, int64), data, nread=nread, stat=stat, errmsg=errmsg)
  end subroutine vpfile_read_i4

  subroutine vpfile_seek_i4(self, index, offset, whence, stat, errmsg)
    class(tw_vpfile), intent(inout) :: self
    integer(int32), intent(in) :: index(:), offset
    integer, intent(in), optional :: whence
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%seek(int(index, int64), int(offset, int64), whence=whence, stat=stat, errmsg=errmsg)
  end subroutine vpfile_seek_i4

end module thalweg_vpfiles
