!> The multifile: each task writes and reads logical files of its own, which lie in few physical files (multifile.h).
module thalweg_multifiles
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use thalweg_c
  use thalweg_base
  use thalweg_requests
  implicit none
  private

  public :: tw_multifile, tw_mapping, tw_multifile_verify, tw_multifile_repair, tw_multifile_defrag

  !> An open multifile of this task. Offsets and sizes are bytes, from 0; so are ranks of logical files. open() and
  !! close() are collective over the group, all other calls are made by this task alone. One call at a time per object;
  !! an object is not copied. What is still open when the program ends is flushed, and not closed.
  type :: tw_multifile
    private
    type(c_ptr) :: handle = c_null_ptr
    character(:), allocatable :: path
  contains
    procedure :: open => multifile_open
    procedure :: close => multifile_close
    procedure :: abandon => multifile_abandon
    procedure :: is_open => multifile_is_open
    procedure :: write => multifile_write
    procedure, private :: write_at_i8 => multifile_write_at, write_at_i4 => multifile_write_at_i4
    generic :: write_at => write_at_i8, write_at_i4
    procedure :: write_text => multifile_write_text
    procedure :: read => multifile_read
    procedure, private :: read_at_i8 => multifile_read_at, read_at_i4 => multifile_read_at_i4
    generic :: read_at => read_at_i8, read_at_i4
    procedure :: read_text => multifile_read_text
    procedure, private :: seek_i8 => multifile_seek, seek_i4 => multifile_seek_i4
    generic :: seek => seek_i8, seek_i4
    procedure, private :: seek_to_i8 => multifile_seek_to, seek_to_i4 => multifile_seek_to_i4
    generic :: seek_to => seek_to_i8, seek_to_i4
    procedure :: skip_gap => multifile_skip_gap
    procedure :: flush => multifile_flush
    procedure :: sync => multifile_sync
    procedure :: iflush => multifile_iflush
    procedure :: isync => multifile_isync
    procedure :: add => multifile_add
    procedure :: set_name => multifile_set_name
    procedure :: find => multifile_find
    procedure :: set_attribute => multifile_set_attribute
    procedure :: attribute => multifile_attribute
    procedure :: attribute_key => multifile_attribute_key
    procedure :: inquire => multifile_inquire
    procedure :: inquire_logical => multifile_inquire_logical
  end type tw_multifile

  abstract interface
    !> The physical file (0 to n_physical - 1) of logical file `rank`; called on task 0. See tw_options_set_mapping().
    integer(c_int32_t) function tw_mapping(rank, n_logical, n_physical, user) bind(c)
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: rank, n_logical
      integer(c_int32_t), value :: n_physical
      type(c_ptr), value :: user  !< null
    end function tw_mapping
  end interface

