!> The shared file: one plain file that a group of tasks writes and reads together (file.h).
module thalweg_files
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use thalweg_c
  use thalweg_base
  use thalweg_requests
  use thalweg_views
  implicit none
  private

  public :: tw_file

  integer(int32), parameter :: AT_OFFSET = 1, IN_ORDER = 2, IN_VIEW = 3  ! tw_placement of file.h

  !> An open file of this task. Offsets and sizes are bytes, from 0. Calls with _all, those of arrays, and open, close,
  !! seek, get_size, truncate, preallocate, sync and set_view are collective: all tasks of the group make them in the same
  !! order, each with its own arguments, and where one fails all fail. The others are made by this task alone.
  !!
  !!   place                                          collective                      this task alone
  !!   from the shared position, in order of ranks    write_all, read_all             -
  !!   at an offset                                   write_at_all, read_at_all       write_at, read_at
  !!   from the position in the view                  write_view_all, read_view_all   write_view, read_view
  !!   the part of an array                           write_array, read_array         -
  !!
  !! Each has a form that begins with i, which returns at once with a request: the buffer is borrowed until that is
  !! complete, has to be ASYNCHRONOUS, and contiguous. Else a section that is not contiguous is copied. A read that meets
  !! the end of the file has stat iostat_end, unless `nread` is given. One call at a time per object; an object is not
  !! copied.
  type :: tw_file
    private
    type(c_ptr) :: handle = c_null_ptr
    character(:), allocatable :: path
  contains
    procedure :: open => file_open
    procedure :: close => file_close
    procedure :: abandon => file_abandon
    procedure :: is_open => file_is_open
    procedure :: get_size => file_get_size
    procedure :: get_end => file_get_end
    procedure :: truncate => file_truncate
    procedure :: preallocate => file_preallocate
    procedure :: sync => file_sync
    procedure, private :: seek_i8 => file_seek, seek_i4 => file_seek_i4
    generic :: seek => seek_i8, seek_i4
    procedure :: set_view => file_set_view
    procedure, private :: seek_view_i8 => file_seek_view, seek_view_i4 => file_seek_view_i4
    generic :: seek_view => seek_view_i8, seek_view_i4
    procedure :: view_offset => file_view_offset
    procedure :: goes_alone => file_goes_alone
    procedure :: last_plan => file_last_plan
    procedure :: write_all => file_write_all
    procedure :: read_all => file_read_all
    procedure :: iwrite_all => file_iwrite_all
    procedure :: iread_all => file_iread_all
    procedure, private :: write_at_all_i8 => file_write_at_all, write_at_all_i4 => file_write_at_all_i4
    generic :: write_at_all => write_at_all_i8, write_at_all_i4
    procedure, private :: read_at_all_i8 => file_read_at_all, read_at_all_i4 => file_read_at_all_i4
    generic :: read_at_all => read_at_all_i8, read_at_all_i4
    procedure, private :: iwrite_at_all_i8 => file_iwrite_at_all, iwrite_at_all_i4 => file_iwrite_at_all_i4
    generic :: iwrite_at_all => iwrite_at_all_i8, iwrite_at_all_i4
    procedure, private :: iread_at_all_i8 => file_iread_at_all, iread_at_all_i4 => file_iread_at_all_i4
    generic :: iread_at_all => iread_at_all_i8, iread_at_all_i4
    procedure, private :: write_at_i8 => file_write_at, write_at_i4 => file_write_at_i4
    generic :: write_at => write_at_i8, write_at_i4
    procedure, private :: read_at_i8 => file_read_at, read_at_i4 => file_read_at_i4
    generic :: read_at => read_at_i8, read_at_i4
    procedure, private :: iwrite_at_i8 => file_iwrite_at, iwrite_at_i4 => file_iwrite_at_i4
    generic :: iwrite_at => iwrite_at_i8, iwrite_at_i4
    procedure, private :: iread_at_i8 => file_iread_at, iread_at_i4 => file_iread_at_i4
    generic :: iread_at => iread_at_i8, iread_at_i4
    procedure :: write_view_all => file_write_view_all
    procedure :: read_view_all => file_read_view_all
    procedure :: iwrite_view_all => file_iwrite_view_all
    procedure :: iread_view_all => file_iread_view_all
    procedure :: write_view => file_write_view
    procedure :: read_view => file_read_view
    procedure :: iwrite_view => file_iwrite_view
    procedure :: iread_view => file_iread_view
    procedure, private :: write_array_i8 => file_write_array, write_array_i4 => file_write_array_i4
    generic :: write_array => write_array_i8, write_array_i4
    procedure, private :: read_array_i8 => file_read_array, read_array_i4 => file_read_array_i4
    generic :: read_array => read_array_i8, read_array_i4
    procedure, private :: iwrite_array_i8 => file_iwrite_array, iwrite_array_i4 => file_iwrite_array_i4
    generic :: iwrite_array => iwrite_array_i8, iwrite_array_i4
    procedure, private :: iread_array_i8 => file_iread_array, iread_array_i4 => file_iread_array_i4
    generic :: iread_array => iread_array_i8, iread_array_i4
  end type tw_file

