!> The calls of the C library that the module thalweg makes, as include/thalweg has them. Private to the modules here.
!! A pointer to one value, or to an array, that C accepts as NULL is an optional argument.
module thalweg_c
  use, intrinsic :: iso_c_binding
  implicit none

  !> What thalweg_fortran.c finds out about an actual argument of any type and rank.
  type, bind(c) :: tw_f_memory
    type(c_ptr)        :: address = c_null_ptr
    integer(c_int64_t) :: nbytes = 0
    integer(c_int64_t) :: item_bytes = 0
    integer(c_int64_t) :: rank = 0
    integer(c_int64_t) :: extents(15) = 0
    type(c_ptr)        :: problem = c_null_ptr
  end type tw_f_memory

  !> The part of an array that a task has, for thalweg_fortran.c.
  type, bind(c) :: tw_f_part
    integer(c_int64_t) :: n_global = 0, n_first = 0, n_halo = 0
    type(c_ptr)        :: global = c_null_ptr, first = c_null_ptr, halo = c_null_ptr
  end type tw_f_part

  !> tw_multifile_summary of multifile.h.
  type, bind(c) :: tw_c_multifile_summary
    integer(c_size_t)  :: struct_size = 0
    integer(c_int64_t) :: n_logical = 0
    integer(c_int32_t) :: n_physical = 0, version_major = 0, version_minor = 0, checksum = 0
    integer(c_int64_t) :: alignment_bytes = 0, granule_bytes = 0, sessions = 0
    integer(c_int32_t) :: closed = 0, recovered = 0
    character(kind=c_char) :: uuid(40) = c_null_char
    type(c_ptr)        :: strategy = c_null_ptr
    integer(c_int32_t) :: n_planned = 0
  end type tw_c_multifile_summary

  !> tw_vpfile_summary of vpfile.h.
  type, bind(c) :: tw_c_vpfile_summary
    integer(c_size_t)  :: struct_size = 0
    integer(c_int32_t) :: n_dims = 0, mode = 0
    type(c_ptr)        :: shape = c_null_ptr, box_start = c_null_ptr, box_count = c_null_ptr
    integer(c_int64_t) :: n_vps = 0, n_local = 0, nb_record = 0, nb_bytes = 0, cb_round = 0, cb_bytes = 0
    integer(c_int64_t) :: block_bytes = 0
    integer(c_int32_t) :: last_mode = 0, reserved = 0
    type(c_ptr)        :: last_cause = c_null_ptr
    integer(c_int64_t) :: n_transitions = 0
    type(c_ptr)        :: transitions = c_null_ptr
  end type tw_c_vpfile_summary

  !> tw_slice and tw_distributed_dim of view.h.
  type, bind(c) :: tw_c_slice
    integer(c_int64_t) :: size, start, length
  end type tw_c_slice
  type, bind(c) :: tw_c_distributed_dim
    integer(c_int64_t) :: size, parts, block
    integer(c_int32_t) :: distribution
  end type tw_c_distributed_dim

  ! thalweg_fortran.c
  interface
    subroutine tw_f_describe(data, memory) bind(c, name="tw_f_describe")
      import :: tw_f_memory
      type(*), dimension(..), intent(in), target :: data
      type(tw_f_memory), intent(inout) :: memory
    end subroutine tw_f_describe
    integer(c_int32_t) function tw_f_check(memory) bind(c, name="tw_f_check")
      import :: c_int32_t, tw_f_memory
      type(tw_f_memory), intent(in) :: memory
    end function tw_f_check
    integer(c_int32_t) function tw_f_fail(status, message) bind(c, name="tw_f_fail")
      import :: c_char, c_int32_t
      integer(c_int32_t), value :: status
      character(kind=c_char), intent(in) :: message(*)
    end function tw_f_fail
    integer(c_int32_t) function tw_f_open_group(comm, threads, group) bind(c, name="tw_f_open_group")
      import :: c_int32_t, c_ptr
      type(*), intent(in), optional :: comm
      integer(c_int32_t), value :: threads
      type(c_ptr), intent(inout) :: group
    end function tw_f_open_group
    integer(c_int32_t) function tw_f_access(file, memory, writes, placement, collective, offset, moved, request) &
        bind(c, name="tw_f_access")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t, tw_f_memory
      type(c_ptr), value :: file
      type(tw_f_memory), intent(in) :: memory
      integer(c_int32_t), value :: writes, placement, collective
      integer(c_int64_t), value :: offset
      integer(c_size_t), intent(inout) :: moved
      type(c_ptr), intent(inout), optional :: request
    end function tw_f_access
    integer(c_int32_t) function tw_f_array(file, memory, writes, part, offset, moved, request) &
        bind(c, name="tw_f_array")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t, tw_f_memory, tw_f_part
      type(c_ptr), value :: file
      type(tw_f_memory), intent(in) :: memory
      integer(c_int32_t), value :: writes
      type(tw_f_part), intent(in) :: part
      integer(c_int64_t), value :: offset
      integer(c_size_t), intent(inout) :: moved
      type(c_ptr), intent(inout), optional :: request
    end function tw_f_array
    integer(c_int32_t) function tw_f_all_vps(vpfile, memory, writes, n_each, mask, counts) &
        bind(c, name="tw_f_all_vps")
      import :: c_int32_t, c_int64_t, c_int8_t, c_ptr, tw_f_memory
      type(c_ptr), value :: vpfile
      type(tw_f_memory), intent(in) :: memory
      integer(c_int32_t), value :: writes
      integer(c_int64_t), intent(in), optional :: n_each(*)
      integer(c_int8_t), intent(in), optional :: mask(*)
      integer(c_int64_t), intent(inout), optional :: counts(*)
    end function tw_f_all_vps
    integer(c_size_t) function tw_f_length(text) bind(c, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function tw_f_length
  end interface

  ! libthalweg
  interface
    type(c_ptr) function tw_last_error() bind(c, name="tw_last_error")
      import :: c_ptr
    end function tw_last_error
    integer(c_int32_t) function tw_options_create(options) bind(c, name="tw_options_create")
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: options
    end function tw_options_create
    subroutine tw_options_free(options) bind(c, name="tw_options_free")
      import :: c_ptr
      type(c_ptr), intent(inout) :: options
    end subroutine tw_options_free
    integer(c_int32_t) function tw_options_set_hints(options, hints) bind(c, name="tw_options_set_hints")
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: hints(*)
    end function tw_options_set_hints
    integer(c_int32_t) function tw_options_set_ranks(options, n_logical, ranks, n_ranks) &
        bind(c, name="tw_options_set_ranks")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: options
      integer(c_int64_t), value :: n_logical
      integer(c_int64_t), intent(in), optional :: ranks(*)
      integer(c_int64_t), value :: n_ranks
    end function tw_options_set_ranks
    integer(c_int32_t) function tw_options_set_range(options, n_logical, first, count) &
        bind(c, name="tw_options_set_range")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: options
      integer(c_int64_t), value :: n_logical
      integer(c_int64_t), value :: first
      integer(c_int64_t), value :: count
    end function tw_options_set_range
    integer(c_int32_t) function tw_options_set_mapping(options, mapping, user) bind(c, name="tw_options_set_mapping")
      import :: c_funptr, c_int32_t, c_ptr
      type(c_ptr), value :: options
      type(c_funptr), value :: mapping
      type(c_ptr), value :: user
    end function tw_options_set_mapping
    integer(c_int32_t) function tw_options_set_shape(options, n_dims, shape) bind(c, name="tw_options_set_shape")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: options
      integer(c_int32_t), value :: n_dims
      integer(c_int64_t), intent(in), optional :: shape(*)
    end function tw_options_set_shape
    integer(c_int32_t) function tw_options_set_box(options, n_dims, start, count) bind(c, name="tw_options_set_box")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: options
      integer(c_int32_t), value :: n_dims
      integer(c_int64_t), intent(in), optional :: start(*)
      integer(c_int64_t), intent(in), optional :: count(*)
    end function tw_options_set_box
    integer(c_int32_t) function tw_options_set_permissions(options, permissions) &
        bind(c, name="tw_options_set_permissions")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
      integer(c_int32_t), value :: permissions
    end function tw_options_set_permissions
    integer(c_int32_t) function tw_request_wait(request, moved) bind(c, name="tw_request_wait")
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), intent(inout) :: request
      integer(c_size_t), intent(inout), optional :: moved
    end function tw_request_wait
    integer(c_int32_t) function tw_request_test(request, done, moved) bind(c, name="tw_request_test")
      import :: c_int, c_int32_t, c_ptr, c_size_t
      type(c_ptr), intent(inout) :: request
      integer(c_int), intent(inout), optional :: done
      integer(c_size_t), intent(inout), optional :: moved
    end function tw_request_test
    integer(c_int32_t) function tw_request_waitall(n, requests, statuses, moved) bind(c, name="tw_request_waitall")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int32_t), intent(inout), optional :: statuses(*)
      integer(c_size_t), intent(inout), optional :: moved(*)
    end function tw_request_waitall
    integer(c_int32_t) function tw_request_testall(n, requests, done, statuses, moved) &
        bind(c, name="tw_request_testall")
      import :: c_int, c_int32_t, c_int64_t, c_ptr, c_size_t
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int), intent(inout), optional :: done
      integer(c_int32_t), intent(inout), optional :: statuses(*)
      integer(c_size_t), intent(inout), optional :: moved(*)
    end function tw_request_testall
    integer(c_int32_t) function tw_request_waitany(n, requests, index, moved) bind(c, name="tw_request_waitany")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int64_t), intent(inout), optional :: index
      integer(c_size_t), intent(inout), optional :: moved
    end function tw_request_waitany
    integer(c_int32_t) function tw_request_testany(n, requests, done, index, moved) bind(c, name="tw_request_testany")
      import :: c_int, c_int32_t, c_int64_t, c_ptr, c_size_t
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int), intent(inout), optional :: done
      integer(c_int64_t), intent(inout), optional :: index
      integer(c_size_t), intent(inout), optional :: moved
    end function tw_request_testany
    integer(c_int32_t) function tw_request_waitsome(n, requests, n_done, indices, statuses, moved) &
        bind(c, name="tw_request_waitsome")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int64_t), intent(inout), optional :: n_done
      integer(c_int64_t), intent(inout), optional :: indices(*)
      integer(c_int32_t), intent(inout), optional :: statuses(*)
      integer(c_size_t), intent(inout), optional :: moved(*)
    end function tw_request_waitsome
    integer(c_int32_t) function tw_request_testsome(n, requests, n_done, indices, statuses, moved) &
        bind(c, name="tw_request_testsome")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      integer(c_int64_t), value :: n
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int64_t), intent(inout), optional :: n_done
      integer(c_int64_t), intent(inout), optional :: indices(*)
      integer(c_int32_t), intent(inout), optional :: statuses(*)
      integer(c_size_t), intent(inout), optional :: moved(*)
    end function tw_request_testsome
    integer(c_int32_t) function tw_group_self(group) bind(c, name="tw_group_self")
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: group
    end function tw_group_self
    integer(c_int32_t) function tw_group_duplicate(group, copy) bind(c, name="tw_group_duplicate")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: group
      type(c_ptr), intent(inout) :: copy
    end function tw_group_duplicate
    subroutine tw_group_free(group) bind(c, name="tw_group_free")
      import :: c_ptr
      type(c_ptr), intent(inout) :: group
    end subroutine tw_group_free
    integer(c_int64_t) function tw_group_rank(group) bind(c, name="tw_group_rank")
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: group
    end function tw_group_rank
    integer(c_int64_t) function tw_group_size(group) bind(c, name="tw_group_size")
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: group
    end function tw_group_size
    type(c_ptr) function tw_group_kind(group) bind(c, name="tw_group_kind")
      import :: c_ptr
      type(c_ptr), value :: group
    end function tw_group_kind
    integer(c_int32_t) function tw_group_barrier(group) bind(c, name="tw_group_barrier")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: group
    end function tw_group_barrier
    integer(c_int32_t) function tw_group_broadcast(group, data, nbytes, root) bind(c, name="tw_group_broadcast")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: group
      type(c_ptr), value :: data
      integer(c_size_t), value :: nbytes
      integer(c_int64_t), value :: root
    end function tw_group_broadcast
    integer(c_int32_t) function tw_group_allreduce(group, values, n, how) bind(c, name="tw_group_allreduce")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: group
      integer(c_int64_t), intent(inout), optional :: values(*)
      integer(c_int64_t), value :: n
      integer(c_int32_t), value :: how
    end function tw_group_allreduce
    integer(c_int32_t) function tw_group_agree(group, mine, os_errno, message) bind(c, name="tw_group_agree")
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: group
      integer(c_int32_t), value :: mine
      integer(c_int), value :: os_errno
      character(kind=c_char), intent(in) :: message(*)
    end function tw_group_agree
    integer(c_int32_t) function tw_multifile_open(group, path, flags, options, multifile) &
        bind(c, name="tw_multifile_open")
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: group
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: flags
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: multifile
    end function tw_multifile_open
    integer(c_int32_t) function tw_multifile_close(multifile) bind(c, name="tw_multifile_close")
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: multifile
    end function tw_multifile_close
    integer(c_int32_t) function tw_multifile_abandon(multifile) bind(c, name="tw_multifile_abandon")
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: multifile
    end function tw_multifile_abandon
    integer(c_int32_t) function tw_multifile_seek_to(multifile, rank, position) bind(c, name="tw_multifile_seek_to")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      integer(c_int64_t), value :: rank
      integer(c_int64_t), value :: position
    end function tw_multifile_seek_to
    integer(c_int32_t) function tw_multifile_seek(multifile, offset, whence) bind(c, name="tw_multifile_seek")
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      integer(c_int64_t), value :: offset
      integer(c_int), value :: whence
    end function tw_multifile_seek
    integer(c_int32_t) function tw_multifile_tell(multifile, position, rank) bind(c, name="tw_multifile_tell")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      integer(c_int64_t), intent(inout), optional :: position
      integer(c_int64_t), intent(inout), optional :: rank
    end function tw_multifile_tell
    integer(c_int32_t) function tw_multifile_available(multifile, in_chunk, in_file) &
        bind(c, name="tw_multifile_available")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      integer(c_int64_t), intent(inout), optional :: in_chunk
      integer(c_int64_t), intent(inout), optional :: in_file
    end function tw_multifile_available
    integer(c_int32_t) function tw_multifile_write(multifile, data, nbytes) bind(c, name="tw_multifile_write")
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: multifile
      type(c_ptr), value :: data
      integer(c_size_t), value :: nbytes
    end function tw_multifile_write
    integer(c_int32_t) function tw_multifile_write_at(multifile, data, nbytes, offset) &
        bind(c, name="tw_multifile_write_at")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: multifile
      type(c_ptr), value :: data
      integer(c_size_t), value :: nbytes
      integer(c_int64_t), value :: offset
    end function tw_multifile_write_at
    integer(c_int32_t) function tw_multifile_flush(multifile) bind(c, name="tw_multifile_flush")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: multifile
    end function tw_multifile_flush
    integer(c_int32_t) function tw_multifile_sync(multifile) bind(c, name="tw_multifile_sync")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: multifile
    end function tw_multifile_sync
    integer(c_int32_t) function tw_multifile_isync(multifile, request) bind(c, name="tw_multifile_isync")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: multifile
      type(c_ptr), intent(inout) :: request
    end function tw_multifile_isync
    integer(c_int32_t) function tw_multifile_iflush(multifile, request) bind(c, name="tw_multifile_iflush")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: multifile
      type(c_ptr), intent(inout) :: request
    end function tw_multifile_iflush
    integer(c_int32_t) function tw_multifile_read(multifile, data, nbytes, nread) bind(c, name="tw_multifile_read")
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: multifile
      type(c_ptr), value :: data
      integer(c_size_t), value :: nbytes
      integer(c_size_t), intent(inout), optional :: nread
    end function tw_multifile_read
    integer(c_int32_t) function tw_multifile_read_at(multifile, data, nbytes, offset, nread) &
        bind(c, name="tw_multifile_read_at")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: multifile
      type(c_ptr), value :: data
      integer(c_size_t), value :: nbytes
      integer(c_int64_t), value :: offset
      integer(c_size_t), intent(inout), optional :: nread
    end function tw_multifile_read_at
    integer(c_int32_t) function tw_multifile_skip_gap(multifile, skipped) bind(c, name="tw_multifile_skip_gap")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      integer(c_int64_t), intent(inout), optional :: skipped
    end function tw_multifile_skip_gap
    integer(c_int32_t) function tw_multifile_add(multifile, name, permissions) bind(c, name="tw_multifile_add")
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: multifile
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: permissions
    end function tw_multifile_add
    integer(c_int32_t) function tw_multifile_add_part(multifile, name, part, permissions) &
        bind(c, name="tw_multifile_add_part")
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: part
      integer(c_int32_t), value :: permissions
    end function tw_multifile_add_part
    integer(c_int32_t) function tw_multifile_set_name(multifile, name, mode) bind(c, name="tw_multifile_set_name")
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: multifile
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: mode
    end function tw_multifile_set_name
    integer(c_int32_t) function tw_multifile_name(multifile, rank, name, size, length, mode) &
        bind(c, name="tw_multifile_name")
      import :: c_char, c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: multifile
      integer(c_int64_t), value :: rank
      character(kind=c_char), intent(out) :: name(*)
      integer(c_size_t), value :: size
      integer(c_size_t), intent(inout), optional :: length
      integer(c_int32_t), intent(inout), optional :: mode
    end function tw_multifile_name
    integer(c_int32_t) function tw_multifile_find(multifile, name, rank) bind(c, name="tw_multifile_find")
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout), optional :: rank
    end function tw_multifile_find
    integer(c_int32_t) function tw_multifile_find_part(multifile, name, part, rank) &
        bind(c, name="tw_multifile_find_part")
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: part
      integer(c_int64_t), intent(inout), optional :: rank
    end function tw_multifile_find_part
    integer(c_int32_t) function tw_multifile_part(multifile, rank, part) bind(c, name="tw_multifile_part")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      integer(c_int64_t), value :: rank
      integer(c_int64_t), intent(inout), optional :: part
    end function tw_multifile_part
    integer(c_int32_t) function tw_multifile_set_attribute(multifile, key, value, bytes) &
        bind(c, name="tw_multifile_set_attribute")
      import :: c_char, c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: multifile
      character(kind=c_char), intent(in) :: key(*)
      type(c_ptr), value :: value
      integer(c_size_t), value :: bytes
    end function tw_multifile_set_attribute
    integer(c_int32_t) function tw_multifile_attribute(multifile, key, value, bytes) &
        bind(c, name="tw_multifile_attribute")
      import :: c_char, c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: multifile
      character(kind=c_char), intent(in) :: key(*)
      type(c_ptr), intent(inout) :: value
      integer(c_size_t), intent(inout), optional :: bytes
    end function tw_multifile_attribute
    integer(c_int32_t) function tw_multifile_attribute_key(multifile, i, key) bind(c, name="tw_multifile_attribute_key")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      integer(c_int64_t), value :: i
      type(c_ptr), intent(inout) :: key
    end function tw_multifile_attribute_key
    integer(c_int32_t) function tw_multifile_summarize(multifile, summary) bind(c, name="tw_multifile_summarize")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: multifile
      type(c_ptr), value :: summary
    end function tw_multifile_summarize
    integer(c_int32_t) function tw_multifile_size(multifile, rank, bytes) bind(c, name="tw_multifile_size")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: multifile
      integer(c_int64_t), value :: rank
      integer(c_int64_t), intent(inout), optional :: bytes
    end function tw_multifile_size
    integer(c_int32_t) function c_multifile_verify(path, fn, progress, user, health) &
        bind(c, name="tw_multifile_verify")
      import :: c_char, c_funptr, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: path(*)
      type(c_funptr), value :: fn
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
      type(c_ptr), value :: health
    end function c_multifile_verify
    integer(c_int32_t) function c_multifile_repair(path, flags, fn, progress, user, health) &
        bind(c, name="tw_multifile_repair")
      import :: c_char, c_funptr, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: flags
      type(c_funptr), value :: fn
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
      type(c_ptr), value :: health
    end function c_multifile_repair
    integer(c_int32_t) function c_multifile_defrag(from, to, options, progress, user) &
        bind(c, name="tw_multifile_defrag")
      import :: c_char, c_funptr, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: from(*)
      character(kind=c_char), intent(in) :: to(*)
      type(c_ptr), value :: options
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
    end function c_multifile_defrag
    integer(c_int32_t) function tw_file_open(group, path, flags, options, file) bind(c, name="tw_file_open")
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: group
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: flags
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: file
    end function tw_file_open
    integer(c_int32_t) function tw_file_close(file) bind(c, name="tw_file_close")
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: file
    end function tw_file_close
    integer(c_int32_t) function tw_file_abandon(file) bind(c, name="tw_file_abandon")
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: file
    end function tw_file_abandon
    integer(c_int32_t) function tw_file_size(file, nbytes) bind(c, name="tw_file_size")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), intent(inout), optional :: nbytes
    end function tw_file_size
    integer(c_int32_t) function tw_file_truncate(file, nbytes) bind(c, name="tw_file_truncate")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), value :: nbytes
    end function tw_file_truncate
    integer(c_int32_t) function tw_file_preallocate(file, nbytes, offset) bind(c, name="tw_file_preallocate")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: file
      integer(c_size_t), value :: nbytes
      integer(c_int64_t), value :: offset
    end function tw_file_preallocate
    integer(c_int32_t) function tw_file_sync(file) bind(c, name="tw_file_sync")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: file
    end function tw_file_sync
    integer(c_int32_t) function tw_file_seek(file, offset, whence, position) bind(c, name="tw_file_seek")
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), value :: offset
      integer(c_int), value :: whence
      integer(c_int64_t), intent(inout), optional :: position
    end function tw_file_seek
    integer(c_int32_t) function tw_file_set_view(file, displacement, view) bind(c, name="tw_file_set_view")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), value :: displacement
      type(c_ptr), value :: view
    end function tw_file_set_view
    integer(c_int32_t) function tw_file_seek_view(file, offset, whence, position) bind(c, name="tw_file_seek_view")
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), value :: offset
      integer(c_int), value :: whence
      integer(c_int64_t), intent(inout), optional :: position
    end function tw_file_seek_view
    integer(c_int32_t) function tw_file_view_offset(file, position, offset) bind(c, name="tw_file_view_offset")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), value :: position
      integer(c_int64_t), intent(inout), optional :: offset
    end function tw_file_view_offset
    integer(c_int32_t) function tw_file_end(file, nbytes) bind(c, name="tw_file_end")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), intent(inout), optional :: nbytes
    end function tw_file_end
    integer(c_int32_t) function tw_file_goes_alone(file, alone) bind(c, name="tw_file_goes_alone")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int32_t), intent(inout), optional :: alone
    end function tw_file_goes_alone
    type(c_ptr) function tw_file_last_plan(file) bind(c, name="tw_file_last_plan")
      import :: c_ptr
      type(c_ptr), value :: file
    end function tw_file_last_plan
    integer(c_int32_t) function tw_view_contiguous(count, element, view) bind(c, name="tw_view_contiguous")
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: count
      type(c_ptr), value :: element
      type(c_ptr), intent(inout) :: view
    end function tw_view_contiguous
    integer(c_int32_t) function tw_view_strided(count, block, stride, element, view) bind(c, name="tw_view_strided")
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: count
      integer(c_int64_t), value :: block
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: element
      type(c_ptr), intent(inout) :: view
    end function tw_view_strided
    integer(c_int32_t) function tw_view_indexed(n, displacements, lengths, element, view) &
        bind(c, name="tw_view_indexed")
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(in), optional :: displacements(*)
      integer(c_int64_t), intent(in), optional :: lengths(*)
      type(c_ptr), value :: element
      type(c_ptr), intent(inout) :: view
    end function tw_view_indexed
    integer(c_int32_t) function tw_view_struct(n, displacements, lengths, elements, view) bind(c, name="tw_view_struct")
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(in), optional :: displacements(*)
      integer(c_int64_t), intent(in), optional :: lengths(*)
      type(c_ptr), intent(in) :: elements(*)
      type(c_ptr), intent(inout) :: view
    end function tw_view_struct
    integer(c_int32_t) function tw_view_subarray(n, slices, order, element, view) bind(c, name="tw_view_subarray")
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: n
      type(c_ptr), value :: slices
      integer(c_int32_t), value :: order
      type(c_ptr), value :: element
      type(c_ptr), intent(inout) :: view
    end function tw_view_subarray
    integer(c_int32_t) function tw_view_distributed(n, dimensions, rank, order, element, view) &
        bind(c, name="tw_view_distributed")
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int32_t), value :: n
      type(c_ptr), value :: dimensions
      integer(c_int64_t), value :: rank
      integer(c_int32_t), value :: order
      type(c_ptr), value :: element
      type(c_ptr), intent(inout) :: view
    end function tw_view_distributed
    integer(c_int32_t) function tw_view_resized(of, extent, view) bind(c, name="tw_view_resized")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: of
      integer(c_int64_t), value :: extent
      type(c_ptr), intent(inout) :: view
    end function tw_view_resized
    subroutine tw_view_free(view) bind(c, name="tw_view_free")
      import :: c_ptr
      type(c_ptr), intent(inout) :: view
    end subroutine tw_view_free
    integer(c_int64_t) function tw_view_size(view) bind(c, name="tw_view_size")
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: view
    end function tw_view_size
    integer(c_int64_t) function tw_view_extent(view) bind(c, name="tw_view_extent")
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: view
    end function tw_view_extent
    integer(c_int32_t) function c_vpfile_flatten(from, to, record_bytes, fill, progress, user) &
        bind(c, name="tw_vpfile_flatten")
      import :: c_char, c_funptr, c_int32_t, c_int64_t, c_ptr, c_signed_char
      character(kind=c_char), intent(in) :: from(*)
      character(kind=c_char), intent(in) :: to(*)
      integer(c_int64_t), value :: record_bytes
      integer(c_signed_char), value :: fill
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
    end function c_vpfile_flatten
    integer(c_int32_t) function c_vpfile_import(path, n_dims, shape, record_bytes) bind(c, name="tw_vpfile_import")
      import :: c_char, c_int32_t, c_int64_t
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: n_dims
      integer(c_int64_t), intent(in), optional :: shape(*)
      integer(c_int64_t), value :: record_bytes
    end function c_vpfile_import
    integer(c_int32_t) function tw_vpfile_open(group, path, flags, options, vpfile) bind(c, name="tw_vpfile_open")
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: group
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: flags
      type(c_ptr), value :: options
      type(c_ptr), intent(inout) :: vpfile
    end function tw_vpfile_open
    integer(c_int32_t) function tw_vpfile_close(vpfile) bind(c, name="tw_vpfile_close")
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: vpfile
    end function tw_vpfile_close
    integer(c_int32_t) function tw_vpfile_abandon(vpfile) bind(c, name="tw_vpfile_abandon")
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(inout) :: vpfile
    end function tw_vpfile_abandon
    integer(c_int32_t) function tw_vpfile_summarize(vpfile, summary) bind(c, name="tw_vpfile_summarize")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: vpfile
      type(c_ptr), value :: summary
    end function tw_vpfile_summarize
    integer(c_int32_t) function tw_vpfile_seek_all(vpfile, offset, offsets, whence, mask) &
        bind(c, name="tw_vpfile_seek_all")
      import :: c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: offset
      integer(c_int64_t), intent(in), optional :: offsets(*)
      integer(c_int), value :: whence
      integer(c_int8_t), intent(in), optional :: mask(*)
    end function tw_vpfile_seek_all
    integer(c_int32_t) function tw_vpfile_tell_all(vpfile, positions, eof, error) bind(c, name="tw_vpfile_tell_all")
      import :: c_int32_t, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: vpfile
      integer(c_int64_t), intent(inout), optional :: positions(*)
      integer(c_int8_t), intent(inout), optional :: eof(*)
      integer(c_int8_t), intent(inout), optional :: error(*)
    end function tw_vpfile_tell_all
    integer(c_int32_t) function tw_vpfile_flush_all(vpfile) bind(c, name="tw_vpfile_flush_all")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: vpfile
    end function tw_vpfile_flush_all
    integer(c_int32_t) function tw_vpfile_sync_all(vpfile) bind(c, name="tw_vpfile_sync_all")
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: vpfile
    end function tw_vpfile_sync_all
    integer(c_int32_t) function tw_vpfile_read(vpfile, vp, data, nbytes, nread) bind(c, name="tw_vpfile_read")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: vp
      type(c_ptr), value :: data
      integer(c_size_t), value :: nbytes
      integer(c_size_t), intent(inout), optional :: nread
    end function tw_vpfile_read
    integer(c_int32_t) function tw_vpfile_write(vpfile, vp, data, nbytes, nwritten) bind(c, name="tw_vpfile_write")
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: vp
      type(c_ptr), value :: data
      integer(c_size_t), value :: nbytes
      integer(c_size_t), intent(inout), optional :: nwritten
    end function tw_vpfile_write
    integer(c_int32_t) function tw_vpfile_seek(vpfile, vp, offset, whence) bind(c, name="tw_vpfile_seek")
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: vp
      integer(c_int64_t), value :: offset
      integer(c_int), value :: whence
    end function tw_vpfile_seek
    integer(c_int32_t) function tw_vpfile_tell(vpfile, vp, position, eof, error) bind(c, name="tw_vpfile_tell")
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: vp
      integer(c_int64_t), intent(inout), optional :: position
      integer(c_int), intent(inout), optional :: eof
      integer(c_int), intent(inout), optional :: error
    end function tw_vpfile_tell
    integer(c_int32_t) function tw_vpfile_size(vpfile, vp, bytes) bind(c, name="tw_vpfile_size")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: vp
      integer(c_int64_t), intent(inout), optional :: bytes
    end function tw_vpfile_size
    integer(c_int32_t) function tw_vpfile_skip_gap(vpfile, vp, skipped) bind(c, name="tw_vpfile_skip_gap")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: vp
      integer(c_int64_t), intent(inout), optional :: skipped
    end function tw_vpfile_skip_gap
    integer(c_int32_t) function tw_vpfile_flush(vpfile, vp) bind(c, name="tw_vpfile_flush")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: vp
    end function tw_vpfile_flush
    integer(c_int32_t) function c_vpfile_verify(path, fn, progress, user, health) bind(c, name="tw_vpfile_verify")
      import :: c_char, c_funptr, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: path(*)
      type(c_funptr), value :: fn
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
      type(c_ptr), value :: health
    end function c_vpfile_verify
    integer(c_int32_t) function c_vpfile_repair(path, flags, n_dims, shape, fn, progress, user, health) &
        bind(c, name="tw_vpfile_repair")
      import :: c_char, c_funptr, c_int32_t, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: flags
      integer(c_int32_t), value :: n_dims
      integer(c_int64_t), intent(in), optional :: shape(*)
      type(c_funptr), value :: fn
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
      type(c_ptr), value :: health
    end function c_vpfile_repair
    integer(c_int32_t) function tw_vpfile_number(vpfile, local, vp) bind(c, name="tw_vpfile_number")
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: vpfile
      integer(c_int64_t), value :: local
      integer(c_int64_t), intent(inout), optional :: vp
    end function tw_vpfile_number
  end interface
end module thalweg_c
