!> Requests: accesses, flushes and syncs that go on while the program computes (request.h).
module thalweg_requests
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use thalweg_c
  use thalweg_base
  implicit none
  private

  public :: tw_request, tw_wait_all, tw_test_all, tw_wait_any, tw_test_any, tw_wait_some, tw_test_some

  !> One operation that was started. Its buffer is borrowed until a call here finds it complete: declare the buffer
  !! ASYNCHRONOUS, and neither change nor read it before. A request that is complete becomes inactive.
  type :: tw_request
    type(c_ptr) :: handle = c_null_ptr  ! private to the modules here
  contains
    procedure :: wait => request_wait
    procedure :: test => request_test
    procedure :: is_active => request_is_active
  end type tw_request

  character(*), parameter :: kRoom = 'indices, stats or nbytes have fewer items than there are requests'

contains

  !> Waits until the request is complete. An inactive one is complete.
  subroutine request_wait(self, nbytes, stat, errmsg)
    class(tw_request), intent(inout) :: self
    integer(int64), intent(out), optional :: nbytes  !< moved for this task, 0 on failure
    integer, intent(out), optional :: stat           !< that of the operation
    character(*), intent(inout), optional :: errmsg
    integer(c_size_t) :: moved
    integer(int32) :: status
    moved = 0
    status = tw_request_wait(self%handle, moved)
    if (present(nbytes)) nbytes = moved
    call finish(status, stat, errmsg)
  end subroutine request_wait

  !> Whether the request is complete; advances it. `nbytes` and `stat` are those of wait() where it is.
  subroutine request_test(self, done, nbytes, stat, errmsg)
    class(tw_request), intent(inout) :: self
    logical, intent(out) :: done
    integer(int64), intent(out), optional :: nbytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_size_t) :: moved
    integer(c_int) :: is_done
    integer(int32) :: status
    moved = 0
    is_done = 0
    status = tw_request_test(self%handle, is_done, moved)
    done = is_done /= 0
    if (present(nbytes)) nbytes = moved
    call finish(status, stat, errmsg)
  end subroutine request_test

  logical function request_is_active(self)
    class(tw_request), intent(in) :: self
    request_is_active = c_associated(self%handle)
  end function request_is_active

  !> Waits until all are complete. `stat` is that of the first that failed; stats(i) and nbytes(i) are those of requests(i).
  subroutine tw_wait_all(requests, stats, nbytes, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    integer(int32), intent(out), optional :: stats(:)  !< size(requests)
    integer(int64), intent(out), optional :: nbytes(:)  !< size(requests)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call of_all(requests, .true., stats, nbytes, stat=stat, errmsg=errmsg)
  end subroutine tw_wait_all

  !> Whether all are complete. If not, none changes, and `stats` and `nbytes` are not set.
  subroutine tw_test_all(requests, done, stats, nbytes, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    logical, intent(out) :: done
    integer(int32), intent(out), optional :: stats(:)
    integer(int64), intent(out), optional :: nbytes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call of_all(requests, .false., stats, nbytes, done, stat, errmsg)
  end subroutine tw_test_all

  pure logical function have_room(n, stats, nbytes)
    integer, intent(in) :: n
    integer(int32), intent(in), optional :: stats(:)
    integer(int64), intent(in), optional :: nbytes(:)
    have_room = .true.
    if (present(stats)) have_room = size(stats) >= n
    if (present(nbytes)) have_room = have_room .and. size(nbytes) >= n
  end function have_room

  subroutine of_all(requests, waits, stats, nbytes, done, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    logical, intent(in) :: waits
    integer(int32), intent(out), optional :: stats(:)
    integer(int64), intent(out), optional :: nbytes(:)
    logical, intent(out), optional :: done
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handles(size(requests))
    integer(c_int32_t) :: all_stats(size(requests))
    integer(c_size_t) :: moved(size(requests))
    integer(c_int) :: is_done
    integer(int32) :: status
    if (.not. have_room(size(requests), stats, nbytes)) then
      if (present(done)) done = .false.
      call finish(fail(TW_ERR_INVALID, kRoom), stat, errmsg)
      return
    end if
    handles = requests%handle
    is_done = 1
    if (waits) then
      status = tw_request_waitall(size(handles, kind=c_int64_t), handles, all_stats, moved)
    else
      status = tw_request_testall(size(handles, kind=c_int64_t), handles, is_done, all_stats, moved)
    end if
    requests%handle = handles
    if (present(done)) done = is_done /= 0
    if (is_done /= 0) then
      if (present(stats)) stats(:size(requests)) = all_stats
      if (present(nbytes)) nbytes(:size(requests)) = moved
    end if
    call finish(status, stat, errmsg)
  end subroutine of_all

  !> Waits until one is complete. `index` is its place, from 1; 0 where none is active.
  subroutine tw_wait_any(requests, index, nbytes, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    integer, intent(out) :: index
    integer(int64), intent(out), optional :: nbytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical :: done
    call of_any(requests, .true., done, index, nbytes, stat, errmsg)
  end subroutine tw_wait_any

  !> Whether one is complete. `index` is its place, from 1; 0 where none is, or none is active.
  subroutine tw_test_any(requests, done, index, nbytes, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    logical, intent(out) :: done
    integer, intent(out) :: index
    integer(int64), intent(out), optional :: nbytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call of_any(requests, .false., done, index, nbytes, stat, errmsg)
  end subroutine tw_test_any

  subroutine of_any(requests, waits, done, index, nbytes, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    logical, intent(in) :: waits
    logical, intent(out) :: done
    integer, intent(out) :: index
    integer(int64), intent(out), optional :: nbytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handles(size(requests))
    integer(c_int64_t) :: place
    integer(c_size_t) :: moved
    integer(c_int) :: is_done
    integer(int32) :: status
    handles = requests%handle
    is_done = 1
    place = -1
    moved = 0
    if (waits) then
      status = tw_request_waitany(size(handles, kind=c_int64_t), handles, place, moved)
    else
      status = tw_request_testany(size(handles, kind=c_int64_t), handles, is_done, place, moved)
    end if
    requests%handle = handles
    done = is_done /= 0
    index = int(place) + 1
    if (present(nbytes)) nbytes = moved
    call finish(status, stat, errmsg)
  end subroutine of_any

  !> Waits until at least one is complete. indices(1:n_done) are the places of all that are; n_done is -1 where none is active.
  subroutine tw_wait_some(requests, n_done, indices, stats, nbytes, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    integer, intent(out) :: n_done
    integer, intent(out) :: indices(:)                   !< room for size(requests), as have the next two
    integer(int32), intent(out), optional :: stats(:)
    integer(int64), intent(out), optional :: nbytes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call of_some(requests, .true., n_done, indices, stats, nbytes, stat, errmsg)
  end subroutine tw_wait_some

  !> As tw_wait_some() without waiting: n_done may be 0.
  subroutine tw_test_some(requests, n_done, indices, stats, nbytes, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    integer, intent(out) :: n_done
    integer, intent(out) :: indices(:)
    integer(int32), intent(out), optional :: stats(:)
    integer(int64), intent(out), optional :: nbytes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call of_some(requests, .false., n_done, indices, stats, nbytes, stat, errmsg)
  end subroutine tw_test_some

  subroutine of_some(requests, waits, n_done, indices, stats, nbytes, stat, errmsg)
    type(tw_request), intent(inout) :: requests(:)
    logical, intent(in) :: waits
    integer, intent(out) :: n_done
    integer, intent(out) :: indices(:)
    integer(int32), intent(out), optional :: stats(:)
    integer(int64), intent(out), optional :: nbytes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handles(size(requests))
    integer(c_int64_t) :: n, places(size(requests))
    integer(c_int32_t) :: some_stats(size(requests))
    integer(c_size_t) :: moved(size(requests))
    integer :: last
    integer(int32) :: status
    n_done = 0
    if (.not. have_room(size(requests), stats, nbytes) .or. size(indices) < size(requests)) then
      call finish(fail(TW_ERR_INVALID, kRoom), stat, errmsg)
      return
    end if
    handles = requests%handle
    n = 0
    if (waits) then
      status = tw_request_waitsome(size(handles, kind=c_int64_t), handles, n, places, some_stats, moved)
    else
      status = tw_request_testsome(size(handles, kind=c_int64_t), handles, n, places, some_stats, moved)
    end if
    requests%handle = handles
    n_done = int(n)
    last = max(n_done, 0)
    indices(:last) = int(places(:last)) + 1
    if (present(stats)) stats(:last) = some_stats(:last)
    if (present(nbytes)) nbytes(:last) = moved(:last)
    call finish(status, stat, errmsg)
  end subroutine of_some

end module thalweg_requests
