!> Parallel I/O for programs made of many tasks: multifiles, shared files and vpfiles (docs/howto/fortran.md).
!!
!!     use thalweg
!!     type(tw_multifile) :: f
!!     call f%open('ckpt.tw', 'w', comm=MPI_COMM_WORLD)   ! by every rank
!!     call f%write(u)                                    ! any type, kind and rank; any number of times
!!     call f%close()                                     ! by every rank
!!
!! **Errors.** Every subroutine takes stat= and errmsg=. stat is 0, one of TW_ERR_... (thalweg_base.f90), or iostat_end
!! where a read met the end of the data; errmsg says what failed, on which object, and what to do, and stays as it is
!! otherwise. Without stat a failure ends the program by ERROR STOP with that message.
!! **Collective** calls are made by all tasks of the group that opened the file, in the same order: open, close, and those
!! whose description says so. Where one fails, it fails on all tasks.
!! **Buffers** are scalars or arrays of any type, kind and rank. They are borrowed during the call, by calls that begin
!! with i until their request is complete: declare them ASYNCHRONOUS then.
!! **Units.** Sizes and offsets are bytes; offsets and ranks count from 0, indices of arrays from 1. They have kind int64; the
!! calls that move data, seek and seek_to take default integers as well, all of them of one kind.
module thalweg
  use thalweg_base, only: tw_last_message, tw_group, &
    TW_OK, TW_ERR_INVALID, TW_ERR_UNKNOWN_HINT, TW_ERR_RANGE, TW_ERR_MODE, TW_ERR_NOT_FOUND, TW_ERR_EXISTS, &
    TW_ERR_PERMISSION, TW_ERR_UNSAFE, TW_ERR_IO, TW_ERR_NO_SPACE, TW_ERR_NO_MEMORY, TW_ERR_CORRUPT, TW_ERR_VERSION, &
    TW_ERR_NOT_CLOSED, TW_ERR_STOPPED, TW_ERR_NOT_BUILT, TW_ERR_INTERNAL, &
    TW_MIN, TW_MAX, TW_SUM, TW_BIT_OR, TW_SEEK_SET, TW_SEEK_CUR, TW_SEEK_END
  use thalweg_requests
  use thalweg_multifiles
  use thalweg_views, only: tw_view, TW_NOT_DISTRIBUTED, TW_BLOCK, TW_CYCLIC
  use thalweg_files
  use thalweg_vpfiles
  implicit none
  public
end module thalweg