contains

  !> Opens a multifile. Collective.
  !! mode       'r' read; 'w' make it, or replace one that there is; 'x' make it where there is none; 'a' append to it, or
  !!            make it.
  !! comm       the ranks that open it: type(MPI_Comm), or the integer of `use mpi` and mpif.h; needs thalweg_fortran_mpi.
  !! threads    .true.: the threads of the innermost parallel region each open it; with `comm` those of all ranks.
  !! group      in place of both. Without any of them this task opens it alone.
  !! hints      'chunk_bytes=4MiB,checksum=none'; `thalweg hints` lists them.
  !! n_logical  the number of logical files when it is made, the same on all tasks; without it one for each task.
  !! ranks      those that this task serves; or `first` and `count` for consecutive ones. Without them an even share.
  !! mapping    chooses the physical file of each logical file when it is made; needs the hint physical_files.
  !! recover    .true. with 'r': read what is whole of one that was not closed.
  subroutine multifile_open(self, path, mode, comm, threads, group, hints, n_logical, ranks, first, count, mapping, &
                            recover, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    character(*), intent(in) :: path
    character(*), intent(in) :: mode
    type(*), intent(in), optional :: comm
    logical, intent(in), optional :: threads
    type(tw_group), intent(in), optional :: group
    character(*), intent(in), optional :: hints
    integer(int64), intent(in), optional :: n_logical, ranks(:), first, count
    procedure(tw_mapping), optional :: mapping
    logical, intent(in), optional :: recover
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
    call set_ranks(options, n_logical, ranks, first, count)
    if (present(mapping)) call options%note(tw_options_set_mapping(options%handle, c_funloc(mapping), c_null_ptr))
    if (present(recover)) flags = ior(flags, merge(TW_RECOVER, 0, recover))
    if (options%status /= TW_OK) flags = 0
    status = tw_multifile_open(tasks, to_c(path), flags, options%handle, self%handle)
    self%path = trim(path)
    call end_open(options, tasks, owned, status, stat, errmsg)
  end subroutine multifile_open

  subroutine set_ranks(options, n_logical, ranks, first, count)
    type(open_options), intent(inout) :: options
    integer(int64), intent(in), optional :: n_logical, ranks(:), first, count
    integer(int64) :: n
    if (options%status /= TW_OK) return
    n = -1
    if (present(n_logical)) n = n_logical
    if (present(ranks)) then
      call options%note(tw_options_set_ranks(options%handle, n, ranks, size(ranks, kind=int64)))
    else if (present(first) .and. present(count)) then
      call options%note(tw_options_set_range(options%handle, n, first, count))
    else if (present(first) .or. present(count)) then
      call options%note(fail(TW_ERR_INVALID, 'first is given without count, or count without first'))
    else if (present(n_logical)) then
      call options%note(fail(TW_ERR_INVALID, 'n_logical needs ranks, or first and count: which of them this task serves'))
    end if
  end subroutine set_ranks

  !> Writes what is buffered and the index, and ends the access. Collective; fails on all tasks where it fails on one.
  subroutine multifile_close(self, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_close(self%handle), stat, errmsg)
  end subroutine multifile_close

  !> Gives the multifile up, for a task that cannot go on: flushes, and makes the close of the others fail.
  subroutine multifile_abandon(self, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_abandon(self%handle), stat, errmsg)
  end subroutine multifile_abandon

  logical function multifile_is_open(self)
    class(tw_multifile), intent(in) :: self
    multifile_is_open = c_associated(self%handle)
  end function multifile_is_open

  !> Writes a scalar or an array of any type and rank at the position, which moves behind it. `data` may be changed when
  !! the call returns. A scalar of type character goes to write_text().
  subroutine multifile_write(self, data, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    integer(int32) :: status
    call tw_f_describe(data, memory)
    status = tw_f_check(memory)
    if (status == TW_OK) status = tw_multifile_write(self%handle, memory%address, int(memory%nbytes, c_size_t))
    call finish(status, stat, errmsg)
  end subroutine multifile_write

  !> As write() at `offset` of the logical file; the position stays.
  subroutine multifile_write_at(self, data, offset, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer(int64), intent(in) :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    integer(int32) :: status
    call tw_f_describe(data, memory)
    status = tw_f_check(memory)
    if (status == TW_OK) status = tw_multifile_write_at(self%handle, memory%address, int(memory%nbytes, c_size_t), offset)
    call finish(status, stat, errmsg)
  end subroutine multifile_write_at

  !> Writes the characters of `text`, blanks at its end too.
  subroutine multifile_write_text(self, text, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    character(*), intent(in), target :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_write(self%handle, c_loc(text), len(text, c_size_t)), stat, errmsg)
  end subroutine multifile_write_text

  !> Fills `data` from the position on, which moves behind it. Where the logical file ends before, `stat` is iostat_end,
  !! unless `nread` is given: then the rest of `data` is undefined.
  subroutine multifile_read(self, data, nread, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
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
    if (status == TW_OK) status = tw_multifile_read(self%handle, memory%address, int(memory%nbytes, c_size_t), got)
    call finish_read(self%path, status, memory%nbytes, int(got, int64), nread, stat, errmsg)
  end subroutine multifile_read

  !> As read() at `offset` of the logical file; the position stays.
  subroutine multifile_read_at(self, data, offset, nread, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int64), intent(in) :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_f_memory) :: memory
    integer(c_size_t) :: got
    integer(int32) :: status
    call tw_f_describe(data, memory)
    got = 0
    status = tw_f_check(memory)
    if (status == TW_OK) &
      status = tw_multifile_read_at(self%handle, memory%address, int(memory%nbytes, c_size_t), offset, got)
    call finish_read(self%path, status, memory%nbytes, int(got, int64), nread, stat, errmsg)
  end subroutine multifile_read_at

  !> Reads len(text) characters, as read().
  subroutine multifile_read_text(self, text, nread, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    character(*), intent(inout), target :: text
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_size_t) :: got
    integer(int32) :: status
    got = 0
    status = tw_multifile_read(self%handle, c_loc(text), len(text, c_size_t), got)
    call finish_read(self%path, status, len(text, int64), int(got, int64), nread, stat, errmsg)
  end subroutine multifile_read_text

  !> Moves the position in the current logical file.
  subroutine multifile_seek(self, offset, whence, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer(int64), intent(in) :: offset
    integer, intent(in), optional :: whence  !< TW_SEEK_SET (without it), TW_SEEK_CUR, TW_SEEK_END
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: from
    from = TW_SEEK_SET
    if (present(whence)) from = whence
    call finish(tw_multifile_seek(self%handle, offset, from), stat, errmsg)
  end subroutine multifile_seek

  !> Makes logical file `rank` current, at `position`, or where it stood.
  subroutine multifile_seek_to(self, rank, position, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer(int64), intent(in) :: rank
    integer(int64), intent(in), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: to
    to = -1
    if (present(position)) to = position
    call finish(tw_multifile_seek_to(self%handle, rank, to), stat, errmsg)
  end subroutine multifile_seek_to

  !> Moves behind the gap that the position stands in. Open for reading.
  subroutine multifile_skip_gap(self, skipped, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer(int64), intent(inout) :: skipped  !< bytes, all zeros
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_skip_gap(self%handle, skipped), stat, errmsg)
  end subroutine multifile_skip_gap

  !> What this task wrote survives the death of the process.
  subroutine multifile_flush(self, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_flush(self%handle), stat, errmsg)
  end subroutine multifile_flush

  !> What this task wrote survives the death of the machine.
  subroutine multifile_sync(self, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_sync(self%handle), stat, errmsg)
  end subroutine multifile_sync

  !> Starts a flush, or a sync, of what was written before; the program goes on, and may write.
  subroutine multifile_iflush(self, request, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_iflush(self%handle, request%handle), stat, errmsg)
  end subroutine multifile_iflush

  subroutine multifile_isync(self, request, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    type(tw_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_isync(self%handle, request%handle), stat, errmsg)
  end subroutine multifile_isync

  !> Makes a new logical file of this name, which becomes the current one. Any task at any time, without a message.
  subroutine multifile_add(self, name, part, permissions, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    character(*), intent(in) :: name
    integer(int64), intent(in), optional :: part      !< of a distributed array: parts of one name are no duplicates
    integer, intent(in), optional :: permissions      !< as st_mode; without it none
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int32) :: mode
    mode = 0
    if (present(permissions)) mode = permissions
    if (present(part)) then
      call finish(tw_multifile_add_part(self%handle, to_c(name), part, mode), stat, errmsg)
    else
      call finish(tw_multifile_add(self%handle, to_c(name), mode), stat, errmsg)
    end if
  end subroutine multifile_add

  !> Names the current logical file.
  subroutine multifile_set_name(self, name, permissions, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in), optional :: permissions
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int32) :: mode
    mode = 0
    if (present(permissions)) mode = permissions
    call finish(tw_multifile_set_name(self%handle, to_c(name), mode), stat, errmsg)
  end subroutine multifile_set_name

  !> The rank of the logical file of a name, for seek_to(): the one that was added last. Open for reading.
  subroutine multifile_find(self, name, rank, part, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    character(*), intent(in) :: name
    integer(int64), intent(inout) :: rank
    integer(int64), intent(in), optional :: part
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(part)) then
      call finish(tw_multifile_find_part(self%handle, to_c(name), part, rank), stat, errmsg)
    else
      call finish(tw_multifile_find(self%handle, to_c(name), rank), stat, errmsg)
    end if
  end subroutine multifile_find

  !> Sets a key of the multifile to a text, which is written by the close.
  subroutine multifile_set_attribute(self, key, value, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    character(*), intent(in) :: key
    character(*), intent(in), target :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_multifile_set_attribute(self%handle, to_c(key), c_loc(value), len(value, c_size_t)), stat, errmsg)
  end subroutine multifile_set_attribute

  subroutine multifile_attribute(self, key, value, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    character(*), intent(in) :: key
    character(:), allocatable, intent(out) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: text
    integer(c_size_t) :: length
    integer(int32) :: status
    length = 0
    status = tw_multifile_attribute(self%handle, to_c(key), text, length)
    if (status == TW_OK) call copy_text(text, int(length, int64), value)
    call finish(status, stat, errmsg)
  end subroutine multifile_attribute

  !> Key number `i`, from 1, in their order.
  subroutine multifile_attribute_key(self, i, key, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer(int64), intent(in) :: i
    character(:), allocatable, intent(out) :: key
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: text
    integer(int32) :: status
    status = tw_multifile_attribute_key(self%handle, i - 1, text)
    if (status == TW_OK) call from_c(text, key)
    call finish(status, stat, errmsg)
  end subroutine multifile_attribute_key

  !> Properties of the multifile, and of the current logical file of this task.
  subroutine multifile_inquire(self, n_logical, n_physical, sessions, closed, strategy, position, rank, in_chunk, in_file, &
                               stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer(int64), intent(out), optional :: n_logical   !< logical files; while it is written without added ones
    integer, intent(out), optional :: n_physical         !< physical files that exist
    integer(int64), intent(out), optional :: sessions    !< 1 after it was made, one more for each append
    logical, intent(out), optional :: closed
    character(:), allocatable, intent(out), optional :: strategy  !< what is in force and why, in words
    integer(int64), intent(inout), optional :: position, rank     !< of the current logical file
    integer(int64), intent(inout), optional :: in_chunk, in_file  !< bytes from the position to the end of the piece, of the file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_c_multifile_summary), target :: summary
    integer(int32) :: status
    summary%struct_size = c_sizeof(summary)
    status = tw_multifile_summarize(self%handle, c_loc(summary))
    if (present(n_logical)) n_logical = summary%n_logical
    if (present(n_physical)) n_physical = summary%n_physical
    if (present(sessions)) sessions = summary%sessions
    if (present(closed)) closed = summary%closed /= 0
    if (present(strategy)) call from_c(summary%strategy, strategy)
    if (status == TW_OK .and. (present(position) .or. present(rank))) &
      status = tw_multifile_tell(self%handle, position, rank)
    if (status == TW_OK .and. (present(in_chunk) .or. present(in_file))) &
      status = tw_multifile_available(self%handle, in_chunk, in_file)
    call finish(status, stat, errmsg)
  end subroutine multifile_inquire

  !> Properties of logical file `rank`. Its name, permissions and part: open for reading.
  subroutine multifile_inquire_logical(self, rank, nbytes, name, permissions, part, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer(int64), intent(in) :: rank
    integer(int64), intent(inout), optional :: nbytes
    character(:), allocatable, intent(out), optional :: name  !< '': none
    integer, intent(out), optional :: permissions
    integer(int64), intent(inout), optional :: part           !< -1: none
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer, parameter :: kLongest = 4097
    character(kLongest), target :: text
    integer(c_size_t) :: length
    integer(c_int32_t) :: mode
    integer(int32) :: status
    status = TW_OK
    length = 0
    mode = 0
    if (present(nbytes)) status = tw_multifile_size(self%handle, rank, nbytes)
    if (status == TW_OK .and. (present(name) .or. present(permissions))) then
      status = tw_multifile_name(self%handle, rank, text, len(text, c_size_t), length, mode)
      if (present(name)) name = text(:length)
      if (present(permissions)) permissions = mode
    end if
    if (status == TW_OK .and. present(part)) status = tw_multifile_part(self%handle, rank, part)
    call finish(status, stat, errmsg)
  end subroutine multifile_inquire_logical

  !> Reads everything and checks every checksum; stat is TW_OK where the multifile is whole and closed. By one task.
  subroutine tw_multifile_verify(path, stat, errmsg)
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_multifile_verify(to_c(path), c_null_funptr, c_null_funptr, c_null_ptr, c_null_ptr), stat, errmsg)
  end subroutine tw_multifile_verify

  !> Makes a multifile readable again that was not closed. By one task; nobody may have it open for writing.
  subroutine tw_multifile_repair(path, stat, errmsg, force)
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: force  !< no program has it open, although locks cannot tell it of other nodes
    integer(c_int32_t) :: flags
    flags = 0
    if (present(force)) flags = merge(1_c_int32_t, 0_c_int32_t, force)
    call finish(c_multifile_repair(to_c(path), flags, c_null_funptr, c_null_funptr, c_null_ptr, c_null_ptr), stat, errmsg)
  end subroutine tw_multifile_repair

  !> Copies a closed multifile to `to`, with one chunk for each logical file. By one task.
  subroutine tw_multifile_defrag(from, to, stat, errmsg)
    character(*), intent(in) :: from, to
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_multifile_defrag(to_c(from), to_c(to), c_null_ptr, c_null_funptr, c_null_ptr), stat, errmsg)
  end subroutine tw_multifile_defrag

  ! ---- The same with default integers ----

  subroutine multifile_write_at_i4(self, data, offset, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    type(*), dimension(..), intent(in), contiguous, target :: data
    integer(int32), intent(in) :: offset
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%write_at(data, int(offset, int64), stat=stat, errmsg=errmsg)
  end subroutine multifile_write_at_i4

  subroutine multifile_read_at_i4(self, data, offset, nread, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    type(*), dimension(..), intent(inout), contiguous, target :: data
    integer(int32), intent(in) :: offset
    integer(int64), intent(out), optional :: nread
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%read_at(data, int(offset, int64), nread=nread, stat=stat, errmsg=errmsg)
  end subroutine multifile_read_at_i4

  subroutine multifile_seek_i4(self, offset, whence, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer(int32), intent(in) :: offset
    integer, intent(in), optional :: whence
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%seek(int(offset, int64), whence=whence, stat=stat, errmsg=errmsg)
  end subroutine multifile_seek_i4

  subroutine multifile_seek_to_i4(self, rank, position, stat, errmsg)
    class(tw_multifile), intent(inout) :: self
    integer(int32), intent(in) :: rank
    integer(int32), intent(in), optional :: position
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: position_8
    if (present(position)) allocate (position_8, source=int(position, int64))
    call self%seek_to(int(rank, int64), position=position_8, stat=stat, errmsg=errmsg)
  end subroutine multifile_seek_to_i4

end module thalweg_multifiles
