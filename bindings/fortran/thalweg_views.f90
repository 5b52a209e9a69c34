!> Views of a shared file: which bytes a task sees, and in which order (view.h).
module thalweg_views
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use thalweg_c
  use thalweg_base
  implicit none
  private

  public :: tw_view, TW_NOT_DISTRIBUTED, TW_BLOCK, TW_CYCLIC, handle_of

  integer, parameter :: TW_NOT_DISTRIBUTED = 0, TW_BLOCK = 1, TW_CYCLIC = 2  !< of tw_view%distributed
  integer(int32), parameter :: TW_COLUMN_MAJOR = 1

  !> Which bytes of a file a task sees, and in which order. An element is another view, without it a byte. Sizes, strides,
  !! displacements and extents are bytes; numbers, lengths and indices are elements, and indices begin at 1. The first
  !! index changes fastest.
  type :: tw_view
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: contiguous => view_contiguous
    procedure :: strided => view_strided
    procedure :: indexed => view_indexed
    procedure :: structured => view_structured
    procedure :: subarray => view_subarray
    procedure :: distributed => view_distributed
    procedure :: resized => view_resized
    procedure :: free => view_free
    procedure :: nbytes => view_nbytes
    procedure :: extent => view_extent
  end type tw_view

contains

  !> `count` elements, one behind the other.
  subroutine view_contiguous(self, count, element, stat, errmsg)
    class(tw_view), intent(inout) :: self
    integer(int64), intent(in) :: count
    type(tw_view), intent(in), optional :: element
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_view_contiguous(count, handle_of(element), self%handle), stat, errmsg)
  end subroutine view_contiguous

  !> `count` blocks of `block` elements, `stride` bytes apart.
  subroutine view_strided(self, count, block, stride, element, stat, errmsg)
    class(tw_view), intent(inout) :: self
    integer(int64), intent(in) :: count, block, stride
    type(tw_view), intent(in), optional :: element
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_view_strided(count, block, stride, handle_of(element), self%handle), stat, errmsg)
  end subroutine view_strided

  !> Blocks of lengths(i) elements at byte displacements(i).
  subroutine view_indexed(self, displacements, lengths, element, stat, errmsg)
    class(tw_view), intent(inout) :: self
    integer(int64), intent(in) :: displacements(:), lengths(:)  !< equally many
    type(tw_view), intent(in), optional :: element
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int32) :: status
    if (size(displacements) == size(lengths)) then
      status = tw_view_indexed(size(lengths, kind=int64), displacements, lengths, handle_of(element), self%handle)
    else
      status = fail(TW_ERR_INVALID, 'displacements and lengths have different sizes')
    end if
    call finish(status, stat, errmsg)
  end subroutine view_indexed

  !> Blocks of lengths(i) copies of elements(i) at byte displacements(i).
  subroutine view_structured(self, displacements, lengths, elements, stat, errmsg)
    class(tw_view), intent(inout) :: self
    integer(int64), intent(in) :: displacements(:), lengths(:)
    type(tw_view), intent(in) :: elements(:)  !< one that was not made stands for a byte
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int32) :: status
    if (size(displacements) == size(lengths) .and. size(elements) == size(lengths)) then
      status = tw_view_struct(size(lengths, kind=int64), displacements, lengths, elements%handle, self%handle)
    else
      status = fail(TW_ERR_INVALID, 'displacements, lengths and elements have different sizes')
    end if
    call finish(status, stat, errmsg)
  end subroutine view_structured

  !> The block of `counts` elements from element `first` on of an array of this shape.
  subroutine view_subarray(self, shape, first, counts, element, stat, errmsg)
    class(tw_view), intent(inout) :: self
    integer(int64), intent(in) :: shape(:), first(:), counts(:)
    type(tw_view), intent(in), optional :: element
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_c_slice), target :: slices(size(shape))
    integer(int32) :: status
    if (size(first) == size(shape) .and. size(counts) == size(shape)) then
      slices%size = shape
      slices%start = first - 1
      slices%length = counts
      status = tw_view_subarray(size(shape, kind=c_int32_t), c_loc(slices), TW_COLUMN_MAJOR, handle_of(element), &
                                self%handle)
    else
      status = fail(TW_ERR_INVALID, 'shape, first and counts have different sizes')
    end if
    call finish(status, stat, errmsg)
  end subroutine view_subarray

  !> What task `rank` (from 0) has of an array that is dealt to a grid of tasks: see tw_view_distributed() of view.h.
  subroutine view_distributed(self, shape, parts, blocks, distributions, rank, element, stat, errmsg)
    class(tw_view), intent(inout) :: self
    integer(int64), intent(in) :: shape(:), parts(:), blocks(:), rank
    integer, intent(in) :: distributions(:)  !< TW_NOT_DISTRIBUTED, TW_BLOCK, TW_CYCLIC
    type(tw_view), intent(in), optional :: element
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(tw_c_distributed_dim), target :: dims(size(shape))
    integer(int32) :: status
    if (all([size(parts), size(blocks), size(distributions)] == size(shape))) then
      dims%size = shape
      dims%parts = parts
      dims%block = blocks
      dims%distribution = distributions
      status = tw_view_distributed(size(shape, kind=c_int32_t), c_loc(dims), rank, TW_COLUMN_MAJOR, &
                                   handle_of(element), self%handle)
    else
      status = fail(TW_ERR_INVALID, 'shape, parts, blocks and distributions have different sizes')
    end if
    call finish(status, stat, errmsg)
  end subroutine view_distributed

  !> The bytes of another view, with another extent.
  subroutine view_resized(self, of, extent, stat, errmsg)
    class(tw_view), intent(inout) :: self
    type(tw_view), intent(in) :: of
    integer(int64), intent(in) :: extent
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(tw_view_resized(of%handle, extent, self%handle), stat, errmsg)
  end subroutine view_resized

  !> Views that were made of it, and files that use it, go on.
  subroutine view_free(self)
    class(tw_view), intent(inout) :: self
    call tw_view_free(self%handle)
  end subroutine view_free

  !> Bytes that are seen.
  integer(int64) function view_nbytes(self)
    class(tw_view), intent(in) :: self
    view_nbytes = tw_view_size(self%handle)
  end function view_nbytes

  !> How many bytes apart copies are laid.
  integer(int64) function view_extent(self)
    class(tw_view), intent(in) :: self
    view_extent = tw_view_extent(self%handle)
  end function view_extent

  !> Null for a view that is not given. For the other modules here.
  type(c_ptr) function handle_of(view)
    type(tw_view), intent(in), optional :: view
    handle_of = c_null_ptr
    if (present(view)) handle_of = view%handle
  end function handle_of

end module thalweg_views