contains

  !> Opens the file.
  !! mode         'r' read; 'r+' read and write; 'w' make it empty, or make it; 'x' make it where there is none; 'a' the
  !!              shared position begins at the end; 'w+', 'a+', 'x+' read, too. 'c': write, and make it where there is
  !!              none; 'c+' read, too.
  !! comm, threads, group   as of tw_multifile%open.
  !! hints        'method=aggregate'; `thalweg hints` lists them.
  !! direct       .true.: bytes go past the page cache where that is possible.
  !! permissions  of a new file, before the umask.
  subroutine file_open(self, path, mode, comm, threads, group, hints, direct, permissions, stat, errmsg)
    class(tw_file), intent(inout) :: self
    character(*), intent(in) :: path
    character(*), intent(in) :: mode
    type(*), intent(in), optional :: comm
    logical, intent(in), optional :: threads
    type(tw_group), intent(in), optional :: group
    character(*), intent(in), optional :: hints
    logical, intent(in), optional :: direct
    integer, intent(in), optional :: permissions
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
    if (present(permissions) .and. options%status == TW_OK) &
      call options%note(tw_options_set_permissions(options%handle, int(permissions, c_int32_t)))
    if (present(direct)) flags = ior(flags, merge(TW_DIRECT, 0, direct))
    if (options%status /= TW_OK) flags = 0
    status = tw_file_open(tasks, to_c(path), flags, options%handle, self%handle)
    self%path = trim(path)
    call end_open(options, tasks, owned, status, stat, errmsg)
  end subroutine file_open

  !> Completes what is outstanding and closes the file. Syncs only on several nodes without coherent caches.
  subroutine file_close(self, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_close(self%handle), stat, errmsg)
  end subroutine file_close

  !> Gives the file up, for a task that cannot go on: the collective calls of the others fail. Waits for nobody.
  subroutine file_abandon(self, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_abandon(self%handle), stat, errmsg)
  end subroutine file_abandon

  logical function file_is_open(self)
    class(tw_file), intent(in) :: self
    file_is_open = c_associated(self%handle)
  end function file_is_open

  !> The length of the file after every task has made the call.
  subroutine file_get_size(self, nbytes, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int64), intent(inout) :: nbytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_size(self%handle, nbytes), stat, errmsg)
  end subroutine file_get_size

  !> The length of the file as it is now, by this task alone.
  subroutine file_get_end(self, nbytes, stat, errmsg)
    class(tw_file), intent(in) :: self
    integer(int64), intent(inout) :: nbytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_end(self%handle, nbytes), stat, errmsg)
  end subroutine file_get_end

  !> Cuts the file, or extends it with a hole.
  subroutine file_truncate(self, nbytes, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int64), intent(in) :: nbytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_truncate(self%handle, nbytes), stat, errmsg)
  end subroutine file_truncate

  !> Reserves storage.
  subroutine file_preallocate(self, nbytes, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int64), intent(in) :: nbytes, offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_preallocate(self%handle, int(nbytes, c_size_t), offset), stat, errmsg)
  end subroutine file_preallocate

  !> What was written survives the death of the machine.
  subroutine file_sync(self, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_sync(self%handle), stat, errmsg)
  end subroutine file_sync

  !> Moves the shared position.
  subroutine file_seek(self, offset, whence, position, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int64), intent(in) :: offset
    integer, intent(in), optional :: whence  !< TW_SEEK_SET (without it), TW_SEEK_CUR, TW_SEEK_END
    integer(int64), intent(inout), optional :: position  !< the new one
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: from
    from = TW_SEEK_SET
    if (present(whence)) from = whence
    call finish(tw_file_seek(self%handle, offset, from, position), stat, errmsg)
  end subroutine file_seek

  !> Sets the view of this task, which begins at `displacement` of the file, and its position in it to 0. Without `view`:
  !! the bytes of the file from there on.
  subroutine file_set_view(self, displacement, view, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int64), intent(in) :: displacement
    type(tw_view), intent(in), optional :: view  !< may be freed at once
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_set_view(self%handle, displacement, handle_of(view)), stat, errmsg)
  end subroutine file_set_view

  !> Moves this task's position in its view.
  subroutine file_seek_view(self, offset, whence, position, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int64), intent(in) :: offset
    integer, intent(in), optional :: whence
    integer(int64), intent(inout), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: from
    from = TW_SEEK_SET
    if (present(whence)) from = whence
    call finish(tw_file_seek_view(self%handle, offset, from, position), stat, errmsg)
  end subroutine file_seek_view

  !> The offset in the file of a byte of this task's view.
  subroutine file_view_offset(self, position, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int64), intent(in) :: position
    integer(int64), intent(inout) :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_file_view_offset(self%handle, position, offset), stat, errmsg)
  end subroutine file_view_offset

  !> Whether each task may as well make its collective accesses alone: see tw_file_goes_alone() of file.h.
  subroutine file_goes_alone(self, alone, stat, errmsg)
    class(tw_file), intent(in) :: self
    logical, intent(out) :: alone
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: answer
    integer(int32) :: status
    answer = 0
    status = tw_file_goes_alone(self%handle, answer)
    alone = answer /= 0
    call finish(status, stat, errmsg)
  end subroutine file_goes_alone

  !> How the last blocking collective access was carried out and why, in words.
  subroutine file_last_plan(self, text)
    class(tw_file), intent(in) :: self
    character(:), allocatable, intent(out) :: text
    call from_c(tw_file_last_plan(self%handle), text)
  end subroutine file_last_plan

  ! ---- Accesses ----

  subroutine move(self, memory, writes, placement, collective, offset, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(tw_f_memory), intent(in) :: memory
    integer(int32), intent(in) :: writes, placement, collective
    integer(int64), intent(in) :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_size_t) :: moved
    integer(int32) :: status
    status = tw_f_access(self%handle, memory, writes, placement, collective, offset, moved)
    call finish_read(self%path, status, memory%nbytes, int(moved, int64), nread, stat, errmsg)
  end subroutine move

  subroutine start(self, memory, writes, placement, collective, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(tw_f_memory), intent(in) :: memory
    integer(int32), intent(in) :: writes, placement, collective
    integer(int64), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_size_t) :: moved
    call finish(tw_f_access(self%handle, memory, writes, placement, collective, offset, moved, request%handle), stat, errmsg)
  end subroutine start

  subroutine array(self, memory, writes, global, first, halo, offset, request, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(tw_f_memory), intent(in) :: memory
    integer(int32), intent(in) :: writes
    integer(int64), intent(in) :: global(:)
    integer(int64), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    type(tw_request), intent(inout), optional :: request
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: numbers(:), starts(:), halos(:)
    type(tw_f_part) :: part
    integer(c_size_t) :: moved
    integer(int64) :: at, wanted
    integer(int32) :: status
    allocate (numbers, source=global)
    if (present(first)) then
      allocate (starts, source=first)
    else
      allocate (starts(size(global)), source=1_int64)
    end if
    if (present(halo)) then
      allocate (halos, source=halo)
    else
      allocate (halos(size(global)), source=0_int64)
    end if
    part%n_global = size(numbers)
    part%n_first = size(starts)
    part%n_halo = size(halos)
    part%global = c_loc(numbers)
    part%first = c_loc(starts)
    part%halo = c_loc(halos)
    at = 0
    if (present(offset)) at = offset
    if (present(request)) then
      call finish(tw_f_array(self%handle, memory, writes, part, at, moved, request%handle), stat, errmsg)
      return
    end if
    status = tw_f_array(self%handle, memory, writes, part, at, moved)
    wanted = moved
    if (writes == 0 .and. status == TW_OK) &
      wanted = memory%item_bytes * product(memory%extents(:memory%rank) - 2 * halos)
    call finish_read(self%path, status, wanted, int(moved, int64), nread, stat, errmsg)
  end subroutine array

  subroutine file_write_all(self, data, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 1, IN_ORDER, 1, 0_int64, stat=stat, errmsg=errmsg)
  end subroutine file_write_all

  subroutine file_read_all(self, data, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 0, IN_ORDER, 1, 0_int64, nread, stat, errmsg)
  end subroutine file_read_all

  subroutine file_iwrite_all(self, data, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 1, IN_ORDER, 1, 0_int64, request, stat, errmsg)
  end subroutine file_iwrite_all

  subroutine file_iread_all(self, data, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 0, IN_ORDER, 1, 0_int64, request, stat, errmsg)
  end subroutine file_iread_all

  subroutine file_write_at_all(self, data, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer(int64), intent(in) :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 1, AT_OFFSET, 1, offset, stat=stat, errmsg=errmsg)
  end subroutine file_write_at_all

  subroutine file_read_at_all(self, data, offset, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(in) :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 0, AT_OFFSET, 1, offset, nread, stat, errmsg)
  end subroutine file_read_at_all

  subroutine file_iwrite_at_all(self, data, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    integer(int64), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 1, AT_OFFSET, 1, offset, request, stat, errmsg)
  end subroutine file_iwrite_at_all

  subroutine file_iread_at_all(self, data, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    integer(int64), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 0, AT_OFFSET, 1, offset, request, stat, errmsg)
  end subroutine file_iread_at_all

  subroutine file_write_at(self, data, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer(int64), intent(in) :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 1, AT_OFFSET, 0, offset, stat=stat, errmsg=errmsg)
  end subroutine file_write_at

  subroutine file_read_at(self, data, offset, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(in) :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 0, AT_OFFSET, 0, offset, nread, stat, errmsg)
  end subroutine file_read_at

  subroutine file_iwrite_at(self, data, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    integer(int64), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 1, AT_OFFSET, 0, offset, request, stat, errmsg)
  end subroutine file_iwrite_at

  subroutine file_iread_at(self, data, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    integer(int64), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 0, AT_OFFSET, 0, offset, request, stat, errmsg)
  end subroutine file_iread_at

  subroutine file_write_view_all(self, data, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 1, IN_VIEW, 1, 0_int64, stat=stat, errmsg=errmsg)
  end subroutine file_write_view_all

  subroutine file_read_view_all(self, data, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 0, IN_VIEW, 1, 0_int64, nread, stat, errmsg)
  end subroutine file_read_view_all

  subroutine file_iwrite_view_all(self, data, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 1, IN_VIEW, 1, 0_int64, request, stat, errmsg)
  end subroutine file_iwrite_view_all

  subroutine file_iread_view_all(self, data, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 0, IN_VIEW, 1, 0_int64, request, stat, errmsg)
  end subroutine file_iread_view_all

  subroutine file_write_view(self, data, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 1, IN_VIEW, 0, 0_int64, stat=stat, errmsg=errmsg)
  end subroutine file_write_view

  subroutine file_read_view(self, data, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call move(self, memory, 0, IN_VIEW, 0, 0_int64, nread, stat, errmsg)
  end subroutine file_read_view

  subroutine file_iwrite_view(self, data, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 1, IN_VIEW, 0, 0_int64, request, stat, errmsg)
  end subroutine file_iwrite_view

  subroutine file_iread_view(self, data, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call start(self, memory, 0, IN_VIEW, 0, 0_int64, request, stat, errmsg)
  end subroutine file_iread_view

  !> Writes the part of an array that this task has. The file has the array of shape `global` from `offset` on, in the
  !! order of Fortran; data(1, 1, ...) is element `first` of it, less the halo. `halo` is how many elements of `data` on
  !! each side, in each dimension, are not part of it. Without `first` the part begins at 1 in each dimension.
  subroutine file_write_array(self, data, global, first, halo, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer(int64), intent(in) :: global(:)
    integer(int64), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call array(self, memory, 1, global, first, halo, offset, stat=stat, errmsg=errmsg)
  end subroutine file_write_array

  !> Reads the part of an array that this task has into the elements of `data` that are no halo: see write_array().
  subroutine file_read_array(self, data, global, first, halo, offset, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(in) :: global(:)
    integer(int64), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call array(self, memory, 0, global, first, halo, offset, nread=nread, stat=stat, errmsg=errmsg)
  end subroutine file_read_array

  !> Starts write_array().
  subroutine file_iwrite_array(self, data, global, request, first, halo, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    integer(int64), intent(in) :: global(:)
    integer(int64), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call array(self, memory, 1, global, first, halo, offset, request=request, stat=stat, errmsg=errmsg)
  end subroutine file_iwrite_array

  !> Starts read_array().
  subroutine file_iread_array(self, data, global, request, first, halo, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    integer(int64), intent(in) :: global(:)
    integer(int64), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    call tw_f_describe(data, memory)
    call array(self, memory, 0, global, first, halo, offset, request=request, stat=stat, errmsg=errmsg)
  end subroutine file_iread_array

  ! ---- The same with default integers ----

  subroutine file_write_at_all_i4(self, data, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer(int32), intent(in) :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%write_at_all(data, int(offset, int64), stat=stat, errmsg=errmsg)
  end subroutine file_write_at_all_i4

  subroutine file_read_at_all_i4(self, data, offset, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int32), intent(in) :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%read_at_all(data, int(offset, int64), nread=nread, stat=stat, errmsg=errmsg)
  end subroutine file_read_at_all_i4

  subroutine file_iwrite_at_all_i4(self, data, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    integer(int32), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%iwrite_at_all(data, int(offset, int64), request, stat=stat, errmsg=errmsg)
  end subroutine file_iwrite_at_all_i4

  subroutine file_iread_at_all_i4(self, data, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    integer(int32), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%iread_at_all(data, int(offset, int64), request, stat=stat, errmsg=errmsg)
  end subroutine file_iread_at_all_i4

  subroutine file_write_at_i4(self, data, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer(int32), intent(in) :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%write_at(data, int(offset, int64), stat=stat, errmsg=errmsg)
  end subroutine file_write_at_i4

  subroutine file_read_at_i4(self, data, offset, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int32), intent(in) :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%read_at(data, int(offset, int64), nread=nread, stat=stat, errmsg=errmsg)
  end subroutine file_read_at_i4

  subroutine file_iwrite_at_i4(self, data, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    integer(int32), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%iwrite_at(data, int(offset, int64), request, stat=stat, errmsg=errmsg)
  end subroutine file_iwrite_at_i4

  subroutine file_iread_at_i4(self, data, offset, request, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    integer(int32), intent(in) :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%iread_at(data, int(offset, int64), request, stat=stat, errmsg=errmsg)
  end subroutine file_iread_at_i4

  subroutine file_seek_i4(self, offset, whence, position, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int32), intent(in) :: offset
    integer, intent(in), optional :: whence
    integer(int64), intent(inout), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%seek(int(offset, int64), whence=whence, position=position, stat=stat, errmsg=errmsg)
  end subroutine file_seek_i4

  subroutine file_seek_view_i4(self, offset, whence, position, stat, errmsg)
    class(tw_file), intent(inout) :: self
    integer(int32), intent(in) :: offset
    integer, intent(in), optional :: whence
    integer(int64), intent(inout), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%seek_view(int(offset, int64), whence=whence, position=position, stat=stat, errmsg=errmsg)
  end subroutine file_seek_view_i4

  ! ---- The same with default integers ----

  subroutine file_write_array_i4(self, data, global, first, halo, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer(int32), intent(in) :: global(:)
    integer(int32), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: first_8(:)
    integer(int64), allocatable :: halo_8(:)
    if (present(first)) allocate (first_8, source=int(first, int64))
    if (present(halo)) allocate (halo_8, source=int(halo, int64))
    call self%write_array(data, int(global, int64), first=first_8, halo=halo_8, offset=offset, stat=stat, &
                errmsg=errmsg)
  end subroutine file_write_array_i4

  subroutine file_read_array_i4(self, data, global, first, halo, offset, nread, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int32), intent(in) :: global(:)
    integer(int32), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: first_8(:)
    integer(int64), allocatable :: halo_8(:)
    if (present(first)) allocate (first_8, source=int(first, int64))
    if (present(halo)) allocate (halo_8, source=int(halo, int64))
    call self%read_array(data, int(global, int64), first=first_8, halo=halo_8, offset=offset, nread=nread, &
                stat=stat, errmsg=errmsg)
  end subroutine file_read_array_i4

  subroutine file_iwrite_array_i4(self, data, global, request, first, halo, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(in), asynchronous, target :: data
    integer(int32), intent(in) :: global(:)
    integer(int32), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: first_8(:)
    integer(int64), allocatable :: halo_8(:)
    if (present(first)) allocate (first_8, source=int(first, int64))
    if (present(halo)) allocate (halo_8, source=int(halo, int64))
    call self%iwrite_array(data, int(global, int64), request, first=first_8, halo=halo_8, offset=offset, &
                stat=stat, errmsg=errmsg)
  end subroutine file_iwrite_array_i4

  subroutine file_iread_array_i4(self, data, global, request, first, halo, offset, stat, errmsg)
    class(tw_file), intent(inout) :: self
    type(*), dimension(..), intent(inout), asynchronous, target :: data
    integer(int32), intent(in) :: global(:)
    integer(int32), intent(in), optional :: first(:), halo(:)
    integer(int64), intent(in), optional :: offset
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: first_8(:)
    integer(int64), allocatable :: halo_8(:)
    if (present(first)) allocate (first_8, source=int(first, int64))
    if (present(halo)) allocate (halo_8, source=int(halo, int64))
    call self%iread_array(data, int(global, int64), request, first=first_8, halo=halo_8, offset=offset, &
                stat=stat, errmsg=errmsg)
  end subroutine file_iread_array_i4

end module thalweg_files
